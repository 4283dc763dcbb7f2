"""Which line made the layout that had to be copied, and which lines need the copy.

A tensor's layout has a history: a chain of views back to the op that made its memory, and on through
ops that keep the order of their operand, back to what the run was given. The cause is found by trying: the
last view of the chain is made again from a row-major tensor without memory. If that would be copied too,
this view is the cause; if not, the last two are tried, and so on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

import torch

from stridekit.audit.copies import Copy, Operand
from stridekit.audit.record import Op
from stridekit.layout import Layout
from stridekit.rules import dim_order, memory_formats, packed_stride, sort_dims

Needs = Callable[[Layout], bool]  # whether a tensor of this layout would be copied
Key = tuple[object, ...]
Input = tuple[int, int]  # the number of an op, and the place of one of its operands
Cause = tuple[
    int, Operand | None
]  # the op that made a layout; or -1, and the tensor that was given

_order, _formats = cache(dim_order), cache(memory_formats)  # layers of a model ask the same again
_PRODUCTS = ("aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm")
# Calls that copy where a view does not exist, instead of raising.
_COPY_INSTEAD = {
    f"aten::{name}"
    for name in (
        "reshape", "reshape_as", "flatten", "ravel", "contiguous", "matmul", "linear", "einsum",
        "tensordot", "scaled_dot_product_attention", "layer_norm", "bilinear",
    )
}  # fmt: skip
_IMAGES = (
    "convolution", "pool", "upsample", "batch_norm", "pixel_", "grid_sampler", "channel_shuffle",
)  # fmt: skip
_MOST_VIEWS = 64  # of a chain that is tried
_MOST_STEPS = 40  # of a path that is told
_MOST_READERS = 2_000  # that are followed from a copy


class History:
    """Who made which tensor of a run, and who read it."""

    def __init__(self, ops: list[Op]) -> None:
        self.ops = ops
        # Of each operand of each op, the op that made its layout; -1 if the run was given it.
        self.makers: list[tuple[int, ...]] = []
        self._readers: dict[tuple[int, Key], list[Input]] = defaultdict(list)
        self._last_write: dict[int, int] = {}
        self._origins: dict[Input, Cause] = {}
        self._turns: dict[Input, Cause] = {}
        latest: dict[Key, int] = {}
        for op in ops:
            keys = [_key(operand) for operand in op.inputs]
            makers = tuple(latest.get(key, -1) for key in keys)
            self.makers.append(makers)
            for place, (maker, key) in enumerate(zip(makers, keys, strict=True)):
                self._readers[maker, key].append((op.number, place))
            for out in map(_key, op.outputs):
                if not (op.writes and out in keys):  # a write keeps the layout
                    latest[out] = op.number
            self._last_write |= dict.fromkeys(op.writes, op.number)
        self._images = self._of_images()

    def steps(self, number: int, place: int) -> Iterator[tuple[int, int]]:
        """The inputs that an operand of an op was made of, the last step first: op, and its operand."""
        for _ in range(_MOST_STEPS):
            operand, maker = self.ops[number].inputs[place], self.makers[number][place]
            if maker < 0:
                return
            source = _source(self.ops[maker], operand)
            yield maker, source
            if source < 0:
                return
            number, place = maker, source

    def lineage(self, number: int, place: int) -> list[Operand]:
        """An operand of an op, and those that it was made of, the last one first."""
        steps = [(number, place), *self.steps(number, place)]
        return [self.ops[op].inputs[source] for op, source in steps if source >= 0]

    def cause(self, copy: Copy) -> Cause:
        """The op that made the layout which `copy` had to change; or -1, and the tensor that was given."""
        if not Layout(copy.shape, copy.target).is_contiguous():
            return self.turned(copy.op, copy.operand)
        needs = self._needs(self.ops[copy.op])
        views: list[tuple[int, Operand]] = []

        def made_it(maker: int, operand: Operand, source: int) -> bool:
            nonlocal needs
            op = self.ops[maker]
            if op.again is None or len(views) == _MOST_VIEWS:  # its memory was made here
                views.clear()
                needs = _is_not_contiguous
                return not needs(op.inputs[source].layout)
            views.insert(0, (maker, operand))
            made = self._made_again(views)
            return made is None or needs(made)

        def may_know() -> bool:
            return not views and needs is _is_not_contiguous

        return self._walk(copy.op, copy.operand, made_it, self._origins, may_know)

    def turned(self, number: int, place: int) -> Cause:
        """The last op that changed the memory format of an operand; or -1, and the tensor given."""
        was_last = is_last(self.ops[number].inputs[place])

        def turned_it(maker: int, _operand: Operand, source: int) -> bool:
            before = self.ops[maker].inputs[source]
            return format_of(before) != "" and is_last(before) != was_last

        return self._walk(number, place, turned_it, self._turns, lambda: True)

    def _walk(
        self, number: int, place: int, made_it: Callable[[int, Operand, int], bool],
        known: dict[Input, Cause], may_know: Callable[[], bool],
    ) -> Cause:  # fmt: skip
        """Go back through the history of an operand, to the op that `made_it` of one of its operands.

        Where a part of the way ends is `known` from then on.
        """
        trail: list[Input] = []
        while (number, place) not in known or not may_know():
            if may_know():
                trail.append((number, place))
            operand, maker = self.ops[number].inputs[place], self.makers[number][place]
            source = -1 if maker < 0 else _source(self.ops[maker], operand)
            if source < 0 or made_it(maker, operand, source):
                cause = maker, None if maker >= 0 else operand
                break
            number, place = maker, source
        else:
            cause = known[number, place]
        known |= dict.fromkeys(trail, cause)
        return cause

    def path(self, number: int, place: int, cause: int) -> tuple[int, ...]:
        """The ops from `cause`, which made a layout, to op `number`; of long paths, the end."""
        ops = [number]
        for maker, _ in self.steps(number, place):
            ops.append(maker)
            if maker == cause:
                break
        else:
            ops += [cause] if cause >= 0 else []
        return tuple(reversed(ops))

    def why_needed(self, copy: Copy) -> str:
        """Why a run without this copy would fail or differ; "" if nothing that follows needs it.

        The layout without the copy is followed through views, and through ops that keep an order.
        """
        op = self.ops[copy.op]
        source, out = op.inputs[copy.operand], op.outputs[0]
        written = max(self._last_write.get(side.storage, -1) for side in (source, out))
        if written > copy.op:
            return f"{_what(self.ops[written])} writes to one of the two tensors later"
        without = Layout(source.shape, source.stride, itemsize=source.itemsize)
        todo, seen = [(copy.op, out, without)], 0
        for number, made, layout in todo:  # which grows meanwhile
            for reader, place in self._readers[number, _key(made)]:
                seen += 1
                follower = self.ops[reader]
                if follower.again is not None:
                    outs = _views(follower, layout)
                    if outs is not None:
                        todo += [
                            (reader, *pair) for pair in zip(follower.outputs, outs, strict=True)
                        ]
                    elif follower.call not in _COPY_INSTEAD:
                        return f"{_what(follower)} raises without it"
                elif seen < _MOST_READERS:
                    todo += [(reader, *pair) for pair in _kept(follower, place, layout)]
        return "" if seen < _MOST_READERS else "too much follows to say"

    def is_image(self, *operands: Operand) -> bool:
        """Whether an op of images made or read one of these tensors, or what it was made of."""
        return any(operand.storage in self._images for operand in operands)

    def _of_images(self) -> set[int]:
        """The storages that ops of images made or read, and those of the same shape around them."""
        images: set[int] = set()
        for op in self.ops:
            if op.inputs and any(name in op.name for name in _IMAGES):
                images |= {op.inputs[0].storage, *(out.storage for out in op.outputs[:1])}
        for ops in (self.ops, reversed(self.ops)):
            for op in ops:
                sides = {
                    side.storage
                    for side in (*op.inputs, *op.outputs[:1])
                    if op.outputs
                    and side.shape == op.outputs[0].shape
                    and len(side.shape) in (4, 5)
                }
                if sides & images:
                    images |= sides
        return images

    def _made_again(self, views: list[tuple[int, Operand]]) -> Layout | None:
        """What these views make of a row-major tensor; None if they cannot be made of it."""
        first = self.ops[views[0][0]].inputs[0]
        layout = Layout(first.shape, itemsize=first.itemsize)
        for number, operand in views:
            outs = _views(self.ops[number], layout)
            if outs is None:
                return None
            layout = outs[[*map(_key, self.ops[number].outputs)].index(_key(operand))]
        return layout

    def _needs(self, op: Op) -> Needs:
        """When an op would copy this operand."""
        if op.name in _PRODUCTS:
            return lambda layout: not _is_ready(layout)
        after = self.ops[min(op.number + 1, len(self.ops) - 1)]
        if after.name == "aten::_unsafe_view" and after.inputs[0] == op.outputs[0]:
            return lambda layout: bool(layout.why_not_view(after.outputs[0].shape))
        return _is_not_contiguous


def format_of(operand: Operand) -> str:
    """The memory format of an operand; "" where it is in none, or in both."""
    fitting = _formats(operand.shape, operand.stride) if len(operand.shape) in (4, 5) else []
    return fitting[0] if len(fitting) == 1 else ""


def is_last(operand: Operand) -> bool:
    """Whether the channels of an operand are last, and cannot be taken for anything else."""
    return format_of(operand).startswith("channels_last")


def _key(operand: Operand) -> Key:
    return operand.storage, operand.shape, operand.stride, operand.offset, operand.dtype


def _source(op: Op, out: Operand) -> int:
    """The operand that `out` is a view of, or the first one in the same order; -1 if there is none."""
    storages = [operand.storage for operand in op.inputs]
    if out.storage in storages:
        return storages.index(out.storage)
    orders = (_same_order(operand, out) for operand in op.inputs)
    return next((place for place, is_same in enumerate(orders) if is_same), -1)


def _same_order(a: Operand, b: Operand) -> bool:
    return len(a.shape) == len(b.shape) and _order(a.shape, a.stride) == _order(b.shape, b.stride)


def _kept(op: Op, place: int, layout: Layout) -> Iterator[tuple[Operand, Layout]]:
    """The results of an op that lie in the order of this operand, as they would lie in another order."""
    for out in op.outputs:
        if _same_order(out, op.inputs[place]):
            stride = packed_stride(out.shape, sort_dims(layout.shape, layout.stride))
            yield out, Layout(out.shape, stride, itemsize=out.itemsize)


def _views(op: Op, layout: Layout) -> tuple[Layout, ...] | None:
    """What a view op makes of another tensor; None if it raises."""
    assert op.again is not None  # for mypy
    dtype = getattr(torch, op.inputs[0].dtype.removeprefix("torch."))
    tensor = torch.empty_strided(layout.shape, layout.stride, dtype=dtype, device="meta")
    try:
        made = op.again(tensor)
    except (RuntimeError, ValueError):
        return None
    return tuple(map(Layout.of, [made] if isinstance(made, torch.Tensor) else made))


def _what(op: Op) -> str:
    name = op.call.removeprefix("aten::")
    return f"{name} in line {op.place.line}" if op.place else name


def _is_not_contiguous(layout: Layout) -> bool:
    return not layout.is_contiguous()


def _is_ready(layout: Layout) -> bool:
    """Whether a product takes a matrix as it lies: one stride is 1, the other spans a row or a column."""
    (rows, columns), (down, right) = layout.shape[-2:], layout.stride[-2:]
    return (right == 1 and down >= columns) or (down == 1 and right >= rows)
