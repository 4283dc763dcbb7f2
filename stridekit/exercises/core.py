"""Exercise: a task, its tested solution, the cases that decide, and the mistakes it knows by name.

Nothing here is about strides. Declare an exercise around its reference solution:

    @exercise(title=…, read=…, cases=…, hints=…, otherwise=…, takeaway=…)
    def double(n: int) -> int:
        \"\"\"Twice n.\"\"\"
        return 2 * n

    double.wrong["n * n"] = "That is the square. Add n to itself."

The docstring is the spec that the learner reads, the body is what `.solution()` shows, and its
answers are what is expected, so the three cannot disagree. `mistakes` decides which hint a wrong
answer gets.
"""

from __future__ import annotations

import inspect
import io
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import torch

from stridekit._arguments import int_
from stridekit._defaults import torch_defaults
from stridekit.exercises import mine, panel
from stridekit.exercises.mistakes import Formula, Hints, Mistake, most_alike, same_everywhere
from stridekit.exercises.report import Card, Report, Row
from stridekit.exercises.running import (
    NOT_ATTEMPTED,
    Case,
    Fence,
    Outcome,
    Read,
    Shortened,
    Trial,
    describe,
    no_fence,
    run,
)
from stridekit.exercises.untrusted import presentable, signature_of, type_name
from stridekit.exercises.watch import ANY_MEANS, Means

Answer = TypeVar("Answer", bound=Callable[..., Any])

# How long an answer may take on one case: so much, or so many times what the solution took there.
LEAST_SECONDS, PATIENCE = 10.0, 100


