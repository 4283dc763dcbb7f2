"""StrideExplorer in a real JupyterLab: what hand, keyboard and kernel see, checked against torch."""

import pytest
import torch

from tests.browser.pages import hears, in_kernel, rerun, resize, settled
from tests.needs import needs_chromium

pytestmark = needs_chromium

TENSORS = [
    "torch.arange(24).view(2, 3, 4).permute(2, 0, 1)",
    "torch.arange(120).view(2, 3, 4, 5)",
    "torch.arange(10)[3:]",
    "torch.tensor(7)",
]
CELLS = [
    "import torch\nfrom stridekit import Layout, StrideExplorer, explore\ne = StrideExplorer()\ne",
    "e",
    *[f"explore({make})" for make in TENSORS],
    "explore(torch.arange(4096).view(64, 64))",
]


@pytest.fixture(scope="module")
def page(notebook):
    """A page with the default explorer, shown twice, and one for each tensor."""
    return notebook(*CELLS)


@pytest.fixture
def w(page):
    """The first explorer of the page, as it is at the start."""
    w = page.locator(".sk-explorer").first
    preset(w, "diagonal")
    preset(w, "row-major")
    w.locator(".sk-cell").nth(20).click()
    page.mouse.move(5, 5)
    settled(page)
    return w


def grid_values(w):
    """The numbers in the grid, in row-major order."""
    return [int(text) for text in w.locator(".sk-cell").all_inner_texts()]


def slot(w, element):
    return w.locator(f".sk-slot[id$='-s{element}']")


def spot(w):
    """The numbers of the cell and the slot that carry the heavy ring."""
    return [
        w.locator(f".{kind}.is-spot").inner_text().split()[0] for kind in ("sk-cell", "sk-slot")
    ]


def preset(w, name):
    w.get_by_role("button", name=name, exact=True).click()


def drag(w, what, element):
    """Drag the grip of a stride or the offset onto an element of the tape."""
    w.locator(".sk-tapebox").scroll_into_view_if_needed()  # the mouse reaches what is in the window
    grip = w.locator(f".sk-grip[title='drag to change {what}']").bounding_box()
    target, mouse = slot(w, element).bounding_box(), w.page.mouse
    assert target["y"] + 2 < w.page.viewport_size["height"]
    mouse.move(grip["x"] + 12, grip["y"] + 12)
    mouse.down()
    mouse.move(target["x"] + 20, target["y"] + 2, steps=6)
    mouse.up()


def code(w):
    return w.locator(".sk-code code").first.inner_text()


def sentence(w):
    return w.locator(".sk-sentence").inner_text()


def shown_by_torch(w):
    """The picture's code, run by torch here: the numbers that must be in the grid."""
    return eval(code(w)).flatten().int().tolist()


def test_every_preset_shows_what_torch_makes(lab, w):
    """All seven: the grid's numbers, the code under it, the kernel's layout and torch agree."""
    names = w.locator(".sk-presets button").all_inner_texts()
    assert names == ["row-major", "column-major", "transpose", "every second column", "diagonal",
                     "broadcast", "windows"]  # fmt: skip
    for name in names:
        preset(w, name)
        assert grid_values(w) == shown_by_torch(w), name
        same = w.locator(".sk-also").inner_text().removeprefix("# the same as ")
        x = eval(same)
        assert [*map(int, x.flatten().tolist())] == grid_values(w), name
        assert in_kernel(lab, w.page, "e.code") == code(w), name


def test_hover_links_both_ways(w):
    """A cell lights its slot; a slot lights every owner; a hole says that no index leads there."""
    w.locator(".sk-cell").nth(13).hover()
    assert spot(w) == ["13", "13"]
    assert "x[1, 5] is element 13 of the storage: byte 52, cache line 0" in sentence(w)
    slot(w, 30).hover()
    assert spot(w) == ["30", "30"]
    preset(w, "windows")
    slot(w, 9).hover()
    marked = w.locator(".sk-cell.is-spot, .sk-cell.is-sharer")
    assert marked.all_inner_texts() == ["9", "9"]
    assert sentence(w).endswith("and so is x[2, 1]")
    preset(w, "every second column")
    slot(w, 3).hover()
    assert sentence(w) == ("Element 3 is never reached: no index leads there.")
    w.page.mouse.move(5, 5)
    assert w.locator(".sk-cell.is-spot").count() == 1


