"""E3: which memory formats a layout is contiguous in: one, both or none."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from stridekit.exercises.answers import kind
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable

Ints = tuple[int, ...]
NAMES = ("contiguous_format", "channels_last")
OTHER_NAMES = {"nchw": "contiguous_format", "nhwc": "channels_last"}


def read_formats(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a collection of formats, by name or as torch's own objects."""
    wanted = "a set of the names of formats is asked for"
    if isinstance(answer, str | dict) or not isinstance(answer, Iterable):
        raise Unusable(f"{kind(answer)}, where {wanted}")
    found = {_name(item) for item in islice(answer, 100)}  # also of what never ends
    shown = ", ".join(repr(name) for name in NAMES if name in found)
    return Outcome({"formats": tuple(sorted(found))}, f"{{{shown}}}" if found else "set()")


def _name(item: Any) -> str:
    name = str(item).removeprefix("torch.")
    name = OTHER_NAMES.get(name.lower(), name)
    if name not in NAMES:
        raise Unusable(f"{name[:40]!r} in the answer, where {' and '.join(NAMES)} are the names")
    return name


@exercise(
    title="in which formats?",
    read=read_formats,
    cases=[
        "shape = (2, 3, 4, 5); stride = (60, 20, 5, 1)",
        "shape = (2, 3, 4, 5); stride = (60, 1, 15, 3)",
        "shape = (2, 3, 4, 5); stride = (60, 1, 3, 12)",
        "shape = (2, 3, 4, 5); stride = (120, 1, 15, 3)",
        "shape = (2, 3, 4, 5); stride = (120, 40, 10, 2)",
        "shape = (2, 3, 4, 5); stride = (80, 1, 20, 4)",
        "shape = (2, 3, 4, 5); stride = (60, 20, 1, 4)",
        "shape = (2, 3, 4, 5); stride = (60, 20, 5, 2)",
        "shape = (2, 3, 4, 5); stride = (60, 20, 6, 1)",
        "shape = (2, 3, 4, 5); stride = (60, 40, 5, 1)",
        "shape = (2, 3, 4, 5); stride = (60, 1, 15, 6)",
        "shape = (2, 3, 4, 5); stride = (60, 1, 18, 3)",
        "shape = (2, 3, 4, 5); stride = (60, 2, 15, 3)",
        "shape = (2, 3, 3, 3); stride = (0, 9, 3, 1)",
        "shape = (2, 1, 4, 5); stride = (20, 20, 5, 1)",
        "shape = (2, 1, 4, 5); stride = (20, 1, 5, 1)",
        "shape = (2, 1, 4, 5); stride = (60, 1, 15, 3)",
        "shape = (2, 1, 4, 5); stride = (20, 99, 5, 1)",
        "shape = (6, 3, 1, 1); stride = (3, 1, 1, 1)",
        "shape = (6, 3, 1, 1); stride = (3, 1, 3, 3)",
        "shape = (6, 3, 1, 1); stride = (3, 1, 7, 0)",
        "shape = (6, 3, 1, 1); stride = (60, 20, 5, 1)",
        "shape = (1, 3, 4, 5); stride = (3, 1, 15, 3)",
        "shape = (1, 3, 4, 5); stride = (0, 20, 5, 1)",
        "shape = (2, 3, 1, 5); stride = (15, 5, 5, 1)",
        "shape = (2, 3, 1, 5); stride = (15, 1, 99, 3)",
        "shape = (2, 3, 4, 1); stride = (12, 4, 1, 1)",
        "shape = (2, 3, 4, 1); stride = (12, 1, 3, 77)",
        "shape = (1, 1, 1, 1); stride = (5, 4, 3, 2)",
        "shape = (0, 3, 4, 5); stride = (60, 20, 5, 1)",
        "shape = (0, 3, 4, 5); stride = (60, 1, 15, 3)",
        "shape = (0, 3, 4, 5); stride = (99, 1, 15, 3)",
        "shape = (0, 3, 4, 5); stride = (7, 7, 7, 7)",
    ],
    hints=[
        "Two questions, asked one by one: are these the strides of contiguous_format? Are they those "
        "of channels_last? A yes to the first does not answer the second.",
        "Dims of size 1 are never stepped along: skip them when you compare strides. That can leave "
        "both questions with a yes.",
        "Walk the dims from the innermost: (3, 2, 1, 0) for contiguous_format, (1, 3, 2, 0) for "
        "channels_last. Each dim of another size than 1 needs the product of the sizes inside it.",
    ],
    otherwise="Ask both questions by themselves. For each format, walk its dims from the innermost, skip "
    "sizes of 1, and compare each stride with the product of the sizes walked so far.",
    takeaway="Two questions, four answers: one, the other, both, neither.",
)
def formats(shape: tuple[int, int, int, int], stride: tuple[int, int, int, int]) -> set[str]:
    """The memory formats in which a tensor of these numbers is contiguous.

    shape   (N, C, H, W), ints >= 0
    stride  four ints >= 0, in elements
    return  a set of the names "contiguous_format" and "channels_last": one, both or none, as
            is_contiguous() and is_contiguous(memory_format=torch.channels_last) have it. (An
            empty tensor is in contiguous_format whatever its stride; channels_last compares.)
    """
    found = {"contiguous_format"} if 0 in shape else set()
    for name, order in (("contiguous_format", (3, 2, 1, 0)), ("channels_last", (1, 3, 2, 0))):
        needed, fits = 1, True
        for d in order:
            if shape[d] != 1:
                fits = fits and stride[d] == needed
                needed *= shape[d]
        if fits:
            found.add(name)
    return found


