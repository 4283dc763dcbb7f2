"""E5 and E6: flatten with no needless copy, and after how many uses a copy has paid back."""

import math

import torch
from torch import Tensor

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_uses
from stridekit.exercises.readers.copies import logging_copies, read_with_copies
from stridekit.exercises.running import Arguments
from stridekit.layout import Layout


def needed(args: Arguments) -> int:
    """Return the bytes of the copy that flattening needs; 0 where a view will do."""
    x = args["x"]
    needs_copy = Layout.of(x).why_not_view(x.size(0), math.prod(x.shape[1:]))
    return x.nbytes if needs_copy else 0


@exercise(
    title="flatten, and copy only where you must",
    read=read_with_copies(needed),
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
        "x = torch.arange(12, dtype=torch.int16).view(4, 3, 1, "
        "1).to(memory_format=torch.channels_last)",
        "x = torch.arange(12).view(2, 6).t().view(2, 3, 1, 2)",
        "x = torch.arange(24).view(1, 3, 2, 4).to(memory_format=torch.channels_last)",
        "x = torch.arange(48).view(1, 6, 2, 4)[:, 1:4]",
        "x = torch.arange(5.0).view(5, 1, 1, 1)",
        "x = torch.zeros(0, 3, 2, 4).to(memory_format=torch.channels_last)",
    ],
    hints=[
        "The order is given: C, then H, then W. When do these elements lie evenly in memory, so "
        "that a view can walk them? Not only when x is contiguous.",
        "`contiguous()` asks about N as well, but N is not merged with anything. Which function "
        "of torch gives a view where one exists, and copies only otherwise?",
        "`reshape` and `flatten` try the view first. One of them, on x as it is, is all.",
    ],
    otherwise=(
        "Compare the two lines: the shape, the values of row 0, and the bytes copied. Anything "
        "that you do to x before it is flattened can only add a copy, or change the order."
    ),
    takeaway=(
        "`flatten` copies only if the strides do not allow a view, and it keeps the order C, H, W."
    ),
)
def flatten_images(x: torch.Tensor) -> torch.Tensor:
    """One row for each image, without a needless copy.

    x       a tensor of shape (N, C, H, W), in any layout
    return  a tensor of shape (N, C * H * W): row n has x[n] in the order C, H, W, as the weights
            of a trained Linear layer expect it. A view wherever one exists; else one copy of x,
            by functions of torch
    """
    return x.flatten(1)


def only_channels_last(x: Tensor) -> bool:
    return x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()


NHWC_ORDER = (
    "Your rows stand in the order H, W, C. A trained Linear then multiplies the values with the "
    "wrong weights: a row should have the order C, H, W."
)

flatten_images.slots["x"] = {
    "x.contiguous()": (
        "You copy every tensor that is not contiguous. A view can flatten some of them: the images "
        "of `x[::2]` lie whole in memory, with gaps between them. Try a view first."
    ),
    "x.clone(memory_format=torch.contiguous_format)": (
        "You always copy. A view is enough if x can be read as it lies, for example in "
        "contiguous_format."
    ),
    "x.contiguous(memory_format=torch.channels_last)": (
        "You convert to channels_last first. There C is innermost, so a row in the order C, H, W "
        "has to be copied. Flatten x as it is."
    ),
    "x.clone()": (
        "One copy too many. If the strides do not allow a view, as in channels-last images, "
        "flattening copies by itself. Otherwise you do not need a copy."
    ),
    "x.permute(0, 2, 3, 1)": NHWC_ORDER,
}
flatten_images.slots["flatten(1)"] = {
    "flatten()": "All images are in one row. Dim 0 stays, and `flatten()` alone begins at dim 0.",
    "flatten(2)": "Your result has three dims. C becomes part of the row, too.",
    "flatten(1, 2)": "Your result has three dims. W becomes part of the row, too.",
    "flatten(0, 1)": (
        "You merge the images with their channels. Dim 0 counts the images and stays as it is."
    ),
    "reshape(x.size(0), -1)": (
        "Right wherever there is an image. From 0 elements torch cannot work out what -1 should "
        "be. State the size, or call a function that multiplies the sizes."
    ),
}
flatten_images.wrong |= {
    "flatten(1) => view(x.size(0), -1)": (
        "`view` never copies, so it raises if the strides do not allow a view. In channels-last "
        "images C is innermost, and no single stride walks C, H, W. Copy there."
    ),
    ("flatten_images(x).double()", "flatten_images(x).float()"): shared.DTYPE.format("x"),
    "(x.permute(0, 2, 3, 1) if only_channels_last(x) else x).flatten(1)": NHWC_ORDER,
    "x.as_strided((x.size(0), m := math.prod(x.shape[1:])), (m, 1))": (
        "You read the storage from its start, in its own order. x can begin later, and have gaps "
        "or another order. A row is x[n] in the order C, H, W."
    ),
}