def test_the_formula_lights_term_by_term(w):
    """Each term has the numbers of the selected element; pointing at it walks its steps on the tape."""
    w.locator(".sk-cell").nth(21).click()
    terms = w.locator(".sk-term span").all_inner_texts()
    assert terms == ["0", "2 · 8", "5 · 1"] and w.locator(".sk-total").inner_text() == "= 21"
    w.locator(".sk-term").nth(1).hover()
    assert w.locator(".sk-hop.sk-d0").count() == 2
    w.locator(".sk-term").nth(2).hover()
    assert w.locator(".sk-hop.sk-d1").count() == 5
    assert "is-lit" in w.locator(".sk-term").nth(2).get_attribute("class")


def test_sliders_stop_where_the_storage_ends(lab, w):
    """Beyond the limit nothing moves and the reason is said, by keyboard as by hand; torch agrees."""
    preset(w, "every second column")
    stride = w.get_by_label("stride[1]", exact=True)
    stride.focus()
    for _ in range(3):
        w.page.keyboard.press("ArrowRight")
    assert code(w) == "torch.arange(40.).as_strided((5, 4), (8, 2), 0)"
    why = w.locator(".sk-why").inner_text()
    assert (
        why
        == "stride[1] stops at 2: beyond it, x[4, 3] would be element 41, and the storage ends at 39"
    )
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.arange(40.0).as_strided((5, 4), (8, 3), 0)
    w.page.keyboard.press("ArrowLeft")
    w.page.keyboard.press("ArrowLeft")
    w.page.keyboard.press("ArrowLeft")
    assert (
        w.locator(".sk-why").inner_text() == "stride[1] stops at 0: torch has no negative strides"
    )
    assert grid_values(w) == shown_by_torch(w) == [r * 8 for r in range(5) for _ in range(4)]
    assert in_kernel(lab, w.page, "e.layout.stride") == "(8, 0)"
    assert w.page.locator(".jp-Cell").count() == len(CELLS)  # JupyterLab took no key for itself


def test_shape_stride_and_offset_are_dragged_on_the_tape(w):
    """The ends of dims, the tips of steps and the end of the offset follow the pointer to their limits."""
    drag(w, "size[1]", 4)
    drag(w, "size[0]", 16)
    assert code(w) == "torch.arange(40.).as_strided((3, 5), (8, 1), 0)"
    drag(w, "size[0]", 39)
    assert code(w) == "torch.arange(40.).as_strided((5, 5), (8, 1), 0)"
    assert grid_values(w) == shown_by_torch(w)
    preset(w, "diagonal")
    drag(w, "stride[0]", 6)
    assert code(w) == "torch.arange(40.).as_strided((5,), (6,), 0)"
    drag(w, "storage_offset", 10)
    assert code(w) == "torch.arange(40.).as_strided((5,), (6,), 10)"
    assert grid_values(w) == shown_by_torch(w) == [10, 16, 22, 28, 34]
    drag(w, "storage_offset", 30)
    assert code(w) == "torch.arange(40.).as_strided((5,), (6,), 15)"
    assert "storage_offset stops at 15: beyond it, x[4]" in w.locator(".sk-why").inner_text()


def test_keyboard_in_the_grid(lab, w):
    """One tab stop; arrows, Home and End move; Escape leaves; letters do nothing to the notebook."""
    grid = w.get_by_role("grid", name="elements of x by index")
    grid.focus()
    w.page.keyboard.press("Home")
    w.page.keyboard.press("ArrowUp")
    w.page.keyboard.press("ArrowRight")
    assert spot(w) == ["9", "9"]
    active = grid.get_attribute("aria-activedescendant")
    assert w.locator(f"#{active}").get_attribute("aria-label") == "x[1, 1]: element 9, byte 36"
    for key in ("a", "d", "d", "x", "End"):
        w.page.keyboard.press(key)
    assert w.page.locator(".jp-Cell").count() == len(CELLS)
    assert in_kernel(lab, w.page, "e.index") == "(1, 7)"
    hears(w, "0 + 1*8 + 7*1 = 15: x[1, 7] is element 15 of the storage: byte 60, cache line 0")
    w.page.keyboard.press("Escape")
    assert not grid.evaluate("node => node === document.activeElement")


def test_keyboard_on_the_tape(w):
    """Arrows go from slot to slot, holes included; Enter goes through the owners of a shared slot."""
    preset(w, "windows")
    tape = w.get_by_role("grid", name="elements of the storage, in the order of memory")
    tape.focus()
    w.page.keyboard.press("Home")
    for _ in range(5):
        w.page.keyboard.press("ArrowRight")
    active = w.locator(f"#{tape.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-label") == "element 5, byte 20: x[0, 5], x[1, 1]"
    assert sentence(w).startswith("x[0, 5] is element 5")
    w.page.keyboard.press("Enter")
    assert sentence(w).startswith("x[1, 1] is element 5")
    w.page.keyboard.press("ArrowDown")
    assert spot(w)[1] == "21"


