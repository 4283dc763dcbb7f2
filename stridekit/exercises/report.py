"""The words of an exercise: cards that read the same in a terminal, in a notebook and in a test.

A card never holds an address, a time or a random id, so a cell that shows one has the same output at
every run. Its sign says the same as its colour.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

Status = Literal["passed", "failed", "blank", "note"]

_SIGN = {"passed": "✓", "failed": "✗", "blank": "○", "note": "·"}
# The plain colour serves where there are no theme variables: on GitHub, in an untrusted notebook.
_COLOUR = {
    "passed": ("success-color1", "#2a8c6a"),
    "failed": ("warn-color1", "#c96a12"),
    "blank": ("border-color1", "#9aa0a6"),
    "note": ("brand-color1", "#1b6fb8"),
}
_WIDTH = 96


class Row(NamedTuple):
    """One line of a card: a label, and prose or (with `code`) text whose line breaks stay."""

    label: str
    text: str
    code: bool = False


@dataclass(frozen=True, repr=False)
class Card:
    """A sign, a headline and rows; `text` for the terminal, `_repr_html_` for the notebook."""

    status: Status
    headline: str
    rows: tuple[Row, ...] = ()

    @property
    def text(self) -> str:
        """The card as lines of text."""
        lines = [f"{_SIGN[self.status]} {self.headline}"]
        indent = 2 + max((len(row.label) + 2 for row in self.rows if row.label), default=0)
        for row in self.rows:
            first, *rest = _lines(row, _WIDTH - indent)
            lines.append(f"  {row.label:{indent - 2}}{first}")
            lines += [" " * indent + line for line in rest]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        variable, colour = _COLOUR[self.status]
        rows = "".join(_html_row(row) for row in self.rows)
        return (
            f'<div style="border-left: 4px solid {colour}; '
            f"border-left-color: var(--jp-{variable}, {colour}); "
            'padding: 2px 12px; margin: 4px 0; line-height: 1.5">'
            f"<div>{_SIGN[self.status]} <b>{_prose(self.headline)}</b></div>{rows}</div>"
        )


@dataclass(frozen=True, repr=False)
class Report(Card):
    """The result of `check`; `hint` is its help, "" where none is needed."""

    hint: str = ""

    @property
    def passed(self) -> bool:
        """True if the answer is right on every case."""
        return self.status == "passed"

    @property
    def attempted(self) -> bool:
        """True if there was anything to check: False for a blank."""
        return self.status != "blank"


def _lines(row: Row, width: int) -> list[str]:
    if not row.code:
        return textwrap.wrap(row.text, width, break_on_hyphens=False) or [""]
    lines = []
    for line in row.text.splitlines() or [""]:
        short = len(line) <= width
        lines += [line] if short else textwrap.wrap(line, width, subsequent_indent="    ")
    return lines


def _html_row(row: Row) -> str:
    """One row: the label in a narrow column and the text beside it."""
    label = (
        '<span style="display: inline-block; width: 6em; vertical-align: top; '
        f'color: var(--jp-ui-font-color2, inherit)">{escape(row.label)}</span> '
        if row.label
        else ""
    )
    place = f"display: inline-block; vertical-align: top; max-width: {'85%' if label else '100%'}"
    if row.code:
        wrap = "margin: 0; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
        text = f'<pre style="{place}; {wrap}">{escape(row.text)}</pre>'
    else:
        text = f'<span style="{place}">{_prose(row.text)}</span>'
    return f"<div>{label}{text}</div>"


def _prose(text: str) -> str:
    """The text as HTML: escaped, with `backticks` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
