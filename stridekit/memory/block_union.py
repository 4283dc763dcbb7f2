"""How many aligned blocks several strided sets meet together: a block that two of them meet counts once.

x[::2] and x[1::2] have no byte in common and every cache line. What makes such questions quick is, in
this order: sets far apart; a set that leaves out no block between its ends; a set inside another; and
sets that repeat with one step, as the slices of one tensor do, whose common period is counted as
`blocks` counts a level. What remains is written out, within the budget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise, product
from math import gcd, prod

from stridekit.memory.blocks import Part, blocks, split
from stridekit.memory.inclusion import includes
from stridekit.memory.strided_set import Budget, cut, reach

_Memo = dict[tuple[Part, ...], int]

# What the test for a set inside another may cost: where it fails, there are other ways.
_INSIDE = 200
# So many sets are looked at in one step of the budget.
_A_STEP = 8
# So many steps one inside the other are more than any tensor has; Python's stack has an end.
_DEEP = 100


def blocks_together(parts: Sequence[Part], size: int, budget: Budget) -> int:
    """The number of blocks k*size … (k+1)*size - 1 that at least one set meets; size 1 counts bytes.

    Sets as (base, generators in normal form). Raises Undecided where it would cost more than the budget.

    >>> even, odd = (0, ((8, 1000), (1, 4))[::-1]), (4, ((8, 1000), (1, 4))[::-1])
    >>> [blocks_together(parts, 64, Budget(100)) for parts in ([even], [odd], [even, odd])]
    [125, 125, 125]
    """
    return _together(tuple(sorted(set(parts))), size, budget, {})


def _together(parts: tuple[Part, ...], size: int, budget: Budget, memo: _Memo) -> int:
    """The same for different sets in ascending order, and for the same sets elsewhere looked up."""
    if not parts:
        return 0
    shift = parts[0][0] // size * size
    parts = tuple((base - shift, generators) for base, generators in parts)
    if parts not in memo:
        budget.spend(1 + len(parts) // _A_STEP)
        memo[parts] = sum(_close(group, size, budget, memo) for group in _groups(parts, size))
    return memo[parts]


def _groups(parts: tuple[Part, ...], size: int) -> list[list[Part]]:
    """The sets, those apart whose first and last blocks lie apart."""
    groups: list[list[Part]] = []
    stop = -1
    for part in parts:
        if part[0] // size > stop:
            groups.append([])
        groups[-1].append(part)
        stop = max(stop, _last(part) // size)
    return groups


def _close(parts: list[Part], size: int, budget: Budget, memo: _Memo) -> int:
    """The blocks of sets whose blocks may coincide."""
    if len(parts) == 1:
        return blocks(parts[0], size, budget).touched
    # A set without a gap, in blocks, is a run of blocks: runs are joined, and hide what lies inside.
    solid: list[tuple[int, int]] = []
    others = []
    for part in parts:
        budget.spend(1 + len(solid) // _A_STEP)
        begin, end = part[0] // size, _last(part) // size
        if blocks(part, size, budget).touched < end + 1 - begin:
            others.append(part)
        elif solid and begin <= solid[-1][1] + 1:
            solid[-1] = (solid[-1][0], max(end, solid[-1][1]))
        else:
            solid.append((begin, end))
    others = [
        part
        for part in others
        if not any(a <= part[0] // size and _last(part) // size <= b for a, b in solid)
    ]
    if not others:
        return sum(b + 1 - a for a, b in solid)
    runs = [(a * size, ((1, (b + 1 - a) * size),)) for a, b in solid]
    left = _without_inner([*others, *runs], budget)
    if len(left) == 1:
        return blocks(left[0], size, budget).touched
    periodic = _repeated(sorted(left), size, budget, memo)
    return _written_out(left, size, budget) if periodic is None else periodic


def _without_inner(parts: list[Part], budget: Budget) -> list[Part]:
    """The sets, without those that lie inside another."""
    left: list[Part] = []
    for part in sorted(parts, key=lambda part: _last(part) - part[0]):
        budget.spend(1 + len(left) // _A_STEP)
        left = [inner for inner in left if not _inside(inner, part, budget)]
        if not any(_inside(part, other, budget) for other in left):
            left.append(part)
    return left


def _inside(inner: Part, outer: Part, budget: Budget) -> bool:
    """Whether all numbers of a set are in the other, if that is soon found."""
    if inner[0] < outer[0] or _last(inner) > _last(outer):
        return False
    levels, piece = cut(outer[1]), (inner[0] - outer[0], inner[1])
    return bool(budget.within(_INSIDE, lambda part: includes(levels, piece, part)))


def _repeated(parts: list[Part], size: int, budget: Budget, memo: _Memo) -> int | None:
    """The blocks of sets that all repeat with one coarsest step; None where they do not.

    Copy i of a set lies in window i + k, for a k of its own; windows are as wide as the step. From
    where one set begins or ends to where the next does, the same sets lie in each window.
    """
    if not all(0 < len(generators) <= _DEEP for _, generators in parts):
        return None
    step = parts[0][1][-1][0]
    origin = parts[0][0]
    rows = []  # first window, the one behind the last, and the set as it lies in window 0
    for base, generators in parts:
        c, n = generators[-1]
        window, phase = divmod(base - origin, step)
        if c != step or phase + reach(generators[:-1]) >= step:
            return None
        rows.append((window, window + n, (origin + phase, generators[:-1])))
    cuts = sorted({row[0] for row in rows} | {row[1] for row in rows})
    total, last = 0, -1
    for begin, stop in pairwise(cuts):
        budget.spend(1 + len(rows) // _A_STEP)
        inside = tuple(sorted({part for a, b, part in rows if a <= begin and stop <= b}))
        if not inside:
            continue
        first = (begin * step + inside[0][0]) // size
        total += _windows(inside, step, begin, stop, size, budget, memo) - (first == last)
        last = ((stop - 1) * step + max(map(_last, inside))) // size
    return total


def _windows(
    parts: tuple[Part, ...],
    step: int,
    begin: int,
    stop: int,
    size: int,
    budget: Budget,
    memo: _Memo,
) -> int:
    """The blocks of sets that lie in each window from `begin` to before `stop`."""
    first, last = parts[0][0], max(map(_last, parts))
    # The blocks of a window, less the one it shares with the next; that goes around with the period.
    period = size // gcd(step, size)
    rounds, rest = divmod(stop - begin, period)
    total = 0
    for k in range(begin, begin + min(period, stop - begin)):
        shift = k * step
        moved = tuple((base + shift, generators) for base, generators in parts)
        once = _together(moved, size, budget, memo)
        once -= (last + shift) // size == (first + shift + step) // size
        total += once * (rounds + (k - begin < rest))
    shift = (stop - 1) * step
    return total + ((last + shift) // size == (first + shift + step) // size)


def _written_out(parts: list[Part], size: int, budget: Budget) -> int:
    """The blocks of any sets, run by run."""
    total, reached = 0, -1
    for begin, stop in _runs(parts, budget):
        end = (stop - 1) // size
        total += max(0, end - max(reached, begin // size - 1))
        reached = max(reached, end)
    return total


def _runs(parts: Sequence[Part], budget: Budget) -> list[tuple[int, int]]:
    """The runs of all sets together, as (start, stop) in ascending order; those that touch joined."""
    found: list[tuple[int, int]] = []
    for base, generators in parts:
        runs, levels = split(generators, budget)
        budget.spend(len(runs) * prod([level.n for level in levels]))
        for digits in product(*[level.starts for level in levels]):
            start = base + sum(digits)
            found += [(start + at, start + at + length) for at, length in runs]
    joined: list[tuple[int, int]] = []
    for begin, stop in sorted(found):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((begin, stop))
    return joined


def partial_together(
    parts: Sequence[Part], without: Sequence[Part], size: int, budget: Budget
) -> int:
    """The blocks that the sets meet and do not fill together, and that no set of `without` meets.

    Where `parts` are written and `without` read, these are the blocks that have to be read only to
    keep the bytes in them that are not written. Raises Undecided like `blocks_together`.

    >>> row = (0, ((1, 100),))
    >>> partial_together([row], [], 64, Budget(100)), partial_together([row], [row], 64, Budget(100))
    (1, 0)
    """
    own = [blocks(part, size, budget) for part in set(parts)]
    if not any(found.partial for found in own):
        return 0
    mine, its = blocks_together(parts, size, budget), blocks_together(without, size, budget)
    all_ = blocks_together([*parts, *without], size, budget)
    if all_ == its:
        return 0
    if all_ == mine + its and mine == sum(found.touched for found in own):
        return sum(found.partial for found in own)
    # A block is partial if a run begins or ends inside it: joined runs leave a gap between them.
    open_ = set()
    for begin, stop in _runs(parts, budget):
        open_ |= {begin // size} if begin % size else set()
        open_ |= {stop // size} if stop % size else set()
    spans = [(begin // size, (stop - 1) // size) for begin, stop in _runs(without, budget)]
    firsts = [first for first, _ in spans]

    def read(block: int) -> bool:
        k = bisect_right(firsts, block) - 1
        return k >= 0 and block <= spans[k][1]

    return sum(not read(block) for block in open_)


def _last(part: Part) -> int:
    return part[0] + reach(part[1])
