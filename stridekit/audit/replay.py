"""One op of a run, again: what it makes of tensors with other layouts, and which layouts it copies.

Many kernels copy an operand that does not lie as they need it, and no table says which. So the op runs, on
zeros. The recorder keeps its function and its arguments, and no tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from stridekit.audit.events import Dims, Operand
from stridekit.layout import Layout

_MOST_BYTES = 2**28  # of the operands of an op that runs again
_PLAIN = {int, float, bool, type(None), torch.dtype}


class _Input:
    """Stands for an operand in the arguments of a call."""


INPUT = _Input()


class Call(NamedTuple):
    """A call of an op: INPUT stands for each tensor. The device is that of the first."""

    func: Any
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    device: torch.device


class Replay(NamedTuple):
    """The layouts that an op made, and the bytes that it copied to change layouts."""

    outputs: tuple[Layout, ...]
    copied: int


def without_tensors(value: Any) -> Any:
    """Return an argument of an op, as a tuple instead of a list, with INPUT for each tensor."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return INPUT
    if isinstance(value, (list, tuple)):
        return tuple([without_tensors(item) for item in value])
    return value


def replay(call: Call, operands: Sequence[Operand], layouts: Sequence[Layout]) -> Replay | None:
    """Run an op on tensors like its operands, with these layouts; None where it cannot run again."""
    if sum(len(layout.span) * layout.itemsize for layout in layouts) > _MOST_BYTES:
        return None
    shapes = tuple(
        [(x.shape, x.stride, operand.dtype) for x, operand in zip(layouts, operands, strict=True)]
    )
    try:
        return _replayed(call, shapes)
    except Exception:  # whatever an op raises of zeros, or of an argument that has no hash
        return None


@lru_cache(1000)  # the layers of a model repeat the same ops
def _replayed(call: Call, operands: tuple[tuple[Dims, Dims, str], ...]) -> Replay:
    from stridekit.audit.record import Recorder

    tensors = iter([_zeros(*operand, device=call.device) for operand in operands])

    def filled(value: Any) -> Any:
        if value is INPUT:
            return next(tensors)
        return tuple([filled(item) for item in value]) if isinstance(value, tuple) else value

    args = [filled(value) for value in call.args]
    kwargs = {name: filled(value) for name, value in call.kwargs}
    run = Recorder(None, {})
    with torch.no_grad(), torch.random.fork_rng(devices=()), run.watching():
        call.func(*args, **kwargs)
    copied = sum(copy.bytes for copy in run.copies if copy.is_of_layout)
    return Replay(tuple([out.layout for out in run.ops[-1].outputs]), copied)


def _zeros(shape: Dims, stride: Dims, dtype: str, *, device: torch.device) -> torch.Tensor:
    torch_dtype = getattr(torch, dtype.removeprefix("torch."))
    storage = torch.zeros(len(Layout(shape, stride).span), dtype=torch_dtype, device=device)
    return storage.as_strided(shape, stride)
