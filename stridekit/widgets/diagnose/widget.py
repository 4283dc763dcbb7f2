"""Diagnose: a box to paste an error or a warning into, which says what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit._arguments import a_kind
from stridekit.tensors.explain import Explanation
from stridekit.widgets.diagnosis import explanation
from stridekit.widgets.explorer import Framed, setting


class Diagnose(Framed, script="diagnose/diagnose.js"):
    """A box to paste an error or a warning into, explained as by `diagnose`, with or without a kernel.

    You learn what the message means with its numbers, whether it harms, the usual cause, the cure, and the
    lesson that teaches it. A message that is not known is never guessed at.

    `text` is the text in the box, and can be set. `found` is the result of `diagnose(text)`, or None
    while the box is empty. Raises TypeError for anything but a str, ValueError for a text of more than
    20,000 characters.

    >>> box = Diagnose()
    >>> box.text = "ValueError: step must be greater than zero"
    >>> box.found.title, box.code
    ('a slice that runs backwards', 'Diagnose("ValueError: step must be greater than zero")')
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(_state=self._checked({"text": text}))

    text = setting("text", "The text in the box.")

    @property
    def found(self) -> Explanation | None:
        """The explanation of the text, or None for an empty box."""
        return explanation(self.text) if self.text.strip() else None

    def __repr__(self) -> str:
        return f"Diagnose: {self.found or self._script.ASK}"

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        text = state["text"]
        most = self._script.MOST
        if not isinstance(text, str):
            raise TypeError(
                f"text is {a_kind(text)}: give the message, a str; diagnose takes errors"
            )
        if len(text) > most:
            raise ValueError(
                f"text has {len(text):,} characters, the box takes {most:,}: "
                f"give its end, text[-{most}:]"
            )
        # Half of a letter cannot be sent: it becomes a question mark.
        return {"text": text.encode(errors="replace").decode()}
