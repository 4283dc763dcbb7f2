"""Which line made the layout that had to be copied, and which lines need the copy.

The op that made the layout is the one whose change of the layout the copy undoes: with a row-major tensor
after this op the copy would not be needed, and with a row-major tensor before it the copy would still be.
If several ops are like that, it is the last of them. The exercise `made_by` has the same definition.

A tensor's layout has a history. A chain of views leads back to the op that made the memory. From there the
history goes on through ops that keep the order of their operand, back to an input of the run. The cause is
found by trying: the last view of the chain is repeated on a row-major tensor without memory. If the result
would be copied too, this view is the cause. If not, the last two views are tried, and so on. An op that
made memory is repeated as well: it packs its result in the order of its operand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import islice
from typing import Any, NamedTuple

import torch

from stridekit.audit.events import Copy, Dims, Event, Operand
from stridekit.audit.record import Recorder, tensors_of
from stridekit.layout import Layout
from stridekit.rules import dim_order, memory_formats, packed_stride

Key = tuple[object, ...]
Link = tuple[int, Operand, Operand | None]  # an op, what it made, and from which input
Made = tuple[Event, Operand]  # an op, and the one of its outputs that the chain goes through

# The layers of a model repeat the same layouts.
_order = cache(dim_order)
_formats = cache(memory_formats)
_is_row_major = cache(lambda shape, stride: Layout(shape, stride).is_contiguous())
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")
_IMAGES = re.compile("convolution|pool|upsample|batch_norm|pixel_|grid_sampler|channel_shuffle")
_MOST_VIEWS = 64  # of a chain that is tried
_MOST_LINKS = 8  # of a chain that is tried beyond an op that made memory
_MOST_STEPS = 40  # of a path that is shown


class Cause(NamedTuple):
    """The number of the op that made a layout; or -1, and the tensor that came with the layout."""

    op: int
    given: Operand | None = None


class History:
    """Finds the op that made a tensor of a run, and the ops that read it."""

    def __init__(self, run: Recorder) -> None:
        self.ops = run.ops
        self.views = run.views
        self._parameters = run.names.keys() - {x.storage for x in run.inputs.values()}
        # For each input of each op, the op that made it; -1 if it is older than the run.
        self.makers: list[list[int]] = []
        self._causes: dict[Key, Cause | None] = {}  # those found so far
        latest: dict[Key, int] = {}
        for op in self.ops:
            keys = [key_of(operand) for operand in op.inputs]
            self.makers.append([latest.get(key, -1) for key in keys])
            for out in op.outputs:
                key = key_of(out)
                if not (op.writes and key in keys):  # a write keeps the layout
                    latest[key] = op.number

    def _chain(self, number: int, index: int) -> Iterator[Link]:
        """Walk back from an input of an op: yield the input's maker, the input, and the maker's input."""
        while index >= 0:
            maker = self.makers[number][index]
            operand = self.ops[number].inputs[index]
            source = self._source(self.ops[maker], operand) if maker >= 0 else -1
            yield maker, operand, self.ops[maker].inputs[source] if source >= 0 else None
            number = maker
            index = source

    def _source(self, op: Event, out: Operand) -> int:
        """Return the index of the input that `out` views, or of the first in the same order; -1 if none is.

        A weight hands its order on to nothing: the op that read it made the layout.
        """
        for index, operand in enumerate(op.inputs):
            if operand.storage == out.storage:
                return index
        for index, operand in enumerate(op.inputs):
            if operand.storage not in self._parameters and has_same_order(operand, out):
                return index
        return -1

    def lineage(self, copy: Copy) -> list[Operand]:
        """Return the copied operand and the tensors that it came from, the latest one first."""
        links = islice(self._chain(copy.op, copy.operand), _MOST_STEPS)
        return [operand for _, operand, _ in links]

    def path(self, number: int, index: int, cause: int) -> tuple[int, ...]:
        """Return the ops from `cause`, which made a layout, to op `number`; of a long path, the end."""
        path = [number]
        for maker, _, _ in islice(self._chain(number, index), _MOST_STEPS):
            if maker >= 0:
                path.append(maker)
        if cause in path:
            del path[path.index(cause) + 1 :]
        elif cause >= 0:
            path.append(cause)
        return tuple(reversed(path))

    def cause(self, copy: Copy) -> Cause:
        """Return the cause of the layout that a copy had to change."""
        if not Layout(copy.shape, copy.target).is_contiguous():
            return self.format_cause(copy.op, copy.operand)
        return self._layout_cause(copy.op, copy.operand, self._fits_op(self.ops[copy.op]))

    def format_cause(self, number: int, index: int) -> Cause:
        """Return the last op that changed the memory format of an input."""
        is_last = is_channels_last(self.ops[number].inputs[index])
        passed: list[Key] = []
        cause: Cause | None = None
        for maker, operand, source in self._chain(number, index):
            key = (maker, is_last, key_of(operand))
            passed.append(key)
            cause = self._causes.get(key)
            if source is None or (is_channels_last(source) != is_last and format_of(source)):
                cause = _cause(maker, operand)
            if cause:
                break
        return self._found(passed, cause)

    def _layout_cause(self, number: int, index: int, fits: Callable[[Layout], bool]) -> Cause:
        """Return the first view, counted from the end, without which an input would fit."""
        links: list[Made] = []
        rest: Key = ()
        passed: list[Key] = []
        cause: Cause | None = None
        for maker, operand, source in self._chain(number, index):
            if maker in self.views and source is not None and _have_equal_layouts(source, operand):
                continue  # such as detach, which autograd runs in each layer
            if maker in self.views:
                links.insert(0, (self.ops[maker], operand))
                rest = self._calls(links)
                layout = self._repeated(links)
                if layout is None or not fits(layout) or len(links) == _MOST_VIEWS:
                    cause = _cause(maker, operand)
            else:
                # The op made memory, maybe in the order of its input; or the tensor is an older one.
                key = (maker, key_of(operand), fits, rest)
                passed.append(key)
                cause = self._causes.get(key)
                if source is None or _is_row_major(source.shape, source.stride):
                    cause = _cause(maker, operand)
                elif not links or len(links) > _MOST_LINKS:
                    links = []
                    rest = ()
                    fits = _is_in_reading_order
                elif links[0][0].number in self.views:
                    links.insert(0, (self.ops[maker], operand))
                    rest = self._calls(links)
            if cause:
                break
        return self._found(passed, cause)

    def _found(self, passed: list[Key], cause: Cause | None) -> Cause:
        """Remember a cause for all places that the search passed."""
        assert cause is not None  # a chain ends where there is no source, and that is a cause
        self._causes |= dict.fromkeys(passed, cause)
        return cause

    def _calls(self, links: list[Made]) -> Key:
        """Return what a repetition of these ops depends on."""
        calls: list[object] = []
        for op, operand in links:
            if op.number in self.views:
                calls += [*self._call(op), _index_of(op, operand)]
            calls.append(operand.shape)
        return tuple(calls)

    def _call(self, op: Event) -> tuple[object, ...]:
        """Return the function of a view, and its arguments but for the tensor, with a hash."""
        func, args, kwargs = self.views[op.number]
        hashable = tuple(tuple(x) if isinstance(x, list) else x for x in args)
        return func, hashable, tuple(kwargs.items())

    def _repeated(self, links: list[Made]) -> Layout | None:
        """Repeat ops on a row-major tensor: return the layout, or None if a view raises."""
        first, _ = links[0]
        layout = Layout(first.inputs[0].shape, itemsize=first.inputs[0].itemsize)
        for op, operand in links:
            if op.number in self.views:
                views_of_op = self.views_of(op, layout)
                if views_of_op is None:
                    return None
                layout = views_of_op[_index_of(op, operand)]
            else:
                order = _order(layout.shape, layout.stride)
                layout = Layout(operand.shape, packed_stride(operand.shape, reversed(order)))
        return layout

    def views_of(self, op: Event, layout: Layout) -> list[Layout] | None:
        """Return the layouts of an op's views if its input had this one; None if there is no such view."""
        func, args, options = self._call(op)
        dtype = op.inputs[0].dtype
        try:
            views: list[Layout] = _viewed(func, args, options, layout.shape, layout.stride, dtype)
        except (RuntimeError, ValueError):
            return None
        return views

    def is_image(self, *operands: Operand) -> bool:
        """Whether an op of images made or read one of these tensors, or a tensor that it came from."""
        return not self._images.isdisjoint(operand.storage for operand in operands)

    @cached_property
    def _images(self) -> set[int]:
        """The storages that ops of images made or read, and those of the same shape around them."""
        images: set[int] = set()
        for op in self.ops:
            if op.inputs and _IMAGES.search(op.name):
                images.add(op.inputs[0].storage)
                images.update(out.storage for out in op.outputs[:1])
        if images:
            for op in (*self.ops, *reversed(self.ops)):
                neighbours = _image_shaped(op)
                if not neighbours.isdisjoint(images):
                    images |= neighbours
        return images

    def _fits_op(self, op: Event) -> Callable[[Layout], bool]:
        """Return a function that says whether an op takes an operand of a layout without a copy."""
        if op.name in _PRODUCTS:
            return _fits_product
        following = self.ops[min(op.number + 1, len(self.ops) - 1)]
        if following.name == "_unsafe_view" and following.inputs[0] == op.outputs[0]:
            return _has_view(following.outputs[0].shape)
        return Layout.is_contiguous


