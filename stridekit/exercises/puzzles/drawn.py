"""Puzzle: an exercise whose task is a picture, and whose answer is one expression.

Declare it as `exercise` does, with a rule in place of a reader:

    @puzzle(title=…, rule=VIEWS, cases=…, hints=…, takeaway=…)
    def turned(x):
        \"\"\"Turn x on its side, so that its rows become columns.\"\"\"
        return x.T

The picture shows the first case. The bytes of an answer are counted by `CopyLog`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import torch

from stridekit._arguments import many
from stridekit._table import columns
from stridekit.audit.record import tensors_of
from stridekit.exercises.core import Exercise
from stridekit.exercises.mistakes import hint_for
from stridekit.exercises.puzzles.picture import Picture, beside
from stridekit.exercises.readers.answers import as_tensor, shares, value_facts
from stridekit.exercises.readers.copies import OUTSIDE, Logged, logging_copies
from stridekit.exercises.reports import Panel, Report, Row, presentable
from stridekit.exercises.running import Arguments, Case, Outcome, Read, Trial, describe
from stridekit.exercises.watch import ANY_MEANS, Means

Count = Callable[..., int]
ONLY_THE_PICTURE = (
    "Right for the picture, and wrong for this input. The check takes other sizes as well, "
    "and other "
    "strides where the task allows slices. So take each size and each stride from the arguments."
)


@dataclass(frozen=True)
class Rule:
    """The way in which a puzzle is to be solved, in words, and what it restricts."""

    words: str
    is_by_views: bool = False
    means: Means = ANY_MEANS


VIEWS = Rule("by views only: no byte is copied", is_by_views=True)
STRIDED = Rule(
    "by one call of `x.as_strided(size, stride, storage_offset)`",
    is_by_views=True,
    means=Means(
        function="as_strided",
        hint=(
            "Right numbers. Now say where they lie: one call of `x.as_strided(size, stride, "
            "storage_offset)` makes this view, with sizes and strides that you work out."
        ),
    ),
)
ONE_COPY = Rule("with at most one copy: as many new bytes as the result has")
FEWEST = Rule("with the fewest new bytes")


@dataclass(frozen=True)
class Drawable(Outcome):
    """The outcome of an answer that is a tensor, with what it cost.

    `copies` are pairs of an operation and the bytes that it filled.
    """

    copies: tuple[tuple[str, int], ...] = ()
    new_bytes: int = 0
    is_view: bool = False

    @property
    def about(self) -> str:
        """The facts of a wanted tensor in words, without its stride, which is often the answer."""
        stride = f", stride {self.facts['stride']}" if "stride" in self.facts else ""
        return f"shape {self.facts['shape']}{stride}; {self.cost}"

    @property
    def cost(self) -> str:
        """The bytes that the answer filled, in words."""
        return f"{self.new_bytes} new bytes" if self.new_bytes else "a view"


def read_with_cost(rule: Rule, fewest: Count | None, *, with_stride: bool) -> Read:
    """Make a reader of tensors and of the bytes that were filled on the way.

    By views, an answer may fill none. Otherwise it may fill as many as `fewest` returns for the
    arguments, or as its result has without `fewest`. Less than that counts as that many.
    """

    def read(answer: Any, args: Arguments) -> Outcome:
        answer = as_tensor(answer)
        log = cast(Logged, args).log
        is_view = any(shares(answer, t) for t in tensors_of(args))
        copies = tuple(log.copies)
        new_bytes = sum(nbytes for _, nbytes in copies)
        if not is_view:
            new_bytes = max(new_bytes, answer.untyped_storage().nbytes())
        if rule.is_by_views:
            free = 0
        elif fewest is not None:
            free = fewest(**args)
        else:
            free = answer.numel() * answer.itemsize
        facts = value_facts(answer)
        if with_stride:
            facts["stride"] = answer.stride()
        is_outside = log.is_outside(answer)
        facts["new bytes"] = "outside torch" if is_outside else max(new_bytes, free)
        hint = OUTSIDE if is_outside else ""
        outcome = Drawable(facts, "", hint, copies, new_bytes, is_view)
        return replace(outcome, shown=f"{describe(answer)}; {outcome.cost}")

    return read


def by_rows(x: torch.Tensor, *others: Any) -> torch.Tensor:
    """Return the number of each element's row, which gives the element its colour."""
    return torch.arange(len(x)).view(-1, *[1] * (x.ndim - 1))


