"""The rules of a layout, on bare shapes and strides: when it can be viewed, and in which order it lies.

**When a tensor can be viewed as another shape.** Walk the dims from the last. Two neighbouring dims
belong to one *chunk* when a step of the outer one goes exactly as far as all the steps of the inner
one: `stride[d] == shape[d + 1] * stride[d + 1]`. Inside a chunk the elements are evenly spaced, so
it can be cut into any sizes. Between two chunks they are not, so no new dim may straddle that
boundary. Dims of size 1 are never stepped along: they never break a chunk. (`computeStride` in
aten/src/ATen/TensorUtils.cpp)

**Memory formats.** A format names an order of the dims. `contiguous_format` takes them as they
stand, the last one innermost. `channels_last` (N, C, H, W) and `channels_last_3d` (N, C, D, H, W)
put dim 1 innermost, so that the channels of one pixel lie side by side. A layout *is contiguous in*
a format when its strides are those of a new tensor in that format; dims of size 1 need no stride.
So a layout can be contiguous in two formats at once, or in none. (c10/core/MemoryFormat.h,
c10/core/TensorImpl.cpp)

**Dim order.** The dim with the smallest stride is the innermost one: its neighbours lie closest
together. torch sorts the dims like this in elementwise operations, in `clone` and in
`Tensor.dim_order`. A layout is *dense* when the dims in this order fit together like the digits of
a number: no element is left out, and none is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, many

Ints = tuple[int, ...]

# The order in which each memory format walks the dims, innermost first.
_ORDERS: dict[str, Ints | None] = {
    "contiguous_format": None,  # the last dim first, whatever the number of dims
    "channels_last": (1, 3, 2, 0),
    "channels_last_3d": (1, 4, 3, 2, 0),
}
PRESERVE = "preserve_format"


# Packed strides -----------------------------------------------------------------------------------


def packed_stride(shape: Sequence[int], order: Iterable[int]) -> Ints:
    """Return the stride that packs the dims densely in an order, innermost first."""
    stride = [0] * len(shape)
    step = 1
    for d in order:
        stride[d] = step
        step *= shape[d]
    return tuple(stride)


def contiguous_stride(shape: Iterable[int]) -> Ints:
    """Return the row-major stride of a shape: each dim steps over everything to its right.

    A size of 0 counts as 1, as in `torch.empty(shape).stride()`.
    """
    sizes = [max(size, 1) for size in shape]
    return packed_stride(sizes, range(len(sizes))[::-1])


# The view rule ------------------------------------------------------------------------------------


class Chunk(NamedTuple):
    """Neighbouring dims `first … last` that step evenly: `numel` elements, `stride` apart."""

    first: int
    last: int
    numel: int
    stride: int


def chunks(shape: Ints, stride: Ints) -> list[Chunk]:
    """Return the chunks of a layout, outermost first.

    >>> chunks((3, 4), (8, 1))  # rows of 4 cut out of rows of 8
    [Chunk(first=0, last=0, numel=3, stride=8), Chunk(first=1, last=1, numel=4, stride=1)]
    """
    merged: list[Chunk] = []
    for d in reversed(range(len(shape))):
        inner = merged[-1] if merged else None
        if inner and (shape[d] == 1 or stride[d] == inner.numel * inner.stride):
            merged[-1] = Chunk(d, inner.last, shape[d] * inner.numel, inner.stride)
        else:
            merged.append(Chunk(d, d, shape[d], stride[d]))
    return merged[::-1]


def complete_shape(numel: int, new_shape: Ints) -> Ints:
    """Work out the one -1 of a new shape; raises ValueError if it cannot hold `numel` elements."""
    if min(new_shape, default=0) < -1:
        size = next(size for size in new_shape if size < -1)
        raise ValueError(f"size {size} is negative: give sizes of 0 or more, or one -1")
    unknown = [d for d, size in enumerate(new_shape) if size == -1]
    if len(unknown) > 1:
        raise ValueError(
            f"dims {unknown[0]} and {unknown[1]} are both -1: only one can be worked out"
        )
    known = prod(size for size in new_shape if size != -1)
    if unknown and known == 0:
        raise ValueError("any size would do for the -1 beside a 0: write the size out")
    if unknown and numel % known:
        raise ValueError(f"{numel} elements do not divide into {known}: no size fits the -1")
    if unknown:
        return tuple(numel // known if size == -1 else size for size in new_shape)
    if known != numel:
        raise ValueError(f"{new_shape} has {many(known, 'element')}, the layout has {numel}")
    return new_shape


def view_stride(shape: Ints, stride: Ints, new_shape: Ints) -> tuple[Ints, str]:
    """Return the stride of the view and "", or () and the reason why no view has this shape.

    `new_shape` is complete and has as many elements as `shape`.

    >>> view_stride((3, 8), (8, 1), (3, 2, 4))
    ((8, 4, 1), '')
    """
    if prod(shape) == 0:
        return (stride if new_shape == shape else contiguous_stride(new_shape)), ""
    new_stride = [1] * len(new_shape)
    d = len(new_shape) - 1
    for chunk in reversed(chunks(shape, stride)):
        filled = 1
        while d >= 0 and (filled < chunk.numel or new_shape[d] == 1):
            new_stride[d] = filled * chunk.stride
            filled *= new_shape[d]
            d -= 1
        if filled != chunk.numel:
            # It would straddle the boundary just outside of the chunk; a size of 1 straddles
            # nothing.
            new_dim = next(k for k in range(d + 1, len(new_shape)) if new_shape[k] != 1)
            outer = chunk.first - 1
            inner = next(k for k in range(chunk.first, chunk.last + 1) if shape[k] != 1)
            reason = (
                f"dims {outer} and {inner} do not merge (stride {stride[outer]} found, "
                f"{chunk.numel * chunk.stride} needed), and the new dim {new_dim} of size "
                f"{new_shape[new_dim]} would straddle them"
            )
            return (), reason
    return tuple(new_stride), ""


# Memory formats -----------------------------------------------------------------------------------


def parse_memory_format(memory_format: Any, *, or_none: bool = False) -> str:
    """Return the name of a memory format that is given as a string or as torch's own object."""
    if memory_format is None and or_none:
        return PRESERVE  # as torch's own default
    name = str(memory_format).removeprefix("torch.")
    names = [*_ORDERS, PRESERVE]
    if name not in names:
        raise LayoutError(f"memory_format {memory_format} is not one of {', '.join(names)}")
    return name


