"""Inclusion of one strided set in another, decided level by level without enumerating either.

Take the coarsest digit of the outer set, a step c that is larger than everything below it. The inner set
lies inside exactly if its hull does and its numbers modulo c lie in the lower levels. Modulo c the inner
set is strided again. Steps that are multiples of c vanish, a generator that goes all the way round becomes
evenly spaced, and a generator that passes the end of the cycle is split there.

Splitting makes the question exponential in the worst case (subset sums can be written as layouts), so each
split costs a step of the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, prod

from stridekit.memory.strided_set import (
    MAX_DEPTH,
    Budget,
    Generator,
    Level,
    Part,
    bitmap,
    contains,
    iter_levels,
    levels_of,
    normal_form,
    reach,
    scaled,
)


def includes(levels: Sequence[Level], piece: Part, budget: Budget) -> bool:
    """Return True if every number of the piece is one of the levels, whose base is 0."""
    for k, (step, level, below) in enumerate(levels):
        budget.spend()
        base, generators = piece
        if base < 0 or base + reach(generators) > below + reach(level):
            return False
        if len(level) > 1:
            return _includes_interleaved(levels[k:], piece, budget)
        # There is nearly always one piece, which goes on to the next level.
        pieces = residues(piece, step, budget)
        piece = next(pieces)
        for other in pieces:
            budget.require_room(len(levels), MAX_DEPTH)
            if not includes(levels[k + 1 :], other, budget):
                return False
    base, generators = piece
    return base == 0 and not generators


def residues(piece: Part, modulus: int, budget: Budget) -> Iterator[Part]:
    """Yield the piece modulo `modulus`, as pieces of numbers from 0 to modulus - 1."""
    base = piece[0] % modulus
    generators = tuple((c % modulus, n) for c, n in piece[1] if c % modulus)
    if base + reach(generators) < modulus:
        yield base, generators  # nothing passes the end: the usual case
        return
    budget.require_room(len(generators), MAX_DEPTH)
    cycle = _cycle(generators, modulus)
    around = [(cycle, modulus // cycle)] if cycle < modulus else []
    # The shorter way round: a residue above half the cycle is a step back.
    signed = [((c + cycle // 2) % cycle - cycle // 2, n) for c, n in generators]
    base, normal = normal_form(base, signed)
    for start, part in _unwrap(base % cycle, normal, cycle, budget):
        yield start, (*part, *around)


def _cycle(generators: Sequence[Generator], modulus: int) -> int:
    """Return the spacing at which the generators repeat modulo `modulus`.

    A generator that goes all the way round reaches every multiple of its gcd with the modulus. From then
    on, only residues modulo that spacing matter, also of the other generators.
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
) -> Iterator[Part]:
    """Cut the generators where base plus their sums passes the end of the cycle; base is below it."""
    if base + reach(generators) < cycle:
        yield base, generators
        return
    *finer, (c, n) = generators
    rest, width = tuple(finer), reach(finer)
    while n > 0:
        budget.spend()
        whole = min(n, (cycle - 1 - base - width) // c + 1)
        if whole > 0:  # these steps stay within the cycle
            yield base, (*rest, (c, whole)) if whole > 1 else rest
        else:  # this single step passes its end
            whole = 1
            yield from _unwrap(base, rest, cycle, budget)
        base, n = (base + whole * c) % cycle, n - whole


def _includes_interleaved(levels: Sequence[Level], piece: Part, budget: Budget) -> bool:
    """`includes` for a coarsest level of several generators.

    If the finer steps of the piece never carry into that level, it is decided apart from the others.
    """
    base, generators = piece
    step, level, below = levels[0]
    high, low = divmod(base, step)
    lower = tuple((c, n) for c, n in generators if c % step)
    if low + reach(lower) <= below:
        upper = tuple((c // step, n) for c, n in generators if c % step == 0)
        return includes(levels[1:], (low, lower), budget) and _covers(
            scaled(level, step), (high, upper), budget
        )
    outer = tuple(generator for _, own, _ in reversed(levels) for generator in own)
    return _covers(outer, piece, budget)


def _covers(outer: tuple[Generator, ...], piece: Part, budget: Budget) -> bool:
    """Return True if the outer generators make every number of the piece: by fit, or by brute force."""
    if _fits(outer, piece, budget):
        return True
    base, generators = piece
    if prod([n for _, n in generators]) <= reach(outer) // 1024:
        levels = levels_of(outer)
        for number in iter_levels([(c, ((c, n),), 0) for c, n in generators], budget):
            budget.spend()
            if not contains(levels, base + number, budget):
                return False
        return True
    # The outer bitmap first: the base is within its reach, so it pays for the shift by the base too.
    whole = bitmap(outer, budget)
    return (bitmap(generators, budget) << base) & ~whole == 0


def _fits(outer: tuple[Generator, ...], piece: Part, budget: Budget) -> bool:
    """Return True if each step of the piece is a multiple of an outer step, as in a slice of the outer set.

    The steps of the piece are taken from outer generators that have room for them; then the piece lies
    inside if what remains can make its base. False decides nothing: there may be another way.
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
    return contains(levels_of(tuple(room.items())), base, budget)
