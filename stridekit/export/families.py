"""Pages about the messages that Diagnose knows: one for each family, headed by a real message."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stridekit.widgets import Diagnose
from stridekit.widgets.diagnosis import explanation

LABELS = ("means", "harm", "cause", "cure")
# The fields of templates and sentences.
FIELD = re.compile(r"\{(\w+ \w+|\w*[,:*~+&%]?)\}")
NAME_OF_ERROR = re.compile(r"^[\w.]+: ")
WORDS_OF_NAME = 10
RUBRIC = "```{{rubric}} {}\n```"  # no section: the search leads to the page as one


@cache
def _messages() -> dict[str, str]:
    """Return the messages that tools/messages.py has stored, by the title of their family."""
    stored = Path(__file__).with_name("messages.json").read_text(encoding="utf-8")
    return dict(json.loads(stored))


def message_of(family: Mapping[str, Any]) -> str:
    """Return a real message of a family, or its first template if none is stored."""
    message = _messages().get(family["title"], family["templates"][0])
    return FIELD.sub("…", message)


def pages() -> dict[str, dict[str, Any]]:
    """Return each family by the name of its page."""
    return {_name(family): family for family in Diagnose._script.FAMILIES}


def _name(family: Mapping[str, Any]) -> str:
    message = NAME_OF_ERROR.sub("", message_of(family))
    words = re.findall(r"[a-z_]{2,}", message.lower().replace("'", ""))
    return "message-" + "-".join(words[:WORDS_OF_NAME])


def description(family: Mapping[str, Any]) -> str:
    """Return what a family means and what cures it, in one line."""
    sentence = f"{family['title']}: {_most_general(family['means'])}"
    return FIELD.sub("…", f"{sentence}. The cure: {_most_general(family['cure'])}")


def source(family: Mapping[str, Any], place: str) -> str:
    """Return the page of a family; `place` is a link to the section of a lesson, or nothing."""
    message = message_of(family)
    title = family["title"]
    lines = [
        "---\norphan: true\n---",
        f"# ``` {message} ```",
        f'<p class="sk-lead">{html.escape(title[0].upper() + title[1:])}. '
        '<a href="diagnose.html">All messages</a></p>',
        "\n".join(f"- **{label}**: {text}" for label, text in _general(family)),
    ]
    if place:
        lines.append(f"A lesson explains it: {place}.")
    decoded = [(label, text) for label, text in _decoded(message) if text not in family.values()]
    if decoded:
        lines.append(RUBRIC.format("The message above, with its numbers"))
        lines.append("\n".join(f"- **{label}**: {text}" for label, text in decoded))
    address = f"diagnose.html?q={quote(message)}"
    lines += [
        RUBRIC.format("Your message has other numbers"),
        f'<p><a href="{address}">Paste it into Diagnose</a>, which decodes them. In a notebook, '
        "call <code>diagnose()</code> right after the error.</p>",
        RUBRIC.format("The same in other words"),
        "```text\n" + "\n".join(FIELD.sub("…", text) for text in family["templates"]) + "\n```",
    ]
    return "\n\n".join(lines) + "\n"


def _general(family: Mapping[str, Any]) -> list[tuple[str, str]]:
    labels = [label for label in LABELS if family.get(label)]
    return [(label, FIELD.sub("…", _most_general(family[label]))) for label in labels]


def _decoded(message: str) -> list[tuple[str, str]]:
    """Return what Diagnose says about the numbers of a message."""
    return [(label, text) for label, text in explanation(message).lines if label in LABELS]


def _most_general(sentences: str | list[str]) -> str:
    """Return the only sentence, or the one of several that needs the fewest numbers of a message."""
    if isinstance(sentences, str):
        return sentences
    return min(sentences, key=lambda sentence: sentence.count("{"))


def listed(lessons: Mapping[str, str]) -> str:
    """Return the list of all pages, below the titles of the lessons that explain them."""
    items: dict[str, list[str]] = {}
    for name, family in pages().items():
        others = " ".join([*family["templates"], _most_general(family["means"])])
        item = (
            f'<li data-more="{html.escape(FIELD.sub(" ", others))}">'
            f'<a href="{name}.html"><code>{html.escape(message_of(family))}</code></a>'
            f"<span>{html.escape(family['title'])}</span></li>"
        )
        items.setdefault(family["lesson"], []).append(item)
    parts = []
    for lesson, lines in sorted(items.items()):
        number, _, words = lesson.partition("_")
        title = lessons.get(lesson, f"{number} {words.replace('_', ' ').capitalize()}")
        parts.append(f"### {title}\n\n<ul>{''.join(lines)}</ul>")
    return "\n\n".join(parts)
