"""Each widget in a real JupyterLab: the rows of lab_hands.txt, where kernel and page agree."""

import pytest

from tests.course.browser.hand import Hand, rows
from tests.course.browser.pages import in_kernel, run_last_cell, settled
from tests.course.needs import needs_chromium
from tests.course.widget_kinds import KINDS

pytestmark = needs_chromium


class LabHand(Hand):
    """A hand on the widget in the last cell; a value in Python is that of the kernel."""

    def __init__(self, lab, page, make):
        run_last_cell(page, f"w = {make}\ndisplay(w)")
        self.lab = lab
        self.page = page
        self.w = page.locator(".jp-Cell").last.locator(".stridekit")
        self.w.scroll_into_view_if_needed()  # the mouse reaches what is in the window

    def agrees(self, is_pointing):
        settled(self.page)  # the kernel is asked what it has

    def value(self, source):
        return in_kernel(self.lab, self.page, source)


def test_each_kind_has_a_row():
    made = {row.id.split(" ")[0] for row in rows("lab_hands.txt")}
    assert {*KINDS} <= made


@pytest.mark.parametrize("row", rows("lab_hands.txt"))
def test_hand(lab, kinds_page, row):
    """No key of a hand changes the notebook."""
    count = kinds_page.locator(".jp-Cell").count()
    LabHand(lab, kinds_page, row.make).follow(row)
    assert kinds_page.locator(".jp-Cell").count() == count
