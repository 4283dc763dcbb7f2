"""Call a function on one case, and read its result as facts to compare."""

from __future__ import annotations

import ast
import inspect
import io
import linecache
import re
import textwrap
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import torch

from stridekit._arguments import a_kind
from stridekit.exercises.time_limit import TimeIsUp, call_within
from stridekit.exercises.watch import ANY_MEANS, Watch
from stridekit.tensors.storage import bytes_missing

if TYPE_CHECKING:
    from stridekit.exercises.core import Exercise

Arguments = Mapping[str, Any]
Read = Callable[[Any, Arguments], "Outcome"]
Fence = Callable[[Callable[..., Any], Arguments], AbstractContextManager[Arguments]]

_MOST_ITEMS = 100_000  # in an answer that is read
_MOST_PRINTED = 10_000  # characters, a new line counting for a hundred


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


class Stopped(Exception):
    """Raised by a fence in place of harm; `hint` says what to do instead."""

    hint = ""


@dataclass(frozen=True)
class Outcome:
    """The result of a call: named facts, in the order in which they are compared, and their words.

    Two outcomes agree when their facts are equal. `hint` is for outcomes that explain themselves. `means`
    has the functions that the answer called against the exercise's means, and whether it used these.
    """

    facts: dict[str, Any]
    shown: str
    hint: str = ""
    means: tuple[tuple[str, ...], bool] = field(default=((), False), compare=False)

    def first_difference(self, other: Outcome) -> str:
        """Return the first fact in which the two differ; "" for a single fact, or other names of facts."""
        if self.facts.keys() != other.facts.keys() or len(self.facts) == 1:
            return ""
        return next((name for name in self.facts if self.facts[name] != other.facts[name]), "")


NOT_ATTEMPTED = Outcome({"attempted": False}, "nothing yet")


