"""StrideExplorer under a hand, on a plain page: keys, focus, pointer and words, not only at the start."""

import re

import pytest
import torch

from stridekit import Layout, StrideExplorer, explore
from stridekit.widgets.notation import element_name, layout_json
from stridekit.widgets.stride_explorer import presets, words
from tests.browser.pages import (
    button,
    each,
    enter,
    focused,
    ints,
    press,
    pressed,
    prevented,
    resize,
    stop_the_clock,
    text,
    texts,
)
from tests.needs import needs_chromium
from tests.pipe import ask

pytestmark = [needs_chromium, pytest.mark.long]

GRID, TAPE = "elements of x by index", "elements of the storage, in the order of memory"


def at(layout, index=None, storage_size=40, **options):
    """An explorer at a layout on a storage."""
    made = StrideExplorer()
    if storage_size != 40:
        made = StrideExplorer(Layout((1,), itemsize=4), storage_size)
    made.layout, made.index = layout, index
    return made


def active(node):
    """What is read aloud of the box that the keys have reached."""
    return node.evaluate(
        "node => document.getElementById(node.getAttribute('aria-activedescendant'))?.ariaLabel"
    )


def code(w):
    return w.locator(".sk-code code").first.inner_text()


def sentence(w):
    return text(w, ".sk-sentence")


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


def test_all_words_and_numbers_are_pythons(show):
    """Of every rank, at offsets and itemsizes: formula, sentences, verdicts with signs, code, bytes."""
    made = [at(layout) for layout in LAYOUTS]
    for w, e in zip(show(*made).all(), made, strict=True):
        layout, index, total = e.layout, e.index, w.locator(".sk-total")
        assert texts(w, ".sk-verdicts li") == [*map(str, words.verdicts(layout, 40))]
        good = each(w.locator(".sk-verdicts li"), "dataset.good")
        wanted = {True: "true", False: "false", None: "null"}
        assert good == [wanted[verdict.good] for verdict in words.verdicts(layout, 40)]
        assert code(w) == e.code
        assert ints(w, ".sk-cell") == eval(code(w)).flatten().int().tolist()
        assert texts(w, ".sk-byte") == [f"{k * layout.itemsize} B" for k in (0, 16, 32)]
        if index is None:
            assert sentence(w) == "There is no element: a size is 0."
            assert (
                w.locator(".sk-gridbox").get_attribute("data-empty") == "no elements: a size is 0"
            )
            assert w.locator(".sk-term").count() == 0 and total.inner_text() == ""
            continue
        steps = [*zip(index, layout.stride, strict=True)]
        assert total.inner_text() == f"= {layout.offset(index)}"
        assert texts(w, ".sk-term span") == [
            str(layout.storage_offset),
            *(f"{i} · {s}" for i, s in steps),
        ]
        said = [f"storage_offset = {layout.storage_offset}"]
        said += [f"i{d} · stride[{d}] = {i} · {s}" for d, (i, s) in enumerate(steps)]
        terms = w.locator(".sk-term")
        assert each(terms, "ariaLabel") == said
        assert [name.split()[1] for name in each(terms, "className")] == [
            "sk-offset", *(f"sk-d{d}" for d in range(layout.ndim))]  # fmt: skip
        assert sentence(w).startswith(words.place(layout, index))
        name = element_name(index, "x")
        assert w.locator(".sk-cell.is-spot").get_attribute("aria-label") == (
            f"{name}: element {layout.offset(index)}, byte {layout.address(index)}"
        )


# What each key leads to from (1, 1, 1, 2) in shape (3, 3, 3, 4); the second of a pair leads back.
KEYS = [
    ("ArrowLeft", (1, 1, 1, 1), "ArrowRight"),
    ("ArrowUp", (1, 1, 0, 2), "ArrowDown"),
    ("PageUp", (1, 0, 1, 2), "PageDown"),
    ("Shift+PageUp", (0, 1, 1, 2), "Shift+PageDown"),
    ("ArrowRight", (1, 1, 1, 3), "ArrowLeft"),
    ("ArrowDown", (1, 1, 2, 2), "ArrowUp"),
    ("PageDown", (1, 2, 1, 2), "PageUp"),
    ("Shift+PageDown", (2, 1, 1, 2), "Shift+PageUp"),
    ("End", (1, 1, 1, 3), "ArrowLeft"),
]


