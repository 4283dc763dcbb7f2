"""What a person sees of all widgets, in JupyterLab and on an exported page, on a phone and at a desk."""

from pathlib import Path

import nbformat
import pytest

from tests.browser.conftest import ALL_KINDS
from tests.browser.pages import resize
from tests.browser.test_site import code, exported, words
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def exported_page(browser, tmp_path_factory):
    """All widgets on an exported page."""
    folder = tmp_path_factory.mktemp("lessons") / "notebooks"
    folder.mkdir()
    cells = [words("# Every kind"), *map(code, ALL_KINDS)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "kinds.ipynb")
    site = exported(folder)
    page = browser.new_page()
    page.goto((site / "kinds.html").as_uri())
    page.wait_for_function(
        "(count) => document.querySelectorAll('.stridekit').length >= count", arg=len(KINDS)
    )
    yield page
    page.close()


LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
HOSTS = pytest.mark.parametrize("host", ["kinds_page", "exported_page"])


@HOSTS
def test_a_host_page_changes_nothing_in_a_widget(host, request):
    """Without the style sheets of its host, each node of a widget looks as it does with them."""
    page = request.getfixturevalue(host)
    resize(page, 1280)
    page.evaluate(LOOKS)
    changed = page.evaluate("looks.changedByHost()")
    assert changed["nodes"] > 1000
    assert "\n".join(changed["differences"]) == ""


@pytest.mark.parametrize("width", [390, 800, 1280])
@HOSTS
def test_each_text_can_be_read(host, width, request):
    """No label of one word is taller than two lines, nothing covers a text, and nothing is cut off."""
    page = request.getfixturevalue(host)
    resize(page, width)
    page.evaluate(LOOKS)
    seen = page.evaluate("looks.unreadable()")
    assert seen["texts"] > 300
    assert "\n".join(seen["unreadable"]) == ""
