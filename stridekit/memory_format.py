"""torch's memory formats: the order in which a layout would be contiguous.

A memory format names an order of the dims. `contiguous_format` takes them as they stand, the last one
innermost. `channels_last` (N, C, H, W) and `channels_last_3d` (N, C, D, H, W) put dim 1 innermost, so
that the channels of one pixel lie side by side. A layout *is contiguous in* a format when its strides
are those of a new tensor in that format; dims of size 1 are never stepped along and need no stride.
So a layout can be contiguous in two formats at once, or in none.

The rules are those of c10/core/MemoryFormat.h and c10/core/TensorImpl.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from stridekit._arguments import LayoutError
from stridekit.view_rule import contiguous_stride

# The order in which each memory format walks the dims, innermost first.
_ORDERS: dict[str, tuple[int, ...] | None] = {
    "contiguous_format": None,  # the last dim first, whatever the number of dims
    "channels_last": (1, 3, 2, 0),
    "channels_last_3d": (1, 4, 3, 2, 0),
}

PRESERVE = "preserve_format"


def format_name(memory_format: Any, *, or_preserve: bool = False) -> str:
    """The name of a memory format given as a string or as torch's own object.

    >>> format_name("torch.channels_last")
    'channels_last'
    """
    if memory_format is None and or_preserve:
        return PRESERVE  # as torch's own default
    name = str(memory_format).removeprefix("torch.")
    names = [*_ORDERS, *([PRESERVE] if or_preserve else [])]
    if name not in names:
        raise LayoutError(f"memory_format {memory_format} is not one of {', '.join(names)}")
    return name


def why_not_contiguous(shape: Sequence[int], stride: Sequence[int], name: str) -> str:
    """Why a layout is not contiguous in this format; "" where it is.

    >>> why_not_contiguous((2, 3, 4, 5), (60, 1, 15, 3), "channels_last")
    ''
    >>> why_not_contiguous((2, 3, 4, 5), (60, 20, 5, 1), "channels_last")
    'dim 1 has stride 20, 1 is needed'
    """
    order = _ORDERS[name] or range(len(shape))[::-1]
    if len(order) != len(shape):
        return f"{name} has {len(order)} dims, this layout has {len(shape)}"
    if name == "contiguous_format" and prod(shape) == 0:
        return ""  # the other formats compare strides even where there is nothing to walk
    needed = 1
    for d in order:
        if shape[d] != 1 and stride[d] != needed:
            return f"dim {d} has stride {stride[d]}, {needed} is needed"
        needed *= shape[d]
    return ""


def name_of_format(shape: Sequence[int], stride: Sequence[int]) -> str:
    """The one memory format in which a layout is contiguous, or "both", or "neither".

    >>> name_of_format((2, 3, 1, 1), (3, 1, 1, 1))
    'both'
    """
    found = [name for name in _ORDERS if not why_not_contiguous(shape, stride, name)]
    if len(found) == 1:
        return found[0]
    return "both" if found else "neither"


def stride_in_format(shape: tuple[int, ...], name: str) -> tuple[int, ...]:
    """The stride of a new tensor in this format: `torch.empty(shape, memory_format=…).stride()`.

    Raises LayoutError where the format is for another number of dims.

    >>> stride_in_format((2, 3, 4, 5), "channels_last")
    (60, 1, 15, 3)
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


def packed_stride(shape: Sequence[int], order: Iterable[int]) -> tuple[int, ...]:
    """The stride that packs the dims densely in an order, innermost first.

    >>> packed_stride((4, 6), [0, 1])
    (1, 4)
    """
    stride, step = [0] * len(shape), 1
    for d in order:
        stride[d] = step
        step *= shape[d]
    return tuple(stride)


def suggested_format(shape: Sequence[int], stride: Sequence[int]) -> str:
    """The format that torch takes a tensor to be in: `suggest_memory_format` in C++.

    It asks less than contiguity (a slice of a channels-last tensor still counts as channels-last) and
    also more: the strides of size-1 dims decide where a shape is ambiguous.

    >>> suggested_format((2, 3, 4, 5), (120, 1, 15, 3))
    'channels_last'
    >>> suggested_format((2, 1, 4, 5), (20, 20, 5, 1))
    'contiguous_format'
    """
    for name, order in _ORDERS.items():
        if order and len(order) == len(shape) and _steps_grow(shape, stride, order):
            return name
    return "contiguous_format"


def _steps_grow(shape: Sequence[int], stride: Sequence[int], order: tuple[int, ...]) -> bool:
    """Whether each dim of the order steps at least over the dims inside it.

    `is_channels_last_strides_2d` and `_3d` in c10/core/MemoryFormat.h.
    """
    if stride[1] == 0 or 0 in shape:
        return False
    reach = 0
    for d in order:
        if stride[d] < reach:
            return False
        if d == 0 and reach == stride[1]:
            return False  # (N, 1, 1, 1) with equal strides: ambiguous, so no format is suggested
        reach = stride[d] * shape[d]
    return True
