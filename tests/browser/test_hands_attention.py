"""AttentionExplorer under a hand, on a plain page: each setting, each memory, and where an element goes."""

from random import Random

import pytest
from playwright.sync_api import expect

from stridekit.widgets import AttentionExplorer
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
from tests.test_attention_explorer import NAMES, SETTINGS, flow

pytestmark = [needs_chromium, pytest.mark.long]

MEMORIES = {"qkv": "of qkv", "rotary": "after rotary", "attention": "of out", "merge": "of y"}


def memory(w, name):
    return grid(w, f"the memory {MEMORIES[name]}")


def chips(w, name):
    return w.get_by_role("group", name=name, exact=True).get_by_role("button")


def slider(w, name):
    return w.get_by_role("slider", name=name, exact=True)


def named(element, dim):
    """The element as its tensor has it: y has its heads merged."""
    part, b, h, t, d = element
    index = (b, t, h * dim + d) if part == "y" else (b, h, t, d)
    return f"{part}[{', '.join(map(str, index))}]"


def assert_picture(w, s, followed):
    """Every word is the script's, and every box; the followed one and where it goes are marked."""
    steps = flow.steps(s)
    assert texts(w, ".sk-stephead strong") == [step["name"] for step in steps]
    arrows = [arrow for step in steps for arrow in step["arrows"]]
    assert texts(w, ".sk-arrows > span") == [flow.arrowText(arrow) for arrow in arrows]
    assert each(w.locator(".sk-arrows > span"), "dataset.word") == [
        arrow["word"] for arrow in arrows
    ]
    tensors = [(step["name"], *one) for step in steps for one in step["tensors"].items()]
    starts = [f"offset {x['storage_offset']}" * (name == "heads") for name, _, x in tensors]
    said = [
        " ".join(f"{name} {tuple(x['shape'])} stride {tuple(x['stride'])} {start}".split())
        for (_, name, x), start in zip(tensors, starts, strict=True)
    ]
    assert [" ".join(line.split()) for line in texts(w, ".sk-tensors li")] == said
    assert texts(w, ".sk-step > .sk-note") == [step["note"] for step in steps]
    assert texts(w, ".sk-step > code") == ["\n".join(step["code"]) for step in steps]
    assert text(w, ".sk-idea") == flow.summary(steps)
    assert texts(w, ".sk-reasons li") == [why for step in steps for why in step["why"]]
    assert text(w, ".sk-place") == flow.place(s, followed)
    goes = flow.reached(s, followed)
    for name, parts in flow.memories(s, followed[0]).items():
        boxes, cells = memory(w, name).locator(".sk-box"), flow.cells(parts)
        says = [f"{named(cell, s['dim'])}: element {k}" for k, cell in enumerate(cells)]
        assert each(boxes, "ariaLabel") == says
        for cell, kind in zip(cells, each(boxes, "className"), strict=True):
            here = cell == followed or (
                cell[0] in ("out", "y") and cell == [cell[0], *followed[1:]] and followed[0] == "q"
            )
            into = cell[0] in ("out", "y") and all(
                first <= i < end for i, (first, end) in zip(cell[1:], goes, strict=True)
            )
            mark = " is-here" * here or " is-lit" * into
            assert kind == f"sk-box sk-r{cell[2]}{mark}", (name, cell)


@pytest.mark.parametrize(
    "choice", [(p, a) for p in flow.PACKINGS for a in flow.ATTENTION], ids=" ".join
)
def test_the_picture_is_the_scripts(show, choice):
    """From any settings to any others of a packing, by sliders and chips alone."""
    r = Random(" ".join(choice))
    w = show(AttentionExplorer())
    button(w, "everything").click()
    button(w, choice[0]).click()
    button(w, choice[1]).click()
    for s in r.sample([s for s in SETTINGS if (s["packing"], s["attention"]) == choice], 8):
        for name in ("batch", "tokens", "heads", "dim"):
            slider(w, name).fill(str(s[name]))
        chips(w, "rotary").get_by_text(s["rotary"], exact=True).click()
        chips(w, "heads of k and v").get_by_text(str(s["kv_heads"]), exact=True).click()
        boxes = memory(w, "qkv").locator(".sk-box")
        k = r.randrange(boxes.count())
        boxes.nth(k).click()
        away(w)
        assert_picture(w, s, flow.cells(flow.steps(s)[1]["tensors"])[k])


def test_one_setting_is_asked_for_at_a_time(show):
    """And the code of each step comes with all of them."""
    w = show(AttentionExplorer())
    for idea, controls in {"attention": 2, "packing": 3, "rotary": 3, "shared heads": 2}.items():
        button(w, idea).click()
        assert w.locator(".sk-head .sk-presets button:visible").count() == controls
        assert w.get_by_role("slider").count() == w.locator(".sk-step > code:visible").count() == 0
    button(w, "sizes").click()
    assert w.get_by_role("slider").count() == 4
    button(w, "everything").click()
    assert w.locator(".sk-head .sk-presets button:visible").count() == 10
    assert w.locator(".sk-step > code:visible").count() >= 4


