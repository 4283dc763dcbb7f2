"""What would follow in a run if one of its copies had not been made.

The layout without the copy is followed from op to op. A view either has the other layout, or does not
exist. Any other op runs again (replay.py), because its kernel may copy what the run did not copy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from stridekit.audit.causes import History, Key, has_same_order, key_of
from stridekit.audit.events import Copy, Event
from stridekit.audit.record import Recorder
from stridekit.audit.replay import Replay, replay
from stridekit.layout import Layout
from stridekit.rules import packed_stride, sort_dims

# Calls that copy where a view does not exist, instead of raising.
_COPY_INSTEAD = {
    *("reshape", "reshape_as", "flatten", "ravel", "contiguous"),
    *("matmul", "linear", "bilinear", "einsum", "tensordot"),
    *("scaled_dot_product_attention", "layer_norm"),
}
_MOST_READERS = 2_000  # that are followed


class Consequence(NamedTuple):
    """Why a run without a copy would fail or differ, or "". If not, the bytes that it saves in all.

    `movers` are the calls that would copy instead.
    """

    why: str
    saves: int = 0
    movers: tuple[str, ...] = ()


class Consequences:
    """Finds what would follow without single copies of a run."""

    def __init__(self, run: Recorder, history: History) -> None:
        self.run = run
        self.history = history

    def without(self, copy: Copy) -> Consequence:
        """Return what would follow without a copy."""
        ops = self.run.ops
        source = ops[copy.op].inputs[copy.operand]
        out = ops[copy.op].outputs[0]
        last_write = max(self._last_write.get(x.storage, -1) for x in (source, out))
        if last_write > copy.op:
            return Consequence(
                f"{_call_of(ops[last_write])} writes to one of the two tensors later"
            )
        saves = copy.bytes
        movers: dict[str, None] = {}  # an ordered set
        changed = {(copy.op, key_of(out)): source.layout}  # the tensors that have other layouts
        todo = [*self._readers[copy.op, key_of(out)]]
        heapify(todo)
        followed = -1
        count = 0
        while todo:
            number = heappop(todo)
            if number == followed:
                continue
            followed = number
            count += 1
            if count == _MOST_READERS:
                return Consequence("too much follows to say")
            op = ops[number]
            makers = self.history.makers[number]
            layouts = [
                changed.get((maker, key_of(x)), x.layout)
                for maker, x in zip(makers, op.inputs, strict=True)
            ]
            outputs, more = self._with_layouts(op, layouts)
            if outputs is None:
                if op.call not in _COPY_INSTEAD:
                    return Consequence(f"{_call_of(op)} raises without it")
                outputs = [out.layout for out in op.outputs]  # of the copy
            saves -= more
            if more > 0:
                movers[_call_of(op)] = None
            for before, after in zip(op.outputs, outputs, strict=True):
                if before.stride != after.stride:
                    changed[number, key_of(before)] = after
                    for reader in self._readers[number, key_of(before)]:
                        heappush(todo, reader)
        return Consequence("", saves, tuple(movers))

    def _with_layouts(self, op: Event, layouts: list[Layout]) -> tuple[list[Layout] | None, int]:
        """Return what an op would make of inputs with these layouts, and how many more bytes it would copy.

        There are no outputs if the op is a view that does not exist.
        """
        if op.number in self.run.views:
            views = self.history.views_of(op, layouts[0])
            return views, op.inputs[0].nbytes if views is None else 0
        again = self.replayed(op, layouts)
        if again is None or len(again.outputs) != len(op.outputs):
            return _in_same_order(op, layouts), 0
        return [*again.outputs], again.copied - self.copied[op.number]

    def replayed(self, op: Event, layouts: list[Layout]) -> Replay | None:
        """Run an op again on inputs with these layouts; None where that cannot be."""
        call = self.run.calls.get(op.number)
        return replay(call, op.inputs, layouts) if call else None

    def readers_of(self, number: int) -> set[int]:
        """Return the ops that read what an op made."""
        readers: set[int] = set()
        for out in self.run.ops[number].outputs:
            readers.update(self._readers[number, key_of(out)])
        return readers

    @cached_property
    def copied(self) -> Counter[int]:
        """The bytes that each op copied to change layouts."""
        sizes: Counter[int] = Counter()
        for copy in self.run.copies:
            if copy.is_of_layout:
                sizes[copy.op] += copy.bytes
        return sizes

    @cached_property
    def _readers(self) -> dict[tuple[int, Key], list[int]]:
        """The ops that read what an op made."""
        readers: dict[tuple[int, Key], list[int]] = defaultdict(list)
        for op, makers in zip(self.run.ops, self.history.makers, strict=True):
            for maker, operand in zip(makers, op.inputs, strict=True):
                readers[maker, key_of(operand)].append(op.number)
        return readers

    @cached_property
    def _last_write(self) -> dict[int, int]:
        """The last op that wrote to a storage, by the number of the storage."""
        writes: dict[int, int] = {}
        for op in self.run.ops:
            for storage in op.writes:
                writes[storage] = op.number
        return writes


def _in_same_order(op: Event, layouts: list[Layout]) -> list[Layout]:
    """Return the layouts that an op makes if an output keeps the order of the input whose order it has."""
    outputs = []
    for out in op.outputs:
        layout = out.layout
        for operand, changed in zip(op.inputs, layouts, strict=True):
            if operand.stride != changed.stride and has_same_order(out, operand):
                order = sort_dims(changed.shape, changed.stride)
                layout = Layout(out.shape, packed_stride(out.shape, order), 0, out.itemsize)
        outputs.append(layout)
    return outputs


def _call_of(op: Event) -> str:
    return f"{op.call} in line {op.place.line}" if op.place else op.call
