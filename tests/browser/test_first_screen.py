"""The first minutes in JupyterLab: an arrow key moves a stride, and answers are folded."""

import pytest
from nbformat import v4
from playwright.sync_api import expect

from stridekit.lessons import notebook as form
from tests.browser.lab import ROOT
from tests.browser.pages import text, told
from tests.needs import needs_chromium

pytestmark = needs_chromium

START = "notebooks/00_start.ipynb"
CELLS = form.parse((ROOT / START).read_text(encoding="utf-8")).cells
FIRST = next(k for k, cell in enumerate(CELLS) if "StrideExplorer(" in cell.source)
MOVED = "torch.arange(40.).as_strided((4, 6), (9, 1), 2)"
ACTIVE = "jupyterapp.shell.currentWidget.content.activeCellIndex"
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
HAS_KEYS = "() => Boolean(document.activeElement.closest('.stridekit'))"


@pytest.fixture(scope="module")
def start(lab):
    """The start page in a window of 1280 by 900 px; to open it is no edit, and leaves the keys alone."""
    page = lab.open(START)
    assert not page.evaluate(DIRTY) and page.evaluate(ACTIVE) == 0 and not page.evaluate(HAS_KEYS)
    yield page
    lab.close(page)


def test_an_arrow_key_moves_a_stride(start):
    """Shift+Enter shows the explorer whole and leaves it in view, and an arrow moves its first stride."""
    for cell in range(FIRST + 1):
        start.keyboard.press("Shift+Enter")
        start.wait_for_function(f"(k) => {ACTIVE} === k", arg=cell + 1)
    w = start.locator(".sk-explorer")
    w.wait_for()
    start.wait_for_function("document.activeElement.id.endsWith('stride-0')")
    for key in ("ArrowRight", "Shift+Enter"):  # which goes on, and does not run the cell again
        start.keyboard.press(key)
        told(w)
        assert text(w, ".sk-code code >> nth=0") == MOVED
    start.wait_for_function(f"{ACTIVE} === {FIRST + 2}")
    box, area = w.bounding_box(), start.locator(".jp-NotebookPanel-notebook").bounding_box()
    assert box["y"] >= area["y"] and box["y"] + box["height"] <= area["y"] + area["height"]


def test_a_widget_takes_the_keys_from_nobody(lab, start):
    """Not by Run All, and not while somebody types."""
    lab.run_all(start)
    start.locator(".sk-explorer").wait_for()
    assert not start.evaluate(HAS_KEYS)
    cell = start.locator(".jp-Cell").nth(FIRST)
    if cell.locator(".jp-Placeholder").count():  # its code is folded
        cell.locator(".jp-Placeholder").first.click()
    cell.locator(".cm-content").click()
    start.evaluate("() => { document.querySelector('.sk-explorer').old = true; }")
    start.keyboard.press("Control+Enter")  # runs the cell and stays in it
    start.wait_for_function("!(document.querySelector('.sk-explorer') ?? { old: true }).old")
    assert start.evaluate(ACTIVE) == FIRST and not start.evaluate(HAS_KEYS)


@pytest.fixture(scope="module")
def lesson(lab):
    """A widget among long texts, and a question with its answer."""
    above, below = ("\n\n".join([f"Text {side}."] * 12) for side in ("above", "below"))
    answer = v4.new_output("execute_result", {"text/plain": "40"}, execution_count=3)
    book = v4.new_notebook(
        cells=[
            v4.new_markdown_cell(above),
            v4.new_code_cell("from stridekit import CacheExplorer, Predict\nCacheExplorer()"),
            *[v4.new_markdown_cell(f"{below} {k}") for k in range(4)],
            v4.new_code_cell("Predict('What is 5 * 8?', 40)"),
            v4.new_code_cell("5 * 8", outputs=[answer]),
            v4.new_markdown_cell("Five rows of eight are 40."),
        ]
    )
    form.tidy(book)
    (lab.root / "lesson.ipynb").write_text(form.write(book), encoding="utf-8")
    page = lab.open("lesson.ipynb")
    yield page
    lab.close(page)


def test_a_widget_that_was_just_run_comes_into_view(lesson):
    """JupyterLab goes on to the next cell, which would push the widget off the screen as it grows."""
    lesson.locator(".jp-Cell").nth(1).locator(".jp-InputPrompt").click()
    lesson.keyboard.press("Shift+Enter")
    lesson.locator(".sk-cache").wait_for()
    lesson.wait_for_function(IS_WHOLE)
    assert lesson.evaluate(ACTIVE) == 2


IS_WHOLE = """() => {
  const boxOf = (css) => document.querySelector(css).getBoundingClientRect();
  const [widget, area] = ['.sk-cache', '.jp-WindowedPanel-outer'].map(boxOf);
  return widget.top >= area.top - 1 && widget.bottom <= area.bottom + 1;
}"""


def test_an_answer_is_folded_until_its_cell_has_run(lesson):
    """So are the words that explain it, and the first line, which JupyterLab shows of a fold."""
    ran, words = lesson.locator(".jp-Cell").nth(-2), lesson.locator(".jp-Cell").nth(-1)
    for cell in (ran, words):
        expect(cell.locator(".jp-PlaceholderText")).to_have_css("font-size", "0px")
        expect(cell.locator(".jp-OutputArea-output, .jp-MarkdownOutput")).not_to_be_visible()
    ran.click()
    lesson.keyboard.press("Shift+Enter")
    expect(ran.locator(".jp-OutputArea-output")).to_have_text("40")
    expect(words.locator(".jp-MarkdownOutput")).to_have_text("Five rows of eight are 40.")
