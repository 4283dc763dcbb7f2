"""FormatTracer without a browser: its table of layers against torch, its state."""

from itertools import chain, combinations

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import FormatTracer
from stridekit.widgets.format_tracer import network as net

CHANNELS_LAST = torch.channels_last


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
    """Each property can be read and set; layers keep the order in which they run."""
    t = FormatTracer()
    assert (t.shape, t.layers) == ((2, 3, 4, 4), net.DEFAULT_LAYERS)
    assert t._state == FormatTracer([2, 3, 4, 4], net.DEFAULT_LAYERS[::-1])._state
    t.layers, t.shape = ("view", "relu"), [2, 1, 4, 4]
    assert t.layers == ("relu", "view") and t.shape == (2, 1, 4, 4)
    t.layers = "relu"
    assert t.layers == ("relu",)
    assert "  F.relu(x): both, taken for contiguous_format | both, taken for" in repr(t)


def test_asking_torch_leaves_no_trace():
    """The caller's random state and modes stay as they are, whatever the defaults."""
    state = torch.random.get_rng_state()
    with torch.device("meta"):
        fresh = net.network.__wrapped__()
    assert fresh == net.network() and torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), state)
