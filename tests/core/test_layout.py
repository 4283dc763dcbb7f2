"""Layout as a value: made of numbers, of tensors and of arrays; its elements; and what torch may hold."""

import dataclasses
import itertools
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given

from stridekit import Layout, explain, memset, output_layout, relation, shares_storage, traffic
from stridekit._arguments import array_block
from tests.core.strategies import randoms, tensors


def test_contiguous_by_default():
    for shape in itertools.product(range(4), repeat=4):
        assert Layout(shape).stride == torch.empty(shape).stride()


@given(tensors(), randoms)
def test_offset_finds_the_element(x, r):
    index = tuple(r.randint(-n - 1, n) for n in x.shape)
    try:
        expected = x[index].storage_offset()
    except IndexError:
        with pytest.raises(IndexError):
            Layout.of(x).offset(index)
        return
    assert Layout.of(x).offset(index) == expected
    assert Layout.of(x).address(index) == expected * x.element_size()


ARRAY = np.arange(24, dtype=np.int16).reshape(4, 6)
BACKWARDS = np.ndarray((4,), np.int64, buffer=bytearray(32), offset=24, strides=(-8,))


@pytest.mark.parametrize(("array", "layout"), [
    (ARRAY[::-1, ::-2], Layout((4, 3), (-6, -2), 23, 2)),
    (BACKWARDS, Layout((4,), (-1,), 3, 8)),
    (np.zeros(10)[4:][:0], Layout((0,), (1,), 4, 8)),
    # An empty tensor has no address, and NumPy gives its array an arbitrary one.
    (torch.zeros(10)[4:4].numpy(), Layout((0,), (0,), 0, 4)),
    (torch.zeros(3, 0, 2).numpy(), Layout((3, 0, 2), (0, 0, 0), 0, 4)),
])  # fmt: skip
def test_of_an_array(array, layout):
    """Offsets of negative strides count from the owner's lowest byte."""
    assert Layout.of(array) == layout


def test_the_block_of_an_array():
    """The block runs from the lowest byte of the memory's owner to the highest, whatever the strides."""
    memory = bytearray(96)
    both_ways = np.ndarray((2, 3), np.int64, buffer=memory, offset=40, strides=(-24, 16))
    start, _ = np.frombuffer(memory, np.uint8).__array_interface__["data"]
    assert array_block(both_ways) == (start + 16, 24 + 32 + 8)
    assert array_block(both_ways[1:, ::2]) == array_block(both_ways)
    assert array_block(np.zeros((0, 3)))[1] == array_block(np.zeros((3, 0))[1:])[1] == 0
    x = torch.arange(40.0)
    for view in (x[10:20], x[:1], x[::7], x[40:]):
        assert array_block(view.numpy()) == (x.data_ptr(), 160)


def test_a_copy_lies_in_a_storage_that_its_views_keep():
    """The name of the storage is part of the value: shown, compared and passed on."""
    view = Layout((3, 4)).reshape(12)
    copy = Layout((3, 4)).t().reshape(12)
    assert (view.copied, copy.copied) == (False, True)
    assert view == Layout((12,)) != copy
    assert repr(view) == "Layout(shape=(12,), stride=(1,), storage_offset=0, itemsize=1)"
    assert repr(copy) == f"{repr(view)[:-1]}, storage={copy.storage!r})"
    views = [*copy[2:].view(5, 2).t().expand(7, 2, 5).view_dtype(1).unbind(), *copy.split(5)]
    assert {layout.storage for layout in views} == {copy.storage}
    assert Layout((3, 4)).t().reshape(12) != copy
    assert Layout((3, 4)).t().contiguous().copied and not Layout((3, 4)).contiguous().copied


@pytest.mark.parametrize("storage", ["", "new york", "new ", "a new 1", "new 1b"])
def test_a_storage_that_you_name_is_not_a_copy(storage):
    """Names may begin like those of copies; only the whole name of a copy, as in its repr, marks one."""
    assert not Layout((4, 6), storage=storage).copied
    assert Layout((4, 6), storage=Layout((4, 6)).clone().storage).copied


