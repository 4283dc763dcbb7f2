"""The consequences in a run if one of its copies had not been made, or if one more had.

The other layout is followed from op to op. A view either has the other layout, or does not
exist. Any other op runs again (replay.py), because its kernel may copy what the run did not copy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from stridekit.audit.causes import History, Key, has_same_order, key_of
from stridekit.audit.events import Copy, Event, Operand
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
        op = ops[copy.op]
        source = op.inputs[copy.operand]
        last_write = self._last_write_to(source, op.outputs[0])
        if last_write > copy.op:
            return Consequence(
                f"{_call_of(ops[last_write])} writes to one of the two tensors later"
            )
        changed = _Changed(self)
        saves = copy.bytes - changed.note(op, [source.layout])
        return self._followed(changed, saves, {}, {})

    def with_results(self, layouts: dict[int, Layout]) -> Consequence:
        """Return what would follow if the one tensor that each of some ops made were copied to a layout."""
        ops = self.run.ops
        for number in layouts:
            last_write = self._last_write_to(ops[number].outputs[0])
            if last_write > number:
                return Consequence(f"{_call_of(ops[last_write])} writes to the tensor later")
        return self._followed(_Changed(self), 0, {}, layouts)

    def with_operands(self, layouts: dict[int, tuple[int, Layout]]) -> Consequence:
        """Return what would follow if some ops got an operand, by its index, after a copy to a layout."""
        return self._followed(_Changed(self), 0, layouts, {})

    def _followed(
        self,
        changed: _Changed,
        saves: int,
        operands: dict[int, tuple[int, Layout]],
        results: dict[int, Layout],
    ) -> Consequence:
        """Follow the changed layouts to the end; `saves` is what the run saves before."""
        ops = self.run.ops
        changed.readers += [*operands, *results]
        heapify(changed.readers)
        movers: dict[str, None] = {}  # an ordered set
        followed = -1
        count = 0
        while changed.readers:
            number = heappop(changed.readers)
            if number == followed:
                continue
            followed = number
            count += 1
            if count == _MOST_READERS:
                return Consequence("too much follows to say")
            op = ops[number]
            layouts = changed.layouts_of(op)
            if number in operands:
                index, layout = operands[number]
                saves -= _copied(layouts[index], layout)
                layouts[index] = layout
            outputs: list[Layout] | None = [out.layout for out in op.outputs]
            more = 0
            if any(x.stride != y.stride for x, y in zip(layouts, op.inputs, strict=True)):
                outputs, more = self._with_layouts(op, layouts)
            if outputs is None:
                if op.call not in _COPY_INSTEAD:
                    return Consequence(f"{_call_of(op)} raises without it")
                outputs = [out.layout for out in op.outputs]  # of the copy
            if more > 0:
                movers[_call_of(op)] = None
            if number in results:
                saves -= _copied(outputs[0], results[number])
                outputs = [results[number]]
            saves -= more + changed.note(op, outputs)
        return Consequence("", saves, (*movers, *changed.movers))

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
            readers.update(self.readers[number, key_of(out)])
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
    def readers(self) -> dict[tuple[int, Key], list[int]]:
        """The ops that read what an op made."""
        readers: dict[tuple[int, Key], list[int]] = defaultdict(list)
        for op, makers in zip(self.run.ops, self.history.makers, strict=True):
            for maker, operand in zip(makers, op.inputs, strict=True):
                readers[maker, key_of(operand)].append(op.number)
        return readers

    def _last_write_to(self, *operands: Operand) -> int:
        return max(self._last_write.get(operand.storage, -1) for operand in operands)

    @cached_property
    def idle(self) -> dict[Key, list[Event]]:
        """The calls of contiguous() and to() that did nothing, by their tensor."""
        calls: dict[Key, list[Event]] = defaultdict(list)
        for call in self.run.idle:
            calls[key_of(call.inputs[0])].append(call)
        return calls

    @cached_property
    def _last_write(self) -> dict[int, int]:
        """The last op that wrote to a storage, by the number of the storage."""
        writes: dict[int, int] = {}
        for op in self.run.ops:
            for storage in op.writes:
                writes[storage] = op.number
        return writes


class _Changed:
    """The tensors of a run that would have other layouts, and the ops that read them."""

    def __init__(self, consequences: Consequences) -> None:
        self._consequences = consequences
        self._layouts: dict[tuple[int, Key], Layout] = {}
        # From this op on, the tensor is as it was: a call of contiguous(), idle in the run, copies it.
        self._ends: dict[tuple[int, Key], int] = {}
        self.readers: list[int] = []  # a heap
        self.movers: dict[str, None] = {}  # an ordered set

    def note(self, op: Event, outputs: list[Layout]) -> int:
        """Note the layouts of what an op makes; return the bytes that calls idle in the run then copy."""
        copied = 0
        for before, after in zip(op.outputs, outputs, strict=True):
            if before.stride == after.stride:
                continue
            key = op.number, key_of(before)
            self._layouts[key] = after
            idle = [x for x in self._consequences.idle[key_of(before)] if x.number > op.number]
            if idle:
                self._ends[key] = idle[0].number
                self.movers[_call_of(idle[0])] = None
                copied += before.nbytes
            for reader in self._consequences.readers[key]:
                if reader < self._ends.get(key, reader + 1):
                    heappush(self.readers, reader)
        return copied

    def layouts_of(self, op: Event) -> list[Layout]:
        """Return the layouts of an op's inputs."""
        makers = self._consequences.history.makers[op.number]
        layouts = []
        for maker, operand in zip(makers, op.inputs, strict=True):
            key = maker, key_of(operand)
            is_changed = op.number < self._ends.get(key, op.number + 1)
            changed = self._layouts.get(key) if is_changed else None
            layouts.append(changed or operand.layout)
        return layouts


def _copied(before: Layout, after: Layout) -> int:
    """Return the bytes of a copy from one layout to another; 0 if they are one."""
    return after.nbytes if before.stride != after.stride else 0


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
