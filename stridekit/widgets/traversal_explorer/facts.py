"""The facts of a TraversalExplorer's state, over which goals are set, and its code, as in facts.js."""

from __future__ import annotations

from typing import Any

from stridekit.widgets.traversal_explorer import traversal

FACTS = {
    **{"shape": tuple, "stride": tuple, "itemsize": int, "order": tuple, "other_order": tuple},
    **{"cache_lines": int, "alignment": int, "visit": int, "loads": int, "other_loads": int},
    **{"warp": tuple, "sectors": int},
}


def facts(state: dict[str, Any]) -> dict[str, Any]:
    """The left walk, the right one's order, the cache lines that each has loaded, the warp's sectors."""
    walks = [*map(traversal.from_json, state["walks"])]
    lines, alignment, visit = state["cache_lines"], state["alignment"], state["visit"]
    loads = [
        sum(not hit for *_, hit in traversal.walk(w.layout, w.order, lines, alignment)[:visit])
        for w in walks
    ]
    layout, other = walks[0].layout, len(walks) > 1
    warp = traversal.Warp(**state["warp"]) if state["warp"] else None
    return {
        "shape": layout.shape,
        "stride": layout.stride,
        "itemsize": layout.itemsize,
        "order": walks[0].order,
        "other_order": walks[1].order if other else None,
        "cache_lines": lines,
        "alignment": alignment,
        "visit": visit,
        "loads": loads[0],
        "other_loads": loads[1] if other else None,
        "warp": warp and tuple(warp),
        "sectors": warp and len({*warp.sectors}),
    }


def code(state: dict[str, Any]) -> str:
    """The line of Python that makes the picture."""
    left, *right = map(traversal.from_json, state["walks"])
    given = [_layout(left), str(left.order)]
    if right:
        other = f"other={_layout(right[0])}" if right[0].layout != left.layout else None
        given += [*filter(None, [other]), f"other_order={right[0].order}"]
    given += [f"{name}={state[name]}" for name in ("cache_lines", "alignment", "visit")]
    if state["warp"]:
        given.append(f"warp={tuple(state['warp'].values())}")
    return f"explorer = TraversalExplorer({', '.join(given)})"


def _layout(walk: traversal.Walk) -> str:
    x = walk.layout
    return f"Layout({x.shape}, {x.stride}, {x.storage_offset}, {x.itemsize})"
