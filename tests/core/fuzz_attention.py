"""Attention against torch on random layouts: which operands a product clones, and where SDPA's output lies.

torch computes each case under a dispatch mode that sees the operations below autograd.
"""

import re
from collections.abc import Callable
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


class Seen(TorchDispatchMode):
    """The operations that torch dispatched, and the bytes of each clone."""

    _should_skip_dynamo = classmethod(lambda cls: False)  # or torch loads its compiler, in 1 s

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []
        self.clones: list[tuple[int, int]] = []  # where the storage lies that was read; bytes

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result, name = func(*args, **(kwargs or {})), func.overloadpacket.__name__
        self.operations.append(name)
        if name == "clone":
            self.clones.append((args[0].untyped_storage().data_ptr(), result.nbytes))
        return result


def factors(r: Random) -> tuple[Tensor, Tensor]:
    """Two operands of a product, mostly of batches that broadcast, each in a storage of its own."""
    n, m, p = r.choices((0, 1, 2, 3), (1, 4, 6, 6), k=3)
    batch = r.choices((0, 1, 2, 3), (1, 4, 6, 6), k=r.choice((0, 1, 1, 2, 2, 2, 3)))
    x, y = part(r, batch, [n, m]), part(r, batch, [m, p])
    if r.random() < 0.1:
        y.pop()
    if r.random() < 0.1:
        x.pop(-2)
    if r.random() < 0.05:
        x[-1] += 1
    dtype = r.choice(FLOATS)
    return operand(r, x, dtype), operand(r, y, dtype)


def part(r: Random, batch: list[int], matrix: list[int]) -> list[int]:
    """A shape whose batch is part of this one, with ones in it."""
    sizes = [size if r.random() < 0.85 else 1 for size in batch]
    return sizes[r.choice((0, 0, 0, r.randint(0, len(sizes)))) :] + matrix


def operand(r: Random, shape: list[int], dtype: torch.dtype) -> Tensor:
    """A tensor of this shape that may require grad; no other one lies in its storage."""
    x = steps.numbers(r, shape)
    reach = x[2] + sum(max(size - 1, 0) * step for size, step in zip(*x[:2], strict=True))
    made = torch.ones(reach + 1, dtype=dtype).as_strided(*x)
    return made.requires_grad_(r.random() < 0.3)


def products(r: Random) -> None:
    a, b = factors(r)
    with Seen() as seen:
        out = answer(torch.matmul, a, b)
    copied = {x.untyped_storage().data_ptr(): i for i, x in enumerate((a, b))}
    expected = [0, 0, 0]
    for address, nbytes in seen.clones:
        expected[copied.get(address, 2)] += nbytes
    grads = (a.requires_grad, b.requires_grad)
    given = answer(matmul_copies, a, b)
    line = f"matmul_copies({codes([a, b])}, requires_grad={grads})"
    wanted = None if out is None else Clones(*expected)
    assert given == wanted, f"{line} is {given}, not {wanted}"
    detached = answer(matmul_copies, a.detach(), b.detach(), requires_grad=grads)
    assert detached == given, f"{line} is {detached} of Layouts, {given} of tensors"


def attention_shapes(r: Random, grouped: bool) -> list[list[int]]:
    """The shapes of q, k and v, mostly those that flash takes."""
    size = (0, 1, 2, 3, 4)
    batch, heads, rows, tokens, dim = r.choices(size, (0.2, 4, 8, 8, 4), k=5)
    kv_heads = heads
    if grouped:
        kv_heads, heads = max(heads, 1), max(heads, 1) * r.choice((1, 2, 3))
    q = [batch, heads, rows, dim]
    k, v = ([batch, kv_heads, tokens, dim] for _ in range(2))
    if r.random() < 0.1:
        v[3] = r.choice(size)
    for shape in (q, k, v):
        if r.random() < 0.05:
            shape[r.choice((0, 1))] = r.choice((1, 1, 2))
    left = r.choice((0,) * 9 + (1, 1, 2))
    return [shape[left if r.random() < 0.9 else 0 :] for shape in (q, k, v)]


def usual(r: Random, shape: list[int], dtype: torch.dtype) -> Tensor:
    """A tensor that mostly ends in a stride of 1, as flash wants it."""
    x = operand(r, shape, dtype).detach()
    if r.random() < 0.08:
        return x
    stride = [*(s * max(shape[-1], 1) for s in x.stride()[:-1]), 1]
    reach = sum(max(n - 1, 0) * s for n, s in zip(shape, stride, strict=True))
    if r.random() < 0.1:
        stride = [*x.stride()[:-1], 1]
    made = torch.rand(reach + max([1, *shape]), dtype=torch.float64).to(dtype)
    return made.as_strided(shape, stride).requires_grad_(r.random() < 0.1)


def mask_of(r: Random, q: Tensor, k: Tensor) -> Tensor | None:
    """A mask that mostly expands to the weights, in a dtype that is mostly taken."""
    if r.random() < 0.7:
        return None
    shape = [*q.shape[:-1], k.shape[-2]] if r.random() < 0.97 else [2, 3]
    shape = [1 if r.random() < 0.2 else size for size in shape]
    shape = shape[r.choice((0, 0, max(len(shape) - 2, 0), 1)) :]
    if len(shape) < 2:
        return None
    dtype = r.choice((torch.bool, torch.float32, q.dtype, q.dtype, torch.float64))
    mask = operand(r, shape, torch.float32).detach().to(dtype)
    return mask.requires_grad_(dtype.is_floating_point and r.random() < 0.2)


def sdpa(r: Random) -> None:
    """Its output, and its path; what torch answers wrongly is refused."""
    with torch.set_grad_enabled(r.random() < 0.8):
        _sdpa(r)


def _sdpa(r: Random) -> None:
    grouped, dtype = r.random() < 0.2, r.choice(FLOATS)
    q, k, v = (usual(r, shape, dtype) for shape in attention_shapes(r, grouped))
    mask = mask_of(r, q, k)
    asked: dict[str, Any] = {
        "attn_mask": mask,
        "dropout_p": r.choice((0.0,) * 9 + (0.5,)),
        "is_causal": r.random() < 0.1,
        "enable_gqa": grouped,
    }
    line = f"({codes([q, k, v])}, {asked | {'attn_mask': mask if mask is None else code(mask)}})"
    try:
        given, why = sdpa_output(q, k, v, **asked), why_no_flash(q, k, v, **asked)
    except LayoutError as refusal:
        if not re.search("torch 2.13|without elements", str(refusal)):
            out = answer(scaled_dot_product_attention, q, k, v, **asked)
            if out is not None:
                raise AssertionError(f"sdpa_output{line} refuses: {refusal}") from refusal
        return
    with Seen() as seen:
        out = scaled_dot_product_attention(q, k, v, **asked)
    assert numbers(given) == numbers(out), f"sdpa_output{line} is {given}, torch has {numbers(out)}"
    flash = any("flash" in name for name in seen.operations)
    assert flash == (why == ""), f"why_no_flash{line} is {why!r}, torch: {seen.operations}"


CASES: dict[str, Callable[[Random], None]] = {"products": products, "sdpa": sdpa}
