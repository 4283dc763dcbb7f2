"""Write the messages that head the site's pages of Diagnose: `python tools/messages.py`.

Each is the first row of its family in tests/core/messages.txt, as the library raises it here.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STORED = ROOT / "stridekit" / "export" / "messages.json"
MOST = 200  # characters of a heading, if a sentence ends before


def messages() -> dict[str, str]:
    """Return a message of each family, by the family's title."""
    sys.path.insert(0, str(ROOT))
    from tests.core.messages import ROWS

    messages: dict[str, str] = {}
    for row in ROWS:
        if row.title not in messages:
            messages[row.title] = heading_of(row.error())
    return messages


def heading_of(error: object) -> str:
    """Return the name of an error or a warning, and the sentences of its text that are known."""
    from stridekit import diagnose

    raised = getattr(error, "message", error)
    name = "" if isinstance(raised, str) else f"{type(raised).__name__}: "
    known = dict(diagnose(str(raised)).lines)["message"]
    lines = [" ".join(line.split()) for line in str(raised).splitlines()]
    text = " ".join(lines)
    start = text.index(known)
    for line in lines:
        # The line up to the message, unless it has the path of a file on this machine.
        before = line[: line.find(known[:20])]
        if known[:20] in line and "/" not in before:
            start -= len(before)
    end = text.index(known) + len(known)
    ends = [match.end() for match in re.finditer(r"[.!](?= |$)", text)]
    sentence_ends = [position for position in ends if end <= position <= start + MOST]
    last = max(sentence_ends, default=max(end, min(len(text), start + MOST)))
    return f"{name}{text[start:last]}".strip()


if __name__ == "__main__":
    text = json.dumps(messages(), indent=1, ensure_ascii=False)
    STORED.write_text(f"{text}\n", encoding="utf-8")
