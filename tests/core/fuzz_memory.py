"""Random cases: memory sets against brute force, NumPy and torch.

Each family draws one case from a random.Random; test_fuzz.py runs them by the thousand. The checks of
a case are functions of their own, because other tests call them too.
"""

import operator
from contextlib import suppress
from math import prod
from random import Random

import numpy as np
import torch

from stridekit import (
    Layout,
    MemorySet,
    Undecided,
    has_internal_overlap,
    is_view,
    memset,
    shares_memory,
    shares_storage,
)
from stridekit.memory.blocks import blocks, blocks_together
from stridekit.memory.memset import generators_of
from stridekit.memory.strided_set import (
    Budget,
    collide,
    contains,
    count,
    cut,
    iter_generators,
    normal_form,
)
from tests.core import steps
from tests.core.brute_force import blocks_of, bytes_of, slow_blocks, sums

PLENTY = 1_000_000
_BASE = torch.zeros(1 << 14, dtype=torch.uint8)


def check_strided_set(generators):
    """Compare the count, members, order and collisions of generators with those of the filled set."""
    base, normal = normal_form(0, generators)
    expected = sums(-base, generators)
    levels = cut(normal)
    budget = Budget(PLENTY)
    assert count(levels, budget) == len(expected), generators
    assert list(iter_generators(normal, Budget(PLENTY))) == sorted(expected), generators
    # One budget for all numbers: its memo of one number is not mixed up with another.
    numbers = range(-2, max(expected) + 3)
    members = {number for number in numbers if contains(levels, number, budget)}
    assert members == expected, generators
    choices = prod(n for _, n in generators)
    assert collide(generators, budget) == (len(expected) < choices), generators


def check_protocol(a, b):
    """Compare each operator and method on the memory sets of two layouts with the filled sets."""
    x = MemorySet.of(a)
    y = MemorySet.of(b)
    filled_x = bytes_of(a)
    filled_y = bytes_of(b)
    for name in ("le", "lt", "eq", "ne", "ge", "gt"):
        compare = getattr(operator, name)
        assert compare(x, y) == compare(filled_x, filled_y), (name, a, b)
    assert x.issubset(y) == filled_x.issubset(filled_y), (a, b)
    assert x.issuperset(y) == filled_x.issuperset(filled_y), (a, b)
    assert x.isdisjoint(y) == filled_x.isdisjoint(filled_y), (a, b)
    assert len(x) == len(filled_x), a
    assert x.count() == len(filled_x), a
    assert bool(x) == bool(filled_x), a
    if filled_x == filled_y:
        assert hash(x) == hash(y), (a, b)


def check_two(x, y):
    """Compare view, shared bytes and internal overlap of two tensors or arrays with their bytes."""
    filled_x = bytes_of(x)
    filled_y = bytes_of(y)
    assert is_view(y, x) == (filled_y <= filled_x)
    assert is_view(x, y) == (filled_x <= filled_y)
    has_common_byte = bool(filled_x & filled_y)
    assert shares_memory(x, y) == has_common_byte
    assert shares_memory(y, x) == has_common_byte
    for z, filled in ((x, filled_x), (y, filled_y)):
        has_overlap = len(filled) < prod(z.shape) * z.itemsize
        assert has_internal_overlap(z) == has_overlap
        assert len(memset(z)) == len(filled)


def check_blocks(parts, size):
    """Compare the blocks of each strided set, and of all of them together, with the filled sets."""
    all_blocks = set()
    for part in parts:
        numbers = sums(*part)
        assert blocks(part, size, Budget(PLENTY)) == slow_blocks(numbers, size), (part, size)
        all_blocks |= blocks_of(numbers, size)
    assert blocks_together(parts, size, Budget(PLENTY)) == len(all_blocks), (parts, size)


def part_of(layout):
    """The bytes of a layout as a strided set in normal form."""
    start, generators, _ = generators_of(layout)
    return normal_form(start, generators)


def strided_set(rng: Random) -> None:
    """Up to five generators: few small steps interleave, wide ones nest."""
    largest_step = rng.choice([8, 20, 60])
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(0, 5))]
    generators = []
    for size in sizes:
        step = rng.randint(-largest_step, largest_step)
        generators.append((step, size))
    check_strided_set(generators)


def two_layouts(rng: Random) -> None:
    """Any two layouts, and the bytes of one of them, each once and in ascending order."""
    layout = _layout(rng)
    check_protocol(layout, _layout(rng))
    expected = sorted(bytes_of(layout))
    memory = MemorySet.of(layout)
    assert list(memory) == expected, layout
    if expected:
        assert memory.first == expected[0], layout
        assert memory.stop == expected[-1] + 1, layout
    else:
        assert memory.first == memory.stop, layout
    around = range(memory.first - 2, memory.stop + 2)
    assert [byte for byte in around if byte in memory] == expected, layout


