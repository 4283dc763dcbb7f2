"""Trials: a run of copies of a model and its inputs, without some of its calls."""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from stridekit._arguments import in_bytes
from stridekit._table import columns
from stridekit.audit.events import Place, where
from stridekit.audit.record import tensors_of

if TYPE_CHECKING:
    from stridekit.timing import Comparison


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
        if not self.same:
            rows = [("result", f"another: {self.why}")]
        else:
            difference = f"{in_bytes(abs(self.fewer))} {'fewer' if self.fewer >= 0 else 'more'}"
            time = f"not measured: {self.why}"
            if self.comparison is not None:
                ratio = self.comparison.ratios["without"]
                time = f"{ratio}, {ratio.verdict}"
            rows = [("result", "the same"), ("copied", difference), ("time", time)]
        return "\n".join([f"without {self.expression}", *columns(rows)])


@dataclass(frozen=True)
class ModelCall:
    """A call of a model, as `audit(model, *inputs, backward=..., **named)` runs it."""

    model: Any
    inputs: tuple[Any, ...]
    named: dict[str, Any]
    backward: bool

    def run(self) -> Any:
        """Call the model and return its outputs; compute the gradients if the call is `backward`."""
        out = self.model(*self.inputs, **self.named)
        if self.backward:
            tensors = [x for x in tree_leaves(out) if isinstance(x, torch.Tensor)]
            ends = [x for x in tensors if x.requires_grad]
            if not ends:
                raise ValueError(
                    "backward=True: no output requires grad: a parameter or input has to"
                )
            torch.autograd.backward(ends, [torch.ones_like(end) for end in ends])
        return out

    def outcome(self) -> list[torch.Tensor]:
        """Run, and return the outputs and the state in which the run leaves its inputs and the model."""
        torch.manual_seed(0)
        state = self.model.state_dict() if isinstance(self.model, torch.nn.Module) else {}
        leaves = tree_leaves((self.run(), self.inputs, self.named, state))
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def copier(call: ModelCall, written: list[Any]) -> Callable[[], ModelCall]:
    """Return a function that copies a call, so that a run of the copy leaves model and inputs alone.

    `written` has weak references to the storages that a run writes to. The function keeps no module, no
    tensor and no storage alive.
    """
    leaves, spec = tree_flatten((call.model, call.inputs, call.named, call.backward))
    getters = [_weak_getter(leaf) for leaf in leaves]

    def copied() -> ModelCall:
        leaves = [getter() for getter in getters]
        for leaf, getter in zip(leaves, getters, strict=True):
            if leaf is None and isinstance(getter, weakref.ref):
                raise ValueError(
                    "the model or an input is no longer there: keep it in a variable, and audit again"
                )
        memo: dict[int, Any] = {}
        try:
            copies = copy.deepcopy(leaves, memo)
        except Exception as error:  # whatever a class of the reader's raises
            raise ValueError(
                f"the model or an input cannot be copied, and may change in a run: {error}"
            ) from None
        copied_call = ModelCall(*tree_unflatten(copies, spec))
        is_module = isinstance(copied_call.model, torch.nn.Module)
        # deepcopy keeps all that it copied in a list of the memo.
        copied_tensors = tensors_of(memo.get(id(memo), []))
        addresses = {tensor.untyped_storage()._cdata for tensor in copied_tensors}
        storages = [reference() for reference in written]
        writes_elsewhere = any(x is not None and x._cdata not in addresses for x in storages)
        if writes_elsewhere or (copied_call.backward and not is_module):
            raise ValueError(
                "the function may change a tensor that it was not given, such as one of a model it "
                "calls: audit that model itself, or hand the tensor in"
            )
        return copied_call

    return copied


def _weak_getter(leaf: Any) -> Callable[[], Any]:
    """Return a function that returns a leaf; a weak reference to a tensor or a module."""
    if isinstance(leaf, (torch.Tensor, torch.nn.Module)):
        return weakref.ref(leaf)
    return lambda: leaf


@contextmanager
def leaving_out(calls: Collection[tuple[str, Place]], is_active: bool = True) -> Iterator[None]:
    """Let these calls of methods of tensors return their tensor, if active.

    If not, the calls run, but take the time of the search for them.
    """

    def replaced(name: str) -> Any:
        method = getattr(torch.Tensor, name)

        @wraps(method)
        def replacement(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            place, _, _ = where(sys._getframe(1))
            if (name, place) in calls and is_active:
                return tensor
            return method(tensor, *args, **kwargs)

        return replacement

    with patch.multiple(torch.Tensor, **{name: replaced(name) for name, _ in calls}):
        yield
