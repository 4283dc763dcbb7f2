"""The share of wrong answers of each way to time two functions, on a machine that is busy.

The true ratio is known: the same work is done so many times more often. Other processes come and go
meanwhile, as on any shared machine. Each way is asked the same question again and again, in turns
with the others, and takes whatever time it takes.
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
    """One answer: the way that gave it, "right", "wrong" or "unsure", and the seconds that it took."""

    way: str
    word: str
    seconds: float


def timers(trials: int = TRIALS) -> None:
    """Print the wrong answers in percent, by the way to time and the true ratio, and what each took."""
    print(
        f"which of two functions is faster: wrong answers of {trials} for each true ratio, with a "
        "bursty load on every core"
    )
    with _bursts(), sampling.threads(1):
        answers = {ratio: _ask(ratio, trials) for ratio in RATIOS}
    for way in WAYS:
        given = {
            ratio: [one for one in found if one.way == way] for ratio, found in answers.items()
        }
        shares = ", ".join(f"{_count('wrong', of) / trials:.0%} at {r}" for r, of in given.items())
        every = [one for found in given.values() for one in found]
        unsure = f", unsure {_count('unsure', every)} times" if way == "compare" else ""
        took = statistics.median(one.seconds for one in every)
        print(f"  {way:<22} wrong {shares}{unsure}; {took:.2f} s for a pair")


def _count(word: str, answers: list[Answer]) -> int:
    return sum(one.word == word for one in answers)


def _ask(ratio: float, trials: int) -> list[Answer]:
    """Let each way say which is faster, so many times; which of the two comes first is drawn."""
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


# The ways: each says below 0 where it finds the first function faster, above 0 where the second. ------


def _by_timeit(first: Work, second: Work) -> float:
    """As %timeit does: seven runs of 0.2 s or more, their mean, one function after the other."""

    def mean(work: Work) -> float:
        timer = timeit.Timer(work)
        calls, _ = timer.autorange()
        return statistics.mean(timer.repeat(7, calls)) / calls

    return mean(first) - mean(second)


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
    """Processes that work and rest by turns, a twentieth of a second to half of one, one for each core."""
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
