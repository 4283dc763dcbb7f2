"""E2, E3 and E6: channels that stay last, a view that frees its storage, and error messages."""

import copy  # noqa: F401 (for mistakes)
import math
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints
from stridekit.exercises.readers.answers import as_tensor, shares, type_in_words, value_facts
from stridekit.exercises.readers.copies import logging_copies, read_with_copies
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe
from stridekit.exercises.watch import Means
from stridekit.layout import Layout

with_copies = read_with_copies(lambda args: args["x"].nbytes)


def read_shuffled(answer: Any, args: Arguments) -> Outcome:
    """Read a tensor, the bytes that were filled on the way, and whether its channels are last."""
    outcome = with_copies(answer, args)
    is_last = answer.ndim == 4 and answer.is_contiguous(memory_format=torch.channels_last)
    layout = "channels-last" if is_last else "not channels-last"
    facts = outcome.facts | {"channels-last": is_last}
    return Outcome(facts, f"{outcome.shown}, {layout}", outcome.hint)


def images(N: int, C: int, H: int, W: int, groups: int, dtype: str = "float32") -> str:
    """Return the source of a case: channels-last images of shape (N, C, H, W)."""
    x = f"torch.arange({N * C * H * W}, dtype=torch.{dtype}).view({N}, {C}, {H}, {W})"
    return f"x = {x}.to(memory_format=torch.channels_last); groups = {groups}"


@exercise(
    title="shuffle channels, and keep them last",
    read=read_shuffled,
    means=Means(whole=("channel_shuffle",)),
    fence=logging_copies,
    cases=[
        images(1, 6, 2, 2, 2),
        images(2, 6, 2, 3, 2),
        images(2, 6, 2, 3, 3),
        images(3, 12, 4, 2, 3),
        images(1, 4, 2, 2, 2),
        images(2, 12, 3, 3, 4, "float16"),
        images(2, 8, 1, 5, 2),
        images(2, 8, 5, 1, 4, "int16"),
        images(1, 10, 3, 4, 5),
        images(2, 6, 3, 3, 1),
        images(2, 6, 3, 3, 6),
        images(4, 6, 1, 1, 2),
    ],
    hints=[
        "Where do the channels of a pixel lie in a channels-last tensor? One copy is needed, and it "
        "has to write them in that order.",
        "Move the channels to the end, which is a view. Cut them there into groups, exchange the "
        "two parts, and merge them. What does the merge write, and in which order?",
        "Begin with `x.movedim(1, -1).unflatten(-1, (groups, -1))`. Then "
        "`.transpose(-1, -2).flatten(-2)` merges, and `.movedim(-1, 1)` moves the channels back.",
    ],
    otherwise=(
        "Write down the channels of one pixel, `x[0, :, 0, 0]`, before and after. Then count the "
        "bytes that your lines fill, and look at the strides of your answer."
    ),
    takeaway="If a copy is needed, let it write the layout that the next step needs.",
)
def shuffle(x: torch.Tensor, groups: int) -> torch.Tensor:
    """Let the channels of the groups take turns: the first of each group, the second of each ...

    Not allowed: torch's `channel_shuffle`, which does the whole task; lists and NumPy, because
    only operations of torch are counted.

    x       a channels-last tensor of shape (N, C, H, W)
    groups  an int that divides C; a group is C // groups channels in a row
    return  a channels-last tensor of the same shape and dtype: channel i * groups + g is channel
            i of group g. Fill at most as many new bytes as x has
    """
    x = x.movedim(1, -1).unflatten(-1, (groups, -1))
    return x.transpose(-1, -2).flatten(-2).movedim(-1, 1)


