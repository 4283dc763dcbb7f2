"""Running notebooks in a kernel of their own, and their stored form, for refresh, tests and export.

The form is the same text on every machine. A cell's id is a hash of its source: an id that does not match
shows that the cell was edited after its outputs were stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from stridekit._extras import extra
from stridekit.widgets import kept

with extra("export"):
    import nbformat
    from ipykernel.kernelspec import get_kernel_dict
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ON_PAPER = "needs_background"  # in an output's metadata; JupyterLab and nbconvert know it
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_METADATA = {"tags", "jupyter"}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "file_extension": ".py"},  # which nbconvert gives a script
}
ASKS = re.compile(r"^Predict\(", re.MULTILINE)
# The first line of code that a lesson is not about, and of a table to look things up in.
SET_UP = re.compile(r"# ((?:Set-up|For reference): .+)")
TITLE = re.compile(r"# (.+)")
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
CHECKS = re.compile(r"^(\w+)\.(\w+)\.check\(", re.MULTILINE)  # an exercise's lesson and name
REPOSITORY = "https://github.com/stridekit/stridekit"
ADDRESS = f"{REPOSITORY}/archive/HEAD.zip"  # of the package, for pip
# The first cell of every lesson: it does nothing where stridekit is installed. In a clone, pip installs the
# clone. Anywhere else, the folder above may hold another project. Colab's own torch stays as it is.
GUARD = f"""\
# Set-up: where stridekit is missing, this prints the line that installs it, and Colab runs the line.
import sys
from importlib.util import find_spec
from pathlib import Path

if getattr(find_spec("stridekit"), "origin", None) is None:  # missing, or a folder without code
    github = "stridekit[widgets] @ {ADDRESS}"
    package = "..[lab]" if Path("../stridekit/lessons").is_dir() else github
    line = f'%pip install -q "{{package}}" matplotlib pillow'
    run_or_print = get_ipython().run_cell if "google.colab" in sys.modules else print
    run_or_print(f"# stridekit is missing. Run this in a cell:\\n{{line}}")"""

# Without these, outputs would differ between machines or runs.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    # Sums of floats depend on the number of threads.
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # The stored outputs are those of a machine without a GPU.
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONSTARTUP": "",
    "PYTHONWARNINGS": "",
    # A learner's own answers change no output, and none are written.
    kept.VARIABLE: "no",
    # Stored pictures show the record by itself: ALONE of records.py.
    "STRIDEKIT_RECORD_ALONE": "1",
}
# A kernel with this Python, even if another is installed as "python3".
KERNEL = get_kernel_dict(extra_arguments=["--log-level=ERROR"])


class NotebookError(Exception):
    """A notebook cannot be run or exported; the message is one line with the cell and the reason."""


def use_repeatable_kernel(folder: Path) -> None:
    """Give this process and its children a kernel "python3" that is the same on every machine.

    Its files go into `folder`. The variables are set for the kernel, not for this process, so that other
    tests keep the GPU and all threads. Empty profiles and settings replace those of the user.
    """
    settings = {"IPYTHONDIR": str(folder / "ipython"), "MATPLOTLIBRC": str(folder / "matplotlibrc")}
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    specification = KERNEL | {"env": ENVIRONMENT | settings}
    (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    (folder / "matplotlibrc").touch()
    os.environ["JUPYTER_PATH"] = str(folder)


def client(notebook: Any, folder: Path, seconds: int = 120, **options: Any) -> NotebookClient:
    """Return a client that runs the cells of a notebook in a folder, for at most `seconds` per cell."""
    options |= {"record_timing": False, "coalesce_streams": True, "timeout": seconds}
    return NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}, **options)


def run(notebook: Any, folder: Path, seconds: int = 120, **options: Any) -> NotebookClient:
    """Run all cells in place in a new kernel; return the client, with the widgets. Raises NotebookError."""
    begun: list[Any] = []
    kernel_client = client(notebook, folder, seconds, **options)
    kernel_client.on_cell_execute = lambda cell, cell_index: begun.append(cell)
    try:
        kernel_client.execute()
        return kernel_client
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}".partition("\n")[0]
    except DeadKernelError:
        reason = "the kernel died"
    except CellTimeoutError:
        reason = f"it ran longer than {seconds} s"
    raise NotebookError(f"{name_of(notebook, begun[-1])}: {reason}")


def name_of(notebook: Any, cell: Any) -> str:
    """Return a cell's number from the top and its first line, with which a reader finds it."""
    number = next(n for n, other in enumerate(notebook.cells, start=1) if other is cell)
    first = cell.source.strip().partition("\n")[0]
    return f'cell {number} ("{first[:60]}")'