def test_a_layout_and_a_memory_set_show_as_tables():
    layout = Layout((4, 6), itemsize=4, storage="a < b")
    html = layout.t()._repr_html_()
    for text in ("<caption", "shape", "(6, 4)", "(1, 6)", "storage_offset", "a &lt; b"):
        assert text in html
    html = memset(layout[:, 2])._repr_html_()
    for text in (
        "MemorySet",
        "16 bytes",
        "in storage &#x27;a &lt; b&#x27;",
        "8 + 24*[0, 4) + [0, 4)",
    ):
        assert text in html
    assert "empty" in memset(layout[:0])._repr_html_()


def test_empty_is_a_tensor_with_this_layout():
    """A layout becomes a tensor and is read back; its storage is as long as it needs, also on meta."""
    for shape, stride, offset in (((4, 6), (1, 8), 3), ((0, 3), (3, 1), 5), ((), (), 2)):
        for dtype in (torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128):
            layout = Layout(shape, stride, offset, dtype=dtype)
            for device in ("cpu", "meta"):
                x = layout.empty(device=device)
                assert Layout.of(x) == layout and (x.dtype, x.device.type) == (dtype, device)
                assert x.untyped_storage().nbytes() == layout.span.stop * layout.itemsize
    x = Layout((3,), itemsize=4)
    for dtype in (torch.int32, np.int32, np.dtype("int32"), "int32", "torch.int32"):
        assert x.empty(dtype).dtype == torch.int32
    assert Layout((3,), itemsize=8).empty(float).dtype == torch.float64


def test_a_dtype_stands_for_its_itemsize():
    """It may be torch's, NumPy's, a type of Python, or a name; torch decides how many bytes it has."""
    for name in ("bool", "uint8", "int16", "bfloat16", "float32", "complex64", "float8_e4m3fn"):
        dtype = getattr(torch, name)
        for given_dtype in (dtype, name, str(dtype)):
            assert Layout((3,), dtype=given_dtype).itemsize == dtype.itemsize
    for dtype in (np.float16, np.dtype(">i8"), np.dtype("i4, f2"), "float64"):
        assert Layout((3,), dtype=dtype).itemsize == np.dtype(dtype).itemsize
    for dtype in (bool, int, float, complex):
        assert Layout((3,), dtype=dtype).itemsize == torch.empty(1, dtype=dtype).itemsize
    x = torch.empty(2, 3, 4, 6)
    layout = Layout.of(x)
    assert layout.nbytes == x.nbytes
    for dtype in (torch.float16, torch.float64, torch.int32):
        assert layout.view(dtype) == layout.view(dtype=dtype) == Layout.of(x.view(dtype))
    image = layout.to(torch.channels_last)
    assert image.stride == x.to(memory_format=torch.channels_last).stride()


def test_arguments_by_name_are_those_by_place():
    x = Layout((2, 3, 1))
    t = torch.empty(2, 3, 1, dtype=torch.uint8)
    for name, options in {
        "permute": {"dims": (2, 0, 1)},
        "flip": {"dims": (0, 1)},
        "expand": {"size": (2, 3, 4)},
        "broadcast_to": {"size": (2, 3, 4)},
        "view": {"size": (6,)},
        "reshape": {"shape": (3, 2)},
        "repeat": {"repeats": (2, 1, 1)},
        "tile": {"dims": (2,)},
    }.items():
        of_torch = Layout.of(getattr(t, name)(**options))
        assert dataclasses.replace(getattr(x, name)(**options), storage="") == of_torch
    for sections in (torch.tensor(2), torch.tensor([1, 2])):
        pieces = [*map(Layout.of, t.tensor_split(sections, 1))]
        assert [*x.tensor_split(sections, 1)] == pieces
    assert [*x.split(torch.tensor(2), 1)] == [*map(Layout.of, t.split(torch.tensor(2), 1))]


class ByDlpack:
    """Memory that another library hands over, as JAX, CuPy and Arrow do."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class ByInterface:
    """Memory that its owner describes to NumPy."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize("foreign", [
    lambda x: ByDlpack(x),
    lambda x: ByInterface(x.numpy()),
], ids=["dlpack", "array interface"])  # fmt: skip
def test_memory_of_other_libraries_is_taken_as_it_lies(foreign):
    x = torch.arange(24.0).view(4, 6)[1:, ::2]
    assert Layout.of(foreign(x)) == dataclasses.replace(Layout.of(x), storage_offset=0)
    assert memset(foreign(x)) == memset(x)
    assert shares_storage(foreign(x), x) and not shares_storage(foreign(x), x.clone())
    assert Layout.cat([foreign(x), x]).shape == (6, 3)
    assert explain(foreign(x)).title.endswith("shape (3, 3), stride (6, 2), storage_offset 0")
    assert output_layout(foreign(x), x).itemsize == 4
    assert traffic(foreign(x)).useful == relation(foreign(x), x).shares_memory * x.nbytes