def step(w, text):
    w.get_by_label("then", exact=True).fill(text)
    w.page.keyboard.press("Enter")


def told(w):
    return w.locator(".sk-outcome").inner_text()


def test_a_chain_of_operations(lab, w):
    """Picked and typed, view and copy: numbers, code and kernel agree with torch, at every step."""
    w.get_by_role("button", name=".T", exact=True).click()
    assert told(w) == ".T is a view: the same storage, read by other numbers."
    for text in ("[1:]", "contiguous().view(5, 7)"):
        step(w, text)
        assert grid_values(w) == shown_by_torch(w), text
    assert code(w) == "torch.arange(40.).view(5, 8).T[1:].contiguous().view(5, 7)"
    assert in_kernel(lab, w.page, "e.code") == code(w)
    assert w.locator(".sk-slot").count() == 35  # the copy's own storage, with the values in it
    assert slot(w, 1).inner_text() == "9" and slot(w, 1).get_attribute("data-number") == "1"
    rows = w.locator(".sk-steps tbody tr")
    assert rows.nth(3).locator("td").all_inner_texts() == [
        "(7, 5)", "(1, 8) → (5, 1)", "1 → 0", "copy: new storage of 35 elements",
    ]  # fmt: skip
    step(w, ".permute(0, 1) T")
    assert told(w).startswith('cannot read ".permute(0, 1) T" at "T": write operations')
    step(w, ".t()")
    step(w, ".view(-1)")
    assert told(w).startswith(
        "cannot view shape (7, 5), stride (1, 7) as (-1,): dims 0 and 1 do not merge"
    )


def test_undo_and_earlier_steps(lab, w):
    """Ctrl+Z, the button and a click on a row go back; what was undone can come again."""
    for text in (".T", "[1:]", ".contiguous()"):
        step(w, text)
    whole = code(w)
    w.page.keyboard.press("Control+z")
    assert code(w) == "torch.arange(40.).view(5, 8).T[1:]" and w.locator(".sk-slot").count() == 40
    assert grid_values(w) == shown_by_torch(w)
    w.get_by_role("button", name="undo").click()
    assert code(w) == "torch.arange(40.).view(5, 8).T"
    w.get_by_role("button", name=".contiguous()", exact=True).click()
    assert (
        code(w) == whole and in_kernel(lab, w.page, "e.chain") == "('.T', '[1:]', '.contiguous()')"
    )
    w.locator(".sk-steps button").first.click()
    assert code(w) == "torch.arange(40.).as_strided((5, 8), (8, 1), 0)"
    assert w.locator(".sk-steps .is-undone").count() == 3


def test_a_slider_ends_the_chain(lab, w):
    """as_strided of the storage on screen takes its place."""
    step(w, ".T")
    w.get_by_label("storage_offset", exact=True).focus()
    w.page.keyboard.press("ArrowRight")
    assert (
        code(w).startswith("torch.arange(40.).as_strided(")
        and not w.locator(".sk-steps").is_visible()
    )
    preset(w, "row-major")
    for text in (".T", ".contiguous()", "[1:, 1:]"):
        step(w, text)
    stride = w.get_by_label("stride[1]", exact=True)
    stride.focus()
    w.page.keyboard.press("ArrowLeft")
    assert code(w).endswith(".T.contiguous().as_strided((7, 4), (5, 0), 6)")
    assert grid_values(w) == shown_by_torch(w) and in_kernel(lab, w.page, "e.code") == code(w)
    lab.run_code(w.page, 'e.chain = (".diagonal()",)')
    w.page.wait_for_function(
        "document.querySelector('.sk-code code').textContent.endsWith('diagonal()')"
    )
    assert grid_values(w) == shown_by_torch(w)