shuffle.wrong |= {
    ".movedim(-1, 1) => ": (
        "The channels are still the last dim of the shape. Move them back to dim 1."
    ),
    ".movedim(-1, 1) => .movedim(-1, 1).contiguous()": (
        "The right channels in the right shape, but not channels-last, and with more new bytes than "
        "x has. A call after the merge, such as `contiguous()`, writes them once more."
    ),
    ".movedim(-1, 1) => .transpose(1, -1)": (
        "Your images have H and W exchanged, as after `transpose(1, -1)`. Move the channels and "
        "keep the order of H and W."
    ),
    "x.movedim(1, -1).unflatten(-1, (groups, -1)).transpose(-1, -2).reshape(x.shape)": (
        shared.NO_TRANSPOSE.format("channels and pixels")
    ),
    (
        "(groups, -1) => (-1, groups)",
        "x.unflatten(1, (-1, groups)).transpose(1, 2).flatten(1, 2)",
        "x.unflatten(1, (-1, groups)).transpose(1, 2).flatten(1, 2)"
        ".contiguous(memory_format=torch.channels_last)",
    ): (
        "Your shuffle undoes the right one. A group is C // groups channels in a row: which of the "
        "two parts is the outer one when you cut?"
    ),
    (".transpose(-1, -2) => ", "x.clone()"): (
        "Your channels are still in their old order. Exchange the two parts between the cut and "
        "the merge."
    ),
    "x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)": (
        "The right channels, but no longer last. The merge writes in the order of the dims: N, C, "
        "H, W if you cut and merge dim 1. The next convolution then copies once more."
    ),
    "x[:, torch.arange(x.size(1)).view(groups, -1).t().flatten()]": (
        "The right channels, but no longer last. An index list along C writes a new tensor in the "
        "order of the dims: N, C, H, W. Where do the channels have to be when the copy is made?"
    ),
    (
        "x.contiguous().unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, "
        "2).to(memory_format=torch.channels_last)",
        "x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)"
        ".to(memory_format=torch.channels_last)",
        "shuffle(x, groups).clone()",
    ): (
        "The right tensor, but with more new bytes than x has. The copy that merges the two parts is "
        "enough, if it writes in the right order."
    ),
    "x.flip(1)": "You reverse all channels. They take turns: first the first of each group.",
}


def read_features(answer: Any, args: Arguments) -> Outcome:
    """Read a tensor, with the bytes of the storage that it keeps alive."""
    answer = as_tensor(answer)
    nbytes = answer.untyped_storage().nbytes()
    sharing = shares(answer, args["maps"])
    facts = value_facts(answer) | {"on the maps' storage": sharing, "bytes kept": nbytes}
    return Outcome(facts, f"{describe(answer)}, keeps {nbytes} bytes")


# The values are in no order: the least and the largest of a map are not at its corner.
MAPS = "(torch.arange(480.0) * 7 % 480).view(2, 3, 8, 10)"


@exercise(
    title="features that keep nothing else alive",
    read=read_features,
    cases=[
        f"maps = {MAPS}",
        f"maps = {MAPS}.to(memory_format=torch.channels_last)",
        f"maps = {MAPS}[:1]",
        f"maps = {MAPS}[:1].to(memory_format=torch.channels_last)",
        "maps = torch.arange(24.0).view(1, 24, 1, 1)",
        "maps = torch.arange(24.0).view(4, 6, 1, 1)",
        f"maps = {MAPS}[:, :1]",
        "maps = (torch.arange(64, dtype=torch.float16) * 7 % 64).view(4, 4, 2, 2)[::2]",
        "maps = (torch.arange(90, dtype=torch.float64) * 7 % 90).view(1, 10, 3, 3)[:, 4:8]",
        "maps = (torch.arange(96) * 7 % 5 > 1).view(2, 3, 4, 4)",
    ],
    hints=[
        "An index makes a view, and a view keeps all of the storage alive. How can that storage "
        "be released?",
        "The features need a storage of their own. Which call always makes one, and which returns "
        "its input if that is contiguous already?",
        "`maps[:, :, 0, 0].clone()` indexes first, so only the features are copied.",
    ],
    otherwise=(
        "Compare `untyped_storage().nbytes()` of your answer with its `nbytes`. Then compare the "
        "values with `maps[:, :, 0, 0]`."
    ),
    takeaway="A small view keeps a large storage alive. Clone a view that outlives its step.",
)
def features(maps: torch.Tensor) -> torch.Tensor:
    """The values of the top left pixels, on a storage that holds nothing else.

    maps    a tensor of shape (N, C, H, W), without a size of 0, in any layout
    return  a tensor of shape (N, C) with the values and dtype of `maps[:, :, 0, 0]`, on a storage
            of its own with as many bytes as its elements have
    """
    return maps[:, :, 0, 0].clone()


