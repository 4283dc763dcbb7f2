"""Every copy of a recorded run: what was copied into what, and whether its layout was the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from stridekit.auditing import inside
from stridekit.auditing.record import CopyCall, Op, Operand, Recorder
from stridekit.rules import why_not_dense

COPY = "aten::copy_"

# The kinds of copies. The first two change a layout, and something of the run's own made that layout.
LAYOUT = "layout"
EXPANDED = "expanded"
INSIDE = "inside an op"
BROADCAST = "broadcast"
DTYPE = "dtype"
DEVICE = "device"
WRITE = "write"
CLONE = "clone"

_ZEROS = ("aten::zeros", "aten::new_zeros", "aten::zeros_like")

Dims = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """One call of copy_: `kind` says why, `shape` and strides count elements, `bytes` were written.

    `op` is the number of the op that copied, and `operand` the place of the copied tensor among those that
    the op was given; -1 where the op copied what it had made itself.
    """

    op: int
    kind: str
    shape: Dims
    source: Dims
    target: Dims
    bytes: int
    operand: int


def copies_of(run: Recorder) -> list[Copy]:
    """The copies of a run in their order, also those that kernels make inside.

    Without a kernel of copy_ that tells, there are only those that torch dispatches as ops of their own.
    """
    if not inside.is_seen():
        return [copy for op in run.ops for copy in _dispatched(op)]
    found = [_seen(run.ops[one.op], one) for one in run.copied]
    return [copy for copy in found if not _is_of_watching(run.ops, copy)]


def _is_of_watching(ops: list[Op], copy: Copy) -> bool:
    """Whether a formula of autograd made zeros, and copied them instead of writing to them.

    It does so while a dispatch mode is active. Else, the gradient of `x[i]` is written into the zeros.
    """
    op, before = ops[copy.op], ops[copy.op - 1]
    return (
        op.by_engine
        and copy.kind == CLONE
        and copy.operand >= 0
        and before.name in _ZEROS
        and op.inputs[copy.operand] in before.outputs
    )


def _seen(op: Op, one: CopyCall) -> Copy:
    given = [(operand.storage, operand.dtype) for operand in op.inputs]
    place = given.index((one.storage, one.dtype)) if (one.storage, one.dtype) in given else -1
    kind = _kind(
        op, one.shape, one.source_shape, one.target, one.source, place,
        one.same_dtype, one.same_device,
    )  # fmt: skip
    size = prod(one.shape) * one.itemsize
    return Copy(op.number, kind, one.shape, one.source, one.target, size, place)


def _dispatched(op: Op) -> Iterator[Copy]:
    """The copy that an op is by its name."""
    if op.name == COPY:
        target, source = op.inputs[:2]
    elif op.name in ("aten::clone", "aten::_to_copy"):
        source, target = op.inputs[0], op.outputs[0]
    else:
        return
    kind = _kind(
        op, target.shape, source.shape, target.stride, source.stride, op.inputs.index(source),
        source.dtype == target.dtype, True,
    )  # fmt: skip
    size = prod(target.shape) * target.itemsize
    yield Copy(
        op.number, kind, target.shape, source.stride, target.stride, size, op.inputs.index(source)
    )


def _kind(
    op: Op, shape: Dims, source_shape: Dims, target: Dims, source: Dims, place: int,
    same_dtype: bool, same_device: bool,
) -> str:  # fmt: skip
    if not same_device:
        return DEVICE
    if not same_dtype:
        return DTYPE
    numel: int = prod(shape)
    if len(source) != len(source_shape) or len(target) != len(shape):
        return CLONE  # a layout without strides
    if op.name == COPY or (numel and why_not_dense(shape, target)):
        return WRITE  # into a part of something larger
    if shape != source_shape:
        return BROADCAST
    pairs = [(a, b) for n, a, b in zip(shape, target, source, strict=True) if n > 1]
    if numel < 2 or all(a == b for a, b in pairs):
        return CLONE
    repeats = any(b == 0 for _, b in pairs)
    if repeats and (place < 0 or not is_expanded(op.inputs[place])):
        return BROADCAST
    if place < 0:
        return INSIDE
    return EXPANDED if repeats else LAYOUT


def is_expanded(one: Operand) -> bool:
    """Whether several indices of an operand share an element by a stride of 0."""
    return any(n > 1 and step == 0 for n, step in zip(one.shape, one.stride, strict=True))
