"""The still picture of FormatTracer: a row for each layer, with its outputs for both inputs."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.format_tracer.network import Passage
from stridekit.widgets.static import INK, LINE, MUTED, WIDTH, page, put_box, put_text

CODE, COLUMNS = 14, (330, 616)  # where the columns begin
ROW, NOTE = 28, 16  # heights
PER_LINE = 46  # characters of a note
TINTS = {"channels_last": palette.ROWS[2][0], "contiguous": palette.ROWS[0][0]}

Row = tuple[str, Sequence[Passage]]


def draw(shape: Sequence[int], starts: Sequence[Passage], rows: Sequence[Row]) -> Figure:
    """The input in both formats, then each layer that is on."""
    table = [("x", starts), *rows]
    notes = [[wrap(_note(passage), PER_LINE) for passage in both] for _, both in table]
    heights = [ROW + NOTE * max(map(len, both)) for both in notes]
    figure, ax = page(34 + sum(heights))
    heads = (f"x of shape {tuple(shape)}", "x in contiguous_format", "x in channels_last")
    for x, text in zip((CODE, *COLUMNS), heads, strict=True):
        put_text(ax, x, 16, text, size=9, ha="left", weight="bold")
    y = 32.0
    for (code, both), lines, height in zip(table, notes, heights, strict=True):
        ax.plot([8, WIDTH - 8], [y, y], color=LINE, linewidth=0.8)
        put_text(ax, CODE, y + ROW / 2, code, size=8.5, ha="left", family="monospace")
        for x, passage, texts in zip(COLUMNS, both, lines, strict=True):
            _output(ax, x, y + ROW / 2, passage)
            for k, text in enumerate(texts):
                put_text(ax, x, y + ROW + NOTE * (k + 0.3), text, MUTED, 8, ha="left")
        y += height
    return figure


def _output(ax: Axes, x: float, y: float, passage: Passage) -> None:
    """A chip with the format, and the stride beside it."""
    name = passage.label.partition(", ")[0]
    if name:
        tint = TINTS.get(name.removesuffix("_format"), "white")
        put_box(ax, x - 4, y - 9, 8 + 6.7 * len(name), 18, tint, LINE, rounded=4)
        put_text(ax, x, y, name, INK, 8, ha="left", family="monospace")
        stride = str(tuple(passage.stride))
        put_text(ax, x + 14 + 6.7 * len(name), y, stride, MUTED, 8, ha="left", family="monospace")


def _note(passage: Passage) -> str:
    taken = passage.label.partition(", ")[2]
    return "; ".join(filter(None, [taken, passage.note])) or (
        "" if passage.label else "nothing comes here"
    )
