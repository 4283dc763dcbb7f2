"""The still picture of AttentionExplorer: the memory of the projection, and those after it side by side."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stridekit import palette
from stridekit.widgets.attention_explorer import flow
from stridekit.widgets.attention_explorer.flow import Element, Settings
from stridekit.widgets.static import INK, MUTED, page, put_box, put_text, wrapped

SIZE = 7  # of the letters, in points
CHARACTER = 0.60205 * SIZE * 100 / 72  # how wide one is in DejaVu Sans Mono
BOX = 3 * CHARACTER  # so that a row's labels are one text
LINE, LEFT, HEAD, BETWEEN = 18, 10, 50, 14
# Where a step stands: x, and the row of the picture. The heads lie in the memory of linear's qkv.
PLACES = {
    **{"qkv": (LEFT, 0), "heads": (310, 0)},
    **{"rotary": (LEFT, 1), "attention": (310, 1), "merge": (610, 1)},
}


def draw(s: Settings, followed: Element, text: str) -> Figure:
    """The four memories, with `text` under them."""
    down = HEAD + s.batch * s.tokens * LINE + BETWEEN
    figure, ax = page(2 * down + 8, wrapped(text, 135), size=8)
    goes = flow.reached(s, followed)

    def ring(element: Element) -> float:
        if element == followed:
            return 2.4
        part, *index = element
        into = part in ("out", "y") and all(i in r for i, r in zip(index, goes, strict=True))
        return 1.2 if into else 0.0

    linear, cut, *others = flow.steps(s)
    for step, (x, y) in zip([linear, cut, *others], PLACES.values(), strict=True):
        put_text(ax, x, y * down + 14, step.name, size=9, ha="left", weight="bold")
        for k, line in enumerate([arrow.text for arrow in step.arrows] or [step.note]):
            put_text(ax, x + 78, y * down + 14 + 13 * k, line, MUTED, 8, ha="left")
    for name, parts in flow.memories(s, followed[0]).items():
        x, y = PLACES[name]
        row = len(flow.cells(parts)) // (s.batch * s.tokens)
        for k in range(s.batch * s.tokens if row else 0):
            boxes = flow.cells(parts)[k * row : (k + 1) * row]
            _row(ax, x, y * down + HEAD + k * LINE, [(e, ring(e)) for e in boxes], name)
    return figure


def _row(ax: Axes, x: float, y: float, boxes: Sequence[tuple[Element, float]], memory: str) -> None:
    """A row of boxes, with a label where another vector begins."""
    texts = flow.labels(memory, [element for element, _ in boxes])
    for k, (element, width) in enumerate(boxes):
        edge = (INK, width) if width else ("white", 0.6)
        put_box(ax, x + k * BOX, y, BOX, LINE - 1, palette.ROWS[element[2]][0], *edge)
    line = "".join(f"{text:3}" for text in texts)
    put_text(ax, x + CHARACTER / 2, y + LINE / 2, line, INK, SIZE, ha="left", family="monospace")
