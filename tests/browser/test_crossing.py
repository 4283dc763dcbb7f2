"""A hand and the kernel change a widget at the same moment, in a real JupyterLab.

The last change to reach the kernel wins, and both views end up with it. Every order of events, on a stub of
the wires between them, is in tests/js/crossing.test.mjs.
"""

import json

import pytest

from tests.browser.pages import BY_HAND, MODELS, away, painted, run_last_cell, settled
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, RIGHT

pytestmark = needs_chromium

START = """\
import json
from pathlib import Path
from time import sleep
def wait_for(name):
    while not Path(name).exists():
        sleep(0.005)
w = {make}
display(w, w)"""
BEGIN = """(code) => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  globalThis.cell = kernel.requestExecute({ code, store_history: false }).done;
}"""
STATE = f"""async (id) => {{
  const models = await ({MODELS})();
  return JSON.stringify(models.find((model) => model.model_id === id).get('_state'));
}}"""
# What the views show, without what is said aloud and the numbers that tell them apart.
HTML = """(views) => views.map((view) => {
  const copy = view.cloneNode(true);
  for (const node of copy.querySelectorAll('.sk-spoken, [id$="-hint"]')) node.remove();
  return copy.innerHTML.replace(/stridekit-\\d+/g, '');
})"""


class Twice:
    """A new widget of a kind, in two views; who has what of its state."""

    def __init__(self, lab, page, kind):
        run_last_cell(page, START.format(make=KINDS[kind].make))
        self.lab, self.page, self.kind = lab, page, kind
        self.views = page.locator(".jp-Cell").last.locator(KINDS[kind].css)
        self.model = lab.run_code(page, "print(w.model_id)").strip()

    def hand(self):
        """Change one view by hand; the state that its page then has."""
        BY_HAND[self.kind](self.views.last)
        return self.on_page()

    def on_page(self):
        return json.loads(self.page.evaluate(STATE, self.model))

    def in_kernel(self):
        """What the kernel holds when all is quiet; both views show the same then."""
        away(self.views)  # what lies under the pointer is lit in its own view
        settled(self.page)
        painted(self.page)
        self.page.wait_for_function("!document.querySelector('[data-moving]')")
        first, second = self.views.evaluate_all(HTML)
        assert first == second
        return json.loads(self.lab.run_code(self.page, "print(json.dumps(w._state))"))


@pytest.fixture
def twice(lab, kinds_page, kind):
    return Twice(lab, kinds_page, kind)


# All kinds share what they do here: one of them is tried every time.
OTHERS = [pytest.param(kind, marks=pytest.mark.long) for kind in KINDS if kind != "AliasExplorer"]


@pytest.mark.parametrize("kind", ["AliasExplorer", *OTHERS])
def test_a_hand_wins_over_a_cell_that_was_running_before_it(twice, tmp_path):
    go = tmp_path / "go"
    twice.page.evaluate(BEGIN, f"wait_for({str(go)!r})\n{RIGHT[twice.kind][0]}")
    by_hand = twice.hand()
    go.touch()
    assert twice.in_kernel() == by_hand == twice.on_page()


@pytest.mark.parametrize("kind", ["AliasExplorer", *OTHERS])
def test_a_change_that_python_refuses_is_taken_back_in_both_views(twice):
    before = twice.on_page()
    refuse = "def refuse(state):\n    refused.append(state)\n    raise ValueError"
    assert twice.lab.run_code(twice.page, f"refused = []\n{refuse}\nw._check = refuse") == ""
    twice.hand()  # the kernel may have answered before this returns
    assert twice.in_kernel() == before == twice.on_page()
    assert twice.lab.run_code(twice.page, "print(len(refused) > 0)").strip() == "True"
