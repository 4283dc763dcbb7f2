"""The facts of a ChannelsLastExplorer's state, over which goals are set; facts.js has the same."""

from __future__ import annotations

from typing import Any

from stridekit.widgets.channels_last_explorer import words

FACTS = {
    **{"shape": tuple, "index": tuple, "highlight": str, "ambiguous": bool},
    **{"contiguous_element": int, "channels_last_element": int},
    **{"contiguous_step": int, "channels_last_step": int},
}


def facts(state: dict[str, Any]) -> dict[str, Any]:
    """The shape, its flags, and of the selected element its place and its group's step in each format."""
    shape, index = tuple(state["shape"]), tuple(state["index"])
    rows, last = words.layouts(shape).values()
    return {
        "shape": shape,
        "index": index,
        "highlight": state["highlight"],
        "ambiguous": rows.is_contiguous("channels_last"),
        "contiguous_element": rows.offset(index),
        "channels_last_element": last.offset(index),
        "contiguous_step": words.step(rows, index, state["highlight"]),
        "channels_last_step": words.step(last, index, state["highlight"]),
    }