ORDERS = dict(zip(NAMES, ((3, 2, 1, 0), (1, 3, 2, 0)), strict=True))


def packed(shape: Ints, name: str) -> Ints:
    """The stride of a new tensor in this format, sizes of 0 as they are."""
    stride, step = [0] * 4, 1
    for d in ORDERS[name]:
        stride[d] = step
        step *= shape[d]
    return tuple(stride)


ONE_ANSWER = (
    "You stop at the first format that fits. A tensor can be contiguous in both: try shape "
    "(2, 1, 4, 5), whose two flags are both True. Ask the second question as well."
)


@formats.mistake(ONE_ANSWER)
def stops_at_the_first(shape: Ints, stride: Ints) -> set[str]:
    found = solve(shape, stride)
    return {"contiguous_format"} if "contiguous_format" in found else found


@formats.mistake(ONE_ANSWER)
def stops_at_channels_last(shape: Ints, stride: Ints) -> set[str]:
    found = solve(shape, stride)
    return {"channels_last"} if "channels_last" in found else found


@formats.mistake(
    "Not contiguous_format, so channels_last, you say. A slice is often neither: it has gaps in "
    "either order. Each format has to be asked for by itself."
)
def takes_the_rest_for_channels_last(shape: Ints, stride: Ints) -> set[str]:
    first = "contiguous_format"
    return {first} if first in solve(shape, stride) else {"channels_last"}


EXACTLY = (
    "You compare all four strides, but nobody steps along a dim of size 1, and its stride can be "
    "anything. Leave those dims out of the comparison."
)


@formats.mistake(EXACTLY)
def compares_every_stride(shape: Ints, stride: Ints) -> set[str]:
    found = {name for name in NAMES if stride == packed(shape, name)}
    return found | ({"contiguous_format"} if 0 in shape else set())


@formats.mistake(EXACTLY)
def compares_every_stride_even_of_nothing(shape: Ints, stride: Ints) -> set[str]:
    return {name for name in NAMES if stride == packed(shape, name)}


ORDER_ONLY = (
    "You look at the order of the strides alone: which is larger than which. A slice keeps the order "
    "and has gaps. Contiguous means that each stride is exactly the product of the sizes inside."
)


@formats.mistake(ORDER_ONLY)
def looks_at_the_order_alone(shape: Ints, stride: Ints) -> set[str]:
    found = set()
    for name, order in ORDERS.items():
        steps = [stride[d] for d in order]
        if steps == sorted(steps):
            found.add(name)
    return found


@formats.mistake(ORDER_ONLY)
def looks_at_the_order_of_what_steps(shape: Ints, stride: Ints) -> set[str]:
    found = set()
    for name, order in ORDERS.items():
        steps = [stride[d] for d in order if shape[d] != 1]
        if steps == sorted(steps):
            found.add(name)
    return found


INNERMOST = (
    "A stride of 1 at the innermost dim is where a format begins, not where it ends: a slice has it "
    "too, and a dim of size 1 need not have it. Check the other dims against the sizes inside them."
)


@formats.mistake(INNERMOST)
def asks_the_innermost_alone(shape: Ints, stride: Ints) -> set[str]:
    return {name for name, order in ORDERS.items() if stride[order[0]] == 1}


@formats.mistake(INNERMOST)
def asks_which_is_innermost(shape: Ints, stride: Ints) -> set[str]:
    return {"channels_last"} if stride[1] == 1 else {"contiguous_format"}


@formats.mistake(
    "A tensor with C = 1, or with H = W = 1, can still be a slice with gaps. Those sizes only say "
    "that the two formats want the same; whether the strides are right, you have to check."
)
def takes_ambiguous_sizes_for_both(shape: Ints, stride: Ints) -> set[str]:
    _, c, h, w = shape
    return set(NAMES) if c == 1 or h == w == 1 else solve(shape, stride)


@formats.mistake(
    "Right wherever there is an element. An empty tensor counts as contiguous_format whatever its "
    "stride: there is nothing to walk. (For channels_last torch compares all the same.)"
)
def compares_where_nothing_is(shape: Ints, stride: Ints) -> set[str]:
    return {name for name in NAMES if walks(shape, stride, name)}


@formats.mistake(
    "Right wherever there is an element. For an empty tensor torch is uneven: it always counts as "
    "contiguous_format, but for channels_last the strides are compared."
)
def takes_nothing_for_both(shape: Ints, stride: Ints) -> set[str]:
    return set(NAMES) if 0 in shape else solve(shape, stride)


def walks(shape: Ints, stride: Ints, name: str) -> bool:
    """Whether all dims of another size than 1 have the stride that the format wants."""
    wanted = packed(shape, name)
    return all(shape[d] == 1 or stride[d] == wanted[d] for d in range(4))


solve = formats.reference
