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
    heights = [
        max(
            ROW + NOTE * (len(lines) - (not one.label))
            for one, lines in zip(both, note, strict=True)
        )
        for (_, both), note in zip(table, notes, strict=True)
    ]
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
            first = y + (ROW + 0.3 * NOTE if passage.label else ROW / 2)
            for k, text in enumerate(texts):
                put_text(ax, x, first + NOTE * k, text, MUTED, 8, ha="left")
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
    """What is to be said of an output beside its format."""
    taken = passage.label.partition(", ")[2]
    said = "; ".join(filter(None, [taken, passage.note]))
    return said if said or passage.label else "nothing comes here"
