"""E1: the stride of a channels-last tensor."""

from __future__ import annotations

from stridekit.exercises.answers import read_stride
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]


@exercise(
    title="the stride of channels_last",
    read=read_stride,
    cases=[
        "shape = (2, 3, 4, 5)",
        "shape = (1, 64, 5, 4)",
        "shape = (8, 3, 2, 7)",
        "shape = (5, 2, 3, 3)",
        "shape = (7, 7, 7, 7)",
        "shape = (2, 1, 4, 5)",
        "shape = (1, 3, 1, 5)",
        "shape = (2, 3, 4, 1)",
        "shape = (6, 3, 1, 1)",
        "shape = (1, 1, 1, 1)",
        "shape = (0, 3, 4, 5)",
        "shape = (2, 3, 0, 5)",
        "shape = (2, 3, 4, 0)",
        "shape = (2, 0, 4, 5)",
    ],
    hints=[
        "Name the sizes: `n, c, h, w = shape`. Which dim is innermost, that is, along which one "
        "are two neighbours also neighbours in memory?",
        "From the innermost to the outermost it goes C, W, H, N. One step along a dim skips all "
        "that lies inside it: what does one step along W skip?",
        "One step along C is 1, along W it is c elements (a pixel), along H w pixels (a row), along "
        "N h rows. Answer them in the order of the shape: N, C, H, W.",
    ],
    otherwise="Walk through memory: first the channels of one pixel, then the pixels of one row, "
    "then the rows of one image. How far is it to the next channel, pixel, row, image? Answer in the "
    "order N, C, H, W.",
    takeaway="A format is an order: C innermost, then W, H, N. The stride follows, the shape stays.",
)
def channels_last_stride(shape: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The stride of a new channels-last tensor of this shape.

    shape   (N, C, H, W), ints >= 0
    return  a tuple of 4 ints, in elements and in the same order N, C, H, W, exactly what
            `torch.empty(shape, memory_format=torch.channels_last).stride()` answers
            (here torch takes a size of 0 as it is)
    """
    _, c, h, w = shape
    return (h * w * c, 1, w * c, c)


@channels_last_stride.mistake(
    "That is contiguous_format: W innermost, then H, C, N. In channels_last the channels of one "
    "pixel lie side by side, so the stride of C is 1."
)
def answers_contiguous_format(shape: Ints) -> Ints:
    _, c, h, w = shape
    return (c * h * w, h * w, w, 1)


@channels_last_stride.mistake(
    "You walk C, then H, then W: that goes down the columns. An image lies row by row in both "
    "formats, so W comes next after C. Look at the tape: which pixel follows the first?"
)
def walks_down_the_columns(shape: Ints) -> Ints:
    _, c, h, w = shape
    return (c * h * w, 1, c, c * h)


@channels_last_stride.mistake(
    "You forgot the channels on the way: two pixels of a row are not 1 apart, the channels of the "
    "first lie between. Everything outside C has to step over a whole pixel."
)
def forgets_the_channels(shape: Ints) -> Ints:
    _, _c, h, w = shape
    return (h * w, 1, w, 1)


@channels_last_stride.mistake(
    "The right four numbers, in the order N, H, W, C in which they lie in memory. The shape is "
    "still (N, C, H, W), and a stride stands in the order of the shape."
)
def leaves_them_in_the_order_of_memory(shape: Ints) -> Ints:
    _, c, h, w = shape
    return (h * w * c, w * c, c, 1)


@channels_last_stride.mistake(
    "You read the shape as (N, H, W, C). It stays (N, C, H, W), whatever the memory format: the "
    "second size is the number of channels."
)
def reads_the_shape_as_nhwc(shape: Ints) -> Ints:
    _, h, w, c = shape
    return (h * w * c, 1, w * c, c)


@channels_last_stride.mistake(
    "You permuted the right numbers the wrong way round. `permute(0, 3, 1, 2)` brings N, H, W, C to "
    "N, C, H, W; (0, 2, 3, 1) is the way back. Check one: the stride of C should be 1."
)
def permutes_the_wrong_way(shape: Ints) -> Ints:
    _, c, h, w = shape
    return (h * w * c, c, 1, w * c)


@channels_last_stride.mistake(
    "You put the images between the channels and the rows. Each image is one piece: N is outermost "
    "in both formats, so its stride is the largest."
)
def walks_the_images_first(shape: Ints) -> Ints:
    n, c, _, w = shape
    return (c, 1, n * c * w, n * c)


DIMS_OR_SIZES = (
    "Those are the dims, or the sizes, in the order in which memory has them. A stride is a "
    "distance: how many elements lie inside one step along the dim?"
)


@channels_last_stride.mistake(DIMS_OR_SIZES)
def answers_the_order(shape: Ints) -> Ints:
    return (0, 2, 3, 1)


@channels_last_stride.mistake(DIMS_OR_SIZES)
def answers_the_sizes(shape: Ints) -> Ints:
    n, c, h, w = shape
    return (n, h, w, c)


@channels_last_stride.mistake(
    "Right wherever there is an element. For a new tensor in contiguous_format torch counts a size "
    "of 0 as 1; for channels_last it does not, and multiplies the sizes as they are."
)
def counts_zero_as_one(shape: Ints) -> Ints:
    _, c, h, w = (max(size, 1) for size in shape)
    return (h * w * c, 1, w * c, c)


SIZE_ONE = (
    "Right where no size is 1. A dim of size 1 gets its stride by the same rule as any other: "
    "nobody steps along it, but torch writes down the product all the same."
)


@channels_last_stride.mistake(SIZE_ONE)
def gives_size_one_a_stride_of_one(shape: Ints) -> Ints:
    _, c, h, w = shape
    return tuple(
        1 if size == 1 else step for size, step in zip(shape, (h * w * c, 1, w * c, c), strict=True)
    )


@channels_last_stride.mistake(SIZE_ONE)
def gives_size_one_a_stride_of_zero(shape: Ints) -> Ints:
    _, c, h, w = shape
    return tuple(
        0 if size == 1 else step for size, step in zip(shape, (h * w * c, 1, w * c, c), strict=True)
    )


@channels_last_stride.mistake(
    "Right where the formats differ. Where C is 1, or H and W are, you answer in contiguous_format; "
    "torch writes the stride of channels_last there, too, when it is asked for it."
)
def falls_back_where_formats_meet(shape: Ints) -> Ints:
    _, c, h, w = shape
    if c == 1 or h == w == 1:
        return (c * h * w, h * w, w, 1)
    return (h * w * c, 1, w * c, c)