@dataclass(eq=False, repr=False)
class Exercise:
    """A task with a check that finds wrong reasoning: `check`, `hint` and `solution`.

    Made by `exercise`. What these three return displays itself, in a notebook and in a terminal; a
    report has buttons for the other two, and for the check, where a kernel runs (`panel`). `mine` is
    the learner's own function once it has passed.
    `otherwise` is the hint for wrong answers that match no known mistake.

    Its author then adds wrong answers, written as source, each with its hint:

    slots   pieces of the solution, and for each what people write in its place; in the order in
            which they are told, as any combination of wrong pieces is known, too
    alone   the same, for hints that are true only where the rest of the solution is right
    wrong   whole answers of one expression
    exact   such answers, told only to those who answer like them in every case
    only    conditions on the inputs, told to those who go wrong nowhere else

    A source knows the parameters and the module; the exercise's name is its solution.
    """

    reference: Callable[..., Any]
    title: str
    read: Read
    cases: Sequence[Case]
    hints: Sequence[str]
    otherwise: str
    takeaway: str
    fence: Fence
    means: Means
    writes: Sequence[str]
    slots: dict[str, Hints] = field(default_factory=dict)
    alone: dict[str, Hints] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    exact: dict[str, str] = field(default_factory=dict)
    only: dict[str, str] = field(default_factory=dict)
    _functions: list[Mistake] = field(default_factory=list)
    opened: int = 0  # hints that were asked for in a panel
    solved: bool = False
    _known: dict[Any, Outcome] = field(default_factory=dict)
    _seconds: dict[Case, float] = field(default_factory=dict)  # that the reference took

    def __post_init__(self) -> None:
        self.__doc__ = self.reference.__doc__  # for help(ex.address) and ex.address?

    # For the learner --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the function to write."""
        return self.reference.__name__

    @property
    def key(self) -> str:
        """Its name among the exercises of all lessons."""
        return mine.name_of(
            self.reference.__module__.rpartition(".")[0].rpartition(".")[2], self.name
        )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, in order."""
        return tuple(inspect.signature(self.reference).parameters)

    @property
    def spec(self) -> str:
        """The task in words: the parameters and the answer."""
        return inspect.getdoc(self.reference) or ""

    @torch_defaults()
    def check(self, fn: Callable[..., Any]) -> Report:
        """Try `fn` on the cases and report the first thing that differs.

        Whatever `fn` does, only a KeyboardInterrupt escapes, and torch's defaults stay as they were.
        A call that goes on for 10 seconds is stopped.
        """
        report = self._judge(fn)
        if report.passed:
            self.solved = True
            report = replace(report, rows=(*report.rows, *mine.keep(self, fn)))
        return replace(report, live=partial(panel.bundle, self, fn))

    def _judge(self, fn: Callable[..., Any]) -> Report:
        if problem := self._why_not_callable(fn):
            yours, hint = problem
            rows = (Row("yours", yours), Row("hint", hint))
            return Report("failed", f"{self.name}: cannot be called yet", rows, hint)
        trials = self._try(fn)
        if trials[0].outcome == NOT_ATTEMPTED:
            text = f"Fill it in and run the cell again. `ex.{self.name}.hint()` helps by steps."
            return Report("blank", f"{self.name}: not attempted yet", (Row("", text),))
        if not all(trial.right for trial in trials):
            return self._failed(trials)
        if not all(trial.by_its_means for trial in trials):
            return self._by_other_means(trials)
        headline = f"{self.name}: right on all {len(trials)} cases"
        return Report("passed", headline, (Row("", self.takeaway),))

    @property
    def mine(self) -> Callable[..., Any]:
        """Your own function if it passed its check, else the reference solution."""
        return mine.of(self)

    def hint(self, last: int | None = None) -> Card:
        """The first hint and those that were opened in a panel; `hint(2)` shows the first two.

        No call opens one more, so that running a notebook again gives nothing away.
        """
        count = len(self.hints)
        shown = max(self.opened, 1) if last is None else int_("the last hint", last)
        if not 1 <= shown <= count:
            raise ValueError(f"{self.name} has {count} hints: hint({shown}) is none of them")
        which = "hint 1" if shown == 1 else f"hints 1 to {shown}"
        more = f"hint({shown + 1})` goes on" if shown < count else "solution()` shows one way"
        rows = [Row(f"{k}" * (shown > 1), text) for k, text in enumerate(self.hints[:shown], 1)]
        rows.append(Row("", f"`ex.{self.name}.{more}."))
        return Card("note", f"{self.name}: {which} of {count}", tuple(rows))

    def solution(self) -> Card:
        """The source of the reference solution: the very function that checks compare with."""
        return Card("note", f"{self.name}: one solution", (Row("", self.source, "python"),))

    @cached_property
    def source(self) -> str:
        """The reference solution without its decorator."""
        source = inspect.getsource(self.reference)
        return source[source.index(f"def {self.name}(") :].rstrip()

    @property
    def lesson(self) -> list[Exercise]:
        """The exercises of its lesson, in order: those that its package offers."""
        package = sys.modules.get(self.reference.__module__.rpartition(".")[0])
        return [getattr(package, name) for name in getattr(package, "__all__", [])]

    def __repr__(self) -> str:
        return repr(self._task())

    def _repr_html_(self) -> str:
        return self._task()._repr_html_()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any] | None:
        return self._task()._repr_mimebundle_()

    def _task(self) -> Card:
        signature = f"{self.name}({', '.join(self.parameters)})"
        live = partial(panel.bundle, self, None)
        return Card("note", f"{signature}: {self.title}", (Row("", self.spec, "spec"),), live=live)

    # For the author ---------------------------------------------------------------------------

    def mistake(self, hint: str) -> Callable[[Answer], Answer]:
        """Register the decorated function as a wrong answer, and the hint that it gets."""

        def register(answer: Answer) -> Answer:
            self._functions.append(Mistake(answer, hint))
            return answer

        return register

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The wrong answers that the exercise knows; of two that fit alike the first is told."""
        formula = Formula(self.reference)
        return [
            *formula.with_one_piece(self.slots),
            *formula.with_one_piece(self.alone),
            *(Mistake(formula.answering(source), hint) for source, hint in self.wrong.items()),
            *(
                Mistake(formula.answering(source), hint, True)
                for source, hint in self.exact.items()
            ),
            *self._functions,
        ]

    @cached_property
    def combinations(self) -> list[Mistake]:
        """The answers with a wrong piece in two slots or more."""
        return list(Formula(self.reference).combinations(self.slots))

    # How a check words its report ------------------------------------------------------------

    def _why_not_callable(self, fn: Any) -> tuple[str, str] | None:
        """What came instead of a function of these parameters, and advice; None if `fn` is one."""
        if not callable(fn):
            call = f"`ex.{self.name}.check({self.name})`"
            return (
                presentable(f"of type {type_name(fn)}, not a function"),
                f"Hand over the function itself, without calling it: {call}.",
            )
        signature = signature_of(fn)
        if signature is None:  # calling it will tell
            return None
        try:
            signature.bind(*self.parameters)
        except TypeError:
            return (
                f"a function of ({', '.join(signature.parameters)})",
                f"It will be called as `{self.name}({', '.join(self.parameters)})`: give it these "
                f"{len(self.parameters)} parameters, in this order.",
            )
        return None

    @torch_defaults()  # once more, as a call can set others
    def _run(self, fn: Callable[..., Any], case: Case, seconds: float | None = None) -> Outcome:
        arguments = case.arguments(self.parameters)
        return run(fn, arguments, self.read, self.fence, self.means, seconds, self.writes)

    def _run_own(self, answer: Callable[..., Any], case: Case) -> Outcome:
        """Run the reference or a mistake; only once, since its answers never change."""
        if (answer, case) not in self._known:
            begun = time.perf_counter()
            self._known[answer, case] = self._run(answer, case)
            if answer is self.reference:
                self._seconds[case] = time.perf_counter() - begun
        return self._known[answer, case]

    def _try(self, fn: Callable[..., Any]) -> list[Trial]:
        """Run each case in turn, a delicate one only while every answer is right.

        The first that has no end is the last that is tried. After the first wrong answer, what `fn`
        prints is dropped: the output on the screen ends with the case that the report is about. Of
        each case only the beginning is shown, as an endless loop prints more than a page can hold.
        """
        trials: list[Trial] = []
        with ExitStack() as after_a_wrong_answer:
            for case in self.cases:
                if case.delicate and not all(trial.right for trial in trials):
                    continue
                expected = self._run_own(self.reference, case)
                seconds = max(LEAST_SECONDS, PATIENCE * self._seconds[case])
                with redirect_stdout(Shortened(sys.stdout)):
                    trials.append(Trial(case, self._run(fn, case, seconds), expected))
                if trials[-1].endless:
                    break
                if not trials[-1].right:
                    after_a_wrong_answer.enter_context(redirect_stdout(io.StringIO()))
        return trials

    def _failed(self, trials: list[Trial]) -> Report:
        wrong = [trial for trial in trials if not trial.right]
        first = wrong[0]
        hint = self._diagnose(trials) or first.outcome.hint or self.otherwise
        rows = [
            Row("input", self._describe_input(first.case), "lines"),
            Row("expected", first.expected.shown, "lines"),
            Row("yours", presentable(first.outcome.shown), "lines"),
        ]
        if differs := first.expected.first_difference(first.outcome):
            rows.append(Row("differs", differs))
        rows.append(Row("hint", hint))
        ended = [trial for trial in trials if not trial.endless]
        right = f"right on {len(trials) - len(wrong)} of {len(ended)} cases"
        if len(ended) < len(trials):
            right = f"{right}, stopped on the next" if ended else "stopped on the first case"
        return Report("failed", f"{self.name}: not yet ({right})", tuple(rows), hint)

    def _by_other_means(self, trials: list[Trial]) -> Report:
        """Report a right answer that was not made by the means the task is about: a note."""
        function, hint = self.means.function, self.means.hint
        made = f"by {function or 'torch'}"
        first = next(trial for trial in trials if not trial.by_its_means)
        rows = (
            Row("input", self._describe_input(first.case), "lines"),
            Row("expected", first.expected.shown_with_made(made), "lines"),
            Row("yours", first.outcome.shown_with_made(made), "lines"),
            Row("hint", hint),
        )
        done = [it for it in trials if it.by_its_means and bool(it.outcome.made) == bool(function)]
        count = len(done) or "none"
        headline = (
            f"{self.name}: right on all {len(trials)} cases, but {self.means.words} on {count}"
        )
        return Report("note", headline, rows, hint)

    def _diagnose(self, trials: list[Trial]) -> str:
        """The hint of the mistake that the learner makes; "" where no mistake fits."""
        for mistake in (*self.mistakes, *self.combinations):
            if same_everywhere(mistake, trials, self._run_own):
                return mistake.hint
        if not trials[-1].endless:  # else there are cases that were not tried
            wrong = [trial.case.arguments(self.parameters) for trial in trials if not trial.right]
            formula = Formula(self.reference)
            for condition, hint in self.only.items():
                if all(map(formula.holding(condition), wrong)):
                    return hint
        told_freely = [mistake for mistake in self.mistakes if not mistake.exact]
        return most_alike(told_freely, trials, self._run_own)

    def _describe_input(self, case: Case) -> str:
        lines = [case.source]
        for name, value in case.arguments(self.parameters).items():
            if isinstance(value, torch.Tensor | np.ndarray):
                itemsize = value.itemsize
                unit = "byte" if itemsize == 1 else "bytes"
                lines.append(f"{name}: {describe(value)}, {itemsize} {unit} an element")
        return "\n".join(lines)


def exercise(
    *,
    title: str,
    read: Read,
    cases: Sequence[str],
    hints: Sequence[str],
    otherwise: str,
    takeaway: str,
    delicate_cases: Sequence[str] = (),
    fence: Fence = no_fence,
    means: Means = ANY_MEANS,
    writes: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Exercise]:
    """Declare an exercise around its reference solution; see the top of this module.

    `cases` go from simple to strange: the report shows the first that differs.
    `delicate_cases` run last, and only while every answer is right: a wrong answer could do harm
    on them. `means` says how it has to be done, `writes` which arguments an answer is to change.
    """

    def declare(reference: Callable[..., Any]) -> Exercise:
        every_case = [Case(source) for source in cases]
        every_case += [Case(source, delicate=True) for source in delicate_cases]
        return Exercise(
            reference, title, read, every_case, hints, otherwise, takeaway, fence, means, writes
        )

    return declare
