"""The still picture of CopyTracer: its rows, the copies as bars, and the way of the chosen one."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.copy_tracer.run import Row, gaps, left_out, text_of
from stridekit.widgets.static import INK, LINE, MUTED, WIDTH, page, put_box, put_text, wrapped

ROW, HEAD, SIZE = 20, 34, 7
CHARACTER = 0.60205 * SIZE * 100 / 72  # how wide one is in DejaVu Sans Mono
COLUMNS = (26, 106, 432, 712)  # where module, line, layout and what was done begin
COPIED = palette.ROWS[5][0]
BAR = WIDTH - 8 - COLUMNS[3]
TINTS = {
    "channels_last": palette.ROWS[2][0],
    "contiguous": palette.ROWS[0][0],
    "both": palette.ROWS[4][0],
}


def draw(run: dict[str, Any], chosen: int, most: int, told: list[str]) -> Figure:
    """The rows of a run, and lines about the chosen one under them."""
    rows = run["rows"]
    shown = []
    for out, r in gaps(rows, most, chosen):
        shown += [(out, -1)] * bool(out) + [(0, r)] * (r < len(rows))
    height = HEAD + ROW * len(shown) + 12
    figure, ax = page(height, wrapped("\n".join(told), 145), size=SIZE, parse_math=False)
    put_text(ax, 8, 16, run["title"], size=9, ha="left", weight="bold", parse_math=False)
    most_copied = max([1, *(row["copied"] for row in rows)])
    way = [run["chains"][k]["rows"] for k in rows[chosen]["chains"]]
    for k, (out, r) in enumerate(shown):
        y = HEAD + ROW * k
        if out:
            _write(ax, COLUMNS[1], y, left_out(out), MUTED)
            continue
        _row(ax, y, rows[r], rows[r]["copied"] / most_copied)
        mark = next((_mark(r, chain) for chain in way if r in chain), "")
        _write(ax, 12, y, mark, INK)
        if r == chosen:
            put_box(ax, 4, y, WIDTH - 8, ROW, "none", INK, 1.4, rounded=3)
    return figure


def _mark(r: int, chain: list[int]) -> str:
    """How a row takes part in a chain: it made the layout, copied it, or passed it on."""
    return "◆" if r == chain[-1] else "●" if r == chain[0] else "○"


def _row(ax: Axes, y: float, row: Row, part: float) -> None:
    module, line, did, layout = text_of(row)
    tint = TINTS.get(row["format"], "white")
    ax.plot([8, WIDTH - 8], [y, y], color=LINE, linewidth=0.6)
    if row["layout"]:
        put_box(
            ax, COLUMNS[2] - 4, y + 3, COLUMNS[3] - COLUMNS[2] - 4, ROW - 6, tint, LINE, rounded=3
        )
    if part:
        put_box(ax, COLUMNS[3], y + 2, BAR * part, ROW - 4, COPIED, palette.BAD[0])
    widths = [after - x for x, after in zip(COLUMNS, (*COLUMNS[1:], WIDTH - 8), strict=True)]
    for x, width, text in zip(COLUMNS, widths, (module, line, layout, did), strict=True):
        _write(ax, x, y, text, INK, int(width / CHARACTER) - 1)


def _write(ax: Axes, x: float, y: float, text: str, color: str, most: int = 99) -> None:
    """A text that is cut off where its column ends."""
    if not text:
        return
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    put_text(
        ax, x, y + ROW / 2, short, color, SIZE, ha="left", family="monospace", parse_math=False
    )
