"""Attention: the heads of a packed projection, what a product clones, and where SDPA's output lies.

`torch.matmul` turns each operand into one batch of matrices (for `bmm`): it expands them to the common
batch dims, and reshapes these to one. That is a view where they merge, else a clone of all that was
expanded. Where a vector or a matrix that requires grad meets more dims, it is not repeated: torch folds the
other operand to one matrix (for `mm`), and clones it where its dims do not merge. These are the rules of
aten/src/ATen/native/LinearAlgebra.cpp.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, items_of, positive, shown
from stridekit.layout import Layout, new_storage
from stridekit.sdpa import (
    Call,
    Ints,
    broadcast,
    call_of,
    operand,
    product_shape,
    require_one_dtype,
    why_math,
    why_no_flash,
)

__all__ = ["Clones", "matmul_copies", "packed_heads", "sdpa_output", "why_no_flash"]


# The heads of a packed projection -------------------------------------------------------------------


def packed_heads(
    batch: int,
    tokens: int,
    heads: int,
    dim: int,
    packing: str = "3HD",
    *,
    kv_heads: int | None = None,
    itemsize: int = 4,
) -> tuple[Layout, Layout, Layout]:
    """The layouts of q, k and v, each (batch, heads, tokens, dim), as views of one packed projection.

    A row of the projection holds all heads of one token, with `itemsize` bytes an element; `packing` is
    the order of its dims from the outermost: "3HD" is all of q, then k, then v; "H3D" has q, k and v of
    each head together; "HD3" interleaves their elements. With fewer `kv_heads` (grouped heads), k and v
    have that many, packed as "3HD". Raises LayoutError for other packings, for sizes below 1, and for heads
    that do not divide into groups.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> k
    Layout(shape=(2, 3, 5, 4), stride=(180, 4, 36, 1), storage_offset=12, itemsize=4)
    >>> packed_heads(2, 5, 3, 4, packing="H3D")[1].stride
    (180, 12, 36, 1)
    >>> packed_heads(2, 5, 8, 4, kv_heads=2)[1]
    Layout(shape=(2, 2, 5, 4), stride=(240, 4, 48, 1), storage_offset=32, itemsize=4)
    """
    sizes = {"3": 3, "H": positive("heads", heads), "D": positive("dim", dim)}
    if not isinstance(packing, str) or sorted(packing) != sorted(sizes):
        raise LayoutError(
            f'packing is {shown(packing)}: give the order of 3, H and D, as in "3HD", "H3D" or "HD3"'
        )
    rows = positive("batch", batch), positive("tokens", tokens)
    groups = heads if kv_heads is None else positive("kv_heads", kv_heads)
    if groups != heads:
        _require_packed_groups(heads, groups, packing)
        cuts = [n * dim for n in (heads, groups, groups)]
        packed = Layout((*rows, sum(cuts)), itemsize=itemsize).split(cuts, 2)
        q, k, v = (x.unflatten(2, (-1, dim)).transpose(1, 2) for x in packed)
        return q, k, v
    row = [sizes[letter] for letter in packing]
    cut = Layout((*rows, prod(row)), itemsize=itemsize).unflatten(2, row)
    three, head, one = (2 + packing.index(letter) for letter in "3HD")
    q, k, v = cut.permute(three, 0, head, 1, one).unbind()
    return q, k, v


def _require_packed_groups(heads: int, groups: int, packing: str) -> None:
    if heads % groups:
        raise LayoutError(
            f"{heads} heads do not divide into {groups} groups: kv_heads divides heads"
        )
    if packing != "3HD":
        raise LayoutError(
            f'packing is {packing!r} with kv_heads={groups} of {heads}: grouped heads are packed as "3HD"'
        )


# What a product clones ------------------------------------------------------------------------------


class Clones(NamedTuple):
    """The bytes that `a @ b` clones: of `a` and of `b` before the product, of its `result` after it.

    >>> Clones(a=480, b=0, result=0)
    Clones(a=480, b=0, result=0)
    >>> sum(Clones(480, 480, 0))
    960
    """

    a: int
    b: int
    result: int


def matmul_copies(a: Any, b: Any, *, requires_grad: Any = (False, False)) -> Clones:
    """The bytes that `torch.matmul(a, b)` clones of each operand, and of its result.

    `a` and `b` are Layouts, tensors or arrays of one dtype, each of 1 dim or more. For Layouts,
    `requires_grad` says of each whether its tensor does; tensors know it. Counted are the clones that a
    dispatch mode sees, and not what `mm` and `bmm` copy inside, which is up to the library that multiplies:
    a matrix without a stride of 1, say (`torch.profiler` shows it). Raises LayoutError for what torch
    cannot multiply, for views that have yet to be conjugated or negated, and off the CPU; TypeError as
    `Layout.of` does.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> matmul_copies(q, k.mT)  # the dims of batch and heads do not merge
    Clones(a=480, b=480, result=0)
    >>> matmul_copies(q[:1], k[:1].mT), matmul_copies(q.contiguous(), k.contiguous().mT)
    (Clones(a=0, b=0, result=0), Clones(a=0, b=0, result=0))
    """
    given = [operand(name, x) for name, x in (("a", a), ("b", b))]
    require_one_dtype(given)
    x, y = (one.layout for one in given)
    flags = zip(given, _two_bools(requires_grad), strict=True)
    x_grad, y_grad = (operand.requires_grad or flag for operand, flag in flags)
    product_shape(x.shape, y.shape)
    if x.ndim == y.ndim == 3 and x.shape[0] != y.shape[0]:  # one matrix for a whole batch
        if x.shape[0] == 1 and x_grad:
            x = x.squeeze(0)
        elif y.shape[0] == 1 and y_grad:
            y = y.squeeze(0)
    if x.ndim > 2 >= y.ndim and y_grad:
        return Clones(_folded_bytes(x), 0, 0)
    if y.ndim > 2 >= x.ndim and x_grad:
        return Clones(0, _folded_bytes(y.mT), _turned_bytes(y.mT, x))
    if x.ndim <= 2 and y.ndim <= 2:
        return Clones(0, 0, 0)
    batch = broadcast(x.shape[:-2], y.shape[:-2])
    return Clones(_batch_bytes(x, batch), _batch_bytes(y, batch), 0)


def _batch_bytes(x: Layout, batch: Ints) -> int:
    """The bytes of an operand that is expanded to these batch dims, if they do not merge to one."""
    matrix = x.shape[-2:]
    return _reshape_bytes(x.expand(*batch, *matrix), (prod(batch), *matrix))


def _folded_bytes(x: Layout) -> int:
    """The bytes of an operand whose dims but the last are folded to one, if they do not merge."""
    return _reshape_bytes(x, (prod(x.shape[:-1]), x.shape[-1]))


def _reshape_bytes(x: Layout, shape: Ints) -> int:
    """The bytes that `x.reshape(shape)` copies."""
    return x.numel * x.itemsize if x.why_not_view(shape) else 0


def _turned_bytes(columns: Layout, x: Layout) -> int:
    """The bytes of a result that was computed transposed, from the folded columns, and is turned back."""
    turned = Layout((*columns.shape[:-1], prod(x.shape[:-1])), itemsize=x.itemsize).mT
    return turned.numel * turned.itemsize if turned.why_not_contiguous() else 0


def _two_bools(requires_grad: Any) -> tuple[bool, bool]:
    found = items_of(requires_grad)
    if found is None or len(found) != 2 or not all(isinstance(one, bool) for one in found):
        raise LayoutError(
            f"requires_grad is {shown(requires_grad)}: give a bool for each operand, as in (False, True)"
        )
    return found[0], found[1]


# The output of scaled_dot_product_attention ---------------------------------------------------------


def sdpa_output(
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    enable_gqa: bool = False,
) -> Layout:
    """The layout of what `scaled_dot_product_attention` returns on the CPU, with torch's parameters.

    On the flash path it has the strides, in elements, of an `empty_like(q)`; on the math path it is
    contiguous. `why_no_flash` tells which one runs if all kernels are enabled, as by default. Operands are
    Layouts, tensors or arrays; Layouts count as floats, and a mask of 1 byte an element as bools. Raises
    LayoutError for what torch refuses or answers wrongly, for sizes of 0, for views that have yet to be
    negated, and off the CPU; TypeError as `Layout.of` does.

    Two calls torch 2.13 answers wrongly, both on its flash path: it takes the number of tokens from v, so
    it reads on behind a shorter k; and it writes as if `empty_like(q)` had a last stride of 1, which that
    of overlapping windows has not.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> out = sdpa_output(q, k, v)
    >>> out.stride, out.transpose(1, 2).why_not_view(2, 5, 12)  # heads merge without a copy
    ((60, 4, 12, 1), '')
    >>> sdpa_output(q.contiguous(), k, v).transpose(1, 2).why_not_view(2, 5, 12)
    'dims 2 and 3 do not merge (stride 20 found, 4 needed), ...'
    """
    call = call_of(q, k, v, attn_mask, dropout_p, is_causal, enable_gqa)
    if why_math(call):
        return _by_math(call)
    out = call.q.clone()  # as empty_like
    if out.shape[-1] > 1 and out.stride[-1] != 1:
        raise LayoutError(
            f"q has shape {call.q.shape}, stride {call.q.stride}: empty_like(q) has a last stride of "
            f"{out.stride[-1]}, and torch 2.13 writes its output as if that were 1. Give q.contiguous()"
        )
    return out


def _by_math(call: Call) -> Layout:
    """The output of the math path, which ends with the weights times v."""
    weights, v = call.weights, call.v.shape
    one_of_many = len(weights) == len(v) == 3 and weights[0] == 1 != v[0]
    *batch, rows, columns = call.shape
    if call.weights_require_grad and (one_of_many or len(weights) == 2 < len(v)):
        # torch folds v, computes the product transposed, and turns it back where that is not contiguous.
        folded = Layout((*batch, columns, rows), itemsize=call.q.itemsize, storage=new_storage())
        return folded.mT.contiguous()
    return Layout(call.shape, itemsize=call.q.itemsize, storage=new_storage())
