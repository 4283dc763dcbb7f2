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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from stridekit.exercises.running import Case, Outcome, Trial, source_of
from stridekit.rules import packed_stride

if TYPE_CHECKING:
    from stridekit.exercises.core import Exercise

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
Slots = Mapping[str, Hints]  # pieces of the solution, and what people write in their place


def each_source(hints: Hints) -> list[tuple[str, str]]:
    """Return each source with its hint.

    >>> each_source({("a", "b"): "One.", "c": "Two."})
    [('a', 'One.'), ('b', 'One.'), ('c', 'Two.')]
    """
    keys = [(key if isinstance(key, tuple) else (key,), hint) for key, hint in hints.items()]
    return [(source, hint) for sources, hint in keys for source in sources]


def row_major(shape: Sequence[int]) -> Ints:
    """The stride of a new tensor without sizes of 0: many wrong answers give it for any tensor."""
    return packed_stride(shape, range(len(shape))[::-1])


class Formula:
    """The solution's source, from which other answers are made: its names, parameters and body."""

    def __init__(self, reference: Any) -> None:
        source = textwrap.dedent(inspect.getsource(reference))
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        after = 1 if ast.get_docstring(function) else 0
        self.body = "\n".join(source.splitlines()[function.body[after].lineno - 1 :])
        self.reference = reference
        self.names: dict[str, Any] = reference.__globals__
        self.head = f"({', '.join(inspect.signature(reference).parameters)})"

    def answering(self, source: str) -> Callable[..., Any]:
        """Return an answer: an expression of the parameters, or the solution with other pieces.

        The latter is written "right => wrong", for several pieces "right => wrong && right => wrong".
        """
        if " => " in source:
            return self.with_pieces(dict(change.split(" => ") for change in source.split(" && ")))
        return self._compiled(f"    return ({source})", source)

    def with_pieces(self, pieces: Mapping[str, str]) -> Callable[..., Any]:
        """Return the solution with other pieces in the place of some of its own."""
        for right in pieces:
            if (times := self.body.count(right)) != 1:
                raise ValueError(f"{right!r} is in the solution {times} times, not once")
        any_piece = "|".join(map(re.escape, pieces))
        body = re.sub(any_piece, lambda match: pieces[match[0]], self.body)
        name = ", ".join(f"{wrong} for {right}" for right, wrong in pieces.items())
        return self._compiled(body, name)

    def mistakes(self, hints: Hints, right: str = "", exact: bool = False) -> Iterator[Mistake]:
        """Yield a mistake for each source, or for each wrong piece in the place of a right one."""
        for source, hint in each_source(hints):
            answer = self.answering(f"{right} => {source}" if right else source)
            yield Mistake(answer, hint, exact, source.rpartition(" => ")[2])

    def combinations(self, slots: Slots) -> Iterator[Mistake]:
        """Yield the answers with two wrong pieces or more, each with the hint of the first of them.

        So a hint may assume that earlier slots are right, but nothing about later ones. It counts only
        for the same answers in every case, when there is no doubt.
        """
        choices = [
            [None, *((right, *it) for it in each_source(hints))] for right, hints in slots.items()
        ]
        for chosen in product(*choices):
            wrong = [it for it in chosen if it]
            if len(wrong) > 1:
                answer = self.with_pieces({right: piece for right, piece, _ in wrong})
                yield Mistake(answer, wrong[0][2], True, wrong[0][1])

    def _compiled(self, body: str, name: str) -> Callable[..., Any]:
        namespace: dict[str, Any] = {"torch": torch, "np": np, **self.names}
        namespace[self.reference.__name__] = self.reference
        exec(f"def answer{self.head}:\n{body}", namespace)
        answer: Callable[..., Any] = namespace["answer"]
        answer.__name__ = answer.__qualname__ = name
        return answer


def diagnose(task: Exercise, fn: Any, trials: Sequence[Trial]) -> str:
    """Return the hint of the mistake that the learner makes; "" where no mistake fits."""
    run = task._run_own
    for mistake in (*task.mistakes, *task.combinations):
        if same_everywhere(mistake, trials, run):
            return worded(mistake, fn)
    if not trials[-1].endless:  # else there are cases that were not tried
        wrong = [trial.case.arguments(task.parameters) for trial in trials if not trial.right]
        for condition, hint in task.only.items():
            holds = task.formula.answering(condition)
            if all(holds(*arguments.values()) for arguments in wrong):
                return hint
    told = most_alike([mistake for mistake in task.mistakes if not mistake.exact], trials, run)
    return f"This fits most of your answers. {worded(told, fn)}" if told else ""


def worded(mistake: Mistake, fn: Any) -> str:
    """Return the hint; where the source does not show the mistake, as what it looks like."""
    source, piece = (re.sub(r"\s", "", text) for text in (source_of(fn), mistake.piece))
    shows = piece and piece in source
    if shows or not mistake.hint.startswith("You "):
        return mistake.hint
    return f"It looks as if you {mistake.hint.removeprefix('You ')}"


Run = Callable[[Callable[..., Any], Case], Outcome]


def same_everywhere(mistake: Mistake, trials: Sequence[Trial], run: Run) -> bool:
    """True if the learner answers like the mistake in every case, and not by errors alone."""
    if all("raised" in trial.outcome.facts for trial in trials):
        return False
    return all(run(mistake.answer, trial.case).facts == trial.outcome.facts for trial in trials)


def most_alike(mistakes: Sequence[Mistake], trials: Sequence[Trial], run: Run) -> Mistake | None:
    """Return the mistake that best matches the learner's answers; None if none fits.

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
    for mistake in mistakes:
        theirs = [run(mistake.answer, trial.case).facts for trial in trials]
        agree = {i for i, trial in enumerate(trials) if trial.outcome.facts == theirs[i]}
        shared = agree.intersection(wrong)
        pairs = zip(trials, theirs, strict=True)
        spared = [t for t, facts in pairs if t.right and facts != t.expected.facts]
        least = max(enough, len(spared) * (4 if yes_or_no else 1))
        is_alike = len(shared) >= least and len(agree) >= 0.75 * len(trials)
        is_same_error = "raised" in theirs[wrong[0]] and len(shared) >= max(2, len(spared))
        fits = wrong[0] in shared and (is_alike or is_same_error)
        by_chance = all("raised" in trials[i].outcome.facts for i in agree)
        if fits and not by_chance and len(agree) > most:
            best, most = mistake, len(agree)
    return best
