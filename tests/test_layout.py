"""Layout as a value: made of numbers, of tensors and of arrays; and its elements."""

import itertools
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout
from stridekit._arguments import array_block
from tests.strategies import tensors


def test_contiguous_by_default():
    """Without a stride the layout is torch.empty's, sizes of 0 and 1 included."""
    for shape in itertools.product(range(4), repeat=4):
        assert Layout(shape).stride == torch.empty(shape).stride()


@given(tensors(), st.data())
def test_offset_finds_the_element(x, data):
    """offset(index) is the storage offset of the 0-d view at that index, address its byte."""
    index = tuple(data.draw(st.integers(-n - 1, n)) for n in x.shape)
    try:
        expected = x[index].storage_offset()
    except IndexError:
        with pytest.raises(IndexError):
            Layout.of(x).offset(index)
        return
    assert Layout.of(x).offset(index) == expected
    assert Layout.of(x).address(index) == expected * x.element_size()


@given(tensors(max_ndim=4), st.data())
def test_span(x, data):
    """The span runs from the lowest element to the highest, also with negative strides."""
    stride = tuple(data.draw(st.sampled_from([s, s, -s])) for s in x.stride())
    layout = Layout(x.shape, stride, 10_000)
    reached = [layout.offset(index) for index in itertools.product(*map(range, layout.shape))]
    ends = (min(reached), max(reached) + 1) if reached else (10_000, 10_000)
    assert (layout.span.start, layout.span.stop) == ends  # all empty ranges are equal


def test_of_the_array_of_an_empty_tensor():
    """An empty tensor has no address, and NumPy gives its array an arbitrary one."""
    arrays = [t.numpy() for t in (torch.zeros(10)[:0], torch.zeros(10)[4:4], torch.zeros(3, 0, 2))]
    assert {Layout.of(array).storage_offset for array in arrays} == {0}
    assert Layout.of(np.zeros(10)[4:][:0]).storage_offset == 4


def test_of_numpy_negative_and_foreign_strides():
    """Offsets of negative strides count from the owner's lowest byte."""
    array = np.arange(24, dtype=np.int16).reshape(4, 6)
    assert Layout.of(array[::-1, ::-2]) == Layout((4, 3), (-6, -2), 23, 2)
    backwards = np.ndarray((4,), np.int64, buffer=bytearray(32), offset=24, strides=(-8,))
    assert Layout.of(backwards) == Layout((4,), (-1,), 3, 8)
    assert Layout.of(np.zeros((0, 3))[::-1]).numel == 0


def test_the_block_of_an_array():
    """The block runs from the lowest byte of the memory's owner to the highest, whatever the strides."""
    memory = bytearray(96)
    both_ways = np.ndarray((2, 3), np.int64, buffer=memory, offset=40, strides=(-24, 16))
    start = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
    assert array_block(both_ways) == (start + 16, 24 + 32 + 8)
    assert array_block(both_ways[1:, ::2]) == array_block(both_ways)
    assert array_block(np.zeros((0, 3)))[1] == array_block(np.zeros((3, 0))[1:])[1] == 0
    x = torch.arange(40.0)
    for part in (x[10:20], x[:1], x[::7], x[40:]):
        assert array_block(part.numpy()) == (x.data_ptr(), 160)


def test_the_repr_of_a_copy():
    """A copy has the same numbers, so its repr also names its storage, which is new."""
    x = Layout((2, 3), itemsize=4)
    numbers = "Layout(shape=(2, 3), stride=(3, 1), storage_offset=0, itemsize=4"
    one, other = x.clone(), x.clone()
    said = re.fullmatch(rf"{re.escape(numbers)}, storage='new (\d+)'\)", repr(one))
    assert repr(x) == f"{numbers})" and said
    assert repr(other) == f"{numbers}, storage='new {int(said[1]) + 1}')"


def test_a_layout_is_a_value():
    """Equal numbers are equal layouts, hashable, and cannot be changed; Python's len ends at 2**63."""
    assert Layout((2**70, 2))[1::2, 1].shape == (2**69,)
    a = Layout([4, 6], itemsize=4)
    assert a == Layout((4, 6), (6, 1), 0, 4) and len({a, Layout((4, 6), itemsize=4)}) == 1
    with pytest.raises(AttributeError):
        a.shape = (24,)


def test_the_largest_tensors_of_torch():
    """torch counts elements and bytes in 64 bits."""
    assert Layout((1,), (1,), 2**63 - 2).why_not_torch() == ""
    assert Layout((1,), (1,), 2**63 - 1).why_not_torch().startswith("9223372036854775808 is beyond")
    assert "is beyond 2**63 - 1" in Layout((1,), (1,), 2**62, itemsize=4).why_not_torch()


def test_coalesced_layouts_have_no_dim_that_never_steps():
    assert Layout((3, 1), (5, 7)).coalesce() == Layout((3,), (5,))
    assert Layout((1, 3, 1), (9, 5, 7)).coalesce() == Layout((3,), (5,))
    assert Layout((2, 0, 3)).coalesce() == Layout((0,), (1,))
