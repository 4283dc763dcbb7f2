"""E2: a channels-last tensor from NHWC images, without a copy."""

from __future__ import annotations

import torch
from torch import Tensor

from stridekit.exercises.answers import view_of
from stridekit.exercises.core import exercise


@exercise(
    title="NHWC images as a channels-last tensor",
    read=view_of("images"),
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
        "The bytes are right already: the channels of a pixel lie side by side. Only the shape has "
        "another order than torch wants. Which operation reorders dims, and copies nothing?",
        "`permute` takes, for each new dim, the number of the old one. The new dims are N, C, H, W: "
        "at which place of (N, H, W, C) does each of them stand?",
        "N is old dim 0, C is 3, H is 1, W is 2.",
    ],
    otherwise="Compare the two lines fact by fact. The answer should have the elements of images where "
    "they are, with `answer[n, c, h, w]` being `images[n, h, w, c]`.",
    takeaway="NHWC data is channels-last already: permute the dims, and not one byte moves.",
)
def channels_last_view(images: torch.Tensor) -> torch.Tensor:
    """The same images with dims (N, C, H, W), on the same memory.

    images  a tensor of shape (N, H, W, C): a whole batch, or a part of one
    return  a view of images of shape (N, C, H, W), with [n, c, h, w] at images' [n, h, w, c]
    """
    return images.permute(0, 3, 1, 2)


def permuted(images: Tensor) -> Tensor:
    return images.permute(0, 3, 1, 2)


COPIES = (
    "The dims are right, but then you copy everything, and into contiguous_format at that: the "
    "channels lay side by side, and now they do not. Nothing has to follow the permute."
)


@channels_last_view.mistake(COPIES)
def makes_it_contiguous(images: Tensor) -> Tensor:
    return permuted(images).contiguous()


@channels_last_view.mistake(COPIES)
def copies_to_contiguous(images: Tensor) -> Tensor:
    return permuted(images).clone(memory_format=torch.contiguous_format)


@channels_last_view.mistake(
    "Right on a whole batch, where this call returns the tensor itself. A part of a batch has gaps, "
    "so it is copied there. The permute alone was enough."
)
def makes_parts_contiguous(images: Tensor) -> Tensor:
    return permuted(images).contiguous(memory_format=torch.channels_last)


@channels_last_view.mistake(
    "`.to(memory_format=…)` copies where torch does not take the tensor for channels-last, here "
    "because of the order in which these images lie. A view was asked for, whatever they look like."
)
def converts_to_the_format(images: Tensor) -> Tensor:
    return permuted(images).to(memory_format=torch.channels_last)


@channels_last_view.mistake(
    "A copy of its own, so it stands on other memory. Nothing needs to be copied: the permuted view "
    "has the right shape and the right order in memory."
)
def clones(images: Tensor) -> Tensor:
    return permuted(images).clone()


NO_REORDERING = (
    "`view` and `reshape` never reorder: they cut the same run of elements into other sizes, and "
    "what was the green of a pixel is now its neighbour. Reordering dims is what `permute` does."
)


@channels_last_view.mistake(NO_REORDERING)
def reshapes(images: Tensor) -> Tensor:
    n, h, w, c = images.shape
    return images.reshape(n, c, h, w)


@channels_last_view.mistake(NO_REORDERING)
def views(images: Tensor) -> Tensor:
    n, h, w, c = images.shape
    return images.view(n, c, h, w)


@channels_last_view.mistake(
    "W and H have changed places: your images lie on their side. Exchanging dims 1 and 3 moves W as "
    "well. The three dims go round: C to the front, H and W one place back."
)
def lays_images_on_their_side(images: Tensor) -> Tensor:
    return images.permute(0, 3, 2, 1)


@channels_last_view.mistake(
    "That is the way back, from (N, C, H, W) to (N, H, W, C). `permute` asks for each new dim which "
    "old one it is: the new dim 1 is C, and C was old dim 3."
)
def permutes_the_wrong_way(images: Tensor) -> Tensor:
    return images.permute(0, 2, 3, 1)


@channels_last_view.mistake(
    "These are the strides of a whole new batch, and images may be a part of one, or lie in another "
    "order. Let `images.stride()` itself be permuted: that is what `permute` does."
)
def takes_strides_of_a_whole_batch(images: Tensor) -> Tensor:
    n, h, w, c = images.shape
    return images.as_strided((n, c, h, w), (h * w * c, 1, w * c, c))


@channels_last_view.mistake(
    "The images are as they were: of shape (N, H, W, C). torch's functions take the second dim for "
    "the channels whatever the memory format, so the shape has to become (N, C, H, W)."
)
def leaves_the_shape(images: Tensor) -> Tensor:
    return images[:]
