"""measure(fn): the time of one function, with its spread and every reason to doubt it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from stridekit._arguments import many
from stridekit.timing import sampling
from stridekit.timing.clocks import Clock, TimingError, clock_for, require_seconds

FEWEST_SAMPLES = 12
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def in_words(seconds: float) -> str:
    """Return a time with three digits.

    >>> in_words(0.00123456), in_words(5e-08), in_words(999.9e-6)
    ('1.23 ms', '50 ns', '1 ms')
    """
    # From 0.9995 of a unit on, three digits round up to 1 of it.
    fitting_units = [unit for unit, size in UNITS.items() if seconds >= 0.9995 * size]
    unit = fitting_units[0] if fitting_units else "ns"
    number = seconds / UNITS[unit]
    return f"{number:.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"


@dataclass(frozen=True, repr=False)
class Measurement:
    """The time of one call of a function: its samples, in seconds, and how they were taken.

    `seconds` has one number per sample, each the mean of `calls` calls; `host_seconds` what the
    host needed to launch them (on the CPU, the same). `warm_up_calls` went before. `noise` has a
    sentence for each sign that the machine was busy. `label` names the function, which ran on
    `device` in `threads` threads.

    >>> times = (1e-6, 2e-6, 4e-6)
    >>> Measurement("f", times, times, calls=1000, warm_up_calls=10, threads=1, device="cpu")
    f: 1.5 µs per call on cpu, the lower quartile
      median 2 µs, half of the samples in 1.5 µs to 3 µs
      3 samples of 1000 calls, after 10 to warm up, 1 thread
    """

    label: str
    seconds: tuple[float, ...]
    host_seconds: tuple[float, ...]
    calls: int
    warm_up_calls: int
    threads: int
    device: str
    noise: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """Seconds per call: the lower quartile of the samples."""
        return sampling.quartile(self.seconds)

    @property
    def median(self) -> float:
        """Seconds per call: half of the samples took less."""
        return median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Seconds per call: a quarter of the samples took less than the first, more than the second."""
        low, high = np.quantile(self.seconds, [0.25, 0.75])
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.quartiles
        lines = [
            f"{self.label}: {in_words(self.value)} per call on {self.device}, the lower quartile",
            f"median {in_words(self.median)}, half of the samples in {in_words(low)} to {in_words(high)}",
            f"{many(len(self.seconds), 'sample')} of {many(self.calls, 'call')}, after "
            f"{self.warm_up_calls} to warm up, {many(self.threads, 'thread')}",
        ]
        if self.device == "cuda":
            lines.append(f"the host launched a call in {in_words(median(self.host_seconds))}")
        return "\n  ".join([*lines, *(f"noisy: {sentence}" for sentence in self.noise)])


def measure(
    fn: Callable[..., Any],
    *args: Any,
    min_run_time: float = 0.2,
    threads: int = 1,
    device: str = "cpu",
    flush: bool = True,
    graph: bool = False,
    label: str = "",
) -> Measurement:
    """Time `fn(*args)` in samples of about a millisecond that add up to `min_run_time` seconds.

    At least a dozen samples are taken; of a slow call, only as many as `min_run_time` has room for,
    and `noise` says so. On the CPU a sample is the wall time of some calls, with the garbage
    collector off. With device="cuda" it is the time between pairs of events; the L2 cache is
    written over before each call (flush=False leaves it), and graph=True replays a CUDA graph. To
    compare two functions use `compare`: two measurements, one after the other, see two different
    machines.

    `noise` also tells if calls take more and more time, or less and less. Input may change if it
    costs the same, as with x.add_(1). A change that only the first call makes goes unnoticed: to
    time a sort in place, sort a copy.

    Raises TimingError for anything but a function, and for a function that raises, returns a
    generator, a coroutine or a future, or leaves a GPU at work. It also raises for a missing
    device, and unless `min_run_time` and `threads` are above 0. torch's number of threads is
    restored.

    >>> import torch
    >>> x = torch.ones(100, 100)
    >>> measurement = measure(torch.add, x, x, min_run_time=0.01)
    >>> 0 < measurement.value <= measurement.median
    True
    """
    require_seconds("min_run_time", min_run_time)
    if not isinstance(label, str):
        raise TimingError(f"label is of type {type(label).__name__}: give a text")
    name = label or getattr(fn, "__name__", "it")
    work = partial(fn, *args) if args and callable(fn) else fn
    with sampling.threads(threads):
        clock = clock_for(device, flush=flush, graph=graph)
        [subject] = sampling.prepare({name: work}, clock)
        _sample(subject, clock, min_run_time)
    noise = sampling.signs_of_noise([subject], threads)
    count = len(subject.seconds)
    if count < FEWEST_SAMPLES:
        longer = math.ceil(100 * FEWEST_SAMPLES * subject.calls * median(subject.seconds)) / 100
        too_few = f"{many(count, 'sample')}: give min_run_time={longer:g} for {FEWEST_SAMPLES}"
        noise = (too_few, *noise)
    return Measurement(
        label=name,
        seconds=tuple(subject.seconds),
        host_seconds=tuple(subject.host_seconds),
        calls=subject.calls,
        warm_up_calls=subject.warm_up_calls,
        threads=threads,
        device=device,
        noise=noise,
    )


def _sample(subject: sampling.Subject, clock: Clock, min_run_time: float) -> None:
    """Take samples until they add up to `min_run_time`, and until they are enough or take long."""
    usual_seconds = FEWEST_SAMPLES * sampling.SAMPLE_SECONDS
    spent = 0.0
    while True:
        subject.sample(clock)
        spent += subject.seconds[-1] * subject.calls
        is_enough = len(subject.seconds) >= FEWEST_SAMPLES or spent >= usual_seconds
        if spent >= min_run_time and is_enough:
            return
