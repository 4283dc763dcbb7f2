"""The looks of all widgets, in JupyterLab and on an exported page, on a phone and at a desk."""

from pathlib import Path

import pytest

from stridekit.exercises.reports import Panel, Row
from tests.course.browser.pages import ALIVE, open_all, resize, see_all_of
from tests.course.needs import at_night_but, needs_chromium

pytestmark = needs_chromium
SCRIPT = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
TOPS = "(nodes) => nodes.map((node) => node.getBoundingClientRect().top)"
LOOKS = f"() => {{ {SCRIPT} }}"  # its names are not those of JupyterLab's extensions


@pytest.fixture(scope="module")
def exported_page(browser, small_site):
    """All widgets on an exported page."""
    page = browser.new_page()
    page.goto((small_site / "kinds.html").as_uri())
    page.wait_for_function(ALIVE)
    open_all(page)
    yield page
    page.close()


@pytest.mark.parametrize("host", ["kinds_page", "exported_page"])
def test_the_host_changes_nothing(host, request):
    """Each kind of node looks as without the host's sheets."""
    page = request.getfixturevalue(host)
    page.evaluate(LOOKS)
    resize(page, 1280)
    # A goal that was just reached fades, so it would look otherwise a moment later.
    page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    changed = page.evaluate("looks.changedByHost()")
    assert changed["nodes"] > 200
    assert "\n".join(changed["differences"]) == ""


@pytest.mark.parametrize("width", at_night_but([390], [390, 800, 1280]))
def test_each_text_can_be_read(exported_page, width):
    """No word is stacked, covered or cut off at any width, here and so in any host."""
    exported_page.evaluate(LOOKS)
    resize(exported_page, width)
    see_all_of(exported_page)
    seen = exported_page.evaluate("looks.unreadable()")
    assert seen["texts"] > 300
    assert "\n".join(seen["unreadable"]) == ""


def test_a_label_of_a_report_stands_beside_its_text_in_a_narrow_notebook(browser):
    rows = (Row("hint", "Two words. " * 30), Row("expected", "(4, 6) " * 30, "lines"))
    html = Panel("failed", "row: not yet", rows)._repr_html_()
    page = browser.new_page()
    page.set_content(f'<div style="width: 540px; font: 14px sans-serif">{html}</div>')
    for label in ("hint", "expected"):
        row = page.get_by_text(label, exact=True).locator("..")
        label_top, text_top = row.locator(":scope > *").evaluate_all(TOPS)
        assert abs(label_top - text_top) < 5, label
    page.close()
