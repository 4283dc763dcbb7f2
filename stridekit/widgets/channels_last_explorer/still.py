"""The still picture of ChannelsLastExplorer: the planes of the tensor over its two tapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.channels_last_explorer import words
from stridekit.widgets.channels_last_explorer.words import Index
from stridekit.widgets.static import INK, MUTED, WIDTH, page, put_box, put_text, wrapped

SIZE = 8  # of the letters, in points
CHARACTER = 0.60205 * SIZE * 100 / 72  # how wide one is in DejaVu Sans Mono
BOX = 4 * CHARACTER  # so that a row's labels are one text: one per box would cost a second
LINE, LEFT, BETWEEN = 32, 50, 20

Row = tuple[float, float, Sequence[Index]]  # where a row of boxes begins, and its indices


def draw(shape: Index, index: Index, highlight: str, text: str) -> Figure:
    """Both orders of the tensor, with `text` under them."""
    n, c, h, w = shape
    image = c * h * w
    per_row = max(k for k in range(1, 32) if image % k == 0)
    tape_height = n * image // per_row * LINE + 40
    tapes_top = 24 + n * (h * LINE + 14)
    text_top = tapes_top + 2 * tape_height + 14
    figure, ax = page(text_top, wrapped(text, int((WIDTH - 16) / CHARACTER)), size=8)

    lit = {i: 2.8 if i == index else 1.5 for i in words.group(shape, index, highlight)}
    for row in _planes(ax, shape):
        _boxes(ax, row, lit.get)
    for k, (name, layout) in enumerate(words.layouts(shape).items()):
        top = tapes_top + k * tape_height
        gap = words.apart(words.step(layout, index, highlight))
        title = f"{name}   stride {layout.stride}   {gap}"
        put_text(ax, LEFT, top + 12, title, INK, 9, ha="left", weight="bold")
        order = sorted(product(*map(range, shape)), key=layout.offset)
        for start in range(0, len(order), per_row):
            y = top + 26 + start // per_row * LINE
            put_text(ax, LEFT - 8, y + LINE / 2, str(start), MUTED, 8, ha="right")
            _boxes(ax, (LEFT, y, order[start : start + per_row]), lit.get)
    return figure


def _planes(ax: Axes, shape: Index) -> list[Row]:
    """Write the names of the planes, and return their rows."""
    n, c, h, w = shape
    across, down = w * BOX + BETWEEN, h * LINE + 14
    for k in range(c):
        name = f"c = {k}: {words.LETTERS[k]}" if w > 1 else f"{words.LETTERS[k]}: {k}"
        put_text(ax, LEFT + k * across, 12, name, palette.DIMS[1][0], 9, ha="left")
    for k in range(n):
        y = 24 + k * down + LINE / 2
        put_text(ax, LEFT - 6, y, f"n = {k}", palette.DIMS[0][0], 9, ha="right")
    return [
        (LEFT + k * across, 24 + a * down + i * LINE, [(a, k, i, j) for j in range(w)])
        for a, k, i in product(range(n), range(c), range(h))
    ]


def _boxes(ax: Axes, row: Row, ring: Callable[[Index], float | None]) -> None:
    """A row of labelled boxes, with a ring where `ring` gives it a width."""
    x, y, indices = row
    for k, i in enumerate(indices):
        edge = (INK, width) if (width := ring(i)) else ("none", 0.0)
        put_box(ax, x + k * BOX + 1.5, y + 2, BOX - 3, LINE - 4, palette.ROWS[i[1]][0], *edge)
    labels = " ".join(map(words.label, indices))
    put_text(ax, x + CHARACTER / 2, y + LINE / 2, labels, INK, SIZE, ha="left", family="monospace")
