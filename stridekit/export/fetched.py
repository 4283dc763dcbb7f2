"""Find the addresses that a browser would load to show a page; a page that works offline has none.

A page is parsed as a browser parses it, tag by tag, to catch every spelling of an address. Links that you
have to click do not count; addresses that a script computes cannot be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

# Their `href` waits for a click; any other `href` is loaded.
LINKS = {"a", "area"}
LOADED = {
    "src", "srcset", "imagesrcset", "href", "xlink:href", "data", "poster", "background", "codebase",
    "classid", "archive", "manifest", "lowsrc", "dynsrc", "icon",
}  # fmt: skip
SEVERAL = {"srcset", "imagesrcset", "archive"}
# Addresses that contain their content; a whole page in one could load more.
WITH_CONTENT = re.compile(r"(?:data:(?:image/|font/|audio/|video/|,)|blob:|about:)", re.IGNORECASE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)

CSS_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
CSS_URL = re.compile(r"url\(\s*[\"']?([^\"')]*)", re.IGNORECASE)
CSS_TEXT = re.compile(r"\"([^\"]*)\"|'([^']*)'")
IMPORTED = re.compile(r"\b(?:import|from|importScripts|fetch|Worker)\b\s*\(?\s*[\"'`]([^\"'`]*)")
# A browser ends a comment here, Python's parser does not always.
COMMENT_ENDS = re.compile(r"^-?>|--!>")


def loaded_from_elsewhere(page: str) -> str:
    """The first address outside the page's own folder that a browser would load; "" if there is none.

    >>> loaded_from_elsewhere('<a href="//a.org">a</a> <img src="a.png" srcset="b.png, //c.org/d 2x">')
    '//c.org/d'
    """
    return next(filter(_is_elsewhere, map(_as_browsers_do, _addresses(page))), "")


def _as_browsers_do(address: str) -> str:
    """The address without line breaks, tabs and outer control characters, with / for each backslash."""
    address = re.sub(r"[\t\n\r]", "", address).strip("".join(map(chr, range(33))))
    return address.replace("\\", "/")


def _is_elsewhere(address: str) -> bool:
    return bool(ELSEWHERE.match(address)) and not WITH_CONTENT.match(address)


def _addresses(page: str) -> Iterator[str]:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    yield from reader.found


class _Reader(HTMLParser):
    """Collect the addresses of a page in order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        for name, value in attrs:
            self._read(tag, name, value or "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self._read_css(data)
        elif self._inside == "script":
            self.found += IMPORTED.findall(data)

    def handle_comment(self, data: str) -> None:
        for rest in COMMENT_ENDS.split(data)[1:]:
            self.found += _addresses(rest)

    def unknown_decl(self, data: str) -> None:
        self.found += _addresses(data.partition(">")[2])

    def _read(self, tag: str, name: str, value: str) -> None:
        if name in SEVERAL:
            # An embedded picture may contain commas and slashes.
            self.found += re.split(r"[\s,]+", re.sub(r"data:\S*", "", value, flags=re.IGNORECASE))
        elif name in LOADED and not (tag in LINKS and name in ("href", "xlink:href")):
            self.found.append(value)
        elif name == "srcdoc":
            self.found += _addresses(value)
        elif name == "content" and tag == "meta":
            self.found += re.findall(r"url\s*=\s*[\"']?([^\"']*)", value, re.IGNORECASE)
        elif name == "style":
            self._read_css(value)
        else:
            self.found += CSS_URL.findall(_unescaped(value))

    def _read_css(self, text: str) -> None:
        text = _unescaped(re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))
        self.found += CSS_URL.findall(text)
        self.found += [one or other for one, other in CSS_TEXT.findall(text)]


def _unescaped(css: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = int(found[1], 16) if found[1] else 0
        return found[2] if found[2] else chr(code) if 0 < code < 0x110000 else "\ufffd"

    return CSS_ESCAPE.sub(character, css)
