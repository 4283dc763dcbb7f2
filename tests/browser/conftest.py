"""One browser for all browser tests, one JupyterLab on a copy of the notebooks, and plain pages."""

import shutil

import pytest

from chromium import find_chromium, running_browser
from stridekit.widgets.offline import offline_page
from tests.browser.lab import ROOT, running_lab, write_notebook
from tests.widget_kinds import IMPORTS, KINDS

pytest.register_assert_rewrite("tests.browser.agrees")
ALL_KINDS = [
    f"{IMPORTS}x = torch.arange(24).view(4, 6)",
    *[f"w{k} = {kind.make}\nw{k}" for k, kind in enumerate(KINDS.values())],
]


@pytest.fixture(scope="session")
def browser():
    """A Chromium without a page."""
    assert find_chromium(), "chromium is not installed"
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(browser, tmp_path_factory):
    """A running JupyterLab whose root holds copies of the project's notebooks."""
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    with running_lab(root, tmp_path_factory.mktemp("scratch"), browser) as lab:
        yield lab


@pytest.fixture(scope="module")
def notebook(lab):
    """`notebook(*sources)` writes a notebook with these code cells and runs it; returns its page."""
    pages = []

    def open_page(*sources, **options):
        pages.append(_open(lab, sources, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        lab.close(page)


@pytest.fixture(scope="session")
def kinds_page(lab):
    """A page with all widgets: cell k shows wk of KINDS; the last cell is empty."""
    page = _open(lab, [*ALL_KINDS, "pass"])
    yield page
    lab.close(page)


def _open(lab, sources, **options):
    name = f"scratch-{len(list(lab.root.iterdir()))}.ipynb"
    write_notebook(lab.root / name, sources)
    page = lab.open(name, **options)
    lab.run_all(page)
    return page


@pytest.fixture
def show(browser, tmp_path):
    """`show(*widgets)` draws widgets on a plain page; returns the locator of their roots.

    As on an exported page, there is neither kernel nor network, so it takes a fraction of a second.
    """
    context = browser.new_context(
        offline=True,
        viewport={"width": 1000, "height": 1300},
        has_touch=True,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(10_000)
    context.add_init_script(KEEP_THE_KEYS)
    wrong = []

    def open_page(*widgets):
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        (tmp_path / "page.html").write_text(offline_page(widgets), encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_function(DRAWN, polling=20)
        return page.locator("[data-widget] > .stridekit")

    yield open_page
    context.close()
    assert wrong == []


DRAWN = "[...document.querySelectorAll('[data-widget]')].every((node) => node.firstChild)"
# The last key, and true if the widget kept it from scrolling the page.
KEEP_THE_KEYS = """addEventListener('keydown', ({ key, defaultPrevented }) =>
  (globalThis.lastKey = [key, defaultPrevented]));
globalThis.models = [];
addEventListener('stridekit-model', ({ detail }) => models.push(detail));"""


@pytest.fixture(autouse=True)
def nothing_goes_wrong(request):
    """Fail if a page has sent a request beyond this machine, or raised an error that nobody sees."""
    yield
    if "lab" in request.fixturenames:
        lab = request.getfixturevalue("lab")
        assert lab.outside == [] and lab.errors == []
