"""How tests state in words which values a function answers and which it refuses, and how they check it.

An outcome is "answer", "not tried", or the name of an error. Expectations are a text such as
"LayoutError; None: answer; -7, 10**30: IndexError". An entry without a kind is for all kinds, and a later
entry overrides an earlier one.
"""

import copy
import linecache
import pickle
import re
import traceback
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import stridekit
from stridekit import Layout, LayoutError, MemorySet, Undecided, timing
from stridekit.audit import Audit, audit
from stridekit.cost.bandwidth import bandwidth
from stridekit.cost.refetch import CacheSets
from stridekit.cost.warp import warp_sectors
from stridekit.elementwise import broadcast_tensors
from tests.core import agree
from tests.core.brute_force import numbers
from tests.core.robust_inputs import GROUPS, INPUTS, JUNK, WORDS, meet

PACKAGE = str(Path(stridekit.__file__).parent)
ERRORS = {
    "TypeError": TypeError,
    "LayoutError": LayoutError,
    "ValueError": ValueError,
    "IndexError": IndexError,
    "Undecided": Undecided,
    "TimingError": timing.TimingError,
}
# Parts of the messages with which Python, torch and NumPy refuse a value that got too far.
FROM_INSIDE = re.compile(
    "object has no attr|unsupported operand|not subscriptable|not supported between|not iterable|"
    "positional arg|cannot be interpreted|unhashable|descriptor|expected str|has no len|Internal err"
)
# The public names of the core, without those of the course.
COURSE = ("stridekit.widgets", "stridekit.exercises")
CORE = {
    name: getattr(stridekit, name)
    for name, home in stridekit._HOMES.items()
    if not home.startswith(COURSE) or name == "diagnose"
}
# The names that the calls in the tables use.
NAMES = CORE | {
    "torch": torch,
    "np": np,
    "timing": timing,
    "Comparison": timing.Comparison,
    "Audit": Audit,
    "CacheSets": CacheSets,
    "bandwidth": bandwidth,
    "broadcast_tensors": broadcast_tensors,
    "warp_sectors": warp_sectors,
}


@cache
def example_names() -> dict[str, Any]:
    """Return NAMES and examples: layouts x and z, the tensor T and the memory set m of x, and more."""
    x = Layout((4, 6), itemsize=4)

    def f():
        return None

    ab = {"a": f, "b": f}
    return NAMES | {
        "x": x,
        "z": Layout((2, 3, 4), itemsize=8),
        "T": torch.ones(4, 6),
        "m": MemorySet.of(x),
        "f": f,
        "ab": ab,
        "audited": audit(f),
        "cmp": timing.compare(ab, rounds=2),
    }


def expected_outcomes(texts, kinds, groups=None):
    """Return the outcome of each kind as the texts state it; "answer" where they say nothing."""
    outcomes = dict.fromkeys(kinds, "answer")
    for entry in chain.from_iterable(text.split("; ") for text in texts if text):
        listed, _, outcome = entry.rpartition(": ")
        if outcome not in ("answer", "not tried", *ERRORS):
            raise ValueError(f"{outcome!r} is no outcome: {entry}")
        for name in listed.split(", ") if listed else kinds:
            for kind in (groups or {}).get(name, [name]):
                if kind not in outcomes:
                    raise ValueError(f"{kind!r} is no kind: {entry}")
                outcomes[kind] = outcome
    return outcomes


def refusal(error, *parts):
    """Return the name of an error that stridekit raises on purpose, or else what is wrong with it.

    `parts` are parts of its message.
    """
    name = type(error).__name__
    message = str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    source = linecache.getline(frame.filename, frame.lineno).strip()
    if ERRORS.get(name) is not type(error):
        return f"{name}, which is not documented: {message}"
    if not (frame.filename.startswith(PACKAGE) and source.startswith("raise ")):
        return f"{name}, raised at {frame.filename}:{frame.lineno}, not by stridekit: {message}"
    for part in parts:
        if part not in message:
            return f"{name} without the words {part!r}: {message}"
    if len(message) <= 20 or FROM_INSIDE.search(message):
        return f"{name} that does not explain itself: {message}"
    return name


# Arguments that stand for a tensor -----------------------------------------------------------------

# The expectations for each name, if its own do not override them.
DEFAULT = "no tensors: TypeError; tensors without strides: LayoutError; uneven arrays: LayoutError"
# For names that take only what a tensor of torch can have.
TORCH_STRIDES = "negative, structured, layout negative, layout 3 bytes: LayoutError"
# The layouts of the same bytes, where elements lie at no whole number of elements, or have no bytes.
SAME_BYTES = {"packed field": Layout((5, 4), (5, 1), 1), "no bytes": Layout((0,))}


class Question(NamedTuple):
    """A call that takes an x of any kind, its expectations beside DEFAULT, and its true answer.

    Without `truth`, the true answer is the answer for the layout of x, which other tests compare with
    torch, or for `default` if x is None. `names_kind` says whether its refusals have WORDS.
    """

    ask: Callable[[Any], object]
    expectations: str = ""
    truth: Callable[[Any], object] | None = None
    default: Layout | None = None
    names_kind: bool = True

    def expected(self):
        return expected_outcomes((DEFAULT, self.expectations), INPUTS, GROUPS)

    def outcomes(self):
        return {kind: meet(kind, lambda x, kind=kind: self._outcome(kind, x)) for kind in INPUTS}

    def _outcome(self, kind, x):
        try:
            answer = self.ask(x)
        except Exception as error:
            return refusal(error, WORDS.get(kind, "") if self.names_kind else "")
        if answer != self._true_answer(kind, x):
            return f"wrong answer: {answer}"
        if kind == "lazy clone" and not torch._C._is_cow_tensor(x):  # data_ptr() would copy it
            return "answer, and a lazy clone that is no longer lazy"
        return "answer"

    def _true_answer(self, kind, x):
        if self.truth:
            return self.truth(x)
        if x is None:
            return self.ask(self.default)
        return self.ask(SAME_BYTES.get(kind) or Layout.of(x))


