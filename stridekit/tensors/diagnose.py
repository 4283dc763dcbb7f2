"""diagnose(error): what an error or a warning about layouts means, and what to do."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from stridekit._arguments import a_kind
from stridekit.tensors.explain import Explanation
from stridekit.tensors.messages import FAMILIES, Family

LABELS = ("means", "harm", "cause", "cure")
UNKNOWN = "a message that stridekit does not know"
KNOWN = (
    f"{len(FAMILIES)} kinds of messages, about shapes, strides, shared memory, dtypes, gradients, "
    "attention, NumPy, safetensors, einops, ONNX"
)
_TOO_LONG = re.compile(r"\d{20,}", re.ASCII)  # for a size or a stride
_MOST_ERRORS = 100  # of one that others led to
_MOST_CHARACTERS = 1_000_000


def diagnose(error: BaseException | warnings.WarningMessage | str | None = None) -> Explanation:
    """Say what an error or warning of torch, NumPy, safetensors, einops or ONNX means.

    Hand in the exception, the warning or pasted text, with a traceback around it or not. You learn what
    the message means with its numbers, whether it harms, the usual cause, the cure, and the lesson that
    teaches it. Of several messages the last one known is explained. Without an argument it is the last
    exception that ended a cell or a line; in a notebook `%diagnose` does the same after `%load_ext
    stridekit`. A message that is not known is never guessed at. Raises TypeError for anything else, and
    ValueError if there is no last exception.

    >>> diagnose("RuntimeError: shape '[5, -1]' is invalid for input of size 24")
    a shape for another number of elements
      message  shape '[5, -1]' is invalid for input of size 24
      means    -1 stands for 24 / 5, which is no whole number
      harm     no: torch refuses, and nothing has changed
      cause    a size computed from another tensor, or the smaller last batch of an epoch
      cure     the other sizes have to multiply to a divisor of 24: print x.shape one line earlier
      lesson   03_contiguity
    """
    text = _TOO_LONG.sub("…", " ".join(" ".join(_texts(error)).split()))
    found = {
        match[0]: (match.start(), match, family)
        for family in FAMILIES
        for match in re.finditer(family.regex, text, re.ASCII)  # as a browser reads it
    }
    if not found:
        return _unknown(text)
    _, match, family = max(found.values(), key=lambda one: one[0])
    several = [("others", f"{len(found)} messages are known here; this is the last one")]
    return Explanation(family.title, (*_lines(family, match), *several[: len(found) - 1]))


def _lines(family: Family, match: re.Match[str]) -> Iterator[tuple[str, str]]:
    groups = {name: value or "" for name, value in match.groupdict().items()}
    words = family.decode(groups) if family.decode else {}
    yield "message", match[0]
    for label in LABELS:
        yield label, words.get(label) or getattr(family, label).format(**groups)
    yield "lesson", family.lesson


def _unknown(text: str) -> Explanation:
    shown = text if len(text) <= 200 else f"{text[:200]} …"
    return Explanation(UNKNOWN, (("message", shown or "empty"), ("known", KNOWN)))


def _texts(error: Any) -> list[str]:
    """The messages of an error, the last one being its own, behind those that led to it."""
    if error is None:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if error is None:
            raise ValueError(
                "there is no last exception: hand in an error, or the text of one, as in diagnose('...')"
            )
    if isinstance(error, warnings.WarningMessage):
        error = error.message
    if isinstance(error, str):
        return [error[-_MOST_CHARACTERS:]]
    if not isinstance(error, BaseException):
        raise TypeError(
            f"error is {a_kind(error)}: give an exception, a warning, or the text of one"
        )
    return [_text(one) for one in reversed(_led_to([error]))]


def _led_to(errors: list[BaseException]) -> list[BaseException]:
    """Errors, those in their groups, and those that they were raised from."""
    for one in errors:  # grows
        inner = [*getattr(one, "exceptions", ()), one.__cause__ or one.__context__]
        new = [e for e in inner if isinstance(e, BaseException) and all(e is not k for k in errors)]
        errors += new[: _MOST_ERRORS - len(errors)]
    return errors


def _text(error: BaseException) -> str:
    try:
        return str(error)[-_MOST_CHARACTERS:]
    except Exception:  # of a class whose __str__ fails
        return ""


def load_ipython_extension(shell: Any) -> None:
    """Add `%diagnose` and `%%diagnose` to a shell of IPython: `%load_ext stridekit`."""

    def magic(line: str, cell: str = "") -> Explanation:
        """Explain the last exception, or the message that stands behind or below it."""
        return diagnose(f"{line} {cell}".strip() or None)

    shell.register_magic_function(magic, "line_cell", "diagnose")
