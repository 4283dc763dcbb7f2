"""Tables: rows of texts, laid out in columns for a terminal and as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_SIDES = {"<": "text-align:left", ">": "text-align:right"}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts with a title; prints as text, shows as a table."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *columns([self.head, *self.rows], "<>>")])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.title, self.rows, head=self.head, align="<>>")


def columns(rows: Sequence[Sequence[str]], align: str = "<") -> list[str]:
    """Lay rows out as indented lines; columns are two spaces apart and as wide as their longest text.

    `align` has "<" or ">" for each column; its last sign also holds for the columns that follow.

    >>> columns([("rows", "9"), ("columns", "160")], "<>")
    ['  rows       9', '  columns  160']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    signs = align.ljust(len(widths), align[-1])
    looks = [f"{sign}{width}" for sign, width in zip(signs, widths, strict=False)]
    texts = ([f"{text:{look}}" for text, look in zip(row, looks, strict=True)] for row in rows)
    return [f"  {'  '.join(cells)}".rstrip() for cells in texts]


def html_table(
    title: str,
    rows: Sequence[Sequence[str]],
    *,
    head: Sequence[str] = (),
    foot: str = "",
    align: str = "",
) -> str:
    """Return an HTML table with a title above it; all texts are escaped.

    `head` names the columns, and `foot` is a line below all of them. The first cell of a row names it.
    With `align`, as in `columns`, titles are bold and each cell is aligned; without it, the page decides.

    >>> html_table("a < b", [("x", "1")]).partition("</caption>")[2]
    '<tr><th scope="row">x</th><td>1</td></tr></table>'
    """
    count = max(1, *map(len, [head, *rows]))
    signs = align and align.ljust(count, align[-1])[:count]
    sides = [_SIDES[sign] for sign in signs] or [""] * count
    bold = "font-weight:600" if align else ""

    top = [_cell('th scope="col"', text, side) for text, side in zip(head, sides, strict=False)]
    lines = [[_cell("td", *pair) for pair in zip(row, sides, strict=True)] for row in rows]
    for cells, row in zip(lines, rows, strict=True):
        cells[0] = _cell('th scope="row"', row[0], sides[0], bold)
    parts = ["".join(f"<tr>{''.join(cells)}</tr>" for cells in part) for part in ([top], lines)]
    if foot:
        last = _cell(f'td colspan="{count}"', foot, _SIDES["<"])
        parts = [f"<thead>{parts[0]}</thead>", f"<tbody>{parts[1]}</tbody>"]
        parts.append(f"<tfoot><tr>{last}</tr></tfoot>")
    caption = _cell("caption", title, "caption-side:top", _SIDES["<"], bold)
    return f"<table>{caption}{''.join(parts if head else parts[1:])}</table>"


def _cell(tag: str, text: str, *styles: str) -> str:
    style = ";".join(filter(None, styles))
    opening = f'{tag} style="{style}"' if style else tag
    return f"<{opening}>{escape(text)}</{tag.partition(' ')[0]}>"
