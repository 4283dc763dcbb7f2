"""A widget at full width, as on the screen of a class room: larger, with its controls beside it."""

import pytest

from tests.course.browser.pages import WIDTH, button, middle, painted, resize, wait_for_frame
from tests.course.needs import needs_chromium
from tests.course.widget_kinds import KINDS, make

pytestmark = needs_chromium
FRAMED = [kind for kind in KINDS if kind not in ("Predict", "Drill")]
# A pane reaches 5 px, its empty padding, beyond the box that bounds it.
INNER = """(root) => {
  const cut = [...root.querySelectorAll('.sk-bounded, .sk-pane, .sk-side')].filter(
    (pane) => pane.scrollHeight > pane.clientHeight + 5 && pane.clientHeight < innerHeight / 4);
  const { scrollWidth, clientWidth, scrollHeight, clientHeight, currentCSSZoom } = root;
  return {
    scale: currentCSSZoom,
    cut: cut.map((pane) => pane.className),
    overflow: [scrollWidth > clientWidth, scrollHeight > clientHeight + 1],
  };
}"""


def widen(w, width, height):
    resize(w.page, width, height)
    button(w, "full width").click()
    wait_for_frame(w)
    painted(w.page)


@pytest.mark.parametrize("kind", ["AttentionExplorer", "ReshapeStepper", "StrideExplorer"])
def test_a_drawing_fills_a_large_screen(show, kind):
    w = show(make(kind))
    widen(w, 1920, 1080)
    seen = w.evaluate(INNER)
    assert seen["scale"] == pytest.approx(1.6)
    assert seen["cut"] == []
    assert seen["overflow"] == [False, False]
    side = w.locator(".sk-side").bounding_box()
    rest = w.locator(".sk-bounded").bounding_box()
    assert side["x"] >= rest["x"] + rest["width"]
    w.page.keyboard.press("Escape")
    resize(w.page, WIDTH)
    assert w.evaluate("(root) => root.currentCSSZoom") == 1


@pytest.mark.parametrize("kind", ["Diagnose", "Sort"])
def test_a_question_stays_over_what_it_asks(show, kind):
    w = show(make(kind))
    widen(w, 1920, 1080)
    assert w.evaluate("(root) => root.currentCSSZoom") > 1.3
    question = w.locator(".sk-side").bounding_box()
    below = w.locator("textarea, .sk-card").bounding_box()
    assert question["y"] + question["height"] <= below["y"]
    assert question["x"] == pytest.approx(below["x"], abs=20)


@pytest.mark.long
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (3840, 2160)])
@pytest.mark.parametrize("kind", FRAMED)
def test_every_drawing_fits_every_screen(show, kind, size):
    w = show(make(kind))
    widen(w, *size)
    seen = w.evaluate(INNER)
    assert seen["scale"] > 1
    assert seen["cut"] == []
    assert not seen["overflow"][0]


def test_a_hand_meets_what_it_points_at(show):
    """A drag on the tape counts in px of the drawing, not of the window."""
    w = show(make("StrideExplorer"))
    widen(w, 1920, 1080)
    mouse = w.page.mouse
    mouse.move(*middle(w.locator("[data-what='stride[0]'].sk-grip")))
    mouse.down()
    mouse.move(*middle(w.locator(".sk-slot").nth(9)), steps=4)
    mouse.up()
    wait_for_frame(w)
    assert w.get_by_label("stride[0]", exact=True).input_value() == "7"


def test_a_small_window_keeps_the_size_of_letters(show):
    w = show(make("StrideExplorer"))
    widen(w, 1000, 700)
    assert w.evaluate("(root) => root.currentCSSZoom") == 1
    assert w.evaluate("(root) => root.scrollWidth <= root.clientWidth")
