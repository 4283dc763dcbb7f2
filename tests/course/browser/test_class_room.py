"""What a teacher does with a widget in JupyterLab: show it in the whole window, and hand on its state."""

import pytest
from playwright.sync_api import expect

from tests.course.browser.pages import button, in_kernel, painted, resize, run_last_cell
from tests.course.needs import needs_chromium

pytestmark = needs_chromium
PRESENTED = "(root) => root.hasAttribute('popover') && root.getBoundingClientRect().width"


def test_a_picture_is_presented_by_a_key_and_by_the_palette(lab, kinds_page):
    page = kinds_page
    run_last_cell(page, "w = StrideExplorer()\nw")
    size = page.viewport_size
    resize(page, 1600, 900)
    w = page.locator(".jp-Cell").last.locator(".stridekit")
    w.scroll_into_view_if_needed()
    page.locator(".jp-Cell").last.locator(".jp-InputPrompt").click()  # command mode
    page.keyboard.press("Control+Alt+p")
    expect(button(w, "full width")).to_have_attribute("aria-pressed", "true")
    painted(page)
    assert w.evaluate(PRESENTED) == 1600
    button(w, "transpose").click()
    assert in_kernel(lab, page, "w.layout.shape") == "(6, 4)"
    page.keyboard.press("Escape")
    assert w.evaluate(PRESENTED) is False
    page.evaluate("jupyterapp.commands.execute('apputils:activate-command-palette').then(() => 0)")
    palette = page.locator(".lm-CommandPalette")
    expect(palette.locator("input")).to_be_focused()
    page.keyboard.type("present the picture")
    expect(palette.locator("[data-command='stridekit:present']")).to_be_visible()
    page.keyboard.press("Enter")
    expect(button(w, "full width")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    resize(page, size["width"], size["height"])


def test_a_copied_state_is_a_cell_that_makes_the_widget(lab, kinds_page):
    page = kinds_page
    run_last_cell(page, "w = AttentionExplorer(tokens=4)\nw")
    w = page.locator(".jp-Cell").last.locator(".stridekit")
    button(w, "SDPA").click()
    button(w, "share").click()
    button(w, "copy this state").click()
    source = w.locator(".sk-menu code").text_content()
    page.keyboard.press("Escape")
    run_last_cell(
        page, f"{source.replace('AttentionExplorer.', 'copied = AttentionExplorer.')}\ncopied"
    )
    assert in_kernel(lab, page, "copied._state == w._state, copied.attention") == "True SDPA"
    expect(page.locator(".jp-Cell").last.locator(".stridekit")).to_be_visible()


FOUND = "found = audit(nn.Sequential(nn.Flatten(0), nn.ReLU()), torch.ones(4, 6).t())"
# Kinds whose code says their whole state: what a cell makes first, the widget, and what a hand does.
WITH_NAMES = {
    "Sort": (
        "x = torch.ones(4, 6)",
        "Sort(x, 'x.t(); x + 0', also='x[1:]')",
        lambda w: button(w, "view").click(),
    ),
    "CopyTracer": (
        FOUND,
        "CopyTracer(found, row=0)",
        lambda w: w.get_by_role("option").last.click(),
    ),
    "Diagnose": (
        "",
        "Diagnose()",
        lambda w: w.get_by_role("textbox").fill("KeyError: 'a' # \"b\"\nc"),
    ),
}


@pytest.mark.parametrize("kind", WITH_NAMES)
def test_a_copied_state_reads_the_names_of_its_cell(lab, kinds_page, kind):
    page = kinds_page
    names, source, play = WITH_NAMES[kind]
    run_last_cell(page, f"{names}\nw = {source}\nw")
    w = page.locator(".jp-Cell").last.locator(".stridekit")
    start = in_kernel(lab, page, "w._state")
    play(w)
    assert in_kernel(lab, page, "w._state") != start
    button(w, "share").click()
    button(w, "copy this state").click()
    copied = w.locator(".sk-menu code").text_content()
    page.keyboard.press("Escape")
    imports, cell = copied.split("\n\n")
    assert cell.startswith("# ") == (names != "")
    run_last_cell(page, f"{imports}\ncopied = (\n{cell}\n)\ncopied")
    assert in_kernel(lab, page, "copied._state == w._state") == "True"
