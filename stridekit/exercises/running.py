"""The parts of a run: a case, its outcome as facts, hints for errors, and a time limit."""

from __future__ import annotations

import ast
import ctypes
import inspect
import io
import linecache
import re
import signal
import textwrap
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, TextIO

import numpy as np
import torch

from stridekit._arguments import a_kind
from stridekit.tensors.storage import bytes_missing

Arguments = Mapping[str, Any]
Read = Callable[[Any, Arguments], "Outcome"]
Fence = Callable[[Callable[..., Any], Arguments], AbstractContextManager[Arguments]]

_MOST_SAID = 160  # characters of the message of an error
_MOST_ITEMS = 100_000  # in an answer that is read
_MOST_PRINTED = 10_000  # characters, where a new line counts as a hundred
_ALARM_INTERVAL = 1e-3  # seconds; the alarm goes off repeatedly, because an answer may catch it
_VIEW_NUMBERS = re.compile(r"sizes \[.*?\], strides \[.*?\], storage offset \d+")
_compiled = cache(compile)


class Shortened(io.TextIOBase):
    """A stream that passes on only the beginning of its text, because a loop may print for ever."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._room = _MOST_PRINTED

    def write(self, text: str) -> int:
        """Pass on as much of the text as there is room for."""
        if self._room > 0:
            self._stream.write(text[: self._room])
            self._room -= len(text) + 99 * text.count("\n")
            if self._room <= 0:
                self._stream.write("\n… (the rest is not shown)\n")
        return len(text)


class Unusable(TypeError):
    """An answer of a type that cannot be compared; the message says which type would do."""


@dataclass(frozen=True)
class Outcome:
    """The result of a call: named facts, in the order in which they are compared, and a text.

    Two outcomes agree when their facts are equal. `shown` is what a report shows of the outcome.
    `hint` is set if the outcome alone explains what is wrong.
    """

    facts: dict[str, Any]
    shown: str
    hint: str = ""

    def first_difference(self, other: Outcome) -> str:
        """Return the name of the first fact in which the two differ.

        Return "" if there is a single fact, or if the two have other facts.
        """
        if self.facts.keys() != other.facts.keys() or len(self.facts) == 1:
            return ""
        return next((name for name in self.facts if self.facts[name] != other.facts[name]), "")


NOT_ATTEMPTED = Outcome({"attempted": False}, "nothing yet")


@dataclass(frozen=True)
class Case:
    """The inputs of one call, as the Python source that makes them: a report shows what ran."""

    source: str

    def arguments(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Make the named inputs afresh, so that no call can disturb the next one."""
        namespace: dict[str, Any] = {"torch": torch, "np": np}
        exec(_compiled(self.source, "<case>", "exec"), namespace)
        return {name: namespace[name] for name in names}


@dataclass(frozen=True)
class Trial:
    """The outcome of an answer on one case, beside the expected outcome."""

    case: Case
    outcome: Outcome
    expected: Outcome

    @property
    def is_right(self) -> bool:
        """True if the two agree."""
        return self.outcome.facts == self.expected.facts


def read(read: Read, answer: Any, args: Arguments) -> Outcome:
    """Return the outcome that the reader makes of an answer.

    A None that the reader refuses is a forgotten return.
    """
    try:
        _refuse_unreadable(answer)
        return read(answer, args)
    except Unusable as error:
        if answer is None:
            return Outcome({"returned": None}, "None", _NO_RETURN)
        return Outcome({"unusable": str(error)}, str(error), _ANOTHER_TYPE)


def _refuse_unreadable(answer: Any) -> None:
    """Raise Unusable for a tensor that reaches beyond its storage, and for a huge one."""
    if isinstance(answer, torch.Tensor):
        missing = bytes_missing(answer)
        if missing:  # reading its values would read foreign memory, or crash Python
            raise Unusable(
                f"a tensor that reaches {missing} bytes past the end of its storage, "
                "which was shrunk"
            )
    if isinstance(answer, torch.Tensor | np.ndarray):
        size = prod(answer.shape)
        if size > _MOST_ITEMS:
            raise Unusable(f"{a_kind(answer)} of {size:,}, which is more than any answer needs")


def describe(t: torch.Tensor | np.ndarray) -> str:
    """Return the layout of a tensor or an array in words.

    >>> describe(torch.zeros(4, 6)[1:, ::2])
    'shape (3, 3), stride (6, 2), storage_offset 6'
    >>> describe(np.zeros((4, 6))[::-1])
    'array of shape (4, 6), strides (-48, 8) in bytes'
    """
    if isinstance(t, np.ndarray):
        return f"array of shape {t.shape}, strides {t.strides} in bytes"
    return f"shape {tuple(t.shape)}, stride {t.stride()}, storage_offset {t.storage_offset()}"


def snapshot(value: Any) -> Any:
    """Return all that a call could change about an input: of a tensor, its layout and storage."""
    if isinstance(value, np.ndarray):
        return describe(value), value.dtype, value.tobytes()
    if isinstance(value, torch.Tensor) and value.is_meta:
        return describe(value), value.dtype
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        content = ctypes.string_at(storage.data_ptr(), storage.nbytes())
        return describe(value), value.dtype, content
    return tuple(value) if isinstance(value, list) else value


# Hints for answers that cannot be compared ------------------------------------------------------

