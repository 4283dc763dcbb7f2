"""FormatTracer: a tensor in both memory formats on its way through layers that keep or lose them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import traitlets

from stridekit._arguments import ints, texts
from stridekit.layout import LayoutError
from stridekit.widgets.explorer import Explorer, choice, setting
from stridekit.widgets.format_tracer import network as net
from stridekit.widgets.goals import Goal


def _input_number(shape: Iterable[int]) -> int:
    wanted = ints("shape", shape)
    if wanted not in net.INPUTS:
        known = ", ".join(map(str, net.INPUTS))
        raise LayoutError(f"the network was not run on shape {wanted}: use one of {known}")
    return net.INPUTS.index(wanted)


def _in_order(names: Iterable[str]) -> list[str]:
    """Return the names of layers in the order in which the layers run; a list, as in JSON."""
    wanted = texts("layers", [names] if isinstance(names, str) else names)
    for name in wanted:
        if name not in net.NAMES:
            raise LayoutError(f"layer {name!r} is not known: {', '.join(net.NAMES)} are")
    return [name for name in net.NAMES if name in wanted]


class FormatTracer(Explorer, script="format_tracer/network.js"):
    """Switch the layers of a small network on and off, and see which keep channels_last.

    An input of shape `shape` runs through the active `layers` twice: in contiguous_format, and in
    channels_last. Each layer shows the strides and the format of its output, and why a format is lost.
    Both properties follow the hand and can be set; a wrong value raises LayoutError (ValueError), and the
    picture stays as it was.

    >>> FormatTracer(layers=["relu"])
    FormatTracer: x of shape (2, 3, 4, 4), first in contiguous_format, then in channels_last
      F.relu(x): contiguous_format | channels_last
    """

    _network = traitlets.Dict().tag(sync=True)
    _knows = ("_network",)

    # The types are given, because an example would need the network, which takes a while to run.
    FACTS: ClassVar = {
        "shape": tuple,
        "layers": tuple,
        "refused": bool,
        "lost": bool,
        "contiguous_end": str,
        "channels_last_end": str,
    }

    def __init__(
        self,
        shape: Iterable[int] = net.INPUTS[0],
        layers: Iterable[str] = net.DEFAULT_LAYERS,
        *,
        goals: Iterable[Goal] = (),
    ) -> None:
        state = {"input": _input_number(shape), "layers": _in_order(layers)}
        super().__init__(_state=state, _network=net.network())
        self._aim(goals)

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        number = choice("input", state["input"], range(len(net.INPUTS)))
        return {"input": number, "layers": _in_order(state["layers"])}

    shape = setting(
        "input",
        "The shape of the input: (2, 3, 4, 4), or one of two shapes with sizes of 1.",
        net.INPUTS.__getitem__,
        _input_number,
    )
    layers = setting("layers", "The layers that are switched on, in the order in which they run.")
