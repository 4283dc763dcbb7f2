"""without(finding): run what was audited again, without one of its calls, and compare."""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from stridekit._arguments import a_kind, shown
from stridekit._table import columns
from stridekit.audit.findings import TRIP, Finding
from stridekit.audit.places import Place, where
from stridekit.audit.record import Recorder, replaced
from stridekit.audit.report import Audit, in_bytes, short

if TYPE_CHECKING:
    from stridekit.timing import Comparison

Calls = dict[tuple[str, Place], None]  # a method, and the line of its call
Run = partial[Any]  # of `run_of`


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
        rows = [("result", f"another: {self.why}")]
        if self.same:
            ratio = self.comparison and self.comparison.ratios["without"]
            time = f"{ratio}, {ratio.verdict}" if ratio else f"not measured: {self.why}"
            less = f"{in_bytes(abs(self.fewer))} {'fewer' if self.fewer >= 0 else 'more'}"
            rows = [("result", "the same"), ("copied", less), ("time", time)]
        return "\n".join([f"without {self.expression}", *columns(rows)])


def run_of(model: Any, inputs: Any, named: Any, backward: bool) -> Any:
    """Call a model, and compute the gradient of its outputs' sum if asked to."""
    out = model(*inputs, **named)
    if backward:
        ends = [x for x in tree_leaves(out) if isinstance(x, torch.Tensor) and x.requires_grad]
        if not ends:
            why = "no output requires grad: a parameter or an input has to"
            raise ValueError(f"backward=True, and {why}")
        torch.autograd.backward(ends, [torch.ones_like(end) for end in ends])
    return out


class Again:
    """What was audited, to run again. Modules and tensors are known weakly: nothing is kept alive."""

    def __init__(self, model: Any, inputs: Any, named: Any, backward: bool, run: Recorder) -> None:
        leaves, self._spec = tree_flatten((model, inputs, named))
        self._leaves = [_weakly(leaf) for leaf in leaves]
        self._backward = backward
        self._written = run.written_before()
        self._graded = [weakref.ref(leaf) for leaf in _leaves_of(run.ends)] if backward else []

    def without(
        self, audited: Audit, finding: Finding, rounds: int | None, max_seconds: float
    ) -> Trial:
        """What `Audit.without` returns."""
        from stridekit.audit.run import audit
        from stridekit.timing import TooShort, compare

        if not isinstance(finding, Finding):
            raise TypeError(f"finding is {a_kind(finding)}: give one of the audit's findings")
        if not (calls := _calls_of(audited, finding)):
            raise ValueError(
                f"{shown(finding.kind)} in {short(finding.op)} cannot be left out: a call of contiguous() "
                "can, or of to(memory_format=...)"
            )
        expression = " and ".join(dict.fromkeys(at.expression for _, at in calls))
        with torch.random.fork_rng():
            run = self._copied()
            with audit() as first:
                before = _outcome(run)
            run = self._copied()  # the first one may have changed its inputs and its model
            try:
                with _leaving_out(calls):
                    after = _outcome(run)
                torch.testing.assert_close(after, before, equal_nan=True)
            except Exception as error:  # whatever a model raises that needs the call
                return Trial(expression, False, 0, None, str(error).strip().splitlines()[0])
            with _leaving_out(calls), audit() as second:
                run()
            fewer = first.copied.layouts - second.copied.layouts
            # Both ways look for the calls, so that both pay for the search.
            as_it_is, without = _leaving_out(calls, False)(run), _leaving_out(calls)(run)
            ways = {"as it is": as_it_is, "without": without}
            try:
                times = compare(ways, rounds=rounds, max_seconds=max_seconds, progress=False)
            except TooShort as error:
                return Trial(expression, True, fewer, None, str(error))
        return Trial(expression, True, fewer, times)

    def _copied(self) -> Run:
        """A run of a copy of the model, with copies of its inputs, so that all stays as it is."""
        leaves = [leaf() for leaf in self._leaves]
        known = zip(leaves, self._leaves, strict=True)
        if any(leaf is None and isinstance(ref, weakref.ref) for leaf, ref in known):
            raise ValueError(
                "the model or an input is no longer there: keep it in a variable, and audit again"
            )
        memo: dict[int, Any] = {}
        try:
            mine = copy.deepcopy(leaves, memo)
        except Exception as error:  # whatever a class of the reader's raises
            raise ValueError(
                f"the model or an input cannot be copied, and running it could change it: {error}"
            ) from None
        copied = [each for each in memo.get(id(memo), []) if isinstance(each, torch.Tensor)]
        storages = {tensor.untyped_storage()._cdata for tensor in copied}
        written = [storage for known in self._written if (storage := known()) is not None]
        graded = [leaf for known in self._graded if (leaf := known()) is not None]
        if {storage._cdata for storage in written} - storages or {*map(id, graded)} - {*memo}:
            raise ValueError(
                "the function changes a tensor that it was not given, such as one of a model it calls: "
                "audit that model itself, or hand the tensor in"
            )
        model, inputs, named = tree_unflatten(mine, self._spec)
        return partial(run_of, model, inputs, named, self._backward)


def _weakly(leaf: Any) -> Callable[[], Any]:
    return weakref.ref(leaf) if isinstance(leaf, (torch.Tensor, torch.nn.Module)) else lambda: leaf


def _calls_of(audited: Audit, finding: Finding) -> Calls:
    """The calls of a finding that can be left out: of contiguous() and to()."""
    sites = [(each.op, each.place) for each in finding.occurrences]
    trips = [audited.events[each.events[0]] for each in finding.occurrences if each.kind == TRIP]
    sites += [(event.call, event.place) for event in trips]
    calls = [(short(op), at) for op, at in sites if at is not None]
    return dict.fromkeys(call for call in calls if call[0] in ("contiguous", "to"))


def _leaves_of(ends: Any) -> list[torch.Tensor]:
    """The leaves of a graph whose gradients were computed."""
    tensors = [end for end in tree_leaves(ends) if isinstance(end, torch.Tensor)]
    leaves = [end for end in tensors if end.is_leaf and end.requires_grad]
    todo = [end.grad_fn for end in tensors if end.grad_fn is not None]
    seen = {*todo}
    for node in todo:  # which grows meanwhile
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        new = [follower for follower, _ in node.next_functions if follower not in {None, *seen}]
        seen |= {*new}
        todo += new
    return leaves


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

    def make(method: str, original: Any) -> Any:
        @wraps(original)
        def replacement(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            at, _, _ = where(sys._getframe(1))
            if at is not None and (method, at) in calls and leave_out:
                return tensor
            return original(tensor, *args, **kwargs)

        return replacement

    with ExitStack() as stack:
        for method in {method for method, _ in calls}:
            stack.enter_context(replaced(torch.Tensor, method, partial(make, method)))
        yield
