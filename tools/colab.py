"""Run every lesson as Colab does: `python tools/colab.py PYTHON`, where PYTHON is 3.11 or 3.12.

An empty environment has the versions of Colab and a module google.colab, and a bare folder has the lessons
that `make lessons` writes. The first cell installs a wheel of this checkout. Before that, 00 runs as in VS
Code: the first cell prints a line, and the reader runs it. Everything is in build/colab.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat

from lessons import unspoilt
from stridekit.lessons import notebook as form

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "colab"
PIP = ("-m", "pip", "--disable-pip-version-check")
# The package google-colab pins the first two. NumPy 1.26 has no wheels for Python 3.13.
COLAB = ("ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1", "numpy==1.26.4")
SECONDS = 600  # for a cell: the first one installs packages
# Like Colab's, it is imported before a cell runs. anywidget asks it for the widgets of other packages.
OUTPUT = """\
is_enabled = False


def enable_custom_widget_manager():
    global is_enabled
    is_enabled = True
"""
LAST = "import google.colab.output\ngoogle.colab.output.is_enabled"


class Environment:
    """An empty environment with the packages of Colab."""

    def __init__(self, python: str) -> None:
        is_newer = [python, "-c", "import sys; sys.exit(sys.version_info >= (3, 13))"]
        if subprocess.run(is_newer).returncode:
            sys.exit(f"colab: NumPy 1.26 does not fit {python}: make colab PYTHON=python3.12")
        shutil.rmtree(BUILD, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(BUILD / "venv")], check=True)
        self.python = BUILD / "venv" / "bin" / "python"
        self.pip("install", "--quiet", *COLAB, pinned_torch())
        write_kernel(BUILD / "jupyter", self.python)
        os.environ["JUPYTER_PATH"] = str(BUILD / "jupyter")
        os.environ.pop("PYTHONPATH", None)  # of the caller; the kernel would find stridekit there

    def pip(self, *arguments: str) -> str:
        """Run pip of the environment; return its output."""
        command = [str(self.python), *PIP, *arguments]
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout

    def packages(self) -> dict[str, str]:
        """Return the version of each package."""
        listed = json.loads(self.pip("list", "--format=json"))
        return {package["name"]: package["version"] for package in listed}

    def become_colab(self) -> None:
        """Add a module google.colab, and import it when Python starts."""
        command = [str(self.python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        printed = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
        packages = Path(printed.strip())
        colab = packages / "google" / "colab"
        colab.mkdir(parents=True)
        (colab / "__init__.py").touch()
        (colab / "output.py").write_text(OUTPUT, encoding="utf-8")
        (packages / "colab.pth").write_text("import google.colab.output\n", encoding="utf-8")


def pinned_torch() -> str:
    """Return torch with the version that the tests use, as pip wants it."""
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    (torch,) = re.findall(r"^torch==\S+", constraints, re.MULTILINE)
    return str(torch)


def write_kernel(jupyter: Path, python: Path) -> None:
    """Write a kernel "python3" that runs a Python into a folder of Jupyter."""
    specification = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "env": {"PYDEVD_DISABLE_FILE_VALIDATION": "1"},  # a warning of Colab's old debugger
    }
    kernel = jupyter / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")


def wheel() -> Path:
    """Return a wheel of this checkout."""
    command = [sys.executable, *PIP, "wheel", "--quiet", "--no-deps", f"--wheel-dir={BUILD}", "."]
    subprocess.run(command, check=True, cwd=ROOT)
    (path,) = BUILD.glob("*.whl")
    return path


def write_lessons(folder: Path, address: str) -> list[Path]:
    """Write the lessons of `make lessons`, which install stridekit from an address; return their paths."""
    paths = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        book = unspoilt(read(path), address)
        paths.append(folder / path.name)
        paths[-1].write_text(form.write(book), encoding="utf-8")
    return paths


def read(path: Path) -> Any:
    """Return a notebook."""
    return form.parse(path.read_text(encoding="utf-8"))


def run(book: Any, path: Path, host: str) -> None:
    """Run all cells of a lesson; raise NotebookError if one fails that should not."""
    start = time.monotonic()
    form.run(book, path.parent, SECONDS)
    print(f"{path.name} in {host}: {time.monotonic() - start:.0f} s", flush=True)


def run_in_vs_code(path: Path) -> None:
    """Run a lesson in which the first cell prints a line, and the reader runs it in the next cell."""
    book = read(path)
    first = next(k for k, cell in enumerate(book.cells) if cell.cell_type == "code")
    guard = nbformat.v4.new_notebook(cells=[book.cells[first]], metadata=book.metadata)
    form.run(guard, path.parent)
    (output,) = guard.cells[0].outputs
    book.cells.insert(first + 1, nbformat.v4.new_code_cell(output.text))
    run(book, path, "VS Code")


def run_in_colab(path: Path) -> None:
    """Run a lesson in which the first cell installs stridekit."""
    book = read(path)
    book.cells.append(nbformat.v4.new_code_cell(LAST))
    run(book, path, "Colab")
    (output,) = book.cells[-1].outputs
    if output.data["text/plain"] != "True":
        sys.exit(f"colab: in {path.name}, nobody asked Colab to show widgets")


def main(python: str) -> None:
    """Make the environment, and run every lesson there."""
    start = time.monotonic()
    environment = Environment(python)
    before = environment.packages()
    address = wheel().as_uri()
    print(f"an environment with {', '.join(COLAB)}: {time.monotonic() - start:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_lessons(Path(folder), address)
        run_in_vs_code(paths[0])
        added = environment.packages().keys() - before.keys()
        environment.pip("uninstall", "--quiet", "--yes", *added)
        environment.become_colab()
        for path in paths:
            run_in_colab(path)
    after = environment.packages()
    changed = [name for name, version in before.items() if after.get(name) != version]
    if changed:
        sys.exit(f"colab: the first cell changed {', '.join(changed)}")


if __name__ == "__main__":
    main(sys.argv[1])
