"""A kernel that is restarted again and again, with Run All each time, in a real JupyterLab."""

import pytest

from tests.browser.test_leaks import counted
from tests.needs import needs_chromium
from tests.widget_kinds import IMPORTS, KINDS

pytestmark = [needs_chromium, pytest.mark.long]

TIMES = 20
# A page keeps the text of every module it has loaded, and each model loads one: 1.1 MB a run for all
# widgets, and 48 listeners. When views are not let go, a run leaves 200 listeners more, and 2,900 nodes.
MOST_LISTENERS, MOST_NODES, MOST_BYTES = 40 * TIMES, 10 * TIMES, 1_000_000 * TIMES
MOST_RESIDENT = 2**20 * TIMES  # of the kernel and of the server

# One cell for each widget.
SOURCES = [
    IMPORTS,
    *[kind.make for kind in KINDS.values()],
]
# JupyterLab asks for a thread for the widgets' messages, and fails if a restart comes before the answer.
RESTART = """async () => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  const waits = () => [...kernel._comms.values()].some(({ subshellId }) => !subshellId);
  const asked = () => kernel.supportsSubshells && waits();
  for (const until = performance.now() + 10_000; asked() && performance.now() < until; )
    await new Promise((done) => setTimeout(done, 5));
  await kernel.restart();
  await jupyterapp.commands.execute('notebook:run-all-cells');
}"""
RESIDENT = """\
import os
for pid in (os.getpid(), os.getppid()):
    with open(f"/proc/{pid}/statm") as file:
        print(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))"""


def test_twenty_restarts_take_no_memory(lab, notebook):
    """Page, kernel and server hold as much after twenty runs as after ten."""
    page = notebook(*SOURCES)
    session = page.context.new_cdp_session(page)
    found = []
    for _ in range(2):
        for _ in range(TIMES // 2):
            page.evaluate(RESTART)
        resident = map(int, lab.run_code(page, RESIDENT).split())
        found.append((*counted(page, session), *resident))
    listeners, nodes, heap, kernel, server = (y - x for x, y in zip(*found, strict=True))
    assert listeners <= MOST_LISTENERS
    assert nodes <= MOST_NODES
    assert heap <= MOST_BYTES
    assert max(kernel, server) <= MOST_RESIDENT
