"""AliasExplorer under a hand, on a plain page: keys, focus and words, with one storage and with several."""

import re
from itertools import product

import pytest
import torch

from stridekit.widgets import AliasExplorer
from tests.browser.pages import (
    active,
    away,
    beyond,
    button,
    each,
    enter,
    focused,
    ints,
    is_seen,
    middle,
    painted,
    press,
    prevented,
    stop_the_clock,
    text,
    texts,
    too_small,
    travelling,
    walk,
    widen,
)
from tests.browser.pages import grid as grid_of
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

IDLE = "Point at a box."


def readout(w):
    return text(w, ".sk-readout")


def run(w, *lines):
    enter(w, "run a line", *lines)


def grid(w, name):
    return grid_of(w, f"elements of {name} by index")


def test_a_strip_is_walked_by_keys(show):
    """The first key leads to the first box; then both ways, to both ends and not beyond."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    y = grid(w, "y")

    def reached():
        selected = y.locator("[aria-selected=true]").get_attribute("aria-label")
        assert active(y) == selected and selected.split(":")[0] in readout(w)
        return selected

    keys = [("Right", "[0, 0]"), ("Right", "[0, 1]"), ("Down", "[1, 1]"), ("Left", "[1, 0]"),
            ("Up", "[0, 0]"), ("Up", "[0, 0]"), ("Left", "[0, 0]"), ("Down", "[1, 0]")]  # fmt: skip
    ends = [("End", "[2, 2]"), ("ArrowRight", "[2, 2]"), ("ArrowDown", "[2, 2]"), ("ArrowUp", "[1, 2]"),
            ("Home", "[0, 0]")]  # fmt: skip
    steps = [(f"Arrow{key}", index) for key, index in keys] + ends
    walk(y, reached, [(key, f"y{index}: ") for key, index in steps])
    again = show(AliasExplorer((4, 6), []))
    assert prevented(grid(again, "x"), "End") and "x[0, 0]" in readout(again)


def test_pointing_ends_with_the_pointer(show):
    """The words go back to the box that the keys have reached, or to the invitation."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    for where in (grid(w, "y"), grid_of(w, "storage 1")):
        where.locator(".sk-box").first.hover()
        assert readout(w) != IDLE and w.locator(".is-spot").count() > 1
        away(w)
        assert readout(w) == IDLE and w.locator(".is-spot").count() == 0
    grid(w, "y").locator(".sk-box").nth(4).click()
    grid(w, "x").locator(".sk-box").first.hover()
    assert readout(w) == "element 0 holds 0: x[0, 0]"
    away(w)
    assert readout(w) == "element 14 holds 14: x[2, 2], y[1, 1]"


STEPS = ["y = x[:1].expand(3, -1)", "z = x[1:, ::2].clone()", "z += 100"]


def test_storages_are_told_apart(show):
    """By numbers, names, the line that opened them, and the words for a box; a single one has no number."""
    w, alone = show(AliasExplorer((4, 6), STEPS), AliasExplorer((4, 6), ["y = x[1:]"])).all()
    titles = [texts(w, f".sk-storage .sk-title {tag}") for tag in ("span", "code")]
    assert titles == [["storage 1: x, y", "storage 2: z"], ["", "opened by z = x[1:, ::2].clone()"]]
    assert texts(alone, ".sk-storage .sk-title span") == ["storage: x, y"]
    grid(w, "z").locator(".sk-box").nth(4).hover()
    assert readout(w) == "element 4 of storage 2 holds 114: z[1, 1]"
    w.locator(".sk-storage").first.locator(".sk-box").nth(3).hover()
    assert readout(w) == "element 3 of storage 1 holds 3: x[0, 3], y[0, 3], y[1, 3], y[2, 3]"
    alone.locator(".sk-storage .sk-box").nth(3).hover()
    assert readout(alone) == "element 3 holds 3: x[0, 3]"


