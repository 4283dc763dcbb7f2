"""Attention: the heads of a packed projection, what a product clones, and where SDPA's output lies.

`torch.matmul` turns each operand into one batch of matrices (for `bmm`): it expands them to the common
batch dims, and reshapes these to one. That is a view where they merge, else a clone of all that was
expanded. A vector or a matrix that requires grad is not repeated where it meets more dims. Instead torch
folds the other operand to one matrix (for `mm`), and clones it where its dims do not merge. torch itself
answers, on meta tensors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from stridekit._arguments import LayoutError, Strided, items_of, positive, shown
from stridekit.layout import Layout, new_storage
from stridekit.sdpa import DTYPES, call_on_meta, meta_tensors, reason_and_output, why_no_flash

__all__ = ["Clones", "matmul_copies", "packed_heads", "sdpa_output", "why_no_flash"]


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
    """Return q, k and v, each (batch, heads, tokens, dim), as views of one packed projection.

    A row of the projection holds all heads of one token, with `itemsize` bytes an element; `packing` is the
    order of its dims from the outermost: "3HD" has all of q, then k, then v, "H3D" has q, k and v of each
    head together, and "HD3" interleaves their elements. With fewer `kv_heads` (grouped heads), k and v have
    that many, packed as "3HD". Raises LayoutError for other packings, sizes and groups.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> k
    Layout(shape=(2, 3, 5, 4), stride=(180, 4, 36, 1), storage_offset=12, itemsize=4)
    >>> packed_heads(2, 5, 3, 4, packing="H3D")[1].stride, packed_heads(2, 5, 8, 4, kv_heads=2)[1].stride
    ((180, 12, 36, 1), (240, 4, 48, 1))
    """
    sizes = {"3": 3, "H": positive("heads", heads), "D": positive("dim", dim)}
    if not isinstance(packing, str) or sorted(packing) != sorted(sizes):
        raise LayoutError(
            f"packing is {shown(packing)}: give the order of 3, H and D, "
            'as in "3HD", "H3D" or "HD3"'
        )
    rows = positive("batch", batch), positive("tokens", tokens)
    groups = heads if kv_heads is None else positive("kv_heads", kv_heads)
    if groups != heads:
        if heads % groups:
            raise LayoutError(
                f"{heads} heads do not divide into {groups} groups: kv_heads divides heads"
            )
        if packing != "3HD":
            raise LayoutError(
                f"packing is {packing!r} with kv_heads={groups} of {heads}: "
                'grouped heads are packed as "3HD"'
            )
        sections = [n * dim for n in (heads, groups, groups)]
        projection = Layout((*rows, sum(sections)), itemsize=itemsize)
        pieces = projection.split(sections, 2)
        q, k, v = (piece.unflatten(2, (-1, dim)).transpose(1, 2) for piece in pieces)
        return q, k, v
    projection = Layout((*rows, 3 * heads * dim), itemsize=itemsize)
    unpacked = projection.unflatten(2, [sizes[letter] for letter in packing])
    three_dim, head_dim, element_dim = (2 + packing.index(letter) for letter in "3HD")
    q, k, v = unpacked.permute(three_dim, 0, head_dim, 1, element_dim).unbind()
    return q, k, v


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


def matmul_copies(a: Strided, b: Strided, *, requires_grad: Any = (False, False)) -> Clones:
    """Return the bytes that `torch.matmul(a, b)` clones of each operand, and of its result.

    `a` and `b` are Layouts, tensors or arrays of one dtype, each of 1 dim or more. For Layouts,
    `requires_grad` states for each whether its tensor requires grad. Copies inside `mm` and `bmm`, for
    example of a matrix without a stride of 1, do not count. Raises LayoutError for what torch cannot
    multiply, for views that have yet to be conjugated or negated, and off the CPU; TypeError as
    `Layout.of` does.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> matmul_copies(q, k.mT)  # the dims of batch and heads do not merge
    Clones(a=480, b=480, result=0)
    >>> matmul_copies(q[:1], k[:1].mT), matmul_copies(q.contiguous(), k.contiguous().mT)
    (Clones(a=0, b=0, result=0), Clones(a=0, b=0, result=0))
    """
    flags = items_of(requires_grad)
    if flags is None or list(map(type, flags)) != [bool, bool]:
        raise LayoutError(
            f"requires_grad is {shown(requires_grad)}: "
            "give a bool for each operand, as in (False, True)"
        )
    operands = meta_tensors({"a": a, "b": b}, DTYPES)
    for operand, flag in zip(operands, flags, strict=True):
        if flag and (operand.is_floating_point() or operand.is_complex()):
            operand.requires_grad_()
    clones = _Clones()

    def multiply(*operands: torch.Tensor) -> None:
        with clones:
            torch.matmul(*operands)

    call_on_meta(multiply, *operands)
    of_a, of_b = (clones.bytes.pop(operand.untyped_storage()._cdata, 0) for operand in operands)
    return Clones(of_a, of_b, result=sum(clones.bytes.values()))


class _Clones(TorchDispatchMode):
    """Adds up the bytes that are cloned of each storage."""

    _should_skip_dynamo = classmethod(lambda cls: False)  # else torch loads its compiler, for 1 s

    def __init__(self) -> None:
        super().__init__()
        self.bytes: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **kwargs or {})
        if func is torch.ops.aten.clone.default:
            storage = args[0].untyped_storage()._cdata
            self.bytes[storage] = self.bytes.get(storage, 0) + result.nbytes
        return result


def sdpa_output(
    q: Strided,
    k: Strided,
    v: Strided,
    attn_mask: Strided | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    enable_gqa: bool = False,
) -> Layout:
    """Return the layout of what `scaled_dot_product_attention` returns on the CPU, with torch's parameters.

    On the flash path it has the strides, in elements, of an `empty_like(q)`; on the math path it is
    contiguous. `why_no_flash` tells which one runs. Operands are Layouts, tensors or arrays; Layouts count
    as floats, and a mask of 1 byte an element as bools. Raises LayoutError for what torch refuses or
    answers wrongly, for sizes of 0, for views that have yet to be negated, and off the CPU; TypeError as
    `Layout.of` does.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> out = sdpa_output(q, k, v)
    >>> out.stride, out.transpose(1, 2).why_not_view(2, 5, 12)  # heads merge without a copy
    ((60, 4, 12, 1), '')
    >>> sdpa_output(q.contiguous(), k, v).transpose(1, 2).why_not_view(2, 5, 12)
    'dims 2 and 3 do not merge (stride 20 found, 4 needed), ...'
    """
    reason, output = reason_and_output(q, k, v, attn_mask, dropout_p, is_causal, enable_gqa)
    like = Layout.of(q)
    if reason:
        return Layout(output.shape, output.stride(), itemsize=like.itemsize, storage=new_storage())
    out = like.clone()  # as empty_like
    if out.shape[-1] > 1 and out.stride[-1] != 1:
        raise LayoutError(
            f"q has shape {like.shape}, stride {like.stride}: empty_like(q) has a last stride of "
            f"{out.stride[-1]}, and torch 2.13 writes its output as if that were 1. Give q.contiguous()"
        )
    return out