def asks(cell: Any) -> bool:
    """Return True for a cell that shows a card; its code is folded away, because it has the answer."""
    return cell.cell_type == "code" and bool(ASKS.search(cell.source))


def sets_up(cell: Any) -> bool:
    """Return True for a cell of imports, data, goals or a table, whose code is folded away."""
    return cell.cell_type == "code" and bool(SET_UP.match(cell.source))


def title_of(notebook: Any) -> str | None:
    """Return the heading with which a notebook begins: the only name of a lesson; None without one."""
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    heading = TITLE.match(first.source) if first else None
    return heading[1] if heading else None


def ids(notebook: Any) -> list[str]:
    """Return the id of each cell: a hash of its source, with a number from the second equal cell on."""
    counts: dict[str, int] = {}
    result = []
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        counts[digest] = counts.get(digest, 0) + 1
        result.append(digest if counts[digest] == 1 else f"{digest}-{counts[digest]}")
    return result


parse = nbformat.v4.reads  # the notebook in a text, with nothing added


def write(notebook: Any) -> str:
    """Return the notebook as text: sorted keys, an indent of one, LF, one newline at the end."""
    return str(nbformat.v4.writes(notebook)) + "\n"


def tidy(notebook: Any) -> None:
    """Bring a notebook into its stored form, in place: nothing in it depends on the machine."""
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.source = cell.source.replace("\r\n", "\n").strip("\n")
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in CELL_METADATA and v}
        folded = cell.metadata.pop("jupyter", {}).get("source_hidden")
        if asks(cell) or sets_up(cell) or (folded and cell.cell_type == "code"):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _is_worth_storing(output)]
        if "reference" in cell.metadata.get("tags", []):  # a long output to look things up in
            cell.metadata.setdefault("jupyter", {})["outputs_hidden"] = True
    fold(notebook)
    for cell, new in zip(notebook.cells, ids(notebook), strict=True):
        cell.id = new


def fold(notebook: Any) -> None:
    """Fold the cells that give the answer of a card away, in place, for notebooks and for pages.

    These are the output of the code right behind the card, and the words below that. Further outputs are
    folded up to the next heading or exercise, unless they have a picture. Running a cell opens its output.
    """
    is_below = False  # a card, with no heading or exercise in between
    is_behind = False  # a card, with nothing but code in between
    has_run = False  # code behind the card
    for cell in notebook.cells:
        if asks(cell):
            is_below = True
            is_behind = True
            has_run = False
        elif cell.cell_type == "markdown":
            if is_behind and has_run and cell.source[0] != "#":
                cell.metadata["jupyter"] = {"source_hidden": True}
            is_behind = False
            if HEADING.search(cell.source):
                is_below = False
        else:
            has_run = True
            if CHECKS.search(cell.source):
                is_below = False
                is_behind = False
            has_answer = is_behind or not any(map(_has_picture, cell.outputs))
            if is_below and cell.outputs and has_answer:
                cell.metadata.setdefault("jupyter", {})["outputs_hidden"] = True


def _has_picture(output: Any) -> bool:
    data = output.get("data", {})
    return "image/png" in data or WIDGET_VIEW in data


def drop_frames(output: Any) -> None:
    """Keep only the message of an error: its frames have paths, line numbers and colours."""
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]


def _is_worth_storing(output: Any) -> bool:
    """Tidy one output in place; return False if nothing is left of it."""
    drop_frames(output)
    if output.output_type in ("display_data", "execute_result"):
        # A stored view without its kernel shows as "model not found".
        output.data.pop(WIDGET_VIEW, None)
        kept_keys = {*output.data, ON_PAPER}
        output.metadata = {k: v for k, v in output.metadata.items() if k in kept_keys}
        return bool(output.data)
    return True