def test_thousands_of_cells(page):
    """A canvas is read, pointed at and walked like cells: one tab stop, one live cell."""
    w = page.locator(".sk-explorer").last
    w.scroll_into_view_if_needed()
    grid = w.get_by_role("grid", name="elements of x by index")
    assert grid.get_attribute("aria-rowcount") == "64" and w.locator(".sk-cell").count() == 0
    grid.focus()
    for key in ("Home", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    active = w.locator(f"[id='{grid.get_attribute('aria-activedescendant')}']")
    assert active.get_attribute("aria-label") == "x[31, 1]: element 1985, byte 15880"
    assert (
        active.get_attribute("aria-colindex") == "2"
        and grid.locator("[role=gridcell]").count() == 1
    )
    box = active.bounding_box()
    page.mouse.move(box["x"] + 5 + 13, box["y"] + 5)
    assert sentence(w).startswith("x[31, 2] is element 1986 ")
    page.mouse.click(box["x"] + 5 + 26, box["y"] + 5 + 13)
    page.mouse.move(5, 5)
    assert sentence(w).startswith("x[32, 3] is element 2051 ")
    tape = w.get_by_role("grid", name="elements of the storage, in the order of memory")
    tape.focus()
    page.keyboard.press("ArrowRight")
    active = w.locator(f"[id='{tape.get_attribute('aria-activedescendant')}']")
    assert active.get_attribute("aria-label") == "element 2052, byte 16416: x[32, 4]"


def test_a_canvas_keeps_what_does_not_change(page):
    """Only places that differ are painted: the canvas is as if all had been painted from nothing."""
    w = page.locator(".sk-explorer").last
    page.mouse.move(5, 5)
    sliders = w.locator(".sk-slider input")  # two sizes, two strides, the offset
    for k, key in enumerate(["PageDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"]):
        sliders.nth(k).focus()
        page.keyboard.press(key)
        page.keyboard.press(key)
        before, after = w.evaluate(PAINTED_ANEW)
        assert len(before) >= 1 and after == before, k


# Measured, painted and painted anew: a theme paints everything. The kernel's echoes change nothing.
PAINTED_ANEW = """async (root) => {
  const painted = () => [...root.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL());
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await frames();
  const before = painted();
  document.body.dataset.jpThemeName += '';
  await frames();
  return [before, painted()];
}"""


def test_a_canvas_wears_the_theme(lab, page):
    """A theme that comes later paints every box in its own colours, and the way back leads to the same."""
    w = page.locator(".sk-explorer").last
    page.mouse.move(5, 5)
    seen = {}
    for theme in ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Light"):
        lab.set_theme(page, theme)
        (before, after), (painted, worn) = w.evaluate(PAINTED_ANEW), w.evaluate(COLOUR)
        assert before == after and painted == worn, theme
        assert seen.setdefault(theme, (before, painted)) == (before, painted)
    assert len({painted for _, painted in seen.values()}) == 2


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


def test_python_moves_the_picture(lab, w):
    """A layout set from Python is drawn; an illegal one is refused there and the picture stays."""
    lab.run_code(w.page, "e.layout = Layout((2, 3, 4), (12, 4, 1), 5, 4); e.index = (1, 2, 3)")
    w.page.wait_for_function(
        "document.querySelector('.sk-code code').textContent.includes('(2, 3, 4)')"
    )
    assert grid_values(w) == shown_by_torch(w) == list(range(5, 29))
    assert spot(w) == ["28", "28"]
    said = lab.run_code(w.page, "e.layout = Layout((5, 9), (8, 1), 0, 4)")
    assert "reaches element 40, and the storage ends at 39" in said
    assert grid_values(w) == list(range(5, 29))


@pytest.mark.parametrize("k", range(len(TENSORS)), ids=TENSORS)
def test_explore_draws_ones_own_tensor(page, k):
    """Ranks 0 to 4: the grid holds the tensor's elements, in order."""
    shown = grid_values(page.locator(".sk-explorer").nth(2 + k))
    assert shown == eval(TENSORS[k]).flatten().tolist()


def test_long_numbers_get_wide_boxes(lab, notebook):
    """Twelve digits are read: no text of the grid or the tape is cut off, or smaller than 9 px."""
    page = notebook("import torch\nfrom stridekit import explore\n"
                    "explore(torch.arange(24).view(4, 6) + 123456789012)")  # fmt: skip
    for width in (1280, 800):
        resize(page, width)
        found = page.locator(".sk-explorer").evaluate(SMALLEST)
        assert found["px"] >= 9 and found["cut"] == 0, (width, found)


# The smallest text in boxes, and how many are wider than their box.
SMALLEST = """(root) => {
  const boxes = [...root.querySelectorAll('.sk-cell, .sk-slot')];
  return {
    px: Math.min(...boxes.map((box) => parseFloat(getComputedStyle(box).fontSize))),
    cut: boxes.filter((box) => box.scrollWidth > box.clientWidth).length,
  };
}"""


def test_two_views_of_one_widget_agree(w):
    """The state is the model's: both pictures change."""
    other = w.page.locator(".sk-explorer").nth(1)
    preset(w, "diagonal")
    assert code(other) == code(w)
    assert other.get_by_role("button", name="diagonal").get_attribute("aria-pressed") == "true"


def test_a_rerun_cell_leaves_nothing_behind(lab, w):
    """Views that are gone listen no more, and the new ones live."""
    assert w.page.locator(".sk-explorer").count() == len(CELLS)
    for _ in range(2):
        rerun(lab, w.page, ".sk-explorer")
    preset(w, "transpose")
    assert grid_values(w) == shown_by_torch(w)
