"""claim(…): a prediction, tested and shown beside the measurement.

The outputs of a tested notebook must not change from run to run, and measured times always do. So the text
of a claim shows the prediction and the record of a machine at rest. Without a record, it shows verdicts on
ratios, but only on those so far from 1 that every run agrees. The picture shows the times of this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stridekit._arguments import shown
from stridekit._table import columns
from stridekit.lessons import plots
from stridekit.lessons.plots import MeasuredPicture, in_words
from stridekit.lessons.records import Record, alone, recorded, recording
from stridekit.timing.clocks import TimingError, TooShort
from stridekit.timing.comparison import Comparison
from stridekit.timing.rounds import compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRIES = 3  # comparisons, before one may contradict a sure verdict
SECONDS = 0.15
SECONDS_TO_RECORD = 3.0


@dataclass(frozen=True, repr=False)
class Claim:
    """The result of `claim`: ratios to the baseline, predicted, recorded and measured here.

    `baseline` names what all is compared with; `predicted` maps each name to its ratio, and `expected`
    those whose verdict is claimed to that verdict. `measured` and `record` have seconds, ratios and signs
    of noise: of this run, and of what `make record` measured on the machine that `recorded_on` names.
    The text and the picture state the signs of noise of the record.

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
        curves = {source: [1, *ratios.values()] for source, ratios in self._ratios().items()}
        options = {"ylabel": f"times “{self.baseline}”"} | options
        return self._titled_picture(plots.draw_sweep(steps, curves, **options), text)

    def roofline(self, jobs: Mapping[str, Any], text: str, **options: Any) -> MeasuredPicture:
        """Draw FLOP/s over FLOP per byte; `jobs` and `options` are those of `draw_roofline`."""
        seconds = {source: record.seconds for source, record in self._records().items()}
        return self._titled_picture(plots.draw_roofline(jobs, seconds, **options), text)

    def _titled_picture(self, ax: Axes, title: str) -> MeasuredPicture:
        """Return a picture with a title, which is its text too, above the signs of noise."""
        return self._picture(ax, "\n".join([title, *self._noise_when_recorded()]), title)

    def _picture(self, ax: Axes, text: str, title: str = "") -> MeasuredPicture:
        is_here = "here" in self._records()
        noise = self.measured.noise if is_here else ()
        where = "\n".join([self.recorded_on, *self._noise_when_recorded()])
        return MeasuredPicture(ax, text, is_here, noise, title, where)

    def _noise_when_recorded(self) -> list[str]:
        """Return a line for each sign that the recorded times are noisy."""
        return [f"noisy: {sign}" for sign in self.record.noise] if self.record else []

    def _records(self) -> dict[str, Record]:
        """Return the records that pictures show, by where they are from."""
        records = {"recorded": self.record} if self.record else {}
        if self.measured.ratios and not (self.record and alone()):
            records["here"] = self.measured
        return records

    def _ratios(self) -> dict[str, Mapping[str, Any]]:
        """Return the ratios that pictures show, by where they are from."""
        ratios: dict[str, Mapping[str, Any]] = {"predicted": self.predicted}
        for source, record in self._records().items():
            ratios[source] = record.ratios
        return ratios

    def __repr__(self) -> str:
        if self.record:
            heading = "recorded"
            words = {name: in_words(ratio) for name, ratio in self.record.ratios.items()}
        else:
            heading = "measured"
            words = self.sure
        rows = [("", "predicted", heading if words else "")]
        for name, ratio in self.predicted.items():
            rows.append((name, in_words(ratio), words.get(name, "")))
        heading_line = f"time against “{self.baseline}”"
        lines = [heading_line, *columns(rows), self.recorded_on, *self._noise_when_recorded()]
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
    verdicts. A comparison that contradicts one of them is repeated. `options` are those of `compare`; each
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
    is_pairs = all(isinstance(value, tuple) for value in functions.values())
    if is_pairs:
        groups = [{f"baseline of {n}": pair[0], n: pair[1]} for n, pair in functions.items()]
        names = list(functions)
    else:
        groups = [dict(functions)]
        baseline, *names = functions
    if not isinstance(predicted, Mapping):
        predicted = {baseline: 1} | dict.fromkeys(names, predicted)
    values: dict[str, Any]
    values = {name: getattr(value, "moved", value) for name, value in predicted.items()}
    unit = values.pop(baseline, 1 if is_pairs else None)
    if unit is None or list(values) != names:
        raise TimingError(
            f"predicted {', '.join(predicted)}, to measure {', '.join(functions)}: give both the "
            "same names, in the same order"
        )
    ratios = {name: value / unit for name, value in values.items()}
    expected = dict.fromkeys(slower, "slower") | dict.fromkeys(faster, "faster")
    if record and recording():
        options |= {"max_seconds": SECONDS_TO_RECORD, "rounds": None}
    else:
        options = {"max_seconds": SECONDS} | options
        left_out = set(only_recorded)
        groups = _without(groups, left_out)
        expected = {name: expected[name] for name in expected if name not in left_out}
    if record and alone() and not recording():
        # No picture shows this measurement, so one round is enough to see that the functions run.
        measured = _measured(groups, options | {"rounds": 1})
    else:
        measured = _judged(groups, expected, options)
    result = Claim(baseline, ratios, expected, measured)
    if not record:
        return result
    entry, where = recorded(record, result.measured)
    if list(entry.ratios) != names:
        raise TimingError(
            f"{shown(record)} was recorded for {', '.join(entry.ratios)}, and these are "
            f"{', '.join(names)}: run `make record` again"
        )
    return replace(result, record=entry, recorded_on=where)


