"""One notebook, checked, executed, and made fit for a page where nothing runs."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Container
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from stridekit.lessons import notebook as form
from stridekit.lessons.notebook import NotebookError
from stridekit.lessons.plots import IS_FOR_PAGES, NARROW
from stridekit.lessons.records import ALONE
from stridekit.widgets import kept
from stridekit.widgets.offline import Offline

NEEDS_KERNEL = (form.WIDGET_VIEW, "application/javascript")
IN_LAB = re.compile(r"Shift\+Enter|\*(?:Run|Kernel) →|\b[Rr]un the (?:next )?cell")
# Cells whose output a page has elsewhere: the map of the lessons, hints and solutions.
FOR_LAB_ALONE = re.compile(r"^progress\(\)$|^\w+\.\w+\.(?:hint|solution)\(\)$", re.MULTILINE)
# In a block of code, # begins a comment.
UNTIL_HEADING = re.compile(r"\A(?:^```.*?^```|(?!^#{1,6} ).)*", re.DOTALL | re.MULTILINE)
BEHIND = (
    '<details class="sk-behind"><summary>What torch says, and why</summary>'
    "\n\n\\g<0>\n\n</details>\n\n"
)
FOR_LAB = (
    '<div class="sk-in-lab"><p class="sk-aside">Where the lesson runs, in JupyterLab:</p>'
    "\n\n{}\n\n</div>"
)
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
        env = {IS_FOR_PAGES: "1", ALONE: "1", kept.VARIABLE: "no"}
        return KernelSpec(**form.KERNEL, env=env)


def lesson(path: Path) -> Lesson:
    """Read, check, execute and settle a notebook. Raises NotebookError, whose message is one line."""
    notebook = read(path)
    done = form.run(notebook, path.parent, seconds=300, kernel_manager_class=ThisPython)
    shown = settle(notebook, done.widget_state)
    return Lesson(notebook, shown, len({part for widget in shown for part in _parts(widget.state)}))


def read(path: Path) -> Any:
    """Read a notebook whose cells and formulas a page can show. Raises NotebookError."""
    try:
        text = path.read_text(encoding="utf-8")
        cells, minor = json.loads(text)["cells"], int(json.loads(text).get("nbformat_minor", 0))
    except Exception as error:  # of any kind, for files that are not notebooks
        raise NotebookError(f"it is not a notebook: {_line(error)}") from None
    for number, cell in enumerate(cells if isinstance(cells, list) else [cells], start=1):
        formula = ""
        try:
            nbformat.validate(cell, ref=f"{cell['cell_type']}_cell", version=4, version_minor=minor)
            tokens = MATH.parse("".join(cell["source"])) if cell["cell_type"] == "markdown" else []
            for token in [*tokens, *(part for outer in tokens for part in outer.children or [])]:
                formula = token.content if token.type.startswith("math") else ""
                convert(formula) if formula else None
        except Exception as error:  # a wrong value, a type of cell without a form, or a formula
            where = ".".join(map(str, getattr(error, "absolute_path", None) or ["cell_type"]))
            what = f"the formula {formula[:40]!r} does not parse" if formula else where
            raise NotebookError(f"cell {number}: {what}: {_line(error)}") from None
    return nbformat.reads(text, as_version=4)


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"


def mathml(latex: str, display: str) -> str:
    r"""Return a formula as MathML, which browsers render without a script.

    >>> mathml(r"i_0", "inline")
    '<math ... display="inline"><mrow><msub><mi>i</mi><mn>0</mn></msub></mrow></math>'
    """
    return convert(latex.strip(), display=display).replace("\\_", "_")  # \text{a\_b}


def settle(notebook: Any, states: dict[str, Any]) -> list[Offline]:
    """Make the cells of an executed notebook fit for a page, in place; return the live widgets on it.

    Folds are those of notebooks. Widgets of other libraries cannot live on a page.
    """
    form.fold(notebook)
    alive = {key: Offline.of(key, states) for key, state in states.items() if "_code" in state}
    cells: list[Any] = []
    numbers: dict[str, int] = {}
    for cell in notebook.cells:
        folded = cell.metadata.get("jupyter", {})
        tags = ["hide-output"] if folded.get("outputs_hidden") else []
        if cell.cell_type == "markdown":
            if folded:
                cell.source = UNTIL_HEADING.sub(BEHIND, cell.source, count=1)
            if IN_LAB.search(cell.source):
                *above, words = re.split(r"(^#+ .*\n)", cell.source, flags=re.MULTILINE)
                cell.source = "".join([*above, FOR_LAB.format(words)])
        elif cell.source == form.GUARD or FOR_LAB_ALONE.search(cell.source):
            continue
        elif form.asks(cell) or folded.get("source_hidden"):
            tags += ["remove-input"]
        elif form.CHECKS.search(cell.source):
            cells.append(nbformat.v4.new_markdown_cell(NOT_HERE))
        cell.metadata = nbformat.from_dict({"tags": tags})
        for output in cell.get("outputs", []):
            _settle(output, alive, numbers)
        cells.append(cell)
    notebook.cells = cells
    notebook.metadata = nbformat.from_dict({"kernelspec": form.METADATA["kernelspec"]})
    return [alive[key] for key in numbers]


def _parts(state: dict[str, Any]) -> list[str]:
    """Return the question of a card, or the goals of an explorer."""
    goals = [goal["text"] for goal in state.get("_goals", [])]
    return [state["_problem"]["question"]] if "_problem" in state else goals


def _settle(output: Any, alive: Container[str], numbers: dict[str, int]) -> None:
    """Make one output fit for a page without a kernel, in place."""
    form.drop_frames(output)
    data = output.get("data", {})
    text = html.escape(data.get("text/plain", ""))
    still = _picture(data.get("image/png"), text) or f"<pre>{text}</pre>"
    if "image/png" in data and output.metadata.get(form.ON_PAPER):
        # A plot is turned over in the dark; a plot of times has a narrow form for phones.
        phone = data.pop(NARROW, "").replace("\n", "")
        source = f'<source media="(max-width: 600px)" srcset="data:image/png;base64,{phone}">'
        picture = _picture(data.pop("image/png"), text, "jp-needs-light-background dark-light")
        data["text/html"] = f"<picture>{source if phone else ''}{picture}</picture>"
    views = [data.pop(kind) for kind in NEEDS_KERNEL if kind in data]
    if not views or "text/html" in data:  # which the report of an exercise has beside it
        return
    view = views[0] if isinstance(views[0], dict) else {}
    data["text/html"] = f'<p class="sk-aside">{WITHOUT_KERNEL}</p>{still}'
    if (key := view.get("model_id", "")) in alive:
        number = numbers.setdefault(key, len(numbers))
        data["text/html"] = f'<div data-widget="{number}"><noscript>{still}</noscript></div>'


def _picture(png: str | None, text: str, kind: str = "") -> str:
    source = (png or "").replace("\n", "")
    return f'<img class="{kind}" src="data:image/png;base64,{source}" alt="{text}">' if png else ""
