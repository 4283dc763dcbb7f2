"""The walks and warps of the traversal explorer's script, as tests ask for them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from stridekit import Layout
from stridekit.widgets.engine import Script
from stridekit.widgets.traversal_explorer.widget import Counts, Walk, Warp

costs = Script("traversal_explorer/traversal.js")
PRESETS = {preset["name"]: [*map(Walk.of, preset["walks"])] for preset in costs.PRESETS}


class Visit(NamedTuple):
    """One visit of a walk: the element, its cache line, and whether the cache had it."""

    element: int
    line: int
    hit: bool


def visits_of(
    layout: Layout, order: Sequence[int], cache_lines: int = 4, alignment: int = 0
) -> list[Visit]:
    """Every visit of a walk."""
    walk = Walk("x", layout, tuple(order)).json()
    return [visit_of(**visit) for visit in costs.visitsOf(walk, cache_lines, alignment)]


def visit_of(element: int, line: int, hit: bool, cached: list[int]) -> Visit:
    """A visit without what is then in the cache."""
    return Visit(element, line, hit)


def counts_of(visits: list[Visit], itemsize: int, upto: int | None = None) -> Counts:
    """The costs of the first visits, or of all."""
    end = len(visits) if upto is None else upto
    return Counts(**costs.countsOf([visit._asdict() for visit in visits], itemsize, end))


def sectors_of(warp: Warp) -> dict[str, Any]:
    """The sectors of a warp, how many it touches, how many would do, and the bytes."""
    return dict(costs.sectorsOf(warp._asdict()))
