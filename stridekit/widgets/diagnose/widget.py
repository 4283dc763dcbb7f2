"""Diagnose: a box to paste an error or a warning into, which says what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit._arguments import a_kind
from stridekit.tensors.explain import Explanation
from stridekit.widgets.diagnosis import explanation
from stridekit.widgets.explorer import Framed, setting


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
        super().__init__(_state=self._checked({"text": text}))

    text = setting("text", "What stands in the box.")

    @property
    def found(self) -> Explanation | None:
        """What the text means, or None for an empty box."""
        return explanation(self.text) if self.text.strip() else None

    def __repr__(self) -> str:
        return f"Diagnose: {self.found or self._script.ASK}"

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """A text that fits the box; half of a letter, which cannot be sent, becomes a question mark."""
        text, most = state["text"], self._script.MOST
        if not isinstance(text, str):
            advice = "give the message, a str; diagnose takes errors"
            raise TypeError(f"text is {a_kind(text)}: {advice}")
        if len(text) > most:
            advice = f"give its end, text[-{most}:]"
            raise ValueError(f"text has {len(text):,} characters, the box takes {most:,}: {advice}")
        return {"text": text.encode(errors="replace").decode()}
