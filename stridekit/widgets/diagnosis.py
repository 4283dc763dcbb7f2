"""diagnose(error): explain an error or a warning about layouts, and what to do.

The messages and the decoders of their numbers are JavaScript, in widgets/diagnose, so that the box on a
page without a kernel says the same. The first call loads them.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

from stridekit._arguments import a_kind
from stridekit.tensors.explain import Explanation

_MOST_CHARACTERS = 100_000  # from the end of a text, which tells what was raised


def diagnose(error: BaseException | warnings.WarningMessage | str | None = None) -> Explanation:
    """Explain an error or a warning of torch, NumPy, safetensors, einops or ONNX.

    Pass the exception, the warning or pasted text, with or without its traceback. The answer says what the
    message means with its numbers, whether it harms, the usual cause, the cure, and the lesson that
    teaches it. If there are several messages, the last known one is explained. If one error led to
    another, the error that was raised is explained first. The text may come from a log or a chat, with
    colour codes, prefixes of lines and typographic quotes; its last 100,000 characters count. Without an
    argument, the last exception that ended a cell or a line is explained; in a notebook `%diagnose` does
    the same after `%load_ext stridekit`. An unknown message is quoted and never guessed at. Raises
    TypeError for anything else, ValueError if there is no last exception, and ImportError without the
    package quickjs-ng.

    >>> diagnose("RuntimeError: shape '[5, -1]' is invalid for input of size 24")
    a shape for another number of elements
      message  shape '[5, -1]' is invalid for input of size 24
      means    -1 stands for 24 / 5, which is no whole number
      harm     no: torch refuses, and nothing has changed
      cause    a size computed from another tensor, or the smaller last batch of an epoch
      cure     the other sizes have to multiply to a divisor of 24: print x.shape one line earlier
      lesson   03_contiguity
    """
    error = _checked(error)
    if isinstance(error, str):
        return explanation(error)
    # As Python prints it: the errors that led to it first, itself last.
    text = "".join(traceback.format_exception(error))
    return explanation(text, "".join(traceback.format_exception_only(error)))


def explanation(text: str, raised: str = "") -> Explanation:
    """Explain the last known message of a text, in which `raised` is the last error."""
    try:
        from stridekit.widgets.engine import Script
    except ImportError as error:
        raise ImportError(
            "diagnose needs quickjs-ng, a JavaScript engine: pip install quickjs-ng"
        ) from error
    length = len(text) if len(text) > _MOST_CHARACTERS else 0
    origin = {"raised": raised[:_MOST_CHARACTERS], "length": length}
    title, lines = Script("diagnose/diagnose.js").diagnose(text[-_MOST_CHARACTERS:], origin)
    return Explanation(title, tuple(map(tuple, lines)))


def _checked(error: Any) -> BaseException | str:
    """Return the exception or the text that is to be explained: without an argument the last one."""
    if error is None:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if error is None:
            raise ValueError(
                "there is no last exception: "
                "pass an error, or the text of one, as in diagnose('...')"
            )
    if isinstance(error, warnings.WarningMessage):
        error = error.message
    if isinstance(error, str):
        return error
    if not isinstance(error, BaseException):
        raise TypeError(
            f"error is {a_kind(error)}: give an exception, a warning, or the text of one"
        )
    return error


def load_ipython_extension(shell: Any) -> None:
    """Add `%diagnose` and `%%diagnose` to an IPython shell: `%load_ext stridekit`."""

    def magic(line: str, cell: str = "") -> Explanation:
        """Explain the last exception, or the message that follows the magic's name."""
        return diagnose(f"{line} {cell}".strip() or None)

    shell.register_magic_function(magic, "line_cell", "diagnose")
