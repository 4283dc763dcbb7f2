"""Diagnose: a box to paste an error or a warning into, which says what it means."""

from __future__ import annotations

from typing import Any

from stridekit._arguments import a_kind
from stridekit.tensors.explain import Explanation
from stridekit.widgets.diagnose.words import explanation, script
from stridekit.widgets.explorer import Framed, setting

ASK, MOST = script.ASK, script.MOST  # what the label says; characters in the box


class Diagnose(Framed, script="diagnose/diagnose.js"):
    """A box to paste an error or a warning into: what `diagnose` says of it, with or without a kernel.

    You learn what the message means with its numbers, whether it harms, the usual cause, the cure, and the
    lesson that teaches it. A message that is not known is never guessed at.

    `text` is what stands in the box; set it to another. `found` is what `diagnose(text)` says, or None
    while the box is empty. Raises TypeError for what is no text, ValueError for a text of more than
    20,000 characters.

    >>> box = Diagnose()
    >>> box.text = "ValueError: step must be greater than zero"
    >>> box.found.title, box.code
    ('a slice that runs backwards', 'Diagnose("ValueError: step must be greater than zero")')
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(_state={"text": _checked(text)})

    text = setting("text", "What stands in the box.")

    def _change(self, text: str) -> None:
        self._state = {"text": _checked(text)}

    @property
    def found(self) -> Explanation | None:
        """What the text means, or None for an empty box."""
        return explanation(self.text) if self.text.strip() else None

    def _check(self, state: dict[str, Any]) -> None:
        _checked(state["text"])

    def __repr__(self) -> str:
        return f"Diagnose: {self.found or ASK}"


def _checked(text: Any) -> str:
    """A text that fits the box; half of a letter, which cannot be sent, becomes a question mark."""
    if not isinstance(text, str):
        raise TypeError(f"text is {a_kind(text)}: give the message, a str; diagnose takes errors")
    if len(text) > MOST:
        advice = f"give its end, text[-{MOST}:]"
        raise ValueError(f"text has {len(text):,} characters, the box takes {MOST:,}: {advice}")
    return text.encode(errors="replace").decode()
