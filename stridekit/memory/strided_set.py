"""Sets of integers that strides generate: `base + c0*[0, n0) + c1*[0, n1) + …`, never enumerated.

Each pair (c, n) is a *generator*: step c, n times. In normal form the steps are positive, sorted
and merged. Generators are then grouped into *levels*, coarsest first. A level is one digit of every
number: its step is larger than the sum of everything finer. So `divmod` by the step reads the digit
off, and the counts of the levels multiply.

A level with one generator is a plain digit, and every view operation except unfold and as_strided
makes only plain digits. If several steps interleave in one level, its few generators are searched,
within a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import groupby
from math import gcd, prod
from typing import TypeVar

from stridekit._arguments import shown

Generator = tuple[int, int]  # step, count
Part = tuple[int, tuple[Generator, ...]]  # a base and its generators: a strided set
# One digit: its step, its generators, whose steps are multiples of that step, and the sum that all
# finer levels reach at most, which is less than the step, or digits would not be unique.
Level = tuple[int, tuple[Generator, ...], int]
Span = tuple[int, int]  # the numbers from the first to before the second
Answer = TypeVar("Answer")

BUDGET = 100_000  # steps of about ten microseconds: a branch of a search, or 1024 bits of a bitmap
BITS = 1024  # of a bitmap, for one step
_SMALL = 1000  # steps for a bitmap: a million bits
MAX_DEPTH = 200  # the most generators that a search nests: Python's stack is finite


class Undecided(RuntimeError):
    """The exact answer would cost more than the budget, and stridekit does not guess.

    Raised by every function with a `budget`, in steps of about ten microseconds: give a larger one.

    >>> from stridekit import Layout, shares_memory
    >>> x, y = Layout((20,) * 4, (101, 103, 107, 109)), Layout((20,) * 4, (139, 149, 151, 157), 1)
    >>> shares_memory(x, y, budget=1)
    Traceback (most recent call last):
    stridekit.Undecided: not decided within a budget of 1 steps: the strides interleave too much ...
    """

    __module__ = "stridekit"


class Budget:
    """The steps that one question has left, and a memo of (generators, number) known to fail."""

    def __init__(self, steps: int) -> None:
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise ValueError(f"budget is {shown(steps)}: give a number of steps, 0 or more")
        self.steps = self.left = steps
        self.failed: set[tuple[tuple[Generator, ...], int]] = set()

    def spend(self, steps: int = 1) -> None:
        """Count the steps; raise Undecided when they are used up."""
        self.left -= steps
        if self.left < 0:
            raise self._exhausted()

    def require_room(self, items: int, limit: int | None = None) -> None:
        """Raise Undecided for more items than the limit; without one, than the budget has steps."""
        if items > (self.steps if limit is None else limit):
            raise self._exhausted()

    def _exhausted(self) -> Undecided:
        return Undecided(
            f"not decided within a budget of {self.steps:,} steps: the strides interleave too much for "
            "a quick exact answer. Give a larger budget=, or ask about smaller parts"
        )

    def renew(self) -> None:
        """Start the next question with the whole budget."""
        self.left = self.steps
        self.failed.clear()

    def within(self, steps: int, question: Callable[[Budget], Answer]) -> Answer | None:
        """Return the answer to a question that may spend up to `steps`; None if they are too few."""
        share = Budget(max(0, min(steps, self.left)))
        try:
            return question(share)
        except Undecided:
            return None
        finally:
            self.left -= share.steps - max(share.left, 0)


def normal_form(base: int, generators: Iterable[Generator]) -> Part:
    """Return the same set with positive, sorted and merged steps; every n has to be 1 or more.

    >>> normal_form(0, [(8, 3), (1, 8), (0, 5)])  # rows of 8, 8 apart, are one run
    (0, ((1, 24),))
    """
    positive = []
    for c, n in generators:
        if n == 1 or c == 0:
            continue
        if c < 0:
            base += c * (n - 1)
            c = -c
        positive.append((c, n))
    positive.sort()
    return base, tuple(_merge(positive))


def _merge(generators: list[Generator]) -> list[Generator]:
    """Join steps that continue a finer step evenly: c = k*step for a k of 1 to `count`."""
    merged: list[Generator] = []
    for c, n in generators:
        for i in range(len(merged) - 1, -1, -1):
            step, count = merged[i]
            if c % step == 0 and c <= step * count:
                merged[i] = (step, count + c // step * (n - 1))
                break
        else:
            merged.append((c, n))
    return merged


def reach(generators: Iterable[Generator]) -> int:
    """Return the largest number that the generators make; the smallest is 0."""
    return sum([c * (n - 1) for c, n in generators])


def cut(generators: tuple[Generator, ...]) -> list[Level]:
    """Return the finest levels of generators in normal form, coarsest level first.

    >>> cut(((1, 4), (8, 10), (12, 10)))  # 8 and 12 interleave; 0 to 3 lie below
    [(4, ((8, 10), (12, 10)), 3), (1, ((1, 4),), 0)]
    """
    total = 0
    below = []  # for each generator, how far all finer ones reach
    for c, n in generators:
        below.append(total)
        total += c * (n - 1)
    levels = []
    top = len(generators)  # the generators from here on are in levels
    step = 0
    for k in range(len(generators) - 1, -1, -1):
        step = gcd(step, generators[k][0])
        if step > below[k]:
            levels.append((step, generators[k:top], below[k]))
            top = k
            step = 0
    return levels


@lru_cache(maxsize=1024)
def levels_of(generators: tuple[Generator, ...]) -> list[Level]:
    """Return the levels of any generators, counted from their lowest number."""
    return cut(normal_form(0, generators)[1])


def contains(levels: Sequence[Level], number: int, budget: Budget) -> bool:
    """Return True if the levels make the number, read off digit by digit, coarsest first."""
    for step, generators, below in levels:
        digit, number = divmod(number, step)
        if number > below:
            return False
        if len(generators) == 1:
            if not 0 <= digit < generators[0][1]:
                return False
        elif not makes(scaled(generators, step), digit, budget):
            return False
    return number == 0


def count(levels: Sequence[Level], budget: Budget) -> int:
    """Count the different numbers that the levels make."""
    return prod([_count(level, budget) for level in levels])


def collide(generators: Sequence[Generator], budget: Budget) -> bool:
    """Return True if two choices of digits make one number; the generators are not merged yet.

    Two such choices agree from the coarsest step down to a step c where they first differ. The
    finer steps together then have to make up for a difference of c, 2c, … or (n - 1)c: one
    membership.
    """
    steps = sorted([(abs(c), n) for c, n in generators if n > 1])
    total = 0
    for k, (c, n) in enumerate(steps):
        if c <= total:
            differences = [(below, 2 * m - 1) for below, m in steps[:k]]
            if _member(total - c, [(c, n - 1), *differences], budget):
                return True
        total += c * (n - 1)
    return False


def intersects(a: Sequence[Generator], b: Sequence[Generator], shift: int, budget: Budget) -> bool:
    """Return True if set `a` has a number in common with set `b`, whose base lies `shift` higher.

    It has one exactly if the shift is a number of `a` minus a number of `b`. The negatives of b's
    numbers are b again, lowered by its reach.
    """
    return _member(shift + reach(b), [*a, *b], budget)


def bitmap(generators: Iterable[Generator], budget: Budget) -> int:
    """Return the set as the bits of one int: bit k is 1 if the number k is reached."""
    bits = 1
    for c, n in generators:
        copies = 1
        while copies < n:  # doubling: the bits or-ed with themselves, `copies` steps further on
            added = min(copies, n - copies)
            budget.spend(1 + (bits.bit_length() + added * c) // BITS)
            bits |= bits << (added * c)
            copies += added
    return bits


def _member(number: int, generators: Sequence[Generator], budget: Budget) -> bool:
    """Return True if the generators, in any form, make the number."""
    budget.spend(len(generators) ** 2 >> 6)  # the normal form compares each with each
    base, normal = normal_form(0, generators)
    return contains(cut(normal), number - base, budget)


@lru_cache(maxsize=1024)
def scaled(generators: tuple[Generator, ...], step: int) -> tuple[Generator, ...]:
    """Return the generators with their steps divided by `step`."""
    return tuple((c // step, n) for c, n in generators)


def makes(generators: tuple[Generator, ...], number: int, budget: Budget) -> bool:
    """Return True if two or more generators without a common divisor make the number."""
    budget.require_room(len(generators), MAX_DEPTH)
    finer = generators[:-1]
    c, n = generators[-1]
    if len(finer) == 1:
        return _two_make(finer[0], (c, n), number)
    if (generators, number) in budget.failed:
        return False
    # The rest, number - digit * c, has to be within the reach of the finer generators, and a
    # multiple of the gcd of their steps.
    divisor = gcd(*[step for step, _ in finer])
    lowest = max(0, -((reach(finer) - number) // c))
    highest = min(n - 1, number // c)
    first = lowest + (number * pow(c, -1, divisor) - lowest) % divisor
    levels = levels_of(finer)
    for digit in range(first, highest + 1, divisor):
        budget.spend()
        if contains(levels, number - digit * c, budget):
            return True
    budget.failed.add((generators, number))
    return False


def _two_make(fine: Generator, coarse: Generator, number: int) -> bool:
    """Return True if i*a + j*b is the number for some i < n and j < m; a and b have no common divisor."""
    a, n = fine
    b, m = coarse
    # j*b and the number have the same remainder modulo a: that fixes j modulo a.
    lowest = max(0, -((a * (n - 1) - number) // b))
    highest = min(m - 1, number // b)
    return lowest + (number * pow(b, -1, a) - lowest) % a <= highest


def _count(level: Level, budget: Budget) -> int:
    """Count the different numbers that a level makes."""
    step, generators, _ = level
    generators = scaled(generators, step)
    if len(generators) == 1:
        return generators[0][1]
    if len(generators) == 2:
        # i*a + j*b repeats exactly where (i, j) moves by a multiple of (b, -a).
        (a, n), (b, m) = generators
        return n * m - max(0, n - b) * max(0, m - a)
    return _count_interleaved(generators, budget)


def _count_interleaved(generators: tuple[Generator, ...], budget: Budget) -> int:
    """Count with a bitmap until the pattern repeats, then extrapolate linearly."""
    longest = max(range(len(generators)), key=lambda k: generators[k][1])
    c, n = generators[longest]
    rest = (*generators[:longest], *generators[longest + 1 :])
    # The numbers are n copies of the rest, c apart. Copies that are `apart` or more steps away from
    # each other cannot overlap: from then on each further copy adds as many new numbers as the copy
    # before.
    apart = reach(rest) // c + 1
    if n <= apart:
        return bitmap(generators, budget).bit_count()
    fewer = 0  # the numbers of one copy less than `apart`
    if apart > 1:
        fewer = count(levels_of((*rest, (c, apart - 1))), budget)
    numbers = count(levels_of((*rest, (c, apart))), budget)
    return numbers + (n - apart) * (numbers - fewer)


# In ascending order -------------------------------------------------------------------------------


def iter_set(levels: Sequence[Level], budget: Budget) -> Iterator[int]:
    """Yield all numbers of the levels, smallest first; each number has the whole budget."""
    for number in iter_levels(levels, budget):
        budget.renew()
        yield number


def joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans in ascending order; spans that touch or overlap are joined."""
    last: Span | None = None  # it may still grow
    for start, stop in spans:
        if last and start <= last[1]:
            last = (last[0], max(last[1], stop))
            continue
        if last:
            yield last
        last = (start, stop)
    if last:
        yield last


