"""How far the timers can be trusted: their wrong answers, spread and intervals, on a busy machine.

The true ratio is known: one function repeats the same work that many times more often. Other processes
come and go meanwhile, as on any shared machine. The ways take turns, and take the time they need.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import statistics
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import repeat
from multiprocessing.synchronize import Event
from typing import NamedTuple

import numpy as np
import torch
from torch.utils import benchmark

from stridekit.timing import Ratio, compare, measure, sampling

RATIOS = (1.1, 1.3, 2.0)
TRIALS = 20
TIMES = 100  # how often the work is done for a ratio of 1
EQUAL = 60  # measurements of the same work
LOOPS, LOOP_RATIOS, INTERVALS = 20_000, (1.0, 1.05, 1.1, 1.25, 1.5), 200

Work = Callable[[], object]


class Answer(NamedTuple):
    """The way that gave it, "right", "wrong" or "unsure", and the seconds it took."""

    way: str
    word: str
    seconds: float


def timers() -> None:
    """Print the spread of equal measurements, how often intervals hold the truth, and wrong answers."""
    spread()
    coverage()
    wrong_answers()


def spread(count: int = EQUAL) -> None:
    """Print how far apart equal measurements of equal work lie, beside two busy processes."""
    work, pairs = _work(TIMES), []
    timer = benchmark.Timer("work()", globals={"work": work})
    with _bursts(2, rests=False), sampling.threads(1):
        for _ in range(count):
            pairs.append((measure(work).value, float(timer.blocked_autorange().median)))
    ours, theirs = map(_spread, zip(*pairs, strict=True))
    print(
        f"{count} equal measurements beside two busy processes: p90 is {ours:.1%} above p10, "
        f"blocked_autorange's {theirs:.1%}; {ours / theirs:.2f} times as far, the mark is 0.33"
    )


def _spread(times: Sequence[float]) -> float:
    low, high = np.quantile(times, [0.1, 0.9])
    return float(high / low - 1)


def coverage(trials: int = INTERVALS) -> None:
    """Print how often an interval of `compare` holds the true ratio of two busy loops, and its width."""
    for where, load in (
        ("on this machine as it is", nullcontext),
        ("beside bursts of load", _bursts),
    ):
        with load():
            asked = [LOOP_RATIOS[k % len(LOOP_RATIOS)] for k in range(trials)]
            found = [(true, _ratio_of_loops(true)) for true in asked]
        held = sum(one.low <= true <= one.high for true, one in found)
        wide = statistics.median((one.high - one.low) / one.value for _, one in found)
        print(
            f"intervals of 95 % {where}: {held} of {trials} hold the true ratio, the mark is "
            f"{math.ceil(0.93 * trials)}; median width {wide:.1%}"
        )


def _ratio_of_loops(true: float) -> Ratio:
    less, more = _loop(LOOPS), _loop(round(LOOPS * true))
    return compare({"less": less, "more": more}, progress=False).ratios["more"]


def _loop(count: int) -> Work:
    def work() -> None:
        for _ in repeat(None, count):
            pass

    return work


def wrong_answers(trials: int = TRIALS) -> None:
    """Print the percentage of wrong answers by way and true ratio, and the time each way takes."""
    print(
        f"which of two functions is faster: wrong answers of {trials} for each true ratio, with a "
        "bursty load on every core"
    )
    with _bursts(), sampling.threads(1):
        answers = {ratio: _ask(ratio, trials) for ratio in RATIOS}
    for way in WAYS:
        own = {ratio: [one for one in all_ if one.way == way] for ratio, all_ in answers.items()}
        words = {ratio: [one.word for one in given] for ratio, given in own.items()}
        shares = ", ".join(f"{w.count('wrong') / trials:.0%} at {r}" for r, w in words.items())
        unsure = sum(given.count("unsure") for given in words.values())
        says_so = f", unsure {unsure} times" if way == "compare" else ""
        took = statistics.median(one.seconds for given in own.values() for one in given)
        print(f"  {way:<22} wrong {shares}{says_so}; {took:.2f} s for a pair")


def _ask(ratio: float, trials: int) -> list[Answer]:
    """Let each way say which is faster, in every trial; the order of the two functions is random."""
    rng = random.Random(0)
    answers = []
    for _ in range(trials):
        less, more = _work(TIMES), _work(round(TIMES * ratio))
        for way, says in WAYS.items():
            turned = rng.random() < 0.5
            begun = time.perf_counter()
            found = says(more, less) if turned else says(less, more)
            word = "unsure" if found == 0 else "right" if (found < 0) != turned else "wrong"
            answers.append(Answer(way, word, time.perf_counter() - begun))
    return answers


def _work(times: int) -> Work:
    x = torch.ones(2000)

    def work() -> None:
        for _ in range(times):
            torch.add(x, 1, out=x)

    return work


# The ways: a result below 0 means that the first function is faster, above 0 the second. ---------------


def _by_timeit(first: Work, second: Work) -> float:
    """As %timeit does: the mean of seven runs of 0.2 s or more, one function after the other."""
    means = []
    for work in (first, second):
        timer = timeit.Timer(work)
        calls, _ = timer.autorange()
        means.append(statistics.mean(timer.repeat(7, calls)) / calls)
    return means[0] - means[1]


def _by_blocked_autorange(first: Work, second: Work) -> float:
    timers = [benchmark.Timer("work()", globals={"work": work}) for work in (first, second)]
    one, other = (float(timer.blocked_autorange().median) for timer in timers)
    return one - other


def _by_compare(first: Work, second: Work) -> float:
    verdict = compare({"first": first, "second": second}, progress=False).verdict
    return {"slower": -1, "faster": 1}.get(verdict, 0)


WAYS: dict[str, Callable[[Work, Work], float]] = {
    "%timeit, mean": _by_timeit,
    "blocked_autorange": _by_blocked_autorange,
    "compare": _by_compare,
}


@contextmanager
def _bursts(count: int = os.cpu_count() or 1, rests: bool = True) -> Iterator[None]:
    """Keep so many processes busy, in bursts: each works and `rests` for 0.05 to 0.5 s in turn."""
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    others = [
        context.Process(target=_burst, args=(over, seed, rests), daemon=True)
        for seed in range(count)
    ]
    for other in others:
        other.start()
    try:
        yield
    finally:
        over.set()
        for other in others:
            other.join()


def _burst(over: Event, seed: int, rests: bool) -> None:
    rng = random.Random(seed)
    while not over.is_set():
        end = time.perf_counter() + rng.uniform(0.05, 0.5)
        while time.perf_counter() < end:
            sum(range(1000))
        if rests:
            over.wait(rng.uniform(0.05, 0.5))
