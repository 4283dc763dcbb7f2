"""progress: what was passed and predicted in each lesson, from the notebooks and the record."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote

from stridekit._table import columns, html_table
from stridekit.exercises.reports import Panel, Row
from stridekit.widgets import kept

_HEAD = ("lesson", "exercises passed", "next", "cards predicted", "right first time")
_MOST_BYTES = 5_000_000  # of a notebook
# The source of a card: how its question begins, up to what an f-string or a backslash puts in.
_CARD = re.compile(r"""^Predict(?:\.packed)?\(\s*f?(?:"([^"{\\]+)|'([^'{\\]+))""", re.M)


@dataclass
class _Lesson:
    """A notebook's exercises, and how the questions on its cards begin."""

    title: str
    exercises: dict[str, str] = field(default_factory=dict)  # by name on record: name in the lesson
    cards: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Answer:
    """An answer to a card on record; `is_right` is None if the reader skipped the card."""

    question: str
    is_right: bool | None


@dataclass(frozen=True, repr=False)
class Progress:
    """A table with a row for each lesson: the file that its title links to, and the row's texts."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def __repr__(self) -> str:
        return "\n".join(columns([_HEAD, *(texts for _, texts in self.rows)]))

    def _repr_html_(self) -> str:
        html = html_table("Your progress", [texts for _, texts in self.rows], head=_HEAD, align="<")
        for file, texts in self.rows:
            title = f">{escape(texts[0])}</"
            html = html.replace(title, f'><a href="{quote(file)}"{title}a></')
        return html


def progress() -> Panel | Progress:
    """Show for each lesson what you have passed and predicted; `forget()` starts over.

    The first answer to a card decides whether it was right first time. Raises nothing: a notebook
    that cannot be read is left out.

    >>> progress()
    · nothing passed or predicted yet
      Run this cell again after a lesson.
    """
    record_path = kept.path()
    try:
        record = kept.record()
    except kept.RecordError as error:
        return Panel("note", f"your progress cannot be read: {error}")
    if record_path is None or not record:
        row = Row("", "Run this cell again after a lesson.")
        return Panel("note", "nothing passed or predicted yet", (row,))
    passed = {note["passed"] for note in record if "passed" in note}
    answers = [_Answer(note["card"], note["right"]) for note in record if "card" in note]
    rows = []
    for path in sorted(record_path.parent.parent.glob("*.ipynb")):
        lesson = _lesson(path)
        if lesson.exercises or lesson.cards:
            rows.append((path.name, _row(lesson, passed, answers)))
    return Progress(tuple(rows))


def _row(lesson: _Lesson, passed: set[str], answers: list[_Answer]) -> tuple[str, ...]:
    """Return the texts of a lesson's row, in the order of the head."""
    to_do = [name for key, name in lesson.exercises.items() if key not in passed]
    exercise_count = len(lesson.exercises)
    exercises = f"{exercise_count - len(to_do)} of {exercise_count}" if exercise_count else ""
    predicted = 0
    right_first_time = 0
    for card in lesson.cards:
        tries = [answer.is_right for answer in answers if answer.question.startswith(card)]
        if any(is_right is not None for is_right in tries):
            predicted += 1
            right_first_time += tries[0] is True
    return (
        lesson.title,
        exercises,
        to_do[0] if to_do else "",
        f"{predicted} of {len(lesson.cards)}" if predicted else "",
        str(right_first_time) if predicted else "",
    )


def _lesson(path: Path) -> _Lesson:
    """Return the exercises and cards of a notebook; none if the file is not a notebook."""
    try:
        cells = json.loads(kept.read(path, _MOST_BYTES))["cells"]
        sources = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (OSError, ValueError, LookupError, TypeError):
        return _Lesson(path.stem)
    code = "\n".join(source for cell_type, source in sources if cell_type == "code")
    words = "\n".join(source for cell_type, source in sources if cell_type == "markdown")
    heading = re.search("^# (.+)", words, re.M)
    title = heading[1] if heading else path.stem
    imports = " ".join(re.findall(r"^from stridekit\.exercises import (.+)", code, re.M))
    packages = {alias or name: name for name, alias in re.findall(r"(\w+)(?: as (\w+))?", imports)}
    exercises = {}
    for package, task in re.findall(r"^(\w+)\.(\w+)\.check\(", code, re.M):
        if package in packages:
            exercises[f"{packages[package]}_{task}"] = task
    cards = [double or single for double, single in _CARD.findall(code)]
    return _Lesson(title, exercises, cards)
