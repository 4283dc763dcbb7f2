"""Sort under a hand, on a plain page: by mouse, by finger, by key; what is heard and not given away."""

import pytest
import torch

from stridekit.widgets import Sort
from tests.browser.pages import (
    away,
    beyond,
    button,
    each,
    focused,
    hears,
    middle,
    painted,
    press,
    prevented,
    resize,
    stop_the_clock,
    text,
    texts,
    too_small,
)
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

CALLS = "x.t(); x + 0; x.reshape(-1); x.clone(); x.contiguous()"


def game(**given):
    return Sort(torch.arange(24.0).view(4, 6), CALLS, also="x.t(); x[1:]", **given)


def bins(w):
    """The calls in each bin."""
    return [texts(one, "li > code") for one in w.locator(".sk-bin").all()]


def card(w):
    """The call on the card, None once there is none."""
    node = w.locator(".sk-card")
    return node.inner_text() if node.is_visible() else None


def onto(w, k):
    """The way from the card to bin k: where to press, and where to let go."""
    return middle(w.locator(".sk-card")), middle(w.locator(".sk-bin").nth(k))


def drag(w, k):
    """Drag the card onto bin k by the mouse, and hold it there."""
    start, end = onto(w, k)
    w.page.mouse.move(*start)
    w.page.mouse.down()
    w.page.mouse.move(*end, steps=4)


def test_by_mouse(show):
    """A card follows the hand, its bin lights up; dropped beside, it is back where it was."""
    w = show(game())
    place = w.locator(".sk-card").bounding_box()
    drag(w, 0)
    assert w.locator(".sk-card").bounding_box() != place
    assert each(w.locator(".sk-bin"), "dataset.over") == ["", None, None]
    w.page.mouse.up()
    assert bins(w) == [["x.t()"], [], []] and card(w) == "x + 0"
    assert text(w, ".sk-verdict") == (
        "✓ x.t() makes a view each time: of x with shape (6, 4), stride (1, 6), storage_offset 0."
    )
    assert each(w.locator(".sk-bin"), "dataset.over") == [None] * 3
    drag(w, 2)
    w.page.mouse.up()
    assert text(w, ".sk-verdict").startswith("✗ x + 0 does not depend on x")
    assert bins(w) == [["x.t()"], [], []] and card(w) == "x.reshape(-1)"
    drag(w, 1)
    w.page.mouse.move(2, 2)
    w.page.mouse.up()
    assert card(w) == "x.reshape(-1)" and bins(w) == [["x.t()"], [], []]
    painted(w.page)
    assert w.locator(".sk-card").evaluate("(node) => node.style.translate") == ""
    button(w, "it depends").click()
    assert bins(w)[2] == ["x.reshape(-1)"]
    assert texts(w, ".sk-bin li span")[-1] == "copies x.t()"


def test_what_changes_under_a_hand_is_not_dropped(show):
    """The card that was held is no longer the next one."""
    w = show(game())
    press(button(w, "view"), "v")
    drag(w, 1)
    button(w, "undo").evaluate("(node) => node.click()")  # or another page, or Python
    assert card(w) == "x.t()" and each(w.locator(".sk-bin"), "dataset.over") == [None] * 3
    w.page.mouse.up()
    assert card(w) == "x.t()" and text(w, ".sk-count") == "0 of 5 sorted"


def test_another_button_of_the_mouse_drags_nothing(show):
    w = show(game())
    start, end = onto(w, 0)
    w.page.mouse.move(*start)
    w.page.mouse.down(button="right")
    w.page.mouse.move(*end)
    w.page.mouse.up(button="right")
    assert card(w) == "x.t()" and text(w, ".sk-count") == "0 of 5 sorted"


def test_by_finger(show):
    """The page does not scroll under it; a hand that is called off puts nothing."""
    w = show(game())
    resize(w.page, 390, 500)
    send = w.page.context.new_cdp_session(w.page).send

    def touch(kind, *points):
        where = [{"x": x, "y": y} for x, y in points]
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    def swipe(k, end="touchEnd"):
        (x, y), (to_x, to_y) = onto(w, k)
        touch("touchStart", (x, y))
        for step in range(1, 6):
            touch("touchMove", (x + (to_x - x) * step / 5, y + (to_y - y) * step / 5))
        touch(end)
        painted(w.page)

    swipe(0)
    assert bins(w) == [["x.t()"], [], []] and w.page.evaluate("scrollY") == 0
    swipe(1, "touchCancel")
    assert bins(w) == [["x.t()"], [], []] and card(w) == "x + 0"
    assert w.locator(".sk-card").evaluate("(node) => node.style.translate") == ""
    swipe(1)
    assert bins(w) == [["x.t()"], ["x + 0"], []]


