"""progress: what was passed and predicted in each lesson, by the notebooks themselves and the record."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote

from stridekit._table import columns, html_table
from stridekit.exercises.cards import Card, Row
from stridekit.widgets import kept

_HEAD = ("lesson", "exercises passed", "next", "cards predicted", "right first time")
_MOST_BYTES = 5_000_000  # of a notebook
_CARD = re.compile(r"""^Predict(?:\.packed)?\(\s*f?(?:"([^"{\\]+)|'([^'{\\]+))""", re.M)


@dataclass
class _Lesson:
    """What there is to do in a notebook: exercises by their names on record, and how questions begin."""

    title: str
    exercises: dict[str, str] = field(default_factory=dict)
    cards: list[str] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class Progress:
    """A table with a row for each lesson: the file that its title links to, and the texts of the row."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def __repr__(self) -> str:
        return "\n".join(columns([_HEAD, *(texts for _, texts in self.rows)]))

    def _repr_html_(self) -> str:
        html = html_table("Your progress", [texts for _, texts in self.rows], head=_HEAD, align="<")
        for file, texts in self.rows:
            title = f">{escape(texts[0])}</"
            html = html.replace(title, f'><a href="{quote(file)}"{title}a></')
        return html


def progress() -> Card | Progress:
    """Show for each lesson what you have passed and predicted; `forget()` starts over.

    The first answer to a card says whether it was right first time. Raises nothing: a notebook that
    cannot be read is left out.

    >>> progress()
    · nothing passed or predicted yet
      Run this cell again after a lesson.
    """
    where = kept.path()
    try:
        record = kept.record()
    except OSError as error:
        return Card("note", f"your progress cannot be read: {error}")
    if where is None or not record:
        row = Row("", "Run this cell again after a lesson.")
        return Card("note", "nothing passed or predicted yet", (row,))
    passed = {note["passed"] for note in record if "passed" in note}
    said = [(note["card"], note["right"]) for note in record if "card" in note]
    lessons = [(path.name, _lesson(path)) for path in sorted(where.parent.parent.glob("*.ipynb"))]
    return Progress(
        tuple((name, _row(it, passed, said)) for name, it in lessons if it.exercises or it.cards)
    )


def _row(lesson: _Lesson, passed: set[str], said: list[tuple[str, bool | None]]) -> tuple[str, ...]:
    left = [name for key, name in lesson.exercises.items() if key not in passed]
    answers = [[right for text, right in said if text.startswith(card)] for card in lesson.cards]
    given = [rights for rights in answers if any(right is not None for right in rights)]
    tasks, cards = len(lesson.exercises), len(lesson.cards)
    return (
        lesson.title,
        f"{tasks - len(left)} of {tasks}" if tasks else "",
        left[0] if left else "",
        f"{len(given)} of {cards}" if cards else "",
        str(sum(rights[0] is True for rights in given)) if given else "",
    )


def _lesson(path: Path) -> _Lesson:
    """Return what there is to do in a notebook; nothing in a file that is none."""
    try:
        cells = json.loads(kept.read(path, _MOST_BYTES))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (OSError, ValueError, LookupError, TypeError):
        return _Lesson(path.stem)
    code, words = ("\n".join(t for kind, t in texts if kind == k) for k in ("code", "markdown"))
    heading, number = re.search("^# (.+)", words, re.M), re.sub(r"\D.*", "", path.stem)
    imported = " ".join(re.findall(r"^from stridekit\.exercises import (.+)", code, re.M))
    packages = {alias or name: name for name, alias in re.findall(r"(\w+)(?: as (\w+))?", imported)}
    checks = re.findall(r"^(\w+)\.(\w+)\.check\(", code, re.M)
    return _Lesson(
        f"{number} {heading[1]}".strip() if heading else path.stem,
        {f"{packages[name]}_{task}": task for name, task in checks if name in packages},
        [double or single for double, single in _CARD.findall(code)],
    )
