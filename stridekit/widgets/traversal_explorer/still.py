"""The still picture of walks over cache lines, and of a warp on its sectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.notation import CACHE_LINE, counted, elements
from stridekit.widgets.static import INK, LINE, MUTED, PALE, WIDTH, page, put_box, put_text
from stridekit.widgets.traversal_explorer import traversal
from stridekit.widgets.traversal_explorer.traversal import LANES, SECTOR, Walk, Warp

PITCH, MAX_LINES = 28, 24


def draw_walks(
    walks: Sequence[Walk], visit: int, cache_lines: int, alignment: int, text: str
) -> Figure:
    """The walks side by side, each line a row of 64 bytes with the number of its loads."""
    traces = [traversal.walk(w.layout, w.order, cache_lines, alignment) for w in walks]
    all_rows = [sorted({v.line for v in trace}) for trace in traces]
    rows = [lines[:MAX_LINES] for lines in all_rows]
    height = 74 + PITCH * max(min(len(lines), MAX_LINES + 1) for lines in all_rows)
    figure, ax = page(height + 12, text.splitlines(), first=-2)
    pane = WIDTH / len(walks)
    for k, (step, trace, lines) in enumerate(zip(walks, traces, rows, strict=True)):
        left, right = k * pane + 70, (k + 1) * pane - 60
        done = trace[:visit]
        loads = Counter(v.line for v in done if not v.hit)
        here = done[-1].element if done else None
        name = f"{step.name}: {traversal.order_name(step.order)}"
        put_text(ax, left, 16, name, size=10, ha="left", weight="bold")
        loaded = f"{counted(loads.total(), 'cache line')} loaded, {len(loads)} would do"
        put_text(ax, left, 38, loaded, MUTED, ha="left")
        byte, seen = (right - left) / CACHE_LINE, {v.element for v in done}
        if len(all_rows[k]) > MAX_LINES:
            more = len(all_rows[k]) - MAX_LINES
            _label(ax, left, 58 + PITCH * MAX_LINES, f"and {counted(more, 'more line')}")
        for row, line in enumerate(lines):
            y = 58 + PITCH * row
            _box(ax, left, y, right - left, PALE, LINE)
            _label(ax, left - 8, y, f"line {line}", ha="right")
            again = loads[line] > 1
            _label(ax, right + 8, y, f"×{loads[line]}", palette.BAD[0] if again else MUTED)
            size = step.layout.itemsize
            for element in sorted({v.element for v in trace if v.line == line}):
                x = left + byte * ((alignment + element * size) % CACHE_LINE)
                tint = _tint(step, element) if element in seen else PALE
                spot = element == here
                _box(ax, x + 1, y + 1, byte * size - 2, tint, INK if spot else LINE, spot)
                if byte * size > 20:
                    _label(ax, x + byte * size / 2, y, str(element), INK, ha="center")
    return figure


def draw_warp(warp: Warp, text: str) -> Figure:
    """The lanes above, the sectors that they touch below, and a line from each lane to its bytes."""
    figure, ax = page(190 + 12, text.splitlines(), first=-2)
    sectors = sorted(set(warp.sectors))
    lane_width = (WIDTH - 40) / LANES
    sector_width = min(110, (WIDTH - 40) / len(sectors))
    for k, sector in enumerate(sectors):
        _box(ax, 20 + k * sector_width + 1, 120, sector_width - 2, PALE, LINE)
        _label(ax, 20 + (k + 0.5) * sector_width, 150, str(sector), ha="center")
    for lane, sector in enumerate(warp.sectors):
        x = 20 + lane * lane_width
        _box(ax, x + 1, 20, lane_width - 2, palette.ROWS[0][0], LINE)
        _label(ax, x + lane_width / 2, 20, str(lane), INK, ha="center")
        byte = (lane * warp.stride + warp.offset) * warp.itemsize % SECTOR
        at = 20 + sectors.index(sector) * sector_width + byte / SECTOR * sector_width
        width = warp.itemsize / SECTOR * sector_width
        _box(ax, at + 0.5, 121, max(width - 1, 1), palette.ROWS[0][0], LINE)
        ax.plot([x + lane_width / 2, at + width / 2], [46, 120], color=MUTED, linewidth=0.8)
    return figure


def _box(
    ax: Axes, x: float, y: float, width: float, tint: str, edge: str, heavy: bool = False
) -> None:
    height = PITCH - 6 if tint == PALE else PITCH - 8
    put_box(ax, x, y, width, height, tint, edge, 2.4 if heavy else 0.8)


def _label(ax: Axes, x: float, y: float, text: str, color: str = MUTED, ha: str = "left") -> None:
    put_text(ax, x, y + PITCH / 2 - 3, text, color, 8, ha)


def _tint(step: Walk, element: int) -> str:
    """The colour of the row of the tensor that holds an element, as in the live picture."""
    inner = step.layout.shape[-1] if step.layout.ndim else 1
    first = elements(step.layout).index(element)
    return palette.ROWS[first // inner % len(palette.ROWS)][0]
