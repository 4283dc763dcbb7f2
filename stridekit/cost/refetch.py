"""Cache lines that loops fetch again, because the cache is too small for their walk.

A cache that evicts the least recently used line (LRU) fetches a line again if too many others came in
between. The working-set argument needs only the sizes of the loops. If some turns of a loop fit in the
cache, the next turn finds their lines there and fetches the rest. If not even one turn fits, each turn
starts afresh. The prediction is exact if everything fits, and if operands only move on, as rows do.
Otherwise it is an estimate for a cache without conflicts; `CacheSets` counts those, visit by visit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, ints, positive
from stridekit.layout import Layout
from stridekit.memory.blocks import Blocks, blocks, turns
from stridekit.memory.strided_set import Budget, Generator, normal_form

MOST_VISITS = 1 << 19


@dataclass(frozen=True, slots=True)
class CacheSets:
    """A cache of `sets` sets: line k, of `line` bytes, goes into set k % sets, which holds `ways` lines.

    A full set evicts the line that it used least recently, even if other sets are empty. So lines whose
    numbers differ by multiples of `sets` push each other out: those of a column whose rows are a power of
    two apart. `timing.hierarchy()` tells sets and ways of this machine.

    A real cache fetches ahead and may evict another line. An L3 mixes the bits of the number. L2 and L3 use
    physical addresses, which agree with these only within a page. Raises LayoutError for numbers below 1.

    >>> m, l2 = Layout((1024, 1024), itemsize=4), CacheSets(sets=1024, ways=16)
    >>> column = m[:, :4].t()  # four columns, walked one after the other
    >>> l2.misses(column) / column.numel, CacheSets(sets=1, ways=16 * 1024).misses(column) / column.numel
    (1.0, 0.25)
    """

    sets: int
    ways: int
    line: int = 64

    def __post_init__(self) -> None:
        for name in ("sets", "ways", "line"):
            positive(name, getattr(self, name))

    def misses(self, walk: Any, order: Sequence[int] | None = None) -> int:
        """Count the visits that do not find their line, if the cache is empty before the first.

        `walk` has the byte addresses in the order of the visits: an array or a list of ints. A Layout is
        walked by its indices in row-major order, or in `order`, the dims outermost first. Each element is
        one visit, to the line of its first byte, and element 0 of the storage has address 0. Raises
        LayoutError for other walks, and for a Layout of more than 524,288 elements.

        >>> CacheSets(sets=2, ways=1).misses([0, 4, 64, 128, 0])  # 0 and 128 are lines of one set
        4
        """
        held: dict[int, OrderedDict[int, None]] = {}
        misses = 0
        for address in _addresses(walk, order):
            line = address // self.line
            lines = held.setdefault(line % self.sets, OrderedDict())
            misses += line not in lines
            lines[line] = None
            lines.move_to_end(line)  # the line used last stands last
            if len(lines) > self.ways:
                lines.popitem(last=False)
        return misses


def _addresses(walk: Any, order: Sequence[int] | None) -> Sequence[int]:
    """Return the byte addresses of a walk."""
    if not isinstance(walk, Layout):
        return ints("walk", walk)
    if walk.numel > MOST_VISITS:
        advice = f"give {MOST_VISITS:,} at most, such as the first rows"
        raise LayoutError(f"{walk.numel:,} visits: {advice}")
    layout = walk if order is None else walk.permute(ints("order", order))
    numbers = [layout.storage_offset] if layout.numel else []
    for size, step in zip(layout.shape, layout.stride, strict=True):
        numbers = [number + i * step for number in numbers for i in range(size)]
    return [number * layout.itemsize for number in numbers]


class Walk(NamedTuple):
    """An operand as loops walk it: its first byte, (byte step, turns) from the outermost loop, itemsize.

    Bytes of two spaces are never the same, even if their numbers are.
    """

    start: int
    loops: tuple[Generator, ...]
    itemsize: int
    space: object = None

    def lines(self, k: int, turns: int, start: int, size: int, budget: Budget) -> Blocks:
        """Return the lines that `turns` turns of loop k and all loops inside it touch from `start` on."""
        loops = [(c, turns if i == 0 else n) for i, (c, n) in enumerate(self.loops[k:])]
        return blocks(normal_form(start, [*loops, (1, self.itemsize)]), size, budget)


def fetched(walks: Sequence[Walk], size: int, cache: int, budget: Budget) -> list[Blocks]:
    """Return the lines of `size` bytes that each operand fetches, and how many of them it fills.

    All operands are walked by the same loops, one element of each in a turn of the innermost, through
    one cache of `cache` lines. Raises Undecided like `blocks`.
    """
    if any(n == 0 for walk in walks for _, n in walk.loops):
        return [Blocks(size, 0, 0)] * len(walks)
    different = set(walks)

    def needed(k: int, turns: int) -> int:
        """Return the lines that `turns` turns of loop k touch, all operands together."""
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
        """Return the places in a line where n turns of step c start, and how often each occurs."""
        return [(k * c, often) for k, often in turns(n, self.size // gcd(c, self.size))]

    def of(self, k: int, start: int) -> Blocks:
        """Return the lines of loop k and all inside it; only the place of the start in its line counts."""
        start %= self.size
        if (k, start) not in self._known:
            if k >= self.once:
                n = self.walk.loops[k][1] if k < len(self.walk.loops) else 1
                counts = self._lines(k, n, start)
            elif k == self.loop:
                counts = self._window(k, start)
            else:
                counts = self._afresh(k, start)
            self._known[k, start] = counts
        return self._known[k, start]

    def _afresh(self, k: int, start: int) -> Blocks:
        """Return each turn starts afresh, except for the line in which the turn before it ended."""
        c, n = self.walk.loops[k]
        touched = filled = 0
        for at, often in self._starts(c, n):
            inner = self.of(k + 1, start + at)
            touched, filled = touched + often * inner.touched, filled + often * inner.filled
        if self._moves_on(k):
            for at, often in self._starts(c, n - 1):
                low, high = sorted((start + at, start + at + c))
                end = low + self.reach[k + 1] - 1
                touched -= often * (end // self.size == high // self.size)
        return Blocks(self.size, touched, filled)

    def _window(self, k: int, start: int) -> Blocks:
        """Return each turn fetches the lines that the `fit` turns before it have not touched."""
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
