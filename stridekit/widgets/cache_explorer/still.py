"""The still picture of CacheExplorer: the three memories, and the curves of what they write."""

from __future__ import annotations

from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.cache_explorer import growth
from stridekit.widgets.cache_explorer.growth import Settings
from stridekit.widgets.static import INK, MUTED, PALE, page, put_box, put_text, wrapped

BOX, LINE, LEFT, ACROSS, TOP = 30, 20, 14, 296, 34


def draw(s: Settings, text: str) -> Figure:
    """The memories side by side, with the curves and `text` under them."""
    rows = max(len(growth.rows(s, way)) for way in growth.WAYS)
    curves_top = TOP + rows * LINE + 16
    figure, ax = page(curves_top + 120, wrapped(text, 122), size=8)
    for k, way in enumerate(growth.WAYS):
        x = LEFT + k * ACROSS
        put_text(ax, x, 16, way, INK, 10, ha="left", weight="bold")
        for r, row in enumerate(growth.rows(s, way)):
            for c, vector in enumerate(row):
                fresh = vector is not None and vector[2] == s.tokens - 1
                edge = (INK, 2.0) if fresh else ("white", 0.6)
                tint = PALE if vector is None else palette.ROWS[vector[1]][0]
                put_box(ax, x + c * BOX, TOP + r * LINE, BOX - 2, LINE - 2, tint, *edge)
                put_text(
                    ax, x + (c + 0.47) * BOX, TOP + (r + 0.47) * LINE, growth.label(vector), INK, 7
                )
    found = growth.curves(s)
    most = max(curve[-1] for curve in found.values())
    for k, (way, curve) in enumerate(found.items()):
        xs = [LEFT + 620 * t / growth.LONG for t in range(0, growth.LONG + 1, 8)]
        ys = [curves_top + 100 - 90 * n / most for n in curve[::8]]
        ax.plot(xs, ys, color=palette.DIMS[k][0], linestyle=("-", "--", ":")[k], linewidth=1.4)
        y = curves_top + 14 + 20 * k
        line = f"{'─╌┄'[k]}{'─╌┄'[k]} {way}: {curve[-1]:,} bytes"
        put_text(ax, LEFT + 640, y, line, palette.DIMS[k][0], 8, ha="left")
    put_text(ax, LEFT, curves_top + 110, f"1 to {growth.LONG} tokens", MUTED, 8, ha="left")
    return figure