def view_and_base(rng: Random) -> None:
    """A chain of view operations on a base: usually inside, sometimes moved out."""
    shape = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    base = _view(rng, Layout(shape))
    view = _view(rng, _view(rng, base))
    if view.storage_offset and rng.random() < 0.3:
        view = Layout(view.shape, view.stride, view.storage_offset - 1)
    check_protocol(view, base)


def real_tensors(rng: Random) -> None:
    """Two views of one tensor, of different dtypes, and arrays over them; and NumPy's exact overlap."""
    a = _tensor(rng)
    b = _tensor(rng)
    check_two(a, b)
    array = a.numpy()
    backward = b.numpy()
    if b.ndim:
        backward = backward[..., ::-1]
    expected = np.shares_memory(array, backward)
    assert shares_memory(a, b) == expected
    assert shares_memory(a, backward) == expected
    if rng.random() < 0.2:
        check_two(array, backward)
        assert memset(array) == memset(a)
        assert set(memset(a)) == bytes_of(a)
        assert shares_storage(a, b)
        assert shares_storage(a, backward)


def large_layouts(rng: Random) -> None:
    """Up to 10**12 elements: overlap against NumPy, where NumPy answers; inclusion both ways."""
    shape = [rng.choice([1, 2, 3, 10, 999, 1000]) for _ in range(rng.randint(1, 4))]
    base = Layout(shape)
    a = _view(rng, _view(rng, base))
    b = _view(rng, _view(rng, base))
    x = MemorySet.of(a)
    y = MemorySet.of(b)
    base_bytes = MemorySet.of(base)
    assert x <= base_bytes, (a, b)
    assert y <= base_bytes, (a, b)
    # Windows of windows may interleave too much for either: one pair in about 20,000.
    with suppress(Undecided, np.exceptions.TooHardError):
        assert x.count() <= a.numel, (a, b)
        are_disjoint = x.isdisjoint(y)
        for layout, other_bytes in ((a, y), (b, x)):
            if layout.numel:
                index = [rng.randrange(size) for size in layout.shape]
                byte = layout.address(index)
                assert byte in base_bytes, (a, b)
                assert not (are_disjoint and byte in other_bytes), (a, b)
        if x <= y:
            assert are_disjoint == (not a.numel), (a, b)
            assert x.count() <= y.count(), (a, b)
        arrays = np.asarray(_Array(a)), np.asarray(_Array(b))
        assert are_disjoint != np.shares_memory(*arrays, max_work=1000), (a, b)


def aligned_blocks(rng: Random) -> None:
    """Blocks of up to three layouts, often slices of one."""
    shape = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
    base = Layout(shape, itemsize=rng.choice([1, 2, 4, 8, 16]))
    stepped_slices = [slice(None, None, step) for step in (1, 1, 2, 3)]
    layouts = []
    for _ in range(rng.choice((1, 2, 2, 2, 3))):
        slices = []
        for n in shape:
            end = slice(rng.randrange(n), n)
            slices.append(rng.choice([*stepped_slices, end]))
        sliced = base[tuple(slices)]
        unrelated = _layout(rng)
        view_of_view = _view(rng, _view(rng, base))
        layouts.append(rng.choice((unrelated, sliced, view_of_view)))
    size = rng.choice([1, 2, 3, 4, 7, 8, 12, 16, 32, 64])
    check_blocks([part_of(layout) for layout in layouts if layout.numel], size)


_FAMILIES = (strided_set, two_layouts, view_and_base, real_tensors, large_layouts, aligned_blocks)
CASES = {family.__name__: family for family in _FAMILIES}


def _layout(rng: Random) -> Layout:
    """A layout with strides of every kind, NumPy's negative ones included."""
    ndim = rng.choice((0, 1, 2, 2, 3, 3, 4))
    shape = [rng.choice([0, 1, 1, 2, 2, 3, 3, 4]) for _ in range(ndim)]
    least, largest = rng.choice([(-2, 4), (-2, 12), (-2, 30), (-12, 30)])
    stride = [rng.randint(least, largest) for _ in shape]
    offset = 200 + rng.randint(0, 8)
    itemsize = rng.choice([1, 1, 2, 4])
    return Layout(shape, stride, offset, itemsize)


def _view(rng: Random, x: Layout) -> Layout:
    view, _ = steps.viewed(rng, x)
    return view


def _tensor(rng: Random) -> torch.Tensor:
    """Any strides over the first few hundred bytes of one storage."""
    base = _BASE.view(rng.choice([torch.uint8, torch.int16, torch.float32]))
    shape = [rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 3))]
    stride = [rng.choice([0, 1, 2, 3, 5, 8, 12, 24]) for _ in shape]
    return base.as_strided(shape, stride, rng.randint(0, 16))


class _Array:
    """An array without memory: NumPy looks only at where its numbers would lie, and never reads them."""

    def __init__(self, x: Layout) -> None:
        data = (1 << 40) + x.storage_offset
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": x.shape,
            "strides": x.stride,
            "data": (data, True),
        }