def iter_levels(levels: Sequence[Level], budget: Budget) -> Iterator[int]:
    """Yield the sums of one number of each level, the last level running fastest; plain digits are free."""
    # Iterators over sums of digits. The first sums no level, and each further one sums one level
    # more.
    sums: list[Iterator[int]] = [iter((0,))]
    while sums:
        number = next(sums[-1], None)
        if number is None:
            sums.pop()
        elif len(sums) > len(levels):
            yield number
        else:
            digits = iter_generators(levels[len(sums) - 1][1], budget)
            sums.append(map(number.__add__, digits))


def iter_generators(generators: tuple[Generator, ...], budget: Budget) -> Iterator[int]:
    """Yield the different numbers that the generators make, smallest first.

    A single generator is free. Several are written into a bitmap if it stays small. Else their sums
    come from a heap until more sums than numbers have come up; from then on, each number is
    searched for. Each number that is tried costs a step.
    """
    if len(generators) < 2:
        c, n = generators[0] if generators else (1, 1)
        yield from range(0, c * n, c)
        return
    step = gcd(*[c for c, _ in generators])
    digits = scaled(generators, step)
    if reach(digits) // BITS < min(_SMALL, prod([n for _, n in digits])):
        bits = bitmap(digits, budget)
        yield from (step * k for k, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")
        return
    sums = 0
    number = 0
    for number, equal_sums in groupby(_sums_by_heap(digits, budget)):
        if sums > number:
            break
        yield step * number
        sums += len(list(equal_sums))
    else:
        return
    for candidate in range(number, reach(digits) + 1):
        budget.spend()
        if makes(digits, candidate, budget):
            yield step * candidate


def _sums_by_heap(generators: tuple[Generator, ...], budget: Budget) -> Iterator[int]:
    """Yield the sums of all choices of digits, smallest first; steps grow between generators."""
    yield 0
    # Choices wait in a heap as (sum, k, digit): `digit` steps of generator k, the coarsest that the
    # choice uses. Each choice leads to larger ones in three ways and is reached in only one:
    # another step of k, a first step of the next generator, or the only step of k exchanged for one
    # of the next.
    heap = [(generators[0][0], 0, 1)]
    while heap:
        budget.spend()
        budget.require_room(len(heap))
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
