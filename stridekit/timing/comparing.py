"""compare({…}): time functions in turn, round by round, until it is clear which is faster."""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stridekit._arguments import many, shown
from stridekit.timing import sampling
from stridekit.timing.clocks import Clock, TimingError, clock_for
from stridekit.timing.comparison import Comparison, ratios

NARROW = 0.03  # an interval this narrow, to each side, is enough
FEWEST_ROUNDS = 12
LEAST_SECONDS, MOST_SECONDS = 0.2, 3.0


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
    """Time functions in turn, round by round: each one's ratio to the first, with a confidence interval.

    Two are timed A B B A, more in a new order each round, so that a slow moment of the machine meets
    all of them. The ratio is that of lower quartiles; its 95 % interval is a bootstrap over whole rounds.
    Rounds go on until all intervals are within 3 %, or for `max_seconds`; `rounds` sets their number
    instead. One thread, unless you ask for more: on a busy machine threads wait for one another.
    `device`, `flush` and `graph` are those of `measure`; `progress` draws a bar, after a second.

    Raises TimingError for what cannot be compared: fewer than two functions, no rounds, and what
    `measure` refuses. torch's number of threads is restored.

    >>> import torch
    >>> x = torch.ones(500, 500)
    >>> work = {"once": lambda: x.sum(1), "ten times": lambda: [x.sum(1) for _ in range(10)]}
    >>> compare(work).ratios["ten times"].verdict
    'slower'
    """
    _refuse(functions, rounds, max_seconds, seed)
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
        noise=sampling.signs_of_noise(subjects, threads),
    )


def _refuse(functions: Any, rounds: Any, max_seconds: Any, seed: Any) -> None:
    if not isinstance(functions, Mapping):
        kind = type(functions).__name__
        raise TimingError(
            f"functions is of type {kind}: give a dict, {{'name': lambda: …, 'other': lambda: …}}"
        )
    if not 2 <= (n := len(functions)) <= 100:  # each is warmed up before anything is counted
        raise TimingError(f"{many(n, 'function')}: a comparison needs two, at most 100")
    if rounds is not None and (
        isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1
    ):
        raise TimingError(f"rounds={shown(rounds)}: give the number of rounds, 1 or more")
    if not (isinstance(max_seconds, int | float) and 0 < max_seconds < math.inf):
        raise TimingError(f"max_seconds={shown(max_seconds)}: give seconds, more than 0")
    if not isinstance(seed, int):
        raise TimingError(f"seed={shown(seed)}: give an int to draw the order of rounds from")


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
            done, spent = len(orders), time.monotonic() - begun
            if rounds is not None:
                enough = done >= rounds
            else:
                enough = done >= FEWEST_ROUNDS and spent >= max_seconds
                if not enough and done >= look_again and spent >= LEAST_SECONDS:
                    enough, look_again = _narrow_enough(subjects, done), done * 5 // 4
            if enough:
                return orders


@contextmanager
def _progress(rounds: int | None, progress: bool) -> Iterator[Callable[[], object]]:
    """A function to call after each round; after a second it draws a bar, if somebody is waiting."""
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
