"""Mistakes: the wrong answers that an exercise knows, written down or made from its solution.

A mistake answers as someone does who makes one particular error in reasoning; a learner who gives the same
answers gets its hint. Each is a line of source, which may call a function of its module:

    row.slots["x.size(1)"] = {"x.size(0)": "A row has as many elements as x has columns."}
    row.wrong["x[i].clone()", "x[i] + 0"] = "The right values, in new memory: that is a copy."
    row.wrong["x.size(1) => len(x)"] = "A row has as many elements as x has columns."

A slot is a piece of the solution, with the wrong pieces that people write in its place. That makes the
solution a formula with choices, and every combination of wrong choices is known as well. A wrong answer
is an expression, or the solution with another piece: "right => wrong".
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stridekit.exercises.running import Trial, source_of
from stridekit.rules import packed_stride

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Mistake:
    """A wrong way to reason: an answer, and the hint that names the reasoning.

    One that is `exact` is for those who answer like it in every case. A learner whose source has `piece`
    shows the mistake.
    """

    answer: Callable[..., Any]
    hint: str
    exact: bool = False
    piece: str = ""


Hints = Mapping[Any, str]  # wrong answers or pieces, or tuples of them, as source; and their hints


def each_source(hints: Hints, right: str = "") -> list[tuple[str, str]]:
    """Return each source with its hint; that of pieces as a change of the right one.

    >>> each_source({("a", "b"): "One.", "c": "Two."}, "d")
    [('d => a', 'One.'), ('d => b', 'One.'), ('d => c', 'Two.')]
    """
    keys = [(key if isinstance(key, tuple) else (key,), hint) for key, hint in hints.items()]
    change = f"{right} => " if right else ""
    return [(change + source, hint) for sources, hint in keys for source in sources]


def row_major(shape: Sequence[int]) -> Ints:
    """The stride of a new tensor without sizes of 0: many wrong answers give it for any tensor."""
    return packed_stride(shape, range(len(shape))[::-1])


class Formula:
    """The solution's source, from which other answers are made."""

    def __init__(self, reference: Any) -> None:
        source = textwrap.dedent(inspect.getsource(reference))
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        after = 1 if ast.get_docstring(function) else 0
        self.body = "\n".join(source.splitlines()[function.body[after].lineno - 1 :])
        self.reference = reference

    def answering(self, source: str) -> Callable[..., Any]:
        """Return an answer: an expression of the parameters, or the solution with other pieces.

        The latter is written "right => wrong", for several pieces "right => wrong && right => wrong".
        """
        changes = source.split(" && ") if " => " in source else []
        pieces = dict(change.split(" => ") for change in changes)
        for right in pieces:
            if (times := self.body.count(right)) != 1:
                raise ValueError(f"{right!r} is in the solution {times} times, not once")
        body = f"    return ({source})"
        if pieces:
            any_piece = "|".join(map(re.escape, pieces))
            body = re.sub(any_piece, lambda match: pieces[match[0]], self.body)
        names = {"torch": torch, "np": np, **self.reference.__globals__}
        names[self.reference.__name__] = self.reference
        parameters = ", ".join(inspect.signature(self.reference).parameters)
        exec(f"def answer({parameters}):\n{body}", names)
        answer: Callable[..., Any] = names["answer"]
        answer.__name__ = answer.__qualname__ = source
        return answer

    def mistake(self, source: str, hint: str, exact: bool = False) -> Mistake:
        """Return the mistake of answering so; the source of who makes it shows the piece."""
        piece = source.split(" && ")[0] if exact else source
        return Mistake(self.answering(source), hint, exact, piece.rpartition(" => ")[2])


def worded(mistake: Mistake, fn: Any) -> str:
    """Return the hint; where the source does not show the mistake, as what it looks like."""
    source, piece = (re.sub(r"\s", "", text) for text in (source_of(fn), mistake.piece))
    if (piece and piece in source) or not mistake.hint.startswith("You "):
        return mistake.hint
    return f"It looks as if you {mistake.hint.removeprefix('You ')}"


def most_alike(
    answers: Iterable[tuple[Mistake, list[dict[str, Any]]]], trials: Sequence[Trial]
) -> Mistake | None:
    """Return the mistake whose facts in each case best match the learner's; None if none fits.

    A mistake fits if it gives the learner's answer on the first wrong case, which is the one shown, and on
    three quarters of all cases and of the wrong ones, unless the first wrong case is the same error. It
    does not fit if the learner is right on more of its wrong cases than they share wrong answers. Fewer
    matches may be chance, and so may matches in errors alone. Where only two answers are possible, four
    fifths of the learner's wrong answers and of the mistake's have to agree.
    """
    wrong = [i for i, trial in enumerate(trials) if not trial.right]
    yes_or_no = all(type(v) is bool for t in trials for v in t.expected.facts.values())
    enough = max(len(wrong) * (0.8 if yes_or_no else 0.75) // 1, min(2, len(wrong)))
    best, most = None, 0
    for mistake, theirs in answers:
        agree = {i for i, trial in enumerate(trials) if trial.outcome.facts == theirs[i]}
        shared = len(agree.intersection(wrong))
        spared = sum(t.right and t.expected.facts != theirs[i] for i, t in enumerate(trials))
        least = max(enough, spared * (4 if yes_or_no else 1))
        is_alike = shared >= least and len(agree) >= 0.75 * len(trials)
        is_same_error = "raised" in theirs[wrong[0]] and shared >= max(2, spared)
        by_chance = all("raised" in trials[i].outcome.facts for i in agree)
        fits = wrong[0] in agree and (is_alike or is_same_error)
        if fits and not by_chance and len(agree) > most:
            best, most = mistake, len(agree)
    return best
