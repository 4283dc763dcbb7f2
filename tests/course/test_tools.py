"""CI runs all that it has to, pytest compares all that it runs, and the small tools do what they say."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

import chromium
import messages
import sizes

ROOT = Path(__file__).parents[2]


def test_pytest_compares_everything():
    """Every cell, and the examples of docstrings and README; a warning is an error."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    wanted = {
        "--nbval",
        "--doctest-modules",
        "--doctest-glob=README.md",
        "--strict-markers",
    }
    assert wanted <= set(options["addopts"])
    assert options["filterwarnings"][0] == "error"
    assert options["xfail_strict"] is True
    assert options["testpaths"] == ["tests", "stridekit", "notebooks", "README.md", "docs"]


STAND_IN = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$*" >>asked
[ "$*" != "$RED" ] || exit 3
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(("arguments", "target"), [([], "test"), (["test-all"], "test-all")])
def test_ci_runs_both_parts_and_one_red_is_enough(arguments, target, tmp_path):
    """Its `make` only records the targets."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    script = shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("make", "git", "node", "npm", "chromium", "python3", "apt-get", "sudo"):
        command = tmp_path / "bin" / name
        command.write_text(STAND_IN if name == "make" else "#!/bin/sh\n")
        command.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    tests = f"-k {target}"
    cases = [  # the target that fails, the status of CI, and the targets that it makes
        ("", 0, ["lint", tests]),
        ("lint", 3, ["lint"]),
        (tests, 3, ["lint", tests]),
    ]
    for red, status, targets in cases:
        env = os.environ | {"PATH": path, "RED": red}
        ci = subprocess.run(["bash", script, *arguments], env=env, capture_output=True)
        assert ci.returncode == status
        asked = (tmp_path / "asked").read_text().splitlines()
        assert asked[-len(targets) :] == targets


def test_package_json_changes_no_other_package():
    """.venv lies below it, and node would read JupyterLab's own scripts as modules with this type."""
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert "type" not in package


# Scripts -------------------------------------------------------------------------------------------

