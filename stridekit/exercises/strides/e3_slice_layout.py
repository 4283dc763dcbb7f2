"""E3: what a slice does to shape, stride and offset. Its mistakes are in e3_mistakes."""

from __future__ import annotations

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

CASES = [
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
    case(NEW, 0, None, 0, 1),
    case(CUT, 0, 1, 0, 1),
    case(NEW, 1, 2, 0, 2),
    case(NEW, 0, None, -99, 1),
    case(NEW, 1, 2, -7, 1),
    case(SPARSE, 1, -9, -1, 2),
    case(CUT, 0, 2, 3, 4),
    case(((3,), (0,), 5), 0, 1, 3, 2),
    case(CUT, 1, 3, 3, 1),
    case(NEW, 0, 3, 1, 1),
    case(NEW, 1, 4, 1, 2),
    case(CUT, 0, 7, 9, 2),
    case(((0, 3), (3, 1), 4), 0, None, None, 2),
    case(((0, 3), (3, 1), 4), 0, -1, 5, 1),
    case(((3, 0), (1, 1), 0), 0, 1, None, 1),
    case(((2, 3, 0), (3, 1, 1), 5), 1, -2, None, 2),
]


@exercise(
    title="what a slice does to the three numbers",
    read=read_layout,
    cases=CASES,
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
                            nothing is left, torch still moves the offset.
    """
    start, stop, step = slice(start, stop, step).indices(shape[dim])
    size = len(range(start, stop, step))
    return (
        (*shape[:dim], size, *shape[dim + 1 :]),
        (*stride[:dim], stride[dim] * step, *stride[dim + 1 :]),
        offset + start * stride[dim],
    )
