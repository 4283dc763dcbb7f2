"""Call a function on one case, and read its result as facts to compare."""

from __future__ import annotations

import ast
import dis
import inspect
import io
import linecache
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, TracebackType
from typing import Any, TextIO

import numpy as np
import torch

from stridekit._arguments import with_article
from stridekit.exercises.time_limit import TimeIsUp, call_within
from stridekit.exercises.untrusted import plain, said_by, type_name
from stridekit.exercises.watch import ANY_MEANS, Made, Means, Watch, by_the_means
from stridekit.tensors.storage import bytes_missing

Arguments = Mapping[str, Any]
Read = Callable[[Any, Arguments], "Outcome"]
Fence = Callable[[Callable[..., Any], Arguments], AbstractContextManager[Arguments]]


_MOST_ITEMS = 100_000  # in an answer that is read
_MOST_PRINTED = 10_000  # characters, a new line counting for a hundred


class Shortened(io.TextIOBase):
    """A stream that hands the beginning of what it is given on to another, and then says that it ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._left = stream, _MOST_PRINTED

    def write(self, text: str) -> int:
        """Hand on what there is room for."""
        if self._left > 0:
            self._stream.write(text[: self._left])
            self._left -= len(text) + 99 * text.count("\n")
            if self._left <= 0:
                self._stream.write("\n… (the rest is not shown)\n")
        return len(text)


@contextmanager
def no_fence(fn: Callable[..., Any], arguments: Arguments) -> Iterator[Arguments]:
    """Pass the arguments on as they are. An exercise that can do harm has a fence of its own."""
    yield arguments


class Unusable(TypeError):
    """An answer of a kind that cannot be compared; the message says which kind would do."""


class Stopped(Exception):
    """Raised by a fence in place of harm; `hint` says what to do instead."""

    hint = ""


@dataclass(frozen=True)
class Outcome:
    """The result of a call: named facts, in the order in which they are compared, and their words.

    Two outcomes agree when their facts are equal. `hint` is for outcomes that explain themselves.
    `made` has the tensors that were noted on the way.
    """

    facts: Mapping[str, Any]
    shown: str
    hint: str = ""
    made: tuple[Made, ...] = field(default=(), compare=False)

    def first_difference(self, other: Outcome) -> str:
        """The first fact in which the two differ; "" if there is only one, or their names differ."""
        if self.facts.keys() != other.facts.keys() or len(self.facts) == 1:
            return ""
        return next((name for name in self.facts if self.facts[name] != other.facts[name]), "")

    def shown_with_made(self, how: str) -> str:
        """The words, and the first few tensors that were noted, or that nothing was made `how`."""
        return "\n".join(
            [self.shown, *([one.words for one in self.made[:3]] or [f"{how}: nothing"])]
        )


NOT_ATTEMPTED = Outcome({"attempted": False}, "nothing yet")


@dataclass(frozen=True)
class Case:
    """The inputs of one call, as the Python that makes them: what is shown is what ran.

    A delicate case is tried only with answers that were right on all the others.
    """

    source: str
    delicate: bool = False
    _code: CodeType = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_code", compile(self.source, "<case>", "exec"))

    def arguments(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The named inputs, made afresh, so that no call can disturb the next one."""
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

    def right_but_not(self, facts: Mapping[str, Any]) -> bool:
        """True if the outcome is right where these facts would be wrong."""
        return self.right and facts != self.expected.facts

    @property
    def by_its_means(self) -> bool:
        """True if what the solution makes by its means was made by them here, too, and by nothing else."""
        return by_the_means(self.outcome.made, self.expected.made)


def run(
    fn: Callable[..., Any],
    arguments: Arguments,
    read: Read,
    fence: Fence,
    means: Means = ANY_MEANS,
    seconds: float | None = None,
    writes: Sequence[str] = (),
) -> Outcome:
    """Call `fn` and read its answer; whatever goes wrong becomes an Outcome, not an exception.

    Only a KeyboardInterrupt escapes. Both together take at most `seconds`: then they are stopped.
    `Outcome.made` keeps what was noted. No argument may change, but those named in `writes`.
    """
    with fence(fn, arguments) as args:
        watch = Watch(means, args)

        def call() -> Outcome:
            return _run_watched(fn, args, read, watch if means.hint else nullcontext(), writes)

        try:
            outcome = call() if seconds is None else call_within(seconds, call)
        except TimeIsUp as up:
            return _stopped(fn, seconds or 0, up)
    return replace(outcome, made=tuple(watch.made))


