"""The layers of a small network that keep channels_last, and those that lose it, as torch runs them.

Nothing is predicted. `network()` runs each layer on tiny tensors, in every combination that can be switched
on, and records the resulting strides. network.js only looks them up.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from stridekit._defaults import torch_defaults
from stridekit.layout import Layout

# A shape that tells the formats apart, one with a single channel, and one with a single pixel.
INPUTS = ((2, 3, 4, 4), (2, 1, 4, 4), (2, 3, 1, 1))
DEFAULT_LAYERS = ("conv2d", "batch_norm", "relu", "max_pool2d", "flatten")


class Layer(NamedTuple):
    """A layer: its name, its code, and why it may lose the format."""

    name: str
    code: str
    lost: str = "both orders are one here, and torch writes contiguous_format's strides"

    def run(self, x: Tensor) -> Tensor:
        """Run the code on x; skip is as from a branch that was not converted."""
        weight, mean = torch.ones(4, x.shape[1], 3, 3), torch.ones(x.shape[1])
        names = {"torch": torch, "F": torch.nn.functional, "skip": torch.ones(x.shape)}
        return eval(self.code, names | {"x": x, "weight": weight, "mean": mean, "var": mean})


_FLAG = "its flag is still True, but the new stride[0] is only {stride[0]}"
_MIXED = "x and skip differ in format, so torch takes contiguous_format"
LAYERS = (
    Layer("unsqueeze", "x[0].unsqueeze(0)", _FLAG),
    Layer("conv2d", "F.conv2d(x, weight, padding=1)"),
    Layer("batch_norm", "F.batch_norm(x, mean, var)"),
    Layer("relu", "F.relu(x)"),
    Layer("x + skip", "x + skip"),
    Layer("skip + x", "skip + x", "the first operand decides, and skip is in contiguous_format"),
    Layer("cat", "torch.cat([x, skip], 1)", _MIXED),
    Layer("max_pool2d", "F.max_pool2d(x, 2, ceil_mode=True)"),
    Layer("adaptive_avg_pool2d", "F.adaptive_avg_pool2d(x, 1)"),
    Layer("permute", "x.permute(0, 2, 3, 1)"),
    Layer("flatten", "x.flatten(1)"),
    Layer("view", "x.view(len(x), -1)"),
)
NAMES = tuple(layer.name for layer in LAYERS)


@cache
@torch_defaults()
def network() -> dict[str, Any]:
    """Everything that network.js looks up, as JSON.

    `inputs` have the two states in which each shape starts, `states` are all states of a tensor, and
    `steps[state][layer]` is [the state after the layer, or None where torch refuses; the number of a note].
    """
    numbers: dict[tuple[object, ...], int] = {}
    states: list[dict[str, Any]] = []
    steps: list[dict[str, list[int | None]]] = []
    notes: dict[str, int] = {}

    def state_of(x: Tensor, dims: str = "NCHW", following: int = 0) -> int:
        """The number of the state of x, whose dims have these names; runs the layers that may follow."""
        number = numbers.setdefault((x.shape, x.stride(), dims), len(states))
        if number == len(states):
            states.append({"shape": [*x.shape], "stride": [*x.stride()], "label": label(x)})
            steps.append({})
        for k, layer in enumerate(LAYERS[following:], following):
            if str(k) not in steps[number]:
                to, text = after(x, dims, k, layer)
                steps[number][str(k)] = [to, notes.setdefault(text, len(notes))]
        return number

    def after(x: Tensor, dims: str, k: int, layer: Layer) -> tuple[int | None, str]:
        """The state after a layer, and a note."""
        try:
            y = layer.run(x)
        except RuntimeError:
            return None, f"torch refuses: {_innermost(x, dims)}"
        named = "NHWC" if layer.name == "permute" else dims
        return state_of(y, named, k + 1), note(layer, x, y, dims)

    inputs = []
    for x in map(torch.ones, INPUTS):
        both = (x, x.to(memory_format=torch.channels_last))
        inputs.append({"shape": [*x.shape], "starts": [*map(state_of, both)]})
    layers = [{"name": layer.name, "code": layer.code} for layer in LAYERS]
    tables = {"states": states, "steps": steps, "notes": [*notes]}
    return {"layers": layers, "inputs": inputs, **tables}


def label(x: Tensor) -> str:
    """The memory format of x by its flags, and the one that torch takes it for, if that differs."""
    if x.ndim != 4:
        return "contiguous" if x.is_contiguous() else "not contiguous"
    taken = "channels_last" if _taken_for_channels_last(x) else "contiguous_format"
    name = Layout.of(x).memory_format
    return name if name in (taken, "neither") else f"{name}, taken for {taken}"


def note(layer: Layer, x: Tensor, y: Tensor, dims: str) -> str:
    """A note on what a layer did to the format of x; "" if nothing needs saying."""
    shared = x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    if layer.name == "flatten" and not shared:
        return f"has to copy {x.numel()} elements: {_innermost(x, dims)}"
    if layer.name in ("flatten", "view"):
        return "a view: nothing is copied"
    if layer.name == "permute":
        return "a view of the same memory, with its dims in another order"
    lost = _taken_for_channels_last(x) and not _taken_for_channels_last(y)
    return "channels_last is lost: " + layer.lost.format(stride=y.stride()) if lost else ""


def _taken_for_channels_last(x: Tensor) -> bool:
    """`.to(memory_format=…)` returns x itself exactly if torch takes it to be in that format."""
    return x.to(memory_format=torch.channels_last) is x


def _innermost(x: Tensor, dims: str) -> str:
    """A note that names the dim innermost in memory, where it is not the last one."""
    stepped = [d for d in range(x.ndim) if x.shape[d] > 1]
    nearest = min(stepped, key=lambda d: x.stride(d))
    return f"{dims[nearest]} is innermost in memory, not {dims[stepped[-1]]}"
