"""E3 and E4: the formats that a layout has, and the layer at which channels-last is lost."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints
from stridekit.exercises.readers.answers import as_int, type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable
from stridekit.exercises.watch import without_a_tensor
from stridekit.layout import Layout  # noqa: F401 (for mistakes)

Layers = Sequence[Callable[[Tensor], Tensor]]

NAMES = ("contiguous_format", "channels_last")
OTHER_NAMES = {"nchw": "contiguous_format", "nhwc": "channels_last"}


def read_formats(answer: Any, args: Arguments) -> Outcome:
    """Read a collection of formats, by name or as torch's own objects."""
    if isinstance(answer, str | dict) or not isinstance(answer, Iterable):
        raise Unusable(f"{type_in_words(answer)}, where a set of the names of formats is asked for")
    names = {_name(item) for item in islice(answer, 100)}  # the answer may never end
    quoted = ", ".join(repr(name) for name in NAMES if name in names)
    shown = f"{{{quoted}}}" if names else "set()"
    return Outcome({"formats": tuple(sorted(names))}, shown)


def _name(item: Any) -> str:
    """Return the name of a format, in the spelling of torch."""
    name = str(item).removeprefix("torch.")
    name = OTHER_NAMES.get(name.lower(), name)
    if name not in NAMES:
        raise Unusable(f"{name[:40]!r} in the answer, where {' and '.join(NAMES)} are the names")
    return name


@exercise(
    title="in which formats?",
    read=read_formats,
    means=without_a_tensor("Layout"),
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
        "shape = (2, 0, 4, 5); stride = (0, 1, 0, 0)",
        "shape = (2, 0, 4, 5); stride = (20, 1, 5, 1)",
        "shape = (2, 0, 4, 5); stride = (20, 7, 5, 1)",
        "shape = (2, 3, 0, 5); stride = (0, 1, 15, 3)",
        "shape = (2, 3, 0, 5); stride = (15, 1, 15, 3)",
        "shape = (2, 3, 0, 5); stride = (7, 0, 5, 1)",
        "shape = (2, 3, 4, 0); stride = (0, 1, 0, 3)",
        "shape = (2, 3, 4, 0); stride = (12, 1, 3, 3)",
        "shape = (2, 3, 4, 0); stride = (5, 5, 5, 5)",
        "shape = (0, 1, 0, 5); stride = (9, 9, 5, 1)",
        "shape = (0, 1, 0, 5); stride = (0, 1, 5, 1)",
    ],
    hints=[
        "Two questions, asked one by one: are these the strides of contiguous_format? Are they "
        "those of channels_last? A yes to the first does not answer the second.",
        "Dims of size 1 are never stepped along: skip them when you compare strides. That can "
        "leave both questions with a yes.",
        "Walk the dims from the innermost: (3, 2, 1, 0) for contiguous_format, (1, 3, 2, 0) for "
        "channels_last. Each dim of another size than 1 needs the product of the sizes inside it.",
    ],
    otherwise=(
        "Ask both questions by themselves. For each format, walk its dims from the innermost, skip "
        "sizes of 1, and compare each stride with the product of the sizes walked so far."
    ),
    takeaway="Two questions, four answers: one, the other, both, neither.",
)
def formats(shape: tuple[int, int, int, int], stride: tuple[int, int, int, int]) -> set[str]:
    """The memory formats in which a tensor of these numbers is contiguous, worked out without one.

    shape   (N, C, H, W), ints >= 0
    stride  four ints >= 0, in elements
    return  a set of the names "contiguous_format" and "channels_last": one, both or none, as
            is_contiguous() and is_contiguous(memory_format=torch.channels_last) have it. (An
            empty tensor is in contiguous_format whatever its stride; channels_last compares.)

    Not allowed: `Layout`, and a question to torch such as `is_contiguous()`.
    """
    names = {"contiguous_format"} if 0 in shape else set()
    for name, order in (("contiguous_format", (3, 2, 1, 0)), ("channels_last", (1, 3, 2, 0))):
        needed, fits = 1, True
        for d in order:
            if shape[d] != 1:
                fits = fits and stride[d] == needed
                needed *= shape[d]
        if fits:
            names.add(name)
    return names


ORDERS = [  # the dims of each format from the innermost to the outermost
    ("contiguous_format", (3, 2, 1, 0)),
    ("channels_last", (1, 3, 2, 0)),
]


def dim_order(shape: Ints, stride: Ints) -> Ints:
    """Return the dims from the innermost to the outermost, by the strides alone."""
    return torch.empty_strided(shape, stride).dim_order()[::-1]


def new_stride(shape: Ints, name: str) -> Ints:
    """Return the stride of a new tensor in this format."""
    return torch.empty(shape, memory_format=getattr(torch, name)).stride()


