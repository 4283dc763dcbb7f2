"""Which line made the layout that had to be copied.

A tensor's layout has a history: a chain of views back to the op that made its memory, and on through
ops that keep the order of their operand, back to an input of the run. The cause is found by trying: the
last view of the chain is made again of a row-major tensor without memory. If that would be copied too,
this view is the cause; if not, the last two are tried, and so on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import torch

from stridekit.auditing.copies import Copy
from stridekit.auditing.record import Op, Operand
from stridekit.layout import Layout
from stridekit.rules import dim_order

Needs = Callable[[Layout], bool]  # whether a tensor of this layout would be copied

_FORMATS = {4: "channels_last", 5: "channels_last_3d"}
_order = cache(dim_order)  # the layers of a model ask the same again and again
_PRODUCTS = ("aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm")


@dataclass(frozen=True, slots=True)
class Step:
    """A step in the history of an operand: `op` made `out` of `of`; None where the run got it as input."""

    op: int
    out: Operand
    of: Operand | None


class History:
    """Who made which tensor of a run."""

    def __init__(self, ops: list[Op]) -> None:
        self.ops = ops
        self._makers: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for op in ops:
            for one in op.outputs:
                self._makers[_key(one)].append(op.number)

    def steps(self, one: Operand, before: int) -> Iterator[Step]:
        """The history of an operand of op `before`, the last step first."""
        while True:
            makers = self._makers[_key(one)]
            number = next((n for n in reversed(makers) if n < before), None)
            if number is None:
                return
            of = _source(self.ops[number], one)
            yield Step(number, one, of)
            if of is None:
                return
            one, before = of, number

    def cause(self, copy: Copy) -> int:
        """The op that made the layout which `copy` had to change; -1 if the run got it as input."""
        op = self.ops[copy.op]
        operand = op.inputs[copy.operand]
        steps = list(self.steps(operand, copy.op))
        if not _is_row_major(copy):
            return _last_fitting(steps, lambda layout: not _in_format(layout))
        views: list[Step] = []
        needs = self._needs(op)
        for step in steps:
            if (again := self.ops[step.op].again) is None:  # its memory was made here
                views, needs = [], lambda layout: not layout.is_contiguous()
                if step.of is None or not needs(step.of.layout):
                    return step.op
                continue
            views.insert(0, step)
            made = self._again(views)
            if again is not None and (made is None or needs(made)):
                return step.op
        return -1

    def chain(self, copy: Copy, cause: int) -> tuple[tuple[int, ...], Operand | None]:
        """The ops from `cause`, which made a layout, to its copy.

        Where that is -1, all ops since the run was given a tensor, and that tensor.
        """
        ops, given = [copy.op], self.ops[copy.op].inputs[copy.operand]
        for step in self.steps(given, copy.op):
            ops.append(step.op)
            if step.op == cause:
                break
            given = step.of or given
        return tuple(reversed(ops)), given if cause < 0 else None

    def _again(self, views: list[Step]) -> Layout | None:
        """What these views make of a row-major tensor; None if they cannot be made of it."""
        of = views[0].of
        assert of is not None
        tensor = torch.empty(of.shape, dtype=getattr(torch, of.dtype[6:]), device="meta")
        for step in views:
            made = self.ops[step.op].again
            assert made is not None
            try:
                out = made(tensor)
            except RuntimeError:
                return None
            made_of = [_key(one) for one in self.ops[step.op].outputs]
            tensor = out if isinstance(out, torch.Tensor) else out[made_of.index(_key(step.out))]
        return Layout.of(tensor)

    def _needs(self, op: Op) -> Needs:
        """When an op would copy this operand."""
        if op.name in _PRODUCTS:
            return lambda layout: not _is_ready(layout)
        after = self.ops[op.number + 1] if op.number + 1 < len(self.ops) else None
        if after and after.name == "aten::_unsafe_view" and after.inputs[0] == op.outputs[0]:
            shape = after.outputs[0].shape
            return lambda layout: bool(layout.why_not_view(shape))
        return lambda layout: not layout.is_contiguous()


def _key(one: Operand) -> tuple[object, ...]:
    return one.storage, one.shape, one.stride, one.offset, one.dtype


def _source(op: Op, out: Operand) -> Operand | None:
    """What `out` was made of: the tensor that it is a view of, or the first one in the same order."""
    for one in op.inputs:
        if one.storage == out.storage:
            return one
    order = _order(out.shape, out.stride)
    for one in op.inputs:
        if len(one.shape) == len(out.shape) and _order(one.shape, one.stride) == order:
            return one
    return None


def _last_fitting(steps: list[Step], fits: Needs) -> int:
    """The last op of a history whose result has to be copied, though what it was made of has not."""
    for step in steps:
        if step.of is None or not fits(step.of.layout):
            return step.op
    return -1


def _is_row_major(copy: Copy) -> bool:
    return Layout(copy.shape, copy.target).is_contiguous()


def _in_format(layout: Layout) -> bool:
    name = _FORMATS.get(layout.ndim)
    return name is not None and layout.is_contiguous(name)


def _is_ready(layout: Layout) -> bool:
    """Whether a product takes a matrix as it lies: one stride is 1, the other spans a row or a column."""
    (rows, columns), (down, right) = layout.shape[-2:], layout.stride[-2:]
    return (right == 1 and down >= columns) or (down == 1 and right >= rows)
