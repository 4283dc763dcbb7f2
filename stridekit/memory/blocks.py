"""The aligned blocks that strided sets meet: cache lines, sectors or pages, counted without a visit.

One set: the copies of a level lie one after another. So the blocks of a level are the blocks of its copies,
less one wherever a copy ends in the block in which the next begins. All of this depends only on where a
copy starts modulo the block size. So a level costs one sum for each different start, at most `size`,
however many copies there are. A level whose steps interleave is written out, within the budget.

Several sets: a block that two of them meet counts once. x[::2] and x[1::2] share no byte and every cache
line. Four cases are quick, and tried in this order: sets that lie far apart, a set that meets every block
between its ends, a set inside another, and sets that repeat with one step. The common period of the last is
counted like a level. Everything else is written out, within the budget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise, product
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
_INSIDE = 200  # steps to find out if a set lies inside another, as there are other ways
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


# One set ----------------------------------------------------------------------------------------


def blocks(part: Part, size: int, budget: Budget) -> Blocks:
    """Return the blocks k*size … (k+1)*size - 1 that a set meets and fills; generators in normal form.

    Raises Undecided if interleaved steps would cost more than the budget.
    """
    base, generators = part
    runs, levels = _split(generators, budget)
    first_run = runs[0][1]

    def met(start: int, stop: int) -> int:
        return (stop - 1) // size - start // size + 1

    def shared(stop: int, after: int) -> int:
        return -int((stop - 1) // size == after // size)

    def filled(start: int, stop: int) -> int:
        return max(0, stop // size - -(-start // size))

    def filled_by_two(stop: int, after: int) -> int:
        # The block lies within the last run of one copy and the first of the next, which are equally long.
        inside = after % size
        return int(stop == after and 0 < inside <= first_run and size - inside <= first_run)

    touched = _total(base, runs, levels, size, _Worth(met, shared), budget)
    if len(runs) == 1 and 2 * first_run < size:  # not even two runs that meet fill a block
        return Blocks(size, touched, 0)
    worth = _Worth(filled, filled_by_two)
    return Blocks(size, touched, _total(base, runs, levels, size, worth, budget))


class _Copies(NamedTuple):
    """A level: `length` bytes of what is below, again at each of n starts, all multiples of the step."""

    step: int
    n: int
    starts: Sequence[int]
    length: int


class _Worth(NamedTuple):
    """The summands: for a run, from (start, stop), and for a joint, from (stop, the next start).

    Both depend only on their numbers modulo the block size.
    """

    of_run: Callable[[int, int], int]
    of_joint: Callable[[int, int], int]


def _split(generators: tuple[Generator, ...], budget: Budget) -> tuple[list[Span], list[_Copies]]:
    """Return the runs that the levels copy, and those levels, the finest first.

    Usually the finest generator is the only run. Steps that interleave just above it join its copies to
    longer runs, which are written out.
    """
    budget.spend(len(generators) // _A_STEP)
    first = generators[0][1] if generators and generators[0][0] == 1 else 1
    levels = [
        (step, tuple(g for g in own if g[0] > 1), below) for step, own, below in cut(generators)
    ]
    levels = [level for level in reversed(levels) if level[1]]
    runs = [(0, first)]
    if levels and len(levels[0][1]) > 1:
        runs = list(joined((start, start + first) for start in _starts(levels[0][1], budget)))
        del levels[0]
    copies = []
    for step, own, below in levels:
        starts = _starts(own, budget)
        n = own[0][1] if isinstance(starts, range) else len(starts)
        copies.append(_Copies(step, n, starts, below + 1))
    return runs, copies


def _starts(generators: tuple[Generator, ...], budget: Budget) -> Sequence[int]:
    """Return the numbers of one level in ascending order: a range, or written out."""
    if len(generators) == 1:
        c, n = generators[0]
        return range(0, c * n, c)
    return list(iter_generators(generators, budget))


def _total(
    base: int, runs: list[Span], levels: list[_Copies], size: int, worth: _Worth, budget: Budget
) -> int:
    """Return the worth of all runs, and of all joints between neighbours."""
    # The starts that matter at a level: the base plus coarser steps, modulo the block size.
    cycles = [size]
    for level in reversed(levels):
        cycles.append(gcd(cycles[-1], level.step))
    cycle = cycles.pop()
    starts = range(base % cycle, size, cycle)
    budget.spend(1 + len(starts) * len(runs) // _A_STEP)
    values = [
        sum([worth.of_run(at + a, at + b) for a, b in runs])
        + sum([worth.of_joint(at + stop, at + after) for (_, stop), (after, _) in pairwise(runs)])
        for at in starts
    ]
    for level in levels:
        coarser = cycles.pop()
        wanted = range(base % coarser, size, coarser)
        values = _copied(values, cycle, level, wanted, worth, budget)
        cycle = coarser
    return values[0]


def _copied(
    values: list[int], cycle: int, level: _Copies, wanted: range, worth: _Worth, budget: Budget
) -> list[int]:
    """Return the worth of all copies of a level from each wanted start.

    `values` is the worth of one copy, for starts that are `cycle` apart and go round.
    """
    size, length, copies = cycle * len(values), level.length, level.starts
    if not isinstance(copies, range) or level.n <= _FEW:
        budget.spend(1 + len(wanted) * level.n // _A_STEP)
        return [
            sum([values[(at + start) % size // cycle] for start in copies])
            + sum([worth.of_joint(at + a + length, at + b) for a, b in pairwise(copies)])
            for at in wanted
        ]
    budget.spend(1 + len(values) // _A_STEP)
    c, n, first = copies.step, level.n, wanted.start % cycle
    joints = [worth.of_joint(at + length, at + c) for at in range(first, first + size, cycle)]
    sums = _around([a + b for a, b in zip(values, joints, strict=True)], c // cycle, n)
    last = (n - 1) * c  # which has no neighbour
    return [sums[start // cycle] - joints[(start + last) % size // cycle] for start in wanted]


def _around(values: list[int], step: int, n: int) -> list[int]:
    """For each place on a circle, the sum of the values met in n steps from there."""
    m = len(values)
    period = m // gcd(step, m)
    rounds, rest = divmod(n, period)
    sums = [0] * m
    for first in range(m // period):
        path = [(first + k * step) % m for k in range(period)]
        upto = list(accumulate([values[i] for i in path + path[:rest]], initial=0))
        for k, i in enumerate(path):
            sums[i] = rounds * upto[period] + upto[k + rest] - upto[k]
    return sums


def turns(n: int, period: int) -> Iterator[tuple[int, int]]:
    """Yield the different turns among n that repeat with a period, and how often each occurs."""
    rounds, rest = divmod(n, period)
    for k in range(min(n, period)):
        yield k, rounds + (k < rest)


# Several sets ------------------------------------------------------------------------------------


def blocks_together(parts: Sequence[Part], size: int, budget: Budget) -> int:
    """Count the blocks k*size … (k+1)*size - 1 that at least one set meets; size 1 counts bytes.

    Sets are (base, generators in normal form). Raises Undecided if it would cost more than the budget.
    """
    return _Union(size, budget).of(tuple(sorted(set(parts))))


class _Union:
    """A counter of the blocks of several sets, which remembers sets that lie alike in their blocks."""

    def __init__(self, size: int, budget: Budget) -> None:
        self.size, self.budget = size, budget
        self.known: dict[tuple[Part, ...], int] = {}

    def of(self, parts: tuple[Part, ...]) -> int:
        """Count the blocks of different sets in ascending order."""
        if not parts:
            return 0
        shift = parts[0][0] // self.size * self.size
        parts = tuple((base - shift, generators) for base, generators in parts)
        if parts not in self.known:
            self.budget.spend(1 + len(parts) // _A_STEP)
            self.known[parts] = sum([self._close(group) for group in self._groups(parts)])
        return self.known[parts]

    def _ends(self, part: Part) -> Span:
        """Return the first block of a set, and the one after its last."""
        return part[0] // self.size, _last(part) // self.size + 1

    def _groups(self, parts: tuple[Part, ...]) -> list[list[Part]]:
        """Return the sets in groups whose blocks cannot coincide."""
        groups: list[list[Part]] = []
        reached = 0
        for part in parts:
            first, stop = self._ends(part)
            if not groups or first >= reached:
                groups.append([])
            groups[-1].append(part)
            reached = max(reached, stop)
        return groups

    def _close(self, parts: list[Part]) -> int:
        """Return the blocks of sets whose blocks may coincide."""
        if len(parts) == 1:
            return blocks(parts[0], self.size, self.budget).touched
        # A set that meets every block is a run of blocks. Runs are joined, and hide what lies inside.
        others: list[Part] = []
        whole: list[Span] = []
        for part in parts:
            first, stop = self._ends(part)
            if blocks(part, self.size, self.budget).touched == stop - first:
                whole.append((first, stop))
            else:
                others.append(part)
        solid = list(joined(whole))
        self.budget.spend(len(parts) * (1 + len(solid) // _A_STEP))
        ends = [(self._ends(part), part) for part in others]
        others = [p for (a, b), p in ends if not any(c <= a and b <= d for c, d in solid)]
        if not others:
            return sum([stop - first for first, stop in solid])
        runs = [(a * self.size, ((1, (b - a) * self.size),)) for a, b in solid]
        left = _without_inner([*others, *runs], self.budget)
        if len(left) == 1:
            return blocks(left[0], self.size, self.budget).touched
        periodic = self._repeated(sorted(left))
        if periodic is not None:
            return periodic
        spans = [(a // self.size, (b - 1) // self.size + 1) for a, b in _runs(left, self.budget)]
        return sum([stop - start for start, stop in joined(spans)])

    def _repeated(self, parts: list[Part]) -> int | None:
        """Return the blocks of sets that all repeat with one coarsest step; None if they do not.

        Windows are as wide as that step. Copy i of a set lies in window i + k, for a k of its own. Between
        the windows in which sets begin or end, the same sets lie in each window.
        """
        if not all(0 < len(generators) <= _MAX_DEPTH for _, generators in parts):
            return None
        origin, step = parts[0][0], parts[0][1][-1][0]
        rows = []  # first window, the one after the last, and the set as it lies in window 0
        for base, generators in parts:
            c, n = generators[-1]
            window, phase = divmod(base - origin, step)
            if c != step or phase + reach(generators[:-1]) >= step:
                return None
            rows.append((window, window + n, (origin + phase, generators[:-1])))
        total, last = 0, -1
        for begin, stop in pairwise(sorted({end for row in rows for end in row[:2]})):
            self.budget.spend(1 + len(rows) // _A_STEP)
            inside = tuple(sorted({part for a, b, part in rows if a <= begin and stop <= b}))
            if not inside:
                continue
            first = (begin * step + inside[0][0]) // self.size
            total += self._windows(inside, step, begin, stop) - (first == last)
            last = ((stop - 1) * step + max(map(_last, inside))) // self.size
        return total

    def _windows(self, parts: tuple[Part, ...], step: int, begin: int, stop: int) -> int:
        """Return the blocks of sets that lie in each window from `begin` to before `stop`."""
        first, last = parts[0][0], max(map(_last, parts))

        def shared(window: int) -> bool:
            """Return True if the window ends in the block in which the next one begins."""
            return (last + window * step) // self.size == (first + (window + 1) * step) // self.size

        # The blocks of a window, less the one shared with the next, repeat with the period.
        total = int(shared(stop - 1))
        for k, often in turns(stop - begin, self.size // gcd(step, self.size)):
            shift = (begin + k) * step
            moved = tuple((base + shift, generators) for base, generators in parts)
            total += often * (self.of(moved) - shared(begin + k))
        return total


def _without_inner(parts: list[Part], budget: Budget) -> list[Part]:
    """Return the sets that do not lie inside another."""
    left: list[Part] = []
    for part in sorted(parts, key=lambda part: _last(part) - part[0]):
        budget.spend(1 + len(left) // _A_STEP)
        left = [inner for inner in left if not _inside(inner, part, budget)]
        if not any(_inside(part, other, budget) for other in left):
            left.append(part)
    return left


def _inside(inner: Part, outer: Part, budget: Budget) -> bool:
    """Return True if a few steps show that all numbers of a set are in the other."""
    if inner[0] < outer[0] or _last(inner) > _last(outer):
        return False
    levels, piece = cut(outer[1]), (inner[0] - outer[0], inner[1])
    return bool(budget.within(_INSIDE, lambda steps: includes(levels, piece, steps)))


def _runs(parts: Sequence[Part], budget: Budget) -> list[Span]:
    """Return the runs of all sets together, in ascending order."""
    runs_of_all: list[Span] = []
    for base, generators in parts:
        runs, levels = _split(generators, budget)
        budget.spend(len(runs) * prod([level.n for level in levels]))
        for digits in product(*[level.starts for level in levels]):
            at = base + sum(digits)
            runs_of_all += [(at + start, at + stop) for start, stop in runs]
    return list(joined(sorted(runs_of_all)))


def _last(part: Part) -> int:
    return part[0] + reach(part[1])


def partial_together(
    parts: Sequence[Part], without: Sequence[Part], size: int, budget: Budget
) -> int:
    """Count the blocks that the sets meet but do not fill, and that no set of `without` meets.

    If `parts` are written and `without` is read, these blocks are read only to keep those of their bytes
    that are not written. Raises Undecided like `blocks_together`.
    """
    own = [blocks(part, size, budget) for part in set(parts)]
    if not any(counts.partial for counts in own):
        return 0
    mine, its = blocks_together(parts, size, budget), blocks_together(without, size, budget)
    both = blocks_together([*parts, *without], size, budget)
    if both == its:
        return 0
    if both == mine + its and mine == sum([counts.touched for counts in own]):
        return sum([counts.partial for counts in own])
    # A block is partial if a run begins or ends inside it, as joined runs leave gaps between them.
    ends = {end for run in _runs(parts, budget) for end in run}
    partial = {end // size for end in ends if end % size}
    read = [(start // size, (stop - 1) // size) for start, stop in _runs(without, budget)]
    firsts = [first for first, _ in read]

    def is_read(block: int) -> bool:
        k = bisect_right(firsts, block) - 1
        return k >= 0 and block <= read[k][1]

    return sum([not is_read(block) for block in partial])
