"""The first minutes in JupyterLab, on the start page with some cells of a lesson behind it."""

import pytest
from nbformat import v4
from playwright.sync_api import expect

from stridekit.lessons import notebook as form
from tests.course.browser.lab import ROOT
from tests.course.browser.pages import button, press, wait_for_frame
from tests.course.needs import needs_chromium

pytestmark = needs_chromium

BOOK = form.parse((ROOT / "notebooks" / "00_start.ipynb").read_text(encoding="utf-8"))
FIRST = next(k for k, cell in enumerate(BOOK.cells) if "StrideExplorer(" in cell.source)
CACHE = len(BOOK.cells) + 1
CARD = CACHE + 8
STILL = next(output for output in BOOK.cells[FIRST].outputs if "image/png" in output.data)
ANSWER = v4.new_output("execute_result", {"text/plain": "40"}, execution_count=3)
LONG = "\n\n".join(["Text."] * 12)
BOOK.cells += [
    v4.new_markdown_cell(LONG),
    v4.new_code_cell("from stridekit import CacheExplorer, Predict\nCacheExplorer()"),
    *[v4.new_markdown_cell(f"{LONG} {k}") for k in range(4)],
    v4.new_code_cell("Predict('What is 5 * 8?', 40)"),
    v4.new_code_cell("5 * 8", outputs=[ANSWER]),
    v4.new_markdown_cell("Five rows of eight are 40."),
    v4.new_code_cell("Predict('What is 6 * 8?', 48)"),
    v4.new_code_cell("6 * 8", outputs=[ANSWER]),
    v4.new_code_cell("from stridekit.exercises import strides as ex"),
    v4.new_code_cell("def row(x, i): return x[0]\nex.row.check(row)"),
    v4.new_code_cell("ex.row.check(lambda x, i: ex.row.reference(x, i))"),
]
ROW = len(BOOK.cells) - 2  # the exercise whose check fails
MOVED = "torch.arange(40.).as_strided((4, 6), (9, 1), 2)"
ACTIVE = "jupyterapp.shell.currentWidget.content.activeCellIndex"
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
HAS_KEYS = "() => Boolean(document.activeElement.closest('.stridekit'))"


@pytest.fixture(scope="module")
def page(lab):
    """The page in a window of 1280 by 900 px; to open it is no edit, and leaves the keys alone."""
    form.tidy(BOOK)
    (lab.root / "start.ipynb").write_text(form.write(BOOK), encoding="utf-8")
    page = lab.open("start.ipynb")
    assert not page.evaluate(DIRTY)
    assert page.evaluate(ACTIVE) == 0
    assert not page.evaluate(HAS_KEYS)
    yield page
    lab.close(page)


def test_an_arrow_key_moves_a_stride(page):
    """Shift+Enter shows the explorer whole and leaves it in view, and an arrow moves its first stride."""
    for cell in range(FIRST + 1):
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(f"(k) => {ACTIVE} === k", arg=cell + 1)
    w = page.locator(".sk-explorer")
    w.wait_for()
    page.wait_for_function("document.activeElement.id.endsWith('stride-0')")
    for key in ("ArrowRight", "Shift+Enter"):  # which goes on, and does not run the cell again
        page.keyboard.press(key)
        wait_for_frame(w)
        assert w.locator(".sk-code code").first.inner_text() == MOVED
    page.wait_for_function(f"{ACTIVE} === {FIRST + 2}")
    page.wait_for_function(IS_WHOLE, arg=".sk-explorer")


# A widget lies inside the area of the notebook.
IS_WHOLE = """(css) => {
  const boxOf = (css) => document.querySelector(css).getBoundingClientRect();
  const [widget, area] = [css, '.jp-WindowedPanel-outer'].map(boxOf);
  return widget.top >= area.top - 1 && widget.bottom <= area.bottom + 1;
}"""


def test_a_widget_that_was_just_run_comes_into_view(page):
    """JupyterLab goes on to the next cell, which would push the widget off the screen as it grows."""
    page.locator(".jp-Cell").nth(CACHE).locator(".jp-InputPrompt").click()
    page.keyboard.press("Shift+Enter")
    page.locator(".sk-cache").wait_for()
    page.wait_for_function(IS_WHOLE, arg=".sk-cache")
    assert page.evaluate(ACTIVE) == CACHE + 1


def test_a_card_has_the_focus_and_its_answer_waits(page):
    """Enter commits. Shift+Enter goes on after an answer, or when it is pressed twice."""
    cell = page.locator(".jp-Cell").nth(CARD)
    card = cell.locator(".sk-predict")
    line = card.get_by_label("your prediction")
    answer = page.locator(".jp-Cell").nth(CARD + 1).locator(".jp-OutputArea-output")
    cell.locator(".jp-InputPrompt").click()
    for _ in range(2):  # the second time, it has run before
        page.keyboard.press("Shift+Enter")
        expect(line).to_be_focused()
        page.keyboard.press("Shift+Enter")
        expect(card.locator(".sk-answer")).to_contain_text("Commit to an answer first")
        expect(line).to_be_focused()
        expect(answer).not_to_be_visible()
        page.evaluate(f"{ACTIVE} = {CARD}")
        page.evaluate("jupyterapp.shell.currentWidget.content.activeCell.node.focus()")
    page.keyboard.press("Control+Enter")
    expect(line).to_be_focused()
    page.keyboard.type("48")
    page.keyboard.press("Enter")
    expect(card.locator(".sk-answer")).to_contain_text("✓")
    expect(answer).not_to_be_visible()
    page.keyboard.press("Shift+Enter")
    expect(answer).to_have_text("48")
    page.wait_for_function(f"{ACTIVE} === {CARD + 2}")
    button(card, "try again").click()
    page.keyboard.press("Shift+Enter")
    expect(card.locator(".sk-answer")).to_contain_text("Commit to an answer first")
    assert page.evaluate(ACTIVE) == CARD
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"{ACTIVE} === {CARD + 2}")


