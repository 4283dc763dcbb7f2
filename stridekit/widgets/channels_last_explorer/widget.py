"""ChannelsLastExplorer: the same values in NCHW and NHWC order, and layers that keep or lose the format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import traitlets
from matplotlib.figure import Figure

from stridekit._arguments import ints, texts
from stridekit.layout import LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.base import StateWidget
from stridekit.widgets.channels_last_explorer import network as net
from stridekit.widgets.channels_last_explorer import words
from stridekit.widgets.channels_last_explorer.still import draw


class ChannelsLastExplorer(StateWidget):
    """One tensor of shape (N, C, H, W), and its elements in memory in both formats.

    Sizes go up to (2, 4, 4, 5). `index` is the selected element, `highlight` the group that lights up with
    it: all channels of its "pixel", or all pixels of its "channel". `layers` names the active layers of the
    small network below, whose input has the shape `network_shape`. All of them follow the hand and can be
    set; a wrong value raises LayoutError (ValueError), or IndexError for an index, and the picture stays as
    it was. `code` makes the tensor in both formats.

    >>> explorer = ChannelsLastExplorer((2, 1, 4, 5))
    >>> explorer.layers = ["relu", "flatten"]
    >>> explorer
    ChannelsLastExplorer: shape (2, 1, 4, 5)
      contiguous_format: stride (20, 20, 5, 1)
      channels_last: stride (20, 1, 5, 1)
      x[0, 0, 2, 2] is element 12 in contiguous_format, element 12 in channels_last.
      Pixel (0, 2, 2) has one channel: there is nothing to step over.
      ambiguous: C is 1, so both flags are True
      ✓ x.is_contiguous() is True
      ✓ x.is_contiguous(memory_format=torch.channels_last) is True
      · x.contiguous(memory_format=torch.channels_last) is x itself: stride (20, 20, 5, 1)
      · x.to(memory_format=torch.channels_last) is a copy: stride (20, 1, 5, 1)
      a network on (2, 3, 4, 4), first in contiguous_format, then in channels_last
        F.relu(x): contiguous_format | channels_last
        x.flatten(1): contiguous, a view: nothing is copied | \
contiguous, has to copy 96 elements: C is innermost in memory, not W
    """

    _module = module("channels_last_explorer/widget.js")
    _style = style("page/base.css", "channels_last_explorer/widget.css")

    _network = traitlets.Dict().tag(sync=True)

    def __init__(self, shape: Iterable[int] = (2, 3, 4, 5)) -> None:
        sizes = _shape(shape)
        state = {
            "shape": [*sizes],
            "index": [0, *(n // 2 for n in sizes[1:])],
            "highlight": "pixel",
            "layers": [*net.DEFAULT_LAYERS],
            "input": 0,
        }
        super().__init__(_state=state, _network=net.network())

    def _check(self, state: dict[str, Any]) -> None:
        shape, index = _shape(state["shape"]), ints("index", state["index"])
        words.layouts(shape)["contiguous_format"].offset(index)
        known = state["highlight"] in words.HIGHLIGHTS and state["input"] in range(len(net.INPUTS))
        if min(index) < 0 or not known or not set(state["layers"]) <= set(net.NAMES):
            raise LayoutError(f"the picture cannot show {state}")

    def _set(self, **changed: Any) -> None:
        """Change parts of the state; with lists, as in JSON, it equals what the front end sends back."""
        self._state = self._state | changed

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes (N, C, H, W)."""
        return tuple(self._state["shape"])

    @shape.setter
    def shape(self, shape: Iterable[int]) -> None:
        sizes = _shape(shape)
        inside = [min(i, n - 1) for i, n in zip(self.index, sizes, strict=True)]
        self._set(shape=[*sizes], index=inside)

    @property
    def index(self) -> tuple[int, ...]:
        """The index (n, c, h, w) of the selected element."""
        return tuple(self._state["index"])

    @index.setter
    def index(self, index: Iterable[int]) -> None:
        wanted = ints("index", index)
        words.layouts(self.shape)["contiguous_format"].offset(wanted)  # raises IndexError
        self._set(index=[i % n for i, n in zip(wanted, self.shape, strict=True)])

    @property
    def highlight(self) -> str:
        """The group that lights up: all channels of the "pixel", or all pixels of the "channel"."""
        return str(self._state["highlight"])

    @highlight.setter
    def highlight(self, highlight: str) -> None:
        if not isinstance(highlight, str) or highlight not in words.HIGHLIGHTS:
            raise LayoutError(f"highlight {highlight!r} is not known: use 'pixel' or 'channel'")
        self._set(highlight=highlight)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that are switched on, in the order in which they run."""
        return tuple(name for name in net.NAMES if name in self._state["layers"])

    @layers.setter
    def layers(self, names: Iterable[str]) -> None:
        wanted = texts("layers", [names] if isinstance(names, str) else names)
        for name in wanted:
            if name not in net.NAMES:
                raise LayoutError(f"layer {name!r} is not known: {', '.join(net.NAMES)} are")
        self._set(layers=[name for name in net.NAMES if name in wanted])

    @property
    def network_shape(self) -> tuple[int, ...]:
        """The shape of the network's input."""
        return net.INPUTS[self._state["input"]]

    @network_shape.setter
    def network_shape(self, shape: Iterable[int]) -> None:
        wanted = ints("network_shape", shape)
        if wanted not in net.INPUTS:
            known = ", ".join(map(str, net.INPUTS))
            raise LayoutError(f"the network was not run on shape {wanted}: use one of {known}")
        self._set(input=net.INPUTS.index(wanted))

    @property
    def code(self) -> str:
        """The torch code that makes the tensor in both formats."""
        return words.code(self.shape)

    def _still(self) -> Figure:
        text = (
            repr(self).split("\n  ", 3)[3].replace("\n  ", "\n")
        )  # the strides are in the picture
        return draw(self.shape, self.index, self.highlight, text)

    def __repr__(self) -> str:
        shape, index = self.shape, self.index
        signs = {True: "✓", False: "✗", None: "·"}
        lines = [
            *(f"{name}: stride {x.stride}" for name, x in words.layouts(shape).items()),
            words.place(shape, index),
            words.spread(shape, index, self.highlight),
            words.badge(shape),
            *(f"{signs[good]} {sentence}" for good, sentence in words.verdicts(shape)),
            f"a network on {self.network_shape}, first in contiguous_format, then in channels_last",
            *(f"  {code}: {' | '.join(map(_passed, both))}" for code, both in self._trace()),
        ]
        return "\n  ".join([f"ChannelsLastExplorer: shape {shape}", *lines])

    def _trace(self) -> list[tuple[str, list[net.Passage]]]:
        return net.trace(self._state["input"], self.layers)


def _passed(passage: net.Passage) -> str:
    return ", ".join(filter(None, [passage.label, passage.note])) or "nothing comes here"


def _shape(shape: Iterable[int]) -> tuple[int, ...]:
    """The shape as a tuple; raises LayoutError if the picture cannot hold it."""
    sizes = ints("shape", shape)
    inside = len(sizes) == 4 and all(
        1 <= n <= most for n, most in zip(sizes, words.MAX_SIZES, strict=True)
    )
    if not inside:
        raise LayoutError(
            f"shape {sizes} does not fit the picture: "
            f"give (N, C, H, W) from (1, 1, 1, 1) to {words.MAX_SIZES}"
        )
    return sizes