def test_by_key(show):
    """Letters and numbers put the card, arrows walk from bin to bin; a held key puts nothing."""
    w = show(game())
    view = button(w, "view")
    assert prevented(view, "ArrowRight") and focused(w) == "copy"
    press(button(w, "copy"), "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft")
    assert focused(w) == "copy"
    assert prevented(view, "v") and bins(w) == [["x.t()"], [], []] and focused(w) == "view"
    w.page.keyboard.press("2")
    assert bins(w) == [["x.t()"], ["x + 0"], []] and focused(w) == "copy"
    assert not prevented(view, "a") and not prevented(view, "Alt+d")
    for key in ("Enter", "d"):
        button(w, "copy").focus()
        w.page.keyboard.down(key)
        w.page.keyboard.down(key)  # which is then held
        w.page.keyboard.up(key)
        if key == "Enter":
            assert text(w, ".sk-verdict").startswith("✗ x.reshape(-1) is not always a copy")
            button(w, "undo").click()
    assert card(w) == "x.clone()"
    w.page.keyboard.press("Enter")
    assert bins(w)[2] == ["x.reshape(-1)"] and focused(w) == "it depends"
    assert text(w, ".sk-verdict").startswith("✗ x.clone() does not depend on x")
    press(view, "3", "c")
    assert text(w, ".sk-verdict") == "✓ x.clone() makes a copy each time, with memory of its own."
    assert text(w, ".sk-count") == "All 5 sorted, 4 at the first try. Look again at x.clone()."
    assert card(w) is None
    for key in ("v", "Enter"):
        w.page.keyboard.press(key)
    assert bins(w) == [["x.t()"], ["x + 0", "x.clone()"], ["x.reshape(-1)", "x.contiguous()"]]
    button(w, "sort them again").click()
    assert bins(w) == [[], [], []] and card(w) == "x.t()" and focused(w) == "view"


def test_each_card_is_a_step_of_its_own(show):
    """Undo takes back the last card, however fast it came, and with it what was said."""
    w = show(game())
    press(button(w, "view"), "v", "v", "c")
    assert text(w, ".sk-count") == "1 of 5 sorted"
    button(w, "undo").click()
    assert text(w, ".sk-verdict").startswith("✗ x + 0 is not always a view")
    button(w, "undo").click()
    button(w, "undo").click()
    assert card(w) == "x.t()" and text(w, ".sk-verdict").startswith("Drag the card into a bin")
    assert not button(w, "undo").is_enabled()


def test_keys_are_offered_while_the_game_has_the_focus(show):
    """Elsewhere they go to JupyterLab, where "d d" deletes a cell."""
    w = show(game())
    assert text(w, ".sk-verdict") == "Drag the card into a bin, or press a bin."
    button(w, "copy").focus()
    assert text(w, ".sk-verdict").endswith(", or type v, c or d.")
    press(button(w, "view"), "v")
    assert text(w, ".sk-count") == "1 of 5 sorted"


def test_nothing_is_given_away_and_all_is_heard(show):
    """No word of an answer is in the page before its card was put; the next one is read aloud."""
    w = show(game())
    stop_the_clock(w.page)
    html = w.inner_html()
    assert not any(words in html for words in ("not always", "copies", "storage_offset"))
    assert not any(call in html for call in CALLS.split("; ")[1:])
    w.page.clock.run_for(400)
    hears(w, "0 of 5 sorted. Next: x.t()")
    button(w, "copy").click()
    w.page.clock.run_for(400)
    hears(w, "Wrong: x.t() is not always a copy: it makes a view of x. It goes back under the pile. "
          "0 of 5 sorted. Next: x + 0")  # fmt: skip
    describes = button(w, "view").get_attribute("aria-describedby")
    assert w.page.locator(f"[id='{describes}']").inner_text() == "x + 0"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_card_travels_to_its_bin(show, motion):
    """From where it lay; a bin that takes nothing shakes; neither where motion is not wanted."""
    w = show(game())
    w.page.emulate_media(reduced_motion=motion)
    for name, css in [("view", "li"), ("view", ".sk-bin")]:
        moved = w.evaluate(MOVES, name)
        assert moved == ([css] if motion == "no-preference" else [])


MOVES = """(root, name) => {
  for (const one of root.getAnimations({ subtree: true })) one.cancel();
  [...root.querySelectorAll('button')].find((one) => one.innerText === name).click();
  const own = root.getAnimations({ subtree: true }).filter((one) => !(one instanceof CSSTransition));
  return own.map(({ effect: { target } }) => target.localName === 'li' ? 'li' : `.${target.className}`);
}"""


def test_on_a_phone(show):
    """Three bins side by side; nothing is cut, and each target has room for a finger."""
    w = show(game(moves=[("x.contiguous()", "it depends")]))
    resize(w.page, 390, 800)
    away(w)
    assert w.page.evaluate("document.documentElement.scrollWidth") == 390
    assert beyond(w) == too_small(w) == []
    tops = {box.bounding_box()["y"] for box in w.locator(".sk-bin").all()}
    assert len(tops) == 1 and w.locator(".sk-card").bounding_box()["height"] >= 44
