"""Layout against torch and NumPy: the same operation on both sides, the same numbers or a refusal."""

import itertools
import re
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, LayoutError
from tests.refused import NO_LAYOUT, NO_MEMORY
from tests.strategies import basic_indices, new_shapes, tensors

REFUSALS = (LayoutError, IndexError)


def agree(layout_operation, torch_operation):
    """Both operations give the same layout, or both refuse; Layout refuses negative sizes too."""
    try:
        expected = torch_operation()
        if min(expected.shape, default=0) < 0:
            raise ValueError("torch made a negative size: see the test of that surprise")
    except (RuntimeError, IndexError, ValueError):
        with pytest.raises(REFUSALS):
            layout_operation()
        return
    result = layout_operation()
    assert (result.shape, result.stride, result.storage_offset, result.itemsize) == (
        tuple(expected.shape),
        expected.stride(),
        expected.storage_offset(),
        expected.element_size(),
    )


def test_contiguous_by_default():
    """Without a stride the layout is torch.empty's, sizes of 0 and 1 included."""
    for shape in itertools.product(range(4), repeat=4):
        assert Layout(shape).stride == torch.empty(shape).stride()


@given(tensors())
def test_of_reads_the_numbers_of_a_tensor(x):
    """Layout.of carries torch's own numbers over."""
    agree(lambda: Layout.of(x), lambda: x)


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


@given(tensors(), st.data())
def test_basic_indexing(x, data):
    """Ints, slices, None and ... in any mix."""
    index = data.draw(basic_indices(x.shape))
    agree(lambda: Layout.of(x)[index], lambda: x[index])


@given(tensors(), st.data())
def test_permute(x, data):
    """Every permutation, with negative dims, and lists that are none."""
    dims = list(data.draw(st.permutations(range(x.ndim))))
    dims = [d - x.ndim if data.draw(st.booleans()) else d for d in dims]
    if dims and data.draw(st.integers(0, 5)) == 0:
        dims[0] = dims[-1]
    agree(lambda: Layout.of(x).permute(dims), lambda: x.permute(dims))


@given(tensors(), st.integers(-6, 5), st.integers(-6, 5))
def test_transpose_select_unsqueeze(x, a, b):
    """The operations that take one or two dims, out of range included."""
    agree(lambda: Layout.of(x).transpose(a, b), lambda: x.transpose(a, b))
    agree(lambda: Layout.of(x).unsqueeze(a), lambda: x.unsqueeze(a))
    if x.ndim:
        agree(lambda: Layout.of(x).select(a, b), lambda: x.select(a, b))
    agree(lambda: Layout.of(x).t(), lambda: x.t())


@given(tensors(min_ndim=1), st.integers(-5, 5), st.integers(-5, 4), st.integers(-5, 4))
def test_diagonal(x, offset, a, b):
    """Every offset, also those that leave no diagonal."""
    agree(lambda: Layout.of(x).diagonal(offset, a, b), lambda: x.diagonal(offset, a, b))


@given(tensors(max_ndim=4), st.data())
def test_expand(x, data):
    """New leading dims, size-1 dims, -1, and sizes that do not fit."""
    sizes = [data.draw(st.sampled_from([n, n if n != 1 else 3, -1])) for n in x.shape]
    sizes = data.draw(st.lists(st.integers(-1, 3), max_size=2)) + sizes
    if sizes and data.draw(st.integers(0, 5)) == 0:
        sizes[data.draw(st.integers(0, len(sizes) - 1))] = data.draw(st.integers(-2, 5))
    agree(lambda: Layout.of(x).expand(sizes), lambda: x.expand(sizes))


@given(tensors(), st.data())
def test_view(x, data):
    """The view rule: torch's strides where a view exists, a reason where torch refuses."""
    shape = data.draw(new_shapes(x.numel()))
    agree(lambda: Layout.of(x).view(shape), lambda: x.view(shape))
    why = Layout.of(x).why_not_view(shape)
    try:
        x.view(shape)
    except RuntimeError:
        assert why
    else:
        assert why == ""


def test_view_exhaustively():
    """Every layout of three dims of 1 to 3, as every shape of up to three dims: size-1 dims and all."""
    base = torch.empty(64)
    shapes = {n: list(itertools.product(range(1, 28), repeat=n)) for n in (1, 2)}
    targets = {
        numel: [s for n in (1, 2) for s in shapes[n] if prod(s) == numel]
        + [(1, numel, 1), (numel,)]
        for numel in {prod(s) for s in itertools.product((1, 2, 3), repeat=3)}
    }
    for shape in itertools.product((1, 2, 3), repeat=3):
        for stride in itertools.product((0, 1, 2, 3, 4, 6), repeat=3):
            x, layout = base.as_strided(shape, stride), Layout(shape, stride)
            for target in targets[prod(shape)]:
                try:
                    expected = x.view(target).stride()
                except RuntimeError:
                    assert layout.why_not_view(target), (shape, stride, target)
                else:
                    assert layout.view(target).stride == expected, (shape, stride, target)


@given(tensors(), st.data())
def test_reason_is_true(x, data):
    """Where a view fails, the two named dims really do not merge, by the numbers given."""
    layout = Layout.of(x)
    why = layout.why_not_view(data.draw(new_shapes(x.numel())))
    if "do not merge" in why:
        outer, inner, found, needed = map(int, re.findall(r"\d+", why)[:4])
        assert layout.stride[outer] == found != needed
        assert layout.shape[outer] > 1 and layout.shape[inner] > 1
        between = layout.shape[outer + 1 : inner]
        assert set(between) <= {1}


