"""StrideExplorer under a hand, on a plain page: keys, focus, pointer and words, at many layouts."""

import json

import pytest
import torch
from playwright.sync_api import expect

from stridekit import Goal, Layout, StrideExplorer, explore
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.widget import words
from tests.browser.pages import (
    active,
    away,
    button,
    code,
    drag,
    each,
    enter,
    grid,
    ints,
    labelled,
    press,
    pressed,
    prevented,
    resize,
    stop_the_clock,
    text,
    texts,
    walk,
)
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

GRID, TAPE = "elements of x by index", "elements of the storage, in the order of memory"
WHOLE = Layout((5, 8), (8, 1), 0, 4)


def at(layout, index=None, storage_size=40):
    """An explorer at a layout on a storage."""
    start = () if storage_size == 40 else (Layout((1,), itemsize=4), storage_size)
    made = StrideExplorer(*start)
    made.layout, made.index = layout, index
    return made


def sentence(w):
    return text(w, ".sk-sentence")


def assert_code_is_true(w):
    """torch makes the numbers in the grid of the code."""
    assert ints(w, ".sk-cell") == eval(code(w)).flatten().int().tolist()


LAYOUTS = [
    Layout((4, 6), (8, 1), 2, 4),
    Layout((), (), 7, 8),
    Layout((5,), (3,), 4, 2),
    Layout((2, 1, 3), (10, 5, 2), 1, 1),
    Layout((2, 2, 3, 2), (9, 6, 2, 1), 5, 16),
    Layout((3, 4), (2, 1), 3, 4),
    Layout((1, 1), (1, 1), 39, 4),
    Layout((3, 0), (1, 1), 2, 4),
]


def test_all_words_and_numbers_are_the_scripts(show):
    """Formula, sentences, verdicts with signs, code and bytes, at every rank, offset and itemsize."""
    made = [at(layout) for layout in LAYOUTS]
    for w, e in zip(show(*made).all(), made, strict=True):
        layout, index, verdicts = e.layout, e.index, w.locator(".sk-verdicts li")
        told = words.verdicts(layout_json(layout), 40)
        signs = {True: "✓", False: "✗", None: "·"}
        assert verdicts.all_inner_texts() == [f"{signs[good]} {text}" for good, text in told]
        assert each(verdicts, "dataset.good") == [json.dumps(good) for good, _ in told]
        assert code(w) == e.code
        assert_code_is_true(w)
        assert texts(w, ".sk-byte") == [f"{k * layout.itemsize} B" for k in (0, 16, 32)]
        terms, total = w.locator(".sk-term"), text(w, ".sk-total")
        if index is None:
            empty = w.locator(".sk-gridbox").get_attribute("data-empty")
            assert empty == "no elements: a size is 0"
            assert sentence(w) == "There is no element: a size is 0."
            assert terms.count() == 0 and total == ""
            continue
        start, steps = layout.storage_offset, [*zip(index, layout.stride, strict=True)]
        assert total == f"= {layout.offset(index)}"
        assert texts(w, ".sk-term span") == [str(start), *(f"{i} · {s}" for i, s in steps)]
        said = [f"i{d} · stride[{d}] = {i} · {s}" for d, (i, s) in enumerate(steps)]
        assert each(terms, "ariaLabel") == [f"storage_offset = {start}", *said]
        colours = [name.split()[1] for name in each(terms, "className")]
        assert colours == ["sk-offset", *(f"sk-d{d}" for d in range(layout.ndim))]
        assert sentence(w).startswith(words.place(layout_json(layout), index, "x"))
        place = f"element {layout.offset(index)}, byte {layout.address(index)}"
        spot = w.locator(".sk-cell.is-spot").get_attribute("aria-label")
        assert spot == f"x{list(index) or ''}: {place}"


