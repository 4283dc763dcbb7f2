"""The path of `scaled_dot_product_attention` on the CPU: flash, or why not.

The flash kernel writes to an `empty_like(q)`; the math path is made of matmuls, and copies. Nothing
says which one runs, so `why_no_flash` does. Its rules are those of sdp_utils_cpp.h and
attention.cpp in aten/src/ATen/native/transformers, of torch 2.9 and later; torch 2.14 changed three
of them. torch itself checks the call, on meta tensors. A Layout stands for a tensor of floats that
does not require grad.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from stridekit._arguments import LayoutError, Strided, many, shown, wrong_argument_error
from stridekit._torch import borrowed, private
from stridekit.layout import Layout

__all__ = ["why_no_flash"]

FLOATS = {2: torch.float16, 4: torch.float32, 8: torch.float64}  # of a Layout, by itemsize
DTYPES = FLOATS | {1: torch.bool, 16: torch.complex128}

# From 2.14 on, flash also takes 3 dims, and one head of k and v for all heads of q.
# No path takes a mask beside is_causal.
_RULES_OF_2_14 = torch.__version__ >= (2, 14)


def why_no_flash(
    q: Strided,
    k: Strided,
    v: Strided,
    attn_mask: Strided | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    enable_gqa: bool = False,
) -> str:
    """Return why `scaled_dot_product_attention` takes the math path on the CPU; "" if it takes flash.

    The reason is the first of torch's conditions that fails, with its sizes, or strides in
    elements. Takes Layouts, tensors or arrays, and torch's parameters. Raises LayoutError for what
    torch refuses or answers wrongly, for sizes of 0, for views that have yet to be negated, and off
    the CPU; TypeError as `Layout.of` does.

    >>> q = Layout((2, 3, 5, 4), itemsize=4)
    >>> why_no_flash(q, q, q)
    ''
    >>> why_no_flash(q, q[:1], q[:1])
    'q, k and v have batches of 2, 1 and 1: flash repeats none, expand them first (it copies nothing)'
    """
    return reason_and_output(q, k, v, attn_mask, dropout_p, is_causal, enable_gqa)[0]


def reason_and_output(
    q: Any, k: Any, v: Any, attn_mask: Any, dropout_p: Any, is_causal: Any, enable_gqa: Any
) -> tuple[str, Tensor]:
    """Return why a call takes the math path, and the result of that path as a meta tensor."""
    for name, flag in (("is_causal", is_causal), ("enable_gqa", enable_gqa)):
        if not isinstance(flag, bool):
            raise wrong_argument_error(name, flag, "give True or False")
    is_number = isinstance(dropout_p, (int, float)) and not isinstance(dropout_p, bool)
    if not is_number or not 0 <= dropout_p <= 1:
        raise LayoutError(f"dropout_p is {shown(dropout_p)}: give a probability from 0 to 1")
    tensors = meta_tensors({"q": q, "k": k, "v": v}, FLOATS)
    for name, x in zip("qkv", tensors, strict=True):
        if not x.is_floating_point() or x.dtype.itemsize not in FLOATS:
            raise LayoutError(f"{name} is of {x.dtype}: SDPA takes floats of 2, 4 or 8 bytes")
        if not x.numel():
            raise LayoutError(f"{name} has no elements: without elements torch takes neither path")
    mask = None
    if attn_mask is not None:
        dtypes = FLOATS | {1: torch.bool, tensors[0].itemsize: tensors[0].dtype}
        [mask] = meta_tensors({"attn_mask": attn_mask}, dtypes)
    options = {"dropout_p": dropout_p, "enable_gqa": enable_gqa}
    # is_causal is left out: meta tensors take the math path, which refuses it beside a mask.
    output = call_on_meta(scaled_dot_product_attention, *tensors, mask, **options)
    if mask is not None:
        _require_fit(mask, tensors[0].shape, tensors[1].shape, enable_gqa)
    reason = _why_math(tensors, mask, dropout_p, enable_gqa)
    if is_causal and mask is not None and _RULES_OF_2_14:
        raise LayoutError(
            "torch takes attn_mask or is_causal, not both: write the causal mask into attn_mask"
        )
    if is_causal and mask is not None and reason:
        raise LayoutError(
            "the math path takes attn_mask or is_causal, not both, and flash does not run here: "
            f"{reason}. Write the causal mask into attn_mask"
        )
    return reason, output


def _require_fit(mask: Tensor, q: Sequence[int], k: Sequence[int], grouped: bool) -> None:
    """Raise LayoutError for a mask that is larger than the weights: meta tensors would grow with it."""
    k_heads = (*k[:-3], q[-3]) if grouped else k[:-2]
    weights = (*torch.broadcast_shapes(q[:-2], k_heads), q[-2], k[-2])
    sizes = zip(mask.shape[::-1], weights[::-1], strict=False)
    fits = all(mask_size in (1, size) for mask_size, size in sizes)
    if not fits or not 2 <= mask.ndim <= len(weights):
        raise LayoutError(
            f"attn_mask has shape {tuple(mask.shape)}, the weights have {weights}: "
            "give it 2 dims or more, each of the weights' size or 1"
        )


def _why_math(qkv: Sequence[Tensor], mask: Tensor | None, dropout: float, grouped: bool) -> str:
    """Return the first of torch's conditions for flash that fails, in torch's order, or ""."""
    if dropout > 0:
        return f"dropout_p is {dropout}: flash has no dropout on the CPU"
    ndims = [x.ndim for x in qkv]
    is_one_batch = _RULES_OF_2_14 and {*ndims} == {3}
    if is_one_batch:
        qkv = [x.unsqueeze(0) for x in qkv]
    elif {*ndims} != {4}:
        return (
            f"q, k and v have {_and(ndims)} dims: flash takes 4, (batch, heads, tokens, head dim)"
        )
    batches, heads, _, dims = zip(*(x.shape for x in qkv), strict=True)
    if len({*batches}) > 1:
        return (
            f"q, k and v have batches of {_and(batches)}: "
            "flash repeats none, expand them first (it copies nothing)"
        )
    if grouped and heads[1] != heads[2]:
        return f"k and v have {heads[1]} and {heads[2]} heads: flash takes as many"
    takes_one_head = _RULES_OF_2_14 and heads[1] == heads[2] == 1
    if not grouped and len({*heads}) > 1 and not takes_one_head:
        return f"q, k and v have {_and(heads)} heads: flash takes as many, or enable_gqa=True"
    if mask is not None and mask.requires_grad:
        return "attn_mask requires grad: flash computes no gradient of it"
    if mask is not None and mask.ndim not in (2, 4) and not is_one_batch:
        return f"attn_mask has {mask.ndim} dims: flash takes 2 or 4"
    if len({*dims}) > 1:
        return f"q, k and v have head dims of {_and(dims)}: flash takes one size"
    for name, x in zip("qkv", qkv, strict=True):
        if x.stride(-1) != 1:
            return f"dim {ndims[0] - 1} of {name} has stride {x.stride(-1)}: flash takes 1"
    return ""


@cache
def flash_takes_few_heads() -> bool:
    """Whether flash reads one head of k and v for several of q; the math path of old torch repeats them."""
    q = torch.zeros(1, 2, 1, 1)
    few = q[:, :1]
    math_path = 0
    return private("_fused_sdp_choice")(q, few, few, enable_gqa=True) != math_path


def _and(numbers: Sequence[int]) -> str:
    """Return three numbers as a phrase."""
    return "{}, {} and {}".format(*numbers)


def meta_tensors(operands: dict[str, Any], dtypes: dict[int, torch.dtype]) -> list[Tensor]:
    """Return meta tensors like the operands; a Layout has the dtype of its itemsize."""
    operands = {name: borrowed(x) for name, x in operands.items()}
    tensor_dtypes = [x.dtype for x in operands.values() if isinstance(x, Tensor)]
    dtypes = dtypes | {dtype.itemsize: dtype for dtype in tensor_dtypes}
    return [_meta_tensor(name, x, dtypes) for name, x in operands.items()]


def _meta_tensor(name: str, x: Any, dtypes: dict[int, torch.dtype]) -> Tensor:
    """Return a meta tensor like the operand; raise LayoutError if these rules do not hold for it."""
    layout = Layout.of(x)
    if layout.why_not_torch():
        raise LayoutError(f"{name} is not a torch tensor: {layout.why_not_torch()}")
    device = getattr(x, "device", "cpu")
    if getattr(device, "type", device) not in ("cpu", "meta"):
        raise LayoutError(
            f"{name} is on {device}: these rules are of the CPU, give Layout.of({name})"
        )
    for flag, participle in (("conj", "conjugated"), ("neg", "negated")):
        if getattr(x, f"is_{flag}", bool)():
            raise LayoutError(
                f"{name} has yet to be {participle}, and torch copies it on the way: "
                f"give {name}.resolve_{flag}()"
            )
    dtype = getattr(x, "dtype", dtypes.get(layout.itemsize))
    dtype = getattr(torch, str(dtype).removeprefix("torch."), None)  # also of a NumPy array
    if not isinstance(dtype, torch.dtype):
        raise LayoutError(
            f"{name} has {many(layout.itemsize, 'byte')} an element: "
            "torch multiplies no such elements"
        )
    requires_grad = bool(getattr(x, "requires_grad", False))
    options = {"dtype": dtype, "requires_grad": requires_grad, "device": "meta"}
    return call_on_meta(torch.empty_strided, layout.shape, layout.stride, **options)


def call_on_meta(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function of torch with meta tensors; raise LayoutError with torch's words if it refuses."""
    without_transforms = private("_functorch.pyfunctorch.temporarily_clear_interpreter_stack")
    without_modes = private("utils._python_dispatch._disable_current_modes")
    try:
        with without_transforms(), without_modes():
            return function(*args, **options)
    except (RuntimeError, IndexError, ValueError) as error:
        first_line = str(error).partition("\n")[0]
        raise LayoutError(f"torch does not take these operands: {first_line}") from None
