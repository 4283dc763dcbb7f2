"""The verdict of torch on a call: run on several tensors, it shares their memory or not."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import torch

from stridekit._arguments import a_kind, shown, texts
from stridekit._defaults import torch_defaults
from stridekit.layout import Layout
from stridekit.tensors.sharing import memset, shares_memory

MOST_CALLS = 24
MOST_TENSORS = 8
LONGEST = 48  # characters of a call
LARGEST = 2**20  # bytes: each call gets a storage of its own, into which it may write
VERBS = {
    "itself": "gives back",
    "view": "makes a view of",
    "copy": "copies",
    "error": "raises an error for",
}
VIEW, COPY, DEPENDS = range(3)  # the bins


class Try(NamedTuple):
    """The outcome of a call on one tensor: "itself", a "view", a "copy" or an "error"."""

    source: str  # of the tensor
    outcome: str
    numbers: str  # of the result


def expressions(name: str, argument: Any, most: int) -> tuple[str, ...]:
    """Return the expressions with x in some texts; a text may hold several, separated by semicolons."""
    sources = []
    for text in texts(name, argument):
        if len(text) > most * (LONGEST + 2):
            raise ValueError(
                f"{name} has a text of {len(text):,} characters: give a few short calls"
            )
        sources += _expressions_in(name, text.strip())
    for source in sources:
        if sources.count(source) > 1:
            raise ValueError(
                f"{name}: {source} is there {sources.count(source)} times: give it once"
            )
    if not 1 <= len(sources) <= most:
        raise ValueError(f"{name} has {len(sources)} expressions: give 1 to {most}")
    return tuple(sources)


def _expressions_in(name: str, text: str) -> list[str]:
    """Return the sources of the expressions in one text."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"{name}: {shown(text)} is not Python: {error}") from None
    sources = []
    for statement in statements:
        source = ast.get_source_segment(text, statement) or ""
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        if not isinstance(statement, ast.Expr) or "x" not in names:
            raise ValueError(f"{name}: {source} is no expression with x in it, as x.t() is")
        if len(source) > LONGEST:
            raise ValueError(f"{name}: {source} is longer than a card: {LONGEST} characters")
        sources.append(source)
    return sources


def checked(x: Any) -> torch.Tensor:
    """Return a small tensor that has memory, as a plain one."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is {shown(x)}, {a_kind(x)}: give a tensor")
    if not memset(x):
        raise ValueError(
            f"x has shape {tuple(x.shape)}, no elements, and shares nothing: give some"
        )
    nbytes = x.untyped_storage().nbytes()
    if max(x.numel(), nbytes) > LARGEST:
        raise ValueError(
            f"x has {x.numel():,} elements in a storage of {nbytes:,} bytes, "
            f"and each call is run on a copy of it: give {LARGEST:,} at most"
        )
    return x.detach().as_subclass(torch.Tensor)


def cards(x: torch.Tensor, calls: Sequence[str], sources: Sequence[str]) -> list[dict[str, Any]]:
    """Return a card for each call: its bin and the reason, and what speaks against the other bins."""
    with (
        torch_defaults(),
        torch.random.fork_rng(devices=[]),
        warnings.catch_warnings(action="ignore"),
    ):
        return [_card(call, [_tried(x, call, source) for source in sources]) for call in calls]


def _tried(x: torch.Tensor, call: str, source: str) -> Try:
    """Run a call on a tensor made of x; whatever it writes, x stays as it was."""
    names = {"torch": torch, "x": deepcopy(x)}
    tensor = _run(source, names)
    names["x"] = tensor
    if not isinstance(tensor, torch.Tensor) or not memset(tensor):
        raise ValueError(f"{source} is no tensor with elements, on which a call could be run")
    try:
        y = _run(call, names)
    except ValueError:
        if source == "x":
            raise
        return Try(source, "error", "")
    try:
        outcome = _outcome(y, tensor)
        if memset(y):
            return Try(source, outcome, _numbers_of(y))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{call} of {source} cannot be judged: {error}") from None
    raise ValueError(f"{call} of {source} cannot be judged: it has no elements")


def _run(source: str, names: dict[str, Any]) -> Any:
    try:
        return eval(source, names)
    except Exception as error:
        raise ValueError(f"{source} raises {type(error).__name__}: {error}") from None


def _outcome(y: Any, x: torch.Tensor) -> str:
    if y is x:
        return "itself"
    return "view" if shares_memory(y, x) else "copy"


def _numbers_of(y: Any) -> str:
    layout = Layout.of(y)
    return f"shape {layout.shape}, stride {layout.stride}, storage_offset {layout.storage_offset}"


def _card(call: str, tries: Sequence[Try]) -> dict[str, Any]:
    sources: dict[str, list[str]] = {}  # by outcome
    for attempt in tries:
        sources.setdefault(attempt.outcome, []).append(attempt.source)
    shared = [attempt for attempt in tries if attempt.outcome in ("itself", "view")]
    right = VIEW if shared else COPY
    if shared and "copy" in sources:
        right = DEPENDS

    accepted = listed([attempt.source for attempt in tries if attempt.outcome != "error"])
    against = ["", "", ""]
    if right != VIEW:
        against[VIEW] = f"is not always a view: it copies `{sources['copy'][0]}`"
    if right != COPY:
        verb = VERBS[shared[0].outcome]
        against[COPY] = f"is not always a copy: it {verb} `{shared[0].source}`"
    if right != DEPENDS:
        against[DEPENDS] = f"does not depend on `x`: the answer is the same for {accepted}"
    return {
        "call": call,
        "quoted": repr(call),
        "bin": right,
        "how": _how(sources, right, tries[0].numbers),
        "copies": f"copies {listed(sources['copy'])}" if right == DEPENDS else "",
        "against": against,
    }


def _how(sources: dict[str, list[str]], right: int, numbers: str) -> str:
    """Return what a call does with which tensor; `numbers` are those of the first result."""
    if [*sources] == ["view"]:
        return f"makes a view each time: of `x` with {numbers}"
    if [*sources] == ["copy"]:
        return "makes a copy each time, with memory of its own"
    parts = [f"{VERBS[outcome]} {listed(names)}" for outcome, names in sources.items()]
    if len(parts) > 1:
        parts[-1] = f"but {parts[-1]}"
    how = ", ".join(parts)
    if right == VIEW:
        how += "; it never copies"
    elif right == COPY:
        how += "; it never makes a view"
    return how


def listed(sources: Sequence[str]) -> str:
    """Return sources as code in a sentence."""
    *before, last = (f"`{source}`" for source in sources)
    return f"{', '.join(before)} and {last}" if before else last