def test_every_dim_of_four_is_walked_by_keys(show):
    """The page keys move in the outer dims, with Shift in the outermost of four."""
    w = show(at(Layout((3, 3, 3, 4), (36, 12, 4, 1), 3), (1, 1, 1, 2), 111))
    cells = grid(w, GRID)
    steps = [
        ("ArrowLeft", "1, 1, 1, 1"),
        ("ArrowUp", "1, 1, 0, 1"),
        ("PageUp", "1, 0, 0, 1"),
        ("Shift+PageUp", "0, 0, 0, 1"),
        ("Shift+PageDown", "1, 0, 0, 1"),
        ("PageDown", "1, 1, 0, 1"),
        ("ArrowDown", "1, 1, 1, 1"),
        ("ArrowRight", "1, 1, 1, 2"),
        ("Home", "1, 1, 1, 0"),
        ("End", "1, 1, 1, 3"),
    ]
    walk(cells, lambda: active(cells), [(key, f"x[{index}]:") for key, index in steps])


def test_a_single_row_leaves_vertical_keys_to_the_page(show):
    cells = grid(show(at(Layout((5,), (3,), 4), (2,))), GRID)
    for key in ("ArrowUp", "ArrowDown", "PageUp", "PageDown"):
        assert not prevented(cells, key), key
    assert active(cells) == "x[2]: element 10, byte 10"


def test_the_tape_is_walked_by_keys(show):
    """Both ways, to both ends and not beyond; Enter and Space go through the owners."""
    w = show(at(Layout((3, 8), (4, 1), 2, 4), (0, 5)))
    tape = grid(w, TAPE)
    assert active(tape) == "element 7, byte 28: x[0, 5], x[1, 1]"
    press(tape, "Home", *["ArrowRight"] * 6)
    assert sentence(w).startswith("x[0, 4] is element 6")
    for key, index in (("Enter", "[1, 0]"), (" ", "[0, 4]"), (" ", "[1, 0]")):
        assert prevented(tape, key) and sentence(w).startswith(f"x{index} is element 6")
    steps = [("ArrowRight", 7), ("ArrowLeft", 6), ("ArrowRight", 7), ("ArrowDown", 23), ("ArrowUp", 7),
             ("ArrowUp", 7), ("End", 39), ("ArrowRight", 39), ("Home", 0), ("ArrowLeft", 0),
             ("ArrowDown", 16)]  # fmt: skip
    walk(tape, lambda: active(tape), [(key, f"element {k}, byte {4 * k}: ") for key, k in steps])


PATH, MIDDLE = "getAttribute('d')", "offsetLeft + node.offsetWidth / 2"


def test_a_term_is_lit_by_focus_and_by_pointer(show):
    """And so is its part of the tape, while the other parts fade."""
    w = show(at(Layout((4, 6), (7, 1), 2, 4), (2, 3)))
    terms = w.locator(".sk-term")
    last = terms.nth(2)
    for light, leave in ((last.focus, last.blur), (last.hover, lambda: away(w))):
        light()
        assert "is-lit" in last.get_attribute("class")
        assert w.locator(".sk-term.is-lit").count() == 1
        starts = [path.split(",")[0] for path in each(w.locator(".sk-hop.sk-d1"), PATH)]
        wanted = each(w.locator(".sk-slot"), MIDDLE)[16:19]  # from 2 + 2 * 7, by 1
        assert [float(start.removeprefix("M")) for start in starts] == pytest.approx(wanted, abs=3)
        assert w.locator(".sk-tag.sk-offset.is-faded, .sk-tag.sk-d0.is-faded").count() == 2
        leave()
        assert w.locator(".is-lit, .is-faded, .sk-hop").count() == 0
    terms.nth(0).focus()
    assert w.locator(".sk-tag.sk-offset.is-faded").count() == 0
    assert w.locator(".sk-tag.is-faded").count() == 2
    for name, lit in (("stride[0]", 1), ("stride[1]", 2), ("size[1]", 3), ("storage_offset", 3)):
        labelled(w, name).focus()  # the slider of a stride lights its term, other sliders none
        classes = each(terms, "className")
        assert ["is-lit" in names for names in classes] == [k == lit for k in range(3)], name
    labelled(w, name).blur()
    assert w.locator(".is-lit").count() == 0


UP = ("End", "PageUp", "ArrowUp", "ArrowRight")
DOWN = ("Home", "PageDown", "ArrowDown", "ArrowLeft")
ZERO = {
    "size": "there is nothing smaller than empty",
    "stride": "torch has no negative strides",
    "storage_offset": "the storage begins there",
}


