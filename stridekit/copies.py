"""Operations that may copy: the layout of their result, and whether it is in a storage of its own.

A copy starts a new storage: its `storage_offset` is 0 and its `copied` is True. Where torch can answer
without one, the result is a view, or the very same layout. Each of these operations has its question:
`why_not_view(shape)` says why `reshape` copies, `why_not_contiguous(memory_format)` why `contiguous`
does.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, Self

from stridekit._arguments import LayoutError, a_kind, int_, shape_of, shown, varargs
from stridekit.dim_order import innermost_first, why_not_dense
from stridekit.memory_format import (
    PRESERVE,
    format_name,
    packed_stride,
    stride_in_format,
    suggested_format,
    why_not_contiguous,
)
from stridekit.view_rule import contiguous_stride, view_stride
from stridekit.views_of_elements import ViewsOfElements


class Copies(ViewsOfElements):
    """torch's operations that return a view, the layout itself, or a copy."""

    __slots__ = ()

    # Another shape ------------------------------------------------------------------------------

    def reshape(self, *shape: int | Iterable[int]) -> Self:
        """`x.reshape(shape)`: `view(shape)` where that exists, a contiguous copy where it does not.

        >>> Layout((3, 4)).reshape(12)
        Layout(shape=(12,), stride=(1,), storage_offset=0, itemsize=1)
        >>> Layout((3, 4)).t().reshape(12)
        Layout(shape=(12,), stride=(1,), storage_offset=0, itemsize=1, storage='new ...')
        """
        new_shape = self._complete("reshape", varargs("shape", shape))
        stride, reason = view_stride(self.shape, self.stride, new_shape)
        if reason:
            return self._copy(new_shape, contiguous_stride(new_shape), self.itemsize)
        return self._view(new_shape, stride)

    def reshape_as(self, other: Any) -> Self:
        """`x.reshape_as(other)`: `reshape` to the shape of a layout, a tensor or an array."""
        return self.reshape(shape_of(other))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """`x.flatten(start_dim, end_dim)`: these dims become one, by `reshape`; one dim stays as it is.

        >>> Layout((2, 3, 4)).flatten(1)
        Layout(shape=(2, 12), stride=(12, 1), storage_offset=0, itemsize=1)
        """
        start, end = self._dim(start_dim), self._dim(end_dim)
        if start > end:
            raise LayoutError(f"start_dim {start} lies behind end_dim {end}: swap them")
        if not self.shape:
            return self.reshape(1)
        if start == end:
            return self
        merged = prod(self.shape[start : end + 1])
        return self.reshape(*self.shape[:start], merged, *self.shape[end + 1 :])

    def ravel(self) -> Self:
        """`x.ravel()`: `contiguous().view(-1)`: it also copies where `reshape(-1)` is still a view.

        >>> steps = Layout((6,))[::2]
        >>> steps.ravel().copied, steps.reshape(-1).copied
        (True, False)
        """
        return self.contiguous().view(-1)

    # Another order in memory --------------------------------------------------------------------

    def contiguous(self, memory_format: Any = "contiguous_format") -> Self:
        """`x.contiguous(memory_format)`: the layout itself where it is contiguous so, else a copy.

        Raises LayoutError where the format is for another number of dims.

        >>> Layout((4, 6)).t().contiguous()
        Layout(shape=(6, 4), stride=(4, 1), storage_offset=0, itemsize=1, storage='new ...')
        """
        name = format_name(memory_format)
        if not why_not_contiguous(self.shape, self.stride, name):
            return self
        return self._copy(self.shape, stride_in_format(self.shape, name), self.itemsize)

    def clone(self, *, memory_format: Any = PRESERVE) -> Self:
        """`x.clone(memory_format=…)`: always a copy.

        preserve_format keeps the strides of a dense layout, and packs others densely in the order
        of their strides. So do `empty_like` and a conversion to another dtype.

        >>> Layout((4, 6)).t().clone()
        Layout(shape=(6, 4), stride=(1, 6), storage_offset=0, itemsize=1, storage='new ...')
        >>> Layout((4, 6)).t()[::2].clone()
        Layout(shape=(3, 4), stride=(1, 3), storage_offset=0, itemsize=1, storage='new ...')
        """
        return self.to(memory_format=memory_format, copy=True)

    def to(
        self, itemsize: int | None = None, *, memory_format: Any = PRESERVE, copy: bool = False
    ) -> Self:
        """`x.to(dtype, memory_format=…, copy=…)`, for a dtype of `itemsize` bytes.

        The layout itself where nothing has to change: neither the itemsize, nor the memory format
        that torch takes it to be in. That is not contiguity: a slice of a channels-last layout counts as
        channels-last, a transposed matrix as contiguous_format. For another dtype of the same
        itemsize, say copy=True. Raises LayoutError where the format is for another number of dims.

        >>> Layout((4, 6)).t().to(memory_format="contiguous_format").copied
        False
        >>> Layout((4, 6), itemsize=4).t().to(itemsize=2)
        Layout(shape=(6, 4), stride=(1, 6), storage_offset=0, itemsize=2, storage='new ...')
        """
        name = format_name(memory_format, or_preserve=True)
        if not isinstance(copy, bool):
            raise LayoutError(f"copy is {shown(copy)}, {a_kind(copy)}: give True or False")
        size = self.itemsize if itemsize is None else int_("itemsize", itemsize)
        same_format = name in (PRESERVE, suggested_format(self.shape, self.stride))
        if same_format and size == self.itemsize and not copy:
            return self
        stride = (
            self._preserved_stride() if name == PRESERVE else stride_in_format(self.shape, name)
        )
        return self._copy(self.shape, stride, size)

    def _preserved_stride(self) -> tuple[int, ...]:
        """The stride of a dense copy in the same order (`infer_dense_strides` in ATen/ExpandUtils.cpp)."""
        if min(self.stride, default=0) >= 0 and not why_not_dense(self.shape, self.stride):
            return self.stride
        # As in torch, a size of 0 counts as 1. NumPy's negative strides sort by their length.
        sizes = [max(size, 1) for size in self.shape]
        return packed_stride(sizes, innermost_first(self.shape, self.stride))