# Other arguments -----------------------------------------------------------------------------------

# The expectations for a parameter of each type. A new type needs only its line here.
PARAMETERS = {
    "dim": "LayoutError; -7, 10**30: IndexError",  # also an index within a dim
    "position": "IndexError; matrix: LayoutError",  # an index of each dim
    "size": "LayoutError",  # a shape or a stride, too: the junk has no valid one
    "option": "LayoutError",  # one of several words or values
    "count": "LayoutError; 10**30: answer",
    "bounded": "LayoutError; -7, 10**30: ValueError",  # a number with bounds of its own
    "flag": "LayoutError; True: answer",
    "label": "LayoutError; 'x': answer",
    "operand": "TypeError; matrix, meta, array, nested: LayoutError",
    "object": "TypeError",  # a memory set, an audit, a finding
    "text": "TypeError; 'x': answer",
    "choice": "ValueError",  # an option whose refusal is not a LayoutError
    "budget": "ValueError; 10**30: answer",
    "setting": "TimingError",  # of a measurement
    "function": "TimingError; class: answer",
    "anything": "answer",
}
PARAMETER = re.compile(r"\{(\w+) (.*?)\}")


class Argument(NamedTuple):
    """A call with J for one argument, its outcome for each kind of junk, and what holds for answers."""

    call: str
    expected: dict[str, str]
    holds: str

    def outcomes(self, names):
        outcomes = {}
        for kind, make in JUNK.items():
            if self.expected[kind] == "not tried":
                outcomes[kind] = "not tried"
            else:
                outcomes[kind] = self._outcome(make(), names)
        return outcomes

    def _outcome(self, junk, names):
        try:
            answer = eval(self.call, names, {"J": junk})
        except Exception as error:
            return refusal(error)
        if self.holds:
            is_right = eval(self.holds, names, {"J": junk, "got": answer})
        else:
            tensors = names | {"x": like(names["x"]), "z": like(names["z"])}
            torchs = eval(self.call, tensors, {"J": junk})
            is_right = agree.numbers(answer) == agree.numbers(torchs)
        return "answer" if is_right else f"wrong answer: {answer}"


def like(layout):
    """Return a tensor without memory that has the numbers of a layout."""
    shape, stride, _, itemsize = numbers(layout)
    dtype = {4: torch.int32, 8: torch.int64}[itemsize]
    return torch.empty_strided(shape, stride, dtype=dtype, device="meta")


def read_arguments(table, parameters=PARAMETERS):
    """Return the arguments of a table. A row is a call that works: `call  but EXCEPTIONS  =>  holds`.

    `{dim 0}` is a parameter of the type dim, with 0 as an argument that works. Each parameter gets all
    junk, while the others keep the arguments that work. `but` lists exceptions to the expectations for its
    type. `holds` is an expression that is true for each answer `got` to the junk `J`; without it the
    answer is what torch gives for a tensor in place of the layout. An indented line continues a row.
    """
    arguments = []
    for row in re.split(r"\n(?! )", table.strip()):
        if row.startswith("#") or not row:
            continue
        call, exceptions, holds = re.fullmatch(
            r"(.+?)(?:\s\s+but\s+(.+?))?(?:\s\s+=>\s+(.+))?", row, re.DOTALL
        ).groups()
        for parameter in PARAMETER.finditer(call):
            before = PARAMETER.sub(r"\2", call[: parameter.start()])
            after = PARAMETER.sub(r"\2", call[parameter.end() :])
            texts = (parameters[parameter[1]], " ".join((exceptions or "").split()))
            expected = expected_outcomes(texts, JUNK)
            arguments.append(Argument(f"{before}J{after}", expected, holds or ""))
    return arguments


# Messages ------------------------------------------------------------------------------------------


class Refusal(NamedTuple):
    """A call, the error that it raises, and parts of the message."""

    call: str
    error: str
    parts: list[str]

    def outcome(self, names):
        try:
            answer = eval(self.call, dict(names))
        except Exception as error:
            return refusal(error, *self.parts)
        return f"answer: {answer}"


def read_refusals(path):
    """Return the refusals of a file in the form that tests/core/refusals.txt explains."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if line and not line.startswith("#"))
    refusals = []
    for calls, description in re.findall(r"((?:^\S.*\n)+)((?:^ .*\n?)+)", text, re.MULTILINE):
        error, _, message = " ".join(description.split()).partition(": ")
        refusals += [Refusal(call, error, message.split(" … ")) for call in calls.splitlines()]
    return refusals


# Results -------------------------------------------------------------------------------------------


def read_results(table, names):
    """Return the value of each expression of a table: one or several, separated by "; ", on a line."""
    expressions = re.split("; |\n", table.strip())
    return {expression: eval(expression, names) for expression in expressions}


def duplicates(value):
    """Return a value after a pickle, a copy and a deep copy."""
    return pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)


def words_of(*texts):
    """Return all words of the texts: the names that the tables have a row for."""
    return set(re.findall(r"\w+", " ".join(texts)))