def walked(shape: Ints, stride: Ints, skip: int | None = None) -> list[tuple[str, list[int]]]:
    """Return the strides of each format from its innermost dim out, without dims of size `skip`."""
    steps_of_formats = []
    for name, order in ORDERS:
        steps = [stride[d] for d in order if shape[d] != skip]
        steps_of_formats.append((name, steps))
    return steps_of_formats


EXACTLY = (
    "You compare all four strides. But no index steps along a dim of size 1, so its stride can be "
    "anything."
)
ORDER_ONLY = (
    "You only look at the order of the strides. A slice keeps this order and has gaps. Contiguous "
    "means that each stride is exactly the product of the sizes inside."
)
INNERMOST = (
    "You only look for a stride of 1 at the innermost dim. A slice has it too, and a dim of size "
    "1 can have any stride. Check the other dims as well."
)

formats.slots["stride[d] == needed"] = {
    "all(stride[d] >= stride[e] for e in order[: order.index(d)])": ORDER_ONLY,
    "(d != order[0] or stride[d] == needed)": INNERMOST,
}
formats.slots["return names"] = {
    "return names & {NAMES[0]} or {NAMES[1]}": (
        "You take every tensor that is not in contiguous_format for channels_last. A slice is often "
        "in neither, because it has gaps in either order. Check each format by itself."
    ),
    ("return names & {NAMES[0]} or names", "return names & {NAMES[1]} or names"): (
        "You stop at the first format that fits. A tensor can be contiguous in both: try shape (2, "
        "1, 4, 5), whose two flags are both True. Ask the second question as well."
    ),
    "return names or None": (
        "Right where a format fits. Where none does, you answer None. The task asks for a set, and "
        "a set without members is `set()`."
    ),
}
formats.slots["shape[d] != 1"] = {"True": EXACTLY}
formats.slots['{"contiguous_format"} if 0 in shape'] = {
    "set() if 0 in shape": (
        "Right wherever there is an element. An empty tensor counts as contiguous_format whatever "
        "its stride. (For channels_last torch compares all the same.)"
    ),
    "set(NAMES) if 0 in shape": (
        "Right wherever there is an element. For an empty tensor torch is uneven: it always counts "
        "as contiguous_format, but for channels_last the strides are compared."
    ),
}
formats.wrong |= {
    '{"contiguous_format"} if 0 in shape => {"contiguous_format"} if shape[0] == 0': (
        "Right for an empty batch. A tensor is also empty if another of its sizes is 0."
    ),
    "needed *= shape[d] => needed *= max(shape[d], 1)": (
        "Right wherever there is an element. For channels_last torch multiplies the sizes as they "
        "are: outside a size of 0 it needs a stride of 0."
    ),
    "shape[d] != 1 => shape[d] > 1": (
        "Right wherever there is an element. torch skips sizes of 1 alone: it compares the stride "
        "of a size of 0 too, for channels_last."
    ),
    "{name for name in NAMES if stride == new_stride(shape, name)}": EXACTLY,
    (
        "{name for name, order in ORDERS if dim_order(shape, stride) == order}",
        "{name for name, steps in walked(shape, stride) if steps == sorted(steps)}",
        "{name for name, steps in walked(shape, stride, skip=1) if steps == sorted(steps)}",
    ): ORDER_ONLY,
    (
        "{name for name, steps in walked(shape, stride) if steps[0] == 1}",
        "{NAMES[stride[1] == 1]}",
    ): INNERMOST,
    "set(NAMES) - formats(shape, stride)": (
        "You name the formats in which the tensor is not contiguous. The task asks for the others."
    ),
    (
        "set(NAMES) if shape[1] == 1 or shape[2:] == (1, 1) else formats(shape, stride)",
        "formats(shape, stride) | ({NAMES[1]} if shape[1] == 1 else set())",
    ): (
        "A tensor with C = 1, or with H = W = 1, can still be a slice with gaps. With those sizes "
        "the two formats need the same strides. Check whether the tensor has them."
    ),
}

formats.exact["set()", "set(NAMES)"] = shared.ALIKE.format("layout")

RGB = "x = torch.ones(2, 3, 6, 6).to(memory_format=torch.channels_last); "
GRAY = "x = torch.ones(2, 1, 6, 6).to(memory_format=torch.channels_last); "


def read_index(answer: Any, args: Arguments) -> Outcome:
    """Read the number of a layer."""
    index = as_int(answer, "the index of a layer, an int,")
    return Outcome({"index": index}, str(index))