@dataclass(eq=False, repr=False)
class Puzzle(Exercise):
    """A picture to make by one expression: `check`, `hint` and `solution`, as for every exercise.

    `tints` returns the number of the colour of each element of the first argument, in a shape that
    expands to its own; None leaves a picture without colours. `saving` says how to fill fewer
    bytes. `others` are further expressions, whose cost a report on a right answer shows.
    """

    rule: Rule = field(kw_only=True)
    tints: Callable[..., torch.Tensor] | None = field(kw_only=True, default=by_rows)
    saving: str = field(kw_only=True, default="")
    others: Sequence[str] = field(kw_only=True, default=())

    @cached_property
    def source(self) -> str:
        """The reference solution as a function in one line."""
        *_, returned = ast.parse(self.formula.body.strip()).body
        expression = ast.unparse(cast(Any, returned).value)
        return f"lambda {', '.join(self.parameters)}: {expression}"

    @property
    def sentence(self) -> str:
        """The first paragraph of the task in one line."""
        return " ".join(self.spec.partition("\n\n")[0].split())

    # Reports ------------------------------------------------------------------------------------

    def _task(self) -> Panel:
        panel = super()._task()
        rows = (*panel.rows, Row("rule", self.rule.words), *self._wanted_rows)
        return replace(panel, rows=rows, more=self._wanted_picture)

    def _judge(self, fn: Callable[..., Any]) -> Report:
        """Return the report on an answer, with the picture that it belongs to."""
        report = super()._judge(fn)
        if report.passed:
            return self._with_costs(report, fn)
        if report.status == "blank":
            task = (Row("task", self.sentence), Row("rule", self.rule.words))
            rows = (
                *task,
                *self._wanted_rows,
                Row("", "Replace the dots by one expression, and run the cell again."),
            )
            return replace(report, rows=rows, more=self._wanted_picture)
        return replace(report, more=report.more or self._wanted_picture)

    @property
    def _wanted_rows(self) -> tuple[Row, ...]:
        """The first case and what is wanted of it, as rows."""
        case = self.cases[0]
        expected = self._run_known(self.reference, case)
        wanted = self._picture("wanted", expected, case)
        return (
            Row("input", case.source, "lines"),
            Row("wanted", "\n".join([wanted.about, *wanted.lines]), "terminal"),
        )

    @property
    def _wanted_picture(self) -> str:
        """The arguments of the first case, and what is wanted, as HTML."""
        case = self.cases[0]
        expected = self._run_known(self.reference, case)
        return beside([*self._inputs(case), self._picture("wanted", expected, case)])

    def _with_costs(self, report: Report, fn: Callable[..., Any]) -> Report:
        """Return a report on a right answer, with its picture, its cost and the cost of others."""
        case = self.cases[0]
        outcome = self._run(fn, case)
        rows = [("new bytes", "answer"), (_cost(outcome), "yours")]
        for expression in (self.reference_expression, *self.others):
            cost = _cost(self._run(self.formula.answering(expression), case))
            rows.append((cost, expression))
        yours = self._picture("yours", outcome, case, self._run_known(self.reference, case))
        return replace(
            report,
            rows=(*report.rows, Row("", "\n".join(columns(rows, "><")), "lines")),
            more=beside([*self._inputs(case), yours]),
        )

    @property
    def reference_expression(self) -> str:
        """The expression of the reference solution."""
        return self.source.partition(": ")[2]

    def _rows_of(self, shown: Trial) -> list[Row]:
        """Return the rows with a wrong answer; the last two stand for pictures in a terminal."""
        wanted = self._picture("wanted", shown.expected, shown.case)
        yours = self._picture("yours", shown.outcome, shown.case, shown.expected)
        return [
            Row("input", shown.case.source, "lines"),
            Row("wanted", "\n".join([wanted.about, *wanted.lines]), "terminal"),
            Row("yours", "\n".join([yours.about, *yours.lines]), "terminal"),
        ]

    def _drawn(self, shown: Trial) -> str:
        """Return the arguments of a case, what is wanted, and the wrong answer, as HTML."""
        wanted = self._picture("wanted", shown.expected, shown.case)
        yours = self._picture("yours", shown.outcome, shown.case, shown.expected)
        return beside([*self._inputs(shown.case), wanted, yours])

    def _find_hint(self, fn: Callable[..., Any], trials: list[Trial]) -> tuple[Trial, str]:
        """Return the wrong answer to show, and a hint with its numbers if no mistake fits."""
        shown, hint = super()._find_hint(fn, trials)
        outcome = shown.outcome
        if hint:
            return shown, hint
        if trials[0].is_right:
            return shown, ONLY_THE_PICTURE
        if outcome.hint or not isinstance(outcome, Drawable):
            return shown, ""
        for mistake in self.mistakes:
            if self._run_known(mistake.answer, shown.case).facts == outcome.facts:
                return shown, hint_for(mistake, fn)
        expected = cast(Drawable, shown.expected)
        hint = explain(outcome, expected)
        if expected.first_difference(outcome) == "new bytes":
            hint = f"{hint} {self.saving}".rstrip()
        return shown, hint

    # Pictures -----------------------------------------------------------------------------------

    def _inputs(self, case: Case) -> list[Picture]:
        """Return a picture of each tensor among the arguments of a case."""
        pictures = []
        tints = self._tints_of(case)
        for name, value in case.arguments(self.parameters).items():
            if isinstance(value, torch.Tensor):
                shape = tuple(value.shape)
                pictures.append(Picture(name, f"shape {shape}", shape, value.tolist(), tints))
        return pictures

    def _picture(
        self, title: str, outcome: Outcome, case: Case, expected: Outcome | None = None
    ) -> Picture:
        """Return the picture of an answer; with the expected outcome, it marks what differs."""
        if not isinstance(outcome, Drawable):
            return Picture(title, presentable(outcome.shown), (0,), [])
        shape = outcome.facts["shape"]
        about = outcome.about if expected is None else outcome.shown
        wanted = None
        if expected is not None and expected.facts["shape"] == shape:
            wanted = expected.facts["values"]
        return Picture(
            title,
            about,
            shape,
            outcome.facts["values"],
            self._tints_of(case),
            not outcome.is_view,
            wanted,
        )

    def _tints_of(self, case: Case) -> dict[Any, int]:
        """Return the number of the colour of each value of the first argument."""
        if self.tints is None:
            return {}
        arguments = [*case.arguments(self.parameters).values()]
        x = arguments[0]
        numbers = self.tints(*arguments).expand(x.shape)
        return dict(zip(x.flatten().tolist(), numbers.flatten().tolist(), strict=True))


