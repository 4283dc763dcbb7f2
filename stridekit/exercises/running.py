"""The parts of a run: a case, its outcome as facts to compare, the words for errors, and a time limit."""

from __future__ import annotations

import ast
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

_MOST_ITEMS = 100_000  # in an answer that is read
_MOST_PRINTED = 10_000  # characters, a new line counting for a hundred
_AGAIN = 1e-3  # seconds from one alarm to the next: the answer may catch some
_compiled = cache(compile)


class Shortened(io.TextIOBase):
    """A stream that passes on the beginning of what is written to it, because a loop may print for ever."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._left = stream, _MOST_PRINTED

    def write(self, text: str) -> int:
        """Pass on what there is room for."""
        if self._left > 0:
            self._stream.write(text[: self._left])
            self._left -= len(text) + 99 * text.count("\n")
            if self._left <= 0:
                self._stream.write("\n… (the rest is not shown)\n")
        return len(text)


class Unusable(TypeError):
    """An answer of a kind that cannot be compared; the message says which kind would do."""


@dataclass(frozen=True)
class Outcome:
    """The result of a call: named facts, in the order in which they are compared, and their words.

    Two outcomes agree when their facts are equal. `hint` is for outcomes that explain themselves.
    """

    facts: dict[str, Any]
    shown: str
    hint: str = ""

    def first_difference(self, other: Outcome) -> str:
        """Return the first fact in which the two differ; "" for a single fact, or other names of facts."""
        if self.facts.keys() != other.facts.keys() or len(self.facts) == 1:
            return ""
        return next((name for name in self.facts if self.facts[name] != other.facts[name]), "")


NOT_ATTEMPTED = Outcome({"attempted": False}, "nothing yet")


@dataclass(frozen=True)
class Case:
    """The inputs of one call, as the Python that makes them: the report shows what ran."""

    source: str

    def arguments(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Make the named inputs afresh, so that no call can disturb the next one."""
        namespace: dict[str, Any] = {"torch": torch, "np": np}
        exec(_compiled(self.source, "<case>", "exec"), namespace)
        return {name: namespace[name] for name in names}


@dataclass(frozen=True)
class Trial:
    """The result of one case, beside the expected one."""

    case: Case
    outcome: Outcome
    expected: Outcome

    @property
    def right(self) -> bool:
        """True if the two agree."""
        return self.outcome.facts == self.expected.facts


def read(read: Read, answer: Any, args: Arguments) -> Outcome:
    """Return the answer as its reader sees it. A None that the reader refuses is a forgotten return."""
    try:
        # Its values would be foreign memory, or crash Python.
        if isinstance(answer, torch.Tensor) and (missing := bytes_missing(answer)):
            its_end = "past the end of its storage, which was shrunk"
            raise Unusable(f"a tensor that reaches {missing} bytes {its_end}")
        size = prod(answer.shape) if isinstance(answer, torch.Tensor | np.ndarray) else 0
        if size > _MOST_ITEMS:
            raise Unusable(f"{a_kind(answer)} of {size:,}, which is more than any answer needs")
        return read(answer, args)
    except Unusable as error:
        if answer is None:
            return Outcome({"returned": None}, "None", _NO_RETURN)
        return Outcome({"unusable": str(error)}, str(error), _ANOTHER_KIND)


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
    """Return everything that a call could change about an input: a tensor's layout and its storage."""
    if isinstance(value, np.ndarray):
        return describe(value), value.dtype, value.tobytes()
    if not isinstance(value, torch.Tensor):
        return tuple(value) if isinstance(value, list) else value
    everything = torch.empty(0, dtype=torch.uint8, device="cpu").set_(value.untyped_storage())
    return describe(value), value.dtype, everything.numpy().tobytes()


# What a report says of an answer that cannot be compared ----------------------------------------

