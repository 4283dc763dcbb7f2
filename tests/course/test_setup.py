"""The Makefile's set-up: when it works, what it repairs, and its one line when it cannot."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = ("python3", "python3.11", "python3.12", "python3.13", "python3.14")
# A Python that notes what it is asked for, and fails as the variables say.
STAND_IN = """\
#!/bin/sh
case "$*" in
  --version) echo "Python $VERSION" ;;
  *sys.exit*) case "$VERSION" in 3.1[1-4].*) ;; *) exit 1 ;; esac ;;
  *ensurepip*) [ -z "$NO_VENV" ] ;;
  *print*) echo python3.12-venv ;;
  "-m venv .venv") echo venv >>asked; mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  "-m pip install "*)
    echo pip >>asked; echo "$*" >>extras; [ -z "$DIES" ] || kill $PPID
    [ -z "$SAYS" ] || { echo "$SAYS"; exit 1; } ;;
esac
"""

UPDATES = "Bringing .venv up to date with pyproject.toml and constraints.txt\n"

pytestmark = pytest.mark.skipif(
    not shutil.which("make") or os.name == "nt", reason="needs make and a POSIX system"
)


@pytest.fixture
def project(tmp_path):
    """A folder with a space and a quote in its name that holds what the set-up reads."""
    root = tmp_path / "a stranger's kit"
    (root / "bin").mkdir(parents=True)
    (root / "tools").mkdir()
    for name in ("Makefile", "tools/environment.sh", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "labextension", root / "labextension")
    for name in COMMANDS:
        (root / "bin" / name).write_text(STAND_IN)
        (root / "bin" / name).chmod(0o755)
    return root


def env(project, *arguments, target="env", **variables):
    """Run `make env`; return its status, the programs it called, its words, and its lines of errors."""
    path = f"{project / 'bin'}:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": "", "VERSION": "3.12.4", **variables}
    command = ["make", "--no-print-directory", target, *arguments]
    run = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    notes = project / "asked"
    called = notes.read_text().split() if notes.exists() else []
    notes.unlink(missing_ok=True)
    errors = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    return run.returncode, called, run.stdout, errors


def test_set_up_runs_once_and_again_when_its_inputs_change(project):
    status, called, words, errors = env(project)
    assert (status, called, errors) == (0, ["venv", "pip"], [])
    assert words.startswith("Making .venv with Python 3.12.4: a download of ")
    assert env(project)[1] == []
    for name in ("pyproject.toml", "constraints.txt", "labextension/static/extension.js"):
        later = (project / ".venv" / "has-test").stat().st_mtime + 5
        os.utime(project / name, (later, later))
        assert env(project)[1:3] == (["pip"], UPDATES)
        os.utime(project / name, (1, 1))
        assert env(project)[1] == []


def test_lab_installs_the_lessons_alone_and_the_tests_come_later(project):
    lab = ".venv/has-lab"
    assert env(project, target=lab)[1] == ["venv", "pip"]
    assert (project / "extras").read_text().endswith(" -e .[lab]\n")
    assert env(project, target=lab)[1] == []
    status, called, words, _ = env(project)
    assert (status, called) == (0, ["pip"])
    assert words.startswith("Adding the packages of the tests to .venv: a download of ")
    assert (project / "extras").read_text().endswith(" -e .[test]\n")
    assert env(project, target=lab)[1] == env(project)[1] == []


@pytest.mark.parametrize("target", ["env", ".venv/has-lab"])
def test_set_up_says_on_linux_how_to_do_without_cuda(project, target):
    name = project / "bin" / "uname"
    address = {"PIP_EXTRA_INDEX_URL": "/of/cpu/builds"}
    for system, variables, is_told in [
        ("Darwin", {}, False),
        ("Linux", address, False),
        ("Linux", {}, True),
    ]:
        shutil.rmtree(project / ".venv", ignore_errors=True)
        name.write_text(f"#!/bin/sh\necho {system}\n")
        name.chmod(0o755)
        words = env(project, target=target, **variables)[2]
        command = "make lab" if "lab" in target else "make test"
        assert (f"{command} PIP_EXTRA_INDEX_URL=ADDRESS\n" in words) is is_told
        assert re.search(r"a download of \d+ MB, a few minutes\n", words)


@pytest.mark.parametrize("during", ["first build", "update"])
def test_interrupted_set_up_is_repaired_by_the_next(project, during):
    if during == "update":
        env(project)
        (project / ".venv" / "mine").touch()
        os.utime(project / "constraints.txt", (4e9, 4e9))
    assert env(project, DIES="yes")[0] != 0
    os.utime(project / "constraints.txt", (1, 1) if during == "first build" else (4e9, 4e9))
    status, called, *_ = env(project)
    assert status == 0
    assert called == (["venv", "pip"] if during == "first build" else ["pip"])
    assert (project / ".venv" / "mine").exists() is (during == "update")


def test_environment_that_was_moved_or_lost_its_python_is_made_anew(project):
    env(project)
    moved = project.rename(project.parent / "elsewhere")
    assert env(moved)[1] == ["venv", "pip"]
    (moved / ".venv" / "bin" / "python").unlink()
    assert env(moved)[1] == ["venv", "pip"]


def test_environment_that_somebody_else_made_is_updated_and_never_removed(project):
    (project / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(project / "bin" / "python3", project / ".venv" / "bin" / "python")
    assert env(project)[1] == ["pip"] and env(project)[1] == []


TOO_OLD = {"VERSION": "3.9.2"}
FAILURES = [
    ([], TOO_OLD, "python3 is Python 3.9.2, and there is no Python 3.11 to 3.14"),
    ([], {"VERSION": "3.15.0"}, "python3 is Python 3.15.0, and there is no Python 3.11 to"),
    (["PYTHON=/no python"], TOO_OLD, "there is no /no python here, and no other"),
    ([], {"NO_VENV": "yes"}, "on Debian and Ubuntu, apt install python3.12-venv; elsewhere"),
    ([], {"SAYS": "NameResolutionError: x"}, "pip cannot reach its package index: check the"),
    ([], {"SAYS": "ERROR: No space left on device"}, "pip failed: ERROR: No space left on"),
]


@pytest.mark.parametrize(("arguments", "variables", "words"), FAILURES)
def test_set_up_that_cannot_go_on_says_why_in_one_line(project, arguments, variables, words):
    status, _, _, errors = env(project, *arguments, **variables)
    assert status != 0 and len(errors) == 1
    assert errors[0].startswith("Set-up: ") and words in errors[0]
    assert env(project)[0] == 0


def test_folder_that_cannot_be_written_is_named_with_the_reason(project):
    reason = "mkdir: cannot create directory '.venv': Read-only file system"
    mkdir = project / "bin" / "mkdir"
    mkdir.write_text(f'#!/bin/sh\necho "{reason}" >&2\nexit 1\n')
    mkdir.chmod(0o755)
    status, called, _, errors = env(project)
    assert (status != 0, called) == (True, [])
    assert errors == [f"Set-up: cannot make the folder .venv: {reason}"]


def test_another_python_on_the_path_replaces_one_that_is_too_old(project):
    old = project / "bin" / "python3"
    old.write_text(STAND_IN.replace("$VERSION", "3.9.2"))
    assert "Making .venv with Python 3.12.4" in env(project)[2]


def make(*arguments, **variables):
    """Return what make prints; only the variables say that a page can be shown."""
    environment = {**os.environ, **variables}
    for name in {"DISPLAY", "WAYLAND_DISPLAY"} - variables.keys():
        environment.pop(name, None)
    return subprocess.check_output(["make", *arguments], cwd=ROOT, env=environment, text=True)


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac always shows pages")
def test_lab_opens_a_page_where_one_can_be_shown_and_allows_root_alone():
    command = make("--dry-run", "lab")
    assert "--no-browser" in command
    assert ("--allow-root" in command) is (os.getuid() == 0)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        assert "--no-browser" not in make("--dry-run", "lab", **{name: "wayland-0"})


def test_every_target_that_needs_the_environment_makes_it_and_hands_on_its_arguments():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):(.*?)##.*\n((?:\t.*\n)*)", text, re.MULTILINE)
    needs = [name for name, _, recipe in targets if re.search(r"\$\(IN_VENV\)|\.venv/bin/", recipe)]
    assert [n for n, before, _ in targets if n in needs and ".venv" not in before] == []
    assert set(needs) >= {"lab", "test", "lint", "refresh", "export"}
    names = re.findall(r"^([A-Z]+_ARGS|VERSIONS) \?=", text, re.MULTILINE)
    for name in names:
        target = "versions" if name.startswith("VERSIONS") else name.removesuffix("_ARGS").lower()
        assert "--as-told" in make("--dry-run", target, f"{name}=--as-told"), name
    listed = make("help")
    assert all(f"make {name} " in listed for name, *_ in targets)
