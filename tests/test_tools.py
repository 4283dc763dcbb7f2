"""The developers' tools: CI's script and workflows, pytest's settings, and recipes of the Makefile."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
needs_make = pytest.mark.skipif(not shutil.which("make"), reason="needs make")


def test_pytest_compares_everything():
    """Every cell, and the examples of docstrings and README; a warning is an error."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    wanted = {"--nbval", "--doctest-modules", "--doctest-glob=README.md", "--strict-markers"}
    assert wanted <= set(options["addopts"])
    assert options["filterwarnings"][0] == "error" and options["xfail_strict"] is True
    assert options["testpaths"] == ["tests", "stridekit", "notebooks", "README.md", "docs"]


# CI -----------------------------------------------------------------------------------------------------

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
    for name in ("make", "git", "node", "chromium", "python3", "apt-get", "sudo"):
        (tmp_path / "bin" / name).write_text(STAND_IN if name == "make" else "#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)
    for red, status, ran in [("", 0, 2), ("lint", 3, 1), (f"-k {target}", 3, 2)]:
        env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RED": red}
        done = subprocess.run(["bash", script, *arguments], env=env, capture_output=True)
        asked = (tmp_path / "asked").read_text().splitlines()
        assert (done.returncode, asked[-ran:]) == (status, ["lint", f"-k {target}"][:ran])


def workflow(name):
    """The jobs of a workflow, and all commands and actions in them."""
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    said = [step for job in flow["jobs"].values() for step in job["steps"]]
    return flow["jobs"], [step.get("run") or step["uses"].partition("@")[0] for step in said]


def test_pushes_are_tested_and_a_release_waits_for_a_person():
    """Linux runs CI's script; other systems run the guide's commands for use without make."""
    assert {".ci/run", "python -m pytest -n auto"} <= set(workflow("test")[1])
    jobs, said = workflow("night")
    assert jobs["all"]["strategy"]["matrix"]["target"] == ["test-all", "mutate"]
    assert ".ci/run ${{ matrix.target }}" in said
    assert {"make export", "actions/deploy-pages"} <= set(workflow("pages")[1])
    jobs, said = workflow("release")
    assert "make dist" in said and jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["needs"] == "build" and "tags/v" in jobs["publish"]["if"]


# Recipes of the Makefile --------------------------------------------------------------------------------


def recipe(target):
    """The commands that make runs for a target, with the environment taken as made."""
    command = ["make", "--dry-run", "--assume-old=.venv/done", "--assume-old=.venv/bin/uv", target]
    return subprocess.check_output(command, cwd=ROOT, text=True)


@needs_make
def test_by_night_nothing_is_left_out():
    """The runs have every test, whatever its mark, and the other commands."""
    said = recipe("test-all")
    tests = 'pytest -m "not planted" --hypothesis-profile=long'
    assert all(part in said for part in (tests, "--hypothesis-profile=fuzz", "fresh_machine.py"))
    assert "pytest tests/test_mutate.py -m planted" in recipe("mutate")


@needs_make
def test_the_lock_is_for_every_system_and_names_no_machine():
    wanted = {"pyproject.toml", "--universal", "--python-version=3.11", "--extra=test"}
    assert wanted | {"--no-emit-index-url", "--no-emit-find-links"} <= set(recipe("lock").split())


@needs_make
def test_other_versions_of_torch_run_tests_that_exist():
    said = recipe("versions")
    assert "--with torch==$version" in said and "for version in 2.6.0 2.9.1 2.14.1;" in said
    paths = re.findall(r"(?:tests|stridekit)/\w+(?:\.py)?(?= |$)", said)
    assert len(paths) > 10 and [path for path in paths if not (ROOT / path).exists()] == []
