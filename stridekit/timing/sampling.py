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
PARTS, DRIFT = 8, 1.25  # how far the samples may rise or fall, if they do so from part to part


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
        begun, faults = time.monotonic(), _page_faults()
        when = f"in sample {len(self.seconds) + 1}, {calls}, and each has to work"
        with _blaming(self.name, when):
            taken, launched = clock.seconds(self.work, self.calls)
        if not taken > 0:
            raise TimingError(f"{self.name!r} took 0 s in {calls}: it gives the device no work")
        self.wall = time.monotonic() - begun
        self.page_faults += _page_faults() - faults
        self.seconds.append(taken / self.calls)
        self.host_seconds.append(launched / self.calls)

    @property
    def faults_per_call(self) -> float:
        """Pages of memory that the system provides per call."""
        return self.page_faults / (self.calls * len(self.seconds))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set the number of torch's threads, then restore it."""
    if not (is_int(count) and 1 <= count <= 1024):
        advice = "give the number of torch's threads as an int, 1 to 1024"
        raise TimingError(f"threads={shown(count)}: {advice}")
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
        begun = time.monotonic()
        with _blaming(name, when):
            work = clock.begin(function, repr(name))
        subjects.append(Subject(name, work, wall=time.monotonic() - begun))
    for subject in subjects:
        with _blaming(subject.name, when):
            _calibrate(subject, clock, partial(look, subjects))
    return subjects


def _require_callable(name: str, value: object) -> None:
    if not callable(value):
        what = f"{name} is of type {type(value).__name__}, not a function"
        raise TimingError(f"{what}: give it itself, as in lambda: x + y")


def order_of_round(count: int, rng: random.Random) -> list[int]:
    """Return the order in which a round times its subjects: A B B A for two, shuffled for more."""
    order = list(range(count))
    if count == 2:
        return [0, 1, 1, 0]
    rng.shuffle(order)
    return order


def _calibrate(subject: Subject, clock: Clock, look: Callable[[], object]) -> None:
    """Find how many calls take about a millisecond; the search also warms up.

    A disturbed try must not end the search: the shortest of a few counts. A function whose first call
    was as slow as this one is tried once.
    """
    calls = 1
    while True:
        taken = wall = math.inf
        for _ in range(TRIES):
            look()
            begun = time.monotonic()
            taken = min(taken, clock.seconds(subject.work, calls)[0])
            wall = min(wall, time.monotonic() - begun)
            subject.warm_up_calls += calls
            if taken < SAMPLE_SECONDS / 2 or min(taken, subject.wall) > SLOW:
                break
        if taken >= SAMPLE_SECONDS / 2 or calls >= clock.most_calls:
            break
        calls *= 2
    wanted = round(calls * SAMPLE_SECONDS / max(taken, 1e-9))
    subject.calls = min(max(wanted, 1), clock.most_calls)
    subject.wall = wall * subject.calls / calls


def page_faults(function: Callable[[], object], calls: int = 1) -> int:
    """Count the pages of memory that the system provides during `calls` calls of `function`.

    The result is 0 on a system that does not count pages. Raises TimingError unless you give a function and
    a number of calls, and whatever `function` raises.

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
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def quartile(seconds: Sequence[float]) -> float:
    """Return the lower quartile: the time of a sample while nothing else disturbs the machine."""
    return float(np.quantile(seconds, 0.25))


def signs_of_noise(subjects: Sequence[Subject], threads: int) -> tuple[str, ...]:
    """Return one sentence for each reason not to trust these samples."""
    of_each = [
        (x.name, sign) for look in (_spread, _drift) for x in subjects for sign in look(x.seconds)
    ]
    named = (f"{name}: {sign}" if len(subjects) > 1 else sign for name, sign in of_each)
    return (*named, *_machine(threads), *_minima(subjects), *_faults(subjects))


def _spread(seconds: Sequence[float]) -> Iterator[str]:
    if (ratio := median(seconds) / quartile(seconds)) > WIDE:
        yield f"the median is {ratio:.1f} times the lower quartile"


def _drift(seconds: Sequence[float]) -> Iterator[str]:
    """Report times that rise or fall all the way, as when a list grows; load has no such order."""
    if len(seconds) < 2 * PARTS:
        return
    parts = [quartile(part.tolist()) for part in np.array_split(seconds, PARTS)]
    growth, steps = parts[-1] / parts[0], np.diff(parts)
    rises = growth > DRIFT and min(steps) > 0
    if rises or (growth < 1 / DRIFT and max(steps) < 0):
        more = f"{'more and more' if rises else 'less and less'} time"
        much = f"in the end {growth:.2g} times as much: does each change what the next works on?"
        yield f"calls take {more}, {much}"


def _machine(threads: int) -> Iterator[str]:
    busy, cores = load() or 0, os.cpu_count() or 1
    on = f"on {many(cores, 'core')}"
    if busy > cores:
        yield f"{busy:.1f} threads were busy {on}"
    elif threads > 1 and busy + threads > cores + 1:
        yield f"{threads} threads were timed while {busy:.1f} were busy {on}"


def _minima(subjects: Sequence[Subject]) -> Iterator[str]:
    first, *others = subjects
    for other in others:
        ratio = quartile(other.seconds) / quartile(first.seconds)
        of_minima = min(other.seconds) / min(first.seconds)
        if abs(of_minima / ratio - 1) > APART:
            yield f"{other.name}: its best sample says {of_minima:.2f}, not {ratio:.2f}"


def _faults(subjects: Sequence[Subject]) -> Iterator[str]:
    least, *_, most = sorted([*subjects, subjects[0]], key=lambda subject: subject.faults_per_call)
    if most.faults_per_call - least.faults_per_call > FAULTS:
        yield (
            f"{most.name} takes {most.faults_per_call:.0f} new pages of memory per call, {least.name} "
            f"{least.faults_per_call:.0f}: give out= to time the work alone"
        )
