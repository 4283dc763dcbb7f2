"""FormatTracer without a browser: its table of layers against torch, its state."""

from itertools import chain, combinations

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import FormatTracer
from stridekit.widgets.engine import Script
from stridekit.widgets.format_tracer import network as net

script = Script("format_tracer/network.js")
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
        passed = script.trace(net.network(), which, names)
        assert [bool(both) for both in passed] == [name in names for name in net.NAMES]
        rows = [*filter(None, passed)]
        layers = [layer for layer in net.LAYERS if layer.name in names]
        for side, start in enumerate((x, x.to(memory_format=CHANNELS_LAST))):
            now = start
            for both, layer in zip(rows, layers, strict=True):
                now = _after(now, layer, both[side])
            made = FormatTracer(x.shape, names)
            end = made.facts["channels_last_end" if side else "contiguous_end"]
            assert end == ("" if now is None else net.label(now))


def _after(x, layer, passage):
    if x is None:
        assert passage == {"label": "", "stride": [], "note": ""}
        return None
    try:
        y = layer.run(x)
    except RuntimeError:
        assert layer.name == "view" and passage["label"] == ""
        assert passage["note"].startswith("torch refuses")
        return None
    assert tuple(passage["stride"]) == y.stride() and passage["label"] == net.label(y)
    copied = x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()
    if layer.name in ("flatten", "view", "permute"):
        assert passage["note"].startswith("has to copy" if copied else "a view")
        assert str(x.numel()) in passage["note"] or not copied
    return y


PLAIN, ONE = "torch.ones(2, 3, 4, 4)", "torch.ones(2, 1, 4, 4)"
LABELS = {
    PLAIN: "contiguous_format",
    f"{PLAIN}.to(memory_format=torch.channels_last)": "channels_last",
    f"{ONE}.to(memory_format=torch.channels_last)": "both, taken for channels_last",
    f"{PLAIN}.to(memory_format=torch.channels_last)[0].unsqueeze(0)": (
        "channels_last, taken for contiguous_format"
    ),
    f"{PLAIN}.permute(0, 2, 3, 1)": "neither",
    "torch.ones(4, 6).t()": "not contiguous",
}


@pytest.mark.parametrize("source", LABELS)
def test_a_label_follows_the_flags_or_a_convolution_where_they_are_ambiguous(source):
    x = eval(source)
    assert net.label(x) == LABELS[source]
    if "taken for" in net.label(x):
        y = torch.nn.functional.conv2d(x, torch.ones(4, x.shape[1], 1, 1))
        assert net.label(x).endswith(Layout.of(y).memory_format)


def test_the_code_makes_the_same_picture():
    """And the facts tell of every layer on the way."""
    for names in [(), ("relu", "flatten"), net.NAMES]:
        made = FormatTracer((2, 1, 4, 4), names)
        again = eval(made.code, {"FormatTracer": FormatTracer})
        assert (again._state, again.facts) == (made._state, made.facts)
        assert made.facts["layers"] == tuple(names)
    facts = [FormatTracer(layers=[layer]).facts for layer in ("cat", "relu", "view")]
    assert [(of["lost"], of["refused"]) for of in facts] == [(1, 0), (0, 0), (0, 1)]


def test_asking_torch_leaves_no_trace():
    """The caller's random state and modes stay as they are, whatever the defaults."""
    state = torch.random.get_rng_state()
    with torch.device("meta"):
        fresh = net.network.__wrapped__()
    assert fresh == net.network() and torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), state)