def test_memory_that_is_not_handed_over_is_refused():
    class Refuses(ByDlpack):
        def __dlpack__(self, **_):
            raise BufferError("bits are packed")

    for question in (Layout.of, memset, explain):
        with pytest.raises(TypeError, match=r"a Refuses does not hand over .*: bits are packed"):
            question(Refuses(torch.ones(3)))


def test_the_fields_of_a_layout():
    """Four numbers and the storage, by position or by name; they recreate the layout and never change."""
    original = Layout([2, 3], (1, 2), 5, 4)
    assert original == Layout(shape=(2, 3), stride=(1, 2), storage_offset=5, itemsize=4)
    renamed = dataclasses.replace(original, storage="weights")
    assert renamed != original and repr(renamed) == f"{repr(original)[:-1]}, storage='weights')"
    for layout in (original, renamed, original.clone()):
        fields = {f.name: getattr(layout, f.name) for f in dataclasses.fields(layout)}
        pickled = pickle.loads(pickle.dumps(layout))
        for same in (Layout(**fields), eval(repr(layout)), pickled):
            assert same == layout and hash(same) == hash(layout)
            assert memset(same) == memset(layout)
    with pytest.raises(TypeError):
        Layout((2, 3), (1, 2), 5, 4, True)
    with pytest.raises(AttributeError):
        original.shape = (6,)
    with pytest.raises((AttributeError, TypeError)):
        original.copied = True


def test_an_array_read_backwards_is_dense():
    """NumPy's negative strides leave no hole; a copy goes forwards, in the same order."""
    array = np.arange(24, dtype=np.int16).reshape(4, 6).T[::-1, ::-1]
    layout = Layout.of(array)
    assert layout.is_dense() and layout.stride == (-1, -6)
    assert layout.clone().stride == Layout.of(array.copy(order="K")).stride
    assert Layout.of(array[::2]).why_not_dense().endswith("element 2 is a hole")
    assert Layout((3, 0), (-2, 1)).clone().stride == (1, 1)  # a size of 0 counts as 1


def test_numbers_have_no_limit_but_those_of_torch_have_64_bits():
    assert Layout((2**70, 2))[1::2, 1].shape == (2**69,)  # where Python's len ends at 2**63
    for fits, beyond in [
        (Layout((2**31, 2**31), (0, 0)), Layout((2**32, 2**31), (0, 0))),
        (Layout((2**40, 2**40, 0), (0, 0, 0)), Layout((2**63, 0))),
        (Layout((1,), (2**63 - 1,)), Layout((1,), (2**63,))),
        (Layout((1,), (1,), 2**63 - 2), Layout((1,), (1,), 2**63 - 1)),
        (Layout((1,), (1,), 2**61, 2), Layout((1,), (1,), 2**62, 2)),
    ]:
        assert fits.why_not_torch() == "" and "is beyond 2**63 - 1" in beyond.why_not_torch()


IMAGE = Layout((2, 3, 4, 5))
SPACED = Layout((2, 3, 4, 5), (99, 1, 15, 3))


@pytest.mark.parametrize(("layout", "name", "sentence"), [
    (Layout((4, 6), (8, 1)), "contiguous_format", "dim 0 has stride 8, 6 is needed"),
    (IMAGE, "channels_last", "dim 1 has stride 20, 1 is needed"),
    (SPACED, "channels_last", "dim 0 has stride 99, 60 is needed"),
    (Layout((4, 6)), "channels_last", "channels_last has 4 dims, this layout has 2"),
])  # fmt: skip
def test_reasons_of_contiguity(layout, name, sentence):
    """The innermost dim with a wrong stride is named, or the wrong number of dims."""
    assert layout.why_not_contiguous(name) == sentence
