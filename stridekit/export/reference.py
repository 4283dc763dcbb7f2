"""The reference: every public name on a page, written from its docstring, in the look of the lessons."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from nbconvert.filters.highlight import Highlight2HTML

from stridekit.export.names import Entry, Example, Member, Subject, subjects

TITLE = "The package, name by name"
_highlight = Highlight2HTML(pygments_lexer="ipython3")


class ReferencePage(NamedTuple):
    """A page: its file, its title, what it is about, the names on it; its body, as HTML."""

    file: str
    title: str
    about: str
    names: list[str]
    body: str


def reference() -> list[ReferencePage]:
    """The pages of the reference, in the order in which a learner meets the names.

    >>> [page.file for page in reference()][:2]
    ['reference-layouts.html', 'reference-raw_memory.html']
    """
    found = subjects()
    places = _places(found)
    pages = []
    for k, subject in enumerate(found):
        around = [found[n] if 0 <= n < len(found) else None for n in (k - 1, k + 1)]
        body = _page(subject, places, *around)
        names = [entry.name for entry in subject.entries]
        pages.append(ReferencePage(_file(subject), subject.title, subject.about, names, body))
    return pages


def contents(pages: list[ReferencePage]) -> str:
    """A list of the pages and the names on them, for the front page."""
    items = "".join(
        f'<li><a href="{page.file}">{page.title}</a>: '
        + ", ".join(f'<a href="{page.file}#{name}"><code>{name}</code></a>' for name in page.names)
        + "</li>"
        for page in pages
    )
    return f'<section class="sk-reference"><h2>{TITLE}</h2><ul>{items}</ul></section>'


def _file(subject: Subject) -> str:
    return f"reference-{subject.slug}.html"


def _places(found: list[Subject]) -> dict[str, str]:
    """Where each name and each member of a class stands."""
    places = {}
    for subject in found:
        for entry in subject.entries:
            for name in [entry.name, *(f"{entry.name}.{member.name}" for member in entry.members)]:
                places[name] = f"{_file(subject)}#{name}"
    return places


def _page(
    subject: Subject, places: dict[str, str], before: Subject | None, after: Subject | None
) -> str:
    names = "".join(
        f'<li><a href="#{entry.name}"><code>{entry.name}</code></a>: '
        f"{_prose(entry.contract, places, entry.name, linked=False)}</li>"
        for entry in subject.entries
    )
    ways = [
        f'<a href="{_file(way)}" rel="{rel}">{arrow.format(way.title)}</a>'
        for way, rel, arrow in ((before, "prev", "← {}"), (after, "next", "{} →"))
        if way
    ]
    return (
        f'<main class="sk-names"><h1>{subject.title}</h1><p class="sk-lead">{subject.about}</p>'
        f'<nav aria-label="On this page"><ul>{names}</ul></nav>'
        + "".join(_entry(entry, places) for entry in subject.entries)
        + f'<nav class="sk-ways" aria-label="Reference">{"".join(ways)}</nav></main>'
    )


def _entry(entry: Entry, places: dict[str, str]) -> str:
    members = "".join(_member(member, entry.name, places) for member in entry.members)
    overview = ""
    if len(entry.members) > 8:
        items = "".join(
            f'<li><a href="#{entry.name}.{member.name}"><code>{member.name}</code></a></li>'
            for member in entry.members
        )
        overview = f'<ul class="sk-members" aria-label="Members of {entry.name}">{items}</ul>'
    line = f"from {entry.module} import {entry.name}"
    return (
        "<section>"
        f'<h2 id="{entry.name}"><a href="#{entry.name}">{entry.name}</a></h2>'
        f'<p class="sk-from"><code>{line}</code></p>'
        f"{_code(entry.signature)}{_parts(entry.parts, places, entry.name)}{overview}{members}"
        "</section>"
    )


def _member(member: Member, owner: str, places: dict[str, str]) -> str:
    anchor = f"{owner}.{member.name}"
    kind = f' <small class="sk-kind">{member.kind}</small>' if member.kind else ""
    return (
        f'<h3 id="{anchor}"><a href="#{anchor}">{anchor}</a>{kind}</h3>'
        f"{_code(member.signature)}{_parts(member.parts, places, owner)}"
    )


def _parts(parts: list[str | Example], places: dict[str, str], owner: str) -> str:
    return "".join(
        f"<p>{_prose(part, places, owner)}</p>" if isinstance(part, str) else _cell(part)
        for part in parts
    )


def _cell(example: Example) -> str:
    """An example as a cell of a lesson."""
    output = ""
    if example.output:
        text = html.escape(example.output, quote=False)
        output = f'<div class="jp-OutputArea-output"><pre>{text}</pre></div>'
    return f'<div class="jp-CodeCell">{_code(example.source)}{output}</div>'


def _code(source: str) -> str:
    return f'<div class="jp-InputArea">{_highlight(source)}</div>'


def _prose(text: str, places: dict[str, str], owner: str, linked: bool = True) -> str:
    """Words with `code` between backticks, which leads to what it names.

    >>> _prose("As `f(x) < g`.", {}, "h")
    'As <code>f(x) &lt; g</code>.'
    >>> _prose("Like `memset`, or `of`", {"memset": "a.html#memset", "T.of": "#T.of"}, "T")
    'Like <a href="a.html#memset"><code>memset</code></a>, or <a href="#T.of"><code>of</code></a>'
    """
    found = []
    for k, piece in enumerate(re.split(r"`([^`]+)`", text)):
        shown = html.escape(piece, quote=False)
        if k % 2:
            shown = f"<code>{shown}</code>"
            place = _place(piece, places, owner)
            if linked and place:
                shown = f'<a href="{place}">{shown}</a>'
        found.append(shown)
    return "".join(found)


def _place(code: str, places: dict[str, str], owner: str) -> str | None:
    """Where what a piece of code names is explained, if it is a name of the package."""
    name = code.removeprefix("stridekit.").removesuffix("()")
    if name == owner:
        return None
    return places.get(name) or places.get(f"{owner}.{name}")