@exercise(
    title="the layer that loses the format",
    read=read_index,
    cases=[
        f"{RGB}layers = [torch.relu, torch.nn.MaxPool2d(2), lambda t: t.softmax(1), torch.relu]",
        f"{RGB}layers = [torch.relu, torch.nn.MaxPool2d(2), torch.sigmoid]",
        f"{RGB}layers = [lambda t: torch.ones(1, 3, 6, 6) + t, torch.relu]",
        f"{RGB}layers = [torch.nn.Identity(), lambda t: t + torch.ones(1, 3, 6, 6), torch.flatten]",
        f"{RGB}layers = [lambda t: torch.conv2d(t, torch.ones(4, 3, 3, 3)), torch.nn.Flatten(), "
        "torch.relu]",
        f"{RGB}layers = [lambda t: t[:, [0, 1]], "
        "lambda t: t.to(memory_format=torch.channels_last), torch.relu]",
        f"{RGB}layers = [torch.relu, lambda t: t.repeat(1, 2, 1, 1), "
        "lambda t: t.to(memory_format=torch.channels_last), lambda t: t.cumsum(1)]",
        f"{RGB}layers = [torch.relu, lambda t: t[:, :2], torch.relu]",
        f"{RGB}layers = [torch.nn.AdaptiveAvgPool2d(1), torch.relu]",
        f"{RGB}layers = [torch.relu, lambda t: t.mean((2, 3), keepdim=True), torch.sigmoid]",
        f"{RGB}layers = [torch.relu, lambda t: t.mean(1, keepdim=True), "
        "lambda t: t.expand(2, 3, 6, 6)]",
        f"{RGB}layers = [lambda t: t.mean((2, 3)), torch.relu]",
        f"{GRAY}layers = [torch.relu, lambda t: t.repeat(1, 3, 1, 1)]",
        f"{GRAY}layers = [torch.relu, lambda t: t[..., ::2], lambda t: t.clone()]",
        f"{GRAY}layers = [lambda t: t.contiguous(), torch.sigmoid]",
        f"{GRAY}layers = [lambda t: torch.ones(2, 1, 6, 6), "
        "lambda t: torch.conv2d(t, torch.ones(4, 1, 3, 3))]",
        f"{RGB}cut = lambda t: t[:, t.size(0) - 1 :]; "
        "layers = [lambda t: t[:1], cut, lambda t: torch.cat([t, t]), cut]",
        f"{RGB}layers = []",
        "x = torch.ones(2, 3, 6, 6)[:0].to(memory_format=torch.channels_last); "
        "layers = [torch.nn.Identity(), lambda t: t.detach()]",
    ],
    hints=[
        "Run the layers one after the other, each on what the one before it returned, and look at "
        "every output. Which question do you ask of it?",
        "`y.is_contiguous(memory_format=torch.channels_last)` is the question. Where sizes of 1 "
        "make both formats fit, `y.is_contiguous()` is True and says nothing against "
        "channels_last.",
        "`for k, layer in enumerate(layers): x = layer(x)`, then the question, and `return k` at "
        "the first no. After the loop nothing was lost: `return len(layers)`.",
    ],
    otherwise=(
        "Print shape, stride and both flags of each output. Which is the first output whose "
        "channels_last flag is False? If all are True, the answer is len(layers)."
    ),
    takeaway=(
        "Ask every output, not the last one: later layers can hide a loss, or repair it at a price."
    ),
)
def first_to_lose(layers: list[torch.nn.Module], x: torch.Tensor) -> int:
    """The index of the first layer whose output is no longer channels-last.

    layers  modules, or other functions of one tensor, run one after the other: the first on x
    x       a tensor that is contiguous in channels_last
    return  the index of the first layer whose output is not contiguous in channels_last (one
            without four dims is not); len(layers) if there is no such layer
    """
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=torch.channels_last):
            return k
    return len(layers)


def not_channels_last(y: Tensor) -> bool:
    return not y.is_contiguous(memory_format=torch.channels_last)


def losses(
    layers: Layers,
    x: Tensor,
    is_lost: Callable[[Tensor], bool] = not_channels_last,
    converts: bool = False,
) -> list[int]:
    """Return the layers whose output has lost the format, and the number of layers.

    With `converts`, each output is converted to channels-last before the next layer gets it.
    """
    numbers = []
    for k, layer in enumerate(layers):
        x = layer(x)
        if is_lost(x):
            numbers.append(k)
        if converts and x.ndim == 4:
            x = x.to(memory_format=torch.channels_last)
    return [*numbers, len(layers)]


NONE_LOSES = (
    "Right where a layer loses the format. Where none does, answer `len(layers)`: then "
    "`layers[:answer]` is always the part that runs in channels_last."
)

