"""ChannelsLastExplorer: the same values in NCHW and NHWC order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stridekit._arguments import ints
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.explorer import Choices, setting
from stridekit.widgets.goals import Goal


class ChannelsLastExplorer(Choices, script="channels_last_explorer/formats.js"):
    """One tensor of shape (N, C, H, W), and its elements in memory in both formats.

    Sizes go up to (3, 4, 3, 5). `index` is the selected element, `highlight` the group that lights up with
    it: all channels of its "pixel", or all pixels of its "channel". All of them follow the hand and can be
    set; a wrong value raises LayoutError (ValueError), or IndexError for an index, and the picture stays as
    it was. `code` makes the tensor in both formats.

    >>> facts = ChannelsLastExplorer((2, 3, 3, 5)).facts
    >>> facts["contiguous_step"], facts["channels_last_step"]
    (15, 1)
    """

    def __init__(self, shape: Iterable[int] = (2, 3, 2, 4), *, goals: Iterable[Goal] = ()) -> None:
        sizes = self._shape(shape)
        middle = [0, *(n // 2 for n in sizes[1:])]
        super().__init__(goals, shape=sizes, index=middle, highlight="pixel")

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        sizes = self._shape(state["shape"])
        index = ints("index", state["index"])
        Layout(sizes).offset(index)  # raises IndexError
        from_start = [i % n for i, n in zip(index, sizes, strict=True)]
        return {"shape": [*sizes], "index": from_start} | super()._checked(state)

    def _shape(self, shape: Iterable[int]) -> tuple[int, ...]:
        """Return the shape as a tuple. Raises LayoutError if the picture cannot hold it."""
        sizes = ints("shape", shape)
        most = tuple(self._script.MAX_SIZES)
        if len(sizes) != 4 or any(not 1 <= n <= top for n, top in zip(sizes, most, strict=True)):
            raise LayoutError(
                f"shape {sizes} does not fit the picture: "
                f"give (N, C, H, W) from (1, 1, 1, 1) to {most}"
            )
        return sizes

    def _change(self, **changed: Any) -> None:
        """Change a setting; a smaller shape keeps the index inside."""
        if "shape" in changed:
            sizes = self._shape(changed["shape"])
            changed["index"] = [min(i, n - 1) for i, n in zip(self.index, sizes, strict=True)]
        super()._change(**changed)

    shape = setting("shape", "The sizes (N, C, H, W).")
    index = setting("index", "The index (n, c, h, w) of the selected element.")
    highlight = setting(
        "highlight",
        'The group that lights up: channels of the "pixel", or pixels of the "channel".',
    )
