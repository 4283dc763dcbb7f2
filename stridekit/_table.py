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
    formats = [f"{sign}{width}" for sign, width in zip(signs, widths, strict=False)]
    lines = []
    for row in rows:
        cells = [f"{text:{format_}}" for text, format_ in zip(row, formats, strict=True)]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines


def html_table(
    title: str,
    rows: Sequence[Sequence[str]],
    *,
    head: Sequence[str] = (),
    foot: str = "",
    align: str = "",
) -> str:
    """Return an HTML table with a title above it; all texts are escaped.

    `head` names the columns, and `foot` is a line below all of them. The first cell of a row names
    it. With `align`, as in `columns`, titles are bold and each cell is aligned; without it, the
    page decides.

    >>> html_table("a < b", [("x", "1")]).partition("</caption>")[2]
    '<tr><th scope="row">x</th><td>1</td></tr></table>'
    """
    count = max(1, *map(len, [head, *rows]))
    signs = align and align.ljust(count, align[-1])[:count]
    sides = [_SIDES[sign] for sign in signs] or [""] * count
    bold = "font-weight:600" if align else ""

    caption = _cell("caption", title, "caption-side:top", _SIDES["<"], bold)
    head_row = ""
    if head:
        cells = [_cell('th scope="col"', *pair) for pair in zip(head, sides, strict=False)]
        head_row = _row(cells)
    body = ""
    for first, *texts in rows:
        cells = [_cell("td", *pair) for pair in zip(texts, sides[1:], strict=True)]
        body += _row([_cell('th scope="row"', first, sides[0], bold), *cells])
    if foot:
        foot_row = _row([_cell(f'td colspan="{count}"', foot, _SIDES["<"])])
        if head:
            head_row = f"<thead>{head_row}</thead>"
        body = f"<tbody>{body}</tbody><tfoot>{foot_row}</tfoot>"
    return f"<table>{caption}{head_row}{body}</table>"


def _row(cells: list[str]) -> str:
    """Return a row of an HTML table."""
    return f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, text: str, *styles: str) -> str:
    """Return a cell; `tag` may have attributes, and empty styles are left out."""
    style = ";".join(filter(None, styles))
    opening = f'{tag} style="{style}"' if style else tag
    return f"<{opening}>{escape(text)}</{tag.partition(' ')[0]}>"
