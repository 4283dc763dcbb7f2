"""The still picture of a game: the calls to sort above the three bins, without a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.sort.game import BINS
from stridekit.widgets.static import INK, MUTED, PALE, WIDTH, page, put_box, put_text

CARD, APART, LETTER = 26, 6, 7.6  # px
EDGE = 24  # of the picture
BIN = (WIDTH - 2 * EDGE - 2 * APART) / 3
Place = tuple[str, float, float]
LEFT: dict[str, Any] = {"ha": "left", "family": "DejaVu Sans", "parse_math": False}


def draw(heads: Sequence[str], pile: Sequence[str], *bins: Sequence[str]) -> Figure:
    """Two lines of text, the calls of the pile, and the calls in each of the bins."""
    places, below = _flow(pile, EDGE, 76, WIDTH - 2 * EDGE)
    columns = [
        _flow(calls, EDGE + 8 + k * (BIN + APART), below + 42, BIN - 16)
        for k, calls in enumerate(bins)
    ]
    bottom = max(end for _, end in columns) + APART
    figure, ax = page(bottom + 34)
    put_text(ax, EDGE, 24, heads[0], INK, 11, weight="bold", **LEFT)
    put_text(ax, EDGE, 50, heads[1], MUTED, 9, **LEFT)
    for k, name in enumerate(BINS):
        x = EDGE + k * (BIN + APART)
        put_box(ax, x, below + 6, BIN, bottom - below - 6, PALE, rounded=6)
        put_text(ax, x + 10, below + 24, name, palette.OFFSET[0], 10, weight="bold", **LEFT)
    for call, x, y in [*places, *(place for each, _ in columns for place in each)]:
        _put(ax, call, x, y)
    put_text(ax, EDGE, bottom + 18, "sort them where this lesson runs", MUTED, 8, **LEFT)
    return figure


def _flow(calls: Sequence[str], left: float, top: float, width: float) -> tuple[list[Place], float]:
    """The places of cards in rows, and where the next row would begin."""
    places, x, y = [], left, top
    for call in calls:
        if x > left and x + _wide(call) > left + width:
            x, y = left, y + CARD + APART
        places.append((call, x, y))
        x += _wide(call) + APART
    return places, y + CARD + APART


def _wide(call: str) -> float:
    return LETTER * len(call) + 16


def _put(ax: Axes, call: str, x: float, y: float) -> None:
    put_box(ax, x, y, _wide(call), CARD, "white", rounded=5)
    put_text(ax, x + 8, y + CARD / 2, call, INK, 9, ha="left", family="monospace", parse_math=False)
