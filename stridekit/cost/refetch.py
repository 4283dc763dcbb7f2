"""Cache lines that loops fetch again, because the cache is too small for their walk.

A cache that evicts the least recently used line (LRU) fetches a line again if too many others came
in between. The working-set argument needs only the sizes of the loops. If some turns of a loop fit
in the cache, the next turn finds their lines there and fetches the rest. If not even one turn fits,
each turn starts afresh. The prediction is exact if everything fits, and if operands only move on,
as rows do. Otherwise it is an estimate for a cache without conflicts; `CacheSets` counts those,
visit by visit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
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

    A full set evicts the line that it used least recently, even if other sets are empty. So lines
    whose numbers differ by multiples of `sets` push each other out: those of a column whose rows
    are a power of two apart. `timing.hierarchy()` tells sets and ways of this machine.

    A real cache fetches ahead and may evict another line. An L3 mixes the bits of the number. L2
    and L3 use physical addresses, which agree with these only within a page. Raises LayoutError for
    numbers below 1.

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

        `walk` has the byte addresses in the order of the visits: an array or a list of ints. A
        Layout is walked by its indices in row-major order, or in `order`, the dims outermost first.
        Each element is one visit, to the line of its first byte, and element 0 of the storage has
        address 0. Raises LayoutError for other walks, and for a Layout of more than 524,288
        elements.

        >>> CacheSets(sets=2, ways=1).misses([0, 4, 64, 128, 0])  # 0 and 128 are lines of one set
        4
        """
        lines_by_set: dict[int, OrderedDict[int, None]] = {}
        misses = 0
        for address in _addresses(walk, order):
            line = address // self.line
            lines = lines_by_set.setdefault(line % self.sets, OrderedDict())
            if line not in lines:
                misses += 1
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
        raise LayoutError(
            f"{walk.numel:,} visits: give {MOST_VISITS:,} at most, such as the first rows"
        )
    layout = walk if order is None else walk.permute(ints("order", order))
    if not layout.numel:
        return []
    numbers = [layout.storage_offset]
    for size, step in zip(layout.shape, layout.stride, strict=True):
        numbers = [start + i * step for start, i in product(numbers, range(size))]
    return [number * layout.itemsize for number in numbers]


class Walk(NamedTuple):
    """An operand as loops walk it: its first byte, (byte step, turns) from the outermost loop, itemsize.

    Bytes of two spaces are never the same, even if their numbers are.
    """

    start: int
    loops: tuple[Generator, ...]
    itemsize: int
    space: object = None

    @property
    def is_empty(self) -> bool:
        """True if a loop has no turn."""
        return any(n == 0 for _, n in self.loops)

    def lines(self, k: int, turns: int, start: int, size: int, budget: Budget) -> Blocks:
        """Return the lines that `turns` turns of loop k and all loops inside it touch from `start` on."""
        loops = list(self.loops[k:])
        if loops:
            step, _ = loops[0]
            loops[0] = (step, turns)
        return blocks(normal_form(start, [*loops, (1, self.itemsize)]), size, budget)


