"""How wrong answers are collected; what is told in the same words wherever it happens."""

from collections.abc import Callable
from typing import NamedTuple

from stridekit.exercises import Exercise


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


CHANGES = "Your function changes"
ANOTHER_KIND = "That is another kind of answer"
TOO_FAR = "That view would reach beyond its storage"