def _run_watched(
    fn: Callable[..., Any],
    args: Arguments,
    read: Read,
    watch: AbstractContextManager[Any],
    writes: Sequence[str],
) -> Outcome:
    before = {name: snapshot(it) for name, it in args.items() if name not in writes}
    try:
        with watch:
            answer = fn(*args.values())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # such as SystemExit or GeneratorExit
        return _raised(fn, error, _STOPS)
    try:
        for name, unchanged in before.items():
            if snapshot(args[name]) != unchanged:
                return _changed(name)
        if answer is ... or (answer is None and _does_nothing(fn)):
            return NOT_ATTEMPTED
        outcome = _read(read, answer, args)
        return replace(outcome, facts={name: plain(it) for name, it in outcome.facts.items()})
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # looking at an answer can run code of its own
        return _raised(fn, error, _CANNOT_BE_READ)


def _read(read: Read, answer: Any, args: Arguments) -> Outcome:
    """The answer as its reader sees it. A None that the reader refuses is a forgotten return."""
    try:
        _require_readable(answer)
        return read(answer, args)
    except Unusable as error:
        if answer is None:
            return _nothing_returned()
        return Outcome({"unusable": str(error)}, str(error), _ANOTHER_KIND)


def _require_readable(answer: Any) -> None:
    """Raise Unusable for an answer whose memory is gone, or that is too large to read."""
    if isinstance(answer, torch.Tensor) and (missing := bytes_missing(answer)):
        raise Unusable(  # reading its values would read foreign memory, or crash Python
            f"a tensor that reaches {missing} bytes past the end of its storage, which was shrunk"
        )
    size = 0
    if isinstance(answer, torch.Tensor):
        size = answer.numel()
    elif isinstance(answer, np.ndarray):
        size = answer.size
    elif isinstance(answer, str | bytes | bytearray | tuple | list | set | frozenset | dict):
        size = len(answer)
    if size > _MOST_ITEMS:
        raise Unusable(
            f"{with_article(type_name(answer))} of {size:,}, which is more than any answer needs"
        )


def describe(t: torch.Tensor | np.ndarray) -> str:
    """The layout of a tensor or an array in words.

    >>> describe(torch.zeros(4, 6)[1:, ::2])
    'shape (3, 3), stride (6, 2), storage_offset 6'
    >>> describe(np.zeros((4, 6))[::-1])
    'array of shape (4, 6), strides (-48, 8) in bytes'
    """
    if isinstance(t, np.ndarray):
        return f"array of shape {t.shape}, strides {t.strides} in bytes"
    return f"shape {tuple(t.shape)}, stride {t.stride()}, storage_offset {t.storage_offset()}"


