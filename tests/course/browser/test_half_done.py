"""A lesson that was left half done: each card, widget and report is there when it is opened again."""

import json
import shutil

import nbformat
import pytest
from nbformat import v4
from playwright.sync_api import expect

from stridekit.lessons.notebook import METADATA
from tests.course.browser.lab import READY, ROOT
from tests.course.browser.pages import button, enter, settled
from tests.course.needs import at_night_but, needs_chromium

pytestmark = needs_chromium

LESSON = "02_views.ipynb"
# The lesson is left behind these cells. Cell 27 is an exercise, the others show a card or a widget.
STOPS = [11, 15, 18, 27, 30]
FIRST_CARD = 11
SAVE = "jupyterapp.commands.execute('docmanager:save')"
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
STOP_KERNEL = "jupyterapp.shell.currentWidget.sessionContext.shutdown()"
CLOSE = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.sessionContext.shutdown();
  panel.dispose();
}"""
TAB = ".jp-NotebookPanel:not(.lm-mod-hidden)"  # the notebook in front
OPEN_WITHOUT_KERNEL = """(path) => jupyterapp.commands.execute('docmanager:open',
  { path, factory: 'Notebook', kernelPreference: { shouldStart: false } })"""
TRUSTED = """[...jupyterapp.shell.currentWidget.content.model.cells]
  .filter((cell) => cell.type === 'code').map((cell) => cell.trusted)"""
# Whether the server finds the signature of a notebook.
SIGNED = """async (url) => {
  const { content } = await (await fetch(url)).json();
  return content.cells.every(({ cell_type, metadata }) => cell_type !== 'code' || metadata.trusted);
}"""
RUN = """async ([first, last]) => {
  const { content } = jupyterapp.shell.currentWidget;
  for (let number = first; number <= last; number++) {
    if (content.widgets[number].model.type !== 'code') continue;
    content.activeCellIndex = number;
    content.deselectAll();
    await jupyterapp.commands.execute('notebook:run-cell');
  }
}"""
# The words of each widget and report, by the number of its cell, once all are drawn.
SHOWN = """async (last) => {
  const { content } = jupyterapp.shell.currentWidget;
  const shown = {};
  const until = performance.now() + 60_000;
  for (const [number, { model, outputArea }] of content.widgets.slice(0, last + 1).entries()) {
    for (let k = 0; k < (model.outputs?.length ?? 0); k++) {
      const { data } = model.outputs.get(k);
      if (data?.['text/html']) shown[number] = outputArea.node.innerText.trim();
      if (!data?.['application/vnd.jupyter.widget-view+json']) continue;
      const drawn = () => outputArea.node.querySelector('.stridekit');
      while (!drawn() && performance.now() < until) await new Promise(requestAnimationFrame);
      const copy = (drawn() ?? outputArea.node).cloneNode(true);
      for (const node of copy.querySelectorAll('.sk-gone, .sk-spoken')) node.remove();
      shown[number] = copy.textContent;
    }
  }
  return shown;
}"""


@pytest.fixture(scope="module")
def folder(lab, kinds_page):
    """A folder with a copy of the lesson for each stop; the kernel that ran it is gone.

    The lesson ends soon after the last stop: JupyterLab takes seconds to draw all of it. It runs in a tab
    of an open page, which is quicker than a new page.
    """
    folder = lab.root / "elsewhere"
    folder.mkdir()
    book = nbformat.read(ROOT / "notebooks" / LESSON, as_version=4)
    book.cells = book.cells[: STOPS[-1] + 5]
    nbformat.write(book, lab.root / LESSON)
    page = kinds_page
    lab.show(LESSON, page)
    first = 0
    for last in STOPS:
        page.evaluate(RUN, [first, last])
        first = last + 1
        if last == FIRST_CARD:
            enter(page.locator(TAB).locator(".sk-predict"), "your prediction", "2")
        shown = page.evaluate(SHOWN, last)
        page.evaluate(SAVE)
        shutil.copy(lab.root / LESSON, folder / f"{last}.ipynb")
        (folder / f"{last}.json").write_text(json.dumps(shown))
    page.evaluate(CLOSE)
    return folder


def shown_before(folder, last):
    """What the page showed when it was saved behind a cell."""
    return json.loads((folder / f"{last}.json").read_text())


def open_in(app, lab, path):
    """Open a page on a notebook in JupyterLab or in Notebook 7, which share a server."""
    if app == "lab":
        return lab.open(path)
    pytest.importorskip("notebook")
    page = lab.context.new_page()  # Notebook 7 leaves errors of its own uncaught
    page.goto(f"{lab.url}notebooks/{path}?token={lab.token}")
    page.wait_for_function(READY, polling=100)
    return page


@pytest.mark.parametrize("last", at_night_but([30], STOPS))
@pytest.mark.parametrize("app", at_night_but(["lab"], ["lab", "notebook"]))
def test_all_is_there_when_a_half_done_lesson_is_opened_again(lab, folder, app, last):
    """In another folder, too. The notebook is signed, and to open it is no edit."""
    page = open_in(app, lab, f"elsewhere/{last}.ipynb")
    assert page.evaluate(SHOWN, last) == shown_before(folder, last)
    assert page.evaluate(SIGNED, f"{lab.url}api/contents/elsewhere/{last}.ipynb")
    assert not page.evaluate(DIRTY)
    lab.close(page)


@pytest.mark.long
def test_an_update_on_disk_leaves_all_alive(lab, folder):
    """It takes the signature away. What a hand then does is saved, and seen without a kernel."""
    last = STOPS[-1]
    path = folder / "updated.ipynb"
    notebook = json.loads((folder / f"{last}.ipynb").read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] = "# Another title"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    page = lab.open(f"elsewhere/{path.name}")
    assert not page.evaluate(SIGNED, f"{lab.url}api/contents/elsewhere/{path.name}")
    assert page.evaluate(SHOWN, last) == shown_before(folder, last)
    page.evaluate("jupyterapp.shell.currentWidget.context.revert()")
    assert page.evaluate(SHOWN, last) == shown_before(folder, last)
    assert not page.evaluate(DIRTY)
    card = page.locator(".sk-predict").last
    card.get_by_role("radio").first.check()
    button(card, "Commit").click()
    assert page.evaluate(DIRTY)
    shown = page.evaluate(SHOWN, last)
    assert shown != shown_before(folder, last)
    page.evaluate(SAVE)
    assert page.evaluate(SIGNED, f"{lab.url}api/contents/elsewhere/{path.name}")

    page.evaluate(CLOSE)
    page.evaluate(OPEN_WITHOUT_KERNEL, f"elsewhere/{path.name}")
    page.wait_for_function(f"jupyterapp.shell.currentWidget.context?.path.endsWith('{path.name}')")
    page.wait_for_function("jupyterapp.shell.currentWidget.context.isReady")
    assert page.evaluate(SHOWN, last) == shown
    assert not page.evaluate(DIRTY)
    page.close()


@pytest.mark.long
def test_a_lesson_whose_outputs_were_cleared_begins_anew(lab, folder):
    path = folder / "cleared.ipynb"
    shutil.copy(folder / f"{STOPS[-1]}.ipynb", path)
    page = lab.open(f"elsewhere/{path.name}")
    page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.evaluate(SAVE)
    lab.open(f"elsewhere/{path.name}", page)
    assert page.evaluate(SHOWN, STOPS[-1]) == {}
    page.evaluate(RUN, [0, FIRST_CARD])
    shown = page.evaluate(SHOWN, FIRST_CARD)
    assert list(shown) == [str(FIRST_CARD)]
    page.evaluate(SAVE)
    page.evaluate(STOP_KERNEL)
    lab.open(f"elsewhere/{path.name}", page)
    assert page.evaluate(SHOWN, FIRST_CARD) == shown
    lab.close(page)


@pytest.mark.long
def test_a_kernel_that_still_runs_knows_more_than_the_file(lab, folder):
    path = folder / "running.ipynb"
    shutil.copy(ROOT / "notebooks" / LESSON, path)
    page = lab.open(f"elsewhere/{path.name}")
    page.evaluate(RUN, [0, FIRST_CARD])
    page.evaluate(SAVE)
    enter(page.locator(".sk-predict"), "your prediction", "2")
    settled(page)
    shown = page.evaluate(SHOWN, FIRST_CARD)
    page.reload()
    page.wait_for_function(READY, polling=100)
    card = page.locator(".sk-predict")
    expect(card.locator(".sk-answer")).to_contain_text("one more try")
    expect(card.locator(".sk-gone")).to_have_count(0)
    assert page.evaluate(SHOWN, FIRST_CARD) == shown
    lab.close(page)


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=str)
def test_nothing_in_a_stored_lesson_needs_trust(lab, path):
    page = lab.open(f"notebooks/{path.name}")
    assert all(page.evaluate(TRUSTED))
    lab.close(page)


# What runs leaves a mark on the page.
EVIL = """export default {
  initialize() { globalThis.isHarmed = true; },
  render() { globalThis.isHarmed = true; },
};"""
RUNS = "globalThis.isHarmed = true"
KIND = "stridekit.widgets.predict.widget.Predict"
VIEW = "application/vnd.jupyter.widget-view+json"


def test_no_code_of_a_notebook_from_elsewhere_runs(lab, kinds_page):
    """A widget of stridekit is drawn by the code that is installed, whatever code the notebook has."""
    problem = {"question": f"<img src=x onerror='{RUNS}'>", "kind": "number", "choices": []}
    problem |= {"quoted": [], "answer": 1, "why": "", "experiment": "", "output": "", "remarks": []}
    names = {"_model_module": "anywidget", "_model_name": "AnyModel", "_view_module": "anywidget"}
    names |= {"_view_name": "AnyView", "_esm": EVIL}
    card = names | {
        "_anywidget_id": KIND,
        "_state": {},
        "_problem": problem,
        "_code": "IPY_MODEL_c",
    }
    code = names | {"_anywidget_id": "stridekit.widgets.base.Code", "_zip": "", "_script": RUNS}
    module = {"model_module": "anywidget", "model_module_version": "*", "model_name": "AnyModel"}
    models = {"w": module | {"state": card}, "c": module | {"state": code}}
    saved = {"version_major": 2, "version_minor": 0, "state": models}
    widgets = {"application/vnd.jupyter.widget-state+json": saved}
    outputs = [
        {VIEW: {"model_id": "w"}},
        {"text/html": f"<img src=x onerror='{RUNS}'><script>{RUNS}</script>"},
        {"text/html": "<p style='position: fixed'>over all</p>"},
        {"text/html": "<p style='color: red'>harmless</p>"},
        {"application/javascript": RUNS},
        {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg'><script>{RUNS}</script></svg>"},
    ]
    cells = [
        v4.new_code_cell("1", outputs=[v4.new_output("display_data", {"text/plain": "1"} | data)])
        for data in outputs
    ]
    book = v4.new_notebook(cells=cells, metadata=METADATA | {"widgets": widgets})
    nbformat.write(book, lab.root / "evil.ipynb")
    page = kinds_page
    lab.show("evil.ipynb", page)
    expect(page.locator(TAB).locator(".sk-predict legend")).to_contain_text("onerror=")
    assert page.evaluate(TRUSTED) == [True, False, False, True, False, False]
    assert not page.evaluate("globalThis.isHarmed")
    page.evaluate(CLOSE)
