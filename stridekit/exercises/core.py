"""Exercise: a task, its tested solution, the cases that decide, and the mistakes it knows by name.

Nothing here is about strides. Declare an exercise around its reference solution:

    @exercise(title=…, read=…, cases=…, hints=…, otherwise=…, takeaway=…)
    def double(n: int) -> int:
        \"\"\"Twice n.\"\"\"
        return 2 * n

    double.wrong["n * n"] = "That is the square. Add n to itself."

The docstring is the task that the learner reads, the body is what `.solution()` shows, and its answers are
the expected ones, so the three cannot disagree. `mistakes` decides which hint a wrong answer gets.
"""

from __future__ import annotations

import inspect
import io
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch

from stridekit._arguments import a_kind, int_
from stridekit._defaults import torch_defaults
from stridekit.exercises import running
from stridekit.exercises.cards import Card, Report, Row, presentable, steps
from stridekit.exercises.mistakes import Formula, Hints, Mistake, diagnose
from stridekit.exercises.running import Case, Outcome, Trial
from stridekit.exercises.watch import ANY_MEANS, Means
from stridekit.widgets import kept

Answer = TypeVar("Answer", bound=Callable[..., Any])

# How long an answer may take on one case: so much, or so many times what the solution took there.
LEAST_SECONDS, PATIENCE = 10.0, 100

_mine: dict[str, Any] = {}  # the answers that passed in this kernel


