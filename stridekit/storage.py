"""The raw-storage reader: what really lies in memory, past shape, stride and offset.

A tensor's `data_ptr()` is where *it* begins; its storage may begin earlier and end later. Whoever
reads the storage's length from the tensor's start runs past the end. So everything here counts from
the storage's start, stays inside `untyped_storage().nbytes()`, and refuses tensors that have no
memory to read.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import torch

from stridekit._arguments import a_kind
from stridekit.layout import Layout, array_block


def read_storage(t: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The whole storage of `t`, from the storage's own start: a copy, 1-D, of t's dtype, on the CPU.

    Element k of the result is element k of the storage, so `read_storage(t)[t.storage_offset()]` is
    where `t` begins; bytes at the end that fill no element are left out. Pending conjugation or
    negation (`t.is_conj()`, `t.is_neg()`) is not applied: this is what lies in memory. A storage on
    another device comes to the host by a real copy. The copy goes into `out` where one is given: that
    saves the price of fresh memory, which is higher than that of copying.
    Raises TypeError, LayoutError or ValueError for what has no single memory behind it (sparse,
    nested, quantized, meta, fake and wrapper tensors), and ValueError for an `out` that does not fit.

    >>> t = torch.arange(6).view(2, 3)
    >>> read_storage(t[1, 1:])
    tensor([0, 1, 2, 3, 4, 5])
    >>> read_storage(t.t())  # a transpose moves nothing
    tensor([0, 1, 2, 3, 4, 5])
    """
    _require_readable(t)
    numel = t.untyped_storage().nbytes() // t.element_size()
    nbytes = numel * t.element_size()
    if out is None:
        out = torch.empty(nbytes, dtype=torch.uint8, device="cpu").view(t.dtype)
    else:
        _require_out(out, t, numel)
    out.view(torch.uint8).copy_(_as_bytes(t)[:nbytes])
    return out


def storage_view(t: torch.Tensor) -> torch.Tensor:
    """The whole storage of `t` as a tensor on the same memory: no copy, 1-D, of t's dtype and device.

    Element k of it is element k of the storage, as in `read_storage`, pending conjugation or negation
    again left aside. It keeps the storage alive when `t` is gone, but not from shrinking: after
    `untyped_storage().resize_()` it may reach past the end, as `t` itself may, so take a new one.
    Writes through it change every tensor on the storage; like those through `t.detach()` they are no
    part of autograd's graph, but its version counter counts them.
    Raises as `read_storage` does.

    >>> t = torch.arange(6).view(2, 3)
    >>> whole = storage_view(t[1, 1:])
    >>> whole[0] = 70
    >>> t
    tensor([[70,  1,  2],
            [ 3,  4,  5]])
    """
    _require_readable(t)
    # A subclass's own methods are not asked, and as_strided checks that all stays inside the storage.
    whole = t.detach().as_subclass(torch.Tensor)
    whole = whole.conj() if whole.is_conj() else whole
    whole = torch._neg_view(whole) if whole.is_neg() else whole
    numel = t.untyped_storage().nbytes() // t.element_size()
    return whole.as_strided((numel,), (1,), 0)


def read_element(t: torch.Tensor, index: int | Iterable[int]) -> bool | int | float | complex:
    """The element at `index`, read by ctypes from its computed address: equal to `t[index].item()`.

    `index` has one int a dim, negative ones count from the end. Raises IndexError out of range,
    TypeError for dtypes without Python numbers (four-bit floats, bits), ValueError for an element
    behind the end of a storage that was shrunk, and like `read_storage` where there is no memory to
    read.

    >>> t = torch.arange(24.0).view(4, 6)[:, ::2]
    >>> read_element(t, (2, 1)), t[2, 1].item()
    (14.0, 14.0)
    """
    _require_readable(t)
    start, size = Layout.of(t).address(index), t.element_size()
    nbytes = t.untyped_storage().nbytes()
    if start + size > nbytes:
        raise ValueError(
            f"element {index} lies at bytes {start} to {start + size}, but the storage has only "
            f"{nbytes} bytes: it was shrunk (by resize_?) behind the tensor's back"
        )
    if t.device.type == "cpu":
        raw = ctypes.string_at(storage_address(t) + start, size)
    else:
        raw = bytes(_as_bytes(t)[start : start + size].tolist())
    value = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(t.dtype)
    value = value.conj() if t.is_conj() else value
    value = value.neg() if t.is_neg() else value
    try:
        return value.item()
    except NotImplementedError:
        raise TypeError(
            f"an element of {t.dtype} has no Python number: see its bytes with "
            "read_storage(t).view(torch.uint8)"
        ) from None


