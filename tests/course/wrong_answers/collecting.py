"""Collect wrong answers: the rows of each exercise."""

from collections.abc import Callable
from typing import NamedTuple

from stridekit.exercises import Exercise

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


def answering(task, answer):
    """Return an answer as a function; it is one, or the source of one."""
    return task.formula.answering(answer) if isinstance(answer, str) else answer


def refused(task, rows):
    """Collect wrong answers: for words of a hint, the answers that should get it."""
    for words, answers in rows.items():
        for answer in answers:
            WRONG.append(Wrong(task, words or task.otherwise, answering(task, answer)))
