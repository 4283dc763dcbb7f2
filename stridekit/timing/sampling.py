"""Samples: how calls of a function become seconds, and the signs that a busy machine disturbed them.

Two functions are timed A B B A, more in a new order each round, so that what slows the machine down
for a while slows all of them. Every sample takes about a millisecond, in one thread unless told
otherwise, with the garbage collector off.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import numpy as np
import torch

from stridekit._arguments import many, shown
from stridekit.timing.clocks import Clock, TimingError, Work, is_int
from stridekit.timing.fingerprint import load

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SAMPLE_SECONDS = 1e-3
TRIES = 3  # of each number of calls, while none says that it is too small
SLOW = 0.1  # seconds of a call that is not tried again
WIDE = 1.5  # how far the median may be above the lower quartile
APART = 0.05  # how far the ratio of minima may be from that of lower quartiles
FAULTS = 1.0  # pages per call that one subject may fetch more than another
PARTS = 8  # of the samples, to see a drift
DRIFT = 1.25  # how far the samples may rise or fall, if they do so from part to part


@dataclass
class Subject:
    """One of the functions that are timed, and its samples."""

    name: str
    work: Work
    calls: int = 1
    warm_up_calls: int = 0
    wall: float = 0.0  # seconds that a sample takes, all that surrounds it included
    seconds: list[float] = field(default_factory=list)
    host_seconds: list[float] = field(default_factory=list)
    page_faults: int = 0

    def sample(self, clock: Clock) -> None:
        """Time `calls` calls, and note the seconds of one. Raises TimingError if one of them raises."""
        first = 2 + self.warm_up_calls + self.calls * len(self.seconds)
        last = first + self.calls - 1
        calls = f"call {first:,}" if first == last else f"one of calls {first:,} to {last:,}"
        start = time.monotonic()
        faults_before = _page_faults()
        when = f"in sample {len(self.seconds) + 1}, {calls}, and each has to work"
        with _blaming(self.name, when):
            seconds, host_seconds = clock.seconds(self.work, self.calls)
        if not seconds > 0:
            raise TimingError(f"{self.name!r} took 0 s in {calls}: it gives the device no work")
        self.wall = time.monotonic() - start
        self.page_faults += _page_faults() - faults_before
        self.seconds.append(seconds / self.calls)
        self.host_seconds.append(host_seconds / self.calls)

    @property
    def faults_per_call(self) -> float:
        """Pages of memory that the system provides per call."""
        return self.page_faults / (self.calls * len(self.seconds))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set the number of torch's threads, then restore it."""
    if not (is_int(count) and 1 <= count <= 1024):
        raise TimingError(
            f"threads={shown(count)}: give the number of torch's threads as an int, 1 to 1024"
        )
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _blaming(name: str, when: str) -> Iterator[None]:
    """Turn what a function raises into a TimingError that names the function."""
    try:
        yield
    except TimingError:
        raise
    except Exception as error:
        raise TimingError(f"{name!r} raised {type(error).__name__} {when}: {error}") from error


def prepare(
    functions: Mapping[str, Callable[[], object]],
    clock: Clock,
    look: Callable[[list[Subject]], object] = lambda called: None,
) -> list[Subject]:
    """Call each function once, then find how many calls of each make a sample.

    Before each step, `look` gets the functions that were called; it raises a TimingError to end the
    preparation.
    """
    for name, function in functions.items():
        _require_callable(repr(name), function)
    when = "in its warm-up, so nothing was timed"
    subjects: list[Subject] = []
    for name, function in functions.items():
        look(subjects)
        start = time.monotonic()
        with _blaming(name, when):
            work = clock.begin(function, repr(name))
        subjects.append(Subject(name, work, wall=time.monotonic() - start))
    for subject in subjects:
        with _blaming(subject.name, when):
            _calibrate(subject, clock, partial(look, subjects))
    return subjects


def _require_callable(name: str, value: object) -> None:
    """Raise TimingError unless the value is a function."""
    if not callable(value):
        raise TimingError(
            f"{name} is of type {type(value).__name__}, not a function: "
            "give it itself, as in lambda: x + y"
        )


def order_of_round(count: int, rng: random.Random) -> list[int]:
    """Return the order in which a round times its subjects: A B B A for two, shuffled for more."""
    order = list(range(count))
    if count == 2:
        return [0, 1, 1, 0]
    rng.shuffle(order)
    return order


