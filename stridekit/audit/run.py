"""audit(model, *inputs): run something, watched; and run it again without one of its calls."""

from __future__ import annotations

import copy
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from stridekit._arguments import a_kind, shown
from stridekit._table import columns
from stridekit.audit.events import Place, where
from stridekit.audit.findings import Finding, Search
from stridekit.audit.record import MISSING, Recorder
from stridekit.audit.report import Audit, in_bytes

if TYPE_CHECKING:
    from stridekit.timing import Comparison

Calls = dict[tuple[str, Place], None]  # a method, and the line of its call
Run = partial[Any]  # of `_run`

_watched = threading.Lock()  # an audit changes torch for all threads
_NOT_ENTERED = "the block was not entered: write `with audit() as a:` around it"


def audit(model: Any = ..., *inputs: Any, backward: bool = False, **named: Any) -> Audit:
    """Run `model(*inputs, **named)` and say which lines copy because of a layout, and which made it so.

    `model` is a module or any other callable. With `backward=True` the gradient of its outputs' sum is
    computed as well, as a training step does. Without arguments, `with audit() as a:` watches a block. The
    result is an `Audit`; outputs, gradients, random numbers and strides are as without it. Raises
    TypeError if there is no model to call, ValueError for a gradient of what requires none, RuntimeError
    while a profiler or another audit runs, and whatever the model raises. The model cannot start a
    profiler of its own: torch refuses a second one.

    >>> import torch
    >>> x = torch.zeros(2, 3, 4, 5)
    >>> with audit() as a:
    ...     y = x.permute(0, 2, 3, 1).contiguous()
    >>> a.bytes
    480
    """
    if MISSING:
        raise RuntimeError(f"audit does not run on torch {torch.__version__}: {MISSING}")
    if not isinstance(backward, bool):
        raise TypeError(f"backward is {a_kind(backward)}: give True or False")
    if model is ...:
        if extra := [*named, *(["backward"] if backward else [])]:
            raise TypeError(f"audit got {', '.join(extra)} and no model: name the model first")
        block = Audit("the block", unwatched=(_NOT_ENTERED,))
        block.block = _watching(block, None, {})
        return block
    if isinstance(model, type):
        name = model.__name__
        raise TypeError(f"model is the class {name}: give an instance of it, such as {name}(...)")
    if not callable(model):
        raise TypeError(f"model is {a_kind(model)}: give a module, or a function to call")
    watched = Audit(getattr(model, "__qualname__", type(model).__name__))
    call = model, inputs, named, backward
    given = {f"input {k}": x for k, x in enumerate(inputs)} | named
    with _watching(watched, model, given) as run:
        run.ends = _run(*call)
    watched.again = Again(call, run)
    run.ends = None  # until here, so that what it keeps in memory is seen
    return watched


def _run(model: Any, inputs: Any, named: Any, backward: bool) -> Any:
    out = model(*inputs, **named)
    if backward:
        ends = [x for x in tree_leaves(out) if isinstance(x, torch.Tensor) and x.requires_grad]
        if not ends:
            why = "no output requires grad: a parameter or an input has to"
            raise ValueError(f"backward=True, and {why}")
        torch.autograd.backward(ends, [torch.ones_like(end) for end in ends])
    return out


@contextmanager
def _watching(watched: Audit, model: Any, given: dict[str, Any]) -> Iterator[Recorder]:
    """Watch what runs until the end of the block, and fill in the findings."""
    run = Recorder(model, given)
    if torch.autograd._profiler_enabled() or not _watched.acquire(blocking=False):
        raise RuntimeError("a profiler or another audit runs: one runs at a time, so end it first")
    try:
        with run.watching():
            watched.unwatched = ("the block has not ended",)
            yield run
            run.gaps |= dict.fromkeys(_lazy(run.ends))
    except BaseException as error:
        run.gaps[f"{type(error).__name__} ended the run: what follows it did not run"] = None
        raise
    finally:
        _watched.release()
        search = Search(run)
        watched.findings, watched.own = search.findings(), search.own()
        watched.copies, watched.unwatched = tuple(run.copies), tuple(run.gaps)
        watched.inputs, watched.events = run.inputs, tuple(run.ops)


def _lazy(ends: Any) -> Iterator[str]:
    """What a run returned that has not run yet."""
    for leaf in tree_leaves(ends):
        if isinstance(leaf, (Iterator, AsyncIterator, Awaitable)):
            yield (
                f"it returned {a_kind(leaf)}, whose body has not run: audit a function that runs it to its "
                "end, by list(...) or asyncio.run(...)"
            )
            if hasattr(leaf, "close"):
                leaf.close()  # a coroutine that nobody awaits would warn


