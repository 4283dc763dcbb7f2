"""The developers' tools: their calls of other programs, and their output."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import fresh_machine

ROOT = Path(__file__).parent.parent


def test_pytest_compares_everything():
    """Every cell, and the examples of docstrings and README; a warning is an error."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    wanted = {"--nbval", "--doctest-modules", "--doctest-glob=README.md", "--strict-markers"}
    assert wanted <= set(options["addopts"])
    assert options["filterwarnings"][0] == "error" and options["xfail_strict"] is True
    assert options["testpaths"] == ["tests", "stridekit", "notebooks", "README.md", "docs"]


# make lock, make versions -------------------------------------------------------------------------------


def recipe(target):
    """The commands that make runs for a target, with the environment taken as made."""
    command = ["make", "--dry-run", "--assume-old=.venv/done", "--assume-old=.venv/bin/uv", target]
    return subprocess.check_output(command, cwd=ROOT, text=True)


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_the_lock_is_for_every_system_and_names_no_machine():
    said = recipe("lock")
    wanted = {"pyproject.toml", "--universal", "--python-version=3.11", "--extra=test"}
    assert wanted | {"--no-emit-index-url", "--no-emit-find-links"} <= set(said.split())
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert text.splitlines()[1] == "#    make lock"


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_other_versions_of_torch_run_tests_that_exist():
    said = recipe("versions")
    assert "--with torch==$version" in said and "for version in 2.6.0 2.9.1 2.14.1;" in said
    paths = re.findall(r"(?:tests|stridekit)/\w+(?:\.py)?(?= |$)", said)
    assert len(paths) > 20 and [path for path in paths if not (ROOT / path).exists()] == []


# fresh_machine.py ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("user", "home"), [(None, ""), (65534, "home")])
def test_a_newcomer_has_only_the_variables_of_any_machine(user, home, tmp_path, monkeypatch):
    """Both commands are the README's, run in a folder with a space."""
    seen = []

    def run(command, **options):
        seen.append((command, options))
        if command[0] == "git":
            Path(command[-1]).mkdir()
            shutil.copy(ROOT / "README.md", command[-1])

    monkeypatch.setattr(fresh_machine.subprocess, "run", run)
    monkeypatch.setattr(fresh_machine, "open_and_close", lambda *args: seen.append(args))
    monkeypatch.setattr(fresh_machine.os, "chown", lambda *args, **options: None)
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("PIP_CERT", "/cert")
    fresh_machine.clone_and_run(tmp_path, user, ["tests/a.py", "-x"])
    _, (opens, _, given), (tests, options) = seen
    assert given == {name: options[name] for name in given} and options["check"] is True
    assert opens == ["make", "lab"] and tests == ["make", "test", "TEST_ARGS=tests/a.py -x"]
    assert options["cwd"] == tmp_path / "stride kit" and options.get("user") == user
    assert options["env"]["HOME"] == (home and str(tmp_path / home))
    assert options["env"]["PIP_CERT"] == "/cert" and "PYTHONPATH" not in options["env"]
