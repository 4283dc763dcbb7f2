"""A comparison: samples of several functions, and the ratios, intervals and verdicts they give."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np

from stridekit._arguments import many, shown
from stridekit._table import columns, html_table
from stridekit.timing.clocks import TimingError
from stridekit.timing.fingerprint import machine, same_machine
from stridekit.timing.measurement import Measurement, in_words
from stridekit.timing.sampling import quartile

SAME = 0.05  # an interval within this much of 1 says: the same
RESAMPLES, CONFIDENCE = 1000, 0.95
UNSEEN = 0.005  # by so much all samples of a run may be off together, as where code lies decides it
SCHEMA = 1


@dataclass(frozen=True)
class Ratio:
    """The time that a function takes for each second of the baseline, with a 95 % interval.

    `value` is the ratio, `low` and `high` are the ends of the interval: below 1 is faster. The interval
    covers what differs from round to round, and half a percent on each side for what differs from run to
    run and no sample sees, such as where code and data lie. In `make bench` it holds the true ratio of
    busy loops at least 93 times of 100, from twelve rounds on.

    >>> Ratio(1.31, 1.24, 1.36).verdict, Ratio(1.01, 0.98, 1.04).verdict
    ('slower', 'same')
    """

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """faster, slower, same (within 5 %) or inconclusive."""
        if self.low >= 1 - SAME and self.high <= 1 + SAME:
            return "same"
        if self.high < 1:
            return "faster"
        return "slower" if self.low > 1 else "inconclusive"

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare`. The first name is the baseline.

    `samples` has the seconds per call, for each name and round (a list for each round, with two numbers if
    two functions were timed A B B A). `order` has the order of each round. A sample is the mean of
    `calls[name]` calls, on `device`, in `threads` threads. `noise` has a sentence for each sign that the
    machine was busy, and `machine` its fingerprint.

    >>> samples = {"f": [[1e-6, 1e-6]] * 12, "g": [[2e-6, 2e-6]] * 12}
    >>> Comparison(samples, [[0, 1, 1, 0]] * 12, {"f": 1000, "g": 1000}, threads=1, device="cpu")
    12 rounds on cpu, 1 thread; lower quartiles
      f  1 µs  1                    the baseline
      g  2 µs  2.00 (1.99 to 2.01)  slower
    """

    samples: Mapping[str, Sequence[Sequence[float]]]
    order: Sequence[Sequence[int]]
    calls: Mapping[str, int]
    threads: int
    device: str
    noise: tuple[str, ...] = ()
    machine: dict[str, Any] = field(default_factory=machine)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions, the baseline first."""
        return tuple(self.samples)

    @property
    def ratios(self) -> dict[str, Ratio]:
        """For each name but the baseline, its ratio to the baseline."""
        return dict(zip(self.names[1:], ratios(list(self.samples.values())), strict=True))

    @property
    def verdict(self) -> str:
        """The second of two functions compared with the first: faster, slower, same or inconclusive.

        Raises TimingError for more than two: ask `ratios[name].verdict`.
        """
        if len(self.samples) != 2:
            raise TimingError(
                f"a verdict is about two functions, and these are {len(self.samples)}: "
                "ask ratios[name].verdict"
            )
        return self.ratios[self.names[1]].verdict

    def measurement(self, name: str) -> Measurement:
        """Return the samples of one function, as `measure` would give them."""
        if not isinstance(name, str) or name not in self.names:
            raise TimingError(f"{shown(name)} was not compared: {', '.join(self.names)} were")
        seconds = self._seconds(name)
        rest = (0, self.threads, self.device, self.noise, self.machine)
        return Measurement(name, seconds, seconds, self.calls[name], *rest)

    def to_json(self) -> str:
        """Return all of it as JSON: every sample, its order and the machine."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Read the comparison that `to_json` wrote, here or elsewhere. Raises TimingError for others."""
        try:
            fields = json.loads(text)
            if fields.pop("schema") != SCHEMA:
                raise TimingError(f"this is another schema than {SCHEMA}, which is read here")
            comparison = cls(**fields | {"noise": tuple(fields["noise"])})
            if flaw := _flaw(comparison):
                raise TimingError(f"{flaw}: give the text as to_json wrote it")
            return comparison
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, TimingError):
                raise
            raise TimingError(f"this is not a comparison that to_json wrote: {error!r}") from None

    def _seconds(self, name: str) -> tuple[float, ...]:
        return tuple(taken for in_round in self.samples[name] for taken in in_round)

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for name in self.names:
            ratio = self.ratios.get(name)
            words = (str(ratio), ratio.verdict) if ratio else ("1", "the baseline")
            yield name, in_words(quartile(self._seconds(name))), *words

    def _title(self) -> str:
        rounds, threads = many(len(self.order), "round"), many(self.threads, "thread")
        return f"{rounds} on {self.device}, {threads}; lower quartiles"

    def _notes(self) -> list[str]:
        notes = [f"noisy: {sentence}" for sentence in self.noise]
        if not same_machine(self.machine, machine()):
            of = self.machine
            where = (of["gpu"] or {}).get("name") if self.device == "cuda" else of["processor"]
            notes.append(f"recorded on another machine: {where}, torch {of['torch']}, {of['date']}")
        return notes

    def __repr__(self) -> str:
        table = columns(list(self._rows()), "<><")
        return "\n".join([self._title(), *table, *(f"  {note}" for note in self._notes())])

    def _repr_html_(self) -> str:
        head = ("function", "per call", "ratio (95 %)", "verdict")
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return html_table(self._title(), list(self._rows()), head=head) + notes


