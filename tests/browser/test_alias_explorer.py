"""AliasExplorer in a real JupyterLab: lines that are typed, clicked and undone, checked against torch."""

from itertools import product

import pytest
import torch

from tests.browser.pages import hears, in_kernel, rerun, settled
from tests.needs import needs_chromium

pytestmark = needs_chromium

CELLS = [
    "from stridekit.widgets import AliasExplorer\na = AliasExplorer()\na",
    "a",
    "AliasExplorer((2, 3, 2, 2), ['y = x.permute(1, 2, 3, 0)'])",
]
STEPS = ["y = x[1:, ::2]", "z = x[:, 4:]"]


@pytest.fixture(scope="module")
def page(notebook):
    """A page with one explorer, shown twice, and one of four dims."""
    return notebook(*CELLS)


@pytest.fixture
def w(page, lab):
    """The explorer as it is at the start."""
    w = page.locator(".sk-aliases").first
    settled(page)
    lab.run_code(page, f"a.steps = {STEPS}")
    page.wait_for_function(
        "document.querySelectorAll('.sk-aliases .sk-log')[0].children.length == 2"
    )
    w.locator(".sk-input").fill("")
    page.mouse.move(5, 5)
    return w


def run(w, *lines):
    """Type lines, and send each with Enter."""
    for line in lines:
        w.locator(".sk-input").fill(line)
        w.page.keyboard.press("Enter")


def values(w, name):
    """The numbers in the grid of a tensor."""
    return [int(text) for text in w.locator(f".sk-card.is-{name} .sk-box").all_inner_texts()]


def tape(w, number=1):
    return w.locator(".sk-storage").nth(number - 1).locator(".sk-box")


def by_torch(*lines):
    """The numbers of each name after the lines, as torch says."""
    names = {"x": torch.arange(24).view(4, 6)}
    for line in [*STEPS, *lines]:
        exec(line, names)
    return {name: names[name].flatten().tolist() for name in "xyz"}


def assert_shown(w, *lines):
    assert {name: values(w, name) for name in "xyz"} == by_torch(*lines)


def test_a_write_reaches_everyone_who_shares(lab, w):
    """The numbers are torch's in each grid; the written boxes are marked; the kernel knows."""
    assert_shown(w)
    run(w, "y += 100")
    assert_shown(w, "y += 100")
    assert w.locator(".sk-news").inner_text() == (
        "y += 100 — y changed: 9 of its 9 elements; x changed too: 9 of its 24; z changed too: 3 of its 8."
    )
    assert tape(w).locator("xpath=self::*[contains(@class, 'is-written')]").count() == 9
    assert in_kernel(lab, w.page, "a.values['z'][1], a.steps[-1]") == "[110, 11] y += 100"
    run(w, "z[0] = 7", "x.mul_(2)")
    assert_shown(w, "y += 100", "z[0] = 7", "x.mul_(2)")


def test_views_and_copies(w):
    """A view joins the storage; a copy opens a second one, with the reason, and is alone on it."""
    run(w, "z = y.reshape(9)", "z.neg_()")
    assert w.locator(".sk-storage").count() == 1
    assert w.locator(".sk-kind").all_inner_texts()[-2:] == ["view", "write"]
    run(w, "z = x.t().flatten()", "z.zero_()")
    assert_shown(w, "z = y.reshape(9)", "z.neg_()", "z = x.t().flatten()", "z.zero_()")
    assert w.locator(".sk-storage").count() == 2
    assert w.locator(".sk-kind").all_inner_texts()[-2:] == ["copy", "write"]
    assert "dims 0 and 1 do not merge" in w.locator(".sk-log li").nth(-2).inner_text()
    relations = w.locator(".sk-verdicts li").all_inner_texts()
    assert "∅ z and x share no element: they have two storages" in relations


def test_arithmetic_out_of_place_opens_a_storage(w):
    """`y = y + 1` leaves x as it was, `y += 1` would not have."""
    run(w, "y = y + 1", "z = 2 * x - 1", "z = x.t() * 2", "z += 1")
    assert w.locator(".sk-why").inner_text() == ""
    assert_shown(w, "y = y + 1", "z = x.t() * 2", "z += 1")
    assert w.locator(".sk-storage").count() == 3
    assert (
        "a storage of its own: + out of place makes a new tensor"
        in w.locator(".sk-log li").nth(2).inner_text()
    )


def test_overlaps_are_named(w):
    """Subset, overlap, interleaving and internal overlap, in words."""
    relations = w.locator(".sk-verdicts li")
    assert relations.all_inner_texts() == [
        "⊂ y lies inside x: 9 of x's 24 elements",
        "⊂ z lies inside x: 8 of x's 24 elements",
        "∩ z and y share 3 elements, of z's 8 and y's 9",
    ]
    run(w, "y = x[:, ::2]", "z = x[:, 1::2]")
    assert (
        relations.last.inner_text() == "∅ z and y share no element, though their ranges interleave"
    )
    run(w, "z = x[0].unfold(0, 3, 1)")
    assert (
        relations.last.inner_text() == "× z overlaps itself: z[0, 1] and z[1, 0] are both element 1"
    )