@dataclass(eq=False, repr=False)
class Exercise:
    """A task with a check that finds wrong reasoning: `check`, `hint` and `solution`.

    `cases` go from simple to strange: the report shows the first that differs. `delicate_cases` run last,
    and only while every answer is right, because a wrong answer could do harm there. `means` says how the
    task has to be done, `writes` which arguments an answer is to change, and `otherwise` is the hint for
    a wrong answer that matches no known mistake. The author adds known mistakes as source:

    slots   pieces of the solution, and the wrong pieces that people write in the place of each;
            combinations of wrong pieces are known, too, and get the hint of the first
    wrong   whole answers, or "right => wrong" for the solution with one other piece
    exact   such answers, for those alone who answer like them in every case
    only    conditions on the inputs, for those who go wrong nowhere else

    A tuple of sources shares one hint. A source sees the parameters and the names of the module; the
    exercise's name is its solution.
    """

    reference: Callable[..., Any]
    title: str
    read: running.Read
    cases: Sequence[Any]
    hints: Sequence[str]
    otherwise: str
    takeaway: str
    delicate_cases: Sequence[str] = ()
    fence: running.Fence | None = None
    means: Means = ANY_MEANS
    writes: Sequence[str] = ()
    slots: dict[str, Hints] = field(default_factory=dict)
    wrong: dict[Any, str] = field(default_factory=dict)
    exact: dict[Any, str] = field(default_factory=dict)
    only: dict[str, str] = field(default_factory=dict)
    _known: dict[Any, Outcome] = field(default_factory=dict)
    _seconds: dict[Case, float] = field(default_factory=dict)  # that the reference took

    def __post_init__(self) -> None:
        self.__doc__ = self.reference.__doc__  # for help(ex.address) and ex.address?
        self.name = self.reference.__name__
        self.lesson_name = self.reference.__module__.removeprefix("stridekit.exercises.").split(
            "."
        )[0]
        self.key = f"{self.lesson_name}_{self.name}"  # among the exercises of all lessons
        self.parameters = tuple(inspect.signature(self.reference).parameters)
        self.spec = inspect.getdoc(self.reference) or ""
        self.formula = Formula(self.reference)
        delicate = [Case(source, delicate=True) for source in self.delicate_cases]
        self.cases = [*map(Case, self.cases), *delicate]

    # For the learner --------------------------------------------------------------------------

    @torch_defaults()
    def check(self, fn: Callable[..., Any]) -> Report:
        """Try `fn` on the cases and report the first thing that differs.

        Only a KeyboardInterrupt escapes. In the main thread a call is stopped after 10 seconds.
        """
        report = self._judge(fn)
        if report.passed:
            kept = () if fn is self.reference else (Row("", self._keep(fn)),)
            return replace(report, rows=report.rows + kept, more=steps((), self.source))
        help_ = f"`ex.{self.name}.hint()` shows a hint, `ex.{self.name}.solution()` one way to write it."
        rows = (*report.rows, Row("", help_, "terminal"))
        return replace(report, rows=rows, more=steps(self.hints, self.source))

    def _judge(self, fn: Callable[..., Any]) -> Report:
        yours, hint = self._why_not_callable(fn)
        if yours:
            rows = (Row("yours", yours), Row("hint", hint))
            return Report("failed", f"{self.name}: cannot be called yet", rows, hint)
        trials = self._try(fn)
        if trials[0].outcome == running.NOT_ATTEMPTED:
            row = Row("", "Fill it in and run the cell again.")
            return Report("blank", f"{self.name}: not attempted yet", (row,))
        if not all(trial.right for trial in trials):
            return self._failed(fn, trials)
        others = tuple(dict.fromkeys(name for it in trials for name in it.outcome.means[0]))
        if others or not any(trial.outcome.means[1] for trial in trials):
            return self._by_other_means(len(trials), others)
        headline = f"{self.name}: right on all {len(trials)} cases"
        return Report("passed", headline, (Row("", self.takeaway),))

    def _keep(self, fn: Callable[..., Any]) -> str:
        """Keep an answer that passed, and its name on record; return what comes next, in words."""
        _mine[self.key] = fn
        trouble, passed = "", {*_mine}
        try:
            kept.note(passed=self.key)
            passed |= {note["passed"] for note in kept.record() if "passed" in note}
        except OSError as error:
            trouble = f" Your progress is not on record: {error}."
        here = self.lesson.index(self)
        left = [it for it in self.lesson[here:] + self.lesson[:here] if it.key not in passed]
        count = f"{len(self.lesson) - len(left)} of {len(self.lesson)} in this lesson"
        after = f"Next: `{left[0].name}`." if left else "That was the last."
        return f"Well done: {count}. {after}{trouble}"

    @property
    def mine(self) -> Callable[..., Any]:
        """Your own function if it passed its check in this kernel, else the reference solution."""
        answer: Callable[..., Any] = _mine.get(self.key, self.reference)
        return answer

    def hint(self, last: int = 1) -> Card:
        """Return the first hint; `hint(2)` shows the first two, and so on."""
        count, shown = len(self.hints), int_("the last hint", last)
        if not 1 <= shown <= count:
            raise ValueError(f"{self.name} has {count} hints: hint({shown}) is none of them")
        which = "hint 1" if shown == 1 else f"hints 1 to {shown}"
        more = f"hint({shown + 1})` goes on" if shown < count else "solution()` shows one way"
        rows = [
            Row(str(k) if shown > 1 else "", text) for k, text in enumerate(self.hints[:shown], 1)
        ]
        rows.append(Row("", f"`ex.{self.name}.{more}."))
        return Card("note", f"{self.name}: {which} of {count}", tuple(rows))

    def solution(self) -> Card:
        """Return the source of the reference solution: the very function that checks compare with."""
        return Card("note", f"{self.name}: one solution", (Row("", self.source, "python"),))

    @cached_property
    def source(self) -> str:
        """The reference solution without its decorator."""
        source = inspect.getsource(self.reference)
        return source[source.index(f"def {self.name}(") :].rstrip()

    @cached_property
    def lesson(self) -> list[Exercise]:
        """The exercises of its lesson, in order: those that its package offers."""
        package = sys.modules.get(f"stridekit.exercises.{self.lesson_name}")
        return [getattr(package, name) for name in getattr(package, "__all__", [])] or [self]

    def __repr__(self) -> str:
        return repr(self._task())

    def _repr_html_(self) -> str:
        return self._task()._repr_html_()

    def _task(self) -> Card:
        signature = f"{self.name}({', '.join(self.parameters)})"
        return Card("note", f"{signature}: {self.title}", (Row("", self.spec, "spec"),))

    # For the author ---------------------------------------------------------------------------

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The wrong answers that the exercise knows; if two match equally well, the first counts."""
        slots = self.slots.items()
        return [
            *(it for right, hints in slots for it in self.formula.mistakes(hints, right)),
            *self.formula.mistakes(self.wrong),
            *self.formula.mistakes(self.exact, exact=True),
        ]

    @cached_property
    def combinations(self) -> list[Mistake]:
        """The answers with a wrong piece in two slots or more."""
        return list(self.formula.combinations(self.slots))

    # How a check words its report ------------------------------------------------------------

    def _why_not_callable(self, fn: Any) -> tuple[str, str]:
        """Return what came instead of a function of these parameters, and advice; two "" for one."""
        name, parameters = self.name, ", ".join(self.parameters)
        if not callable(fn):
            advice = (
                f"Hand over the function itself, without calling it: `ex.{name}.check({name})`."
            )
            return f"{a_kind(fn)}, not a function", advice
        with suppress(ValueError):  # some built-ins hide their parameters
            signature = inspect.signature(fn)
            try:
                signature.bind(*self.parameters)
            except TypeError:
                advice = f"It will be called as `{name}({parameters})`: give it these "
                advice += f"{len(self.parameters)} parameters, in this order."
                return f"a function of ({', '.join(signature.parameters)})", advice
        return "", ""

    @torch_defaults()  # once more, because a call can set others
    def _run(self, fn: Callable[..., Any], case: Case, seconds: float | None = None) -> Outcome:
        return running.run(self, fn, case, seconds)

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

        Stop at the first case that times out. Show the beginning of what a case prints, and nothing after
        the first wrong answer, so that the output ends with the case that the report is about.
        """
        trials: list[Trial] = []
        with ExitStack() as after_a_wrong_answer:
            for case in self.cases:
                if case.delicate and not all(trial.right for trial in trials):
                    continue
                expected = self._run_own(self.reference, case)
                seconds = max(LEAST_SECONDS, PATIENCE * self._seconds[case])
                with redirect_stdout(running.Shortened(sys.stdout)):
                    trials.append(Trial(case, self._run(fn, case, seconds), expected))
                if trials[-1].endless:
                    break
                if not trials[-1].right:
                    after_a_wrong_answer.enter_context(redirect_stdout(io.StringIO()))
        return trials

    def _failed(self, fn: Callable[..., Any], trials: list[Trial]) -> Report:
        wrong = [trial for trial in trials if not trial.right]
        first = wrong[0]
        hint = diagnose(self, fn, trials) or first.outcome.hint or self.otherwise
        differs = first.expected.first_difference(first.outcome)
        rows = (
            Row("input", self._describe_input(first.case), "lines"),
            Row("expected", first.expected.shown, "lines"),
            Row("yours", presentable(first.outcome.shown), "lines"),
            *([Row("differs", differs)] if differs else []),
            Row("hint", hint),
        )
        ended = [trial for trial in trials if not trial.endless]
        right = f"right on {len(trials) - len(wrong)} of {len(ended)} cases"
        if len(ended) < len(trials):
            right = f"{right}, stopped on the next" if ended else "stopped on the first case"
        return Report("failed", f"{self.name}: not yet ({right})", rows, hint)

    def _by_other_means(self, count: int, others: tuple[str, ...]) -> Report:
        """Report a right answer that was not made by the means the task is about: a note."""
        whole = [name for name in others if name.startswith(("stridekit.", "torch."))]
        hint, how = self.means.hint, f"not by {self.means.function} alone"
        if whole:
            how = f"{whole[0]} has worked it out"
            hint = f"The right answer, by `{whole[0]}`, which is what the task asks for. Do without it."
        elif not self.means.function:
            how = "torch has worked it out"
        headline = f"{self.name}: right on all {count} cases, but {how}"
        called = (Row("calls", ", ".join(others)),) if others else ()
        return Report("note", headline, (*called, Row("hint", hint)), hint)

    def _describe_input(self, case: Case) -> str:
        lines = [case.source]
        for name, value in case.arguments(self.parameters).items():
            if isinstance(value, torch.Tensor | np.ndarray):
                unit = "byte" if value.itemsize == 1 else "bytes"
                lines.append(
                    f"{name}: {running.describe(value)}, {value.itemsize} {unit} an element"
                )
        return "\n".join(lines)


def exercise(**declared: Any) -> Callable[[Callable[..., Any]], Exercise]:
    """Declare an exercise around its reference solution; see the top of this module and `Exercise`."""
    return lambda reference: Exercise(reference, **declared)


def forget() -> Card:
    """Forget which answers passed and what was predicted; of files, remove the record alone.

    >>> forget()
    · forgotten: nothing was on record
    """
    _mine.clear()
    where = f"{kept.FOLDER}/{kept.RECORD}"
    try:
        says = f"{where} removed" if kept.remove() else "nothing was on record"
    except OSError as error:
        return Card("note", f"the record was not removed: {error}")
    return Card("note", f"forgotten: {says}")