def _flaw(comparison: Comparison) -> str:
    """Return the first thing in a comparison that was read which does not fit the rest; "" if all does."""
    names, orders = comparison.names, comparison.order
    if len(names) < 2 or not orders:
        return f"this comparison has {many(len(names), 'function')}, {many(len(orders), 'round')}"
    each = max(len(orders[0]) // len(names), 1)
    for k, order in enumerate(orders):
        if sorted(order) != sorted([*range(len(names))] * each):
            return f"order[{k}] is {shown(order)}, where each of {len(names)} has {many(each, 'place')}"
    if set(comparison.calls) != set(names):
        return (
            f"there are calls of {', '.join(comparison.calls)}, and samples of {', '.join(names)}"
        )
    for name in names:
        sizes = [len(in_round) for in_round in comparison.samples[name]]
        if sizes != [each] * len(orders):
            rounds = many(len(orders), "round")
            return f"{name} has {shown(sizes)} samples, and its order {rounds} of {each}"
        for value in (*comparison._seconds(name), comparison.calls[name], comparison.threads):
            if isinstance(value, bool) or not 0 < value < math.inf:
                return f"{shown(value)} stands among the numbers of {name}, which are more than 0"
    if missing := {"gpu", "processor", "torch", "date"} - set(comparison.machine):
        return f"the machine has no {', '.join(sorted(missing))}"
    return ""


def ratios(samples: Sequence[Sequence[Sequence[float]]]) -> list[Ratio]:
    """Return the ratio of each subject's lower quartile to the first's, with bootstrap intervals.

    Whole rounds are drawn again, the same for all subjects: whatever slowed a round slowed all of it.
    Each end then moves out by UNSEEN. Equal samples give equal numbers. Raises TimingError for 0 s.

    >>> [ratio.value for ratio in ratios([[[1.0, 1.0]] * 8, [[2.0, 2.0]] * 8])]
    [2.0]
    """
    table = np.array(samples)  # subject, round, place in the round
    if not (table > 0).all():
        raise TimingError("a sample of 0 s has no ratio: time a function that does more")
    count = table.shape[1]
    drawn = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    values = _quartiles(table[:, None])[:, 0]
    again = _quartiles(table[:, drawn])
    tail = (1 - CONFIDENCE) / 2
    results = []
    for value, resampled in zip(values[1:], again[1:], strict=True):
        low, high = np.quantile(resampled / again[0], [tail, 1 - tail])
        low, high = low * (1 - UNSEEN), high * (1 + UNSEEN)
        results.append(Ratio(float(value / values[0]), float(low), float(high)))
    return results


def _quartiles(table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Lower quartiles over the last two dims."""
    flat = table.reshape(*table.shape[:-2], -1)
    quartiles: np.ndarray[Any, Any] = np.quantile(flat, 0.25, axis=-1)
    return quartiles
