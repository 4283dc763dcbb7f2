"""Bug: an exercise whose blank is a program that runs, and is wrong or slow.

The program stands in `programs.py`, and in a cell of the notebook, where the learner repairs it. The
reference solution is one repair. Cases, readers and hints are those of every exercise, so a check
compares what a program does. It reads the source for one thing only: to recognise a program that
nobody has changed yet.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from stridekit.exercises.core import Exercise
from stridekit.exercises.reports import Panel, Report, Row
from stridekit.exercises.running import Trial, source_of

Facts = dict[str, Any]


@dataclass(eq=False, repr=False)
class Bug(Exercise):
    """A program to repair: `check`, `hint` and `solution`, as for every exercise.

    `faulty` is the program as it was reported. `explain` takes the facts of the learner's program
    and those of the solution in a case, and returns a hint with their numbers. `takeaway` is the
    rule that would have prevented the bug, and `test` the source of a test that finds it.
    """

    faulty: Callable[..., Any] = field(kw_only=True)
    explain: Callable[[Facts, Facts], str] = field(kw_only=True)
    test: str = field(kw_only=True)

    def check(self, fn: Callable[..., Any]) -> Report:
        """Run `fn` on inputs of the check's own, and report the first thing that differs.

        A program that passes is followed by the test to keep.
        """
        with one_thread():
            report = super().check(fn)
        if report.passed:
            return self._with_test(report)
        return report

    def solution(self) -> Panel:
        """Return the source of one repair, with the rule and the test to keep."""
        panel = super().solution()
        rule = Row("rule", self.takeaway)
        return Panel("note", panel.headline, (*panel.rows, rule, self._test_row))

    @property
    def _test_row(self) -> Row:
        return Row("test to keep", self.test, "python")

    def _with_test(self, report: Report) -> Report:
        """Return a report on a right program with the test to keep in front of what comes next."""
        rule, *what_comes_next = report.rows
        rows = (Row("rule", rule.text), self._test_row, *what_comes_next)
        return Report(report.status, report.headline, rows, report.hint, more=report.more)

    def _judge(self, fn: Callable[..., Any]) -> Report:
        """Return the report on a program; an unchanged program is not an attempt."""
        if is_same_program(fn, self.faulty):
            row = Row("", "This is the program as it was reported. Change it and run its cell.")
            return Report("blank", f"{self.name}: not attempted yet{self._mark}", (row,))
        return super()._judge(fn)

    def _find_hint(self, fn: Callable[..., Any], trials: list[Trial]) -> tuple[Trial, str]:
        """Return the wrong answer to show, and a hint with its numbers; "" if there are none."""
        shown, hint = super()._find_hint(fn, trials)
        yours, expected = shown.outcome.facts, shown.expected.facts
        if not hint and yours.keys() == expected.keys():
            hint = self.explain(yours, expected)
        return shown, hint


def bug(**declared: Any) -> Callable[[Callable[..., Any]], Bug]:
    """Declare a bug around the solution, as `exercise` does for exercises."""
    return lambda reference: Bug(reference, **declared)


def is_same_program(fn: Callable[..., Any], program: Callable[..., Any]) -> bool:
    """Return whether two functions have the same source, apart from comments and spaces."""
    source = source_of(fn)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    return ast.dump(tree) == ast.dump(ast.parse(inspect.getsource(program)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread, which is faster for small programs and rounds everywhere alike."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Aside:
    """A count that a hint needs, and that makes no answer right or wrong."""

    count: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aside)

    __hash__ = None  # type: ignore[assignment]


class Near:
    """Numbers that equal others if they differ by a small part only, because sums are rounded."""

    def __init__(self, numbers: Any, part: float = 1e-3) -> None:
        self.numbers = torch.as_tensor(numbers).detach().to(torch.float64)
        self.part = part

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Near) or self.numbers.shape != other.numbers.shape:
            return False
        return torch.allclose(
            self.numbers, other.numbers, rtol=self.part, atol=self.part / 100, equal_nan=True
        )

    def __repr__(self) -> str:
        return f"Near({self.numbers.tolist()})"
