"""audit(model, *inputs): run something, watched; and run it again without one of its calls."""

from __future__ import annotations

import copy as copying
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import torch

from stridekit._arguments import a_kind, shown
from stridekit._table import columns
from stridekit.auditing import inside
from stridekit.auditing.copies import copies_of
from stridekit.auditing.findings import Finding, findings_of
from stridekit.auditing.places import place, spot
from stridekit.auditing.record import Recorder, replaced
from stridekit.auditing.report import Audit, Event, in_bytes

_watched = threading.Lock()  # an audit hangs things into torch, and they are there for all threads
_NO_COPIES = "this torch does not say what kernels do inside: copies inside of ops are missing"
_SUBCLASS = "another mode is on, so ops that {} runs of its own are not seen, nor what they copy"
_NO_CALLS = "this torch does not say which call an op is part of: ops have their own names"
_NO_FORWARD = (
    "this torch does not say which op a gradient belongs to: its line is that of the backward call"
)


def audit(model: Any = None, *inputs: Any, backward: bool = False, **named: Any) -> Audit:
    """Run `model(*inputs, **named)` and say which lines copy because of a layout, and which made it so.

    `model` is a module or any other callable. With `backward=True` the gradient of its outputs' sum is
    computed as well, as a training step does. Without a model, `with audit() as a:` watches a block. The
    result is an `Audit`; outputs, gradients, random numbers and strides are as without it. Raises
    TypeError for what cannot be called, ValueError for a gradient of what requires none, RuntimeError
    while a profiler or another audit runs, and whatever the model raises. The model cannot start a
    profiler of its own: torch refuses a second one.

    >>> import torch
    >>> x = torch.zeros(2, 3, 4, 5)
    >>> with audit() as a:
    ...     y = x.permute(0, 2, 3, 1).contiguous()
    >>> a.copied.layouts
    480
    """
    if model is None:
        block = Audit("the block")
        block.block = _watching(block, None)
        return block
    if not callable(model):
        raise TypeError(f"model is {a_kind(model)}: give a module, or a function to call")
    if not isinstance(backward, bool):
        raise TypeError(f"backward is {a_kind(backward)}: give True or False")
    is_module = isinstance(model, torch.nn.Module)
    name = (
        type(model).__name__ if is_module else getattr(model, "__qualname__", type(model).__name__)
    )
    with _watching(Audit(name), model, inputs, named) as found:
        out = _run(model, inputs, named, backward)
    del out  # until here, so that what it keeps in memory is seen
    found.again = _Again(model, inputs, named, backward)
    return found


def _run(model: Any, inputs: Any, named: Any, backward: bool) -> Any:
    out = model(*inputs, **named)
    if backward:
        ends = [one for one in _tensors(out) if one.requires_grad]
        if not ends:
            raise ValueError(
                "backward=True, and no output requires grad: a parameter or an input has to"
            )
        torch.autograd.backward(ends, [torch.ones_like(one) for one in ends])
    return out


def _tensors(out: Any) -> list[torch.Tensor]:
    leaves = torch.utils._pytree.tree_leaves(out)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


@contextmanager
def _watching(
    found: Audit, model: Any, inputs: tuple[Any, ...] = (), named: Any = None
) -> Iterator[Audit]:
    """Watch what runs until the end of the block, and fill in what was found."""
    run = Recorder(model)
    run.take(inputs, named or {})
    try:
        with _alone(), run.watching():
            yield found
    finally:
        copies, found.findings = findings_of(run, copies_of(run))
        found.inputs = run.inputs
        found.copies = tuple(copies)
        known = {
            _NO_COPIES: inside.is_seen(),
            _NO_CALLS: run.knows_calls,
            _NO_FORWARD: run.knows_forward,
        }
        found.notes = tuple(note for note, is_known in known.items() if not is_known)
        found.notes += tuple(_SUBCLASS.format(name) for name in sorted(run.subclasses))
        found.events = tuple(
            Event(
                op.name, op.call, op.module, op.place, op.inputs, op.outputs,
                op.backward, op.start, op.seconds,
            )
            for op in run.ops
        )  # fmt: skip


@contextmanager
def _alone() -> Iterator[None]:
    """Raise RuntimeError while a profiler runs on this thread, or another audit on any."""
    if torch.autograd._profiler_enabled() or not _watched.acquire(blocking=False):
        raise RuntimeError("a profiler or another audit runs: one runs at a time, so end it first")
    try:
        yield
    finally:
        _watched.release()


