"""The raw-storage reader: the bytes in memory under shape, stride and offset.

A tensor's `data_ptr()` is where *it* begins; its storage may begin earlier and end later. Reading
the storage's length from the tensor's start runs past the end. So everything here counts from the
storage's start, stays inside `untyped_storage().nbytes()`, and refuses tensors that have no memory
to read.

A storage can be shrunk behind a tensor's back, and a subclass can say anything about itself. So
nothing here trusts a tensor: `strip_subclass` comes before any number is read, and from then on
only torch's own code runs until the bytes are copied.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from stridekit._arguments import a_kind, array_block, int_
from stridekit._torch import as_plain, is_tensor, no_overrides, private, strip_subclass
from stridekit.layout import Layout

if TYPE_CHECKING:
    import torch


def read_storage(t: torch.Tensor) -> torch.Tensor:
    """Return the whole storage of `t`, from the storage's own start: a copy, 1-D, of t's dtype, on the CPU.

    Element k of the result is element k of the storage, so `read_storage(t)[t.storage_offset()]` is
    where `t` begins; bytes at the end that fill no element are left out. Pending conjugation or
    negation (`t.is_conj()`, `t.is_neg()`) is not applied: you see the bytes in memory. A storage on
    another device is copied to the host. Raises TypeError, LayoutError or ValueError for tensors
    without a single memory (sparse, nested, quantized, meta, fake and wrapper tensors).

    >>> import torch
    >>> t = torch.arange(6).view(2, 3)
    >>> read_storage(t[1, 1:]), read_storage(t.t())  # a transpose moves nothing
    (tensor([0, 1, 2, 3, 4, 5]), tensor([0, 1, 2, 3, 4, 5]))
    """
    import torch

    whole = _whole(readable(t))
    target = torch.empty(whole.nbytes, dtype=torch.uint8, device="cpu")
    # Bytes, because torch copies values: it turns a bool's byte 255 into 1. And by torch, because
    # it copies with several threads, which matters most when fresh memory is first touched.
    target.copy_(whole.view(torch.uint8))
    return target.view(whole.dtype)


def storage_view(t: torch.Tensor) -> torch.Tensor:
    """Return the storage of `t` as a tensor on the same memory: no copy, 1-D, of t's dtype and device.

    Its element k is element k of the storage, as in `read_storage`, again without pending
    conjugation or negation. After `untyped_storage().resize_()` it may reach past the end, as `t`
    itself may: take a new one. Writes through it change every tensor on the storage; like those
    through `t.detach()` they stay out of autograd's graph, but its version counter counts them.
    Raises as `read_storage` does.

    >>> import torch
    >>> t = torch.arange(6).view(2, 3)
    >>> whole = storage_view(t[1, 1:])
    >>> whole[0] = 70
    >>> t[0]
    tensor([70,  1,  2])
    """
    return _whole(readable(t))


def read_element(t: torch.Tensor, index: int | Iterable[int]) -> bool | int | float | complex:
    """Return the element at `index`, read by ctypes from its computed address: equal to `t[index].item()`.

    `index` has one int for each dim; negative ones count from the end. Raises IndexError out of
    range, TypeError for dtypes without Python numbers (four-bit floats, bits), ValueError for an
    element past the end of a shrunk storage, and like `read_storage` for tensors without memory.

    >>> import torch
    >>> t = torch.arange(24.0).view(4, 6)[:, ::2]
    >>> read_element(t, (2, 1)), t[2, 1].item()
    (14.0, 14.0)
    """
    import torch

    t = readable(t)
    start = Layout.of(t).address(index)
    end = start + t.element_size()
    nbytes = storage_bytes(t)
    if end > nbytes:
        raise ValueError(
            f"element {index} lies at bytes {start} to {end}, but the storage has only {nbytes} bytes: "
            "it was shrunk"
        )
    if t.device.type == "cpu":
        raw = ctypes.string_at(storage_address(t) + start, end - start)
    else:
        raw = bytes(_whole(t).view(torch.uint8)[start:end].tolist())
    value = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(t.dtype)
    if t.is_conj():
        value = value.conj()
    if t.is_neg():
        value = value.neg()
    try:
        return value.item()
    except RuntimeError:  # NotImplementedError, but not in each version of torch
        raise TypeError(
            f"an element of {t.dtype} has no Python number: "
            "see its bytes with read_storage(t).view(torch.uint8)"
        ) from None


def storage_bytes(x: Any) -> int:
    """Return the size in bytes of a tensor's storage, or of the block that an array lies in."""
    if not is_tensor(x):
        return array_block(x)[1]
    try:
        return int_("the size of the storage in bytes", _nbytes(x))
    except NotImplementedError:
        raise ValueError(
            f"this {type(x).__name__} stands for others inside vmap or grad and has no storage: "
            "take the tensor that went in"
        ) from None


