"""Write the messages that head the site's pages of Diagnose: `python tools/messages.py`.

Each is the first row of its family in tests/core/messages.txt, as the library raises it here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stridekit import diagnose

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "stridekit" / "export" / "messages.json"
MOST = 200  # characters of a heading, if a sentence ends before
SENTENCE_END = re.compile(r"[.!](?= |$)")


def headings_of(rows: Iterable[Any]) -> dict[str, str]:
    """Return a heading for each family of messages by its title: that of its first row."""
    headings: dict[str, str] = {}
    for row in rows:
        if row.title not in headings:
            headings[row.title] = heading_of(row.error())
    return headings


def heading_of(error: object) -> str:
    """Return the name of an error or a warning, and the sentences of its text that are known."""
    raised = getattr(error, "message", error)
    name = "" if isinstance(raised, str) else f"{type(raised).__name__}: "
    known = dict(diagnose(str(raised)).lines)["message"]
    lines = [" ".join(line.split()) for line in str(raised).splitlines()]
    text = " ".join(lines)
    known_start = text.index(known)
    known_end = known_start + len(known)
    start = known_start - len(_words_before(known, lines))
    sentence_ends = [match.end() for match in SENTENCE_END.finditer(text)]
    in_time = [end for end in sentence_ends if known_end <= end <= start + MOST]
    last = max(in_time, default=max(known_end, start + MOST))
    return f"{name}{text[start:last].rstrip()}"


def _words_before(known: str, lines: list[str]) -> str:
    """Return the words on the line of a known message before it, but no path of this machine."""
    for line in lines:
        before, beginning, _ = line.partition(known[:20])
        if beginning and "/" not in before:
            return before
    return ""


def main() -> None:
    """Store a message of each family."""
    sys.path.insert(0, str(ROOT))
    from tests.core.messages import ROWS

    text = json.dumps(headings_of(ROWS), indent=1, ensure_ascii=False)
    STORED.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
