"""Motion and painting of widgets, which the rows of hands.txt cannot describe."""

import re

import pytest
import torch

from stridekit import Layout, explore
from stridekit.widgets import (
    AliasExplorer,
    AttentionExplorer,
    CacheExplorer,
    ReshapeStepper,
    Sort,
    StrideExplorer,
    TraversalExplorer,
)
from tests.course.browser.pages import (
    FOCUSED,
    WIDTH,
    away,
    button,
    enter,
    middle,
    painted,
    press,
    resize,
    wait_for_frame,
)
from tests.course.needs import at_night_but, needs_chromium
from tests.course.widget_kinds import KINDS, make

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
    const { target } = motion.effect;
    const isTrail = target.closest('.sk-trails');
    if (isTrail || motion instanceof CSSAnimation || motion instanceof CSSTransition) return [];
    Object.assign(motion, { currentTime: 0 }).pause();
    const { x, y, width, height } = target.getBoundingClientRect();
    return [[target.ariaLabel ?? target.innerText.split('\\n')[0], x + width / 2, y + height / 2]];
  });
}"""


def moving(w, name, line=""):
    """The labels and middles of what moves after a press.

    The hand rests first, because a widget does not move if two changes come at once.
    """
    w.page.clock.run_for(1000)
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


def test_boxes_of_an_alias_come_out_of_their_slots(show_and_stop):
    """The boxes that a line makes or changes move; not after undo, and not if motion is unwelcome."""
    w = show_and_stop(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
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


def test_what_a_step_of_a_reshape_is_about_moves(show_and_stop):
    """A dim joins its chunk, a new dim leaves it, a copy comes out of the slots; the way back is still."""
    cut = Layout((4, 6), (8, 1), 3, 4)
    free, stuck = show_and_stop(ReshapeStepper(), ReshapeStepper(cut, (2, 12))).all()
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
def test_a_card_travels_to_its_bin_or_shakes_it(show_and_stop, motion):
    w = show_and_stop(Sort(torch.ones(4, 6), "x.t(); x + 0; x.clone()", also="x[1:]"))
    w.page.emulate_media(reduced_motion=motion)
    count = 0 if motion == "reduce" else 1
    for _ in range(2):
        assert len(moving(w, "view")) == count


def test_numbers_travel_from_their_slots_and_copies_from_their_cells(show_and_stop):
    """By a preset, or a line; not by a slider, a drag, or with many cells."""
    w = show_and_stop(StrideExplorer(Layout((4, 6), (8, 1), 2, 4), 40))
    assert_on_slots(moving(w, "transpose"), w.locator(".sk-slot"), 24)
    rest(w, ".sk-caption")
    for step, name in ((".T", "x["), (".contiguous()", "element ")):
        cells = moving(w, "Enter", step)
        assert cells, step
        for label, *_ in cells:
            assert label.startswith(name), step
    for widget, name in ((StrideExplorer(), "slide"), (explore(torch.ones(16, 32)), "transpose")):
        w = show_and_stop(widget)
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


# The last step again -----------------------------------------------------------------------------------

# A step by hand for each kind that moves; the others have no step to show again.
STEPS = {
    "StrideExplorer": lambda w: button(w, "transpose").click(),
    "AliasExplorer": lambda w: enter(w, "run a line", "y = x[1:, ::2]"),
    "ReshapeStepper": lambda w: [button(w, "next").click() for _ in range(2)],
    "ChannelsLastExplorer": lambda w: button(w, "a channel's pixels").click(),
    "FormatTracer": lambda w: w.get_by_role("checkbox").first.click(),
    "TraversalExplorer": lambda w: w.get_by_label("visit", exact=True).fill("20"),
    "Sort": lambda w: button(w, "view").click(),
    "AttentionExplorer": lambda w: button(w, "SDPA").click(),
    "CacheExplorer": lambda w: w.get_by_label("tokens", exact=True).fill("3"),
}
DRAGGED_BY_DAY = ["StrideExplorer", "FormatTracer", "CacheExplorer"]
POSITION = "position in the last step"
# The middles of the boxes that move, in their order; and how the motions stand.
MOVED = """(root) => {
  const isOurs = (motion) => !(motion instanceof CSSAnimation || motion instanceof CSSTransition);
  const motions = root.getAnimations({ subtree: true }).filter(isOurs);
  const boxes = motions.filter(({ effect }) => !effect.target.closest('.sk-trails'));
  if (boxes.length) globalThis.movedBoxes = boxes.map(({ effect }) => effect.target);
  return {
    places: boxes.map(({ effect: { target, pseudoElement } }) => {
      const { x, y, width, height } = target.getBoundingClientRect();
      const shift = new DOMMatrix(getComputedStyle(target, pseudoElement).transform);
      const isPart = pseudoElement !== null;
      return [x + width / 2 + (isPart ? shift.e : 0), y + height / 2 + (isPart ? shift.f : 0)];
    }),
    states: [...new Set(motions.map(({ playState }) => playState))],
    times: [...new Set(boxes.map(({ effect }) => effect.getComputedTiming().endTime))],
    trails: motions.length - boxes.length,
  };
}"""

AT_REST = """() => movedBoxes.map((box) => {
  const { x, y, width, height } = box.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
})"""


def slider(w):
    return w.get_by_label(POSITION, exact=True)


def scrubbed(w, percent):
    """Drag to a position; return what moves, which stands still."""
    slider(w).fill(str(percent))
    moved = w.evaluate(MOVED)
    assert moved["states"] == ["paused"]
    assert moved == w.evaluate(MOVED)
    return moved


@pytest.mark.parametrize("kind", at_night_but(DRAGGED_BY_DAY, STEPS))
def test_the_last_step_can_be_dragged_through(show, kind):
    """All boxes begin away from their places and end there.

    The widget keeps its height, and the control covers nothing that moves.
    """
    w = show(make(kind))
    resize(w.page, WIDTH)
    STEPS[kind](w)
    size = w.bounding_box()
    button(w, "replay").click()
    start, half, end = [scrubbed(w, percent)["places"] for percent in (0, 50, 100)]
    assert w.bounding_box() == size
    control = w.locator(".sk-replay").bounding_box()
    assert all(y > control["y"] + control["height"] for _, y in start + half + end)
    assert len(start) >= 1
    for before, after in zip(start, end, strict=True):
        assert before != pytest.approx(after, abs=2)
    assert half not in (start, end)
    button(w, "replay").click()
    assert w.evaluate(MOVED)["places"] == []
    assert w.evaluate(AT_REST) == [pytest.approx(place, abs=0.1) for place in end]


def test_only_kinds_that_move_have_the_control(show):
    roots = show(*map(make, KINDS))
    with_control = [kind for k, kind in enumerate(KINDS) if button(roots.nth(k), "replay").count()]
    assert with_control == [kind for kind in KINDS if kind in STEPS]


def test_the_control_plays_slowly_and_pauses_by_keys(show):
    w = show(make("StrideExplorer"))
    STEPS["StrideExplorer"](w)
    brisk = w.evaluate(MOVED)
    w.evaluate(CRAWL)
    press(button(w, "replay"), "Enter")
    keys = w.page.keyboard
    assert w.page.evaluate(FOCUSED) == POSITION
    slow = w.evaluate(MOVED)
    assert slow["states"] == ["running"]
    assert len(slow["places"]) == 24
    assert slow["times"][0] > 4 * max(brisk["times"], default=600)
    for key, state in {"Home": "paused", "Space": "running", "ArrowRight": "paused"}.items():
        keys.press(key)
        assert w.evaluate(MOVED)["states"] == [state], key
    keys.press("Home")
    keys.press("Space")
    keys.press("Home")  # which does not move the slider
    assert w.evaluate(MOVED)["states"] == ["paused"]
    keys.press("Space")
    box = slider(w).bounding_box()
    w.page.mouse.move(box["x"] + 9, box["y"] + 12)  # the thumb, which a press does not move
    w.page.mouse.down()
    assert w.evaluate(MOVED)["states"] == ["paused"]
    w.page.mouse.up()
    keys.press("Space")
    keys.press("Shift+Tab")
    assert w.page.evaluate(FOCUSED) == "pause"
    keys.press("Space")
    assert w.page.evaluate(FOCUSED) == "play slowly"
    assert w.evaluate(MOVED)["states"] == ["paused"]
    keys.press("Tab")
    for key, value in {"Home": 0, "ArrowRight": 1, "PageUp": 11, "End": 100}.items():
        keys.press(key)
        assert slider(w).get_attribute("aria-valuetext") == f"{value} %", key
        assert w.evaluate(MOVED)["states"] == ["paused"]
    keys.press("Home")
    keys.press("Shift+Tab")
    keys.press("Enter")
    assert w.evaluate(MOVED)["states"] == ["running"]
    keys.press("Escape")
    assert w.page.evaluate(FOCUSED) == "replay"
    assert not slider(w).is_visible()
    assert w.evaluate(MOVED)["states"] == []


# Let all of this widget move so slowly that it stays where it began, however busy the machine is.
CRAWL = """(root) => {
  const { play } = Animation.prototype;
  Animation.prototype.play = function () {
    play.call(this);
    if (root.contains(this.effect.target)) this.playbackRate = 0.0001;
  };
}"""


def test_nothing_plays_by_itself_for_a_reader_who_wants_no_motion(show):
    w = show(make("ChannelsLastExplorer"))
    w.page.emulate_media(reduced_motion="reduce")
    STEPS["ChannelsLastExplorer"](w)
    assert w.evaluate(MOVED)["states"] == []
    button(w, "replay").click()
    assert w.evaluate(MOVED)["states"] == ["paused"]
    assert slider(w).input_value() == "0"
    assert button(w, "play slowly").count() == 0
    assert scrubbed(w, 0)["places"] != scrubbed(w, 100)["places"]


def test_there_is_nothing_to_show_before_the_first_step_and_after_an_undo(show):
    w, stride = show(make("AliasExplorer"), make("StrideExplorer")).all()

    def is_offered(w=w):
        wait_for_frame(w)
        return button(w, "replay").get_attribute("aria-disabled") == "false"

    assert not is_offered()
    button(w, "replay").click(force=True)
    assert not slider(w).is_visible()
    STEPS["AliasExplorer"](w)
    assert is_offered()
    button(w, "replay").click()
    slider(w).press("Control+z")
    assert not is_offered()
    assert not slider(w).is_visible()
    assert w.page.evaluate(FOCUSED) == "replay"
    STEPS["StrideExplorer"](stride)
    assert is_offered(stride)
    stride.get_by_label("stride[0]", exact=True).press("ArrowLeft")
    assert not is_offered(stride)


def test_a_step_stays_where_it_was_stopped(show):
    """While a hand points at boxes, and in another width; a press on the picture ends it."""
    w = show(make("ChannelsLastExplorer"))
    resize(w.page, WIDTH)
    button(w, "replay").click()
    beside = scrubbed(w, 50)
    w.locator(".sk-box").first.hover()
    wait_for_frame(w)
    assert w.evaluate(MOVED) == beside
    away(w)
    resize(w.page, 600)
    painted(w.page)
    below = w.evaluate(MOVED)
    assert below["states"] == ["paused"]
    assert below["places"] != beside["places"]
    slots = w.get_by_role("grid", name="contiguous_format").locator(".sk-box")
    start = scrubbed(w, 0)["places"]
    assert start[0] == pytest.approx(middle(slots.first), abs=1)
    assert start[1] == pytest.approx(
        middle(slots.nth(8)), abs=1
    )  # channels_last: a00 b00 c00 a01 …
    w.locator(".sk-box").first.click()
    assert w.evaluate(MOVED)["states"] == []
    assert slider(w).input_value() == "100"


def test_of_many_boxes_a_sample_moves_with_few_trails(show):
    w = show(AttentionExplorer(2, 4, 4, 4, rotary="x*cos + rot(x)*sin"))
    button(w, "replay").click()
    moved = scrubbed(w, 50)
    assert len(moved["places"]) == 256  # of 384
    assert 0 < moved["trails"] <= 64


def test_bytes_that_are_copied_go_one_by_one_and_a_view_goes_as_one(show):
    w = show(AttentionExplorer(1, 3, 2, 4))
    for attention, turns in {"@": 24, "SDPA": 1}.items():
        button(w, attention).click()
        button(w, "replay").click()
        scrubbed(w, 50)
        delays = w.evaluate(DELAYS)
        assert (len(delays), len(set(delays))) == (24, turns)
        button(w, "replay").click()


# The times at which the boxes of a memory set off.
DELAYS = """(root) => root.getAnimations({ subtree: true })
  .filter(({ effect }) => effect.target.closest("[aria-label='the memory of y']"))
  .map(({ effect }) => effect.getTiming().delay)"""


def test_only_what_a_step_writes_moves_in_a_cache(show):
    w = show(CacheExplorer(4, batch=1, heads=2))
    button(w, "replay").click()
    scrubbed(w, 0)
    counts = w.locator(".sk-way").evaluate_all(
        "(ways) => ways.map((way) => way.getAnimations({ subtree: true }).length)"
    )
    assert counts == [8, 2, 2]  # cat, in place, blocks


def test_a_key_is_answered_before_the_boxes_that_were_there_set_off(show):
    """A first frame with the motion of all boxes would come late."""
    w = show(CacheExplorer(3, batch=1, heads=2))
    w.evaluate(NOTE_MOTIONS)
    counts = w.get_by_label("tokens", exact=True).evaluate(STEP_UP)
    assert counts == [6, 12]  # 2 new boxes in each memory, and 6 that cat writes again


STEP_UP = """async (input) => {
  input.stepUp();
  input.dispatchEvent(new Event('input'));
  const first = motions.length;
  for (let k = 0; k < 3; k++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [first, motions.length];
}"""


def test_a_line_is_fetched_by_a_miss_alone(show):
    w = show(TraversalExplorer())
    for visit, lines in {9: 2, 10: 1}.items():  # both walks miss, or one of them
        w.get_by_label("visit", exact=True).fill(str(visit))
        button(w, "replay").click()
        scrubbed(w, 0)
        moving = w.locator(".sk-bytes").evaluate_all(
            "(lines) => lines.filter((line) => line.getAnimations().length)"
        )
        assert len(moving) == lines, visit
        button(w, "replay").click()


def test_what_a_player_moves_is_over_before_its_next_step(show_and_stop):
    w = show_and_stop(TraversalExplorer(visit=0))
    w.evaluate(NOTE_MOTIONS)
    stay = 8000 / 48  # ms for each of 48 visits
    button(w, "▶ play").click()
    for visit in (1, 2, 3):
        w.page.clock.run_for(int(stay) + 1)
        times = w.evaluate("() => motions.splice(0).map(timeOf)")
        assert times, visit
        assert max(times) < stay
    w.get_by_label("speed").select_option("2")  # too fast to follow
    w.page.clock.run_for(int(stay) + 1)
    assert w.evaluate("() => motions.length") == 0
    button(w, "❚❚ pause").click()


# Note all motions of boxes that begin, and how to learn the time in ms that one takes.
NOTE_MOTIONS = """() => {
  globalThis.motions = [];
  globalThis.timeOf = ({ effect, playbackRate }) => effect.getComputedTiming().endTime / playbackRate;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...parts) {
    const motion = animate.apply(this, parts);
    if (!this.closest('.sk-trails')) motions.push(motion);
    return motion;
  };
}"""
