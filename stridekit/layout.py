"""Layout: where each element of a tensor lives, as a value without a tensor.

Everything here follows from one formula. The element at index (i, j, …) is number

    storage_offset + i * stride[0] + j * stride[1] + …

of the storage, and its address is that number times `itemsize` bytes. Shapes, strides and offsets
count elements; only addresses count bytes. The module knows no torch: `Layout.of` asks a tensor or an
array for its numbers, and the rest is arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Any

from stridekit._arguments import (
    LARGEST,
    LayoutError,
    a_kind,
    basic_index,
    int_,
    ints,
    items_of,
    shown,
)
from stridekit.copies import Copies
from stridekit.questions import Questions
from stridekit.view_rule import contiguous_stride
from stridekit.views_of_parts import ViewsOfParts

__all__ = ["Layout", "LayoutError"]

MOST_DIMS = 1000  # torch's operations loop over 64; here some questions take their time with each

_ROW_MAJOR: Any = None  # the default stride: __post_init__ works it out from the shape
_NEW = "new "  # how the name of a storage begins that an operation made
_numbers = itertools.count(1)


def new_storage() -> str:
    """A name that no storage had: that of what an operation puts in memory of its own."""
    return f"{_NEW}{next(_numbers)}"


@dataclass(frozen=True, slots=True)
class Layout(ViewsOfParts, Copies, Questions):
    """Shape, stride and storage_offset in elements, itemsize in bytes: an immutable value.

    Its methods carry torch's names and return new layouts, with the numbers that torch would give;
    they are gathered in the modules that this class inherits from. Without a stride the layout is
    contiguous (row-major). Layouts are equal by these four numbers and the name of their storage.
    Layouts with one name share one storage, and so do all those without a name. Views keep the name,
    and a copy gets one that no other layout has; to place a layout elsewhere, name a storage yourself.
    Raises LayoutError for numbers that fit no tensor or array. Negative strides are NumPy's; torch
    has none.

    >>> x = Layout((4, 6), itemsize=4)
    >>> x
    Layout(shape=(4, 6), stride=(6, 1), storage_offset=0, itemsize=4)
    >>> x[1:, ::2]
    Layout(shape=(3, 3), stride=(6, 2), storage_offset=6, itemsize=4)
    >>> x[1:, ::2].offset((2, 1)), x[1:, ::2].address((2, 1))
    (20, 80)
    >>> Layout((4, 6), storage="weights")[0]
    Layout(shape=(6,), stride=(1,), storage_offset=0, itemsize=1, storage='weights')
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...] = _ROW_MAJOR
    storage_offset: int = 0
    itemsize: int = 1
    storage: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the value is frozen from here on
        set_field(self, "shape", ints("shape", self.shape))
        if len(self.shape) > MOST_DIMS:
            raise LayoutError(f"{len(self.shape):,} dims are more than a layout has: {MOST_DIMS:,}")
        if self.stride is _ROW_MAJOR:
            set_field(self, "stride", contiguous_stride(self.shape))
        set_field(self, "stride", ints("stride", self.stride))
        set_field(self, "storage_offset", int_("storage_offset", self.storage_offset))
        set_field(self, "itemsize", int_("itemsize", self.itemsize))
        if not isinstance(self.storage, str):
            raise LayoutError(
                f"storage is {shown(self.storage)}, {a_kind(self.storage)}: give its name, a str"
            )
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
        if prod(self.shape) > LARGEST:
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

    @property
    def copied(self) -> bool:
        """Whether an operation on the way here made a new storage, as a copy does: offsets count in it.

        >>> Layout((3, 4)).t().reshape(12).copied, Layout((3, 4)).reshape(12).copied
        (True, False)
        """
        return self.storage.startswith(_NEW)

    @classmethod
    def of(cls, x: Any) -> Layout:
        """The layout of a strided torch tensor or a NumPy array, counted from its storage's start.

        Meta and fake tensors have one too: a layout is numbers, no memory is touched. The storage of
        an array is the block at the end of its `.base` chain: an array's memory, or a tensor's storage.
        Raises TypeError for what is neither, LayoutError for tensors without one stride a dim, and for
        arrays that do not step by whole elements.

        >>> import torch
        >>> Layout.of(torch.arange(24.0).view(4, 6)[:, 2])
        Layout(shape=(4,), stride=(6,), storage_offset=2, itemsize=4)
        """
        if isinstance(x, Layout):
            return x
        if isinstance(x, type):
            raise TypeError(f"the class {x.__name__} has no layout: give a tensor or an array")
        if callable(getattr(x, "storage_offset", None)) and callable(getattr(x, "stride", None)):
            _refuse_without_stride(x)
            return cls(tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.element_size())
        if hasattr(x, "__array_interface__") and hasattr(x, "__array_finalize__"):
            return _of_array(x)  # a NumPy scalar lacks the latter: it has no memory that lasts
        raise TypeError(
            f"{a_kind(x)} has no layout: give a torch tensor or a NumPy array "
            "(torch.as_tensor makes one from numbers)"
        )

    # What the numbers say ---------------------------------------------------------------------

    def offset(self, index: int | Iterable[int]) -> int:
        """The number of the element at `index`, counted in elements from the storage's start.

        `index` has one int a dim; negative ones count from the end. Raises IndexError.

        >>> Layout((4, 6), (8, 1), storage_offset=2).offset((2, 3))  # 2 + 2*8 + 3*1
        21
        """
        steps = zip(self._complete_index(index), self.stride, strict=True)
        return self.storage_offset + sum(i * s for i, s in steps)

    def address(self, index: int | Iterable[int]) -> int:
        """The first byte of the element at `index`, counted in bytes from the storage's start.

        The absolute address is `t.untyped_storage().data_ptr() + Layout.of(t).address(index)`.

        >>> Layout((4, 6), (8, 1), storage_offset=2, itemsize=4).address((2, 3))
        84
        """
        return self.offset(index) * self.itemsize

    # Helpers ------------------------------------------------------------------------------------

    def _view(
        self,
        shape: Iterable[int] | None = None,
        stride: Iterable[int] | None = None,
        storage_offset: int | None = None,
        itemsize: int | None = None,
    ) -> Layout:
        return Layout(
            self.shape if shape is None else tuple(shape),
            self.stride if stride is None else tuple(stride),
            self.storage_offset if storage_offset is None else storage_offset,
            self.itemsize if itemsize is None else itemsize,
            storage=self.storage,
        )

    def _copy(self, shape: tuple[int, ...], stride: tuple[int, ...], itemsize: int) -> Layout:
        return Layout(shape, stride, 0, itemsize, storage=new_storage())

    def _complete_index(self, index: int | Iterable[int]) -> list[int]:
        """The index as one non-negative int a dim."""
        found = items_of(index)
        items = (index,) if found is None else found
        if len(items) != self.ndim:
            raise IndexError(
                f"index {shown(items)} has {len(items)} numbers for shape {self.shape}: "
                f"give {self.ndim}, one for each dim"
            )
        return [self._in_range(d, basic_index(i)) for d, i in enumerate(items)]


