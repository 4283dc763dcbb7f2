"""ReshapeStepper in a real JupyterLab: by mouse, keyboard and from the kernel, checked against torch."""

import pytest
import torch

from tests.browser.pages import hears, in_kernel, settled
from tests.needs import needs_chromium

pytestmark = needs_chromium

CELLS = [
    "import torch\nfrom stridekit.widgets import ReshapeStepper\n"
    "w = ReshapeStepper(torch.arange(32.).view(4, 8)[:, :6], shape=(2, 12))\nw",
]


@pytest.fixture(scope="module")
def page(notebook):
    """A page with one stepper, at a view that fails."""
    return notebook(*CELLS)


@pytest.fixture
def w(page):
    """The stepper, as it is at the start."""
    w = page.locator(".sk-reshape").first
    preset(w, "contiguous")
    preset(w, "rows cut out")
    settled(page)
    return w


def preset(w, name):
    button(w, name).click()


def button(w, name):
    return w.get_by_role("button", name=name, exact=True)


def view_as(w, text):
    field = w.get_by_label("view it as")
    field.fill(text)
    field.press("Enter")


def sentence(w):
    return w.locator(".sk-sentence").inner_text()


def x_of(w):
    """The tensor on screen, made by torch here."""
    return eval(w.locator(".sk-expression").inner_text().removeprefix("x = "))


def viewed(x, shape):
    """What torch does: the view and "", or None and its message."""
    try:
        return x.view(shape), ""
    except RuntimeError as error:
        return None, str(error)


def test_shapes_end_as_torch_does(w):
    """Stepped to the end: the strides under the new dims, or torch's own message and the copy."""
    for name in ("transposed", "every second column", "sizes of 1", "channels-last"):
        preset(w, name)
        x = x_of(w)
        for text in w.locator(".sk-examples button").all_inner_texts():
            button(w, text).click()
            button(w, "to the end").click()
            view, error = viewed(x, eval(text))
            if error:
                assert w.locator(".is-torch dd").inner_text() == error
                assert w.locator(".sk-dimbox.is-stuck").count() == 1
                assert w.locator(".sk-seam.is-crossed").count() == 1
                copied = w.locator(".sk-copy .sk-box").all_inner_texts()
                assert [*map(int, copied)] == x.reshape(eval(text)).flatten().int().tolist()
            else:
                new = w.get_by_role("list", name="dims of the new shape").locator(".sk-step")
                assert new.all_inner_texts() == [f"stride {s}" for s in view.stride()]
                assert not w.locator(".sk-copy").is_visible()


def test_stepping_by_mouse_and_keyboard(lab, w):
    """next, back and the arrow keys walk; what is found and needed is marked; the ends hold."""
    assert sentence(w).startswith("Can shape (4, 6), stride (8, 1) be viewed as (2, 12)?")
    button(w, "next").click()
    assert sentence(w) == "Dim 1 is the last: it starts a chunk, 6 elements in steps of 1."
    w.page.keyboard.press("ArrowRight")
    assert "stride 8 found, 6 · 1 = 6 needed" in sentence(w)
    assert w.locator(".sk-labels span").all_inner_texts() == ["found", "needed"]
    assert w.locator(".sk-box.is-run").all_inner_texts() == ["0", "8", "16", "24"]
    assert in_kernel(lab, w.page, "w.step") == "2"
    button(w, "back").focus()
    w.page.keyboard.press("End")
    assert sentence(w).startswith("There is no such view: dims 0 and 1 do not merge")
    assert w.locator(".sk-count").inner_text() == "step 4 of 4"
    assert button(w, "next").get_attribute("aria-disabled") == "true"
    w.page.keyboard.press("ArrowRight")
    assert w.locator(".sk-count").inner_text() == "step 4 of 4"
    hears(w, "There is no such view")
    w.page.keyboard.press("Home")
    assert in_kernel(lab, w.page, "w.step") == "0"


def test_it_plays_step_by_step_until_a_hand_takes_over(lab, w):
    """A step in 1.2 s; a key that walks stops it, and at the end it begins again."""
    play, count = w.locator(".sk-play"), w.locator(".sk-count")
    play.click()
    assert play.inner_text() == "❚❚ pause" and count.inner_text() == "step 0 of 4"
    w.get_by_text("step 1 of 4").wait_for()
    w.page.keyboard.press("Home")
    assert play.inner_text() == "▶ play"
    w.page.wait_for_timeout(1400)
    assert count.inner_text() == "step 0 of 4"
    w.page.keyboard.press("End")
    w.page.keyboard.press("Enter")  # the focus is on play
    assert play.inner_text() == "❚❚ pause" and count.inner_text() == "step 0 of 4"
    button(w, "to the end").click()
    assert play.inner_text() == "▶ play"
    assert in_kernel(lab, w.page, "w.step") == "4"


def test_a_typed_shape(lab, w):
    """-1 is worked out; what does not fit is refused with the reason, and the picture stays."""
    view_as(w, "2, -1, 6")
    assert w.get_by_label("view it as").input_value() == "2, 2, 6"
    assert in_kernel(lab, w.page, "w.target, w.result.stride") == "(2, 2, 6) (16, 8, 1)"
    view_as(w, "5, 5")
    assert (
        w.locator(".sk-why")
        .first.inner_text()
        .endswith("(5, 5) has 25 elements, the layout has 24")
    )
    assert in_kernel(lab, w.page, "w.target") == "(2, 2, 6)"


def test_one_element_is_followed_both_ways(lab, w):
    """An index of x, of y, a number in order or a slot: the others follow, as torch counts."""
    x = torch.arange(32).view(4, 8)[:, :6]
    y = x.reshape(2, 12)
    w.get_by_label("index of x in dim 0").fill("2")
    w.get_by_label("index of x in dim 1").fill("1")
    words = w.locator(".sk-followed")
    assert words.inner_text() == "x[2, 1] is number 13 in row-major order, and so is y[1, 1]."
    assert x[2, 1] == y[1, 1] == 17
    assert w.locator(".sk-tapebox .is-spot").inner_text() == "17"
    w.get_by_label("index of y in dim 0").fill("0")
    assert in_kernel(lab, w.page, "w.index, w.new_index") == "(0, 1) (0, 1)"
    tape = w.get_by_role("grid", name="the storage of x")
    tape.focus()
    w.page.keyboard.press("End")
    assert in_kernel(lab, w.page, "w.index, w.new_index") == "(3, 5) (1, 11)"
    button(w, "to the end").click()
    assert "Element 29 of the storage is copied to element 23 of the new one." in words.inner_text()
    w.locator(".sk-copy .sk-box").nth(7).click()
    assert in_kernel(lab, w.page, "w.index") == "(1, 1)"
    assert x[1, 1] == y.flatten()[7]


def test_python_moves_the_picture(lab, w):
    """Layout, target and step set from Python are drawn."""
    lab.run_code(w.page, "w.layout = torch.zeros(3, 2, 4).permute(1, 0, 2); w.step = -1")
    w.page.wait_for_function(
        "document.querySelector('.sk-expression').textContent.includes('(2, 3, 4)')"
    )
    new = w.get_by_role("list", name="dims of the new shape").locator(".sk-size")
    assert new.all_inner_texts() == ["2", "12"]
    assert "The view has" in sentence(w) or "no such view" in sentence(w)
    assert button(w, "as given").get_attribute("aria-pressed") == "true"