features.wrong |= {
    "clone => contiguous": (
        "On this input your answer is a view of maps, as from `contiguous()`. It copies only a "
        "tensor that is not contiguous, and the pixels of one channels-last image are contiguous."
    ),
    (
        ".clone() =>  * 1",
        ".clone() => .clone().float()",
        ".clone() => .clone().double()",
        "torch.tensor(maps[:, :, 0, 0].tolist())",
    ): shared.DTYPE.format("the maps"),
    "0, 0].clone() => 0].clone()": (
        "That is a row of pixels. A pixel takes two indices, for H and for W."
    ),
    ":, :, 0 => :, 0": "You index C and H. The pixel has index 0 of H and of W.",
    "[:, :, 0 => [0, :, 0": "That is the first image alone. The task asks for all images: (N, C).",
    ("maps.amin((2, 3))", "maps.amax((2, 3))", "maps.mean((2, 3))", "maps[:, :, -1, -1].clone()"): (
        "That is another pixel of each map, or a number made of all its pixels. The top left pixel "
        "has index 0 of H and of W."
    ),
    ("maps[:, :, 0, 0]", "maps[:, :, 0, 0].reshape(maps.shape[:2])"): (
        "The right values, but in a view: as long as it lives, all bytes of maps stay alive. "
        "`detach()` does not change that."
    ),
    ("maps.clone()[:, :, 0, 0]", "copy.deepcopy(maps[:, :, 0, 0])"): (
        "The right values, but in a storage that holds more than the features. A view of a copy of "
        "maps keeps all of that copy alive."
    ),
    "maps.contiguous()[:, :, 0, 0]": (
        "The right values, but in a view. It keeps all of maps alive, or the copy of maps that "
        "`contiguous()` made."
    ),
    "maps.flatten(1)[:, : maps.size(1)].clone()": (
        "You take the first C numbers of each image, as if the channels were its last dim. The "
        "pixel has index 0 of H and of W."
    ),
    "maps[:, :, :1, :1].clone()": (
        "The right values in the wrong shape: a slice keeps its dim, and an int removes it."
    ),
    "maps[:, :, 0, 0].flatten().clone()": (
        "The right values in the wrong shape: the task asks for (N, C)."
    ),
    "maps[0, 0].clone()": "That is one channel of one image. The pixel has index 0 of H and of W.",
}

VERDICTS = ("other sizes", "harmless", "copy")


def read_verdict(answer: Any, args: Arguments) -> Outcome:
    """Read one of the three verdicts."""
    if not isinstance(answer, str) or answer not in VERDICTS:
        shown = repr(answer)[:40] if isinstance(answer, str) else type_in_words(answer)
        verdicts = ", ".join(map(repr, VERDICTS))
        raise Unusable(f"{shown}, where one of {verdicts} is asked for")
    return Outcome({"verdict": answer}, repr(answer))


def case(shape: str, stride: str, wanted: str, steps: str, message: str) -> str:
    """Return the source of a case: the numbers of a message, and its first words."""
    return f"has = ({shape}), ({stride}); wants = ({wanted}), {steps}  # {message}"


DDP = "Grad strides do not match bucket view strides"
COMPILED = "expected size ..., stride ... at dim=..."
VIEW = "view size is not compatible with ..."
INVALID = "shape ... is invalid for input of size ..."


@exercise(
    title="what does the message say?",
    read=read_verdict,
    cases=[
        case("32, 64, 1, 1", "64, 1, 64, 64", "32, 64, 1, 1", "(64, 1, 1, 1)", DDP),
        case("32, 64, 3, 3", "576, 1, 192, 64", "32, 64, 3, 3", "(576, 9, 3, 1)", DDP),
        case("8, 3, 4", "12, 1, 3", "8, 3, 4", "(12, 4, 1)", COMPILED),
        case("1, 3, 4", "99, 4, 1", "1, 3, 4", "(12, 4, 1)", COMPILED),
        case("8, 3, 4", "12, 4, 1", "8, 3, 5", "(15, 5, 1)", COMPILED),
        case("64, 1, 3, 3", "9, 1, 3, 1", "64, 1, 3, 3", "(9, 9, 3, 1)", DDP),
        case("6, 4", "1, 6", "24,", "None", VIEW),
        case("2, 3, 4", "12, 1, 3", "2, 12", "None", VIEW),
        case("3, 4", "4, 1", "5, 2", "None", INVALID),
        case("2, 12", "12, 1", "2, 3, 5", "None", INVALID),
        case("4, 3", "3, 1", "2, 6", "None", "a view that works"),
        case("4, 3, 2", "12, 2, 1", "4, 6", "None", "a view that works, and is not contiguous"),
        case("7, 1", "1, 7", "7,", "None", "a view that works"),
        case("1, 1", "5, 9", "1, 1", "(1, 1)", DDP),
        case("4, 6", "6, 1", "6, 4", "(4, 1)", COMPILED),
        case("6, 4", "4, 1", "4, 6", "(6, 1)", COMPILED),
        case("3, 4", "8, 1", "3, 4", "(4, 1)", COMPILED),
        case("3, 4", "4, 1", "3, 4", "(8, 1)", COMPILED),
        case("0, 3", "3, 1", "0, 3", "(1, 0)", COMPILED),
        case("0, 3", "1, 0", "0, 3", "(3, 1)", COMPILED),
        case("2, 2", "1, 2", "2, 2", "(2, 1)", COMPILED),
    ],
    hints=[
        "Compare the sizes first. Do the two have equally many elements? If the message states "
        "strides, are the shapes equal?",
        "Then compare the strides. If both are stated, only the strides of dims with several "
        "indices count. If only a shape is wanted, the rule of `view` decides.",
        'With strides, the answer is "harmless" if they agree at all sizes above 1. Without, it is '
        '"harmless" if `Layout(shape, stride).why_not_view(wanted)` is empty. Else it is "copy".',
    ],
    otherwise=(
        "Read the numbers of the input above: first the sizes, then the strides of the dims with "
        "more than one index. Which number is the first that differs?"
    ),
    takeaway="Compare strides only where an index steps: at size 1, they reach no other address.",
)
def decode(
    has: tuple[tuple[int, ...], tuple[int, ...]],
    wants: tuple[tuple[int, ...], tuple[int, ...] | None],
) -> str:
    """The meaning of a message about a tensor: wrong sizes, nothing bad, or a copy.

    has     the shape and the stride that a tensor has, two tuples of ints
    wants   the shape that is wanted, and the stride, or None if every stride is right
    return  "other sizes" if the tensor has another number of elements or, with a wanted stride,
            another shape; "harmless" if its stride leads to the same addresses as the wanted
            stride or, without one, if it can be viewed in the wanted shape; else "copy"
    """
    (shape, stride), (wanted, steps) = has, wants
    if math.prod(shape) != math.prod(wanted) or (steps and shape != wanted):
        return "other sizes"
    if steps is None:
        return "copy" if Layout(shape, stride).why_not_view(wanted) else "harmless"
    differ = any(n > 1 and s != w for n, s, w in zip(shape, stride, steps, strict=True))
    return "copy" if differ and 0 not in shape else "harmless"