def _refuse_without_stride(x: Any) -> None:
    """Raise LayoutError for the torch tensors that are not one strided grid of elements."""
    if hasattr(x, "cls_to_become"):
        raise LayoutError(f"{a_kind(x)} has no shape and no memory yet: run its lazy module once")
    kind = str(x.layout).removeprefix("torch.")
    if getattr(x, "is_nested", False):
        raise LayoutError(
            "a nested tensor is several tensors, each with its own shape: "
            "take one of x.unbind(), or pad it with torch.nested.to_padded_tensor"
        )
    if kind.startswith("sparse"):
        raise LayoutError(
            f"a {kind} tensor keeps indices and values apart and has no stride: "
            "ask its x.values(), or x.to_dense() for a strided copy"
        )
    if kind != "strided":
        raise LayoutError(f"a {kind} tensor hides its layout: x.to_dense() makes a strided copy")
    if x.is_quantized:
        raise LayoutError(
            f"a quantized tensor ({x.dtype}) stores integers that stand for other numbers: "
            "ask x.int_repr() for the integers, x.dequantize() for the numbers"
        )


def _of_array(x: Any) -> Layout:
    """The layout of a NumPy array: byte strides into elements, and its place in its block."""
    block, nbytes = array_block(x)
    start = _pointer(x) - block
    if x.size == 0 and not 0 <= start <= nbytes:
        start = 0  # NumPy gives the array of an empty tensor, which has no address, one of its own
    for what, count in [("strides", s) for s in x.strides] + [("offset", start)]:
        if x.itemsize and count % x.itemsize:
            raise LayoutError(
                f"the {what} of this array, {count} bytes, are no whole number of elements of "
                f"{x.itemsize} bytes (a field of a structured array?): np.ascontiguousarray copies it"
            )
    itemsize = max(x.itemsize, 1)  # Layout refuses elements without a byte, in words
    return Layout(x.shape, tuple(s // itemsize for s in x.strides), start // itemsize, x.itemsize)


def array_block(x: Any) -> tuple[int, int]:
    """Where the memory that a NumPy array lies in begins, and its size in bytes.

    The block is that of the array at the end of the `.base` chain, or of the torch storage there.
    """
    owner, base = x, x.base
    while base is not None:
        if hasattr(base, "untyped_storage"):
            storage = base.untyped_storage()
            return storage.data_ptr(), storage.nbytes()
        if hasattr(base, "__array_interface__") and hasattr(base, "strides"):
            owner = base
        base = getattr(base, "base", None)
    if owner.size == 0:
        return _pointer(owner), 0
    steps = [(n - 1) * s for n, s in zip(owner.shape, owner.strides, strict=True)]
    lowest = sum(step for step in steps if step < 0)  # an owner may hold its memory backwards
    return _pointer(owner) + lowest, sum(map(abs, steps)) + owner.itemsize


def _pointer(array: Any) -> int:
    return array.__array_interface__["data"][0]