def is_memory_format(value: Any) -> bool:
    """Return True for the name of a memory format, and for torch's own object."""
    is_candidate = isinstance(value, str) or type(value).__name__ == "memory_format"
    return is_candidate and str(value).removeprefix("torch.") in (*_ORDERS, PRESERVE)


def why_not_contiguous(shape: Ints, stride: Ints, name: str) -> str:
    """Return why a layout is not contiguous in a format, where preserve means contiguous; "" if it is."""
    order = _ORDERS.get(name) or range(len(shape))[::-1]
    if len(order) != len(shape):
        return f"{name} has {len(order)} dims, this layout has {len(shape)}"
    if not _ORDERS.get(name) and prod(shape) == 0:
        return ""  # the other formats compare strides even of an empty layout
    needed = 1
    for d in order:
        if shape[d] != 1 and stride[d] != needed:
            return f"dim {d} has stride {stride[d]}, {needed} is needed"
        needed *= shape[d]
    return ""


def memory_formats(shape: Ints, stride: Ints) -> list[str]:
    """Return the memory formats in which a layout is contiguous."""
    return [name for name in _ORDERS if not why_not_contiguous(shape, stride, name)]


def stride_in_format(shape: Ints, name: str) -> Ints:
    """Return the stride of a new tensor in this format: `torch.empty(shape, memory_format=…).stride()`.

    Raises LayoutError if the format is for another number of dims.
    """
    order = _ORDERS[name]
    if order is None:
        return contiguous_stride(shape)
    if len(order) != len(shape):
        raise LayoutError(
            f"{name} has {len(order)} dims, shape {shape} has {len(shape)}: "
            "use contiguous_format, or unsqueeze the missing dims"
        )
    return packed_stride(shape, order)


def suggested_format(shape: Ints, stride: Ints) -> str:
    """Return the format that torch takes a tensor to be in: `suggest_memory_format` in C++.

    It asks for less than contiguity: a slice of a channels-last tensor still counts as
    channels-last. It also asks for more: if a shape is ambiguous, the strides of size-1 dims
    decide.
    """
    for name, order in _ORDERS.items():
        if order and len(order) == len(shape) and _steps_grow(shape, stride, order):
            return name
    return "contiguous_format"


def _steps_grow(shape: Ints, stride: Ints, order: Ints) -> bool:
    """Return True if each dim of the order steps over all dims inside it.

    `is_channels_last_strides_2d` and `_3d` in c10/core/MemoryFormat.h.
    """
    if stride[1] == 0 or 0 in shape:
        return False
    extent = 0
    for d in order:
        if stride[d] < extent:
            return False
        if d == 0 and extent == stride[1]:
            return False  # (N, 1, 1, 1) with equal strides: ambiguous, so no format is suggested
        extent = stride[d] * shape[d]
    return True


# The order of the dims, and density ---------------------------------------------------------------


