"""Attention against torch on random layouts: which operands a product clones, and where SDPA's output lies.

torch computes each case under a dispatch mode that sees the operations below autograd.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from stridekit import LayoutError
from stridekit.lessons.attention import Clones, matmul_copies, sdpa_output, why_no_flash
from tests.core import steps
from tests.core.agree import numbers
from tests.core.fuzz_layout import answer, code, codes

Tensor = torch.Tensor
FLOATS = (torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16)


class OperationLog(TorchDispatchMode):
    """The operations that torch dispatched, and the bytes of each clone."""

    _should_skip_dynamo = classmethod(lambda cls: False)  # or torch loads its compiler, in 1 s

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []
        self.clones: list[tuple[int, int]] = []  # the address of the storage that was read; bytes

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        self.operations.append(name)
        if name == "clone":
            address = args[0].untyped_storage().data_ptr()
            self.clones.append((address, result.nbytes))
        return result


def factors(r: Random) -> tuple[Tensor, Tensor]:
    """Two operands of a product, mostly of batches that broadcast, each in a storage of its own."""
    n, m, p = r.choices((0, 1, 2, 3), (1, 4, 6, 6), k=3)
    batch_ndim = r.choice((0, 1, 1, 2, 2, 2, 3))
    batch = r.choices((0, 1, 2, 3), (1, 4, 6, 6), k=batch_ndim)
    a_shape = broadcasting_shape(r, batch, [n, m])
    b_shape = broadcasting_shape(r, batch, [m, p])
    if r.random() < 0.1:
        b_shape.pop()
    if r.random() < 0.1:
        a_shape.pop(-2)
    if r.random() < 0.05:
        a_shape[-1] += 1
    dtype = r.choice(FLOATS)
    return operand(r, a_shape, dtype), operand(r, b_shape, dtype)


def broadcasting_shape(r: Random, batch: list[int], matrix: list[int]) -> list[int]:
    """A shape whose batch is part of this one, with ones in it."""
    sizes = [size if r.random() < 0.85 else 1 for size in batch]
    dropped_dims = r.choice((0, 0, 0, r.randint(0, len(sizes))))
    return sizes[dropped_dims:] + matrix


def operand(r: Random, shape: list[int], dtype: torch.dtype) -> Tensor:
    """A tensor of this shape that may require grad; no other one lies in its storage."""
    shape, stride, offset = steps.numbers(r, shape)
    numel = offset + largest_offset(shape, stride) + 1
    x = torch.ones(numel, dtype=dtype).as_strided(shape, stride, offset)
    return x.requires_grad_(r.random() < 0.3)


def largest_offset(shape: Sequence[int], stride: Sequence[int]) -> int:
    """The distance of the last element from the first."""
    offset = 0
    for size, step in zip(shape, stride, strict=True):
        offset += max(size - 1, 0) * step
    return offset


def products(r: Random) -> None:
    a, b = factors(r)
    with OperationLog() as log:
        out = answer(torch.matmul, a, b)
    addresses = [x.untyped_storage().data_ptr() for x in (a, b)]
    copied_bytes = [0, 0, 0]  # of a, of b, of the result
    for address, nbytes in log.clones:
        operand_number = addresses.index(address) if address in addresses else 2
        copied_bytes[operand_number] += nbytes
    grads = (a.requires_grad, b.requires_grad)
    source = f"matmul_copies({codes([a, b])}, requires_grad={grads})"
    expected = None if out is None else Clones(*copied_bytes)
    actual = answer(matmul_copies, a, b)
    assert actual == expected, f"{source} is {actual}, not {expected}"
    detached = answer(matmul_copies, a.detach(), b.detach(), requires_grad=grads)
    assert detached == actual, f"{source} is {detached} of Layouts, {actual} of tensors"


def attention_shapes(r: Random, grouped: bool) -> list[list[int]]:
    """The shapes of q, k and v, mostly those that flash takes."""
    sizes = (0, 1, 2, 3, 4)
    batch, heads, rows, tokens, dim = r.choices(sizes, (0.2, 4, 8, 8, 4), k=5)
    kv_heads = heads
    if grouped:
        kv_heads = max(heads, 1)
        heads = kv_heads * r.choice((1, 2, 3))
    q = [batch, heads, rows, dim]
    k = [batch, kv_heads, tokens, dim]
    v = [batch, kv_heads, tokens, dim]
    if r.random() < 0.1:
        v[3] = r.choice(sizes)
    for shape in (q, k, v):
        if r.random() < 0.05:
            shape[r.choice((0, 1))] = r.choice((1, 1, 2))
    dropped_dims = r.choice((0,) * 9 + (1, 1, 2))
    shapes = []
    for shape in (q, k, v):
        first_dim = dropped_dims if r.random() < 0.9 else 0
        shapes.append(shape[first_dim:])
    return shapes


def with_usual_rows(r: Random, shape: list[int], dtype: torch.dtype) -> Tensor:
    """A tensor that mostly ends in a stride of 1, as flash needs it."""
    x = operand(r, shape, dtype).detach()
    if r.random() < 0.08:
        return x
    stride = [step * max(shape[-1], 1) for step in x.stride()[:-1]] + [1]
    numel = largest_offset(shape, stride) + max([1, *shape])
    if r.random() < 0.1:
        stride = [*x.stride()[:-1], 1]
    storage = torch.rand(numel, dtype=torch.float64).to(dtype)
    return storage.as_strided(shape, stride).requires_grad_(r.random() < 0.1)


def mask_of(r: Random, q: Tensor, k: Tensor) -> Tensor | None:
    """A mask that mostly expands to the weights, in a dtype that is mostly taken."""
    if r.random() < 0.7:
        return None
    shape = [2, 3]
    if r.random() < 0.97:
        shape = [*q.shape[:-1], k.shape[-2]]
    shape = [1 if r.random() < 0.2 else size for size in shape]
    first_dim = r.choice((0, 0, max(len(shape) - 2, 0), 1))
    shape = shape[first_dim:]
    if len(shape) < 2:
        return None
    dtype = r.choice((torch.bool, torch.float32, q.dtype, q.dtype, torch.float64))
    mask = operand(r, shape, torch.float32).detach().to(dtype)
    requires_grad = dtype.is_floating_point and r.random() < 0.2
    return mask.requires_grad_(requires_grad)


def sdpa(r: Random) -> None:
    """Compare SDPA's output and its path; results that torch gets wrong are refused."""
    with torch.set_grad_enabled(r.random() < 0.8):
        _sdpa(r)