def test_every_dim_of_four_is_walked_by_keys(show):
    """There and back, the page does not scroll; other keys are the page's own; Escape leaves."""
    w = show(at(Layout((3, 3, 3, 4), (36, 12, 4, 1), 3), (1, 1, 1, 2), 111))
    grid = w.get_by_role("grid", name=GRID)

    def said(index):
        return f"x[{', '.join(map(str, index))}]:"

    for key, index, back in KEYS:
        assert prevented(grid, key), key
        assert active(grid).startswith(said(index)), key
        press(grid, back)
        assert active(grid).startswith(said((1, 1, 1, 2))), back
    press(grid, "Home")
    assert active(grid).startswith(said((1, 1, 1, 0)))
    assert not prevented(grid, "a") and not prevented(grid, "Tab")
    press(grid, "Escape")
    assert focused(w) == "body"


def test_there_is_no_line_below_a_row(show):
    """Of one dim, keys that lead nowhere are left to the page."""
    w = show(at(Layout((5,), (3,), 4), (2,)))
    grid = w.get_by_role("grid", name=GRID)
    for key in ("ArrowUp", "ArrowDown", "PageUp", "PageDown"):
        assert not prevented(grid, key), key
    assert active(grid) == "x[2]: element 10, byte 10"


def test_the_tape_is_walked_by_keys(show):
    """Both ways, to both ends and not beyond; Enter and Space go through the owners; Escape leaves."""
    w = show(at(Layout((3, 8), (4, 1), 2, 4), (0, 5)))
    tape = w.get_by_role("grid", name=TAPE)
    assert active(tape) == "element 7, byte 28: x[0, 5], x[1, 1]"
    walk = [("ArrowLeft", 6), ("ArrowRight", 7), ("ArrowDown", 23), ("ArrowUp", 7), ("ArrowUp", 7),
            ("End", 39), ("ArrowRight", 39), ("Home", 0), ("ArrowLeft", 0), ("ArrowDown", 16)]  # fmt: skip
    for key, element in walk:
        assert prevented(tape, key), key
        assert active(tape).startswith(f"element {element}, byte {4 * element}: "), key
    press(tape, "Home", *["ArrowRight"] * 6)
    for key, index in ((None, "[0, 4]"), ("Enter", "[1, 0]"), (" ", "[0, 4]"), (" ", "[1, 0]")):
        assert key is None or prevented(tape, key)
        assert sentence(w).startswith(f"x{index} is element 6")
    assert not prevented(tape, "b")
    press(tape, "Escape")
    assert focused(w) == "body"


def test_a_term_is_lit_by_focus_and_by_pointer(show):
    """And no longer than that; its walk begins where the terms before it have led; others fade."""
    w = show(at(Layout((4, 6), (7, 1), 2, 4), (2, 3)))
    terms = w.locator(".sk-term")
    for light, leave in (
        (terms.nth(2).focus, terms.nth(2).blur),
        (terms.nth(2).hover, lambda: away(w)),
    ):
        light()
        assert "is-lit" in terms.nth(2).get_attribute("class")
        assert w.locator(".sk-hop.sk-d1").count() == 3 and w.locator(".sk-term.is-lit").count() == 1
        first = w.locator(".sk-hop").first.get_attribute("d")
        middle = w.locator(".sk-slot").nth(16).evaluate("s => s.offsetLeft + s.offsetWidth / 2")
        assert float(re.match(r"M([\d.]+),", first)[1]) == pytest.approx(middle, abs=3)  # 2 + 2 * 7
        assert w.locator(".sk-tag.sk-offset.is-faded, .sk-tag.sk-d0.is-faded").count() == 2
        leave()
        assert w.locator(".is-lit, .is-faded, .sk-hop").count() == 0
    terms.nth(0).focus()
    assert w.locator(".sk-tag.sk-offset.is-faded").count() == 0
    assert w.locator(".sk-tag.is-faded").count() == 2


def away(w):
    w.page.mouse.move(2, 2)


UP, DOWN = (
    ("End", "PageUp", "ArrowUp", "ArrowRight"),
    ("Home", "PageDown", "ArrowDown", "ArrowLeft"),
)
ZERO = {
    "size": "there is nothing smaller than empty",
    "stride": "torch has no negative strides",
    "storage_offset": "the storage begins there",
}


