"""The first minutes in JupyterLab: an arrow key moves a stride, and answers are folded."""

import nbformat
import pytest
from playwright.sync_api import expect

from stridekit.lessons import notebook as form
from tests.browser.lab import ROOT
from tests.browser.pages import code
from tests.needs import needs_chromium

pytestmark = needs_chromium

START = "notebooks/00_start.ipynb"
CELLS = form.parse((ROOT / START).read_text(encoding="utf-8")).cells
FIRST = next(k for k, cell in enumerate(CELLS) if "StrideExplorer(" in cell.source)
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


def test_an_arrow_key_moves_a_stride(start):
    """Shift+Enter shows the explorer whole and leaves it in view, and an arrow moves its first stride."""
    for cell in range(FIRST + 1):
        start.keyboard.press("Shift+Enter")
        active = "(k) => jupyterapp.shell.currentWidget.content.activeCellIndex === k"
        start.wait_for_function(active, arg=cell + 1)
    w = start.locator(".sk-explorer")
    w.wait_for()
    start.wait_for_function("document.activeElement.id.endsWith('stride-0')")
    start.keyboard.press("ArrowRight")
    assert code(w) == MOVED
    box, area = w.bounding_box(), start.locator(".jp-NotebookPanel-notebook").bounding_box()
    assert box["y"] >= area["y"] and box["y"] + box["height"] <= area["y"] + area["height"]
    start.keyboard.press("Shift+Enter")  # goes on: the next cell is text
    start.wait_for_function(active, arg=FIRST + 2)
    assert code(w) == MOVED  # the cell was not run again


def test_a_widget_takes_the_keys_from_nobody(lab, start):
    """Not when the notebook is opened, not by Run All, and not while somebody types."""
    assert state(start) == [0, False]
    lab.run_all(start)
    start.locator(".sk-explorer").wait_for()
    assert state(start)[1] is False
    cell = start.locator(".jp-Cell").nth(FIRST)
    cell.locator(".jp-Placeholder").first.click()  # its code is folded
    cell.locator(".cm-content").click()
    start.evaluate("() => { document.querySelector('.sk-explorer').old = true; }")
    start.keyboard.press("Control+Enter")  # runs the cell and stays in it
    start.wait_for_function("!document.querySelector('.sk-explorer')?.old")
    start.locator(".sk-explorer").wait_for()
    assert state(start) == [FIRST, False]


def test_a_widget_that_was_just_run_comes_into_view(lab):
    """JupyterLab goes on to the next cell, which would push the widget off the screen as it grows."""
    above, below = ("\n\n".join([f"Text {side}."] * 12) for side in ("above", "below"))
    cells = [
        nbformat.v4.new_markdown_cell(above),
        nbformat.v4.new_code_cell("from stridekit import CacheExplorer\nCacheExplorer()"),
        *[nbformat.v4.new_markdown_cell(f"{below} {k}") for k in range(4)],
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    form.tidy(book)
    (lab.root / "below.ipynb").write_text(form.write(book), encoding="utf-8")
    page = lab.open("below.ipynb")
    page.locator(".jp-Cell").nth(1).locator(".jp-InputPrompt").click()
    page.keyboard.press("Shift+Enter")
    w = page.locator(".sk-cache")
    w.wait_for()
    page.wait_for_function(_IS_WHOLE)
    assert page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == 2
    lab.close(page)


_IS_WHOLE = """() => {
  const boxOf = (css) => document.querySelector(css).getBoundingClientRect();
  const [widget, area] = ['.sk-cache', '.jp-WindowedPanel-outer'].map(boxOf);
  return widget.top >= area.top - 1 && widget.bottom <= area.bottom + 1;
}"""


def test_an_answer_is_folded_until_its_cell_has_run(lab):
    """So are the words that explain it, and the first line, which JupyterLab shows of a fold."""
    cells = [
        nbformat.v4.new_code_cell("from stridekit import Predict"),
        nbformat.v4.new_code_cell("Predict('What is 5 * 8?', 40)"),
        nbformat.v4.new_code_cell("5 * 8", outputs=[ANSWER]),
        nbformat.v4.new_markdown_cell("Five rows of eight are 40."),
    ]
    lesson = nbformat.v4.new_notebook(cells=cells)
    form.tidy(lesson)
    (lab.root / "folded.ipynb").write_text(form.write(lesson), encoding="utf-8")
    page = lab.open("folded.ipynb")
    ran, words = page.locator(".jp-Cell").nth(2), page.locator(".jp-Cell").nth(3)
    for cell in (ran, words):
        expect(cell.locator(".jp-PlaceholderText")).to_have_css("font-size", "0px")
        expect(cell.locator(".jp-OutputArea-output, .jp-MarkdownOutput")).not_to_be_visible()
    assert not page.evaluate("jupyterapp.shell.currentWidget.context.model.dirty")
    ran.click()
    page.keyboard.press("Shift+Enter")
    expect(ran.locator(".jp-OutputArea-output")).to_have_text("40")
    expect(words.locator(".jp-MarkdownOutput")).to_have_text("Five rows of eight are 40.")
    lab.close(page)


ANSWER = nbformat.v4.new_output("execute_result", {"text/plain": "40"}, execution_count=3)
