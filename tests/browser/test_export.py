"""Exported pages from the disk, without network: the widgets live, and nothing is fetched."""

import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from browser_lab import ROOT
from stridekit import diagnose, widgets
from tests.browser.pages import (
    BOX,
    COLOURS,
    assert_accessible,
    button,
    enter,
    labelled,
    painted,
    text,
    texts,
)
from tests.messages import BUCKET
from tests.needs import needs_chromium
from tests.widget_kinds import IMPORTS, KINDS

pytestmark = needs_chromium

# The source of a widget by its public name, where a call needs arguments.
MAKE = {
    "explore": "explore(torch.arange(24).view(4, 6).t(), 't')",
    "Predict": "Predict('What is `2 + 2`?', 4, why='Count.')",
    "CopyTracer": KINDS["CopyTracer"].make,
    "Sort": "Sort(torch.arange(6.).view(2, 3), 'x.t(); x + 0', also='x.t()')",
}
WIDGETS = [name for name in widgets.__all__ if name != "Goal"]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def exported(notebooks):
    """Export a folder of notebooks; return the folder of pages."""
    site = notebooks.parent / "site"
    command = [sys.executable, "-m", "stridekit.export", notebooks, "-o", site]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All lessons, exported."""
    folder = tmp_path_factory.mktemp("lessons") / "notebooks"
    shutil.copytree(ROOT / "notebooks", folder)
    return exported(folder)


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """A notebook with every kind of widget, exported; the last is shown twice."""
    folder = tmp_path_factory.mktemp("kinds") / "notebooks"
    sources = [f"{IMPORTS}from stridekit.widgets import {', '.join(WIDGETS)}"]
    sources += [f"w = {MAKE.get(name, name + '()')}\nw" for name in WIDGETS]
    cells = [nbformat.v4.new_code_cell(source) for source in [*sources, "w"]]
    cells.insert(0, nbformat.v4.new_markdown_cell("# Every kind"))
    folder.mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "kinds.ipynb")
    return exported(folder) / "kinds.html"


@pytest.fixture
def visit(browser):
    """`visit(path)` opens a page and all its folds from the disk; no page may fetch anything or fail."""
    contexts, wrong = [], []

    def open_page(path, width=800, **options):
        viewport = {"width": width, "height": 900}
        context = browser.new_context(offline=True, viewport=viewport, **options)
        contexts.append(context)
        context.on("request", lambda request: wrong.append(request.url))
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('[data-widget]')].every((el) => el.querySelector('.stridekit'))"
        )
        page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
        painted(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in wrong if not url.startswith(("file:", "blob:", "data:"))] == []


def test_every_kind_lives_and_two_views_are_one(visit, kinds):
    """Each is drawn and reacts to a hand; two views of one widget stay in step."""
    page = visit(kinds)
    roots = page.locator("[data-widget] > .stridekit")
    assert roots.count() == len(WIDGETS) + 1
    for root in roots.all()[:-2]:
        assert_alive(root)
    ask = page.locator(".sk-predict").first
    button(ask, "try again").click()
    enter(ask, "your prediction", "5")
    assert text(ask, ".sk-answer") == "✗ you said 5, it is 4"
    page.mouse.move(2, 2)  # pointing shows something in one view alone
    page.wait_for_function(  # what is read aloud comes a little later
        "[...document.querySelectorAll('.sk-spoken')].slice(-2).every((node) => node.textContent)"
    )
    last, again = (roots.nth(k).inner_html() for k in (-2, -1))
    number = re.compile(r"stridekit-\d+")  # each view has ids of its own
    assert number.sub("", last) == number.sub("", again)
    assert_alive(roots.last)


def assert_alive(widget):
    """Keys change the widget; its boxes to tick, and its button if it is a question or a game."""
    before = widget.inner_html()
    for box in widget.locator("textarea:visible").all():
        box.fill("KeyError: 'a'")
    for box in widget.locator("input[type=checkbox]:visible").all():
        box.click()
    for rows in widget.locator("[role=listbox]:visible").all():
        rows.press("End")
    for control in widget.locator("[role=grid]:visible, input[type=range]:visible").all():
        for key in ("Home", "ArrowRight"):
            control.press(key)
    for commit in widget.get_by_role("button", name=re.compile("^(Commit|show me|copy)$")).all():
        if commit.is_visible():
            commit.click()
    assert widget.inner_html() != before


def test_a_pasted_message_needs_no_kernel(visit, kinds):
    """What it means is what Python says, and what nobody knows is not guessed at."""
    page = visit(kinds)
    box = page.locator(".sk-paste")
    for message in (BUCKET, "KeyError: 'a'"):
        labelled(box, BOX).fill(message)
        found = diagnose(message)
        assert text(box, ".sk-title") == found.title
        assert texts(box, "dt") == [label for label, _ in found.lines]
        assert texts(box, "dd") == [sentence for _, sentence in found.lines]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_alive(visit, site, name):
    """Every widget is drawn and reacts to a hand, and nothing is wider than the page."""
    page = visit(site / f"{name}.html")
    assert page.locator("h1").count() == 1
    roots = page.locator("[data-widget] > .stridekit").all()
    assert roots
    for widget in roots:
        assert_alive(widget)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("text=could not be drawn").count() == 0
    page = visit(site / f"{name}.html", 390, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.long
def test_the_front_page_leads_to_every_lesson_and_back(visit, site):
    page = visit(site / "index.html")
    links = page.locator(".sk-lessons h2 a")
    assert links.count() == len(NAMES)
    first = links.first.inner_text()
    links.first.click()
    assert text(page, "h1") == first
    page.locator(".sk-bar").get_by_role("link").click()
    assert text(page, "h1") == "How tensors live in memory"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["index", "reference-layouts", *NAMES])
def test_accessibility(visit, site, name, width, scheme):
    """axe finds nothing; in the dark it checks only the rules that depend on colours."""
    page = visit(site / f"{name}.html", width, is_mobile=width < 600, color_scheme=scheme)
    assert_accessible(page, rules=COLOURS if scheme == "dark" else ())
