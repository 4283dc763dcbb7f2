"""A comparison: samples of several functions, and the ratios, intervals and verdicts they give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import Any

import numpy as np

from stridekit._arguments import many, shown
from stridekit._table import columns, html_table
from stridekit.timing.clocks import TimingError
from stridekit.timing.measurement import Measurement, in_words
from stridekit.timing.sampling import quartile

SAME = 0.05  # an interval within this much of 1 says: the same
RESAMPLES = 1000
CONFIDENCE = 0.95
UNSEEN = 0.005  # by so much all samples of a run may be off together, because of where code lies


@dataclass(frozen=True)
class Ratio:
    """The time that a function takes for each second of the baseline, with a 95 % interval.

    `value` is the ratio, `low` and `high` are the ends of the interval: below 1 is faster. The
    interval covers what differs from round to round, and half a percent on each side for what
    differs from run to run, such as where code and data lie.

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
        if self.low > 1:
            return "slower"
        return "inconclusive"

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare`. The first name is the baseline.

    `samples` has a list of seconds per call under each name, one for each round (two numbers if two
    functions were timed A B B A). `order` has the order of each round. A sample is the mean of
    `calls[name]` calls, on `device`, in `threads` threads. `noise` has a sentence for each sign
    that the machine was busy.

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
        return Measurement(
            label=name,
            seconds=seconds,
            host_seconds=seconds,
            calls=self.calls[name],
            warm_up_calls=0,
            threads=self.threads,
            device=self.device,
            noise=self.noise,
        )

    def _seconds(self, name: str) -> tuple[float, ...]:
        """Return the samples of all rounds."""
        return tuple(chain.from_iterable(self.samples[name]))

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        ratios_by_name = self.ratios
        for name in self.names:
            time = in_words(quartile(self._seconds(name)))
            ratio = ratios_by_name.get(name)
            if ratio:
                yield name, time, str(ratio), ratio.verdict
            else:
                yield name, time, "1", "the baseline"

    def _title(self) -> str:
        rounds = many(len(self.order), "round")
        threads = many(self.threads, "thread")
        return f"{rounds} on {self.device}, {threads}; lower quartiles"

    def __repr__(self) -> str:
        table = columns(list(self._rows()), "<><")
        return "\n".join([self._title(), *table, *(f"  noisy: {sign}" for sign in self.noise)])

    def _repr_html_(self) -> str:
        head = ("function", "per call", "ratio (95 %)", "verdict")
        notes = "".join(f"<p>noisy: {escape(sign)}</p>" for sign in self.noise)
        return html_table(self._title(), list(self._rows()), head=head) + notes


def ratios(samples: Sequence[Sequence[Sequence[float]]]) -> list[Ratio]:
    """Return the ratio of each subject's lower quartile to the first's, with bootstrap intervals.

    Whole rounds are drawn again, the same for all subjects: whatever slowed a round slowed all of
    it. Each end then moves out by UNSEEN. Equal samples give equal numbers. Raises TimingError for
    0 s.
    """
    table = np.array(samples)  # its dims: subject, round, sample of the round
    if not (table > 0).all():
        raise TimingError("a sample of 0 s has no ratio: time a function that does more")
    count = table.shape[1]
    drawn_rounds = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    baseline, *others = _quartiles(table[:, None])[:, 0]
    resampled_baseline, *resampled_others = _quartiles(table[:, drawn_rounds])
    tail = (1 - CONFIDENCE) / 2
    results = []
    for value, resampled in zip(others, resampled_others, strict=True):
        low, high = np.quantile(resampled / resampled_baseline, [tail, 1 - tail])
        low *= 1 - UNSEEN
        high *= 1 + UNSEEN
        results.append(Ratio(float(value / baseline), float(low), float(high)))
    return results


def _quartiles(table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return lower quartiles over the last two dims."""
    flat = table.reshape(*table.shape[:-2], -1)
    return np.asarray(np.quantile(flat, 0.25, axis=-1))
