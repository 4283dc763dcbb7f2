"""The slow truth: strided sets, and the bytes of layouts, filled number by number."""

from itertools import product

import numpy as np
import torch

from stridekit import Layout
from stridekit.memory.blocks import Blocks


def sums(base, generators):
    """All numbers base + sum of c*[0, n)."""
    numbers = {base}
    for c, n in generators:
        numbers = {number + c * k for number in numbers for k in range(n)}
    return numbers


def blocks_of(numbers, size=64):
    return {number // size for number in numbers}


def partial_of(numbers, size=64):
    """The blocks of which it has some bytes but not all."""
    return {k for k in blocks_of(numbers, size) if {*range(k * size, (k + 1) * size)} - numbers}


def slow_blocks(numbers, size):
    met = len(blocks_of(numbers, size))
    return Blocks(size, met, met - len(partial_of(numbers, size)))


def bytes_of(x):
    """Every byte of every element, at the address that the layout, torch or NumPy gives each element."""
    indices = product(*map(range, x.shape))
    return {address_of(x, index) + k for index in indices for k in range(x.itemsize)}


def address_of(x, index):
    if isinstance(x, Layout):
        return x.address(index)
    element = x[(*index, ...)]
    return element.data_ptr() if isinstance(x, torch.Tensor) else element.ctypes.data


def numbers(x):
    if isinstance(x, Layout):
        return x.shape, x.stride, x.storage_offset, x.itemsize
    if isinstance(x, torch.Tensor):
        return tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.element_size()
    item = x.itemsize
    offset = (x.ctypes.data - block(x)[0]) // max(item, 1)
    return x.shape, tuple(s // max(item, 1) for s in x.strides), offset, item


def block(x):
    """The first address of the memory that x keeps alive, and the one after its last."""
    if isinstance(x, torch.Tensor):  # data_ptr() would make a lazy clone real
        start = torch._C._data_address(x)
        return start, start + x.untyped_storage().nbytes()
    while isinstance(getattr(x, "base", None), np.ndarray) or type(x.base).__name__ == "DummyArray":
        x = x.base
    if isinstance(x.base, torch.Tensor):
        return block(x.base)
    return np.lib.array_utils.byte_bounds(x)


def visited(layout):
    """The elements of a layout in the order of visit, row-major."""
    elements = [layout.storage_offset]
    for size, step in zip(layout.shape, layout.stride, strict=True):
        elements = [e + i * step for e in elements for i in range(size)]
    return elements
