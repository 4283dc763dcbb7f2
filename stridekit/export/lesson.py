"""One notebook, checked, executed, and made fit for a page where nothing runs."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from stridekit import _kept
from stridekit.notebook import (
    CHECKS,
    HEADING,
    METADATA,
    ON_PAPER,
    WIDGET_VIEW,
    NotebookError,
    asks,
    behind,
    drop_frames,
    explains,
    fold,
    kernel_spec,
    run,
)  # fmt: skip
from stridekit.plots import IS_FOR_PAGES, NARROW
from stridekit.timing.records import ALONE
from stridekit.widgets.offline import Offline

CELL_TIMEOUT = 300  # seconds
NEEDS_KERNEL = (WIDGET_VIEW, "application/javascript")
IN_LAB = re.compile(r"Shift\+Enter|\*(?:Run|Kernel) →|\b[Rr]un the (?:next )?cell")
# Cells whose output a page has elsewhere: the map of the lessons, hints and solutions.
FOR_LAB_ALONE = re.compile(r"^progress\(\)$|^\w+\.\w+\.(?:hint|solution)\(\)$", re.MULTILINE)
BEHIND = '<details class="sk-behind"><summary>What torch says, and why</summary>'
FOR_LAB = '<div class="sk-in-lab"><p class="sk-aside">Where the lesson runs, in JupyterLab:</p>'
NOT_HERE = (
    '<p class="sk-aside">Code does not run on this page. To write your answer and have it checked, call '
    "<code>make lab</code> and open the lesson there.</p>"
)
WITHOUT_KERNEL = "This needs a running kernel: it works where the lesson runs."
MATH = MarkdownIt().use(dollarmath_plugin)


class Lesson(NamedTuple):
    """A notebook that is ready for a page, its live widgets, and how many cards and goals they have."""

    notebook: Any
    widgets: list[Offline]
    parts: int


class ThisPython(AsyncKernelManager):
    """Start kernels with this Python and its environment, whose pictures suit phones, too."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """Return the specification, without a file on disk."""
        return KernelSpec(
            **kernel_spec(), env={IS_FOR_PAGES: "1", ALONE: "1", _kept.VARIABLE: "no"}
        )


def lesson(path: Path) -> Lesson:
    """Read, check, execute and settle a notebook. Raises NotebookError, whose message is one line."""
    notebook = read(path)
    done = run(notebook, path.parent, CELL_TIMEOUT, kernel_manager_class=ThisPython)
    live = Live(done.widget_state, done.widget_buffers)
    settle(notebook, live)
    shown = [live.alive[key] for key in live.numbers]
    return Lesson(notebook, shown, len({part for widget in shown for part in _parts(widget.state)}))


# Checks ---------------------------------------------------------------------------------------------


def read(path: Path) -> Any:
    """Read a notebook whose cells and formulas a page can show. Raises NotebookError."""
    try:
        text = path.read_text(encoding="utf-8")
        cells, minor = json.loads(text)["cells"], int(json.loads(text).get("nbformat_minor", 0))
    except Exception as error:  # of any kind, for files that are not notebooks
        raise NotebookError(f"it is not a notebook: {_line(error)}") from None
    for number, cell in enumerate(cells if isinstance(cells, list) else [cells], start=1):
        try:
            nbformat.validate(cell, ref=f"{cell['cell_type']}_cell", version=4, version_minor=minor)
            if cell["cell_type"] == "markdown":
                _check_formulas("".join(cell["source"]))
        except Exception as error:  # a wrong value, or a type of cell that has no form
            where = ".".join(map(str, getattr(error, "absolute_path", None) or ["cell_type"]))
            what = "" if isinstance(error, NotebookError) else f"{where}: "
            raise NotebookError(f"cell {number}: {what}{_line(error)}") from None
    return nbformat.reads(text, as_version=4)


def _check_formulas(source: str) -> None:
    for token in MATH.parse(source):
        for part in [token, *(token.children or [])]:
            try:
                convert(part.content) if part.type.startswith("math") else None
            except Exception as error:  # latex2mathml raises many kinds, and RecursionError
                why = f"the formula {part.content[:40]!r} does not parse: {_line(error)}"
                raise NotebookError(why) from None


def _line(error: Exception) -> str:
    kind = "" if isinstance(error, NotebookError) else f"{type(error).__name__}: "
    return kind + str(error).strip().partition("\n")[0][:160]


def mathml(latex: str, display: str) -> str:
    r"""Return a formula as MathML, which browsers render without a script.

    >>> mathml(r"i_0", "inline")
    '<math ... display="inline"><mrow><msub><mi>i</mi><mn>0</mn></msub></mrow></math>'
    """
    return convert(latex.strip(), display=display).replace("\\_", "_")  # \text{a\_b}


# Cells ----------------------------------------------------------------------------------------------


def settle(notebook: Any, live: Live) -> None:
    """Make the cells of an executed notebook fit for a page, in place."""
    fold(notebook)
    kept = [
        c for c in notebook.cells if c.cell_type != "code" or not FOR_LAB_ALONE.search(c.source)
    ]
    cells = [part for cell in kept for part in _until_heading(cell)]
    first, last = set(), set()  # of what stands behind a card
    for card in (k for k, cell in enumerate(cells) if asks(cell)):
        words = explains(cells, card)
        if group := [*behind(cells, card), *([words] if words else [])]:
            first.add(id(group[0]))
            last.add(id(group[-1]))
    notebook.cells, is_behind = [], False
    for cell in cells:
        is_behind = is_behind or id(cell) in first
        is_for_lab = cell.cell_type == "markdown" and IN_LAB.search(cell.source)
        _add_html(notebook, (BEHIND if id(cell) in first else "") + (FOR_LAB if is_for_lab else ""))
        if cell.cell_type == "code" and CHECKS.search(cell.source):
            _add_html(notebook, NOT_HERE)
        notebook.cells.append(_settled(cell, live, is_behind))
        is_behind = is_behind and id(cell) not in last
        _add_html(
            notebook, ("</div>" if is_for_lab else "") + ("</details>" if id(cell) in last else "")
        )
    notebook.metadata = nbformat.from_dict({"kernelspec": METADATA["kernelspec"]})


def _add_html(notebook: Any, text: str) -> None:
    if text:
        notebook.cells.append(nbformat.v4.new_markdown_cell(text))


def _settled(cell: Any, live: Live, is_behind: bool) -> Any:
    """Return a cell with its tags for myst-nb, and with outputs that need no kernel."""
    folded = cell.metadata.get("jupyter", {})
    hides_source = cell.cell_type == "code" and (asks(cell) or folded.get("source_hidden"))
    hides_output = folded.get("outputs_hidden") and not is_behind
    tags = ["remove-input"] * bool(hides_source) + ["hide-output"] * bool(hides_output)
    cell.metadata = nbformat.from_dict({"tags": tags})
    for output in cell.get("outputs", []):
        _settle(output, live)
    return cell


def _until_heading(cell: Any) -> list[Any]:
    """Return folded words up to their first heading, and the rest as a cell of its own."""
    if cell.cell_type != "markdown" or not cell.metadata.get("jupyter"):
        return [cell]
    starts = [place.start() for place in HEADING.finditer(cell.source)]
    # In a block of code, # begins a comment.
    starts = [k for k in starts if cell.source.count("```", 0, k) % 2 == 0]
    if not starts:
        return [cell]
    rest = nbformat.v4.new_markdown_cell(cell.source[starts[0] :])
    cell.source = cell.source[: starts[0]].strip()
    return [cell, rest]


# Outputs --------------------------------------------------------------------------------------------


class Live:
    """The widgets of a run; those that are shown get numbers."""

    def __init__(self, states: dict[str, Any], buffers: dict[str, Any]) -> None:
        self.alive = {
            key: widget
            for key, state in states.items()
            if state.get("_model_module") == "anywidget"
            and "_esm" in state
            # A page has no bytes beside the state, and no widgets inside widgets.
            and not buffers.get(key)
            and "IPY_MODEL_" not in str((widget := Offline.of(key, states)).state)
        }
        self.numbers: dict[str, int] = {}

    def number(self, key: str) -> int | None:
        """Return the number of a widget on the page; None if it cannot live there."""
        return self.numbers.setdefault(key, len(self.numbers)) if key in self.alive else None


def _parts(state: dict[str, Any]) -> list[str]:
    """Return the question of a card, or the goals of an explorer."""
    goals = [goal["text"] for goal in state.get("_goals", [])]
    return [state["_problem"]["question"]] if "_problem" in state else goals


def _settle(output: Any, live: Live) -> None:
    """Make one output fit for a page without a kernel, in place."""
    drop_frames(output)
    data = output.get("data", {})
    if "image/png" in data and output.metadata.get(ON_PAPER):
        data["text/html"] = _on_paper(data)
    views = [data.pop(kind) for kind in NEEDS_KERNEL if kind in data]
    if not views or "text/html" in data:  # which the report of an exercise has beside it
        return
    view = views[0] if isinstance(views[0], dict) else {}
    number, still = live.number(view.get("model_id", "")), _still(data)
    if number is not None:
        data["text/html"] = f'<div data-widget="{number}"><noscript>{still}</noscript></div>'
    else:
        data["text/html"] = f'<p class="sk-aside">{WITHOUT_KERNEL}</p>{still}'


def _on_paper(data: Any) -> str:
    """Return a plot, which is turned over in the dark; one of times has a narrow form for phones."""
    wide, narrow = (data.pop(kind, "").replace("\n", "") for kind in ("image/png", NARROW))
    phone = f'<source media="(max-width: 600px)" srcset="data:image/png;base64,{narrow}">'
    kind = "jp-needs-light-background dark-light"
    text = html.escape(data.get("text/plain", ""))
    picture = f'<img class="{kind}" src="data:image/png;base64,{wide}" alt="{text}">'
    return f"<picture>{phone if narrow else ''}{picture}</picture>"


def _still(data: Any) -> str:
    """Return the picture of an output, or else its text."""
    text = html.escape(data.get("text/plain", ""))
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        return f'<img src="data:image/png;base64,{picture}" alt="{text}">'
    return f"<pre>{text}</pre>"
