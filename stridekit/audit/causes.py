"""Which line made the layout that had to be copied, and which lines need the copy.

A tensor's layout has a history: a chain of views back to the op that made its memory, and on through
ops that keep the order of their operand, back to what the run was given. The cause is found by trying: the
last view of the chain is made again from a row-major tensor without memory. If that would be copied too,
this view is the cause; if not, the last two are tried, and so on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import islice
from typing import Any

import torch

from stridekit.audit.events import Copy, Dims, Event, Operand
from stridekit.audit.record import Recorder, tensors_of
from stridekit.layout import Layout
from stridekit.rules import dim_order, memory_formats, packed_stride, sort_dims

Key = tuple[object, ...]
# The op that made a layout; or -1, and the tensor that was given with it.
Cause = tuple[int, Operand | None]
Followed = list[tuple[Operand, Layout]]

_order, _formats = cache(dim_order), cache(memory_formats)  # layers of a model ask the same again
_is_row_major = cache(lambda shape, stride: Layout(shape, stride).is_contiguous())
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")
# Calls that copy where a view does not exist, instead of raising.
_COPY_INSTEAD = {
    "reshape", "reshape_as", "flatten", "ravel", "contiguous", "matmul", "linear", "einsum", "tensordot",
    "scaled_dot_product_attention", "layer_norm", "bilinear",
}  # fmt: skip
_IMAGES = re.compile("convolution|pool|upsample|batch_norm|pixel_|grid_sampler|channel_shuffle")
_MOST_VIEWS = 64  # of a chain that is tried
_MOST_STEPS = 40  # of a path that is shown


class History:
    """Who made which tensor of a run, and who read it."""

    def __init__(self, run: Recorder) -> None:
        self.ops, self.views = run.ops, run.views
        self.makers: list[list[int]] = []  # of each operand of each op; -1 if the run was given it
        self._causes: dict[Key, Any] = {}  # those found so far
        latest: dict[Key, int] = {}
        for op in self.ops:
            keys = [operand[:-1] for operand in op.inputs]
            self.makers.append([latest.get(key, -1) for key in keys])
            for out in op.outputs:
                key = out[:-1]
                if not (op.writes and key in keys):  # a write keeps the layout
                    latest[key] = op.number

    @cached_property
    def _readers(self) -> dict[tuple[int, Key], list[tuple[int, int]]]:
        """The ops that read what an op made, and the places of that operand."""
        readers: dict[tuple[int, Key], list[tuple[int, int]]] = defaultdict(list)
        for op, makers in zip(self.ops, self.makers, strict=True):
            for place, maker in enumerate(makers):
                readers[maker, op.inputs[place][:-1]].append((op.number, place))
        return readers

    @cached_property
    def _last_write(self) -> dict[int, int]:
        return {storage: op.number for op in self.ops for storage in op.writes}

    def _chain(self, number: int, place: int) -> Iterator[tuple[int, Operand, Operand | None]]:
        """Walk back from an operand: yield the op that made it, the operand, and what it was made of."""
        while place >= 0:
            maker, operand = self.makers[number][place], self.ops[number].inputs[place]
            source = _source(self.ops[maker], operand) if maker >= 0 else -1
            yield maker, operand, self.ops[maker].inputs[source] if source >= 0 else None
            number, place = maker, source

    def lineage(self, copy: Copy) -> list[Operand]:
        """The copied operand, and those that it was made of, the last one first."""
        steps = islice(self._chain(copy.op, copy.operand), _MOST_STEPS)
        return [operand for _, operand, _ in steps]

    def path(self, number: int, place: int, cause: int) -> tuple[int, ...]:
        """The ops from `cause`, which made a layout, to op `number`; of long paths, the end."""
        makers = (maker for maker, _, _ in islice(self._chain(number, place), _MOST_STEPS))
        ops = [number, *(maker for maker in makers if maker >= 0)]
        if cause in ops:
            del ops[ops.index(cause) + 1 :]
        elif cause >= 0:
            ops.append(cause)
        return tuple(reversed(ops))

    def cause(self, copy: Copy) -> Cause:
        """The op that made the layout which `copy` had to change; or -1, and the tensor that was given."""
        op = self.ops[copy.op]
        if not Layout(copy.shape, copy.target).is_contiguous():
            return self.turned(op.number, copy.operand)
        return self._made(op.number, copy.operand, self._taken_by(op))

    def turned(self, number: int, place: int) -> Cause:
        """The last op that changed the memory format of an operand; or -1, and the tensor given."""
        last, passed = is_last(self.ops[number].inputs[place]), list[Key]()
        cause: Any = None
        for maker, operand, before in self._chain(number, place):
            passed.append((maker, last, operand[:-1]))
            cause = self._causes.get(passed[-1])
            if before is None or (is_last(before) != last and format_of(before)):
                cause = maker, None if maker >= 0 else operand
            if cause:
                break
        self._causes |= dict.fromkeys(passed, cause)
        return cause

    def _made(self, number: int, place: int, fits: Callable[[Layout], bool]) -> Cause:
        """The first view, counted from the end, without which the copy would not be needed."""
        views, passed = list[tuple[Event, Operand]](), list[Key]()
        cause: Any = None
        for maker, operand, before in self._chain(number, place):
            if maker in self.views:
                views.insert(0, (self.ops[maker], operand))
                made = self._made_again(views)
                is_found = made is None or not fits(made) or len(views) == _MOST_VIEWS
            else:  # its memory was made here, maybe in the order of what was read; or given
                passed.append((maker, operand[:-1]))
                cause = self._causes.get(passed[-1])
                is_found = before is None or _is_row_major(before.shape, before.stride)
                views, fits = [], Layout.is_contiguous
            cause = (maker, None if maker >= 0 else operand) if is_found else cause
            if cause:
                break
        self._causes |= dict.fromkeys(passed, cause)
        return cause

    def why_needed(self, copy: Copy) -> str:
        """Why a run without this copy would fail or differ; "" if nothing that follows needs it.

        The layout without the copy is followed through views, and through ops that keep an order.
        """
        op = self.ops[copy.op]
        source, out = op.inputs[copy.operand], op.outputs[0]
        written = max(self._last_write.get(side.storage, -1) for side in (source, out))
        if written > copy.op:
            return f"{_what(self.ops[written])} writes to one of the two tensors later"
        todo, seen = [(copy.op, out, source.layout)], 0
        for number, made, layout in todo:  # which grows meanwhile
            for reader, place in self._readers[number, made[:-1]]:
                seen += 1
                if seen == 2_000:
                    return "too much follows to say"
                follower = self.ops[reader]
                outs = self._followed(follower, place, layout)
                if outs is None and follower.call not in _COPY_INSTEAD:
                    return f"{_what(follower)} raises without it"
                todo += [(reader, *pair) for pair in outs or ()]
        return ""

    def _made_again(self, views: list[tuple[Event, Operand]]) -> Layout | None:
        """What these views make of a row-major tensor; None if they cannot be made of it."""
        first = views[0][0].inputs[0]
        layout = Layout(first.shape, itemsize=first.itemsize)
        for op, operand in views:
            outs = self._followed(op, 0, layout)
            if outs is None:
                return None
            layout = next(made for out, made in outs if out[:-1] == operand[:-1])
        return layout

    def _followed(self, op: Event, place: int, layout: Layout) -> Followed | None:
        """The results that follow the layout of an operand, if it lay so; None if a view raises."""
        if op.number not in self.views:
            order = sort_dims(layout.shape, layout.stride)
            outs = [out for out in op.outputs if _same_order(out, op.inputs[place])]
            packed = ((x, packed_stride(x.shape, order)) for x in outs)
            return [(x, Layout(x.shape, stride, 0, x.itemsize)) for x, stride in packed]
        func, args, kwargs = self.views[op.number]
        args = tuple(tuple(x) if isinstance(x, list) else x for x in args)  # which can be looked up
        lies = layout.shape, layout.stride, op.inputs[0].dtype
        try:
            views = _viewed(func, args, tuple(kwargs.items()), *lies)
        except (RuntimeError, ValueError):
            return None
        return [*zip(op.outputs, views, strict=True)]

    def is_image(self, *operands: Operand) -> bool:
        """Whether an op of images made or read one of these tensors, or what it was made of."""
        return not self._images.isdisjoint(operand.storage for operand in operands)

    @cached_property
    def _images(self) -> set[int]:
        """The storages that ops of images made or read, and those of the same shape around them."""
        images: set[int] = set()
        for op in self.ops:
            if op.inputs and _IMAGES.search(op.name):
                images |= {op.inputs[0].storage, *(out.storage for out in op.outputs[:1])}
        for ops in (self.ops, reversed(self.ops)) if images else ():
            for op in ops:
                shapes = {out.shape for out in op.outputs[:1] if len(out.shape) in (4, 5)}
                sides = (*op.inputs, *op.outputs[:1])
                around = {side.storage for side in sides if side.shape in shapes}
                images |= around if around & images else set()
        return images

    def _taken_by(self, op: Event) -> Callable[[Layout], bool]:
        """Whether an op takes an operand of a layout without a copy."""
        if op.name in _PRODUCTS:
            return _is_ready
        after = self.ops[min(op.number + 1, len(self.ops) - 1)]
        if after.name == "_unsafe_view" and after.inputs[0] == op.outputs[0]:
            return lambda layout: not layout.why_not_view(after.outputs[0].shape)
        return Layout.is_contiguous


@cache  # layers of a model ask the same again
def _viewed(func: Any, args: Any, kwargs: Any, shape: Dims, stride: Dims, dtype: str) -> Any:
    """The layouts of the views that an op makes of such a tensor; raises what it raises."""
    kind = getattr(torch, dtype.removeprefix("torch."))
    tensor = torch.empty_strided(shape, stride, dtype=kind, device="meta")
    return [*map(Layout.of, tensors_of(func(tensor, *args, **dict(kwargs))))]


def format_of(operand: Operand) -> str:
    """The memory format of an operand; "" where it is in none, or in both."""
    fitting = _formats(operand.shape, operand.stride) if len(operand.shape) in (4, 5) else []
    return fitting[0] if len(fitting) == 1 else ""


def is_last(operand: Operand) -> bool:
    """Whether the channels of an operand are last, and cannot be taken for anything else."""
    return format_of(operand).startswith("channels_last")


def _source(op: Event, out: Operand) -> int:
    """The operand that `out` is a view of, or the first one in the same order; -1 if there is none."""
    storages = [operand.storage for operand in op.inputs]
    if out.storage in storages:
        return storages.index(out.storage)
    orders = (_same_order(operand, out) for operand in op.inputs)
    return next((place for place, is_same in enumerate(orders) if is_same), -1)


def _same_order(a: Operand, b: Operand) -> bool:
    return a[1:3] == b[1:3] or _order(*a[1:3]) == _order(*b[1:3])


def _what(op: Event) -> str:
    return f"{op.call} in line {op.place.line}" if op.place else op.call


def _is_ready(layout: Layout) -> bool:
    """Whether a product takes a matrix as it lies: one stride is 1, the other spans a row or a column."""
    (rows, columns), (down, right) = layout.shape[-2:], layout.stride[-2:]
    return (right == 1 and down >= columns) or (down == 1 and right >= rows)
