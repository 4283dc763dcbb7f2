"""Advice about a copy that an op makes of an operand: the layout that it wants, or another op."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import prod
from typing import NamedTuple

from stridekit.audit.consequences import Consequences
from stridekit.audit.events import Copy, Dims, Event, Operand, Place
from stridekit.audit.record import Recorder
from stridekit.layout import Layout
from stridekit.rules import stride_in_format
from stridekit.sdpa import flash_takes_few_heads, why_no_flash

_MOST_CALLS = 500  # of a line
_MOST_STEPS = 6  # between a product and the softmax of one attention
_PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum")
_REPEATS = ("reshape", "flatten", "repeat_interleave")
_ATTENTION = "scaled_dot_product_attention"
# By the number of dims: the memory formats that a kernel may want, with the calls that bring them about.
_FORMATS = {
    4: {"channels_last": "to(memory_format=torch.channels_last)"},
    5: {"channels_last_3d": "to(memory_format=torch.channels_last_3d)"},
}


MAKE_ONCE = "once, where the layout is made"


class Cure(NamedTuple):
    """Advice about copies, and the bytes of layouts that the run then copies less in all."""

    advice: str
    saves: int


class Advice:
    """Finds what to do about copies inside of ops."""

    def __init__(self, run: Recorder, consequences: Consequences) -> None:
        self.run = run
        self.ops = run.ops
        self.consequences = consequences
        self._making: dict[tuple[Place | None, str], Cure | None] = {}

    def on_attention(self, op: Event) -> str:
        """Return what to do about a product of attention that is written out; "" for another op."""
        if op.call not in _PRODUCTS:
            return ""
        softmax = self._softmax_of(op)
        if softmax is None or self._needs_math(softmax):
            return ""
        return (
            "F.scaled_dot_product_attention takes q, k and v as they lie; what is added to the "
            "scores goes in as attn_mask, of 2 or 4 dims"
        )

    def on_repeated_heads(self, copy: Copy) -> str:
        """Return what to do about heads of k or v that are repeated for an attention; "" for others."""
        op = self.ops[copy.op]
        repeated = [d for d, size in enumerate(copy.shape) if size > 1 and copy.source[d] == 0]
        is_repeat = len(copy.shape) == 5 and repeated in ([2], [3]) and op.call in _REPEATS
        if is_repeat and flash_takes_few_heads() and self._is_read_by_attention(op):
            return (
                "scaled_dot_product_attention(q, k, v, enable_gqa=True) reads each head of k and v for "
                "several of q, and repeats none"
            )
        return ""

    def _is_read_by_attention(self, op: Event) -> bool:
        """Whether an attention that takes repeated heads as they lie, or could, reads what an op made."""
        start = range(op.number, op.number + 1)
        for number in (op.number, *self._near(start, self._readers_of)):
            for reader_number in self._readers_of(number):
                reader = self.ops[reader_number]
                # The math path of torch's attention repeats the heads itself.
                is_fused = reader.call == _ATTENTION and reader.name.startswith("_scaled_dot_prod")
                if is_fused or (not reader.backward and self.on_attention(reader)):
                    return True
        return False

    def on_layouts(self, groups: Iterable[list[Copy]]) -> dict[int, Cure]:
        """Return, by the number of an op, the layout of an operand of which ops copy less in all.

        The ops of a group have one cause. All of them get their operand so, and the first has the sum.
        """
        cures: dict[int, Cure] = {}
        for group in groups:
            savings: dict[str, int] = {}
            for name, call in self._formats_of(group):
                consequence = self.consequences.with_operands(
                    {copy.op: (copy.operand, self._layout(copy, name)) for copy in group}
                )
                if not consequence.why:
                    savings[call] = consequence.saves
            call = max(savings, key=savings.__getitem__, default="")
            if savings.get(call, 0) > 0:
                cures |= {copy.op: Cure(f"give it the tensor by .{call}", 0) for copy in group}
                cures[group[0].op] = Cure(f"give it the tensor by .{call}", savings[call])
        return cures

    def _formats_of(self, copies: list[Copy]) -> list[tuple[str, str]]:
        """Return the memory formats that all copied operands can have, with the calls for them."""
        formats = [{*_formats(self.ops[copy.op].inputs[copy.operand].shape)} for copy in copies]
        return sorted(set.intersection(*formats))

    def _layout(self, copy: Copy, memory_format: str) -> Layout:
        operand = self.ops[copy.op].inputs[copy.operand]
        return _in_format(operand, memory_format)

    def on_any_layout(self, copy: Copy) -> str:
        """Say if an op copies as much of an operand in any memory format; "" if it does not."""
        op = self.ops[copy.op]
        operand = op.inputs[copy.operand]
        sizes: list[int] = []
        for name, _ in _formats(operand.shape):
            layouts = [x.layout for x in op.inputs]
            layouts[copy.operand] = _in_format(operand, name)
            again = self.consequences.replayed(op, layouts)
            if again is None:
                return ""
            sizes.append(again.copied)
        if sizes and min(sizes) >= self.consequences.copied[op.number]:
            return "leave it: the op copies as much of any memory format"
        return ""

    def on_making(self, number: int) -> Cure | None:
        """Return what it saves to bring what a line makes to a memory format; None if that is unclear.

        The sum is over all ops of the run that the expression called.
        """
        maker = self.ops[number]
        key = maker.place, maker.call
        if key not in self._making:
            self._making[key] = self._on_making(self._ops_of[key])
        return self._making[key]

    def _on_making(self, ops: list[Event]) -> Cure | None:
        if len(ops) > _MOST_CALLS or ops[0].place is None:
            return None
        if not all(map(self._is_result, ops)):
            return None
        savings: dict[str, int] = {}
        for name, call in sorted(
            set.intersection(*[{*_formats(op.outputs[0].shape)} for op in ops])
        ):
            consequence = self.consequences.with_results(
                {op.number: _in_format(op.outputs[0], name) for op in ops}
            )
            if not consequence.why:
                savings[call] = consequence.saves
        if not savings:
            return None
        call = max(savings, key=savings.__getitem__)
        return Cure(f"call {call} {MAKE_ONCE}", savings[call])

    def _is_result(self, op: Event) -> bool:
        """Whether an op made one tensor, which its expression returned."""
        readers = self._readers_of(op.number)
        return len(op.outputs) == 1 and not any(self._is_one_call(op.number, x) for x in readers)

    def _is_one_call(self, a: int, b: int) -> bool:
        marks = self.run.marks
        return self.ops[a].place == self.ops[b].place and marks[a] == marks[b]

    @cached_property
    def _ops_of(self) -> dict[tuple[Place | None, str], list[Event]]:
        """The ops of the forward pass, by the expression that called them."""
        ops: dict[tuple[Place | None, str], list[Event]] = defaultdict(list)
        for op in self.ops:
            if not op.backward:
                ops[op.place, op.call].append(op)
        return ops

    def _softmax_of(self, op: Event) -> int | None:
        """Return the softmax that reads what a product made, or made what it reads, a few ops away."""
        product = self._ops_of_call(op.number)
        for next_of in (self._readers_of, self._makers_of):
            for number in self._near(product, next_of):
                if "softmax" in self.ops[number].name:
                    return number
        return None

    def _ops_of_call(self, number: int) -> range:
        """Return the ops that the call of an op runs, one after the other."""
        mark = self.run.marks[number]
        first = number
        last = number
        while first > 0 and self.run.marks[first - 1] == mark:
            first -= 1
        while last + 1 < len(self.ops) and self.run.marks[last + 1] == mark:
            last += 1
        return range(first, last + 1)

    def _near(self, start: range, next_of: Callable[[int], set[int]]) -> Iterator[int]:
        """Yield the ops a few steps away, along ops that keep the number of elements."""
        numbers = {*start}
        for _ in range(_MOST_STEPS):
            reached: set[int] = set()
            for number in numbers:
                for near in next_of(number):
                    # An operand of the product may have any size.
                    is_operand = number in start and near < number
                    if is_operand or self._numel(near) == self._numel(number):
                        reached.add(near)
            yield from sorted(reached)
            numbers = reached

    def _needs_math(self, softmax: int) -> bool:
        """Whether torch's attention would copy as well: it has dropout, or a gradient of its mask."""
        start = range(softmax, softmax + 1)
        if any("dropout" in self.ops[x].call for x in self._near(start, self._readers_of)):
            return True
        if not self._places_of_gradients:
            return False
        for number in self._near(start, self._makers_of):
            op = self.ops[number]
            if op.call.startswith(("add", "sub", "__")) and self._adds_what_is_learned(op):
                return True
        return False

    def _adds_what_is_learned(self, op: Event) -> bool:
        """Whether autograd computes a gradient of what an op adds to the scores."""
        makers = self.consequences.history.makers[op.number]
        sizes = [prod(operand.shape) for operand in op.inputs]
        index = sizes.index(min(sizes)) if min(sizes) < max(sizes) else len(sizes) - 1
        maker = makers[index]
        if maker < 0:
            return op.inputs[index].storage in self.run.names
        return self.ops[maker].place in self._places_of_gradients

    @cached_property
    def _places_of_gradients(self) -> set[Place | None]:
        """The lines whose ops autograd ran backward."""
        return {op.place for op in self.ops if op.backward}

    def _numel(self, number: int) -> int:
        return sum(prod(out.shape) for out in self.ops[number].outputs[:1])

    def _readers_of(self, number: int) -> set[int]:
        return self.consequences.readers_of(number)

    def _makers_of(self, number: int) -> set[int]:
        return {maker for maker in self.consequences.history.makers[number] if maker >= 0}

    def why_math(self, op: Event) -> str:
        """Explain why attention took the math path; "" if it did not, or if that is unclear."""
        if op.call != _ATTENTION:
            return ""
        made: set[Operand] = set()
        inputs: dict[Operand, None] = {}  # an ordered set: the call's inputs, not those of its ops
        for number in self._ops_of_call(op.number):
            for operand in self.ops[number].inputs:
                if operand not in made and len(operand.shape) >= 2:
                    inputs[operand] = None
            made.update(self.ops[number].outputs)
        # A mask of numbers is read between k and v; one of bools before q, as it becomes numbers.
        bools = [operand for operand in inputs if operand.dtype == "torch.bool"]
        numbers = [operand for operand in inputs if operand.dtype != "torch.bool"]
        if len(numbers) < 3 or len(inputs) > 4:
            return ""
        in_order = [*numbers[:2], *bools, *numbers[2:]]
        try:
            q, k, *masks, v = (Layout(x.shape, x.stride, itemsize=x.itemsize) for x in in_order)
            why = why_no_flash(q, k, v, attn_mask=masks[0] if masks else None)
        except ValueError:  # the tensors do not fit
            return ""
        if not why and masks and self._is_learned(op, in_order[2]):
            why = "attn_mask requires grad: flash computes no gradient of it"
        return f"attention took the math path, which copies: {why}" if why else ""

    def _is_learned(self, op: Event, mask: Operand) -> bool:
        """Whether autograd computes a gradient of an input of a call."""
        for number in self._ops_of_call(op.number):
            makers = self.consequences.history.makers[number]
            for maker, operand in zip(makers, self.ops[number].inputs, strict=True):
                if operand == mask and maker >= 0:
                    return self.ops[maker].place in self._places_of_gradients
        return False


def _formats(shape: Dims) -> list[tuple[str, str]]:
    """Return the memory formats of a tensor with this shape, with the calls for them."""
    if len(shape) < 2:
        return []
    formats = _FORMATS.get(len(shape), {}) | {"contiguous_format": "contiguous()"}
    return [*formats.items()]


def _in_format(operand: Operand, memory_format: str) -> Layout:
    stride = stride_in_format(operand.shape, memory_format)
    return Layout(operand.shape, stride, 0, operand.itemsize)
