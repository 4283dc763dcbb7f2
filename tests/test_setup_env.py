"""The set-up: the decisions it takes, and its words to a person when it fails."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import environment
import setup_env
from environment import Machine, SetupError

ROOT = Path(__file__).parent.parent
LINUX = Machine("Linux", "x86_64", "3.11")

# Which Python ------------------------------------------------------------------------------------


def test_any_python_3_can_read_the_first_file():
    """An old Python would only complain about the syntax."""
    source = (ROOT / "tools/setup_env.py").read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 5))
    assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)]


def test_python_has_to_be_one_that_torch_is_built_for():
    """Each fitting version is looked for, and a refusal names them."""
    fitting = [setup_env.fits((3, minor)) for minor in (10, 11, 14, 15)]
    assert fitting == [False, True, True, False]
    minors = range(setup_env.OLDEST[1], setup_env.NEWEST[1] + 1)
    assert sorted(setup_env.COMMANDS) == [f"python3.{minor}" for minor in minors]
    said = setup_env.no_python((3, 9))
    assert said.startswith("Python 3.11 to 3.14 is needed, this is 3.9")
    assert "make PYTHON=" in said and "\n" not in said


def test_another_python_has_to_start(tmp_path):
    """A version manager puts stand-ins for missing Pythons on the PATH."""
    found = {"python3.13": "/shims/python3.13", "python3.11": "/usr/bin/python3.11"}
    assert setup_env.other_python(found, lambda path: "shims" not in path) == "/usr/bin/python3.11"
    assert setup_env.other_python(found, lambda path: True) == "/shims/python3.13"
    assert setup_env.other_python(found, lambda path: False) is None
    assert setup_env.starts(sys.executable) and not setup_env.starts(str(tmp_path / "python3"))


# Which machine -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (Machine("Windows", "AMD64", "3.12", bits=32), ["32-bit", "install a 64-bit Python"]),
        (Machine("Darwin", "x86_64", "3.12"), ["Intel Macs", "Binder", "arm64 Python"]),
        (Machine("Windows", "ARM64", "3.12"), ["Windows on ARM64", "Binder"]),
        (Machine("Linux", "riscv64", "3.12"), ["Linux on riscv64", "Binder"]),
        (Machine("Linux", "x86_64", "3.12", has_venv=False), ["apt install python3.12-venv"]),
    ],
)
def test_an_unfit_machine_is_told_why(machine, words):
    said = environment.why_not(machine)
    assert all(word in said for word in words), said
    assert "\n" not in said


def test_the_machines_that_torch_is_built_for_will_do():
    machines = [Machine.here(), *(Machine(*kind, "3.13") for kind in environment.BUILDS)]
    assert [environment.why_not(machine) for machine in machines] == [""] * 5


# What to do --------------------------------------------------------------------------------------

HERE, MADE_FROM = "Python 3.11, Linux x86_64, /a b/.venv", "abc"
FINISHED = environment.stamp_text(HERE, MADE_FROM)


@pytest.mark.parametrize(
    ("stamp", "has_python", "step"),
    [
        (None, False, "build"),  # nothing there
        (FINISHED, False, "build"),  # its Python is gone
        (environment.UNFINISHED, True, "build"),  # interrupted
        (FINISHED.replace("/a b/", "/c/"), True, "build"),  # moved or copied
        (FINISHED.replace("3.11", "3.12"), True, "build"),  # another Python
        (FINISHED.replace("abc", "def"), True, "update"),  # pyproject.toml or the lock changed
        (None, True, "update"),  # made by somebody else: never removed
        (FINISHED, True, ""),
    ],
)
def test_next_step_follows_from_the_stamp(stamp, has_python, step):
    assert environment.next_step(stamp, HERE, MADE_FROM, has_python) == step


def test_an_environment_belongs_to_a_python_a_machine_and_a_folder():
    """A copy elsewhere would run the Python of the original."""
    venv = Path("/a b/.venv")
    assert environment.place(LINUX, venv) == HERE
    others = [Machine("Linux", "x86_64", "3.12"), Machine("Linux", "aarch64", "3.11")]
    places = {environment.place(machine, venv) for machine in others}
    assert len({HERE, environment.place(LINUX, Path("/c/.venv")), *places}) == 4


@pytest.fixture
def tree(tmp_path):
    """The inputs of the set-up, in a folder with a space in its name."""
    root = tmp_path / "stride kit"
    (root / "tools").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", "tools/environment.py"):
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "labextension", root / "labextension")
    return root


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("constraints.txt", "torch==", "torch==9.", True),
        ("pyproject.toml", '"numpy>=2', '"numpy>=3', True),
        ("pyproject.toml", '"hatchling>=1', '"hatchling>=2', True),  # the build system
        ("labextension/static/extension.js", "autoStart: true", "autoStart: false", True),
        ("pyproject.toml", "hatchling.build", "hatchling.other", True),
        ("pyproject.toml", 'requires-python = ">=3.11"', 'requires-python = ">=3.12"', True),
        ("pyproject.toml", '"jupyterlab>=4', '"jupyterlab>=5', True),  # an extra
        ("pyproject.toml", "line-length = 100", "line-length = 99", False),  # a tool's setting
        ("tools/environment.py", "Bringing", "Getting", True),
    ],
)
def test_inputs_are_the_dependencies_the_lock_and_the_tool(tree, name, old, new, changes):
    before = environment.inputs(tree)
    text = (tree / name).read_text(encoding="utf-8")
    assert old in text
    (tree / name).write_text(text.replace(old, new), encoding="utf-8")
    assert (environment.inputs(tree) != before) is changes


# What it says ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("NewConnectionError: Failed to establish a new connection: [Errno 101]", "network"),
        ("ReadTimeoutError: Read timed out.\nERROR: No matching distribution found", "network"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "PIP_CERT"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no torch 2.13 for"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: Package 'stridekit' requires a different Python: 3.9.2", "remove that folder"),
        ("/a/.venv/bin/python: No module named pip", "remove that folder"),
        ("ERROR: Could not install: [Errno 13] Permission denied: '/a'", "cannot be written"),
        ("something new", "find the reason in .venv"),
    ],
)
def test_a_failure_of_pip_is_explained(log, words):
    shown, said = environment.explain_failure(f"Collecting torch\n{log}\n\nmore\n", LINUX)
    assert words in said and "\n" not in said
    assert log.splitlines()[0] in shown


def test_the_telling_lines_of_a_log_are_quoted():
    """The last telling line, or the last six lines, without blank ones and shortened."""
    log = "Connection reset: first\nConnection reset: last\nmore"
    assert environment.explain_failure(log, LINUX)[0] == "  | Connection reset: last"
    log = "\n".join(["long ago", "", *"abcd", "", "x" * 500, "last", ""])
    shown, _ = environment.explain_failure(log, LINUX)
    assert shown.splitlines() == [f"  | {line}" for line in [*"abcd", "x" * 160, "last"]]


class Sandbox:
    """The set-up on a copied tree: `asked` has the commands, which `run` only pretends to run."""

    def __init__(self, tree, monkeypatch):
        self.venv, self.asked, self.run = tree / ".venv", [], self.succeed
        places = {"VENV": "", "STAMP": "stamp", "LOG": "setup.log", "PYTHON": "bin/python"}
        for name, path in (places | {"LAB_SETTINGS": "share/overrides.json"}).items():
            monkeypatch.setattr(environment, name, self.venv / path)
        monkeypatch.setattr(environment, "ROOT", tree)
        monkeypatch.setattr(Machine, "here", classmethod(lambda cls: LINUX))
        monkeypatch.setattr(environment, "run", lambda command, log: self.run(command, log))

    def succeed(self, command, log):
        self.asked.append([*map(str, command[1:])])
        if "venv" in command:
            (self.venv / "bin").mkdir()
            (self.venv / "bin/python").touch()
        return True

    def modules(self):
        """The modules that Python was asked to run."""
        return [options[1] for options in self.asked]


@pytest.fixture
def sandbox(tree, monkeypatch):
    return Sandbox(tree, monkeypatch)


def test_first_run_builds_what_is_locked_and_the_second_does_nothing(sandbox, capsys):
    """It asks no questions. A changed lock then updates in place."""
    assert environment.prepare() == 0
    venv, pip = sandbox.asked
    assert venv == ["-m", "venv", str(sandbox.venv)]
    assert pip[:3] == ["-m", "pip", "install"] and "--no-input" in pip
    assert pip[-4:] == ["-c", "constraints.txt", "-e", ".[test]"]
    settings = json.loads(environment.LAB_SETTINGS.read_text(encoding="utf-8"))
    assert settings == environment.QUIET_LAB and "fetchNews" in str(settings)
    assert "Making .venv with Python 3.11" in capsys.readouterr().out
    assert environment.prepare() == 0
    assert len(sandbox.asked) == 2 and capsys.readouterr() == ("", "")
    (sandbox.venv / "kept").touch()
    (environment.ROOT / "constraints.txt").write_text("torch==2.13.1\n", encoding="utf-8")
    assert environment.prepare() == 0
    assert sandbox.modules() == ["venv", "pip", "pip"] and (sandbox.venv / "kept").exists()
    assert "up to date" in capsys.readouterr().out


@pytest.mark.parametrize("status", [0, 1])
def test_a_command_has_nobody_to_ask_and_its_words_are_logged(status, tmp_path):
    """Even if somebody types into the set-up."""
    log = tmp_path / "log"
    log.write_text("before\n", encoding="utf-8")
    child = f"import sys; print(repr(sys.stdin.read())); print('why', file=sys.stderr); sys.exit({status})"
    program = (
        "import sys, environment; log = open(sys.argv[1], 'a')\n"
        "sys.exit(3 if environment.run([sys.executable, '-c', sys.argv[2]], log) else 4)"
    )
    command = [sys.executable, "-c", program, str(log), child]
    done = subprocess.run(
        command, cwd=ROOT / "tools", input="typed", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (4 if status else 3, "", "")
    said = log.read_text(encoding="utf-8").splitlines()
    assert said[0] == "before" and sorted(said[1:]) == ["''", "why"]


@pytest.mark.parametrize("what", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_build_starts_again_from_nothing(sandbox, what, capsys):
    def stops(command, log):
        if "pip" in command:
            raise what
        return sandbox.succeed(command, log)

    sandbox.run = stops
    if what is KeyboardInterrupt:
        assert environment.prepare() == 130
        assert "interrupted" in capsys.readouterr().err
    else:
        with pytest.raises(what):
            environment.prepare()
    sandbox.run = sandbox.succeed
    (sandbox.venv / "half").touch()
    assert environment.prepare() == 0
    assert sandbox.modules() == ["venv", "venv", "pip"] and not (sandbox.venv / "half").exists()


def test_a_failure_shows_the_log_and_one_line(sandbox, capsys):
    """And the next run tries again."""

    def fails(command, log):
        log.write("Collecting torch\nOSError: [Errno 28] No space left on device\n")
        return False

    sandbox.run = fails
    assert environment.prepare() == 1
    *shown, said = capsys.readouterr().err.splitlines()
    assert shown == ["  | OSError: [Errno 28] No space left on device"]
    assert said == "Set-up: the disk is full: free some space (8 GB is plenty), then try again"
    sandbox.run = sandbox.succeed
    assert environment.prepare() == 0 and sandbox.asked


@pytest.mark.parametrize("error", [SetupError("too bad"), PermissionError(13, "Permission denied")])
def test_no_error_shows_a_traceback(sandbox, monkeypatch, error, capsys):
    def fails(*_):
        raise error

    monkeypatch.setattr(environment, "set_up", fails)
    assert environment.prepare() == 1
    said = capsys.readouterr().err
    assert said.startswith("Set-up: ") and said.count("\n") == 1


# For real ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not environment.STAMP.is_file(), reason="this environment was made by hand")
def test_a_ready_environment_is_recognised_in_silence_and_at_once():
    """The environment that runs this test is ready."""
    here = environment.place(Machine.here(), environment.VENV)
    stamp = environment.read_stamp()
    if environment.next_step(stamp, here, environment.inputs(ROOT), has_python=True):
        pytest.skip("the environment is not up to date")
    start = time.perf_counter()
    command = [sys.executable, str(ROOT / "tools/setup_env.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.perf_counter() - start < 2


MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
ARGUMENTS = re.findall(r"^(\w+)_ARGS \?=", MAKEFILE, re.MULTILINE)
needs_make = pytest.mark.skipif(os.name == "nt" or not shutil.which("make"), reason="needs make")


def make(*arguments):
    """Run make, without its own lines about folders."""
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@needs_make
def test_make_without_python_says_so_in_a_line():
    first, _make_says = make("env", "PYTHON=no-such-python").stderr.splitlines()
    assert first.startswith("Set-up: there is no no-such-python here: install Python 3.11 to 3.14")


@needs_make
def test_make_lists_the_targets_and_all_but_three_make_the_environment_first():
    targets = re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE)
    assert set(targets) == set(re.search(r"^\.PHONY: (.*)", MAKEFILE, re.MULTILINE)[1].split())
    assert [line.split()[1] for line in make().stdout.splitlines()] == targets
    for target in {*targets} - {"help", "fresh", "versions"}:
        assert "tools/setup_env.py" in make("--dry-run", target).stdout, target


@needs_make
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_on_the_command_line_reach_the_tool(name):
    """Without them, `make refresh REFRESH_ARGS=--check` would write."""
    done = make("--dry-run", name.lower(), f"{name}_ARGS=--like 'this one'")
    assert done.returncode == 0 and done.stdout.rstrip().endswith(" --like 'this one'")


def test_every_target_with_arguments_is_tried():
    assert len(ARGUMENTS) == len(set(ARGUMENTS)) >= 9
    assert set(re.findall(r"\$\((\w+)_ARGS\)", MAKEFILE)) == set(ARGUMENTS)


@needs_make
def test_the_lab_starts_for_everybody_on_the_first_page():
    """Even for root, and without a question about news."""
    said = make("--dry-run", "lab", "DISPLAY=").stdout
    assert ("--allow-root" in said) is (os.getuid() == 0)
    wanted = ["--ServerApp.root_dir=.", "--LabApp.default_url=/lab/tree/notebooks/00_start.ipynb"]
    assert all(option in said for option in [*wanted, "--LabApp.news_url=None"])
