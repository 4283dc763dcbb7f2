"""Diagnose under a hand, on a plain page: pasted, typed, too long; what is heard, and on a phone."""

import pytest

from stridekit import diagnose
from stridekit.widgets import Diagnose
from tests.browser.pages import (
    BOX,
    beyond,
    hears,
    labelled,
    press,
    resize,
    stop_the_clock,
    text,
    texts,
    too_small,
    widen,
)
from tests.messages import BUCKET, ROWS
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]


def shows(w, message):
    """True if the widget shows what Python says of a message."""
    found = diagnose(message)
    shown = text(w, ".sk-title"), list(zip(texts(w, "dt"), texts(w, "dd"), strict=True))
    return shown == (found.title, [(label, " ".join(said.split())) for label, said in found.lines])


def test_each_message_is_pasted(show):
    """In place of the one before, of which nothing stays."""
    w = show(Diagnose())
    assert not w.locator(".sk-title").is_visible() and texts(w, "dt") == ["known"]
    for message in (*(row.text() for row in ROWS), BUCKET, "KeyError: 'a'"):
        w.page.evaluate("(text) => navigator.clipboard.writeText(text)", message)
        press(labelled(w, BOX), "Control+A", "Control+V")
        assert labelled(w, BOX).input_value() == message and shows(w, message)
    press(labelled(w, BOX), "Control+A", "Delete")
    assert text(w, ".sk-title") == "" and texts(w, "dt") == ["known"]


def test_of_a_long_text_the_end_is_kept(show):
    """Also where that cuts a letter in two, and no half of one is sent."""
    w = show(Diagnose())
    labelled(w, BOX).fill(f"{'x' * 30_000}😀{BUCKET.rjust(19_999)}")
    assert labelled(w, BOX).input_value() == "\ufffd" + BUCKET.rjust(19_999) and shows(w, BUCKET)


def test_the_cursor_stays_where_a_hand_types(show):
    """Drawing again sets no text that stands there already."""
    w = show(Diagnose("step must than zero"))
    press(labelled(w, BOX), "Control+Home", *["ArrowRight"] * 10, *"be greater ")
    widen(w, 600)
    w.page.keyboard.press("!")
    assert labelled(w, BOX).input_value() == "step must be greater !than zero"
    press(labelled(w, BOX), "Backspace")
    assert shows(w, "step must be greater than zero")


def test_what_it_means_is_heard(show):
    """Once the hand rests; an empty box says nothing."""
    w = show(Diagnose("step must be greater than zero"))
    hears(w, "a slice that runs backwards: torch has no negative strides")
    stop_the_clock(w.page)
    for typed, said in [
        ("axis of length 4 in chunks of 3", "a message that stridekit does not know"),
        (
            "can't divide axis of length 4 in chunks of 3",
            "a dim that does not divide into groups: einops",
        ),
        ("KeyError: 'a'", "a message that stridekit does not know"),
    ]:
        labelled(w, BOX).fill(typed)
        w.page.clock.run_for(400)
        hears(w, said)
    labelled(w, BOX).fill("")
    w.page.clock.run_for(400)
    assert w.locator(":scope > .sk-spoken").text_content() == ""


def test_on_a_phone(show):
    """Labels stand above their sentences; nothing is cut, and the box grows with its text, to a limit."""
    w = show(Diagnose("a\n" * 90 + BUCKET))
    resize(w.page, 390, 800)
    assert w.page.evaluate("document.documentElement.scrollWidth") == 390
    assert beyond(w) == too_small(w) == []
    label, sentence = (w.locator(css).first.bounding_box() for css in ("dt", "dd"))
    assert label["y"] + label["height"] <= sentence["y"] and label["x"] == sentence["x"]
    assert w.locator("textarea").bounding_box()["height"] == 240