def snapshot(value: Any) -> Any:
    """Everything that a call could change about an input: a tensor's layout and its storage."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, np.ndarray):
        return describe(value), value.dtype, value.tobytes()
    if not isinstance(value, torch.Tensor):
        return value
    everything = torch.empty(0, dtype=torch.uint8, device="cpu").set_(value.untyped_storage())
    return describe(value), value.dtype, everything.numpy().tobytes()


_STOPS = (
    "Your function stops on this input. Run the input line in a cell of its own, call your "
    "function there, and look at each part in turn."
)
_CANNOT_BE_READ = (
    "Your function comes to its end, but reading its answer raises the error above. "
    "Answer with plain numbers, tuples or tensors, whichever the task asks for."
)
_ANOTHER_KIND = (
    "That is another kind of answer than the one asked for. The task says, beside `return`, what "
    "it should be."
)


def _changed(name: str) -> Outcome:
    return Outcome(
        {"changed": name},
        f"`{name}` is no longer what it was before the call",
        f"Your function changes `{name}` itself, and its caller would be surprised. "
        "Ask it for its numbers, or make a view of it: anything without a trailing underscore.",
    )


def _nothing_returned() -> Outcome:
    return Outcome(
        {"returned": None},
        "None",
        "Your function runs to its end and returns None. Is a `return` missing?",
    )


def _stopped(fn: Callable[..., Any], seconds: float, up: TimeIsUp) -> Outcome:
    own = [number for code, number in up.places if code is _code_of(fn)]
    loop = _loop_around(fn, own[-1]) if own else ""
    took = f"{seconds:.3g} s"
    return Outcome(
        {"stopped": took},
        f"no answer after {took}: stopped" + (f"\nin the loop: {loop}" if loop else ""),
        f"On this input your function had not come to its end after {took}, so it was stopped. Which "
        "condition should end its loop, and does each turn bring it nearer?",
    )


def _loop_around(fn: Callable[..., Any], line: int) -> str:
    """The first line of the innermost loop of `fn` around a line of its file; "" if there is none."""
    source, first, nodes = _syntax_of(fn)
    loops = [node for node in nodes if isinstance(node, ast.While | ast.For)]
    number = line - first + 1
    around = [it.lineno for it in loops if it.lineno <= number <= (it.end_lineno or it.lineno)]
    return source[max(around) - 1].strip() if around else ""


def _syntax_of(fn: Callable[..., Any]) -> tuple[list[str], int, list[ast.AST]]:
    """The lines of `fn`, the number of the first in its file, and all that they say; nothing if lost."""
    try:
        source, first = inspect.getsourcelines(fn)
        return source, first, [*ast.walk(ast.parse(textwrap.dedent("".join(source))))]
    except (OSError, TypeError, SyntaxError):
        return [], 0, []


_TOO_FAR = (
    "That view would reach beyond its storage, so torch refuses it. Its sizes, strides and storage "
    "offset are in the message: which of the three takes it too far?"
)
_UNPAIRED = (
    "Sizes and strides come in pairs, one of each for every dim, and here are more of the one than of "
    "the other. How many dims has the answer?"
)
_NUMBERS_OF_A_VIEW = r"sizes \[.*?\], strides \[.*?\], storage offset \d+"


def _raised(fn: Callable[..., Any], error: BaseException, otherwise: str) -> Outcome:
    # An error of the learner's own class may lie about its traceback, its class and its message.
    own_frames = [tb for tb in _frames(sys.exc_info()[2]) if _code_of(fn) is tb.tb_frame.f_code]
    at = own_frames[-1] if own_frames else None
    kind, message = type(error), said_by(error).split("\n")[0]
    if issubclass(kind, NotImplementedError) and at and at.tb_next is None and _is_raise(at):
        return NOT_ATTEMPTED
    name = type_name(error)
    shown = f"raised {name}: {message[:160]}" if message else f"raised {name}"
    line = linecache.getline(at.tb_frame.f_code.co_filename, at.tb_lineno).strip() if at else ""
    # In torch a RuntimeError can be anything; the first word of its message says who raised it. The
    # message about a view that would leave its storage has the view's numbers: compare them as well.
    numbers = re.findall(_NUMBERS_OF_A_VIEW, message)
    fact = (name, message.split(" ")[0], *numbers) if issubclass(kind, RuntimeError) else name
    hint = _TOO_FAR if numbers else _STOPS if at else otherwise
    if message.startswith("mismatch in length of strides and shape"):
        hint = _UNPAIRED
    return Outcome(
        {"raised": fact},
        f"{shown}\non the line: {line}" if line else shown,
        kind.hint if issubclass(kind, Stopped) else hint,
    )


# Is there anything to check? ------------------------------------------------------------------
# A blank is `...`, `pass`, a docstring, `return ...` or `raise NotImplementedError`. Its compiled
# code has only the instructions of a function that does nothing. Which these are depends on the
# version of Python, so take them from two such functions. Only the source tells `return None`, which
# is an answer, from `pass`.


def _ellipsis() -> None: ...


def _docstring() -> None:
    """Do nothing, in more than one line."""
    pass


def _instructions(code: CodeType) -> set[str]:
    return {step.opname for step in dis.get_instructions(code)}


_IDLE = _instructions(_ellipsis.__code__) | _instructions(_docstring.__code__) | {"NOP"}


def _does_nothing(fn: Callable[..., Any]) -> bool:
    code = _code_of(fn)
    if code is None or not _instructions(code) <= _IDLE:
        return False
    returned = [node.value for node in _syntax_of(fn)[2] if isinstance(node, ast.Return)]
    return not any(isinstance(it, ast.Constant) and it.value is None for it in returned)


def _is_raise(at: TracebackType) -> bool:
    """True if the frame stopped at a `raise` of its own, rather than in a call it made."""
    return at.tb_frame.f_code.co_code[at.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _code_of(fn: Callable[..., Any]) -> CodeType | None:
    return fn.__code__ if type(fn) is FunctionType else None


def _frames(at: TracebackType | None) -> list[TracebackType]:
    found = []
    while at is not None:
        found.append(at)
        at = at.tb_next
    return found