@exercise(
    title="when does the conversion pay back?",
    read=read_uses,
    # Floats hold the sums and products of these times exactly, so every way to count agrees.
    cases=[
        "convert = 100; before = 30; after = 20",
        "convert = 8; before = 5; after = 2",
        "convert = 7; before = 5; after = 2",
        "convert = 0.5; before = 0.375; after = 0.25",
        "convert = 1; before = 10; after = 1",
        "convert = 1.5; before = 8.0; after = 0.5",
        "convert = 12; before = 7; after = 3",
        "convert = 12; before = 7; after = 4",
        "convert = 13; before = 7; after = 4",
        "convert = 14; before = 7; after = 4",
        "convert = 1000; before = 3; after = 2",
        "convert = 0.75; before = 0.25; after = 0.125",
        "convert = 0; before = 2; after = 1",
        "convert = 5; before = 2; after = 2",
        "convert = 5; before = 2; after = 3",
        "convert = 0.5; before = 0.25; after = 0.75",
        "convert = 0; before = 2; after = 2",
        "convert = 0; before = 2; after = 3",
        "convert = 40; before = 0.0625; after = 0",
        "convert = 2049; before = 33; after = 1",
        "convert = 1500000; before = 0.5; after = 0.375",
    ],
    hints=[
        "Without converting, n uses take `n * before`. With it, they take `convert + n * after`. "
        "For which n is the second no longer the larger?",
        "Each use saves `before - after`. How many of these savings make up for convert? Round up, "
        "because half a use is not possible. If a use saves nothing, no number of uses is enough.",
        "`math.ceil(convert / (before - after))` where `after < before`; where it is not, 0 if "
        "convert is 0, and else `math.inf`.",
    ],
    otherwise=(
        "Try your n: `convert + n * after <= n * before` should hold, and no longer with n - 1. "
        "Where no n does it, answer math.inf."
    ),
    takeaway="A conversion is worth it for what is used often: in a network, once at its entrance.",
)
def uses_to_pay_back(convert: float, before: float, after: float) -> float:
    """After how many uses a conversion has paid back.

    convert  what the conversion takes, once: a time >= 0
    before   what one use takes without it: a time >= 0, in the same unit
    after    what one use takes with it
    return   the smallest whole n >= 0 for which convert and n uses with it take no longer than n
             uses without; math.inf if there is none
    """
    if convert == 0:
        return 0
    if after >= before:
        return math.inf
    return math.ceil(convert / (before - after))


NEVER = "Right where a use gets cheaper. Otherwise no number of uses pays a cost back: `math.inf`."

FREE = (
    "Right where the conversion costs something. A conversion that costs 0 has paid back after 0 "
    "uses, whatever a use takes then."
)
uses_to_pay_back.only["convert == 0"] = FREE

uses_to_pay_back.slots["(before - after)"] = {
    ("(after or before)", "before"): (
        "You divide by the time of one use. Only the time that a use saves pays the conversion "
        "back: how much faster is a use with it?"
    ),
    "(after - before)": (
        "You subtract the wrong way round. A use saves time if `after` is the smaller of the two."
    ),
}
uses_to_pay_back.slots["math.ceil("] = {
    "math.floor(": shared.ROUNDED_DOWN.format("conversion"),
    "round(": shared.ROUNDED.format("conversion"),
    "(": shared.NOT_ROUNDED,
}
uses_to_pay_back.slots["return math.inf"] = {
    ("return -1", "return 0", "return None", "return -math.inf"): NEVER,
}
uses_to_pay_back.wrong |= {
    (
        "after >= before => False",
        "math.ceil(convert / (before - after))",
        "uses_to_pay_back(convert, max(before, after), min(before, after))",
    ): NEVER,
    "after >= before => after > before": shared.EQUAL.format("before and after"),
    (
        "return 0 => return 1",
        "return 0 => return math.inf",
        "convert == 0 => convert == 0 and after < before",
    ): (FREE),
    "math.ceil((convert + after) / before)": (
        "You count `after` once. Every use with the conversion takes `after`, so each use saves "
        "the difference of the two times."
    ),
    "convert / (before - after)": shared.NOT_ROUNDED,
    "math.ceil((before - after) / convert) if convert else 0": (
        "Your quotient is upside down. The conversion costs `convert` once, and each use saves a "
        "part of it: how many uses are enough?"
    ),
    "math.inf if after >= before else convert // (before - after) + 1": (
        shared.EXACTLY_EVEN.format("conversion")
    ),
    "uses_to_pay_back(convert, before, after) + 1": (
        "One use too many: the rounded quotient is the count."
    ),
    (
        "n if (n := uses_to_pay_back(convert, before, after)) <= 10_000 else math.inf",
        "n if (n := uses_to_pay_back(convert, before, after)) <= 900 else math.inf",
        "n if (n := uses_to_pay_back(convert, before, after)) <= 100 else math.inf",
    ): shared.SMALL_COUNTS.format("conversion"),
    ("1 if after < before else math.inf", "0 if after < before else math.inf"): (
        "Your answer does not depend on `convert`, or hardly. Each use pays back only a part of the "
        "conversion."
    ),
}