# Once more, without a call ------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Trial:
    """A run without one of its calls: whether the results are the `same`, and what it saves.

    `fewer` is in bytes of layouts copied. `comparison` has the times with and without the call; `why` says
    why the results differ, and is "" if they do not.
    """

    expression: str
    same: bool
    fewer: int
    comparison: Any
    why: str = ""

    def __repr__(self) -> str:
        title = f"without {self.expression}"
        if not self.same:
            return "\n".join([title, *columns([("result", f"another: {self.why}")])])
        ratio = self.comparison.ratios["without"]
        rows = [
            ("result", "the same"),
            ("copied", f"{in_bytes(self.fewer)} fewer"),
            ("time", f"{ratio}, {ratio.verdict}"),
        ]
        return "\n".join([title, *columns(rows)])


class _Again:
    """What was audited, to run again. Modules and tensors are known weakly: nothing is kept alive."""

    def __init__(self, model: Any, inputs: Any, named: Any, backward: bool) -> None:
        is_module = isinstance(model, torch.nn.Module)
        self._model = weakref.ref(model) if is_module else lambda: model
        leaves, self._spec = torch.utils._pytree.tree_flatten((inputs, named))
        self._leaves: list[Callable[[], Any]] = [
            weakref.ref(leaf) if isinstance(leaf, torch.Tensor) else partial(lambda x: x, leaf)
            for leaf in leaves
        ]
        self._nothing = [leaf is None for leaf in leaves]
        self._backward = backward

    def without(self, finding: Finding, max_seconds: float) -> Trial:
        if not isinstance(finding, Finding):
            raise TypeError(f"finding is {a_kind(finding)}: give one of the audit's findings")
        method = finding.op.removeprefix("aten::")
        if method not in ("contiguous", "to") or not finding.place:
            raise ValueError(
                f"{shown(finding.kind)} in {method} cannot be left out: a call of contiguous() can, or of "
                "to(memory_format=...)"
            )
        with torch.random.fork_rng():
            return self._tried(finding, method, max_seconds)

    def _tried(self, finding: Finding, method: str, max_seconds: float) -> Trial:
        from stridekit.timing import compare

        run = self._runner()
        assert finding.place is not None
        expression = finding.place.expression
        left_out = partial(_replacing, method, str(finding.place), expression, True)
        try:
            before = _seeded(run)
            with left_out():
                after = _seeded(run)
            torch.testing.assert_close(after, before)
        except Exception as error:  # whatever a model raises that needs the call
            return Trial(expression, False, 0, None, str(error).strip().splitlines()[0])
        with audit() as first:
            run()
        with left_out(), audit() as second:
            run()
        as_it_is = partial(_replacing, method, str(finding.place), expression, False)
        runs = {"as it is": _within(as_it_is, run), "without": _within(left_out, run)}
        comparison = compare(runs, max_seconds=max_seconds, progress=False)
        return Trial(expression, True, first.copied.layouts - second.copied.layouts, comparison)

    def _runner(self) -> Callable[[], Any]:
        """A call of the model, a copy of it, so that its state stays as it is."""
        model, leaves = self._model(), [leaf() for leaf in self._leaves]
        gone = [a is None and not b for a, b in zip(leaves, self._nothing, strict=True)]
        if model is None or any(gone):
            what = "the model" if model is None else "an input"
            raise ValueError(f"{what} is no longer there: keep it in a variable, and audit again")
        inputs, named = torch.utils._pytree.tree_unflatten(leaves, self._spec)
        mine = copying.deepcopy(model) if isinstance(model, torch.nn.Module) else model
        return partial(_run, mine, inputs, named, self._backward)


def _seeded(run: Callable[[], Any]) -> Any:
    torch.manual_seed(0)
    return _tensors(run())


def _within(block: Callable[[], AbstractContextManager[None]], run: Callable[[], Any]) -> Any:
    def call() -> Any:
        with block():
            return run()

    return call


def _replacing(
    method: str, where: str, expression: str, leave_out: bool
) -> AbstractContextManager[None]:
    """Calls of a method of tensors at one place return what they were given, if it is to be left out.

    Where it is not, they are looked for all the same: both runs that are timed pay for the search.
    """

    def make(original: Any) -> Any:
        @wraps(original)
        def found(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            called, _ = spot(sys._getframe(1))
            at = place(*called) if called else None
            if at and (str(at), at.expression) == (where, expression) and leave_out:
                return tensor
            return original(tensor, *args, **kwargs)

        return found

    return replaced(method, make)
