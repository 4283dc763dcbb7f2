"""The sections of a page: their headings for the contents, their words for the search."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

HEADINGS = ("h1", "h2", "h3")
WORDS = {"p", "li", "dd", "td", "th"}
# No words of the lesson: code, what a script reads, remarks, what waits to be opened below an exercise.
UNREAD_TAGS = {"pre", "script", "style", "noscript", "nav", "small"}
UNREAD_CLASSES = {"jp-Cell-outputWrapper", "sk-help", "sk-aside", "sk-from"}


class Section(NamedTuple):
    """A heading, its level from 1 for the page to 3, its anchor or "", and the words below it."""

    level: int
    anchor: str
    title: str
    text: str


def outline(body: str) -> list[Section]:
    """The sections of a page in order.

    >>> [tuple(part) for part in outline('<h1>A</h1><p>b <b>c</b></p><h2 id="d">D</h2><pre>e</pre>')]
    [(1, '', 'A', 'b c'), (2, 'd', 'D', '')]
    """
    reader = _Reader()
    reader.feed(body)
    reader.close()
    return [
        Section(level, anchor, *(" ".join("".join(part).split()) for part in (title, text)))
        for level, anchor, title, text in reader.found
    ]


class _Reader(HTMLParser):
    """Collect headings, and words below them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str, list[str], list[str]]] = []
        self._into: list[str] | None = None  # where text goes
        # The element that is not read, and those of its kind in it.
        self._unread, self._depth = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self._unread:
            self._depth += tag == self._unread
        elif tag in UNREAD_TAGS or UNREAD_CLASSES & {*(given.get("class") or "").split()}:
            self._unread, self._depth = tag, 1
        elif tag in HEADINGS:
            self.found.append((int(tag[1]), given.get("id") or "", [], []))
            self._into = self.found[-1][2]
        elif tag in WORDS and self.found:
            self._into = self.found[-1][3]
            self._into.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if self._unread:
            self._depth -= tag == self._unread
            self._unread = self._unread if self._depth else ""
        elif tag in HEADINGS or tag in WORDS:
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None and not self._unread:
            self._into.append(data)
