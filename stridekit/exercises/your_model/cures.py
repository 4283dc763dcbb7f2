"""E2, E3 and E6: channels that stay last, a view that frees its storage, and error messages."""

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
        images(1, 4, 2, 2, 2),
        images(2, 6, 2, 3, 2),
        images(2, 6, 2, 3, 3),
        images(3, 12, 4, 2, 3),
        images(2, 12, 3, 3, 4, "float16"),
        images(2, 8, 1, 5, 2),
        images(2, 8, 5, 1, 4, "int16"),
        images(1, 10, 3, 4, 5),
        images(2, 6, 3, 3, 1),
        images(2, 6, 3, 3, 6),
        images(4, 6, 1, 1, 2),
    ],
    hints=[
        "Where do the channels of a pixel lie in a channels-last tensor, and which dim of a view "
        "would be the last? One copy is needed: it has to be made in that order.",
        "Move the channels to the end, a view; cut them there into groups; let the two parts "
        "change places; and merge them. What does the merge write, and in which order?",
        "`x.movedim(1, -1).unflatten(-1, (groups, -1))`, then `.transpose(-1, -2).flatten(-2)`, "
        "then `.movedim(-1, 1)`.",
    ],
    otherwise=(
        "Write down the channels of one pixel before and after, as `x[0, :, 0, 0]` shows them; "
        "then count the bytes that your line fills; then look at the strides."
    ),
    takeaway="If a copy is needed, make it write the layout that comes next.",
)
def shuffle(x: torch.Tensor, groups: int) -> torch.Tensor:
    """Let the channels of the groups take turns, the first of each group, the second of each ...

    x       a channels-last tensor of shape (N, C, H, W)
    groups  an int that divides C; a group is C // groups channels in a row
    return  a channels-last tensor of the same shape and dtype: channel i * groups + g is channel
            i of group g. No more new bytes than x has
    """
    x = x.movedim(1, -1).unflatten(-1, (groups, -1))
    return x.transpose(-1, -2).flatten(-2).movedim(-1, 1)


shuffle.wrong |= {
    ".movedim(-1, 1) => ": (
        "The channels are still the last dim of the shape. Move them back to dim 1."
    ),
    ".movedim(-1, 1) => .movedim(-1, 1).contiguous()": (
        "The right channels, but not last, and more new bytes than x has: a call after the merge, "
        "such as `contiguous()`, writes them once more."
    ),
    ".movedim(-1, 1) => .transpose(1, -1)": (
        "`transpose(1, -1)` swaps two dims, and H and W with them: `movedim(-1, 1)` keeps their "
        "order."
    ),
    (
        "(groups, -1) => (-1, groups)",
        "x.unflatten(1, (-1, groups)).transpose(1, 2).flatten(1, 2)",
    ): (
        "That is the shuffle that undoes this one. Cut into (groups, -1), and not into (-1, "
        "groups)."
    ),
    (".transpose(-1, -2) => ", "x.clone()"): (
        "Your channels come in the order they had. Between cutting and merging, the parts change "
        "places."
    ),
    "x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)": (
        "The right channels, but no longer last: the result lies in the order N, C, H, W, as it "
        "does where dim 1 is cut and merged. The convolution that follows copies once more."
    ),
    (
        "x.contiguous().unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, "
        "2).to(memory_format=torch.channels_last)",
        "x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)"
        ".to(memory_format=torch.channels_last)",
        "shuffle(x, groups).clone()",
    ): (
        "The right tensor, with more new bytes than x has. One copy is enough: the one that merges "
        "the two parts, made in the right order."
    ),
    "x.flip(1)": "You turn all channels round. They take turns: first the first of each group.",
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
        "An index makes a view, and a view keeps all of the storage. What would let that storage "
        "go?",
        "A tensor on a storage of its own. Which call makes one always, and which hands back what "
        "it was given where that is contiguous already?",
        "`maps[:, :, 0, 0].clone()`: index first, so that only the features are copied.",
    ],
    otherwise=(
        "Ask your answer for `untyped_storage().nbytes()`, and compare it with `nbytes`. Then "
        "compare the values with `maps[:, :, 0, 0]`."
    ),
    takeaway="A small view keeps a large storage. What outlives its step gets its own: clone().",
)
def features(maps: torch.Tensor) -> torch.Tensor:
    """The values of the top left pixel, on a storage that holds nothing else.

    maps    a tensor of shape (N, C, H, W), without a size of 0, in any layout
    return  a tensor of shape (N, C) with the values and dtype of `maps[:, :, 0, 0]`, on a storage
            of its own with as many bytes as its elements have
    """
    return maps[:, :, 0, 0].clone()


