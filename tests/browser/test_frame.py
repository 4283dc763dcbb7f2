"""What is around every explorer, by hand on a plain page: undo, redo, reset, full width, sharing, goals."""

import io
from itertools import cycle

import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import expect

from stridekit import Goal, Layout, explore, widgets
from stridekit.widgets import StrideExplorer
from tests.browser.pages import (
    BY_HAND,
    assert_accessible,
    away,
    button,
    code,
    drag,
    enter,
    focused,
    in_kernel,
    labelled,
    painted,
    press,
    prevented,
    resize,
    text,
    texts,
)
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, NAMES

pytestmark = [needs_chromium, pytest.mark.long]

EXPLORERS = [kind for kind in KINDS if kind != "Predict"]


def make(kind):
    return eval(KINDS[kind].make, NAMES)


def look(w):
    """What a widget shows, without what it says when the hand rests."""
    away(w)
    painted(w.page)
    return w.evaluate(_LOOK)


_LOOK = """(root) => {
  const copy = root.cloneNode(true);
  for (const node of copy.querySelectorAll('.sk-frame, .sk-spoken')) node.remove();
  const inputs = [...root.querySelectorAll('input, select')].map((node) => `${node.value} ${node.checked}`);
  return [copy.textContent, ...inputs].join('|');
}"""


def tool(w, name):
    """A button of the toolbar."""
    return button(w.get_by_role("toolbar"), name)


def can(w):
    """The tools that would do something."""
    return [name for name in ("undo", "redo", "reset") if tool(w, name).is_enabled()]


def rest(w):
    """Let the hand rest for so long that the next change is a step of its own."""
    w.page.wait_for_timeout(450)


def share(w, what):
    """Open the menu, if it is closed, and press one of its buttons."""
    if tool(w, "share").get_attribute("aria-expanded") == "false":
        tool(w, "share").click()
    button(w, what).click()


# Undo, redo, reset -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EXPLORERS)
def test_a_wrong_turn_is_undone_redone_and_reset(show, kind):
    w = show(make(kind))
    before = look(w)
    assert can(w) == []
    BY_HAND[kind](w)
    after = look(w)
    assert after != before and can(w) == ["undo", "reset"]
    tool(w, "undo").click()
    assert look(w) == before and can(w) == ["redo"]
    tool(w, "redo").click()
    assert look(w) == after and can(w) == ["undo", "reset"]
    tool(w, "reset").click()
    assert look(w) == before and can(w) == ["undo"]
    tool(w, "undo").click()
    assert look(w) == after


def test_keys_do_the_same_but_in_a_text_field_they_are_its_own(show):
    w = show(widgets.AliasExplorer())
    line, grid = labelled(w, "run a line"), w.get_by_role("grid").first
    before = look(w)
    enter(w, "run a line", "y += 1")
    after = look(w)
    line.press_sequentially("z")
    press(line, "Control+z")
    assert line.input_value() == "" and look(w) == after
    assert prevented(grid, "Control+z") and look(w) == before
    press(grid, "Control+Shift+Z")
    assert look(w) == after
    press(grid, "Control+z", "Control+y")
    assert look(w) == after
    press(grid, "Alt+Control+z", "z")
    assert look(w) == after


def test_a_drag_is_one_step_and_pointing_is_none(show):
    w = show(StrideExplorer(Layout((4, 6), (8, 1), 2, 4), 40))
    start = code(w)
    slider = labelled(w, "stride[0]")
    for value in (7, 6, 5, 4):
        slider.fill(str(value))
    dragged = code(w)
    assert dragged != start
    rest(w)
    press(w.get_by_role("grid").first, "ArrowLeft", "ArrowUp")
    rest(w)
    slider.fill("3")
    tool(w, "undo").click()
    assert code(w) == dragged
    tool(w, "undo").click()
    assert code(w) == start and can(w) == ["redo"]
    drag(w, "stride[0]", 6)
    w.page.mouse.up()
    assert code(w) != start and can(w) == ["undo", "reset"]
    tool(w, "undo").click()
    assert code(w) == start and can(w) == ["redo"]


