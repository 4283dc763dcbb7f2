"""Sets of integers that strides generate: `base + c0*[0, n0) + c1*[0, n1) + …`, never enumerated.

Each pair (c, n) is a *generator*: step c, n times. In normal form the steps are positive, sorted and
merged; then they are cut into *levels*, finest at the bottom, such that all numbers of a level are
multiples of a step that is wider than everything below can reach. Levels are the digits of a
mixed-radix number system: a number has one digit for each, `divmod` finds it, and counts multiply.

A level of one generator is a plain digit, and all view operations but unfold and as_strided make only
those. Where the steps of a level interleave, its few generators are searched, within a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import gcd, prod
from typing import TypeVar

from stridekit._arguments import shown

Generator = tuple[int, int]
Answer = TypeVar("Answer")

# One step is one branch of a search, or 1024 bits of a table: ten microseconds or so.
BUDGET = 100_000
_BITS = 1024
# So many generators may be searched one inside the other: Python's stack has an end.
DEEP = 200


class Undecided(RuntimeError):
    """The exact answer would cost more than the budget: no answer, rather than a guess.

    Raised by what has a `budget`, counted in steps of about ten microseconds: give a larger one.

    >>> from stridekit import Layout, shares_memory
    >>> x = Layout((20,) * 4, (101, 103, 107, 109))
    >>> y = Layout((20,) * 4, (139, 149, 151, 157), storage_offset=1)
    >>> shares_memory(x, y, budget=1)
    Traceback (most recent call last):
    stridekit.Undecided: not decided within a budget of 1 steps: the strides interleave too much ...
    """

    __module__ = "stridekit"


class Budget:
    """The steps that one question may still cost, and the numbers it has looked for in vain."""

    def __init__(self, steps: int) -> None:
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise ValueError(f"budget is {shown(steps)}: give a number of steps, 0 or more")
        self.steps = self.left = steps
        self.failed: set[tuple[tuple[Generator, ...], int]] = set()

    def spend(self, steps: int = 1) -> None:
        """Count the steps; raises Undecided when they are used up."""
        self.left -= steps
        if self.left < 0:
            raise Undecided(
                f"not decided within a budget of {self.steps:,} steps: the strides interleave too much "
                "for a quick exact answer. Give a larger budget=, or ask about smaller parts"
            )

    def hold(self, count: int, most: int | None = None) -> None:
        """Raises Undecided where more has to be kept than there is room for: one thing a step."""
        if count > (self.steps if most is None else most):
            self.spend(self.left + 1)

    def renew(self) -> None:
        """The whole budget again, for the next question."""
        self.left = self.steps
        self.failed.clear()

    def within(self, steps: int, question: Callable[[Budget], Answer]) -> Answer | None:
        """The answer to a question that may spend so many of the steps; None where they do not do."""
        part = Budget(max(0, min(steps, self.left)))
        try:
            return question(part)
        except Undecided:
            return None
        finally:
            self.left -= part.steps - max(part.left, 0)


# One digit, (step, generators, below): sums of the generators, all multiples of the step, above
# numbers of 0 to `below`, which is less than the step, or the digits would not be unique.
Level = tuple[int, tuple[Generator, ...], int]


def normal_form(base: int, generators: Iterable[Generator]) -> tuple[int, tuple[Generator, ...]]:
    """The same set with positive, sorted and merged steps; every n is at least 1 to begin with.

    >>> normal_form(0, [(8, 3), (1, 8), (0, 5)])  # rows of 8, 8 apart, are one run
    (0, ((1, 24),))
    >>> normal_form(9, [(-1, 10)])
    (0, ((1, 10),))
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
    """Join a step with a finer one that it continues evenly: c*[0, n) + k*c*[0, m), 1 <= k <= n."""
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
    """The largest number that the generators make; the smallest is 0."""
    return sum([c * (n - 1) for c, n in generators])


def cut(generators: tuple[Generator, ...]) -> list[Level]:
    """The finest levels of generators in normal form, coarsest level first.

    >>> cut(((1, 4), (8, 10), (12, 10)))  # 8 and 12 interleave, 4 bytes fit below
    [(4, ((8, 10), (12, 10)), 3), (1, ((1, 4),), 0)]
    """
    total, below = 0, []
    for c, n in generators:
        below.append(total)
        total += c * (n - 1)
    levels, top, step = [], len(generators), 0
    for k in range(top - 1, -1, -1):
        step = gcd(step, generators[k][0])
        if step > below[k]:
            levels.append((step, generators[k:top], below[k]))
            top, step = k, 0
    return levels


