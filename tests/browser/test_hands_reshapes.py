"""ReshapeStepper under a hand, on a plain page: both ways, offsets, shared elements, odd sizes."""

from itertools import pairwise

import pytest

from stridekit import Layout
from stridekit.widgets import ReshapeStepper
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from tests.browser.pages import (
    beyond,
    button,
    each,
    enter,
    is_seen,
    labelled,
    middle,
    painted,
    press,
    pressed,
    stop_the_clock,
    text,
    texts,
    too_small,
    travelling,
    walk,
    widen,
)
from tests.needs import needs_chromium
from tests.pipe import ask

pytestmark = [needs_chromium, pytest.mark.long]

steps = Script("reshape_stepper/steps.js").stepsOf
FOLLOWED = "reshape_stepper/steps/followed"

CUT = Layout((4, 6), (8, 1), 3, 4)  # rows cut out of wider ones, behind an offset


def stepper(layout, shape, step=0, index=None):
    made = ReshapeStepper(layout, shape)
    made.step = step
    if index is not None:
        made.index = index
    return made


def count(w):
    return text(w, ".sk-count")


def test_the_walk_goes_both_ways_and_no_further(show):
    """By key and by button; a button says when it can do no more."""
    w = show(stepper(CUT, (2, 12)))
    back, next_, to_the_end = (button(w, name) for name in ("back", "next", "to the end"))

    def state():
        ends = [b.get_attribute("aria-disabled") for b in (back, next_, to_the_end)]
        return f"{count(w)} {ends}"

    expected = [f"step {k} of 4 {[str(k == end).lower() for end in (0, 4, 4)]}" for k in range(5)]
    assert state() == expected[0]
    keys = [("ArrowLeft", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4),
            ("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 0)]  # fmt: skip
    walk(next_, state, [(key, expected[step]) for key, step in keys])
    for act, step in ((next_, 1), (next_, 2), (back, 1), (to_the_end, 4), (next_, 4)):
        act.click(force=True)  # Playwright waits for one that says it is disabled
        assert count(w) == f"step {step} of 4"


@pytest.mark.parametrize(("layout", "shape"), [(CUT, (2, 12)), (CUT, (2, 2, 6)), (Layout((1, 3)), (3, 1)),
                                               (Layout((2, 0)), (0, 5)), (Layout(()), (1, 1))])  # fmt: skip
def test_every_step_says_what_the_script_says(show, layout, shape):
    """The end is marked as good or bad, the other steps by their part."""
    told = steps(layout_json(layout), shape)
    w = show(stepper(layout, shape))
    for k, step in enumerate(told):
        said = w.locator(".sk-sentence")
        assert said.inner_text() == step["says"] and count(w) == f"step {k} of {len(told) - 1}"
        end = "bad" if layout.why_not_view(shape) else "good"
        assert said.get_attribute("data-part") == (end if step["part"] == "end" else step["part"])
        press(button(w, "next"), "Enter")
    stuck = [w.locator(css).count() for css in (".sk-dimbox.is-stuck", ".sk-seam.is-crossed")]
    copies = bool(layout.why_not_view(shape))
    assert stuck == [copies, copies] and w.locator(".sk-copy").is_visible() == copies


STORAGE = "the storage of x; filled: the chunk"


def test_the_tape_begins_at_the_offset(show):
    """Its boxes, the steps found and needed, the boxes of a cut and of a stuck dim, the owners."""
    stuck, cut = show(stepper(CUT, (2, 12), 2), stepper(CUT, (2, 2, 6), 3)).all()
    heads = [w.locator(".sk-head").first for w in (stuck, cut)]
    tape = stuck.locator(".sk-tapebox")
    assert texts(tape, ".sk-box") == [*map(str, range(3, 33))]
    marks = tape.locator(".sk-labels span")
    assert marks.all_inner_texts() == ["found", "needed"]
    for mark, element in zip(marks.all(), (11, 9), strict=True):
        box = tape.locator(".sk-box").nth(element - 3).bounding_box()
        label = mark.bounding_box()
        assert abs(label["x"] + label["width"] / 2 - box["x"] - box["width"] / 2) < 3
    says = each(tape.locator(".sk-box"), "ariaLabel")
    assert says[:2] == ["element 3: x[0, 0]", "element 4: x[0, 1]"]
    assert says[6] == "element 9: not reached"
    assert texts(cut, ".sk-box.is-taken") == [*map(str, range(3, 9))]
    press(button(stuck, "next"), "ArrowRight")
    assert [head.inner_text().partition("; ringed: ")[::2] for head in heads] == [
        (STORAGE, "where new dim 1 would lead, …, 6, 7, 8, 11, …: uneven steps"),
        (STORAGE, "new dim 2, its 6 elements evenly spaced"),
    ]


def test_a_shared_box_goes_through_its_owners(show):
    """Each press leads to the next index of the element; all owners are named."""
    w = show(stepper(Layout((3, 2), (0, 1), 1, 4), (6,), index=(0, 0)))
    box = w.locator(".sk-tapebox .sk-box").nth(1)
    assert box.get_attribute("aria-label") == "element 2: x[0, 1], x[1, 1], x[2, 1]"
    for row in (0, 1, 2, 0):
        box.click()
        said = text(w, ".sk-followed")
        assert said.startswith(f"x[{row}, 1] is number {2 * row + 1} in")


def test_one_element_is_told_before_and_at_the_end(show):
    """At first its place in order; at the end its place in memory, in the view or in the copy."""
    for shape, moved in (((2, 2, 6), False), ((2, 12), True)):
        e = stepper(CUT, shape, index=(2, 1))
        w = show(e)
        names = ("x[2, 1]", f"y[{', '.join(map(str, e.new_index))}]")
        words = w.locator(".sk-followed")
        assert words.inner_text() == ask(FOLLOWED, 20, names, 13, None)
        button(w, "to the end").click()
        assert words.inner_text() == ask(FOLLOWED, 20, names, 13, moved)
    copied = w.locator(".sk-copy .sk-box")
    says = copied.nth(13).get_attribute("aria-label")
    assert says == "element 13: y[1, 1], the value of element 20"
    assert copied.all_inner_texts() == [str(CUT.offset((i, j))) for i in range(4) for j in range(6)]


def test_numbers_that_cannot_be_are_brought_inside(show):
    """Each field has its own name and limits; an empty one waits for its digits."""
    w = show(stepper(CUT, (2, 12), index=(2, 1)))
    fields = {"index of x in dim 0": 3, "index of x in dim 1": 5, "index of y in dim 0": 1,
              "index of y in dim 1": 11, "number in row-major order": 23}  # fmt: skip
    for name, most in fields.items():
        field = labelled(w, name)
        assert (field.get_attribute("min"), field.get_attribute("max")) == ("0", str(most))
        for typed, becomes in (("99", most), ("-1", 0), (str(most), most), ("1.7", 1)):
            field.fill(typed)
            assert field.input_value() == str(becomes), (name, typed)
        field.fill("")
        assert field.input_value() == ""
        field.fill("1")
    assert text(w, ".sk-followed").startswith("x[0, 1] is number 1 in row-major order")


def test_a_typed_shape_is_completed_and_a_refusal_goes(show):
    """A shape may be written in several ways; the chip of the shape on screen is pressed."""
    w = show(ReshapeStepper())
    field, why = labelled(w, "view it as"), w.locator(".sk-why")
    chips = w.locator(".sk-examples button")
    for typed, shown, on in [
        ("(2,12)", "2, 12", ["(2, 12)"]),
        ("2,-1", "2, 12", ["(2, 12)"]),
        ("[24]", "24", ["(24,)"]),
        ("6, 4", "6, 4", []),
    ]:
        enter(w, "view it as", typed)
        assert field.input_value() == shown and why.inner_text() == ""
        assert pressed(chips) == on, typed
    for cure in (lambda: chips.nth(1).click(), lambda: button(w, "transposed").click()):
        for typed, reason in [
            ("1", "(1,) has 1 element, the layout has 24"),
            ("-1, -1", "dims 0 and 1 are both -1: only one can be worked out"),
            ("-2", "size -2 is negative: give sizes of 0 or more, or one -1"),
        ]:
            enter(w, "view it as", typed)
            assert why.inner_text() == reason and field.get_attribute("aria-invalid") == "true"
        cure()
        assert why.inner_text() == "" and field.get_attribute("aria-invalid") is None
        assert field.input_value() != "-2"
    assert text(w, ".sk-expression") == "x = torch.arange(24.).view(4, 6).T"


def test_ones_own_shape_and_stride(show):
    """Typed in any usual way: the walk is that tensor's; a refusal stays until something else is shown."""
    w = show(ReshapeStepper())
    shape, stride, target = (labelled(w, name) for name in ("x has shape", "stride", "view it as"))

    def shown():
        return [field.input_value() for field in (shape, stride, target)]

    for typed, becomes in [
        ("torch.Size([2, 12])", ["2, 12", "12, 1", "3, 8"]),  # which still has 24 elements
        ("3x4x5", ["3, 4, 5", "20, 5, 1", "60"]),
        ("4 6", ["4, 6", "6, 1", "24"]),
    ]:
        enter(w, "x has shape", typed)
        assert shown() == becomes, typed
    enter(w, "stride", "[8 1]")
    enter(w, "view it as", "(2, -1)")
    assert shown() == ["4, 6", "8, 1", "2, 12"]
    assert pressed(w.locator(".sk-presets button")) == ["rows cut out"]
    enter(w, "stride", "(9, 1)")
    assert pressed(w.locator(".sk-presets button")) == []
    assert text(w, ".sk-expression") == "x = torch.arange(33.).as_strided((4, 6), (9, 1), 0)"
    assert texts(w, ".sk-examples button") == ["(24,)"]
    told = steps(layout_json(Layout((4, 6), (9, 1), 0, 4)), (2, 12))
    button(w, "to the end").click()
    assert text(w, ".sk-sentence") == told[-1]["says"] and count(w) == f"step {len(told) - 1} of 4"
    enter(w, "x has shape", "4, 6")  # which it has: neither the stride nor the walk begins again
    assert shown() == ["4, 6", "9, 1", "2, 12"] and count(w) == "step 4 of 4"
    why = w.locator(".sk-why")
    for label, typed, reason in [
        ("x has shape", "4 by 6", 'cannot read "4 by 6": write sizes, such as 4, 6'),
        ("x has shape", "40, 60", "shape (40, 60) has 2400 elements: the picture holds 256"),
        ("stride", "1", "shape (4, 6) has 2 dims, stride (1,) is for 1: give one step for each"),
        ("stride", "-1, 1", "dim 0 has stride -1: torch has no negative strides"),
    ]:
        enter(w, label, typed)
        assert why.inner_text() == reason and labelled(w, label).get_attribute("aria-invalid")
        assert shape.get_attribute("aria-describedby") == why.get_attribute("id")
        assert count(w) == "step 4 of 4" and not w.locator(".sk-expression").is_visible()
    enter(w, "stride", "6 1")
    assert why.inner_text() == "" and w.locator("[aria-invalid]").count() == 0
    assert shown() == ["4, 6", "6, 1", "2, 12"] and w.locator(".sk-expression").is_visible()


@pytest.mark.parametrize("width", [850, 390])
def test_words_of_any_length_stay_inside(show, width):
    """A refusal that quotes, fields and shapes of many dims: nothing leaves its widget, or its box."""
    x = Layout((2,) * 6, itemsize=4).permute(1, 0, 2, 3, 5, 4)
    w = show(stepper(x, (2, 2, 2, 1, 2, 2, 2, 1), 15))
    widen(w, width)
    for typed in ("4 by 6 " * 50, "1" * 300):
        enter(w, "stride", typed)
        painted(w.page)
        assert beyond(w) == [] == too_small(w) and text(w, ".sk-why")
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    assert w.locator(".sk-of, .sk-step, .sk-chunk span").evaluate_all(cut) == 0
    joints = [joint.bounding_box() for joint in w.locator(".sk-joint").all()]
    edges = sorted((box["x"], box["x"] + box["width"]) for box in joints)
    assert all(right <= left for (_, right), (left, _) in pairwise(edges))


def test_a_long_tape_follows_the_walk(show):
    """Each step's boxes come into view, and then the followed element, in the copy too."""
    w = show(stepper(Layout((16, 16), (1, 16), 0, 4), (256,), index=(15, 15)))

    def seen(*where):
        return [is_seen(w.locator(css).first) for css in where]

    assert seen(".sk-tapebox .is-spot", ".sk-tapebox .sk-box") == [True, False]
    button(w, "next").click()
    assert seen(".sk-tapebox .is-run") == [True]
    button(w, "to the end").click()
    assert seen(".sk-tapebox .is-missed", ".sk-copy .is-spot") == [True, True]
    w.locator(".sk-copy").evaluate("(pane) => void (pane.scrollTop = 0)")
    labelled(w, "number in row-major order").fill("254")
    assert seen(".sk-tapebox .is-spot", ".sk-copy .is-spot") == [True, True]


def test_what_a_step_is_about_moves(show):
    """A dim joins its chunk, a new dim leaves it, a copy comes out of the slots; the way back is still."""
    free, stuck = show(ReshapeStepper(), stepper(CUT, (2, 12))).all()
    stop_the_clock(free.page)

    def moves(w, name):
        return [label for label, *_ in travelling(w, name)]

    told = [moves(free, "next") for _ in range(5)]
    assert told == [[], ["dim 0"], ["new dim 1"], ["new dim 0"], []]  # a view moves nothing
    assert [moves(free, "back") for _ in range(5)] == [[]] * 5
    assert [moves(stuck, "next") for _ in range(3)] == [[], [], ["new dim 1"]]
    found = travelling(stuck, "to the end")
    assert len(found) == 24
    for label, x, y in found:
        slot = stuck.locator(".sk-tapebox .sk-box").nth(int(label.rpartition(" ")[2]) - 3)
        assert middle(slot) == pytest.approx((x, y), abs=1), label
    free.page.emulate_media(reduced_motion="reduce")
    assert [moves(free, name) for name in ("next", "next", "to the end")] == [[]] * 3


def test_it_plays_step_by_step_until_a_hand_takes_over(show):
    """A step stays while its sentence is read; a key stops it; from the end it starts over."""
    w = show(stepper(CUT, (2, 12)))
    stop_the_clock(w.page)
    play, speed = w.locator(".sk-play"), labelled(w, "speed")

    def state():
        return play.inner_text(), count(w)

    def stays():
        return 800 + 30 * len(text(w, ".sk-sentence"))

    assert texts(w, ".sk-speed option") == ["0.5×", "1×", "2×"] and speed.input_value() == "1"
    play.click()
    for at, share in enumerate((1, 1 / 2)):
        assert state() == ("❚❚ pause", f"step {at} of 4")
        w.page.clock.run_for(int(stays() * share) - 20)
        assert state() == ("❚❚ pause", f"step {at} of 4")
        w.page.clock.run_for(40)
        speed.select_option("2")  # the step on screen begins again
    assert state() == ("❚❚ pause", "step 2 of 4")
    press(speed, "ArrowUp")  # which is not a step back
    assert (speed.input_value(), count(w)) == ("1", "step 2 of 4")
    press(play, "Home")
    w.page.clock.run_for(9000)
    assert state() == ("▶ play", "step 0 of 4")
    press(play, "End", "Enter")
    assert state() == ("❚❚ pause", "step 0 of 4")
    button(w, "to the end").click()
    assert state() == ("▶ play", "step 4 of 4")