@pytest.mark.parametrize(
    ("what", "dim"), [("stride", 0), ("stride", 1), ("size", 0), ("size", 1), ("storage_offset", 0)]
)
def test_a_slider_says_why_it_stops(show, what, dim):
    """By every key at both ends, with the tensor's own name; the reason goes with the next change."""
    t = torch.arange(20).view(4, 5)[:, 1:]
    w = show(explore(t, "t"))
    name = what if what == "storage_offset" else f"{what}[{dim}]"
    slider, why = w.get_by_label(name, exact=True), w.locator(".sk-why")
    slider_max = presets.sliders_for(Layout.of(t), 20)
    limit, reason = ask(
        "stride_explorer/words/limit", layout_json(Layout.of(t)), 20, slider_max, what, dim, "t"
    )
    assert "t[" in reason
    for key in UP:
        w.locator(".sk-cell").first.click()
        assert why.inner_text() == ""
        press(slider, key)
        assert (slider.input_value(), why.inner_text()) == (str(limit), reason), key
    assert slider.get_attribute("aria-valuetext") == f"{limit}, the limit"
    press(slider, "Home")
    zero = ("0", f"{name} stops at 0: {ZERO[what]}")
    assert (slider.input_value(), why.inner_text()) == zero
    for key in DOWN if what != "size" else ():  # of nothing there is no element to select
        w.locator(".sk-cell").first.click()
        assert why.inner_text() == ""
        press(slider, key)
        assert (slider.input_value(), why.inner_text()) == zero, key
    button(w, "as given").click()
    assert why.inner_text() == ""


def test_a_slider_at_its_own_end_says_so_too(show):
    """By every key that would lead beyond it: none of them moves anything."""
    w = show(explore(torch.arange(20)[5:6], "t"))
    for name in ("stride[0]", "storage_offset"):
        slider, why = w.get_by_label(name, exact=True), w.locator(".sk-why")
        press(slider, "End")
        for key in UP:
            w.locator(".sk-cell").first.click()
            assert (slider.input_value(), why.inner_text()) == ("19", "")
            press(slider, key)
            assert why.inner_text() == f"{name} stops at 19: the slider ends here", key


def test_the_focus_on_a_stride_lights_its_term(show):
    """And that on a size lights none; it goes out with the focus."""
    w = show(at(Layout((4, 6), (8, 1), 2, 4), (2, 3)))
    for name, lit in [
        ("stride[0]", 1),
        ("stride[1]", 2),
        ("size[1]", None),
        ("storage_offset", None),
    ]:
        slider = w.get_by_label(name, exact=True)
        slider.focus()
        classes = each(w.locator(".sk-term"), "className")
        assert ["is-lit" in names for names in classes] == [k == lit for k in range(3)], name
        slider.blur()
        assert w.locator(".is-lit").count() == 0


def test_presets_say_their_code_and_which_is_on_screen(show):
    """The tooltip is torch code for exactly that picture; the element stays selected where it can."""
    e = at(Layout((5, 8), (8, 1), 0, 4), (4, 7))
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
    for name, spot in (
        ("every second column", "x[4, 3]"),
        ("row-major", "x[4, 3]"),
        ("diagonal", "x[4]"),
    ):
        button(w, name).click()
        assert sentence(w).startswith(f"{spot} is element"), name
    press(w.get_by_label("storage_offset", exact=True), "ArrowRight")
    assert pressed(chips) == [] and text(w, ".sk-also") == ""
    button(w, "row-major").click()
    enter(w, "then", ".mT")
    assert pressed(chips) == ["transpose"]
    assert text(w, ".sk-also") == ""  # it is the code itself


