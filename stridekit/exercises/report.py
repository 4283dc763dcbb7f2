"""The words of an exercise: cards that read the same in a terminal, in a notebook and in a test.

A card never holds an address, a time or a random id, so a cell that shows one has the same output at
every run. Its sign says the same as its colour.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NamedTuple

from stridekit.exercises import prose

Status = Literal["passed", "failed", "blank", "note"]
Kind = Literal["prose", "lines", "python", "spec"]

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
    """One line of a card: a label and a text. The line breaks of all but prose stay in a terminal."""

    label: str
    text: str
    kind: Kind = "prose"


@dataclass(frozen=True, repr=False)
class Card:
    """A sign, a headline and rows; `text` for the terminal, `_repr_html_` for the notebook.

    `live` makes the MIME bundle of a widget that shows the card where a kernel runs.
    """

    status: Status
    headline: str
    rows: tuple[Row, ...] = ()
    live: Callable[[Card], dict[str, Any] | None] | None = field(
        default=None, compare=False, kw_only=True
    )

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
        return (
            f'<div style="border-left: 4px solid {colour}; '
            f"border-left-color: var(--jp-{variable}, {colour}); "
            'padding: 2px 12px; margin: 4px 0; line-height: 1.5">'
            "<div>{sign} <b>{headline}</b></div>{rows}</div>".format(**self.parts)
        )

    @property
    def parts(self) -> dict[str, str]:
        """The parts of the card for a widget: its status and sign, and HTML for the rest."""
        return {
            "status": self.status,
            "sign": _SIGN[self.status],
            "headline": prose.inline(self.headline),
            "rows": "".join(map(_html_row, self.rows)),
        }

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any] | None:
        return self.live(self) if self.live else None


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
    if row.kind == "prose":
        return textwrap.wrap(row.text, width, break_on_hyphens=False) or [""]
    lines = []
    for line in row.text.splitlines() or [""]:
        short = len(line) <= width
        lines += [line] if short else textwrap.wrap(line, width, subsequent_indent="    ")
    return lines


# What a text is set in, and how it becomes HTML.
_SET: dict[Kind, tuple[str, Callable[[str], str]]] = {
    "prose": ("span", prose.inline),
    "lines": ("pre", escape),
    "python": ("pre", prose.python),
    "spec": ("div", prose.spec),
}


def _html_row(row: Row) -> str:
    """One row: the label in a narrow column and the text beside it."""
    label = (
        '<span style="display: inline-block; width: 6em; vertical-align: top; '
        f'color: var(--jp-ui-font-color2, inherit)">{escape(row.label)}</span> '
        if row.label
        else ""
    )
    tag, as_html = _SET[row.kind]
    place = f"display: inline-block; vertical-align: top; max-width: {'85%' if label else '100%'}"
    if tag == "pre":
        place += f"; {prose.WRAP}"
    return f'<div>{label}<{tag} style="{place}">{as_html(row.text)}</{tag}></div>'
