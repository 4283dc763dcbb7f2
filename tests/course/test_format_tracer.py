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
    short = chain.from_iterable(combinations(net.NAMES, k) for k in range(3))
    return [*short, net.NAMES, net.DEFAULT_LAYERS]


@pytest.mark.parametrize("number", range(len(net.INPUTS)), ids=map(str, net.INPUTS))
def test_layers_are_what_torch_makes_of_the_whole_chain(number):
    """Each chain, run from its input, has the strides and the copies that the table gives."""
    x = torch.ones(net.INPUTS[number])
    for names in chains():
        outputs = script.trace(net.network(), number, names)
        assert [bool(pair) for pair in outputs] == [name in names for name in net.NAMES]
        pairs = [pair for pair in outputs if pair]
        layers = [layer for layer in net.LAYERS if layer.name in names]
        facts = FormatTracer(x.shape, names).facts
        for side, end, y in (
            (0, "contiguous_end", x),
            (1, "channels_last_end", x.to(memory_format=CHANNELS_LAST)),
        ):
            for pair, layer in zip(pairs, layers, strict=True):
                y = _after(y, layer, pair[side])
            assert facts[end] == ("" if y is None else net.label(y))


def _after(x, layer, output):
    """Run a layer, compare its result with the output of the table, and return it."""
    if x is None:
        assert output == {"label": "", "stride": [], "note": ""}
        return None
    try:
        y = layer.run(x)
    except RuntimeError:
        assert layer.name == "view" and output["label"] == ""
        assert output["note"].startswith("torch refuses")
        return None
    assert tuple(output["stride"]) == y.stride()
    assert output["label"] == net.label(y)
    is_copy = x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()
    if layer.name in ("flatten", "view", "permute"):
        assert output["note"].startswith("has to copy" if is_copy else "a view")
        assert str(x.numel()) in output["note"] or not is_copy
    return y


PLAIN = "torch.ones(2, 3, 4, 4)"
ONE_CHANNEL = "torch.ones(2, 1, 4, 4)"
LABELS = {
    PLAIN: "contiguous_format",
    f"{PLAIN}.to(memory_format=torch.channels_last)": "channels_last",
    f"{ONE_CHANNEL}.to(memory_format=torch.channels_last)": "both, taken for channels_last",
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
    for names in [(), ("relu", "flatten"), net.NAMES]:
        w = FormatTracer((2, 1, 4, 4), names)
        twin = eval(w.code, {"FormatTracer": FormatTracer})
        assert (twin._state, twin.facts) == (w._state, w.facts)
        assert w.facts["layers"] == tuple(names)


@pytest.mark.parametrize(
    ("layer", "is_lost", "is_refused"),
    [("cat", True, False), ("relu", False, False), ("view", False, True)],
)
def test_the_facts_say_whether_a_format_is_lost_or_a_layer_refused(layer, is_lost, is_refused):
    facts = FormatTracer(layers=[layer]).facts
    assert (facts["lost"], facts["refused"]) == (is_lost, is_refused)


def test_asking_torch_leaves_no_trace():
    """The caller's random state and modes stay as they are, whatever the defaults."""
    state = torch.random.get_rng_state()
    with torch.device("meta"):
        fresh = net.network.__wrapped__()
    assert fresh == net.network() and torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_note_names_the_dims_as_permute_has_left_them():
    notes = {}
    for names in (("relu", "view"), ("permute", "view")):
        *_, last = script.trace(net.network(), 0, names)
        notes[names[0]] = [side["note"] for side in last]
    is_view = "a view: nothing is copied"
    assert notes["relu"] == [is_view, "torch refuses: C is innermost in memory, not W"]
    assert notes["permute"] == ["torch refuses: W is innermost in memory, not C", is_view]