def fetched_lines(walks: Sequence[Walk], size: int, cache: int, budget: Budget) -> list[Blocks]:
    """Return the lines of `size` bytes that each operand fetches, and how many of them it fills.

    All operands are walked by the same loops, one element of each in a turn of the innermost,
    through one cache of `cache` lines. Raises Undecided like `blocks`.
    """
    if any(walk.is_empty for walk in walks):
        return [Blocks(size, 0, 0)] * len(walks)
    different_walks = set(walks)

    def needed_lines(k: int, turns: int) -> int:
        """Return the lines that `turns` turns of loop k touch, all operands together."""
        lines = [walk.lines(k, turns, walk.start, size, budget) for walk in different_walks]
        return sum([line.touched for line in lines])

    # The outermost loop with a turn that fits.
    depth = len(walks[0].loops) if walks else 0
    loop = depth
    while loop and needed_lines(loop - 1, 1) <= cache:
        loop -= 1
    # How many of its turns fit.
    fit = 0
    if loop < depth:
        fit = 1
        too_many = walks[0].loops[loop][1] + 1
        while fit + 1 < too_many:
            middle = min(2 * fit, (fit + too_many) // 2)
            if needed_lines(loop, middle) <= cache:
                fit = middle
            else:
                too_many = middle
    return [_Fetches(walk, loop, fit, size, budget).count(0, walk.start) for walk in walks]


class _Fetches:
    """The lines of one operand, if the last `fit` turns of a loop are still in the cache."""

    def __init__(self, walk: Walk, loop: int, fit: int, size: int, budget: Budget) -> None:
        self.walk = walk
        self.loop = loop
        self.fit = fit
        self.size = size
        self.budget = budget
        self._counts: dict[tuple[int, int], Blocks] = {}
        # reach[k]: the bytes from the first to the last that loop k and all loops inside it touch.
        reach = [walk.itemsize]
        for step, n in reversed(walk.loops):
            reach.append(reach[-1] + abs(step) * (n - 1))
        self.reach = reach[::-1]
        # A loop that only moves on never needs its earlier lines again. From loop `once` on, each
        # line is fetched once.
        self.once = loop + 1 if fit else loop
        while self.once and self._moves_on(self.once - 1):
            self.once -= 1

    def _moves_on(self, k: int) -> bool:
        """Return True if no turn of loop k comes back to the bytes of an earlier turn."""
        step, n = self.walk.loops[k]
        return n == 1 or (self.fit > 0 and abs(step) >= self.reach[k + 1])

    def _lines(self, k: int, n: int, start: int) -> Blocks:
        """Return the lines that n turns of loop k and all loops inside it touch."""
        return self.walk.lines(k, n, start % self.size, self.size, self.budget)

    def _starts(self, step: int, n: int) -> list[tuple[int, int]]:
        """Return the positions in a line where n turns of a step start, and how often each occurs."""
        period = self.size // gcd(step, self.size)
        return [(k * step, repeats) for k, repeats in turns(n, period)]

    def count(self, k: int, start: int) -> Blocks:
        """Count the lines that loop k fetches; only the position of the start in its line matters."""
        start %= self.size
        if (k, start) not in self._counts:
            if k >= self.once:
                n = self.walk.loops[k][1] if k < len(self.walk.loops) else 1
                lines = self._lines(k, n, start)
            elif k == self.loop:
                lines = self._count_with_reuse(k, start)
            else:
                lines = self._count_afresh(k, start)
            self._counts[k, start] = lines
        return self._counts[k, start]

    def _count_afresh(self, k: int, start: int) -> Blocks:
        """Count lines if each turn starts afresh, except for the line in which the last turn ended."""
        step, n = self.walk.loops[k]
        touched = 0
        filled = 0
        for shift, repeats in self._starts(step, n):
            inner = self.count(k + 1, start + shift)
            touched += repeats * inner.touched
            filled += repeats * inner.filled
        if self._moves_on(k):
            for shift, repeats in self._starts(step, n - 1):
                lower, upper = sorted((start + shift, start + shift + step))
                last_byte = lower + self.reach[k + 1] - 1
                if last_byte // self.size == upper // self.size:
                    touched -= repeats
        return Blocks(self.size, touched, filled)

    def _count_with_reuse(self, k: int, start: int) -> Blocks:
        """Count lines if each turn fetches only those that the `fit` turns before it have not touched."""
        step, n = self.walk.loops[k]
        all_turns = self._lines(k, n, start)
        if self.fit >= n:
            return all_turns
        touched = self._lines(k, self.fit, start).touched
        for shift, repeats in self._starts(step, n - self.fit):
            before = self._lines(k, self.fit, start + shift).touched
            after = self._lines(k, self.fit + 1, start + shift).touched
            touched += repeats * (after - before)
        # A line that is fetched twice is not filled by either visit.
        refetched = touched - all_turns.touched
        return Blocks(self.size, touched, max(0, all_turns.filled - refetched))
