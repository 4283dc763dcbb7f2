"""Collect wrong answers: the rows of each exercise, and formulas of which the solution alone is right."""

from collections.abc import Callable
from typing import NamedTuple

from stridekit.exercises import Exercise
from stridekit.exercises.mistakes import Formula, each_source

GENERAL = ""  # what the exercise says of an answer that matches no mistake
ANOTHER_KIND = "That is another kind of answer"
CHANGES = "Your function changes"
OUTSIDE = "Your line takes memory that no operation of torch made"
STOPS = "Your function stops on this input."
TOO_FAR = "That view would reach beyond its storage"


class Wrong(NamedTuple):
    """A wrong answer to an exercise, and words of the hint that it should get."""

    exercise: Exercise
    words: str
    answer: Callable


WRONG: list[Wrong] = []
FORMULAS: list[tuple[Exercise, dict[str, list[str]]]] = []


def answering(task, answer):
    """Return an answer as a function; it is one, or the source of one."""
    return Formula(task.reference).answering(answer) if isinstance(answer, str) else answer


def refused(task, rows):
    """Collect wrong answers: for words of a hint, the answers that should get it."""
    for words, answers in rows.items():
        for answer in answers:
            WRONG.append(Wrong(task, words or task.otherwise, answering(task, answer)))


def formulas(task, choices):
    """Collect pieces of the solution, and what may stand in the place of each."""
    FORMULAS.append((task, beside_its_slots(task, choices)))


def beside_its_slots(task, choices):
    """These pieces, and the exercise's own slots that do not overlap with them."""
    slots = {right: [s for s, _ in each_source(wrong)] for right, wrong in task.slots.items()}
    apart = {
        right: wrong
        for right, wrong in slots.items()
        if not any(right in piece or piece in right for piece in choices)
    }
    return apart | {right: [*slots.get(right, []), *pieces] for right, pieces in choices.items()}
