"""What a screen reader hears: the live regions of a widget say what is on screen now."""

import pytest

from stridekit.widgets import AliasExplorer
from tests.course.browser.hand import SHOW
from tests.course.browser.pages import BY_HAND, button, enter, wait_for_frame
from tests.course.needs import BY_DAY, at_night_but, needs_chromium
from tests.course.widget_kinds import KINDS, RIGHT, make

pytestmark = needs_chromium
LIVE = "(all) => all.map((node) => node.checkVisibility() ? node.textContent.trim() : '')"


def live(w):
    """Return the texts of all live regions."""
    return w.locator("[role=status], [role=alert]").evaluate_all(LIVE)


def heard(w):
    """Return the texts of all live regions once a hand rests."""
    wait_for_frame(w)
    w.page.clock.run_for(1000)
    return live(w)


@pytest.mark.parametrize("kind", at_night_but([*BY_DAY, "Sort", "Diagnose"], KINDS))
def test_live_regions_follow_undo_redo_reset_and_python(show_and_stop, kind):
    """They say of a state what they say of it in a new widget, and never what they said of another."""
    w = show_and_stop(make(kind))
    first = heard(w)
    BY_HAND[kind](w)
    turned = heard(w)
    assert turned != first
    if w.get_by_role("toolbar").count():
        for tool, before, after in (
            ("undo", turned, first),
            ("redo", first, turned),
            ("reset", turned, first),
        ):
            button(w, tool).click()
            assert not {*live(w)} & {*before} - {*after}, tool
            assert heard(w) == after, tool
    for change in RIGHT[kind][:1]:
        changed = make(kind, change)
        w.page.evaluate(SHOW, changed._state)
        told = heard(w)
        w = show_and_stop(changed)
        assert told == heard(w), change


def test_undo_is_heard_where_a_box_is_pointed_at_and_where_the_sentence_stays(show_and_stop):
    """A screen reader reads a text that was taken away and comes back."""
    w = show_and_stop(AliasExplorer((4, 6), ["y = x[1:, ::2]", "y += 1", "y += 1"]))
    said = heard(w)
    enter(w, "run a line", "z = x.t()")
    heard(w)
    w.locator(".sk-card.is-z .sk-box").first.click()
    assert "element 0 holds 0" in " ".join(heard(w))
    button(w, "undo").click()
    assert heard(w) == said
    enter(w, "run a line", "y += 1")
    assert "y += 1" not in " ".join(live(w))
    assert heard(w) == said
