"""The path of `scaled_dot_product_attention` on the CPU: flash, or why not.

The flash kernel writes to an `empty_like(q)`; the math path is made of matmuls, and copies. Nothing says
which one runs, so `why_no_flash` does. The rules are those of sdp_utils_cpp.h and attention.cpp in
aten/src/ATen/native/transformers, for the CPU and for meta tensors, which stand for it. A Layout stands for
a tensor of floats that does not require grad.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, a_kind, many, shown
from stridekit.elementwise import broadcast_tensors
from stridekit.layout import Layout

__all__ = ["why_no_flash"]

Ints = tuple[int, ...]

# What SDPA computes with, and the bytes of an element of these.
FLOATS, FLOAT_BYTES = ("float16", "bfloat16", "float32", "float64"), (2, 4, 8)


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
    return why_math(call_of(q, k, v, attn_mask, dropout_p, is_causal, enable_gqa))


class Call(NamedTuple):
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


def call_of(
    q: Any, k: Any, v: Any, attn_mask: Any, dropout_p: Any, is_causal: Any, enable_gqa: Any
) -> Call:
    """The call, checked as torch checks it."""
    given = [operand(name, x) for name, x in (("q", q), ("k", k), ("v", v))]
    require_one_dtype(given)
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
    call = Call(x, y, z, None, False, by_grad, dropout_p, enable_gqa, weights, shape)
    if attn_mask is None:
        return call
    mask = operand("attn_mask", attn_mask)
    _require_mask(mask, given, weights)
    by_grad |= _hands_on_grad(attn_mask)
    call = Call(x, y, z, mask.layout, mask.requires_grad, by_grad, *call[6:])
    if is_causal and why_math(call):
        raise LayoutError(
            "the math path takes attn_mask or is_causal, not both, and flash does not run here: "
            f"{why_math(call)}. Write the causal mask into attn_mask"
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
    weights = product_shape(q, (*k[:-2], k[-1], k[-2]))
    return weights, product_shape(weights, v)


def _require_groups(q: int, k: int, v: int) -> None:
    if q % k or q % v:
        raise LayoutError(
            f"q, k and v have {q}, {k} and {v} heads: with enable_gqa those of k and v divide those of q"
        )


def _require_mask(mask: Operand, qkv: list[Operand], weights: Ints) -> None:
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


def _hands_on_grad(x: Any) -> bool:
    """Whether what is computed of x requires grad: under no_grad it does not, even if x does."""
    return bool(getattr(x, "requires_grad", False) and (-x[:0]).requires_grad)


def why_math(call: Call) -> str:
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


class Operand(NamedTuple):
    """An operand as it was passed; a Layout has no dtype."""

    name: str
    layout: Layout
    dtype: str
    requires_grad: bool

    @property
    def kind(self) -> str:
        return self.dtype or f"{many(self.layout.itemsize, 'byte')} an element"


def operand(name: str, x: Any) -> Operand:
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
    return Operand(name, layout, dtype, bool(getattr(x, "requires_grad", False)))


def require_one_dtype(operands: list[Operand]) -> None:
    """Raise LayoutError for operands of several dtypes, which torch does not cast here."""
    kinds = [f"{x.name}: {x.kind}" for x in operands]
    dtypes = {x.dtype for x in operands} - {""}
    if len(dtypes) > 1 or len({x.layout.itemsize for x in operands}) > 1:
        raise LayoutError(
            f"the operands are of several dtypes ({', '.join(kinds)}): "
            "torch casts none of them here, give one dtype"
        )


def _require_floats(operands: list[Operand]) -> None:
    for x in operands:
        if x.layout.itemsize not in FLOAT_BYTES or x.dtype not in ("", *FLOATS):
            raise LayoutError(f"{x.name} is of {x.kind}: SDPA takes {', '.join(FLOATS)}")


def product_shape(x: Ints, y: Ints) -> Ints:
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
    return (*broadcast(x[:-2], y[:-2]), *rows, *(y[-1:] if len(y) > 1 else ()))


def broadcast(x: Ints, y: Ints) -> Ints:
    """The common shape of two batches."""
    try:
        return broadcast_tensors(Layout(x), Layout(y))[0].shape
    except LayoutError:
        raise LayoutError(
            f"batch dims {x} and {y} do not broadcast: only a size of 1 is repeated; permute, or "
            "index one operand to the other's batch"
        ) from None
