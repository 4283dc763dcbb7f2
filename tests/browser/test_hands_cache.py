"""CacheExplorer under a hand, on a plain page: each setting, each memory, playing, and the curves."""

from itertools import pairwise
from random import Random

import pytest
from playwright.sync_api import expect

from stridekit.widgets import CacheExplorer
from tests.browser.pages import (
    away,
    beyond,
    button,
    each,
    grid,
    press,
    pressed,
    resize,
    tap_to,
    text,
    texts,
    too_small,
    walk,
)
from tests.needs import needs_chromium
from tests.test_cache_explorer import SETTINGS, growth

pytestmark = [needs_chromium, pytest.mark.long]


def memory(w, way):
    return grid(w, f"the memory of {way}")


def chips(w, name):
    return w.get_by_role("group", name=name, exact=True).get_by_role("button")


def slider(w, name):
    return w.get_by_role("slider", name=name, exact=True)


def assert_picture(w, s, spot):
    """Every word is the script's, and every box; the newest token is framed, the pointed one filled."""
    totals = growth.curves(s)
    for k, way in enumerate(growth.WAYS):
        pane = w.locator(".sk-way").nth(k)
        assert text(pane, "strong") == way
        assert texts(pane, ".sk-written li") == growth.now(s, way)
        assert text(pane, ".sk-total") == f"{totals[way][s['tokens']]:,} bytes so far"
        found = growth.boxes(s, way)
        boxes = memory(w, way).locator(".sk-box")
        assert boxes.all_inner_texts() == [growth.label(box) for box in found]
        says = ["sequence {}, head {}, token {}".format(*box) if box else "empty" for box in found]
        assert each(boxes, "ariaLabel") == says
        for box, kind in zip(found, each(boxes, "className"), strict=True):
            if box is None:
                assert kind == "sk-box sk-empty"
                continue
            marks = " is-new" * (box[2] == s["tokens"] - 1) + " is-here" * (box == spot)
            assert kind == f"sk-box sk-r{box[1]}{marks}"
        rows = memory(w, way).locator(".sk-row")
        lengths = [row.locator(".sk-box").count() for row in rows.all()]
        assert {*lengths} == ({growth.rowOf(s, way)} if found else set())
    assert text(w, ".sk-idea") == growth.whole(totals)
    assert text(w, ".sk-place") == growth.place(s, spot)


@pytest.mark.parametrize("order", growth.ORDERS)
def test_the_picture_is_the_scripts(show, order):
    """From any settings to any others, by sliders and chips alone."""
    r = Random(order)
    w = show(CacheExplorer())
    for s in r.sample([s for s in SETTINGS if s["order"] == order and s["tokens"]], 10):
        for name in ("tokens", "batch", "heads"):
            slider(w, name).fill(str(s[name]))
        for name in ("order", "attention", "block"):
            chips(w, name).get_by_text(str(s[name]), exact=True).click()
        spot = r.choice(growth.boxes(s, "cat"))
        memory(w, "cat").locator(".sk-box").nth(growth.boxes(s, "cat").index(spot)).click()
        away(w)
        assert_picture(w, s, spot)


def test_pointing_and_keys(show):
    """What is pointed at lights up in every memory; arrow keys walk each as it lies, past what is empty."""
    w = show(CacheExplorer())
    s = CacheExplorer()._state
    memory(w, "blocks").locator(".sk-box").nth(6).hover()
    assert_picture(w, s, growth.boxes(s, "blocks")[6])
    away(w)
    assert_picture(w, s, [0, 0, 0])

    def place():
        return text(w, ".sk-place")

    walk(memory(w, "cat"), place, [("ArrowRight", "Sequence 0, head 0, token 1: box 1 of cat's tape"),
                                   ("ArrowDown", "Sequence 0, head 1, token 1: box 4"),
                                   ("End", "Sequence 1, head 1, token 2: box 11")])  # fmt: skip
    press(memory(w, "in place"), "ArrowRight")  # nothing is written there
    assert place().startswith("Sequence 1, head 1, token 2")
    slider(w, "batch").fill("1")
    assert place().startswith("Sequence 0, head 1, token 2")


