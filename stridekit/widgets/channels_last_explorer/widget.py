"""ChannelsLastExplorer: the same values in NCHW and NHWC order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stridekit._arguments import ints
from stridekit.layout import LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.channels_last_explorer import facts, words
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.goals import Goal


class ChannelsLastExplorer(Explorer):
    """One tensor of shape (N, C, H, W), and its elements in memory in both formats.

    Sizes go up to (3, 4, 3, 5). `index` is the selected element, `highlight` the group that lights up with
    it: all channels of its "pixel", or all pixels of its "channel". All of them follow the hand and can be
    set; a wrong value raises LayoutError (ValueError), or IndexError for an index, and the picture stays as
    it was. `code` makes the tensor in both formats.

    >>> ChannelsLastExplorer((2, 1, 3, 5))
    ChannelsLastExplorer: shape (2, 1, 3, 5)
      contiguous_format: stride (15, 15, 5, 1)
      channels_last: stride (15, 1, 5, 1)
      x[0, 0, 1, 2] is element 7 in contiguous_format, element 7 in channels_last.
      Pixel (0, 1, 2) has one channel: there is nothing to step over.
      ambiguous: C is 1, so both flags are True
      ✓ x.is_contiguous() is True
      ✓ x.is_contiguous(memory_format=torch.channels_last) is True
      · x.contiguous(memory_format=torch.channels_last) is x itself: stride (15, 15, 5, 1)
      · x.to(memory_format=torch.channels_last) is a copy: stride (15, 1, 5, 1)
    """

    _module = module("channels_last_explorer/widget.js")
    _style = style("page/base.css", "channels_last_explorer/widget.css")

    FACTS, _facts = facts.FACTS, staticmethod(facts.facts)

    def __init__(self, shape: Iterable[int] = (2, 3, 2, 4), *, goals: Iterable[Goal] = ()) -> None:
        sizes = _shape(shape)
        state = {
            "shape": [*sizes],
            "index": [0, *(n // 2 for n in sizes[1:])],
            "highlight": "pixel",
        }
        super().__init__(_state=state)
        self._aim(goals)

    def _check(self, state: dict[str, Any]) -> None:
        shape, index = _shape(state["shape"]), ints("index", state["index"])
        words.layouts(shape)["contiguous_format"].offset(index)
        if min(index) < 0 or state["highlight"] not in words.HIGHLIGHTS:
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
    def code(self) -> str:
        """The torch code that makes the tensor in both formats."""
        return words.code(self.shape)

    def __repr__(self) -> str:
        shape, index = self.shape, self.index
        signs = {True: "✓", False: "✗", None: "·"}
        lines = [
            *(f"{name}: stride {x.stride}" for name, x in words.layouts(shape).items()),
            words.place(shape, index),
            words.spread(shape, index, self.highlight),
            words.badge(shape),
            *(f"{signs[good]} {sentence}" for good, sentence in words.verdicts(shape)),
        ]
        return "\n  ".join([f"ChannelsLastExplorer: shape {shape}", *lines, *self._aims()])


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
