"""Random cases: memory sets against brute force, NumPy and torch.

Each family draws one case from a random.Random; test_fuzz.py runs them by the thousand. The checks of
a case stand apart, as other tests have cases of their own.
"""

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


def check_strided_set(given):
    """Count, members, order and collisions of generators: those of the filled set."""
    base, normal = normal_form(0, given)
    expected, levels, steps = sums(-base, given), cut(normal), Budget(PLENTY)
    assert count(levels, steps) == len(expected), given
    assert list(iter_generators(normal, Budget(PLENTY))) == sorted(expected), given
    # One budget for all numbers: what it remembers of one is not mixed up with another.
    found = {number for number in range(-2, max(expected) + 3) if contains(levels, number, steps)}
    assert found == expected, given
    assert collide(given, steps) == (len(expected) < prod(n for _, n in given)), given


def check_protocol(a, b):
    """Every operator and method says of two layouts what it says of the filled sets."""
    x, y, p, q = MemorySet.of(a), MemorySet.of(b), bytes_of(a), bytes_of(b)
    assert (x <= y, x < y, x == y, x != y) == (p <= q, p < q, p == q, p != q), (a, b)
    assert (x >= y, x > y) == (p >= q, p > q), (a, b)
    assert (x.issubset(y), x.issuperset(y), x.isdisjoint(y)) == (p <= q, p >= q, p.isdisjoint(q))
    assert (len(x), x.count(), bool(x)) == (len(p), len(p), bool(p)), a
    assert p != q or hash(x) == hash(y), (a, b)


def check_two(x, y):
    """View, shared bytes, overlap within, of two tensors or arrays: what their bytes say, one by one."""
    p, q = bytes_of(x), bytes_of(y)
    assert (is_view(y, x), is_view(x, y)) == (q <= p, p <= q)
    assert shares_memory(x, y) == shares_memory(y, x) == bool(p & q)
    for z, own in ((x, p), (y, q)):
        assert has_internal_overlap(z) == (len(own) < prod(z.shape) * z.itemsize)
        assert len(memset(z)) == len(own)


def check_blocks(parts, size):
    together = set()
    for part in parts:
        numbers = sums(*part)
        assert blocks(part, size, Budget(PLENTY)) == slow_blocks(numbers, size), (part, size)
        together |= blocks_of(numbers, size)
    assert blocks_together(parts, size, Budget(PLENTY)) == len(together), (parts, size)


def part_of(layout):
    """The bytes of a layout as a strided set in normal form."""
    return normal_form(*generators_of(layout)[:2])


def strided_set(rng: Random) -> None:
    """Up to five generators: few small steps interleave, wide ones nest."""
    wide = rng.choice([8, 20, 60])
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(0, 5))]
    check_strided_set([(rng.randint(-wide, wide), n) for n in sizes])


def two_layouts(rng: Random) -> None:
    """Any two layouts, and the bytes of one of them, each once and in ascending order."""
    layout = _layout(rng)
    check_protocol(layout, _layout(rng))
    expected, filled = sorted(bytes_of(layout)), MemorySet.of(layout)
    assert list(filled) == expected, layout
    first, stop = (expected[0], expected[-1] + 1) if expected else (filled.first, filled.first)
    assert (filled.first, filled.stop) == (first, stop), layout
    assert [byte for byte in range(first - 2, stop + 2) if byte in filled] == expected, layout


def view_and_base(rng: Random) -> None:
    """A chain of view operations on a base: usually inside, sometimes moved out."""
    base = _view(rng, Layout([rng.randint(1, 5) for _ in range(rng.randint(1, 3))]))
    part = _view(rng, _view(rng, base))
    if part.storage_offset and rng.random() < 0.3:
        part = Layout(part.shape, part.stride, part.storage_offset - 1)
    check_protocol(part, base)