def test_playing_adds_tokens(show):
    """From the first to the last, where it stops; another press begins again; a hand takes over."""
    w = show(CacheExplorer(6))
    w.page.clock.install()
    button(w, "▶ play").click()
    for tokens in (7, 8):
        w.page.clock.run_for(950)
        expect(w.locator(".sk-playing output")).to_have_text(f"{tokens} of 8")
    expect(button(w, "▶ play")).to_be_visible()
    button(w, "▶ play").click()
    expect(w.locator(".sk-playing output")).to_have_text("0 of 8")
    assert texts(w, ".sk-written li") == ["nothing is written yet"] * 3
    w.page.clock.run_for(950)
    expect(w.locator(".sk-playing output")).to_have_text("1 of 8")
    button(w, "SDPA").click()
    w.page.clock.run_for(3000)
    expect(w.locator(".sk-playing output")).to_have_text("1 of 8")
    assert pressed(chips(w, "attention")) == ["SDPA"]


def test_the_curves(show):
    """Heights are as the bytes, from 0; each is named at its end, and the token on screen is marked."""
    w = show(CacheExplorer())
    for order in growth.ORDERS:
        button(w, order).click()
        for tokens in ("1", "8"):
            slider(w, "tokens").fill(tokens)
            ends = [points.split()[-1] for points in w.locator(".sk-chart polyline").evaluate_all(
                "all => all.map((line) => line.getAttribute('points'))")]  # fmt: skip
            assert all(end.startswith("656.0,") for end in ends)
            found = growth.curves(CacheExplorer()._state | {"order": order})
            most = max(found[way][-1] for way in growth.WAYS)
            for way, end in zip(growth.WAYS, ends, strict=True):
                assert abs((104 - float(end.split(",")[1])) / 92 - found[way][-1] / most) < 0.01
            names = [
                name.bounding_box() for name in w.locator(".sk-chart text:not(.sk-tick)").all()
            ]
            tops = sorted(box["y"] for box in names)
            assert min(b - a for a, b in pairwise(tops)) >= 10
            across = float(w.locator(".sk-now").get_attribute("x1"))
            assert abs(across - (56 + 600 * int(tokens) / 512)) < 0.1
            assert each(w.locator(".sk-chart .sk-name0"), "textContent") == [
                f"cat: {found['cat'][-1] / 1e6:.3g} MB"
            ]


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (800, 3), (1280, 3)])
def test_memories_stand_beside_or_below(show, width, columns):
    w = show(CacheExplorer(8, heads=3))
    resize(w.page, width, 900)
    tops = {round(way.bounding_box()["y"]) for way in w.locator(".sk-way").all()}
    assert len(tops) == 3 // columns
    for box in w.locator(".sk-row > .sk-box:last-child").all():
        edge = box.bounding_box()
        assert edge["x"] + edge["width"] <= w.bounding_box()["x"] + w.bounding_box()["width"] + 1


def test_a_finger_on_a_phone(show):
    """Every choice, and every box of each memory, can be tapped; the player's button too."""
    r = Random("phone")
    w = show(CacheExplorer())
    resize(w.page, 390, 844)
    for s in r.sample([s for s in SETTINGS if s["tokens"]], 6):
        for name in ("tokens", "batch", "heads"):
            tap_to(slider(w, name), s[name])
        for name in ("order", "attention", "block"):
            chips(w, name).get_by_text(str(s[name]), exact=True).tap()
        for way in growth.WAYS:
            found = growth.boxes(s, way)
            k = r.choice([k for k, box in enumerate(found) if box])
            memory(w, way).locator(".sk-box").nth(k).tap()
            assert_picture(w, s, found[k])
        assert beyond(w) == [] and too_small(w) == []
    button(w, "▶ play").tap()
    expect(button(w, "❚❚ pause")).to_be_visible()
