"""The first minute in JupyterLab: the start page opens, two keys move a stride, nothing scrolls away."""

import pytest

from tests.browser.pages import code
from tests.needs import needs_chromium

pytestmark = needs_chromium

START = "notebooks/00_start.ipynb"
MOVED = "torch.arange(40.).as_strided((4, 6), (9, 1), 2)"


@pytest.fixture
def start(lab):
    """The start page in a window of 1280 by 900 px, as it opens."""
    page = lab.open(START)
    yield page
    lab.close(page)


def state(page):
    """The number of the active cell, and whether the focus is in a widget."""
    return page.evaluate("""() => [
      jupyterapp.shell.currentWidget.content.activeCellIndex,
      Boolean(document.activeElement.closest('.stridekit')),
    ]""")


def test_two_keys_move_a_stride(start):
    """Shift+Enter shows the explorer whole and leaves it in view, and an arrow moves its first stride."""
    start.keyboard.press("Shift+Enter")
    w = start.locator(".sk-explorer")
    w.wait_for()
    start.wait_for_function("document.activeElement.id.endsWith('stride-0')")
    start.keyboard.press("ArrowRight")
    assert code(w) == MOVED
    box, area = w.bounding_box(), start.locator(".jp-NotebookPanel-notebook").bounding_box()
    assert box["y"] >= area["y"] and box["y"] + box["height"] <= area["y"] + area["height"]
    start.keyboard.press("Shift+Enter")  # goes on: the second cell is text, the third comes next
    start.wait_for_function("jupyterapp.shell.currentWidget.content.activeCellIndex === 2")
    assert code(w) == MOVED  # the first cell was not run again


def test_a_widget_takes_the_keys_from_nobody(lab, start):
    """Not when the notebook is opened, not by Run All, and not while somebody types."""
    assert state(start) == [0, False]
    lab.run_all(start)
    start.locator(".sk-explorer").wait_for()
    assert state(start)[1] is False
    start.locator(".jp-Cell").first.locator(".cm-content").click()
    start.evaluate("() => { document.querySelector('.sk-explorer').old = true; }")
    start.keyboard.press("Control+Enter")  # runs the cell and stays in it
    start.wait_for_function("!document.querySelector('.sk-explorer')?.old")
    start.locator(".sk-explorer").wait_for()
    assert state(start) == [0, False]
