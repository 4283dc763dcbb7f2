"""The work of a browser for a key on a slider, which no time on a busy machine could tell."""

import pytest
import torch

from stridekit import Layout, explore
from stridekit.widgets import StrideExplorer
from tests.course.browser.pages import button, middle, painted, press
from tests.course.needs import needs_chromium

pytestmark = needs_chromium
LARGE = torch.arange(4096).view(64, 64)

# Press a key on a slider. Return the names of all questions to which the browser answers only after it has
# laid out the page, asked before the key's event ends.
ASKED = """(input) => {
  const asked = [];
  const restored = [];
  const spy = (owner, name) => {
    const property = Object.getOwnPropertyDescriptor(owner, name);
    const kind = property.get ? 'get' : 'value';
    const own = property[kind];
    const asking = function (...args) {
      asked.push(name);
      return own.apply(this, args);
    };
    Object.defineProperty(owner, name, { ...property, [kind]: asking });
    restored.push(() => Object.defineProperty(owner, name, property));
  };
  for (const side of ['Left', 'Top', 'Width', 'Height']) {
    for (const kind of ['client', 'scroll']) spy(Element.prototype, kind + side);
    spy(HTMLElement.prototype, `offset${side}`);
  }
  for (const name of ['getBoundingClientRect', 'getClientRects']) spy(Element.prototype, name);
  spy(window, 'getComputedStyle');
  input.stepDown();
  input.dispatchEvent(new Event('input'));
  for (const restore of restored) restore();
  return asked;
}"""

# The classes of the nodes of grid and tape whose style is changed by a step of a slider.
RESTYLED = """(input) => {
  const watch = new MutationObserver(() => {});
  const styles = { attributeFilter: ['style'], subtree: true };
  const root = input.closest('.stridekit');
  for (const pane of root.querySelectorAll('.sk-grid, .sk-tape')) watch.observe(pane, styles);
  input.stepUp();
  input.dispatchEvent(new Event('input'));
  const classes = watch.takeRecords().map(({ target }) => target.className);
  watch.disconnect();
  return classes;
}"""

# The height of each canvas, the height of its plate, and where the pane around it begins and ends on that.
PARTS = """(root) => [...root.querySelectorAll('canvas')].map((canvas) => {
  const pane = canvas.closest('.sk-pane');
  const box = canvas.parentNode.getBoundingClientRect();
  const { top, bottom } = pane.getBoundingClientRect();
  const part = canvas.getBoundingClientRect();
  return {
    plate: box.height,
    height: part.height,
    isCovered: part.top <= Math.max(top, box.top) + 1 && part.bottom >= Math.min(bottom, box.bottom) - 1,
  };
})"""


@pytest.mark.parametrize("widget", [StrideExplorer(), explore(LARGE)], ids=["boxes", "canvas"])
def test_a_key_lays_out_the_page_once(show, widget):
    w = show(widget)
    painted(w.page)
    for slider in w.locator(".sk-slider input").all():
        assert slider.evaluate(ASKED) == [], slider.get_attribute("id")


def test_rows_that_move_change_no_style_of_their_boxes(show):
    """A seventh row takes room from the other six."""
    w = show(StrideExplorer(Layout((6, 8)), 96))
    painted(w.page)
    restyled = w.locator(".sk-slider input").first.evaluate(RESTYLED)
    assert set(restyled) == {"sk-row"}


def test_a_canvas_has_only_the_part_of_a_large_grid_that_can_be_seen(show):
    """Wherever it is scrolled to; what is not painted yet is not white."""
    w = show(explore(LARGE))
    painted(w.page)
    for pane, place in (
        (".sk-grid", "0"),
        (".sk-tape", "1e4"),
        (".sk-grid", "1e4"),
        (".sk-tape", "0"),
    ):
        scroller = w.locator(f".sk-pane:has(> * > {pane})")
        scroller.evaluate(f"(node) => {{ node.scrollTop = {place} }}")
        painted(w.page)
        for part in w.evaluate(PARTS):
            assert part["isCovered"], (pane, place)
            assert part["height"] < part["plate"] / 2
    grid = w.locator(".sk-grid")
    grid.focus()
    press(grid, *["ArrowUp"] * 40)  # the selected cell has left the part that was painted
    painted(w.page)
    assert all(part["isCovered"] for part in w.evaluate(PARTS))


def test_a_pointer_finds_its_cell_on_a_canvas_that_was_scrolled(show):
    """At full width the pane has another height, and all of the grid is in sight."""
    w = show(explore(LARGE))
    painted(w.page)
    pane = w.locator(".sk-pane:has(> * > .sk-grid)")
    pane.evaluate("(node) => { node.scrollTop = 1e4 }")
    painted(w.page)
    box = pane.bounding_box()
    x, y = box["x"] + 120, box["y"] + box["height"] - 50
    w.page.mouse.move(x, y)
    painted(w.page)
    row = w.locator(".sk-head[data-lit='0']")
    assert int(row.inner_text()) > 50
    assert middle(row)[1] == pytest.approx(y, abs=20)  # a row goes on in a second line
    button(w, "full width").click()
    painted(w.page)
    assert all(part["isCovered"] for part in w.evaluate(PARTS))
