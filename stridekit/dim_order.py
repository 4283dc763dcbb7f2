"""In which order the dims lie in memory, read from the strides alone.

The dim with the smallest stride is the innermost one: its neighbours lie closest together. torch sorts
the dims so wherever it chooses an order by itself: for the loops and the result of an elementwise
operation, for the result of `clone`, and in `Tensor.dim_order`. And a layout is *dense* when the dims
in this order fit into one another like the digits of a number: no element is left out, none is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from stridekit.memory_format import why_not_contiguous

Ints = Sequence[int]


def innermost_first(shape: Ints, *strides: Ints) -> list[int]:
    """The dims sorted by their strides, innermost first; on a tie the smaller size first, else row-major.

    Several operands of one shape may give a stride each: the first that can tell two dims apart
    decides. An insertion sort that looks past pairs which nothing can tell apart, as
    `reorder_dimensions` in aten/src/ATen/TensorIterator.cpp does it.

    >>> innermost_first((4, 6), (6, 1))
    [1, 0]
    >>> innermost_first((4, 6), (1, 4))
    [0, 1]
    """
    order = list(range(len(shape)))[::-1]
    for first in range(1, len(order)):
        place = first
        for other in reversed(range(first)):
            verdict = compare_dims(order[other], order[place], shape, *strides)
            if verdict > 0:
                order[other], order[place] = order[place], order[other]
                place = other
            elif verdict < 0:
                break
    return order


def compare_dims(a: int, b: int, shape: Ints, *strides: Ints) -> int:
    """Negative where dim `a` lies inside dim `b`, positive where outside, 0 where nothing tells.

    A stride of 0 tells nothing, because a repeated dim fits in anywhere. Between equal strides, the
    smaller size lies inside: dims of size 1 often carry the stride of a neighbour.

    >>> compare_dims(0, 1, (4, 6), (6, 1)) > 0
    True
    """
    for stride in strides:
        inner, outer = abs(stride[a]), abs(stride[b])
        if inner == 0 or outer == 0:
            continue
        if inner != outer:
            return inner - outer
        if shape[a] > shape[b]:
            return 1
    return 0


def outermost_first(shape: Ints, stride: Ints) -> tuple[int, ...]:
    """The dims from the outermost to the innermost, as `Tensor.dim_order` gives them.

    >>> outermost_first((2, 3, 4, 5), (60, 1, 15, 3))
    (0, 2, 3, 1)
    """
    return _order_of_format(shape, stride) or tuple(innermost_first(shape, stride)[::-1])


def why_not_unique(shape: Ints, stride: Ints) -> str:
    """Why other orders of the dims would do as well, by looking at the numbers; "" where none would.

    >>> why_not_unique((2, 1), (1, 1))
    'dim 1 has size 1 and could stand anywhere'
    """
    for d, size in enumerate(shape):
        if size == 1:
            return f"dim {d} has size 1 and could stand anywhere"
    for d in range(1, len(stride)):
        if stride[d - 1] == stride[d]:
            return f"dims {d - 1} and {d} both have stride {stride[d]}"
    return ""


def why_not_sorted(shape: Ints, stride: Ints) -> str:
    """Why the sort cannot tell two neighbours in `outermost_first` apart; "" where it can, or need not.

    >>> why_not_sorted((2, 3, 4), (1, 12, 1))
    'nothing tells dims 0 and 2 apart (sizes 2 and 4, strides 1 and 1)'
    """
    if _order_of_format(shape, stride):
        return ""
    for inner, outer in pairwise(innermost_first(shape, stride)):
        if compare_dims(inner, outer, shape, stride) >= 0:
            a, b = sorted((inner, outer))
            return (
                f"nothing tells dims {a} and {b} apart "
                f"(sizes {shape[a]} and {shape[b]}, strides {stride[a]} and {stride[b]})"
            )
    return ""


def _order_of_format(shape: Ints, stride: Ints) -> tuple[int, ...]:
    """The order of a memory format, where the layout is contiguous in just one; () elsewhere.

    torch takes it without a look at the strides, of which those of size-1 dims may say otherwise.
    """
    contiguous = not why_not_contiguous(shape, stride, "contiguous_format")
    channels_last = not why_not_contiguous(shape, stride, "channels_last")
    if contiguous == channels_last:
        return ()
    return tuple(range(len(shape))) if contiguous else (0, 2, 3, 1)


def why_not_dense(shape: Ints, stride: Ints, start: int = 0) -> str:
    """Why the elements do not fill their range one by one: a hole, or a shared element; "" if they do.

    `start` is the lowest element reached. Fewer than two elements are always dense.

    >>> why_not_dense((4, 6), (8, 1))
    'dim 0 has stride 8, 6 is needed: elements 6 to 7 are a hole'
    >>> why_not_dense((4, 6), (5, 1))
    'dim 0 has stride 5, 6 is needed: two indices share element 5'
    """
    if prod(shape) == 0:
        return ""
    needed = 1  # the dims so far fill exactly the elements start … start + needed - 1
    for step, d in sorted((abs(stride[d]), d) for d, size in enumerate(shape) if size > 1):
        mismatch = f"dim {d} has stride {stride[d]}, {needed} is needed"
        if step < needed:
            return f"{mismatch}: two indices share element {start + step}"
        if step > needed:  # and all other strides are at least as large: nothing reaches the gap
            first, last = start + needed, start + step - 1
            what = f"elements {first} to {last} are" if last > first else f"element {first} is"
            return f"{mismatch}: {what} a hole"
        needed *= shape[d]
    return ""
