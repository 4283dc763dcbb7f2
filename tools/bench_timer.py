"""How often each way to time two functions names the wrong one as faster, on a busy machine.

The true ratio is known: one function repeats the same work that many times more often. Other processes
come and go meanwhile, as on any shared machine. The ways take turns, and take the time they need.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import statistics
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from typing import NamedTuple

import torch
from torch.utils import benchmark

from stridekit.timing import compare, sampling

RATIOS = (1.1, 1.3, 2.0)
TRIALS = 20
TIMES = 100  # how often the work is done for a ratio of 1

Work = Callable[[], object]


class Answer(NamedTuple):
    """The way that gave it, "right", "wrong" or "unsure", and the seconds it took."""

    way: str
    word: str
    seconds: float


def timers(trials: int = TRIALS) -> None:
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
def _bursts() -> Iterator[None]:
    """Keep one process a core busy in bursts: each works and rests for 0.05 to 0.5 s in turn."""
    context = multiprocessing.get_context("spawn")
    over, cores = context.Event(), range(os.cpu_count() or 1)
    others = [context.Process(target=_burst, args=(over, seed), daemon=True) for seed in cores]
    for other in others:
        other.start()
    try:
        yield
    finally:
        over.set()
        for other in others:
            other.join()


def _burst(over: Event, seed: int) -> None:
    rng = random.Random(seed)
    while not over.is_set():
        end = time.perf_counter() + rng.uniform(0.05, 0.5)
        while time.perf_counter() < end:
            sum(range(1000))
        over.wait(rng.uniform(0.05, 0.5))