def test_reset_leads_to_the_first_display_not_to_the_default(show):
    """A lesson sets up lines, and a later cell runs more."""
    w = widgets.AliasExplorer((4, 6), ["y = x[0]"])
    w._repr_mimebundle_()
    w.steps += ("y += 1",)
    w._repr_mimebundle_()
    root = show(w)
    assert texts(root, ".sk-log code") == ["y = x[0]", "y += 1"] and can(root) == ["reset"]
    tool(root, "reset").click()
    assert texts(root, ".sk-log code") == ["y = x[0]"]


def test_the_toolbar_is_one_tab_stop_after_the_panes(show):
    w = show(StrideExplorer())
    tool(w, "undo").focus()
    for name in ("redo", "reset", "share", "full width", "undo", "redo"):
        w.page.keyboard.press("ArrowRight")
        assert focused(w) == name
    w.page.keyboard.press("ArrowLeft")
    w.page.keyboard.press("Tab")
    assert focused(w) == "body"
    w.page.keyboard.press("Tab")
    assert focused(w) == w.locator(".sk-presets button").first.inner_text()


def test_predictions_have_no_toolbar(show):
    w = show(make("Predict"))
    assert w.get_by_role("toolbar").count() == 0


# Full width --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EXPLORERS)
def test_full_width_fills_the_window_and_escape_gives_the_place_back(show, kind):
    w = show(make(kind), make("Predict")).first
    resize(w.page, 1400)
    place, below = w.bounding_box(), w.page.locator(".sk-predict").bounding_box()
    tool(w, "full width").click()
    painted(w.page)
    wide = w.bounding_box()
    assert (wide["x"], wide["y"], wide["width"], wide["height"]) == (0, 0, 1400, 900)
    assert w.evaluate("(root) => root.scrollWidth <= root.clientWidth")
    assert w.page.locator(".sk-predict").bounding_box() == below
    BY_HAND[kind](w)
    tool(w, "undo").click()
    w.page.keyboard.press("Escape")
    painted(w.page)
    assert w.bounding_box() == place
    tool(w, "full width").click()
    tool(w, "full width").click()
    painted(w.page)
    assert w.bounding_box() == place


def test_full_width_ends_where_the_focus_leaves_the_widget(show):
    w = show(StrideExplorer(), make("Predict")).first
    tool(w, "full width").click()
    w.page.keyboard.press("Tab")
    painted(w.page)
    assert w.bounding_box()["width"] < 1000


@pytest.mark.parametrize("kind", EXPLORERS)
def test_a_narrow_widget_has_a_row_for_the_toolbar(show, kind):
    w = show(make(kind))
    resize(w.page, 390)
    tools, first = w.locator(".sk-tools").bounding_box(), w.locator(".sk-first").bounding_box()
    assert tools["y"] + tools["height"] <= first["y"]
    for tool in w.locator(".sk-tools button").all():
        box = tool.bounding_box()
        assert min(box["width"], box["height"]) >= 24 and box["x"] + box["width"] <= 390


# Sharing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EXPLORERS)
def test_the_code_is_pythons(show, kind):
    w = make(kind)
    root = show(w)
    share(root, "copy code")
    expect(root.locator(".sk-copied")).to_have_text("the code is copied:")
    assert root.page.evaluate("navigator.clipboard.readText()") == w.code
    root.page.keyboard.press("Escape")
    assert focused(root) == "share" and not button(root, "copy code").is_visible()


@pytest.mark.parametrize("kind", EXPLORERS)
def test_a_link_brings_the_state_back_as_a_step(show, kind):
    """On the page that it is from; the page scrolls to the widget."""
    roots = show(make("Predict"), StrideExplorer(), make(kind))
    w, page = roots.last, roots.page
    page.set_viewport_size({"width": 1000, "height": 700})
    begun = look(w)
    BY_HAND[kind](w)
    shared, others = look(w), look(roots.nth(1))
    share(w, "copy link")
    expect(w.locator(".sk-copied")).to_have_text("the address of this state is copied:")
    address = page.evaluate("navigator.clipboard.readText()")
    assert page.url == address and text(w, ".sk-menu code") == address
    page.goto("about:blank")
    page.goto(address)
    expect(tool(w, "undo")).to_be_enabled()
    assert look(w) == shared and look(roots.nth(1)) == others
    assert page.evaluate("scrollY") > 100
    tool(w, "undo").click()
    assert look(w) == begun
    page.evaluate("location.hash = ''")
    page.evaluate("(address) => (location.href = address)", address)
    expect(tool(w, "undo")).to_be_enabled()
    assert look(w) == shared


