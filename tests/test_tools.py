"""The developers' tools: their calls of other programs, and their output."""

import re
import shutil
import subprocess
import tomllib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

import fresh_machine
import mutate
from mutate import Mutation

ROOT = Path(__file__).parent.parent


def test_pytest_compares_everything():
    """Every cell, and the examples of docstrings and README; a warning is an error."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    wanted = {"--nbval", "--doctest-modules", "--doctest-glob=README.md", "--strict-markers"}
    assert wanted <= set(options["addopts"])
    assert options["filterwarnings"][0] == "error" and options["xfail_strict"] is True
    assert options["testpaths"] == ["tests", "stridekit", "notebooks", "README.md"]


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


def test_the_commands_are_those_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert fresh_machine.commands(readme) == ("make lab", "make test")
    for other in ("", "make lab\nmake test", "```\nmake lab\n```\n```\nmake test\n```"):
        with pytest.raises(SystemExit, match="no block with the two commands"):
            fresh_machine.commands(other)


@pytest.mark.parametrize(("user", "home"), [(None, ""), (65534, "home")])
def test_a_newcomer_has_only_the_variables_of_any_machine(user, home, tmp_path, monkeypatch):
    seen = []

    def run(command, **options):
        seen.append((command, options))
        if command[0] == "git":
            Path(command[-1]).mkdir()
            (Path(command[-1]) / "README.md").write_text("```\nmake lab  # a\nmake test\n```\n")

    monkeypatch.setattr(fresh_machine.subprocess, "run", run)
    monkeypatch.setattr(fresh_machine, "_open_and_close", lambda *args: seen.append(args))
    monkeypatch.setattr(fresh_machine.os, "chown", lambda *args, **options: None)
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("PIP_CERT", "/cert")
    fresh_machine.clone_and_run(tmp_path, user, ["tests/a.py", "-x"])
    (_, _), (opens, _, given), (tests, options) = seen
    assert given == {name: options[name] for name in given} and options["check"] is True
    assert opens == "make lab" and tests == ["make", "test", "TEST_ARGS=tests/a.py -x"]
    env = options["env"]
    assert options["cwd"] == tmp_path / "stride kit"
    assert env["PIP_CERT"] == "/cert" and "PYTHONPATH" not in env
    assert env["HOME"] == (home and str(tmp_path / home))
    assert options.get("user") == user


# mutate.py ----------------------------------------------------------------------------------------------


def test_a_planted_defect_is_taken_back(tmp_path):
    """Even if the tests end with an error."""
    copy, path = object.__new__(mutate.Copy), tmp_path / "a.py"
    copy.root = tmp_path
    path.write_text("x = 1\n")
    with suppress(KeyError), copy.planted(Mutation("n", "a.py", "1", "2", "")):
        assert path.read_text() == "x = 2\n"
        raise KeyError
    assert path.read_text() == "x = 1\n"


def test_tests_that_are_red_by_themselves_prove_nothing(monkeypatch):
    red = SimpleNamespace(why_red=lambda tests: "tests/a.py::b")
    monkeypatch.setattr(mutate, "Copy", lambda root: red)
    with pytest.raises(RuntimeError, match=r"t\.py is red without any defect: tests/a\.py::b"):
        list(mutate.caught([Mutation("n", "a.py", "1", "2", "t.py")]))


@pytest.mark.parametrize("name", ["tests/a.py::b", "notebooks/a.ipynb::Cell 7"])
def test_the_first_red_test_is_found_by_its_name(name):
    for line in (f"FAILED {name}", f"ERROR {name} - boom"):
        assert mutate.FAILURE.search(f"..F\n=== short test summary info ===\n{line}\n")[1] == name


def test_a_name_that_no_defect_has_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["mutate.py", "no such defect"])
    assert mutate.main() == 2
    assert "no mutation has no such defect in its name" in capsys.readouterr().err


def test_a_copy_has_only_files_that_git_would_track(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "a")], check=True)
    for name in ("a/kept/b.py", "a/ignored.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "a" / ".gitignore").write_text("*.log\n")
    monkeypatch.setattr(mutate, "ROOT", tmp_path / "a")
    mutate.Copy(tmp_path / "b")
    found = {str(path.relative_to(tmp_path / "b")) for path in (tmp_path / "b").rglob("*.*")}
    assert found == {"kept/b.py", ".gitignore"}
