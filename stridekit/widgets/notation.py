"""What all widgets share in notation: layouts as JSON, corners of large ones, exact numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit.layout import Layout

CACHE_LINE = 64  # bytes
MAX_SAFE_INTEGER = 2**53 - 1  # the largest int that a browser counts exactly


def layout_json(layout: Layout) -> dict[str, Any]:
    """A layout in the form of a widget's state.

    >>> layout_json(Layout((4, 6), itemsize=4))
    {'shape': [4, 6], 'stride': [6, 1], 'storage_offset': 0, 'itemsize': 4}
    """
    return {
        "shape": list(layout.shape),
        "stride": list(layout.stride),
        "storage_offset": layout.storage_offset,
        "itemsize": layout.itemsize,
    }


def layout_of(state: Mapping[str, Any]) -> Layout:
    """The layout in a widget's state, which may hold other things too.

    >>> layout_of(layout_json(Layout((4, 6))) | {"visit": 3})
    Layout(shape=(4, 6), stride=(6, 1), storage_offset=0, itemsize=1)
    """
    return Layout(*(state[key] for key in ("shape", "stride", "storage_offset", "itemsize")))


def corner(
    layout: Layout, name: str, most_dims: int, sizes: Mapping[int, int]
) -> tuple[Layout, str]:
    """The leading corner of a large layout, of so many dims at most, and its code.

    >>> corner(Layout((9, 1000, 1000)), "x", 2, {2: 8})
    (Layout(shape=(8, 8), stride=(1000, 1), storage_offset=0, itemsize=1), 'x[0, :8, :8]')
    """
    lead = max(layout.ndim - most_dims, 0)
    most = sizes[layout.ndim - lead]
    items = [0] * lead + [slice(min(most, n)) for n in layout.shape[lead:]]
    texts = [f":{item.stop}" if isinstance(item, slice) else "0" for item in items]
    return layout[tuple(items)], f"{name}[{', '.join(texts)}]"


def why_not_counted(layout: Layout) -> str:
    """The reason why a browser cannot hold the numbers of a layout exactly; "" if it can.

    >>> why_not_counted(Layout((1, 1), (2**53, 1)))
    'numbers beyond 9007199254740991 are not exact in a browser'
    """
    numbers = (layout.numel, *layout.shape, *layout.stride, layout.span.stop)
    if max(numbers) <= MAX_SAFE_INTEGER:
        return ""
    return f"numbers beyond {MAX_SAFE_INTEGER} are not exact in a browser"