def _cost(outcome: Outcome) -> str:
    """Return how many bytes an answer filled."""
    return str(outcome.new_bytes) if isinstance(outcome, Drawable) else outcome.shown


def explain(yours: Drawable, expected: Drawable) -> str:
    """Return what differs between an answer and what is wanted, with numbers."""
    difference = expected.first_difference(yours)
    got, right = yours.facts[difference], expected.facts[difference]
    if difference in ("dtype", "shape", "stride"):
        return f"Your result has {difference} {got}, and {right} is wanted."
    if difference == "values":
        pairs = [*zip(_flat(got), _flat(right), strict=True)]
        wrong = [pair for pair in pairs if pair[0] != pair[1]]
        first_got, first_right = wrong[0]
        verb = "is" if len(wrong) == 1 else "are"
        return (
            f"The shape is right, and {len(wrong)} of {many(len(pairs), 'number')} {verb} not. "
            f"The first wrong number is {first_got}, and {first_right} is wanted there."
        )
    by = ", ".join(f"{nbytes} by {operation}" for operation, nbytes in yours.copies)
    filled = f"{yours.new_bytes} bytes" + (f" ({by})" if by else "")
    enough = f"{right} are enough" if right else "a view fills none"
    return f"The numbers are right. Your expression fills {filled} of new memory, and {enough}."


def _flat(values: Any) -> list[Any]:
    """Return the numbers of a nested list in order."""
    if not isinstance(values, list):
        return [values]
    numbers = []
    for value in values:
        numbers += _flat(value)
    return numbers


def puzzle(
    *, rule: Rule, fewest: Count | None = None, with_stride: bool = False, **declared: Any
) -> Callable[[Callable[..., Any]], Puzzle]:
    """Declare a puzzle around its solution, as `exercise` does for exercises.

    `fewest` returns the least number of new bytes for the arguments. `with_stride` compares the
    strides, too.
    """
    read = read_with_cost(rule, fewest, with_stride=with_stride)
    otherwise = "Compare the two pictures cell by cell: which is the first that differs?"

    def declare(reference: Callable[..., Any]) -> Puzzle:
        return Puzzle(
            reference,
            rule=rule,
            read=read,
            means=rule.means,
            fence=logging_copies,
            otherwise=otherwise,
            **declared,
        )

    return declare
