"""What the families of operations need of a layout: its numbers, and a way to make the next one.

`Layout` is assembled from these families, each in a module of its own: they read the numbers named
here, compute new ones, and hand them to `_view`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Self

from stridekit._arguments import wrap_dim


class Strided:
    """Shape, stride and storage_offset in elements, itemsize in bytes, as `Layout` holds them."""

    __slots__ = ()

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    storage_offset: int
    itemsize: int

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """The number of indices: the product of the shape, 1 for a 0-d layout."""
        return prod(self.shape)

    @property
    def span(self) -> range:
        """The elements of the storage from the lowest reached to the highest; empty if none is.

        >>> Layout((4, 6), (8, 1), 2).span
        range(2, 32)
        """
        if self.numel == 0:
            return range(self.storage_offset, self.storage_offset)
        steps = [(n - 1) * s for n, s in zip(self.shape, self.stride, strict=True)]
        low = self.storage_offset + sum(step for step in steps if step < 0)
        high = self.storage_offset + sum(step for step in steps if step > 0)
        return range(low, high + 1)

    def _view(
        self,
        shape: Iterable[int] | None = None,
        stride: Iterable[int] | None = None,
        storage_offset: int | None = None,
        itemsize: int | None = None,
    ) -> Self:
        """A view: these numbers, and the old ones where none are given."""
        raise NotImplementedError

    def _copy(self, shape: tuple[int, ...], stride: tuple[int, ...], itemsize: int) -> Self:
        """A copy: these numbers, counted in a storage of its own."""
        raise NotImplementedError

    def _dim(self, dim: int) -> int:
        return wrap_dim(dim, self.ndim, self.shape)

    def _dim_to_cut(self, dim: int) -> int:
        """The dim counted from 0; unlike `_dim`, a 0-d layout has none."""
        if not self.shape:
            raise IndexError("a 0-d layout has one element and no dims: there is nothing to cut")
        return self._dim(dim)

    def _in_range(self, dim: int, i: int) -> int:
        """The index of a dim counted from 0."""
        size = self.shape[dim]
        if not -size <= i < size:
            advice = f"use {-size} to {size - 1}" if size else "it has no elements"
            raise IndexError(f"index {i} is out of range for dim {dim} of size {size}: {advice}")
        return i % size


def insert(values: tuple[int, ...], position: int, new: int) -> tuple[int, ...]:
    """The values with a new one before `position`."""
    return (*values[:position], new, *values[position:])


def change(values: tuple[int, ...], position: int, *new: int) -> tuple[int, ...]:
    """The values with the one at `position` changed to one or several others."""
    return (*values[:position], *new, *values[position + 1 :])


def drop(values: tuple[int, ...], position: int) -> tuple[int, ...]:
    """The values without the one at `position`."""
    return values[:position] + values[position + 1 :]
