"""What an elementwise operation copies before its loops run: above all, operands of another dtype.

`a + b` computes in one dtype, the common one (`torch.result_type`). On the CPU an operand of another dtype
is first cast into a copy, dense as that of `x.to(dtype)`, and the loops read the copy; a given output of
another dtype is written by way of a contiguous one. (A GPU casts each element as it passes.) And on any
device, a view that has yet to be conjugated or negated (`x.is_conj()`, `x.is_neg()`) is cloned first.

A Layout has no dtype. Layouts of one itemsize are taken to be of one dtype; which of two itemsizes would be
cast cannot be known, and is refused.

The rules are those of `compute_types` in aten/src/ATen/TensorIterator.cpp, and for what is conjugated or
negated those of aten/src/ATen/native/MathBitsFallback.h.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError
from stridekit.layout import Layout


class Computed(NamedTuple):
    """An operand as the loops see it, and why that is a copy; "" where it is the operand itself."""

    layout: Layout
    why_copied: str = ""


class _Given(NamedTuple):
    """What was handed in; a Layout has neither a dtype nor a device."""

    layout: Layout
    dtype: Any = None
    device: str = "cpu"
    lazy: str = ""


def as_computed(inputs: Sequence[Any], out: Any = None) -> tuple[list[Computed], int]:
    """The operands as the loops see them, a given `out` first, and the itemsize of the common dtype.

    Raises LayoutError for Layouts among operands of several dtypes, and for dtypes that torch does not
    have or does not promote; TypeError as `Layout.of` does.

    >>> import torch
    >>> x, y = torch.empty(4, 1).expand(4, 2), torch.empty(4, 2, dtype=torch.float64)
    >>> operands, itemsize = as_computed([x, y])
    >>> operands[0].why_copied, operands[0].layout.stride, itemsize
    ('torch.float32 is cast to torch.float64', (2, 1), 8)
    """
    given = [_given(f"operand {i}", x) for i, x in enumerate(inputs)]
    target = [] if out is None else [_given("out", out)]
    common = _common_dtype(given)
    itemsize = given[0].layout.itemsize if common is None else common.itemsize
    # A meta tensor stands for one on the CPU, as in torch's own meta functions.
    casts = all(x.device in ("cpu", "meta") for x in given)
    operands = [_written(x, common, itemsize, casts) for x in target]
    return operands + [_read(x, common, casts) for x in given], itemsize


def _read(x: _Given, common: Any, casts: bool) -> Computed:
    if casts and x.dtype not in (None, common):
        copy = x.layout.to(common.itemsize, copy=True)
        return Computed(copy, f"{x.dtype} is cast to {common}")
    return _itself(x)


def _written(x: _Given, common: Any, itemsize: int, casts: bool) -> Computed:
    """The output; one of bools is that of a comparison, which writes them without a cast."""
    if str(x.dtype) == "torch.bool":
        return _itself(x)
    if None in (x.dtype, common) and x.layout.itemsize != itemsize:
        raise LayoutError(
            f"out has elements of {x.layout.itemsize} bytes, the operands of {itemsize}: torch writes "
            "to an out of another dtype by way of a copy, unless it is that of a comparison, and a Layout "
            "has no dtype. Give tensors (meta tensors will do), or an out of the operands' itemsize"
        )
    if casts and None not in (x.dtype, common) and x.dtype != common:
        copy = x.layout.to(itemsize, memory_format="contiguous_format", copy=True)
        return Computed(copy, f"{common} is cast to {x.dtype}")
    return _itself(x)


def _itself(x: _Given) -> Computed:
    return Computed(x.layout.clone(), x.lazy) if x.lazy else Computed(x.layout)


def _given(name: str, x: Any) -> _Given:
    layout = Layout.of(x)
    if isinstance(x, Layout):
        return _Given(layout)
    torch = sys.modules["torch"]
    if isinstance(x.dtype, torch.dtype):
        lazy = "it has yet to be negated" if x.is_neg() else ""
        lazy = "it has yet to be conjugated" if x.is_conj() else lazy
        return _Given(layout, x.dtype, x.device.type, lazy)
    array = sys.modules["numpy"].empty(0, x.dtype)
    try:
        return _Given(layout, torch.from_numpy(array).dtype)
    except (TypeError, ValueError):
        raise LayoutError(
            f"{name} is no torch tensor: it is an array of {x.dtype!r}, which torch does not have. "
            "Convert it with .astype() first"
        ) from None


def _common_dtype(given: Sequence[_Given]) -> Any:
    """The dtype in which torch computes; None where all operands are Layouts."""
    dtypes = list(dict.fromkeys(x.dtype for x in given if x.dtype is not None))
    for i, x in enumerate(given):
        if x.dtype is None and (
            dtypes[1:] or any(x.layout.itemsize != y.layout.itemsize for y in given)
        ):
            kinds = dict.fromkeys(str(y.dtype or f"itemsize {y.layout.itemsize}") for y in given)
            raise LayoutError(
                f"the operands are of different dtypes ({', '.join(kinds)}): torch casts some of them into "
                f"dense copies first, and operand {i}, a Layout, does not say whether it is one of those. "
                "Give tensors (meta tensors will do), or the layout of the copy: layout.to(itemsize=…)"
            )
    if len(dtypes) < 2:
        return dtypes[0] if dtypes else None
    torch = sys.modules["torch"]
    # Operands of no dims decide only where they are of a higher kind: bool, int, float, complex.
    groups = {ndim: [x.dtype for x in given if bool(x.layout.ndim) == ndim] for ndim in (1, 0)}
    try:
        each = [
            torch.empty((1,) * ndim, dtype=reduce(torch.promote_types, some), device="cpu")
            for ndim, some in groups.items()
            if some
        ]
        return torch.result_type(each[0], each[-1])
    except RuntimeError:
        raise LayoutError(
            f"torch promotes {' and '.join(map(str, dtypes))} to no common dtype: cast one of the operands "
            "first, as in x.to(torch.float32)"
        ) from None
