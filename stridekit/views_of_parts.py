"""Views of a part: one index, a slice, pieces, a diagonal, windows.

They all rest on one step: moving the start along a dim moves the offset by that many strides, and
stepping along a dim multiplies its stride.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Any, Self

from stridekit._arguments import LayoutError, basic_index, int_, ints
from stridekit._strided import change, drop
from stridekit.views_of_dims import ViewsOfDims

# Of one layout cut into pieces, each of which is an object with the numbers of all its dims.
MOST_PIECES, MOST_NUMBERS = 50_000, 100_000


class ViewsOfParts(ViewsOfDims):
    """torch's view operations that keep some of the elements."""

    __slots__ = ()

    # One index, or a range of them --------------------------------------------------------------

    def __getitem__(self, index: Any) -> Self:
        """Basic indexing: ints, slices with a positive step, `...` and None, as torch does it.

        Raises IndexError for an int out of range, LayoutError for lists, masks and tensors: those
        gather into a new storage, so the result is no layout of this one.

        >>> Layout((2, 3, 4))[1, ..., ::2]
        Layout(shape=(3, 2), stride=(4, 2), storage_offset=12, itemsize=1)
        """
        items = index if isinstance(index, tuple) else (index,)
        used = sum(item is not None and item is not Ellipsis for item in items)
        if used > self.ndim:
            raise IndexError(f"{used} indices for shape {self.shape}: it has {self.ndim} dims")
        result, d = self, 0
        for item in items:
            if item is Ellipsis:
                d += self.ndim - used
            elif d > result.ndim - (item is not None):
                # Each `...` skips all that it can; torch reads sizes past the end here.
                raise IndexError(
                    "a second ... leaves no dim for what follows: give one at the most"
                )
            elif item is None:
                result, d = result.unsqueeze(d), d + 1
            elif isinstance(item, slice):
                result, d = result._slice(d, item), d + 1
            else:
                result = result.select(d, basic_index(item))
        return result

    def select(self, dim: int, index: int) -> Self:
        """`x.select(dim, index)`: one index of a dim, which disappears.

        >>> Layout((4, 6)).select(1, 2)
        Layout(shape=(4,), stride=(6,), storage_offset=2, itemsize=1)
        """
        dim, index = self._dim_to_cut(dim), int_("index", index)
        moved = self.storage_offset + self._in_range(dim, index) * self.stride[dim]
        return self._view(drop(self.shape, dim), drop(self.stride, dim), moved)

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """`x.unbind(dim)`: `select` for each index of a dim.

        >>> [column.storage_offset for column in Layout((4, 3)).unbind(1)]
        [0, 1, 2]
        """
        dim = self._dim_to_cut(dim)
        return tuple(self.select(dim, i) for i in range(self._pieces(self.shape[dim])))

    def narrow(self, dim: int, start: int, length: int) -> Self:
        """`x.narrow(dim, start, length)`: `length` indices of a dim; a negative start counts from the end.

        Raises IndexError for a start outside the dim, LayoutError for a length that does not fit.

        >>> Layout((4, 6)).narrow(1, 2, 3)
        Layout(shape=(4, 3), stride=(6, 1), storage_offset=2, itemsize=1)
        """
        dim = self._dim_to_cut(dim)
        size, start, length = self.shape[dim], int_("start", start), int_("length", length)
        if not -size <= start <= size:
            raise IndexError(
                f"start {start} is out of range for dim {dim} of size {size}: use {-size} to {size}"
            )
        start += size if start < 0 else 0
        if not 0 <= length <= size - start:
            raise LayoutError(
                f"length {length} does not fit dim {dim} of size {size} behind start {start}: "
                f"use 0 to {size - start}"
            )
        return self._slice(dim, slice(start, start + length))

    # Pieces, one behind the other ---------------------------------------------------------------

    def split(self, split_size: int | Iterable[int], dim: int = 0) -> tuple[Self, ...]:
        """`x.split(split_size, dim)`: pieces of that size, the last one smaller; or of given sizes.

        >>> [piece.shape for piece in Layout((7, 2)).split(3)]
        [(3, 2), (3, 2), (1, 2)]
        """
        if isinstance(split_size, Iterable):
            return self.split_with_sizes(split_size, dim)
        dim, piece = self._dim_to_cut(dim), int_("split_size", split_size)
        size = self.shape[dim]
        if piece < 0 or (piece == 0 and size != 0):
            raise LayoutError(f"split_size {piece} never gets through dim {dim} of size {size}")
        self._pieces(-(-size // max(piece, 1)))
        # An empty dim still gives one piece, which is empty.
        return self._cut(dim, [*range(0, size, piece), size] if size else [0, 0])

    def split_with_sizes(self, split_sizes: Iterable[int], dim: int = 0) -> tuple[Self, ...]:
        """`x.split_with_sizes(split_sizes, dim)`: pieces of these sizes, which add up to the dim's.

        >>> [piece.storage_offset for piece in Layout((7,)).split_with_sizes([2, 4, 1])]
        [0, 2, 6]
        """
        dim, sizes = self._dim_to_cut(dim), ints("split_sizes", split_sizes)
        if min(sizes, default=0) < 0 or sum(sizes) != self.shape[dim]:
            raise LayoutError(
                f"split_sizes {sizes} add up to {sum(sizes)}, dim {dim} has size {self.shape[dim]}: "
                "give sizes of 0 or more that add up to it"
            )
        return self._cut(dim, [0, *accumulate(sizes)])

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """`x.chunk(chunks, dim)`: `split` by size / chunks, rounded up; so there may be fewer pieces.

        >>> [piece.shape for piece in Layout((6,)).chunk(4)]
        [(2,), (2,), (2,)]
        """
        dim, count = self._dim_to_cut(dim), _positive("chunks", chunks)
        if self.shape[dim] == 0:
            return self._cut(dim, [0] * (self._pieces(count) + 1))
        return self.split(-(-self.shape[dim] // count), dim)

    def tensor_split(
        self, indices_or_sections: int | Iterable[int], dim: int = 0
    ) -> tuple[Self, ...]:
        """`x.tensor_split(…, dim)`: so many pieces, the first ones one longer; or cut before the indices.

        Indices may be negative, too large and in any order: each piece is the slice between two.

        >>> [piece.shape for piece in Layout((7,)).tensor_split(3)]
        [(3,), (2,), (2,)]
        >>> [piece.shape for piece in Layout((7,)).tensor_split([1, -2])]
        [(1,), (4,), (2,)]
        """
        dim = self._dim_to_cut(dim)
        size = self.shape[dim]
        if isinstance(indices_or_sections, Iterable):
            return self._cut(dim, [0, *ints("indices", indices_or_sections), size])
        count = self._pieces(_positive("sections", indices_or_sections))
        longer = size % count
        return self._cut(dim, [i * (size // count) + min(i, longer) for i in range(count + 1)])

    def hsplit(self, *indices_or_sections: int | Iterable[int]) -> tuple[Self, ...]:
        """`x.hsplit(…)`: equal pieces along dim 1 (dim 0 if there is one dim), or cut before the indices.

        >>> [piece.shape for piece in Layout((4, 6)).hsplit(2)]
        [(4, 3), (4, 3)]
        """
        dim = 0 if self.ndim == 1 else 1
        return self._split_evenly("hsplit", dim, dim + 1, indices_or_sections)

    def vsplit(self, *indices_or_sections: int | Iterable[int]) -> tuple[Self, ...]:
        """`x.vsplit(…)`: equal pieces along dim 0 of at least two dims, or cut before the indices."""
        return self._split_evenly("vsplit", 0, 2, indices_or_sections)

    def dsplit(self, *indices_or_sections: int | Iterable[int]) -> tuple[Self, ...]:
        """`x.dsplit(…)`: equal pieces along dim 2, or cut before the indices."""
        return self._split_evenly("dsplit", 2, 3, indices_or_sections)

    # Across dims --------------------------------------------------------------------------------

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Self:
        """`x.diagonal(offset, dim1, dim2)`: one step along the diagonal is a step along both dims.

        >>> Layout((4, 6)).diagonal()
        Layout(shape=(4,), stride=(7,), storage_offset=0, itemsize=1)
        """
        offset, a, b = int_("offset", offset), self._dim(dim1), self._dim(dim2)
        if a == b:
            raise LayoutError(f"dim1 and dim2 are both {a}: a diagonal needs two different dims")
        rows, columns = self.shape[a] + min(offset, 0), self.shape[b] - max(offset, 0)
        size = max(min(rows, columns), 0)
        start = max(offset, 0) * self.stride[b] - min(offset, 0) * self.stride[a]
        rest = [d for d in range(self.ndim) if d not in (a, b)]
        return self._view(
            [*(self.shape[d] for d in rest), size],
            [*(self.stride[d] for d in rest), self.stride[a] + self.stride[b]],
            self.storage_offset + (start if size else 0),
        )

    def unfold(self, dimension: int, size: int, step: int) -> Self:
        """`x.unfold(dimension, size, step)`: windows of `size`, each `step` behind the one before.

        The windows are a new last dim with the old stride, so they share elements where
        step < size. A 0-d layout counts as one element.

        >>> Layout((10,)).unfold(0, 4, 2)
        Layout(shape=(4, 4), stride=(2, 1), storage_offset=0, itemsize=1)
        """
        dim, size, step = self._dim(dimension), int_("size", size), _positive("step", step)
        length, stride = (self.shape[dim], self.stride[dim]) if self.shape else (1, 1)
        if not 0 <= size <= length:
            raise LayoutError(f"a window of {size} does not fit dim {dim} of size {length}")
        if not self.shape:
            return self._view((size,), (stride,))
        return self._view(
            (*change(self.shape, dim, (length - size) // step + 1), size),
            (*change(self.stride, dim, stride * step), stride),
        )

    # Helpers ------------------------------------------------------------------------------------

    def _slice(self, dim: int, item: slice) -> Self:
        if item.step is not None and basic_index(item.step) < 1:
            raise LayoutError(
                f"slice step {item.step} is not positive: torch has no negative "
                "strides, use .flip (a copy)"
            )
        first = None if item.start is None else basic_index(item.start)
        last = None if item.stop is None else basic_index(item.stop)
        start, stop, step = slice(first, last, item.step).indices(self.shape[dim])
        return self._view(
            change(self.shape, dim, len(range(start, stop, step))),
            change(self.stride, dim, self.stride[dim] * step),
            # torch moves the offset even when nothing is left.
            self.storage_offset + start * self.stride[dim],
        )

    def _pieces(self, count: int) -> int:
        """The count, where so many pieces can be made."""
        most = min(MOST_PIECES, MOST_NUMBERS // max(self.ndim, 1))
        if count > most:
            raise LayoutError(
                f"that would be {count:,} layouts of {self.ndim} dims, {most:,} are the most: "
                "ask for single ones by select or narrow"
            )
        return count

    def _cut(self, dim: int, bounds: list[int]) -> tuple[Self, ...]:
        """The slices between neighbouring bounds."""
        self._pieces(len(bounds) - 1)
        return tuple(self._slice(dim, slice(start, stop)) for start, stop in pairwise(bounds))

    def _split_evenly(
        self, name: str, dim: int, least_ndim: int, args: tuple[Any, ...]
    ) -> tuple[Self, ...]:
        """`tensor_split`, but sections have to be of one size."""
        if self.ndim < least_ndim:
            raise LayoutError(
                f"{name} takes {least_ndim} dims or more, shape {self.shape} has {self.ndim}"
            )
        argument = args[0] if len(args) == 1 else args
        if not isinstance(argument, Iterable):
            count = self._pieces(_positive("sections", argument))
            if self.shape[dim] % count:
                raise LayoutError(
                    f"dim {dim} of size {self.shape[dim]} does not divide into {count} equal "
                    "sections: use tensor_split, whose sections may differ by one"
                )
        return self.tensor_split(argument, dim)


def _positive(name: str, value: Any) -> int:
    number = int_(name, value)
    if number < 1:
        raise LayoutError(f"{name} is {number}: give 1 or more")
    return number
