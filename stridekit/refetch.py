"""What loops fetch again: cache lines loaded into a cache that is too small for a walk.

A walk through a cache that drops what was used longest ago (LRU) fetches a line anew when too many
other lines came in between. The working-set argument finds those from the sizes of the loops alone:
where one turn of a loop fits in the cache, the loop finds again what its last turn brought, and
fetches each of its lines once; where not, each turn of the loops around it starts anew.

`Lru` does it visit by visit. The prediction is exact where everything fits, and where each operand
moves on without coming back; in between it is an estimate, for a cache without conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from stridekit.blocks import Blocks, blocks
from stridekit.strided_set import Budget, Generator, normal_form


class Lru:
    """A cache of so many lines, the one used longest ago of which leaves.

    >>> cache = Lru(2)
    >>> [cache.load(line) for line in (0, 1, 0, 2, 1)]  # True where it was there
    [False, False, True, False, False]
    """

    def __init__(self, lines: int) -> None:
        self.lines = lines
        self._held: dict[int, None] = {}  # the line that was used last stands last

    def load(self, line: int) -> bool:
        """Use a line; whether the cache had it."""
        hit = line in self._held
        if hit:
            del self._held[line]
        self._held[line] = None
        if len(self._held) > self.lines:
            del self._held[next(iter(self._held))]
        return hit


class Walk(NamedTuple):
    """An operand as loops walk it: its first byte, (byte step, turns) from the outermost loop, itemsize."""

    start: int
    loops: tuple[Generator, ...]
    itemsize: int


def fetched(walks: Sequence[Walk], size: int, cache: int, budget: Budget) -> list[Blocks]:
    """The lines of `size` bytes that each operand fetches, and those of them that it comes to fill.

    All operands are walked by the same loops, one element of each in a turn of the innermost, through
    one cache of `cache` lines. Raises Undecided like `blocks`.

    >>> rows, columns = Walk(0, ((128, 100), (4, 32)), 4), Walk(0, ((4, 32), (128, 100)), 4)
    >>> [fetched([walk], 64, 50, Budget(1000))[0].touched for walk in (rows, columns)]
    [200, 3200]
    """
    if any(n == 0 for walk in walks for _, n in walk.loops):
        return [Blocks(size, 0, 0)] * len(walks)
    depth = len(walks[0].loops) if walks else 0
    # The outermost loop one turn of which fits: from there inwards each line is fetched once.
    fits = depth
    while fits and sum(_lines(w, fits, size, budget) for w in set(walks)) <= cache:
        fits -= 1
    return [_fetched(walk, fits, size, budget) for walk in walks]


def _lines(walk: Walk, k: int, size: int, budget: Budget) -> int:
    """The lines that the loops from number k inwards touch."""
    return _set(walk, k, walk.start, size, budget).touched


def _set(walk: Walk, k: int, start: int, size: int, budget: Budget) -> Blocks:
    part = normal_form(start, [*walk.loops[k:], (1, walk.itemsize)])
    return blocks(part, size, budget)


def _fetched(walk: Walk, once: int, size: int, budget: Budget) -> Blocks:
    """The lines of one operand, whose loops from number `once` inwards fetch each of theirs once."""
    # So do the loops around them that only move on: what they leave is not needed again.
    below = [walk.itemsize]
    for c, n in reversed(walk.loops):
        below.append(below[-1] + abs(c) * (n - 1))
    below.reverse()  # below[k]: the bytes from the first to the last that loops k and inwards reach
    moves_on = [abs(c) >= below[k + 1] or n == 1 for k, (c, n) in enumerate(walk.loops)]
    while once and moves_on[once - 1]:
        once -= 1
    memo: dict[tuple[int, int], tuple[int, int]] = {}

    def from_(k: int, start: int) -> tuple[int, int]:
        start %= size
        if (k, start) not in memo:
            memo[k, start] = turns(k, start)
        return memo[k, start]

    def turns(k: int, start: int) -> tuple[int, int]:
        if k == once:
            _, touched, filled = _set(walk, k, start, size, budget)
            return touched, filled
        c, n = walk.loops[k]
        period = _period(c, size)
        rounds, rest = divmod(n, period)
        touched = filled = 0
        for i in range(min(n, period)):
            budget.spend()
            often = rounds + (i < rest)
            one, whole = from_(k + 1, start + i * c)
            touched, filled = touched + often * one, filled + often * whole
        return touched, filled

    return Blocks(size, *from_(0, walk.start))


def _period(step: int, size: int) -> int:
    """After so many steps the starts are the same modulo the size again."""
    return size // gcd(step, size)
