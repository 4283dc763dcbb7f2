"""Layouts to start from: views that show what strides can do, and the corner of a large tensor."""

from __future__ import annotations

from typing import NamedTuple

from stridekit.layout import Layout
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json

MAX_DIMS = 4  # of a picture
MAX_SIDE = 64  # cells of a plane, across and down, that fit a page
words = Script("stride_explorer/words.js")


def why_not_drawn(layout: Layout, storage_size: int) -> str:
    """The reason why the picture cannot hold a layout on a storage; "" if it can.

    >>> why_not_drawn(Layout((5, 9), (8, 1)), 40)
    'shape (5, 9), stride (8, 1), storage_offset 0 reaches element 40, and the storage ends at 39'
    """
    return str(words.whyNotDrawn(layout_json(layout), storage_size))


def sliders_for(layout: Layout, storage_size: int) -> dict[str, int]:
    """The end of each kind of slider: far enough to play, near enough to aim."""
    size = 16 if layout.ndim <= 2 else 8
    stride = storage_size - 1 if storage_size <= 64 else max(64, 2 * max(layout.stride, default=1))
    return {
        "size": max(size, *layout.shape, 1) if layout.shape else size,
        "stride": max(stride, *layout.stride, 1) if layout.stride else 1,
        "storage_offset": max(storage_size - 1, 0),
    }


class Preset(NamedTuple):
    """A layout worth a look, its name, and the torch expression that makes it."""

    name: str
    layout: Layout
    expression: str


def presets(x: Layout, name: str, expression: str) -> list[Preset]:
    """The views that show what strides can do, as far as `x` has them.

    >>> [preset.name for preset in presets(Layout((4, 6)), "row-major", "x")]
    ['row-major', 'transpose', 'every 2nd', 'diagonal', 'broadcast', 'windows']
    """
    found = [Preset(name, x, expression)]
    if x.numel == 0 or x.ndim == 0:
        return found
    if x.ndim > 1:
        found += [
            Preset("transpose", x.transpose(-2, -1), f"{expression}.mT"),
            Preset("every 2nd", x[..., ::2], f"{expression}[..., ::2]"),
            Preset("diagonal", x.diagonal(0, -2, -1), f"{expression}.diagonal(0, -2, -1)"),
            Preset(
                "broadcast",
                x[..., :1, :].expand(x.shape),
                f"{expression}[..., :1, :].expand{x.shape}",
            ),
        ]
    size = min(3, x.shape[-1])
    windows = Layout(
        (*x.shape[:-1], x.shape[-1] - size + 1, size),
        (*x.stride, x.stride[-1]),
        x.storage_offset,
        x.itemsize,
    )
    return [*found, Preset("windows", windows, f"{expression}.unfold(-1, {size}, 1)")]


def default_presets(itemsize: int) -> list[Preset]:
    """A slice of 40 numbers, where sizes, strides and the offset have room both ways; and other readings.

    >>> print(default_presets(4)[0].layout)
    Layout(shape=(4, 6), stride=(8, 1), storage_offset=2, itemsize=4)
    """
    flat = "torch.arange(40.)"
    x = Layout((5, 8), itemsize=itemsize)
    slice_, *others = presets(x[:4, 2:], "slice", f"{flat}.view(5, 8)[:4, 2:]")
    windows = Layout((5, 6), (3, 1), 2, itemsize)
    return [
        slice_,
        Preset("row-major", x, f"{flat}.view(5, 8)"),
        Preset("column-major", Layout((5, 8), (1, 5), itemsize=itemsize), f"{flat}.view(8, 5).mT"),
        *others[:-1],
        Preset("windows", windows, f"{flat}[2:20].unfold(0, 6, 3)"),
    ]


def tile(layout: Layout) -> tuple[Layout, str]:
    """The leading corner of a layout that the picture can hold, and its code; "" for the whole.

    >>> tile(Layout((1000, 1000)))
    (Layout(shape=(8, 8), stride=(1000, 1), storage_offset=0, itemsize=1), 'x[:8, :8]')
    """
    lead, largest = layout.ndim - MAX_DIMS, max(layout.shape, default=0)
    small = largest <= MAX_SIDE or layout.ndim < 2
    if small and not why_not_drawn(layout, layout.span.stop):
        return layout, ""
    if layout.numel == 0:
        return layout.view(0), "x.view(0)"  # there may be nothing to select from a leading dim
    most = {1: 32, 2: 8, 3: 4}.get(layout.ndim, 3)
    items = [0] * max(lead, 0) + [slice(min(most, n)) for n in layout.shape[max(lead, 0) :]]
    text = ", ".join(":" + str(i.stop) if isinstance(i, slice) else str(i) for i in items)
    return layout[tuple(items)], f"x[{text}]"
