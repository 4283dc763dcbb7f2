"""Layouts as JSON, for the state of widgets, and the corners of large layouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit.layout import Layout


def layout_json(layout: Layout) -> dict[str, Any]:
    """Return a layout in the form of a widget's state.

    >>> layout_json(Layout((4, 6), itemsize=4))
    {'shape': [4, 6], 'stride': [6, 1], 'storage_offset': 0, 'itemsize': 4}
    """
    return {
        "shape": [*layout.shape],
        "stride": [*layout.stride],
        "storage_offset": layout.storage_offset,
        "itemsize": layout.itemsize,
    }


def layout_of(state: Mapping[str, Any]) -> Layout:
    """Return the layout in a widget's state, which may hold other things too."""
    return Layout(state["shape"], state["stride"], state["storage_offset"], state["itemsize"])


def corner(x: Layout, name: str, most_dims: int, sizes: Mapping[int, int]) -> tuple[Layout, str]:
    """Return the leading corner of a large layout, and its code.

    The corner has `most_dims` dims at most, and by its number of dims at most `sizes` elements in each.

    >>> corner(Layout((9, 1000, 1000)), "x", 2, {2: 8})
    (Layout(shape=(8, 8), stride=(1000, 1), storage_offset=0, itemsize=1), 'x[0, :8, :8]')
    """
    dropped = max(x.ndim - most_dims, 0)
    ndim = x.ndim - dropped
    ends = [min(size, sizes[ndim]) for size in x.shape[dropped:]]
    index = (*[0] * dropped, *map(slice, ends))
    items = ["0"] * dropped + [f":{end}" for end in ends]
    return x[index], f"{name}[{', '.join(items)}]"