def assert_stops(w, name, keys, value, reason):
    """No key leads a slider beyond a value, and each gives the reason, which the next change clears."""
    slider, why = labelled(w, name), w.locator(".sk-why")
    for key in keys:
        w.locator(".sk-cell").first.click()
        assert why.inner_text() == ""
        press(slider, key)
        assert (slider.input_value(), why.inner_text()) == (str(value), reason), key


@pytest.mark.parametrize(
    ("what", "dim"), [("stride", 0), ("stride", 1), ("size", 0), ("size", 1), ("storage_offset", 0)]
)
def test_a_slider_says_why_it_stops(show, what, dim):
    """By every key at both ends, and with the tensor's own name."""
    t = torch.arange(20).view(4, 5)[:, 1:]
    layout, w = Layout.of(t), show(explore(t, "t"))
    name = what if what == "storage_offset" else f"{what}[{dim}]"
    most = words.slidersFor(layout_json(layout), 20)
    limit, reason = words.limit(layout_json(layout), 20, most, what, dim, "t")
    assert "t[" in reason
    assert_stops(w, name, UP, limit, reason)
    slider, zero = labelled(w, name), f"{name} stops at 0: {ZERO[what]}"
    assert slider.get_attribute("aria-valuetext") == f"{limit}, the limit"
    press(slider, "Home")
    assert (slider.input_value(), text(w, ".sk-why")) == ("0", zero)
    if what != "size":  # a tensor of size 0 has no element to select
        assert_stops(w, name, DOWN, 0, zero)
    button(w, "as given").click()
    assert text(w, ".sk-why") == ""


def test_a_slider_at_its_own_end_says_so_too(show):
    w = show(explore(torch.arange(20)[5:6], "t"))
    for name in ("stride[0]", "storage_offset"):
        press(labelled(w, name), "End")
        assert_stops(w, name, UP, 19, f"{name} stops at 19: the slider ends here")


def test_presets_say_their_code_and_which_is_on_screen(show):
    """The tooltip is torch code for exactly that picture; the element stays selected where it can."""
    e = at(WHOLE, (4, 7))
    w = show(e)
    chips = w.locator(".sk-presets button")
    for preset, chip in zip(e._presets, chips.all(), strict=True):
        assert chip.get_attribute("title") == preset["expression"]
        assert Layout.of(eval(preset["expression"])) == Layout(**preset["layout"])
        chip.click()
        assert pressed(chips) == [preset["name"]]
        assert text(w, ".sk-also") == f"# the same as {preset['expression']}"
    chips.first.click()
    w.locator(".sk-cell").last.click()
    spots = {"every 2nd": "x[3, 2]", "row-major": "x[3, 2]", "diagonal": "x[3]"}
    for name, spot in spots.items():
        button(w, name).click()
        assert sentence(w).startswith(f"{spot} is element"), name
    press(labelled(w, "storage_offset"), "ArrowRight")
    assert pressed(chips) == [] and text(w, ".sk-also") == ""
    button(w, "slice").click()
    enter(w, "then", ".mT")
    assert pressed(chips) == ["transpose"]
    assert text(w, ".sk-also") == ""  # it is the code itself


def test_pointing_prefers_the_selected_owner(show):
    """A shared slot shows its selected owner; pointing selects nothing, and leaves no trace."""
    w = show(at(Layout((9, 8), (4, 1), 0, 4), (1, 1)))
    cells, slots = w.locator(".sk-cell"), w.locator(".sk-slot")
    for where in (slots, cells):
        where.nth(30).hover()
        selected = each(cells, "ariaSelected")
        assert [k for k, value in enumerate(selected) if value == "true"] == [9]
        away(w)
        assert sentence(w).startswith("x[1, 1] is element 5")
    cells.nth(13).hover()
    assert w.locator(".sk-slot.is-spot").get_attribute("id").endswith("-s9")
    assert sentence(w).startswith("x[1, 5] is element 9 of the storage: byte 36, cache line 0")
    slots.nth(5).hover()
    assert w.locator(".sk-cell.is-spot").get_attribute("id").endswith("-c1-1")
    assert slots.nth(5).get_attribute("aria-label") == "element 5, byte 20: x[0, 5], x[1, 1]"
    cells.nth(8 * 3 + 2).click()
    lit = w.locator(".sk-head[data-lit]")
    assert lit.all_inner_texts() == ["2", "3"] and each(lit, "dataset.lit") == ["1", "0"]
    assert each(slots, "dataset.owners").count("×2") == 32


