"""Cache lines that loops fetch again, because the cache is too small for their walk.

A cache that evicts the least recently used line (LRU) fetches a line again if too many others came in
between. The working-set argument finds those lines from the sizes of the loops alone: if some turns
of a loop fit in the cache, the next turn finds their lines there and fetches the rest; if not even one
turn fits, each turn starts afresh.

`Lru` does it visit by visit. The prediction is exact if everything fits, and if operands only
move on, as rows do. Otherwise it is an estimate, rarely far off, for a cache without conflicts; real
caches have conflicts if strides are powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from stridekit.memory.blocks import Blocks, blocks, turns
from stridekit.memory.strided_set import Budget, Generator, normal_form


class Lru:
    """A cache of `lines` lines that evicts the least recently used one.

    >>> cache = Lru(2)
    >>> [cache.load(line) for line in (0, 1, 0, 2, 1)]  # True if it was there
    [False, False, True, False, False]
    """

    def __init__(self, lines: int) -> None:
        self.lines = lines
        self._held: dict[int, None] = {}  # the line that was used last stands last

    def load(self, line: int) -> bool:
        """Use a line; True if the cache had it."""
        hit = line in self._held
        if hit:
            del self._held[line]
        self._held[line] = None
        if len(self._held) > self.lines:
            del self._held[next(iter(self._held))]
        return hit


class Walk(NamedTuple):
    """An operand as loops walk it: its first byte, (byte step, turns) from the outermost loop, itemsize.

    Bytes of two spaces are never the same, even if their numbers are.
    """

    start: int
    loops: tuple[Generator, ...]
    itemsize: int
    space: object = None

    def lines(self, k: int, turns: int, start: int, size: int, budget: Budget) -> Blocks:
        """The lines that `turns` turns of loop k, with all loops inside it, touch from `start` on."""
        loops = [(c, turns if i == 0 else n) for i, (c, n) in enumerate(self.loops[k:])]
        return blocks(normal_form(start, [*loops, (1, self.itemsize)]), size, budget)


def fetched(walks: Sequence[Walk], size: int, cache: int, budget: Budget) -> list[Blocks]:
    """The lines of `size` bytes that each operand fetches, and how many of them it fills.

    All operands are walked by the same loops, one element of each in a turn of the innermost, through
    one cache of `cache` lines. Raises Undecided like `blocks`.

    >>> rows, columns = Walk(0, ((128, 100), (4, 32)), 4), Walk(0, ((4, 32), (128, 100)), 4)
    >>> [fetched([walk], 64, 50, Budget(1000))[0].touched for walk in (rows, columns)]
    [200, 3200]
    """
    if any(n == 0 for walk in walks for _, n in walk.loops):
        return [Blocks(size, 0, 0)] * len(walks)
    different = set(walks)

    def needed(k: int, turns: int) -> int:
        """The lines that `turns` turns of loop k touch, all operands together."""
        return sum([walk.lines(k, turns, walk.start, size, budget).touched for walk in different])

    # The outermost loop with a turn that fits, and how many of its turns fit.
    depth = len(walks[0].loops) if walks else 0
    loop, fit = depth, 0
    while loop and needed(loop - 1, 1) <= cache:
        loop -= 1
    if loop < depth:
        fit, too_many = 1, walks[0].loops[loop][1] + 1
        while fit + 1 < too_many:
            middle = min(2 * fit, (fit + too_many) // 2)
            if needed(loop, middle) <= cache:
                fit = middle
            else:
                too_many = middle
    return [_Fetches(walk, loop, fit, size, budget).of(0, walk.start) for walk in walks]


class _Fetches:
    """The lines of one operand, if the last `fit` turns of a loop are still in the cache."""

    def __init__(self, walk: Walk, loop: int, fit: int, size: int, budget: Budget) -> None:
        self.walk, self.loop, self.fit, self.size, self.budget = walk, loop, fit, size, budget
        self._known: dict[tuple[int, int], Blocks] = {}
        # reach[k]: the bytes from the first to the last that loop k and all inside it get to.
        reach = [walk.itemsize]
        for c, n in reversed(walk.loops):
            reach.append(reach[-1] + abs(c) * (n - 1))
        self.reach = reach[::-1]
        # A loop that only moves on never needs its earlier lines again.
        self.once = loop + 1 if fit else loop
        while self.once and self._moves_on(self.once - 1):
            self.once -= 1

    def _moves_on(self, k: int) -> bool:
        c, n = self.walk.loops[k]
        return n == 1 or (self.fit > 0 and abs(c) >= self.reach[k + 1])

    def _lines(self, k: int, n: int, start: int) -> Blocks:
        return self.walk.lines(k, n, start % self.size, self.size, self.budget)

    def _starts(self, c: int, n: int) -> list[tuple[int, int]]:
        """The places in a line where n turns of step c start, and how often each occurs."""
        return [(k * c, often) for k, often in turns(n, self.size // gcd(c, self.size))]

    def of(self, k: int, start: int) -> Blocks:
        """The lines of loop k and all inside it; of the start, only its place in a line counts."""
        start %= self.size
        if (k, start) not in self._known:
            if k >= self.once:
                n = self.walk.loops[k][1] if k < len(self.walk.loops) else 1
                found = self._lines(k, n, start)
            elif k == self.loop:
                found = self._window(k, start)
            else:
                found = self._afresh(k, start)
            self._known[k, start] = found
        return self._known[k, start]

    def _afresh(self, k: int, start: int) -> Blocks:
        """Each turn starts afresh, except for the line in which the turn before it ended."""
        c, n = self.walk.loops[k]
        touched = filled = 0
        for at, often in self._starts(c, n):
            one = self.of(k + 1, start + at)
            touched, filled = touched + often * one.touched, filled + often * one.filled
        if self._moves_on(k):
            for at, often in self._starts(c, n - 1):
                low, high = sorted((start + at, start + at + c))
                end = low + self.reach[k + 1] - 1
                touched -= often * (end // self.size == high // self.size)
        return Blocks(self.size, touched, filled)

    def _window(self, k: int, start: int) -> Blocks:
        """Each turn fetches the lines that the `fit` turns before it have not touched."""
        c, n = self.walk.loops[k]
        whole = self._lines(k, n, start)
        if self.fit >= n:
            return whole
        touched = self._lines(k, self.fit, start).touched
        for at, often in self._starts(c, n - self.fit):
            one_more = self._lines(k, self.fit + 1, start + at).touched
            touched += often * (one_more - self._lines(k, self.fit, start + at).touched)
        # A line that comes twice is not filled by either visit.
        return Blocks(self.size, touched, max(0, whole.filled - (touched - whole.touched)))
