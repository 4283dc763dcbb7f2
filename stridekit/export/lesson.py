"""One notebook: check it, execute it, and make it fit for a page without a kernel."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Container
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from stridekit.exercises import lesson as reading
from stridekit.lessons import notebook as form
from stridekit.lessons.notebook import NotebookError
from stridekit.lessons.plots import IS_FOR_PAGES, NARROW
from stridekit.lessons.records import ALONE
from stridekit.widgets import kept
from stridekit.widgets.offline import Offline

NEEDS_KERNEL = (form.WIDGET_VIEW, "application/javascript")
IN_LAB = re.compile(r"Shift\+Enter|\*(?:Run|Kernel) →|\b[Rr]un the (?:next )?cell")
# Cells that a page leaves out: the map of the lessons, hints and solutions have places of their own.
FOR_LAB_ALONE = re.compile(
    r"^(?:progress|review)\(\)$|^\w+\.\w+\.(?:hint|solution)\(\)$", re.MULTILINE
)
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
TITLE = re.compile(r"^(#) .+$", re.MULTILINE)
SECTION = re.compile(r"^(##|###) .+$", re.MULTILINE)
MARK = '\n\n<p class="sk-path-mark" data-mark="{0}">{0}</p>\n'
MATH = MarkdownIt().use(dollarmath_plugin)


class Card(NamedTuple):
    """A card of a lesson: the heading of its section, the id of its model, and what it asks."""

    section: str
    model_id: str
    problem: dict[str, Any]


class Lesson(NamedTuple):
    """A notebook that is ready for a page, its live widgets, and how many cards and goals they have.

    The essential parts are the questions of cards and the texts of goals in essential sections. Each
    card is there with its widget, for the review.
    """

    notebook: Any
    widgets: list[Offline]
    parts: int
    essential_parts: list[str]
    offer: reading.Lesson
    cards: list[tuple[Card, Offline]]


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
    client = form.run(notebook, path.parent, seconds=300, kernel_manager_class=ThisPython)
    offer = reading.lesson_of(((cell.cell_type, cell.source) for cell in notebook.cells), path.stem)
    essential_parts = _essential_parts(notebook, offer, client.widget_state)
    asked = [
        (card, Offline.of(card.model_id, client.widget_state))
        for card in cards(notebook, offer, client.widget_state)
    ]
    widgets = settle(notebook, client.widget_state)
    mark_sections(notebook, offer)
    parts = set(chain.from_iterable(_parts(widget.state) for widget in widgets))
    return Lesson(notebook, widgets, len(parts), essential_parts, offer, asked)


def _essential_parts(notebook: Any, offer: reading.Lesson, states: dict[str, Any]) -> list[str]:
    """Return the questions of cards and the texts of goals in the essential sections of a lesson."""
    sections = iter(offer.sections)
    section = next(sections)
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for _ in SECTION.finditer(cell.source):
                section = next(sections)
        elif section in offer.essentials.sections:
            for output in cell.get("outputs", []):
                view = output.get("data", {}).get(form.WIDGET_VIEW, {})
                parts += _parts(states.get(view.get("model_id"), {}))
    return list(dict.fromkeys(parts))


def cards(notebook: Any, offer: reading.Lesson, states: dict[str, Any]) -> list[Card]:
    """Return the cards of an executed notebook in order, with their answers."""
    sections = iter(offer.sections)
    section = next(sections)
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for _ in SECTION.finditer(cell.source):
                section = next(sections)
            continue
        for output in cell.get("outputs", []):
            model_id = output.get("data", {}).get(form.WIDGET_VIEW, {}).get("model_id", "")
            problem = states.get(model_id, {}).get("_problem")
            if problem:
                found.append(Card(section.heading, model_id, problem))
    return found


def mark_sections(notebook: Any, offer: reading.Lesson) -> None:
    """Say below headings whether their sections are essential, in place."""
    shown = iter(offer.shown_marks)
    title_mark = next(shown)

    def marked(heading: re.Match[str]) -> str:
        mark = title_mark if heading[1] == "#" else next(shown)
        return heading[0] + MARK.format(mark) if mark else heading[0]

    words = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell in words[:1]:
        cell.source = TITLE.sub(marked, cell.source, count=1)
    for cell in words:
        cell.source = SECTION.sub(marked, cell.source)


def read(path: Path) -> Any:
    """Read a notebook whose cells and formulas a page can show. Raises NotebookError."""
    try:
        text = path.read_text(encoding="utf-8")
        notebook = json.loads(text)
        cells = notebook["cells"]
        minor = int(notebook.get("nbformat_minor", 0))
    except Exception as error:  # of any kind, for files that are not notebooks
        raise NotebookError(f"it is not a notebook: {_one_line(error)}") from None
    for number, cell in enumerate(cells if isinstance(cells, list) else [cells], start=1):
        try:
            nbformat.validate(cell, ref=f"{cell['cell_type']}_cell", version=4, version_minor=minor)
            formulas = _formulas(cell)
        except Exception as error:  # a wrong value, or a type of cell without a form
            place = ".".join(map(str, getattr(error, "absolute_path", None) or ["cell_type"]))
            raise NotebookError(f"cell {number}: {place}: {_one_line(error)}") from None
        for formula in formulas:
            try:
                convert(formula)
            except Exception as error:
                raise NotebookError(
                    f"cell {number}: the formula {formula[:40]!r} does not parse: {_one_line(error)}"
                ) from None
    return nbformat.reads(text, as_version=4)


def _formulas(cell: dict[str, Any]) -> list[str]:
    """Return the formulas in the words of a cell."""
    if cell["cell_type"] != "markdown":
        return []
    formulas = []
    for block in MATH.parse("".join(cell["source"])):
        for token in [block, *(block.children or [])]:
            if token.type.startswith("math") and token.content:
                formulas.append(token.content)
    return formulas


def _one_line(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first[:160]}"


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
    # The kernel has not run cells that a reader has emptied: their outputs are of an older run.
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    form.fold(notebook)
    alive = {key: Offline.of(key, states) for key, state in states.items() if "_code" in state}
    cells: list[Any] = []
    numbers: dict[str, int] = {}
    follows_exercise = False
    for cell in notebook.cells:
        folds = cell.metadata.get("jupyter", {})
        tags = ["hide-output"] if folds.get("outputs_hidden") else []
        if cell.cell_type == "markdown":
            _settle_words(cell, is_folded=bool(folds))
        elif cell.source == form.GUARD or FOR_LAB_ALONE.search(cell.source):
            continue
        elif form.asks(cell):
            tags.append("remove-input")
        elif folds.get("source_hidden"):
            tags = ["hide-cell"] if tags else ["hide-input"]  # one fold for both
        is_exercise = cell.cell_type == "code" and bool(form.CHECKS.search(cell.source))
        if is_exercise and not follows_exercise:
            cells.append(nbformat.v4.new_markdown_cell(NOT_HERE))
        follows_exercise = is_exercise
        cell.metadata = nbformat.from_dict({"tags": tags})
        if set_up := form.SET_UP.match(cell.source):
            cell.metadata["mystnb"] = {"code_prompt_show": set_up[1]}
        for output in cell.get("outputs", []):
            _settle_output(output, alive, numbers)
        cells.append(cell)
    notebook.cells = cells
    notebook.metadata = nbformat.from_dict({"kernelspec": form.METADATA["kernelspec"]})
    return [alive[key] for key in numbers]


def _settle_words(cell: Any, is_folded: bool) -> None:
    """Fold words that explain an answer, and frame words about JupyterLab, in place."""
    if is_folded:
        cell.source = UNTIL_HEADING.sub(BEHIND, cell.source, count=1)
    if IN_LAB.search(cell.source):
        *above, words = re.split(r"(^#+ .*\n)", cell.source, flags=re.MULTILINE)
        cell.source = "".join([*above, FOR_LAB.format(words)])


def _parts(state: dict[str, Any]) -> list[str]:
    """Return the question of a card, or the goals of an explorer."""
    if "_problem" in state:
        return [state["_problem"]["question"]]
    return [goal["text"] for goal in state.get("_goals", [])]


def _settle_output(output: Any, alive: Container[str], numbers: dict[str, int]) -> None:
    """Make one output fit for a page without a kernel, in place."""
    form.drop_frames(output)
    data = output.get("data", {})
    text = html.escape(data.get("text/plain", ""))
    still = f"<pre>{text}</pre>"
    if png := data.get("image/png"):
        still = _image(png, text)
        if output.metadata.get(form.ON_PAPER):
            del data["image/png"]
            data["text/html"] = _plot(png, data.pop(NARROW, ""), text)
    views = [data.pop(kind) for kind in NEEDS_KERNEL if kind in data]
    if not views or "text/html" in data:  # the report of an exercise has HTML beside its widget
        return
    key = views[0].get("model_id", "") if isinstance(views[0], dict) else ""
    if key in alive:
        number = numbers.setdefault(key, len(numbers))
        data["text/html"] = f'<div data-widget="{number}"><noscript>{still}</noscript></div>'
    else:
        data["text/html"] = f'<p class="sk-aside">{WITHOUT_KERNEL}</p>{still}'


def _plot(png: str, narrow_png: str, text: str) -> str:
    """Return a plot that is inverted in the dark, perhaps with a narrow form for phones."""
    narrow = ""
    if narrow_png:
        narrow = f'<source media="(max-width: 600px)" srcset="{_address(narrow_png)}">'
    image = _image(png, text, "jp-needs-light-background dark-light")
    return f"<picture>{narrow}{image}</picture>"


def _image(png: str, text: str, css_class: str = "") -> str:
    return f'<img class="{css_class}" src="{_address(png)}" alt="{text}">'


def _address(png: str) -> str:
    """Return a data URL of a picture in base64."""
    return "data:image/png;base64," + png.replace("\n", "")
