"""What all widgets share in notation: layouts as JSON and as code, elements by index, exact numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
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


def counted(count: int, word: str) -> str:
    """A number and its word, in the plural unless it is 1.

    >>> counted(1, "cache line"), counted(2, "cache line")
    ('1 cache line', '2 cache lines')
    """
    return f"{count} {word}{'s' * (count != 1)}"


def elements(layout: Layout, order: Sequence[int] | None = None) -> list[int]:
    """The element at each index, in row-major order, or in the `order` of dims, the outermost first.

    >>> elements(Layout((2, 3))), elements(Layout((2, 3)), (1, 0))
    ([0, 1, 2, 3, 4, 5], [0, 3, 1, 4, 2, 5])
    """
    if layout.numel == 0:
        return []  # the other sizes may be too large to list
    dims = range(layout.ndim) if order is None else order
    steps = [[i * layout.stride[d] for i in range(layout.shape[d])] for d in dims]
    return [layout.storage_offset + sum(terms) for terms in product(*steps)]


def element_name(index: Sequence[int], name: str) -> str:
    """The element at an index: x[2, 3], or x for a 0-d tensor."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def code(source: str, layout: Layout) -> str:
    """The torch expression that makes this layout on the storage of `source`.

    >>> code("torch.arange(40.)", Layout((4, 6), (8, 1), 2))
    'torch.arange(40.).as_strided((4, 6), (8, 1), 2)'
    """
    return f"{source}.as_strided({layout.shape}, {layout.stride}, {layout.storage_offset})"


def why_not_counted(layout: Layout) -> str:
    """The reason why a browser cannot hold the numbers of a layout exactly; "" if it can.

    >>> why_not_counted(Layout((1, 1), (2**53, 1)))
    'numbers beyond 9007199254740991 are not exact in a browser'
    """
    numbers = (layout.numel, *layout.shape, *layout.stride, layout.span.stop)
    if max(numbers) <= MAX_SAFE_INTEGER:
        return ""
    return f"numbers beyond {MAX_SAFE_INTEGER} are not exact in a browser"
