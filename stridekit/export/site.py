"""What stands around the text of an exported page: contents, the ways to its neighbours, and the search."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from stridekit.export.outline import Section, outline
from stridekit.palette import css_variables

# Every page begins with the one, the index with the other; any other file is not ours, and is kept.
MARK = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="generator" content="stridekit">'
)
INDEX, INDEX_MARK = "search-index.js", "// What search.js looks through: written by stridekit.\n"
FRONT = "index.html"
TITLE = "How tensors live in memory"
LEAD = (
    "Lessons to play with. Everything you can drag, press and answer is alive on these pages, without a "
    "network. To run the code and do the exercises, get stridekit and call <code>make lab</code>."
)
_HERE = Path(__file__).parent
_MEMBER = re.compile(r"^\w+(?=\.\w+$)")


@dataclass(frozen=True)
class Page:
    """A page: its name without .html, its title and text as HTML, its styles, a note, and what it asks."""

    name: str
    title: str
    body: str
    styles: str = ""
    note: str = ""
    parts: int = 0  # cards to answer and goals to reach

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.name}.html"

    @property
    def link(self) -> str:
        """The address of the page from another one."""
        return f"{quote(self.name, safe='')}.html"

    @property
    def words(self) -> str:
        """The title without its markup, as HTML."""
        return re.sub(r"<[^>]*>", "", self.title)

    @cached_property
    def sections(self) -> list[Section]:
        """Its headings, and the words below them."""
        return outline(self.body)


class Site(NamedTuple):
    """The pages in a reader's order, in groups with a title each; a single page has no site."""

    groups: dict[str, list[Page]]

    @property
    def pages(self) -> list[Page]:
        """All pages."""
        return [page for group in self.groups.values() for page in group]

    def search_index(self) -> str:
        """A script with the headings and the words of all pages: a page from a disk cannot fetch data."""
        found = [
            [page.link, html.unescape(page.words), [list(part[1:]) for part in page.sections]]
            for page in self.pages
        ]
        data = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        return f"{INDEX_MARK}globalThis.stridekitIndex = {data};\n"

    def contents(self, page: Page) -> str:
        """All pages by their groups, with the headings of this one."""
        return "".join(
            f"<p>{title}</p><ul>{''.join(_entry(other, other is page) for other in group)}</ul>"
            for title, group in self.groups.items()
        )

    def ways(self, page: Page) -> str:
        """Links to the page before and after this one in its group."""
        group = next(group for group in self.groups.values() if page in group)
        at = group.index(page)
        ways = [
            f'<a href="{way.link}" rel="{rel}">{arrow.format(way.words)}</a>'
            for way, rel, arrow in (
                *((way, "prev", "← {}") for way in group[max(at - 1, 0) : at]),
                *((way, "next", "{} →") for way in group[at + 1 : at + 2]),
            )
        ]
        return "".join(ways)


def done(page: Page) -> str:
    """The place where progress.js says how much of a page is done; nothing where nothing can be."""
    if not page.parts:
        return ""
    return f'<span class="sk-done" data-page="{page.link}" data-parts="{page.parts}"></span>'


def _entry(page: Page, is_here: bool) -> str:
    here, below = (' aria-current="page"', _headings(page)) if is_here else ("", "")
    return f'<li><div><a href="{page.link}"{here}>{page.words}</a> {done(page)}</div>{below}</li>'


def _headings(page: Page) -> str:
    """The headings of a page; a member of a class without the name of the class."""
    items = "".join(
        f'<li class="sk-level{part.level}"><a href="#{quote(part.anchor)}">'
        f"{html.escape(_MEMBER.sub('', part.title), quote=False)}</a></li>"
        for part in page.sections
        if part.anchor and part.level > 1
    )
    return f"<ul>{items}</ul>" if items else ""


def whole(page: Page, site: Site | None = None) -> str:
    """The file of a page, with what its site puts around its text."""
    if site is None:
        bar, contents, ways = "", _headings(page), ""
    else:
        bar = search_bar(f'<a href="{FRONT}">{TITLE}</a>')
        contents, ways = site.contents(page), site.ways(page)
    top, bottom = (
        f'<nav class="sk-neighbours" aria-label="Neighbours, {place}">{ways}</nav>' if ways else ""
        for place in ("above", "below")
    )
    note = f'<p class="sk-page-note">{page.note}</p>' if page.note else ""
    side = (
        '<nav class="sk-contents" aria-label="Contents"><details><summary>Contents</summary>'
        f"{contents}</details></nav>"
    )
    return document(
        page.words,
        f'{bar}<div class="sk-columns">{side if contents else ""}'
        f"<main>{top}{note}{page.body}{bottom}</main></div>",
        page.styles,
        with_search=site is not None,
    )


def front_page(lessons: list[tuple[Page, str]], contents: str) -> str:
    """The file of the front page: each lesson with its introduction, and the contents of the reference."""
    items = "".join(
        f'<li><h2><a href="{page.link}">{page.title}</a> {done(page)}</h2>{about}</li>'
        for page, about in lessons
    )
    return document(
        f"stridekit: {TITLE.lower()}",
        f'{search_bar()}<main class="sk-front"><h1>{TITLE}</h1><p class="sk-lead">{LEAD}</p>'
        f'<ol class="sk-lessons">{items}</ol>{contents}</main>',
    )


def search_bar(home: str = "") -> str:
    """The bar on top: the way to the front page, and the field to search."""
    return f'<header class="sk-masthead">{home}<search data-index="{INDEX}"></search></header>'


def document(title: str, body: str, styles: str = "", with_search: bool = True) -> str:
    """A whole file around what stands in its body."""
    own = css_variables(":root") + _read("pages.css")
    names = ["contents.js", "progress.js", *(["search.js"] if with_search else [])]
    scripts = "".join(f'<script type="module">\n{_script(name)}</script>' for name in names)
    return (
        f'{MARK}<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon: without one, a browser asks the server for it.
        f'<link rel="icon" href="data:,"><title>{title}</title>'
        f"<style>{styles}\n{own}</style>{scripts}</head>\n<body>{body}</body></html>\n"
    )


def _script(name: str) -> str:
    return re.sub(r"^export ", "", _read(name), flags=re.MULTILINE)


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
