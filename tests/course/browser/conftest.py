"""One browser for all browser tests, one JupyterLab on a copy of the notebooks, and plain pages."""

import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager

import nbformat
import pytest
from nbformat import v4

from chromium import find_chromium, running_browser
from stridekit.export import families, reference, site
from stridekit.widgets.assets import module
from stridekit.widgets.offline import offline_page
from tests.course.browser.lab import ROOT, running_lab, write_notebook
from tests.course.browser.pages import PATIENCE, WIDTH, resize, start_the_clock, stop_the_clock
from tests.course.widget_kinds import IMPORTS, KINDS, hidden_widgets

pytest.register_assert_rewrite("tests.course.browser.agrees")
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
    with running_lab(root, tmp_path_factory.mktemp("scratch"), browser, as_make_lab()) as lab:
        yield lab


def as_make_lab():
    """Return the command of `make lab`, with this Python and without its folder."""
    # make would not quote the path of this Python, whose folder may have any name.
    options = ["-n", "--no-print-directory", "-o", ".venv/has-lab"]
    command = ["make", *options, "lab", "IN_VENV=this-python"]
    printed = subprocess.check_output(command, cwd=ROOT, text=True).replace("\\\n", "")
    start = printed.splitlines()[-1]
    words = [word for word in shlex.split(start) if word != "--ServerApp.root_dir=."]
    return ["env", *(sys.executable if word == "this-python" else word for word in words)]


@pytest.fixture(scope="session")
def kinds_page(lab):
    """A page with all widgets: cell k shows wk of KINDS; the last cell is empty."""
    write_notebook(lab.root / "kinds.ipynb", [*ALL_KINDS, "pass"])
    page = lab.open("kinds.ipynb")
    lab.run_all(page)
    yield page
    lab.close(page)


def exported(notebooks):
    """Export a folder of notebooks; return the folder of pages."""
    folder = notebooks.parent / "site"
    command = [sys.executable, "-m", "stridekit.export", notebooks, "-o", folder]
    run = subprocess.run(command, capture_output=True, text=True)
    # A kernel that ends on a busy machine may report that libzmq found its last socket closed.
    complaints = [line for line in run.stderr.splitlines() if "signaler.cpp" not in line]
    assert (run.returncode, complaints) == (0, [])
    return folder


@pytest.fixture(scope="session")
def small_site(tmp_path_factory):
    """Two exported lessons, every kind of widget and cards; all pages of the package would take long."""
    folder = tmp_path_factory.mktemp("a site") / "notebooks"
    folder.mkdir()
    twice = [f"w = {KINDS['CopyTracer'].make}\nw", "w"]
    kinds = [*ALL_KINDS, "from stridekit import explore\nexplore(x.t(), 't')", *twice]
    cards = [
        f"{IMPORTS}from stridekit import Predict",
        "Predict('What is `2 + 2`?', 4, why='Count.')",
        "print('x' * 200)",
    ]
    explanation = "It is four.\n\n## The end\n\n" + "Enough. " * 900
    write_lesson(folder / "kinds.ipynb", "# Every kind", kinds)
    write_lesson(folder / "cards.ipynb", "# Cards", cards, explanation)
    with pytest.MonkeyPatch.context() as patch:
        first, *_ = reference.pages().items()
        patch.setattr(reference, "pages", lambda: dict([first]))
        few = [*families.pages().items()][:3]
        patch.setattr(families, "pages", lambda: dict(few))
        with hidden_widgets():
            return site.export(folder, folder.parent / "site").parent


def write_lesson(path, title, sources, *words):
    cells = [v4.new_markdown_cell(title)]
    cells += map(v4.new_code_cell, sources)
    cells += map(v4.new_markdown_cell, words)
    nbformat.write(v4.new_notebook(cells=cells), path)


class Plain:
    """A page for widgets, without a kernel or a network: one for all tests, because it loads slowly.

    A page whose clock a test has stopped goes on by a clock of Playwright's, whose frames are not the
    browser's. So it serves only tests that stop the clock; the others get a new page.
    """

    def __init__(self, browser, folder, is_for_stopped_clocks=False):
        self.browser = browser
        self.is_for_stopped_clocks = is_for_stopped_clocks
        self.context = None
        self.errors = []
        self.path = folder / "plain.html"
        host = f"{module('page/host.js')}\nglobalThis.bringToLife = bringToLife;"
        html = f'{offline_page([])}<script type="module">{host}</script>'
        self.path.write_text(html, encoding="utf-8")

    def page(self):
        """Return the page as if it were new."""
        if self.context and self.page_.evaluate("globalThis.isClockStopped"):
            if self.is_for_stopped_clocks:
                start_the_clock(self.page_)
            else:
                self.context.close()
                self.context = None
        if not self.context:
            self.context = self.browser.new_context(
                offline=True, has_touch=True, permissions=["clipboard-read", "clipboard-write"]
            )
            self.context.set_default_timeout(PATIENCE)
            self.context.add_init_script(KEEP_THE_KEYS)
            self.page_ = self.context.new_page()
            self.page_.on("pageerror", lambda error: self.errors.append(str(error)))
        if self.page_.url != self.path.as_uri():
            self.page_.goto(self.path.as_uri())
        self.page_.mouse.up()
        self.page_.mouse.move(2, 2)
        resize(self.page_, WIDTH, 1300)
        self.page_.emulate_media(color_scheme="null", forced_colors="null", reduced_motion="null")
        return self.page_


@pytest.fixture(scope="session")
def plain(browser, tmp_path_factory):
    return Plain(browser, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def plain_for_stopped_clocks(browser, tmp_path_factory):
    return Plain(browser, tmp_path_factory.mktemp("plain"), is_for_stopped_clocks=True)


@pytest.fixture
def show(plain):
    """`show(*widgets)` draws widgets on the plain page; returns the locator of their roots."""
    with drawing_on(plain) as draw:
        yield draw


@pytest.fixture
def show_and_stop(plain_for_stopped_clocks):
    """`show_and_stop(*widgets)` draws them, too, and stops the clock."""
    with drawing_on(plain_for_stopped_clocks) as draw:

        def draw_and_stop(*widgets):
            roots = draw(*widgets)
            stop_the_clock(roots.page)
            return roots

        yield draw_and_stop


@contextmanager
def drawing_on(plain):
    """Give a function that draws widgets on a page; fail in the end if a script raised an error."""
    plain.errors.clear()

    def draw(*widgets):
        page = plain.page()
        page.evaluate(DRAW, offline_page(widgets))
        return page.locator("[data-widget] > .stridekit")

    yield draw
    assert plain.errors == []


# The body of a page with widgets takes the place of all that is there.
DRAW = """async (html) => {
  document.body.innerHTML = html.slice(html.indexOf('<body>'));
  models.length = 0;
  delete navigator.clipboard.writeText; // which a row may have replaced
  getSelection().removeAllRanges();
  scrollTo(0, 0);
  await bringToLife(document, JSON.parse(document.getElementById('stridekit').textContent));
  for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
}"""
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
