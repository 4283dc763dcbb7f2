"""FormatTracer under a hand, on a plain page: each layer on and off."""

import pytest

from stridekit.widgets import FormatTracer
from stridekit.widgets.engine import Script
from stridekit.widgets.format_tracer import network as net
from tests.browser.pages import button, pressed, stop_the_clock, text
from tests.needs import needs_chromium

script = Script("format_tracer/network.js")
pytestmark = [needs_chromium, pytest.mark.long]


def outcomes(w):
    """The texts that say what the two inputs become, by layer."""
    return dict(w.locator("tbody tr").evaluate_all(OUTCOMES)[1:])


OUTCOMES = """(rows) => rows.map(({ children: [layer, ...cells] }) => [
  layer.textContent,
  cells.map((cell) => [...cell.children].map((part) => part.textContent).filter(Boolean)),
])"""


def told(passage):
    """The same in the script's words."""
    text = passage["note"] if passage["label"] or passage["note"] else "nothing comes here"
    stride = [str(tuple(passage["stride"]))] if passage["stride"] else []
    name, _, taken = passage["label"].partition(", ")
    return [part for part in (name, *stride, taken, text) if part]


@pytest.mark.parametrize("which", range(3))
def test_every_layer_is_switched_on_and_off(show, which):
    """Each has torch's result; one that is off is silent and grey; the end is read aloud."""
    w = show(FormatTracer(net.INPUTS[which], layers=[]))
    stop_the_clock(w.page)
    w.locator("tbody input").first.check()
    w.locator("tbody input").first.uncheck()
    on = []
    for layer, box in zip(net.LAYERS, w.locator("tbody input").all(), strict=True):
        box.check()
        on.append(layer.name)
        if layer.name == "x + skip":
            box.uncheck()
            on.pop()
        rows = zip(net.LAYERS, script.trace(net.network(), which, on), strict=True)
        assert outcomes(w) == {
            layer.code: [*map(told, row)] if row else [[], []] for layer, row in rows
        }
    off = w.locator("tbody tr.is-off")
    assert [text.strip() for text in off.all_inner_texts()] == ["x + skip"]
    for box in w.locator("tbody input:checked").all()[::-1]:
        box.uncheck()
    w.page.clock.run_for(400)
    assert text(w, ".sk-spoken") == "No layer is switched on."
    w.locator("tbody input").nth(net.NAMES.index("relu")).check()
    (passages,) = filter(None, script.trace(net.network(), which, ["relu"]))
    first, second = (", ".join(filter(None, [it["label"], it["note"]])) for it in passages)
    w.page.clock.run_for(400)
    assert (first != second or which) and text(w, ".sk-spoken") == (
        f"At the end, x in contiguous_format is: {first}; x in channels_last is: {second}."
    )


def test_the_input_is_chosen_by_a_chip(show):
    """The first row has its strides, and both formats where a size is 1."""
    w = show(FormatTracer())
    button(w, "x of shape (2, 1, 4, 4)").click()
    assert pressed(w.locator(".sk-presets button")) == ["x of shape (2, 1, 4, 4)"]
    states, starts = net.network()["states"], net.network()["inputs"][1]["starts"]
    first = [told(states[start] | {"note": ""}) for start in starts]
    assert w.locator("tbody tr").evaluate_all(OUTCOMES)[0][1] == first
    assert first[1] == ["both", "(16, 1, 4, 1)", "taken for channels_last"]


def test_on_a_phone_outputs_stand_below_the_code(show):
    """Nothing is wider than the page, and every target is 24 pixels high at least."""
    w = show(FormatTracer(layers=net.NAMES))
    w.page.set_viewport_size({"width": 390, "height": 900})
    w.locator("table[data-narrow=true]").wait_for()
    assert w.page.evaluate("document.documentElement.scrollWidth") == 390
    cut = "all => all.filter((node) => node.scrollWidth > node.clientWidth + 1).length"
    assert w.locator("th:visible, td:visible").evaluate_all(cut) == 0
    heights = [label.bounding_box()["height"] for label in w.locator("label").all()]
    assert min(heights) >= 24
    code, *outputs = [
        part.bounding_box() for part in w.locator("tbody tr").nth(2).locator("> *").all()
    ]
    assert outputs[0]["y"] == outputs[1]["y"] >= code["y"] + code["height"]
