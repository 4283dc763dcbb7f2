"""Memory sets: the exact bytes that a tensor's indices reach, in sets that are never enumerated.

The memory set of a layout is the set of byte addresses

    itemsize * (storage_offset + i*stride[0] + j*stride[1] + …) + k    for all indices, 0 <= k < itemsize

so the itemsize is one more generator, (1, itemsize), of a strided set. A question about 10**12
elements costs as much as one about a thousand, and only iteration visits bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from stridekit._arguments import a_kind, many, positive, shown
from stridekit._table import html_table
from stridekit.layout import Layout
from stridekit.memory.blocks import Blocks, blocks
from stridekit.memory.inclusion import includes
from stridekit.memory.strided_set import (
    BUDGET,
    Budget,
    Generator,
    Level,
    Undecided,
    collide,
    contains,
    count,
    cut,
    intersects,
    iter_set,
    normal_form,
    reach,
)
from stridekit.memory.union import count_union

__all__ = ["MemorySet", "Undecided", "count_together", "generators_of", "has_collision"]

# Names of the spaces of Layouts, one for each storage, begin with this; tensors and arrays have the
# name of their device.
_STORAGE = "storage"


class MemorySet:
    """A set of byte addresses in one address space, with the protocol of Python's frozenset.

    `<=`, `<`, `==`, `isdisjoint`, `in`, `len`, `hash`, and lazy iteration in ascending order, but
    not union and difference. The named methods take a `budget` of steps, ten microseconds or so
    each, and raise Undecided if an exact answer would cost more; operators have the default budget,
    and iteration for each byte. Addresses of two spaces never meet. Those of a Layout count from
    its storage: comparing them with those of a device raises ValueError, also with `==`.
    `stridekit.memset(x)` makes one.

    >>> x, column = MemorySet.of(Layout((4, 6))), MemorySet.of(Layout((4, 6))[:, 2])
    >>> column
    MemorySet(4 bytes: 2 + 6*[0, 4))
    >>> column <= x, len(column), 8 in column, list(column)
    (True, 4, True, [2, 8, 14, 20])
    """

    space: str  # "cpu" or another device; "storage", and its name, where addresses count from its start
    first: int  # the lowest byte
    stop: int  # the highest byte, plus 1; equal to first in an empty set
    _generators: tuple[Generator, ...]
    __array_ufunc__ = None  # NumPy would compare with each element of an array

    def __init__(self, start: int, generators: Sequence[Generator], space: str) -> None:
        """Hold the bytes `start + sum of c*[0, n)` over all generators (c, n); a count of 0 empties it."""
        first = length = 0
        normal: tuple[Generator, ...] = ()
        if all(n for _, n in generators):
            first, normal = normal_form(start, generators)
            length = reach(normal) + 1
        vars(self).update(space=space, first=first, stop=first + length, _generators=normal)

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError("a MemorySet never changes: memset(x) makes another")

    __delattr__ = __setattr__

    @cached_property
    def _levels(self) -> list[Level]:
        return cut(self._generators)

    @classmethod
    def of(cls, layout: Layout) -> MemorySet:
        """Return the bytes that a layout reaches, counted from the start of its storage.

        >>> MemorySet.of(Layout((2, 3), (8, 1), storage_offset=1, itemsize=4))
        MemorySet(24 bytes: 4 + 32*[0, 2) + [0, 12))
        """
        if not isinstance(layout, Layout):
            raise TypeError(f"{shown(layout)} is not a Layout: give memset(x) for anything else")
        return cls(*generators_of(layout))

    @property
    def counts_from_storage(self) -> bool:
        """True if addresses count from the start of a storage, like a Layout's, not on a device."""
        return self.space.startswith(_STORAGE)

    @property
    def where(self) -> str:
        """The space as a phrase: "in the storage", "on cpu"."""
        if self.space == _STORAGE:
            return "in the storage"
        return f"{'in' if self.counts_from_storage else 'on'} {self.space}"

    # The protocol of sets -------------------------------------------------------------------------

    def issubset(self, other: MemorySet, budget: int = BUDGET) -> bool:
        """Return True if every byte of this set is in the other; the empty set is a subset of any set.

        >>> rows = Layout((10**6, 10**6))  # 10**12 elements
        >>> MemorySet.of(rows.diagonal()).issubset(MemorySet.of(rows))
        True
        """
        return self._lies_in(other, Budget(budget))

    def issuperset(self, other: MemorySet, budget: int = BUDGET) -> bool:
        """Return True if every byte of the other set is in this one."""
        _require_comparable(self, other)
        return other.issubset(self, budget)

    def isdisjoint(self, other: MemorySet, budget: int = BUDGET) -> bool:
        """Return True if the sets have no byte in common."""
        _require_comparable(self, other)
        steps = Budget(budget)
        if self.space != other.space or not (self and other):
            return True
        if self.first >= other.stop or other.first >= self.stop:
            return True
        shift = other.first - self.first
        return not intersects(self._generators, other._generators, shift, steps)

    def count(self, budget: int = BUDGET) -> int:
        """Count the bytes in the set: `len` for any size, and with a budget."""
        return count(self._levels, Budget(budget)) if self else 0

    def blocks(self, size: int = 64, budget: int = BUDGET) -> Blocks:
        """Count the aligned blocks of `size` bytes that the set touches, and the filled blocks.

        64 for the cache lines of most CPUs, 32 for the sectors of a GPU, 4096 for pages. Blocks are
        aligned like addresses, and those of a Layout count from the start of its storage. Raises
        LayoutError for a size below 1, Undecided if the answer would cost more than the budget.

        >>> column = MemorySet.of(Layout((10**6, 10**6), itemsize=4)[:, 7])
        >>> column.blocks()
        Blocks(size=64, touched=1000000, filled=0)
        """
        steps = Budget(budget)
        if not self:
            return Blocks(positive("size", size), 0, 0)
        return blocks((self.first, self._generators), positive("size", size), steps)

    def __le__(self, other: object) -> bool:
        return self.issubset(other) if isinstance(other, MemorySet) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return other.issubset(self) if isinstance(other, MemorySet) else NotImplemented

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, MemorySet):
            return NotImplemented
        steps = Budget(BUDGET)  # one for both questions
        return self._lies_in(other, steps) and not other._lies_in(self, steps)

    def __gt__(self, other: object) -> bool:
        return other < self if isinstance(other, MemorySet) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemorySet):
            return NotImplemented
        if not (self and other):
            return not (self or other)
        _require_comparable(self, other)
        same = (self.space, self.first, self.stop) == (other.space, other.first, other.stop)
        if not same or self._generators == other._generators:
            return same
        # If each level has one generator, no other normal form makes the same set.
        if all(len(a._levels) == len(a._generators) for a in (self, other)):
            return False
        steps = Budget(BUDGET)
        return self._lies_in(other, steps) and other._lies_in(self, steps)

    def __hash__(self) -> int:
        # Not the generators: if steps interleave, several normal forms make one set.
        return hash((self.space, self.first, self.stop) if self else ())

    def __contains__(self, address: Any) -> bool:
        try:
            number = operator.index(address)
        except Exception:  # TypeError, and what torch raises for tensors without a number
            raise TypeError(f"{shown(address)} is not an address: give an int") from None
        return bool(self) and contains(self._levels, number - self.first, Budget(BUDGET))

    def __bool__(self) -> bool:
        return self.first < self.stop

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[int]:
        for number in iter_set(self._levels, Budget(BUDGET)) if self else ():
            yield self.first + number

    def __repr__(self) -> str:
        if not self:
            return "MemorySet(empty)"
        where = "" if self.space == _STORAGE else f" {self.where}"
        return f"MemorySet({self._size()}{where}: {self._addresses()})"

    def _repr_html_(self) -> str:
        rows = [("size", self._size()), ("where", self.where), ("addresses", self._addresses())]
        return html_table("MemorySet", rows if self else [("size", "empty")], align="<")

    def _size(self) -> str:
        """Return the number of bytes in words."""
        try:
            return many(self.count(), "byte", ",")
        except Undecided:
            return "an undecided number of bytes"

    def _addresses(self) -> str:
        """Return the sum that makes the addresses, as in `2 + 6*[0, 4)`."""
        # The address on a device differs from run to run, so it is left out.
        terms = [str(self.first)] if self.counts_from_storage else []
        for c, n in reversed(self._generators):
            terms.append(f"{c}*[0, {n})" if c > 1 else f"[0, {n})")
        return " + ".join(terms) or "[0, 1)"

    def _lies_in(self, other: MemorySet, steps: Budget) -> bool:
        """Return the result of `issubset`, and spend the steps that a budget has left."""
        _require_comparable(self, other)
        if not self:
            return True
        if self.space != other.space or self.first < other.first or self.stop > other.stop:
            return False
        if self.first == other.first and self._generators == other._generators:
            return True
        shifted = (self.first - other.first, self._generators)
        return includes(other._levels, shifted, steps)


