"""claim(…): a prediction, tested and shown beside the measurement.

The outputs of a tested notebook must not change from run to run, and measured times always do. So a claim
puts into words the prediction and what was recorded on a machine at rest; without a record, the verdicts of
ratios so far from 1 that every run agrees on them. The picture shows the times of this machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes

from stridekit._arguments import shown
from stridekit._table import columns
from stridekit.lessons import plots
from stridekit.lessons.plots import MeasuredPicture, in_words
from stridekit.lessons.records import Record, alone, recorded, recording
from stridekit.timing.clocks import TimingError, TooShort
from stridekit.timing.comparison import Comparison
from stridekit.timing.rounds import compare

JUDGED = 3  # comparisons, before one may contradict a sure verdict
SECONDS, SECONDS_TO_RECORD = 0.15, 3.0


@dataclass(frozen=True, repr=False)
class Claim:
    """The result of `claim`: ratios to the baseline, predicted, recorded and measured here.

    `baseline` names what all is compared with; `predicted` maps each name to its ratio, and `expected`
    those whose verdict is claimed to that verdict. `measured` and `record` have seconds, ratios and signs
    of noise: of this run, and of what `make record` measured on the machine that `recorded_on` names.

    >>> from stridekit.timing import Ratio
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

    def plot(self) -> MeasuredPicture:
        """Draw what was predicted, recorded and measured here."""
        return self._picture(plots.draw_claim(self.baseline, self._ratios()), repr(self))

    def sweep(self, steps: Sequence[float], text: str, **options: Any) -> MeasuredPicture:
        """Draw curves over `steps`, one for the baseline and one for each name; `text` says what to see.

        `options` are those of `draw_sweep`. All names have to be measured here too.
        """
        curves = {kind: [1, *ratios.values()] for kind, ratios in self._ratios().items()}
        options = {"ylabel": f"times “{self.baseline}”"} | options
        return self._picture(plots.draw_sweep(steps, curves, **options), text, title=text)

    def roofline(self, jobs: Mapping[str, Any], text: str, **options: Any) -> MeasuredPicture:
        """Draw FLOP/s over FLOP per byte; `jobs` and `options` are those of `draw_roofline`."""
        seconds = {kind: record.seconds for kind, record in self._shown().items()}
        return self._picture(plots.draw_roofline(jobs, seconds, **options), text, title=text)

    def _picture(self, ax: Axes, text: str, title: str = "") -> MeasuredPicture:
        is_here = "here" in self._shown()
        noise = self.measured.noise if is_here else ()
        return MeasuredPicture(ax, text, is_here, noise, title, self.recorded_on)

    def _shown(self) -> dict[str, Record]:
        """Return what pictures show of what was recorded and of what was measured here."""
        kinds = {"recorded": self.record} if self.record else {}
        if self.measured.ratios and not (self.record and alone()):
            kinds["here"] = self.measured
        return kinds

    def _ratios(self) -> dict[str, Mapping[str, Any]]:
        shown = {kind: record.ratios for kind, record in self._shown().items()}
        return {"predicted": self.predicted} | shown

    def __repr__(self) -> str:
        kind, words = "measured", self.sure
        if self.record:
            kind, words = "recorded", {n: in_words(r) for n, r in self.record.ratios.items()}
        ratios = {name: in_words(ratio) for name, ratio in self.predicted.items()}
        rows = [(name, ratio, words.get(name, "")) for name, ratio in ratios.items()]
        table = columns([("", "predicted", kind if words else ""), *rows])
        lines = [f"time against “{self.baseline}”", *table, self.recorded_on]
        return "\n".join(lines).rstrip()

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return self.plot()._repr_mimebundle_()


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
    verdicts. A comparison that contradicts one is made JUDGED times. `options` are those of `compare`; each
    claim is short, and takes three rounds where time is short for more.

    `record` names what `make record` stored, which is shown too. `only_recorded` names functions that are
    called only while `make record` runs, because they take too long for a reader.

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
    groups = [functions]
    if pairs:
        groups = [{f"baseline of {n}": pair[0], n: pair[1]} for n, pair in functions.items()]
    names = [name for group in groups for name in list(group)[1:]]
    first = baseline if pairs else next(iter(functions))
    if not isinstance(predicted, Mapping):
        predicted = {first: 1} | dict.fromkeys(names, predicted)
    values: dict[str, Any]
    values = {name: getattr(value, "moved", value) for name, value in predicted.items()}
    unit = values.pop(first, 1 if pairs else math.nan)
    if list(values) != names:
        raise TimingError(
            f"predicted {', '.join(predicted)}, to measure {', '.join(names)}: give both the same "
            "names, in the same order"
        )
    ratios = {name: value / unit for name, value in values.items()}
    slow = {*only_recorded}
    options = {"max_seconds": SECONDS} | options
    if record and recording():
        options |= {"max_seconds": SECONDS_TO_RECORD, "rounds": None}
        slow = set()
    groups = [{name: group[name] for name in group if name not in slow} for group in groups]
    groups = [group for group in groups if len(group) > 1 or not slow]
    expected = dict.fromkeys(slower, "slower") | dict.fromkeys(faster, "faster")
    expected = {name: verdict for name, verdict in expected.items() if name not in slow}
    result = Claim(first, ratios, expected, _judged(groups, expected, options))
    if not record:
        return result
    entry, where = recorded(record, result.measured)
    if list(entry.ratios) != names:
        raise TimingError(
            f"{shown(record)} was recorded for {', '.join(entry.ratios)}, and these are "
            f"{', '.join(names)}: run `make record` again"
        )
    return replace(result, record=entry, recorded_on=where)


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


def show_runs(seconds: Sequence[float], text: str, *, record: str) -> MeasuredPicture:
    """Draw the seconds of runs, in order, beside the recorded ones; `text` says what to see.

    Raises TimingError for a name without a record.

    >>> show_runs([1e-6, 2e-6], "some take twice as long", record="nothing like it")
    Traceback (most recent call last):
    stridekit.timing.clocks.TimingError: nothing is recorded as 'nothing like it', only ...
    """
    runs = list(seconds)
    stored, where = recorded(record, runs)
    kinds = {"recorded": stored} | ({} if alone() else {"here": runs})
    return MeasuredPicture(plots.draw_runs(kinds), text, not alone(), (), text, where)