def test_shared_slots_and_holes_look_like_it(show):
    """A shared slot shows how many share it, and leads to the selected one of them."""
    w = show(at(Layout((6, 2), (0, 3), 1, 8), (0, 0)))
    slots = w.locator(".sk-slot")
    assert texts(w, ".sk-slot:not(.is-hole)") == ["1", "4"]
    assert each(slots, "dataset.owners")[:3] == [None, "×6", None]
    for flat in (0, 2, 10):
        w.locator(".sk-cell").nth(flat).click()
        slots.nth(1).hover()
        assert sentence(w).startswith(f"x[{flat // 2}, 0] is element 1")


def test_grips_are_dragged_at_another_offset(show):
    """Each moves its own number to the slot under the pointer; a row ends where it ends."""
    w = show(at(Layout((3, 4), (10, 1), 3, 4), (1, 1)))
    for what, element, beyond, numbers in [
        ("size[1]", 8, 0, "(3, 6), (10, 1), 3"),
        ("stride[0]", 12, 0, "(3, 6), (9, 1), 3"),
        ("stride[1]", 5, 0, "(3, 6), (9, 2), 3"),
        ("storage_offset", 7, 0, "(3, 6), (9, 2), 7"),
        ("storage_offset", 39, 0, "(3, 6), (9, 2), 11"),
        ("storage_offset", 0, -60, "(3, 6), (9, 2), 0"),
        ("size[0]", 15, 200, "(2, 6), (9, 2), 0"),
    ]:
        drag(w, what, element, beyond)
        w.page.mouse.up()
        assert code(w).endswith(f"as_strided({numbers})"), what
        why = "storage_offset stops at 11: beyond it, x[2, 5]" if element == 39 else ""
        assert text(w, ".sk-why").startswith(why)


def test_a_drag_selects_no_text_and_ends_when_it_is_cancelled(show):
    w = show(at(Layout((3, 4), (10, 1), 3, 4), (1, 1)))
    drag(w, "stride[0]", 12)
    assert w.page.evaluate("String(getSelection())") == ""
    w.page.evaluate("document.dispatchEvent(new PointerEvent('pointercancel'))")
    w.locator(".sk-slot[id$='-s15']").hover()
    w.page.mouse.up()
    assert code(w).endswith("(3, 4), (9, 1), 3)")
    w.locator(".sk-slot[id$='-s21']").hover()  # pointing works again
    assert sentence(w).startswith("x[2, 0] is element 21")


def steps_of(w):
    """The stages of the chain: operation, "step" at the current one, and what it did to memory."""
    current = each(w.locator(".sk-steps button"), "ariaCurrent")
    return [*zip(texts(w, ".sk-steps code"), current, texts(w, ".sk-steps em"), strict=True)]


def test_a_step_is_left_by_its_stage_and_by_a_slider(show):
    """A stage goes back to its step; a slider ends the chain with as_strided of what is on screen."""
    w = show(at(WHOLE, (2, 4)))
    steps, caption = w.locator(".sk-steps"), w.locator(".sk-caption")
    enter(w, "then", ".T", "[1:]", ".contiguous()")
    views = [("x", None, ""), (".T", None, "view"), ("[1:]", None, "view")]
    assert steps_of(w) == [*views, (".contiguous()", "step", "copy")]
    assert caption.inner_text().startswith("The storage that .contiguous() made: ")
    assert_code_is_true(w)
    steps.locator("button").nth(1).click()
    assert code(w) == "torch.arange(40.).view(5, 8).T" and caption.inner_text() == ""
    assert steps_of(w) == [views[0], (".T", "step", "view")]
    assert_code_is_true(w)
    press(labelled(w, "storage_offset"), "ArrowRight")
    assert code(w).startswith("torch.arange(40.).as_str") and not steps.is_visible()
    button(w, "row-major").click()
    enter(w, "then", ".T", ".contiguous()", "[1:, 1:]")
    press(labelled(w, "stride[1]"), "ArrowLeft")
    assert code(w).endswith(".T.contiguous().as_strided((7, 4), (5, 0), 6)")
    assert_code_is_true(w)
    steps.locator("button").first.press("Enter")
    assert not steps.is_visible() and code(w).endswith(".as_strided((5, 8), (8, 1), 0)")


