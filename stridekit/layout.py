"""Layout: the place of each element of a tensor, as a value without a tensor.

Everything here follows from one formula. The element at index (i, j, …) is number

    storage_offset + i * stride[0] + j * stride[1] + …

of the storage, and its address is that number times `itemsize` bytes. Shapes, strides and offsets
count elements; only addresses count bytes.

A dim is a pair of a size and a stride. A view operation reorders these pairs, changes one, drops or
adds one, and may move the offset; `_view` builds the next layout from them. A copy starts a storage
of its own. Each operation of torch is one short method, and all of them are here; what has to walk
the dims is in `rules`, on bare ints. No torch is needed: `Layout.of` asks a tensor or an array for
its numbers. Only `empty`, and `of` for objects of other libraries, import it by way of `_torch`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

from stridekit import rules
from stridekit._arguments import (
    MAX_INT,
    DType,
    LayoutError,
    Strided,
    basic_index,
    different_dims,
    element_bytes,
    int_,
    ints,
    is_dtype,
    is_sequence,
    items_of,
    itemsize_of,
    many,
    numbers_of,
    positive,
    shape_of,
    shown,
    varargs,
    wrap_dim,
    wrap_index,
    wrong_argument_error,
)
from stridekit._table import html_table
from stridekit._torch import as_plain, borrowed, empty_storage

if TYPE_CHECKING:
    from stridekit._torch import Tensor

__all__ = ["Layout", "LayoutError"]

Dim = tuple[int, int]  # its size, and its stride in elements

MOST_DIMS = 1000  # torch loops over at most 64; with many more, some questions here would take long

# Limits for split and unbind: the pieces, and the ints that all pieces hold together.
MOST_PIECES = 50_000
MOST_NUMBERS = 100_000

# The limits of a torch tensor: the sizes of an element in bytes, and numbers of 64 bits.
_TORCH_ITEMSIZES = (1, 2, 4, 8, 16)
_LARGEST_OF_TORCH = 2**63 - 1

# The bytes of torch's complex dtypes: a real and an imaginary number of half as many each.
_COMPLEX_ITEMSIZES = (4, 8, 16)

_NEW_STORAGE = re.compile("new [0-9]+")  # the names that operations give to new storages
_storage_numbers = itertools.count(1)


def new_storage() -> str:
    """Return a new name of a storage."""
    return f"new {next(_storage_numbers)}"


def _chosen_itemsize(dtype: Any, itemsize: Any, default: int) -> int:
    """Return the itemsize that is given as such or by a dtype, or the default if neither is."""
    if dtype is not None and itemsize is not None:
        raise LayoutError("dtype and itemsize are both given: a dtype has an itemsize of its own")
    if dtype is not None:
        return element_bytes("dtype", dtype)
    return default if itemsize is None else int_("itemsize", itemsize)


@dataclass(frozen=True, slots=True, init=False)
class Layout:
    """Shape, stride and storage_offset in elements, itemsize in bytes: an immutable value.

    Methods carry torch's names and return new layouts, with the numbers that torch would give.
    Without a stride the layout is contiguous (row-major). The itemsize may be given by a `dtype` of
    torch or NumPy, or by its name; the layout keeps the size alone. Layouts with the same name of a
    storage, or without one, share that storage. Views keep the name, and a copy gets a new one; the
    name is part of the value. Raises LayoutError for numbers that fit no tensor or array. Only
    arrays have negative strides.

    >>> x = Layout((4, 6), itemsize=4)
    >>> x[1:, ::2]
    Layout(shape=(3, 3), stride=(6, 2), storage_offset=6, itemsize=4)
    >>> x[1:, ::2].offset((2, 1)), x[1:, ::2].address((2, 1))
    (20, 80)
    >>> Layout((4, 6), storage="weights", dtype="float16")[0]
    Layout(shape=(6,), stride=(1,), storage_offset=0, itemsize=2, storage='weights')
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    storage_offset: int
    itemsize: int
    storage: str = field(kw_only=True)

    def __init__(
        self,
        shape: Iterable[int],
        stride: Iterable[int] | None = None,
        storage_offset: int = 0,
        itemsize: int | None = None,
        *,
        dtype: DType | None = None,
        storage: str = "",
    ) -> None:
        set_field = object.__setattr__  # the value is frozen from here on
        set_field(self, "shape", ints("shape", shape))
        if len(self.shape) > MOST_DIMS:
            raise LayoutError(f"{len(self.shape):,} dims are more than a layout has: {MOST_DIMS:,}")
        if stride is None:
            stride = rules.contiguous_stride(self.shape)
        set_field(self, "stride", ints("stride", stride))
        set_field(self, "storage_offset", int_("storage_offset", storage_offset))
        if dtype is not None and not is_dtype(dtype):
            raise wrong_argument_error("dtype", dtype, "give one of torch or NumPy, or its name")
        set_field(self, "itemsize", _chosen_itemsize(dtype, itemsize, 1))
        if not isinstance(storage, str):
            raise wrong_argument_error("storage", storage, "give its name, a str")
        set_field(self, "storage", storage)
        if len(self.shape) != len(self.stride):
            raise LayoutError(
                f"shape {self.shape} has {len(self.shape)} dims but stride {self.stride} has "
                f"{len(self.stride)}: give one stride for each dim"
            )
        if min(self.shape, default=0) < 0:
            d = next(d for d, size in enumerate(self.shape) if size < 0)
            raise LayoutError(f"size {self.shape[d]} of dim {d} is negative: sizes are 0 or more")
        if self.itemsize < 1:
            raise LayoutError(f"itemsize is {self.itemsize} bytes: an element has at least 1")
        if prod(self.shape) > MAX_INT:
            raise LayoutError("the sizes multiply to more than 2**4096 elements: give smaller ones")
        # Only what is negative can point below the storage.
        if min(self.storage_offset, *self.stride, 0) < 0 and self.span.start < 0:
            raise LayoutError(
                f"shape {self.shape}, stride {self.stride}, storage_offset {self.storage_offset} "
                f"reaches element {self.span.start}: a storage starts at 0, so raise the offset"
            )

    def __repr__(self) -> str:
        storage = f", storage={self.storage!r}" if self.storage else ""
        return (
            f"Layout(shape={self.shape}, stride={self.stride}, "
            f"storage_offset={self.storage_offset}, itemsize={self.itemsize}{storage})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("shape", str(self.shape)),
            ("stride", str(self.stride)),
            ("storage_offset", str(self.storage_offset)),
            ("itemsize", str(self.itemsize)),
        ]
        if self.storage:
            rows.append(("storage", self.storage))
        return html_table("Layout", rows, align="<")

    def __contains__(self, value: Any) -> NoReturn:
        """Raise TypeError: `value in x` asks a tensor for a value, and a layout has none.

        Without this method Python would index until the end, which may be 10**9 rows away.

        >>> 8 in Layout((4, 6))
        Traceback (most recent call last):
        TypeError: a layout has places and no values: ask whether an address is `in memset(x)`
        """
        raise TypeError(
            "a layout has places and no values: ask whether an address is `in memset(x)`"
        )

    @classmethod
    def of(cls, x: Strided) -> Layout:
        """Return the layout of a strided torch tensor or a NumPy array, counted from its storage's start.

        Meta and fake tensors have one too, because no memory is touched. The storage of an array is
        the block at the end of its `.base` chain. Objects of other libraries (JAX, CuPy, Arrow)
        are taken through their `__dlpack__` or `__array_interface__`; their storage begins at
        their first element, and is not copied. Raises TypeError for anything else, and
        LayoutError for tensors without one stride per dim and arrays that do not step by whole
        elements.

        >>> import torch
        >>> Layout.of(torch.arange(24.0).view(4, 6)[:, 2])
        Layout(shape=(4,), stride=(6,), storage_offset=2, itemsize=4)
        """
        return x if isinstance(x, Layout) else cls(*numbers_of(as_plain(borrowed(x))))

    def empty(self, dtype: DType | None = None, *, device: Any = None) -> Tensor:
        """Return a new torch tensor with this layout and any values, on a storage just as long as it needs.

        Without a dtype of this itemsize it has floats, uint8 for 1 byte and complex128 for 16. With
        `device="meta"` it has no memory. Raises LayoutError if no tensor can have the layout
        (`why_not_torch`), and for a dtype of another itemsize.

        >>> x = Layout((4, 6), itemsize=4).t()[1:].empty(device="meta")
        >>> x.dtype, x.stride(), x.storage_offset()
        (torch.float32, (1, 6), 1)
        """
        reason = self.why_not_torch()
        if reason:
            raise LayoutError(f"no torch tensor has this layout: {reason}")
        if dtype is not None and itemsize_of(dtype) != self.itemsize:
            raise LayoutError(
                f"dtype is {shown(dtype)}, the layout has elements of {self.itemsize} bytes: "
                "give a dtype of that itemsize, or change it first by to(dtype)"
            )
        storage = empty_storage(self.span.stop, self.itemsize, dtype, device)
        return storage.as_strided(self.shape, self.stride, self.storage_offset)

    # Facts that follow from the numbers -----------------------------------------------------------

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """The number of indices: the product of the shape, 1 for a 0-d layout."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements: `numel * itemsize`, as torch counts them, not those of the storage."""
        return self.numel * self.itemsize

    @property
    def span(self) -> range:
        """The elements of the storage from the lowest to the highest that is reached; empty if none is.

        >>> Layout((4, 6), (8, 1), 2).span
        range(2, 32)
        """
        if self.numel == 0:
            return range(self.storage_offset, self.storage_offset)
        steps = [(size - 1) * step for size, step in self._dims]
        low = self.storage_offset + sum(step for step in steps if step < 0)
        high = self.storage_offset + sum(step for step in steps if step > 0)
        return range(low, high + 1)

    @property
    def copied(self) -> bool:
        """True if an operation on the way here made a new storage; offsets count from its start.

        >>> Layout((3, 4)).t().reshape(12).copied, Layout((3, 4)).reshape(12).copied
        (True, False)
        """
        return bool(_NEW_STORAGE.fullmatch(self.storage))

    def offset(self, index: int | Iterable[int]) -> int:
        """Return the number of the element at `index`, counted in elements from the storage's start.

        `index` has one int for each dim; negative ones count from the end. Raises IndexError.

        >>> Layout((4, 6), (8, 1), storage_offset=2).offset((2, 3))  # 2 + 2*8 + 3*1
        21
        """
        complete_index = self._complete_index(index)
        steps = [i * step for i, step in zip(complete_index, self.stride, strict=True)]
        return self.storage_offset + sum(steps)

    def address(self, index: int | Iterable[int]) -> int:
        """Return the first byte of the element at `index`, counted in bytes from the storage's start.

        The absolute address is `t.untyped_storage().data_ptr() + Layout.of(t).address(index)`.

        >>> Layout((4, 6), (8, 1), storage_offset=2, itemsize=4).address((2, 3))
        84
        """
        return self.offset(index) * self.itemsize

    def _complete_index(self, index: int | Iterable[int]) -> list[int]:
        """Return the index with one non-negative int for each dim."""
        items = items_of(index)
        if items is None:
            items = (index,)
        if len(items) != self.ndim:
            raise IndexError(
                f"index {shown(items)} has {len(items)} numbers for shape {self.shape}: "
                f"give {self.ndim}, one for each dim"
            )
        return [wrap_index(basic_index(i), d, self.shape[d]) for d, i in enumerate(items)]

    # The next layout, and the dims that an operation names ----------------------------------------

    @property
    def _dims(self) -> list[Dim]:
        """A new list of the dims, which an operation may change."""
        return list(zip(self.shape, self.stride, strict=True))

    def _view(
        self,
        dims: Iterable[Dim] | None = None,
        storage_offset: int | None = None,
        itemsize: int | None = None,
    ) -> Layout:
        """Return a view of the same storage with these numbers; None leaves a number as it is."""
        new_dims = self._dims if dims is None else list(dims)
        return Layout(
            tuple([size for size, _ in new_dims]),
            tuple([step for _, step in new_dims]),
            self.storage_offset if storage_offset is None else storage_offset,
            self.itemsize if itemsize is None else itemsize,
            storage=self.storage,
        )

    def _copy(self, shape: tuple[int, ...], stride: tuple[int, ...], itemsize: int) -> Layout:
        """Return a copy in a storage of its own."""
        return Layout(shape, stride, 0, itemsize, storage=new_storage())

    def _pick(self, order: Iterable[int]) -> Layout:
        """Return a view with these dims, in this order."""
        dims = self._dims
        return self._view([dims[d] for d in order])

    def _dim(self, dim: int) -> int:
        """Return a dim counted from 0."""
        return wrap_dim(dim, self.ndim, self.shape)

    def _existing_dim(self, dim: int) -> int:
        """Return a dim counted from 0; unlike in `_dim`, a 0-d layout is refused."""
        if not self.shape:
            raise IndexError("a 0-d layout has one element and no dims: there is nothing to cut")
        return self._dim(dim)

    # Views of a part: one index, or a range of them -----------------------------------------------

    def __getitem__(self, index: Any) -> Layout:
        """Index like torch with ints, slices with a positive step, `...` and None.

        Raises IndexError for an int out of range, LayoutError for lists, masks and tensors, which
        gather into a new storage.

        >>> Layout((2, 3, 4))[1, ..., ::2]
        Layout(shape=(3, 2), stride=(4, 2), storage_offset=12, itemsize=1)
        """
        items = index if isinstance(index, tuple) else (index,)
        used_dims = sum(item is not None and item is not Ellipsis for item in items)
        if used_dims > self.ndim:
            raise IndexError(f"{used_dims} indices for shape {self.shape}: it has {self.ndim} dims")
        result = self
        d = 0  # the dim of the result that the next item is about
        for item in items:
            last_possible = result.ndim if item is None else result.ndim - 1
            if item is Ellipsis:
                d += self.ndim - used_dims
            elif d > last_possible:
                # A second `...` skips as many dims again, and torch then reads out of bounds.
                raise IndexError("a second ... leaves no dim for what follows: give at most one")
            elif item is None:
                result = result.unsqueeze(d)
                d += 1
            elif isinstance(item, slice):
                result = result._slice(d, item)
                d += 1
            else:
                result = result.select(d, basic_index(item))
        return result

    def _slice(self, dim: int, item: slice) -> Layout:
        """Return `x[item]` along a dim: a new size, a multiple of the stride, and another start."""
        ends = (item.start, item.stop, item.step)
        first, last, step = (None if end is None else basic_index(end) for end in ends)
        if step is not None and step < 1:
            raise LayoutError(
                f"slice step {step} is not positive: torch has no negative strides, use .flip (a copy)"
            )
        dims = self._dims
        size, stride = dims[dim]
        start, stop, step = slice(first, last, step).indices(size)
        dims[dim] = (max(-((start - stop) // step), 0), stride * step)
        # torch moves the offset even when nothing is left.
        return self._view(dims, self.storage_offset + start * stride)

    def select(self, dim: int, index: int) -> Layout:
        """Return `x.select(dim, index)`: one index of a dim, which disappears.

        >>> Layout((4, 6)).select(1, 2)
        Layout(shape=(4,), stride=(6,), storage_offset=2, itemsize=1)
        """
        dim = self._existing_dim(dim)
        index = int_("index", index)
        dims = self._dims
        size, stride = dims.pop(dim)
        return self._view(dims, self.storage_offset + wrap_index(index, dim, size) * stride)

    def unbind(self, dim: int = 0) -> tuple[Layout, ...]:
        """Return `x.unbind(dim)`: `select` for each index of a dim."""
        dim = self._existing_dim(dim)
        self._require_pieces(self.shape[dim])
        return tuple(self.select(dim, i) for i in range(self.shape[dim]))

    def narrow(self, dim: int, start: int, length: int) -> Layout:
        """Return `x.narrow(dim, start, length)`: `length` indices; a negative start counts from the end.

        Raises IndexError for a start outside the dim, LayoutError for a length that does not fit.
        """
        dim = self._existing_dim(dim)
        start = int_("start", start)
        length = int_("length", length)
        size = self.shape[dim]
        if not -size <= start <= size:
            raise IndexError(
                f"start {start} is out of range for dim {dim} of size {size}: use {-size} to {size}"
            )
        if start < 0:
            start += size
        if not 0 <= length <= size - start:
            raise LayoutError(
                f"length {length} does not fit dim {dim} of size {size} after start {start}: "
                f"use 0 to {size - start}"
            )
        return self._slice(dim, slice(start, start + length))

    def narrow_copy(self, dim: int, start: int, length: int) -> Layout:
        """Return `x.narrow_copy(dim, start, length)`: `narrow`, as a contiguous copy in any case."""
        shape = self.narrow(dim, start, length).shape
        return self._copy(shape, rules.contiguous_stride(shape), self.itemsize)

    # Views of parts: pieces, one after the other --------------------------------------------------

    def split(self, split_size: int | Iterable[int], dim: int = 0) -> tuple[Layout, ...]:
        """Return `x.split(split_size, dim)`: pieces of that size, the last one smaller; or of given sizes.

        >>> [piece.shape for piece in Layout((7, 2)).split(3)]
        [(3, 2), (3, 2), (1, 2)]
        """
        if is_sequence(split_size):
            return self.split_with_sizes(split_size, dim)
        dim = self._existing_dim(dim)
        step = int_("split_size", split_size)
        size = self.shape[dim]
        if step < 0 or (step == 0 and size != 0):
            raise LayoutError(f"split_size {step} never gets through dim {dim} of size {size}")
        if size == 0:
            return self._slices(dim, [0, 0])  # one piece, which is empty
        self._require_pieces(-(-size // step))
        return self._slices(dim, [*range(0, size, step), size])

    def split_with_sizes(self, split_sizes: Iterable[int], dim: int = 0) -> tuple[Layout, ...]:
        """Return `x.split_with_sizes(split_sizes, dim)`: pieces of sizes that add up to that dim."""
        dim = self._existing_dim(dim)
        sizes = ints("split_sizes", split_sizes)
        if min(sizes, default=0) < 0 or sum(sizes) != self.shape[dim]:
            raise LayoutError(
                f"split_sizes {sizes} add up to {sum(sizes)}, dim {dim} has size {self.shape[dim]}: "
                "give sizes of 0 or more that add up to it"
            )
        return self._slices(dim, [0, *itertools.accumulate(sizes)])

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Layout, ...]:
        """Return `x.chunk(chunks, dim)`: `split` by size / chunks, rounded up; there may be fewer."""
        dim = self._existing_dim(dim)
        count = positive("chunks", chunks)
        if self.shape[dim] == 0:
            self._require_pieces(count)
            return self._slices(dim, [0] * (count + 1))
        return self.split(-(-self.shape[dim] // count), dim)

    def tensor_split(
        self, indices_or_sections: int | Iterable[int], dim: int = 0
    ) -> tuple[Layout, ...]:
        """Return `x.tensor_split(…, dim)`: sections, the first longer by 1; or pieces cut before indices.

        Indices may be negative, too large and in any order: each piece is the slice between two.

        >>> x = Layout((7,))
        >>> [piece.numel for piece in x.tensor_split(3)], [piece.numel for piece in x.tensor_split([1, -2])]
        ([3, 2, 2], [1, 4, 2])
        """
        dim = self._existing_dim(dim)
        size = self.shape[dim]
        if is_sequence(indices_or_sections):
            return self._slices(dim, [0, *ints("indices", indices_or_sections), size])
        count = positive("sections", indices_or_sections)
        self._require_pieces(count)
        least_size, longer_ones = divmod(size, count)
        bounds = [i * least_size + min(i, longer_ones) for i in range(count + 1)]
        return self._slices(dim, bounds)

    def hsplit(self, *indices_or_sections: int | Iterable[int]) -> tuple[Layout, ...]:
        """Return `x.hsplit(…)`: equal pieces along dim 1 (dim 0 if it is alone), or cut before indices."""
        return self._split_evenly("hsplit", min(self.ndim - 1, 1), 1, indices_or_sections)

    def vsplit(self, *indices_or_sections: int | Iterable[int]) -> tuple[Layout, ...]:
        """Return `x.vsplit(…)`: equal pieces along dim 0 of two dims or more, or cut before indices."""
        return self._split_evenly("vsplit", 0, 2, indices_or_sections)

    def dsplit(self, *indices_or_sections: int | Iterable[int]) -> tuple[Layout, ...]:
        """Return `x.dsplit(…)`: equal pieces along dim 2, or cut before the indices."""
        return self._split_evenly("dsplit", 2, 3, indices_or_sections)

    def _split_evenly(
        self, name: str, dim: int, least_ndim: int, args: tuple[Any, ...]
    ) -> tuple[Layout, ...]:
        """Return `tensor_split` into sections of equal size, or before indices."""
        if not args:
            raise LayoutError(f"{name} has no argument: give a number of sections, or indices")
        if self.ndim < least_ndim:
            raise LayoutError(
                f"{name} takes {many(least_ndim, 'dim')} or more, "
                f"shape {self.shape} has {self.ndim}"
            )
        argument = args[0] if len(args) == 1 else args
        if not is_sequence(argument):
            count = positive("sections", argument)
            self._require_pieces(count)
            size = self.shape[dim]
            if size % count:
                raise LayoutError(
                    f"dim {dim} of size {size} does not divide into {count} equal sections: "
                    "use tensor_split, whose sections may differ by one"
                )
        return self.tensor_split(argument, dim)

    def _slices(self, dim: int, bounds: list[int]) -> tuple[Layout, ...]:
        """Return the slices between neighbouring bounds."""
        self._require_pieces(len(bounds) - 1)
        slices = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
        return tuple(self._slice(dim, piece) for piece in slices)

    def _require_pieces(self, count: int) -> None:
        """Raise LayoutError if so many pieces would take too much memory."""
        most = min(MOST_PIECES, MOST_NUMBERS // max(self.ndim, 1))
        if count > most:
            raise LayoutError(
                f"that would be {count:,} layouts of {self.ndim} dims, {most:,} are the most: "
                "ask for single ones by select or narrow"
            )

    # Views of a part: across dims -----------------------------------------------------------------

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Layout:
        """Return `x.diagonal(offset, dim1, dim2)`: one step along the diagonal is a step along both dims.

        >>> Layout((4, 6)).diagonal()
        Layout(shape=(4,), stride=(7,), storage_offset=0, itemsize=1)
        """
        offset = int_("offset", offset)
        a = self._dim(dim1)
        b = self._dim(dim2)
        if a == b:
            raise LayoutError(f"dim1 and dim2 are both {a}: a diagonal needs two different dims")
        rows, row_step = self._dims[a]
        columns, column_step = self._dims[b]
        # The diagonal starts in the first row or in the first column.
        first_row = max(-offset, 0)
        first_column = max(offset, 0)
        size = max(min(rows - first_row, columns - first_column), 0)
        storage_offset = self.storage_offset
        if size:
            storage_offset += first_row * row_step + first_column * column_step
        kept_dims = [dim for d, dim in enumerate(self._dims) if d not in (a, b)]
        return self._view([*kept_dims, (size, row_step + column_step)], storage_offset)

    def unfold(self, dimension: int, size: int, step: int) -> Layout:
        """Return `x.unfold(dimension, size, step)`: windows of `size`, each `step` after the one before.

        The windows are a new last dim with the old stride, so they share elements if
        step < size. A 0-d layout counts as one element.

        >>> Layout((10,)).unfold(0, 4, 2)
        Layout(shape=(4, 4), stride=(2, 1), storage_offset=0, itemsize=1)
        """
        dim = self._dim(dimension)
        size = int_("size", size)
        step = positive("step", step)
        dims = self._dims
        length, stride = dims[dim] if dims else (1, 1)
        if not 0 <= size <= length:
            raise LayoutError(f"a window of {size} does not fit dim {dim} of size {length}")
        if dims:
            dims[dim] = ((length - size) // step + 1, stride * step)
        return self._view([*dims, (size, stride)])

    # Views of all elements: dims in another order -------------------------------------------------

    def permute(self, *args: int | Iterable[int], dims: Iterable[int] | None = None) -> Layout:
        """Return `x.permute(dims)`: dim d of the result is dim `dims[d]` of this layout.

        >>> Layout((2, 3, 4)).permute(2, 0, 1)
        Layout(shape=(4, 2, 3), stride=(1, 12, 4), storage_offset=0, itemsize=1)
        """
        wanted = varargs("dims", args, dims)
        order = [self._dim(d) for d in wanted]
        if sorted(order) != list(range(self.ndim)):
            raise LayoutError(
                f"{wanted} does not name each dim of shape {self.shape} exactly once: "
                f"use a permutation of {tuple(range(self.ndim))}"
            )
        return self._pick(order)

    def transpose(self, dim0: int, dim1: int) -> Layout:
        """Return `x.transpose(dim0, dim1)`: the two dims change places."""
        a = self._dim(dim0)
        b = self._dim(dim1)
        order = list(range(self.ndim))
        if order:  # a 0-d layout accepts dims 0 and -1, and stays as it is
            order[a], order[b] = order[b], order[a]
        return self._pick(order)

    swapdims = transpose

    def swapaxes(self, axis0: int, axis1: int) -> Layout:
        """Return `x.swapaxes(axis0, axis1)`: NumPy's name of `transpose`."""
        return self.transpose(axis0, axis1)

    def t(self) -> Layout:
        """Return `x.t()`: the transpose of a matrix; fewer dims stay as they are, more are refused."""
        if self.ndim > 2:
            raise LayoutError(
                f"t() is for at most 2 dims, shape {self.shape} has {self.ndim}: "
                "use transpose(dim0, dim1)"
            )
        return self.T if self.ndim == 2 else self

    @property
    def T(self) -> Layout:
        """`x.T`: all dims in reverse order. For other than 2 dims, torch 2.13 warns that it will refuse."""
        return self._pick(range(self.ndim)[::-1])

    @property
    def mT(self) -> Layout:
        """`x.mT`: the transpose of each matrix in a batch: the last two dims change places.

        A single dim is refused; a 0-d layout stays as it is (torch warns there).
        """
        return self._transposed_matrices("mT")

    @property
    def mH(self) -> Layout:
        """`x.mH`: the layout of `mT`; a complex tensor is also marked to be conjugated when read."""
        return self._transposed_matrices("mH")

    def adjoint(self) -> Layout:
        """Return `x.adjoint()`: another name of `mH`."""
        return self._transposed_matrices("adjoint()")

    @property
    def H(self) -> Layout:
        """`x.H`: `mH` of a single matrix."""
        if self.ndim > 2:
            raise LayoutError(
                f"H is for one matrix, shape {self.shape} has {self.ndim} dims: use mH"
            )
        return self._transposed_matrices("H")

    def _transposed_matrices(self, name: str) -> Layout:
        """Return the layout with its last two dims swapped; `name` is the operation's, for the error."""
        if self.ndim == 1:
            raise LayoutError(
                f"{name} is for matrices and batches of them, shape {self.shape} has 1 dim: "
                "unsqueeze(0) or unsqueeze(1) makes a matrix of it"
            )
        return self.transpose(-2, -1) if self.shape else self

    def movedim(self, source: int | Iterable[int], destination: int | Iterable[int]) -> Layout:
        """Return `x.movedim(source, destination)`: some dims to new places, the others keep their order.

        >>> Layout((2, 3, 4)).movedim(0, -1)
        Layout(shape=(3, 4, 2), stride=(4, 1, 12), storage_offset=0, itemsize=1)
        """
        sources = different_dims("source", source, self.shape)
        destinations = different_dims("destination", destination, self.shape)
        from_ = tuple(source) if is_sequence(source) else source
        to = tuple(destination) if is_sequence(destination) else destination
        if len(sources) != len(destinations):
            raise LayoutError(
                f"source {from_} has {many(len(sources), 'dim')} but destination {to} has "
                f"{len(destinations)}: give one destination for each source"
            )
        if isinstance(from_, tuple) != isinstance(to, tuple):
            raise LayoutError(
                f"source {from_} and destination {to} are of two kinds: "
                "give two ints, or two tuples"
            )
        if not self.shape:
            return self  # a 0-d layout accepts dims 0 and -1, and has nothing to move
        order = [d for d in range(self.ndim) if d not in sources]
        for position, d in sorted(zip(destinations, sources, strict=True)):
            order.insert(position, d)
        return self._pick(order)

    moveaxis = movedim

    # Views of all elements: dims added, dropped or repeated ---------------------------------------

    def unsqueeze(self, dim: int) -> Layout:
        """Return `x.unsqueeze(dim)`: a new dim of size 1, with the stride that torch reports for it.

        >>> Layout((2, 3)).unsqueeze(1)
        Layout(shape=(2, 1, 3), stride=(3, 3, 1), storage_offset=0, itemsize=1)
        """
        dim = wrap_dim(dim, self.ndim + 1, self.shape)
        dims = self._dims
        size, step = dims[dim] if dim < self.ndim else (1, 1)
        dims.insert(dim, (1, size * step))
        return self._view(dims)

    def squeeze(self, dim: int | Iterable[int] | None = None) -> Layout:
        """Return `x.squeeze(dim)`: without its dims of size 1, or without those named that have size 1."""
        all_dims = range(self.ndim)
        named = all_dims if dim is None else different_dims("dim", dim, self.shape)
        return self._pick(d for d in all_dims if self.shape[d] != 1 or d not in named)

    def expand(self, *args: int | Iterable[int], size: Iterable[int] | None = None) -> Layout:
        """Return `x.expand(sizes)`: repeat dims of size 1, and new leading dims, by a stride of 0.

        -1 keeps a size. No element is copied, so several indices share one.

        >>> Layout((3, 1)).expand(2, 3, 4)
        Layout(shape=(2, 3, 4), stride=(0, 1, 0), storage_offset=0, itemsize=1)
        """
        wanted = varargs("size", args, size)
        new_dims = len(wanted) - self.ndim
        if new_dims < 0:
            raise LayoutError(
                f"cannot expand shape {self.shape} to {wanted}: give at least {self.ndim} sizes"
            )
        dims: list[Dim] = []  # from the last to the first
        new_step = 0  # the stride that a new leading dim would get
        for d, new_size in reversed(list(enumerate(wanted))):
            is_new = d < new_dims
            # A new dim behaves like one of size 1, with the stride of unsqueeze.
            old_size, step = (1, new_step) if is_new else self._dims[d - new_dims]
            if new_size == -1 and not is_new:
                new_size = old_size
            if new_size < 0:
                raise LayoutError(
                    f"cannot expand shape {self.shape} to {wanted}: size {new_size} of dim {d} is "
                    "negative, and -1 keeps the size only of a dim that is there"
                )
            if old_size not in (1, new_size):
                raise LayoutError(
                    f"cannot expand shape {self.shape} to {wanted}: dim {d} of the result would "
                    f"have size {new_size} instead of {old_size}, and only a size of 1 expands"
                )
            if new_size != old_size:
                step = 0
            new_step = new_size * step
            dims.append((new_size, step))
        return self._view(reversed(dims))

    def expand_as(self, other: Strided) -> Layout:
        """Return `x.expand_as(other)`: `expand` to the shape of a layout, a tensor or an array."""
        return self.expand(shape_of(other))

    def broadcast_to(self, *args: int | Iterable[int], size: Iterable[int] | None = None) -> Layout:
        """Return `x.broadcast_to(size)`: another name of `expand`."""
        return self.expand(*args, size=size)

    # Views of all elements: another shape ---------------------------------------------------------

    def view(
        self,
        *args: int | Iterable[int] | DType,
        size: Iterable[int] | None = None,
        dtype: DType | None = None,
    ) -> Layout:
        """Return `x.view(size)`: the same elements in the same order under another shape, never a copy.

        One size may be -1. Raises LayoutError with the reason of `why_not_view` if no stride can do
        it. `x.view(dtype)` is `view_dtype(dtype)`.

        >>> Layout((4, 6)).view(2, 2, -1)
        Layout(shape=(2, 2, 6), stride=(12, 6, 1), storage_offset=0, itemsize=1)
        """
        if dtype is None and len(args) == 1 and is_dtype(args[0]):
            return self.view(size=size, dtype=args[0])
        if dtype is not None:
            if args or size is not None:
                raise LayoutError("view takes a size or a dtype: call it twice for both")
            return self.view_dtype(dtype)
        wanted = varargs("shape", args, size)
        new_shape = self._complete("view", wanted)
        stride, reason = rules.view_stride(self.shape, self.stride, new_shape)
        if reason:
            raise LayoutError(
                f"cannot view shape {self.shape}, stride {self.stride} as {wanted}: {reason}. "
                f"Use .reshape({', '.join(map(str, wanted))}) to copy."
            )
        return self._view(zip(new_shape, stride, strict=True))

    def why_not_view(self, *shape: int | Iterable[int]) -> str:
        """Return why `view(shape)` fails and `reshape(shape)` copies; "" if it works.

        >>> Layout((3, 8))[:, :6].why_not_view(18)
        'dims 0 and 1 do not merge (stride 8 found, 6 needed), and the new dim 0 of size 18 would ...'
        """
        try:
            new_shape = rules.complete_shape(self.numel, varargs("shape", shape))
        except ValueError as error:
            return str(error)
        return rules.view_stride(self.shape, self.stride, new_shape)[1]

    def view_as(self, other: Strided) -> Layout:
        """Return `x.view_as(other)`: `view` as the shape of a layout, a tensor or an array."""
        return self.view(shape_of(other))

    def unflatten(self, dim: int, sizes: Iterable[int]) -> Layout:
        """Return `x.unflatten(dim, sizes)`: one dim becomes several, always as a view. One size may be -1.

        >>> Layout((4, 6)).t().unflatten(0, (2, -1))
        Layout(shape=(2, 3, 4), stride=(3, 1, 6), storage_offset=0, itemsize=1)
        """
        dim = self._existing_dim(dim)
        wanted = ints("sizes", sizes)
        if not wanted:
            raise LayoutError("sizes is empty: give the sizes that the dim becomes")
        size = self.shape[dim]
        try:
            new_sizes = rules.complete_shape(size, wanted)
        except ValueError as error:
            raise LayoutError(
                f"cannot unflatten dim {dim} of size {size} into {wanted}: {error}"
            ) from None
        return self.view(*self.shape[:dim], *new_sizes, *self.shape[dim + 1 :])

    def _complete(self, verb: str, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Return the wanted shape with its -1 worked out; raises LayoutError if the elements do not fit."""
        try:
            return rules.complete_shape(self.numel, wanted)
        except ValueError as error:
            raise LayoutError(
                f"cannot {verb} shape {self.shape}, stride {self.stride} as {wanted}: {error}."
            ) from None

    # Views of the same bytes: elements of another size --------------------------------------------

    def view_dtype(self, itemsize: int | DType) -> Layout:
        """Return `x.view(dtype)`, for a dtype or its itemsize: the same bytes as other elements.

        The last dim is cut or joined, so its stride has to be 1; for larger elements everything
        else has to divide. Raises LayoutError if it does not.

        >>> Layout((4, 6), itemsize=4).view_dtype(2)
        Layout(shape=(4, 12), stride=(12, 1), storage_offset=0, itemsize=2)
        """
        old = self.itemsize
        new = element_bytes("itemsize", itemsize)
        if new < 1 or (old % new and new % old):
            raise LayoutError(
                f"elements of {old} bytes cannot be viewed with {new} bytes: "
                "one has to divide the other"
            )
        if old == new:
            return self
        if not self.shape:
            raise LayoutError(
                f"a 0-d layout has no dim to cut or join: its element has {old} bytes"
            )
        if self.stride[-1] != 1:
            raise LayoutError(
                f"the last dim has stride {self.stride[-1]}: "
                "only with stride 1 do its bytes lie in a row"
            )
        if new > old:
            return self._join(new // old)
        ratio = old // new
        first_parts = self._first_part(ratio)
        last_dim = (self.shape[-1] * ratio, 1)
        return first_parts._view([*first_parts._dims[:-1], last_dim])

    def _first_part(self, ratio: int) -> Layout:
        """Return the first of `ratio` equal parts of each element: all strides grow by that factor."""
        dims = [(size, step * ratio) for size, step in self._dims]
        return self._view(dims, self.storage_offset * ratio, self.itemsize // ratio)

    def _join(self, ratio: int) -> Layout:
        """Join each `ratio` elements in a row to a larger one, if nothing points between them."""
        numbers = {f"stride {s} of dim {d}": s for d, s in enumerate(self.stride[:-1])}
        numbers["storage_offset"] = self.storage_offset
        numbers["the last size"] = self.shape[-1]
        for name, number in numbers.items():
            if number % ratio:
                raise LayoutError(
                    f"{name}, {number}, is not divisible by {ratio}, and {ratio} elements of "
                    f"{self.itemsize} bytes make one"
                )
        dims = [(size, step // ratio) for size, step in self._dims[:-1]]
        dims.append((self.shape[-1] // ratio, 1))
        return self._view(dims, self.storage_offset // ratio, self.itemsize * ratio)

    @property
    def real(self) -> Layout:
        """`x.real` of a complex x (see `view_as_real`); a real tensor's `.real` is itself."""
        self._require_complex(self.itemsize)
        return self._first_part(2)

    @property
    def imag(self) -> Layout:
        """`x.imag` of a complex x (see `view_as_real`): half an element after `real`."""
        return self.real._view(storage_offset=2 * self.storage_offset + 1)

    def view_as_real(self) -> Layout:
        """`torch.view_as_real(x)` of a complex x: real and imaginary part become a last dim of 2.

        A layout does not know whether its elements are complex. Raises LayoutError for elements of
        other than 4, 8 or 16 bytes, because no complex dtype of torch has them.

        >>> Layout((3,), itemsize=8).view_as_real()
        Layout(shape=(3, 2), stride=(2, 1), storage_offset=0, itemsize=4)
        """
        return self.real._view([*self.real._dims, (2, 1)])

    def view_as_complex(self) -> Layout:
        """`torch.view_as_complex(x)`: the last dim, of size 2 and stride 1, becomes one complex element.

        >>> Layout((3, 2), itemsize=4).view_as_complex()
        Layout(shape=(3,), stride=(1,), storage_offset=0, itemsize=8)
        """
        self._require_complex(2 * self.itemsize)
        if self._dims[-1:] != [(2, 1)]:
            raise LayoutError(
                f"shape {self.shape}, stride {self.stride} does not end in a dim of size 2 and "
                "stride 1, for both parts"
            )
        dims = self._dims[:-1]
        # Nothing steps along a size of 1: torch accepts an odd stride there, and rounds it down.
        numbers = [("stride", step) for size, step in dims if size != 1]
        numbers.append(("storage_offset", self.storage_offset))
        for name, number in numbers:
            if number % 2:
                raise LayoutError(
                    f"{name} {number} is odd: it would point between the parts of an element"
                )
        halves = [(size, step // 2) for size, step in dims]
        return self._view(halves, self.storage_offset // 2, 2 * self.itemsize)

    @staticmethod
    def _require_complex(itemsize: int) -> None:
        """Raise LayoutError if no complex dtype of torch has that many bytes."""
        if itemsize not in _COMPLEX_ITEMSIZES:
            raise LayoutError(
                f"torch has no complex elements of {itemsize} bytes: they have 4, 8 or 16"
            )

    # Explicit strides, and aliases ----------------------------------------------------------------

    def as_strided(
        self, size: Iterable[int], stride: Iterable[int], storage_offset: int | None = None
    ) -> Layout:
        """Return `x.as_strided(size, stride, storage_offset)`: any numbers, on the same storage.

        The offset is that of the storage, not relative to this layout; without one it stays. torch
        also refuses what leaves the storage, whose size a layout does not know.

        >>> Layout((4, 6))[1:].as_strided((3,), (7,))
        Layout(shape=(3,), stride=(7,), storage_offset=6, itemsize=1)
        """
        steps = ints("stride", stride)
        if min(steps, default=0) < 0:
            raise LayoutError(
                f"stride {steps} has a negative one: "
                "torch has no negative strides, use .flip (a copy)"
            )
        offset = self.storage_offset if storage_offset is None else storage_offset
        return replace(self, shape=ints("size", size), stride=steps, storage_offset=offset)

    def detach(self) -> Layout:
        """Return `x.detach()`: the same layout, as `x[...]` and `x.data`; only autograd lets go of it."""
        return self

    alias = detach  # torch.ops.aten.alias

    # Operations that may copy: another shape ------------------------------------------------------

    def reshape(self, *args: int | Iterable[int], shape: Iterable[int] | None = None) -> Layout:
        """Return `x.reshape(shape)`: `view(shape)` if that exists, else a contiguous copy.

        A copy's `storage_offset` is 0 and its `copied` is True; `why_not_view(shape)` says why.

        >>> Layout((3, 4)).t().reshape(12)
        Layout(shape=(12,), stride=(1,), storage_offset=0, itemsize=1, storage='new ...')
        """
        new_shape = self._complete("reshape", varargs("shape", args, shape))
        stride, reason = rules.view_stride(self.shape, self.stride, new_shape)
        if reason:
            return self._copy(new_shape, rules.contiguous_stride(new_shape), self.itemsize)
        return self._view(zip(new_shape, stride, strict=True))

    def reshape_as(self, other: Strided) -> Layout:
        """Return `x.reshape_as(other)`: `reshape` to the shape of a layout, a tensor or an array."""
        return self.reshape(shape_of(other))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Layout:
        """Return `x.flatten(start_dim, end_dim)`: join these dims by `reshape`; one dim stays as it is."""
        start = self._dim(start_dim)
        end = self._dim(end_dim)
        if start > end:
            raise LayoutError(f"start_dim {start} comes after end_dim {end}: swap them")
        if not self.shape:
            return self.reshape(1)
        if start == end:
            return self
        merged = prod(self.shape[start : end + 1])
        return self.reshape(*self.shape[:start], merged, *self.shape[end + 1 :])

    def ravel(self) -> Layout:
        """Return `x.ravel()`: `contiguous().view(-1)`, which may copy even if `reshape(-1)` is a view.

        >>> steps = Layout((6,))[::2]
        >>> steps.ravel().copied, steps.reshape(-1).copied
        (True, False)
        """
        return self.contiguous().view(-1)

    # Operations that may copy: another order in memory --------------------------------------------

    def contiguous(self, memory_format: Any = "contiguous_format") -> Layout:
        """Return `x.contiguous(memory_format)`: the layout itself if it is contiguous so, else a copy.

        `why_not_contiguous` says why. Raises LayoutError for other dims, and for a copy in
        preserve_format.

        >>> Layout((4, 6)).t().contiguous()
        Layout(shape=(6, 4), stride=(4, 1), storage_offset=0, itemsize=1, storage='new ...')
        """
        name = rules.parse_memory_format(memory_format)
        reason = rules.why_not_contiguous(self.shape, self.stride, name)
        if reason and name == rules.PRESERVE:
            raise LayoutError(f"{reason}: only clone copies in preserve_format")
        return self.to(memory_format=name, copy=True) if reason else self

    def clone(self, *, memory_format: Any = rules.PRESERVE) -> Layout:
        """Return `x.clone(memory_format=…)`: always a copy.

        preserve_format keeps the strides of a dense layout, and packs others densely in the order
        of their strides, as do `empty_like` and a conversion to another dtype.

        >>> x = Layout((4, 6)).t()
        >>> x.clone().stride, x[::2].stride, x[::2].clone().stride
        ((1, 6), (2, 6), (1, 3))
        """
        return self.to(memory_format=memory_format, copy=True)

    def to(
        self,
        dtype: Any = None,
        *,
        itemsize: int | None = None,
        memory_format: Any = rules.PRESERVE,
        copy: bool = False,
    ) -> Layout:
        """Return `x.to(dtype, memory_format=…, copy=…)`; a dtype may be given by its itemsize.

        A memory format may stand in its place; torch takes one only by name. It is the layout
        itself if neither the itemsize changes nor the memory format that torch takes it to be in.
        That is not contiguity: a slice of a channels-last layout counts as channels-last, a
        transposed matrix as contiguous_format. For another dtype of the same itemsize, say
        copy=True. Raises LayoutError for a format of another number of dims.

        >>> import torch
        >>> Layout((4, 6), dtype=torch.float32).to(torch.float16).itemsize
        2
        >>> Layout((4, 6)).t().to(memory_format="contiguous_format").copied
        False
        """
        if rules.is_memory_format(dtype):
            return self.to(itemsize=itemsize, memory_format=dtype, copy=copy)
        name = rules.parse_memory_format(memory_format, or_none=True)
        if not isinstance(copy, bool):
            raise wrong_argument_error("copy", copy, "give True or False")
        size = _chosen_itemsize(dtype, itemsize, self.itemsize)
        same_format = name in (rules.PRESERVE, rules.suggested_format(self.shape, self.stride))
        if same_format and size == self.itemsize and not copy:
            return self
        if name == rules.PRESERVE:
            return self._copy(self.shape, rules.preserved_stride(self.shape, self.stride), size)
        return self._copy(self.shape, rules.stride_in_format(self.shape, name), size)

    # Operations that always copy: another order of the elements, or more of them ------------------

    def flip(self, *args: int | Iterable[int], dims: Iterable[int] | None = None) -> Layout:
        """Return `x.flip(dims)`: a copy that counts these dims backwards, with the strides of `clone`.

        In NumPy it is a view with negative strides, which torch has not.

        >>> Layout((4, 6)).t().flip(0).stride
        (1, 6)
        """
        different_dims("dims", varargs("dims", args, dims), self.shape)
        return self.clone()

    def repeat(self, *args: int | Iterable[int], repeats: Iterable[int] | None = None) -> Layout:
        """Return `x.repeat(repeats)`: a contiguous copy that repeats each dim so often; new ones lead.

        `expand` repeats without a copy.
        """
        times = varargs("repeats", args, repeats)
        sizes = (1,) * (len(times) - self.ndim) + self.shape
        shape = tuple(size * count for size, count in zip(sizes, times, strict=False))
        if len(times) < self.ndim or min(shape, default=0) < 0:
            raise LayoutError(
                f"cannot repeat shape {self.shape} {times} times: "
                f"give {self.ndim} numbers or more, of 0 or more"
            )
        return self._copy(shape, rules.contiguous_stride(shape), self.itemsize)

    def tile(self, *args: int | Iterable[int], dims: Iterable[int] | None = None) -> Layout:
        """Return `x.tile(dims)`: `repeat`, where the first dims may be left out."""
        times = varargs("dims", args, dims)
        return self.repeat((1,) * (self.ndim - len(times)) + times)

    # Operations that always copy: several layouts into one ----------------------------------------

    @staticmethod
    def cat(tensors: Sequence[Strided], dim: int = 0) -> Layout:
        """Return `torch.cat(tensors, dim)`: one behind the other along a dim, in a new storage.

        The result is in the memory format that torch takes all of them to be in, else contiguous.
        Those of shape (0,) add nothing. Raises LayoutError for sizes that differ in another dim,
        and for several itemsizes: cast to the common dtype first. Raises TypeError as `of` does.

        >>> x = Layout((2, 3, 4, 4)).contiguous("channels_last")
        >>> Layout.cat([x, x], 1).stride, Layout.cat([x, x.contiguous()], 1).stride
        ((96, 1, 24, 6), (96, 16, 4, 1))
        """
        operands = _operands("cat", tensors)
        for k, operand in enumerate(operands):
            if not operand.shape:
                raise LayoutError(f"tensor {k} of cat is 0-d: it has no dim to join, use stack")
        joined = [operand for operand in operands if operand.shape != (0,)]
        if joined:
            first = joined[0]
            dim = first._dim(dim)
        else:
            int_("dim", dim)  # any int: torch joins nothing along it
            first = operands[0]
            joined = [first]
            dim = 0
        for operand in joined:
            sizes = operand.shape[:dim] + operand.shape[dim + 1 :]
            if operand.ndim != first.ndim or sizes != first.shape[:dim] + first.shape[dim + 1 :]:
                raise LayoutError(
                    f"cat cannot join shapes {first.shape} and {operand.shape}: "
                    f"all sizes but that of dim {dim} have to agree"
                )
        size = sum(operand.shape[dim] for operand in joined)
        shape = (*first.shape[:dim], size, *first.shape[dim + 1 :])
        formats = {rules.suggested_format(x.shape, x.stride) for x in operands}
        name = formats.pop() if len(formats) == 1 else "contiguous_format"
        return first._copy(shape, rules.stride_in_format(shape, name), first.itemsize)

    @staticmethod
    def stack(tensors: Sequence[Strided], dim: int = 0) -> Layout:
        """Return `torch.stack(tensors, dim)`: tensors of one shape along a new dim, in a new storage.

        Like torch it is a `cat` and a view of it. Raises LayoutError for several shapes or
        itemsizes, TypeError as `of` does.

        >>> Layout.stack([Layout((4, 6))] * 3, 1)
        Layout(shape=(4, 3, 6), stride=(18, 6, 1), storage_offset=0, itemsize=1, storage='new ...')
        """
        operands = _operands("stack", tensors)
        shape = operands[0].shape
        for operand in operands:
            if operand.shape != shape:
                raise LayoutError(
                    f"stack needs one shape, and there are {shape} and {operand.shape}: "
                    "use cat to join along a dim that is there"
                )
        dim = wrap_dim(dim, len(shape) + 1, shape)
        if dim == len(shape):
            return Layout.cat([operand.unsqueeze(dim) for operand in operands], dim)
        return Layout.cat(operands, dim).view(*shape[:dim], len(operands), *shape[dim:])

    # Questions about the order in memory: the reason for a no, and "" for a yes -------------------

    def is_contiguous(self, memory_format: Any = "contiguous_format") -> bool:
        """Return True if the elements lie one after the other in the order of the memory format.

        As in `torch.Tensor.is_contiguous`, strides of size-1 dims do not matter and an empty layout
        is contiguous. It says nothing about how much storage a tensor keeps alive.

        >>> Layout((4, 6)).is_contiguous(), Layout((4, 6)).t().is_contiguous()
        (True, False)
        """
        return not self.why_not_contiguous(memory_format)

    def why_not_contiguous(self, memory_format: Any = "contiguous_format") -> str:
        """Return why `is_contiguous` is False and `contiguous` copies; "" if it is True.

        >>> Layout((4, 6), (8, 1)).why_not_contiguous()
        'dim 0 has stride 8, 6 is needed'
        """
        name = rules.parse_memory_format(memory_format)
        return rules.why_not_contiguous(self.shape, self.stride, name)

    @property
    def memory_format(self) -> str:
        """The memory format in which the layout is contiguous: its name, or "both", or "neither".

        The names are contiguous_format, channels_last (4 dims) and channels_last_3d (5 dims).
        "both" is contiguous_format and the one for this number of dims: sizes of 1 or 0 leave the
        order open.

        >>> Layout((2, 1, 4, 5)).memory_format
        'both'
        """
        formats = rules.memory_formats(self.shape, self.stride)
        if not formats:
            return "neither"
        return formats[0] if len(formats) == 1 else "both"

    def dim_order(self, *, ambiguity_check: bool | list[Any] = False) -> tuple[int, ...]:
        """Return the dims from the outermost in memory to the innermost: `torch.Tensor.dim_order`.

        With `ambiguity_check=True`, or with a list of memory formats unless exactly one of them
        fits, raises LayoutError if other orders would do as well.

        >>> Layout((2, 3, 4)).permute(2, 0, 1).dim_order()
        (1, 2, 0)
        """
        if not isinstance(ambiguity_check, (bool, list)):
            raise wrong_argument_error(
                "ambiguity_check", ambiguity_check, "give a bool, or a list of formats"
            )
        formats = ambiguity_check if isinstance(ambiguity_check, list) else []
        fitting = sum(self.is_contiguous(memory_format) for memory_format in formats)
        reason = ""
        if ambiguity_check is not False and fitting != 1:  # a single one settles it, as in torch
            reason = rules.why_not_unique(self.shape, self.stride)
        if ambiguity_check and not reason:
            reason = rules.why_not_sorted(self.shape, self.stride)
        if reason:
            raise LayoutError(
                f"the dim order of shape {self.shape}, stride {self.stride} is not unique: "
                f"{reason}. Use ambiguity_check=False for one that will do."
            )
        return rules.dim_order(self.shape, self.stride)

    def is_dense(self) -> bool:
        """Return True if the elements fill their range one by one, in some order of the dims.

        torch calls this non-overlapping and dense; `clone` and similar copies keep such strides.
        """
        return not self.why_not_dense()

    def why_not_dense(self) -> str:
        """Return why `is_dense` is False: a hole or a shared element; "" if it is True.

        >>> Layout((4, 6))[:, ::2].why_not_dense()
        'dim 1 has stride 2, 1 is needed: element 1 is a hole'
        """
        return rules.why_not_dense(self.shape, self.stride, self.span.start)

    def coalesce(self) -> Layout:
        """Return the same elements in the same order with as few dims as possible.

        Neighbouring dims that step evenly are merged, dims of size 1 dropped. (torch's method of
        this name is about sparse tensors.)

        >>> Layout((2, 3, 4))[:, :2].coalesce()
        Layout(shape=(2, 8), stride=(12, 1), storage_offset=0, itemsize=1)
        """
        if self.numel == 0:
            return self._view([(0, 1)])
        squeezed = self.squeeze()
        chunks = rules.chunks(squeezed.shape, squeezed.stride)
        return self._view([(chunk.numel, chunk.stride) for chunk in chunks])

    def why_not_torch(self) -> str:
        """Return why no torch tensor can have this layout, though an array may; "" if one can.

        >>> import numpy as np
        >>> Layout.of(np.arange(4)[::-1]).why_not_torch()
        'dim 0 has stride -1: torch has no negative strides, copy the array first'
        """
        for d, step in enumerate(self.stride):
            if step < 0:
                return f"dim {d} has stride {step}: torch has no negative strides, copy the array first"
        if self.itemsize not in _TORCH_ITEMSIZES:
            return f"an element has {self.itemsize} bytes: those of torch have 1, 2, 4, 8 or 16"
        end = self.span.stop * self.itemsize  # the last byte is before this address
        largest = max(*self.shape, *self.stride, self.numel, self.storage_offset, end)
        if largest > _LARGEST_OF_TORCH:
            return f"{largest} is beyond 2**63 - 1: torch counts elements and bytes in 64 bits"
        return ""


def _operands(name: str, tensors: Any) -> list[Layout]:
    """Return the layouts of an operation's operands: one or more, of one itemsize."""
    is_tensor = hasattr(type(tensors), "shape")
    items = None if is_tensor else items_of(tensors)
    if items is None:
        raise wrong_argument_error("tensors", tensors, "give a list of layouts or tensors")
    if not items:
        raise LayoutError(f"{name} has no tensors: give one or more")
    layouts = [Layout.of(item) for item in items]
    sizes = sorted({layout.itemsize for layout in layouts})
    if len(sizes) > 1:
        raise LayoutError(
            f"{name} has elements of {sizes[0]} and {sizes[1]} bytes: a layout does not know their "
            "common dtype, so cast them first, as in x.to(itemsize=4)"
        )
    return layouts