features.wrong |= {
    "clone => contiguous": (
        "`contiguous()` copies only what is not contiguous. For one image with its channels last, "
        "or of one pixel, the view is contiguous, and all the maps stay alive."
    ),
    (
        ".clone() =>  * 1",
        ".clone() => .clone().float()",
        ".clone() => .clone().double()",
        "torch.tensor(maps[:, :, 0, 0].tolist())",
    ): shared.DTYPE.format("the maps"),
    "0, 0].clone() => 0].clone()": (
        "That is a row of pixels. A pixel takes two indices, of H and of W."
    ),
    ":, :, 0 => :, 0": "Those indices are of C and of H. The pixel is index 0 of H and of W.",
    "[:, :, 0 => [0, :, 0": (
        "That is the first image alone. All of them are asked for: N and C stay."
    ),
    ("maps.amin((2, 3))", "maps.amax((2, 3))", "maps.mean((2, 3))", "maps[:, :, -1, -1].clone()"): (
        "That is another pixel of each map, or a mean of them all. The top left one has index 0 of "
        "H and of W."
    ),
    ("maps[:, :, 0, 0]", "maps[:, :, 0, 0].reshape(maps.shape[:2])"): (
        "The right values, in a view: as long as it lives, so do all the bytes of maps. `detach()` "
        "changes nothing about that."
    ),
    "maps.clone()[:, :, 0, 0]": (
        "The right values, in a storage that holds more than the features: a view keeps alive all "
        "that it lies in, also a copy of the maps. Index first, copy then."
    ),
    "maps.contiguous()[:, :, 0, 0]": (
        "The right values, in a view: all that it lies in stays alive, the maps themselves or what "
        "`contiguous()` made of them."
    ),
    "maps.flatten(1)[:, : maps.size(1)].clone()": (
        "You take the first C numbers of each image, as if its channels were last in the shape. "
        "The pixel is index 0 of H and of W: `maps[:, :, 0, 0]`."
    ),
    "maps[:, :, :1, :1].clone()": (
        "The right values in the wrong shape: a slice keeps its dim, an int takes it away."
    ),
    "maps[0, 0].clone()": "That is one channel of one image. The pixel is index 0 of H and of W.",
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
        "Sizes first: which numbers of elements are there, and where the message states strides, "
        "are the shapes equal?",
        "Then strides. Where both are stated, only those count by which an index steps. Where "
        "only a shape is wanted, the rule of `view` decides.",
        'With strides: "harmless" if they agree at all sizes above 1. Without: "harmless" if '
        '`Layout(shape, stride).why_not_view(wanted)` is empty. Else "copy".',
    ],
    otherwise=(
        "Read the numbers of the input above: the sizes, then the strides of the dims with more "
        "than one index. What is the first thing that differs?"
    ),
    takeaway="Compare the strides that an index steps by: the others reach no address.",
)
def decode(
    has: tuple[tuple[int, ...], tuple[int, ...]],
    wants: tuple[tuple[int, ...], tuple[int, ...] | None],
) -> str:
    """What a message says about a tensor: its sizes are wrong, nothing is, or a copy is needed.

    has     the shape and the stride that a tensor has, two tuples of ints
    wants   the shape that is wanted, and the stride, or None if any stride will do
    return  "other sizes" if the tensor has another number of elements, or, where a stride is
            wanted, another shape; "harmless" if it leads to the same addresses as what is wanted,
            or is viewed in the wanted shape without a copy; else "copy"
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
        "You do not count elements where only a shape is wanted: (3, 4) has 12, and (5, 2) asks "
        "for 10."
    ),
    "(steps is None and shape != wanted) or ": (
        "You take another shape for other sizes. A view changes the shape, as long as the number "
        "of elements stays."
    ),
}
decode.slots["(steps and shape != wanted)"] = {
    "False": (
        "You compare numbers of elements alone. (4, 6) and (6, 4) have as many, and where a stride "
        "is wanted, the shapes have to be equal too."
    ),
}
decode.slots["n > 1 and "] = {
    "": (
        "You compare all strides. At a size of 1 no index steps, so a stride there reaches no "
        "address: that is the harmless half of these messages."
    ),
}
decode.wrong[
    "any(n > 1 and s != w for n, s, w in zip(shape, stride, steps, strict=True)) => "
    "from_outer_to_inner(stride) != from_outer_to_inner(steps)"
] = (
    "You compare the order of the dims in memory. Rows further apart keep this order, and their "
    "elements have other addresses: compare the numbers themselves."
)
decode.slots["differ and 0 not in shape"] = {
    "differ": (
        "You compare strides of a tensor without elements. It has no address that could differ."
    ),
}
decode.exact[tuple(map(repr, VERDICTS))] = shared.ALIKE.format("message") + " Begin with the sizes."
decode.wrong |= {
    "'harmless' if has[0] == wants[0] else 'other sizes'": (
        "You compare shapes alone. Another shape can be a view, and where the shapes are equal, "
        "the strides decide."
    ),
    "Layout(shape, stride).why_not_view(wanted) => not contiguous(shape, stride)": (
        "You ask whether the tensor is contiguous. `view` asks less: the dims that it merges have "
        "to lie one inside the other."
    ),
    "Layout(shape, stride).why_not_view(wanted) => True": (
        'You answer "copy" wherever only a shape is wanted. Some of these views work.'
    ),
    "Layout(shape, stride).why_not_view(wanted) => False": (
        'You answer "harmless" wherever the number of elements fits. The strides have a say: dims '
        "that do not lie one inside the other cannot merge."
    ),
    "'other sizes' if decode(has, wants) == 'other sizes' else 'copy'": (
        "Wherever the sizes fit, the answer is 'copy'. Some of these tensors are as good as the "
        "wanted ones: where only sizes of 1 differ in stride, and where a view works."
    ),
    "'other sizes' if decode(has, wants) == 'other sizes' else 'harmless'": (
        "Wherever the sizes fit, the answer is 'harmless'. There, strides decide."
    ),
}
