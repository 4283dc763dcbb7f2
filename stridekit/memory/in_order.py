"""Strided sets in ascending order: their numbers one at a time, and their runs, without filling a set.

Levels are digits, so all numbers of a finer level come between two of a coarser one. Where the steps
of a level interleave, the next number is searched for: that takes steps of the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import gcd, prod

from stridekit.memory.strided_set import Budget, Generator, Level, makes, reach, scaled


def each(levels: Sequence[Level], budget: Budget) -> Iterator[int]:
    """All numbers of the levels, each of which may cost as much as the budget has.

    >>> from stridekit.memory.strided_set import cut
    >>> list(each(cut(((1, 2), (8, 3))), Budget(0)))
    [0, 1, 8, 9, 16, 17]
    """
    coarser, length = _above_runs(levels)
    for start in numbers(coarser, budget):
        budget.renew()
        yield from range(start, start + length)


def runs(levels: Sequence[Level], budget: Budget) -> Iterator[range]:
    """The same as runs of neighbours, as long as they go; the budget is one for all of them.

    >>> from stridekit.memory.strided_set import cut
    >>> list(runs(cut(((1, 2), (8, 3))), Budget(0)))
    [range(0, 2), range(8, 10), range(16, 18)]
    """
    coarser, length = _above_runs(levels)
    run = range(0)
    for start in numbers(coarser, budget):
        if start != run.stop:
            yield run
            run = range(start, start)
        run = range(run.start, start + length)
    yield run


def _above_runs(levels: Sequence[Level]) -> tuple[Sequence[Level], int]:
    """The levels at whose numbers a run begins, and the length of such a run."""
    finest = levels[-1][1] if levels else ()
    if len(finest) == 1 and finest[0][0] == 1:
        return levels[:-1], finest[0][1]
    return levels, 1


def numbers(levels: Sequence[Level], budget: Budget) -> Iterator[int]:
    """All numbers that the levels make, smallest first, one at a time; plain digits cost no steps.

    >>> from stridekit.memory.strided_set import cut
    >>> list(numbers(cut(((1, 2), (8, 3))), Budget(0)))
    [0, 1, 8, 9, 16, 17]
    """
    # The sums of the digits so far: at the bottom of none, above that of one level more each.
    sums: list[Iterator[int]] = [iter((0,))]
    while sums:
        number = next(sums[-1], None)
        if number is None:
            sums.pop()
        elif len(sums) > len(levels):
            yield number
        else:
            digits = ascending(levels[len(sums) - 1][1], budget)
            sums.append(map(number.__add__, digits))


def ascending(generators: tuple[Generator, ...], budget: Budget) -> Iterator[int]:
    """The different numbers that the generators make, smallest first, one at a time.

    Each number that is looked at is a step of the budget, but for one generator, which costs nothing.
    """
    if len(generators) < 2:
        c, n = generators[0] if generators else (1, 1)
        yield from range(0, c * n, c)
        return
    step = gcd(*[c for c, _ in generators])
    highest = reach(generators) // step
    crowded = prod([n for _, n in generators]) > highest
    last = -step
    for before, number in enumerate(_made(generators, budget)):
        if crowded and before > number // step:  # from here on many choices make one number
            break
        if number != last:
            yield number
            last = number
    else:
        return
    digits, number = scaled(generators, step), last // step + 1
    while number <= highest:
        budget.spend()
        if not makes(digits, number, budget):
            number = _least(digits, number, budget)
        yield step * number
        number += 1


def _made(generators: tuple[Generator, ...], budget: Budget) -> Iterator[int]:
    """The sums of all choices of digits, smallest first; steps grow from one generator to the next."""
    yield 0
    # Choices wait in a heap as (sum, k, digit): `digit` steps of generator k, the coarsest that the
    # choice steps along. Three ways lead on to larger sums, and to each choice exactly one: another
    # step of k, a first step of the next, and a single step of k exchanged for one of the next.
    heap = [(generators[0][0], 0, 1)]
    while heap:
        budget.spend()
        budget.hold(len(heap))
        number, k, digit = heappop(heap)
        yield number
        c, n = generators[k]
        if digit + 1 < n:
            heappush(heap, (number + c, k, digit + 1))
        if k + 1 < len(generators):
            coarser = generators[k + 1][0]
            heappush(heap, (number + coarser, k + 1, 1))
            if digit == 1:
                heappush(heap, (number - c + coarser, k + 1, 1))


def _least(generators: tuple[Generator, ...], number: int, budget: Budget) -> int:
    """The least sum of the generators that is the number or more; they reach that far."""
    *finer, (c, n) = generators
    if not finer:
        return -(-number // c) * c
    rest, digit = tuple(finer), min(n - 1, number // c)
    best = (digit + 1) * c if digit + 1 < n else c * n + number  # the latter beyond any
    for k in range(digit, max(0, -((reach(rest) - number) // c)) - 1, -1):
        budget.spend()
        best = min(best, k * c + _least(rest, number - k * c, budget))
        if best == number:
            break
    return best