def test_of_many_steps_the_newest_is_in_view(show):
    """They scroll sideways in their row."""
    w = show(at(WHOLE, (2, 4)))
    enter(w, "then", ".T" * 30, "[1:]")
    row, last = w.locator(".sk-steps"), w.locator(".sk-steps li").last
    inside, stage = row.bounding_box(), last.bounding_box()
    assert (
        inside["x"] <= stage["x"]
        and stage["x"] + stage["width"] <= inside["x"] + inside["width"] + 1
    )
    assert row.evaluate("node => node.scrollWidth > 2 * node.clientWidth")


def test_what_a_step_did_is_said(show):
    """A view, no change, a copy, a refusal; a chip announces a copy; any change clears a refusal."""
    w = show(at(WHOLE, (2, 4)))
    line, told = labelled(w, "then"), w.locator(".sk-outcome")

    def says(words):
        return text(w, ".sk-outcome") == words and line.get_attribute("aria-invalid") is None

    enter(w, "then", ".T")
    assert says(".T is a view: the same storage, read by other numbers.")
    enter(w, "then", ".expand(8, 5)")
    assert says(".expand(8, 5) changes no number: the layout stays as it is.")
    chips = texts(w, ".sk-picks button")
    assert ".contiguous()copies" in chips and "[1:]" in chips
    enter(w, "then", ".reshape(-1)")
    assert says(".reshape(-1) copies: the values now lie in a new storage, with stride (1,).")
    for cure in (
        lambda: w.locator(".sk-steps button").nth(1).click(),
        lambda: press(labelled(w, "stride[0]"), "ArrowLeft"),
        lambda: button(w, "diagonal").click(),
    ):
        enter(w, "then", ".view(7)")
        assert "cannot view shape" in told.inner_text() and line.input_value() == ".view(7)"
        assert "is-refused" in told.get_attribute("class")
        assert line.get_attribute("aria-invalid") == "true"
        cure()
        assert says("")


def test_the_code_is_copied(show):
    """All of it and nothing else; the button says so for a while, or which keys to press instead."""
    w = show(at(WHOLE, (2, 4)))
    stop_the_clock(w.page)
    copy = button(w, "copy the code")
    copy.click()
    w.get_by_text("copied", exact=True).wait_for()
    assert w.page.evaluate("navigator.clipboard.readText()") == code(w)
    w.page.clock.run_for(1600)
    assert copy.inner_text() == "copy"
    w.page.evaluate("() => void (navigator.clipboard.writeText = async () => fail)")
    copy.click()
    w.get_by_text("press Ctrl+C").wait_for()
    assert w.page.evaluate("String(getSelection())") == code(w)


def test_ones_own_tensor_keeps_its_name(show):
    """In the note, over each plane, in the code and in the sentences; a corner names its whole."""
    big, deep = torch.zeros(100, 200, dtype=torch.bfloat16), torch.arange(12.0).view(2, 3, 2) / 2
    meta = torch.zeros(2, 3, device="meta")
    made = [explore(big.t(), "big"), explore(deep, "deep"), explore(meta, "m")]
    roots = show(*made)
    notes = [w.locator(".sk-note").first.inner_text() for w in roots.all()]
    places = "the numbers are places in the storage, not values"
    assert notes == [f"big[:8, :8] of shape (200, 100): {places}", "", places]
    assert notes == [e._note for e in made]
    planes = roots.nth(1)
    assert texts(planes, ".sk-title") == ["deep[0, :, :]", "deep[1, :, :]"]
    assert texts(planes, ".sk-cell") == [f"{k / 2:g}" for k in range(12)]
    assert planes.locator(".sk-slot").nth(3).get_attribute("data-number") == "3"
    assert sentence(planes) == words.place(layout_json(Layout.of(deep)), (1, 1, 1), "deep")
    assert grid(planes, "elements of deep by index").count() == 1


