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
    """The blocks that a filled set meets."""
    return {number // size for number in numbers}


def partial_of(numbers, size=64):
    """The blocks of which it has some bytes but not all."""
    return {
        k for k in blocks_of(numbers, size) if not {*range(k * size, (k + 1) * size)} <= numbers
    }


def slow_blocks(numbers, size):
    """The answer of `blocks`, counted on a filled set."""
    met = len(blocks_of(numbers, size))
    return Blocks(size, met, met - len(partial_of(numbers, size)))


def layout_bytes(layout):
    """Every byte of every element, each computed from its index."""
    return {
        layout.address(index) + k
        for index in product(*map(range, layout.shape))
        for k in range(layout.itemsize)
    }


def tensor_bytes(t):
    """The absolute addresses of the bytes of a tensor's elements, asked of torch one by one."""
    return {
        t[index].data_ptr() + k
        for index in product(*map(range, t.shape))
        for k in range(t.element_size())
    }


def numbers(x):
    """Shape, stride, storage_offset and itemsize."""
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


def bytes_of(x):
    """Each byte of each element of a tensor or an array once, in ascending order."""
    if isinstance(x, np.ndarray):
        first, steps = x.ctypes.data, x.strides
    else:
        first = block(x)[0] + x.storage_offset() * x.itemsize
        steps = [step * x.itemsize for step in x.stride()]
    return sorted(
        {
            first + sum(i * step for i, step in zip(index, steps, strict=True)) + k
            for index in product(*map(range, x.shape))
            for k in range(x.itemsize)
        }
    )


def visited(layout):
    """The elements of a layout in the order of visit, row-major."""
    elements = [layout.storage_offset]
    for size, step in zip(layout.shape, layout.stride, strict=True):
        elements = [e + i * step for e in elements for i in range(size)]
    return elements