def test_a_broken_or_foreign_link_changes_nothing(show):
    roots = show(StrideExplorer(), StrideExplorer())
    page, begun = roots.page, look(roots.first)
    button(roots.first, "broadcast").click()
    share(roots.first, "copy link")
    mark, _, state = page.url.partition("#state=")
    number, check, data = state.split(".")
    other = page.evaluate("btoa(JSON.stringify({ shape: [9], stride: [1], storage_offset: 90 }))")
    broken = [
        *(
            "",
            "the-heading",
            "state=",
            "state=0",
            "state=9.a.b",
            f"state={number}.{check}.{data[:-2]}",
        ),
        *(f"state=1.{check}.{data}", f"state={number}.{check}.{other}", "state=0.%.%", "state=..."),
    ]
    for hash in broken:
        page.goto("about:blank")
        page.goto(f"{mark}#{hash}")
        painted(page)
        assert look(roots.first) == look(roots.last) == begun and can(roots.first) == [], hash


PICTURES = [
    "explore(torch.arange(4096).view(64, 64).T)",  # on a canvas
    *[KINDS[kind].make for kind in EXPLORERS],
    "StrideExplorer(Layout((3, 4), (0, 1), 0, 4), goals=[Goal('Try', overlaps=False)])",
]


@pytest.mark.parametrize(
    ("source", "scheme"), [*zip(PICTURES, cycle(("light", "dark")), strict=False)]
)
def test_a_picture_is_what_is_on_screen(show, source, scheme):
    """SVG, and PNG of two pixels for each of CSS, without the toolbar, with what was typed and chosen."""
    w = show(eval(source, NAMES | {"explore": explore, "Goal": Goal}))
    page = w.page
    page.emulate_media(color_scheme=scheme)
    for line in w.locator("input:not([type])").all():
        line.fill("2, 2")
    away(w)
    found = {}
    for kind in ("PNG", "SVG"):
        with page.expect_download() as download:
            share(w, f"save {kind}")
        found[kind] = download.value
        name = f"{w.get_attribute('aria-label').replace(' ', '-')}.{kind.lower()}"
        assert download.value.suggested_filename == name
        expect(w.locator(".sk-copied")).to_have_text(f"{name} is saved")
    page.keyboard.press("Escape")
    page.add_style_tag(
        content=".sk-frame { visibility: hidden } input { caret-color: transparent }"
    )
    away(w)
    page.evaluate("document.activeElement.blur()")
    screen = pixels(w.screenshot())
    picture = pixels(found["PNG"].path().read_bytes())
    assert abs(np.subtract(picture.shape, (2, 2, 1) * np.array(screen.shape))).max() <= 3
    apart = abs(blurred(picture, 16)[: len(screen) // 8] - blurred(screen, 8)[: len(picture) // 16])
    assert apart.max() < 0.2 and apart.mean() < 0.01
    svg = found["SVG"].path().read_text("utf-8")
    assert "sk-tools" not in svg.partition("</style>")[2] and "<script" not in svg


def pixels(png):
    return imread(io.BytesIO(png))[:, :, :3]


def blurred(picture, side):
    """The means of squares: strokes differ at their edges."""
    height, width = (side * (n // side) for n in picture.shape[:2])
    squares = picture[:height, :width].reshape(height // side, side, width // side, side, 3)
    return squares.mean((1, 3))


# Goals -------------------------------------------------------------------------------------------------

GOALS = [
    Goal("Let the rows overlap", overlaps=True),
    Goal("Make it contiguous", contiguous=True),
    Goal("Point at element 9", element=9, index=(1, 1)),
]


def ticks(w):
    return [sign.strip() for sign in texts(w, ".sk-tick")]


def test_goals_are_recognised_however_reached_and_kept(show):
    """By a slider, by a preset, by undo, by pointing; what holds at the start is to be left first."""
    w = show(StrideExplorer(Layout((5, 8), itemsize=4), goals=GOALS))
    assert texts(w, ".sk-goals li") == [f"○{goal.text}" for goal in GOALS]
    labelled(w, "stride[0]").fill("3")
    assert ticks(w) == ["✓", "○", "○"]
    expect(w.locator(".sk-goals [role=status]")).to_have_text(
        "Reached: Let the rows overlap. 1 of 3 goals."
    )
    tool(w, "undo").click()
    assert ticks(w) == ["✓", "✓", "○"]
    press(w.get_by_role("grid").first, "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert ticks(w) == ["✓", "✓", "✓"]
    button(w, "broadcast").click()
    tool(w, "reset").click()
    assert ticks(w) == ["✓", "✓", "✓"]


def test_goals_stand_below_the_first_pane(show):
    w = show(StrideExplorer(goals=GOALS))
    assert w.evaluate("(root) => root.children[1].className") == "sk-goals"
    assert show(StrideExplorer()).locator(".sk-goals").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_open_menus(show, scheme):
    w = show(StrideExplorer(goals=GOALS))
    w.page.emulate_media(color_scheme=scheme)
    labelled(w, "stride[0]").fill("3")
    share(w, "copy code")
    assert_accessible(w.page, ".stridekit")
    w.page.keyboard.press("Escape")
    tool(w, "full width").click()
    share(w, "copy code")
    assert_accessible(w.page, ".stridekit")


# In JupyterLab -----------------------------------------------------------------------------------------


def test_in_jupyterlab(lab, notebook):
    """Two views share steps and goals with Python; no key goes to the notebook, nothing cuts it off."""
    page = notebook(
        "from stridekit import Goal, Layout, StrideExplorer\n"
        "w = StrideExplorer(Layout((4, 6), (8, 1), 2, 4), 40,"
        " goals=[Goal('Close the gaps', contiguous=True), Goal('Overlap', overlaps=True)])\nw",
        "w",
    )
    views = page.locator(".sk-explorer")
    expect(views).to_have_count(2)
    one, two = views.first, views.last
    slider = labelled(one, "stride[0]")
    for value in ("7", "6"):
        slider.fill(value)
    assert in_kernel(lab, page, "(w.layout.stride, w.goals)") == (
        "((6, 1), {'Close the gaps': True, 'Overlap': False})"
    )
    assert ticks(one) == ticks(two) == ["✓", "○"]
    rest(two)
    lab.run_code(page, "w.layout = Layout((4, 6), (1, 1), 2, 4)")
    expect(labelled(two, "stride[0]")).to_have_value("1")
    assert ticks(one) == ["✓", "✓"]
    tool(two, "undo").click()
    assert in_kernel(lab, page, "w.layout.stride") == "(6, 1)"
    press(tool(one, "undo"), "a", "d", "d", "Control+z")
    assert in_kernel(lab, page, "w.layout.stride") == "(8, 1)" and views.count() == 2
    assert can(one) == can(two) == ["redo"]
    tool(two, "redo").click()
    tool(one, "redo").click()
    tool(one, "reset").click()
    assert in_kernel(lab, page, "(w.layout.stride, w._done)") == "((8, 1), [0, 1])"

    tool(one, "full width").click()
    painted(page)
    assert one.bounding_box() == {"x": 0, "y": 0, **page.viewport_size}
    middle = page.evaluate(
        "() => document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('.stridekit') !== null"
    )
    assert middle
    page.keyboard.press("Escape")
    painted(page)
    assert one.bounding_box()["width"] < page.viewport_size["width"] - 100

    assert page.get_by_role("button", name="copy link").count() == 0
    with page.expect_download() as download:
        share(one, "save PNG")
    picture = pixels(download.value.path().read_bytes())
    assert picture.shape[1] == 2 * round(one.bounding_box()["width"]) and picture.std() > 0.05