def test_cards_and_lanes_say_the_numbers(show):
    """Shape, stride and offset; a lane's owners; the number of the first element of each row of a tape."""
    e = AliasExplorer((4, 6), [*STEPS[:1], "z = x[1:, 3:]"])
    w = show(e)
    for name, layout in e.tensors.items():
        first, second = text(w, f".sk-card.is-{name} .sk-numbers").splitlines()
        assert first == f"shape {layout.shape}, stride {layout.stride}"
        assert second == f"storage_offset {layout.storage_offset}"
    boxes = w.locator(".sk-storage .sk-box")
    lanes = [lanes_of(box) for box in (boxes.nth(0), boxes.nth(9), boxes.nth(6))]
    assert lanes == [["x", "y×3", ""], ["x", "", "z"], ["x", "", ""]]
    assert w.locator(".sk-storage .sk-heads span").count() == 0  # all in one row
    several = show(AliasExplorer((6, 12), ["z = x[1:]"]))
    assert lanes_of(several.locator(".sk-storage .sk-box").nth(20)) == ["x", "z"]  # none for y
    heads, rows = (several.locator(f".sk-storage {css}") for css in (".sk-heads span", ".sk-row"))
    assert heads.count() == rows.count() > 1
    below = set()  # the distances of the numbers from the upper edges of their rows
    for head, row in zip(heads.all(), rows.all(), strict=True):
        first = row.locator(".sk-box").first
        assert first.get_attribute("aria-label").startswith(f"element {head.inner_text()}: ")
        below.add(round(head.bounding_box()["y"] - first.bounding_box()["y"]))
    assert below == {2}


def lanes_of(box):
    """The words in the lanes of a storage's box that have room in it, from above."""
    return box.evaluate("""(node) => {
      const [style, after] = [getComputedStyle(node), getComputedStyle(node, '::after')];
      const lanes = Math.floor((node.offsetHeight - parseFloat(after.top)) / parseFloat(after.lineHeight));
      const says = (k) => style.getPropertyValue(`--says${k}`).replaceAll('"', '');
      return Array.from({ length: lanes }, (_, k) => says(k));
    }""")


@pytest.mark.parametrize("lines", [["y = x[1:, ::2]", "z = x[:, 4:]"], ["y = x[1:, ::2]", "z = x.clone()"],
                                   ["y = x.view(2, 2, 2, 3)", "z = y[0, 0]"]])  # fmt: skip
def test_three_tensors_stand_side_by_side(show, lines):
    """At the width of JupyterLab in a small window; on a phone, as many as fit."""
    w = show(AliasExplorer((4, 6), lines))

    def tops(width):
        widen(w, width)
        cards = [card.bounding_box() for card in w.locator(".sk-card").all()]
        assert max(box["x"] + box["width"] for box in cards) <= w.bounding_box()["x"] + width
        return [round(box["y"]) for box in cards]

    assert len({*tops(850)}) == 1
    assert len({*tops(390)}) == (2 if lines[1] == "z = x[:, 4:]" else 3)


def test_what_is_new_or_chosen_is_in_view(show):
    """Where numbers scroll in panes: what the last line made or wrote, and the box that keys reach."""
    w = show(AliasExplorer((8, 12), ["y = x.clone()", "z = y.t()", "x += 1", "y += 1"]))

    def seen(*where):
        return [is_seen(w.locator(css)) for css in where]

    run(w, "x = x.contiguous().clone()", "z += 1")
    newest = ".sk-log li:last-child code"
    assert seen(newest, ".sk-card.is-z", ".sk-card.is-x") == [True, True, False]
    run(w, "x[0] = 7")
    assert seen(newest, ".sk-card.is-x", ".sk-storage:has-text('opened by x')") == [True] * 3
    press(grid(w, "z"), "Home", "End")
    assert active(grid(w, "z")).startswith("z[11, 7]")
    assert seen(".sk-card.is-z .is-spot", ".sk-storage .is-spot") == [True, True]


LONG = "y = x" + ".transpose(0, 1).contiguous()" * 30


@pytest.mark.parametrize("width", [850, 390])
@pytest.mark.parametrize("line", [f"{LONG}.wrong()", f"y[{'1' * 300}] = 0", LONG])
def test_words_of_any_length_stay_inside(show, line, width):
    """A refusal that quotes the line, the news and the log of a long one: nothing leaves the widget."""
    w = show(AliasExplorer((4, 6), ["y = x[1:]"]))
    widen(w, width)
    run(w, line)
    painted(w.page)
    assert beyond(w) == [] == too_small(w)