def _image_shaped(op: Event) -> set[int]:
    """Return the storages of the tensors with the shape of the first output, if that has 4 or 5 dims."""
    if not op.outputs or len(op.outputs[0].shape) not in (4, 5):
        return set()
    out = op.outputs[0]
    return {operand.storage for operand in (*op.inputs, out) if operand.shape == out.shape}


@cache  # the layers of a model repeat the same views
def _viewed(func: Any, args: Any, kwargs: Any, shape: Dims, stride: Dims, dtype: str) -> Any:
    """Return the layouts of the views that an op makes of such a tensor; raise what the op raises."""
    torch_dtype = getattr(torch, dtype.removeprefix("torch."))
    tensor = torch.empty_strided(shape, stride, dtype=torch_dtype, device="meta")
    return [Layout.of(view) for view in tensors_of(func(tensor, *args, **dict(kwargs)))]


def format_of(operand: Operand) -> str:
    """Return the memory format of an operand; "" where it is in none, or in both."""
    formats = _formats(operand.shape, operand.stride) if len(operand.shape) in (4, 5) else []
    return formats[0] if len(formats) == 1 else ""


def is_channels_last(operand: Operand) -> bool:
    """Whether the channels of an operand are last, and cannot be taken for anything else."""
    return format_of(operand).startswith("channels_last")