def storage_bytes(x: Any) -> int:
    """The size in bytes of a tensor's storage, or of the block that an array lies in."""
    if callable(getattr(x, "untyped_storage", None)):
        try:
            return x.untyped_storage().nbytes()
        except NotImplementedError:
            raise ValueError(
                f"this {type(x).__name__} stands for others inside vmap or grad and has no storage: "
                "take the tensor that went in"
            ) from None
    return array_block(x)[1]


def _as_bytes(t: torch.Tensor) -> torch.Tensor:
    """The storage as bytes, on its own device and without a copy.

    Bytes, because torch copies values: out of a bool's byte 255 it makes a 1. And in a tensor, because
    torch copies with several threads, which matters most where fresh memory is first touched.
    """
    return torch.empty(0, dtype=torch.uint8, device=t.device).set_(t.untyped_storage())


def storage_address(t: torch.Tensor) -> int:
    """Where the storage of `t` starts, as an address; 0 where it has no memory.

    Not `data_ptr()`: that warns at a fake tensor, and a lazy clone (copy on write) would copy its
    memory at once, because the pointer could be written to.
    """
    try:
        return torch._C._data_address(t)
    except NotImplementedError:  # inside vmap or grad
        return 0


def require_memory(t: torch.Tensor) -> None:
    """Raise unless `t` is a strided tensor with one storage that can be read."""
    if not isinstance(t, torch.Tensor):
        raise TypeError(
            f"{a_kind(t)} has no torch storage: give a torch.Tensor "
            "(torch.from_numpy shares an array's memory)"
        )
    Layout.of(t)  # refuses sparse, nested, quantized and uninitialized tensors
    if t.is_meta:
        raise ValueError(
            "a meta tensor has a shape and a stride but no memory: "
            "torch.empty_like(t, device='cpu') gives it some"
        )
    if not _has_memory(t):
        raise ValueError(
            f"this {type(t).__name__} has no memory of its own (a fake tensor, a wrapper subclass, or "
            "a tensor inside vmap or grad): read the plain tensor that it stands for"
        )


def _require_readable(t: torch.Tensor) -> None:
    """Raise unless `t` has memory, and there is memory to read it into."""
    require_memory(t)
    if not _has_memory(torch.empty(1, device="cpu")):
        raise ValueError(
            "inside FakeTensorMode, functionalize or grad every new tensor is a stand-in without "
            "memory, so there is nothing to read into: read outside of it"
        )


def _has_memory(t: torch.Tensor) -> bool:
    """Whether the storage is there, on the device that the tensor names."""
    try:
        storage = t.untyped_storage()
    except NotImplementedError:  # inside vmap or grad
        return False
    return storage.device.type == t.device.type and (
        storage.nbytes() == 0 or storage_address(t) != 0
    )


def _require_out(out: torch.Tensor, t: torch.Tensor, numel: int) -> None:
    """Raise unless `out` can take the `numel` elements of t's storage, and lies outside of it."""
    require_memory(out)
    wanted = ((numel,), t.dtype, "cpu")
    if (tuple(out.shape), out.dtype, out.device.type) != wanted or not out.is_contiguous():
        raise ValueError(
            f"out is a {out.dtype} tensor of shape {tuple(out.shape)}, stride {out.stride()} on "
            f"{out.device}, the storage has {numel} elements of {t.dtype}: "
            f"give torch.empty({numel}, dtype={t.dtype})"
        )
    if out.requires_grad or out.is_conj() or out.is_neg():
        raise ValueError(
            "out requires grad, or is conjugated or negated when read: bytes written into it would "
            f"not be what it shows; give torch.empty({numel}, dtype={t.dtype})"
        )
    end, out_end = (storage_address(x) + x.untyped_storage().nbytes() for x in (t, out))
    if storage_address(out) < end and storage_address(t) < out_end:
        raise ValueError(
            "out lies in the memory that is read: give it memory of its own, or take storage_view(t)"
        )