def test_pointing_prefers_the_selected_owner(show):
    """A shared slot is its selected owner; pointing selects nothing, and leaves nothing behind."""
    w = show(at(Layout((9, 8), (4, 1), 0, 4), (1, 1)))
    cells, slots = w.locator(".sk-cell"), w.locator(".sk-slot")
    selected = "all => all.flatMap((cell, k) => (cell.ariaSelected === 'true' ? [k] : []))"
    for where in (slots, cells):
        where.nth(30).hover()
        assert cells.evaluate_all(selected) == [9]
        away(w)
        assert sentence(w).startswith("x[1, 1] is element 5")
    cells.nth(13).hover()
    assert w.locator(".sk-slot.is-spot").get_attribute("id").endswith("-s9")
    assert sentence(w).startswith("x[1, 5] is element 9 of the storage: byte 36, cache line 0")
    slots.nth(5).hover()
    assert w.locator(".sk-cell.is-spot").get_attribute("id").endswith("-c1-1")
    assert slots.nth(5).get_attribute("aria-label") == "element 5, byte 20: x[0, 5], x[1, 1]"
    w.locator(".sk-cell").nth(8 * 3 + 2).click()
    lit = w.locator(".sk-head[data-lit]")
    assert lit.evaluate_all("all => all.map((head) => [head.innerText, head.dataset.lit])") == [
        ["2", "1"],
        ["3", "0"],
    ]
    assert (
        slots.evaluate_all("all => all.filter((slot) => slot.dataset.owners === '×2').length") == 32
    )


def test_slots_that_many_share_and_holes(show):
    """Up to four owners by name and how many more; a hole looks like one and says so."""
    w = show(at(Layout((6, 2), (0, 3), 1, 8), (0, 0)))
    slots = w.locator(".sk-slot")
    assert slots.nth(1).get_attribute("aria-label") == (
        "element 1, byte 8: x[0, 0], x[1, 0], x[2, 0], x[3, 0] and 2 more")  # fmt: skip
    assert slots.nth(1).get_attribute("data-owners") == "×6"
    assert slots.nth(2).get_attribute("aria-label") == "element 2, byte 16: no index"
    slots.nth(2).hover()
    assert sentence(w) == "Element 2 is never reached: no index leads there."
    reached = each(w.locator(".sk-slot:not(.is-hole)"), "innerText")
    assert reached == ["1", "4"] and w.locator(".sk-slot.is-hole").count() == 38
    for flat in (0, 2, 10):  # the one that is selected, whichever it is
        w.locator(".sk-cell").nth(flat).click()
        slots.nth(1).hover()
        assert sentence(w).startswith(f"x[{flat // 2}, 0] is element 1")


def drag(w, what, element, beyond=0):
    """Press on a grip and move onto a slot of the tape, or so many pixels to the right of it."""
    grip = w.locator(f".sk-grip[data-what='{what}']").bounding_box()
    slot, mouse = w.locator(f".sk-slot[id$='-s{element}']").bounding_box(), w.page.mouse
    mouse.move(grip["x"] + 12, grip["y"] + 12)
    mouse.down()
    mouse.move(slot["x"] + 20 + beyond, slot["y"] + 2, steps=4)


def test_grips_are_dragged_at_another_offset(show):
    """Each leads its own number to the slot under the pointer; a row ends where it ends."""
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
    """The rows of the chain: operation, where it is the current one, and what is said of the memory."""
    return w.locator(".sk-steps tbody tr").evaluate_all(
        "all => all.map((row) => [row.innerText.split('\\t')[0], row.querySelector('button').ariaCurrent,"
        " row.lastChild.innerText])"
    )


def test_a_chain_is_undone_and_taken_again_by_keys(show):
    """Control and the Mac's key; the text's own undo stays its own; what is undone says so."""
    w = show(at(Layout((5, 8), (8, 1), 0, 4), (2, 4)))
    line, undo = w.get_by_label("then", exact=True), button(w, "undo")
    enter(w, "then", ".T", "[1:]", ".contiguous()")
    assert line.input_value() == ""
    copy = "copy: new storage of 35 elements"
    assert steps_of(w)[1:] == [
        [".T", None, "view"],
        ["[1:]", None, "view"],
        [".contiguous()", "step", copy],
    ]
    caption = w.locator(".sk-caption")
    assert caption.inner_text().startswith("The storage that .contiguous() made: ")
    for undone, again in (("Control+z", "Control+Shift+Z"), ("Meta+z", "Meta+Shift+Z")):
        assert prevented(line, undone)
        assert steps_of(w)[1:] == [
            [".T", None, "view"],
            ["[1:]", "step", "view"],
            [".contiguous()", None, "undone"],
        ]
        assert caption.inner_text() == ""
        line.press(again)
        assert steps_of(w)[3] == [".contiguous()", "step", copy]
    line.fill("abc")
    assert not prevented(line, "Control+z") and steps_of(w)[3][1] == "step"
    line.fill("")
    for left in (3, 2, 1):
        assert undo.is_enabled()
        line.press("Control+z")
        assert [row[1] for row in steps_of(w)].index("step") == left - 1
    assert undo.is_disabled()
    press(line, "Control+z", "Control+Shift+Z", "Control+Shift+Z")
    assert [row[1] for row in steps_of(w)] == [None, None, "step", None]