def test_a_click_on_a_still_runs_its_cell(page):
    """So do Enter and Space, without an edit of the notebook's cells."""
    count = page.locator(".jp-Cell").count()
    for key in ("", "Enter", "Space"):
        cell = page.locator(".jp-Cell").nth(FIRST)
        page.evaluate(SHOW_STILL, [FIRST, STILL])
        still = cell.get_by_role("button", name="Still picture of StrideExplorer")
        expect(still).to_have_css("cursor", "pointer")
        expect(still).to_have_attribute("title", "Run this cell")
        if key:
            press(still, key)
        else:
            still.click()
        cell.locator(".sk-explorer").wait_for()
        assert page.evaluate(ACTIVE) == FIRST
    assert page.locator(".jp-Cell").count() == count


# Put a still in the place of a cell's outputs.
SHOW_STILL = """([number, output]) => jupyterapp.shell.currentWidget.content.widgets[number]
  .model.outputs.fromJSON([output])"""


def test_an_answer_is_folded_until_its_cell_has_run(page):
    """So are the words that explain it, and the first line, which JupyterLab shows of a fold."""
    ran = page.locator(".jp-Cell").nth(CACHE + 6)
    words = page.locator(".jp-Cell").nth(CACHE + 7)
    for cell in (ran, words):
        expect(cell.locator(".jp-PlaceholderText")).to_have_css("font-size", "0px")
        expect(cell.locator(".jp-OutputArea-output, .jp-MarkdownOutput")).not_to_be_visible()
    ran.click()
    page.keyboard.press("Shift+Enter")
    expect(ran.locator(".jp-OutputArea-output")).to_have_text("40")
    expect(words.locator(".jp-MarkdownOutput")).to_have_text("Five rows of eight are 40.")


def test_no_notice_lies_over_the_page(lab, page):
    """JupyterLab asks about news as soon as it has read its settings, and reports updates later."""
    url = f"{lab.url}lab/api/settings/@jupyterlab/apputils-extension:notification"
    properties = page.evaluate(PROPERTIES, url)
    assert properties["fetchNews"]["default"] == "false"
    assert properties["checkForUpdates"]["default"] is False
    assert page.locator(".Toastify__toast").count() == 0


PROPERTIES = "async (url) => (await (await fetch(url)).json()).schema.properties"


def test_a_widget_takes_the_keys_from_nobody(lab, page):
    """Not by Run All, and not while somebody types."""
    lab.run_all(page)
    page.locator(".sk-explorer").wait_for()
    assert not page.evaluate(HAS_KEYS)
    cell = page.locator(".jp-Cell").nth(FIRST)
    if cell.locator(".jp-Placeholder").count():  # its code is folded
        cell.locator(".jp-Placeholder").first.click()
    cell.locator(".cm-content").click()
    page.evaluate("() => { document.querySelector('.sk-explorer').old = true; }")
    page.keyboard.press("Control+Enter")  # runs the cell and stays in it
    page.wait_for_function("!(document.querySelector('.sk-explorer') ?? { old: true }).old")
    assert page.evaluate(ACTIVE) == FIRST
    assert not page.evaluate(HAS_KEYS)


def test_hints_that_were_opened_stay_open_when_the_check_runs_again(lab, page):
    """Also if it then finds another mistake; a hint that was closed stays closed."""
    lab.run_all(page)
    report = page.locator(".jp-Cell").nth(ROW)
    steps = report.locator("summary:visible")
    press(steps.last, "Enter")
    press(steps.last, "Enter")
    for answer in ("x[0]", "x[i + 1]"):
        run_again(page, f"def row(x, i): return {answer}\nex.row.check(row)")
        expect(steps).to_have_text(["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"])
    press(steps.nth(1), "Enter")
    run_again(page, "def row(x, i): return x\nex.row.check(row)")
    expect(steps).to_have_text(["Hint 1 of 3", "Hint 2 of 3"])
    press(steps.first, "Enter")
    expect(steps).to_have_count(1)


def run_again(page, source):
    """Run the exercise with another answer, and wait for the new report."""
    old = page.locator(".jp-Cell").nth(ROW).locator(".jp-RenderedHTML").element_handle()
    page.evaluate(RUN_AGAIN, [ROW, source])
    page.wait_for_function("(old) => !old.isConnected", arg=old)
    expect(page.locator(".jp-Cell").nth(ROW).locator("summary:visible").first).to_be_visible()


RUN_AGAIN = """async ([row, source]) => {
  const { content } = jupyterapp.shell.currentWidget;
  content.activeCellIndex = row;
  content.activeCell.model.sharedModel.setSource(source);
  await jupyterapp.commands.execute('notebook:run-cell');
}"""


def test_an_exercise_opens_its_hints_and_a_pass_points_on(lab, page):
    """Also where no kernel answers."""
    lab.run_all(page)
    report = page.locator(".jp-Cell").nth(-2)
    passed = page.locator(".jp-Cell").nth(-1)
    expect(passed).to_contain_text("Well done: 1 of 11 in this lesson. Next: column.")
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    steps = report.locator("summary:visible")
    for count in (1, 2, 3):
        hints = [f"Hint {n} of 3" for n in range(1, count + 1)]
        expect(steps).to_have_text(hints)
        press(steps.last, "Enter")
    expect(steps.last).to_have_text("One solution")
    steps.first.click()
    expect(steps).to_have_count(1)