SCRIPTS = [
    path for path in sorted((ROOT / "tools").glob("*.py")) if "def main(" in path.read_text()
]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_its_main_if_it_is_called_and_not_if_it_is_imported(path, monkeypatch):
    """And its exit status is that of main."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    (main,) = (
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"
    )
    main.body = ast.parse("called.append(1); return 3").body
    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
    monkeypatch.setattr(sys, "argv", [str(path), "an argument"])
    called = []
    exec(code, {"__name__": path.stem, "__file__": str(path), "called": called})
    assert called == []
    status = pytest.raises(SystemExit) if "sys.exit(main" in path.read_text() else nullcontext()
    with status as stop:
        exec(code, {"__name__": "__main__", "__file__": str(path), "called": called})
    assert called == [1]
    assert stop is None or stop.value.code == 3


# Chromium ------------------------------------------------------------------------------------------


def test_chromium_is_found_on_the_path_in_order_unless_a_variable_names_one(tmp_path, monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert chromium.find_chromium() is None
    for name in reversed(chromium.NAMES):
        (tmp_path / name).touch(0o755)
        assert chromium.find_chromium() == str(tmp_path / name)
    monkeypatch.setenv("CHROMIUM", "/elsewhere/chrome")
    assert chromium.find_chromium() == "/elsewhere/chrome"


# How much there is to read -------------------------------------------------------------------------

DOCUMENTED = '''"""A module."""

class A:
    """A class."""

    def f(self):
        """A function."""
        x = "no docstring"
        return f"{self}, {1 + 2}"  # one token
'''


@pytest.mark.parametrize(
    ("suffix", "source", "tokens"),
    [
        (".py", "", 0),
        (".py", "# a comment", 0),
        (".py", "x = (1,\n     'a')  # a comment\n\n", 7),
        (".py", DOCUMENTED, 14),
        (".py", 'x = f"b{x}" + f"{y:{z}}"\n', 5),
        (".js", "// a comment\nx += 'a b' /* another */;", 4),
        (".mjs", "const x = `${a + b} c`;\nx.match(/a b/g);", 12),
    ],
)
def test_comments_and_docstrings_are_no_tokens_and_a_string_is_one(suffix, source, tokens):
    assert sizes.count_tokens(source, suffix) == tokens


def test_sizes_are_those_of_each_part_and_of_all(tmp_path, monkeypatch, capsys):
    for name, source in {
        "kit/one.py": "x = 1\n",
        "kit/part/two.py": "# two\n\nx = y = 2\n",
        "kit/part/three.js": "f(3);\n",
        "kit/part/four.css": "a { color: red }\n",
        "tests/five.mjs": "f();\n" * 1000,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    parts = {
        "core": ("kit/**/*.py", ("part",)),
        "part": ("kit/part/**/*.*", ()),
        "tests": ("tests/**/*.*", ()),
    }
    monkeypatch.setattr(sizes, "ROOT", tmp_path)
    monkeypatch.setattr(sizes, "PARTS", parts)
    names = [path.name for path in sizes.files_of("kit/**/*", ())]
    assert sorted(names) == ["one.py", "three.js", "two.py"]
    sizes.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["part", "lines", "tokens", "a", "line"],
        ["core", "1", "3", "3.0"],
        ["part", "4", "10", "2.5"],
        ["tests", "1,000", "4,000", "4.0"],
        ["all", "1,005", "4,013", "4.0"],
    ]


# The messages that head pages ------------------------------------------------------------------------

KNOWN = "view size is not compatible with input tensor's size and stride"


@pytest.mark.parametrize(
    ("error", "heading"),
    [
        (KNOWN, KNOWN),
        (RuntimeError(KNOWN), f"RuntimeError: {KNOWN}"),
        (RuntimeError(f"{KNOWN} (why). Do this."), f"RuntimeError: {KNOWN} (why). Do this."),
        (RuntimeError(f"{KNOWN}. Do x.view(3)"), f"RuntimeError: {KNOWN}."),
        (SimpleNamespace(message=UserWarning(f"{KNOWN}!")), f"UserWarning: {KNOWN}!"),
        (RuntimeError(f"a line\n  x:   {KNOWN}\n  more!"), f"RuntimeError: x: {KNOWN} more!"),
        (RuntimeError(f"/home/x.py:3: {KNOWN}. End"), f"RuntimeError: {KNOWN}."),
        (RuntimeError(f"{KNOWN} {'x ' * 90}"), f"RuntimeError: {KNOWN} {'x ' * 68}".strip()),
        (RuntimeError(f"/a/b: {KNOWN}. {'x' * 134}. z."), f"RuntimeError: {KNOWN}. {'x' * 134}."),
        (RuntimeError(f"/a/b: {KNOWN} {'x ' * 90}"), f"RuntimeError: {KNOWN} {'x ' * 68}".strip()),
        (RuntimeError(f"{KNOWN} {'x ' * 66}yy. z."), f"RuntimeError: {KNOWN} {'x ' * 66}yy."),
        (RuntimeError(f"{KNOWN} {'x ' * 67}yy. z."), f"RuntimeError: {KNOWN} {'x ' * 67}yy"),
        (RuntimeError(f"{KNOWN}. {'x' * 134}. z."), f"RuntimeError: {KNOWN}. {'x' * 134}."),
        (RuntimeError(f"{KNOWN}. {'x' * 135}. z."), f"RuntimeError: {KNOWN}."),
    ],
)
def test_a_heading_is_the_known_message_with_the_sentences_that_end_in_time(error, heading):
    assert messages.heading_of(error) == heading


def test_a_known_message_is_never_cut():
    beginning = "Earlier. " * 30
    assert messages.heading_of(RuntimeError(f"{beginning}{KNOWN}. More.")) == (
        f"RuntimeError: {beginning}{KNOWN}"
    )


def test_each_family_is_headed_by_its_first_row(tmp_path, monkeypatch):
    rows = [
        SimpleNamespace(title="a view", error=lambda: RuntimeError(f"{KNOWN}. É")),
        SimpleNamespace(title="a view", error=lambda: RuntimeError("never raised")),
        SimpleNamespace(title="a step", error=lambda: ValueError("step must be greater than zero")),
    ]
    monkeypatch.setitem(sys.modules, "tests.core.messages", SimpleNamespace(ROWS=rows))
    assert messages.STORED.is_file()
    monkeypatch.setattr(messages, "STORED", tmp_path / "messages.json")
    monkeypatch.setattr(sys, "path", [*sys.path])
    messages.main()
    text = (tmp_path / "messages.json").read_text("utf-8")
    assert json.loads(text) == {
        "a view": f"RuntimeError: {KNOWN}.",
        "a step": "ValueError: step must be greater than zero",
    }
    assert text.startswith('{\n "a view": ') and text.endswith("}\n")