STOPS = (
    "Your function stops on this input. Run the input line in a cell of its own, call your function "
    "there, and look at each part in turn."
)
CANNOT_BE_READ = (
    "Your function comes to its end, but reading its answer raises the error above. Return plain numbers, "
    "tuples or tensors, whichever the task asks for."
)
_ANOTHER_KIND = (
    "That is another kind of answer than the one asked for: see what the task says beside `return`."
)
_NO_RETURN = "Your function runs to its end and returns None. Is a `return` missing?"
_TOO_FAR = (
    "That view would reach beyond its storage, so torch refuses it. Its sizes, strides and storage offset "
    "are in the message: which of the three takes it too far?"
)
_UNPAIRED = (
    "Sizes and strides come in pairs, one of each for every dim, and here are more of the one than of the "
    "other. How many dims has the answer?"
)
_ENDLESS = (
    "On this input your function had not come to its end after {} s, so it was stopped. Which "
    "condition should end its loop, and does each turn bring it nearer?"
)
SPOILT = (
    "Your function changes `{0}` itself, and its caller would be surprised. Ask it for its numbers, or "
    "make a view of it: anything without a trailing underscore."
)


def raised(fn: Callable[..., Any], error: BaseException, otherwise: str) -> Outcome:
    """Return the error as an outcome, with the line of `fn` at which it came."""
    code, stack = getattr(fn, "__code__", None), [*traceback.walk_tb(error.__traceback__)]
    own = [(frame.f_code.co_filename, at) for frame, at in stack if frame.f_code is code]
    line = linecache.getline(*own[-1]).strip() if own else ""
    name, message = type(error).__name__, str(error).split("\n")[0]
    if name == "NotImplementedError" and stack[-1][0].f_code is code and f"raise {name}" in line:
        return NOT_ATTEMPTED
    shown = f"raised {name}: {message[:160]}" if message else f"raised {name}"
    # In torch a RuntimeError can be anything; the first word of its message says who raised it. The
    # message about a view that would leave its storage has the view's numbers: compare them as well.
    numbers = re.findall(r"sizes \[.*?\], strides \[.*?\], storage offset \d+", message)
    who = (name, message.split(" ")[0], *numbers)
    facts: dict[str, Any] = {"raised": who if isinstance(error, RuntimeError) else name}
    hint = _TOO_FAR if numbers else STOPS if own else otherwise
    if message.startswith("mismatch in length of strides and shape"):
        hint = _UNPAIRED
    if isinstance(error, TimeIsUp):
        shown, facts = f"no answer after {message} s: stopped", {"stopped": message}
        hint = _ENDLESS.format(message)
    hint = getattr(error, "hint", hint)  # a fence's error says what to do instead
    return Outcome(facts, f"{shown}\non the line: {line}" if line else shown, hint)


def source_of(fn: Any) -> str:
    """Return the source of a function; "" if it is lost."""
    try:
        return textwrap.dedent(inspect.getsource(fn))
    except (OSError, TypeError):
        return ""


def is_blank(fn: Any) -> bool:
    """Return whether the body is nothing but `...`, `pass`, a docstring or a bare `return`."""
    with suppress(SyntaxError, IndexError, AttributeError):
        return all(
            isinstance(it, ast.Pass)
            or (isinstance(it, ast.Expr) and isinstance(it.value, ast.Constant))
            or (isinstance(it, ast.Return) and it.value is None)
            for it in ast.parse(source_of(fn)).body[0].body  # type: ignore[attr-defined]
        )
    return False


class TimeIsUp(BaseException):
    """A call took too long."""


def call_within(seconds: float, call: Callable[[], Outcome]) -> Outcome:
    """Return what `call` returns; raise TimeIsUp in it, again and again, if it takes longer.

    Only the main thread of Linux and macOS has such a timer. Elsewhere the notebook's stop button ends the
    call. A single call into C is stopped after it returns.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        return call()
    is_on = True

    def go_off(*_: Any) -> None:
        if is_on:
            raise TimeIsUp(f"{seconds:.3g}")

    before = signal.signal(signal.SIGALRM, go_off)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        return call()
    finally:
        is_on = False  # before any call: that is where Python would let the alarm in
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
