"""Pictures of small tensors: their numbers as cells, for a notebook and for a terminal.

The HTML consists of tables whose cells have styles of their own, without a style sheet. So every
host shows it, even if it trusts no output. A host that drops all styles still shows the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import prod
from typing import Any

from stridekit.widgets.palette import PAPER, ROWS

_MOST_CELLS = 64
_MOST_DIMS = 4
_WRONG_SIGN = "✗"
_GREY = "rgba(128, 128, 128, 0.8)"
_CRIMSON = "rgb(217, 67, 90)"  # is seen on white and on black


@dataclass(frozen=True)
class Picture:
    """A tensor to draw, with a title and what there is to say about it.

    `values` is a nested list. `tints` gives a number to each value that has a colour. The border of
    a cell is dashed if the tensor `is_new` memory. With `wanted`, a nested list of the same shape,
    each cell with another number gets a frame and a sign.
    """

    title: str
    about: str
    shape: tuple[int, ...]
    values: Any
    tints: Mapping[Any, int] = field(default_factory=dict)
    is_new: bool = False
    wanted: Any = None

    @property
    def is_small(self) -> bool:
        """True if the picture has few enough cells and dims to be drawn."""
        return 0 < prod(self.shape) <= _MOST_CELLS and len(self.shape) <= _MOST_DIMS

    @property
    def html(self) -> str:
        """The picture as a block, which stands beside others where the page is wide enough."""
        drawing = self._blocks(self.values, self.wanted) if self.is_small else ""
        lines = "<br>".join(escape(self.about).splitlines())
        about = f'<div style="font-size: 85%; max-width: 32em">{lines}</div>'
        return (
            '<div style="display: inline-block; vertical-align: top; margin: 4px 24px 4px 0">'
            f"<div><b>{escape(self.title)}</b></div>{about}{drawing}</div>"
        )

    @property
    def lines(self) -> list[str]:
        """The numbers as lines of text, with an empty line between matrices."""
        if not self.is_small:
            return []
        rows = [self._texts(row, wanted) for row, wanted in _rows(self.values, self.wanted)]
        width = max(len(text) for row in rows for text in row)
        lines = []
        for number, row in enumerate(rows):
            if number and len(self.shape) > 2 and number % self.shape[-2] == 0:
                lines.append("")
            lines.append(" ".join(f"{text:>{width}}" for text in row))
        return lines

    def _texts(self, row: list[Any], wanted: list[Any]) -> list[str]:
        """Return the text of each cell of a row."""
        return [self._text(*pair) for pair in zip(row, wanted, strict=True)]

    def _text(self, value: Any, wanted: Any) -> str:
        """Return the text of a cell, with a sign if another number is wanted."""
        text = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{_WRONG_SIGN}{text}" if self._differs(value, wanted) else text

    def _differs(self, value: Any, wanted: Any) -> bool:
        return self.wanted is not None and value != wanted

    def _blocks(self, values: Any, wanted: Any, depth: int = 0) -> str:
        """Return a matrix as a table, matrices beside each other, and rows of matrices."""
        rest = len(self.shape) - depth
        if rest <= 2:
            return self._table(_rows(values, wanted))
        style = "display: inline-block; margin: 0 8px 6px 0" if rest == 3 else ""
        html = ""
        for value, other in zip(values, wanted or [None] * len(values), strict=True):
            html += f'<div style="{style}">{self._blocks(value, other, depth + 1)}</div>'
        return html

    def _table(self, rows: list[tuple[list[Any], list[Any]]]) -> str:
        """Return a matrix as a table."""
        html = ""
        for row, wanted in rows:
            cells = "".join(map(self._cell, row, wanted))
            html += f'<tr style="background: transparent">{cells}</tr>'
        return f'<table style="border-collapse: collapse; margin: 3px 0">{html}</table>'

    def _cell(self, value: Any, wanted: Any) -> str:
        """Return a number as a cell."""
        border = f"1px {'dashed' if self.is_new else 'solid'} {_GREY}"
        if self._differs(value, wanted):
            border = f"3px solid {_CRIMSON}"
        number = self.tints.get(value)
        colour = "transparent" if number is None else tint(number)
        return (
            f'<td style="border: {border}; background: {colour}; min-width: 24px; height: 24px; '
            f'padding: 0 3px; text-align: center">{escape(self._text(value, wanted))}</td>'
        )


def _rows(values: Any, wanted: Any) -> list[tuple[list[Any], list[Any]]]:
    """Return the rows of all matrices in a nested list, each with the row that is wanted.

    >>> _rows([[1, 2], [3, 4]], [[1, 2], [3, 5]])
    [([1, 2], [1, 2]), ([3, 4], [3, 5])]
    >>> _rows(7, None)
    [([7], [None])]
    """
    if not isinstance(values, list):
        return [([values], [wanted])]
    wanted = wanted or [None] * len(values)
    if not isinstance(values[0], list):
        return [(values, wanted)]
    rows = []
    for value, other in zip(values, wanted, strict=True):
        rows += _rows(value, other)
    return rows


def tint(number: int) -> str:
    """Return a colour of the palette for rows, which starts over after six, for any background.

    It lets the background through, so that it looks like the palette's tint on light and on dark.

    >>> tint(0)
    'rgba(0, 208, 228, 0.26)'
    """
    on_light, on_dark = map(_channels, ROWS[number % len(ROWS)])
    white, black = map(_channels, PAPER)
    spans = [a - b for a, b in zip(white, black, strict=True)]
    differences = [a - b for a, b in zip(on_light, on_dark, strict=True)]
    alpha = 1 - sum(differences) / sum(spans)
    channels = []
    for light, paper in zip(on_light, white, strict=True):
        channel = round((light - paper * (1 - alpha)) / alpha)
        channels.append(min(max(channel, 0), 255))
    red, green, blue = channels
    return f"rgba({red}, {green}, {blue}, {alpha:.2f})"


def _channels(colour: str) -> list[int]:
    """Return red, green and blue of a colour such as "#bdf3f8"."""
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def beside(pictures: list[Picture]) -> str:
    """Return the HTML of pictures beside each other, below each other on a narrow page."""
    return f'<div style="overflow-x: auto">{"".join(picture.html for picture in pictures)}</div>'
