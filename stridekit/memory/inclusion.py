"""Whether one strided set lies inside another, level by level and without enumerating either.

Take the coarsest digit of the outer set, a step c that is wider than all that lies below it. The inner
set lies inside exactly if its hull does and its numbers modulo c lie in the lower levels. Modulo c the
inner set is strided again: steps that are multiples of c vanish, a generator that runs through its
whole cycle becomes evenly spaced, and one that runs over the end of the cycle is split there.

Splitting makes the question exponential in the worst case (subset sums can be written as layouts), so
each split is a step of the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, prod

from stridekit.memory.strided_set import (
    DEEP,
    Budget,
    Generator,
    Level,
    contains,
    cut,
    normal_form,
    reach,
    table,
)

Piece = tuple[int, Sequence[Generator]]  # a base and its generators


def includes(levels: Sequence[Level], piece: Piece, budget: Budget) -> bool:
    """Whether every number of the piece is one of the levels, whose base is 0."""
    for k, (step, level, below) in enumerate(levels):
        budget.spend()
        base, generators = piece
        if base < 0 or base + reach(generators) > below + reach(level):
            return False
        if len(level) > 1:
            return _includes_interleaved(levels[k:], piece, budget)
        # Nearly always there is one piece, which goes on to the next level.
        pieces = residues(piece, step, budget)
        piece = next(pieces)
        for other in pieces:
            budget.hold(len(levels), DEEP)
            if not includes(levels[k + 1 :], other, budget):
                return False
    base, generators = piece
    return base == 0 and not generators


def residues(piece: Piece, modulus: int, budget: Budget) -> Iterator[Piece]:
    """The piece modulo `modulus`: pieces of numbers from 0 to modulus - 1, together the same set.

    >>> list(residues((6, [(1, 4)]), 8, Budget(100)))  # 6 7 | 8 9 becomes 6 7 and 0 1
    [(6, ((1, 2),)), (0, ((1, 2),))]
    """
    base, generators = piece[0] % modulus, [(c % modulus, n) for c, n in piece[1] if c % modulus]
    if base + reach(generators) < modulus:
        yield base, generators  # nothing passes the end: the usual case
        return
    budget.hold(len(generators), DEEP)
    cycle = _cycle(generators, modulus)
    around = [(cycle, modulus // cycle)] if cycle < modulus else []
    # The shorter way round: a residue above half the cycle is a step back.
    signed = [((c + cycle // 2) % cycle - cycle // 2, n) for c, n in generators]
    base, normal = normal_form(base, signed)
    for start, part in _unwrap(base % cycle, normal, cycle, budget):
        yield start, (*part, *around)


def _cycle(generators: Sequence[Generator], modulus: int) -> int:
    """The spacing after which the generators repeat modulo `modulus`.

    One that goes all the way round reaches every multiple of its gcd with the modulus: from then on
    only residues modulo that spacing matter, also of the other generators.
    """
    cycle, before = modulus, 0
    while cycle != before:
        before = cycle
        for c, n in generators:
            spacing = gcd(c, cycle)
            cycle = spacing if n * spacing >= cycle else cycle
    return cycle


def _unwrap(
    base: int, generators: tuple[Generator, ...], cycle: int, budget: Budget
) -> Iterator[Piece]:
    """Cut the generators where base + their sums pass the end of the cycle; base is below it."""
    if base + reach(generators) < cycle:
        yield base, generators
        return
    *finer, (c, n) = generators
    rest, width = tuple(finer), reach(finer)
    while n > 0:
        budget.spend()
        whole = min(n, (cycle - 1 - base - width) // c + 1)
        if whole > 0:  # so many steps end before the cycle does
            yield base, (*rest, (c, whole)) if whole > 1 else rest
        else:  # this one step passes the end by itself
            whole = 1
            yield from _unwrap(base, rest, cycle, budget)
        base, n = (base + whole * c) % cycle, n - whole


def _includes_interleaved(levels: Sequence[Level], piece: Piece, budget: Budget) -> bool:
    """The coarsest level has several generators; where nothing carries into it, look at it apart."""
    base, generators = piece
    step, level, below = levels[0]
    high, low = divmod(base, step)
    upper = [(c // step, n) for c, n in generators if c % step == 0]
    lower = [(c, n) for c, n in generators if c % step]
    if low + reach(lower) <= below:
        return includes(levels[1:], (low, lower), budget) and _covers(
            [(c // step, n) for c, n in level], (high, upper), budget
        )
    outer = [generator for _, each, _ in reversed(levels) for generator in each]
    return _covers(outer, piece, budget)


def _covers(outer: Sequence[Generator], piece: Piece, budget: Budget) -> bool:
    """Whether the outer generators make every number of the piece: by fit, or by brute force."""
    if _fits(outer, piece, budget):
        return True
    base, generators = piece
    if prod([n for _, n in generators]) <= reach(outer) // 1024:
        budget.hold(len(generators), DEEP)
        levels = cut(normal_form(0, outer)[1])
        return all(contains(levels, number, budget) for number in _each(base, generators, budget))
    whole = table(
        outer, budget
    )  # first: it spends what the base, which is below its reach, may need
    return (table(generators, budget) << base) & ~whole == 0


def _fits(outer: Sequence[Generator], piece: Piece, budget: Budget) -> bool:
    """Whether the steps of the piece are steps of the outer set, as those of a slice are.

    Each is counted off from a generator that has room for it; then the piece lies inside if its base
    can be made from what remains. False says nothing: the numbers may be made in another way.
    """
    base, generators = piece
    room = dict(outer)
    for c, n in reversed(generators):
        for step in sorted(room, reverse=True):
            if c % step == 0 and c // step * (n - 1) < room[step]:
                room[step] -= c // step * (n - 1)
                break
        else:
            return False
    return contains(cut(normal_form(0, room.items())[1]), base, budget)


def _each(base: int, generators: Sequence[Generator], budget: Budget) -> Iterator[int]:
    """The numbers of the piece, one at a time."""
    if not generators:
        budget.spend()
        yield base
        return
    c, n = generators[0]
    for k in range(n):
        yield from _each(base + k * c, generators[1:], budget)
