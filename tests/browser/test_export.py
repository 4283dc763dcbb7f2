"""Exported pages from the disk, with the network off: the widgets live, and nothing is fetched."""

import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from browser_lab import ROOT
from stridekit import widgets
from tests.browser.pages import assert_accessible
from tests.needs import needs_chromium

pytestmark = needs_chromium

# How each public name of the widgets makes one, where that is not by calling it with nothing.
MAKE = {
    "explore": "explore(torch.arange(24).view(4, 6).t(), 't')",
    "Predict": "Predict('What is `2 + 2`?', 4, why='Count.')",
}
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All notebooks and one with every kind of widget, exported."""
    folder = tmp_path_factory.mktemp("export")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    sources = [f"import torch\nfrom stridekit.widgets import {', '.join(widgets.__all__)}"]
    sources += [f"w = {MAKE.get(name, name + '()')}\nw" for name in widgets.__all__]
    cells = [nbformat.v4.new_markdown_cell("# Every kind")]
    cells += [nbformat.v4.new_code_cell(source) for source in [*sources, "w"]]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "notebooks" / "99_kinds.ipynb")
    command = [
        sys.executable,
        "-m",
        "stridekit.export",
        folder / "notebooks",
        "-o",
        folder / "site",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def visit(lab, site):
    """Open a page from the disk; afterwards nothing was fetched and nothing went wrong."""
    context = lab.browser.new_context(offline=True, viewport={"width": 800, "height": 900})
    wrong = []
    context.on("request", lambda request: wrong.append(request.url))

    def open_page(name):
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((site / f"{name}.html").as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('[data-widget]')].every((el) => el.querySelector('.stridekit'))"
        )
        return page

    yield open_page
    context.close()
    assert [url for url in wrong if not url.startswith(("file:", "blob:", "data:"))] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_alive(visit, name):
    """Every widget is drawn and answers a hand, and nothing is wider than the page."""
    page = visit(name)
    assert page.locator("h1").count() == 1
    assert page.locator("[data-widget] > .stridekit").count() > 0
    for k, widget in enumerate(page.locator("[data-widget] > .stridekit").all()):
        before = widget.inner_html()
        _touch(widget)
        assert widget.inner_html() != before, k
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("text=could not be drawn").count() == 0


def _touch(widget):
    """Press keys on what takes them; a question has only its button."""
    for control in widget.locator("[role=grid]:visible, input[type=range]:visible").all():
        for key in ("Home", "ArrowRight"):
            control.press(key)
    for button in widget.get_by_role("button", name="Commit").all():
        button.click()


def test_every_kind_lives_and_two_views_are_one(visit):
    """Also what is not in a lesson yet. The last widget is shown twice, and stays in step."""
    page = visit("99_kinds")
    roots = page.locator("[data-widget] > .stridekit")
    assert roots.count() == len(widgets.__all__) + 1
    assert all(root.inner_text().strip() for root in roots.all())
    ask = page.locator(".sk-predict").first
    ask.get_by_label("your prediction").fill("5")
    ask.get_by_role("button", name="Commit").click()
    assert ask.locator(".sk-answer").inner_text() == "✗ you said 5, it is 4"
    page.wait_for_function(  # what is read aloud comes a little later
        "[...document.querySelectorAll('.sk-spoken')].slice(-2).every((node) => node.textContent)"
    )
    last, again = (roots.nth(k).inner_html() for k in (-2, -1))
    number = re.compile(r"stridekit-\d+")  # each view has ids of its own
    assert number.sub("", last) == number.sub("", again)


def test_the_front_page_leads_to_every_lesson_and_back(visit):
    page = visit("index")
    links = page.locator(".sk-lessons h2 a")
    assert links.count() == len(NAMES) + 1
    first = links.first.inner_text()
    links.first.click()
    assert page.locator("h1").inner_text() == first
    page.get_by_role("link", name="All lessons").click()
    assert page.locator("h1").inner_text() == "How tensors live in memory"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", *NAMES])
def test_accessibility(visit, name, scheme):
    """axe finds nothing, contrast included; the dark is looked at for what depends on colours."""
    page = visit(name)
    page.emulate_media(color_scheme=scheme)
    assert_accessible(
        page, rules=["color-contrast", "link-in-text-block"] if scheme == "dark" else ()
    )
