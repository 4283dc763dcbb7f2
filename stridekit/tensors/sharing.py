"""Shared memory: exact answers for torch tensors, NumPy arrays and Layouts.

Four notions are called sharing. Some byte belongs to both (`shares_memory`). Every byte of y is a
byte of x (`is_view`). The two keep the same block alive (`shares_storage`). Autograd made y from a
base (`y._is_view()`). `relation(y, x)` shows all four side by side. Every answer holds for this
moment: the first write to a lazy clone, for example, gives it bytes of its own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from stridekit._arguments import Strided, a_kind, array_block
from stridekit._torch import as_plain, borrowed, is_tensor, private
from stridekit.layout import Layout
from stridekit.memory.memset import MemorySet, generators_of, has_collision
from stridekit.memory.strided_set import BUDGET, Generator
from stridekit.tensors.storage import require_memory, storage_address, storage_bytes

if TYPE_CHECKING:
    import torch


def memset(x: Strided) -> MemorySet:
    """Return the exact set of byte addresses of a strided tensor, a NumPy array or a Layout.

    Addresses are absolute for tensors and arrays; a Layout's count from the start of its storage.
    On different devices, and in storages of different names, they never meet. Nothing is read, and
    a lazy clone stays lazy. Objects of other libraries are taken as by `Layout.of`. The addresses
    hold at this moment: keep x alive while you ask. Raises TypeError, LayoutError or ValueError for
    anything without a single memory (sparse, meta …).

    >>> import torch
    >>> x = torch.arange(24.0).view(4, 6)
    >>> memset(x[:, ::2])
    MemorySet(48 bytes on cpu: 8*[0, 12) + [0, 4))
    >>> memset(x[:, ::2]) < memset(x), memset(x[:, ::2]).isdisjoint(memset(x[:, 1::2]))
    (True, True)
    """
    reached = MemorySet(*_generators(x))
    if is_tensor(x) and reached:
        end = storage_address(x) + storage_bytes(x)
        if reached.stop > end:
            raise ValueError(
                f"this tensor reaches {reached.stop - end} bytes past the end of its storage, "
                "which was shrunk (by resize_) behind its back"
            )
    return reached


def is_view(y: Strided, x: Strided, budget: int = BUDGET) -> bool:
    """Return True if every byte of y is a byte of x: `memset(y) <= memset(x)`.

    It tells where y lies, not how it was made: x is a view of x, and an empty y is a view of
    anything. Raises like `memset`, and Undecided if the answer would cost more than the budget.

    >>> import torch
    >>> x = torch.arange(24.0).view(4, 6)
    >>> is_view(x.t(), x), is_view(x, x[1:]), is_view(x.clone(), x)
    (True, False, False)
    """
    return memset(y).issubset(memset(x), budget)


def shares_memory(x: Strided, y: Strided, budget: int = BUDGET) -> bool:
    """Return True if some byte belongs to both: exact, like `numpy.shares_memory`, at any size.

    Raises like `memset`, and Undecided if the answer would cost more than the budget.

    >>> import torch
    >>> x = torch.arange(10)
    >>> shares_memory(x[::2], x[1::2]), shares_memory(x[::2], x[::3])
    (False, True)
    >>> shares_memory(x, x.numpy()[3:])
    True
    """
    return not memset(x).isdisjoint(memset(y), budget)


def has_internal_overlap(x: Strided, budget: int = BUDGET) -> bool:
    """Return True if two indices of x share a byte, so that a write to one changes the other.

    Raises like `memset`, and Undecided if the answer would cost more than the budget.

    >>> import torch
    >>> x = torch.arange(10)
    >>> has_internal_overlap(x.unfold(0, 3, 1)), has_internal_overlap(x.unfold(0, 3, 3))
    (True, False)
    """
    _, generators, _ = _generators(x)
    return has_collision(generators, budget)


def shares_storage(x: Strided, y: Strided) -> bool:
    """Return True if x and y keep one block of memory alive, even if their memory sets do not meet.

    The block is a tensor's storage, or the memory of the array at the end of an array's `.base`
    chain; two handles on one block count as one. Two Layouts share a storage if it has the same
    name. Raises like `memset`.

    >>> import torch
    >>> x = torch.arange(10)
    >>> shares_storage(x[:2], x[8:]), shares_memory(x[:2], x[8:])
    (True, False)
    """
    if is_tensor(x) and is_tensor(y):
        require_memory(x)
        require_memory(y)
        storage_start = private("_C._storage_address")
        if storage_start(x) == storage_start(y):
            return True  # even if it is empty
    return not block_of(x).isdisjoint(block_of(y))


def first_address(x: Any) -> int:
    """Return the address of the element at index 0 in every dim, even of an empty tensor."""
    return _generators(x)[0]


def _generators(x: Any) -> tuple[int, list[Generator], str]:
    """Return a MemorySet's arguments: the address of x[0, 0, …], (byte stride, size) pairs, the space."""
    if is_tensor(x):
        storage_start = _storage_start(x)
        x = as_plain(x)
        itemsize = x.element_size()
        dims = zip(x.stride(), x.shape, strict=True)
        generators = [(itemsize * step, size) for step, size in dims]
        start = storage_start + itemsize * x.storage_offset()
        return start, [*generators, (1, itemsize)], _space(x)
    if isinstance(x, Layout):
        return generators_of(x)
    memory = borrowed(x)
    if memory is not x:  # of another library
        return _generators(memory)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):  # no scalar, whose memory does not last
        start, _ = x.__array_interface__["data"]
        generators = list(zip(x.strides, x.shape, strict=True))
        return start, [*generators, (1, x.itemsize)], "cpu"
    raise TypeError(f"{a_kind(x)} has no memory set: give a tensor, a NumPy array or a Layout")


def _storage_start(t: torch.Tensor) -> int:
    """Return the address at which the storage begins; raises for tensors that have no single memory."""
    import torch

    start = 0
    if type(t) in (torch.Tensor, torch.nn.Parameter):
        is_strided = t.layout is torch.strided and not (t.is_nested or t.is_quantized)
        start = storage_address(t) if is_strided else 0
    if start == 0:  # an empty tensor, an unusual one, or one to refuse
        require_memory(t)
        start = storage_address(t)
    return start


def _space(t: torch.Tensor) -> str:
    """Return the name of the address space that a tensor lies in."""
    return "cpu" if t.is_cpu else str(t.device)


def block_of(x: Any) -> MemorySet:
    """Return the bytes that x keeps alive: its storage, or the block that an array lies in."""
    if is_tensor(x):
        return MemorySet(_storage_start(x), [(1, storage_bytes(x))], _space(as_plain(x)))
    if isinstance(x, Layout):
        _, _, space = generators_of(x)
        return MemorySet(0, [(1, 1)], space)  # any byte will do: they share them all
    memory = borrowed(x)
    if is_tensor(memory):
        return block_of(memory)
    memset(memory)  # refuses anything but an array
    start, nbytes = array_block(memory)
    return MemorySet(start, [(1, nbytes)], "cpu")
