"""progress: what was passed and predicted in each lesson, by the notebooks themselves and the record."""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote

from stridekit._table import columns
from stridekit.exercises.cards import Card, Row
from stridekit.widgets import kept

_HEAD = ("lesson", "exercises passed", "next", "cards predicted", "right first time")
_MOST_BYTES, _MOST_SOURCE = 5_000_000, 20_000  # of a notebook, and of a cell that is looked at

Question = tuple[str, str | None]  # the text of a card; of an f-string, its beginning and its end


@dataclass
class _Lesson:
    """What there is to do in a notebook; each exercise by its name on record."""

    title: str
    exercises: dict[str, str] = field(default_factory=dict)
    cards: list[Question] = field(default_factory=list)
    packages: dict[str, str] = field(default_factory=dict)  # by the names that they get


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
    answers = [[right for text, right in said if _asks(card, text)] for card in lesson.cards]
    given = [rights for rights in answers if any(right is not None for right in rights)]
    return (
        lesson.title,
        _of(len(lesson.exercises) - len(left), len(lesson.exercises)),
        left[0] if left else "",
        _of(len(given), len(lesson.cards)),
        str(sum(rights[0] is True for rights in given)) if given else "",
    )


def _of(count: int, most: int) -> str:
    return f"{count} of {most}" if most else ""


def _asks(question: Question, text: str) -> bool:
    begin, end = question
    return text == begin if end is None else text.startswith(begin) and text.endswith(end)


def _lesson(path: Path) -> _Lesson:
    """Return what there is to do in a notebook; nothing in a file that is none."""
    lesson = _Lesson(path.stem)
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        cells = json.loads(kept.read(path, _MOST_BYTES))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        headings = re.findall("^# (.+)", "\n".join(t for k, t in texts if k == "markdown"), re.M)
        number = "".join(re.findall(r"^\d+", path.stem))
        lesson.title = f"{number} {headings[0]}".strip() if headings else path.stem
        for source in (text for kind, text in texts if kind == "code" and len(text) < _MOST_SOURCE):
            with suppress(SyntaxError, MemoryError):  # of a magic; of too deep a nesting
                for node in ast.parse(source).body:
                    _read(node, lesson)
    return lesson


def _read(node: ast.stmt, lesson: _Lesson) -> None:
    match node:
        case ast.ImportFrom("stridekit.exercises", names):
            lesson.packages |= {name.asname or name.name: name.name for name in names}
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("Predict"), "packed"), given)):
            _read(ast.Expr(ast.Call(ast.Name("Predict"), given, [])), lesson)
        case ast.Expr(ast.Call(ast.Name("Predict"), [ast.JoinedStr(parts), *_])):
            ends = [it.value if isinstance(it, ast.Constant) else "" for it in parts]
            lesson.cards.append((str(ends[0]), str(ends[-1])))
        case ast.Expr(ast.Call(ast.Name("Predict"), [ast.Constant(question), *_])):
            lesson.cards.append((str(question), None))
        case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(ast.Name(package), name), "check"))):
            if package in lesson.packages:
                lesson.exercises[f"{lesson.packages[package]}_{name}"] = name