def _calibrate(subject: Subject, clock: Clock, look: Callable[[], object]) -> None:
    """Find how many calls take about a millisecond; the search also warms up.

    A disturbed try must not end the search: the shortest of a few counts. A function whose first
    call was as slow as this one is tried once.
    """
    calls = 1
    while True:
        least_seconds = math.inf
        least_wall = math.inf
        for _ in range(TRIES):
            look()
            start = time.monotonic()
            seconds, _ = clock.seconds(subject.work, calls)
            least_seconds = min(least_seconds, seconds)
            least_wall = min(least_wall, time.monotonic() - start)
            subject.warm_up_calls += calls
            if least_seconds < SAMPLE_SECONDS / 2 or min(least_seconds, subject.wall) > SLOW:
                break
        if least_seconds >= SAMPLE_SECONDS / 2 or calls >= clock.most_calls:
            break
        calls *= 2
    wanted_calls = round(calls * SAMPLE_SECONDS / max(least_seconds, 1e-9))
    subject.calls = min(max(wanted_calls, 1), clock.most_calls)
    subject.wall = least_wall * subject.calls / calls


def page_faults(function: Callable[[], object], calls: int = 1) -> int:
    """Count the pages of memory that the system provides during `calls` calls of `function`.

    The result is 0 on a system that does not count pages. Raises TimingError unless you give a
    function and a number of calls, and whatever `function` raises.

    >>> import torch
    >>> x = torch.zeros(1000)
    >>> page_faults(lambda: torch.add(x, 1, out=x)) < 100
    True
    """
    _require_callable("function", function)
    if not (is_int(calls) and calls >= 0):
        raise TimingError(f"calls={shown(calls)}: give how often to call it, 0 or more")
    before = _page_faults()
    for _ in range(calls):
        function()
    return _page_faults() - before


def _page_faults() -> int:
    """Return the pages of memory that the system gave this process so far; 0 if it does not count them."""
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def quartile(seconds: Sequence[float]) -> float:
    """Return the lower quartile: the time of a sample while nothing else disturbs the machine."""
    return float(np.quantile(seconds, 0.25))


def signs_of_noise(subjects: Sequence[Subject], threads: int) -> tuple[str, ...]:
    """Return one sentence for each reason not to trust these samples."""
    signs = []
    for signs_in in (_signs_of_spread, _signs_of_drift):
        for subject in subjects:
            prefix = f"{subject.name}: " if len(subjects) > 1 else ""
            signs += [prefix + sign for sign in signs_in(subject.seconds)]
    signs += _signs_of_load(threads)
    signs += _signs_in_minima(subjects)
    signs += _signs_in_page_faults(subjects)
    return tuple(signs)


def _signs_of_spread(seconds: Sequence[float]) -> Iterator[str]:
    """Report samples whose median is far above their lower quartile."""
    ratio = median(seconds) / quartile(seconds)
    if ratio > WIDE:
        yield f"the median is {ratio:.1f} times the lower quartile"


def _signs_of_drift(seconds: Sequence[float]) -> Iterator[str]:
    """Report times that rise or fall all the way, as when a list grows; load has no such order."""
    if len(seconds) < 2 * PARTS:
        return
    parts = [quartile(part.tolist()) for part in np.array_split(seconds, PARTS)]
    growth = parts[-1] / parts[0]
    steps = np.diff(parts)
    if growth > DRIFT and min(steps) > 0:
        direction = "more and more"
    elif growth < 1 / DRIFT and max(steps) < 0:
        direction = "less and less"
    else:
        return
    yield (
        f"calls take {direction} time, in the end {growth:.2g} times as much: "
        "does each change what the next works on?"
    )


def _signs_of_load(threads: int) -> Iterator[str]:
    """Report more busy threads than the machine has cores."""
    busy = load() or 0
    cores = os.cpu_count() or 1
    if busy > cores:
        yield f"{busy:.1f} threads were busy on {many(cores, 'core')}"
    elif threads > 1 and busy + threads > cores + 1:
        yield f"{threads} threads were timed while {busy:.1f} were busy on {many(cores, 'core')}"


def _signs_in_minima(subjects: Sequence[Subject]) -> Iterator[str]:
    """Report functions whose best samples have another ratio than their lower quartiles."""
    baseline, *subjects_after = subjects
    for subject in subjects_after:
        ratio = quartile(subject.seconds) / quartile(baseline.seconds)
        ratio_of_minima = min(subject.seconds) / min(baseline.seconds)
        if abs(ratio_of_minima / ratio - 1) > APART:
            yield f"{subject.name}: its best sample says {ratio_of_minima:.2f}, not {ratio:.2f}"


def _signs_in_page_faults(subjects: Sequence[Subject]) -> Iterator[str]:
    """Report a function that gets more new memory from the system than another."""
    least = min(subjects, key=lambda subject: subject.faults_per_call)
    most = max(subjects, key=lambda subject: subject.faults_per_call)
    if most.faults_per_call - least.faults_per_call > FAULTS:
        yield (
            f"{most.name} takes {most.faults_per_call:.0f} new pages of memory per call, {least.name} "
            f"{least.faults_per_call:.0f}: give out= to time the work alone"
        )
