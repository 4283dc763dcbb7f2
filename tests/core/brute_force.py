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
    """The aligned blocks that a set of numbers meets."""
    return {number // size for number in numbers}


def partial_of(numbers, size=64):
    """The blocks that a set of numbers meets but does not fill."""
    partial = set()
    for block in blocks_of(numbers, size):
        if not numbers.issuperset(range(block * size, (block + 1) * size)):
            partial.add(block)
    return partial


def slow_blocks(numbers, size):
    """The result of `blocks`, by sets of numbers."""
    touched = len(blocks_of(numbers, size))
    return Blocks(size, touched, touched - len(partial_of(numbers, size)))


def bytes_of(x):
    """Every byte of every element, at the address that the layout, torch or NumPy gives each element."""
    indices = product(*map(range, x.shape))
    return {address_of(x, index) + k for index in indices for k in range(x.itemsize)}


def address_of(x, index):
    """The first byte of the element at an index."""
    if isinstance(x, Layout):
        return x.address(index)
    element = x[(*index, ...)]
    return element.data_ptr() if isinstance(x, torch.Tensor) else element.ctypes.data


def numbers(x):
    """Shape, stride, storage_offset and itemsize of a layout, a tensor or an array."""
    if isinstance(x, Layout):
        return x.shape, x.stride, x.storage_offset, x.itemsize
    if isinstance(x, torch.Tensor):
        return tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.element_size()
    itemsize = max(x.itemsize, 1)  # an array may have elements of 0 bytes
    start, _ = block(x)
    stride = tuple(step // itemsize for step in x.strides)
    return x.shape, stride, (x.ctypes.data - start) // itemsize, x.itemsize


def block(x):
    """The first address of the memory that x keeps alive, and the address after its last."""
    if isinstance(x, torch.Tensor):  # data_ptr() would make a lazy clone real
        start = torch._C._data_address(x)
        return start, start + x.untyped_storage().nbytes()
    while isinstance(getattr(x, "base", None), np.ndarray) or type(x.base).__name__ == "DummyArray":
        x = x.base
    if isinstance(x.base, torch.Tensor):
        return block(x.base)
    home = getattr(np.lib, "array_utils", np)  # NumPy 1 has it at the top
    return home.byte_bounds(x)


def visited(layout):
    """The elements of a layout in the order of visit, row-major."""
    elements = [layout.storage_offset]
    for size, step in zip(layout.shape, layout.stride, strict=True):
        elements = [start + i * step for start, i in product(elements, range(size))]
    return elements
