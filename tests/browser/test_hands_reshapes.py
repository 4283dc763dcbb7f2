"""ReshapeStepper under a hand, on a plain page: both ways, at offsets, shared elements, odd sizes."""

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import ReshapeStepper
from stridekit.widgets.reshape_stepper.steps import steps
from tests.browser.pages import (
    button,
    each,
    enter,
    focused,
    ints,
    press,
    pressed,
    prevented,
    stop_the_clock,
    text,
    texts,
)
from tests.needs import needs_chromium
from tests.pipe import ask

pytestmark = [needs_chromium, pytest.mark.long]

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
    """By key and by button, without a scroll; a button that can do no more says so; Escape leaves."""
    w = show(stepper(CUT, (2, 12)))
    back, next_ = button(w, "back"), button(w, "next")

    def ends():
        return [b.get_attribute("aria-disabled") for b in (back, next_, button(w, "to the end"))]

    assert ends() == ["true", "false", "false"]
    walk = [("ArrowLeft", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4),
            ("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 0)]  # fmt: skip
    for key, step in walk:
        assert prevented(next_, key), key
        assert count(w) == f"step {step} of 4", key
        assert ends() == [str(step == 0).lower(), *[str(step == 4).lower()] * 2]
    assert not prevented(next_, "a")
    for act, step in ((next_, 1), (next_, 2), (back, 1), (button(w, "to the end"), 4), (next_, 4)):
        act.click(force=True)  # Playwright waits for one that says it is disabled
        assert count(w) == f"step {step} of 4"
    press(next_, "Escape")
    assert focused(w) == "body"


@pytest.mark.parametrize(("layout", "shape"), [(CUT, (2, 12)), (CUT, (2, 2, 6)), (Layout((1, 3)), (3, 1)),
                                               (Layout((2, 0)), (0, 5)), (Layout(()), (1, 1))])  # fmt: skip
def test_every_step_says_what_python_says(show, layout, shape):
    """The end is marked as good or bad, each step before by its part."""
    told = steps(layout, shape)
    w = show(stepper(layout, shape))
    for k, step in enumerate(told):
        said = w.locator(".sk-sentence")
        assert said.inner_text() == step.says and count(w) == f"step {k} of {len(told) - 1}"
        end = "bad" if layout.why_not_view(shape) else "good"
        assert said.get_attribute("data-part") == (end if step.part == "end" else step.part)
        press(button(w, "next"), "Enter")


def test_the_tape_begins_at_the_offset(show):
    """Its boxes, what was found and needed, what a cut and a stuck dim take, and who owns a box."""
    stuck, cut = (w for w in show(stepper(CUT, (2, 12), 2), stepper(CUT, (2, 2, 6), 3)).all())
    tape = stuck.locator(".sk-tapebox")
    assert texts(tape, ".sk-box") == [*map(str, range(3, 33))]
    marks = tape.locator(".sk-labels span")
    assert marks.all_inner_texts() == ["found", "needed"]
    for mark, element in zip(marks.all(), (11, 9), strict=True):
        box = tape.locator(".sk-box").nth(element - 3).bounding_box()
        label = mark.bounding_box()
        assert abs(label["x"] + label["width"] / 2 - box["x"] - box["width"] / 2) < 3
    says = each(tape.locator(".sk-box"), "ariaLabel")
    assert (
        says[:2] == ["element 3: x[0, 0]", "element 4: x[0, 1]"]
        and says[6] == "element 9: not reached"
    )
    assert texts(cut, ".sk-box.is-taken") == [*map(str, range(3, 9))]
    assert cut.locator(".sk-head").first.inner_text() == (
        "the storage of x; filled: the chunk; ringed: new dim 2, its 6 elements evenly spaced"
    )
    press(button(stuck, "next"), "ArrowRight")
    assert stuck.locator(".sk-head").first.inner_text() == (
        "the storage of x; filled: the chunk; ringed: "
        "where new dim 1 would lead, …, 6, 7, 8, 11, …: uneven steps"
    )


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
    """Where it comes in order at first; where it lies when that is decided, in place or in the copy."""
    for shape, moved in (((2, 2, 6), False), ((2, 12), True)):
        e = stepper(CUT, shape, index=(2, 1))
        w = show(e)
        names = ("x[2, 1]", f"y[{', '.join(map(str, e.new_index))}]")
        words = w.locator(".sk-followed")
        assert words.inner_text() == ask(FOLLOWED, 20, names, 13, None)
        button(w, "to the end").click()
        assert words.inner_text() == ask(FOLLOWED, 20, names, 13, moved)
    copied = w.locator(".sk-copy .sk-box")
    assert (
        copied.nth(13).get_attribute("aria-label") == "element 13: y[1, 1], the value of element 20"
    )
    assert copied.all_inner_texts() == [str(CUT.offset((i, j))) for i in range(4) for j in range(6)]


def test_numbers_that_cannot_be_are_brought_inside(show):
    """Each field has its own ends and its own name; a digit that is still to come changes nothing."""
    w = show(stepper(CUT, (2, 12), index=(2, 1)))
    fields = {"index of x in dim 0": 3, "index of x in dim 1": 5, "index of y in dim 0": 1,
              "index of y in dim 1": 11, "number in row-major order": 23}  # fmt: skip
    for name, most in fields.items():
        field = w.get_by_label(name, exact=True)
        assert (field.get_attribute("min"), field.get_attribute("max")) == ("0", str(most))
        for typed, becomes in (("99", most), ("-1", 0), (str(most), most), ("1.7", 1)):
            field.fill(typed)
            assert field.input_value() == str(becomes), (name, typed)
        field.fill("")
        assert field.input_value() == ""
        field.fill("1")
    assert text(w, ".sk-followed").startswith("x[0, 1] is number 1 in row-major order")


def test_a_typed_shape_is_completed_and_a_refusal_goes(show):
    """Also the same shape written another way; the chip of the shape on screen is pressed."""
    w = show(ReshapeStepper())
    field, why = w.get_by_label("view it as"), w.locator(".sk-why")
    chips = w.locator(".sk-examples button")
    for typed, shown in (("(2,12)", "2, 12"), ("2,-1", "2, 12"), ("[24]", "24"), ("6, 4", "6, 4")):
        enter(w, "view it as", typed)
        assert field.input_value() == shown and why.inner_text() == ""
        tuple_ = {"2, 12": ["(2, 12)"], "24": ["(24,)"]}.get(shown, [])
        assert pressed(chips) == tuple_, typed
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
    assert torch.arange(24.0).view(4, 6).T.shape == (6, 4)
    assert text(w, ".sk-expression") == "x = torch.arange(24.).view(4, 6).T"


PRESETS = ("transposed", "every second column", "sizes of 1", "channels-last")


@pytest.mark.parametrize("name", PRESETS)
def test_shapes_end_as_torch_does(show, name):
    """Stepped to the end: the strides under the new dims, or torch's own message and the copy."""
    w = show(ReshapeStepper())
    button(w, name).click()
    x = eval(text(w, ".sk-expression").removeprefix("x = "))
    for chip in w.locator(".sk-examples button").all():
        shape = eval(chip.inner_text())
        chip.click()
        button(w, "to the end").click()
        new = w.get_by_role("list", name="dims of the new shape").locator(".sk-step")
        stuck = [w.locator(css).count() for css in (".sk-dimbox.is-stuck", ".sk-seam.is-crossed")]
        if Layout.of(x).why_not_view(shape):
            with pytest.raises(RuntimeError) as refused:
                x.view(shape)
            assert text(w, ".is-torch dd") == str(refused.value)
            assert ints(w, ".sk-copy .sk-box") == x.reshape(shape).flatten().int().tolist()
            assert stuck == [1, 1]
        else:
            assert new.all_inner_texts() == [f"stride {s}" for s in x.view(shape).stride()]
            assert not w.locator(".sk-copy").is_visible()


def test_it_plays_step_by_step_until_a_hand_takes_over(show):
    """A step in 1.2 s; a key that walks stops it, and at the end it begins again."""
    w = show(stepper(CUT, (2, 12)))
    stop_the_clock(w.page)
    play = w.locator(".sk-play")

    def state():
        return play.inner_text(), count(w)

    play.click()
    assert state() == ("❚❚ pause", "step 0 of 4")
    w.page.clock.run_for(1300)
    assert state() == ("❚❚ pause", "step 1 of 4")
    press(play, "Home")
    w.page.clock.run_for(3000)
    assert state() == ("▶ play", "step 0 of 4")
    press(play, "End", "Enter")
    assert state() == ("❚❚ pause", "step 0 of 4")
    button(w, "to the end").click()
    assert state() == ("▶ play", "step 4 of 4")
