"""E4: the layer that loses channels-last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from stridekit.exercises.answers import as_int
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome

Layers = Sequence[Callable[[Tensor], Tensor]]
CHANNELS_LAST = torch.channels_last

X = "x = torch.ones(2, 3, 6, 6).to(memory_format=torch.channels_last); "
GRAY = "x = torch.ones(2, 1, 6, 6).to(memory_format=torch.channels_last); "


def read_index(answer: Any, args: Arguments) -> Outcome:
    """An answer that is the number of a layer."""
    index = as_int(answer, "the index of a layer, an int,")
    return Outcome({"index": index}, str(index))


@exercise(
    title="the layer that loses the format",
    read=read_index,
    cases=[
        f"{X}layers = [torch.relu, torch.nn.MaxPool2d(2), lambda t: t.softmax(1), torch.relu]",
        f"{X}layers = [torch.relu, torch.nn.MaxPool2d(2), torch.sigmoid]",
        f"{X}layers = [lambda t: torch.ones(1, 3, 6, 6) + t, torch.relu]",
        f"{X}layers = [torch.nn.Identity(), lambda t: t + torch.ones(1, 3, 6, 6), torch.flatten]",
        f"{X}layers = [lambda t: torch.conv2d(t, torch.ones(4, 3, 3, 3)), torch.nn.Flatten(), torch.relu]",
        f"{X}layers = [lambda t: t[:, [0, 1]], lambda t: t.to(memory_format=torch.channels_last), "
        "torch.relu]",
        f"{X}layers = [torch.relu, lambda t: t.repeat(1, 2, 1, 1), "
        "lambda t: t.to(memory_format=torch.channels_last), lambda t: t.cumsum(1)]",
        f"{X}layers = [torch.relu, lambda t: t[:, :2], torch.relu]",
        f"{X}layers = [torch.nn.AdaptiveAvgPool2d(1), torch.relu]",
        f"{X}layers = [torch.relu, lambda t: t.mean((2, 3), keepdim=True), torch.sigmoid]",
        f"{X}layers = [torch.relu, lambda t: t.mean(1, keepdim=True), lambda t: t.expand(2, 3, 6, 6)]",
        f"{X}layers = [lambda t: t.mean((2, 3)), torch.relu]",
        f"{GRAY}layers = [torch.relu, lambda t: t.repeat(1, 3, 1, 1)]",
        f"{GRAY}layers = [torch.relu, lambda t: t[..., ::2], lambda t: t.clone()]",
        f"{GRAY}layers = [lambda t: t.contiguous(), torch.sigmoid]",
        f"{X}layers = []",
        "x = torch.ones(2, 3, 6, 6)[:0].to(memory_format=torch.channels_last); "
        "layers = [torch.nn.Identity(), lambda t: t.detach()]",
    ],
    hints=[
        "Run the layers one after the other, each on what the one before it answered, and look at "
        "every output. Which question do you ask of it?",
        "`y.is_contiguous(memory_format=torch.channels_last)` is the question. Where sizes of 1 make "
        "both formats fit, `y.is_contiguous()` is True and says nothing against channels_last.",
        "`for k, layer in enumerate(layers): x = layer(x)`, then the question, and `return k` at the "
        "first no. After the loop nothing was lost: `return len(layers)`.",
    ],
    otherwise="Print shape, stride and both flags of what each layer answers. The first output whose "
    "channels_last flag is False is the one; with none, answer len(layers).",
    takeaway="Ask every output, not the last one: later layers can hide a loss, or mend it at a price.",
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


def outputs(layers: Layers, x: Tensor) -> list[Tensor]:
    """What each layer answers."""
    found = []
    for layer in layers:
        x = layer(x)
        found.append(x)
    return found


def first(lost: Callable[[Tensor], bool], layers: Layers, x: Tensor) -> int:
    """The index of the first output that is lost by some notion."""
    found = [k for k, y in enumerate(outputs(layers, x)) if lost(y)]
    return found[0] if found else len(layers)


def flag(y: Tensor) -> bool:
    return y.is_contiguous(memory_format=CHANNELS_LAST)


def new_stride(shape: Sequence[int]) -> tuple[int, ...]:
    """The stride of a new channels-last tensor."""
    _, c, h, w = shape
    return (h * w * c, 1, w * c, c)


@first_to_lose.mistake(
    "You take `is_contiguous()` for the opposite of channels_last. Where C is 1, or H and W are, both "
    "are True, and a slice is neither. Ask with `memory_format=torch.channels_last`."
)
def asks_for_the_other_format(layers: Layers, x: Tensor) -> int:
    return first(lambda y: y.is_contiguous(), layers, x)


@first_to_lose.mistake(
    "You compare the output's strides with those of the input. Another size gives another stride in "
    "the same format: after pooling, everything is nearer together. Ask each output for its format."
)
def compares_with_the_strides_of_x(layers: Layers, x: Tensor) -> int:
    return first(lambda y: y.stride() != x.stride(), layers, x)


@first_to_lose.mistake(
    "A stride of 1 along C is not the whole of channels_last: a slice has it too. And where C is 1 its "
    "stride can be anything. `is_contiguous(memory_format=…)` asks about all dims that matter."
)
def looks_at_the_stride_of_c(layers: Layers, x: Tensor) -> int:
    return first(lambda y: y.ndim != 4 or y.stride(1) != 1, layers, x)


@first_to_lose.mistake(
    "You compare all strides with those of a new channels-last tensor. A dim of size 1 can have any "
    "stride and still be channels-last: the flag knows that."
)
def compares_with_new_strides(layers: Layers, x: Tensor) -> int:
    def lost(y: Tensor) -> bool:
        return y.ndim != 4 or y.stride() != new_stride(y.shape)

    return first(lost, layers, x)


THE_ORDER = (
    "`dim_order()` and `.to(memory_format=…)` go by the order of the strides: a slice with gaps passes "
    "for channels-last, and the stride of a dim of size 1 misleads them. The task asks for the flag."
)


@first_to_lose.mistake(THE_ORDER)
def compares_the_order_of_dims(layers: Layers, x: Tensor) -> int:
    return first(lambda y: y.dim_order() != (0, 2, 3, 1), layers, x)


@first_to_lose.mistake(THE_ORDER)
def asks_whether_to_copies(layers: Layers, x: Tensor) -> int:
    return first(lambda y: y.ndim != 4 or y.to(memory_format=CHANNELS_LAST) is not y, layers, x)


@first_to_lose.mistake(
    "You find the last layer that is not channels-last any more. The first one is to blame: what "
    "comes after it only inherits the loss, or mends it."
)
def finds_the_last(layers: Layers, x: Tensor) -> int:
    found = [k for k, y in enumerate(outputs(layers, x)) if not flag(y)]
    return found[-1] if found else len(layers)


@first_to_lose.mistake(
    "You only look at what comes out at the end. A later layer can bring the format back, as a "
    "converted convolution does: look at every output on the way."
)
def looks_at_the_end_alone(layers: Layers, x: Tensor) -> int:
    if all(map(flag, outputs(layers, x)[-1:])):
        return len(layers)
    return first(lambda y: not flag(y), layers, x)


@first_to_lose.mistake(
    "Every layer gets the input x from you. In a network each one gets what the one before it "
    "answered, and a loss is handed on: keep the output, and give it to the next."
)
def gives_each_layer_the_input(layers: Layers, x: Tensor) -> int:
    return next((k for k, layer in enumerate(layers) if not flag(layer(x))), len(layers))


@first_to_lose.mistake(
    "You count the layers from 1. As in any list of Python, the first is layer 0."
)
def counts_from_one(layers: Layers, x: Tensor) -> int:
    found = solve(layers, x)
    return found if found == len(layers) else found + 1


@first_to_lose.mistake(
    "Right where a layer loses the format. Where none does, answer `len(layers)`: then "
    "`layers[:answer]` is always the part that runs in channels_last."
)
def answers_minus_one(layers: Layers, x: Tensor) -> int:
    found = solve(layers, x)
    return -1 if found == len(layers) else found


@first_to_lose.mistake(
    "You name the last layer that still keeps the format, or count those before the loss less one. "
    "The one to blame is the next: its output is the first that is not channels-last."
)
def answers_the_one_before(layers: Layers, x: Tensor) -> int:
    return solve(layers, x) - 1


solve = first_to_lose.reference
