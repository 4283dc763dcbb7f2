"""The still picture of an alias explorer: a grid for each tensor, a tape for each storage, and the log."""

from __future__ import annotations

from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.alias_explorer.session import Session
from stridekit.widgets.static import MUTED, PALE, WIDTH, page, put_box, put_text, wrapped

CELL, SLOT, PER_ROW = 40, 52, 16
TINTS = [palette.ROWS[k][0] for k in range(3)]
HATCHES = ["", "////", "|||"]


def draw(session: Session, text: str) -> Figure:
    """The tensors, the storages that they lie on, and `text` under them."""
    cards = _cards(session)
    top = max(y + height for _, _, y, height in cards) + 20
    tapes = []
    for tape in session.tapes:
        rows = max(1, ceil(tape.numel() / PER_ROW))
        tapes.append((tape, top, max(1, ceil(tape.numel() / rows))))
        top += 26 + rows * 84
    figure, ax = page(top + 12, wrapped(text, 110, indent=4), first=2)
    for name, x, y, _ in cards:
        _card(ax, session, name, x, y)
    for number, (_, y, per_row) in enumerate(tapes):
        _tape(ax, session, number, y, per_row)
    return figure


def _cards(session: Session) -> list[tuple[str, int, int, int]]:
    """The place of each name's grid, and its height: (name, x, y, height)."""
    found, x, y, tallest = [], 8, 8, 0
    for name in session.names():
        rows, columns = _plane(session, name)
        width = max(columns * CELL, 220)
        if x + width > WIDTH:
            x, y, tallest = 8, y + tallest + 14, 0
        height = 38 + max(rows, 1) * 34
        found.append((name, x, y, height))
        x, tallest = x + width + 30, max(tallest, height)
    return found


def _plane(session: Session, name: str) -> tuple[int, int]:
    """Rows and columns: all dims but the last go down, and rows that are too long."""
    shape, count = session.tensors[name].tensor.shape, session.tensors[name].tensor.numel()
    columns = min(shape[-1] if shape else 1, (WIDTH - 16) // CELL)
    return (ceil(count / columns) if columns else 0), columns


def _card(ax: Axes, session: Session, name: str, x: int, y: int) -> None:
    layout, (_, columns) = session.tensors[name].layout, _plane(session, name)
    lane, wide = session.called.index(name), 20 + 10 * len(name)
    _box(ax, x, y, wide, 28, TINTS[lane], HATCHES[lane])
    put_text(ax, x + wide / 2, y + 14, name, weight="bold")
    put_text(
        ax,
        x + wide + 8,
        y + 7,
        f"shape {layout.shape}, stride {layout.stride}",
        MUTED,
        7.5,
        ha="left",
    )
    numbers = f"storage_offset {layout.storage_offset}"
    put_text(ax, x + wide + 8, y + 21, numbers, MUTED, 7.5, ha="left")
    for k, value in enumerate(session.tensors[name].tensor.flatten().tolist()):
        left, top = x + k % columns * CELL, y + 36 + k // columns * 34
        _box(ax, left, top, CELL - 4, 30, TINTS[lane])
        put_text(ax, left + CELL / 2 - 2, top + 15, f"{value:.0f}", size=8)


def _tape(ax: Axes, session: Session, number: int, y: int, per_row: int) -> None:
    tape = session.tapes[number]
    names = [name for name in session.names() if session.tensors[name].tape is tape]
    which = f" {number + 1}" if len(session.tapes) > 1 else ""
    put_text(ax, 8, y + 8, f"storage{which}: {', '.join(names)}", MUTED, ha="left")
    owners = {name: session.tensors[name].elements() for name in names}
    for element, value in enumerate(tape.tolist()):
        left, top = 36 + element % per_row * SLOT, y + 22 + element // per_row * 84
        if element % per_row == 0:
            put_text(ax, 28, top + 14, str(element), MUTED, 8, ha="right")
        _box(ax, left, top, SLOT - 4, 78, PALE)
        put_text(ax, left + SLOT / 2 - 2, top + 14, f"{value:.0f}")
        for lane, name in enumerate(session.called):
            if count := owners.get(name, []).count(element):
                _box(ax, left, top + 29 + 16 * lane, SLOT - 4, 15, TINTS[lane], HATCHES[lane])
                letter = name if count == 1 else f"{name}×{count}"
                put_text(
                    ax, left + SLOT / 2 - 2, top + 36.5 + 16 * lane, letter, size=7.5, weight="bold"
                )


def _box(
    ax: Axes, x: float, y: float, width: float, height: float, tint: str, hatch: str = ""
) -> None:
    put_box(ax, x, y, width, height, tint, line=0.6, hatch=hatch)
