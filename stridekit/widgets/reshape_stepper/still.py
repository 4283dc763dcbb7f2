"""The still picture of the reshape stepper: old dims over new dims, and all steps in words."""

from __future__ import annotations

from itertools import pairwise
from math import log, prod
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.layout import Layout
from stridekit.widgets.reshape_stepper.steps import Step, steps
from stridekit.widgets.static import INK, MUTED, PALE, WIDTH, page, put_box, put_text, wrapped

ONE = 84  # the most width for a dim of size 1, whose logarithm is 0
LEFT, OLD, NEW, TEXT = 36, 50, 150, 250
CHARACTER = 7.6  # the width of one under a new dim
BAD = palette.BAD[0]


def draw(layout: Layout, target: tuple[int, ...], text: str) -> Figure:
    """The walk at its end, with `text` under it."""
    figure, ax = page(TEXT, wrapped(text, 118))
    told = steps(layout, target)
    old, new = spread(layout.shape, target, WIDTH - LEFT - 8)
    for name, top in (("x", OLD), ("y", NEW)):
        put_text(ax, 12, top + 29, name, weight="bold", size=12)
    tints = _tints(told)
    for d, place in enumerate(old):
        texts = (f"dim {d}", str(layout.shape[d]), f"stride {layout.stride[d]}")
        _box(ax, place, _middle(place, []), OLD, tints.get(d, PALE), texts)
    asked = [step for step in told if step.needed is not None]
    seams = []
    for step in asked:
        d = step.dims[0]
        _boundary(ax, LEFT + old[d + 1][0] - 3, step, layout.stride[d])
        if layout.stride[d] != step.needed:
            seams.append(old[d + 1][0])
    cuts = {step.new_dims[0]: step for step in told if step.new_dims}
    for d, place in enumerate(new):
        _new_box(ax, place, _middle(place, seams), f"new dim {d}", target[d], cuts.get(d), tints)
    return figure


def _tints(told: list[Step]) -> dict[int, str]:
    """A colour for each old dim: that of its chunk."""
    tints: dict[int, str] = {}
    tint, last = "", max((step.dims[0] for step in told if step.part == "merge"), default=0)
    for step in told:
        if step.part == "merge":
            begins = "starts" in step.says or "begins" in step.says
            tint = palette.ROWS[(last - step.dims[0]) % 6][0] if begins else tint
            tints[step.dims[0]] = tint
    return tints


def _middle(place: tuple[float, float], seams: list[float]) -> float:
    """The middle of the widest part of a box that no seam crosses, which has room for its text."""
    left, width = place
    edges = sorted([left, *(x for x in seams if left + 1 < x < left + width - 1), left + width])
    start, end = max(pairwise(edges), key=lambda part: part[1] - part[0])
    return (start + end) / 2


def _boundary(ax: Axes, x: float, step: Step, found: int) -> None:
    """Found and needed above a boundary; a broken boundary extends through the new dims."""
    merged = found == step.needed
    color = palette.GOOD[0] if merged else BAD
    put_text(ax, x, OLD - 32, f"{'=' if merged else '≠'}  {found} found", color=color, size=8)
    put_text(ax, x, OLD - 16, f"{step.needed} needed", color=color, size=8)
    if merged:
        ax.plot([x, x], [OLD + 18, OLD + 42], color=color, linewidth=8, solid_capstyle="butt")
    else:
        ax.plot([x, x], [OLD - 6, NEW + 62], color=color, linewidth=1.8, linestyle=(0, (3, 2)))


def _new_box(
    ax: Axes,
    place: tuple[float, float],
    middle: float,
    name: str,
    size: int,
    step: Step | None,
    tints: dict[int, str],
) -> None:
    """A new dim, with the result of the step that cut it; dashed where it is stuck."""
    stuck = step is not None and step.part == "stuck"
    tint = tints.get(step.dims[-1], PALE) if step and step.dims and not stuck else PALE
    stride = "no stride" if stuck else f"stride {step.stride}" if step else ""
    _box(ax, place, middle, NEW, tint, (name, str(size), stride), stuck)
    if step and step.taken:
        color = BAD if stuck else INK
        long = place[1] < CHARACTER * len(step.taken)
        taken = step.taken.partition(" = ")[2].replace(" of ", "/") if long else step.taken
        put_text(ax, LEFT + middle - 3, NEW + 72, taken, color=color, family="monospace")


def spread(
    old: tuple[int, ...], new: tuple[int, ...], width: float
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Left edge and width of each dim, log(size) wide: boundaries with the same product align."""
    if 0 in old or 0 in new:
        even = [
            [(d * width / len(row), width / len(row)) for d in range(len(row))]
            for row in (old, new)
        ]
        return even[0], even[1]
    rows = [[(prod(row[d + 1 :]), prod(row[d:])) for d in range(len(row))] for row in (old, new)]
    points = sorted({1, *(p for row in rows for pair in row for p in pair)})
    ones = {p: max(row.count((p, p)) for row in rows) for p in points}
    count = sum(ones.values())
    many = max(len(old), len(new), 1)
    one = min(ONE, width / 2 / max(count, 1), width / many)  # the others keep half of the axis
    scale = (width - count * one) / (log(points[-1]) or 1)
    right, x, before = {}, width, 1
    for p in points:
        x -= log(p / before) * scale
        right[p] = x
        x, before = x - ones[p] * one, p

    def places(row: list[tuple[int, int]]) -> list[tuple[float, float]]:
        placed, edge = [], width
        for inner, outer in reversed(row):
            left = edge - one if inner == outer else right[outer]
            placed.append((left, edge - left))
            edge = left
        return placed[::-1]

    return places(rows[0]), places(rows[1])


def _box(
    ax: Axes,
    place: tuple[float, float],
    middle: float,
    top: float,
    tint: str,
    texts: tuple[str, str, str],
    stuck: bool = False,
) -> None:
    left, width = LEFT + place[0], place[1] - 6
    edge: dict[str, Any] = {"edge": BAD, "line": 1.8, "linestyle": "--"} if stuck else {}
    put_box(ax, left, top, width, 58, tint, rounded=6, **edge)
    x = LEFT + middle - 3
    put_text(ax, x, top + 11, texts[0], color=MUTED, size=8)
    put_text(ax, x, top + 29, texts[1], size=12, weight="bold")
    put_text(ax, x, top + 47, texts[2], size=8, family="monospace")
