"""The developers' tools: their calls of other programs, and their output."""

import subprocess
import tomllib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

import fresh_machine
import lock
import mutate
import torch_versions
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


# lock.py ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [None, "pip", "compile"])
def test_the_lock_is_for_every_system_and_has_its_header(fails, tmp_path, monkeypatch, capsys):
    asked = []

    def run(command, cwd):
        asked.append(list(map(str, command)))
        if fails not in command:
            (tmp_path / "constraints.txt").write_text("torch==2.13.0\n")
        return SimpleNamespace(returncode=int(fails in command))

    monkeypatch.setattr(lock, "LOCK", tmp_path / "constraints.txt")
    monkeypatch.setattr(lock.subprocess, "run", run)
    monkeypatch.setattr(lock.venv, "create", lambda folder, with_pip: None)
    monkeypatch.setattr("sys.argv", ["lock.py", "--upgrade"])
    assert lock.main() == (0 if fails is None else 1)
    if fails:
        assert "constraints.txt is as it was" in capsys.readouterr().err
        return
    assert asked[0][1:] == ["-m", "pip", "install", "--quiet", "uv"]
    assert asked[1][-1] == "--upgrade"  # from the command line
    wanted = {"pyproject.toml", "--universal", "--python-version=3.11", "--extra=test"}
    assert wanted | {"--no-emit-index-url", "--no-emit-find-links"} <= set(asked[1])
    assert (tmp_path / "constraints.txt").read_text() == lock.HEADER + "torch==2.13.0\n"


def test_the_present_lock_was_written_by_the_tool():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert text.startswith(lock.HEADER) and not text.partition(lock.HEADER)[2].startswith("#")


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
    fresh_machine._clone_and_run(tmp_path, user, "somebody", ["tests/a.py", "-x"])
    (_, _), (opens, project, env, _), (tests, options) = seen
    assert project == options["cwd"] == tmp_path / "stride kit"
    assert opens == "make lab" and tests == ["make", "test", "TEST_ARGS=tests/a.py -x"]
    assert env == options["env"] and env["PIP_CERT"] == "/cert" and "PYTHONPATH" not in env
    assert env["HOME"] == (home and str(tmp_path / home))
    assert options["check"] is True and options.get("user") == user


# torch_versions.py --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fails", "says"),
    [("", "all pass"), ("pip", "cannot be installed"), ("pytest", "fails")],
)
def test_another_torch_says_how_its_tests_end(fails, says, monkeypatch, capsys):
    asked = []

    def run(command, cwd):
        asked.append(command[2:])
        return SimpleNamespace(returncode=int(command[2] == fails))

    monkeypatch.setattr(torch_versions.subprocess, "run", run)
    monkeypatch.setattr(torch_versions.venv, "create", lambda folder, with_pip: None)
    monkeypatch.setattr("sys.argv", ["torch_versions.py", "2.6.0"])
    assert torch_versions.main() == (1 if fails else 0)
    assert f"torch 2.6.0: {says}\n" in capsys.readouterr().out
    assert "torch==2.6.0" in asked[0]
    assert fails == "pip" or set(torch_versions.TESTS) < set(asked[1])
    assert all((ROOT / test).exists() for test in torch_versions.TESTS)
    monkeypatch.setattr("sys.argv", ["torch_versions.py"])
    with pytest.raises(SystemExit, match=r"torch_versions\.py 2\.6\.0"):
        torch_versions.main()


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
