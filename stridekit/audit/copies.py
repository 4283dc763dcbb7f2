"""A copy: what was copied into what, and whether its layout was the reason."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch

from stridekit.layout import Layout
from stridekit.rules import why_not_dense

COPY = "aten::copy_"

# The kinds of copies. The first three change a layout: one that the reader's code made or handed in, or one
# that the same call made. A layout that changes as asked for, by clone() or at the door, is no surprise.
LAYOUT = "layout"
EXPANDED = "expanded"
INSIDE = "inside an op"
ASKED = "asked for"
BROADCAST = "broadcast"
DTYPE = "dtype"
DEVICE = "device"
WRITE = "write"
CLONE = "clone"

Dims = tuple[int, ...]


@dataclass(slots=True, unsafe_hash=True)  # not frozen: a run makes thousands, in twice the time
class Operand:
    """A tensor that an op read or made; `storage` numbers the storages of a run, `version` their states."""

    storage: int
    shape: Dims
    stride: Dims
    offset: int
    itemsize: int
    dtype: str
    version: int

    @property
    def layout(self) -> Layout:
        """Its layout, in a storage that bears its number."""
        name = f"storage {self.storage}"
        return Layout(self.shape, self.stride, self.offset, self.itemsize, storage=name)

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return prod(self.shape) * self.itemsize


@dataclass(slots=True)
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

    @property
    def layouts(self) -> tuple[Dims, Dims, Dims]:
        """Shape, strides before and strides after."""
        return self.shape, self.source, self.target


def kind_of(target: torch.Tensor, source: torch.Tensor, name: str, given: Operand | None) -> str:
    """Why op `name` copied a tensor: `given` is what it was given of it, if it was."""
    (shape, after), (source_shape, before) = extent(target), extent(source)
    if source.device != target.device:
        return DEVICE
    if source.dtype != target.dtype:
        return DTYPE
    if len(before) != len(source_shape) or len(after) != len(shape):
        return CLONE  # a layout without strides
    numel = prod(shape)
    if name == COPY or (numel and why_not_dense(shape, after)):
        return WRITE  # into a part of something larger
    if shape != source_shape:
        return BROADCAST
    steps = [pair for n, *pair in zip(shape, after, before, strict=True) if n > 1]
    if numel < 2 or all(step == was for step, was in steps):
        return CLONE
    is_repeated = any(was == 0 for _, was in steps)
    if is_repeated and (given is None or not is_expanded(given)):
        return BROADCAST
    if given is None:
        return INSIDE
    return EXPANDED if is_repeated else LAYOUT


def is_expanded(operand: Operand) -> bool:
    """Whether several indices of an operand share an element by a stride of 0."""
    return any(n > 1 and step == 0 for n, step in zip(operand.shape, operand.stride, strict=True))


def extent(tensor: torch.Tensor) -> tuple[Dims, Dims]:
    """Shape and strides; a nested tensor counts as one dim. It has no strides, nor has a sparse one."""
    if tensor.is_nested:
        return (tensor.numel(),), ()
    return tuple(tensor.shape), tensor.stride() if tensor.layout is torch.strided else ()
