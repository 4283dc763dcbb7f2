"""AliasExplorer under a hand, on a plain page: keys, focus and words, with one storage and with several."""

from itertools import product

import pytest
import torch

from stridekit.widgets import AliasExplorer
from tests.browser.pages import button, each, enter, focused, ints, press, prevented, text, texts
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

IDLE = "Point at a box, or walk there with the arrow keys."


def readout(w):
    return text(w, ".sk-readout")


def run(w, *lines):
    enter(w, "run a line", *lines)


def grid(w, name):
    return w.get_by_role("grid", name=f"elements of {name} by index")


def test_a_strip_is_walked_by_keys(show):
    """The first key leads to the first box; then both ways, to both ends and not beyond; Escape leaves."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    y = grid(w, "y")
    walk = [("Right", "[0, 0]"), ("Right", "[0, 1]"), ("Down", "[1, 1]"), ("Left", "[1, 0]"),
            ("Up", "[0, 0]"), ("Up", "[0, 0]"), ("Left", "[0, 0]"), ("End", "[2, 2]"), ("Right", "[2, 2]"),
            ("Down", "[2, 2]"), ("Up", "[1, 2]"), ("Home", "[0, 0]")]  # fmt: skip
    for key, index in walk:
        assert prevented(y, key if key in ("Home", "End") else f"Arrow{key}"), key
        assert f", y{index}" in readout(w), key
        selected = y.locator("[aria-selected=true]")
        assert selected.get_attribute("aria-label").startswith(f"y{index}: ")
        assert selected.get_attribute("id") == y.get_attribute("aria-activedescendant")
    assert not prevented(y, "a") and not prevented(y, "Tab")
    press(y, "Escape")
    assert focused(w) == "body"
    again = show(AliasExplorer((4, 6), []))
    assert prevented(grid(again, "x"), "End") and "x[0, 0]" in readout(again)


def test_pointing_ends_with_the_pointer(show):
    """The words go back to the box that the keys have reached, or to the invitation."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    for where in (grid(w, "y"), w.get_by_role("grid", name="storage 1")):
        where.locator(".sk-box").first.hover()
        assert readout(w) != IDLE and w.locator(".is-spot").count() > 1
        w.page.mouse.move(2, 2)
        assert readout(w) == IDLE and w.locator(".is-spot").count() == 0
    grid(w, "y").locator(".sk-box").nth(4).click()
    grid(w, "x").locator(".sk-box").first.hover()
    assert readout(w) == "element 0 holds 0: x[0, 0]"
    w.page.mouse.move(2, 2)
    assert readout(w) == "element 14 holds 14: x[2, 2], y[1, 1]"


STEPS = ["y = x[:1].expand(3, -1)", "z = x[1:, ::2].clone()", "z += 100"]


def test_storages_are_told_apart(show):
    """By their numbers, their names, what opened them, and in the words for a box; one alone has none."""
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
    """Shape, stride and offset of each; a lane how often; rows of a tape begin with their first element."""
    e = AliasExplorer((4, 6), [*STEPS[:1], "z = x[1:, 3:]"])
    w = show(e)
    for name, layout in e.tensors.items():
        numbers = text(w, f".sk-card.is-{name} .sk-numbers")
        assert numbers == (
            f"shape {layout.shape}, stride {layout.stride}\nstorage_offset {layout.storage_offset}"
        )
    slots = w.locator(".sk-storage .sk-box")
    styles = slots.evaluate_all("all => all.map((box) => box.getAttribute('style'))")
    assert '--y-says:"y×3"' in styles[0] and '--x-says:"x"' in styles[0] and "--z" not in styles[0]
    assert '--z-says:"z"' in styles[9] and "--y" not in styles[9]
    heads = w.locator(".sk-storage .sk-heads span")
    rows = w.locator(".sk-storage .sk-row")
    assert heads.count() == rows.count() > 1
    below = set()  # how far under the upper edge of its row a number stands
    for head, row in zip(heads.all(), rows.all(), strict=True):
        first = row.locator(".sk-box").first
        assert first.get_attribute("aria-label").startswith(f"element {head.inner_text()}: ")
        below.add(round(head.bounding_box()["y"] - first.bounding_box()["y"]))
    assert below == {6}


