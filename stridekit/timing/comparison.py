"""compare({…}): which of several functions is faster, by how much, and how sure that is."""

from __future__ import annotations

import html
import json
import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from stridekit._arguments import shown
from stridekit.timing import noise, sampling
from stridekit.timing.clocks import Clock, TimingError, clock_for
from stridekit.timing.fingerprint import machine, same_machine
from stridekit.timing.measurement import Measurement, in_words, many

SAME = 0.05  # an interval within this much of 1 says: the same
NARROW = 0.03  # an interval this narrow, to each side, is enough
FEWEST_ROUNDS = 12
LEAST_SECONDS, MOST_SECONDS = 0.2, 3.0
RESAMPLES, CONFIDENCE = 1000, 0.95
SCHEMA = 1


@dataclass(frozen=True)
class Ratio:
    """How long a function takes for each second of the baseline, with a 95 % interval.

    `value` is the ratio, `low` and `high` are the ends of the interval: below 1 is faster.

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
    """What `compare` found. The first name is the baseline.

    `samples` has the seconds of one call, for each name and round (a list for each round: two numbers
    where two functions were timed there and back). `order` tells in which order each round went.
    A sample is the mean of `calls[name]` calls, on `device` with so many `threads`. `noise` has a
    sentence for each sign that the machine was busy, and `machine` its fingerprint.

    >>> samples = {"f": [[1e-6, 1e-6]] * 12, "g": [[2e-6, 2e-6]] * 12}
    >>> Comparison(samples, [[0, 1, 1, 0]] * 12, {"f": 1000, "g": 1000}, threads=1, device="cpu")
    12 rounds on cpu, 1 thread; lower quartiles
      f  1 µs  1                    the baseline
      g  2 µs  2.00 (2.00 to 2.00)  slower
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
        """Of two functions: whether the second is faster, slower, same or inconclusive.

        Raises TimingError where there are more: ask `ratios[name].verdict`.
        """
        if len(self.samples) != 2:
            raise TimingError(
                f"a verdict is about two functions, and these are {len(self.samples)}: "
                "ask ratios[name].verdict"
            )
        return self.ratios[self.names[1]].verdict

    def measurement(self, name: str) -> Measurement:
        """The samples of one function, as `measure` would give them."""
        if not isinstance(name, str) or name not in self.names:
            raise TimingError(f"{shown(name)} was not compared: {', '.join(self.names)} were")
        seconds = tuple(taken for one in self.samples[name] for taken in one)
        return Measurement(
            name, seconds, seconds, self.calls[name], 0, self.threads, self.device,
            self.noise, self.machine,
        )  # fmt: skip

    def to_json(self) -> str:
        """All of it as JSON: every sample, its order and the machine."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """The comparison that `to_json` wrote, here or elsewhere. Raises TimingError for another text."""
        try:
            fields = json.loads(text)
            if fields.pop("schema") != SCHEMA:
                raise TimingError(f"this is another schema than {SCHEMA}, which is read here")
            return cls(**fields | {"noise": tuple(fields["noise"])})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, TimingError):
                raise
            raise TimingError(f"this is no comparison that to_json wrote: {error!r}") from None

    def plot(self, ax: Any = None) -> Any:
        """Draw the ratios and their intervals. Returns the Axes."""
        from stridekit.plots import draw_comparison

        return draw_comparison(self, ax)

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for name in self.names:
            seconds = [taken for one in self.samples[name] for taken in one]
            ratio = self.ratios.get(name)
            words = (str(ratio), ratio.verdict) if ratio else ("1", "the baseline")
            yield name, in_words(noise.quartile(seconds)), *words

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
        rows = list(self._rows())
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join(
                [name.ljust(widths[0]), taken.rjust(widths[1]), ratio.ljust(widths[2]), words]
            )
            for name, taken, ratio, words in rows
        ]
        return "\n  ".join([self._title(), *lines, *self._notes()])

    def _repr_html_(self) -> str:
        def cells(row: Sequence[str]) -> str:
            name, *rest = map(html.escape, row)
            return f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{c}</td>" for c in rest)

        head = '<tr><th scope="col">function</th><th scope="col">a call</th>'
        head += '<th scope="col">ratio (95 %)</th><th scope="col">verdict</th></tr>'
        rows = "".join(cells(row) + "</tr>" for row in self._rows())
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        caption = f'<caption style="caption-side:top;text-align:left">{self._title()}</caption>'
        return f"<table>{caption}{head}{rows}</table>{notes}"


def ratios(samples: Sequence[Sequence[Sequence[float]]]) -> list[Ratio]:
    """The ratio of each subject's lower quartile to the first's, with bootstrap intervals.

    Whole rounds are drawn again, the same ones for all subjects: what slowed a round slowed all of
    it. Always the same numbers for the same samples.

    >>> [ratio.value for ratio in ratios([[[1.0, 1.0]] * 8, [[2.0, 2.0]] * 8])]
    [2.0]
    """
    table = np.array(samples)  # subject, round, place in the round
    count = table.shape[1]
    drawn = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    values = _quartiles(table[:, None])[:, 0]
    again = _quartiles(table[:, drawn])
    tail = (1 - CONFIDENCE) / 2
    found = []
    for value, resampled in zip(values[1:], again[1:], strict=True):
        low, high = np.quantile(resampled / again[0], [tail, 1 - tail])
        found.append(Ratio(float(value / values[0]), float(low), float(high)))
    return found


def _quartiles(table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Lower quartiles over the last two dims."""
    flat = table.reshape(*table.shape[:-2], -1)
    quartiles: np.ndarray[Any, Any] = np.quantile(flat, 0.25, axis=-1)
    return quartiles