@dataclass(frozen=True)
class Case:
    """The inputs of one call, as the Python that makes them: the report shows what ran.

    A delicate case is tried only with answers that were right on all the others.
    """

    source: str
    delicate: bool = False
    _code: CodeType = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_code", compile(self.source, "<case>", "exec"))

    def arguments(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Make the named inputs afresh, so that no call can disturb the next one."""
        namespace: dict[str, Any] = {"torch": torch, "np": np}
        exec(self._code, namespace)
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

    @property
    def endless(self) -> bool:
        """True if the call was stopped."""
        return "stopped" in self.outcome.facts


def run(task: Exercise, fn: Callable[..., Any], case: Case, seconds: float | None) -> Outcome:
    """Call `fn` and read its answer, in at most `seconds`; whatever goes wrong becomes an Outcome.

    Only a KeyboardInterrupt escapes. No argument may change, except those that the task names in `writes`.
    """
    # Only a learner has a time limit, and only how a learner gets the answer matters.
    watch, otherwise = Watch(task.means if seconds else ANY_MEANS), _STOPS

    def call() -> Outcome:
        nonlocal otherwise
        before = {name: snapshot(it) for name, it in args.items() if name not in task.writes}
        watch.is_on = True
        answer = fn(*args.values())
        watch.is_on, otherwise = False, _CANNOT_BE_READ  # a generator's code runs as it is read
        for name, unchanged in before.items():
            if snapshot(args[name]) != unchanged:
                shown = f"{name} is no longer what it was before the call"
                return Outcome({"changed": name}, shown, _SPOILT.format(name))
        if answer is ... or (answer is None and _is_blank(fn)):
            return NOT_ATTEMPTED
        outcome = _read(task.read, answer, args)
        return replace(outcome, facts={name: plain(it) for name, it in outcome.facts.items()})

    arguments = case.arguments(task.parameters)
    fence = task.fence(fn, arguments) if task.fence else nullcontext(arguments)
    with fence as args, watch.watching():  # what an alarm cannot interrupt
        try:
            outcome = call() if seconds is None else call_within(seconds, call)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # such as SystemExit or GeneratorExit
            outcome = _raised(fn, error, otherwise, seconds)
    return replace(outcome, means=(watch.others, watch.used))


def _read(read: Read, answer: Any, args: Arguments) -> Outcome:
    """Return the answer as its reader sees it. A None that the reader refuses is a forgotten return."""
    try:
        _require_readable(answer)
        return read(answer, args)
    except Unusable as error:
        if answer is None:
            return Outcome({"returned": None}, "None", _NO_RETURN)
        return Outcome({"unusable": str(error)}, str(error), _ANOTHER_KIND)


def _require_readable(answer: Any) -> None:
    """Raise Unusable for an answer whose memory is gone, or that is too large to read."""
    size = getattr(answer, "size", 0)
    if isinstance(answer, torch.Tensor):
        size = answer.numel()
        if missing := bytes_missing(answer):  # its values would be foreign memory, or crash Python
            its_end = "past the end of its storage, which was shrunk"
            raise Unusable(f"a tensor that reaches {missing} bytes {its_end}")
    elif isinstance(answer, str | bytes | bytearray | tuple | list | set | frozenset | dict):
        size = len(answer)
    if isinstance(size, int) and size > _MOST_ITEMS:
        raise Unusable(f"{a_kind(answer)} of {size:,}, which is more than any answer needs")


def plain(value: Any) -> Any:
    """Return the value as one of Python's own types at any depth; raise TypeError if it cannot be.

    >>> plain((torch.Size([2, 3]), True, np.float64(2.5)))
    ((2, 3), True, 2.5)
    """
    if value is None or type(value) in (bool, torch.dtype):
        return value
    kinds: tuple[Any, ...] = (int, float, complex, str, bytes)
    for kind in kinds:
        if isinstance(value, kind):
            return kind(value)
    for several in (tuple, list, frozenset):
        if isinstance(value, several):
            return several(map(plain, value))
    raise TypeError(f"there is {a_kind(value)} in the answer, which cannot be compared")


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
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, np.ndarray):
        return describe(value), value.dtype, value.tobytes()
    if not isinstance(value, torch.Tensor):
        return value
    everything = torch.empty(0, dtype=torch.uint8, device="cpu").set_(value.untyped_storage())
    return describe(value), value.dtype, everything.numpy().tobytes()


# What a report says of an answer that cannot be compared ----------------------------------------

_STOPS = (
    "Your function stops on this input. Run the input line in a cell of its own, call your function "
    "there, and look at each part in turn."
)
_CANNOT_BE_READ = (
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
    "On this input your function had not come to its end after {0:.3g} s, so it was stopped. Which "
    "condition should end its loop, and does each turn bring it nearer?"
)
_SPOILT = (
    "Your function changes `{0}` itself, and its caller would be surprised. Ask it for its numbers, or "
    "make a view of it: anything without a trailing underscore."
)


def _raised(
    fn: Callable[..., Any], error: BaseException, otherwise: str, seconds: float | None
) -> Outcome:
    at, own = error.__traceback__, None
    while at is not None:
        own = at if at.tb_frame.f_code is getattr(fn, "__code__", None) else own
        at = at.tb_next
    line = linecache.getline(own.tb_frame.f_code.co_filename, own.tb_lineno).strip() if own else ""
    name, message = type(error).__name__, str(error).split("\n")[0]
    if name == "NotImplementedError" and own and own.tb_next is None and f"raise {name}" in line:
        return NOT_ATTEMPTED
    shown = f"raised {name}: {message[:160]}" if message else f"raised {name}"
    # In torch a RuntimeError can be anything; the first word of its message says who raised it. The
    # message about a view that would leave its storage has the view's numbers: compare them as well.
    numbers = re.findall(r"sizes \[.*?\], strides \[.*?\], storage offset \d+", message)
    who = (name, message.split(" ")[0], *numbers)
    facts: dict[str, Any] = {"raised": who if isinstance(error, RuntimeError) else name}
    hint = _TOO_FAR if numbers else _STOPS if own else otherwise
    if message.startswith("mismatch in length of strides and shape"):
        hint = _UNPAIRED
    elif isinstance(error, Stopped):
        hint = error.hint
    elif isinstance(error, TimeIsUp):
        shown, hint = f"no answer after {seconds:.3g} s: stopped", _ENDLESS.format(seconds)
        facts = {"stopped": seconds}
    return Outcome(facts, f"{shown}\non the line: {line}" if line else shown, hint)


def source_of(fn: Any) -> str:
    """Return the source of a function; "" if it is lost."""
    try:
        return textwrap.dedent(inspect.getsource(fn))
    except (OSError, TypeError):
        return ""


def _is_blank(fn: Any) -> bool:
    """Return whether the body is nothing but `...`, `pass`, a docstring or a bare `return`."""
    with suppress(SyntaxError, IndexError, AttributeError):
        return all(
            isinstance(it, ast.Pass)
            or (isinstance(it, ast.Expr) and isinstance(it.value, ast.Constant))
            or (isinstance(it, ast.Return) and it.value is None)
            for it in ast.parse(source_of(fn)).body[0].body  # type: ignore[attr-defined]
        )
    return False