@pytest.mark.parametrize("name", ["x", "y"])
def test_an_empty_tensor_says_so(show, name):
    w = show(AliasExplorer((4, 6), ["y = x[:0]"]))
    said = {"x": None, "y": "no elements"}[name]
    assert grid(w, name).get_attribute("data-empty") == said
    assert prevented(grid(w, "y"), "ArrowRight") and readout(w) == IDLE


def test_relations_have_signs(show):
    """Every kind there is; an overlap is marked as bad."""
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
        said = w.locator(".sk-verdicts li").evaluate_all(
            "all => all.map((item) => [item.innerText, item.dataset.good ?? null])"
        )
        (good,) = [good for text, good in said if text.startswith(start)]
        assert good == ("false" if start[0] == "×" else None), start


def test_what_a_line_did_is_told_once(show):
    """A view and a copy by their kind, a write by who changed; a refusal or a question takes its place."""
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
    run(w, "   ")
    assert why.inner_text() == "" and w.locator(".sk-log li").count() == 3
    for line, other in (("w = x", why), ("y += 1", w.locator(".sk-ask"))):
        run(w, line)
        assert other.inner_text() and other.is_visible() and not news.is_visible()
        assert w.locator(".sk-input").input_value() == line
    button(w, "leave it").click()
    assert news.is_visible() and why.inner_text() == ""


def test_the_focus_is_never_lost(show):
    """Where a button goes or can do no more, the line has the focus, for the next one."""
    w = show(AliasExplorer((4, 6), ["y = x[0].unfold(0, 3, 1)"]))
    undo, reset = button(w, "undo"), button(w, "reset")
    for answer, count in (("leave it", 1), ("write all the same", 2)):
        run(w, "y += 1")
        button(w, answer).click()
        assert focused(w) == "run a line" and w.locator(".sk-log li").count() == count
    for act in (reset, undo):
        act.click()
        assert focused(w) == "run a line" and undo.is_disabled() and reset.is_disabled()
        assert w.locator(".sk-log li").count() == 0
        run(w, "y = x[1:]")
        assert undo.is_enabled() and reset.is_enabled()


def test_each_write_flashes(show):
    """Also the second of two equal ones: the boxes that changed change their class each time."""
    w = show(AliasExplorer((4, 6), ["y = x[1:, ::2]"]))
    seen = []
    for _ in range(2):
        run(w, "y += 1")
        written = w.locator(".sk-storage .is-written")
        assert written.count() == 9 and w.locator(".sk-card.is-y .is-written").count() == 9
        seen.append(
            set(
                written.evaluate_all("all => all.map((box) => box.className.match(/is-flash./)[0])")
            )
        )
    assert seen[0] != seen[1] and len(seen[0]) == len(seen[1]) == 1
    run(w, "z = y")
    assert w.locator(".is-written").count() == 0


# torch runs the same lines --------------------------------------------------------------------------------

FIRST = ["y = x[1:, ::2]", "z = x[:, 4:]"]


def assert_torch(w, *lines):
    """The numbers of each name are those that torch has after these lines."""
    names = {"x": torch.arange(24).view(4, 6)}
    for line in [*FIRST, *lines]:
        exec(line, names)
    for name in "xyz":
        assert ints(w, f".sk-card.is-{name} .sk-box") == names[name].flatten().tolist()


