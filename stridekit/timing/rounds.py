"""compare({…}): time functions in turn, round by round, until it is clear which is faster."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from stridekit._arguments import a_kind, many, shown
from stridekit.timing import sampling
from stridekit.timing.clocks import Clock, TimingError, TooShort, clock_for, is_int, require_seconds
from stridekit.timing.comparison import Comparison, ratios
from stridekit.timing.measurement import in_words

NARROW = 0.03  # an interval this narrow, to each side, is enough
ENOUGH_ROUNDS = 12  # without `rounds`, before it may be sure
FEWEST_ROUNDS = 3  # without `rounds`, at all
LEAST_SECONDS = 0.2
MOST_SECONDS = 3.0

Subjects = list[sampling.Subject]


def compare(
    functions: Mapping[str, Callable[[], Any]],
    *,
    rounds: int | None = None,
    max_seconds: float = MOST_SECONDS,
    threads: int = 1,
    device: str = "cpu",
    flush: bool = True,
    graph: bool = False,
    seed: int = 0,
) -> Comparison:
    """Time functions in turn, round by round: each one's ratio to the first, with a confidence interval.

    Two are timed A B B A, more in a new order each round, so that a slow moment of the machine
    meets all of them. The ratio is that of lower quartiles; its 95 % interval is a bootstrap over
    whole rounds (see `Ratio`). Rounds go on until all intervals are within 3 %, from twelve rounds
    on, or until `max_seconds` are over, the warm-up included; `rounds` sets their number instead.
    After fewer than twelve an interval is too narrow, and `noise` says so. `threads` is one unless
    you say, because threads wait for one another on a busy machine. `device`, `flush`, `graph` and
    `noise` are those of `measure`.

    Raises TooShort if `max_seconds` has no room for three rounds, mostly before the first. Raises
    TimingError for fewer than two functions and whenever `measure` does. torch's threads are
    restored.

    >>> import torch
    >>> x = torch.ones(500, 500)
    >>> work = {"once": lambda: x.sum(1), "ten times": lambda: [x.sum(1) for _ in range(10)]}
    >>> compare(work).ratios["ten times"].verdict
    'slower'
    """
    _require_arguments(functions, rounds, max_seconds, seed)
    with sampling.threads(threads):
        clock = clock_for(device, flush=flush, graph=graph)
        limit = _Limit(min(max_seconds, 1e9) if rounds is None else math.inf, len(functions))
        subjects = sampling.prepare(functions, clock, limit.require)
        limit.require(subjects, FEWEST_ROUNDS)
        order = _sample(subjects, clock, seed, rounds, limit)
    noise = sampling.signs_of_noise(subjects, threads)
    if rounds is None and len(order) < ENOUGH_ROUNDS:
        too_few = (
            f"max_seconds={max_seconds:g} ended it after {many(len(order), 'round')}: "
            f"the intervals of fewer than {ENOUGH_ROUNDS} are too narrow"
        )
        noise = (too_few, *noise)
    samples = {subject.name: _by_round(subject, len(order)) for subject in subjects}
    calls = {subject.name: subject.calls for subject in subjects}
    return Comparison(samples, order, calls, threads, device, noise)


def _require_arguments(functions: Any, rounds: Any, max_seconds: Any, seed: Any) -> None:
    """Raise TimingError for arguments that `compare` cannot use."""
    if not isinstance(functions, Mapping):
        raise TimingError(
            f"functions is of type {type(functions).__name__}: "
            "give a dict, {'name': lambda: …, 'other': lambda: …}"
        )
    for name in functions:
        if not isinstance(name, str):
            raise TimingError(f"the name {shown(name)} is {a_kind(name)}: give each name as a text")
    count = len(functions)
    if not 2 <= count <= 100:  # each is warmed up before anything is counted
        raise TimingError(f"{many(count, 'function')}: a comparison needs two, at most 100")
    if rounds is not None and not (is_int(rounds) and rounds >= 1):
        raise TimingError(f"rounds={shown(rounds)}: give the number of rounds, 1 or more")
    require_seconds("max_seconds", max_seconds)
    if not is_int(seed):
        raise TimingError(f"seed={shown(seed)}: give an int to draw the order of rounds from")


class _Limit:
    """The seconds that a comparison may take from now on, its warm-up included."""

    def __init__(self, seconds: float, count: int) -> None:
        self._seconds = seconds
        self._count = count  # of all functions
        self._start = time.monotonic()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self._seconds - (time.monotonic() - self._start)

    def require(self, called: Subjects, rounds: int = 0) -> None:
        """Raise TooShort unless that many rounds fit in, by the time that the called functions took."""
        once = self._count * sum(subject.wall for subject in called) / max(len(called), 1)
        a_round = 2 * once if self._count == 2 else once  # A B B A
        left = self.left
        if not called or left > rounds * a_round:
            return
        warm_up = max(self._seconds - left, (1 + sampling.TRIES) * once)
        needed = warm_up + ENOUGH_ROUNDS * a_round
        raise TooShort(
            f"max_seconds={self._seconds:g} is too short: a round takes about {in_words(a_round)}, and "
            f"{ENOUGH_ROUNDS} rounds with the warm-up up to {in_words(needed)}: give "
            f"max_seconds={math.ceil(10 * needed) / 10:g}, or rounds={FEWEST_ROUNDS}"
        )


def _sample(
    subjects: Subjects, clock: Clock, seed: int, rounds: Any, limit: _Limit
) -> list[list[int]]:
    """Time round after round until it is enough; return the order of each."""
    orders: list[list[int]] = []
    rng = random.Random(seed)
    start = time.monotonic()
    next_check = ENOUGH_ROUNDS
    while rounds is None or len(orders) < rounds:
        order = sampling.order_of_round(len(subjects), rng)
        for k in order:
            if limit.left <= 0:  # a round that is not whole does not count
                if len(orders) < FEWEST_ROUNDS:
                    limit.require(subjects)
                return orders
            subjects[k].sample(clock)
        orders.append(order)
        count = len(orders)
        if rounds is None and count >= next_check and time.monotonic() - start >= LEAST_SECONDS:
            if _narrow_enough(subjects, count):
                break
            next_check = count * 5 // 4
    return orders


def _narrow_enough(subjects: Subjects, count: int) -> bool:
    """Return True if the intervals of all ratios are narrow after that many rounds."""
    intervals = ratios([_by_round(subject, count) for subject in subjects])
    return all(ratio.high - ratio.low <= 2 * NARROW * ratio.value for ratio in intervals)


def _by_round(subject: sampling.Subject, count: int) -> list[list[float]]:
    """Return the samples of each round; a last round that is not whole is left out."""
    in_round = len(subject.seconds) // count
    return [subject.seconds[k * in_round : (k + 1) * in_round] for k in range(count)]
