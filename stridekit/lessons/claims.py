"""claim(…): a prediction, tested and shown beside the measurement.

The outputs of a tested notebook must not change from run to run, and measured times always do. So a claim
puts into words the prediction and what was recorded on a machine at rest; without a record, the verdicts of
ratios so far from 1 that every run agrees on them. The picture shows the times of this machine.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stridekit._arguments import shown
from stridekit._table import columns
from stridekit.lessons.records import Record, alone, recorded, recording
from stridekit.timing.clocks import TimingError, TooShort
from stridekit.timing.comparison import Comparison, Ratio
from stridekit.timing.rounds import compare

JUDGED = 3  # comparisons, before one may contradict a sure verdict
SECONDS, SECONDS_TO_RECORD = 0.15, 3.0


def in_words(ratio: Ratio | float) -> str:
    """Put a ratio of times into words, with its verdict.

    >>> in_words(0.0934), in_words(Ratio(1.3, 0.9, 1.6)), in_words(1.02)
    ('10.7x faster', '1.3x, inconclusive', 'same')
    """
    if not isinstance(ratio, Ratio):
        ratio = Ratio(ratio, ratio, ratio)
    if ratio.verdict == "same":
        return "same"
    if ratio.verdict == "inconclusive":
        return f"{ratio.value:.3g}x, inconclusive"
    return f"{1 / ratio.value if 0 < ratio.value < 1 else ratio.value:.3g}x {ratio.verdict}"


@dataclass(frozen=True, repr=False)
class Claim:
    """The result of `claim`: ratios to the baseline, predicted, recorded and measured here.

    `baseline` names what all is compared with; `predicted` maps each name to its ratio, and `expected`
    those whose verdict is claimed to that verdict. `measured` and `record` have seconds, ratios and signs
    of noise: of this run, and of what `make record` measured on the machine that `recorded_on` names.

    >>> here = Record({"rows": 2e-6, "columns": 18e-6}, {"columns": Ratio(9.1, 8.8, 9.4)})
    >>> Claim("rows", {"columns": 16.0}, {"columns": "slower"}, here)
    time against “rows”
               predicted   measured
      columns  16x slower  slower
    """

    baseline: str
    predicted: Mapping[str, float]
    expected: Mapping[str, str]
    measured: Record
    record: Record | None = None
    recorded_on: str = ""

    @property
    def sure(self) -> dict[str, str]:
        """For each name with a claimed verdict, the verdict that was measured."""
        return {name: self.measured.ratios[name].verdict for name in self.expected}

    @property
    def holds(self) -> bool:
        """True unless a claimed verdict is contradicted; a noisy machine contradicts none."""
        return self.sure == self.expected or bool(self.measured.noise)

    def plot(self) -> Any:
        """Draw what was predicted, recorded and measured here. Returns the Axes."""
        from stridekit.lessons.plots import draw_claim

        return draw_claim(self.baseline, self._ratios(), notes=self._notes())

    def sweep(self, steps: Sequence[float], text: str, **options: Any) -> Any:
        """Draw curves over `steps`, one for the baseline and one for each name: a MeasuredPicture.

        `text` says what to see; `options` are those of `draw_sweep`. Raises TimingError if some names are
        only recorded.
        """
        from stridekit.lessons.plots import draw_sweep

        if missing := set(self.predicted) - set(self.measured.ratios):
            raise TimingError(
                f"{', '.join(sorted(missing))}: only recorded, so the curve of this machine has a gap. "
                "Measure all steps here too"
            )
        curves = {kind: [1, *ratios.values()] for kind, ratios in self._ratios().items()}
        options = {"ylabel": f"times “{self.baseline}”", "notes": self._notes()} | options
        return self._picture(draw_sweep(steps, curves, **options), text, title=text)

    def roofline(self, jobs: Mapping[str, Any], text: str, **options: Any) -> Any:
        """Draw FLOP/s over FLOP per byte: a MeasuredPicture; `jobs` and `options` are `draw_roofline`'s."""
        from stridekit.lessons.plots import draw_roofline

        seconds = {kind: record.seconds for kind, record in self._shown().items()}
        ax = draw_roofline(jobs, seconds, notes=self._notes(), **options)
        return self._picture(ax, text, title=text)

    def _picture(self, ax: Any, text: str, title: str = "") -> Any:
        from stridekit.lessons.plots import MeasuredPicture

        return MeasuredPicture(ax, text, "here" in self._shown(), self._noise_here(), title)

    def _shown(self) -> dict[str, Record]:
        """Return what pictures show of what was recorded and of what was measured here."""
        kinds = {"recorded": self.record} if self.record else {}
        if self.measured.ratios and not (self.record and alone()):
            kinds["here"] = self.measured
        return kinds

    def _ratios(self) -> dict[str, Mapping[str, Any]]:
        shown = {kind: record.ratios for kind, record in self._shown().items()}
        return {"predicted": self.predicted} | shown

    def _noise_here(self) -> tuple[str, ...]:
        """Return the signs of noise in what pictures show of this machine; a record is made at rest."""
        return self.measured.noise if "here" in self._shown() and not alone() else ()

    def _notes(self) -> list[str]:
        """Return the machine of the record, and how many signs of noise there are here."""
        noisy = f"noisy here ({len(self._noise_here())})" if self._noise_here() else ""
        return [note for note in (self.recorded_on, noisy) if note]

    def __repr__(self) -> str:
        kind, words = "measured", self.sure
        if self.record:
            kind, words = "recorded", {n: in_words(r) for n, r in self.record.ratios.items()}
        rows = [
            (name, in_words(ratio), words.get(name, "")) for name, ratio in self.predicted.items()
        ]
        table = columns([("", "predicted", kind if words else ""), *rows])
        lines = [f"time against “{self.baseline}”", *(row.rstrip() for row in table)]
        return "\n".join([*lines, self.recorded_on] if self.record else lines)

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return self._picture(self.plot(), repr(self))._repr_mimebundle_()