def storage_address(t: torch.Tensor) -> int:
    """Return the address at which the storage of `t` starts; 0 if it has no memory.

    Not `data_ptr()`: that warns at a fake tensor, and a lazy clone (copy on write) would copy its
    memory at once, because the pointer could be written to.
    """
    try:
        return private("_C._data_address")(t)
    except NotImplementedError:  # inside vmap or grad
        return 0


def require_memory(t: torch.Tensor) -> None:
    """Raise unless `t` is a strided tensor with one storage in memory."""
    if not is_tensor(t):
        raise TypeError(
            f"{a_kind(t)} has no torch storage: "
            "give a torch.Tensor (torch.from_numpy shares an array's memory)"
        )
    Layout.of(t)  # refuses sparse, nested, quantized and uninitialized tensors
    if has_memory(t):
        return
    if as_plain(t).is_meta and not _is_wrapper(t):
        raise ValueError(
            "a meta tensor has a shape and a stride but no memory: "
            "torch.empty_like(t, device='cpu') gives it some"
        )
    raise ValueError(
        f"this {type(t).__name__} has no memory of its own (a fake tensor, a wrapper subclass, or "
        "a tensor inside vmap or grad): read the plain tensor that it stands for"
    )


def readable(t: torch.Tensor) -> torch.Tensor:
    """Return the plain tensor; raise unless it has memory, and there is memory to read it into."""
    import torch

    require_memory(t)
    if not has_memory(torch.empty(1, device="cpu")):
        raise ValueError(
            "inside FakeTensorMode, functionalize or grad every new tensor is a stand-in without "
            "memory, so there is nothing to read into: read outside of it"
        )
    return strip_subclass(t)


def has_memory(t: torch.Tensor) -> bool:
    """Return True if the storage of a strided tensor is in memory."""
    try:
        storage = _storage(t)
    except NotImplementedError:  # inside vmap or grad
        return False
    if storage.device.type == "meta":
        return False
    if storage.nbytes():
        return storage_address(t) != 0
    # A storage without bytes is that of an empty tensor, or was given back, unless the tensor is a
    # wrapper that never had one.
    return not as_plain(t).numel() or not _is_wrapper(t)


def bytes_missing(t: torch.Tensor) -> int:
    """Return the bytes that `t` reaches past the end of a storage that was shrunk behind its back."""
    try:
        require_memory(t)
    except (TypeError, ValueError):
        return 0
    layout = Layout.of(t)
    return max(smallest_storage(layout) * layout.itemsize - _nbytes(t), 0)


def smallest_storage(layout: Layout) -> int:
    """Count the elements of the smallest storage that holds every index."""
    return layout.span.stop if layout.numel else 0


def stand_in(x: Any) -> Literal["", "meta", "fake", "wrapper"]:
    """Name the kind of a tensor without memory; tensors with memory and all other objects give "".

    The storages of "meta" and "fake" tensors are numbers alone, that of a "wrapper" is made up.
    """
    if not is_tensor(x) or has_memory(x):
        return ""
    if _storage(x).device.type != "meta":
        return "wrapper"
    return "fake" if _is_wrapper(x) else "meta"


def _is_wrapper(t: torch.Tensor) -> bool:
    """Return True if the ops of `t` go to a subclass, which may hold other tensors."""
    dispatch_keys = private("_C._dispatch_keys")(t)
    return bool(dispatch_keys.has(private("_C.DispatchKey.Python")))


def _storage(t: torch.Tensor) -> torch.UntypedStorage:
    """Return the storage that torch has, whatever a subclass reports."""
    import torch

    with no_overrides():
        return torch.Tensor.untyped_storage(t)


def _nbytes(t: torch.Tensor) -> int:
    """Return the size in bytes of the storage that torch has."""
    return _storage(t).nbytes()


def _whole(t: torch.Tensor) -> torch.Tensor:
    """Return all elements of a plain tensor's storage; as_strided checks that they stay inside it."""
    if t.is_conj():
        t = t.conj()  # of a conjugated view, this clears the bit
    if t.is_neg():
        t = private("_neg_view")(t)
    return t.as_strided((_nbytes(t) // t.element_size(),), (1,), 0)
