"""A hand and the kernel change a widget at the same moment, in a real JupyterLab.

Every order of events, on a stub of the wires between them, is in tests/js/crossing.test.mjs.
"""

import pytest

from tests.browser.pages import BY_HAND, expect, in_kernel, run_last_cell
from tests.needs import needs_chromium

pytestmark = needs_chromium

BEGIN = """(code) => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  kernel.requestExecute({ code, store_history: false });
}"""
WAIT = """from pathlib import Path
from time import sleep
while not Path({!r}).exists():
    sleep(0.005)
w.steps = ["y = x[1:]"]"""
REFUSE = """def refuse(state):
    raise ValueError
w._check = refuse"""


@pytest.fixture
def views(kinds_page):
    """Two views of a new widget."""
    run_last_cell(kinds_page, "w = AliasExplorer((4, 6), ())\ndisplay(w, w)")
    return kinds_page.locator(".jp-Cell").last.locator(".stridekit")


def assert_all_have(lab, views, lines):
    """The kernel and both views have these lines when all is quiet."""
    assert in_kernel(lab, views.page, "[*w.steps]") == str(lines)
    for view in (views.first, views.last):
        expect(view.locator(".sk-log code")).to_have_text(lines)


def test_a_hand_wins_over_a_cell_that_was_running_before_it(lab, views, tmp_path):
    views.page.evaluate(BEGIN, WAIT.format(str(tmp_path / "go")))
    BY_HAND["AliasExplorer"](views.last)
    (tmp_path / "go").touch()
    assert_all_have(lab, views, ["z = x.t()"])


def test_a_change_that_python_refuses_is_taken_back_in_both_views(lab, views):
    lab.run_code(views.page, REFUSE)
    BY_HAND["AliasExplorer"](views.last)
    assert_all_have(lab, views, [])