first_to_lose.slots["return k"] = {
    "return k + 1": (
        "One too many. The first layer is layer 0, as in any list of Python. Check the output of a "
        "layer, not its input."
    ),
}
first_to_lose.slots["not x.is_contiguous(memory_format=torch.channels_last)"] = {
    (
        "x.is_contiguous()",
        'Layout.of(x).memory_format != "channels_last"',
        'Layout.of(x).memory_format == "contiguous_format"',
    ): (
        "The two formats are not opposites: where C is 1, or H and W are, a tensor can be in both, "
        "and a slice can be in neither. One question decides: "
        "`is_contiguous(memory_format=torch.channels_last)`."
    ),
    "x.ndim == 4 and not x.is_contiguous(memory_format=torch.channels_last)": (
        "Right while all outputs have four dims. An output of another number of dims is not "
        "channels-last: its layer has lost the format."
    ),
    "x.ndim != 4 or x.stride(1) != 1": (
        "The stride of C does not decide it alone: a slice with gaps has C innermost too, and "
        "where C is 1 its stride can be anything. `is_contiguous(memory_format=…)` asks about all."
    ),
    "x.stride(1) != 1": (
        "You ask for the stride of C. An output of one dim has none, and elsewhere it does not decide "
        "alone: a slice with gaps has C innermost, too. `is_contiguous(memory_format=…)` asks about "
        "all, and about the dims."
    ),
    'x.ndim != 4 or x.stride() != new_stride(x.shape, "channels_last")': (
        "You compare all strides with those of a new channels-last tensor. A tensor with any "
        "stride in a dim of size 1 is still channels-last, and the flag is True for it."
    ),
    (
        "x.dim_order() != (0, 2, 3, 1)",
        "x.ndim != 4 or x.to(memory_format=torch.channels_last) is not x",
    ): (
        "`dim_order()` and `.to(memory_format=…)` go by the order of the strides: a slice with "
        "gaps passes for channels-last, and dims of size 1 mislead them. The task asks for the "
        "flag."
    ),
}
first_to_lose.slots["enumerate(layers)"] = {
    "enumerate([lambda _, x=x, layer=layer: layer(x) for layer in layers])": (
        "You run every layer on the first x. In a network each layer gets the output of the layer "
        "before it."
    ),
}
first_to_lose.slots["return len(layers)"] = {
    ("return -1", "return None", "return len(layers) - 1"): NONE_LOSES,
}
first_to_lose.exact |= {
    ("0", "len(layers)"): shared.ALIKE.format("network"),
    "first_to_lose(layers, x) % max(len(layers), 1)": NONE_LOSES,
    "losses(layers, x, lambda y: not y.is_contiguous())[0]": (
        "`is_contiguous()` alone tests contiguous_format. Which argument tests channels_last?"
    ),
    "losses(layers, x, lambda y: not not_channels_last(y))[0]": (
        "You stop at the first output that is channels-last. The task asks for the first that is "
        "not."
    ),
    "losses(layers, x, lambda y: y.ndim != 4)[0]": (
        "You look for the first output without four dims. One of four dims can be in "
        "contiguous_format, or in neither format: ask each for its flag, "
        "`is_contiguous(memory_format=torch.channels_last)`."
    ),
}
first_to_lose.wrong |= {
    "enumerate(layers) => enumerate(layers[:-1])": (
        "Right except for the last layer: you never look at its output."
    ),
    "losses(layers, x, lambda y: y.stride() != x.stride())[0]": (
        "You compare the output's strides with those of the input. After pooling, an output is "
        "smaller, so it has other strides in the same format. Check the format of each output."
    ),
    "losses(layers, x)[-2:][0]": (
        "You find the last layer whose output is not channels-last. The first such layer is to "
        "blame. The later layers only inherit the loss, or repair it."
    ),
    "first_to_lose(layers, x) + 1": (
        "One too many. The first layer is layer 0, as in any list of Python. Check the output of a "
        "layer, not its input."
    ),
    "len(losses(layers, x)) - 1": (
        "You count the layers whose output has lost the format. The task asks for the index of the "
        "first of them."
    ),
    "first_to_lose(layers, x.contiguous())": (
        "You convert x before the first layer gets it. Run the layers on x as it is: it is in "
        "channels_last, and a layer may keep that."
    ),
    (
        "first_to_lose(layers, x) if len(layers) - 1 in losses(layers, x) else len(layers)",
        "len(layers) - (len(layers) - 1 in losses(layers, x))",
    ): (
        "You only look at the last output. A later layer, such as a converted convolution, can "
        "bring the format back after an earlier layer lost it. Look at every output on the way."
    ),
    "losses(layers, x, converts=True)[0]": (
        "You convert each output before the next layer gets it. So you test each layer by itself. "
        "In the network, a layer hands its loss on."
    ),
    "first_to_lose(layers, x) - 1": (
        "One too few: that layer still keeps the format. The next layer loses it, because its "
        "output is the first that is not channels-last."
    ),
}
