"""The slow truth: strided sets, and the bytes of layouts, filled number by number."""

from itertools import product


def sums(base, generators):
    """All numbers base + sum of c*[0, n)."""
    numbers = {base}
    for c, n in generators:
        numbers = {number + c * k for number in numbers for k in range(n)}
    return numbers


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


def array_bytes(a):
    """The absolute addresses of the bytes of an array's elements, from NumPy's own numbers."""
    start = a.__array_interface__["data"][0]
    return {
        start + sum(i * s for i, s in zip(index, a.strides, strict=True)) + k
        for index in product(*map(range, a.shape))
        for k in range(a.itemsize)
    }


def visited(layout):
    """The elements of a layout in the order of visit, row-major."""
    elements = [layout.storage_offset]
    for size, step in zip(layout.shape, layout.stride, strict=True):
        elements = [e + i * step for e in elements for i in range(size)]
    return elements
