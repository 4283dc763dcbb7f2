"""The operations that may copy: the layout of their result, and whether torch really copied."""

import dataclasses
import pickle
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, LayoutError, memset
from tests.agree import TORCH_REFUSALS, agree, storage_of
from tests.strategies import dims, new_shapes, tensors

FORMATS = [torch.contiguous_format, torch.channels_last, torch.channels_last_3d]
SMALL = st.sampled_from([0, 1, 1, 2, 3])


@st.composite
def images(draw):
    """Tensors of 4 or 5 dims, as dense in any order, cut, or with any strides; many sizes of 1."""
    shape = draw(st.lists(SMALL, min_size=4, max_size=5))
    order = draw(st.sampled_from([(0, 1, 2, 3, 4), (0, 2, 3, 4, 1), (4, 2, 1, 0, 3)]))
    order = [d for d in order if d < len(shape)]
    cut = [n + draw(st.sampled_from([0, 0, 0, 1])) for n in shape]
    stride, step = [0] * len(shape), 1
    for d in reversed(order):
        stride[d] = draw(st.sampled_from([step, step, step, 1, 0]))
        step *= max(cut[d], 1)
    return torch.zeros(5000).as_strided(shape, stride, draw(st.integers(0, 2)))


def agree_on_copy(x, operation):
    """The same numbers or a refusal; `copied` where torch's result is in another storage than x."""
    agree(lambda: operation(Layout.of(x)), lambda: operation(x))
    try:
        result = operation(x)
    except TORCH_REFUSALS:
        return
    assert operation(Layout.of(x)).copied == (storage_of(result) != storage_of(x))


@given(tensors(), st.data())
def test_reshape(x, data):
    """A view where the rule gives one, else a contiguous copy."""
    shape = data.draw(new_shapes(x.numel()))
    agree_on_copy(x, lambda t: t.reshape(shape))
    agree_on_copy(x, lambda t: t.reshape(*shape) if shape else t)
    other = torch.empty([abs(n) for n in shape], device="meta")
    agree_on_copy(x, lambda t: t.reshape_as(other))
    layout = Layout.of(x)
    if all(n >= 0 for n in shape) and other.numel() == x.numel():
        assert layout.reshape(shape).copied == bool(layout.why_not_view(shape))


@given(tensors(), st.data())
def test_flatten_ravel(x, data):
    """Some dims, all dims; ravel copies where reshape(-1) would not."""
    start, end = data.draw(dims(x)), data.draw(dims(x))
    agree_on_copy(x, lambda t: t.flatten(start, end))
    agree_on_copy(x, lambda t: t.flatten(start))
    agree_on_copy(x, lambda t: t.flatten())
    agree_on_copy(x, lambda t: t.ravel())
    assert Layout((6,))[::2].flatten() == Layout((3,), (2,))  # one dim: the layout itself


@pytest.mark.parametrize("memory_format", FORMATS, ids=str)
@given(x=st.one_of(tensors(), images()))
def test_contiguous(memory_format, x):
    """The layout itself where it is contiguous so, else a new one in that format."""
    agree_on_copy(x, lambda t: t.contiguous(memory_format=memory_format))
    why = Layout.of(x).why_not_contiguous(memory_format)
    assert bool(why) != x.is_contiguous(memory_format=memory_format)


@pytest.mark.parametrize("memory_format", [torch.preserve_format, *FORMATS], ids=str)
@given(x=st.one_of(tensors(), images()), dtype=st.sampled_from([torch.float32, torch.float16]))
def test_clone_to(memory_format, x, dtype):
    """Dense strides stay, others are packed in their order; `to` asks for the suggested format."""
    asked = {"memory_format": memory_format}
    agree_on_copy(x, lambda t: t.clone(**asked))
    agree_on_copy(x, lambda t: t.to(**asked))
    agree_on_copy(x, lambda t: t.to(**asked, copy=True))
    if x.dtype in (torch.float32, torch.float16):
        to = {Layout: dtype.itemsize, torch.Tensor: dtype}
        agree_on_copy(x, lambda t: t.to(to[type(t)], **asked))


