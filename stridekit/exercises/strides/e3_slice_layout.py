"""E3: what a slice does to shape, stride and offset."""

from __future__ import annotations

from typing import Any

from stridekit.exercises.answers import read_layout
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]
LayoutOf = tuple[Ints, Ints, int]
Bound = int | None


def case(layout: LayoutOf, dim: int, start: Bound, stop: Bound, step: int) -> str:
    """The case of slicing `dim`, with the subscript that would do it in a comment."""
    bounds = ":".join("" if bound is None else str(bound) for bound in (start, stop))
    subscript = ":, " * dim + bounds + (f":{step}" if step != 1 else "")
    return (
        "shape, stride, offset = {}, {}, {}\n".format(*layout)
        + f"dim, start, stop, step = {dim}, {start}, {stop}, {step}  # x[{subscript}]"
    )


NEW = ((4, 6), (6, 1), 0)  # torch.empty(4, 6)
CUT = ((3, 5), (8, 1), 10)  # torch.empty(4, 8)[1:, 2:7]
TURNED = ((6, 4), (1, 6), 0)  # torch.empty(4, 6).t()
SPARSE = ((2, 7), (30, 2), 1)  # torch.empty(4, 15)[::2, 1::2]


@exercise(
    title="what a slice does to the three numbers",
    read=read_layout,
    cases=[
        case(NEW, 0, 1, 3, 1),
        case(NEW, 1, 2, 5, 1),
        case(NEW, 1, 0, 6, 2),
        case(CUT, 0, 1, 3, 1),
        case(CUT, 1, 0, 5, 2),
        case(CUT, 1, 1, 5, 3),
        case(TURNED, 0, 1, 5, 2),
        case(TURNED, 1, 1, 4, 2),
        case(SPARSE, 1, 1, 6, 4),
        case(((2, 3, 4), (12, 4, 1), 0), 1, 1, 3, 1),
        case(NEW, 1, None, 4, 1),
        case(NEW, 0, 2, None, 1),
        case(SPARSE, 1, None, None, 3),
        case(NEW, 0, 1, 99, 1),
        case(SPARSE, 1, 2, 50, 2),
        case(NEW, 1, 1, -1, 1),
        case(CUT, 1, -3, None, 1),
        case(SPARSE, 1, -5, -1, 3),
        case(NEW, 0, -99, 2, 1),
        case(CUT, 0, 2, 3, 4),
        case(((3,), (0,), 5), 0, 1, 3, 2),
        case(CUT, 1, 3, 3, 1),
        case(NEW, 0, 3, 1, 1),
        case(CUT, 0, 7, 9, 2),
        case(((0, 3), (3, 1), 4), 0, None, None, 2),
    ],
    hints=[
        "Only three numbers can change: the size of `dim`, the stride of `dim`, and the offset. "
        "All the others stay.",
        "First make `start` and `stop` plain: None, negative and too large ones become numbers "
        "between 0 and the size. `slice(start, stop, step).indices(size)` does just that.",
        "The first element moves by `start` old strides. A step now skips `step` old strides. And "
        "`range(start, stop, step)` knows how many are left, also when that is none.",
    ],
    otherwise="Take one number at a time: where the first element lies, how far a step of the new "
    "dim goes, and how many of them fit. The indices that are kept are `range(start, stop, step)`.",
    takeaway="A slice changes three numbers and moves no element: that is why it costs nothing.",
)
def slice_layout(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int,
    dim: int,
    start: int | None,
    stop: int | None,
    step: int,
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The layout of a slice: x is sliced `start:stop:step` along `dim`, its other dims stay whole.

    shape, stride, offset   x's, in elements
    dim                     an int from 0 to len(shape) - 1
    start, stop             as in any Python slice: None, negative or out of range are fine
    step                    an int > 0
    return                  (shape, stride, offset) of the slice, exactly torch's. Where
                            nothing is left, torch moves the offset all the same.
    """
    start, stop, step = slice(start, stop, step).indices(shape[dim])
    size = len(range(start, stop, step))
    return (
        (*shape[:dim], size, *shape[dim + 1 :]),
        (*stride[:dim], stride[dim] * step, *stride[dim + 1 :]),
        offset + start * stride[dim],
    )


def solve(*args: Any) -> LayoutOf:
    """The right answer, for mistakes that start from it."""
    answer: LayoutOf = slice_layout.reference(*args)
    return answer


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
    return new_shape, new_stride, offset + slice(start, stop, step).indices(shape[dim])[0]


@slice_layout.mistake(
    "`start` is an index of x, before anything is skipped: it is worth `start` old strides. You "
    "took the new, longer ones."
)
def starts_by_new_strides(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    new_shape, new_stride, _ = solve(shape, stride, offset, dim, start, stop, step)
    first = slice(start, stop, step).indices(shape[dim])[0]
    return new_shape, new_stride, offset + first * new_stride[dim]


@slice_layout.mistake(
    "You round the size down. 0:5:2 keeps 0, 2 and 4: three of them, and 5 // 2 is 2. A last step "
    "that is cut short still begins with an element."
)
def rounds_the_size_down(
    shape: Ints, stride: Ints, offset: int, dim: int, start: Bound, stop: Bound, step: int
) -> LayoutOf:
    first, last, _ = slice(start, stop, step).indices(shape[dim])
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


def literal(
    shape: Ints, stride: Ints, offset: int, dim: int, start: int, stop: int, step: int
) -> LayoutOf:
    """The arithmetic alone, with `start` and `stop` taken as they come."""
    size = max(-(-(stop - start) // step), 0)
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
    "All right as long as something is left. Where nothing is, torch does not make an exception: "
    "the offset still moves by `start` strides, brought back to the size if need be."
)
def keeps_the_offset_of_nothing(shape: Ints, stride: Ints, offset: int, *rest: Any) -> LayoutOf:
    new_shape, new_stride, new_offset = solve(shape, stride, offset, *rest)
    return new_shape, new_stride, new_offset if all(new_shape) else offset
