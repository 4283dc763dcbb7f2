"""The still picture of a layout, for places without a kernel: GitHub, exported pages, mail.

Drawn on a bare matplotlib Figure, never through pyplot, so that no global state is touched. One unit of
the axes is one CSS pixel, y downwards, as in the live widget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, prod
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from stridekit import palette
from stridekit.layout import Layout

WIDTH, PER_ROW, CELL, SLOT, GAP = 900, 16, 46, 48, 4
LINE_HEIGHT = 19  # of the text
MAX_ROWS = 12
LONGEST = 10  # characters in a box
MAX_CELLS = 512  # beyond this, or where rows are too long for the page, the leading corner is drawn
ARROW: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 11, "shrinkA": 0, "shrinkB": 0}
NO_GLYPH = re.compile(r"[^\n -~…]")
INK, MUTED, LINE, PALE = palette.INK[0], palette.MUTED[0], palette.LINE[0], palette.PALE[0]


def page(
    top: float, lines: Sequence[str] = (), *, first: float = 0, **style: Any
) -> tuple[Figure, Axes]:
    """A figure with a drawing of height `top` and lines of text that start `first` below it.

    One unit of the axes is one CSS pixel. `style` goes to `put_text` for each line.
    """
    height = top + LINE_HEIGHT * len(lines)
    figure = Figure(figsize=(WIDTH / 100, height / 100), dpi=150, facecolor="white")
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
    ax.set_axis_off()
    for k, line in enumerate(lines):
        put_text(ax, 8, top + first + LINE_HEIGHT * k, line, ha="left", family="monospace", **style)
    return figure, ax


def plain(text: str) -> str:
    """A text with question marks for letters that the font may not have."""
    return NO_GLYPH.sub("?", text)


def wrapped(text: str, columns: int, indent: int = 2) -> list[str]:
    """The lines of a text, wrapped to `columns`; continuation lines are indented by `indent` more."""
    return [
        part
        for line in text.splitlines()
        for part in wrap(
            line, columns, subsequent_indent=" " * (len(line) - len(line.lstrip()) + indent)
        )
    ]


def draw(
    layout: Layout,
    storage_size: int,
    index: tuple[int, ...] | None,
    text: str,
    values: Sequence[str] = (),
) -> Figure:
    """The layout as grid and tape, with `text` under them; of a large one, the leading corner."""
    whole = layout
    layout, index, text = _corner(layout, index, text)
    grid_height = _grid_height(layout)
    rows = _rows(layout, storage_size)
    tape_top = grid_height + 70
    text_top = tape_top + len(rows) * 62 + 24
    figure, ax = page(text_top, text.splitlines())

    def label(element: int) -> str:
        return values[element] if values else str(element)

    owners = {whole.offset(i): i for i in reversed(list(product(*map(range, whole.shape))))}
    spot = None if index is None else layout.offset(index)
    for cell, x, y in _cells(layout):
        _box(ax, x, y, CELL, label(layout.offset(cell)), _tint(whole, cell), cell == index)
    _heads(ax, layout)
    for k, row in enumerate(rows):
        y = tape_top + k * 62
        put_text(ax, 52, y + 17, f"{row * PER_ROW * layout.itemsize} B", MUTED, 8, ha="right")
        for element in range(row * PER_ROW, min((row + 1) * PER_ROW, storage_size)):
            tint = _tint(whole, owners[element]) if element in owners else PALE
            _box(ax, _slot_x(element), y, SLOT, label(element), tint, element == spot)
    if layout.numel:
        _steps(ax, layout, storage_size, rows, tape_top)
    return figure


def _corner(
    layout: Layout, index: tuple[int, ...] | None, text: str
) -> tuple[Layout, tuple[int, ...] | None, str]:
    """The part that fits a still picture; where it is not the whole, the text gets a line that says so."""
    columns = (WIDTH - 60) // (CELL + GAP)
    if layout.numel <= MAX_CELLS and (0, *layout.shape)[-1] <= columns:
        return layout, index, text
    most = {1: columns, 2: columns, 3: 4}.get(layout.ndim, 3)
    corner = layout[tuple(slice(most) for _ in layout.shape)]
    inside = index is not None and all(i < n for i, n in zip(index, corner.shape, strict=True))
    line = f"the picture shows the leading {corner.shape} of {layout.shape}"
    return corner, index if inside else None, f"{text}\n  {line}"


def _planes(layout: Layout) -> tuple[int, int, int]:
    """Rows and columns of a plane, and how many planes stand side by side."""
    rows, columns = (1, 1, *layout.shape)[-2:]
    fit = max(1, (WIDTH - 16) // (44 + columns * (CELL + GAP)))
    across = layout.shape[1] if layout.ndim == 4 and layout.shape[1] <= fit else fit
    return rows, columns, max(across, 1)


def _grid_height(layout: Layout) -> int:
    rows, _, across = _planes(layout)
    planes = prod(layout.shape[:-2])
    return ceil(planes / across) * (rows * 38 + 40) if layout.numel else 40


def _plane_corner(layout: Layout, plane: int) -> tuple[int, int]:
    rows, columns, across = _planes(layout)
    return (
        44 + plane % across * (44 + columns * (CELL + GAP)),
        36 + plane // across * (rows * 38 + 40),
    )


def _cells(layout: Layout) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Each index in row-major order, and the place of its cell."""
    rows, columns, _ = _planes(layout)
    for flat, index in enumerate(product(*map(range, layout.shape))):
        x, y = _plane_corner(layout, flat // (rows * columns))
        yield index, x + flat % columns * (CELL + GAP), y + flat // columns % rows * 38


def _heads(ax: Axes, layout: Layout) -> None:
    rows, columns, _ = _planes(layout)
    for plane, outer in enumerate(product(*map(range, layout.shape[:-2]))):
        x, y = _plane_corner(layout, plane)
        if not layout.numel:
            put_text(ax, 20, 20, "no elements: a size is 0", MUTED, 10, ha="left")
            return
        if outer:
            put_text(ax, x, y - 24, f"[{', '.join(map(str, outer))}, :, :]", INK, 8, ha="left")
        elif layout.ndim:
            last = layout.ndim - 1
            put_text(ax, x, y - 24, f"dim {last} →", palette.DIMS[last][0], 9, ha="left")
        for c in range(columns if layout.ndim else 0):
            put_text(ax, x + c * (CELL + GAP) + CELL / 2, y - 8, str(c), MUTED, 8)
        for r in range(rows if layout.ndim > 1 else 0):
            put_text(ax, x - 8, y + r * 38 + 17, str(r), MUTED, 8, ha="right")
        if layout.ndim == 2:
            put_text(ax, x - 30, y + rows * 19, "← dim 0", palette.DIMS[0][0], 9, rotation=90)


def _rows(layout: Layout, storage_size: int) -> list[int]:
    """The rows of the tape to draw: all of a small storage, the reached ones of a large one."""
    count = ceil(storage_size / PER_ROW)
    if count <= MAX_ROWS:
        return list(range(count))
    reached = {layout.offset(i) // PER_ROW for i in product(*map(range, layout.shape))}
    return sorted(reached)[:MAX_ROWS]


def _steps(ax: Axes, layout: Layout, storage_size: int, rows: list[int], top: int) -> None:
    """An arc for each stride, and the offset under the tape."""
    start = layout.storage_offset
    if start // PER_ROW not in rows:
        return
    y = top + rows.index(start // PER_ROW) * 62
    x0 = _slot_x(start) + SLOT / 2 - 2
    order = sorted(range(layout.ndim), key=lambda d: (layout.stride[d], -d))
    names = []
    for rank, d in enumerate(order):
        to, hue = start + layout.stride[d], palette.DIMS[d][0]
        names.append((f"stride[{d}] = {layout.stride[d]}", hue))
        if to < storage_size and to // PER_ROW == start // PER_ROW and to != start:
            x1 = _slot_x(to) + SLOT / 2 - 2
            bend = -(14 + 14 * rank) / (x1 - x0) * 2
            arc: dict[str, Any] = {"connectionstyle": f"arc3,rad={bend}", "linewidth": 1.6}
            ax.add_patch(FancyArrowPatch((x0, y), (x1, y), color=hue, **arc, **ARROW))
    names.append((f"storage_offset = {start}", palette.OFFSET[0]))
    for k, (name, hue) in enumerate(names):
        put_text(ax, 64 + 150 * k, y + 46, name, hue, 9, ha="left", weight="bold")


def _slot_x(element: int) -> int:
    return 62 + element % PER_ROW * 52


def _tint(layout: Layout, index: tuple[int, ...]) -> str:
    """The colour of the row that an index belongs to."""
    row = Layout(layout.shape[:-1]).offset(index[:-1])  # in row-major order
    return palette.ROWS[row % len(palette.ROWS)][0]


def _box(ax: Axes, x: float, y: float, width: int, text: str, tint: str, spot: bool) -> None:
    hole = tint == PALE
    edge = INK if spot else LINE if hole else tint
    dashes = "--" if hole else "-"
    put_box(ax, x, y, width, 34, tint, edge, 2.4 if spot else 0.8, rounded=5, linestyle=dashes)
    weight = "bold" if spot else "normal"
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    size = 9 if len(short) <= 6 else 48 / len(short)
    put_text(ax, x + width / 2, y + 17, short, MUTED if hole else INK, size, weight=weight)


def put_box(
    ax: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    edge: str = LINE,
    line: float = 0.8,
    rounded: float = 0,
    **style: Any,
) -> None:
    """Draw a box, with corners of radius `rounded`."""
    style |= {"facecolor": fill, "edgecolor": edge, "linewidth": line}
    if rounded:
        corners = f"round,pad=0,rounding_size={rounded}"
        ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=corners, **style))
    else:
        ax.add_patch(Rectangle((x, y), width, height, **style))


def put_text(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    color: str = INK,
    size: float = 9,
    ha: str = "center",
    **style: Any,
) -> None:
    """Write a text at a point, centred vertically."""
    ax.text(x, y, text, color=color, fontsize=size, ha=ha, va="center", **style)
