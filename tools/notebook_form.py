"""The form in which a notebook is committed: one text for one content, on every machine.

A cell's id is a hash of its source. So an id that does not fit tells that the cell was edited after
its outputs were stored.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

import nbformat

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
CELL_METADATA = {"tags", "jupyter"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
ASKS = re.compile(r"^Predict\(", re.MULTILINE)
IGNORED = re.compile(r"^\s*#\s*NBVAL_IGNORE_OUTPUT\s*$", re.MULTILINE)


def parse(text: str) -> Any:
    """The notebook in a text of format 4, its multi-line strings joined; nothing is added to it."""
    return nbformat.v4.reads(text)


def write(notebook: Any) -> str:
    """The notebook as text: sorted keys, an indent of one, LF, one newline at the end."""
    return str(nbformat.v4.writes(notebook)) + "\n"


def tidy(notebook: Any) -> None:
    """Bring a notebook into the committed form, in place: nothing in it depends on the machine."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    for cell in notebook.cells:
        cell.source = cell.source.replace("\r\n", "\n").strip("\n")
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in CELL_METADATA and v}
        if asks(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if cell.cell_type == "code":
            cell.outputs = joined([output for output in cell.outputs if tidy_output(output)])
    for cell, new in zip(notebook.cells, ids(notebook), strict=True):
        cell.id = new


def asks(cell: Any) -> bool:
    """Whether a cell shows a card of Predict. Its code is folded away: it knows the answer."""
    return cell.cell_type == "code" and bool(ASKS.search(cell.source))


def name_of(notebook: Any, cell: Any) -> str:
    """How a person finds a cell: its number from the top and its first line."""
    number = next(n for n, other in enumerate(notebook.cells, start=1) if other is cell)
    first = cell.source.strip().partition("\n")[0]
    return f'cell {number} ("{first[:60]}")'


def ignores_output(cell: Any) -> bool:
    """Whether the tests run a code cell without looking at what it shows."""
    return "nbval-ignore-output" in cell.metadata.get("tags", []) or bool(
        IGNORED.search(cell.source)
    )


def ids(notebook: Any) -> list[str]:
    """The id of each cell: a hash of its source, numbered from the second of equal cells on."""
    seen: Counter[str] = Counter()
    found = []
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[digest] += 1
        found.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return found


def tidy_output(output: Any) -> bool:
    """Tidy one output in place; False if nothing of it is worth storing."""
    if output.output_type == "error":
        # The frames hold paths, line numbers and colours. The message is what a reader needs.
        output.traceback = [f"{output.ename}: {output.evalue}"]
    if output.output_type in ("display_data", "execute_result"):
        # A stored view without its kernel shows as "model not found".
        output.data.pop(WIDGET_VIEW, None)
        output.metadata = {k: v for k, v in output.metadata.items() if k in output.data}
        output.pop("transient", None)
        return bool(output.data)
    return True


def joined(outputs: list[Any]) -> list[Any]:
    """The outputs with neighbours of one stream made one: how a print is cut up is chance."""
    done: list[Any] = []
    for output in outputs:
        last = done[-1] if done else None
        if last and output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            done.append(output)
    return done
