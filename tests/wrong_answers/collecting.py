"""Collect wrong answers; the words that several exercises share."""

from collections.abc import Callable
from typing import NamedTuple

from stridekit.exercises import Exercise
from stridekit.exercises.mistakes import Formula


class Wrong(NamedTuple):
    """A wrong answer to an exercise, and words that only its own hint has."""

    exercise: Exercise
    words: str
    answer: Callable


WRONG: list[Wrong] = []


def wrong(exercise, words):
    """Collect the decorated function as a wrong answer."""

    def collect(answer):
        WRONG.append(Wrong(exercise, words, answer))
        return answer

    return collect


class Unnamed(NamedTuple):
    """A wrong answer that no mistake describes, and the first words of what it is told."""

    exercise: Exercise
    told: str
    answer: Callable


UNNAMED: list[Unnamed] = []


def unnamed(exercise, told=""):
    """Collect the decorated function as one that gets a general hint, or that of its error."""

    def collect(answer):
        UNNAMED.append(Unnamed(exercise, told or exercise.otherwise, answer))
        return answer

    return collect


def general(exercise, *expressions, instead=None, told=""):
    """Collect answers in a line that get a general hint: whole expressions, and other pieces.

    `instead` has pieces of the solution, and for each what stands in its place.
    """
    formula = Formula(exercise.reference)
    for expression in expressions:
        unnamed(exercise, told)(formula.answering(expression))
    for right, wrong_pieces in (instead or {}).items():
        for piece in wrong_pieces:
            unnamed(exercise, told)(formula.with_pieces({right: piece}))


FORMULAS: list[tuple[Exercise, dict[str, list[str]]]] = []


def formulas(exercise, choices):
    """Collect pieces of the solution, for each of which people may write any of several others.

    Of all the answers that this makes, the solution alone may pass.
    """
    FORMULAS.append((exercise, beside_its_slots(exercise, choices)))


def beside_its_slots(exercise, choices):
    """These pieces, and the exercise's own slots that do not overlap with them."""
    slots = {right: [*wrong] for right, wrong in exercise.slots.items()}
    apart = {
        right: wrong
        for right, wrong in slots.items()
        if not any(right in piece or piece in right for piece in choices)
    }
    return apart | {right: [*slots.get(right, []), *pieces] for right, pieces in choices.items()}


CHANGES = "Your function changes"
ANOTHER_KIND = "That is another kind of answer"
TOO_FAR = "That view would reach beyond its storage"
