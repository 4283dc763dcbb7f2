"""The tools of whoever builds it: what they ask of other programs, and what they write."""

import json
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

import fresh_machine
import lock
import mutate
import notebook_form as form
import notebook_kernel
import refresh
from mutations import Mutation

ROOT = Path(__file__).parent.parent
code = nbformat.v4.new_code_cell


# The settings of pytest ---------------------------------------------------------------------------------


def test_pytest_compares_all_there_is():
    """Every cell, the examples of docstrings and README; and a warning is an error."""
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
    assert asked[1][-1] == "--upgrade"  # what the command line adds
    wanted = {"pyproject.toml", "--universal", "--python-version=3.11", "--extra=test"}
    assert wanted | {"--no-emit-index-url", "--no-emit-find-links"} <= set(asked[1])
    assert (tmp_path / "constraints.txt").read_text() == lock.HEADER + "torch==2.13.0\n"


def test_the_lock_that_is_there_was_written_so():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert text.startswith(lock.HEADER) and not text.partition(lock.HEADER)[2].startswith("#")


# fresh_machine.py ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("user", "home"), [(None, ""), (65534, "home")])
def test_a_stranger_has_only_what_the_machine_gives(user, home, tmp_path, monkeypatch):
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


# The kernel and the form of notebooks -------------------------------------------------------------------


def test_the_kernel_is_the_same_on_every_machine(tmp_path, monkeypatch):
    """What would else differ: hashes, threads, a GPU, the user's own settings, progress bars."""
    monkeypatch.setenv("JUPYTER_PATH", "")
    notebook_kernel.use(tmp_path)
    assert notebook_kernel.os.environ["JUPYTER_PATH"] == str(tmp_path)
    kernel = json.loads((tmp_path / "kernels" / "python3" / "kernel.json").read_text())
    env = kernel["env"]
    assert {env[f"{name}_NUM_THREADS"] for name in ("OMP", "MKL", "OPENBLAS")} == {"1"}
    assert (env["PYTHONHASHSEED"], env["CUDA_VISIBLE_DEVICES"], env["TQDM_DISABLE"]) == (
        "0",
        "",
        "1",
    )
    assert env["PYTHONSTARTUP"] == env["PYTHONWARNINGS"] == ""
    assert all(str(tmp_path) in env[name] for name in ("IPYTHONDIR", "MATPLOTLIBRC"))
    assert Path(env["MATPLOTLIBRC"]).read_text() == ""


def tidied(*cells):
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    form.tidy(notebook)
    return notebook.cells


def test_equal_cells_have_ids_of_their_own():
    """Also the third of them; and words are no code."""
    ids = [cell.id for cell in tidied(code("1"), code("1"), code("1"))]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]
    (words,) = tidied(nbformat.v4.new_markdown_cell("1"))
    assert words.id != ids[0]


def test_streams_of_two_names_are_not_joined():
    def stream(name, text):
        return nbformat.v4.new_output("stream", name=name, text=text)

    printed = [("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")]
    (cell,) = tidied(code("1", outputs=[stream(*one) for one in printed]))
    found = [(output.name, output.text) for output in cell.outputs]
    assert found == [("stdout", "ab"), ("stderr", "c"), ("stdout", "d")]


def test_the_code_of_a_card_is_folded_away():
    """It knows the answer. A cell that only speaks of cards is not."""
    card, other = tidied(code("Predict('1 + 1?', 2)"), code("# Predict(x)", metadata={"a": 1}))
    assert card.metadata == {"jupyter": {"source_hidden": True}} and other.metadata == {}


# refresh.py ---------------------------------------------------------------------------------------------


def test_the_first_notebook_that_fails_ends_a_refresh(tmp_path, monkeypatch, capsys):
    tried = []

    def fails(path, renew):
        tried.append(path)
        raise refresh.RefreshError("cell 1: no")

    monkeypatch.setattr(refresh, "refreshed", fails)
    assert refresh.refresh([tmp_path / "a", tmp_path / "b"]) == 1
    assert (
        tried == [tmp_path / "a"] and capsys.readouterr().err == f"{tmp_path / 'a'}, cell 1: no\n"
    )


def test_a_check_that_finds_nothing_is_silent(tmp_path, monkeypatch, capsys):
    """And one that finds something goes on to the next."""
    for name in "abc":
        (tmp_path / name).write_text("as it was")
    texts = iter(["other", "as it was", "other"])
    monkeypatch.setattr(refresh, "refreshed", lambda path, renew: next(texts))
    assert refresh.refresh([tmp_path / name for name in "abc"], check=True) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("would change: run make refresh") == 2
    assert {(tmp_path / name).read_text() for name in "abc"} == {"as it was"}


# mutate.py ----------------------------------------------------------------------------------------------


def test_a_planted_defect_is_taken_back(tmp_path):
    """Also where the tests end with an error."""
    copy = object.__new__(mutate.Copy)
    copy.root = tmp_path
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    try:
        with copy.planted(Mutation("n", "a.py", "1", "2", "")):
            assert path.read_text() == "x = 2\n"
            raise KeyError
    except KeyError:
        assert path.read_text() == "x = 1\n"


def test_tests_that_are_red_by_themselves_prove_nothing(monkeypatch):
    red = SimpleNamespace(why_red=lambda tests: "tests/a.py::b")
    monkeypatch.setattr(mutate, "Copy", lambda root: red)
    with pytest.raises(RuntimeError, match=r"t\.py is red without any defect: tests/a\.py::b"):
        list(mutate.caught([Mutation("n", "a.py", "1", "2", "t.py")]))


@pytest.mark.parametrize("line", ["FAILED tests/a.py::b - boom", "ERROR tests/a.py::b - boom",
                                  "FAILED notebooks/a.ipynb::Cell 7"])  # fmt: skip
def test_the_first_red_test_is_found_by_its_name(line):
    found = mutate.FAILURE.search(f"..F\n=== short test summary info ===\n{line}\n")
    assert found[1] in ("tests/a.py::b", "notebooks/a.ipynb::Cell 7")


def test_a_name_that_no_defect_has_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["mutate.py", "no such defect"])
    assert mutate.main() == 2
    assert "no mutation has no such defect in its name" in capsys.readouterr().err


def test_a_copy_has_what_git_would_track(tmp_path, monkeypatch):
    """And nothing else: no environment, no outputs of builds."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "a")], check=True)
    for name in ("a/kept/b.py", "a/ignored.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "a" / ".gitignore").write_text("*.log\n")
    monkeypatch.setattr(mutate, "ROOT", tmp_path / "a")
    mutate.Copy(tmp_path / "b")
    found = {str(path.relative_to(tmp_path / "b")) for path in (tmp_path / "b").rglob("*.*")}
    assert found == {"kept/b.py", ".gitignore"}