# Without a call ---------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Trial:
    """A run without some of its calls: whether the results are the `same`, and what it saves.

    `fewer` is in bytes of layouts copied. `comparison` has the times with and without the calls; it is None
    where the results differ or the time was too short. `why` says why the results differ, or why there are
    no times, and is "" otherwise.
    """

    expression: str
    same: bool
    fewer: int
    comparison: Comparison | None
    why: str = ""

    def __repr__(self) -> str:
        ratio = self.comparison and self.comparison.ratios["without"]
        time = f"{ratio}, {ratio.verdict}" if ratio else f"not measured: {self.why}"
        less = f"{in_bytes(abs(self.fewer))} {'fewer' if self.fewer >= 0 else 'more'}"
        same = [("result", "the same"), ("copied", less), ("time", time)]
        rows = same if self.same else [("result", f"another: {self.why}")]
        return "\n".join([f"without {self.expression}", *columns(rows)])


class Again:
    """What was audited, to run again. Modules and tensors are known weakly: nothing is kept alive."""

    def __init__(self, call: tuple[Any, ...], run: Recorder) -> None:
        leaves, self._spec = tree_flatten(call)
        weakly = (torch.Tensor, torch.nn.Module)
        self._leaves = [
            (weakref.ref(x), None) if isinstance(x, weakly) else (None, x) for x in leaves
        ]
        self._written = run.written_before()

    def without(self, finding: Finding, rounds: int | None, max_seconds: float) -> Trial:
        """Return what `Audit.without` returns."""
        from stridekit.timing import TooShort, compare

        if not isinstance(finding, Finding):
            raise TypeError(f"finding is {a_kind(finding)}: give one of the audit's findings")
        names = ((each.op, each.place) for each in finding.occurrences)
        calls = {(name, at): None for name, at in names if at and name in ("contiguous", "to")}
        if not calls:
            raise ValueError(
                f"{shown(finding.kind)} in {finding.first.op} cannot be left out: only a call of "
                "contiguous() or of to(memory_format=...) can"
            )
        expression = " and ".join(dict.fromkeys(at.expression for _, at in calls))
        with torch.random.fork_rng():
            with audit() as first:
                before = _outcome(self._copied())
            run = self._copied()  # the first one may have changed its inputs and its model
            try:
                with _leaving_out(calls), audit() as second:
                    after = _outcome(run)
                torch.testing.assert_close(after, before, equal_nan=True)
            except Exception as error:  # whatever a model raises that needs the call
                return Trial(expression, False, 0, None, str(error).strip().splitlines()[0])
            fewer = first.bytes - second.bytes
            # Both ways look for the calls, so that both pay for the search.
            ways = {
                "as it is": _leaving_out(calls, False)(run),
                "without": _leaving_out(calls)(run),
            }
            try:
                times = compare(ways, rounds=rounds, max_seconds=max_seconds)
            except TooShort as error:
                return Trial(expression, True, fewer, None, str(error))
        return Trial(expression, True, fewer, times)

    def _copied(self) -> Run:
        """Copy the model and its inputs, so that running the copy changes nothing of the reader's."""
        leaves = [known() if known else value for known, value in self._leaves]
        what = "the model or an input"
        if any(x is None and known for x, (known, _) in zip(leaves, self._leaves, strict=True)):
            raise ValueError(f"{what} is no longer there: keep it in a variable, and audit again")
        memo: dict[int, Any] = {}
        try:
            copies = copy.deepcopy(leaves, memo)
        except Exception as error:  # whatever a class of the reader's raises
            why = f"cannot be copied, and running it could change it: {error}"
            raise ValueError(f"{what} {why}") from None
        copied = [each for each in memo.get(id(memo), []) if isinstance(each, torch.Tensor)]
        storages = {tensor.untyped_storage()._cdata for tensor in copied}
        written = {storage._cdata for known in self._written if (storage := known()) is not None}
        model, inputs, named, backward = tree_unflatten(copies, self._spec)
        is_function = backward and not isinstance(model, torch.nn.Module)
        if is_function or written - storages:
            raise ValueError(
                "the function may change a tensor that it was not given, such as one of a model it calls: "
                "audit that model itself, or hand the tensor in"
            )
        return partial(_run, model, inputs, named, backward)


def _outcome(run: Run) -> list[torch.Tensor]:
    """What a run returns, and the state in which it leaves its inputs and its model."""
    torch.manual_seed(0)
    model, inputs, named, _ = run.args
    state = model.state_dict() if isinstance(model, torch.nn.Module) else {}
    leaves = tree_leaves((run(), inputs, named, state))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


@contextmanager
def _leaving_out(calls: Calls, leave_out: bool = True) -> Iterator[None]:
    """Let these calls of methods of tensors return what they were given, if they are to be left out."""

    def replacing(method: str) -> Any:
        original = getattr(torch.Tensor, method)

        @wraps(original)
        def replacement(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            is_left_out = (method, where(sys._getframe(1))[0]) in calls and leave_out
            return tensor if is_left_out else original(tensor, *args, **kwargs)

        return replacement

    methods = {method for method, _ in calls}
    with patch.multiple(torch.Tensor, **{method: replacing(method) for method in methods}):
        yield