def claim(
    functions: Mapping[str, Any],
    predicted: Mapping[str, Any] | float,
    *,
    slower: Iterable[str] = (),
    faster: Iterable[str] = (),
    baseline: str = "",
    record: str = "",
    only_recorded: Iterable[str] = (),
    **options: Any,
) -> Claim:
    """Measure functions, and show their ratios beside the predicted ones.

    `functions` maps names to functions, the first of which is the baseline; or names to pairs of
    functions, each compared by itself, and `baseline` names the first of each pair. `predicted` has a
    number for each name (bytes, lines, or what `traffic` returned) that is divided by the first; for
    pairs, the ratio of each. One number stands for all names.

    `slower` and `faster` name what is claimed for sure: ratios of 2.5 and more. The text gives their
    verdicts. A comparison that contradicts one is made JUDGED times before it may say so. `options` are
    those of `compare`; as a lesson has many claims, each is shorter, and without a progress bar. Where that
    is too short, three rounds are measured, and `measured.noise` says so.

    `record` names what `make record` stored, which is shown too. `only_recorded` names functions that take
    too long for a reader: they are called only while `make record` runs.

    Raises TimingError if predictions have other names, if `record` is unknown, and whenever `compare` does.

    >>> import torch
    >>> x = torch.ones(500, 500)
    >>> claim(
    ...     {"once": lambda: x.sum(1), "8 times": lambda: [x.sum(1) for _ in range(8)]},
    ...     predicted={"once": 1, "8 times": 8},
    ...     slower=["8 times"],
    ... )
    time against “once”
               predicted  measured
      8 times  8x slower  slower
    """
    pairs = all(isinstance(value, tuple) for value in functions.values())
    names = list(functions)[0 if pairs else 1 :]
    first = baseline if pairs else next(iter(functions))
    ratios = _ratios(predicted, names, first, pairs)
    expected = dict.fromkeys(slower, "slower") | dict.fromkeys(faster, "faster")
    slow = {*only_recorded}
    options = {"max_seconds": SECONDS, "progress": False} | options
    if record and recording():
        options |= {"max_seconds": SECONDS_TO_RECORD, "rounds": None}
        slow = set()
    groups = _groups(functions, pairs, slow)
    expected = {name: verdict for name, verdict in expected.items() if name not in slow}
    result = Claim(first, ratios, expected, _judged(groups, expected, options))
    return _beside_record(result, record) if record else result


