"""Each widget under a hand, on a plain page without a kernel: the rows of hands.txt."""

import io

import numpy as np
import pytest
from PIL import Image

from stridekit.widgets.offline import offline_page
from tests.core.messages import BUCKET
from tests.course.browser.drawings import IS_RECORDING, Drawings
from tests.course.browser.hand import HAND_NAMES, MOST_HIGH, SIZE, Hand, rows
from tests.course.browser.pages import (
    ALIVE,
    BY_HAND,
    WIDTH,
    away,
    button,
    painted,
    resize,
    wait_for_frame,
)
from tests.course.needs import at_night_but, needs_chromium
from tests.course.widget_kinds import KINDS, make

pytestmark = needs_chromium


@pytest.mark.parametrize("row", rows("hands.txt"))
def test_hand(show, row, request):
    hand = Hand(show, row.make)
    is_drawn = not row.make.startswith("Diagnose")  # which has words alone, some of them later
    drawings = Drawings(hand.page, request.node.callspec.id) if is_drawn else None
    hand.follow(row, drawings)
    if IS_RECORDING and drawings:
        drawings.store()


def test_a_turn_is_undone_redone_and_reset_and_a_link_brings_it_back(plain, tmp_path):
    """Into its own widget, to which the page scrolls; a link that is broken changes nothing."""
    page = plain.page()
    path = tmp_path / "page.html"
    kinds = ["Predict", "StrideExplorer", "AliasExplorer", "AliasExplorer"]
    widgets = [make(kind) for kind in kinds]
    path.write_text(offline_page(widgets), encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_function(ALIVE)
    w = page.locator(".stridekit").nth(2)
    resize(page, WIDTH, 800)  # where the page has room to scroll
    state = "models.map((model) => JSON.stringify(model.get('_state')))"
    first = page.evaluate(state)
    BY_HAND["AliasExplorer"](w)
    turned = page.evaluate(state)
    assert [a == b for a, b in zip(first, turned, strict=True)] == [True, True, False, True]
    tools = w.get_by_role("toolbar")
    turns = [  # a tool, the states that it brings, and tools that can be used then
        ("undo", first, ["redo"]),
        ("redo", turned, ["undo", "reset"]),
        ("reset", first, ["undo"]),
        ("undo", turned, ["reset"]),
    ]
    for tool, states, enabled in turns:
        button(tools, tool).click()
        assert page.evaluate(state) == states
        for name in enabled:
            assert button(tools, name).is_enabled(), tool
    button(tools, "share").click()
    button(w, "copy link").click()
    address = page.evaluate("navigator.clipboard.readText()")
    assert page.url == address
    for link, states in ((address, turned), (address[:-2], first)):
        page.goto("about:blank")
        page.goto(link)
        page.wait_for_function(ALIVE)
        wait_for_frame(page)
        assert page.evaluate(state) == states
        assert (page.evaluate("scrollY") > 100) == (states is turned)


PICTURED = [
    "explore(torch.arange(4096).view(64, 64).T)",
    "explore(torch.zeros(64, 3, 224, 224))",
]
WITH_TOOLBAR = [kind for kind in KINDS if kind not in ("Predict", "Drill")]


@pytest.mark.parametrize("kind", at_night_but(PICTURED, [*PICTURED, *WITH_TOOLBAR]))
def test_a_picture_is_what_is_on_screen(show, kind):
    """SVG that a second program draws, and PNG, without the toolbar, with what was typed and chosen."""
    assert_pictured(show(make(kind) if kind in KINDS else eval(kind, HAND_NAMES)))


def test_a_picture_of_a_stopped_step_is_what_is_on_screen(show):
    w = show(make("ChannelsLastExplorer"))
    button(w, "replay").click()
    w.get_by_label("position in the last step", exact=True).fill("20")
    assert_pictured(w)


def assert_pictured(w):
    from cairosvg import svg2png  # needs the system's cairo, as Chromium does

    page = w.page
    files = {}
    for line in w.locator("input:not([type])").all():
        line.fill("2, 2")
    button(w.get_by_role("toolbar"), "share").click()
    for name in ("PNG", "SVG"):
        with page.expect_download() as download:
            button(w, f"save {name}").click()
        files[name] = download.value.path().read_bytes()
    assert b"foreignObject" not in files["SVG"] and b"<text" in files["SVG"]
    page.keyboard.press("Escape")
    corner = ".sk-frame, .sk-frame *, .sk-trails { visibility: hidden }"
    hidden = f"<style>{corner} input {{ caret-color: transparent }}</style>"
    page.evaluate("(style) => document.body.insertAdjacentHTML('beforeend', style)", hidden)
    page.evaluate("document.activeElement.blur()")
    away(w)
    painted(page)
    screen = Image.open(io.BytesIO(w.screenshot())).convert("RGB")
    pictures = {"PNG": files["PNG"], "SVG": svg2png(files["SVG"], scale=2)}
    for name, content in pictures.items():
        picture = Image.open(io.BytesIO(content)).convert("RGB")
        twice_the_screen = np.multiply(screen.size, 2)
        assert abs(picture.size - twice_the_screen).max() <= 3
        # Strokes and letters differ at their edges, and the letters of a long line in their places.
        small = [max(side // 8, 1) for side in screen.size]
        blurred_screen = screen.resize(small, Image.Resampling.BOX)
        blurred_picture = picture.resize(small, Image.Resampling.BOX)
        difference = np.asarray(blurred_picture, float) - np.asarray(blurred_screen, float)
        assert abs(difference).mean() < 4, name


def test_widgets_begin_within_a_screen_and_a_phone_cuts_nothing(show):
    """A screen has 620 px at the width of JupyterLab; at 390 px a finger can press all of a widget."""
    all_kinds = show(*[make(kind) for kind in KINDS])
    resize(all_kinds.page, WIDTH)
    heights = all_kinds.evaluate_all("(all) => all.map((root) => root.offsetHeight)")
    assert max(heights) <= 620, dict(zip(KINDS, heights, strict=True))
    resize(all_kinds.page, 390)
    assert all_kinds.page.evaluate("document.documentElement.scrollWidth") == 390
    for w in all_kinds.all():
        defects, _ = w.evaluate(SIZE)
        assert defects == []


# The most that each picture holds: what does not fit scrolls in its pane.
MOST = [
    "StrideExplorer(Layout((2, 2, 3, 2), (18, 9, 2, 1), 2), 64)",
    "StrideExplorer(Layout((24, 4), (16, 1), itemsize=4))",
    "StrideExplorer(Layout((16, 16)))",
    "StrideExplorer(Layout((16, 32)))",
    "StrideExplorer(Layout((4, 4), (20_000, 999), 17, 4), 80_000)",
    "explore(torch.arange(4096.).view(2, 8, 16, 16))",
    "explore(torch.rand(64, 3, 224, 224, dtype=torch.complex64))",
    "explore(torch.rand(3, 30, 3, 3, 3, 3, 3, 3).permute(7, 6, 1, 2, 3, 4, 5, 0))",
    "AliasExplorer((4, 4, 6), ['y = x.clone()', 'z = y * -900', 'y = z[1:]'])",
    "AliasExplorer((96, 1), ['y = x.clone()', 'z = x.clone()'] + ['z += 1'] * 40)",
    "ReshapeStepper(torch.zeros(64, 4)[:, :3], (3, 64))",
    "ChannelsLastExplorer((3, 4, 3, 5))",
    "TraversalExplorer(torch.zeros(50, 60).t(), 'torch', visit=256)",
    "TraversalExplorer(warp=(4, 2, 0))",
    "AttentionExplorer(2, 4, 4, 4, kv_heads=2, rotary='rot(x)*sin + x*cos')",
    "CacheExplorer(8, batch=2, heads=3)",
    "Sort(torch.ones(4, 6), '; '.join(f'x[:{1 + k % 3}, :{1 + k // 3}]' for k in range(24)), also='x[1:]')",
    "CopyTracer(audit(lambda x: nn.Sequential(*[nn.ReLU()] * 20, nn.Flatten(0))(x.t()), torch.rand(9, 9)))",
    f"Diagnose('a line' * 40 + {BUCKET!r})",
]


# Lower, the parts of this one would lie over one another: it has a window with two sliders, nine
# sliders over the grid, and five terms.
TALL = {"explore(torch.rand(64, 3, 224, 224, dtype=torch.complex64))": 830}


@pytest.mark.long
@pytest.mark.parametrize("source", MOST)
def test_the_most_that_a_picture_holds_fits_a_screen(show, source):
    hand = Hand(show, source)
    most_high = TALL.get(source, MOST_HIGH)
    hand.agrees(is_pointing=False, most_high=most_high)
    chips = hand.w.locator(".sk-presets button, .sk-idea button")
    for k in range(chips.count()):
        chips.nth(min(k, chips.count() - 1)).click()  # a setting may bring fewer
        hand.agrees(is_pointing=False, most_high=most_high)
