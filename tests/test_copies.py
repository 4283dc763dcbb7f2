"""Operations that may copy: where the result lies; test_fuzz holds their numbers against torch."""

import dataclasses
import pickle

import pytest
import torch

from stridekit import Layout, memset


def test_to_and_contiguous_differ_for_ambiguous_shapes():
    """With one channel both formats are contiguous, but torch suggests only the one of the strides."""
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


@pytest.mark.parametrize("storage", ["", "new york", "new ", "a new 1", "new 1b"])
def test_a_storage_that_you_name_is_not_a_copy(storage):
    """Names may begin like those of copies; only the whole name of a copy, as in its repr, tells of one."""
    assert not Layout((4, 6), storage=storage).copied
    assert Layout((4, 6), storage=Layout((4, 6)).clone().storage).copied


def test_the_fields_of_a_layout():
    """Four numbers and the storage, by position or by name; they recreate the layout and never change."""
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
