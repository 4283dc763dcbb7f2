"""How many different elements a layout reaches, counted exactly and without visiting them.

A layout's elements are `base + sum of c * [0, n)` over its *generators* (c, n), one a dim: step c, n
times. Where a coarse step is wider than everything below it, digits are unique as in a number system
and counts multiply. So the generators are sorted, merged, and cut into *levels* at exactly those
places; only inside a level, where steps interleave, is there anything to work out.
"""

from __future__ import annotations

from math import gcd, prod

from stridekit.layout import Layout

Generator = tuple[int, int]  # (step, count): the numbers 0, step, 2 * step, …

# A bit table of this many bits (32 MiB) still takes a fraction of a second.
_BITS = 1 << 28


class Undecided(RuntimeError):
    """The exact answer would cost more than the budget: no answer, rather than a guess."""


def count_elements(layout: Layout, budget: int = _BITS) -> int:
    """How many different elements of the storage the layout's indices reach.

    Fewer than `layout.numel` means that some indices share an element. O(ndim) for what view
    operations make; where steps of several dims interleave, a table of at most `budget` bits is
    filled, and Undecided raised where it would not fit.

    >>> count_elements(Layout((4, 6), (8, 1)))
    24
    >>> count_elements(Layout((8, 3), (1, 1)))  # windows of 3 over 10 elements
    10
    >>> count_elements(Layout((1000, 1000, 1000, 1000)).diagonal())
    1000000000
    """
    if layout.numel == 0:
        return 0
    steps = zip(layout.stride, layout.shape, strict=True)
    generators = sorted((abs(c), n) for c, n in steps if n > 1 and c != 0)
    return prod(_count_level(level, budget) for level in _levels(_coalesce(generators)))


def _coalesce(generators: list[Generator]) -> list[Generator]:
    """Merge sorted generators that together step evenly; the set they generate stays the same."""
    merged: list[Generator] = []
    for c, n in generators:
        if merged:
            step, count = merged[-1]
            if c % step == 0 and c // step <= count:
                merged[-1] = (step, count + c // step * (n - 1))
                continue
        merged.append((c, n))
    return merged


def _levels(generators: list[Generator]) -> list[list[Generator]]:
    """Cut where the steps above have a common divisor wider than everything below can reach."""
    levels: list[list[Generator]] = []
    while generators:
        divisor, first = 0, len(generators)
        while first and (divisor == 0 or divisor <= _reach(generators[:first])):
            first -= 1
            divisor = gcd(divisor, generators[first][0])
        levels.append(generators[first:])
        generators = generators[:first]
    return levels


def _reach(generators: list[Generator]) -> int:
    """The largest number that the generators make."""
    return sum(c * (n - 1) for c, n in generators)


def _count_level(level: list[Generator], budget: int) -> int:
    if len(level) == 1:
        return level[0][1]
    divisor = gcd(*(c for c, _ in level))
    level = [(c // divisor, n) for c, n in level]
    if len(level) == 2:
        # i*a + j*b with a, b coprime repeats exactly when (i, j) moves by a multiple of (b, -a).
        (a, n), (b, m) = level
        return n * m - max(0, n - b) * max(0, m - a)
    if _reach(level) >= budget:
        raise Undecided(
            f"counting {prod(n for _, n in level)} interleaved indices takes a table of "
            f"{_reach(level) + 1} bits, more than the budget of {budget}: raise the budget"
        )
    table = 1  # bit k is set when the number k is reached
    for c, n in level:
        table = _repeat(table, c, n)
    return table.bit_count()


def _repeat(table: int, step: int, count: int) -> int:
    """The table or-ed with itself shifted by 0, step, … (count - 1) * step, in log(count) shifts."""
    done = 1
    while done < count:
        more = min(done, count - done)
        table |= table << (more * step)
        done += more
    return table