def test_contiguity_exhaustively():
    """is_contiguous in all three memory formats, on every small layout of rank 3 to 5."""
    base = torch.empty(4096)
    formats = [torch.contiguous_format, torch.channels_last, torch.channels_last_3d]
    grids = {
        3: itertools.product(range(3), range(3), range(3), *[range(5)] * 3),
        4: itertools.product([1, 2], [0, 1, 3], [1, 2], [1, 2], *[(1, 2, 3, 6, 12)] * 4),
        5: itertools.product([1, 2], [1, 3], [1, 2], [1], [1, 2], *[(1, 3, 6, 12)] * 5),
    }
    for ndim, grid in grids.items():
        for numbers in grid:
            shape, stride = numbers[:ndim], numbers[ndim:]
            x, layout = base.as_strided(shape, stride), Layout(shape, stride)
            for memory_format in formats:
                if memory_format is torch.channels_last and ndim != 4:
                    continue
                if memory_format is torch.channels_last_3d and ndim != 5:
                    continue
                assert layout.is_contiguous(memory_format) == x.is_contiguous(
                    memory_format=memory_format
                ), (shape, stride, memory_format)


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


def test_of_numpy_negative_and_foreign_strides():
    """NumPy's own: negative strides count from the owner's lowest byte; fields of records do not fit."""
    array = np.arange(24, dtype=np.int16).reshape(4, 6)
    assert Layout.of(array[::-1, ::-2]) == Layout((4, 3), (-6, -2), 23, 2)
    backwards = np.ndarray((4,), np.int64, buffer=bytearray(32), offset=24, strides=(-8,))
    assert Layout.of(backwards) == Layout((4,), (-1,), 3, 8)
    records = np.zeros(4, dtype=[("a", "i2"), ("b", "f4")])
    with pytest.raises(LayoutError, match="no whole number of elements of 4 bytes"):
        Layout.of(records["b"])
    assert Layout.of(np.zeros((0, 3))[::-1]).numel == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Layout((2, 3), (1,)), "shape (2, 3) has 2 dims but stride (1,) has 1"),
        (lambda: Layout((2, -3)), "size -3 of dim 1 is negative"),
        (lambda: Layout(5), "shape is 5, a int: give a tuple of ints"),
        (lambda: Layout((2.0,)), "shape[0] is 2.0, a float: give an int"),
        (lambda: Layout((True,)), "shape[0] is True, a bool: give an int"),
        (lambda: Layout((3,), (-1,)), "reaches element -2: a storage starts at 0"),
        (lambda: Layout((3,), itemsize=0), "itemsize is 0 bytes"),
        (lambda: Layout((3,)).is_contiguous("nchw"), "memory_format nchw is not one of"),
        (lambda: Layout((4, 6))[[0, 1]], "[0, 1] is no basic index"),
        (lambda: Layout((4, 6))[True], "True is no basic index"),
        (
            lambda: Layout((4, 6))[::-1],
            "slice step -1 is not positive: torch has no negative strides",
        ),
        (lambda: Layout((4, 6)).permute(0, 0), "(0, 0) does not name each dim"),
        (lambda: Layout((2, 3, 4)).t(), "t() is for at most 2 dims, shape (2, 3, 4) has 3"),
        (lambda: Layout((4, 6)).diagonal(0, 1, -1), "dim1 and dim2 are both 1"),
        (lambda: Layout((4, 6)).expand(8, 6), "only a size of 1 expands"),
        (lambda: Layout((4, 6)).expand(6), "give at least 2 sizes"),
        (lambda: Layout((4, 6)).view(5, 5), "(5, 5) has 25 elements, the layout has 24"),
        (lambda: Layout((4, 6)).view(-1, -1), "dims 0 and 1 are both -1"),
        (lambda: Layout((4, 6)).view(5, -1), "24 elements do not divide into 5"),
        (lambda: Layout((0, 6)).view(0, -1), "any size would do for the -1 beside a 0"),
        (lambda: Layout((4, 6)).view(-24, -1), "size -24 is negative"),
    ],
)
def test_errors_say_what_and_why(make, sentence):
    """Each refusal names the numbers and what to do."""
    with pytest.raises(LayoutError, match=re.escape(sentence)):
        make()


def test_a_layout_is_a_value():
    """Equal numbers are equal layouts, hashable, and cannot be changed."""
    a = Layout([4, 6], itemsize=4)
    assert a == Layout((4, 6), (6, 1), 0, 4) and len({a, Layout((4, 6), itemsize=4)}) == 1
    with pytest.raises(AttributeError):
        a.shape = (24,)


@pytest.mark.parametrize("name", NO_LAYOUT)
def test_of_refuses(name):
    """What has no single stride has no layout."""
    value, sentence = NO_LAYOUT[name]
    with pytest.raises((TypeError, LayoutError), match=re.escape(sentence)):
        Layout.of(value)


def test_of_meta_and_fake_tensors():
    """A layout is numbers: no memory is needed."""
    for x, _ in NO_MEMORY.values():
        assert Layout.of(x) == Layout((3, 4), (4, 1), 0, 4)


def test_torch_expands_to_negative_sizes():
    """A surprise of torch 2.13: a new dim may get a size of -1 or -2 where another is 0."""
    assert torch.tensor(0).expand(0, -1).shape == (0, -1)
    assert torch.empty(0).expand(-2, 0).shape == (-2, 0)
    for layout, sizes in [(Layout(()), (0, -1)), (Layout((0,)), (-2, 0))]:
        with pytest.raises(
            LayoutError, match="is negative, and -1 keeps the size only of a dim that is there"
        ):
            layout.expand(sizes)