@pytest.mark.parametrize("name", ["x", "y"])
def test_an_empty_tensor_says_so(show, name):
    w = show(AliasExplorer((4, 6), ["y = x[:0]"]))
    said = {"x": None, "y": "no elements"}[name]
    assert grid(w, name).get_attribute("data-empty") == said
    assert prevented(grid(w, "y"), "ArrowRight")  # which has the focus then
    assert readout(w) == f"{IDLE[:-1]}, or walk there with the arrow keys."


def test_relations_have_signs(show):
    """Every kind of relation; an overlap is marked as bad."""
    stories = {
        "= y and x have": ["y = x.t()"],
        "⊂ y lies inside x": ["y = x[1:]"],
        "⊃ y lies inside z": ["z = x[1:, 1:]", "y = x[1:, 2:]"],
        "∩ z and y share": ["y = x[1:]", "z = x[:, 1:]"],
        "∅ y and x share no": ["y = x.clone()"],
        "× y overlaps itself": ["y = x[0].unfold(0, 3, 1)"],
    }
    roots = show(*[AliasExplorer((4, 6), steps) for steps in stories.values()])
    for start, w in zip(stories, roots.all(), strict=True):
        verdict = w.locator(".sk-verdicts li").filter(has_text=start)
        good = verdict.get_attribute("data-good")
        assert good == ("false" if start[0] == "×" else None), start


def test_what_a_line_did_is_told_once(show):
    """A view, a copy, a write and who it changed; a refusal or a question replaces the news."""
    w = show(AliasExplorer((4, 6), []))
    news, why = w.locator(".sk-news"), w.locator(".sk-why")
    assert news.inner_text() == "Nothing has been run yet: x is alone."
    for line, said in [
        ("y = x[0].unfold(0, 3, 1)", "y = x[0].unfold(0, 3, 1) — view: nothing was copied."),
        ("z = x.clone()", "z = x.clone() — copy: on a storage of its own: clone always copies."),
        ("z += 1", "z += 1 — z changed: 24 of its 24 elements."),
    ]:
        run(w, line)
        assert news.inner_text() == said and why.inner_text() == ""
        assert w.locator(".sk-input").input_value() == ""
    kinds = each(w.locator(".sk-kind"), "dataset.kind")
    assert kinds == ["view", "copy", "write"]
    assert "clone always copies" in w.locator(".sk-log li").nth(1).inner_text()
    run(w, "   ")
    assert why.inner_text() == "" and w.locator(".sk-log li").count() == 3
    for line, other in (("w = x", why), ("y += 1", w.locator(".sk-ask"))):
        run(w, line)
        assert other.inner_text() and other.is_visible() and not news.is_visible()
        assert w.locator(".sk-input").input_value() == line
    button(w, "leave it").click()
    assert news.is_visible() and why.inner_text() == ""


def test_the_focus_is_never_lost(show):
    """When a button goes, the focus moves to the line; to take a line back leaves it where it is."""
    w = show(AliasExplorer((4, 6), ["y = x[0].unfold(0, 3, 1)"]))
    lines = w.locator(".sk-log li")
    for answer, count in (("leave it", 1), ("write all the same", 2)):
        run(w, "y += 1")
        button(w, answer).click()
        assert focused(w) == "run a line" and lines.count() == count
    for tool, count in (("undo", 1), ("redo", 2), ("reset", 1)):
        button(w, tool).click()
        assert focused(w) == tool and lines.count() == count


def test_a_wrong_turn_is_taken_back(show):
    """One line, or all that came after the lesson's own; a refusal goes with the next line."""
    lesson = ["y = x[1:, ::2]", "y += 100"]
    w = show(AliasExplorer((4, 6), lesson))
    stop_the_clock(w.page)

    def story():
        w.page.clock.run_for(500)  # the hand rests: what follows is a step of its own
        return texts(w, ".sk-log code"), ints(w, ".sk-card.is-x .sk-box")

    before = story()
    run(w, "y = x.clone()")
    assert len(story()[0]) == 3
    button(w, "undo").click()
    assert story() == before and text(w, ".sk-news").startswith("y += 100 — y changed")
    for line in ("y = x.clone()", "w = x", "x.zero_()"):
        run(w, line)
        assert (text(w, ".sk-why") != "") == (line == "w = x")
        after = story()
    assert after == ([*lesson, "y = x.clone()", "x.zero_()"], [0] * 24)
    button(w, "reset").click()
    assert story() == before
    button(w, "undo").click()
    assert story() == after


