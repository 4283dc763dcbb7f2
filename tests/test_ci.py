"""CI's script runs all parts, and one red part is enough to fail."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
STAND_IN = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$*" >>asked
[ "$*" != "$RED" ] || exit 3
"""


@pytest.fixture
def ci(tmp_path):
    """`ci(*arguments)` runs the script with a `make` that only records its targets."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    script = shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("make", "git", "node", "chromium", "python3", "apt-get", "sudo"):
        (tmp_path / "bin" / name).write_text(STAND_IN if name == "make" else "#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)

    def run(*arguments, red=""):
        env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RED": red}
        command = ["bash", script, *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, (tmp_path / "asked").read_text().splitlines()

    return run


needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


@needs_bash
@pytest.mark.parametrize(("arguments", "target"), [((), "test"), (("test-all",), "test-all")])
def test_both_parts_are_run_and_one_red_is_enough(ci, arguments, target):
    for red, status, ran in [("", 0, 2), ("lint", 3, 1), (f"-k {target}", 3, 2)]:
        (found, asked) = ci(*arguments, red=red)
        assert (found, asked[-ran:]) == (status, ["lint", f"-k {target}"][:ran])


def steps(name):
    """The jobs of a workflow, and all commands and actions in them."""
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    said = [step for job in flow["jobs"].values() for step in job["steps"]]
    return flow["jobs"], [step.get("run") or step["uses"].partition("@")[0] for step in said]


def test_each_push_is_tested_and_all_of_it_by_night():
    """Linux runs the same script; other systems run the guide's commands for use without make."""
    assert {".ci/run", "python -m pytest -n logical"} <= set(steps("test")[1])
    assert ".ci/run test-all" in steps("night")[1]


def test_a_fork_publishes_what_make_export_writes():
    jobs, said = steps("pages")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [folder] = re.findall(r"^EXPORT_ARGS \?= notebooks -o (.*)$", makefile, re.MULTILINE)
    lessons = f'make lessons LESSONS_ARGS="--repository $GITHUB_REPOSITORY -o {folder}/lessons"'
    assert {"make export", lessons, "actions/deploy-pages"} <= set(said)
    assert jobs["build"]["steps"][-1]["with"] == {"path": folder}
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_release_publishes_what_was_tried_after_a_person_has_approved_it():
    jobs, said = steps("release")
    assert "make dist" in said and jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["needs"] == "build" and "tags/v" in jobs["publish"]["if"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_by_night_nothing_is_left_out():
    """The run has every test, whatever its mark, and the other commands."""
    said = subprocess.check_output(["make", "--dry-run", "test-all"], cwd=ROOT, text=True)
    tests = 'pytest -m "" --hypothesis-profile=long'
    for part in (tests, "--hypothesis-profile=fuzz", "fresh_machine.py"):
        assert part in said


def test_the_long_tests_are_documented():
    """CONTRIBUTING names each file with a long test, beside the guarantee that it holds."""
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    told = guide.partition("## Which test covers which guarantee")[2]
    tests, long = ROOT / "tests", re.compile(r"pytest\.mark\.long\b")
    files = [path for path in tests.rglob("test_*.py") if long.search(path.read_text("utf-8"))]
    names = [path.relative_to(tests).as_posix() for path in files]
    assert [name for name in names if name != "test_ci.py" and f"`{name}`" not in told] == []
