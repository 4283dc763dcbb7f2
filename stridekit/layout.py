"""Layout: where each element of a tensor lives, as a value without a tensor.

Everything here follows from one formula. The element at index (i, j, …) is number

    storage_offset + i * stride[0] + j * stride[1] + …

of the storage, and its address is that number times `itemsize` bytes. Shapes, strides and offsets
count elements; only addresses count bytes. The module knows no torch: `Layout.of` asks a tensor or an
array for its numbers, and the rest is arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from stridekit._arguments import LayoutError, basic_index, int_, ints, varargs, wrap_dim
from stridekit.view_rule import complete_shape, contiguous_stride, view_stride

__all__ = ["Layout", "LayoutError"]

# The order in which each memory format walks the dims, innermost first.
_MEMORY_ORDER = {
    "contiguous_format": None,
    "channels_last": (1, 3, 2, 0),
    "channels_last_3d": (1, 4, 3, 2, 0),
}

_ROW_MAJOR: Any = None  # the default stride: __post_init__ works it out from the shape


@dataclass(frozen=True, slots=True)
class Layout:
    """Shape, stride and storage_offset in elements, itemsize in bytes: an immutable value.

    Its methods carry torch's names and return new layouts, with the numbers that torch would give.
    Without a stride the layout is contiguous (row-major). Raises LayoutError for numbers that fit no
    tensor or array. Negative strides are NumPy's; torch has none.

    >>> x = Layout((4, 6), itemsize=4)
    >>> x
    Layout(shape=(4, 6), stride=(6, 1), storage_offset=0, itemsize=4)
    >>> x[1:, ::2]
    Layout(shape=(3, 3), stride=(6, 2), storage_offset=6, itemsize=4)
    >>> x[1:, ::2].offset((2, 1)), x[1:, ::2].address((2, 1))
    (20, 80)
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...] = _ROW_MAJOR
    storage_offset: int = 0
    itemsize: int = 1

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the value is frozen from here on
        set_field(self, "shape", ints("shape", self.shape))
        if self.stride is _ROW_MAJOR:
            set_field(self, "stride", contiguous_stride(self.shape))
        set_field(self, "stride", ints("stride", self.stride))
        set_field(self, "storage_offset", int_("storage_offset", self.storage_offset))
        set_field(self, "itemsize", int_("itemsize", self.itemsize))
        if len(self.shape) != len(self.stride):
            raise LayoutError(
                f"shape {self.shape} has {len(self.shape)} dims but stride {self.stride} has "
                f"{len(self.stride)}: give one stride for each dim"
            )
        for d, size in enumerate(self.shape):
            if size < 0:
                raise LayoutError(f"size {size} of dim {d} is negative: sizes are 0 or more")
        if self.itemsize < 1:
            raise LayoutError(f"itemsize is {self.itemsize} bytes: an element has at least 1")
        if self.span.start < 0:
            raise LayoutError(
                f"shape {self.shape}, stride {self.stride}, storage_offset {self.storage_offset} "
                f"reaches element {self.span.start}: a storage starts at 0, so raise the offset"
            )

    @classmethod
    def of(cls, x: Any) -> Layout:
        """The layout of a strided torch tensor or a NumPy array, counted from its storage's start.

        Meta and fake tensors have one too: a layout is numbers, no memory is touched. The storage of
        an array is that of the array at the end of its `.base` chain.
        Raises TypeError for what is neither, LayoutError for tensors without one stride a dim.

        >>> import torch
        >>> Layout.of(torch.arange(24.0).view(4, 6)[:, 2])
        Layout(shape=(4,), stride=(6,), storage_offset=2, itemsize=4)
        """
        if isinstance(x, Layout):
            return x
        if callable(getattr(x, "storage_offset", None)) and callable(getattr(x, "stride", None)):
            _refuse_without_stride(x)
            return cls(tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.element_size())
        if hasattr(x, "__array_interface__") and hasattr(x, "strides"):
            return _of_array(x)
        raise TypeError(
            f"a {type(x).__name__} has no layout: give a torch tensor or a NumPy array "
            "(torch.as_tensor makes one from numbers)"
        )

    # What the numbers say ---------------------------------------------------------------------

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

    def is_contiguous(self, memory_format: Any = "contiguous_format") -> bool:
        """Whether the elements lie one after the other in the order of the memory format.

        Like `torch.Tensor.is_contiguous`: strides of size-1 dims do not matter and an empty layout
        is contiguous. It says nothing about how much storage a tensor keeps alive.

        >>> Layout((4, 6)).is_contiguous(), Layout((4, 6)).t().is_contiguous()
        (True, False)
        """
        return not self.why_not_contiguous(memory_format)

    def why_not_contiguous(self, memory_format: Any = "contiguous_format") -> str:
        """Why `is_contiguous` is False, as a sentence with the numbers; "" where it is True.

        >>> Layout((4, 6), (8, 1)).why_not_contiguous()
        'dim 0 has stride 8, 6 is needed'
        """
        name = str(memory_format).removeprefix("torch.")
        if name not in _MEMORY_ORDER:
            formats = ", ".join(_MEMORY_ORDER)
            raise LayoutError(f"memory_format {memory_format} is not one of {formats}")
        order = _MEMORY_ORDER[name] or tuple(reversed(range(self.ndim)))
        if len(order) != self.ndim:
            return f"{name} has {len(order)} dims, this layout has {self.ndim}"
        if self.numel == 0 and name == "contiguous_format":
            return ""  # the other formats compare strides even where there is nothing to walk
        needed = 1
        for d in order:
            if self.shape[d] != 1 and self.stride[d] != needed:
                return f"dim {d} has stride {self.stride[d]}, {needed} is needed"
            needed *= self.shape[d]
        return ""

    # View operations --------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Layout:
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
        result, d, seen_ellipsis = self, 0, False
        for item in items:
            if item is Ellipsis:
                # A second `...` stands for no dims at all, as in torch.
                d, seen_ellipsis = d + (0 if seen_ellipsis else self.ndim - used), True
            elif item is None:
                result, d = result.unsqueeze(d), d + 1
            elif isinstance(item, slice):
                result, d = result._slice(d, item), d + 1
            else:
                result = result.select(d, basic_index(item))
        return result

    def select(self, dim: int, index: int) -> Layout:
        """`x.select(dim, index)`: one index of a dim, which disappears."""
        dim = self._dim(dim)
        moved = self.storage_offset + self._in_range(dim, index) * self.stride[dim]
        return self._with(_drop(self.shape, dim), _drop(self.stride, dim), moved)

    def unsqueeze(self, dim: int) -> Layout:
        """`x.unsqueeze(dim)`: a new dim of size 1. Its stride is what torch reports; nothing steps it."""
        dim = wrap_dim(dim, self.ndim + 1, self.shape)
        step = self.shape[dim] * self.stride[dim] if dim < self.ndim else 1
        return self._with(_insert(self.shape, dim, 1), _insert(self.stride, dim, step))

    def permute(self, *dims: int | Iterable[int]) -> Layout:
        """`x.permute(dims)`: dim d of the result is dim `dims[d]` of this layout.

        >>> Layout((2, 3, 4)).permute(2, 0, 1)
        Layout(shape=(4, 2, 3), stride=(1, 12, 4), storage_offset=0, itemsize=1)
        """
        wanted = varargs("dims", dims)
        order = [self._dim(d) for d in wanted]
        if sorted(order) != list(range(self.ndim)):
            raise LayoutError(
                f"{wanted} does not name each dim of shape {self.shape} exactly once: "
                f"use a permutation of {tuple(range(self.ndim))}"
            )
        return self._with([self.shape[d] for d in order], [self.stride[d] for d in order])

    def transpose(self, dim0: int, dim1: int) -> Layout:
        """`x.transpose(dim0, dim1)`: the two dims change places."""
        a, b = self._dim(dim0), self._dim(dim1)
        order = list(range(self.ndim))
        if order:  # a 0-d layout accepts dims 0 and -1, and stays as it is
            order[a], order[b] = order[b], order[a]
        return self.permute(order)

    def t(self) -> Layout:
        """`x.t()`: the transpose of a matrix; fewer dims stay as they are, more are refused."""
        if self.ndim > 2:
            raise LayoutError(
                f"t() is for at most 2 dims, shape {self.shape} has {self.ndim}: "
                "use transpose(dim0, dim1)"
            )
        return self.transpose(0, 1) if self.ndim == 2 else self

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Layout:
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
        return self._with(
            [*(self.shape[d] for d in rest), size],
            [*(self.stride[d] for d in rest), self.stride[a] + self.stride[b]],
            self.storage_offset + (start if size else 0),
        )

    def expand(self, *sizes: int | Iterable[int]) -> Layout:
        """`x.expand(sizes)`: repeat dims of size 1, and new leading dims, by a stride of 0.

        -1 keeps a size. No element is copied, so several indices share one.

        >>> Layout((3, 1)).expand(2, 3, 4)
        Layout(shape=(2, 3, 4), stride=(0, 1, 0), storage_offset=0, itemsize=1)
        """
        wanted = varargs("sizes", sizes)
        new = len(wanted) - self.ndim
        if new < 0:
            raise LayoutError(
                f"cannot expand shape {self.shape} to {wanted}: give at least {self.ndim} sizes"
            )
        shape, stride = list(wanted), [0] * len(wanted)
        for d in reversed(range(len(wanted))):
            if d >= new:
                old, step = self.shape[d - new], self.stride[d - new]
                shape[d] = old if wanted[d] == -1 else wanted[d]
            else:  # a new dim behaves like one of size 1, with the stride of unsqueeze
                old, step = 1, shape[d + 1] * stride[d + 1] if d + 1 < len(wanted) else 0
            if shape[d] < 0:
                raise LayoutError(
                    f"cannot expand shape {self.shape} to {wanted}: size {shape[d]} of dim {d} is "
                    "negative, and -1 keeps the size only of a dim that is there"
                )
            if old not in (1, shape[d]):
                raise LayoutError(
                    f"cannot expand shape {self.shape} to {wanted}: dim {d} of the result has size "
                    f"{old} here, and only a size of 1 expands"
                )
            stride[d] = step if shape[d] == old else 0
        return self._with(shape, stride)

    def view(self, *shape: int | Iterable[int]) -> Layout:
        """`x.view(shape)`: the same elements in the same order under another shape, never a copy.

        One size may be -1. Raises LayoutError, with the reason, where no stride can do it.

        >>> Layout((4, 6)).view(2, 2, -1)
        Layout(shape=(2, 2, 6), stride=(12, 6, 1), storage_offset=0, itemsize=1)
        >>> Layout((4, 3)).t().view(12)
        Traceback (most recent call last):
        ...
        stridekit.LayoutError: cannot view shape (3, 4), stride (1, 3) as (12,): dims 0 and 1 \
do not merge (stride 1 found, 12 needed), and the new dim 0 of size 12 would straddle them. Use \
.reshape(12) to copy.
        """
        wanted = varargs("shape", shape)
        new_shape, stride, reason = self._view(wanted)
        if reason:
            copy = f". Use .reshape({', '.join(map(str, wanted))}) to copy." if new_shape else "."
            raise LayoutError(
                f"cannot view shape {self.shape}, stride {self.stride} as {wanted}: {reason}{copy}"
            )
        return self._with(new_shape, stride)

    def why_not_view(self, *shape: int | Iterable[int]) -> str:
        """Why `view(shape)` fails: the two dims and the numbers; "" where it works.

        >>> Layout((3, 8))[:, :6].why_not_view(18)
        'dims 0 and 1 do not merge (stride 8 found, 6 needed), and the new dim 0 of size 18 would \
straddle them'
        >>> Layout((3, 8))[:, :6].why_not_view(3, 2, 3)
        ''
        """
        return self._view(varargs("shape", shape))[2]

    # Helpers ----------------------------------------------------------------------------------

    def _view(self, wanted: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...], str]:
        """The completed shape, its stride, and "" or the reason why the view does not exist."""
        try:
            new_shape = complete_shape(self.numel, wanted)
        except ValueError as error:
            return (), (), str(error)
        return new_shape, *view_stride(self.shape, self.stride, new_shape)

    def _slice(self, dim: int, item: slice) -> Layout:
        if item.step is not None and basic_index(item.step) < 1:
            raise LayoutError(
                f"slice step {item.step} is not positive: torch has no negative "
                "strides, use .flip (a copy)"
            )
        start, stop, step = item.indices(self.shape[dim])
        shape, stride = list(self.shape), list(self.stride)
        shape[dim] = len(range(start, stop, step))
        stride[dim] *= step
        # torch moves the offset even when nothing is left.
        return self._with(shape, stride, self.storage_offset + start * self.stride[dim])

    def _complete_index(self, index: int | Iterable[int]) -> list[int]:
        """The index as one non-negative int a dim."""
        items = tuple(index) if isinstance(index, Iterable) else (index,)
        if len(items) != self.ndim:
            raise IndexError(
                f"index {items} has {len(items)} numbers for shape {self.shape}: "
                f"give {self.ndim}, one for each dim"
            )
        return [self._in_range(d, basic_index(i)) for d, i in enumerate(items)]

    def _in_range(self, dim: int, i: int) -> int:
        size = self.shape[dim]
        if not -size <= i < size:
            advice = f"use {-size} to {size - 1}" if size else "it has no elements"
            raise IndexError(f"index {i} is out of range for dim {dim} of size {size}: {advice}")
        return i % size

    def _dim(self, dim: int) -> int:
        return wrap_dim(dim, self.ndim, self.shape)

    def _with(
        self, shape: Iterable[int], stride: Iterable[int], storage_offset: int | None = None
    ) -> Layout:
        offset = self.storage_offset if storage_offset is None else storage_offset
        return replace(self, shape=tuple(shape), stride=tuple(stride), storage_offset=offset)


