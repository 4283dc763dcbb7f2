"""progress and paths: what was passed and predicted in each lesson, and the two ways through them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from stridekit._notebooks import lessons
from stridekit._table import columns, html_table
from stridekit.exercises.lesson import Lesson, minutes, read
from stridekit.exercises.marks import PRACTICE, START
from stridekit.exercises.reports import Panel, Row, inline
from stridekit.widgets import kept
from stridekit.widgets.engine import Script

ESSENTIALS = "essentials"
EVERYTHING = "everything"
_HEAD = ("lesson", "exercises passed", "next", "cards predicted", "right first time")
_MOST_BYTES = 5_000_000  # of a notebook


@dataclass(frozen=True)
class _Answer:
    """An answer to a card on record; `is_right` is None if the reader skipped the card."""

    question: str
    is_right: bool | None


@dataclass(frozen=True, repr=False)
class Progress:
    """A table with a row for each lesson: the file that its title links to, and the row's texts.

    The note below it says which path it shows.
    """

    rows: tuple[tuple[str, tuple[str, ...]], ...]
    note: str = ""

    def __repr__(self) -> str:
        table = columns([_HEAD, *(texts for _, texts in self.rows)])
        return "\n".join([*table, f"  {self.note}".rstrip()]).rstrip()

    def _repr_html_(self) -> str:
        html = html_table("Your progress", [texts for _, texts in self.rows], head=_HEAD, align="<")
        for file, texts in self.rows:
            if not file:
                continue
            title = f">{escape(texts[0])}</"
            html = html.replace(title, f'><a href="{quote(file)}"{title}a></')
        return f"{html}<div>{inline(self.note)}</div>" if self.note else html


def progress(path: str | None = None) -> Panel | Progress:
    """Show for each lesson, and for the drill, what you have passed; `forget()` starts over.

    `progress("essentials")` chooses the sections and exercises with the mark "essential", and
    `progress("everything")` all of them. The record remembers your choice. The first answer to a card
    decides whether it was right first time. A notebook that cannot be read is left out. Raises
    ValueError for another path.

    >>> progress()
    · nothing passed or predicted yet
      Run this cell again after a lesson.
    """
    if path not in (None, ESSENTIALS, EVERYTHING):
        raise ValueError(f'there is no path {path!r}: choose "{ESSENTIALS}" or "{EVERYTHING}"')
    record_path = kept.path()
    try:
        trouble = ""
        if path is not None and path != chosen_path():
            trouble = kept.note(path=path)
        record = kept.record()
        path = chosen_path()
    except kept.RecordError as error:
        return Panel("note", f"your progress cannot be read: {error}")
    if record_path is None or not record:
        row = Row("", "Run this cell again after a lesson.")
        return Panel("note", "nothing passed or predicted yet", (row,))
    passed = {note["passed"] for note in record if "passed" in note}
    answers = [_Answer(note["card"], note["right"]) for note in record if "card" in note]
    rows = []
    essentials = []
    for file, lesson in _lessons(record_path.parent.parent):
        if lesson.name != START:
            essentials.append(lesson.essentials)
        if path == ESSENTIALS:
            lesson = lesson.essentials
        if lesson.exercises or lesson.cards:
            rows.append((file, _row(lesson, passed, answers)))
    drill = [[note["drill"], note["asked"], note["mistake"]] for note in record if "drill" in note]
    notes = [_about(path, minutes(essentials)), trouble]
    if drill:
        rows.append(("", _drill_row(drill)))
        notes.insert(0, _drill_note(drill))
    return Progress(tuple(rows), " ".join(filter(None, notes)))


def _drill_row(answers: list[list[str]]) -> tuple[str, ...]:
    """Return the texts of the drill's row: what comes next is the kind that went wrong most."""
    wrong = Counter(kind for kind, _, mistake in answers if mistake)
    weakest = wrong.most_common(1)[0][0] if wrong else ""
    return ("Drill", "", weakest, str(len(answers)), str(len(answers) - wrong.total()))


def _drill_note(answers: list[list[str]]) -> str:
    """Return the shares of right answers and the best streak as a sentence."""
    script = Script("drill/drill.js")
    state = {"answers": answers}
    shares = script.shares(state).items()
    best = script.streak(state)["best"]
    parts = [f"{kind} {right} of {count}" for kind, (right, count) in shares]
    return f"Right in `Drill()`: {', '.join(parts)}; the best streak is {best}."


def _lessons(folder: Path) -> list[tuple[str, Lesson]]:
    """Return the lessons in a folder with their files.

    Colab keeps no notebook beside its kernel. Return the lessons that come with stridekit there, with
    "" in place of a file.
    """
    found = [(path.name, _lesson(path)) for path in sorted(folder.glob("*.ipynb"))]
    if any(lesson.exercises or lesson.cards for _, lesson in found):
        return found
    return [("", read(text, Path(file).stem)) for file, text in lessons().items()]


def chosen_path() -> str:
    """Return the path that the reader chose last. Raises RecordError."""
    chosen = [
        note["path"] for note in kept.record() if note.get("path") in (ESSENTIALS, EVERYTHING)
    ]
    return chosen[-1] if chosen else EVERYTHING


def _about(path: str, essential_minutes: int) -> str:
    """Return which path a table shows, and how to choose the other one."""
    if path == ESSENTIALS:
        return (
            f"These are the essentials, {essential_minutes} minutes. "
            f'`progress("{EVERYTHING}")` shows all lessons.'
        )
    if essential_minutes:
        return f'`progress("{ESSENTIALS}")` keeps to the essentials, {essential_minutes} minutes.'
    return ""


def paths() -> Panel:
    """Show the two paths through the lessons, with their minutes for one learner alone.

    >>> paths()
    · two paths through the lessons
      ...
    """
    texts = {Path(file).stem: text for file, text in lessons().items()}
    every = [read(text, name) for name, text in texts.items() if name != START]
    essentials = [lesson.essentials for lesson in every if lesson.essentials.sections]
    practice = [
        f"{lesson.title} has {len(lesson.exercises)} exercises"
        for lesson in every
        if lesson.name in PRACTICE
    ]
    rows = (
        Row(ESSENTIALS, _size(essentials)),
        Row(EVERYTHING, _size(every)),
        Row("practice", f"{', '.join(practice)}, and `Drill()` asks questions without an end"),
        Row(
            "",
            f'`progress("{ESSENTIALS}")` chooses a path, and `progress("{EVERYTHING}")` the other one. '
            "Each section is essential or further, and so is each exercise. "
            "Its dots say how hard it is: ●○○ is a first try, ●●● a riddle.",
        ),
    )
    return Panel("note", "two paths through the lessons", rows)


def _size(parts: list[Lesson]) -> str:
    """Return in words how long lessons take, and what is in them."""
    exercises = sum(len(lesson.exercises) for lesson in parts)
    cards = sum(len(lesson.cards) for lesson in parts)
    return (
        f"{minutes(parts)} minutes in {len(parts)} lessons: {exercises} exercises and {cards} cards"
    )


def _row(lesson: Lesson, passed: set[str], answers: list[_Answer]) -> tuple[str, ...]:
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


def _lesson(path: Path) -> Lesson:
    """Return what a notebook offers; nothing if the file is not a notebook."""
    try:
        return read(kept.read(path, _MOST_BYTES), path.stem)
    except (OSError, ValueError, LookupError, TypeError):
        return Lesson(path.stem, path.stem)