def compare(
    functions: Mapping[str, Callable[[], Any]],
    *,
    rounds: int | None = None,
    max_seconds: float = MOST_SECONDS,
    threads: int = 1,
    device: str = "cpu",
    flush: bool = True,
    graph: bool = False,
    progress: bool = True,
    seed: int = 0,
) -> Comparison:
    """Time functions in turn, round by round, and say which is faster than the first, and how surely.

    Two are timed A B B A, more in a new order each round, so that a slow moment of the machine meets
    all of them. The point is the ratio of lower quartiles, the interval (95 %) a bootstrap that draws
    whole rounds. Rounds go on until all intervals are within 3 %, or for `max_seconds`; `rounds` sets
    their number instead. One thread, unless told otherwise: on a busy machine more threads wait for
    one another. `device`, `flush` and `graph` are those of `measure`; `progress` draws a bar, after a
    second.

    Raises TimingError for what cannot be compared: fewer than two functions, no rounds, and what
    `measure` refuses. The number of torch's threads is as before afterwards.

    >>> import torch
    >>> x = torch.ones(500, 500)
    >>> work = {"once": lambda: x.sum(1), "ten times": lambda: [x.sum(1) for _ in range(10)]}
    >>> compare(work).ratios["ten times"].verdict
    'slower'
    """
    _refuse(functions, rounds, max_seconds)
    if not isinstance(seed, int):
        raise TimingError(f"seed={shown(seed)}: give an int to draw the order of rounds from")
    rng = random.Random(seed)
    with sampling.threads(threads):
        clock = clock_for(device, flush=flush, graph=graph)
        subjects = sampling.prepare(functions, clock)
        order = _sample(subjects, clock, rng, rounds, max_seconds, progress)
    return Comparison(
        samples={subject.name: _by_round(subject, len(order)) for subject in subjects},
        order=order,
        calls={subject.name: subject.calls for subject in subjects},
        threads=threads,
        device=device,
        noise=noise.warnings(subjects, threads),
    )


def _refuse(functions: Any, rounds: Any, max_seconds: Any) -> None:
    if not isinstance(functions, Mapping):
        kind = type(functions).__name__
        raise TimingError(
            f"functions is of type {kind}: give a dict, {{'name': lambda: …, 'other': lambda: …}}"
        )
    if not 2 <= (n := len(functions)) <= 100:  # each is warmed up before anything is counted
        raise TimingError(f"{n} function{'s' * (n > 1)}: a comparison needs two, at most 100")
    if rounds is not None and (
        isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1
    ):
        raise TimingError(f"rounds={shown(rounds)}: give the number of rounds, 1 or more")
    if not (isinstance(max_seconds, int | float) and 0 < max_seconds < math.inf):
        raise TimingError(f"max_seconds={shown(max_seconds)}: give seconds, more than 0")


def _sample(
    subjects: list[sampling.Subject],
    clock: Clock,
    rng: random.Random,
    rounds: int | None,
    max_seconds: float,
    progress: bool,
) -> list[list[int]]:
    """Time round after round until it is enough; return the order of each."""
    orders: list[list[int]] = []
    begun, look_again = time.monotonic(), FEWEST_ROUNDS
    with _progress(rounds, progress) as round_done:
        while True:
            orders.append(sampling.order_of_round(len(subjects), rng))
            for k in orders[-1]:
                subjects[k].sample(clock)
            round_done()
            spent = time.monotonic() - begun
            if rounds is not None:
                if len(orders) >= rounds:
                    return orders
                continue
            if len(orders) >= FEWEST_ROUNDS and spent >= max_seconds:
                return orders
            if len(orders) >= look_again and spent >= LEAST_SECONDS:
                if _narrow_enough(subjects, len(orders)):
                    return orders
                look_again = len(orders) * 5 // 4


@contextmanager
def _progress(rounds: int | None, progress: bool) -> Iterator[Callable[[], object]]:
    """What to call after each round: after a second it draws a bar, where somebody waits."""
    if not progress or "CI" in os.environ:
        yield lambda: None
        return
    from tqdm import tqdm  # not above: a GPU machine with torch alone can do without

    with tqdm(total=rounds, desc="rounds", leave=False, delay=1) as bar:
        yield bar.update


def _narrow_enough(subjects: list[sampling.Subject], count: int) -> bool:
    found = ratios([_by_round(subject, count) for subject in subjects])
    return all(r.high - r.low <= 2 * NARROW * r.value for r in found)


def _by_round(subject: sampling.Subject, count: int) -> list[list[float]]:
    each = len(subject.seconds) // count
    return [subject.seconds[k * each : (k + 1) * each] for k in range(count)]
