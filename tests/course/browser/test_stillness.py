"""The page stays still while a hand plays with a widget."""

from pathlib import Path

import pytest

from tests.course.browser.hand import HAND_NAMES
from tests.course.browser.pages import WIDTH, button, enter, painted, resize
from tests.course.needs import BY_DAY, at_night_but, needs_chromium
from tests.course.widget_kinds import KINDS, make

pytestmark = needs_chromium
PLAY = Path(__file__).with_name("play.js").read_text(encoding="utf-8")
# The kinds whose height changes on a wide page, with the reason.
MOVING = {"Predict": "a card grows once, when it shows the answer: room for it would look empty"}
# Tensors through a window, of few dims and of many.
WINDOWED = ["explore(torch.zeros(64, 3, 224, 224))", "explore(torch.zeros(6, 5, 4, 3, 2, 70))"]


def shown(kind):
    return make(kind) if kind in KINDS else eval(kind, HAND_NAMES)


each_kind = pytest.mark.parametrize("kind", at_night_but(BY_DAY, [*KINDS, *WINDOWED]))


@each_kind
def test_a_widget_keeps_its_height_while_a_hand_plays(show, kind):
    w = show(shown(kind))
    resize(w.page, WIDTH, 1300)
    played = w.evaluate(PLAY)
    assert len(played) > 1
    heights = {height: what for what, height, _ in played}
    assert (max(heights) - min(heights) > 1) == (kind in MOVING), heights


@each_kind
def test_on_a_phone_the_page_below_a_widget_does_not_come_up(show, kind):
    """It may go down, because a phone has no room to keep."""
    w = show(shown(kind))
    resize(w.page, 390, 1300)
    played = w.evaluate(PLAY)
    places = [place for _, _, place in played]
    assert places == sorted(places), played


def test_no_widget_takes_more_place_than_it_shows(show):
    roots = show(*map(make, KINDS))
    resize(roots.page, WIDTH, 1300)
    spaces = roots.evaluate_all(
        "(roots) => roots.map((root) => root.parentNode.offsetHeight - root.offsetHeight)"
    )
    assert {kind: space for kind, space in zip(KINDS, spaces, strict=True) if space > 1} == {}


def test_a_reset_frees_the_place_that_a_widget_has_kept(show):
    w = show(make("StrideExplorer"))
    resize(w.page, 390, 1300)
    place = w.locator("xpath=..")
    first = place.evaluate("(node) => node.offsetHeight")
    button(w, "transpose").click()
    highest = place.evaluate("(node) => node.offsetHeight")
    assert highest > first
    button(w, "diagonal").click()
    assert w.evaluate("(root) => root.offsetHeight") < highest
    assert place.evaluate("(node) => node.offsetHeight") == highest
    button(w, "reset").click()
    assert place.evaluate("(node) => node.offsetHeight") == first


# How far each part of an explorer reaches into the next one, in px.
OVERLAPS = """(root) => {
  const parts = root.querySelectorAll('.sk-window, .sk-chain, .sk-top, .sk-stage > .sk-pane, .sk-foot');
  const shown = [...parts].filter((part) => part.checkVisibility());
  const boxes = shown.map((part) => part.getBoundingClientRect());
  return boxes.slice(1).map(({ top }, k) => Math.round(boxes[k].bottom - top));
}"""


@pytest.mark.parametrize("width", at_night_but([WIDTH], [730, 800, WIDTH]))
@pytest.mark.parametrize("kind", ["StrideExplorer", *WINDOWED])
def test_no_part_of_an_explorer_lies_over_the_next(show, kind, width):
    """Where the sliders stand over the grid, a tensor of many dims needs more height."""
    w = show(shown(kind))
    resize(w.page, width, 1300)
    for step in ("", "[:1]", ".contiguous()"):
        if step:
            enter(w, "then", step)
        painted(w.page)
        overlaps = w.evaluate(OVERLAPS)
        assert len(overlaps) >= 3
        assert max(overlaps) <= 8, step  # the outlines that a pane keeps room for
