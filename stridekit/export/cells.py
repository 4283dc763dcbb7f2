"""What becomes of a notebook's cells on a page where nothing runs.

A card keeps its answer: its code is left out, and what gives the answer away opens once it is given. An
exercise has its hints and a solution to open. Words about JupyterLab say that they are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from nbconvert.filters.highlight import Highlight2HTML

from stridekit.exercises import Exercise
from stridekit.notebook import CHECKS, HEADING, asks, behind

IN_LAB = re.compile(r"Shift\+Enter|\*(?:Run|Kernel) →|\b[Rr]un the (?:next )?cell")
LESSON = re.compile(r"^from stridekit\.exercises import (\w+)(?: as (\w+))?$", re.MULTILINE)
SHOWS_MAP = re.compile(r"^progress\(\)$", re.MULTILINE)
ASKS_FOR_HELP = re.compile(r"(\w+)\.(\w+)\.(?:hint|solution)\(\)")
# What lesson.py's template writes around a cell.
BEFORE, AFTER = "stridekit_before", "stridekit_after"
BEHIND = '<details class="sk-behind"><summary>What torch says, and why</summary>'
FOR_LAB = '<div class="sk-in-lab"><p class="sk-aside">Where the lesson runs, in JupyterLab:</p>'
NOT_HERE = (
    "Code does not run on this page. To write it and have it checked, call <code>make lab</code> "
    "and open the lesson there. Thinking works here: the hints open one after the other."
)

_highlight = Highlight2HTML(pygments_lexer="ipython3")


def settle(notebook: Any) -> None:
    """Make the cells of an executed notebook fit for a page, in place; their metadata is the template's."""
    lessons = _lessons(notebook)
    cells = [cell for cell in notebook.cells if not _is_for_lab_alone(cell, lessons)]
    notebook.cells = list(_folded(cells))
    for cell in notebook.cells:
        around = {BEFORE: cell.metadata.get(BEFORE, ""), AFTER: cell.metadata.get(AFTER, "")}
        if found := _exercise(cell, lessons):
            cell.outputs = [output for output in cell.outputs if not _is_blank(output)]
            around[AFTER] += help_with(found)
        elif cell.cell_type == "markdown" and IN_LAB.search(cell.source):
            around = {BEFORE: around[BEFORE] + FOR_LAB, AFTER: "</div>" + around[AFTER]}
        # Other tags are only for tests.
        cell.metadata = {**around, "transient": {"remove_source": _is_folded(cell)}}


def code(source: str) -> str:
    """Python in colours, as in a lesson's cell."""
    return f'<div class="jp-InputArea">{_highlight(source)}</div>'


# Cards ----------------------------------------------------------------------------------------------


def _is_folded(cell: Any) -> bool:
    is_hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
    return cell.cell_type == "code" and (asks(cell) or bool(is_hidden))


def _folded(cells: list[Any]) -> Iterator[Any]:
    """The cells, with what is behind a card in one fold: the code that runs, the words that explain."""
    rest = list(cells)
    while rest:
        runs = behind(rest, 0) if asks(rest[0]) else []
        yield rest.pop(0)
        if not runs:
            continue
        del rest[: len(runs)]
        if rest and rest[0].cell_type == "markdown":
            explains, further = _parts(rest.pop(0))
            runs += explains
            rest[:0] = further
        runs[0].metadata[BEFORE] = BEHIND
        runs[-1].metadata[AFTER] = "</details>"
        yield from runs


def _parts(words: Any) -> tuple[list[Any], list[Any]]:
    """The cell up to its first heading, and the rest as a cell of its own; either may be empty."""
    starts = [found.start() for found in HEADING.finditer(words.source)]
    # In a block of code, # begins a comment.
    starts = [k for k in starts if words.source.count("```", 0, k) % 2 == 0]
    if not starts:
        return [words], []
    text, words.source = words.source[: starts[0]].strip(), words.source[starts[0] :]
    before = type(words)(
        {**words, "id": f"{words.id}-words", "source": text, "metadata": type(words)()}
    )
    return [before] if text else [], [words]


# Exercises ------------------------------------------------------------------------------------------


def _lessons(notebook: Any) -> dict[str, str]:
    """The names under which the notebook imports packages of exercises, and the packages."""
    sources = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return {alias or name: name for name, alias in LESSON.findall(sources)}


def _find(lessons: dict[str, str], alias: str, name: str) -> Exercise | None:
    try:
        found = getattr(import_module(f"stridekit.exercises.{lessons[alias]}"), name, None)
    except (KeyError, ModuleNotFoundError):  # another object, with a method of that name
        return None
    return found if isinstance(found, Exercise) else None


def _exercise(cell: Any, lessons: dict[str, str]) -> Exercise | None:
    """The exercise that a cell has checked."""
    found = CHECKS.search(cell.source) if cell.cell_type == "code" else None
    return _find(lessons, *found.groups()) if found else None


def _is_for_lab_alone(cell: Any, lessons: dict[str, str]) -> bool:
    """True for a cell whose output a page has elsewhere.

    Hints stand below their exercise, and a site's own marks show what is done (progress.js).
    """
    if cell.cell_type != "code":
        return False
    found = ASKS_FOR_HELP.fullmatch(cell.source.strip())
    return bool(SHOWS_MAP.search(cell.source) or (found and _find(lessons, *found.groups())))


def _is_blank(output: Any) -> bool:
    """True for the report that nothing was tried yet."""
    return bool(output.get("data", {}).get("text/plain", "").startswith("○ "))


def help_with(exercise: Exercise) -> str:
    """The hints and a solution, each inside the one before: they open in their order, and stay.

    >>> from stridekit.exercises.strides import row
    >>> help_with(row).count("<details"), len(row.hints)
    (4, 3)
    """
    solution = exercise.solution().rows[0].text
    inner = _step("Solution", f"{code(solution)}<p>{_prose(exercise.takeaway)}</p>")
    for number, hint in reversed(list(enumerate(exercise.hints, start=1))):
        inner = _step(f"Hint {number} of {len(exercise.hints)}", f"<p>{_prose(hint)}</p>{inner}")
    return f'<div class="sk-help"><p class="sk-aside">{NOT_HERE}</p>{inner}</div>'


def _step(name: str, content: str) -> str:
    return f"<details><summary>{name}</summary>{content}</details>"


def _prose(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
