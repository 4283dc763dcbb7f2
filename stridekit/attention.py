"""Attention: the heads of a packed projection, what a product clones, and where SDPA's output lies.

`torch.matmul` makes one batch of matrices of each operand (for `bmm`): it is expanded to the common batch
dims, which are then reshaped to one. That is a view where they merge, else a clone of all that was
expanded. Where a vector or a matrix that requires grad meets more dims, it is not repeated: the other
operand is folded to one matrix (for `mm`), by a clone where its dims do not merge.

`scaled_dot_product_attention` has two paths on the CPU. The flash kernel writes to an `empty_like(q)`, so
its output lies in the order of q's dims; the math path is made of matmuls, and its output is contiguous.
Nothing says which one runs, so `why_no_flash` does.

The rules hold for the CPU, and for meta tensors, which stand for it. They are those of
aten/src/ATen/native/LinearAlgebra.cpp, and of sdp_utils_cpp.h and attention.cpp in native/transformers.
A Layout stands for a tensor that requires no grad, and in SDPA for one of floats.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, a_kind, items_of, many, positive, shown
from stridekit.elementwise import broadcast_tensors
from stridekit.layout import Layout, new_storage

__all__ = ["Clones", "matmul_copies", "packed_heads", "sdpa_output", "why_no_flash"]

Ints = tuple[int, ...]

# What SDPA computes with, and the bytes of an element of these.
FLOATS, FLOAT_BYTES = ("float16", "bfloat16", "float32", "float64"), (2, 4, 8)


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
    given = [_operand(name, x) for name, x in (("a", a), ("b", b))]
    _require_one_dtype(given)
    x, y = (one.layout for one in given)
    flags = zip(given, _two_bools(requires_grad), strict=True)
    x_grad, y_grad = (operand.requires_grad or flag for operand, flag in flags)
    _product_shape(x.shape, y.shape)
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
    batch = _broadcast(x.shape[:-2], y.shape[:-2])
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


def _product_shape(x: Ints, y: Ints) -> Ints:
    """The shape of `x @ y`."""
    if not x or not y:
        raise LayoutError(
            f"shapes {x} and {y} have no product: matmul takes 1 dim or more, use * for numbers"
        )
    rows, inner = x[-2:-1], y[-2] if len(y) > 1 else y[0]
    if x[-1] != inner:
        raise LayoutError(
            f"shapes {x} and {y} have no product: rows of {x[-1]} elements meet columns of {inner}; "
            "transpose one operand with .mT if you meant its columns"
        )
    return (*_broadcast(x[:-2], y[:-2]), *rows, *(y[-1:] if len(y) > 1 else ()))


def _broadcast(x: Ints, y: Ints) -> Ints:
    """The common shape of two batches."""
    try:
        return broadcast_tensors(Layout(x), Layout(y))[0].shape
    except LayoutError:
        raise LayoutError(
            f"batch dims {x} and {y} do not broadcast: only a size of 1 is repeated; permute, or "
            "index one operand to the other's batch"
        ) from None


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
    call = _call(q, k, v, attn_mask, dropout_p, is_causal, enable_gqa)
    if _why_math(call):
        return _by_math(call)
    out = call.q.clone()  # as empty_like
    if out.shape[-1] > 1 and out.stride[-1] != 1:
        raise LayoutError(
            f"q has shape {call.q.shape}, stride {call.q.stride}: empty_like(q) has a last stride of "
            f"{out.stride[-1]}, and torch 2.13 writes its output as if that were 1. Give q.contiguous()"
        )
    return out


def why_no_flash(
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    enable_gqa: bool = False,
) -> str:
    """The reason for which `scaled_dot_product_attention` takes the math path on the CPU, or "".

    It is the first of torch's conditions that fails, with its sizes, or strides in elements. Takes what
    `sdpa_output` takes, and raises like that.

    >>> q, k, v = packed_heads(batch=2, tokens=5, heads=3, dim=4)
    >>> why_no_flash(q, k, v)
    ''
    >>> why_no_flash(q, k[:1], v[:1])
    'q, k and v have batches of 2, 1 and 1: flash repeats none, expand them first (it copies nothing)'
    >>> why_no_flash(q, k[:1].expand(2, 3, 5, 4), v[:1].expand(2, 3, 5, 4))
    ''
    """
    return _why_math(_call(q, k, v, attn_mask, dropout_p, is_causal, enable_gqa))


class _Call(NamedTuple):
    """A call that torch takes, and the shapes of its attention weights and of its output."""

    q: Layout
    k: Layout
    v: Layout
    mask: Layout | None
    mask_requires_grad: bool
    weights_require_grad: bool
    dropout: float
    grouped: bool
    weights: Ints
    shape: Ints


def _call(
    q: Any, k: Any, v: Any, attn_mask: Any, dropout_p: Any, is_causal: Any, enable_gqa: Any
) -> _Call:
    """The call, checked as torch checks it."""
    given = [_operand(name, x) for name, x in (("q", q), ("k", k), ("v", v))]
    _require_one_dtype(given)
    _require_floats(given)
    for name, flag in (("is_causal", is_causal), ("enable_gqa", enable_gqa)):
        if not isinstance(flag, bool):
            raise LayoutError(f"{name} is {shown(flag)}, {a_kind(flag)}: give True or False")
    number = isinstance(dropout_p, (int, float)) and not isinstance(dropout_p, bool)
    if not number or not 0 <= dropout_p <= 1:
        raise LayoutError(f"dropout_p is {shown(dropout_p)}: give a probability from 0 to 1")
    x, y, z = (one.layout for one in given)
    weights, shape = _sdpa_shapes(x.shape, y.shape, z.shape, enable_gqa)
    by_grad = _hands_on_grad(q) or _hands_on_grad(k)
    call = _Call(x, y, z, None, False, by_grad, dropout_p, enable_gqa, weights, shape)
    if attn_mask is None:
        return call
    mask = _operand("attn_mask", attn_mask)
    _require_mask(mask, given, weights)
    by_grad |= _hands_on_grad(attn_mask)
    call = _Call(x, y, z, mask.layout, mask.requires_grad, by_grad, *call[6:])
    if is_causal and _why_math(call):
        raise LayoutError(
            "the math path takes attn_mask or is_causal, not both, and flash does not run here: "
            f"{_why_math(call)}. Write the causal mask into attn_mask"
        )
    return call


def _sdpa_shapes(q: Ints, k: Ints, v: Ints, grouped: bool) -> tuple[Ints, Ints]:
    """The shapes of the attention weights, and of the output."""
    if 0 in (*q, *k, *v):
        raise LayoutError(
            f"q, k and v have shapes {q}, {k} and {v}: without elements nothing is attended to, and torch "
            "takes neither path. Give sizes of 1 or more"
        )
    fewest = 3 if grouped else 2
    if min(len(q), len(k), len(v)) < fewest:
        raise LayoutError(
            f"q, k and v have {len(q)}, {len(k)} and {len(v)} dims: SDPA takes {fewest} or more, the last "
            f"are {'heads, ' * grouped}tokens and head dim"
        )
    if k[-2] != v[-2]:
        raise LayoutError(
            f"k has {k[-2]} tokens, v has {v[-2]}: each key needs a value. On its flash path torch 2.13 "
            "takes the number from v and reads on behind a shorter k, so cut both to one length"
        )
    if q[-1] != k[-1]:
        raise LayoutError(
            f"q has a head dim of {q[-1]}, k of {k[-1]}: each query meets each key, so give both one size"
        )
    if grouped:
        _require_groups(q[-3], k[-3], v[-3])
        k, v = ((*x[:-3], q[-3], *x[-2:]) for x in (k, v))
    weights = _product_shape(q, (*k[:-2], k[-1], k[-2]))
    return weights, _product_shape(weights, v)


def _require_groups(q: int, k: int, v: int) -> None:
    if q % k or q % v:
        raise LayoutError(
            f"q, k and v have {q}, {k} and {v} heads: with enable_gqa those of k and v divide those of q"
        )


def _require_mask(mask: _Operand, qkv: list[_Operand], weights: Ints) -> None:
    """Raise LayoutError for a mask that torch does not add to weights of this shape."""
    shape, theirs = mask.layout.shape, {x.dtype for x in qkv} - {""}
    as_wide = mask.layout.itemsize in (1, 4, qkv[0].layout.itemsize)
    if not as_wide or mask.dtype not in ("", "bool", "float32", *(theirs or FLOATS)):
        raise LayoutError(f"attn_mask is of {mask.kind}: give bools, float32 or the dtype of q")
    sizes = zip(shape[::-1], weights[::-1], strict=False)
    if not 2 <= len(shape) <= len(weights) or any(n not in (1, size) for n, size in sizes):
        raise LayoutError(
            f"attn_mask has shape {shape}, the weights have {weights}: give it 2 dims or more, the last "
            "ones of the weights, each of that size or 1"
        )


def _by_math(call: _Call) -> Layout:
    """The output of the math path, which ends with the weights times v."""
    weights, v = call.weights, call.v.shape
    one_of_many = len(weights) == len(v) == 3 and weights[0] == 1 != v[0]
    *batch, rows, columns = call.shape
    if call.weights_require_grad and (one_of_many or len(weights) == 2 < len(v)):
        # torch folds v, computes the product transposed, and turns it back where that is not contiguous.
        folded = Layout((*batch, columns, rows), itemsize=call.q.itemsize, storage=new_storage())
        return folded.mT.contiguous()
    return Layout(call.shape, itemsize=call.q.itemsize, storage=new_storage())


def _hands_on_grad(x: Any) -> bool:
    """Whether what is computed of x requires grad: under no_grad it does not, even if x does."""
    return bool(getattr(x, "requires_grad", False) and (-x[:0]).requires_grad)


def _why_math(call: _Call) -> str:
    """The first of torch's conditions for flash that fails, in torch's order, or ""."""
    q, k, v = call.q, call.k, call.v
    if call.dropout > 0:
        return f"dropout_p is {call.dropout}: flash has no dropout on the CPU"
    if {q.ndim, k.ndim, v.ndim} != {4}:
        return (
            f"q, k and v have {q.ndim}, {k.ndim} and {v.ndim} dims: flash takes 4, "
            "(batch, heads, tokens, head dim)"
        )
    batches, counts, _, dims = zip(q.shape, k.shape, v.shape, strict=True)
    if len({*batches}) > 1:
        return (
            f"q, k and v have batches of {_and(batches)}: flash repeats none, expand them first "
            "(it copies nothing)"
        )
    if call.grouped and counts[1] != counts[2]:
        return f"k and v have {counts[1]} and {counts[2]} heads: flash takes as many"
    if not call.grouped and len({*counts}) > 1:
        return f"q, k and v have {_and(counts)} heads: flash takes as many, or enable_gqa=True"
    if call.mask is not None:
        if call.mask_requires_grad:
            return "attn_mask requires grad: flash computes no gradient of it"
        if call.mask.ndim not in (2, 4):
            return f"attn_mask has {call.mask.ndim} dims: flash takes 2 or 4"
    if len({*dims}) > 1:
        return f"q, k and v have head dims of {_and(dims)}: flash takes one size"
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.stride[-1] != 1:
            return f"dim 3 of {name} has stride {x.stride[-1]}: flash takes 1"
    return ""


def _and(numbers: tuple[int, ...]) -> str:
    return "{}, {} and {}".format(*numbers)


# Operands -------------------------------------------------------------------------------------------


class _Operand(NamedTuple):
    """An operand as it was passed; a Layout has no dtype."""

    name: str
    layout: Layout
    dtype: str
    requires_grad: bool

    @property
    def kind(self) -> str:
        return self.dtype or f"{many(self.layout.itemsize, 'byte')} an element"


def _operand(name: str, x: Any) -> _Operand:
    layout = Layout.of(x)
    if layout.why_not_torch():
        raise LayoutError(f"{name} is not a torch tensor: {layout.why_not_torch()}")
    device = getattr(x, "device", "cpu")
    if getattr(device, "type", device) not in ("cpu", "meta"):
        raise LayoutError(
            f"{name} is on {device}: these rules are of the CPU, give Layout.of({name})"
        )
    for lazy, verb in (("conj", "conjugated"), ("neg", "negated")):
        if getattr(x, f"is_{lazy}", bool)():
            raise LayoutError(
                f"{name} has yet to be {verb}, and torch copies it on the way: give {name}.resolve_{lazy}()"
            )
    dtype = str(getattr(x, "dtype", "")).removeprefix("torch.")
    return _Operand(name, layout, dtype, bool(getattr(x, "requires_grad", False)))


def _require_one_dtype(operands: list[_Operand]) -> None:
    """Raise LayoutError for operands of several dtypes, which torch does not cast here."""
    kinds = [f"{x.name}: {x.kind}" for x in operands]
    dtypes = {x.dtype for x in operands} - {""}
    if len(dtypes) > 1 or len({x.layout.itemsize for x in operands}) > 1:
        raise LayoutError(
            f"the operands are of several dtypes ({', '.join(kinds)}): "
            "torch casts none of them here, give one dtype"
        )


def _require_floats(operands: list[_Operand]) -> None:
    for x in operands:
        if x.layout.itemsize not in FLOAT_BYTES or x.dtype not in ("", *FLOATS):
            raise LayoutError(f"{x.name} is of {x.kind}: SDPA takes {', '.join(FLOATS)}")
