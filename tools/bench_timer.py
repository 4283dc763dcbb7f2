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

import torch
from torch.utils import benchmark

from stridekit.timing import compare, sampling

RATIOS = (1.1, 1.3, 2.0)
TRIALS = 20
TIMES = 100  # how often the work is done for a ratio of 1

Work = Callable[[], object]


def timers(trials: int = TRIALS) -> dict[str, dict[float, float]]:
    """Wrong orders in percent, by the way to time and the true ratio; printed with what each took."""
    print(
        f"which of two functions is faster: wrong answers of {trials} for each true ratio, with a "
        "bursty load on every core"
    )
    wrong: dict[str, dict[float, float]] = {way: {} for way in WAYS}
    unsure: dict[str, int] = dict.fromkeys(WAYS, 0)
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    with _bursts(), sampling.threads(1):
        for ratio in RATIOS:
            answers = _ask(ratio, trials, took)
            for way, given in answers.items():
                wrong[way][ratio] = 100 * given.count("wrong") / trials
                unsure[way] += given.count("unsure")
    for way in WAYS:
        shares = ", ".join(f"{share:.0f} % at {ratio}" for ratio, share in wrong[way].items())
        spoken = f", unsure {unsure[way]} times" if way == "compare" else ""
        print(
            f"  {way:<22} wrong {shares}{spoken}; {statistics.median(took[way]):.2f} s for a pair"
        )
    return wrong


def _ask(ratio: float, trials: int, took: dict[str, list[float]]) -> dict[str, list[str]]:
    """Let each way say which is faster, so many times; which of the two comes first is drawn."""
    rng = random.Random(0)
    answers: dict[str, list[str]] = {way: [] for way in WAYS}
    for _ in range(trials):
        less, more = _work(TIMES), _work(round(TIMES * ratio))
        for way, says in WAYS.items():
            turned = rng.random() < 0.5
            begun = time.perf_counter()
            found = says(more, less) if turned else says(less, more)
            took[way].append(time.perf_counter() - begun)
            if found == 0:
                answers[way].append("unsure")
            else:
                answers[way].append("right" if (found < 0) != turned else "wrong")
    return answers


def _work(times: int) -> Work:
    x = torch.ones(2000)

    def work() -> None:
        for _ in range(times):
            torch.add(x, 1, out=x)

    return work


# The ways: each says -1 where it finds the first function faster, 1 where the second, 0 for neither. ---


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


def _by_timeit(first: Work, second: Work) -> int:
    """As %timeit does: seven runs of 0.2 s or more, their mean, one function after the other."""

    def mean(work: Work) -> float:
        timer = timeit.Timer(work)
        calls, _ = timer.autorange()
        return statistics.mean(timer.repeat(7, calls)) / calls

    return _sign(mean(first) - mean(second))


def _by_blocked_autorange(first: Work, second: Work) -> int:
    def median(work: Work) -> float:
        timer = benchmark.Timer("work()", globals={"work": work})
        return float(timer.blocked_autorange().median)

    return _sign(median(first) - median(second))


def _by_compare(first: Work, second: Work) -> int:
    verdict = compare({"first": first, "second": second}, progress=False).verdict
    return {"slower": -1, "faster": 1}.get(verdict, 0)


WAYS: dict[str, Callable[[Work, Work], int]] = {
    "%timeit, mean": _by_timeit,
    "blocked_autorange": _by_blocked_autorange,
    "compare": _by_compare,
}


@contextmanager
def _bursts() -> Iterator[None]:
    """Processes that work and rest by turns, a twentieth of a second to half of one, one for each core."""
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    others = [
        context.Process(target=_burst, args=(over, seed), daemon=True)
        for seed in range(os.cpu_count() or 1)
    ]
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