def contains(levels: Sequence[Level], number: int, budget: Budget) -> bool:
    """Whether the number is a sum of the levels: read off its digits, coarsest first."""
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
    """How many different numbers the levels make."""
    return prod([_count(level, budget) for level in levels])


def collide(generators: Sequence[Generator], budget: Budget) -> bool:
    """Whether two different choices of digits make one number; asked before anything is merged.

    Two choices agree from the coarsest step down to one where they differ, by a step c at least. So
    the differences of everything below have to make up for c, 2c, … (n - 1)c: one membership.
    """
    steps = sorted([(abs(c), n) for c, n in generators if n > 1])
    if steps and steps[0][0] == 0:
        return True
    total = 0
    for k, (c, n) in enumerate(steps):
        if c <= total:
            differences = [(below, 2 * m - 1) for below, m in steps[:k]]
            if _member(total - c, [(c, n - 1), *differences], budget):
                return True
        total += c * (n - 1)
    return False


def meet(a: Sequence[Generator], b: Sequence[Generator], shift: int, budget: Budget) -> bool:
    """Whether a set and another, whose base lies `shift` higher, have a number in common.

    They do exactly if the shift is a difference of a number of `a` and one of `b`; and b turned
    upside down is b again, lowered by its reach.
    """
    return _member(shift + reach(b), [*a, *b], budget)


def table(generators: Iterable[Generator], budget: Budget) -> int:
    """The set as the bits of one int: bit k is set when the number k is reached."""
    bits = 1
    for c, n in generators:
        done = 1
        while done < n:  # doubling: the bits or-ed with themselves, `done` copies further on
            more = min(done, n - done)
            budget.spend(1 + (bits.bit_length() + more * c) // _BITS)
            bits |= bits << (more * c)
            done += more
    return bits


def _member(number: int, generators: Sequence[Generator], budget: Budget) -> bool:
    budget.spend(len(generators) ** 2 >> 6)  # the normal form compares each with each
    base, normal = normal_form(0, generators)
    return contains(cut(normal), number - base, budget)


@lru_cache(maxsize=1024)
def scaled(generators: tuple[Generator, ...], step: int) -> tuple[Generator, ...]:
    """The generators with steps so many times shorter."""
    return tuple((c // step, n) for c, n in generators)


@lru_cache(maxsize=1024)
def _normal_levels(generators: tuple[Generator, ...]) -> list[Level]:
    return cut(normal_form(0, generators)[1])


def makes(generators: tuple[Generator, ...], number: int, budget: Budget) -> bool:
    """Whether two or more generators without a common divisor make the number."""
    budget.hold(len(generators), DEEP)
    *finer, (c, n) = generators
    rest = tuple(finer)
    if len(rest) == 1:
        return _two_make(rest[0], (c, n), number)
    if (generators, number) in budget.failed:
        return False
    # What is left for the finer generators has to be within their reach, and a multiple of theirs.
    divisor = gcd(*[step for step, _ in rest])
    lowest, highest = max(0, -((reach(rest) - number) // c)), min(n - 1, number // c)
    digit = lowest + (number * pow(c, -1, divisor) - lowest) % divisor
    levels = _normal_levels(rest)
    for k in range(digit, highest + 1, divisor):
        budget.spend()
        if contains(levels, number - k * c, budget):
            return True
    budget.failed.add((generators, number))
    return False


def _two_make(fine: Generator, coarse: Generator, number: int) -> bool:
    """Whether i*a + j*b is the number for some i < n and j < m; a and b have no common divisor."""
    (a, n), (b, m) = fine, coarse
    # j*b and the number leave the same rest modulo a: that fixes j modulo a.
    lowest, highest = max(0, -((a * (n - 1) - number) // b)), min(m - 1, number // b)
    return lowest + (number * pow(b, -1, a) - lowest) % a <= highest


def _count(level: Level, budget: Budget) -> int:
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
    """Three or more generators: a table, but only as long as the pattern is new."""
    k = max(range(len(generators)), key=lambda k: generators[k][1])
    c, n = generators[k]
    others = (*generators[:k], *generators[k + 1 :])
    # Copies of the others that are `meeting` or more steps apart cannot meet: from then on each
    # further step of c adds as many new numbers as the one before.
    meeting = reach(others) // c + 1
    if n <= meeting:
        return table(generators, budget).bit_count()
    shorter, short = (
        count(cut(normal_form(0, (*others, (c, size)))[1]), budget) if size else 0
        for size in (meeting - 1, meeting)
    )
    return short + (n - meeting) * (short - shorter)