def test_short_and_long_values_all_fit_their_boxes(show):
    """The longest sets the size of all texts: none is cut off, and all can be read."""
    w = show(explore(torch.tensor([[1, 2], [123456789012, 3]])))
    for width in (1280, 800):
        resize(w.page, width)
        boxes = w.locator(".sk-cell, .sk-slot").evaluate_all(BOXES)
        assert len(boxes) == 8 and all(fits and px >= 9 for fits, px in boxes), width


BOXES = """(all) => all.map((box) =>
  [box.scrollWidth <= box.clientWidth, parseFloat(getComputedStyle(box).fontSize)])"""


# Boxes travel when a layout changes at once ---------------------------------------------------------------

# The middles of all boxes by their number: slots of the tape, and cells of the grid.
PLACES = """(root) => {
  const middles = (kind) => Object.fromEntries([...root.querySelectorAll(kind)].map((box) => {
    const { x, y, width, height } = box.getBoundingClientRect();
    return [box.textContent, [Math.round(x + width / 2), Math.round(y + height / 2)]];
  }));
  return [middles('.sk-slot'), middles('.sk-cell')];
}"""
# Press a chip, and stop its motion before the first frame; how many boxes move.
PRESS = """(root, name) => {
  [...root.querySelectorAll('.sk-presets button')].find((chip) => chip.innerText === name).click();
  const all = root.getAnimations({ subtree: true });
  for (const one of all) Object.assign(one, { currentTime: 0 }).pause();
  return all.length;
}"""
# Enter a step in a line; the grids that then move, read before a frame.
ENTER = """(line, step) => {
  line.value = step;
  line.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  const moving = line.closest('.stridekit').querySelectorAll('[data-moving] [role=grid]');
  return [...moving].map((grid) => grid.className);
}"""
# Move a slider by one, as a key does; how many boxes then move.
SLIDE = """(input) => {
  input.value = Number(input.value) + 1;
  input.dispatchEvent(new Event('input'));
  return input.closest('.stridekit').getAnimations({ subtree: true }).length;
}"""
MOVING = "(root) => root.getAnimations({ subtree: true }).length"


def test_numbers_travel_from_their_slots(show):
    """A transpose moves no slot of the tape: each number comes out of its own, and ends in its cell."""
    w = show(at(WHOLE, (2, 4)))

    def tape(slots):
        """The places of the slots on the tape, which itself may stand lower below a higher grid."""
        left, top = slots["0"]
        return {key: (x - left, y - top) for key, (x, y) in slots.items()}

    before, _ = w.evaluate(PLACES)
    assert w.evaluate(PRESS, "transpose") == 24
    slots, cells = w.evaluate(PLACES)
    assert tape(slots) == tape(before)
    assert len(cells) == 24 and cells == {key: slots[key] for key in cells}
    w.locator(".sk-caption").dispatch_event("pointerdown")
    assert w.evaluate(MOVING) == 0
    after, cells = w.evaluate(PLACES)
    assert after == slots and max(y for _, y in cells.values()) < slots["0"][1]


def test_a_copy_travels_from_cells_to_slots(show):
    """What a copy writes are the slots of its new storage."""
    w = show(at(WHOLE, (2, 4)))
    line = labelled(w, "then")
    assert line.evaluate(ENTER, ".T") == ["sk-grid"]
    w.page.wait_for_function(
        "document.getAnimations().length === 0"
    )  # what comes sooner is shown at once
    assert line.evaluate(ENTER, ".contiguous()") == ["sk-tape"]


def test_what_follows_a_hand_does_not_travel(show):
    """No motion by keys of a slider, by a drag, for a new width, for many cells, where it is unwelcome."""
    w = show(at(Layout((4, 6), (8, 1), 2, 4)))
    assert labelled(w, "stride[0]").evaluate(SLIDE) == 0
    drag(w, "stride[0]", 12)
    assert w.evaluate(MOVING) == 0
    w.page.mouse.up()
    resize(w.page, 700)
    assert w.evaluate(MOVING) == 0
    w.page.emulate_media(reduced_motion="reduce")
    assert w.evaluate(PRESS, "transpose") == 0
    many = show(explore(torch.arange(512).view(16, 32)))
    assert many.evaluate(PRESS, "transpose") == 0


