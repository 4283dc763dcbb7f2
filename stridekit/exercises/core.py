"""Exercise: a task, its tested solution, the cases that decide, and the mistakes it recognises.

Nothing here is about strides. Declare an exercise around its reference solution:

    @exercise(title=…, read=…, cases=…, hints=…, otherwise=…, takeaway=…)
    def double(n: int) -> int:
        \"\"\"Twice n.\"\"\"
        return 2 * n

    double.wrong["n * n"] = "That is the square. Add n to itself."

The docstring is the task that the learner reads. The body is what `.solution()` shows, and what it
returns is the expected answer, so the three cannot disagree. `mistakes` makes the wrong answers.
"""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

import numpy as np
import torch

from stridekit._arguments import a_kind, int_, many
from stridekit._defaults import torch_defaults
from stridekit.exercises import marks, running
from stridekit.exercises.mistakes import (
    Combination,
    Formula,
    Hints,
    Mistake,
    best_match,
    changes,
    hint_for,
    sources_with_hints,
)
from stridekit.exercises.progress import ESSENTIALS, chosen_path
from stridekit.exercises.reports import Panel, Report, Row, folded, presentable
from stridekit.exercises.running import Case, Outcome, Trial
from stridekit.exercises.watch import ANY_MEANS, Means, Watch
from stridekit.widgets import kept

SECONDS = 10.0  # the most that an answer may take on one case
_passed: dict[str, Any] = {}  # by key of an exercise: the answer that passed in this kernel


