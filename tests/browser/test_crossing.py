"""A hand and the kernel change a widget at the same moment, in a real JupyterLab.

The last change to reach the kernel wins, and both views end up with it. Every order of events, on a stub of
the wires between them, is in tests/js/crossing.test.mjs. All kinds share what they do here.
"""

import json

import pytest

from tests.browser.pages import BY_HAND, MODELS, away, painted, run_last_cell, settled
from tests.needs import needs_chromium
from tests.widget_kinds import RIGHT

pytestmark = needs_chromium

KIND = "AliasExplorer"
START = f"""\
import json
from pathlib import Path
from time import sleep
def wait_for(name):
    while not Path(name).exists():
        sleep(0.005)
def refuse(state):
    refused.append(state)
    raise ValueError
refused, w = [], {KIND}()
display(w, w)"""
BEGIN = """(code) => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  globalThis.cell = kernel.requestExecute({ code, store_history: false }).done;
}"""
STATE = f"""async (id) => {{
  const models = await ({MODELS})();
  return models.find((model) => model.model_id === id).get('_state');
}}"""
# What the views show, without what is said aloud and the numbers that tell them apart.
HTML = """(views) => views.map((view) => {
  const copy = view.cloneNode(true);
  for (const node of copy.querySelectorAll('.sk-spoken, [id$="-hint"]')) node.remove();
  return copy.innerHTML.replace(/stridekit-\\d+/g, '');
})"""


@pytest.fixture
def views(kinds_page):
    """Two views of a new widget."""
    run_last_cell(kinds_page, START)
    return kinds_page.locator(".jp-Cell").last.locator(".stridekit")


def on_page(lab, views):
    return views.page.evaluate(STATE, lab.run_code(views.page, "print(w.model_id)").strip())


def in_kernel(lab, views):
    """What the kernel holds when all is quiet; both views show the same then."""
    away(views)  # what lies under the pointer is lit in its own view
    settled(views.page)
    painted(views.page)
    views.page.wait_for_function("!document.querySelector('[data-moving]')")
    first, second = views.evaluate_all(HTML)
    assert first == second
    return json.loads(lab.run_code(views.page, "print(json.dumps(w._state))"))


def test_a_hand_wins_over_a_cell_that_was_running_before_it(lab, views, tmp_path):
    go = tmp_path / "go"
    before = on_page(lab, views)
    views.page.evaluate(BEGIN, f"wait_for({str(go)!r})\n{RIGHT[KIND][0]}")
    BY_HAND[KIND](views.last)
    go.touch()
    assert before != in_kernel(lab, views) == on_page(lab, views)
    assert lab.run_code(views.page, "print(w.steps[-1])").strip() == "z = x.t()"


def test_a_change_that_python_refuses_is_taken_back_in_both_views(lab, views):
    before = on_page(lab, views)
    lab.run_code(views.page, "w._check = refuse")
    BY_HAND[KIND](views.last)
    assert in_kernel(lab, views) == before == on_page(lab, views)
    assert lab.run_code(views.page, "print(len(refused) > 0)").strip() == "True"