def _refuse_without_stride(x: Any) -> None:
    """Raise LayoutError for the torch tensors that are not one strided grid of elements."""
    kind = str(x.layout).removeprefix("torch.")
    if getattr(x, "is_nested", False):
        raise LayoutError(
            "a nested tensor is several tensors, each with its own shape: "
            "take one of x.unbind(), or pad it with torch.nested.to_padded_tensor"
        )
    if kind != "strided":
        raise LayoutError(
            f"a {kind} tensor keeps indices and values apart and has no stride: "
            "ask its x.values(), or x.to_dense() for a strided copy"
        )
    if x.is_quantized:
        raise LayoutError(
            f"a quantized tensor ({x.dtype}) stores integers that stand for other numbers: "
            "ask x.int_repr() for the integers, x.dequantize() for the numbers"
        )


def _of_array(x: Any) -> Layout:
    """The layout of a NumPy array: byte strides into elements, and its place in its owner."""
    owner = x
    while hasattr(owner.base, "__array_interface__"):
        owner = owner.base
    lowest = sum((n - 1) * s for n, s in zip(owner.shape, owner.strides, strict=True) if s < 0)
    start = _pointer(x) - _pointer(owner) - (lowest if owner.size else 0)
    for what, count in [("strides", s) for s in x.strides] + [("offset", start)]:
        if x.itemsize and count % x.itemsize:
            raise LayoutError(
                f"the {what} of this array, {count} bytes, are no whole number of elements of "
                f"{x.itemsize} bytes (a field of a structured array?): np.ascontiguousarray copies it"
            )
    itemsize = max(x.itemsize, 1)
    return Layout(x.shape, tuple(s // itemsize for s in x.strides), start // itemsize, x.itemsize)


def _pointer(array: Any) -> int:
    return array.__array_interface__["data"][0]


def _insert(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position:])


def _drop(values: tuple[int, ...], position: int) -> tuple[int, ...]:
    return values[:position] + values[position + 1 :]
