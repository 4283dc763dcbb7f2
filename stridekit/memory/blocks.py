"""The aligned blocks that strided sets meet: cache lines, sectors or pages, counted without a visit.

One set: the copies of a level lie one after another. So the blocks of a level are the blocks of its
copies, less one wherever a copy ends in the block in which the next begins. All of this depends
only on where a copy starts modulo the block size. So a level costs one sum for each different
start, at most `size`, however many copies there are. A level whose steps interleave is written out,
within the budget.

Several sets: a block that two of them meet counts once. x[::2] and x[1::2] share no byte and every
cache line. Four cases are quick, and tried in this order: sets that lie far apart, a set that meets
every block between its ends, a set inside another, and sets that repeat with one step. The common
period of the last is counted like a level. Everything else is written out, within the budget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise, product
from math import gcd, prod
from typing import NamedTuple

from stridekit.memory.inclusion import includes
from stridekit.memory.strided_set import (
    Budget,
    Generator,
    Part,
    Span,
    cut,
    iter_generators,
    joined,
    reach,
)

_A_STEP = 8  # numbers, or sets, that are handled in one step of the budget
_FEW = 8  # copies that are added up one by one, which is quicker than going round the cycle
_INSIDE = 200  # steps to find out if a set lies inside another, because there are other ways
_MAX_DEPTH = 100  # the most generators of a set that windows nest: Python's stack is finite


class Blocks(NamedTuple):
    """The aligned blocks of `size` bytes that a set meets: how many, and how many of them it fills."""

    size: int
    touched: int
    filled: int

    @property
    def partial(self) -> int:
        """The number of blocks that the set touches but does not fill."""
        return self.touched - self.filled


# One set ------------------------------------------------------------------------------------------


def blocks(part: Part, size: int, budget: Budget) -> Blocks:
    """Return the blocks k*size … (k+1)*size - 1 that a set meets and fills; generators in normal form.

    Raises Undecided if interleaved steps would cost more than the budget.
    """
    base, generators = part
    runs, levels = _split(generators, budget)
    first_run = runs[0][1]

    def touched_by_run(start: int, stop: int) -> int:
        return (stop - 1) // size - start // size + 1

    def touched_at_joint(stop: int, next_start: int) -> int:
        is_shared = (stop - 1) // size == next_start // size
        return -1 if is_shared else 0  # both runs counted the shared block

    def filled_by_run(start: int, stop: int) -> int:
        first_whole = -(-start // size)
        return max(0, stop // size - first_whole)

    def filled_at_joint(stop: int, next_start: int) -> int:
        if stop != next_start:
            return 0
        # The block lies within the last run of one copy and the first of the next, which are
        # equally long.
        before = stop % size
        return int(0 < before <= first_run and size - before <= first_run)

    touched_summands = _Summands(touched_by_run, touched_at_joint)
    touched = _total(base, runs, levels, size, touched_summands, budget)
    if len(runs) == 1 and 2 * first_run < size:  # not even two adjacent runs fill a block
        return Blocks(size, touched, 0)
    filled_summands = _Summands(filled_by_run, filled_at_joint)
    filled = _total(base, runs, levels, size, filled_summands, budget)
    return Blocks(size, touched, filled)


class _Copies(NamedTuple):
    """A level: n copies of the finer levels, of `length` bytes each, at starts that the step divides."""

    step: int
    n: int
    starts: Sequence[int]
    length: int


class _Summands(NamedTuple):
    """The summands: for a run, from (start, stop), and for a joint, from (stop, the next start).

    Both depend only on their numbers modulo the block size.
    """

    of_run: Callable[[int, int], int]
    of_joint: Callable[[int, int], int]


def _split(generators: tuple[Generator, ...], budget: Budget) -> tuple[list[Span], list[_Copies]]:
    """Return the runs that the levels copy, and those levels, the finest first.

    Usually the finest generator is the only run. Steps that interleave just above it join its
    copies to longer runs, which are written out.
    """
    budget.spend(len(generators) // _A_STEP)
    first = generators[0][1] if generators and generators[0][0] == 1 else 1
    levels = []
    for step, level, below in reversed(cut(generators)):
        copying = tuple(generator for generator in level if generator[0] > 1)
        if copying:
            levels.append((step, copying, below))
    runs = [(0, first)]
    if levels and len(levels[0][1]) > 1:
        _, finest, _ = levels.pop(0)
        runs = list(joined((start, start + first) for start in _starts(finest, budget)))
    copies = []
    for step, level, below in levels:
        starts = _starts(level, budget)
        n = level[0][1] if isinstance(starts, range) else len(starts)
        copies.append(_Copies(step, n, starts, below + 1))
    return runs, copies


def _starts(generators: tuple[Generator, ...], budget: Budget) -> Sequence[int]:
    """Return the numbers of one level in ascending order: a range, or written out."""
    if len(generators) == 1:
        c, n = generators[0]
        return range(0, c * n, c)
    return list(iter_generators(generators, budget))


def _total(
    base: int,
    runs: list[Span],
    levels: list[_Copies],
    size: int,
    summands: _Summands,
    budget: Budget,
) -> int:
    """Return the sum over all runs, and over all joints between neighbours."""
    # The starts that matter at a level: the base plus coarser steps, modulo the block size.
    cycles = [size]
    for level in reversed(levels):
        cycles.append(gcd(cycles[-1], level.step))
    cycle = cycles.pop()
    starts = range(base % cycle, size, cycle)
    budget.spend(1 + len(starts) * len(runs) // _A_STEP)
    sums = [_sum_of_runs(start, runs, summands) for start in starts]
    for level in levels:
        coarser_cycle = cycles.pop()
        starts = range(base % coarser_cycle, size, coarser_cycle)
        sums = _sums_of_copies(sums, cycle, level, starts, summands, budget)
        cycle = coarser_cycle
    return sums[0]


def _sum_of_runs(start: int, runs: list[Span], summands: _Summands) -> int:
    """Return the sum over the runs, moved by `start`, and over their joints."""
    total = sum([summands.of_run(start + first, start + stop) for first, stop in runs])
    for (_, stop), (next_start, _) in pairwise(runs):
        total += summands.of_joint(start + stop, start + next_start)
    return total


def _sums_of_copies(
    sums: list[int],
    cycle: int,
    level: _Copies,
    starts: range,
    summands: _Summands,
    budget: Budget,
) -> list[int]:
    """Return the sum over all copies of a level, for each of the starts.

    `sums` has the sum over one copy, for starts that are `cycle` apart and go round.
    """
    size = cycle * len(sums)
    length = level.length
    if not isinstance(level.starts, range) or level.n <= _FEW:
        budget.spend(1 + len(starts) * level.n // _A_STEP)
        totals = []
        for start in starts:
            total = sum([sums[(start + copy) % size // cycle] for copy in level.starts])
            for copy, next_copy in pairwise(level.starts):
                total += summands.of_joint(start + copy + length, start + next_copy)
            totals.append(total)
        return totals
    budget.spend(1 + len(sums) // _A_STEP)
    step = level.starts.step
    first = starts.start % cycle
    joints = [
        summands.of_joint(start + length, start + step)
        for start in range(first, first + size, cycle)
    ]
    with_joints = [copy + joint for copy, joint in zip(sums, joints, strict=True)]
    totals = _sums_around(with_joints, step // cycle, level.n)
    last = (level.n - 1) * step  # the last copy has no joint behind it
    return [totals[start // cycle] - joints[(start + last) % size // cycle] for start in starts]


def _sums_around(values: list[int], step: int, n: int) -> list[int]:
    """Return, for each position on a circle, the sum of the values in n steps from there."""
    m = len(values)
    period = m // gcd(step, m)
    rounds, rest = divmod(n, period)
    sums = [0] * m
    for first in range(m // period):
        path = [(first + k * step) % m for k in range(period)]
        prefix_sums = list(accumulate([values[i] for i in path + path[:rest]], initial=0))
        for k, i in enumerate(path):
            sums[i] = rounds * prefix_sums[period] + prefix_sums[k + rest] - prefix_sums[k]
    return sums


def turns(n: int, period: int) -> Iterator[tuple[int, int]]:
    """Yield the different turns among n that repeat with a period, and how often each occurs."""
    rounds, rest = divmod(n, period)
    for k in range(min(n, period)):
        yield k, rounds + 1 if k < rest else rounds


# Several sets -------------------------------------------------------------------------------------


def blocks_together(parts: Sequence[Part], size: int, budget: Budget) -> int:
    """Count the blocks k*size … (k+1)*size - 1 that at least one set meets; size 1 counts bytes.

    Sets are (base, generators in normal form). Raises Undecided if it would cost more than the
    budget.
    """
    return _Union(size, budget).count(tuple(sorted(set(parts))))


class _Repeated(NamedTuple):
    """A set that lies in each window from `first` to before `stop`; `part` is its copy in window 0."""

    first: int
    stop: int
    part: Part


class _Union:
    """A counter of the blocks of several sets, which remembers sets that lie alike in their blocks."""

    def __init__(self, size: int, budget: Budget) -> None:
        self.size = size
        self.budget = budget
        self.counts: dict[tuple[Part, ...], int] = {}

    def count(self, parts: tuple[Part, ...]) -> int:
        """Count the blocks of different sets in ascending order."""
        if not parts:
            return 0
        shift = parts[0][0] // self.size * self.size
        parts = tuple((base - shift, generators) for base, generators in parts)
        if parts not in self.counts:
            self.budget.spend(1 + len(parts) // _A_STEP)
            self.counts[parts] = sum([self._count_group(group) for group in self._groups(parts)])
        return self.counts[parts]

    def _block_span(self, part: Part) -> Span:
        """Return the first block of a set, and the block after its last."""
        return part[0] // self.size, _last(part) // self.size + 1

    def _groups(self, parts: tuple[Part, ...]) -> list[list[Part]]:
        """Return the sets in groups whose blocks cannot coincide."""
        groups: list[list[Part]] = []
        reached = 0
        for part in parts:
            first, stop = self._block_span(part)
            if not groups or first >= reached:
                groups.append([])
            groups[-1].append(part)
            reached = max(reached, stop)
        return groups

    def _count_group(self, parts: list[Part]) -> int:
        """Count the blocks of sets whose blocks may coincide."""
        if len(parts) == 1:
            return blocks(parts[0], self.size, self.budget).touched
        # A set that meets every block is a run of blocks. Runs are joined, and hide the sets inside
        # them.
        spans: list[Span] = []
        sparse: list[Part] = []
        for part in parts:
            first, stop = self._block_span(part)
            if blocks(part, self.size, self.budget).touched == stop - first:
                spans.append((first, stop))
            else:
                sparse.append(part)
        solid = list(joined(spans))
        self.budget.spend(len(parts) * (1 + len(solid) // _A_STEP))
        sparse = [part for part in sparse if not self._is_hidden(part, solid)]
        if not sparse:
            return sum([stop - first for first, stop in solid])
        runs = [(a * self.size, ((1, (b - a) * self.size),)) for a, b in solid]
        outermost = _without_inner([*sparse, *runs], self.budget)
        if len(outermost) == 1:
            return blocks(outermost[0], self.size, self.budget).touched
        periodic_count = self._count_repeated(sorted(outermost))
        if periodic_count is not None:
            return periodic_count
        spans = [
            (first // self.size, (stop - 1) // self.size + 1)
            for first, stop in _runs(outermost, self.budget)
        ]
        return sum([stop - start for start, stop in joined(spans)])

    def _is_hidden(self, part: Part, solid: list[Span]) -> bool:
        """Return True if all blocks of the set lie within one of the solid spans."""
        first, stop = self._block_span(part)
        return any(start <= first and stop <= end for start, end in solid)

    def _count_repeated(self, parts: list[Part]) -> int | None:
        """Count the blocks of sets that all repeat with one coarsest step; return None if they do not.

        Windows are as wide as that step. Copy i of a set lies in window i + k, for a k of its own.
        Between the windows in which sets begin or end, the same sets lie in each window.
        """
        if not all(0 < len(generators) <= _MAX_DEPTH for _, generators in parts):
            return None
        origin, coarsest = parts[0][0], parts[0][1][-1]
        step = coarsest[0]
        sets = []
        for base, generators in parts:
            c, n = generators[-1]
            window, phase = divmod(base - origin, step)
            if c != step or phase + reach(generators[:-1]) >= step:
                return None
            sets.append(_Repeated(window, window + n, (origin + phase, generators[:-1])))
        total = 0
        last_block = -1
        for begin, stop in pairwise(sorted({x.first for x in sets} | {x.stop for x in sets})):
            self.budget.spend(1 + len(sets) // _A_STEP)
            inside = {x.part for x in sets if x.first <= begin and stop <= x.stop}
            if not inside:
                continue
            copies = tuple(sorted(inside))
            first_block = (begin * step + copies[0][0]) // self.size
            total += self._count_windows(copies, step, begin, stop)
            if first_block == last_block:
                total -= 1
            last_block = ((stop - 1) * step + max(map(_last, copies))) // self.size
        return total

    def _count_windows(self, parts: tuple[Part, ...], step: int, begin: int, stop: int) -> int:
        """Count the blocks of sets that lie in each window from `begin` to before `stop`."""
        first = parts[0][0]
        last = max(map(_last, parts))

        def shares_block(window: int) -> bool:
            """Return True if the window ends in the block in which the next window begins."""
            next_window = window + 1
            return (last + window * step) // self.size == (first + next_window * step) // self.size

        # The blocks of a window, less the block shared with the next, repeat with the period.
        total = int(shares_block(stop - 1))
        for k, repeats in turns(stop - begin, self.size // gcd(step, self.size)):
            window = begin + k
            moved = tuple((base + window * step, generators) for base, generators in parts)
            total += repeats * (self.count(moved) - shares_block(window))
        return total


def _without_inner(parts: list[Part], budget: Budget) -> list[Part]:
    """Return the sets that do not lie inside another."""
    kept: list[Part] = []
    for part in sorted(parts, key=lambda part: _last(part) - part[0]):
        budget.spend(1 + len(kept) // _A_STEP)
        kept = [inner for inner in kept if not _is_inside(inner, part, budget)]
        if not any(_is_inside(part, outer, budget) for outer in kept):
            kept.append(part)
    return kept


def _is_inside(inner: Part, outer: Part, budget: Budget) -> bool:
    """Return True if a few steps show that all numbers of a set are in the other."""
    if inner[0] < outer[0] or _last(inner) > _last(outer):
        return False
    levels = cut(outer[1])
    shifted = (inner[0] - outer[0], inner[1])
    return bool(budget.within(_INSIDE, lambda steps: includes(levels, shifted, steps)))


def _runs(parts: Sequence[Part], budget: Budget) -> list[Span]:
    """Return the runs of all sets together, in ascending order."""
    runs_of_all: list[Span] = []
    for base, generators in parts:
        runs, levels = _split(generators, budget)
        budget.spend(len(runs) * prod([level.n for level in levels]))
        for digits in product(*[level.starts for level in levels]):
            shift = base + sum(digits)
            runs_of_all += [(shift + start, shift + stop) for start, stop in runs]
    return list(joined(sorted(runs_of_all)))


def _last(part: Part) -> int:
    """Return the largest number of a set."""
    return part[0] + reach(part[1])


def partial_together(
    parts: Sequence[Part], without: Sequence[Part], size: int, budget: Budget
) -> int:
    """Count the blocks that the sets meet but do not fill, and that no set of `without` meets.

    If `parts` are written and `without` is read, these blocks are read only to keep those of their
    bytes that are not written. Raises Undecided like `blocks_together`.
    """
    counts = [blocks(part, size, budget) for part in set(parts)]
    if not any(count.partial for count in counts):
        return 0
    touched = blocks_together(parts, size, budget)
    touched_without = blocks_together(without, size, budget)
    touched_by_all = blocks_together([*parts, *without], size, budget)
    if touched_by_all == touched_without:
        return 0
    are_apart = touched == sum([count.touched for count in counts])
    if are_apart and touched_by_all == touched + touched_without:
        return sum([count.partial for count in counts])
    # A block is partial if a run begins or ends inside it, because joined runs leave gaps between
    # them.
    ends = chain.from_iterable(_runs(parts, budget))
    partial = {end // size for end in ends if end % size}
    spans = [(start // size, (stop - 1) // size) for start, stop in _runs(without, budget)]
    first_blocks = [first for first, _ in spans]

    def is_met(block: int) -> bool:
        """Return True if a set of `without` meets the block."""
        k = bisect_right(first_blocks, block) - 1
        return k >= 0 and block <= spans[k][1]

    return sum([not is_met(block) for block in partial])