@pytest.mark.parametrize(
    ("lines", "kinds", "storages", "why"),
    [
        (["z = y.reshape(9)", "z.neg_()"], ["view", "write"], 1, None),
        (["z = x.t().flatten()", "z.zero_()"], ["copy", "write"], 2, "dims 0 and 1 do not merge"),
        (["y = y + 1", "z = x.t() * 2", "z += 1"], ["copy", "copy", "write"], 3,
         "a storage of its own: + out of place makes a new tensor"),
    ],
)  # fmt: skip
def test_views_and_copies(show, lines, kinds, storages, why):
    """A view joins the storage; a copy opens another, with the reason, and is alone there."""
    w = show(AliasExplorer((4, 6), FIRST))
    run(w, *lines)
    assert_torch(w, *lines)
    assert texts(w, ".sk-kind")[2:] == kinds
    assert w.locator(".sk-storage").count() == storages
    assert (why or "") in w.locator(".sk-log li").nth(2).inner_text()
    apart = "∅ z and x share no element: they have two storages"
    assert (apart in texts(w, ".sk-verdicts li")) == (storages > 1)


def test_overlaps_are_named(show):
    """Subset, overlap, interleaving and internal overlap, in words."""
    w = show(AliasExplorer((4, 6), FIRST))
    relations = w.locator(".sk-verdicts li")
    assert relations.all_inner_texts() == [
        "⊂ y lies inside x: 9 of x's 24 elements",
        "⊂ z lies inside x: 8 of x's 24 elements",
        "∩ z and y share 3 elements, of z's 8 and y's 9",
    ]
    for lines, said in [
        (["y = x[:, ::2]", "z = x[:, 1::2]"],
         "∅ z and y share no element, though their ranges interleave"),
        (["z = x[0].unfold(0, 3, 1)"], "× z overlaps itself: z[0, 1] and z[1, 0] are both element 1"),
    ]:  # fmt: skip
        run(w, *lines)
        assert relations.last.inner_text() == said


def test_an_unsafe_write_waits_for_a_yes(show):
    """It is named, left, written; what torch refuses or does not define is never written."""
    w = show(AliasExplorer((4, 6), FIRST))
    lines = ["z = x[0].unfold(0, 3, 1)", "z.add_(100)"]
    run(w, *lines)
    assert "up to 3 times on one element" in text(w, ".sk-ask")
    assert_torch(w, *lines[:1])
    button(w, "leave it").click()
    assert not w.locator(".sk-ask").is_visible() and w.locator(".sk-log li").count() == 3
    run(w, lines[1])
    button(w, "write all the same").click()
    assert_torch(w, *lines)
    for line, why in {
        "x[1:] += x[:-1]": 'and torch refuses: "unsupported operation: some elements of the input',
        "x[:, 1:] += x[:, :-1]": "the result depends on the order of visit",
        "w = x": "w is not one of x, y and z",
    }.items():
        run(w, line)
        assert why in text(w, ".sk-why"), line
    assert w.locator(".sk-log li").count() == 4


def test_planes_stand_side_by_side(show):
    """Four dims are a table of planes, each with its name; a box says the index that torch reads there."""
    w = show(AliasExplorer((2, 3, 2, 2), ["y = x.permute(1, 2, 3, 0)"]))
    x = torch.arange(24).view(2, 3, 2, 2)
    for name, t, lines in (("x", x, 4), ("y", x.permute(1, 2, 3, 0), 6)):
        card = w.locator(f".sk-card.is-{name}")
        said = each(card.locator(".sk-box"), "ariaLabel")
        assert sorted(said) == sorted(
            f"{name}[{', '.join(map(str, index))}]: {t[index]}, element {t[index]}"
            for index in product(*map(range, t.shape))
        )
        assert card.locator(".sk-row").count() == lines
        assert texts(card, ".is-plane") == [
            f"{name}[{i}, {j}]" for i in range(t.shape[0]) for j in range(t.shape[1])
        ]
    first = w.locator(".sk-card.is-x .sk-row").first
    assert ints(first, ".sk-box") == x[0, :, 0].flatten().tolist()
