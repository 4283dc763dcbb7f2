"""memset, is_view and the rest of real tensors and arrays: torch's and NumPy's addresses decide."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import assume, given

from stridekit import Layout, is_view, memset, shares_memory, shares_storage, traffic
from tests.core import steps
from tests.core.brute_force import bytes_of
from tests.core.fuzz_memory import check_two
from tests.core.strategies import randoms, tensors


def test_parts_of_complex_numbers():
    x = torch.zeros(3, 4, dtype=torch.complex64)[:, 1:]
    views = [
        x.real,
        x.imag,
        x.conj(),
        x.conj().imag,
        torch.view_as_real(x),
    ]
    for view in views:
        check_two(x, view)
        assert shares_storage(x, view)
        assert set(memset(view)) == bytes_of(view)
    assert not shares_memory(x.real, x.imag)


RECORDS = np.zeros((3, 4), dtype=[("a", "i2"), ("b", "f4"), ("c", "i1")])
ARRAYS = [
    RECORDS["a"],
    RECORDS["b"],
    RECORDS,
    RECORDS["b"][::-1, ::-2],
    RECORDS["c"].T,
    np.broadcast_to(RECORDS["a"][:1], (3, 4)),
    RECORDS["b"][:0],
    RECORDS[1:, 2],
]


PAIRS = list(combinations(ARRAYS, 2))


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=lambda array: str(array.dtype))
def test_arrays_with_negative_and_odd_strides(a, b):
    check_two(a, b)
    assert set(memset(a)) == bytes_of(a)
    assert shares_storage(a, b)
    assert shares_memory(a, b) == np.shares_memory(a, b)


def test_notions_of_one_storage():
    """Tensors that keep one storage alive may share no byte; one block may have several handles."""
    x = torch.arange(10)
    assert shares_storage(x[:2], x[8:])
    assert not shares_memory(x[:2], x[8:])
    assert not shares_storage(x, x.clone())
    array = np.arange(10)
    first = torch.from_numpy(array)
    second = torch.from_numpy(array)
    assert not torch._C._is_alias_of(first, second)
    assert shares_storage(first, second)
    assert shares_storage(first, array[7:])
    for part in (x[2:4], x[:3], x[::3]):
        part_as_array = part.numpy()
        for y in (x[8:9], x.numpy()[8:9]):  # the block of an array is that of its base
            assert shares_storage(part_as_array, y)
            assert not shares_memory(part_as_array, y)
    empty = torch.empty(0)
    assert shares_storage(empty, empty.view(0, 3))
    assert not shares_storage(empty, torch.empty(0))
    assert shares_storage(Layout((3,)), Layout((5,), storage_offset=90))


@given(tensors(max_ndim=3), randoms)
def test_layouts_lie_where_tensors_do(x, r):
    index = steps.index(r, x.shape)
    try:
        view = x[index]
    except IndexError:
        assume(False)
    all_tensors = [x, view, x.clone(), x.clone()[index]]
    layout = Layout.of(x)
    first_copy = layout.clone()
    second_copy = layout.clone()
    storages = {layout.storage, first_copy.storage, second_copy.storage}
    assert len(storages) == 3
    all_layouts = [layout, layout[index], first_copy, second_copy[index]]
    for i, j in combinations(range(4), 2):
        of_tensors = (all_tensors[i], all_tensors[j])
        of_layouts = (all_layouts[i], all_layouts[j])
        assert is_view(*of_layouts) == is_view(*of_tensors)
        assert shares_memory(*of_layouts) == shares_memory(*of_tensors)
        if 0 not in x.shape:
            assert shares_storage(*of_layouts) == shares_storage(*of_tensors)
        if any(tensor.numel() for tensor in of_tensors):
            assert traffic(of_layouts).lines_read == traffic(of_tensors).lines_read


def test_arrays_and_tensors_in_a_buffer():
    """An array over a torch storage, and one over an object that only describes its memory."""
    t = torch.arange(10)
    assert Layout.of(t[2:].numpy()) == Layout((8,), (1,), 2, 8)
    interface = {"__array_interface__": t.numpy().__array_interface__}
    described = np.asarray(type("Described", (), interface)())
    assert memset(described) == memset(t)
    assert shares_storage(described, t)
    buffer = bytearray(16)
    x = torch.frombuffer(buffer, dtype=torch.int32, offset=4)
    assert is_view(x, np.frombuffer(buffer, np.uint8))