def test_a_step_is_left_by_its_row_and_by_a_slider(show):
    """A row goes there and what comes after is undone; as_strided of what is on screen ends a chain."""
    w = show(at(Layout((5, 8), (8, 1), 0, 4), (2, 4)))
    offset, stride = (w.get_by_label(name, exact=True) for name in ("storage_offset", "stride[1]"))
    enter(w, "then", ".T", "[1:]", ".contiguous()")
    whole = code(w)
    for name, shown in ((".T", "torch.arange(40.).view(5, 8).T"), (".contiguous()", whole)):
        w.locator(".sk-steps").get_by_role("button", name=name, exact=True).click()
        assert code(w) == shown and ints(w, ".sk-cell") == eval(shown).flatten().int().tolist()
    w.locator(".sk-steps button").first.click()
    assert w.locator(".sk-steps .is-undone").count() == 3
    w.locator(".sk-steps button").nth(1).click()
    press(offset, "ArrowRight")
    assert not w.locator(".sk-steps").is_visible() and code(w).startswith(
        "torch.arange(40.).as_str"
    )
    button(w, "row-major").click()
    enter(w, "then", ".T", ".contiguous()", "[1:, 1:]")
    press(stride, "ArrowLeft")
    assert code(w).endswith(".T.contiguous().as_strided((7, 4), (5, 0), 6)")
    assert ints(w, ".sk-cell") == eval(code(w)).flatten().int().tolist()


def test_what_a_step_did_is_said(show):
    """A view, nothing, a copy, a refusal: each in its own words; what copies is announced on its chip."""
    w = show(at(Layout((5, 8), (8, 1), 0, 4), (2, 4)))
    line, told = w.get_by_label("then", exact=True), w.locator(".sk-outcome")
    for typed, said in [
        (".T", ".T is a view: the same storage, read by other numbers."),
        (".expand(8, 5)", ".expand(8, 5) changes no number: the layout stays as it is."),
        (
            ".reshape(-1)",
            ".reshape(-1) copies: the values now lie in a new storage, with stride (1,).",
        ),
    ]:
        if typed.startswith(".reshape"):
            chips = texts(w, ".sk-picks button")
            assert ".contiguous()copies" in chips and "[1:]" in chips
        enter(w, "then", typed)
        assert told.inner_text() == said
        assert line.get_attribute("aria-invalid") is None
    for cure in (lambda: press(line, "Control+a", "Delete", "Control+z"),
                 lambda: press(w.get_by_label("stride[0]", exact=True), "ArrowLeft"),
                 lambda: button(w, "diagonal").click()):  # fmt: skip
        enter(w, "then", ".view(7)")
        assert (
            "cannot view shape" in told.inner_text()
            and line.get_attribute("aria-invalid") == "true"
        )
        assert "is-refused" in told.get_attribute("class") and line.input_value() == ".view(7)"
        cure()
        assert told.inner_text() == "" and line.get_attribute("aria-invalid") is None


def test_what_does_not_fit_is_refused_with_its_numbers(show):
    """Exactly the most is shown: 256 rows, 256 planes, 4,096 elements; one more of each is not."""
    w = show(at(Layout((1,), (1,), 0, 4), (0,), 1))
    line, told = w.get_by_label("then", exact=True), w.locator(".sk-outcome")
    for fits, refused, why in [
        (".expand(256, 1)", ".expand(257, 1)", "has 257 rows: the picture holds 256"),
        (".expand(256, 2, 1)", ".expand(257, 1, 1)", "has 257 planes: the picture holds 256"),
        (
            ".expand(1, 4096)",
            ".expand(1, 4097)",
            "has 2 dims and 4097 elements: the picture holds 4 and 4096",
        ),
        (".expand(1, 1, 2, 300)", ".expand(1, 1, 1, 1, 1)", "has 5 dims and 1 elements"),
    ]:
        enter(w, "then", refused)
        assert why in told.inner_text(), refused
        enter(w, "then", fits)
        assert told.inner_text().startswith(f"{fits} is a view"), fits
        line.press("Control+z")


