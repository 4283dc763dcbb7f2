"""What all widgets share in notation: layouts as JSON, corners of large ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit.layout import Layout


def layout_json(layout: Layout) -> dict[str, Any]:
    """A layout in the form of a widget's state.

    >>> layout_json(Layout((4, 6), itemsize=4))
    {'shape': [4, 6], 'stride': [6, 1], 'storage_offset': 0, 'itemsize': 4}
    """
    numbers = {"storage_offset": layout.storage_offset, "itemsize": layout.itemsize}
    return {"shape": [*layout.shape], "stride": [*layout.stride], **numbers}


def layout_of(state: Mapping[str, Any]) -> Layout:
    """The layout in a widget's state, which may hold other things too."""
    return Layout(*(state[key] for key in ("shape", "stride", "storage_offset", "itemsize")))


def corner(x: Layout, name: str, most_dims: int, sizes: Mapping[int, int]) -> tuple[Layout, str]:
    """The leading corner of a large layout, of so many dims at most, and its code.

    >>> corner(Layout((9, 1000, 1000)), "x", 2, {2: 8})
    (Layout(shape=(8, 8), stride=(1000, 1), storage_offset=0, itemsize=1), 'x[0, :8, :8]')
    """
    lead = max(x.ndim - most_dims, 0)
    ends = [min(sizes[x.ndim - lead], n) for n in x.shape[lead:]]
    items = ["0"] * lead + [f":{end}" for end in ends]
    return x[(*[0] * lead, *map(slice, ends))], f"{name}[{', '.join(items)}]"
