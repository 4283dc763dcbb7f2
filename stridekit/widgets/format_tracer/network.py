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
        names = {
            "torch": torch,
            "F": torch.nn.functional,
            "x": x,
            "skip": torch.ones(x.shape),
            "weight": torch.ones(4, x.shape[1], 3, 3),
            "mean": torch.ones(x.shape[1]),
            "var": torch.ones(x.shape[1]),
        }
        return eval(self.code, names)


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
    """Return everything that network.js looks up, as JSON.

    `inputs` have the two states in which each shape starts, `states` are all states of a tensor, and
    `steps[state][layer]` is [the state after the layer, or None where torch refuses; the number of a note].
    """
    table = _Table()
    inputs = []
    for x in map(torch.ones, INPUTS):
        converted = x.to(memory_format=torch.channels_last)
        starts = [table.state_of(x), table.state_of(converted)]
        inputs.append({"shape": [*x.shape], "starts": starts})
    return {
        "layers": [{"name": layer.name, "code": layer.code} for layer in LAYERS],
        "inputs": inputs,
        "states": table.states,
        "steps": table.steps,
        "notes": [*table.notes],
    }


class _Table:
    """The states of tensors, and the layers that lead from one to another."""

    def __init__(self) -> None:
        self.states: list[dict[str, Any]] = []
        self.steps: list[dict[str, list[int | None]]] = []
        self.notes: dict[str, int] = {}  # with their numbers
        self._numbers: dict[tuple[object, ...], int] = {}

    def state_of(self, x: Tensor, dims: str = "NCHW", following: int = 0) -> int:
        """Return the number of the state of x, whose dims have these names.

        Run the layers that may follow, from number `following` on.
        """
        number = self._numbers.setdefault((x.shape, x.stride(), dims), len(self.states))
        if number == len(self.states):
            state = {"shape": [*x.shape], "stride": [*x.stride()], "label": label(x)}
            self.states.append(state)
            self.steps.append({})
        for k in range(following, len(LAYERS)):
            if str(k) not in self.steps[number]:
                after, text = self._after(x, dims, k)
                note_number = self.notes.setdefault(text, len(self.notes))
                self.steps[number][str(k)] = [after, note_number]
        return number

    def _after(self, x: Tensor, dims: str, k: int) -> tuple[int | None, str]:
        """Return the state after a layer, or None where torch refuses, and a note."""
        layer = LAYERS[k]
        try:
            y = layer.run(x)
        except RuntimeError:
            return None, f"torch refuses: {_innermost(x, dims)}"
        dims_after = "NHWC" if layer.name == "permute" else dims
        return self.state_of(y, dims_after, k + 1), note(layer, x, y, dims)


def label(x: Tensor) -> str:
    """Return the memory format of x by its flags, and the format that torch assumes, if it differs."""
    if x.ndim != 4:
        return "contiguous" if x.is_contiguous() else "not contiguous"
    assumed = "channels_last" if _is_taken_for_channels_last(x) else "contiguous_format"
    name = Layout.of(x).memory_format
    return name if name in (assumed, "neither") else f"{name}, taken for {assumed}"


def note(layer: Layer, x: Tensor, y: Tensor, dims: str) -> str:
    """Return a note on what a layer did to the format of x; "" if nothing needs saying."""
    is_view = x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    if layer.name == "flatten" and not is_view:
        return f"has to copy {x.numel()} elements: {_innermost(x, dims)}"
    if layer.name in ("flatten", "view"):
        return "a view: nothing is copied"
    if layer.name == "permute":
        return "a view of the same memory, with its dims in another order"
    if _is_taken_for_channels_last(x) and not _is_taken_for_channels_last(y):
        return f"channels_last is lost: {layer.lost.format(stride=y.stride())}"
    return ""


def _is_taken_for_channels_last(x: Tensor) -> bool:
    """Return whether torch takes x to be in channels_last: exactly then, `.to` returns x itself."""
    return x.to(memory_format=torch.channels_last) is x


def _innermost(x: Tensor, dims: str) -> str:
    """Return a note that names the dim innermost in memory, where it is not the last one."""
    longer_than_1 = [d for d in range(x.ndim) if x.shape[d] > 1]
    innermost = min(longer_than_1, key=lambda d: x.stride(d))
    return f"{dims[innermost]} is innermost in memory, not {dims[longer_than_1[-1]]}"
