"""What is around every widget, by hand on a plain page: undo, redo, reset, full width, sharing, goals."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from stridekit.widgets import StrideExplorer
from tests.browser.hand import MADE
from tests.browser.pages import (
    BY_HAND,
    away,
    button,
    in_kernel,
    labelled,
    painted,
    resize,
    text,
)
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, make

pytestmark = [needs_chromium, pytest.mark.long]

EXPLORERS = [kind for kind in KINDS if kind != "Predict"]


def look(w):
    """What a widget shows, without what it says when the hand rests."""
    away(w)
    painted(w.page)
    return w.evaluate("""(root) => {
      const copy = root.cloneNode(true);
      for (const node of copy.querySelectorAll('.sk-frame, .sk-spoken')) node.remove();
      const fields = [...root.querySelectorAll('input, select')];
      return [copy.textContent, ...fields.map((node) => `${node.value} ${node.checked}`)].join('|');
    }""")


def tool(w, name):
    """A button of the toolbar."""
    return button(w.get_by_role("toolbar"), name)


def can(w):
    """The tools that would do something."""
    return [name for name in ("undo", "redo", "reset") if tool(w, name).is_enabled()]


def share(w, what):
    """Open the menu, if it is closed, and press one of its buttons."""
    if tool(w, "share").get_attribute("aria-expanded") == "false":
        tool(w, "share").click()
    button(w, what).click()


@pytest.mark.parametrize("kind", EXPLORERS)
def test_a_wrong_turn_is_undone_redone_and_reset_and_a_link_brings_it_back(show, kind):
    """A link is of the page that it is from, which scrolls to the widget; to follow it is a step."""
    roots = show(make("Predict"), StrideExplorer(), made := make(kind))
    w, page = roots.last, roots.page
    page.set_viewport_size({"width": 1000, "height": 700})
    begun, others = look(w), look(roots.nth(1))
    assert can(w) == []
    BY_HAND[kind](w)
    changed = look(w)
    for name, then, more in (
        ("undo", begun, ["redo"]),
        ("redo", changed, ["undo", "reset"]),
        ("reset", begun, ["undo"]),
        ("undo", changed, ["reset"]),
    ):
        tool(w, name).click()
        assert look(w) == then and {*can(w)} >= {*more}, name
    share(w, "copy link")
    expect(w.locator(".sk-copied")).to_have_text("the address of this state is copied:")
    address = page.evaluate("navigator.clipboard.readText()")
    assert page.url == address and text(w, ".sk-menu code") == address
    page.goto("about:blank")
    page.goto(address)
    expect(tool(w, "undo")).to_be_enabled()
    assert look(w) == changed and look(roots.nth(1)) == others
    assert page.evaluate("scrollY") > 100
    tool(w, "reset").click()
    share(w, "copy code")
    expect(w.locator(".sk-copied")).to_have_text("the code is copied:")
    assert page.evaluate("navigator.clipboard.readText()") == made.code
    page.keyboard.press("Escape")
    assert not button(w, "copy code").is_visible()


def test_a_broken_or_foreign_link_changes_nothing(show):
    roots = show(StrideExplorer(), StrideExplorer())
    page, begun = roots.page, look(roots.first)
    button(roots.first, "broadcast").click()
    share(roots.first, "copy link")
    mark, _, state = page.url.partition("#state=")
    number, check, data = state.split(".")
    other = page.evaluate("btoa(JSON.stringify({ shape: [9], stride: [1], storage_offset: 90 }))")
    broken = ["the-heading", "state=", "state=9.a.b", f"state={number}.{check}.{data[:-2]}"]
    broken += [f"state=1.{check}.{data}", f"state={number}.{check}.{other}", "state=0.%.%"]
    for broke in broken:
        page.goto("about:blank")
        page.goto(f"{mark}#{broke}")
        assert look(roots.first) == look(roots.last) == begun and can(roots.first) == [], broke


@pytest.mark.parametrize("kind", EXPLORERS)
def test_full_width_fills_the_window_and_escape_gives_the_place_back(show, kind):
    """It ends where the focus leaves the widget, too; a narrow widget has a row for the toolbar."""
    w = show(make(kind), make("Predict")).first
    resize(w.page, 1400)
    place, below = w.bounding_box(), w.page.locator(".sk-predict").bounding_box()
    for leave in ("Escape", "Tab"):
        tool(w, "full width").click()
        painted(w.page)
        assert w.bounding_box() == {"x": 0, "y": 0, "width": 1400, "height": 900}
        assert w.evaluate("(root) => root.scrollWidth <= root.clientWidth")
        assert w.page.locator(".sk-predict").bounding_box() == below
        w.page.keyboard.press(leave)
        painted(w.page)
        assert w.bounding_box() == place
    resize(w.page, 390)
    tools, first = (w.locator(css).bounding_box() for css in (".sk-tools", ".sk-first"))
    assert tools["y"] + tools["height"] <= first["y"] and tools["x"] + tools["width"] <= 390


PICTURES = ["explore(torch.arange(4096).view(64, 64).T)"]  # on a canvas
PICTURES += [KINDS[kind].make for kind in EXPLORERS]


@pytest.mark.parametrize("source", PICTURES)
def test_a_picture_is_what_is_on_screen(show, source):
    """SVG, and PNG of two pixels for each of CSS, without the toolbar, with what was typed and chosen."""
    w = show(eval(source, MADE))
    page, files = w.page, {}
    for line in w.locator("input:not([type])").all():
        line.fill("2, 2")
    away(w)
    for kind in ("PNG", "SVG"):
        with page.expect_download() as download:
            share(w, f"save {kind}")
        name = f"{w.get_attribute('aria-label').replace(' ', '-')}.{kind.lower()}"
        assert download.value.suggested_filename == name
        files[kind] = download.value.path().read_bytes()
    assert b"sk-tools" not in files["SVG"].partition(b"</style>")[2]
    page.keyboard.press("Escape")
    hidden = ".sk-frame { visibility: hidden } input { caret-color: transparent }"
    page.add_style_tag(content=hidden)
    page.evaluate("document.activeElement.blur()")
    painted(page)
    screen, picture = (
        Image.open(io.BytesIO(png)).convert("RGB") for png in (w.screenshot(), files["PNG"])
    )
    assert abs(np.subtract(picture.size, np.multiply(screen.size, 2))).max() <= 3
    small = [max(side // 8, 1) for side in screen.size]  # strokes differ at their edges
    both = [
        np.asarray(image.resize(small, Image.Resampling.BOX), float) for image in (screen, picture)
    ]
    assert abs(np.subtract(*both)).mean() < 3


def test_two_views_in_jupyterlab_share_steps_and_goals_with_python(lab, notebook):
    """Nothing cuts off a widget of full width, and no key goes to the notebook."""
    made = "w = StrideExplorer(goals=[Goal('Close the gaps', contiguous=True)])"
    page = notebook(f"from stridekit import Goal, StrideExplorer\n{made}\nw", "w")
    views = page.locator(".sk-explorer")
    expect(views).to_have_count(2)
    first, last = views.first, views.last
    labelled(first, "stride[0]").fill("6")
    stride = "(w.layout.stride, w.goals)"
    assert in_kernel(lab, page, stride) == "((6, 1), {'Close the gaps': True})"
    expect(last.locator(".sk-tick")).to_have_text("✓")
    tool(last, "reset").click()
    assert in_kernel(lab, page, "w.layout.stride") == "(8, 1)"
    for key in ("a", "d", "d"):
        tool(first, "undo").press(key)
    assert views.count() == 2
    tool(first, "full width").click()
    painted(page)
    assert first.bounding_box() == {"x": 0, "y": 0, **page.viewport_size}
    on_top = "document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('.stridekit')"
    assert page.evaluate(f"Boolean({on_top})")
    page.keyboard.press("Escape")
    painted(page)
    assert first.bounding_box()["width"] < page.viewport_size["width"] - 100
    assert page.get_by_role("button", name="copy link").count() == 0
