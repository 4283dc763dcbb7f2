"""Cells that run again and again leave nothing behind, in a real JupyterLab."""

import math

import pytest

from tests.course.browser.pages import painted, run_last_cell
from tests.course.needs import needs_chromium
from tests.course.widget_kinds import KINDS

pytestmark = [needs_chromium, pytest.mark.long]

TIMES = 50
# anywidget keeps the node of each view, and JupyterLab some text of its own: 100 nodes and 0.7 MB after
# fifty runs of a widget that shows one word. A page may keep a view or two for a while. If none is let go,
# the smallest widget leaves 500 listeners, the stride explorer 3,600.
MOST = 3 * TIMES, 20 * TIMES, 40_000 * TIMES  # listeners, nodes, bytes

# Each run shows the widget again; it is drawn, pointed at and walked in before the next run removes it.
SHOW_AGAIN = """async ([css, times]) => {
  const { node } = jupyterapp.shell.currentWidget.content.activeCell.outputArea;
  for (let run = 0, before = null, drawn; run < times; run++, before = drawn) {
    await jupyterapp.commands.execute('notebook:run-cell');
    while (!(drawn = node.querySelector(css)) || drawn === before)
      await new Promise((done) => setTimeout(done));
    // No keys: JupyterLab itself keeps every key event that a widget answers, and with it the widget.
    for (const grid of drawn.querySelectorAll('[role=grid], input[type=range]')) {
      grid.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
      grid.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }
}"""


def counted(page):
    """The page's listeners, nodes and bytes, once five rounds of garbage collection have freed no more."""
    session = page.context.new_cdp_session(page)
    least = (math.inf, math.inf, math.inf)
    rounds_in_vain = 0
    while rounds_in_vain < 5:
        painted(page)
        session.send("HeapProfiler.collectGarbage")
        counts = session.send("Memory.getDOMCounters")
        heap = session.send("Runtime.getHeapUsage")
        nbytes = heap["usedSize"] // 100_000 * 100_000
        current = (counts["jsEventListeners"], counts["nodes"], nbytes)
        least_before = least
        least = tuple(map(min, least, current))
        rounds_in_vain = rounds_in_vain + 1 if least == least_before else 0
    return least


@pytest.mark.parametrize("kind", KINDS)
def test_a_rerun_cell_leaves_nothing_behind(kinds_page, kind):
    """After fifty runs, listeners, nodes and bytes have grown no more than those of the page itself."""
    css = KINDS[kind].css
    run_last_cell(kinds_page, f"w{[*KINDS].index(kind)}")
    kinds_page.evaluate(SHOW_AGAIN, [css, 5])
    before = counted(kinds_page)
    kinds_page.evaluate(SHOW_AGAIN, [css, TIMES])
    after = counted(kinds_page)
    grown = [y - x for x, y in zip(before, after, strict=True)]
    for growth, most in zip(grown, MOST, strict=True):
        assert growth <= most, grown
    assert kinds_page.locator(".jp-Cell").last.locator(css).count() == 1
