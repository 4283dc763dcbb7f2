"""Cells that run again and again leave nothing behind, in a real JupyterLab."""

import pytest

from tests.browser.pages import painted
from tests.needs import needs_chromium
from tests.widget_kinds import IMPORTS, KINDS

pytestmark = [needs_chromium, pytest.mark.long]

TIMES = 50
# anywidget keeps the node of each view, and JupyterLab some text of its own: 100 nodes and 0.7 MB after
# fifty runs of a widget that shows one word. A page may keep a view or two for a while. If none is let go,
# the smallest widget leaves 500 listeners, the stride explorer 3,600.
MOST = 3 * TIMES, 20 * TIMES, 40_000 * TIMES  # listeners, nodes, bytes

# Each run shows the widget again; it is drawn, pointed at and walked in before the next run removes it.
SHOW_AGAIN = """async ([k, css, times]) => {
  const book = jupyterapp.shell.currentWidget.content;
  book.activeCellIndex = k;
  const { node } = book.activeCell.outputArea;
  let before = null;
  for (let run = 0; run < times; run++) {
    await jupyterapp.commands.execute('notebook:run-cell');
    const until = performance.now() + 120_000;
    let drawn;
    while (!(drawn = node.querySelector(css)) || drawn === before) {
      if (performance.now() > until) return `run ${run}: ${node.innerText}`;
      await new Promise((done) => setTimeout(done));
    }
    before = drawn;
    // No keys: JupyterLab itself keeps every key event that a widget answers, and with it the widget.
    for (const grid of drawn.querySelectorAll('[role=grid], input[type=range]')) {
      grid.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
      grid.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }
  return '';
}"""


def counted(page, session):
    """The page's listeners, nodes and bytes, once garbage collection has settled."""
    seen, same = None, 0
    while same < 3:
        painted(page)
        session.send("HeapProfiler.collectGarbage")
        counts = session.send("Memory.getDOMCounters")
        before, seen = seen, (counts["jsEventListeners"], counts["nodes"])
        same = same + 1 if seen == before else 0
    return *seen, session.send("Runtime.getHeapUsage")["usedSize"]


@pytest.fixture(scope="module")
def again(lab, notebook):
    """A page on which cell k + 1 shows the k-th widget."""
    made = [f"w{k} = {kind.make}" for k, kind in enumerate(KINDS.values())]
    page = notebook("\n".join([IMPORTS, *made]), *[f"w{k}" for k in range(len(KINDS))])
    return page, page.context.new_cdp_session(page)


@pytest.mark.parametrize("k", range(len(KINDS)), ids=list(KINDS))
def test_a_rerun_cell_leaves_nothing_behind(again, k):
    """After fifty runs, listeners, nodes and bytes have grown no more than those of the page itself."""
    page, session = again
    css = [*KINDS.values()][k].css
    assert page.evaluate(SHOW_AGAIN, [k + 1, css, 5]) == ""
    before = counted(page, session)
    assert page.evaluate(SHOW_AGAIN, [k + 1, css, TIMES]) == ""
    grown = [y - x for x, y in zip(before, counted(page, session), strict=True)]
    assert all(n <= most for n, most in zip(grown, MOST, strict=True)), grown
    assert page.locator(css).count() == 1
