"""Panels and reports: the words of an exercise, the same in a terminal, a notebook and a test.

A panel holds no time, no random id, and no address that could be taken for a number. So a cell that
shows it has the same output at every run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import Any, Literal, NamedTuple

from stridekit._extras import extra

with extra("lab"):
    from pygments.lexers import PythonLexer
    from pygments.token import Token

Status = Literal["passed", "failed", "blank", "note"]
Form = Literal["prose", "lines", "python", "spec", "terminal"]


class Look(NamedTuple):
    """The look of a status: a sign, and a colour that says the same."""

    sign: str
    variable: str  # in JupyterLab's theme
    colour: str  # where that theme is missing


_LOOKS = {
    "passed": Look("✓", "success-color1", "#2a8c6a"),
    "failed": Look("✗", "warn-color1", "#c96a12"),
    "blank": Look("○", "border-color1", "#9aa0a6"),
    "note": Look("·", "brand-color1", "#1b6fb8"),
}
_WIDTH = 96
_WRAP = "margin: 0; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
_LIST = "display: grid; grid-template-columns: max-content auto; gap: 2px 14px; margin: 6px 0"
# After a right answer the sign pops up, and the panel shines green for a moment.
_JOY = """<style>@media (prefers-reduced-motion: no-preference) {
.sk-joy { animation: sk-joy 1.2s ease-out; }
.sk-joy > div:first-of-type > span:first-child {
  display: inline-block; animation: sk-rise .5s cubic-bezier(.2, 1.6, .4, 1);
}
@keyframes sk-joy { from { background: color-mix(in srgb, #2a8c6a 22%, transparent); } }
@keyframes sk-rise { from { transform: scale(.2) rotate(-30deg); opacity: 0; } } }</style>"""


class Row(NamedTuple):
    """A row of a panel: a label and a text. The HTML leaves out rows for the terminal."""

    label: str
    text: str
    form: Form = "prose"


@dataclass(frozen=True, repr=False)
class Panel:
    """A sign, a headline and rows. Where HTML is shown, the HTML `more` follows them."""

    status: Status
    headline: str
    rows: tuple[Row, ...] = ()
    more: str = field(default="", compare=False, kw_only=True)

    @property
    def text(self) -> str:
        """The panel as lines of text."""
        label_widths = [len(row.label) + 2 for row in self.rows if row.label]
        label_width = max(label_widths, default=0)
        indent = 2 + label_width
        lines = [f"{_LOOKS[self.status].sign} {self.headline}"]
        for row in self.rows:
            first, *rest = _lines(row, _WIDTH - indent)
            lines.append(f"  {row.label:{label_width}}{first}")
            lines += [" " * indent + line for line in rest]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        look = _LOOKS[self.status]
        is_joy = self.status == "passed"
        css_class = ' class="sk-joy"' if is_joy else ""
        animation = _JOY if is_joy else ""
        rows = "".join(map(_html_row, self.rows))
        return (
            f'<div{css_class} style="border-left: 4px solid {look.colour}; '
            f"border-left-color: var(--jp-{look.variable}, {look.colour}); "
            f'padding: 2px 12px; margin: 4px 0; line-height: 1.5">{animation}'
            f"<div><span>{look.sign}</span> <b>{inline(self.headline)}</b></div>"
            f"{rows}{self.more}</div>"
        )


@dataclass(frozen=True, repr=False)
class Report(Panel):
    """The result of `check`; `hint` is its help, "" if the answer needs none."""

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
    """Return the text of a row as lines of a width; long lines of code go on indented."""
    if row.form == "prose":
        return textwrap.wrap(row.text, width, break_on_hyphens=False) or [""]
    lines = []
    if row.form == "terminal":
        for line in row.text.splitlines():
            lines += textwrap.wrap(line, width, break_on_hyphens=False)
        return lines
    for line in row.text.splitlines() or [""]:
        if len(line) <= width:
            lines.append(line)
        else:
            lines += textwrap.wrap(line, width, subsequent_indent="    ")
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
    """Return a row as HTML; "" for a row that only a terminal shows."""
    if row.form == "terminal":
        return ""
    block = "display: inline-block; vertical-align: top"
    label = ""
    if row.label:
        grey = f"{block}; width: 6em; color: var(--jp-ui-font-color2, inherit)"
        label = f'<span style="{grey}">{escape(row.label)}</span> '
    tag, as_html = _FORMS[row.form]
    style = f"{block}; max-width: {'80%' if label else '100%'}"
    if tag == "pre":
        style = f"{style}; {_WRAP}"
    return f'<div>{label}<{tag} style="{style}">{as_html(row.text)}</{tag}></div>'


def folded(hints: Sequence[str], source: str) -> str:
    """Return hints and a solution as details, each inside the one before: they open in turn.

    >>> folded(["Think."], "n + n").count("<details")
    2
    """
    html = _details("One solution", f'<pre style="{_WRAP}">{python(source)}</pre>')
    for number, hint in reversed([*enumerate(hints, 1)]):
        html = _details(f"Hint {number} of {len(hints)}", f"<div>{inline(hint)}</div>{html}")
    return html


def _details(summary: str, html: str) -> str:
    """Return HTML that is folded under a summary."""
    return (
        '<details style="margin: 4px 0">'
        f'<summary style="cursor: pointer">{summary}</summary>{html}</details>'
    )


def inline(text: str) -> str:
    """Return the text as HTML: escaped, with `backticks` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


# JupyterLab's colours of code, but not of comments: that is too pale for a dark page. Where
# JupyterLab's theme is missing, code is plain.
_HUES = {
    Token.Keyword: "mirror-editor-keyword-color",
    Token.Operator.Word: "mirror-editor-keyword-color",
    Token.String: "mirror-editor-string-color",
    Token.Number: "mirror-editor-number-color",
    Token.Name.Function: "mirror-editor-def-color",
    Token.Comment: "ui-font-color2",
}


@lru_cache(maxsize=512)  # each check shows the same solution
def python(source: str) -> str:
    """Return Python source in colours, for a `<pre>`."""

    def hue(token: tuple[Any, str]) -> str:
        token_type, _ = token
        return next((name for parent, name in _HUES.items() if token_type in parent), "")

    html = ""
    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(source)
    for name, group in groupby(tokens, hue):
        text = escape("".join(piece for _, piece in group))
        html += f'<span style="color: var(--jp-{name}, inherit)">{text}</span>' if name else text
    return html


def spec(text: str) -> str:
    """Return the docstring of an exercise as HTML: paragraphs, its parameters, lines of code."""
    return "".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text: str) -> str:
    """Return a paragraph as HTML: lines of code, a list of names with their meaning, or prose."""
    if text.startswith("    "):
        return f'<pre style="{_WRAP}">{python(textwrap.dedent(text))}</pre>'
    meanings: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if entry := re.fullmatch(r"(\w+(?:, \w+)*) {2,}(\S.*)", line):
            name = entry[1]
            meanings[name] = entry[2]
        elif meanings:
            meanings[name] += " " + line.strip()
    if not meanings:
        return f'<div style="margin: 4px 0">{inline(" ".join(text.splitlines()))}</div>'
    # No <dl>, to which JupyterLab gives a narrow column.
    items = [f"<code>{escape(k)}</code><span>{inline(v)}</span>" for k, v in meanings.items()]
    return f'<div style="{_LIST}">{"".join(items)}</div>'


# The HTML element of each form of text, and how the text becomes HTML.
_FORMS: dict[Form, tuple[str, Callable[[str], str]]] = {
    "prose": ("span", inline),
    "lines": ("pre", escape),
    "python": ("pre", python),
    "spec": ("div", spec),
}
