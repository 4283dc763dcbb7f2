"""The contents of a notebook: its sections, and in each the cards, the exercises and the minutes.

A notebook is read as text; nothing in it is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stridekit.exercises import marks

# The source of a card: how its question begins, up to what an f-string or a backslash puts in.
_CARD = re.compile(r"""^Predict(?:\.packed)?\(\s*f?(?:"([^"{\\]+)|'([^'{\\]+))""", re.M)
_CHECK = re.compile(r"^(\w+)\.(\w+)\.check\(", re.M)
_IMPORT = re.compile(r"^from stridekit\.exercises import (.+)", re.M)
HEADING = re.compile(r"(##|###) (.+?)(?: \(about (\d+) minutes\))?$", re.M)


@dataclass
class Section:
    """The words and the code below one heading, which is "" before the first section."""

    heading: str
    level: int = 1  # of the heading: 2 or 3
    minutes: float = 0.0  # of one learner alone
    is_essential: bool = False
    cards: list[str] = field(default_factory=list)  # how each question begins
    exercises: dict[str, str] = field(default_factory=dict)  # name in the lesson by key


@dataclass
class Lesson:
    """The name of a notebook's file, its title, and its sections in order."""

    name: str
    title: str
    sections: list[Section] = field(default_factory=list)

    @property
    def cards(self) -> list[str]:
        """The beginnings of the questions."""
        return [card for section in self.sections for card in section.cards]

    @property
    def exercises(self) -> dict[str, str]:
        """The name of each exercise in the lesson, by its key."""
        exercises: dict[str, str] = {}
        for section in self.sections:
            exercises |= section.exercises
        return exercises

    @property
    def minutes(self) -> float:
        """The minutes that a learner needs."""
        return sum(section.minutes for section in self.sections)

    @property
    def shown_marks(self) -> list[str]:
        """The word to show at the heading of each section, "" where none is needed.

        A section inside another one has a mark only if the two differ. A lesson without essential
        sections has one mark, at its title, and a notebook that is no lesson has none.
        """
        shown = [""] * len(self.sections)
        if self.name == marks.START or not any(key in marks.EXERCISES for key in self.exercises):
            return shown
        if not self.essentials.sections:
            return [marks.word(False), *shown[1:]]
        outer = None
        for number, section in enumerate(self.sections[1:], start=1):
            if section.level == 2 or section.is_essential != outer:
                shown[number] = marks.word(section.is_essential)
            if section.level == 2:
                outer = section.is_essential
        return shown

    @property
    def essentials(self) -> Lesson:
        """The lesson with its essential sections, and the words before them; empty if it has none."""
        if not any(section.is_essential for section in self.sections):
            return Lesson(self.name, self.title)
        sections = [part for part in self.sections if part.is_essential or not part.heading]
        return Lesson(self.name, self.title, sections)


def read(text: str | bytes, name: str) -> Lesson:
    """Return the lesson in the text of a notebook whose file has this name, without its ending.

    Raises ValueError, LookupError or TypeError for a text that is not a notebook.
    """
    cells = json.loads(text)["cells"]
    return lesson_of([(cell["cell_type"], "".join(cell["source"])) for cell in cells], name)


def lesson_of(cells: Iterable[tuple[str, str]], name: str) -> Lesson:
    """Return the lesson in cells, each a type and a source."""
    cells = list(cells)
    code = "\n".join(source for cell_type, source in cells if cell_type == "code")
    packages = _packages(code)
    lesson = Lesson(name, _title(cells, name), [Section("")])
    wanted = [*marks.ESSENTIAL_SECTIONS.get(name, ())]
    for cell_type, source in cells:
        if cell_type == "code":
            _add_code(lesson.sections[-1], source, packages)
        elif cell_type == "markdown":
            for piece in pieces(source):
                if heading := HEADING.match(piece):
                    section = Section(heading[2], len(heading[1]), int(heading[3] or 0))
                    section.is_essential = section.heading in wanted[:1]
                    if section.is_essential:
                        wanted.pop(0)
                    lesson.sections.append(section)
                lesson.sections[-1].minutes += len(re.findall(r"\w+", piece)) / 130
    for section in lesson.sections:
        own_marks = [marks.EXERCISES[key] for key in section.exercises if key in marks.EXERCISES]
        if name == marks.START:
            section.is_essential = True
        elif own_marks:
            section.is_essential = all(mark.is_essential for mark in own_marks)
    return lesson


def _title(cells: Iterable[tuple[str, str]], name: str) -> str:
    """Return the first heading, or the name of the file if there is none."""
    words = "\n".join(source for cell_type, source in cells if cell_type == "markdown")
    heading = re.search("^# (.+)", words, re.M)
    return heading[1] if heading else name


def pieces(source: str) -> list[str]:
    """Return the words of a cell, cut in front of each heading of a section."""
    return [piece for piece in re.split(r"(?m)^(?=#{2,3} )", source) if piece]


def _packages(code: str) -> Mapping[str, str]:
    """Return the package of exercises behind each name that the code gives one."""
    imports = " ".join(_IMPORT.findall(code))
    return {alias or name: name for name, alias in re.findall(r"(\w+)(?: as (\w+))?", imports)}


def _add_code(section: Section, source: str, packages: Mapping[str, str]) -> None:
    """Add a cell of code to a section."""
    cards = [double or single for double, single in _CARD.findall(source)]
    section.cards += cards
    section.minutes += 0.4 + 0.6 * len(cards)
    for package, task in _CHECK.findall(source):
        if package in packages:
            section.exercises[f"{packages[package]}_{task}"] = task


def minutes(lessons: Iterable[Lesson]) -> int:
    """Return the minutes of lessons together, rounded to five."""
    return 5 * round(sum(lesson.minutes for lesson in lessons) / 5)