def test_to_and_contiguous_differ_for_ambiguous_shapes():
    """One channel: contiguous in both formats, but torch suggests only what the strides say."""
    x = torch.empty(2, 1, 4, 5)
    assert x.contiguous(memory_format=torch.channels_last).stride() == (20, 20, 5, 1)
    assert x.to(memory_format=torch.channels_last).stride() == (20, 1, 5, 1)
    layout = Layout.of(x)
    assert layout.contiguous("channels_last") is layout
    assert layout.to(memory_format="channels_last").stride == (20, 1, 5, 1)


def test_a_copy_lies_in_a_storage_that_its_views_keep():
    """The name of the storage is part of the value: shown, compared and passed on."""
    view, copy = Layout((3, 4)).reshape(12), Layout((3, 4)).t().reshape(12)
    assert (view.copied, copy.copied) == (False, True)
    assert view == Layout((12,)) != copy
    assert repr(view) == "Layout(shape=(12,), stride=(1,), storage_offset=0, itemsize=1)"
    assert (
        repr(copy) == f"{repr(view)[:-1]}, storage={copy.storage!r})" and eval(repr(copy)) == copy
    )
    later = copy[2:].view(5, 2).t().expand(7, 2, 5).view_dtype(1).unbind()
    assert {layout.storage for layout in (*later, *copy.split(5))} == {copy.storage}
    assert Layout((3, 4)).t().reshape(12) != copy
    assert Layout((3, 4)).t().contiguous().copied and not Layout((3, 4)).contiguous().copied


def test_the_fields_of_a_layout():
    """Four numbers, by place or by name, and the storage; they make the layout anew, and never change."""
    made = Layout((2, 3), (1, 2), 5, 4)
    named = Layout(shape=(2, 3), stride=(1, 2), storage_offset=5, itemsize=4)
    assert made == named
    elsewhere = dataclasses.replace(made, storage="weights")
    assert elsewhere != made and repr(elsewhere) == f"{repr(made)[:-1]}, storage='weights')"
    for one in (made, elsewhere, made.clone()):
        fields = {f.name: getattr(one, f.name) for f in dataclasses.fields(one)}
        for same in (Layout(**fields), eval(repr(one)), pickle.loads(pickle.dumps(one))):
            assert same == one and hash(same) == hash(one) and memset(same) == memset(one)
    with pytest.raises(TypeError):
        Layout((2, 3), (1, 2), 5, 4, True)
    with pytest.raises(AttributeError):
        made.shape = (6,)
    with pytest.raises((AttributeError, TypeError)):
        made.copied = True


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda x: x.reshape(5),
            "cannot reshape shape (4, 6), stride (6, 1) as (5,): (5,) has 5 el",
        ),
        (lambda x: x[0, :1].reshape(5), "(5,) has 5 elements, the layout has 1"),
        (lambda x: x.reshape(1), "(1,) has 1 element, the layout has 24"),
        (lambda x: x.flatten(1, 0), "start_dim 1 lies behind end_dim 0: swap them"),
        (lambda x: x.contiguous("channels_last"), "channels_last has 4 dims, shape (4, 6) has 2"),
        (lambda x: x.contiguous("preserve_format"), "memory_format preserve_format is not one of"),
        (lambda x: x.clone(memory_format="nchw"), "memory_format nchw is not one of"),
        (lambda x: x.to(0), "itemsize is 0 bytes"),
        (lambda x: x.to(copy=1), "copy is 1, an int: give True or False"),
        (lambda x: x.to("float16"), "itemsize is 'float16', a str: give an int"),
    ],
)
def test_errors_say_what_and_why(make, sentence):
    """Each refusal names the numbers and what to do."""
    with pytest.raises(LayoutError, match=re.escape(sentence)):
        make(Layout((4, 6)))
