"""The size of a union of strided sets, without a visit to its numbers.

Sets whose ranges do not meet add up. Among sets whose ranges meet, runs are joined, and what lies in the
range of a run is no more than the run. Sets that repeat with one step, as columns of a matrix do, are
counted within one repetition. Only what is left is written into a bitmap, within a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stridekit.memory.strided_set import (
    BITS,
    Budget,
    Part,
    bitmap,
    count,
    joined,
    levels_of,
    normal_form,
    reach,
)


def count_union(parts: Iterable[Part], budget: Budget) -> int:
    """Count the numbers that at least one of the parts has; raise Undecided beyond the budget.

    >>> rows = 10**6
    >>> left, middle = (0, ((1, 4), (8, rows))), (2, ((1, 4), (8, rows)))
    >>> count_union([left, middle], Budget(0))
    6000000
    """
    normal = {normal_form(*part) for part in parts}
    return sum([_count_group(group, budget) for group in _groups(sorted(normal))])


def _stop(part: Part) -> int:
    """Return the number after the largest of the part."""
    base, generators = part
    return base + reach(generators) + 1


def _groups(parts: list[Part]) -> Iterator[list[Part]]:
    """Yield parts whose ranges overlap together; the parts are sorted by their bases."""
    group: list[Part] = []
    stop = 0
    for part in parts:
        if group and part[0] >= stop:
            yield group
            group = []
        stop = max(stop, _stop(part)) if group else _stop(part)
        group.append(part)
    if group:
        yield group


def _count_group(group: list[Part], budget: Budget) -> int:
    """Count the numbers of parts whose ranges overlap."""
    if len(group) == 1:
        ((_, generators),) = group
        return count(levels_of(generators), budget)
    simpler = _with_joined_runs(group)
    if len(simpler) < len(group):
        return count_union(simpler, budget)
    step, repetitions = _common_repetition(group)
    if repetitions:
        within = [(base, generators[:-1]) for base, generators in group]
        first = group[0][0]
        if max(map(_stop, within)) - first <= step:
            return repetitions * count_union(within, budget)
    lowest = group[0][0]
    bits = 0
    for base, generators in group:
        budget.spend((base - lowest) // BITS)
        bits |= bitmap(generators, budget) << (base - lowest)
    return bits.bit_count()


def _with_joined_runs(group: list[Part]) -> list[Part]:
    """Return the parts with their runs joined, and without the parts that lie in the range of a run."""
    is_run = [not generators or [c for c, _ in generators] == [1] for _, generators in group]
    runs = [(part[0], _stop(part)) for part, run in zip(group, is_run, strict=True) if run]
    spans = [*joined(runs)]
    rest = []
    position = 0  # of the first span that ends after the base of a part
    for part, run in zip(group, is_run, strict=True):
        while position < len(spans) and spans[position][1] <= part[0]:
            position += 1
        in_span = position < len(spans) and spans[position][0] <= part[0]
        if not run and not (in_span and _stop(part) <= spans[position][1]):
            rest.append(part)
    return [*((start, ((1, stop - start),)) for start, stop in spans), *rest]


def _common_repetition(group: list[Part]) -> tuple[int, int]:
    """Return the coarsest step of all parts and its count; (0, 0) if they differ in it."""
    coarsest = {generators[-1] if generators else (0, 0) for _, generators in group}
    return coarsest.pop() if len(coarsest) == 1 else (0, 0)