def key_of(operand: Operand) -> Key:
    """Return all fields of an operand but its version, because a write keeps the layout."""
    return operand[:-1]


def _cause(maker: int, operand: Operand) -> Cause:
    return Cause(maker, None if maker >= 0 else operand)


def has_same_order(a: Operand, b: Operand) -> bool:
    """Whether the elements of two tensors lie in one order of dims."""
    if _have_equal_layouts(a, b):
        return True
    if len(a.shape) != len(b.shape):
        return False
    dims = [d for d, sizes in enumerate(zip(a.shape, b.shape, strict=True)) if 1 not in sizes]
    return _order_of(a, dims) == _order_of(b, dims)


def _order_of(operand: Operand, dims: list[int]) -> tuple[int, ...]:
    """Return the order of some dims, because the place of a dim of size 1 means nothing."""
    shape = tuple([operand.shape[d] for d in dims])
    stride = tuple([operand.stride[d] for d in dims])
    return _order(shape, stride)


def _have_equal_layouts(a: Operand, b: Operand) -> bool:
    return a.shape == b.shape and a.stride == b.stride


def _index_of(op: Event, operand: Operand) -> int:
    keys = [key_of(out) for out in op.outputs]
    return keys.index(key_of(operand))


def _is_in_reading_order(layout: Layout) -> bool:
    """Whether an op that packs its result in this order makes a row-major tensor."""
    stride = packed_stride(layout.shape, reversed(_order(layout.shape, layout.stride)))
    return _is_row_major(layout.shape, stride)


@cache  # the same shape gives the same function, by which causes are remembered
def _has_view(shape: Dims) -> Callable[[Layout], bool]:
    return lambda layout: not layout.why_not_view(shape)


def _fits_product(layout: Layout) -> bool:
    """Whether a product takes a matrix as it lies: one stride is 1, the other spans a row or a column."""
    rows, columns = layout.shape[-2:]
    row_stride, column_stride = layout.stride[-2:]
    is_by_rows = column_stride == 1 and row_stride >= columns
    is_by_columns = row_stride == 1 and column_stride >= rows
    return is_by_rows or is_by_columns
