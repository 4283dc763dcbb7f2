"""Samples: how calls of a function become seconds, and the signs that a busy machine disturbed them.

Two functions are timed A B B A, more in a new order each round, so that what slows the machine down
for a while slows all of them. Every sample takes about a millisecond, in one thread unless told
otherwise, with the garbage collector off.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import torch

from stridekit._arguments import many, shown
from stridekit.timing.clocks import Clock, TimingError, Work
from stridekit.timing.fingerprint import load

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SAMPLE_SECONDS = 1e-3
WIDE = 1.5  # how far the median may be above the lower quartile
APART = 0.05  # how far the ratio of minima may be from that of lower quartiles
FAULTS = 1.0  # pages per call that one subject may fetch more than another


@dataclass
class Subject:
    """One of the functions that are timed, and its samples."""

    name: str
    work: Work
    calls: int = 1
    warm_up_calls: int = 0
    seconds: list[float] = field(default_factory=list)
    host_seconds: list[float] = field(default_factory=list)
    page_faults: int = 0

    def sample(self, clock: Clock) -> None:
        """Time `calls` calls, and note the seconds of one."""
        faults = _page_faults()
        taken, launched = clock.seconds(self.work, self.calls)
        self.page_faults += _page_faults() - faults
        self.seconds.append(taken / self.calls)
        self.host_seconds.append(launched / self.calls)

    @property
    def faults_per_call(self) -> float:
        """Pages of memory fetched from the system, for each call."""
        return self.page_faults / (self.calls * len(self.seconds))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set the number of torch's threads, then restore it."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 1024:
        raise TimingError(
            f"threads={shown(count)}: give the number of torch's threads as an int, 1 to 1024"
        )
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def prepare(functions: Mapping[str, Callable[[], object]], clock: Clock) -> list[Subject]:
    """Call each function, warm it up, and find how many of its calls make a sample."""
    subjects = []
    for name, function in functions.items():
        if not callable(function):
            raise TimingError(
                f"{name!r} is of type {type(function).__name__}, not a function: give the function "
                "itself, as in lambda: x + y, so that it can be called again and again"
            )
        try:
            subject = Subject(name, clock.begin(function))
            _calibrate(subject, clock)
        except TimingError:
            raise
        except Exception as error:
            raise TimingError(
                f"{name!r} raised {type(error).__name__} in its warm-up, so nothing was timed: {error}"
            ) from error
        subjects.append(subject)
    return subjects


def order_of_round(count: int, rng: random.Random) -> list[int]:
    """The order in which a round times its subjects: A B B A for two, shuffled for more."""
    order = list(range(count))
    if count == 2:
        return [0, 1, 1, 0]
    rng.shuffle(order)
    return order


def _calibrate(subject: Subject, clock: Clock) -> None:
    """Find how many calls take about a millisecond; the search also warms up."""
    calls = 1
    while True:
        taken, _ = clock.seconds(subject.work, calls)
        subject.warm_up_calls += calls
        if taken >= SAMPLE_SECONDS / 2 or calls >= clock.most_calls:
            break
        calls *= 2
    wanted = round(calls * SAMPLE_SECONDS / max(taken, 1e-9))
    subject.calls = min(max(wanted, 1), clock.most_calls)


def page_faults(function: Callable[[], object], calls: int = 1) -> int:
    """The number of pages of memory that the system provides during `calls` calls of `function`.

    A page mostly has 4,096 bytes (`resource.getpagesize()`). The result is 0 on a system that does not
    count pages. Raises TimingError unless you give a function and a number of calls, and whatever
    `function` raises.

    >>> import torch
    >>> x = torch.zeros(1000)
    >>> page_faults(lambda: torch.add(x, 1, out=x)) < 100
    True
    """
    if not callable(function):
        raise TimingError(
            f"function is of type {type(function).__name__}: give the function itself, "
            "as in lambda: x + y"
        )
    if isinstance(calls, bool) or not isinstance(calls, int) or calls < 0:
        raise TimingError(f"calls={shown(calls)}: give how often to call it, 0 or more")
    before = _page_faults()
    for _ in range(calls):
        function()
    return _page_faults() - before


def _page_faults() -> int:
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_minflt


# Signs of noise -------------------------------------------------------------------------------------


def quartile(seconds: Sequence[float]) -> float:
    """The lower quartile: the time of a sample while nothing else disturbs the machine.

    >>> quartile([4.0, 1.0, 3.0, 2.0, 5.0])
    2.0
    """
    return float(np.quantile(seconds, 0.25))


def signs_of_noise(subjects: Sequence[Subject], threads: int) -> tuple[str, ...]:
    """One sentence for each reason not to trust these samples."""
    return (*_spread(subjects), *_machine(threads), *_minima(subjects), *_faults(subjects))


def _spread(subjects: Sequence[Subject]) -> list[str]:
    found = []
    for subject in subjects:
        ratio = median(subject.seconds) / quartile(subject.seconds)
        if ratio > WIDE:
            name = f"{subject.name}: " if len(subjects) > 1 else ""
            found.append(f"{name}the median is {ratio:.1f} times the lower quartile")
    return found


def _machine(threads: int) -> list[str]:
    busy, cores = load(), os.cpu_count() or 1
    if busy is None:
        return []
    on = f"on {many(cores, 'core')}"
    if busy > cores:
        return [f"{busy:.1f} threads were busy {on}"]
    if threads > 1 and busy + threads > cores + 1:
        return [f"{threads} threads were timed while {busy:.1f} were busy {on}"]
    return []


def _minima(subjects: Sequence[Subject]) -> list[str]:
    found = []
    first = subjects[0]
    for other in subjects[1:]:
        ratio = quartile(other.seconds) / quartile(first.seconds)
        of_minima = min(other.seconds) / min(first.seconds)
        if abs(of_minima / ratio - 1) > APART:
            found.append(f"{other.name}: its best sample says {of_minima:.2f}, not {ratio:.2f}")
    return found


def _faults(subjects: Sequence[Subject]) -> list[str]:
    most = max(subjects, key=lambda subject: subject.faults_per_call)
    least = min(subjects, key=lambda subject: subject.faults_per_call)
    if most.faults_per_call - least.faults_per_call <= FAULTS:
        return []
    return [
        f"{most.name} takes {most.faults_per_call:.0f} new pages of memory per call, {least.name} "
        f"{least.faults_per_call:.0f}: give out= to time the work alone"
    ]
