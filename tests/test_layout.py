"""Layout as a value: made of numbers, of tensors and of arrays; its elements and its refusals."""

import itertools
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, LayoutError, explain
from stridekit._arguments import array_block
from tests.agree import refuses
from tests.refused import NO_LAYOUT, NO_MEMORY
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
    """From the lowest element that an index reaches to the highest, also where steps go backwards."""
    stride = tuple(data.draw(st.sampled_from([s, s, -s])) for s in x.stride())
    layout = Layout(x.shape, stride, 10_000)
    reached = [layout.offset(index) for index in itertools.product(*map(range, layout.shape))]
    if reached:
        assert layout.span == range(min(reached), max(reached) + 1)
    else:
        assert layout.span == range(10_000, 10_000)


@given(tensors(max_ndim=4), st.data())
def test_of_numpy_arrays(x, data):
    """An array and the tensor that shares its memory have one layout, steps and all."""
    if x.dtype is torch.complex128 or x.untyped_storage().nbytes() == 0:
        return
    whole = torch.as_strided(x, (x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    array = np.lib.stride_tricks.as_strided(
        whole.numpy()[x.storage_offset() :], x.shape, [s * x.element_size() for s in x.stride()]
    )
    if x.numel():
        assert Layout.of(array) == Layout.of(x)


def test_of_the_array_of_an_empty_tensor():
    """An empty tensor has no address, and NumPy gives its array one that lies anywhere."""
    arrays = [t.numpy() for t in (torch.zeros(10)[:0], torch.zeros(10)[4:4], torch.zeros(3, 0, 2))]
    assert {Layout.of(array).storage_offset for array in arrays} == {0}
    assert Layout.of(np.zeros(10)[4:][:0]).storage_offset == 4


def test_of_numpy_negative_and_foreign_strides():
    """NumPy's own: negative strides count from the owner's lowest byte; fields of records do not fit."""
    array = np.arange(24, dtype=np.int16).reshape(4, 6)
    assert Layout.of(array[::-1, ::-2]) == Layout((4, 3), (-6, -2), 23, 2)
    backwards = np.ndarray((4,), np.int64, buffer=bytearray(32), offset=24, strides=(-8,))
    assert Layout.of(backwards) == Layout((4,), (-1,), 3, 8)
    records = np.zeros(4, dtype=[("a", "i2"), ("b", "f4")])
    with pytest.raises(LayoutError, match="not a whole number of elements of 4 bytes"):
        Layout.of(records["b"])
    shifted = np.zeros(4, dtype=[("a", "i2"), ("b", "f4"), ("c", "i2")])
    with pytest.raises(
        LayoutError, match=r"^the offset of this array, 2 bytes, are not a whole number"
    ):
        Layout.of(shifted["b"])
    assert Layout.of(np.zeros((0, 3))[::-1]).numel == 0


def test_the_block_of_an_array():
    """From the lowest byte of whoever owns the memory to the highest, whichever way it is held."""
    memory = bytearray(96)
    both_ways = np.ndarray((2, 3), np.int64, buffer=memory, offset=40, strides=(-24, 16))
    start = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
    assert array_block(both_ways) == (start + 16, 24 + 32 + 8)
    assert array_block(both_ways[1:, ::2]) == array_block(both_ways)
    assert array_block(np.zeros((0, 3)))[1] == array_block(np.zeros((3, 0))[1:])[1] == 0
    x = torch.arange(40.0)
    for part in (x[10:20], x[:1], x[::7], x[40:]):
        assert array_block(part.numpy()) == (x.data_ptr(), 160)


REFUSED = {
    "Layout((2, 3), (1,))": "shape (2, 3) has 2 dims but stride (1,) has 1",
    "Layout((2, 3), (1, 2, 3))": "shape (2, 3) has 2 dims but stride (1, 2, 3) has 3",
    "Layout((2, -3))": "size -3 of dim 1 is negative",
    "Layout((-2, 3, -4))": "size -2 of dim 0 is negative",
    "Layout(5)": "shape is 5, an int: give a tuple of ints",
    "Layout((2.0,))": "shape[0] is 2.0, a float: give an int",
    "Layout((True,))": "shape[0] is True, a bool: give an int",
    "Layout((3,), (-1,))": "reaches element -2: a storage starts at 0",
    "Layout((3,), storage_offset=-1)": "storage_offset -1 reaches element -1: a storage",
    "Layout((), storage_offset=-2)": "storage_offset -2 reaches element -2: a storage",
    "Layout((3,), itemsize=0)": "itemsize is 0 bytes",
    'Layout((3,)).is_contiguous("nchw")': "memory_format nchw is not one of",
}


@pytest.mark.parametrize("source", REFUSED)
def test_errors_say_what_and_why(source):
    """Each refusal names the numbers and what to do."""
    refuses(source, REFUSED[source])


def test_an_index_of_another_length():
    """The error has the number that came, and the number that is wanted."""
    told = "index (1, 2, 0) has 3 numbers for shape (4, 6): give 2, one for each dim"
    for ask in (Layout((4, 6)).offset, Layout((4, 6)).address):
        with pytest.raises(IndexError, match=f"^{re.escape(told)}$"):
            ask((1, 2, 0))


def test_a_class_has_no_layout():
    """It has what its tensors have by name alone."""
    for kind in (torch.Tensor, torch.nn.Parameter, np.ndarray):
        with pytest.raises(
            TypeError, match=f"^the class {kind.__name__} has no layout: give a tensor"
        ):
            Layout.of(kind)


def test_the_repr_of_a_copy():
    """A copy has the same numbers, so its repr also names its storage, which is new."""
    x = Layout((2, 3), itemsize=4)
    numbers = "Layout(shape=(2, 3), stride=(3, 1), storage_offset=0, itemsize=4"
    one, other = x.clone(), x.clone()
    said = re.fullmatch(rf"{re.escape(numbers)}, storage='new (\d+)'\)", repr(one))
    assert repr(x) == f"{numbers})" and said
    assert repr(other) == f"{numbers}, storage='new {int(said[1]) + 1}')"


def test_a_layout_is_a_value():
    """Equal numbers are equal layouts, hashable, and cannot be changed."""
    a = Layout([4, 6], itemsize=4)
    assert a == Layout((4, 6), (6, 1), 0, 4) and len({a, Layout((4, 6), itemsize=4)}) == 1
    with pytest.raises(AttributeError):
        a.shape = (24,)


@pytest.mark.parametrize("name", NO_LAYOUT)
def test_of_refuses(name):
    """Anything without one stride for each dim has no layout."""
    value, sentence = NO_LAYOUT[name]
    with pytest.raises((TypeError, LayoutError), match=re.escape(sentence)):
        Layout.of(value)


def test_of_meta_and_fake_tensors():
    """A layout is numbers: no memory is needed."""
    for x, _ in NO_MEMORY.values():
        assert Layout.of(x) == Layout((3, 4), (4, 1), 0, 4)


ENDLESS = {
    "Layout((2**5000,))": "shape[0] is <int of 5,001 bits>: numbers go up to 2**4096",
    "Layout((2,), (-(2**5000),))": "stride[0] is <int of 5,001 bits>",
    "Layout((2,), storage_offset=2**5000)": "storage_offset is <int of 5,001 bits>",
    "Layout((2,)).select(0, 2**5000)": "index is <int of 5,001 bits>",
    "Layout((2,))[2**5000]": "an index is <int of 5,001 bits>",
    "Layout((2**3000, 2**3000), (0, 0))": "more than 2**4096 elements",
    "Layout((1,) * 1001)": "1,001 dims are more than a layout has: 1,000",
    "Layout(itertools.count())": "a count with more than 100,000 values: give fewer",
    "Layout((2,)).view((1,) * 200_000)": "a tuple with more than 100,000 values",
    "Layout((2,)).expand(torch.ones(200_000))": "a Tensor with more than 100,000",
}


@pytest.mark.parametrize("source", ENDLESS)
def test_numbers_dims_and_values_have_an_end(source):
    """Huge ints, more than a thousand dims and endless iterators are refused."""
    refuses(source, ENDLESS[source], torch=torch, itertools=itertools)


def test_the_largest_layouts():
    """Their numbers can be written out, and their dims be sliced: Python's len ends at 2**63."""
    largest = Layout((2**4096,), itemsize=2**4096)
    assert len(repr(explain(largest))) > 4000
    assert Layout((1,) * 1000).ndim == 1000
    assert Layout((2**70, 2))[1::2, 1].shape == (2**69,)
