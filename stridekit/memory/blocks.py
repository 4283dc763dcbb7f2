"""How many aligned blocks a strided set meets: cache lines, sectors or pages, counted without a visit.

In a nested set the copies of a level lie one after another, so the blocks of a level are those of its
copies, less one wherever a copy ends in the block in which the next begins. All of that depends only
on where a copy starts modulo the block size, and those starts go around in a cycle: a level costs as
many sums as there are starts in it, `size` at the most, however many copies there are.

A level whose steps interleave is written out, within the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import gcd, prod
from typing import NamedTuple

from stridekit._arguments import LARGEST, shown
from stridekit.memory.strided_set import Budget, Generator, cut, reach, table

# A base and its generators in normal form.
Part = tuple[int, tuple[Generator, ...]]

# So many numbers are handled in one step of the budget.
_A_STEP = 8
# Up to so many copies are added up one by one: their way around the cycle is not worth its sums.
_FEW = 8


class Blocks(NamedTuple):
    """The aligned blocks of `size` bytes that a set meets: how many, and how many of them it fills."""

    size: int
    touched: int
    filled: int

    @property
    def partial(self) -> int:
        """The blocks of which some bytes are in the set and some are not."""
        return self.touched - self.filled

    @property
    def nbytes(self) -> int:
        """The bytes of the touched blocks, whether they are in the set or not."""
        return self.touched * self.size


class _Copies(NamedTuple):
    """A level: `length` bytes of what is below, again at each of n starts, all multiples of the step."""

    step: int
    n: int
    starts: Sequence[int]
    length: int


def blocks(part: Part, size: int, budget: Budget) -> Blocks:
    """The blocks k*size … (k+1)*size - 1 that a set meets and fills; generators in normal form.

    Raises Undecided where interleaved steps would cost more than the budget, ValueError where the size
    is no whole number of bytes.

    >>> blocks((32, ((1, 8), (48, 1000))), 64, Budget(100))  # 8 bytes in every 48
    Blocks(size=64, touched=750, filled=0)
    >>> blocks((4, ((1, 10**12),)), 64, Budget(100))
    Blocks(size=64, touched=15625000001, filled=15624999999)
    """
    check_size(size)
    base, generators = part
    runs, levels = split(generators, budget)
    first_run = runs[0][1]

    def met(start: int, length: int) -> int:
        return (start + length - 1) // size - start // size + 1

    def filled(start: int, length: int) -> int:
        return max(0, (start + length) // size - -(-start // size))

    def shared(start: int, length: int, after: int) -> int:
        return -int((start + length - 1) // size == after // size)

    def joined(start: int, length: int, after: int) -> int:
        # What is copied has holes, or it would be one run: so a block that two copies fill together
        # lies within the last run of one and the first of the next, which are of one length.
        inside = after % size
        meet = start + length == after and 0 < inside <= first_run
        return int(meet and size - inside <= first_run)

    touched = _total(base, runs, levels, size, met, shared, budget)
    if len(runs) == 1 and 2 * first_run < size:  # two runs that meet fill no block either
        return Blocks(size, touched, 0)
    return Blocks(size, touched, _total(base, runs, levels, size, filled, joined, budget))


def check_size(size: int) -> None:
    """Raise ValueError where the size of a block is no whole number of bytes."""
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST:
        raise ValueError(f"the size of a block is {shown(size)}: give a number of bytes, 1 or more")


def split(
    generators: tuple[Generator, ...], budget: Budget
) -> tuple[list[tuple[int, int]], list[_Copies]]:
    """The runs, as (start, length), that the levels copy; and those levels, the finest first.

    Usually the finest generator is the one run. Steps that interleave just above it join its copies
    to longer ones, which are written out.
    """
    budget.spend(len(generators) // _A_STEP)
    first = generators[0][1] if generators and generators[0][0] == 1 else 1
    levels = [
        (step, tuple(g for g in own if g[0] > 1), below) for step, own, below in cut(generators)
    ]
    levels = [level for level in reversed(levels) if level[1]]
    runs = [(0, first)]
    if levels and len(levels[0][1]) > 1:
        runs = list(_joined(_starts(levels[0][1], budget), first))
        del levels[0]
    copies = []
    for step, own, below in levels:
        starts = _starts(own, budget)
        n = own[0][1] if isinstance(starts, range) else len(starts)
        copies.append(_Copies(step, n, starts, below + 1))
    return runs, copies


def _starts(generators: tuple[Generator, ...], budget: Budget) -> Sequence[int]:
    """The numbers of one level in ascending order: a range, or written out."""
    if len(generators) == 1:
        c, n = generators[0]
        return range(0, c * n, c)
    step = gcd(*[c for c, _ in generators])
    choices, highest = prod([n for _, n in generators]), reach(generators) // step
    budget.spend(min(choices, highest + 1))
    if choices <= highest:
        numbers = {0}
        for c, n in generators:
            numbers = {number + c * k for number in numbers for k in range(n)}
        return sorted(numbers)
    bits = table([(c // step, n) for c, n in generators], budget)
    return [step * k for k, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]


def _joined(starts: Iterable[int], length: int) -> Iterator[tuple[int, int]]:
    """Runs of one length at ascending starts, those that touch or overlap joined."""
    begin = stop = 0
    for start in starts:
        if start > stop:
            yield begin, stop - begin
            begin = start
        stop = start + length
    yield begin, stop - begin


def _total(
    base: int,
    runs: list[tuple[int, int]],
    levels: list[_Copies],
    size: int,
    of_run: Callable[[int, int], int],
    of_joint: Callable[[int, int, int], int],
    budget: Budget,
) -> int:
    """The sum over all runs, and over all neighbours that a level has, of what the two functions say.

    `of_run(start, length)`, `of_joint(start, length, next start)`; both depend on start modulo size.
    """
    # The starts that matter at a level: the base, moved by coarser steps, modulo the block size.
    cycles = [size]
    for level in reversed(levels):
        cycles.append(gcd(cycles[-1], level.step))
    cycle = cycles.pop()
    starts = range(base % cycle, size, cycle)
    budget.spend(1 + len(starts) * len(runs) // _A_STEP)
    values = [
        sum([of_run(start + at, length) for at, length in runs])
        + sum([of_joint(start + a, length, start + b) for (a, length), (b, _) in pairwise(runs)])
        for start in starts
    ]
    for level in levels:
        coarser = cycles.pop()
        values = _copied(
            values, cycle, level, range(base % coarser, size, coarser), of_joint, budget
        )
        cycle = coarser
    return values[0]


def _copied(
    values: list[int],
    cycle: int,
    level: _Copies,
    wanted: range,
    of_joint: Callable[[int, int, int], int],
    budget: Budget,
) -> list[int]:
    """The sums over the copies of a level, for each wanted start of it.

    `values` has what one copy is worth, for starts that are `cycle` apart and go around.
    """
    size, length, copies = cycle * len(values), level.length, level.starts
    if not isinstance(copies, range) or level.n <= _FEW:
        budget.spend(1 + len(wanted) * level.n // _A_STEP)
        return [
            sum([values[(start + at) % size // cycle] for at in copies])
            + sum([of_joint(start + a, length, start + b) for a, b in pairwise(copies)])
            for start in wanted
        ]
    budget.spend(1 + len(values) // _A_STEP)
    c, n, offset = copies.step, level.n, wanted.start % cycle
    joints = [
        of_joint(offset + i * cycle, length, offset + i * cycle + c) for i in range(len(values))
    ]
    sums = _around([a + b for a, b in zip(values, joints, strict=True)], c // cycle, n)
    last = (n - 1) * c  # which has no neighbour
    return [sums[start // cycle] - joints[(start + last) % size // cycle] for start in wanted]


def _around(values: list[int], step: int, n: int) -> list[int]:
    """For each place on a circle, the sum of the values met in n steps from there on."""
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