def sort_dims(shape: Ints, *strides: Ints) -> list[int]:
    """Sort dims by their strides, innermost first; on a tie the smaller size first, else row-major.

    Among several operands, the first whose strides tell two dims apart decides. The insertion sort
    looks past pairs that nothing tells apart, as `reorder_dimensions` in
    aten/src/ATen/TensorIterator.cpp does.
    """
    order = list(range(len(shape)))[::-1]
    for sorted_count in range(1, len(order)):
        position = sorted_count  # of the dim that is inserted
        for before in reversed(range(sorted_count)):
            comparison = compare_dims(order[before], order[position], shape, *strides)
            if comparison > 0:
                order[before], order[position] = order[position], order[before]
                position = before
            elif comparison < 0:
                break
    return order


def compare_dims(a: int, b: int, shape: Ints, *strides: Ints) -> int:
    """Return a negative number if dim `a` lies inside `b`, positive if outside, 0 if undecided.

    A stride of 0 decides nothing, because a repeated dim fits anywhere. If two strides are equal,
    the smaller size lies inside: dims of size 1 often carry the stride of a neighbour.
    """
    for stride in strides:
        step_a = abs(stride[a])
        step_b = abs(stride[b])
        if step_a == 0 or step_b == 0:
            continue
        if step_a != step_b:
            return step_a - step_b
        if shape[a] > shape[b]:
            return 1
    return 0


def dim_order(shape: Ints, stride: Ints) -> Ints:
    """Return the dims from the outermost to the innermost, as `Tensor.dim_order` returns them."""
    return _order_of_format(shape, stride) or tuple(sort_dims(shape, stride)[::-1])


def why_not_unique(shape: Ints, stride: Ints) -> str:
    """Return why shape and stride alone do not determine the order; "" if they do."""
    if 1 in shape:
        return f"dim {shape.index(1)} has size 1 and could stand anywhere"
    for d, (outer, inner) in enumerate(pairwise(stride)):
        if outer == inner:
            return f"dims {d} and {d + 1} both have stride {inner}"
    return ""


def why_not_sorted(shape: Ints, stride: Ints) -> str:
    """Return why `sort_dims` cannot tell two neighbours apart; "" if it can.

    A layout that is contiguous in only one memory format has the order of that format, without a
    sort.
    """
    if _order_of_format(shape, stride):
        return ""
    for inner, outer in pairwise(sort_dims(shape, stride)):
        if compare_dims(inner, outer, shape, stride) >= 0:
            a, b = sorted((inner, outer))
            return (
                f"nothing tells dims {a} and {b} apart (sizes {shape[a]} and {shape[b]}, "
                f"strides {stride[a]} and {stride[b]})"
            )
    return ""


def _order_of_format(shape: Ints, stride: Ints) -> Ints:
    """Return the order of the only memory format in which the layout is contiguous; () if none or both fit.

    torch returns it without looking at the strides, and those of size-1 dims may say otherwise.
    Like torch, it does not try channels_last_3d.
    """
    contiguous = not why_not_contiguous(shape, stride, "contiguous_format")
    channels_last = not why_not_contiguous(shape, stride, "channels_last")
    if contiguous == channels_last:
        return ()
    return tuple(range(len(shape))) if contiguous else (0, 2, 3, 1)


def why_not_dense(shape: Ints, stride: Ints, start: int = 0) -> str:
    """Return why a layout is not dense: a hole, or a shared element; "" if it is dense.

    `start` is the lowest element that is reached. Fewer than two elements are always dense.
    """
    if prod(shape) == 0:
        return ""
    needed = 1  # the dims so far fill exactly the elements start … start + needed - 1
    for step, d in sorted((abs(stride[d]), d) for d, size in enumerate(shape) if size > 1):
        mismatch = f"dim {d} has stride {stride[d]}, {needed} is needed"
        if step < needed:
            return f"{mismatch}: two indices share element {start + step}"
        if step > needed:  # all other strides are at least as large, so nothing reaches the gap
            first = start + needed
            last = start + step - 1
            if first == last:
                return f"{mismatch}: element {first} is a hole"
            return f"{mismatch}: elements {first} to {last} are a hole"
        needed *= shape[d]
    return ""


def preserved_stride(shape: Ints, stride: Ints) -> Ints:
    """Return a copy's stride in preserve_format (`infer_dense_strides` in aten/src/ATen/ExpandUtils.cpp).

    A dense layout keeps its stride; others are packed densely in the same order.
    """
    if min(stride, default=0) >= 0 and not why_not_dense(shape, stride):
        return tuple(stride)
    # As in torch, a size of 0 counts as 1. NumPy's negative strides sort by their length.
    return packed_stride([max(size, 1) for size in shape], sort_dims(shape, stride))
