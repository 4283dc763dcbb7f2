"""The still picture of CopyTracer: its rows, the copies as bars, and the path of the chosen one."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.copy_tracer.run import Row, fewer, text_of, told_of
from stridekit.widgets.static import INK, LINE, WIDTH, page, plain, put_box, put_text, wrapped

ROW, HEAD, SIZE = 20, 34, 7
CHARACTER = 0.60205 * SIZE * 100 / 72  # how wide one is in DejaVu Sans Mono
COLUMNS = (26, 106, 432, 712)  # where module, line, layout and what was done begin
MODULE = 12  # characters of its name, the last ones
COPIED = palette.ROWS[5][0]
BAR = WIDTH - 8 - COLUMNS[3]
TINTS = {
    "channels_last": palette.ROWS[2][0],
    "channels_last_3d": palette.ROWS[2][0],
    "contiguous": palette.ROWS[0][0],
    "both": palette.ROWS[4][0],
}


def draw(run: dict[str, Any], chosen: int, most: int, told: list[str]) -> Figure:
    """The rows of a run, and lines about the chosen one under them."""
    rows = run["rows"]
    shown = fewer(rows, most, chosen)
    height = HEAD + ROW * len(shown) + 12
    lines = wrapped(plain("\n".join(told)), 145)
    figure, ax = page(height, lines, size=SIZE, parse_math=False)
    title = plain(run["title"])
    put_text(ax, 8, 16, title, size=9, ha="left", weight="bold", parse_math=False)
    most_copied = max([1, *(row["copied"] for row in rows)])
    ways = [chain["rows"] for chain in told_of(run, rows[chosen])]
    for k, (r, row) in enumerate(shown):
        y = HEAD + ROW * k
        _row(ax, y, row, row["copied"] / most_copied)
        _write(ax, 12, y, next((_mark(r, way) for way in ways if r in way), ""), INK)
        if r == chosen:
            put_box(ax, 4, y, WIDTH - 8, ROW, "none", INK, 1.4, rounded=3)
    return figure


def _mark(r: int, chain: list[int]) -> str:
    """How a row takes part in a chain: it made the layout, copied it, or passed it on."""
    return "◆" if r == chain[-1] else "●" if r == chain[0] else "○"


def _row(ax: Axes, y: float, row: Row, part: float) -> None:
    module, line, did, layout = map(plain, text_of(row))
    if len(module) > MODULE:
        module = f"…{module[1 - MODULE :]}"
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