def test_grouped_heads_are_packed_in_one_way(show):
    """The chips offer what divides the heads; another packing, or other heads, end what cannot be."""
    w = show(AttentionExplorer(heads=4, kv_heads=2))
    button(w, "everything").click()
    groups = chips(w, "heads of k and v")
    assert groups.all_inner_texts() == ["1", "2", "4"] and pressed(groups) == ["2"]
    slider(w, "heads").fill("2")  # which 2 divides: none is shared any more
    assert pressed(groups) == ["2"]
    slider(w, "heads").fill("4")
    assert pressed(groups) == ["4"]
    groups.get_by_text("2").click()
    slider(w, "heads").fill("3")
    assert pressed(groups) == ["3"] and groups.all_inner_texts() == ["1", "3"]
    groups.get_by_text("1").click()
    for packing in ("H3D", "HD3"):
        button(w, packing).click()
        assert groups.all_inner_texts() == pressed(groups) == ["3"]


def test_pointing_follows_an_element(show):
    """What is pointed at stands in for the followed element, also for one of the output."""
    s = dict(zip(NAMES, (2, 3, 2, 4, 2, "3HD", flow.ROTARY[1], "@"), strict=True))
    w = show(AttentionExplorer(rotary=flow.ROTARY[1]))
    button(w, "everything").click()
    followed = ["q", 0, 1, 1, 2]
    cells = {name: flow.cells(parts) for name, parts in flow.memories(s, "q").items()}
    for name, k in (("qkv", 100), ("rotary", 5), ("attention", 40), ("merge", 21)):
        memory(w, name).locator(".sk-box").nth(k).hover()
        part, *index = cells[name][k]
        assert_picture(w, s, [part if name == "qkv" else "q", *index])
    away(w)
    assert_picture(w, s, followed)
    memory(w, "qkv").locator(".sk-box").nth(143).hover()
    slider(w, "batch").fill("1")  # that box is no more
    assert_picture(w, s | {"batch": 1}, followed)
    memory(w, "qkv").locator(".sk-box").nth(3).hover()
    slider(w, "dim").fill("2")  # that box is another element
    assert_picture(w, s | {"batch": 1, "dim": 2}, ["q", 0, 1, 1, 1])


def test_memories_are_walked_by_keys(show):
    """In the order of each memory; in the output one walks as q, and k comes before v in a row of qkv."""
    w = show(AttentionExplorer(rotary=flow.ROTARY[2]))

    def place():
        return text(w, ".sk-place")

    for name, steps in [
        ("qkv", [("Home", "q[0, 0, 0, 0] is element 0"), ("ArrowUp", "q[0, 0, 0, 0]"),
                 ("End", "v[1, 1, 2, 3]"), ("ArrowLeft", "v[1, 1, 2, 2]"),
                 ("ArrowUp", "v[1, 1, 1, 2] is element 118")]),
        ("attention", [("ArrowRight", "q[0, 0, 0, 0]"), ("ArrowDown", "q[0, 0, 2, 0]"),
                       ("ArrowDown", "q[0, 1, 1, 0]")]),
        ("merge", [("ArrowRight", "q[0, 1, 1, 1]"), ("ArrowUp", "q[0, 1, 0, 1]")]),
        ("rotary", [("ArrowLeft", "q[0, 1, 0, 0]"), ("ArrowLeft", "q[0, 0, 2, 3]")]),
    ]:  # fmt: skip
        walk(memory(w, name), place, steps)


def test_undo_knows_no_pointing(show):
    """One step for a setting, none for what is followed."""
    w = show(AttentionExplorer())
    memory(w, "qkv").locator(".sk-box").nth(3).click()
    assert button(w, "undo").get_attribute("aria-disabled") == "true"
    button(w, "SDPA").click()
    press(button(w, "SDPA"), "Control+z")
    assert pressed(chips(w, "attention")) == ["@"]


@pytest.mark.parametrize(("width", "rows"), [(390, 3), (800, 1), (1280, 1)])
def test_a_token_has_as_many_rows_as_it_needs(show, width, rows):
    """On a phone boxes are wide enough for a finger, and the steps stand below one another."""
    w = show(AttentionExplorer(heads=4))
    resize(w.page, width, 900)
    many = "a row is a token" if rows == 1 else f"{rows} rows are a token"
    expect(w.locator(".sk-order").first).to_have_text(f"{many}; qb is q of head 1")
    first = memory(w, "qkv").locator(".sk-row").first.locator(".sk-box")
    assert first.count() == 48 // rows
    box = first.last.bounding_box()
    assert box["x"] + box["width"] <= w.bounding_box()["x"] + w.bounding_box()["width"]
    assert rows == 1 or box["width"] >= 19
    tops = {round(step.bounding_box()["y"]) for step in w.locator(".sk-rest > div").all()}
    assert len(tops) == (3 if width == 390 else 1)


def test_a_finger_on_a_phone(show):
    """Every choice, and every box of each memory, can be tapped; what a finger follows stays."""
    r = Random("phone")
    w = show(AttentionExplorer())
    resize(w.page, 390, 844)
    button(w, "everything").tap()
    for s in r.sample([s for s in SETTINGS if s["kv_heads"] == s["heads"] > 1], 6):
        for name in ("batch", "tokens", "heads", "dim"):
            tap_to(slider(w, name), s[name])
        for name in ("packing", "attention", "rotary"):
            chips(w, name).get_by_text(s[name], exact=True).tap()
        chips(w, "heads of k and v").last.tap()
        for name, parts in flow.memories(s, "q").items():
            k = r.randrange(len(flow.cells(parts)))
            memory(w, name).locator(".sk-box").nth(k).tap()
        _, *index = flow.cells(parts)[k]  # of y
        assert_picture(w, s, ["q", *index])
        assert beyond(w) == [] and too_small(w) == []
