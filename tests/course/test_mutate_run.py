"""`make mutate` on a small project: which defects it plants, which tests it runs, and what it prints."""

import random
import subprocess
import sys
import time
from pathlib import Path
from queue import Queue

import pytest

import mutate
import sizes
from tests.course.forks import end_fork_server

FILES = {
    ".coveragerc": "[run]\nomit = */toy.py\n",  # of other runs: reach wants all files
    "pytest.ini": "[pytest]\naddopts = -m 'not long'\nmarkers = long: at night\n",
    "stridekit/__init__.py": "",
    "stridekit/toy.py": '''\
"""A toy."""


def half(x):
    """Return half of an even number."""
    return x // 2


def unused(x):
    return x + 1
''',
    "stridekit/widgets/__init__.py": "",
    "stridekit/widgets/assets.py": "def files(name):\n    return [name, f'page/{name}']\n",
    "stridekit/widgets/engine.py": """\
class Script:
    def __init__(self, file):
        self._file = file

    def _ask(self, question):
        return f"{question}!"
""",
    "tools/other.py": "x = 1\n",
    "tests/__init__.py": "",
    "tests/core/__init__.py": "",
    "tests/core/test_timing.py": "def test_time():\n    pass\n",
    "tests/core/test_toy.py": """\
import pytest

from stridekit import toy


def test_half():
    assert toy.half(6) == 3


def test_script():
    from stridekit.widgets.engine import Script

    assert Script("toy.js")._ask("so") == "so!"


def test_red():
    assert toy.half(6) == 4


def test_skipped():
    pytest.skip("no device")
""",
    "tests/course/__init__.py": "",
    "tests/course/test_course.py": """\
from stridekit import toy


def test_zero():
    assert toy.half(0) == 0
""",
    "tests/course/test_slow.py": """\
import pytest

from stridekit import toy


@pytest.mark.long
def test_slow():
    assert toy.half(8) == 4
""",
    "tests/course/test_hostile_answers.py": "def test_stopped():\n    raise SystemExit\n",
    "tests/course/browser/test_page.py": "raise SystemExit\n",
    "tests/defects.txt": """\
# Words before the first block.

stridekit/toy.py is held by tests/core/test_toy.py
    half is a third
    - x // 2
    + x // 3
    two lines
    - def unused(x):
    -     return x + 1
    + def unused(x):
    +     return x

stridekit/widgets/page/a.css is held by tests/course/browser/test_hands.py
    wide
    - a { }
    + b { }

stridekit/widgets/cache_explorer/b.css is held by tests/course/browser/test_hands.py
    narrow
    - a { }
    + c { }
""",
    "tests/equivalent_defects.txt": """\
# The form of the list.

stridekit/toy.py
- return x + 1
+ return x - 1
Nothing calls unused, and this
reason has two lines.
""",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A small project in git."""
    root = tmp_path_factory.mktemp("mutated") / "kit"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / ".gitignore").write_text("ignored.py\n")
    (root / "ignored.py").touch()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "tests"], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutate, "ROOT", root)
        patch.setattr(sizes, "ROOT", root)
        patch.setattr(mutate, "WRITTEN", root / "tests" / "defects.txt")
        patch.setattr(mutate, "EQUIVALENT", root / "tests" / "equivalent_defects.txt")
        end_fork_server()
        patch.setattr(mutate, "PRELOADED", ["pytest", "coverage"])
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of a run
        mutate.equivalent.cache_clear()
        yield root
    mutate.equivalent.cache_clear()


# Which defects -------------------------------------------------------------------------------------


def test_written_defects_have_the_tests_that_hold_their_file(project):
    half, two_lines, wide, narrow = mutate.written_defects()
    assert half[:4] == ("stridekit/toy.py", "half is a third", "x // 2", "x // 3")
    assert half.tests == ("tests/core/test_toy.py",)
    assert two_lines.old == "def unused(x):\n    return x + 1"
    assert two_lines.in_text(f"1\n{two_lines.old}\n2") == "1\ndef unused(x):\n    return x\n2"
    hands = "tests/course/browser/test_hands.py"
    assert (wide.tests, narrow.tests) == ((hands,), (hands, "-k", "CacheExplorer"))


@pytest.mark.parametrize("part", ["stridekit", "stridekit/toy.py", "core", "all"])
def test_generated_defects_are_those_of_a_part_without_the_equivalent_ones(
    project, monkeypatch, part
):
    parts = {
        "core": ("stridekit/*.py", ()),
        "tools": ("tools/*.py", ()),
        "tests": ("tests/**/*.py", ()),
    }
    monkeypatch.setattr(mutate, "PARTS", parts)
    defects = [defect for defect in mutate.generated_defects(part) if "toy" in defect.file]
    assert [(defect.line, defect.old, defect.new) for defect in defects] == [
        (6, "x // 2", "x * 2"),
        (6, "x // 2", "2 // x"),
        (6, "2", "3"),
        (10, "x + 1", "(x)"),
        (10, "x + 1", "(1)"),
        (10, "1", "2"),
    ]
    others = {defect.file for defect in mutate.generated_defects(part)} - {"stridekit/toy.py"}
    assert others == ({"tools/other.py"} if part == "all" else set())
    source = FILES["stridekit/toy.py"]
    assert defects[0].in_text(source) == source.replace("x // 2", "x * 2")


def test_a_change_is_known_by_its_lines_and_not_by_their_indent(project):
    source = "a = 1\nif a:\n    b = f(\n        1, 2)\nc = 1\n"
    whole = mutate.Planted("x.py", "", "f(\n        1, 2)", "f(2, 1)", source.index("f("), 3)
    assert mutate.change_of(whole, source) == ("x.py", "b = f( 1, 2)", "b = f(2, 1)")
    last = mutate.Planted("x.py", "", "1", "2", source.rindex("1"), 5)
    assert mutate.change_of(last, source) == ("x.py", "c = 1", "c = 2")
    first = mutate.Planted("x.py", "", "1", "2", source.index("1"), 1)
    assert mutate.change_of(first, source) == ("x.py", "a = 1", "a = 2")
    longer = mutate.Planted("x.py", "", "c = 1", "c = 1\nc = 1", source.index("c ="), 5)
    assert mutate.change_of(longer, source) == ("x.py", "", "c = 1")


def test_a_reason_is_one_line(project):
    change = ("stridekit/toy.py", "return x + 1", "return x - 1")
    assert mutate.equivalent() == {change: "Nothing calls unused, and this reason has two lines."}


# Which tests ---------------------------------------------------------------------------------------

SECONDS = {
    "b.py::slow": 3.0,
    "b.py::quick": 1.0,
    "a.py::one": 5.0,
    "a.py::two": 6.0,
    "c.py::c": 2.0,
}
REACH = mutate.Reach(
    SECONDS,
    {
        ("x.py", 1): {""},
        ("x.py", 3): {"b.py::slow", "b.py::quick", "a.py::one", "failed.py::red"},
        ("x.py", 4): {"a.py::two", "c.py::c"},
        ("y.py", 1): {"c.py::c"},
    },
    {"page/a.js": {"a.py::two"}},
)


def planted(file, line, old="x"):
    return mutate.Planted(file, "", old, "y", 0, line)


@pytest.mark.parametrize(
    ("defect", "tests"),
    [
        (planted("x.py", 4), ["c.py::c", "a.py::two"]),
        (planted("x.py", 3), ["b.py::quick", "a.py::one", "b.py::slow"]),
        (
            planted("x.py", 3, "x\n"),
            ["b.py::quick", "c.py::c", "a.py::one", "b.py::slow", "a.py::two"],
        ),
        (planted("x.py", 1), ["b.py::quick", "c.py::c", "a.py::one", "b.py::slow", "a.py::two"]),
        (planted("x.py", 2), ["b.py::quick", "c.py::c", "a.py::one", "b.py::slow", "a.py::two"]),
        (planted("y.py", 1), ["c.py::c"]),
        (planted("z.py", 1), []),
        (planted("page/a.js", 1), ["a.py::two"]),
        (planted("page/b.js", 1), []),
    ],
)
def test_the_tests_of_a_defect_are_one_of_each_file_first_and_the_quickest(defect, tests):
    """An import runs line 1, and nothing known runs line 2: all tests of the file may notice."""
    assert REACH.tests_of(defect) == tests


def test_few_tests_run_before_all_others_and_those_of_a_browser(monkeypatch):
    monkeypatch.setattr(mutate, "FIRST", 2)
    first, others, browser, motion = REACH.groups_of(planted("x.py", 3))
    assert (first, others) == (["b.py::quick", "a.py::one"], ["b.py::slow"])
    assert (browser, motion) == ((), ())


BROWSER = "tests/course/browser"


@pytest.mark.parametrize(
    ("file", "tests", "others"),
    [
        ("labextension/static/extension.js", f"{BROWSER}/test_extension.py", False),
        ("stridekit/export/static/site.js", f"{BROWSER}/test_site.py", False),
        ("stridekit/export/site.py", f"{BROWSER}/test_site.py", False),
        ("stridekit/widgets/page/frame.js", f"{BROWSER}/test_hands.py", True),
        ("stridekit/widgets/sort/widget.js", f"{BROWSER}/test_hands.py -k Sort", True),
        ("stridekit/widgets/sort/judge.py", f"{BROWSER}/test_hands.py -k Sort", False),
        ("stridekit/widgets/base.py", f"{BROWSER}/test_hands.py", False),
        ("stridekit/layout.py", "", False),
        ("tools/stills.py", f"{BROWSER}/test_photos.py", False),
    ],
)
def test_the_browser_tests_of_a_file(file, tests, others):
    *_, browser, motion = REACH.groups_of(planted(file, 1))
    assert " ".join(browser).startswith(tests) and bool(browser) == bool(tests)
    assert (f"{BROWSER}/test_motion.py" in motion) == bool(motion) == others
    for name in (*browser, *motion):
        assert name in ("-k", "Sort") or (Path(__file__).parents[2] / name).is_file()


def test_node_tests_reach_the_scripts_that_they_import_or_read(tmp_path, monkeypatch):
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    folder = tmp_path / "tests" / "course" / "js"
    folder.mkdir(parents=True)
    page = tmp_path / "stridekit" / "widgets" / "page"
    page.mkdir(parents=True)
    (folder / "a.test.mjs").write_text(
        'import { x } from "../../../stridekit/widgets/page/a.js";\n'
        'await import("../../../stridekit/widgets/page/c.js?2");\nimport test from "node:test";\n'
    )
    (page / "a.js").write_text('import { y } from "./b.js";\n')
    (page / "b.js").write_text('import { x } from "./a.js";\n')
    (page / "c.js").write_text("const url = new URL(`./d.js`, import.meta.url);\n")
    (page / "d.js").touch()
    ((name, scripts),) = mutate._node_tests()
    assert name == "tests/course/test_javascript.py::test_file_passes[a.test.mjs]"
    assert scripts == {f"stridekit/widgets/page/{letter}.js" for letter in "abcd"}


def test_a_copy_has_what_git_tracks_or_would_track(project, tmp_path):
    mutate.copy_project(tmp_path / "copy")
    names = {
        path.relative_to(tmp_path / "copy").as_posix()
        for path in (tmp_path / "copy").rglob("*")
        if path.is_file()
    }
    assert names >= {*FILES, ".gitignore"}
    assert "ignored.py" not in names and not any(name.startswith(".git/") for name in names)
    assert (tmp_path / "copy" / "stridekit" / "toy.py").read_text() == FILES["stridekit/toy.py"]


# A run -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copies(project, tmp_path_factory):
    """Two copies of the project."""
    folder = tmp_path_factory.mktemp("copies")
    copies = Queue()
    for k in range(2):
        mutate.copy_project(folder / f"copy{k}")
        copies.put(folder / f"copy{k}")
    return copies


@pytest.fixture(scope="module")
def reach(copies):
    return mutate.measure_reach(copies)


@pytest.mark.long
def test_reach_knows_which_tests_pass_and_which_lines_and_scripts_they_reach(reach, copies):
    assert copies.qsize() == 2
    core, course = "tests/core/test_toy.py", "tests/course/test_course.py"
    passed = {f"{core}::test_half", f"{core}::test_script", f"{course}::test_zero"}
    assert reach.seconds.keys() == passed | {"tests/core/test_timing.py::test_time"}
    assert all(0 <= seconds < 60 for seconds in reach.seconds.values())
    half = reach.lines["stridekit/toy.py", 6]
    assert half == {f"{core}::test_half", f"{core}::test_red", f"{course}::test_zero"}
    assert "" in reach.lines["stridekit/toy.py", 4]
    assert ("stridekit/toy.py", 10) not in reach.lines
    for script in ("toy.js", "page/toy.js"):
        assert reach.scripts[f"stridekit/widgets/{script}"] == {f"{core}::test_script"}


@pytest.mark.parametrize(
    ("change", "noticed"),
    [("3", "tests/core/test_toy.py::test_half"), ("2 + 0", "")],
    ids=["noticed", "survived"],
)
def test_a_planted_defect_is_noticed_by_the_first_test_that_fails(copies, change, noticed):
    start = FILES["stridekit/toy.py"].index("2\n")
    defect = mutate.Planted("stridekit/toy.py", "", "2", change, start, 6)
    groups = [[], ["tests/core/test_toy.py::test_half"], ["no test of this name"]]
    assert mutate.plant(defect, groups[: 3 if noticed else 2], copies) == noticed
    assert copies.qsize() == 2
    for copy in copies.queue:
        assert (copy / "stridekit" / "toy.py").read_text() == FILES["stridekit/toy.py"]
        assert not [*copy.rglob("*.pyc")]  # Python might take one for that of the next defect


@pytest.mark.long
def test_a_defect_that_only_a_long_test_reaches_is_noticed_by_it(copies):
    start = FILES["stridekit/toy.py"].index("2\n")
    defect = mutate.Planted("stridekit/toy.py", "", "2", "3", start, 6)
    slow = "tests/course/test_slow.py"
    assert mutate.plant(defect, [[slow]], copies) == f"{slow}::test_slow"


def test_a_defect_that_ends_the_run_is_noticed_too(copies):
    start = FILES["stridekit/toy.py"].index("x // 2")
    defect = mutate.Planted("stridekit/toy.py", "", "x // 2", "__import__('os')._exit(7)", start, 6)
    assert mutate.plant(defect, [["tests/course/test_course.py"]], copies).startswith(
        "exit code 7: "
    )


def test_a_test_that_does_not_end_is_stopped(copies):
    with mutate.taken_from(copies) as copy:
        code, output = mutate.run_in_process(wait, copy, timeout=1)
    assert code == -9 and output == ""


def wait(copy, log):
    log.write_text("")
    time.sleep(60)


@pytest.fixture
def run(project, monkeypatch, capsys):
    """Run main without measuring the reach; return its exit status and its lines."""
    monkeypatch.setattr(mutate, "measure_reach", lambda copies: REACH)

    def main(*arguments):
        monkeypatch.setattr(sys, "argv", ["mutate.py", *arguments, "--workers", "1"])
        with pytest.raises(SystemExit) as stop:
            mutate.main()
        return stop.value.code, capsys.readouterr().out.splitlines()

    return main


@pytest.mark.long
def test_main_prints_what_became_of_each_defect_and_fails_below_nine_of_ten(
    run, reach, monkeypatch
):
    monkeypatch.setattr(mutate, "measure_reach", lambda copies: reach)
    monkeypatch.setattr(
        random.Random, "sample", lambda self, defects, count: defects[2 : 2 + count]
    )
    status, lines = run("stridekit/toy.py", "--seed", "3", "--count", "2")
    assert status == 1
    assert lines == [
        "stridekit/toy.py:6 off by one: 2 -> 3: noticed by tests/core/test_toy.py::test_half",
        "stridekit/toy.py:10 dropped term: x + 1 -> (x): SURVIVED",
        "stridekit/toy.py: 1 of 2 defects were noticed (seed 3)",
        "  1 survived in stridekit/toy.py",
    ]


def test_main_plants_the_sample_of_the_seed_and_keeps_the_reach(run, tmp_path, monkeypatch):
    file = tmp_path / "reach.pickle"
    noticed = []
    monkeypatch.setattr(
        mutate, "plant", lambda defect, groups, copies: noticed.append(defect) or "t"
    )
    options = ("stridekit/toy.py", "--count", "2", "--reach", str(file))
    assert run(*options, "--seed", "1")[0] == 0
    monkeypatch.setattr(mutate, "measure_reach", None)  # it is read from the file
    run(*options, "--seed", "1")
    run(*options, "--seed", "2")
    first, second, other = noticed[:2], noticed[2:4], noticed[4:]
    assert first == second != other and len(other) == 2


def test_a_reach_of_other_files_is_refused(run, project, tmp_path, monkeypatch):
    """Else a test that is gone would seem to notice each defect."""
    file = tmp_path / "reach.pickle"
    options = ("stridekit/toy.py", "--count", "0", "--reach", str(file))
    assert run(*options)[0] == 0
    new = project / "stridekit" / "new.py"
    new.touch()
    status, lines = run(*options)
    new.unlink()
    assert lines == []
    assert "was measured on other files than these: remove it" in status
    assert run(*options)[0] == 0


@pytest.mark.parametrize(("processors", "workers"), [(3, 3), (None, 1)])
def test_main_makes_a_copy_for_each_processor(project, monkeypatch, capsys, processors, workers):
    sizes_of_queues = []

    def measure_reach(copies):
        sizes_of_queues.append(copies.qsize())
        return REACH

    monkeypatch.setattr(mutate, "measure_reach", measure_reach)
    monkeypatch.setattr(mutate.os, "cpu_count", lambda: processors)
    monkeypatch.setattr(sys, "argv", ["mutate.py", "stridekit/toy.py", "--count", "0"])
    with pytest.raises(SystemExit) as stop:
        mutate.main()
    assert (sizes_of_queues, stop.value.code) == ([workers], 0)
    assert capsys.readouterr().out == "stridekit/toy.py: 0 of 0 defects were noticed (seed 0)\n"


def test_main_plants_written_defects_for_the_tests_that_hold_them(run, monkeypatch):
    seen = []
    monkeypatch.setattr(
        mutate, "plant", lambda defect, groups, copies: seen.append((defect.name, groups)) or ""
    )
    monkeypatch.setattr(mutate, "measure_reach", None)
    status, lines = run("written")
    assert status == 1 and lines[-1].startswith("  1 survived in ")
    assert ("half is a third", [("tests/core/test_toy.py",)]) in seen and len(seen) == 4


def test_a_long_text_is_quoted_by_its_beginning():
    assert mutate._short("a\n   b") == "a b"
    assert mutate._short("x" * 60) == "x" * 60
    assert mutate._short("x" * 61) == "x" * 57 + "..."
