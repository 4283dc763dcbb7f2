"""Random cases for `make fuzz`: memory sets against brute force, NumPy and torch.

Each function draws one case from a random.Random and asserts; `tests.fuzz` runs them by the thousand.
"""

from random import Random

import numpy as np
import torch

from stridekit import Layout, MemorySet, has_internal_overlap, is_view, memset, shares_memory
from stridekit.memory.blocks import blocks_together
from stridekit.memory.memset import generators_of
from stridekit.memory.strided_set import (
    Budget,
    ascending,
    collide,
    contains,
    count,
    cut,
    normal_form,
)
from tests.brute_force import layout_bytes, sums

_BASE = torch.zeros(1 << 14, dtype=torch.uint8)


def strided_set(rng: Random) -> None:
    """Count, members, order and collisions of up to five generators."""
    wide = rng.choice([8, 20, 60])
    given = [(rng.randint(-wide, wide), rng.randint(1, 4)) for _ in range(rng.randint(0, 4))]
    base, normal = normal_form(0, given)
    expected, levels, budget = sums(-base, given), cut(normal), Budget(10**5)
    assert count(levels, budget) == len(expected), given
    assert list(ascending(normal, Budget(10**6))) == sorted(expected), given
    top = max(expected)
    found = {number for number in range(-1, top + 2) if contains(levels, number, budget)}
    assert found == expected, given
    choices = 1
    for _, n in given:
        choices *= n
    assert collide(given, budget) == (len(expected) < choices), given


def two_layouts(rng: Random) -> None:
    """Every operator of the protocol, on any two layouts, against filled sets."""
    a, b = _layout(rng), _layout(rng)
    x, y, p, q = MemorySet.of(a), MemorySet.of(b), layout_bytes(a), layout_bytes(b)
    assert (x <= y, x < y, x == y, len(x)) == (p <= q, p < q, p == q, len(p)), (a, b)
    assert x.isdisjoint(y) == p.isdisjoint(q), (a, b)
    assert p != q or hash(x) == hash(y), (a, b)


def view_and_base(rng: Random) -> None:
    """A chain of view operations on a base, against filled sets: usually inside, sometimes moved out."""
    base = _view(rng, Layout([rng.randint(1, 5) for _ in range(rng.randint(1, 3))]))
    part = _view(rng, _view(rng, base))
    if part.storage_offset and rng.random() < 0.3:
        part = Layout(part.shape, part.stride, part.storage_offset - 1)
    x, y, p, q = MemorySet.of(base), MemorySet.of(part), layout_bytes(base), layout_bytes(part)
    assert (y <= x, x <= y, x == y) == (q <= p, p <= q, p == q), (base, part)
    assert x.isdisjoint(y) == p.isdisjoint(q), (base, part)


def real_tensors(rng: Random) -> None:
    """Two views of one tensor, of different dtypes: NumPy's exact overlap, and inclusion by counting."""
    a, b = _tensor(rng), _tensor(rng)
    numbers = a.numpy(), b.numpy()
    where = [(t.dtype, t.shape, t.stride(), t.storage_offset()) for t in (a, b)]
    assert shares_memory(a, b) == np.shares_memory(*numbers), where
    marks = np.zeros(_BASE.numel(), dtype=np.uint8)
    start = _BASE.data_ptr()
    reached = []
    for array in numbers:
        marks[:] = 0
        offset = array.__array_interface__["data"][0] - start if array.size else 0
        own = np.ndarray(
            (*array.shape, array.itemsize), np.uint8, marks, offset, (*array.strides, 1)
        )
        own[...] = 1
        reached.append(marks.nonzero()[0])
    inside = np.isin(reached[0], reached[1]).all()
    assert is_view(a, b) == inside, where
    assert len(memset(a)) == len(reached[0]), where
    assert has_internal_overlap(a) == (len(reached[0]) < a.numel() * a.element_size()), where