@dataclass(eq=False, repr=False)
class Exercise:
    """A task with a check that finds wrong reasoning: `check`, `hint` and `solution`.

    `cases` go from simple to strange: the report shows the first case that differs, or for an
    answer with several known mistakes the first case that shows one of them alone.
    `delicate_cases` run last, and only while every answer is right, because a wrong answer could do
    harm there. `means` says how the task has to be done, and `writes` names the arguments that an
    answer is to change. `otherwise` is the hint for a wrong answer that matches no known mistake.
    The author adds known mistakes as source, each with its hint:

    slots   pieces of the solution, and the wrong pieces that people write in place of each.
            Combinations of wrong pieces are known, too
    wrong   whole answers, or "right => wrong" for the solution with another piece
    exact   answers like these, for learners who answer the same in every case
    only    conditions on the inputs, for learners who go wrong nowhere else

    A tuple of sources shares one hint. A source can use the parameters and the names of the module.
    The exercise's name stands for its solution.
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
    _outcomes: dict[Any, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.__doc__ = self.reference.__doc__  # for help(ex.address) and ex.address?
        self.name = self.reference.__name__
        _, _, module = self.reference.__module__.partition("stridekit.exercises.")
        self.lesson_name = module.partition(".")[0]
        self.key = f"{self.lesson_name}_{self.name}"  # unique in all lessons
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
            rows = report.rows
            if fn is not self.reference:
                rows += (Row("", self._keep(fn)),)
            return replace(report, rows=rows, more=report.more + folded((), self.source))
        where_help_is = (
            f"`ex.{self.name}.hint()` shows a hint, "
            f"`ex.{self.name}.solution()` one way to write it."
        )
        rows = (*report.rows, Row("", where_help_is, "terminal"))
        return replace(report, rows=rows, more=report.more + folded(self.hints, self.source))

    def _judge(self, fn: Callable[..., Any]) -> Report:
        """Return the report on an answer, without what comes next or where help is."""
        if problem := self._why_not_callable(fn):
            shown, hint = problem
            rows = (Row("yours", shown), Row("hint", hint))
            return Report("failed", f"{self.name}: cannot be called yet", rows, hint)
        watch = Watch(self.means)
        trials = self._run_cases(fn, watch)
        if trials[0].outcome == running.NOT_ATTEMPTED:
            row = Row("", "Fill it in and run the cell again.")
            return Report("blank", f"{self.name}: not attempted yet{self._mark}", (row,))
        if not all(trial.is_right for trial in trials):
            return self._report_failure(fn, trials)
        if watch.other_calls or not watch.is_used:
            return self._report_other_means(len(trials), [*watch.other_calls])
        headline = f"{self.name}: right on all {len(trials)} cases"
        return Report("passed", headline, (Row("", self.takeaway),))

    def _tasks_on_path(self) -> list[Exercise]:
        """Return the exercises of this lesson that are on the path which the reader chose.

        A reader who solves a further exercise has left the path of the essentials: return all.
        """
        with suppress(kept.RecordError):
            if chosen_path() == ESSENTIALS and _is_essential(self):
                return [task for task in self.lesson if _is_essential(task)]
        return self.lesson

    def _keep(self, fn: Callable[..., Any]) -> str:
        """Keep an answer that passed, and its name on record; return what comes next, in words."""
        _passed[self.key] = fn
        passed_keys = {*_passed}
        trouble = kept.note(passed=self.key)
        with suppress(kept.RecordError):
            passed_keys |= {note["passed"] for note in kept.record() if "passed" in note}
        tasks = self._tasks_on_path()
        here = tasks.index(self)
        to_do = [task for task in tasks[here:] + tasks[:here] if task.key not in passed_keys]
        total = len(tasks)
        what_next = f"Next: `{to_do[0].name}`." if to_do else "That was the last."
        kind = " essential exercises" if len(tasks) < len(self.lesson) else ""
        done = f"Well done: {total - len(to_do)} of {total}{kind} in this lesson. {what_next}"
        return f"{done} {trouble}".strip()

    @property
    def mine(self) -> Callable[..., Any]:
        """Your own function if it passed its check in this kernel, else the reference solution."""
        return _passed.get(self.key, self.reference)

    def hint(self, last: int = 1) -> Panel:
        """Return the first hint; `hint(2)` shows the first two, and so on."""
        count = len(self.hints)
        last = int_("the last hint", last)
        if not 1 <= last <= count:
            raise ValueError(f"{self.name} has {count} hints: hint({last}) is none of them")
        if last == 1:
            headline = f"{self.name}: hint 1 of {count}"
            rows = [Row("", self.hints[0])]
        else:
            headline = f"{self.name}: hints 1 to {last} of {count}"
            rows = [Row(str(k), text) for k, text in enumerate(self.hints[:last], 1)]
        if last < count:
            rows.append(Row("", f"`ex.{self.name}.hint({last + 1})` goes on."))
        else:
            rows.append(Row("", f"`ex.{self.name}.solution()` shows one way."))
        return Panel("note", headline, tuple(rows))

    def solution(self) -> Panel:
        """Return the source of the reference solution, the function that checks compare with."""
        return Panel("note", f"{self.name}: one solution", (Row("", self.source, "python"),))

    @cached_property
    def source(self) -> str:
        """The reference solution without its decorator."""
        source = inspect.getsource(self.reference)
        return source[source.index(f"def {self.name}(") :].rstrip()

    @cached_property
    def lesson(self) -> list[Exercise]:
        """The exercises of its lesson, in the order in which its package offers them."""
        package = sys.modules.get(f"stridekit.exercises.{self.lesson_name}")
        names = getattr(package, "__all__", [])
        return [getattr(package, name) for name in names] or [self]

    def __repr__(self) -> str:
        return repr(self._task())

    def _repr_html_(self) -> str:
        return self._task()._repr_html_()

    @property
    def _mark(self) -> str:
        """The mark of the exercise, to stand behind its title; "" if it has none."""
        return f" · {marks.EXERCISES[self.key]}" if self.key in marks.EXERCISES else ""

    def _task(self) -> Panel:
        parameters = ", ".join(self.parameters)
        headline = f"{self.name}({parameters}): {self.title}{self._mark}"
        return Panel("note", headline, (Row("", self.spec, "spec"),))

    # For the author ---------------------------------------------------------------------------

    @cached_property
    def slot_mistakes(self) -> list[list[Mistake]]:
        """For each slot the solution with each of the wrong pieces in its place."""
        mistake = self.formula.mistake
        return [
            [mistake(source, hint) for source, hint in changes(right, hints)]
            for right, hints in self.slots.items()
        ]

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The known wrong answers; if two match equally well, the first counts."""
        mistakes = [*chain.from_iterable(self.slot_mistakes)]
        for source, hint in sources_with_hints(self.wrong):
            mistakes.append(self.formula.mistake(source, hint))
        for source, hint in sources_with_hints(self.exact):
            mistakes.append(self.formula.mistake(source, hint, exact=True))
        return mistakes

    @cached_property
    def combinations(self) -> list[Combination]:
        """The answers with wrong pieces in several slots; those with the fewest come first.

        They are matched only with learners who answer the same in every case, because then there is
        no doubt.
        """
        combinations = []
        for choice in product(*([None, *mistakes] for mistakes in self.slot_mistakes)):
            parts = [mistake for mistake in choice if mistake is not None]
            if len(parts) > 1:
                combinations.append(self.formula.combination(parts))
        return sorted(combinations, key=lambda combination: len(combination.parts))

    # The steps of a check ----------------------------------------------------------------------

    def _why_not_callable(self, fn: Any) -> tuple[str, str] | None:
        """Return what was handed over instead of a function of these parameters, and advice."""
        if not callable(fn):
            advice = (
                "Hand over the function itself, without calling it: "
                f"`ex.{self.name}.check({self.name})`."
            )
            return f"{a_kind(fn)}, not a function", advice
        with suppress(ValueError):  # some built-ins hide their parameters
            signature = inspect.signature(fn)
            try:
                signature.bind(*self.parameters)
            except TypeError:
                call = f"{self.name}({', '.join(self.parameters)})"
                advice = (
                    f"It will be called as `{call}`: "
                    "give it the same parameters, in the same order."
                )
                return f"a function of ({', '.join(signature.parameters)})", advice
        return None

    @torch_defaults()  # once more, because a call can set others
    def _run(self, fn: Callable[..., Any], case: Case, learner: Watch | None = None) -> Outcome:
        """Call `fn` and read its answer; whatever goes wrong becomes an Outcome.

        Only a KeyboardInterrupt escapes. No argument may change, except those that the task
        `writes`. A learner's answer is watched and has a time limit.
        """
        watch = learner or Watch(ANY_MEANS)

        def call() -> Outcome:
            guarded = [name for name in args if name not in self.writes]
            snapshots = {name: running.snapshot(args[name]) for name in guarded}
            watch.is_on = True
            answer = fn(*args.values())
            watch.is_on = False
            for name, snapshot in snapshots.items():
                if running.snapshot(args[name]) != snapshot:
                    shown = f"{name} is no longer what it was before the call"
                    return Outcome({"changed": name}, shown, running.SPOILT.format(name))
            if answer is ... or (answer is None and running.is_blank(fn)):
                return running.NOT_ATTEMPTED
            return running.read(self.read, answer, args)

        arguments = case.arguments(self.parameters)
        fence = self.fence(fn, arguments) if self.fence else nullcontext(arguments)
        with fence as args, watch.watching(*args.values()):  # an alarm cannot interrupt this
            try:
                return running.call_within(SECONDS, call) if learner else call()
            except (Exception, SystemExit, GeneratorExit, running.TimeIsUp) as error:
                hint = running.STOPS if watch.is_on else running.CANNOT_BE_READ
                return running.raised(fn, error, hint)

    def _run_known(self, answer: Callable[..., Any], case: Case) -> Outcome:
        """Run the reference or a mistake, but only once, because its answers never change."""
        if (answer, case) not in self._outcomes:
            self._outcomes[answer, case] = self._run(answer, case)
        return self._outcomes[answer, case]

    def _run_cases(self, fn: Callable[..., Any], watch: Watch) -> list[Trial]:
        """Run each case in turn, a delicate one only while every answer is right.

        Stop at the first case that times out. Show the beginning of what a case prints, and
        nothing after the first wrong answer, so that the output ends with the reported case.
        """
        trials: list[Trial] = []
        for case in self.cases:
            all_right = all(trial.is_right for trial in trials)
            if case.source in self.delicate_cases and not all_right:
                continue
            expected = self._run_known(self.reference, case)
            with redirect_stdout(running.Shortened(sys.stdout if all_right else io.StringIO())):
                outcome = self._run(fn, case, watch)
            trials.append(Trial(case, outcome, expected))
            if "stopped" in outcome.facts:
                break
        return trials

    def _report_failure(self, fn: Callable[..., Any], trials: list[Trial]) -> Report:
        """Report a wrong answer with its hint, and how many are right."""
        shown, hint = self._find_hint(fn, trials)
        rows = self._rows_of(shown)
        if difference := shown.expected.first_difference(shown.outcome):
            rows.append(Row("differs", difference))
        hint = hint or shown.outcome.hint or self.otherwise
        rows.append(Row("hint", hint))
        right = sum(trial.is_right for trial in trials)
        if "stopped" not in trials[-1].outcome.facts:
            score = f"right on {right} of {len(trials)} cases"
        elif len(trials) > 1:
            score = f"right on {right} of {len(trials) - 1} cases, stopped on the next"
        else:
            score = "stopped on the first case"
        headline = f"{self.name}: not yet ({score})"
        return Report("failed", headline, tuple(rows), hint, more=self._drawn(shown))

    def _rows_of(self, shown: Trial) -> list[Row]:
        """Return the rows with a wrong answer: its input, what was expected, and what came."""
        return [
            Row("input", self._describe_input(shown.case), "lines"),
            Row("expected", shown.expected.shown, "lines"),
            Row("yours", presentable(shown.outcome.shown), "lines"),
        ]

    def _drawn(self, shown: Trial) -> str:
        """Return HTML that shows a wrong answer as a picture; "" for exercises without pictures."""
        return ""

    def _find_hint(self, fn: Callable[..., Any], trials: list[Trial]) -> tuple[Trial, str]:
        """Return the wrong answer to show, and the hint of the mistake that the learner makes.

        The hint is "" if no mistake fits.
        """
        wrong = [trial for trial in trials if not trial.is_right]
        first = wrong[0]
        if not all("raised" in trial.outcome.facts for trial in trials):  # errors alone are chance
            for mistake in self.mistakes:
                if self._answers_alike(mistake, trials):
                    return first, hint_for(mistake, fn)
            for combination in self.combinations:
                is_alike = self._answers_alike(combination, trials)
                if is_alike and (visible := self._visible_part(combination, wrong)):
                    trial, part = visible
                    return trial, hint_for(part, fn)
        if "stopped" not in trials[-1].outcome.facts:  # else there are cases that were not tried
            inputs = [trial.case.arguments(self.parameters) for trial in wrong]
            for condition, hint in self.only.items():
                holds = self.formula.answering(condition)
                if all(holds(*arguments.values()) for arguments in inputs):
                    return first, hint
        candidates = []
        for mistake in self.mistakes:
            if not mistake.exact:
                answers = [self._run_known(mistake.answer, trial.case).facts for trial in trials]
                candidates.append((mistake, answers))
        if best := best_match(candidates, trials):
            return first, f"This fits most of your answers. {hint_for(best, fn)}"
        return first, ""

    def _visible_part(
        self, combination: Combination, wrong: list[Trial]
    ) -> tuple[Trial, Mistake] | None:
        """Return the wrong answer to show of a combination, and the mistake that it shows.

        Take the first answer that one mistake alone gives as well, while all others do no harm. If
        there is none, take the first answer where some mistake is wrong by itself.
        """
        fallback = None
        for trial in wrong:
            answers = [
                (part, self._run_known(part.answer, trial.case)) for part in combination.parts
            ]
            visible = [
                (part, answer) for part, answer in answers if answer.facts != trial.expected.facts
            ]
            if not visible:
                continue
            part, answer = visible[0]
            if len(visible) == 1 and answer.facts == trial.outcome.facts:
                return trial, part
            fallback = fallback or (trial, part)
        return fallback

    def _answers_alike(self, mistake: Mistake | Combination, trials: list[Trial]) -> bool:
        """Return whether a mistake gives the learner's answers in all cases that were tried."""
        answer = mistake.answer
        return all(self._run_known(answer, t.case).facts == t.outcome.facts for t in trials)

    def _report_other_means(self, count: int, calls: list[str]) -> Report:
        """Report, in a note, a right answer that was not made by the means the task is about."""
        hint = self.means.hint
        # A name with a dot is a function that does the whole task.
        whole = next((name for name in calls if "." in name), None)
        if self.means.function:
            flaw = f"not by {self.means.function} alone"
        elif whole:
            flaw = f"{whole} has worked it out"
            hint = (
                f"The right answer, by `{whole}`, which is what the task asks for. Do without it."
            )
            calls = [whole]
        else:
            flaw = "torch has worked it out"
        rows = [Row("hint", hint)]
        if calls:
            rows.insert(0, Row("calls", ", ".join(calls)))
        headline = f"{self.name}: right on all {count} cases, but {flaw}"
        return Report("note", headline, tuple(rows), hint)

    def _describe_input(self, case: Case) -> str:
        """Return the source of a case, and the layout of each tensor and array in it."""
        lines = [case.source]
        for name, value in case.arguments(self.parameters).items():
            if isinstance(value, torch.Tensor | np.ndarray):
                size = many(value.itemsize, "byte")
                lines.append(f"{name}: {running.describe(value)}, {size} an element")
        return "\n".join(lines)


def _is_essential(task: Exercise) -> bool:
    """Return whether an exercise is on the path of the essentials."""
    mark = marks.EXERCISES.get(task.key)
    return mark is not None and mark.is_essential


def exercise(**declared: Any) -> Callable[[Callable[..., Any]], Exercise]:
    """Declare an exercise around its reference solution, as at the top of this module."""
    return lambda reference: Exercise(reference, **declared)


def forget() -> Panel:
    """Forget which answers passed and what was predicted. The record is the only file removed.

    If a line of it is no note of stridekit, the record is not removed, but gets another name.

    >>> forget()
    · forgotten: nothing was on record
    """
    _passed.clear()
    try:
        what_happened = kept.remove()
    except kept.RecordError as error:
        return Panel("note", f"the record was not removed: {error}")
    return Panel("note", f"forgotten: {what_happened or 'nothing was on record'}")
