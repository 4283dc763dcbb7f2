"""What to do about a copy that an op makes of an operand: the layout that it wants, or another op."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from stridekit._arguments import in_bytes
from stridekit.audit.consequences import Consequences
from stridekit.audit.events import Copy, Event, Operand
from stridekit.audit.record import Recorder
from stridekit.layout import Layout
from stridekit.rules import stride_in_format
from stridekit.sdpa import why_no_flash

_MOST_OPS = 100  # of a call
_MOST_STEPS = 6  # between a product and the softmax of one attention
_PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum")
# By the number of dims: the memory formats that a kernel may want, with the calls that bring them about.
_FORMATS = {
    4: {"channels_last": "to(memory_format=torch.channels_last)"},
    5: {"channels_last_3d": "to(memory_format=torch.channels_last_3d)"},
}


class Advice:
    """Finds what to do about copies inside of ops."""

    def __init__(self, run: Recorder, consequences: Consequences) -> None:
        self.run = run
        self.ops = run.ops
        self.consequences = consequences

    def on_attention(self, op: Event) -> str:
        """Return what to do about a product of attention that is written out; "" for another op."""
        if op.call in _PRODUCTS and self._is_of_attention(op):
            return (
                "F.scaled_dot_product_attention takes q, k and v as they lie; what is added to the "
                "scores goes in as attn_mask"
            )
        return ""

    def on_layout(self, copy: Copy) -> str:
        """Return the layout of an operand of which an op copies less, if a copy to it pays; or "".

        If the op copies as much of any layout, say so.
        """
        op = self.ops[copy.op]
        operand = op.inputs[copy.operand]
        copied = self.consequences.copied[op.number]
        by_call: dict[str, int] = {}  # the bytes that the op copies after a call
        for name, call in self._formats(operand):
            layouts = [x.layout for x in op.inputs]
            stride = stride_in_format(operand.shape, name)
            layouts[copy.operand] = Layout(operand.shape, stride, 0, operand.itemsize)
            again = self.consequences.replayed(op, layouts)
            if again is None:
                return ""
            by_call[call] = again.copied
        if not by_call:
            return ""
        call = min(by_call, key=lambda name: by_call[name])
        if by_call[call] >= copied:
            return "leave it: the op copies as much of any memory format"
        with_call = by_call[call] + operand.nbytes
        if with_call >= copied:
            return ""
        return (
            f"give it the tensor by .{call}: the two then copy {in_bytes(with_call)} "
            f"instead of {in_bytes(copied)}"
        )

    def _formats(self, operand: Operand) -> Iterable[tuple[str, str]]:
        """Return the memory formats of as many dims as an operand has, with the calls for them."""
        formats = _FORMATS.get(len(operand.shape), {}) | {"contiguous_format": "contiguous()"}
        return formats.items() if len(operand.shape) > 1 else ()

    def _is_of_attention(self, op: Event) -> bool:
        """Whether a softmax reads what a product made, or made what it reads, a few ops away."""
        mark = self.run.marks[op.number]
        first = op.number
        last = op.number
        while first > 0 and self.run.marks[first - 1] == mark:
            first -= 1
        while last + 1 < len(self.ops) and self.run.marks[last + 1] == mark:
            last += 1
        numbers = range(first, last + 1)
        return self._reaches_softmax(numbers, self._readers_of) or self._reaches_softmax(
            numbers, self._makers_of
        )

    def _reaches_softmax(self, start: Iterable[int], next_of: Callable[[int], set[int]]) -> bool:
        numbers = set(start)
        for _ in range(_MOST_STEPS):
            reached: set[int] = set()
            for number in numbers:
                reached |= next_of(number)
            if any("softmax" in self.ops[number].name for number in reached):
                return True
            numbers = reached
        return False

    def _readers_of(self, number: int) -> set[int]:
        return self.consequences.readers_of(number)

    def _makers_of(self, number: int) -> set[int]:
        return {maker for maker in self.consequences.history.makers[number] if maker >= 0}

    def why_math(self, op: Event) -> str:
        """Explain why attention took the math path; "" if it did not, or if that is unclear."""
        if op.call != "scaled_dot_product_attention":
            return ""
        marks = self.run.marks
        made: set[Operand] = set()
        inputs: dict[Operand, None] = {}  # an ordered set: the call's inputs, not those of its ops
        for event in self.ops[max(op.number - _MOST_OPS, 0) : op.number + _MOST_OPS]:
            if marks[event.number] == marks[op.number]:
                for operand in event.inputs:
                    if operand not in made and len(operand.shape) >= 2:
                        inputs[operand] = None
                made.update(event.outputs)
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
        return f"attention took the math path, which copies: {why}" if why else ""


def on_repeated_heads(copy: Copy, op: Event) -> str:
    """Return what to do about heads of attention that are repeated by expand and reshape; "" for others."""
    is_repeat = len(copy.shape) == 5 and copy.source[2] == 0
    if is_repeat and op.call in ("reshape", "flatten"):
        return (
            "scaled_dot_product_attention(q, k, v, enable_gqa=True) reads each head of k and v for "
            "several of q, and repeats none"
        )
    return ""
