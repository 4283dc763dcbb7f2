"""ChannelsLastExplorer without a browser: its words against torch, its state."""

import re
from itertools import pairwise, product

import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json

words = Script("channels_last_explorer/formats.js")
HIGHLIGHTS = words.CHOICES["highlight"]
CHANNELS_LAST = torch.channels_last
SHAPES = [
    *product(*(range(1, most + 1) for most in words.MAX_SIZES))
]  # within reach of the sliders


def both(shape):
    """The two tensors that `.code` makes."""
    names = {"torch": torch}
    exec(words.code({"shape": shape}), names)
    return names["x"], names["y"]


def test_flags_and_conversions_are_torchs():
    """Every shape that the sliders can reach, including the ambiguous ones."""
    for shape in SHAPES:
        x, y = both(shape)
        assert [*words.layouts(shape).values()] == [layout_json(Layout.of(t)) for t in (x, y)]
        flags = [x.is_contiguous(), x.is_contiguous(memory_format=CHANNELS_LAST)]
        outcomes = []
        for t in (x.contiguous(memory_format=CHANNELS_LAST), x.to(memory_format=CHANNELS_LAST)):
            outcomes.append(f"{'x itself' if t is x else 'a copy'}: stride {t.stride()}")
        verdicts = words.verdicts(shape)
        assert [good for good, _ in verdicts] == [*flags, None, None]
        answers = [sentence.partition(" is ")[2] for _, sentence in verdicts]
        assert answers == [*map(str, flags), *outcomes]
        assert words.badge(shape).startswith("ambiguous") == all(flags)


@given(st.sampled_from(SHAPES), st.data())
def test_where_things_lie_is_where_torch_put_them(shape, data):
    """The numbers of the elements, and one step for a whole group."""
    index = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    highlight = data.draw(st.sampled_from(HIGHLIGHTS))
    tensors = dict(zip(words.FORMATS, both(shape), strict=True))
    numbers = re.findall(r"element (\d+) in (\w+)", words.place(shape, index))
    assert numbers == [(str(t[index].storage_offset()), name) for name, t in tensors.items()]
    assert words.label(index) == f"{'abcd'[index[1]]}{index[2]}{index[3]}"
    indices = [*product(*map(range, shape))]
    orders = words.orders(shape)
    for name, layout in words.layouts(shape).items():
        in_order = [tensors[name][indices[flat]].storage_offset() for flat in orders[name]]
        assert in_order == [*range(len(indices))]
        group = words.group(shape, index, highlight)
        places = sorted(tensors[name][tuple(i)].storage_offset() for i in group)
        steps = {b - a for a, b in pairwise(places)}
        step = words.step(layout, index, highlight)
        assert steps == {step} - {None} and [*index] in group
        assert len(group) == len({*map(tuple, group)})
        if step is not None and step > 1:
            assert f"{step} elements apart in {name}" in words.spread(shape, index, highlight)


def test_planes_stand_side_by_side():
    """As many as divide the channels and find room, each line of boxes across all of them."""
    for shape, room in product([(2, 4, 3, 5), (1, 3, 2, 2)], (0, 1, 2, 3, 9)):
        across = words.largestDivisor(shape[1], room)
        assert across == max(n for n in (1, 2, 3, 4) if shape[1] % n == 0 and n <= max(1, room))
        indices = [*product(*map(range, shape))]
        beside = sorted(indices, key=lambda i: (i[0], i[1] // across, i[2], i[1], i[3]))
        assert [indices[flat] for flat in words.planes(shape, across)] == beside
