"""The alias explorer and the reshape stepper fit one screen: rows for test_heights.py."""

import pytest
import torch

from stridekit import Layout, widgets
from tests.browser.pages import button, enter, painted, widen
from tests.needs import needs_chromium

pytestmark = needs_chromium

WIDTH, AT_FIRST, IN_USE = 850, 620, 720  # px
NAMES = {"torch": torch, "Layout": Layout, **vars(widgets)}


def every_line(w):
    """Run each of the lines to try, and some that are refused or asked about at length."""
    for line in w.locator(".sk-presets button").all_inner_texts():
        button(w, line).click()
        yield
    for line in ("y = x.T.reshape(-1)", "z = y * 400", "z = x.unfold(0, 2, 1)", "y = x[:1].expand(4, 6)",
                 "z += 1", "y += x", "x = x.frob()", "y = x" + ".t().contiguous()" * 40):  # fmt: skip
        enter(w, "run a line", line)
        yield


def at_rest(_):
    """Change nothing."""
    yield


def every_view(w):
    """From each layout, each shape to try, at each step; and texts that are refused."""
    for name in w.locator(".sk-presets button").all_inner_texts():
        button(w, name).click()
        for target in w.locator(".sk-examples button").all_inner_texts():
            button(w, target).click()
            yield from every_step(w)
    enter(w, "x has shape", "4 by 6 " * 40)
    yield
    enter(w, "stride", "999, 999")
    yield


def every_step(w):
    """Walk to the end."""
    while button(w, "next").get_attribute("aria-disabled") == "false":
        yield
        button(w, "next").click()
    yield


# Many numbers, lines and dims: what does not fit scrolls in its pane.
ALIASES = [
    ("AliasExplorer()", every_line),
    ("AliasExplorer((4, 4, 6), ['y = x.clone()', 'z = y * -900', 'y = z[1:]'])", every_line),
    (
        "AliasExplorer((2, 3, 2, 2), ['y = x.permute(1, 2, 3, 0)', 'z = y.clone()', 'y += 1'])",
        every_line,
    ),
    ("AliasExplorer((96,), ['y = x.view(8, 12)', 'z = y.t().contiguous()', 'z += 1'])", at_rest),
    ("AliasExplorer((96, 1), ['y = x.clone()', 'z = x.clone()'] + ['z += 1'] * 40)", at_rest),
]
RESHAPES = [
    ("ReshapeStepper()", every_view),
    ("ReshapeStepper(torch.zeros(16, 16).T, (256,))", every_step),
    ("ReshapeStepper(torch.zeros(64, 4)[:, :3], (3, 64))", every_step),
    (
        "ReshapeStepper(Layout((2,) * 6, (32, 8, 16, 4, 1, 2)), (2, 2, 2, 1, 2, 2, 2, 1))",
        every_step,
    ),
    ("ReshapeStepper(torch.zeros(2, 0), (0, 3))", every_step),
]
USED = [*ALIASES, *RESHAPES]
FIRST = [rows[0][0] for rows in (ALIASES, RESHAPES)]


def height(w):
    """The height of a widget without its goals."""
    painted(w.page)
    return w.evaluate(
        "(node) => node.offsetHeight - (node.querySelector('.sk-goals')?.offsetHeight ?? 0)"
    )


def shown(show, source):
    """The widget of a source at the width."""
    w = show(eval(source, NAMES))
    widen(w, WIDTH)
    assert w.evaluate("(node) => node.offsetWidth") == WIDTH
    return w


@pytest.mark.parametrize("source", FIRST)
def test_a_widget_begins_within_a_screen(show, source):
    assert height(shown(show, source)) <= AT_FIRST


@pytest.mark.parametrize(("source", "use"), USED)
def test_a_used_widget_stays_within_a_screen(show, source, use):
    w = shown(show, source)
    found = [height(w) for _ in use(w)]
    assert max(found) <= IN_USE, found
