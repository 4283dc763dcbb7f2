"""E3: the mistakes that `slice_layout` knows by name."""

from __future__ import annotations

from typing import Any

import torch

from stridekit.exercises.strides.e3_slice_layout import Bound, Ints, LayoutOf, slice_layout

__all__ = ["slice_layout"]  # with all of these


def solve(*args: Any) -> LayoutOf:
    """The right answer, for mistakes that start from it."""
    answer: LayoutOf = slice_layout.reference(*args)
    return answer


def plain(size: int, start: Bound, stop: Bound) -> tuple[int, int]:
    """Start and stop as numbers from 0 to the size."""
    return slice(start, stop).indices(size)[:2]


def with_dim(values: Ints, dim: int, value: int) -> Ints:
    """The tuple with another value for one dim."""
    return (*values[:dim], value, *values[dim + 1 :])


@slice_layout.mistake(
    "Walk the new dim: from one kept element to the next you pass over `step` old ones. So the "
    "new stride is `step` times the old one."
)
def leaves_the_step_out_of_the_stride(shape: Ints, stride: Ints, *rest: Any) -> LayoutOf:
    new_shape, _, new_offset = solve(shape, stride, *rest)
    return new_shape, stride, new_offset


@slice_layout.mistake(
    "Your strides come from the new shape, as if the slice was packed into new memory. But nothing "
    "moves: the other dims keep their strides, and that of `dim` is `step` times the old one."
)
def packs_the_slice(shape: Ints, stride: Ints, *rest: Any) -> LayoutOf:
    new_shape, _, new_offset = solve(shape, stride, *rest)
    return new_shape, torch.empty(new_shape).stride(), new_offset


@slice_layout.mistake(
    "You multiply every stride by `step`. Only one dim is sliced; in the others you still go from "
    "one element to the next as before."
)
def steps_in_every_dim(shape: Ints, stride: Ints, *rest: Any) -> LayoutOf:
    new_shape, _, new_offset = solve(shape, stride, *rest)
    return new_shape, tuple(s * rest[-1] for s in stride), new_offset


@slice_layout.mistake(
    "Your slice begins where x begins. But x[1:] does not hold x[0]: its first element lies "
    "`start` strides further on."
)
def leaves_the_offset(shape: Ints, stride: Ints, offset: int, *rest: Any) -> LayoutOf:
    return *solve(shape, stride, offset, *rest)[:2], offset


@slice_layout.mistake(
    "x need not begin at the start of its storage either: it can be a slice already. Add to the "
    "offset it has, instead of starting anew."
)
def starts_anew(shape: Ints, stride: Ints, offset: int, *rest: Any) -> LayoutOf:
    return solve(shape, stride, 0, *rest)