def test_the_code_is_copied(show):
    """All of it and nothing else; the button says so for a while, and what to press where it cannot."""
    w = show(at(Layout((5, 8), (8, 1), 0, 4), (2, 4)))
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
    """In the note, over each plane, in the code and in the sentences; of a corner it is said of what."""
    big, deep = torch.zeros(100, 200, dtype=torch.bfloat16), torch.arange(12.0).view(2, 3, 2) / 2
    made = [
        explore(big.t(), "big"),
        explore(deep, "deep"),
        explore(torch.zeros(2, 3, device="meta"), "m"),
    ]
    whole, planes, meta = (w for w in show(*made).all())
    notes = [w.locator(".sk-note").first.inner_text() for w in (whole, planes, meta)]
    assert notes == [
        "big[:8, :8] of shape (200, 100): the numbers are places in the storage, not values",
        "",
        "the numbers are places in the storage, not values",
    ]
    assert notes == [e._note for e in made]
    assert texts(planes, ".sk-title") == ["deep[0, :, :]", "deep[1, :, :]"]
    assert texts(planes, ".sk-cell") == [
        "0",
        "0.5",
        "1",
        "1.5",
        "2",
        "2.5",
        "3",
        "3.5",
        "4",
        "4.5",
        "5",
        "5.5",
    ]
    assert planes.locator(".sk-slot").nth(3).get_attribute("data-number") == "3"
    assert text(planes, ".sk-sentence") == words.place(Layout.of(deep), (1, 1, 1), "deep")
    assert planes.get_by_role("grid", name="elements of deep by index").count() == 1


def test_short_and_long_values_all_fit_their_boxes(show):
    """The longest says how small the texts are: none is cut off, and all can be read."""
    w = show(explore(torch.tensor([[1, 2], [123456789012, 3]])))
    for width in (1280, 800):
        resize(w.page, width)
        boxes = w.locator(".sk-cell, .sk-slot").evaluate_all(BOXES)
        assert len(boxes) == 8 and all(fits and px >= 9 for fits, px in boxes), width


BOXES = """(all) => all.map((box) =>
  [box.scrollWidth <= box.clientWidth, parseFloat(getComputedStyle(box).fontSize)])"""


# A canvas takes the place of thousands of cells -----------------------------------------------------------


@pytest.fixture
def canvas(show):
    """The grid and the tape of a tensor of 4,096 elements."""
    return show(explore(torch.arange(4096).view(64, 64)))


def test_thousands_of_cells(canvas):
    """A canvas is read, pointed at and walked like cells: one tab stop, one live cell."""
    w, mouse = canvas, canvas.page.mouse
    grid, tape = (w.get_by_role("grid", name=name) for name in (GRID, TAPE))
    assert grid.get_attribute("aria-rowcount") == "64" and w.locator(".sk-cell").count() == 0
    press(grid, "Home", "ArrowUp", "ArrowRight")
    assert active(grid) == "x[31, 1]: element 1985, byte 15880"
    live = grid.locator("[role=gridcell]")
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
    """Only places that differ are painted: the canvas is as if all had been painted from nothing."""
    sliders = canvas.locator(".sk-slider input")  # two sizes, two strides, the offset
    for k, key in enumerate(["PageDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"]):
        press(sliders.nth(k), key, key)
        before, after = canvas.evaluate(PAINTED_ANEW)
        assert len(before) >= 1 and after == before, k


def test_a_canvas_wears_the_theme(canvas):
    """A theme that comes later paints every box in its own colours, and the way back leads to the same."""
    seen = {}
    for theme in ("light", "dark", "light"):
        canvas.page.emulate_media(color_scheme=theme)
        (before, after), (painted, worn) = canvas.evaluate(PAINTED_ANEW), canvas.evaluate(COLOUR)
        assert before == after and painted == worn, theme
        assert seen.setdefault(theme, (before, painted)) == (before, painted)
    assert len({painted for _, painted in seen.values()}) == 2


# Measured, painted and painted anew: a theme paints everything.
PAINTED_ANEW = """async (root) => {
  const painted = () => [...root.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL());
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await frames();
  const before = painted();
  document.body.dataset.jpThemeName += '';
  await frames();
  return [before, painted()];
}"""
# What the canvas has in the middle of the active cell, and what the style sheet says of that cell's row.
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
