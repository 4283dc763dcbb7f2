"""A hand and the kernel change a widget at the same moment, for each kind, in a real JupyterLab.

The last change to reach the kernel wins, both views show it in the end, and none goes back on the way.
"""

import json
import time

import pytest

from tests.browser.pages import BY_HAND, MODELS, run_last_cell, settled
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, RIGHT

pytestmark = needs_chromium


class Crossing:
    """A new widget of a kind, shown twice, and when its kernel and its page hear of one another.

    The kernel waits for files and makes them, as it may not be asked while nothing gets through.
    """

    def __init__(self, lab, page, kind, folder):
        self.lab, self.page, self.kind, self.folder = lab, page, kind, folder
        run_last_cell(page, START.format(folder=str(folder), make=KINDS[kind].make))
        self.views = page.locator(".jp-Cell").last.locator(KINDS[kind].css)
        self.model = lab.run_code(page, "print(w.model_id)").strip()
        page.evaluate(RECORD, [KINDS[kind].css, self.model])

    def by_hand(self, k=0):
        BY_HAND[self.kind](self.views.nth(k))

    def begin(self):
        """A cell is at work until it may go on; then it changes the widget."""
        self.page.evaluate(BEGIN, f"wait('go')\n{RIGHT[self.kind][0]}\nmake('done')")
        self.wait_for("begun")

    def go_on(self):
        (self.folder / "go").touch()
        self.wait_for("done")

    def wait_for(self, name):
        until = time.monotonic() + 30
        while not (self.folder / name).exists():
            assert time.monotonic() < until, f"the kernel has not {name}"
            self.page.wait_for_timeout(5)  # the page goes on meanwhile

    def end(self):
        """When all is quiet: how many states there were to see, and who came last to the kernel."""
        self.page.evaluate("crossing.let()")
        settled(self.page)
        held = json.loads(self.lab.run_code(self.page, "print(json.dumps(w._state))"))
        shown, html = self.page.evaluate("crossing.end()")
        assert json.loads(shown[-1]) == held and html[0] == html[1]
        assert len(shown) == len({*shown}), "a state comes back that was left"
        return len(shown), self.lab.run_code(self.page, "print(came[-1])").strip()


# `came` is who changed the widget, in the order of the kernel: ipywidgets remembers what comes from a page.
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

# `crossing` holds back what comes from the kernel or goes there, and writes down each state that was to be
# seen: when something has changed in a view, and the browser could paint it.
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
    copy.querySelector('.sk-spoken').remove();
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
    end: () => [shown, views.map(html)],
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


# There are three states: as at first, that of the hand, that of the cell. What was overtaken is not shown.


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_that_hears_late(crossing):
    """The cell was first: what it did reaches the page when the hand has gone on."""
    crossing.begin()
    crossing.page.evaluate("crossing.deafen()")
    crossing.go_on()
    crossing.by_hand()
    crossing.wait_for("hand")
    assert crossing.end() == (2, "hand")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_that_hears_late_of_what_came_last(crossing):
    """The hand was first: the page hears of both at once, and shows what the cell did."""
    crossing.page.evaluate("crossing.deafen()")
    crossing.by_hand()
    crossing.wait_for("hand")
    crossing.begin()
    crossing.go_on()
    assert crossing.end() == (3, "cell")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_that_speaks_late(crossing):
    """What the hand did is on its way while the page hears of the cell."""
    crossing.begin()
    crossing.page.evaluate("crossing.silence()")
    crossing.by_hand()
    crossing.go_on()
    crossing.page.evaluate("crossing.cell.then(() => {})")  # its end comes after what it did
    assert crossing.end() == (2, "hand")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_that_is_busy(crossing):
    """What the hand did waits until the cell has ended, which changes the widget last of all."""
    crossing.begin()
    crossing.by_hand(1)
    crossing.go_on()
    crossing.wait_for("hand")
    assert crossing.end() == (2, "hand")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_change_that_python_refuses(crossing):
    """It is seen, as the browser draws at once, and then both views are back at what the kernel holds."""
    said = crossing.lab.run_code(
        crossing.page, "def refuse(scene):\n    raise ValueError\nw._check = refuse"
    )
    assert said == ""
    crossing.by_hand()
    settled(crossing.page)
    (first, _, last), html = crossing.page.evaluate("crossing.end()")
    held = crossing.lab.run_code(crossing.page, "print(json.dumps(w._state), came)")
    assert first == last and html[0] == html[1]
    assert held.strip() == f"{json.dumps(json.loads(first))} []"