STOPS = (
    "Your function stops on this input. Run the input line in a cell of its own, call your "
    "function there, and look at each part in turn."
)
_NO_SUCH_NAME = (
    "There is no `{0}` yet. Check how it is spelt. If another cell makes or imports it, run that "
    "cell first: a restarted kernel has forgotten it."
)
CANNOT_BE_READ = (
    "Your function comes to its end, but reading its answer raises the error above. Return plain "
    "numbers, tuples or tensors, whichever the task asks for."
)
_ANOTHER_TYPE = (
    "That is another kind of answer than the task asks for: compare the line `yours` with the "
    "lines above it."
)
_NO_RETURN = "Your function runs to its end and returns None. Is a `return` missing?"
_TOO_FAR = (
    "That view would reach beyond its storage, so torch refuses it. The message has its sizes, "
    "its strides and its storage offset. Which of the three leads too far?"
)
_UNPAIRED = (
    "Sizes and strides come in pairs, one of each for every dim. Your two lists differ in "
    "length. How many dims does the answer have?"
)
_ENDLESS = (
    "On this input your function had not come to its end after {} s, so the check stopped it. "
    "Which condition should end its loop, and does each turn bring it nearer?"
)
SPOILT = (
    "Your function changes `{0}`, which belongs to its caller. `+=`, an assignment to an index and "
    "methods such as `add_` or `pop` change it in place, also through a view. Make a new result."
)


def raised(fn: Callable[..., Any], error: BaseException, otherwise: str) -> Outcome:
    """Return the error as an outcome, with the line of `fn` that raised it.

    `otherwise` is the hint for an error that was not raised inside of `fn`.
    """
    code = getattr(fn, "__code__", None)
    stack = [*traceback.walk_tb(error.__traceback__)]
    lines = [linecache.getline(code.co_filename, k) for frame, k in stack if frame.f_code is code]
    line = lines[-1].strip() if lines else ""
    name = type(error).__name__
    innermost, _ = stack[-1]
    if name == "NotImplementedError" and innermost.f_code is code and f"raise {name}" in line:
        return NOT_ATTEMPTED
    message = str(error).split("\n")[0]
    if isinstance(error, TimeIsUp):
        shown = f"no answer after {message} s: stopped"
        facts: dict[str, Any] = {"stopped": message}
    else:
        said = _shortened(_first_sentence(str(error)))
        shown = f"raised {name}: {said}" if said else f"raised {name}"
        facts = {"raised": _identity(error, message)}
    if line:
        shown = f"{shown}\non the line: {line}"
    return Outcome(facts, shown, _hint_for_error(error, message, STOPS if lines else otherwise))


def _first_sentence(message: str) -> str:
    r"""Return the first line of a message, with the next one behind a colon.

    >>> _first_sentence("Error(s) in loading:\n\tMissing key: weight")
    'Error(s) in loading: Missing key: weight'
    """
    first, *rest = message.split("\n")
    if first.endswith(":") and rest:
        return f"{first} {rest[0].strip()}"
    return first


def _shortened(text: str) -> str:
    """Return a text that fits into a report, with a sign where its end is missing."""
    if len(text) <= _MOST_SAID:
        return text
    return f"{text[:_MOST_SAID]}…"


def _identity(error: BaseException, message: str) -> Any:
    """Return what makes two errors the same: their type, and for a RuntimeError more.

    In torch a RuntimeError can be anything, but the first word of its message says who raised it.
    The message about a view that would leave its storage has the view's numbers, which count too.
    """
    name = type(error).__name__
    if not isinstance(error, RuntimeError):
        return name
    return (name, message.split(" ")[0], *_VIEW_NUMBERS.findall(message))


def _hint_for_error(error: BaseException, message: str, otherwise: str) -> str:
    """Return the hint for an error."""
    if hasattr(error, "hint"):  # a fence's error says what to do instead
        return str(error.hint)
    if isinstance(error, TimeIsUp):
        return _ENDLESS.format(message)
    if isinstance(error, NameError) and error.name:
        return _NO_SUCH_NAME.format(error.name)
    if message.startswith("mismatch in length of strides and shape"):
        return _UNPAIRED
    return _TOO_FAR if _VIEW_NUMBERS.search(message) else otherwise


def source_of(fn: Any) -> str:
    """Return the source of a function; "" if it is lost."""
    try:
        return textwrap.dedent(inspect.getsource(fn))
    except (OSError, TypeError):
        return ""


def is_blank(fn: Any) -> bool:
    """Return whether the body is nothing but `...`, `pass`, a docstring or a bare `return`."""
    code = getattr(inspect.unwrap(fn), "__code__", None)
    # A body that uses a name does something. Finding the source of the others is slow.
    if code is None or code.co_names:
        return False
    with suppress(SyntaxError, IndexError, AttributeError):
        function = ast.parse(source_of(fn)).body[0]
        return all(map(_does_nothing, function.body))  # type: ignore[attr-defined]
    return False


def _does_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement is `...`, `pass`, a docstring or a bare `return`."""
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()) | ast.Return(None):
            return True
    return False


class TimeIsUp(BaseException):
    """A call took too long."""


def call_within(seconds: float, call: Callable[[], Outcome]) -> Outcome:
    """Return what `call` returns; if it takes longer, raise TimeIsUp in it, again and again.

    Only the main thread on Linux and macOS has such a timer. Elsewhere the notebook's stop button
    ends the call. A single call into C is stopped after it returns.
    """
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or not hasattr(signal, "setitimer"):
        return call()
    is_on = True

    def go_off(*_: Any) -> None:
        if is_on:
            raise TimeIsUp(f"{seconds:.3g}")

    before = signal.signal(signal.SIGALRM, go_off)
    signal.setitimer(signal.ITIMER_REAL, seconds, _ALARM_INTERVAL)
    try:
        return call()
    finally:
        is_on = False  # before any call, where Python would let the alarm in
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
