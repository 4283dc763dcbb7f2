"""How much of a screen widgets take: 620 pixels at first, 720 in any state, at a width of 850."""

import pytest
import torch

from stridekit.widgets import ChannelsLastExplorer, FormatTracer, TraversalExplorer
from stridekit.widgets.format_tracer.network import NAMES
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

FIRST, USED = 620, 720
BROAD = torch.zeros(41, 16)[:, :2]
STATES = [
    *[(make, FIRST) for make in (ChannelsLastExplorer, FormatTracer, TraversalExplorer)],
    (lambda: TraversalExplorer(warp=(4, 2, 0)), FIRST),
    *[
        (lambda s=s: ChannelsLastExplorer(s), USED)
        for s in [(3, 4, 3, 5), (3, 3, 3, 3), (3, 4, 2, 5)]
    ],
    (lambda: FormatTracer(layers=NAMES), USED),
    (lambda: FormatTracer((2, 1, 4, 4), NAMES), USED),
    (lambda: TraversalExplorer(BROAD, (0, 1)), USED),
    (lambda: TraversalExplorer(torch.zeros(50, 60).t(), "torch", visit=256), USED),
]


def test_a_widget_fits_one_screen(show):
    w = show(*[make() for make, _ in STATES])
    w.page.set_viewport_size({"width": 850 + 48, "height": 900})
    sizes = w.evaluate_all("(all) => all.map((root) => [root.clientWidth, root.offsetHeight])")
    assert {wide for wide, _ in sizes} == {850}
    assert [high for (_, high), (_, most) in zip(sizes, STATES, strict=True) if high > most] == []


def test_on_a_phone_nothing_is_cut(show):
    """At 390 pixels nothing reaches beyond the page, and what is pressed or dragged has 24 pixels."""
    w = show(*[make() for make, _ in STATES])
    w.page.set_viewport_size({"width": 390, "height": 800})
    w.page.wait_for_function("document.querySelector('.stridekit').clientWidth < 400")
    assert w.page.evaluate("document.documentElement.scrollWidth") == 390
    assert w.evaluate_all(BEYOND) == []
    assert (
        w.locator("button, select, input:not([type=checkbox]), label:has(input)").evaluate_all(
            SMALL
        )
        == []
    )


# Nodes that reach out of their widget, and targets that are too small for a finger.
BEYOND = """(all) => all.flatMap((root) => [...root.querySelectorAll('*')]
  .filter((node) => node.checkVisibility() && !node.closest('svg, .sk-spoken'))
  .filter((node) => node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
  .map((node) => node.outerHTML.slice(0, 90)))"""
SMALL = """(all) => all.filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 24)
  .map((node) => node.outerHTML.slice(0, 90))"""
