"""Each kind of widget in a running marimo, which makes models on demand and shows each in a shadow root.

marimo starts in 15 s, so it is tried at night. By day, test_on_demand.py has a page with these traits.
"""

import json
import os
import re
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from tests.course.browser.lab import ROOT
from tests.course.browser.pages import BY_HAND, PATIENCE, looks_of, painted
from tests.course.needs import needs_chromium
from tests.course.widget_kinds import KINDS, RIGHT, make

pytestmark = [needs_chromium, pytest.mark.long]

CELL = "@app.cell\ndef _():\n    {}\n"
ASK = "ask = mo.ui.text(label='ask')\n    ask"
# The answer to an expression that somebody types, with a number that tells it from the last one.
SAY = """number, _, source = ask.value.partition(': ')
    answer = eval(source or '0', NAMES | globals() | {"widgets": widgets})
    mo.plain_text(f'answer {number}: {json.dumps(answer)}')"""


def app(kinds):
    """Return a notebook of marimo, with a cell for each widget."""
    sources = ["import json\n    import marimo as mo"]
    sources.append("from tests.course.widget_kinds import NAMES, make")
    sources += [f"w{k} = make('{kind}')\n    w{k}" for k, kind in enumerate(kinds)]
    names = ", ".join(f"w{k}" for k in range(len(kinds)))
    sources += [f"widgets = [{names}]", ASK, SAY]
    return "\n\n".join(["import marimo\n\napp = marimo.App()", *map(CELL.format, sources)])


class Marimo:
    """A page of a running marimo; `ask` asks its Python."""

    def __init__(self, page, kinds):
        self.page = page
        self.kinds = kinds
        self.asked = 0

    def show(self, kind):
        w = self.page.locator(KINDS[kind].css)
        w.scroll_into_view_if_needed()
        painted(self.page)
        return w

    def ask(self, source):
        """Return the value of an expression in Python."""
        self.asked += 1
        box = self.page.get_by_label("ask")
        box.fill(f"{self.asked}: {source}")
        box.press("Enter")
        answer = self.page.get_by_text(re.compile(rf"^answer {self.asked}: "))
        expect(answer).to_be_visible()
        return json.loads(answer.inner_text().partition(": ")[2])


@pytest.fixture(scope="module")
def marimo(request, browser, tmp_path_factory):
    """A marimo with the kinds of widgets whose tests run."""
    items = [item for item in request.session.items if item.path == request.path]
    wanted = {item.callspec.params["kind"] for item in items}
    kinds = [kind for kind in KINDS if kind in wanted]
    folder = tmp_path_factory.mktemp("marimo")
    path = folder / "app.py"
    path.write_text(app(kinds), encoding="utf-8")
    log = folder / "log"
    env = os.environ | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "PYTHONPATH": f"{ROOT}",
    }
    command = [sys.executable, "-m", "marimo", "run", path, "--headless", "--no-token"]
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output)
    try:
        url = url_in(log, server)
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        outside = []
        page.on("request", lambda request: outside.append(request.url))
        page.goto(url)
        expect(page.locator(".stridekit")).to_have_count(len(kinds))
        yield Marimo(page, kinds)
        context.close()
    finally:
        server.terminate()
        server.wait()
    assert [address for address in outside if not address.startswith((url, "data:", "blob:"))] == []


def url_in(log, server):
    """Return the address that a server writes into its log."""
    until = time.monotonic() + 120
    while time.monotonic() < until and server.poll() is None:
        found = re.search(r"http://\S+:\d+", log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[0]
        time.sleep(0.1)
    raise RuntimeError(log.read_text(encoding="utf-8", errors="replace"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_widget_looks_as_on_an_exported_page(marimo, show, kind):
    w = marimo.show(kind)
    exported = show(make(kind))
    width = w.evaluate("(root) => root.getBoundingClientRect().width")
    exported.evaluate("(root, width) => (root.parentNode.style.width = `${width}px`)", width)
    painted(exported.page)
    assert looks_of(w) == looks_of(exported)


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_crosses_in_both_directions(marimo, kind):
    """What a hand does arrives in Python, and what Python sets is drawn."""
    w = marimo.show(kind)
    widget = f"widgets[{marimo.kinds.index(kind)}]"
    before = marimo.ask(f"{widget}._state")
    BY_HAND[kind](w)
    states = (marimo.ask(f"{widget}._state") for _ in range(100))
    assert any(state != before for state in states)
    drawn = w.inner_html()
    marimo.ask(f"exec({RIGHT[kind][0]!r}, NAMES | {{'w': {widget}}})")
    expect(w).not_to_have_js_property("innerHTML", drawn)
