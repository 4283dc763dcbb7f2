"""Pictures of lessons: a grid of elements over the tape of their storage, drawn from layouts."""

from __future__ import annotations

from itertools import product

from stridekit.layout import Layout
from stridekit.widgets import palette

# The layouts that the picture of a lesson shows on one storage, by the lesson's number.
LAYOUTS = {
    "00": (Layout((3, 4)),),
    "01": (Layout((3, 4), (5, 1), 1),),
    "02": (Layout((3, 4), (5, 1)), Layout((2, 2), (5, 2), 6)),
    "03": (Layout((4, 3), (1, 4)),),
    "04": (Layout((3, 2, 3), (1, 9, 3)),),
    "05": (Layout((4, 2), (4, 1)),),
    "06": (Layout((2, 4, 2), (2, 4, 1)),),
    "07": (Layout((3, 3), (1, 3)), Layout((3, 3), (3, 1), 9)),
    "08": (Layout((3, 4), (6, 1)),),
    "09": (Layout((3, 4), (0, 1)),),
    "10": (Layout((4, 3), (1, 1)),),
    "11": (Layout((3, 3), (5, 2)),),
}
CELL, GAP = 15, 3
PITCH = CELL + GAP
WIDTH, TAPE_TOP, HEIGHT = 252, 88, 132
ROW_LENGTH = 14  # slots in a row of the tape


def picture(lesson: str) -> str:
    """Return the picture of a lesson as SVG, or nothing for a notebook of another number."""
    layouts = LAYOUTS.get(lesson[:2], ())
    cells = []
    tints: dict[int, int] = {}
    left = 0
    for layout in layouts:
        planes = layout.shape[0] if layout.ndim == 3 else 1
        columns = layout.shape[-1]
        for index in product(*map(range, layout.shape)):
            *plane, i, j = index
            tint = index[0] % len(palette.ROWS)
            tints.setdefault(layout.offset(index), tint)
            x = left + (plane[0] * (columns * PITCH + 8) if plane else 0) + j * PITCH
            cells.append(_cell(x, i * PITCH, f"sk-r{tint}"))
        left += planes * (columns * PITCH + 8) + 12
    size = max(tints, default=-1) + 1
    for slot in range(size):
        tint_class = f"sk-r{tints[slot]}" if slot in tints else "sk-unreached"
        row, column = divmod(slot, ROW_LENGTH)
        cells.append(_cell(column * PITCH, TAPE_TOP + row * (PITCH + 4), tint_class))
    if not cells:
        return ""
    box = f"0 0 {WIDTH} {HEIGHT}"
    return f'<svg class="sk-picture" viewBox="{box}" aria-hidden="true">{"".join(cells)}</svg>'


def _cell(x: int, y: int, css_class: str) -> str:
    size = f'width="{CELL}" height="{CELL}" rx="3"'
    return f'<rect class="{css_class}" x="{x}" y="{y + 1}" {size}/>'


def style() -> str:
    """Return the styles of the pictures, in the colours of the widgets."""
    return palette.css_variables(".sk-picture") + palette.css_classes(".sk-picture")
