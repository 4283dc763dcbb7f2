"""Motion and painting of widgets, which the rows of hands.txt cannot describe."""

import re

import pytest
import torch

from stridekit import Layout, explore
from stridekit.widgets import AliasExplorer, ReshapeStepper, Sort, StrideExplorer
from tests.course.browser.pages import middle, press, stop_the_clock
from tests.course.needs import needs_chromium

pytestmark = needs_chromium

# Press a button, with a line typed first, or Enter in the line, or move a slider by one, as a key does.
# Return the label and the middle of each node that then moves, held where it begins.
MOVING = """(root, [name, typed]) => {
  for (const motion of root.getAnimations({ subtree: true })) motion.cancel();
  const isNamed = ({ ariaLabel, innerText }) => [ariaLabel, innerText].includes(name);
  const button = [...root.querySelectorAll('button')].find(isNamed);
  const line = root.querySelector(name === 'slide' ? '[type=range]' : '.sk-input');
  if (name === 'slide') line.stepUp();
  else if (typed) line.value = typed;
  if (button) button.click();
  else if (name === 'slide') line.dispatchEvent(new Event('input'));
  else line.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  return root.getAnimations({ subtree: true }).flatMap((motion) => {
    if (motion instanceof CSSAnimation || motion instanceof CSSTransition) return [];
    Object.assign(motion, { currentTime: 0 }).pause();
    const { target } = motion.effect;
    const { x, y, width, height } = target.getBoundingClientRect();
    return [[target.ariaLabel ?? target.innerText.split('\\n')[0], x + width / 2, y + height / 2]];
  });
}"""


def moving(w, name, line=""):
    """The labels and middles of what moves after a press.

    The hand rests first, because a widget does not move if two changes come at once.
    """
    w.page.clock.run_for(500)
    return w.evaluate(MOVING, [name, line])


def assert_on_slots(boxes, slots, count, first=0):
    """So many boxes move, each from the slot of its element."""
    assert len(boxes) == count
    for label, x, y in boxes:
        element = int(re.findall(r"element (\d+)", label)[-1])
        slot = slots.nth(element - first)
        assert middle(slot) == pytest.approx((x, y), abs=2), label


def rest(w, css):
    """A hand that comes ends what moves."""
    w.locator(css).dispatch_event("pointerdown")
    assert w.evaluate("(root) => root.getAnimations({ subtree: true }).length") == 0


def test_boxes_of_an_alias_come_out_of_their_slots(show):
    """The boxes that a line makes or changes move; not after undo, and not if motion is unwelcome."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    stop_the_clock(w.page)
    lines = [  # the tensors whose boxes move, how many, and the number of their storage
        ("z = y.t()", {"z"}, 9, 0),
        ("y += 100", {"x", "z"}, 18, 0),
        ("z = y.clone()", {"z"}, 9, 1),
    ]
    for line, names, count, storage in lines:
        boxes = moving(w, "run", line)
        assert {label[0] for label, *_ in boxes} == names, line
        tape = w.locator(".sk-storage").nth(storage)
        assert_on_slots(boxes, tape.locator(".sk-box"), count)
    rest(w, ".sk-readout")
    assert moving(w, "undo") == [] == moving(w, "run", "y = wrong")
    w.page.emulate_media(reduced_motion="reduce")
    assert moving(w, "run", "y = x[1:]") == []


def test_what_a_step_of_a_reshape_is_about_moves(show):
    """A dim joins its chunk, a new dim leaves it, a copy comes out of the slots; the way back is still."""
    cut = Layout((4, 6), (8, 1), 3, 4)
    free, stuck = show(ReshapeStepper(), ReshapeStepper(cut, (2, 12))).all()
    stop_the_clock(free.page)
    view = [[], ["dim 0"], ["new dim 1"], ["new dim 0"], []]  # at its end nothing moves
    copy = [[], [], ["new dim 1"]]
    for w, steps in ((free, view), (stuck, copy)):
        for labels in steps:
            assert [label for label, *_ in moving(w, "next")] == labels
    for _ in view:
        assert moving(free, "back") == []
    slots = stuck.locator(".sk-tapebox .sk-box")
    assert_on_slots(moving(stuck, "to the end"), slots, 24, first=3)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_card_travels_to_its_bin_or_shakes_it(show, motion):
    w = show(Sort(torch.ones(4, 6), "x.t(); x + 0; x.clone()", also="x[1:]"))
    stop_the_clock(w.page)
    w.page.emulate_media(reduced_motion=motion)
    count = 0 if motion == "reduce" else 1
    for _ in range(2):
        assert len(moving(w, "view")) == count


def test_numbers_travel_from_their_slots_and_copies_from_their_cells(show):
    """By a preset, or a line; not by a slider, a drag, or with many cells."""
    w = show(StrideExplorer(Layout((4, 6), (8, 1), 2, 4), 40))
    stop_the_clock(w.page)
    assert_on_slots(moving(w, "transpose"), w.locator(".sk-slot"), 24)
    rest(w, ".sk-caption")
    for step, name in ((".T", "x["), (".contiguous()", "element ")):
        cells = moving(w, "Enter", step)
        assert cells, step
        for label, *_ in cells:
            assert label.startswith(name), step
    for widget, name in ((StrideExplorer(), "slide"), (explore(torch.ones(16, 32)), "transpose")):
        w = show(widget)
        stop_the_clock(w.page)
        assert moving(w, name) == []


def test_a_canvas_keeps_what_does_not_change_and_wears_the_theme(show):
    """Places that differ are painted with the same result as all of them, in each theme."""
    w = show(explore(torch.arange(4096).view(64, 64)))
    for k, key in enumerate(["PageDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"]):
        press(w.locator(".sk-slider input").nth(k), key, key)
        before, after = w.evaluate(PAINTED_ANEW)
        assert len(before) >= 1, k
        assert after == before, k
    pictures = []
    for theme in ("light", "dark", "light"):
        w.page.emulate_media(color_scheme=theme)
        before, after = w.evaluate(PAINTED_ANEW)
        assert before == after
        pictures.append(after)
    light, dark, light_again = pictures
    assert light_again == light
    assert dark != light


# Return the canvases as they are, and after a change of theme, which paints everything.
PAINTED_ANEW = """async (root) => {
  const painted = () => [...root.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL());
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await frames();
  const before = painted();
  document.body.dataset.jpThemeName += '';
  await frames();
  return [before, painted()];
}"""