def generators_of(layout: Layout) -> tuple[int, list[Generator], str]:
    """Return the start, the generators (byte stride, size) and the space of a layout's memory set."""
    itemsize = layout.itemsize
    dims = zip(layout.stride, layout.shape, strict=True)
    generators = [(itemsize * step, size) for step, size in dims]
    generators.append((1, itemsize))
    space = f"{_STORAGE} {layout.storage!r}" if layout.storage else _STORAGE
    return itemsize * layout.storage_offset, generators, space


def count_together(sets: Sequence[MemorySet], budget: Budget) -> int:
    """Count the bytes of one address space that belong to at least one of the sets."""
    return count_union([(x.first, x._generators) for x in sets if x], budget)


def has_collision(generators: Sequence[Generator], budget: int = BUDGET) -> bool:
    """Return True if two choices of digits make one number: for a tensor, if two indices share a byte.

    The generators are those of a MemorySet before anything is merged: the set alone cannot tell.
    """
    return all(n for _, n in generators) and collide(generators, Budget(budget))


def _require_comparable(a: MemorySet, b: Any) -> None:
    """Raise TypeError if b is not a set, ValueError if only one set counts from a storage."""
    if not isinstance(b, MemorySet):
        raise TypeError(f"{shown(b)} is {a_kind(b)}, not a MemorySet: give memset(x)")
    if a.counts_from_storage != b.counts_from_storage:
        raise ValueError(
            "one set has the addresses of a device, the other counts from the start of a storage, as those "
            "of a Layout do: compare two tensors, or Layout.of(t) with the Layout"
        )
