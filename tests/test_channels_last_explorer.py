"""ChannelsLastExplorer without a browser: its words and its table of layers against torch, its state."""

import re
from itertools import chain, combinations, pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout
from stridekit.widgets import ChannelsLastExplorer
from stridekit.widgets.channels_last_explorer import network as net
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


def chains():
    """Every choice of up to two layers, and all of them."""
    few = chain.from_iterable(combinations(net.NAMES, k) for k in range(3))
    return [*few, net.NAMES, net.DEFAULT_LAYERS]


@pytest.mark.parametrize("which", range(len(net.INPUTS)), ids=map(str, net.INPUTS))
def test_layers_are_what_torch_makes_of_the_whole_chain(which):
    """Each chain, run from its input, has the strides and the copies that the table gives."""
    x = torch.ones(net.INPUTS[which])
    for names in chains():
        rows = net.trace(which, names)
        layers = [layer for layer in net.LAYERS if layer.name in names]
        for side, start in enumerate((x, x.to(memory_format=CHANNELS_LAST))):
            now = start
            for (_, passages), layer in zip(rows, layers, strict=True):
                now = _after(now, layer, passages[side])


def _after(x, layer, passage):
    if x is None:
        assert passage == ("", (), "")
        return None
    try:
        y = layer.run(x)
    except RuntimeError:
        assert layer.name == "view" and passage.label == ""
        assert passage.note.startswith("torch refuses")
        return None
    assert passage.stride == y.stride() and passage.label == net.label(y)
    copied = x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()
    if layer.name in ("flatten", "view", "permute"):
        assert passage.note.startswith("has to copy" if copied else "a view")
        assert str(x.numel()) in passage.note or not copied
    return y


@pytest.mark.parametrize(
    ("make", "label"),
    [
        (lambda: torch.ones(2, 3, 4, 4), "contiguous_format"),
        (lambda: torch.ones(2, 3, 4, 4).to(memory_format=CHANNELS_LAST), "channels_last"),
        (
            lambda: torch.ones(2, 1, 4, 4).to(memory_format=CHANNELS_LAST),
            "both, taken for channels_last",
        ),
        (
            lambda: torch.ones(2, 3, 4, 4).to(memory_format=CHANNELS_LAST)[0].unsqueeze(0),
            "channels_last, taken for contiguous_format",
        ),
        (lambda: torch.ones(2, 3, 4, 4).permute(0, 2, 3, 1), "neither"),
        (lambda: torch.ones(4, 6).t(), "not contiguous"),
    ],
)
def test_labels(make, label):
    """A label follows the flags, or the result of a convolution where the flags are ambiguous."""
    x = make()
    assert net.label(x) == label
    if "taken for" in label:
        y = torch.nn.functional.conv2d(x, torch.ones(4, x.shape[1], 1, 1))
        assert label.endswith(Layout.of(y).memory_format)


def test_state_is_read_and_set_from_python():
    """Each property can be read and set; a smaller shape keeps the index inside."""
    e = ChannelsLastExplorer()
    assert (e.shape, e.index, e.highlight) == ((2, 3, 4, 5), (0, 1, 2, 2), "pixel")
    assert e.layers == net.DEFAULT_LAYERS and e.network_shape == (2, 3, 4, 4)
    e.index, e.highlight = (1, -1, 3, 4), "channel"
    assert e.index == (1, 2, 3, 4)
    e.shape = (1, 2, 4, 2)
    assert e.index == (0, 1, 3, 1) and e.code == words.code((1, 2, 4, 2))
    e.layers, e.network_shape = ("view", "relu"), [2, 1, 4, 4]
    assert e.layers == ("relu", "view") and e.network_shape == (2, 1, 4, 4)
    e.layers = "relu"
    assert e.layers == ("relu",)
    assert "The 8 pixels of channel 1 of image 0 lie side by side in contiguous_format" in repr(e)


def test_asking_torch_leaves_no_trace():
    """The caller's random state and modes stay as they are, whatever the defaults."""
    state = torch.random.get_rng_state()
    with torch.device("meta"):
        fresh = net.network.__wrapped__()
    assert fresh == net.network() and torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), state)