def real_tensors(rng: Random) -> None:
    """Two views of one tensor, of different dtypes, and arrays over them; and NumPy's exact overlap."""
    a, b = _tensor(rng), _tensor(rng)
    check_two(a, b)
    array, backward = a.numpy(), b.numpy()[..., ::-1] if b.ndim else b.numpy()
    assert shares_memory(a, b) == shares_memory(a, backward) == np.shares_memory(array, backward)
    if rng.random() < 0.2:
        check_two(array, backward)
        assert memset(array) == memset(a) and set(memset(a)) == bytes_of(a)
        assert shares_storage(a, b) and shares_storage(a, backward)


def large_layouts(rng: Random) -> None:
    """Up to 10**12 elements: overlap against NumPy, where NumPy answers; inclusion both ways."""
    base = Layout([rng.choice([1, 2, 3, 10, 999, 1000]) for _ in range(rng.randint(1, 4))])
    a, b = _view(rng, _view(rng, base)), _view(rng, _view(rng, base))
    x, y, whole = MemorySet.of(a), MemorySet.of(b), MemorySet.of(base)
    assert x <= whole and y <= whole, (a, b)
    # Windows of windows may interleave too much for either: one pair in some 20,000.
    with suppress(Undecided, np.exceptions.TooHardError):
        assert x.count() <= a.numel, (a, b)
        meet = not x.isdisjoint(y)
        for one, other in ((a, y), (b, x)):
            if one.numel:
                corner = one.address([rng.randrange(n) for n in one.shape])
                assert corner in whole and (meet or corner not in other), (a, b)
        if x <= y:
            assert meet == bool(a.numel) and x.count() <= y.count(), (a, b)
        pair = np.asarray(_Array(a)), np.asarray(_Array(b))
        assert meet == np.shares_memory(*pair, max_work=1000), (a, b)


def aligned_blocks(rng: Random) -> None:
    """Cache lines and the like of up to three layouts, often slices of one."""
    shape = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
    base = Layout(shape, itemsize=rng.choice([1, 2, 4, 8, 16]))
    some, evenly = [], [slice(None, None, step) for step in (1, 1, 2, 3)]
    for _ in range(rng.choice((1, 2, 2, 2, 3))):
        sliced = base[tuple(rng.choice([*evenly, slice(rng.randrange(n), n)]) for n in shape)]
        some.append(rng.choice((_layout(rng), sliced, _view(rng, _view(rng, base)))))
    size = rng.choice([1, 2, 3, 4, 7, 8, 12, 16, 32, 64])
    check_blocks([part_of(x) for x in some if x.numel], size)


_FAMILIES = (strided_set, two_layouts, view_and_base, real_tensors, large_layouts, aligned_blocks)
CASES = {family.__name__: family for family in _FAMILIES}


def _layout(rng: Random) -> Layout:
    """A layout with strides of every kind, NumPy's negative ones included."""
    shape = [rng.choice([0, 1, 1, 2, 2, 3, 3, 4]) for _ in range(rng.choice((0, 1, 2, 2, 3, 3, 4)))]
    narrow, wide = rng.choice([(-2, 4), (-2, 12), (-2, 30), (-12, 30)])
    stride = [rng.randint(narrow, wide) for _ in shape]
    return Layout(shape, stride, 200 + rng.randint(0, 8), rng.choice([1, 1, 2, 4]))


def _view(rng: Random, x: Layout) -> Layout:
    return steps.viewed(rng, x)[0]


def _tensor(rng: Random) -> torch.Tensor:
    """Any strides over the first few hundred bytes of one storage."""
    base = _BASE.view(rng.choice([torch.uint8, torch.int16, torch.float32]))
    shape = [rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 3))]
    stride = [rng.choice([0, 1, 2, 3, 5, 8, 12, 24]) for _ in shape]
    return base.as_strided(shape, stride, rng.randint(0, 16))


class _Array:
    """An array as far as NumPy asks: where its numbers lie. They are never read, and most do not exist."""

    def __init__(self, x: Layout) -> None:
        data = (1 << 40) + x.storage_offset
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": x.shape,
            "strides": x.stride,
            "data": (data, True),
        }