def test_an_unsafe_write_waits_for_a_yes(w):
    """It is named, left, written; what torch refuses or does not define is never written."""
    run(w, "z = x[0].unfold(0, 3, 1)", "z.add_(100)")
    assert "up to 3 times on one element" in w.locator(".sk-ask").inner_text()
    assert values(w, "x")[:3] == [0, 1, 2]
    w.get_by_role("button", name="leave it").click()
    assert not w.locator(".sk-ask").is_visible() and w.locator(".sk-log li").count() == 3
    run(w, "z.add_(100)")
    w.get_by_role("button", name="write all the same").click()
    assert_shown(w, "z = x[0].unfold(0, 3, 1)", "z.add_(100)")
    for line, why in {
        "x[1:] += x[:-1]": 'and torch refuses: "unsupported operation: some elements of the input',
        "x[:, 1:] += x[:, :-1]": "the result depends on the order of visit",
        "w = x": "w is not one of x, y and z",
    }.items():
        run(w, line)
        assert why in w.locator(".sk-why").inner_text(), line
    assert w.locator(".sk-log li").count() == 4


def test_hover_names_every_owner(w):
    """A slot lights its cells, a cell its slot, whoever it belongs to."""
    tape(w).nth(10).hover()
    assert w.locator(".sk-readout").inner_text() == "element 10 holds 10: x[1, 4], y[0, 2], z[1, 0]"
    assert w.locator(".sk-card .is-spot").all_inner_texts() == ["10"] * 3
    w.locator(".sk-card.is-y .sk-box").nth(4).hover()
    assert w.locator(".sk-readout").inner_text() == "element 14 holds 14: x[2, 2], y[1, 1]"
    assert tape(w).nth(14).get_attribute("class").split()[-1] == "is-spot"


def test_planes_stand_side_by_side(page):
    """Four dims are a table of planes, each with its name; a box says the index that torch reads there."""
    w, x = page.locator(".sk-aliases").last, torch.arange(24).view(2, 3, 2, 2)
    for name, t, lines in (("x", x, 4), ("y", x.permute(1, 2, 3, 0), 6)):
        card = w.locator(f".sk-card.is-{name}")
        said = card.locator(".sk-box").evaluate_all("all => all.map((box) => box.ariaLabel)")
        assert sorted(said) == sorted(
            f"{name}[{', '.join(map(str, index))}]: {t[index]}, element {t[index]}"
            for index in product(*map(range, t.shape))
        )
        assert card.locator(".sk-row").count() == lines
        assert card.locator(".is-plane").all_inner_texts() == [
            f"{name}[{i}, {j}]" for i in range(t.shape[0]) for j in range(t.shape[1])
        ]
    first = w.locator(".sk-card.is-x .sk-row").first.locator(".sk-box")
    assert [*map(int, first.all_inner_texts())] == x[0, :, 0].flatten().tolist()


def test_keyboard(w):
    """One tab stop a grid, arrows inside it, the line sent with Enter, and no key taken by JupyterLab."""
    cells = w.page.locator(".jp-Cell").count()
    grid = w.get_by_role("grid", name="elements of y by index")
    grid.focus()
    for key in ("Home", "ArrowRight", "ArrowDown", "a", "d", "d"):
        w.page.keyboard.press(key)
    active = w.locator(f"#{grid.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-label") == "y[1, 1]: 14, element 14"
    hears(w, "element 14 holds 14: x[2, 2], y[1, 1]")
    w.page.keyboard.press("Tab")
    w.page.keyboard.press("Tab")
    assert w.get_by_role("grid", name="storage 1").evaluate(
        "node => node === document.activeElement"
    )
    w.page.keyboard.press("ArrowRight")
    assert w.locator(".sk-readout").inner_text().startswith("element 15 holds 15")
    assert w.page.locator(".jp-Cell").count() == cells


def test_undo_reset_and_examples(lab, w):
    """The state is the list of lines: one less, none, and one by a click; both views agree."""
    run(w, "y += 1")
    w.get_by_role("button", name="undo").click()
    assert_shown(w)
    w.get_by_role("button", name="reset").click()
    assert values(w, "x") == list(range(24)) and not w.locator(".sk-card.is-y").is_visible()
    w.get_by_role("button", name="y = x[1:, ::2]").click()
    assert values(w, "y") == by_torch()["y"]
    other = w.page.locator(".sk-aliases").nth(1)
    assert values(other, "y") == by_torch()["y"]
    assert in_kernel(lab, w.page, "a.steps") == "('y = x[1:, ::2]',)"


def test_a_rerun_cell_leaves_nothing_behind(lab, w):
    """Views that are gone listen no more, and the new ones live; nothing went wrong on the way."""
    assert w.page.locator(".sk-aliases").count() == len(CELLS)
    rerun(lab, w.page, ".sk-aliases")
    run(w, "y += 1")
    assert_shown(w, "y += 1")