def contiguous(shape: Ints, stride: Ints) -> bool:
    return Layout(shape, stride).is_contiguous()


def from_outer_to_inner(stride: Ints) -> list[int]:
    return sorted(range(len(stride)), key=lambda d: -stride[d])


decode.slots["math.prod(shape) != math.prod(wanted) or "] = {
    "": (
        "You do not count elements where only a shape is wanted. A view of another number of "
        "elements is impossible."
    ),
    "len(shape) != len(wanted) or ": (
        "You compare numbers of dims. Compare the numbers of elements."
    ),
    "(steps is None and shape != wanted) or ": (
        "You take another shape for other sizes. A view changes the shape and keeps the number of "
        "elements."
    ),
}
decode.slots["(steps and shape != wanted)"] = {
    "False": (
        "You compare numbers of elements alone. If a stride is wanted, the shapes have to be equal, "
        "too."
    ),
}
decode.slots["n > 1 and "] = {
    "": (
        "You compare all strides. At a size of 1 no index steps, so the stride there reaches no "
        "other address."
    ),
}
decode.wrong[
    "any(n > 1 and s != w for n, s, w in zip(shape, stride, steps, strict=True)) => "
    "from_outer_to_inner(stride) != from_outer_to_inner(steps)"
] = (
    "You compare the order of the dims in memory. The place of a dim of size 1 means nothing, and "
    "rows that lie further apart keep the order."
)
decode.slots["differ and 0 not in shape"] = {
    "differ": (
        "You compare strides of a tensor without elements. None of its addresses can differ."
    ),
}
decode.exact[tuple(map(repr, VERDICTS))] = shared.ALIKE.format("message") + " Begin with the sizes."
decode.wrong |= {
    "'harmless' if has[0] == wants[0] else 'other sizes'": (
        "You compare shapes alone. Another shape can be a view, and if the shapes are equal, the "
        "strides decide."
    ),
    "'harmless' if has == wants else 'copy' if has[0] == wants[0] else 'other sizes'": (
        "You take another shape for other sizes, and compare all strides. Another shape can be a "
        "view, and at a size of 1 the stride does not matter."
    ),
    "Layout(shape, stride).why_not_view(wanted) => not contiguous(shape, stride)": (
        "You ask whether the tensor is contiguous. `view` needs less: only the dims that it merges "
        "have to lie one inside the other."
    ),
    "Layout(shape, stride).why_not_view(wanted) => not Layout(shape, stride).why_not_view(wanted)": (
        "You take an answer of `why_not_view` for a view that works. It gives the reason why a view "
        "is impossible, and an empty string if the view works."
    ),
    "Layout(shape, stride).why_not_view(wanted) => True": (
        'You answer "copy" wherever only a shape is wanted. Some of these views work.'
    ),
    "Layout(shape, stride).why_not_view(wanted) => False": (
        'You answer "harmless" wherever the number of elements fits. Dims that do not lie one '
        "inside the other cannot merge without a copy."
    ),
    "'other sizes' if decode(has, wants) == 'other sizes' else 'copy'": (
        'You answer "copy" wherever the sizes fit. Some of these tensors can be viewed in the wanted '
        "shape, and others differ only in a stride by which no index steps."
    ),
    "'other sizes' if decode(has, wants) == 'other sizes' else 'harmless'": (
        'You answer "harmless" wherever the sizes fit. There the strides decide.'
    ),
}
