"""Inclusion of one strided set in another, decided level by level without enumerating either.

Take the coarsest digit of the outer set, a step c that is larger than everything below it. The
inner set lies inside exactly if its hull does and its numbers modulo c lie in the lower levels.
Modulo c the inner set is strided again. Steps that are multiples of c vanish, a generator that goes
all the way round becomes evenly spaced, and a generator that passes the end of the cycle is split
there.

Splitting makes the question exponential in the worst case (subset sums can be written as layouts),
so each split costs a step of the budget.
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


def includes(levels: Sequence[Level], part: Part, budget: Budget) -> bool:
    """Return True if every number of the part is one of the levels, whose base is 0."""
    for k, (step, level, below) in enumerate(levels):
        budget.spend()
        base, generators = part
        if base < 0 or base + reach(generators) > below + reach(level):
            return False
        if len(level) > 1:
            return _includes_interleaved(levels[k:], part, budget)
        # There is nearly always one part, which goes on to the next level.
        parts = residues(part, step, budget)
        part = next(parts)
        for further_part in parts:
            budget.require_room(len(levels), MAX_DEPTH)
            if not includes(levels[k + 1 :], further_part, budget):
                return False
    base, generators = part
    return base == 0 and not generators


def residues(part: Part, modulus: int, budget: Budget) -> Iterator[Part]:
    """Yield the part modulo `modulus`, as parts of numbers from 0 to modulus - 1."""
    base = part[0] % modulus
    generators = tuple((c % modulus, n) for c, n in part[1] if c % modulus)
    if base + reach(generators) < modulus:
        yield base, generators  # nothing passes the end: the usual case
        return
    budget.require_room(len(generators), MAX_DEPTH)
    cycle = _cycle(generators, modulus)
    around = [(cycle, modulus // cycle)] if cycle < modulus else []
    # A residue above half the cycle is a step back, which is the shorter way round.
    signed = [((c + cycle // 2) % cycle - cycle // 2, n) for c, n in generators]
    base, normal = normal_form(base, signed)
    for start, unwrapped in _unwrap(base % cycle, normal, cycle, budget):
        yield start, (*unwrapped, *around)


def _cycle(generators: Sequence[Generator], modulus: int) -> int:
    """Return the spacing at which the generators repeat modulo `modulus`.

    A generator that goes all the way round reaches every multiple of its gcd with the modulus. From
    then on, only residues modulo that spacing matter, also of the other generators.
    """
    cycle = modulus
    is_changed = True
    while is_changed:
        is_changed = False
        for c, n in generators:
            spacing = gcd(c, cycle)
            if spacing < cycle <= n * spacing:
                cycle = spacing
                is_changed = True
    return cycle


def _unwrap(
    base: int, generators: tuple[Generator, ...], cycle: int, budget: Budget
) -> Iterator[Part]:
    """Cut the generators where base plus their sums passes the end of the cycle; base is below it."""
    if base + reach(generators) < cycle:
        yield base, generators
        return
    finer = generators[:-1]
    step, copies = generators[-1]
    width = reach(finer)
    while copies > 0:
        budget.spend()
        # So many of the copies lie within the cycle.
        whole = min(copies, (cycle - 1 - base - width) // step + 1)
        if whole > 1:
            yield base, (*finer, (step, whole))
        elif whole == 1:
            yield base, finer
        else:  # the next copy alone passes the end
            whole = 1
            yield from _unwrap(base, finer, cycle, budget)
        base = (base + whole * step) % cycle
        copies -= whole


def _includes_interleaved(levels: Sequence[Level], part: Part, budget: Budget) -> bool:
    """Return the result of `includes` if the coarsest level has several generators.

    If the finer steps of the part never carry into that level, it is decided apart from the others.
    """
    base, generators = part
    step, level, below = levels[0]
    high, low = divmod(base, step)
    lower = tuple((c, n) for c, n in generators if c % step)
    if low + reach(lower) <= below:
        upper = tuple((c // step, n) for c, n in generators if c % step == 0)
        if not includes(levels[1:], (low, lower), budget):
            return False
        return _covers(scaled(level, step), (high, upper), budget)
    outer: list[Generator] = []
    for _, level, _ in reversed(levels):
        outer += level
    return _covers(tuple(outer), part, budget)


def _covers(outer: tuple[Generator, ...], part: Part, budget: Budget) -> bool:
    """Return True if the outer generators make every number of the part: by fit, or by brute force."""
    if _fits(outer, part, budget):
        return True
    base, generators = part
    if prod([n for _, n in generators]) <= reach(outer) // 1024:
        levels = levels_of(outer)
        for number in iter_levels([(c, ((c, n),), 0) for c, n in generators], budget):
            budget.spend()
            if not contains(levels, base + number, budget):
                return False
        return True
    # The outer bitmap first: the base is within its reach, so it pays for the shift by the base
    # too.
    outer_bits = bitmap(outer, budget)
    part_bits = bitmap(generators, budget) << base
    return part_bits & ~outer_bits == 0


def _fits(outer: tuple[Generator, ...], part: Part, budget: Budget) -> bool:
    """Return True if each step of the part is a multiple of an outer step, as in a slice of the outer set.

    The steps of the part are taken from outer generators that have room for them; then the part
    lies inside if what remains can make its base. False decides nothing: there may be another way.
    """
    base, generators = part
    room = dict(outer)
    for c, n in reversed(generators):
        for step in sorted(room, reverse=True):
            if c % step == 0 and c // step * (n - 1) < room[step]:
                room[step] -= c // step * (n - 1)
                break
        else:
            return False
    return contains(levels_of(tuple(room.items())), base, budget)
