"""The facts of a StrideExplorer's state, over which goals are set; facts.js has the same."""

from __future__ import annotations

from itertools import product
from typing import Any

from stridekit.layout import Layout
from stridekit.memory.memset import MemorySet
from stridekit.widgets.notation import layout_of

FACTS = {
    **{"shape": tuple, "stride": tuple, "storage_offset": int, "contiguous": bool},
    **{"channels_last": bool, "dense": bool, "overlaps": bool, "reached": int},
    **{"index": tuple, "element": int, "steps": int, "rows_alike": bool, "elements": tuple},
}
MOST_ELEMENTS = 64  # of a layout that are told one by one


def facts(state: dict[str, Any]) -> dict[str, Any]:
    """The layout's numbers, its properties, its reach, the selected element, the chain's steps."""
    x, index, chain = layout_of(state), state["index"], state.get("chain")
    reached = MemorySet.of(x).count() // x.itemsize
    return {
        "shape": x.shape,
        "stride": x.stride,
        "storage_offset": x.storage_offset,
        "contiguous": x.is_contiguous(),
        "channels_last": x.is_contiguous("channels_last"),
        "dense": x.is_dense(),
        "overlaps": reached < x.numel,
        "reached": reached,
        "index": None if index is None else tuple(index),
        "element": None if index is None else x.offset(index),
        "steps": len(chain["steps"]) if chain else 0,
        "rows_alike": x.ndim == 2 and x.numel > 0 and x.shape[0] > 1 and x.stride[0] == 0,
        "elements": _elements(x) if x.numel <= MOST_ELEMENTS else None,
    }


def _elements(x: Layout) -> tuple[int, ...]:
    """The elements of the storage that the picture shows, in reading order."""
    return tuple(x.offset(index) for index in product(*map(range, x.shape)))
