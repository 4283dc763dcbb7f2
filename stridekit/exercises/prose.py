"""Specs and solutions as HTML: a docstring as prose with a list of its parameters, source in colours."""

from __future__ import annotations

import keyword
import re
import textwrap
from html import escape

_TOKEN = re.compile(
    r"(?P<comment>#.*)"
    r"|(?P<string>(?<!\w)[rbf]{,2}(?:\"{3}[\s\S]*?\"{3}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    r"|(?P<def>(?<=\bdef )\w+)"
    rf"|(?P<keyword>\b(?:{'|'.join(keyword.kwlist)})\b)"
    r"|(?P<number>\b\d[\w.]*)"
)
# The colours of code in JupyterLab; that of comments is too pale for a dark page. Elsewhere code is plain.
_COLOUR = {name: f"mirror-editor-{name}-color" for name in ("string", "def", "keyword", "number")}
_COLOUR["comment"] = "ui-font-color2"
_ENTRY = re.compile(r"(\w+(?:, \w+)*) {2,}(\S.*)")
_LIST = "display: grid; grid-template-columns: max-content auto; gap: 2px 14px; margin: 6px 0"
WRAP = "margin: 0; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"


def inline(text: str) -> str:
    """Return the text as HTML: escaped, with `backticks` set as code.

    >>> inline("x < y, as `t()` has it")
    'x &lt; y, as <code>t()</code> has it'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def python(source: str) -> str:
    """Return Python source in colours, for a `<pre>`.

    >>> python("f(12)")
    'f(<span style="color: var(--jp-mirror-editor-number-color, inherit)">12</span>)'
    """
    parts, end = [], 0
    for found in _TOKEN.finditer(source):
        colour = f"color: var(--jp-{_COLOUR[str(found.lastgroup)]}, inherit)"
        parts.append(escape(source[end : found.start()]))
        parts.append(f'<span style="{colour}">{escape(found[0])}</span>')
        end = found.end()
    return "".join(parts) + escape(source[end:])


def spec(text: str) -> str:
    """Return the docstring of an exercise: paragraphs, the list of its parameters, lines of code."""
    return "".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return f'<pre style="{WRAP}">{python(textwrap.dedent(text))}</pre>'
    entries: list[list[str]] = []
    for line in text.splitlines():
        if entry := _ENTRY.fullmatch(line):
            entries.append([*entry.groups()])
        elif entries:
            entries[-1][1] += " " + line.strip()
    if not entries:
        return f'<div style="margin: 4px 0">{inline(" ".join(text.splitlines()))}</div>'
    # No <dl>, to which JupyterLab gives a narrow column.
    items = (f"<code>{escape(name)}</code><span>{inline(what)}</span>" for name, what in entries)
    return f'<div style="{_LIST}">{"".join(items)}</div>'