def _without(groups: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    """Return the groups without some functions, and without groups that lose all but their baseline."""
    kept = []
    for group in groups:
        rest = {name: function for name, function in group.items() if name not in names}
        if len(rest) > 1 or rest == group:
            kept.append(rest)
    return kept


def _judged(
    groups: list[dict[str, Any]], expected: Mapping[str, str], options: dict[str, Any]
) -> Record:
    """Measure all groups, again if a verdict contradicts the claim, and return the best measurement.

    A noisy measurement that would be recorded is repeated, too.
    """

    def faults(tried: Record) -> tuple[int, int]:
        wrong = [name for name in expected if tried.ratios[name].verdict != expected[name]]
        return len(wrong), len(tried.noise) if recording() else 0

    best = _measured(groups, options)
    for _ in range(1, TRIES):
        if not any(faults(best)):
            break
        best = min(
            _measured(groups, options), best, key=faults
        )  # the newer one if both are as good
    return best


def _measured(groups: list[dict[str, Any]], options: dict[str, Any]) -> Record:
    """Compare each group by itself, and return the results in one record."""
    return Record.of(*(_compared(group, options) for group in groups))


def _compared(group: Mapping[str, Any], options: dict[str, Any]) -> Comparison:
    """Compare functions; where time is short, take only three rounds, and call that noise."""
    for _ in range(2):  # a function may be slow the first time only, while it is compiled
        try:
            return compare(group, **options)
        except TooShort as error:
            reason = error
    comparison = compare(group, **options | {"rounds": 3})
    return replace(comparison, noise=(f"took three rounds: {reason}", *comparison.noise))


def show_runs(seconds: Sequence[float], text: str, *, record: str) -> MeasuredPicture:
    """Draw the seconds of runs, in order, beside the recorded ones; `text` says what to see.

    Raises TimingError for a name without a record.

    >>> show_runs([1e-6, 2e-6], "some take twice as long", record="nothing like it")
    Traceback (most recent call last):
    stridekit.timing.clocks.TimingError: nothing is recorded as 'nothing like it', only ...
    """
    runs = list(seconds)
    stored, where = recorded(record, runs)
    sources = {"recorded": stored}
    if not alone():
        sources["here"] = runs
    return MeasuredPicture(plots.draw_runs(sources), text, not alone(), (), text, where)
