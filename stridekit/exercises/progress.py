"""progress: what was passed and predicted in each lesson, by the notebooks themselves and the record."""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from stridekit import _kept
from stridekit._table import columns
from stridekit.exercises import mine
from stridekit.exercises.report import Card, Row

_HEAD = ("lesson", "exercises passed", "next", "cards predicted", "right first time")


class _Lesson(NamedTuple):
    """What there is to do in a notebook.

    An exercise has its name on record, and in the lesson. A card is a pattern of its question, since some
    questions are put together when their cell runs.
    """

    title: str
    exercises: dict[str, str]
    cards: list[str]


@dataclass(frozen=True, repr=False)
class Progress:
    """A table with a row for each lesson: the file that its title links to, and the texts of the row."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def __repr__(self) -> str:
        return "\n".join(columns([_HEAD, *(texts for _, texts in self.rows)]))

    def _repr_html_(self) -> str:
        side = ' style="text-align: left"'
        head = "".join(f'<th scope="col"{side}>{name}</th>' for name in _HEAD)
        body = ""
        for file, texts in self.rows:
            title, *rest = map(escape, texts)
            cells = "".join(f"<td{side}>{text}</td>" for text in rest)
            link = f'<a href="{quote(file)}">{title}</a>'
            body += f'<tr><th scope="row"{side}>{link}</th>{cells}</tr>'
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def progress() -> Card | Progress:
    """Show for each lesson what you have passed and predicted; `forget()` starts over.

    The first answer to a card says whether it was right first time. Raises nothing: a notebook that
    cannot be read is left out.

    >>> progress()
    · nothing passed or predicted yet
      Run this cell again after a lesson.
    """
    where, record = _kept.folder(), _kept.record()
    if where is None or not record:
        row = Row("", "Run this cell again after a lesson.")
        return Card("note", "nothing passed or predicted yet", (row,))
    said = [(str(one["card"]), one.get("right")) for one in record if "card" in one]
    rows = []
    for path in sorted(where.parent.glob("*.ipynb")):
        lesson = _lesson(path)
        if lesson.exercises or lesson.cards:
            rows.append((path.name, _row(lesson, mine.passed(), said)))
    return Progress(tuple(rows))


def _row(lesson: _Lesson, passed: set[str], said: list[tuple[str, bool | None]]) -> tuple[str, ...]:
    left = [name for key, name in lesson.exercises.items() if key not in passed]
    answers = [[right for text, right in said if re.fullmatch(card, text)] for card in lesson.cards]
    given = [all_of_one for all_of_one in answers if any(it is not None for it in all_of_one)]
    return (
        lesson.title,
        _of(len(lesson.exercises) - len(left), len(lesson.exercises)),
        left[0] if left else "",
        _of(len(given), len(lesson.cards)),
        str(sum(rights[0] is True for rights in given)) if given else "",
    )


def _of(count: int, most: int) -> str:
    return f"{count} of {most}" if most else ""


# Notebooks ------------------------------------------------------------------------------------------


def _lesson(path: Path) -> _Lesson:
    """What there is to do in a notebook; nothing in a file that is none."""
    lesson = _Lesson(path.stem, {}, [])
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        headings = re.findall("^# (.+)", "\n".join(t for k, t in texts if k == "markdown"), re.M)
        if headings:
            number = "".join(re.findall(r"^\d+", path.stem))
            lesson = lesson._replace(title=f"{number} {headings[0]}".strip())
        packages: dict[str, str] = {}  # of exercises, by the names that they get
        for source in (text for kind, text in texts if kind == "code"):
            with suppress(SyntaxError):  # of a magic
                for node in ast.parse(source).body:
                    _read(node, lesson, packages)
    return lesson


def _read(node: ast.stmt, lesson: _Lesson, packages: dict[str, str]) -> None:
    match node:
        case ast.ImportFrom("stridekit.exercises", names):
            packages |= {name.asname or name.name: name.name for name in names}
        case ast.Expr(ast.Call(ast.Name("Predict"), [question, *_])):
            lesson.cards.append(_pattern(question))
        case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(ast.Name(package), name), "check"))):
            if package in packages:
                lesson.exercises[mine.name_of(packages[package], name)] = name


def _pattern(question: ast.expr) -> str:
    parts = question.values if isinstance(question, ast.JoinedStr) else [question]
    return "".join(
        re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in parts
    )
