"""The panel of an exercise under a hand, on a plain page: nobody answers, and hints open all the same."""

import pytest

from stridekit.exercises import panel
from stridekit.exercises import strides as ex
from tests.browser.pages import button, focused, press, stop_the_clock, text, texts
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]


def made(task, fn=None):
    """A panel of the task, or of the report on a function."""
    return panel.panel_of(task, fn, task.check(fn) if fn else task._task(), None)


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    for task in ex.address.lesson:
        monkeypatch.setattr(task, "opened", 0)
        monkeypatch.setattr(task, "solved", False)


def names(w):
    return texts(w, "button:visible")


def plain(hints):
    return [hint.replace("`", "") for hint in hints]


def test_hints_open_one_by_one_and_stay(show):
    """By keys: the button keeps the focus, and hands it on to the solution's when it goes."""
    w = show(made(ex.address))
    hints = plain(ex.address.hints)
    for k in range(3):
        assert names(w) == ["check", f"hint {k + 1} of 3", "solution"]
        assert texts(w, ".sk-hints li") == hints[:k]
        press(button(w, f"hint {k + 1} of 3"), "Enter")
    assert texts(w, ".sk-hints li") == hints and names(w) == ["check", "solution"]
    assert focused(w) == "solution"


def test_the_solution_asks_back(show):
    """Who leaves the button has not asked; what was shown can be hidden."""
    w = show(made(ex.address, lambda t, index: 0))
    assert names(w) == ["check again", "hint 1 of 3", "solution"]
    button(w, "solution").click()
    assert names(w)[-1] == "show it" and text(w, ".sk-note").startswith("Sure?")
    button(w, "hint 1 of 3").click()
    assert names(w)[-1] == "solution" and text(w, ".sk-note") == ""
    assert not w.locator(".sk-solution").is_visible() and "zip" not in w.inner_html()
    press(button(w, "solution"), "Enter", "Enter")
    assert text(w, ".sk-solution") == ex.address.source
    button(w, "hide the solution").click()
    assert not w.locator(".sk-solution").is_visible() and "zip" not in w.inner_html()


def test_a_right_answer_has_its_moment_and_points_on(show):
    """Nothing is left to hint at, and the solution is there to compare."""
    first, second = ex.address, ex.contiguous_stride
    w, other = show(made(first, first.reference), made(second)).all()
    assert names(w) == ["next: contiguous_stride", "check again", "solution"]
    assert text(w, ".sk-passed span") == "Well done. 1 of 10 in this lesson."
    button(w, "solution").click()
    assert text(w, ".sk-solution") == first.source
    button(w, "next: contiguous_stride").click()
    assert focused(w) == "check"
    assert other.evaluate("node => node.contains(document.activeElement)")


def test_what_is_next_may_not_be_there_yet(show):
    w = show(made(ex.address, ex.address.reference))
    button(w, "next: contiguous_stride").click()
    said = "The cell of contiguous_stride has not been run yet: it comes further down."
    assert text(w, ".sk-note") == said


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_motion_is_for_a_right_answer_and_can_be_off(show, motion):
    wrong, right = show(made(ex.address, lambda t, index: 0), made(ex.row, ex.row.reference)).all()
    wrong.page.emulate_media(reduced_motion=motion)
    moves = (
        ["sk-exercise-rise", "sk-exercise-breath"] if motion == "no-preference" else ["none"] * 2
    )
    assert (wrong.evaluate(MOVES), right.evaluate(MOVES)) == (["none"] * 2, moves)
    button(right, "solution").click()  # the report is the same
    assert right.evaluate(MOVES) == moves


MOVES = """(node) => [getComputedStyle(node.querySelector('.sk-card:not([hidden]) .sk-sign')).animationName,
  getComputedStyle(node.querySelector('.sk-card:not([hidden])'), '::before').animationName]"""


def test_without_a_kernel_a_check_says_so(show):
    """After a while: a kernel may be slow. A report in the meantime would end it."""
    w = show(made(ex.address))
    stop_the_clock(w.page)
    button(w, "check").click()
    assert text(w, ".sk-note") == "checking …"
    w.page.clock.run_for(2900)
    assert text(w, ".sk-note") == "checking …"
    w.page.clock.run_for(200)
    assert text(w, ".sk-note").startswith("No answer yet. A check needs the kernel")


def test_narrow_pages_cut_nothing(show):
    w = show(made(ex.recover_slice, lambda base, view: slice(3)))
    w.page.set_viewport_size({"width": 390, "height": 900})
    assert w.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert w.page.evaluate("document.body.scrollWidth <= innerWidth")