# A canvas takes the place of thousands of cells -----------------------------------------------------------


@pytest.fixture
def canvas(show):
    """The grid and the tape of a tensor of 4,096 elements."""
    return show(explore(torch.arange(4096).view(64, 64)))


def test_thousands_of_cells(canvas):
    """A canvas is read, pointed at and walked like cells: one tab stop, one live cell."""
    w, mouse = canvas, canvas.page.mouse
    cells, tape = grid(w, GRID), grid(w, TAPE)
    assert cells.get_attribute("aria-rowcount") == "64" and w.locator(".sk-cell").count() == 0
    press(cells, "Home", "ArrowUp", "ArrowRight")
    assert active(cells) == "x[31, 1]: element 1985, byte 15880"
    live = cells.locator("[role=gridcell]")
    assert live.count() == 1 and live.get_attribute("aria-colindex") == "2"
    box = live.bounding_box()
    mouse.move(box["x"] + 5 + 13, box["y"] + 5)
    assert sentence(w).startswith("x[31, 2] is element 1986 ")
    mouse.click(box["x"] + 5 + 26, box["y"] + 5 + 13)
    away(w)
    assert sentence(w).startswith("x[32, 3] is element 2051 ")
    press(tape, "ArrowRight")
    assert active(tape) == "element 2052, byte 16416: x[32, 4]"


def test_a_canvas_keeps_what_does_not_change(canvas):
    """Only places that differ are painted, with the same result as painting all of them."""
    sliders = canvas.locator(".sk-slider input")  # two sizes, two strides, the offset
    for k, key in enumerate(["PageDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"]):
        press(sliders.nth(k), key, key)
        before, after = canvas.evaluate(PAINTED_ANEW)
        assert len(before) >= 1 and after == before, k


def test_a_canvas_wears_the_theme(canvas):
    """Each theme paints every box in its own colours, the same on the way back."""
    seen = {}
    for theme in ("light", "dark", "light"):
        canvas.page.emulate_media(color_scheme=theme)
        (before, after), (painted, worn) = canvas.evaluate(PAINTED_ANEW), canvas.evaluate(COLOUR)
        assert before == after and painted == worn, theme
        assert seen.setdefault(theme, (before, painted)) == (before, painted)
    assert len({painted for _, painted in seen.values()}) == 2


# What is painted now, and after a change of theme, which paints everything.
PAINTED_ANEW = """async (root) => {
  const painted = () => [...root.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL());
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await frames();
  const before = painted();
  document.body.dataset.jpThemeName += '';
  await frames();
  return [before, painted()];
}"""
# The colour in the middle of the active cell, and that of its row in the style sheet.
COLOUR = """(root) => {
  const [canvas, active] = [root.querySelector('canvas'), root.querySelector('.sk-active')];
  const [box, whole] = [active.getBoundingClientRect(), canvas.getBoundingClientRect()];
  const dots = canvas.width / whole.width;
  const [x, y] = [box.left + box.width / 2 - whole.left, box.top + box.height / 2 - whole.top];
  const [r, g, b] = canvas.getContext('2d').getImageData(x * dots, y * dots, 1, 1).data;
  const row = Number(active.parentNode.getAttribute('aria-rowindex')) - 1;
  const probe = root.appendChild(document.createElement('i'));
  probe.style.color = `var(--sk-row${row % 6})`;
  const worn = getComputedStyle(probe).color;
  probe.remove();
  return [`rgb(${r}, ${g}, ${b})`, worn];
}"""


def test_a_beginner_sees_little_until_more_is_asked_for(show):
    """The strides move what there is; `more` brings the rest, here and in the saved state."""
    w = show(StrideExplorer(more=False, goals=[Goal("Repeat a row", stride=(0, 1))]))
    assert w.get_by_role("slider").count() == 2 and not w.locator(".sk-code").is_visible()
    assert w.get_by_role("button", name="transpose").count() == 0
    labelled(w, "stride[0]").fill("0")
    expect(w.locator(".sk-goals li")).to_contain_text("✓")
    button(w, "more").click()
    assert w.get_by_role("slider").count() == 5 and code(w).endswith("(4, 6), (0, 1), 2)")
    button(w, "transpose").click()
    assert not button(w, "more").is_visible()