@slice_layout.mistake(
    "`start` counts indices of the dim, the offset counts elements of the storage. One index is "
    "`stride[dim]` elements."
)
def adds_the_bare_start(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    new_shape, new_stride, _ = solve(shape, stride, offset, dim, start, stop, step)
    return new_shape, new_stride, offset + plain(shape[dim], start, stop)[0]


@slice_layout.mistake(
    "`start` is an index of x, before anything is skipped: it is worth `start` old strides. You "
    "took the new, longer ones."
)
def starts_by_new_strides(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    new_shape, new_stride, _ = solve(shape, stride, offset, dim, start, stop, step)
    return new_shape, new_stride, offset + plain(shape[dim], start, stop)[0] * new_stride[dim]


@slice_layout.mistake(
    "You round the size down. 0:5:2 keeps 0, 2 and 4: three of them, and 5 // 2 is 2. A last step "
    "that is cut short still begins with an element."
)
def rounds_the_size_down(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    first, last = plain(shape[dim], start, stop)
    _, new_stride, new_offset = solve(shape, stride, offset, dim, start, stop, step)
    return with_dim(shape, dim, max(last - first, 0) // step), new_stride, new_offset


@slice_layout.mistake(
    "Your size is stop - start, as if every index in between were kept. Only one in `step` is."
)
def keeps_every_index(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    new_shape, _, _ = solve(shape, stride, offset, dim, start, stop, 1)
    return new_shape, *solve(shape, stride, offset, dim, start, stop, step)[1:]


@slice_layout.mistake(
    "One too many: `stop` itself is not in the slice, so no + 1 belongs to the size. 0:6:2 keeps "
    "0, 2 and 4, and `range(start, stop, step)` counts just these."
)
def keeps_the_stop(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    first, last = plain(shape[dim], start, stop)
    return literal(shape, stride, offset, dim, first, last + 1, step)


@slice_layout.mistake(
    "Where start lies behind stop, nothing is left: the size is 0 then, not below. "
    "`len(range(start, stop, step))` never goes there."
)
def goes_below_nothing(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    first, last = plain(shape[dim], start, stop)
    return literal(shape, stride, offset, dim, first, last, step, at_least=-999)


def literal(
    shape: Ints,
    stride: Ints,
    offset: int,
    dim: int,
    start: int,
    stop: int,
    step: int,
    at_least: int = 0,
) -> LayoutOf:
    """The arithmetic alone, with `start` and `stop` taken as they come."""
    size = max(-(-(stop - start) // step), at_least)
    new_stride = with_dim(stride, dim, stride[dim] * step)
    return with_dim(shape, dim, size), new_stride, offset + start * stride[dim]


@slice_layout.mistake(
    "`start` and `stop` can be None, as in x[::2]: from the beginning, and to the end. Fill them "
    "in before you calculate."
)
def trips_over_none(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    if start is None or stop is None:
        raise TypeError("unsupported operand: 'NoneType' and 'int'")
    return solve(shape, stride, offset, dim, start, stop, step)


@slice_layout.mistake(
    "0 is not None, though both count as false: `start or 0` does no harm, but `stop or size` "
    "makes x[:0] keep everything. Ask `if stop is None`."
)
def takes_zero_for_none(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    return solve(shape, stride, offset, dim, start or None, stop or None, step)


@slice_layout.mistake(
    "A slice may reach past the end, as in x[1:99]: Python and torch stop at the size, without an "
    "error. So bring `start` and `stop` back to it."
)
def reaches_past_the_end(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    size = shape[dim]
    first, last = 0 if start is None else start, size if stop is None else stop
    first, last = (bound + size if bound < 0 else bound for bound in (first, last))
    return literal(shape, stride, offset, dim, first, last, step)


@slice_layout.mistake(
    "A negative bound counts from the end: -1 is the last index. Add the size to it before you "
    "calculate (and what is still below 0 then becomes 0)."
)
def takes_negatives_literally(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    size = shape[dim]
    first, last = 0 if start is None else start, size if stop is None else stop
    return literal(shape, stride, offset, dim, min(first, size), min(last, size), step)


@slice_layout.mistake(
    "A slice may also reach back beyond the beginning, as in x[-99:2]: -99 plus the size is still "
    "below 0. Bring such a bound up to 0."
)
def reaches_back_beyond_the_beginning(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    size = shape[dim]
    first, last = 0 if start is None else start, size if stop is None else stop
    first, last = (bound + size if bound < 0 else min(bound, size) for bound in (first, last))
    return literal(shape, stride, offset, dim, first, last, step)


@slice_layout.mistake(
    "`%` goes round as often as it can: -99 % 4 is 1. Python adds the size once, and what is still "
    "below 0 then becomes 0."
)
def goes_round_and_round(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    size = shape[dim]
    if size:
        start, stop = (b % size if b is not None and b < 0 else b for b in (start, stop))
    return solve(shape, stride, offset, dim, start, stop, step)


@slice_layout.mistake(
    "A bound below -size is still negative after you added the size, and a slice of Python then "
    "counts it from the end once more. Bring it up to 0 first."
)
def adds_the_size_twice(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    size = shape[dim]
    start, stop = (b + size if b is not None and b < 0 else b for b in (start, stop))
    return solve(shape, stride, offset, dim, start, stop, step)


NOTHING = (
    "All right as long as something is left. Where nothing is, torch does not make an exception: "
    "the offset still moves by `start` strides, brought back to the size if need be."
)


@slice_layout.mistake(NOTHING)
def keeps_the_offset_of_nothing(shape: Ints, stride: Ints, offset: int, *rest: Any) -> LayoutOf:
    new_shape, new_stride, new_offset = solve(shape, stride, offset, *rest)
    return new_shape, new_stride, new_offset if all(new_shape) else offset


@slice_layout.mistake(NOTHING)
def keeps_the_offset_of_no_elements(shape: Ints, stride: Ints, offset: int, *rest: Any) -> LayoutOf:
    new_shape, new_stride, new_offset = solve(shape, stride, offset, *rest)
    return new_shape, new_stride, new_offset if all(shape) else offset


@slice_layout.mistake(NOTHING)
def starts_nothing_at_zero(shape: Ints, stride: Ints, offset: int, *rest: Any) -> LayoutOf:
    new_shape, new_stride, new_offset = solve(shape, stride, offset, *rest)
    return new_shape, new_stride, new_offset if all(new_shape) else 0
