"""The report of an exercise under a hand, on a plain page: hints open one after another."""

import pytest

from stridekit.exercises import core
from stridekit.exercises import strides as ex
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]
STEPS = ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "One solution"]


@pytest.fixture
def page(browser, monkeypatch):
    """A page that shows a report."""
    monkeypatch.setattr(core, "_mine", {})
    page = browser.new_page()
    yield page
    page.close()


def show(page, report):
    page.set_content(report._repr_html_())
    return page


def visible(page):
    """The names of the steps that can be seen."""
    return page.locator("summary:visible").all_inner_texts()


@pytest.mark.parametrize("fn", [lambda t, index: 0, None])
def test_hints_open_one_after_another_by_keys(page, fn):
    """The last is the solution; what is closed cannot be read aloud."""
    report = ex.address.check(fn) if fn else ex.address.check(lambda t, index: ...)
    show(page, report)
    for k in range(4):
        assert visible(page) == STEPS[: k + 1]
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 4
    assert page.locator("pre").last.inner_text() == ex.address.source
    page.locator("summary").first.click()
    assert visible(page) == STEPS[:1]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_motion_is_for_a_right_answer_and_can_be_off(page, motion):
    page.emulate_media(reduced_motion=motion)
    both = "[node, node.querySelector('div > span')]"
    moves = f"node => {both}.map((it) => getComputedStyle(it).animationName)"
    show(page, ex.row.check(ex.row.reference))
    assert visible(page) == STEPS[3:]
    found = page.locator("body > div").evaluate(moves)
    assert found == (["sk-joy", "sk-rise"] if motion == "no-preference" else ["none"] * 2)
    show(page, ex.row.check(lambda x, i: x))
    assert page.locator("body > div").evaluate(moves) == ["none"] * 2


def test_narrow_pages_cut_nothing(page):
    page.set_viewport_size({"width": 390, "height": 900})
    show(page, ex.recover_slice.check(lambda base, view: slice(3)))
    for k in range(4):
        page.locator("summary").nth(k).click()
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
