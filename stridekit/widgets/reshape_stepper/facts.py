"""The facts of a ReshapeStepper's state, over which goals are set; facts.js has the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from stridekit.widgets.notation import layout_of
from stridekit.widgets.reshape_stepper.steps import steps

FACTS = {
    **{"shape": tuple, "stride": tuple, "storage_offset": int, "target": tuple, "viewable": bool},
    **{"new_stride": tuple, "step": int, "finished": bool},
    **{"index": tuple, "new_index": tuple, "element": int},
}


def facts(state: dict[str, Any]) -> dict[str, Any]:
    """The layout, the target and its strides, the walk's step, the followed element in both shapes."""
    x, target, flat = layout_of(state), tuple(state["target"]), state["flat"]
    viewable = not x.why_not_view(target)

    def index_in(shape: tuple[int, ...]) -> tuple[int, ...] | None:
        return None if flat is None else tuple(map(int, np.unravel_index(flat, shape)))

    index = index_in(x.shape)
    return {
        "shape": x.shape,
        "stride": x.stride,
        "storage_offset": x.storage_offset,
        "target": target,
        "viewable": viewable,
        "new_stride": x.view(target).stride if viewable else None,
        "step": state["step"],
        "finished": state["step"] == len(steps(x, target)) - 1,
        "index": index,
        "new_index": index_in(target),
        "element": None if index is None else x.offset(index),
    }
