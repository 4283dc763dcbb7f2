"""Mistakes: the wrong answers that an exercise recognises, written down or made from its solution.

A mistake answers like someone who makes one particular error in reasoning. A learner who gives the
same answers gets its hint. Each mistake is a line of source, which may call its module's functions:

    row.slots["x.size(1)"] = {"x.size(0)": "A row has as many elements as x has columns."}
    row.wrong["x[i].clone()", "x[i] + 0"] = "The right values, in new memory: that is a copy."
    row.wrong["x.size(1) => len(x)"] = "A row has as many elements as x has columns."

A slot is a piece of the solution, with the wrong pieces that people write in its place. Slots make
the solution a formula with choices, and every combination of wrong choices is a known mistake as
well. A wrong answer is an expression, or the solution with another piece: "right => wrong".
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from stridekit.exercises.running import Trial, source_of
from stridekit.rules import packed_stride

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Mistake:
    """A wrong way to reason: an answer, and the hint that names the reasoning.

    An `exact` mistake is meant for learners who answer like it in every case. A learner whose
    source contains `piece` has made the mistake for sure.
    """

    answer: Callable[..., Any]
    hint: str
    exact: bool = False
    piece: str = ""


@dataclass(frozen=True)
class Combination:
    """An answer with several mistakes at once: a wrong piece in each of several slots."""

    answer: Callable[..., Any]
    parts: tuple[Mistake, ...]


# Hints by the source of a wrong answer or piece, or by a tuple of sources that share the hint.
Hints = Mapping[Any, str]


def sources_with_hints(hints: Hints) -> list[tuple[str, str]]:
    """Return each source with its hint.

    >>> sources_with_hints({("a", "b"): "One.", "c": "Two."})
    [('a', 'One.'), ('b', 'One.'), ('c', 'Two.')]
    """
    pairs = []
    for key, hint in hints.items():
        sources = key if isinstance(key, tuple) else (key,)
        pairs += [(source, hint) for source in sources]
    return pairs


def changes(right: str, hints: Hints) -> list[tuple[str, str]]:
    """Return each wrong piece as a change of the right one, with its hint.

    >>> changes("d", {("a", "b"): "One."})
    [('d => a', 'One.'), ('d => b', 'One.')]
    """
    return [(f"{right} => {wrong}", hint) for wrong, hint in sources_with_hints(hints)]


def row_major(shape: Sequence[int]) -> Ints:
    """Return the stride of a new tensor without sizes of 0, which many wrong answers give."""
    return packed_stride(shape, range(len(shape))[::-1])


def changed(source: str, changes: str) -> str:
    """Return a source after changes, which are written "piece => other piece && piece => other piece".

    >>> changed("return a + b", "a + => a - && b => c")
    'return a - c'
    """
    new_pieces = dict(change.split(" => ") for change in changes.split(" && "))
    for piece in new_pieces:
        times = source.count(piece)
        if times != 1:
            raise ValueError(f"{piece!r} is in the solution {times} times, not once")
    any_piece = "|".join(map(re.escape, new_pieces))
    return re.sub(any_piece, lambda match: new_pieces[match[0]], source)


class Formula:
    """The solution's source, from which wrong answers are made."""

    def __init__(self, reference: Any) -> None:
        self.reference = reference

    @cached_property
    def body(self) -> str:
        """The lines of the solution behind its docstring."""
        source = textwrap.dedent(inspect.getsource(self.reference))
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        first = function.body[1] if ast.get_docstring(function) else function.body[0]
        return "\n".join(source.splitlines()[first.lineno - 1 :])

    def answering(self, source: str) -> Callable[..., Any]:
        """Return the function that a source stands for.

        The source is an expression of the parameters, or the solution with another piece, written
        "right => wrong". Several pieces are written "right => wrong && right => wrong".
        """
        body = changed(self.body, source) if " => " in source else f"    return ({source})"
        names = {"torch": torch, "np": np, **self.reference.__globals__}
        names[self.reference.__name__] = self.reference
        parameters = ", ".join(inspect.signature(self.reference).parameters)
        exec(f"def answer({parameters}):\n{body}", names)
        answer: Callable[..., Any] = names["answer"]
        answer.__name__ = answer.__qualname__ = source
        return answer

    def mistake(self, source: str, hint: str, exact: bool = False) -> Mistake:
        """Return the mistake of a source; a learner whose source contains its piece has made it."""
        return Mistake(self.answering(source), hint, exact, source.rpartition(" => ")[2])

    def combination(self, parts: Sequence[Mistake]) -> Combination:
        """Return the answer that makes several mistakes, each of them in a slot of its own."""
        source = " && ".join(part.answer.__name__ for part in parts)
        return Combination(self.answering(source), tuple(parts))


def hint_for(mistake: Mistake, fn: Any) -> str:
    """Return the hint. If the source of `fn` does not prove the mistake, say what it looks like."""
    source = re.sub(r"\s", "", source_of(fn))
    piece = re.sub(r"\s", "", mistake.piece)
    is_proven = piece != "" and piece in source
    if is_proven or not mistake.hint.startswith("You "):
        return mistake.hint
    return f"It looks as if you {mistake.hint.removeprefix('You ')}"


def best_match(
    candidates: Iterable[tuple[Mistake, list[dict[str, Any]]]], trials: Sequence[Trial]
) -> Mistake | None:
    """Return the mistake whose facts in each case best match the learner's; None if none fits.

    A mistake fits if it gives the learner's answer on the first wrong case, which is the case
    shown, and on three quarters of all cases and of the wrong ones. If the first wrong case is the
    same error, fewer are enough. A mistake does not fit if the learner is right on more of its
    wrong cases than the two share wrong answers. Fewer matches may be chance, and so may matches in
    errors alone. If only two answers are possible, four fifths of the learner's wrong answers and
    of the mistake's have to agree.
    """
    wrong = [k for k, trial in enumerate(trials) if not trial.is_right]
    first = wrong[0]
    is_yes_or_no = all(map(_is_yes_or_no, trials))
    most_of_wrong = len(wrong) * (0.8 if is_yes_or_no else 0.75) // 1
    enough = max(most_of_wrong, min(2, len(wrong)))
    best = None
    most_alike = 0
    for mistake, answers in candidates:
        pairs = [*zip(trials, answers, strict=True)]
        alike = {k for k, (trial, facts) in enumerate(pairs) if trial.outcome.facts == facts}
        shared = len(alike.intersection(wrong))
        spared = sum(trial.is_right and trial.expected.facts != facts for trial, facts in pairs)
        least = max(enough, spared * (4 if is_yes_or_no else 1))
        is_alike = shared >= least and len(alike) >= 0.75 * len(trials)
        is_same_error = "raised" in answers[first] and shared >= max(2, spared)
        is_chance = all("raised" in trials[k].outcome.facts for k in alike)
        fits = first in alike and (is_alike or is_same_error) and not is_chance
        if fits and len(alike) > most_alike:
            best = mistake
            most_alike = len(alike)
    return best


def _is_yes_or_no(trial: Trial) -> bool:
    """Return whether True and False are the only possible answers to a case."""
    return all(type(value) is bool for value in trial.expected.facts.values())
