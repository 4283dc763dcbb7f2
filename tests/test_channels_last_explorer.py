"""ChannelsLastExplorer without a browser: its words against torch, its state."""

import re
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit.widgets import ChannelsLastExplorer
from stridekit.widgets.channels_last_explorer import words

CHANNELS_LAST = torch.channels_last
SHAPES = [*product(*(range(1, most + 1) for most in words.MAX_SIZES))]  # all that the sliders reach


def both(shape):
    """The two tensors that `.code` makes."""
    names = {"torch": torch}
    exec(words.code(shape), names)
    return names["x"], names["y"]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_flags_and_conversions_are_torchs(shape):
    """Every shape that the sliders can reach, including the ambiguous ones."""
    x, y = both(shape)
    assert [x.stride(), y.stride()] == [layout.stride for layout in words.layouts(shape).values()]
    flags = x.is_contiguous(), x.is_contiguous(memory_format=CHANNELS_LAST)
    made = x.contiguous(memory_format=CHANNELS_LAST), x.to(memory_format=CHANNELS_LAST)
    said = words.verdicts(shape)
    assert tuple(good for good, _ in said[:2]) == flags
    assert all(said[k][1].endswith(f" is {flag}") for k, flag in enumerate(flags))
    for (_, sentence), tensor in zip(said[2:], made, strict=True):
        outcome = "x itself" if tensor is x else "a copy"
        assert sentence.endswith(f" is {outcome}: stride {tuple(tensor.stride())}")
    assert words.badge(shape).startswith("ambiguous") == all(flags)


@given(st.sampled_from(SHAPES), st.data())
def test_where_things_lie_is_where_torch_put_them(shape, data):
    """The numbers of the elements, and one step for a whole group."""
    index = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    highlight = data.draw(st.sampled_from(words.HIGHLIGHTS))
    tensors = dict(zip(words.FORMATS, both(shape), strict=True))
    numbers = re.findall(r"element (\d+) in (\w+)", words.place(shape, index))
    assert numbers == [(str(t[index].storage_offset()), name) for name, t in tensors.items()]
    for name, layout in words.layouts(shape).items():
        lit = words.group(shape, index, highlight)
        places = sorted(tensors[name][i].storage_offset() for i in lit)
        steps = {b - a for a, b in pairwise(places)}
        step = words.step(layout, index, highlight)
        assert steps == {step} - {None} and len(lit) == len(set(lit)) and index in lit
        if step is not None and step > 1:
            assert f"{step} elements apart in {name}" in words.spread(shape, index, highlight)


def test_state_is_read_and_set_from_python():
    """Each property can be read and set; a smaller shape keeps the index inside."""
    e = ChannelsLastExplorer()
    assert (e.shape, e.index, e.highlight) == ((2, 3, 2, 4), (0, 1, 1, 2), "pixel")
    e.index, e.highlight = (1, -1, 1, 3), "channel"
    assert e.index == (1, 2, 1, 3)
    e.shape = (1, 2, 3, 2)
    assert e.index == (0, 1, 1, 1) and e.code == words.code((1, 2, 3, 2))
    assert "The 6 pixels of channel 1 of image 0 lie side by side in contiguous_format" in repr(e)


def test_every_size_starts_with_room_on_both_sides():
    """Each slider of the first picture can be dragged to the left and to the right."""
    shape = ChannelsLastExplorer().shape
    assert all(1 < n < most for n, most in zip(shape, words.MAX_SIZES, strict=True))