def test_each_write_flashes(show):
    """So does the second of two equal ones: the changed boxes get another class each time."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    seen = []
    for _ in range(2):
        run(w, "y += 1")
        written = w.locator(".sk-storage .is-written")
        assert written.count() == 9 and w.locator(".sk-card.is-y .is-written").count() == 9
        (flash,) = {re.search("is-flash.", name)[0] for name in each(written, "className")}
        seen.append(flash)
    assert seen[0] != seen[1]
    run(w, "z = y")
    assert w.locator(".is-written").count() == 0


def test_boxes_come_out_of_their_slots(show):
    """What a line makes, and what a write changes in others, begins on its slots, until a hand comes."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    stop_the_clock(w.page)

    for line, names in (("z = y.t()", "z"), ("y += 100", "xz"), ("z = y.clone()", "z")):
        found = travelling(w, "run", line)
        assert {label[0] for label, *_ in found} == {*names} and len(found) in (9, 18, 24), line
        boxes = w.locator(".sk-storage").nth(int("clone" in line)).locator(".sk-box")
        for label, x, y in found:
            slot = boxes.nth(int(label.rpartition(" ")[2]))
            assert middle(slot) == pytest.approx((x, y), abs=1), label
    w.locator(".sk-readout").dispatch_event("pointerdown")
    assert [*w.evaluate("(root) => root.getAnimations({ subtree: true })")] == []
    assert travelling(w, "undo") == [] == travelling(w, "run", "y = wrong")
    w.page.emulate_media(reduced_motion="reduce")
    assert travelling(w, "run", "y = x[1:]") == []
    full = show(AliasExplorer((8, 12), ["y = x.clone()"]))
    stop_the_clock(full.page)
    assert travelling(full, "run", "z = y.t()") == []  # its pane scrolls


def test_an_unsafe_write_waits_for_a_yes(show):
    """It can be left or written; a write that torch refuses or leaves undefined is never done."""
    w, x = show(AliasExplorer((4, 6), ["y = x[1:]"])), torch.arange(24).view(4, 6)
    run(w, "z = x[0].unfold(0, 3, 1)", "z.add_(100)")
    assert "up to 3 times on one element" in text(w, ".sk-ask")
    assert ints(w, ".sk-card.is-x .sk-box") == x.flatten().tolist()
    button(w, "leave it").click()
    assert not w.locator(".sk-ask").is_visible() and w.locator(".sk-log li").count() == 2
    run(w, "z.add_(100)")
    button(w, "write all the same").click()
    x[0].unfold(0, 3, 1).add_(100)
    assert ints(w, ".sk-card.is-x .sk-box") == x.flatten().tolist()
    for line, why in {
        "x[1:] += x[:-1]": 'and torch refuses: "unsupported operation: some elements of the input',
        "x[:, 1:] += x[:, :-1]": "the result depends on the order of visit",
        "w = x": "w is not one of x, y and z",
    }.items():
        run(w, line)
        assert why in text(w, ".sk-why"), line
    assert w.locator(".sk-log li").count() == 3


def test_planes_stand_side_by_side(show):
    """Four dims are a table of named planes; a box has the index at which torch reads its number."""
    w = show(AliasExplorer((2, 3, 2, 2), ["y = x.permute(1, 2, 3, 0)"]))
    x = torch.arange(24).view(2, 3, 2, 2)
    for name, t, lines in (("x", x, 4), ("y", x.permute(1, 2, 3, 0), 6)):
        card = w.locator(f".sk-card.is-{name}")
        indices = product(*map(range, t.shape))
        labels = [f"{name}{[*index]}: {t[index]}, element {t[index]}" for index in indices]
        assert sorted(each(card.locator(".sk-box"), "ariaLabel")) == sorted(labels)
        assert card.locator(".sk-row").count() == lines
        planes = product(*map(range, t.shape[:2]))
        assert texts(card, ".is-plane") == [f"{name}{[*plane]}" for plane in planes]
    first = w.locator(".sk-card.is-x .sk-row").first
    assert ints(first, ".sk-box") == x[0, :, 0].flatten().tolist()
