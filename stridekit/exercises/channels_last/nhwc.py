"""E1 and E2: the stride of channels-last, and NHWC images seen so without a copy."""

from dataclasses import replace
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_stride, view_of
from stridekit.exercises.running import Arguments, Outcome
from stridekit.exercises.watch import without_a_tensor


@exercise(
    title="the stride of channels_last",
    read=read_stride,
    means=without_a_tensor("Layout"),
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
        "One step along C is 1, along W it is c elements (a pixel), along H w pixels (a row), "
        "along N h rows. Answer them in the order of the shape: N, C, H, W.",
    ],
    otherwise=(
        "Walk through memory: first the channels of one pixel, then the pixels of one row, then "
        "the rows of one image. How far is it to the next channel, pixel, row, image? Answer in "
        "the order N, C, H, W."
    ),
    takeaway=(
        "A format is an order: C innermost, then W, H, N. The stride follows, the shape stays."
    ),
)
def channels_last_stride(shape: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The stride of a new channels-last tensor of this shape, worked out without a tensor.

    shape   (N, C, H, W), ints >= 0
    return  a tuple of 4 ints, in elements and in the same order N, C, H, W, exactly what
            `torch.empty(shape, memory_format=torch.channels_last).stride()` answers
            (here torch takes a size of 0 as it is)

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    _, c, h, w = shape
    return (h * w * c, 1, w * c, c)


channels_last_stride.slots["_, c, h, w = shape"] = {
    "_, h, w, c = shape": (
        "You read the shape as (N, H, W, C). It stays (N, C, H, W), whatever the memory format: "
        "the second size is the number of channels."
    ),
}
channels_last_stride.slots["(h * w * c, 1, w * c, c)"] = {
    "(c * h * w, h * w, w, 1)": (
        "That is contiguous_format: W innermost, then H, C, N. In channels_last the channels of "
        "one pixel lie side by side, so the stride of C is 1."
    ),
    "(c * h * w, 1, c, c * h)": (
        "You walk C, then H, then W: that goes down the columns. An image lies row by row in both "
        "formats, so W comes next after C: which pixel follows the first?"
    ),
    ("(h * w * c, 1, w, c)", "(h * w * c, 1, w * h, c)"): (
        "Right except for H. One step along H passes a row of pixels. How many elements are these?"
    ),
    "(h * w, 1, w, c)": (
        "Right except for N and H. Both steps pass whole pixels: how many elements does a pixel "
        "have?"
    ),
    "(h * w * c, c, w * c, 1)": (
        "You exchange C and W. The channels of one pixel lie side by side, so the stride of C is "
        "the smallest."
    ),
    "(c * h * w, w, 1, h * w)": (
        "Those are the strides of contiguous_format in another order, as after a permute of a new "
        "tensor. A permute moves no element. In channels_last the elements lie in another order."
    ),
    "(h * w * c, 1, h * c, c)": "Right except for H. How many pixels does a row have?",
    "(h * w * c, 1, w * c, h * c)": (
        "Right except for W. After how many elements does the next pixel of a row begin?"
    ),
    "(shape[0] * h * w * c, 1, w * c, c)": (
        "Right except for N. One step along N skips one image. The number of images does not "
        "matter for that."
    ),
    ("(h * w, 1, w, 1)", "(h * w * c, 1, w, 1)"): (
        "You forgot the channels: two pixels of a row lie further apart than 1, because the "
        "channels of the first pixel lie between. How long is a pixel?"
    ),
    ("(h * w * c, w * c, c, 1)", "(1, c, w * c, h * w * c)"): (
        "The right four numbers, in the order in which the dims lie in memory. A stride stands in "
        "the order of the shape, (N, C, H, W)."
    ),
    "(h * w * c, c, 1, w * c)": (
        "The right numbers, permuted the wrong way round. `permute(0, 3, 1, 2)` brings N, H, W, C "
        "to N, C, H, W; (0, 2, 3, 1) is the way back."
    ),
    "(c, 1, shape[0] * c * w, shape[0] * c)": (
        "You put the images between the channels and the rows. Each image is one piece: N is "
        "outermost in both formats, so its stride is the largest."
    ),
    ("(0, 2, 3, 1)", "(shape[0], h, w, c)", "(1, c, w, h)"): (
        "Those are the dims, or the sizes, in the order in which memory has them. A stride is a "
        "distance: how many elements is one step?"
    ),
}
channels_last_stride.wrong |= {
    "_, c, h, w = shape => _, c, h, w = (max(size, 1) for size in shape)": (
        "Right wherever there is an element. For contiguous_format torch counts a size of 0 as 1. "
        "For channels_last it multiplies the sizes as they are."
    ),
    "return => return (c * h * w, h * w, w, 1) if c == 1 or h == w == 1 else": (
        "Right where the formats differ. If C is 1, or if H and W are 1, you answer in "
        "contiguous_format. torch uses the stride of channels_last there too."
    ),
    (
        "[0 if n == 1 else s for n, s in zip(shape, channels_last_stride(shape))]",
        "[1 if n == 1 else s for n, s in zip(shape, channels_last_stride(shape))]",
    ): shared.SIZE_ONE,
    (
        "[2 * s for s in channels_last_stride(shape)]",
        "[4 * s for s in channels_last_stride(shape)]",
        "[8 * s for s in channels_last_stride(shape)]",
    ): shared.ELEMENTS,
}


def read_images(answer: Any, args: Arguments) -> Outcome:
    """Read a view of images, also a view that came back from NumPy."""
    images = args["images"]
    if isinstance(answer, torch.Tensor) and answer.dtype == images.dtype:
        answer = on_storage_of(images, answer)
    outcome = view_of("images")(answer, args)
    if isinstance(answer, torch.Tensor) and answer.numel() == 0:  # no index uses its stride
        return replace(outcome, facts=outcome.facts | {"stride": "any"})
    return outcome


def on_storage_of(images: torch.Tensor, answer: torch.Tensor) -> torch.Tensor:
    """Return the answer as a view of images where it lies in their memory, else as it is.

    An answer that came back from NumPy has a storage of its own, on the same memory.
    """
    storage = images.untyped_storage()
    if answer.numel() == 0 == images.numel():  # there is no memory to share
        first = last = images.storage_offset()
    else:
        first, rest = divmod(answer.data_ptr() - storage.data_ptr(), images.itemsize)
        if rest:
            return answer
        dims = zip(answer.shape, answer.stride(), strict=True)
        last = first + sum((size - 1) * step for size, step in dims)
    if first < 0 or last * images.itemsize >= storage.nbytes():
        return answer
    return images.as_strided(answer.shape, answer.stride(), first)


@exercise(
    title="NHWC images as a channels-last tensor",
    read=read_images,
    cases=[
        "images = torch.arange(2 * 4 * 5 * 3).view(2, 4, 5, 3)",
        "images = torch.arange(2 * 3 * 3 * 3, dtype=torch.uint8).view(2, 3, 3, 3)",
        "images = torch.arange(6 * 4 * 5 * 3).view(6, 4, 5, 3)[2:4]",
        "images = torch.arange(2 * 6 * 7 * 3).view(2, 6, 7, 3)[:, 1:5, 2:]",
        "images = torch.arange(2 * 4 * 6 * 4).view(2, 4, 6, 4)[:, :, ::2, :3]",
        "images = torch.arange(2 * 4 * 5 * 3).view(2, 3, 4, 5).permute(0, 2, 3, 1)",
        "images = torch.arange(2 * 5 * 4 * 3).view(2, 5, 4, 3).transpose(1, 2)",
        "images = torch.arange(4 * 5 * 3).view(4, 5, 3).expand(2, 4, 5, 3)",
        "images = torch.arange(2 * 4 * 5).view(2, 4, 5, 1)",
        "images = torch.arange(2 * 4 * 5 * 3).view(2, 4, 5, 3)[..., 1:2]",
        "images = torch.arange(6 * 3.0, dtype=torch.float16).view(6, 1, 1, 3)",
        "images = torch.arange(4 * 5 * 3).view(1, 4, 5, 3)",
        "images = torch.arange(2 * 4 * 5 * 3).view(2, 4, 5, 3)[:0]",
    ],
    hints=[
        "The bytes are right already: the channels of a pixel lie side by side. Only the dims stand "
        "in another order. Which operation reorders dims, and copies nothing?",
        "Each number that you give to `permute` is the old place of a new dim. The new dims are N, "
        "C, H, W: at which place of (N, H, W, C) does each of them stand?",
        "N is old dim 0, C is 3, H is 1, W is 2.",
    ],
    otherwise=(
        "Compare the two lines fact by fact. `answer[n, c, h, w]` should be `images[n, h, w, c]`, "
        "on the same memory."
    ),
    takeaway="NHWC data is channels-last already: permute the dims, and not one byte moves.",
)
def channels_last_view(images: torch.Tensor) -> torch.Tensor:
    """The same images with dims (N, C, H, W), on the same memory.

    images  a tensor of shape (N, H, W, C): a whole batch, or a part of one
    return  a view of images of shape (N, C, H, W), with [n, c, h, w] at images' [n, h, w, c]
    """
    return images.permute(0, 3, 1, 2)


def nchw(images: torch.Tensor) -> torch.Size:
    return images.permute(0, 3, 1, 2).shape


MISREAD = (
    "channels_last takes the second dim for the channels. In your shape (N, H, W, C) that is H, "
    "so torch copies everything to make H the innermost dim. The bytes are in the right order "
    "already, and only the dims are not."
)

channels_last_view.slots["0, 3, 1, 2"] = {
    "0, 3, 2, 1": (
        "W and H have changed places: your images lie on their side. Exchanging dims 1 and 3 moves "
        "W as well. The three dims go round: C to the front, H and W one place back."
    ),
    "0, 2, 3, 1": (
        "That is the way back, from (N, C, H, W) to (N, H, W, C). `permute` asks for each new dim "
        "which old one it is: the new dim 1 is C, and C was old dim 3."
    ),
    "3, 0, 1, 2": "C has gone to the very front, before N. In N, C, H, W it comes next.",
}
channels_last_view.slots["images"] = {
    "images.clone()": (
        "The right shape and strides, but on other memory: that is a copy. You do not need a copy, "
        "because the permuted view has both."
    ),
    "images.to(memory_format=torch.channels_last)": MISREAD,
}
channels_last_view.wrong |= {
    ("channels_last_view(images).float()", "channels_last_view(images).double()"): (
        shared.DTYPE.format("images")
    ),
    "images.as_strided(nchw(images), channels_last_view(images).stride(), 0)": (
        shared.ABSOLUTE.format("images")
    ),
    "images.permute(3, 2, 1, 0)": (
        "You reverse all four dims. N stays first, and H and W keep their order."
    ),
    (
        "channels_last_view(images).contiguous()",
        "channels_last_view(images).clone(memory_format=torch.contiguous_format)",
    ): (
        "Every value is at its index, but in new memory and in contiguous_format. The channels of "
        "a pixel no longer lie side by side. Reordering the dims is enough, and copies nothing."
    ),
    "channels_last_view(images).contiguous(memory_format=torch.channels_last)": (
        "Right on a whole batch, where this call returns the tensor itself. A part of a batch has "
        "gaps, so it is copied there. The reordered view alone was enough."
    ),
    "channels_last_view(images).to(memory_format=torch.channels_last)": (
        "`.to(memory_format=…)` copies where torch does not take the tensor for channels-last. "
        "These images lie in another order. The task asks for a view of every tensor."
    ),
    (
        "images.to(memory_format=torch.channels_last)",
        "images.contiguous(memory_format=torch.channels_last)",
    ): MISREAD,
    ("images.reshape(nchw(images))", "images.view(nchw(images))"): (
        "The elements still run in their old order, only cut into other sizes. `view` and "
        "`reshape` never change the order of dims. Which operation does?"
    ),
    "images.as_strided(nchw(images), channels_last_stride.reference(nchw(images)))": (
        "You take the strides of a new batch. But images may be a part of a batch, or lie in "
        "another order. Use the strides that images has."
    ),
    "images[:]": (
        "You return images in their own shape (N, H, W, C). torch's functions take the second dim "
        "for the channels in every memory format."
    ),
    ("images.mT", "images.transpose(1, 2)"): (
        "Two dims have changed places. All three move: C to the second place, H and W one back."
    ),
}