def _sdpa(r: Random) -> None:
    grouped = r.random() < 0.2
    dtype = r.choice(FLOATS)
    q, k, v = (with_usual_rows(r, shape, dtype) for shape in attention_shapes(r, grouped))
    mask = mask_of(r, q, k)
    options: dict[str, Any] = {
        "attn_mask": mask,
        "dropout_p": r.choice((0.0,) * 9 + (0.5,)),
        "is_causal": r.random() < 0.1,
        "enable_gqa": grouped,
    }
    shown_options = options | {"attn_mask": mask if mask is None else code(mask)}
    source = f"({codes([q, k, v])}, {shown_options})"
    try:
        actual = sdpa_output(q, k, v, **options)
        why = why_no_flash(q, k, v, **options)
    except LayoutError as refusal:
        is_intended = re.search("torch 2.13|without elements", str(refusal))
        if not is_intended and answer(scaled_dot_product_attention, q, k, v, **options) is not None:
            raise AssertionError(f"sdpa_output{source} refuses: {refusal}") from refusal
        return
    with OperationLog() as log:
        out = scaled_dot_product_attention(q, k, v, **options)
    expected = numbers(out)
    assert numbers(actual) == expected, f"sdpa_output{source} is {actual}, torch has {expected}"
    is_flash = any("flash" in name for name in log.operations)
    assert is_flash == (why == ""), f"why_no_flash{source} is {why!r}, torch: {log.operations}"


CASES: dict[str, Callable[[Random], None]] = {"products": products, "sdpa": sdpa}
