"""What `make colab` prepares and checks: all but the download of packages and the run of each lesson."""

import io
import itertools
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat import v4

import colab
from stridekit.lessons import notebook as form
from tests.course.flushed import Flushed

# Stands in for Python: it notes its arguments, and its packages are those in a file.
STAND_IN = """\
#!/bin/sh
here=$(dirname "$0")
echo "$*" >>"$NOTES"
case "$*" in
  *version_info*) exit "$STATUS" ;;
  *venv*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  *purelib*) echo "$SITE" ;;
  *install*) ;;
  *list*) cat "$PACKAGES" ;;
  *wheel*) touch "$WHEEL" ;;
esac || exit 1
case "$*" in *$FAILS*) exit 1 ;; esac
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")


class Machine:
    """A machine with a stand-in for Python, a folder for what is built, and what was asked for."""

    def __init__(self, folder, monkeypatch):
        self.python = folder / "python"
        self.python.write_text(STAND_IN)
        self.python.chmod(0o755)
        self.build = folder / "build"
        self.site = folder / "site"
        self.notes = folder / "notes"
        self.packages = folder / "packages.json"
        monkeypatch.setattr(colab, "BUILD", self.build)
        monkeypatch.setenv("STATUS", "0")
        monkeypatch.setenv("FAILS", "nothing")
        monkeypatch.setenv("NOTES", str(self.notes))
        monkeypatch.setenv("SITE", str(self.site))
        monkeypatch.setenv("PACKAGES", str(self.packages))
        monkeypatch.setenv("WHEEL", str(self.build / "stridekit-1-py3-none-any.whl"))
        monkeypatch.setenv("PYTHONPATH", "of the caller")
        monkeypatch.setenv("JUPYTER_PATH", os.environ["JUPYTER_PATH"])
        self.install(numpy="1.26.4", pip="26.0")

    def install(self, **versions):
        listed = [{"name": name, "version": version} for name, version in versions.items()]
        self.packages.write_text(json.dumps(listed))

    def asked(self):
        """Return what the stand-in was asked for since the last call."""
        lines = self.notes.read_text().splitlines()
        self.notes.unlink()
        return [line.removeprefix("-m pip --disable-pip-version-check ") for line in lines]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_an_environment_is_made_anew_with_the_packages_of_colab(machine):
    (machine.build / "old").mkdir(parents=True)
    environment = colab.Environment(str(machine.python))
    assert not (machine.build / "old").exists()
    _, venv, install = machine.asked()
    assert venv == f"-m venv {machine.build / 'venv'}"
    *others, torch = install.removeprefix("install --quiet ").split()
    assert others == [*colab.COLAB] and torch.startswith("torch==")
    assert torch in (Path(colab.ROOT) / "constraints.txt").read_text().splitlines()
    assert environment.packages() == {"numpy": "1.26.4", "pip": "26.0"}
    assert environment.python == machine.build / "venv" / "bin" / "python"
    assert "PYTHONPATH" not in os.environ


def test_lessons_run_with_the_python_of_the_environment(machine):
    environment = colab.Environment(str(machine.python))
    folder = Path(os.environ["JUPYTER_PATH"], "kernels", "python3")
    assert folder.is_relative_to(machine.build)
    kernel = json.loads((folder / "kernel.json").read_text())
    python, *arguments = kernel["argv"]
    assert python == str(environment.python)
    assert arguments == ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
    assert (kernel["language"], kernel["display_name"]) == ("python", "Python 3")


def test_a_python_that_is_too_new_stops_before_anything_is_removed(machine, monkeypatch):
    (machine.build / "old").mkdir(parents=True)
    monkeypatch.setenv("STATUS", "1")
    with pytest.raises(
        SystemExit, match=r"NumPy 1.26 does not fit .*: make colab PYTHON=python3.12"
    ):
        colab.Environment(str(machine.python))
    assert (machine.build / "old").exists()
    question = machine.asked()[0].removeprefix("-c ")
    for version, is_newer in (
        ((3, 11), False),
        ((3, 12, 9), False),
        ((3, 13), True),
        ((4, 0), True),
    ):
        monkeypatch.setattr(sys, "version_info", version)
        with pytest.raises(SystemExit) as stop:
            exec(question, {})
        assert stop.value.code == is_newer


@pytest.mark.parametrize("fails", ["-m venv", "install", "purelib", "wheel"])
def test_a_step_that_fails_ends_all(machine, monkeypatch, fails):
    def steps():
        colab.Environment(str(machine.python)).become_colab()
        colab.wheel()

    monkeypatch.setattr(sys, "executable", str(machine.python))
    monkeypatch.setenv("FAILS", fails)
    with pytest.raises(subprocess.CalledProcessError) as raised:
        steps()
    assert fails in " ".join(raised.value.cmd)


def test_colab_is_a_module_that_python_imports_when_it_starts(machine):
    colab.Environment(str(machine.python)).become_colab()
    assert (machine.site / "colab.pth").read_text() == "import google.colab.output\n"
    code = (
        "import google.colab.output as o; print(o.is_enabled);"
        "o.enable_custom_widget_manager(); print(o.is_enabled)"
    )
    env = os.environ | {"PYTHONPATH": str(machine.site)}
    printed = subprocess.check_output([sys.executable, "-S", "-c", code], env=env, text=True)
    assert printed.split() == ["False", "True"]


def test_the_wheel_is_that_of_this_checkout(machine, monkeypatch):
    machine.build.mkdir()
    monkeypatch.setattr(sys, "executable", str(machine.python))
    assert colab.wheel() == machine.build / "stridekit-1-py3-none-any.whl"
    assert machine.asked() == [f"wheel --quiet --no-deps --wheel-dir={machine.build} ."]


def notebook_of(*cells):
    book = v4.new_notebook(cells=list(cells))
    form.tidy(book)
    return book


def write(path, *cells):
    path.parent.mkdir(exist_ok=True)
    path.write_text(form.write(notebook_of(*cells)), encoding="utf-8")
    return path


def test_lessons_are_written_without_answers_and_install_from_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "ROOT", tmp_path)
    lesson = (v4.new_code_cell(form.GUARD), v4.new_code_cell("Predict('1 + 1?', 2)"))
    for name in ("b.ipynb", "a.ipynb"):
        write(tmp_path / "notebooks" / name, *lesson)
    folder = tmp_path / "written"
    folder.mkdir()
    paths = colab.write_lessons(folder, "file:///a.whl")
    assert paths == [folder / "a.ipynb", folder / "b.ipynb"]
    guard, card = colab.read(paths[0]).cells
    assert '"stridekit[widgets] @ file:///a.whl"' in guard.source
    assert "Predict.packed(" in card.source


@pytest.fixture
def runs(monkeypatch):
    """Run notebooks in this process, as a kernel would; return the folder and the limit of each run."""
    places = []

    def run(book, folder, seconds=120):
        places.append((folder, seconds))
        names = {}
        for cell in book.cells:
            if cell.cell_type != "code":
                continue
            *lines, last = cell.source.splitlines()
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec("\n".join(lines), names)
                value = eval(last, names)
            if printed.getvalue():
                cell.outputs.append(v4.new_output("stream", text=printed.getvalue()))
            if value is not None:
                data = {"text/plain": repr(value)}
                cell.outputs.append(v4.new_output("execute_result", data))

    monkeypatch.setattr(form, "run", run)
    times = itertools.cycle((10, 13.4))
    monkeypatch.setattr(colab, "time", SimpleNamespace(monotonic=lambda: next(times)))
    return places


def test_a_reader_in_vs_code_runs_what_the_first_cell_prints(runs, tmp_path, monkeypatch):
    output = Flushed()
    monkeypatch.setattr(sys, "stdout", output)
    prints = v4.new_code_cell("print('lines.append(5)')")
    begins = "lines = globals().setdefault('lines', [])\nprint('lines.append(5)')"
    uses = v4.new_code_cell("assert lines == [5]\nprint('used')")
    words = v4.new_markdown_cell("# A")
    path = write(tmp_path / "a.ipynb", words, v4.new_code_cell(begins), uses)
    colab.run_in_vs_code(path)
    assert output.shown == "a.ipynb in VS Code: 3 s\n"
    assert runs == [(tmp_path, 120), (tmp_path, colab.SECONDS)]
    with pytest.raises(NameError):
        colab.run_in_vs_code(write(tmp_path / "a.ipynb", words, prints, uses))


def test_a_lesson_in_colab_asks_for_widgets(runs, tmp_path, capsys, monkeypatch):
    output = SimpleNamespace(is_enabled=True)
    google = SimpleNamespace(colab=SimpleNamespace(output=output))
    monkeypatch.setitem(sys.modules, "google", google)
    monkeypatch.setitem(sys.modules, "google.colab", google.colab)
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    path = write(tmp_path / "a.ipynb", v4.new_markdown_cell("# A"), v4.new_code_cell("print()"))
    colab.run_in_colab(path)
    assert capsys.readouterr().out.startswith("a.ipynb in Colab: 3 s")
    assert runs == [(tmp_path, colab.SECONDS)]
    output.is_enabled = False
    with pytest.raises(SystemExit, match=r"in a\.ipynb, nobody asked Colab to show widgets"):
        colab.run_in_colab(path)


@pytest.mark.parametrize("numpy", ["1.26.4", "2.0", None])
def test_each_lesson_runs_and_changes_no_package_of_colab(machine, monkeypatch, numpy):
    """00 first runs as in VS Code; what it installed goes, before Colab comes."""
    output = Flushed()
    monkeypatch.setattr(sys, "stdout", output)
    times = itertools.cycle((10, 13.4))
    monkeypatch.setattr(colab, "time", SimpleNamespace(monotonic=lambda: next(times)))
    monkeypatch.setattr(colab, "wheel", lambda: machine.build / "a.whl")
    steps = []

    def in_vs_code(path):
        steps.append(("VS Code", path.name, (machine.site / "colab.pth").exists()))
        machine.install(numpy="1.26.4", pip="26.0", stridekit="1", anywidget="2")

    def in_colab(path):
        steps.append(("Colab", path.name, (machine.site / "colab.pth").exists()))
        kept = {"numpy": numpy} if numpy else {}
        machine.install(pip="26.0", stridekit="1", **kept)

    monkeypatch.setattr(colab, "run_in_vs_code", in_vs_code)
    monkeypatch.setattr(colab, "run_in_colab", in_colab)
    monkeypatch.setattr(
        colab, "write_lessons", lambda folder, address: [folder / "00", folder / "01"]
    )
    if numpy == "1.26.4":
        colab.main(str(machine.python))
    else:
        with pytest.raises(SystemExit, match=r"the first cell changed numpy$"):
            colab.main(str(machine.python))
    assert steps == [("VS Code", "00", False), ("Colab", "00", True), ("Colab", "01", True)]
    assert output.shown == f"an environment with {', '.join(colab.COLAB)}: 3 s\n"
    (removal,) = [line.split() for line in machine.asked() if line.startswith("uninstall")]
    assert sorted(removal) == ["--quiet", "--yes", "anywidget", "stridekit", "uninstall"]
