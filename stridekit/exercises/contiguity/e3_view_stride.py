"""E3: the view rule, by hand. Its mistakes are in e3_mistakes."""

from __future__ import annotations

from stridekit.exercises.contiguity.readers import read_stride_of
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]

NEW = ((4, 6), (6, 1))  # torch.empty(4, 6)
TURNED = ((6, 4), (1, 6))  # torch.empty(4, 6).t()
CUT = ((4, 6), (8, 1))  # torch.empty(4, 8)[:, :6]
SPARSE = ((4, 3), (6, 2))  # torch.empty(4, 6)[:, ::2]
ROWS = ((2, 6), (12, 1))  # torch.empty(4, 6)[::2]
BLOCK = ((4, 2, 3), (1, 12, 4))  # torch.empty(2, 3, 4).permute(2, 0, 1)
PIXELS = ((2, 3, 2, 2), (12, 1, 6, 3))  # channels-last
ONES = ((4, 1, 6), (6, 99, 1))
SAME = ((2, 3), (0, 0))  # torch.empty(1).expand(2, 3)
COPIES = ((4, 6), (0, 1))  # torch.empty(6).expand(4, 6)


def case(layout: tuple[Ints, Ints], new_shape: Ints) -> str:
    """The case of viewing a layout as a new shape."""
    return "shape, stride, new_shape = {}, {}, {}".format(*layout, new_shape)


CASES = [
    case(NEW, (24,)),
    case(NEW, (3, 8)),
    case(NEW, (2, 2, 3, 2)),
    case(CUT, (2, 2, 6)),
    case(CUT, (2, 2, 2, 3)),
    case(CUT, (24,)),
    case(CUT, (2, 12)),
    case(CUT, (8, 3)),
    case(CUT, (4, 3, 2)),
    case(CUT, (4, 6)),
    case(TURNED, (24,)),
    case(TURNED, (3, 2, 4)),
    case(TURNED, (6, 2, 2)),
    case(TURNED, (4, 6)),
    case(TURNED, (6, 4)),
    case(SPARSE, (12,)),
    case(SPARSE, (2, 6)),
    case(SPARSE, (2, 2, 3)),
    case(ROWS, (2, 2, 3)),
    case(ROWS, (12,)),
    case(ROWS, (3, 4)),
    case(((4,), (6,)), (2, 2)),  # a column
    case(((12,), (3,)), (2, 3, 2)),
    case(BLOCK, (4, 6)),
    case(BLOCK, (2, 2, 3, 2)),
    case(BLOCK, (8, 3)),
    case(BLOCK, (24,)),
    case(PIXELS, (2, 3, 4)),
    case(PIXELS, (6, 4)),
    case(PIXELS, (2, 12)),
    case(((2, 2, 4), (12, 4, 1)), (2, 8)),  # torch.empty(2, 3, 4)[:, :2]
    case(((2, 2, 4), (12, 4, 1)), (4, 4)),
    case(((2, 3, 2), (12, 4, 1)), (6, 2)),  # torch.empty(2, 3, 4)[:, :, :2]
    case(((2, 3, 2), (12, 4, 1)), (2, 6)),
    case(((3, 3, 3), (3, 9, 1)), (9, 3)),  # torch.empty(3, 3, 3).transpose(0, 1)
    case(((4, 4), (1, 4)), (16,)),
    case(((4, 4), (1, 4)), (2, 2, 4)),
    case(COPIES, (2, 2, 6)),
    case(COPIES, (24,)),
    case(((3, 2, 2), (0, 2, 1)), (3, 4)),
    case(SAME, (6,)),
    case(SAME, (3, 2)),
    case(ONES, (24,)),
    case(ONES, (2, 12)),
    case(ONES, (4, 6)),
    case(((1, 4, 3), (5, 8, 1)), (2, 2, 3)),
    case(((4, 3, 1), (3, 1, 7)), (12,)),
    case(((1, 6, 1), (0, 2, 0)), (2, 3)),
    case(NEW, (4, 1, 6)),
    case(NEW, (1, 24, 1)),
    case(CUT, (1, 2, 1, 2, 1, 6, 1)),
    case(CUT, (4, 1, 2, 1, 3)),
    case(CUT, (8, 1, 3)),
    case(TURNED, (1, 24)),
    case(((), ()), (1, 1)),
    case(((1, 1), (4, 9)), ()),
    case(((), ()), ()),
    case(((0, 3), (7, 2)), (3, 0)),
    case(((3, 0), (2, 5)), (0,)),
    case(((2, 0, 3), (1, 9, 4)), (5, 0, 7)),
]


@exercise(
    title="the stride of a view, or None where there is none",
    read=read_stride_of("new_shape"),
    cases=CASES,
    hints=[
        "First collect the chunks, from the last dim to the first: how many elements, and how far "
        "apart? A dim joins the chunk behind it where `stride[d] == shape[d + 1] * stride[d + 1]`. "
        "Leave sizes of 1 out before you begin.",
        "Then cut the chunks, again from the end: the last new dim gets the step of the last chunk, "
        "the one before it that step times its size, until the chunk is used up.",
        "Keep the elements that are left in this chunk. A new size that does not divide them would "
        "straddle the boundary: None. When none is left, go on with the next chunk and its step. "
        "Without any element, every stride will do.",
    ],
    otherwise="Do it on paper: the chunks of shape and stride first, each with its number of elements "
    "and its step. Then cut them into new_shape from the end. Does one new size reach into two chunks?",
    takeaway="Merge what steps evenly, cut it anew, and never across a boundary: that is all of view.",
)
def view_stride(
    shape: tuple[int, ...], stride: tuple[int, ...], new_shape: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The stride of `x.view(new_shape)`, or None where torch refuses that view.

    shape, stride   those of x, in elements
    new_shape       a tuple of ints >= 0 that multiply to as many elements; there is no -1 in it
    return          the stride of the view, one int for each new dim, or None. The stride of a
                    new dim of size 1 is free, and so are all where there is no element.
    """
    if 0 in shape:
        return (1,) * len(new_shape)
    chunks: list[list[int]] = []  # [elements, step] of each, the innermost first
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and chunks and step == chunks[-1][0] * chunks[-1][1]:
            chunks[-1][0] *= size
        elif size != 1:
            chunks.append([size, step])
    new_stride: list[int] = []
    left, step = 1, 1
    for size in reversed(new_shape):
        if left == 1 and size != 1:
            left, step = chunks.pop(0)
        if left % size:
            return None
        new_stride.insert(0, step)
        left //= size
        step *= size
    return tuple(new_stride)