def _groups(
    functions: Mapping[str, Any], pairs: bool, slow: Collection[str]
) -> list[Mapping[str, Any]]:
    """Return the groups to compare: the pairs, or all functions; without the slow ones."""
    here = {name: work for name, work in functions.items() if name not in slow}
    if pairs:
        return [{f"baseline of {name}": pair[0], name: pair[1]} for name, pair in here.items()]
    return [here] if len(here) > 1 or not slow else []


def _beside_record(result: Claim, name: str) -> Claim:
    """Return the claim with what is recorded; raises TimingError for a record of other names."""
    record, where = recorded(name, result.measured)
    if list(record.ratios) != list(result.predicted):
        raise TimingError(
            f"{shown(name)} was recorded for {', '.join(record.ratios)}, and these are "
            f"{', '.join(result.predicted)}: run `make record` again"
        )
    return replace(result, record=record, recorded_on=where)


def _ratios(
    predicted: Mapping[str, Any] | float, names: list[str], first: str, pairs: bool
) -> dict[str, float]:
    """Return the predicted ratio of each name, without the baseline's own."""
    if not isinstance(predicted, Mapping):
        return dict.fromkeys(names, predicted)
    values: dict[str, Any]
    values = {name: getattr(value, "moved", value) for name, value in predicted.items()}
    unit = 1 if pairs else values.pop(first, math.nan)
    if list(values) != names:
        raise TimingError(
            f"predicted {', '.join(predicted)}, to measure {', '.join(names)}: give both the same "
            "names, in the same order"
        )
    return {name: value / unit for name, value in values.items()}


def _judged(
    groups: list[Mapping[str, Any]], expected: Mapping[str, str], options: dict[str, Any]
) -> Record:
    """Return what all groups measure; a measurement that contradicts what is claimed is made again.

    A noisy measurement that would be recorded is also repeated; the best one is kept.
    """

    def faults(tried: Record) -> tuple[int, int]:
        wrong = [name for name in expected if tried.ratios[name].verdict != expected[name]]
        return len(wrong), len(tried.noise) if recording() else 0

    best = _measured(groups, options)
    for _ in range(1, JUDGED):
        if not any(faults(best)):
            break
        best = min(_measured(groups, options), best, key=faults)  # of equals the last
    return best


def _measured(groups: list[Mapping[str, Any]], options: dict[str, Any]) -> Record:
    """Return what all groups measure, each compared by itself."""
    return Record.of(*(_compared(group, options) for group in groups))


def _compared(group: Mapping[str, Any], options: dict[str, Any]) -> Comparison:
    """Return a comparison; three rounds count as noise, and are taken only where time is short."""
    for _ in range(2):  # a function may be slow the first time only, while it is compiled
        try:
            return compare(group, **options)
        except TooShort as error:
            why = error
    few = compare(group, **options | {"rounds": 3})
    return replace(few, noise=(f"took three rounds: {why}", *few.noise))


def show_runs(seconds: Sequence[float], text: str, *, record: str) -> Any:
    """Return a MeasuredPicture of runs of one function, in order, beside the recorded runs.

    `seconds` has a number of seconds for each run, and `text` says what to see. Raises TimingError for a
    name without a record.

    >>> show_runs([1e-6, 2e-6], "some take twice as long", record="nothing like it")
    Traceback (most recent call last):
    stridekit.timing.clocks.TimingError: nothing is recorded as 'nothing like it', only ...
    """
    from stridekit.lessons.plots import MeasuredPicture, draw_runs

    runs = list(seconds)
    stored, where = recorded(record, runs)
    ax = draw_runs(stored, here=None if alone() else runs, notes=[where])
    return MeasuredPicture(ax, text, not alone(), title=text)