def large_layouts(rng: Random) -> None:
    """Up to 10**12 elements: overlap against NumPy, where NumPy answers; inclusion both ways."""
    base = Layout([rng.choice([1, 2, 3, 10, 999, 1000]) for _ in range(rng.randint(1, 4))])
    a, b = _view(rng, _view(rng, base)), _view(rng, _view(rng, base))
    x, y, whole = MemorySet.of(a), MemorySet.of(b), MemorySet.of(base)
    assert x <= whole and y <= whole and x.count() <= a.numel, (a, b)
    meet = not x.isdisjoint(y)
    if x <= y:
        assert meet == bool(a.numel) and x.count() <= y.count(), (a, b)
    for one, other in ((a, y), (b, x)):
        if one.numel:
            corner = one.address([rng.randrange(n) for n in one.shape])
            assert corner in whole and (meet or corner not in other), (a, b)
    try:
        expected = np.shares_memory(np.asarray(_Array(a)), np.asarray(_Array(b)), max_work=1000)
    except np.exceptions.TooHardError:
        return
    assert meet == expected, (a, b)


def aligned_blocks(rng: Random) -> None:
    """Cache lines and the like of one layout, and of two together, against those of every byte."""
    size = rng.choice([1, 2, 3, 4, 8, 16, 32, 64])
    parts, filled = [], set()
    base = Layout(
        [rng.randint(1, 9) for _ in range(rng.randint(1, 3))], itemsize=rng.choice([1, 4, 8])
    )
    for _ in range(2):
        x = _layout(rng) if rng.random() < 0.5 else _view(rng, _view(rng, base))
        own = layout_bytes(x)
        touched = {byte // size for byte in own}
        whole = sum(all(k * size + i in own for i in range(size)) for k in touched)
        assert MemorySet.of(x).blocks(size) == (size, len(touched), whole), (x, size)
        filled |= touched
        if x.numel:
            parts.append(normal_form(*generators_of(x)[:2]))
    assert blocks_together(parts, size, Budget(10**6)) == len(filled), (parts, size)


CASES = {
    case.__name__: case
    for case in (
        strided_set,
        two_layouts,
        view_and_base,
        real_tensors,
        large_layouts,
        aligned_blocks,
    )
}


def _layout(rng: Random) -> Layout:
    shape = [rng.choice([0, 1, 1, 2, 2, 3, 3, 4]) for _ in range(rng.randint(0, 3))]
    wide = rng.choice([4, 12, 30])
    stride = [rng.randint(-2, wide) for _ in shape]
    return Layout(shape, stride, 20 + rng.randint(0, 6), rng.choice([1, 1, 2, 4]))


def _view(rng: Random, x: Layout) -> Layout:
    """One random view operation."""
    if x.ndim == 0:
        return x
    d = rng.randrange(x.ndim)
    kind = rng.randrange(6)
    if kind == 0:
        return x.transpose(d, rng.randrange(x.ndim))
    if kind == 1 and x.ndim > 1:
        e = (d + rng.randrange(1, x.ndim)) % x.ndim
        return x.diagonal(rng.randint(-1, 1), d, e)
    if kind == 2 and x.shape[d]:
        return x.select(d, rng.randrange(x.shape[d]))
    if kind == 3 and x.shape[d] % 2 == 0:
        return x.view(*x.shape[:d], x.shape[d] // 2, 2, *x.shape[d + 1 :])
    start, step = rng.randint(0, 2), rng.randint(1, 3)
    return x[(slice(None),) * d + (slice(start, None, step),)]


def _tensor(rng: Random) -> torch.Tensor:
    """Any strides over the first few hundred bytes of one storage."""
    base = _BASE.view(rng.choice([torch.uint8, torch.int16, torch.float32]))
    shape = [rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 3))]
    stride = [rng.choice([0, 1, 2, 3, 5, 8, 12, 24]) for _ in shape]
    return base.as_strided(shape, stride, rng.randint(0, 16))


class _Array:
    """What NumPy asks of a stranger: where its numbers lie. They are never read, most do not exist."""

    def __init__(self, x: Layout) -> None:
        data = (1 << 40) + x.storage_offset
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": x.shape,
            "strides": x.stride,
            "data": (data, True),
        }
