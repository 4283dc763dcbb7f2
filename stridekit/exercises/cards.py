"""Cards: the words of an exercise, which read the same in a terminal, in a notebook and in a test.

A card holds no time, no random id, and no address that can be told from a number: a cell that shows it
has the same output at every run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any, Literal, NamedTuple

from pygments.lexers import PythonLexer
from pygments.token import Token

Status = Literal["passed", "failed", "blank", "note"]
Kind = Literal["prose", "lines", "python", "spec", "terminal"]

# A sign, which says the same as the colour; a variable of JupyterLab's theme, and the colour without it.
_LOOKS = {
    "passed": ("✓", "success-color1", "#2a8c6a"),
    "failed": ("✗", "warn-color1", "#c96a12"),
    "blank": ("○", "border-color1", "#9aa0a6"),
    "note": ("·", "brand-color1", "#1b6fb8"),
}
_WIDTH = 96
_WRAP = "margin: 0; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
_LIST = "display: grid; grid-template-columns: max-content auto; gap: 2px 14px; margin: 6px 0"
# A right answer's moment: its sign comes up, and a breath of green goes over the card.
_JOY = """<style>@media (prefers-reduced-motion: no-preference) {
.sk-joy { animation: sk-joy 1.2s ease-out; }
.sk-joy > div:first-of-type > span:first-child {
  display: inline-block; animation: sk-rise .5s cubic-bezier(.2, 1.6, .4, 1);
}
@keyframes sk-joy { from { background: color-mix(in srgb, #2a8c6a 22%, transparent); } }
@keyframes sk-rise { from { transform: scale(.2) rotate(-30deg); opacity: 0; } } }</style>"""


class Row(NamedTuple):
    """One line of a card: a label and a text. "terminal" rows are left out of the HTML."""

    label: str
    text: str
    kind: Kind = "prose"


@dataclass(frozen=True, repr=False)
class Card:
    """A sign, a headline and rows. `more` is HTML that follows them where HTML is shown."""

    status: Status
    headline: str
    rows: tuple[Row, ...] = ()
    more: str = field(default="", compare=False, kw_only=True)

    @property
    def text(self) -> str:
        """The card as lines of text."""
        lines = [f"{_LOOKS[self.status][0]} {self.headline}"]
        indent = 2 + max((len(row.label) + 2 for row in self.rows if row.label), default=0)
        for row in self.rows:
            first, *rest = _lines(row, _WIDTH - indent)
            lines.append(f"  {row.label:{indent - 2}}{first}")
            lines += [" " * indent + line for line in rest]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        sign, variable, colour = _LOOKS[self.status]
        joy, moment = (' class="sk-joy"', _JOY) if self.status == "passed" else ("", "")
        return (
            f'<div{joy} style="border-left: 4px solid {colour}; border-left-color: var(--jp-{variable}, '
            f'{colour}); padding: 2px 12px; margin: 4px 0; line-height: 1.5">{moment}'
            f"<div><span>{sign}</span> <b>{inline(self.headline)}</b></div>"
            f"{''.join(map(_html_row, self.rows))}{self.more}</div>"
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
    if row.kind in ("prose", "terminal"):
        return textwrap.wrap(row.text, width, break_on_hyphens=False) or [""]
    lines = []
    for line in row.text.splitlines() or [""]:
        short = len(line) <= width
        lines += [line] if short else textwrap.wrap(line, width, subsequent_indent="    ")
    return lines


def presentable(text: str) -> str:
    """Return the text without addresses, which differ from run to run: 0x… and 12 digits or more.

    >>> presentable("<object at 0x7f5c3e00>, 140033962414080 and 1.0000000001")
    '<object at 0x…>, (an address) and 1.0000000001'
    """
    text = re.sub(r"\b0x[0-9a-fA-F]+\b", "0x…", text)
    text = re.sub(r"(?<![\d.])-?\d{12,}(?!\d|\.\d)", "(an address)", text)
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def _html_row(row: Row) -> str:
    if row.kind == "terminal":
        return ""
    style = "display: inline-block; vertical-align: top"
    grey = f"{style}; width: 6em; color: var(--jp-ui-font-color2, inherit)"
    label = f'<span style="{grey}">{escape(row.label)}</span> ' if row.label else ""
    tag, as_html = _SET[row.kind]
    wrap = f"; {_WRAP}" if tag == "pre" else ""
    place = f"{style}; max-width: {'85%' if label else '100%'}{wrap}"
    return f'<div>{label}<{tag} style="{place}">{as_html(row.text)}</{tag}></div>'


def steps(hints: Sequence[str], source: str) -> str:
    """Return hints and a solution as details, each inside the one before: they open one after another.

    >>> steps(["Think."], "n + n").count("<details")
    2
    """
    html, last = "", ("One solution", f'<pre style="{_WRAP}">{python(source)}</pre>')
    names = [f"Hint {number} of {len(hints)}" for number, _ in enumerate(hints, 1)]
    texts = [f"<div>{inline(hint)}</div>" for hint in hints]
    for name, text in reversed([*zip(names, texts, strict=True), last]):
        summary = f'<summary style="cursor: pointer">{name}</summary>'
        html = f'<details style="margin: 4px 0">{summary}{text}{html}</details>'
    return html


def inline(text: str) -> str:
    """Return the text as HTML: escaped, with `backticks` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


# JupyterLab's colours of code; that of comments is too pale for a dark page. Elsewhere code is plain.
_HUES = {
    Token.Keyword: "mirror-editor-keyword-color", Token.Operator.Word: "mirror-editor-keyword-color",
    Token.String: "mirror-editor-string-color", Token.Number: "mirror-editor-number-color",
    Token.Name.Function: "mirror-editor-def-color", Token.Comment: "ui-font-color2",
}  # fmt: skip


def python(source: str) -> str:
    """Return Python source in colours, for a `<pre>`."""

    def hue(token: tuple[Any, str]) -> str:
        return next((hue for kind, hue in _HUES.items() if token[0] in kind), "")

    html, tokens = "", PythonLexer(stripnl=False, ensurenl=False).get_tokens(source)
    for name, group in groupby(tokens, hue):
        text = escape("".join(part for _, part in group))
        html += f'<span style="color: var(--jp-{name}, inherit)">{text}</span>' if name else text
    return html


def spec(text: str) -> str:
    """Return the docstring of an exercise: paragraphs, the list of its parameters, lines of code."""
    return "".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return f'<pre style="{_WRAP}">{python(textwrap.dedent(text))}</pre>'
    entries: list[list[str]] = []
    for line in text.splitlines():
        if entry := re.fullmatch(r"(\w+(?:, \w+)*) {2,}(\S.*)", line):
            entries.append([*entry.groups()])
        elif entries:
            entries[-1][1] += " " + line.strip()
    if not entries:
        return f'<div style="margin: 4px 0">{inline(" ".join(text.splitlines()))}</div>'
    # No <dl>, to which JupyterLab gives a narrow column.
    items = (f"<code>{escape(name)}</code><span>{inline(what)}</span>" for name, what in entries)
    return f'<div style="{_LIST}">{"".join(items)}</div>'


# What a text is set in, and how it becomes HTML.
_SET: dict[Kind, tuple[str, Callable[[str], str]]] = {
    "prose": ("span", inline),
    "lines": ("pre", escape),
    "python": ("pre", python),
    "spec": ("div", spec),
}
