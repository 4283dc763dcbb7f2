"""The raw-storage reader: what really lies in memory, past shape, stride and offset.

A tensor's `data_ptr()` is where *it* begins; its storage may begin earlier and end later. Whoever
reads the storage's length from the tensor's start runs past the end. So everything here starts from
`untyped_storage().data_ptr()`, stays inside `untyped_storage().nbytes()`, and refuses tensors that
have no memory to read.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterable
from typing import Any

import torch

from stridekit.layout import Layout


def read_storage(t: torch.Tensor) -> torch.Tensor:
    """The whole storage of `t`, from the storage's own start: a copy, 1-D, of t's dtype, on the CPU.

    Element k of the result is element k of the storage, so `read_storage(t)[t.storage_offset()]` is
    where `t` begins. Pending conjugation or negation (`t.is_conj()`, `t.is_neg()`) is not applied:
    this is what lies in memory. A storage on another device comes to the host by a real copy.
    Raises TypeError, LayoutError or ValueError for what has no single memory behind it (sparse,
    nested, quantized, meta, fake and wrapper tensors).

    >>> t = torch.arange(6).view(2, 3)
    >>> read_storage(t[1, 1:])
    tensor([0, 1, 2, 3, 4, 5])
    >>> read_storage(t.t())  # a transpose moves nothing
    tensor([0, 1, 2, 3, 4, 5])
    """
    _require_memory(t)
    storage = t.untyped_storage()
    numel = storage.nbytes() // t.element_size()
    if t.device.type != "cpu":
        return _device_bytes(t).cpu()[: numel * t.element_size()].view(t.dtype)
    result = torch.empty(numel, dtype=t.dtype, device="cpu")
    ctypes.memmove(result.data_ptr(), storage.data_ptr(), numel * t.element_size())
    return result


def read_element(t: torch.Tensor, index: int | Iterable[int]) -> bool | int | float | complex:
    """The element at `index`, read by ctypes from its computed address: equal to `t[index].item()`.

    `index` has one int a dim, negative ones count from the end. Raises IndexError out of range, and
    like `read_storage` where there is no memory to read.

    >>> t = torch.arange(24.0).view(4, 6)[:, ::2]
    >>> read_element(t, (2, 1)), t[2, 1].item()
    (14.0, 14.0)
    """
    _require_memory(t)
    start, storage = Layout.of(t).address(index), t.untyped_storage()
    if start + t.element_size() > storage.nbytes():
        raise ValueError(
            f"element {index} lies at bytes {start} to {start + t.element_size()}, but the storage "
            f"has only {storage.nbytes()} bytes: it was shrunk (by resize_?) behind the tensor's back"
        )
    value = torch.empty((), dtype=t.dtype, device="cpu")
    if t.device.type == "cpu":
        address = storage.data_ptr() + start
        raw = ctypes.string_at(address, t.element_size())
    else:
        raw = bytes(_device_bytes(t)[start : start + t.element_size()].tolist())
    ctypes.memmove(value.data_ptr(), raw, t.element_size())
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
    """The size in bytes of a tensor's storage, or of the owner of an array's memory."""
    if callable(getattr(x, "untyped_storage", None)):
        try:
            return x.untyped_storage().nbytes()
        except NotImplementedError:
            raise ValueError(
                f"this {type(x).__name__} stands for others inside vmap or grad and has no storage: "
                "take the tensor that went in"
            ) from None
    while hasattr(x.base, "__array_interface__"):
        x = x.base
    return x.size * x.itemsize


def _device_bytes(t: torch.Tensor) -> torch.Tensor:
    """The bytes of a storage that is not on the host, as a tensor on its own device."""
    return torch.empty(0, dtype=torch.uint8, device=t.device).set_(t.untyped_storage())


def _require_memory(t: torch.Tensor) -> None:
    """Raise unless `t` is a strided tensor with one storage that can be read."""
    if not isinstance(t, torch.Tensor):
        raise TypeError(
            f"a {type(t).__name__} has no torch storage: give a torch.Tensor "
            "(torch.from_numpy shares an array's memory)"
        )
    Layout.of(t)  # refuses sparse, nested and quantized tensors
    if t.is_meta:
        raise ValueError(
            "a meta tensor has a shape and a stride but no memory: "
            "torch.empty_like(t, device='cpu') gives it some"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # torch warns that a fake tensor's pointer is no pointer
            storage = t.untyped_storage()
            no_memory = storage.data_ptr() == 0 and storage.nbytes() > 0
    except (RuntimeError, NotImplementedError):
        no_memory = True
    if no_memory:
        raise ValueError(
            f"this {type(t).__name__} has no memory of its own (a fake tensor, a wrapper subclass, or "
            "a tensor inside vmap or grad): read the plain tensor that it stands for"
        )
