"""A hand and the kernel change a widget at the same moment, in a real JupyterLab.

The last change to reach the kernel wins, both views end up with it, and none shows an old state again.
"""

import json
import time

import pytest

from tests.browser.pages import BY_HAND, MODELS, run_last_cell, settled
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, RIGHT

pytestmark = needs_chromium


class Crossing:
    """A new widget of a kind, shown twice; its methods say when kernel and page hear of each other.

    The kernel waits for files and makes them, since it cannot be asked while nothing gets through.
    """

    def __init__(self, lab, page, kind, folder):
        self.lab, self.page, self.kind, self.folder = lab, page, kind, folder
        run_last_cell(page, START.format(folder=str(folder), make=KINDS[kind].make))
        self.views = page.locator(".jp-Cell").last.locator(KINDS[kind].css)
        self.model = lab.run_code(page, "print(w.model_id)").strip()
        page.evaluate(RECORD, [KINDS[kind].css, self.model])

    def hand(self, k=0):
        """Change a view by hand."""
        BY_HAND[self.kind](self.views.nth(k))

    def other_hand(self):
        """Change the other view by hand."""
        self.hand(1)

    def hand_is_heard(self):
        """Wait until the kernel has the hand's change."""
        self.wait_for("hand")

    def cell(self):
        """Run a cell that changes the widget, but only when it may go on."""
        self.page.evaluate(BEGIN, f"wait('go')\n{RIGHT[self.kind][0]}\nmake('done')")
        self.wait_for("begun")

    def cell_goes_on(self):
        """Let the cell change the widget."""
        (self.folder / "go").touch()
        self.wait_for("done")

    def cell_is_over(self):
        """Wait until the page hears that the cell has ended, which is after its change."""
        self.page.evaluate("crossing.cell.then(() => {})")

    def page_is_deaf(self):
        """Hold back what the kernel tells the page."""
        self.page.evaluate("crossing.deafen()")

    def page_is_silent(self):
        """Hold back what the page tells the kernel."""
        self.page.evaluate("crossing.silence()")

    def wait_for(self, name):
        until = time.monotonic() + 30
        while not (self.folder / name).exists():
            assert time.monotonic() < until, f"the kernel has not {name}"
            self.page.wait_for_timeout(5)  # the page goes on during this wait

    def end(self):
        """When all is quiet: the number of states that could be seen, and who reached the kernel last."""
        self.page.evaluate("crossing.let()")
        settled(self.page)
        held = json.loads(self.lab.run_code(self.page, "print(json.dumps(w._state))"))
        shown, html = self.page.evaluate("crossing.end()")
        assert json.loads(shown[-1]) == held and html[0] == html[1]
        assert len(shown) == len({*shown}), "an old state was shown again"
        return len(shown), self.lab.run_code(self.page, "print(came[-1])").strip()


# `came` has who changed the widget, in the kernel's order: ipywidgets knows what comes from a page.
START = """\
import json
from pathlib import Path
from time import sleep
folder, came = Path({folder!r}), []
make = lambda name: (folder / name).touch()
def wait(name):
    make("begun")
    while not (folder / name).exists():
        sleep(0.005)
def note(change):
    came.append("hand" if "_state" in w._property_lock else "cell")
    make(came[-1])
w = {make}
w.observe(note, "_state")
display(w, w)"""

# `crossing` holds back messages from and to the kernel, and records each state that could be seen: when a
# view has changed and the browser could paint it.
RECORD = f"""async ([css, id]) => {{
  const ws = jupyterapp.shell.currentWidget.sessionContext.session.kernel._ws;
  const model = (await ({MODELS})()).find((model) => model.model_id === id);
  const views = [...jupyterapp.shell.currentWidget.content.activeCell.node.querySelectorAll(css)];
  const [hear, send, waiting, shown] = [ws.onmessage, ws.send, [], []];
  const write = () => {{
    const state = JSON.stringify(model.get('_state'));
    if (state !== shown.at(-1)) shown.push(state);
  }};
  const html = (view) => {{
    const copy = view.cloneNode(true);
    for (const node of copy.querySelectorAll('.sk-spoken, [id$="-hint"]')) node.remove();
    return copy.innerHTML.replace(/stridekit-\\d+/g, '');
  }};
  write();
  for (const view of views)
    new MutationObserver(write).observe(view, {{ subtree: true, childList: true, attributes: true }});
  globalThis.crossing = {{
    deafen() {{
      ws.onmessage = (event) => waiting.push(() => hear(event));
    }},
    silence() {{
      ws.send = (message) => waiting.push(() => send.call(ws, message));
    }},
    let() {{
      [ws.onmessage, ws.send] = [hear, send];
      for (const pass of waiting.splice(0)) pass();
    }},
    async end() {{
      const moving = () => views.some((view) => view.querySelector('[data-moving]'));
      while (moving()) await new Promise(requestAnimationFrame);
      return [shown, views.map(html)];
    }},
  }};
}}"""

BEGIN = """(code) => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  crossing.cell = kernel.requestExecute({ code, store_history: false }).done;
}"""


@pytest.fixture
def crossing(lab, kinds_page, kind, tmp_path):
    crossing = Crossing(lab, kinds_page, kind, tmp_path)
    yield crossing
    kinds_page.evaluate("crossing.let()")
    (tmp_path / "go").touch()


# What happens, how many states can be seen, and who wins. There are three states: the first one, the hand's
# and the cell's; one that is overtaken is not shown.
ORDERS = {
    "the page hears late": ("cell page_is_deaf cell_goes_on hand hand_is_heard", 2, "hand"),
    "the page hears late of the last": (
        "page_is_deaf hand hand_is_heard cell cell_goes_on",
        3,
        "cell",
    ),
    "the page speaks late": ("cell page_is_silent hand cell_goes_on cell_is_over", 2, "hand"),
    "the kernel is busy": ("cell other_hand cell_goes_on hand_is_heard", 2, "hand"),
}
ALL = [(kind, order) for order in ORDERS for kind in KINDS]
# All kinds share what they do here: one of them is tried in each order every time.
QUICK = {("AliasExplorer", order) for order in ORDERS} | {("Predict", next(iter(ORDERS)))}


@pytest.mark.parametrize(
    ("kind", "order"),
    [pytest.param(*both, marks=[pytest.mark.long] * (both not in QUICK)) for both in ALL],
)
def test_the_last_to_reach_the_kernel_wins(crossing, order):
    events, states, last = ORDERS[order]
    for event in events.split():
        getattr(crossing, event)()
    assert crossing.end() == (states, last)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_change_that_python_refuses(crossing):
    """The browser draws it at once, and then both views are back at what the kernel holds."""
    refuse = "def refuse(state):\n    raise ValueError\nw._check = refuse"
    assert crossing.lab.run_code(crossing.page, refuse) == ""
    crossing.hand()
    settled(crossing.page)
    (first, _, last), html = crossing.page.evaluate("crossing.end()")
    held = crossing.lab.run_code(crossing.page, "print(json.dumps(w._state), came)")
    assert first == last and html[0] == html[1]
    assert held.strip() == f"{json.dumps(json.loads(first))} []"
