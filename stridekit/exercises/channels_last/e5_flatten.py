"""E5: flatten images, and copy only where no view will do."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from stridekit.exercises.answers import kind
from stridekit.exercises.copy_log import Logged, logging_copies
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable

OUTSIDE = (
    "Your rows stand in memory that no operation of torch made here. Through lists or NumPy the bytes "
    "are copied as well, only nobody counts them. Stay with torch's own functions."
)


def read_rows(answer: Any, args: Arguments) -> Outcome:
    """An answer that is one row an image, with the bytes copied on the way."""
    if not isinstance(answer, Tensor):
        raise Unusable(f"{kind(answer)}, where a tensor is asked for: one row for each image")
    log = cast(Logged, args).log
    copied = sum(nbytes for _, nbytes in log.copies)
    outside = answer.numel() > 0 and not log.knows(answer)
    shape, values = tuple(answer.shape), answer.tolist()
    facts = {
        "dtype": answer.dtype,
        "shape": shape,
        "values": values,
        "bytes copied": "outside torch" if outside else copied,
    }
    shown = f"shape {shape}, {copied} bytes copied"
    if len(shape) == 2 and shape[0]:
        row = ", ".join(f"{value:g}" for value in values[0][:8])
        shown += f", row 0 is [{row}{', …' if shape[1] > 8 else ''}]"
    return Outcome(facts, shown, OUTSIDE if outside else "")


@exercise(
    title="flatten, and copy only where you must",
    read=read_rows,
    fence=logging_copies,
    cases=[
        "x = torch.arange(48.0).view(2, 3, 2, 4)",
        "x = torch.arange(48.0).view(2, 3, 2, 4).to(memory_format=torch.channels_last)",
        "x = torch.arange(96).view(4, 3, 2, 4)[::2]",
        "x = torch.arange(96).view(2, 6, 2, 4)[:, 1:4]",
        "x = torch.arange(96).view(4, 3, 2, 4).to(memory_format=torch.channels_last)[1:3]",
        "x = torch.arange(96).view(2, 3, 4, 4)[:, :, 1:3]",
        "x = torch.arange(24.0).view(3, 2, 4).expand(2, 3, 2, 4)",
        "x = torch.arange(16).view(2, 1, 2, 4).to(memory_format=torch.channels_last)",
        "x = torch.arange(48).view(2, 2, 4, 3)[..., :1].permute(0, 3, 1, 2)",
        "x = torch.arange(12, dtype=torch.int16).view(4, 3, 1, 1).to(memory_format=torch.channels_last)",
        "x = torch.arange(12).view(2, 6).t().view(2, 3, 1, 2)",
        "x = torch.arange(24).view(1, 3, 2, 4).to(memory_format=torch.channels_last)",
        "x = torch.arange(48).view(1, 6, 2, 4)[:, 1:4]",
        "x = torch.arange(5.0).view(5, 1, 1, 1)",
        "x = torch.zeros(0, 3, 2, 4).to(memory_format=torch.channels_last)",
    ],
    hints=[
        "The order is given: C, then H, then W, as `x.flatten(1)` has it. When do these elements lie "
        "evenly in memory, so that a view can walk them? Not only when x is contiguous.",
        "`contiguous()` asks about N as well, but N is not merged with anything. Which function of "
        "torch gives a view where one exists, and copies only otherwise?",
        "`reshape` and `flatten` try the view first. One of them, on x as it is, is all.",
    ],
    otherwise="Compare with `x.flatten(1)`: the values of row 0, and the bytes copied. Anything that you "
    "do to x before can only add a copy, or change the order.",
    takeaway="`flatten` copies only where the strides leave no other way, and it keeps the order C, H, W.",
)
def flatten_images(x: torch.Tensor) -> torch.Tensor:
    """One row for each image, without a needless copy.

    x       a tensor of shape (N, C, H, W), in any layout
    return  a tensor of shape (N, C * H * W): row n has x[n] in the order C, H, W, as the weights
            of a trained Linear layer expect it. A view wherever one exists; else one copy of x
    """
    return x.flatten(1)


@flatten_images.mistake(
    "You copy whatever is not contiguous, also images that a view could flatten: those of `x[::2]` "
    "lie whole in memory, only with gaps between them. Try what gives a view first."
)
def makes_all_contiguous(x: Tensor) -> Tensor:
    return x.contiguous().flatten(1)


@flatten_images.mistake(
    "Always a copy, also where x could be read as it lies. In contiguous_format a view is there for "
    "nothing."
)
def always_copies(x: Tensor) -> Tensor:
    return x.clone(memory_format=torch.contiguous_format).flatten(1)


@flatten_images.mistake(
    "One copy too many: you make one yourself, and where the strides leave no other way, as on "
    "channels-last images, flattening makes another. Leave the copying to `flatten`."
)
def copies_twice(x: Tensor) -> Tensor:
    return x.clone().flatten(1)


@flatten_images.mistake(
    "`view` never copies, so it raises where the strides do not allow one: on channels-last images C "
    "is innermost, and no single stride walks C, H, W. There you need a copy."
)
def insists_on_a_view(x: Tensor) -> Tensor:
    return x.view(x.size(0), -1)


NHWC_ORDER = (
    "Your rows stand in the order H, W, C. That can save a copy, but a trained Linear would multiply "
    "the values with the wrong weights: a row should read C, H, W."
)


@flatten_images.mistake(NHWC_ORDER)
def changes_the_order(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(1)


@flatten_images.mistake(NHWC_ORDER)
def changes_the_order_where_it_saves_a_copy(x: Tensor) -> Tensor:
    if x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous():
        return x.permute(0, 2, 3, 1).flatten(1)
    return x.flatten(1)


@flatten_images.mistake(
    "You read the storage as it lies: x need not begin at its start, and can have gaps or another "
    "order. The row should read x[n] in the order C, H, W."
)
def reads_the_storage_as_it_lies(x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    return x.as_strided((n, c * h * w), (c * h * w, 1))


@flatten_images.mistake(
    "All images in one row. Dim 0 has to stay: `flatten()` alone begins at dim 0."
)
def flattens_the_batch_too(x: Tensor) -> Tensor:
    return x.flatten()


@flatten_images.mistake(
    "Right wherever there is an image. An empty batch has no elements, and from none of them torch "
    "cannot work out what -1 should be. Say the size, or call what multiplies the sizes itself."
)
def leaves_the_size_to_torch(x: Tensor) -> Tensor:
    return x.reshape(x.size(0), -1)
