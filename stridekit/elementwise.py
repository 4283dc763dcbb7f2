"""Elementwise operations: what is cast first, the loops that really run, and the layout of the result.

Elementwise operations such as `a + b` run as one loop nest over all operands at once (torch's
TensorIterator). If the operands lie alike in memory, it is a single loop from end to end. Otherwise
the dims are sorted by their strides, so that the innermost loop steps to close neighbours; the
result is packed in that order; and loops that step evenly for every operand are merged.

The operation computes in the common dtype (`torch.result_type`). On the CPU torch first casts an
operand of another dtype into a copy, and writes a given output of another dtype through a
contiguous copy. (A GPU casts each element as it passes.) On any device, a view that has yet to be
conjugated or negated is cloned.

A Layout has no dtype. Layouts of one itemsize count as one dtype; layouts of two itemsizes are
refused. Pass operands that an operation itself casts as already cast: `/` makes floats of ints, and
`where` takes a condition as wide as the others.

The rules, and their names in the comments here, are those of aten/src/ATen/TensorIterator.cpp;
conjugated and negated views follow aten/src/ATen/native/MathBitsFallback.h.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import prod
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, Strided
from stridekit._torch import borrowed
from stridekit.layout import Layout, new_storage
from stridekit.rules import Ints, contiguous_stride, packed_stride, sort_dims, stride_in_format

MOST_OPERANDS = 1000  # far more than any operation has


class Loop(NamedTuple):
    """One loop of the nest: how often it runs, and how far each operand moves each time."""

    size: int
    steps: Ints


def broadcast_tensors(*layouts: Strided) -> tuple[Layout, ...]:
    """`torch.broadcast_tensors`: all layouts expanded to their common shape.

    A repeated dim has a stride of 0 elements. Raises LayoutError if the shapes do not broadcast,
    TypeError as `Layout.of` does.

    >>> broadcast_tensors(Layout((3, 1)), Layout((4,)))  # doctest: +NORMALIZE_WHITESPACE
    (Layout(shape=(3, 4), stride=(1, 0), storage_offset=0, itemsize=1),
     Layout(shape=(3, 4), stride=(0, 1), storage_offset=0, itemsize=1))
    """
    operands = _layouts_of(layouts)
    shape = _broadcast_shape(operands)
    return tuple(operand.expand(shape) for operand in operands)


def output_layout(*layouts: Strided, itemsize: int | None = None) -> Layout:
    """Return the layout of the new tensor that an elementwise operation on these operands returns.

    Operands are tensors and arrays, which torch on the CPU first casts to their common dtype, or
    Layouts, which count as one dtype. `itemsize` is that of the result in bytes, 1 for a
    comparison; without it, that of the common dtype. Raises LayoutError if the shapes do not
    broadcast, if the dtypes have no common one, and for Layouts among operands of several dtypes;
    TypeError as `Layout.of` does.

    >>> output_layout(Layout((3, 1)), Layout((4,)), itemsize=4)
    Layout(shape=(3, 4), stride=(4, 1), storage_offset=0, itemsize=4, storage='new ...')
    """
    shape = _broadcast_shape(_layouts_of(layouts))
    operands, common = as_computed(layouts)
    size = common if itemsize is None else itemsize
    return _result(shape, [operand.layout for operand in operands], size)


def loop_nest(*layouts: Strided, out: Strided | None = None) -> tuple[Layout, ...]:
    """Return the loops of an elementwise operation: one layout for the output, then one for each input.

    Their common shape has the sizes of the loops, outermost first; each has the strides by which
    its operand moves. An operand that torch casts first takes part as its copy (`copied` is True).
    `out` is a given output, and helps to decide the order of the loops. Raises LayoutError for an
    `out` of another shape, which torch would resize, and like `output_layout`; TypeError as
    `Layout.of` does.

    >>> x = Layout((4, 6))
    >>> [nest.shape for nest in loop_nest(x, x)]  # both contiguous: one loop
    [(24,), (24,), (24,)]
    >>> [nest.stride for nest in loop_nest(x.t(), Layout((6, 1)))]  # the result lies as x.t() does
    [(6, 1), (6, 1), (0, 1)]
    """
    shape = _broadcast_shape(_layouts_of(layouts))
    if out is not None:
        _require_output(Layout.of(out), shape)
    operands, common = as_computed(layouts, out)
    computed = [operand.layout for operand in operands]
    if _common_stride(computed) is None:
        strides = _broadcast_strides(shape, computed)
        order = sort_dims(shape, *strides)
        if out is None:  # the output is new, and packed in the order of the visits
            strides = [packed_stride(shape, order), *strides]
        steps = list(zip(*strides, strict=True))  # in each dim, the step of each operand
        loops = _merged([Loop(shape[d], steps[d]) for d in order])
    elif shape:
        loops = [Loop(prod(shape), (1,) * (1 + len(layouts)))]
    else:  # a 0-d operation has no loop at all
        loops = []
    if out is None:
        computed = [_result(shape, computed, common), *computed]
    loops.reverse()
    sizes = tuple(loop.size for loop in loops)
    looped = []
    for i, operand in enumerate(computed):
        stride = tuple(loop.steps[i] for loop in loops)
        looped.append(replace(operand, shape=sizes, stride=stride))
    return tuple(looped)


# One loop for all: fast_set_up --------------------------------------------------------------------


def _common_stride(operands: list[Layout]) -> Ints | None:
    """Return the stride of the result if one loop from end to end visits all operands alike, else None."""
    first = operands[0]
    if any(x.shape != first.shape for x in operands):
        return None
    for name in ("contiguous_format", "channels_last"):  # not channels_last_3d, as in torch
        if all(x.is_contiguous(name) for x in operands):
            return stride_in_format(first.shape, name)
    if all(x.stride == first.stride for x in operands) and first.is_dense():
        return first.stride
    return None


# Loops in the order of the strides: reorder_dimensions, coalesce_dimensions -----------------------


def _result(shape: Ints, inputs: list[Layout], itemsize: int) -> Layout:
    """Return the new tensor: it lies as the inputs do, or is packed in the order of the visits."""
    stride = _common_stride(inputs)
    if stride is None:
        order = sort_dims(shape, *_broadcast_strides(shape, inputs))
        is_row_major = order == [*range(len(shape))][::-1]
        # contiguous_stride counts a size of 0 as 1, packed_stride does not.
        stride = contiguous_stride(shape) if is_row_major else packed_stride(shape, order)
    return Layout(shape, stride, 0, itemsize, storage=new_storage())


def _broadcast_strides(shape: Ints, operands: list[Layout]) -> list[Ints]:
    """Return the stride of each operand over the common shape, 0 in a repeated dim."""
    strides = []
    for operand in operands:
        new_dims = len(shape) - operand.ndim
        stride = [0] * new_dims
        for d, step in enumerate(operand.stride):
            is_repeated = operand.shape[d] == 1 and shape[new_dims + d] != 1
            stride.append(0 if is_repeated else step)
        strides.append(tuple(stride))
    return strides


def _merged(loops: list[Loop]) -> list[Loop]:
    """Return the same visits in as few loops as torch needs."""
    merged = loops[:1]
    for outer in loops[1:]:
        inner = merged[-1]
        if inner.size == 1:  # it never moves: the steps of the outer one count
            merged[-1] = outer
        elif outer.size == 1 or outer.steps == tuple(inner.size * step for step in inner.steps):
            merged[-1] = Loop(inner.size * outer.size, inner.steps)
        else:
            merged.append(outer)
    return merged


# Operands that are cast first: compute_types ------------------------------------------------------


class Computed(NamedTuple):
    """An operand as the loops see it, and the reason if that is a copy; "" for the operand itself."""

    layout: Layout
    why_copied: str = ""


class _Operand(NamedTuple):
    """An operand as it was passed; a Layout has no dtype and no device."""

    layout: Layout
    dtype: Any = None
    device: str = "cpu"
    why_cloned: str = ""


def as_computed(inputs: Sequence[Any], out: Any = None) -> tuple[list[Computed], int]:
    """Return the operands as the loops see them, a given `out` first, and the itemsize of the common dtype.

    Raises LayoutError for Layouts among operands of several dtypes, and for dtypes that torch lacks
    or does not promote; TypeError as `Layout.of` does.
    """
    operands = [_operand_from(f"operand {i}", x) for i, x in enumerate(inputs)]
    outputs = [] if out is None else [_operand_from("out", out)]
    common = _common_dtype(operands)
    itemsize = operands[0].layout.itemsize if common is None else common.itemsize
    # A meta tensor stands for one on the CPU, as in torch's own meta functions.
    casts = all(x.device in ("cpu", "meta") for x in operands)
    computed = [_as_output(x, common, itemsize, casts) for x in outputs]
    computed += [_as_input(x, common, casts) for x in operands]
    return computed, itemsize


def _as_input(x: _Operand, common: Any, casts: bool) -> Computed:
    """Return the input: itself, its cast into a copy, or its clone."""
    if casts and x.dtype not in (None, common):
        copy = x.layout.to(common.itemsize, copy=True)
        return Computed(copy, f"{x.dtype} is cast to {common}")
    return _materialized(x)


def _as_output(x: _Operand, common: Any, itemsize: int, casts: bool) -> Computed:
    """Return the output; bools are those of a comparison, which writes them without a cast."""
    if str(x.dtype) == "torch.bool":
        return _materialized(x)
    if None in (x.dtype, common) and x.layout.itemsize != itemsize:
        raise LayoutError(
            f"out has elements of {x.layout.itemsize} bytes, the operands of {itemsize}: torch writes "
            "to an out of another dtype by way of a copy, and a Layout has no dtype. Give (meta) tensors"
        )
    if casts and None not in (x.dtype, common) and x.dtype != common:
        copy = x.layout.to(itemsize, memory_format="contiguous_format", copy=True)
        return Computed(copy, f"{common} is cast to {x.dtype}")
    return _materialized(x)


def _materialized(x: _Operand) -> Computed:
    """Return the operand itself, or the clone that torch makes of a conjugated or negated view."""
    if x.why_cloned:
        return Computed(x.layout.clone(), x.why_cloned)
    return Computed(x.layout)


def _operand_from(name: str, x: Any) -> _Operand:
    """Return the layout and the dtype of an operand; the name is for an error."""
    if isinstance(x, Layout):
        return _Operand(x)
    x = borrowed(x)
    layout = Layout.of(x)
    torch = sys.modules["torch"]  # `import stridekit` has loaded it
    if isinstance(x.dtype, torch.dtype):
        why_cloned = ""
        if x.is_conj():
            why_cloned = "it has yet to be conjugated"
        elif x.is_neg():
            why_cloned = "it has yet to be negated"
        return _Operand(layout, x.dtype, x.device.type, why_cloned)
    array = sys.modules["numpy"].empty(0, x.dtype)
    try:
        return _Operand(layout, torch.from_numpy(array).dtype)
    except (TypeError, ValueError):
        raise LayoutError(
            f"{name} is not a torch tensor: it is an array of {x.dtype!r}, which torch does not have: "
            "convert it with .astype()"
        ) from None


def _common_dtype(operands: Sequence[_Operand]) -> Any:
    """Return the dtype in which torch computes; None if all operands are Layouts."""
    dtypes = list(dict.fromkeys(x.dtype for x in operands if x.dtype is not None))
    itemsizes = {x.layout.itemsize for x in operands}
    for i, x in enumerate(operands):
        if x.dtype is None and (dtypes[1:] or itemsizes != {x.layout.itemsize}):
            names = dict.fromkeys(str(y.dtype or f"itemsize {y.layout.itemsize}") for y in operands)
            raise LayoutError(
                f"the operands are of different dtypes ({', '.join(names)}): torch casts some of them into "
                f"dense copies first, and operand {i}, a Layout, does not say whether it is one of those. "
                "Give (meta) tensors, or the layout of the copy: layout.to(itemsize=…)"
            )
    if len(dtypes) < 2:
        return dtypes[0] if dtypes else None
    torch = sys.modules["torch"]
    # 0-d operands decide only if they are of a higher kind: bool, int, float, complex. So
    # result_type gets a tensor with dims and a 0-d tensor, each of the dtype that stands for all
    # such operands.
    dtypes_by_shape = {
        (1,): [x.dtype for x in operands if x.layout.ndim],
        (): [x.dtype for x in operands if not x.layout.ndim],
    }
    try:
        tensors = []
        for shape, shape_dtypes in dtypes_by_shape.items():
            if shape_dtypes:
                dtype = reduce(torch.promote_types, shape_dtypes)
                tensors.append(torch.empty(shape, dtype=dtype, device="cpu"))
        return torch.result_type(tensors[0], tensors[-1])
    except RuntimeError:
        raise LayoutError(
            f"torch promotes {' and '.join(map(str, dtypes))} to no common dtype: "
            "cast one first, as in x.to(torch.float32)"
        ) from None


# Operands -----------------------------------------------------------------------------------------


def _layouts_of(layouts: tuple[Any, ...]) -> list[Layout]:
    """Return the layouts of the operands; raises LayoutError if no tensor can have one."""
    if not layouts:
        raise LayoutError("no operands: give at least one layout")
    if len(layouts) > MOST_OPERANDS:
        raise LayoutError(f"{len(layouts):,} operands: give {MOST_OPERANDS:,} at most")
    operands = [Layout.of(layout) for layout in layouts]
    for i, operand in enumerate(operands):
        if operand.why_not_torch():
            raise LayoutError(f"operand {i} is not a torch tensor: {operand.why_not_torch()}")
    return operands


def _broadcast_shape(operands: list[Layout]) -> Ints:
    """Return the shape to which all operands expand: sizes align at the last dim, and 1 fits any size."""
    ndim = max(x.ndim for x in operands)
    shape = [1] * ndim
    for i, operand in enumerate(operands):
        for d, size in enumerate(operand.shape, start=ndim - operand.ndim):
            if size not in (1, shape[d]) and shape[d] != 1:
                shapes = ", ".join(str(x.shape) for x in operands)
                raise LayoutError(
                    f"shapes {shapes} do not broadcast: dim {d} of the result would be {shape[d]}, but "
                    f"operand {i} has {size} there, and only a size of 1 is repeated"
                )
            shape[d] = shape[d] if size == 1 else size
    return tuple(shape)


def _require_output(out: Layout, shape: Ints) -> None:
    """Raise LayoutError for a given output that torch would resize, or refuse to write to."""
    if out.shape != shape:
        raise LayoutError(f"out has shape {out.shape}, the result has {shape}: give one like it")
    if out.why_not_torch():
        raise LayoutError(f"out is not a torch tensor: {out.why_not_torch()}")
    for d, (size, step) in enumerate(zip(out.shape, out.stride, strict=True)):
        if out.numel and size > 1 and step == 0:
            raise LayoutError(
                f"dim {d} of out has stride 0: its {size} indices would all write to one element. "
                "Use .clone() of it"
            )
