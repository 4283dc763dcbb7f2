"""Exercise: a task, its tested solution, the cases that decide, and the mistakes it knows by name.

Nothing here is about strides. Declare an exercise around its reference solution:

    @exercise(title=…, read=…, cases=…, hints=…, otherwise=…, takeaway=…)
    def double(n: int) -> int:
        \"\"\"Twice n.\"\"\"
        return 2 * n

    double.wrong["n * n"] = "That is the square. Add n to itself."

The docstring is the task that the learner reads, the body is what `.solution()` shows, and its answers are
the expected ones, so the three cannot disagree. `mistakes` makes the wrong answers that it knows.
"""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import torch

from stridekit._arguments import a_kind, int_, many
from stridekit._defaults import torch_defaults
from stridekit.exercises import running
from stridekit.exercises.cards import Card, Report, Row, presentable, steps
from stridekit.exercises.mistakes import Formula, Hints, Mistake, each_source, most_alike, worded
from stridekit.exercises.running import Case, Outcome, Trial
from stridekit.exercises.watch import ANY_MEANS, Means, Watch
from stridekit.widgets import kept

SECONDS = 10.0  # that an answer may take on one case
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

    def __post_init__(self) -> None:
        self.__doc__ = self.reference.__doc__  # for help(ex.address) and ex.address?
        self.name = self.reference.__name__
        _, _, inside = self.reference.__module__.partition("stridekit.exercises.")
        self.lesson_name = inside.partition(".")[0]
        self.key = f"{self.lesson_name}_{self.name}"  # among the exercises of all lessons
        self.parameters = tuple(inspect.signature(self.reference).parameters)
        self.spec = inspect.getdoc(self.reference) or ""
        self.formula = Formula(self.reference)
        self.cases = [*map(Case, (*self.cases, *self.delicate_cases))]

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
        watch = Watch(self.means)
        trials = self._try(fn, watch)
        if trials[0].outcome == running.NOT_ATTEMPTED:
            row = Row("", "Fill it in and run the cell again.")
            return Report("blank", f"{self.name}: not attempted yet", (row,))
        if not all(trial.right for trial in trials):
            return self._failed(fn, trials)
        if watch.others or not watch.used:
            return self._by_other_means(len(trials), [*watch.others])
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
        return _mine.get(self.key, self.reference)

    def hint(self, last: int = 1) -> Card:
        """Return the first hint; `hint(2)` shows the first two, and so on."""
        count, shown = len(self.hints), int_("the last hint", last)
        if not 1 <= shown <= count:
            raise ValueError(f"{self.name} has {count} hints: hint({shown}) is none of them")
        which = "hint 1" if shown == 1 else f"hints 1 to {shown}"
        more = f"hint({shown + 1})` goes on" if shown < count else "solution()` shows one way"
        texts = enumerate(self.hints[:shown], 1)
        rows = [Row(str(k) if shown > 1 else "", text) for k, text in texts]
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
        hints = [*self.slots.items(), ("", self.wrong), ("", self.exact)]
        return [
            self.formula.mistake(source, hint, exact=of_piece is self.exact)
            for piece, of_piece in hints
            for source, hint in each_source(of_piece, piece)
        ]

    @cached_property
    def combinations(self) -> list[Mistake]:
        """The answers with a wrong piece in two slots or more, each with the hint of the first of them.

        So a hint may assume that earlier slots are right, but nothing about later ones. It counts only
        for the same answers in every case, when there is no doubt.
        """
        choices = [[None, *each_source(hints, right)] for right, hints in self.slots.items()]
        chosen = [[it for it in choice if it] for choice in product(*choices)]
        return [
            self.formula.mistake(" && ".join(source for source, _ in wrong), wrong[0][1], True)
            for wrong in chosen
            if len(wrong) > 1
        ]

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
                count = f"{len(self.parameters)} parameters, in this order."
                advice = f"It will be called as `{name}({parameters})`: give it these {count}"
                return f"a function of ({', '.join(signature.parameters)})", advice
        return "", ""

    @torch_defaults()  # once more, because a call can set others
    def _run(self, fn: Callable[..., Any], case: Case, learner: Watch | None = None) -> Outcome:
        """Call `fn` and read its answer; whatever goes wrong becomes an Outcome.

        Only a KeyboardInterrupt escapes. No argument may change, except those that the task `writes`. A
        learner's answer is watched and has a time limit.
        """
        watch = learner or Watch(ANY_MEANS)

        def call() -> Outcome:
            before = {k: running.snapshot(it) for k, it in args.items() if k not in self.writes}
            watch.is_on = True
            answer = fn(*args.values())
            watch.is_on = False
            for name, unchanged in before.items():
                if running.snapshot(args[name]) != unchanged:
                    shown = f"{name} is no longer what it was before the call"
                    return Outcome({"changed": name}, shown, running.SPOILT.format(name))
            if answer is ... or (answer is None and running.is_blank(fn)):
                return running.NOT_ATTEMPTED
            return running.read(self.read, answer, args)

        arguments = case.arguments(self.parameters)
        fence = self.fence(fn, arguments) if self.fence else nullcontext(arguments)
        with fence as args, watch.watching(*args.values()):  # what an alarm cannot interrupt
            try:
                return running.call_within(SECONDS, call) if learner else call()
            except (Exception, SystemExit, GeneratorExit, running.TimeIsUp) as error:
                otherwise = running.STOPS if watch.is_on else running.CANNOT_BE_READ
                return running.raised(fn, error, otherwise)

    def _run_own(self, answer: Callable[..., Any], case: Case) -> Outcome:
        """Run the reference or a mistake; only once, since its answers never change."""
        if (answer, case) not in self._known:
            self._known[answer, case] = self._run(answer, case)
        return self._known[answer, case]

    def _try(self, fn: Callable[..., Any], watch: Watch) -> list[Trial]:
        """Run each case in turn, a delicate one only while every answer is right.

        Stop at the first case that times out. Show the beginning of what a case prints, and nothing after
        the first wrong answer, so that the output ends with the case that the report is about.
        """
        trials: list[Trial] = []
        for case in self.cases:
            all_right = all(trial.right for trial in trials)
            if case.source in self.delicate_cases and not all_right:
                continue
            expected = self._run_own(self.reference, case)
            with redirect_stdout(running.Shortened(sys.stdout if all_right else io.StringIO())):
                trials.append(Trial(case, self._run(fn, case, watch), expected))
            if "stopped" in trials[-1].outcome.facts:
                break
        return trials

    def _failed(self, fn: Callable[..., Any], trials: list[Trial]) -> Report:
        first, *others = (trial for trial in trials if not trial.right)
        hint = self._diagnose(fn, trials) or first.outcome.hint or self.otherwise
        differs = first.expected.first_difference(first.outcome)
        rows = (
            Row("input", self._describe_input(first.case), "lines"),
            Row("expected", first.expected.shown, "lines"),
            Row("yours", presentable(first.outcome.shown), "lines"),
            *([Row("differs", differs)] if differs else []),
            Row("hint", hint),
        )
        ended = len(trials) - ("stopped" in trials[-1].outcome.facts)
        right = f"right on {len(trials) - 1 - len(others)} of {ended} cases"
        if ended < len(trials):
            right = f"{right}, stopped on the next" if ended else "stopped on the first case"
        return Report("failed", f"{self.name}: not yet ({right})", rows, hint)

    def _diagnose(self, fn: Callable[..., Any], trials: list[Trial]) -> str:
        """Return the hint of the mistake that the learner makes; "" where no mistake fits."""
        run = self._run_own
        if not all("raised" in trial.outcome.facts for trial in trials):  # errors alone are chance
            for mistake in (*self.mistakes, *self.combinations):
                if all(run(mistake.answer, it.case).facts == it.outcome.facts for it in trials):
                    return worded(mistake, fn)
        if "stopped" not in trials[-1].outcome.facts:  # else there are cases that were not tried
            wrong = [trial.case.arguments(self.parameters) for trial in trials if not trial.right]
            for condition, hint in self.only.items():
                holds = self.formula.answering(condition)
                if all(holds(*arguments.values()) for arguments in wrong):
                    return hint
        known = [mistake for mistake in self.mistakes if not mistake.exact]
        answers = ((it, [run(it.answer, trial.case).facts for trial in trials]) for it in known)
        told = most_alike(answers, trials)
        return f"This fits most of your answers. {worded(told, fn)}" if told else ""

    def _by_other_means(self, count: int, others: list[str]) -> Report:
        """Report a right answer that was not made by the means the task is about: a note."""
        whole = next((name for name in others if "." in name), "torch")
        how, hint = f"{whole} has worked it out", self.means.hint
        if self.means.function:
            how = f"not by {self.means.function} alone"
        elif whole != "torch":
            hint = (
                f"The right answer, by `{whole}`, which is what the task asks for. Do without it."
            )
            others = [whole]
        headline = f"{self.name}: right on all {count} cases, but {how}"
        called = (Row("calls", ", ".join(others)),) if others else ()
        return Report("note", headline, (*called, Row("hint", hint)), hint)

    def _describe_input(self, case: Case) -> str:
        lines = [case.source]
        for name, value in case.arguments(self.parameters).items():
            if isinstance(value, torch.Tensor | np.ndarray):
                size = many(value.itemsize, "byte")
                lines.append(f"{name}: {running.describe(value)}, {size} an element")
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
    where, says = f"{kept.FOLDER}/{kept.RECORD}", "forgotten: nothing was on record"
    try:
        says = f"forgotten: {where} removed" if kept.remove() else says
    except OSError as error:
        says = f"the record was not removed: {error}"
    return Card("note", says)
