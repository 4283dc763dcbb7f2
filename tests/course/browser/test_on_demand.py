"""Widgets on a page that makes a model when somebody asks for it, in the document and in a shadow root.

The page stands for Colab: on_demand.js has its manager's protocol, with the classes of ipywidgets and of
anywidget as they are installed. Shadow roots stand for marimo, and for pages that embed notebooks.
"""

import json
import re
from pathlib import Path

import pytest
import torch
from jupyter_core.paths import jupyter_path
from playwright.sync_api import expect

from stridekit import explore
from tests.course.browser.pages import (
    BY_HAND,
    PATIENCE,
    WIDTH,
    button,
    enter,
    looks_of,
    painted,
    press,
    resize,
)
from tests.course.needs import BY_DAY, at_night_but, needs_chromium
from tests.course.test_shared_state import Wire
from tests.course.widget_kinds import KINDS, NAMES, RIGHT, make

pytestmark = needs_chromium

SCRIPT = Path(__file__).with_name("on_demand.js")
BUNDLES = ["jupyter-js-widgets/extension.js", "anywidget/index.js"]
PAGE = "<!doctype html><html><style>body { margin: 2em }</style><body></body></html>"


def installed(bundle):
    """Return the path of a file of the classic notebook's extensions."""
    paths = [Path(folder) / bundle for folder in jupyter_path("nbextensions")]
    return next(path for path in paths if path.exists())


class Host:
    """The page, and the kernel with the models that the page may ask for."""

    def __init__(self, browser, folder):
        self.models = {}
        path = folder / "page.html"
        path.write_text(PAGE, encoding="utf-8")
        context = browser.new_context(accept_downloads=True, offline=True)
        context.set_default_timeout(PATIENCE)
        self.page = context.new_page()
        self.page.goto(path.as_uri())
        resize(self.page, WIDTH, 1300)
        self.page.expose_function("stateOf", self.state_of)
        self.page.expose_function("take", self.take)
        self.page.add_script_tag(path=SCRIPT)
        for bundle in BUNDLES:
            self.page.add_script_tag(path=installed(bundle))
        self.page.evaluate("start()")

    def show(self, widget, tree):
        """Show a widget; return the locator of its root."""
        widget.close()  # or ipywidgets keeps it under the comm that it had first
        widget.comm = Wire()
        widget.comm.comm_id = f"widget-{len(self.models)}"
        self.models |= {model.model_id: model for model in (widget, widget._code)}
        self.page.evaluate("([id, tree]) => show(id, tree === 'shadow')", [widget.model_id, tree])
        painted(self.page)
        return self.page.locator(f"#{widget.model_id} .stridekit")

    def state_of(self, key):
        """Return the class and the state of a model, as a kernel sends them."""
        model = self.models[key]
        text = json.dumps(model.get_state(), default=lambda other: f"IPY_MODEL_{other.model_id}")
        return {
            "name": model._model_name,
            "module": model._model_module,
            "state": json.loads(text),
        }

    def take(self, key, data):
        """Take a message of the page; return the answers."""
        self.models[key].set_state(data["state"])
        return self.sent(key)

    def sent(self, key):
        """Return what a model has sent since it was asked last."""
        wire = self.models[key].comm
        messages = [[key, {"method": "update", "state": state}] for state in wire.sent]
        wire.sent.clear()
        return messages

    def on_page(self, widget):
        """Return the state of a widget that the page has."""
        return self.page.evaluate("(id) => manager.made[id].get('_state')", widget.model_id)


@pytest.fixture(scope="module")
def host(browser, tmp_path_factory):
    host = Host(browser, tmp_path_factory.mktemp("on demand"))
    errors = []
    host.page.on("pageerror", lambda error: errors.append(str(error)))
    yield host
    host.page.context.close()
    assert errors == []


@pytest.fixture(autouse=True)
def empty_page(host):
    host.page.evaluate("document.body.replaceChildren()")
    host.page.emulate_media(color_scheme="light")


each_kind = pytest.mark.parametrize("kind", at_night_but(BY_DAY, KINDS))
each_tree = pytest.mark.parametrize("tree", ["document", "shadow"])


@each_kind
@each_tree
def test_a_widget_looks_as_on_an_exported_page(host, show, kind, tree):
    w = host.show(make(kind), tree)
    exported = show(make(kind))
    painted(exported.page)
    assert looks_of(w) == looks_of(exported)


@each_kind
@each_tree
def test_a_state_crosses_in_both_directions(host, kind, tree):
    """What a hand does arrives in Python, and what Python sets is drawn."""
    widget = make(kind)
    w = host.show(widget, tree)
    before = widget._state
    BY_HAND[kind](w)
    host.page.wait_for_function(ANSWERED, arg=widget.model_id)
    assert widget._state != before
    assert host.on_page(widget) == json.loads(json.dumps(widget._state))
    drawn = w.inner_html()
    exec(RIGHT[kind][0], NAMES | {"w": widget})
    host.page.evaluate("hear", host.sent(widget.model_id))
    painted(host.page)
    assert host.on_page(widget) == json.loads(json.dumps(widget._state))
    assert w.inner_html() != drawn


# The kernel has answered a change that a hand has made.
ANSWERED = """(id) => {
  const model = manager.made[id];
  return model.get('_change_id') && model.get('_change_id') === model.get('_answered_id');
}"""


# A document sees the host of a shadow root instead of the nodes inside.


def test_arrows_move_the_focus_in_a_shadow_root(host):
    w = host.show(make("StrideExplorer"), "shadow")
    press(button(w, "undo"), "ArrowRight", "ArrowRight")
    expect(button(w, "reset")).to_be_focused()
    button(w, "share").click()
    expect(button(w, "copy code")).to_be_focused()
    host.page.keyboard.press("ArrowDown")
    expect(button(w, "copy this state")).to_be_focused()


def test_a_menu_stays_open_while_it_is_used_in_a_shadow_root(host):
    """Its picture has the shapes and the colours of one that was saved in a document."""
    pictures = []
    for tree in ("document", "shadow"):
        w = host.show(make("StrideExplorer"), tree)
        button(w, "share").click()
        with host.page.expect_download() as download:
            button(w, "save SVG").click()
        picture = download.value.path().read_text(encoding="utf-8")
        pictures.append(re.findall("<(?:rect|path|text)[^>]*(?:fill|stroke)=[^>]*>", picture))
    in_document, in_shadow = pictures
    assert len(in_document) > 100
    assert in_shadow == in_document
    expect(button(w, "save SVG")).to_be_visible()
    host.page.mouse.click(2, 2)
    expect(button(w, "save SVG")).to_be_hidden()


def test_full_width_lasts_as_long_as_the_focus_in_a_shadow_root(host):
    w = host.show(make("StrideExplorer"), "shadow")
    other = host.show(make("Predict"), "shadow")
    button(w, "full width").click()
    button(w, "full width").blur()  # as by a click on a text
    button(w, "transpose").focus()
    expect(button(w, "full width")).to_have_attribute("aria-pressed", "true")
    button(other, "Commit").focus()
    expect(button(w, "full width")).to_have_attribute("aria-pressed", "false")


def test_an_answered_question_gives_the_focus_back_in_a_shadow_root(host):
    w = host.show(make("AliasExplorer"), "shadow")
    line = w.get_by_label("run a line", exact=True)
    enter(w, "run a line", "z = x[0].unfold(0, 3, 1)", "z.add_(100)")
    press(button(w, "write all the same"), "Enter")
    expect(line).to_be_focused()


def test_players_have_one_speed_across_shadow_roots(host):
    players = [
        host.show(make("ReshapeStepper"), "shadow"),
        host.show(make("TraversalExplorer"), "document"),
        host.show(make("CacheExplorer"), "shadow"),
    ]
    for speed in ("2", "1"):
        players[0].get_by_label("speed").select_option(speed)
        for player in players:
            expect(player.get_by_label("speed")).to_have_value(speed)


@each_tree
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_widget_is_as_dark_as_its_page(host, tree, scheme):
    """A page that says nothing is light, whatever the system is."""
    opposite = {"light": "dark", "dark": "light"}[scheme]
    host.page.emulate_media(color_scheme=opposite)
    w = host.show(make("Predict"), tree)
    host.page.evaluate("(scheme) => (document.documentElement.style.colorScheme = scheme)", scheme)
    ink = w.evaluate("(root) => getComputedStyle(root).color")
    darkness = sum(map(int, ink.removeprefix("rgb(").removesuffix(")").split(","))) < 3 * 128
    assert darkness == (scheme == "light")
    host.page.evaluate("document.documentElement.removeAttribute('style')")
    assert w.evaluate("(root) => getComputedStyle(root).colorScheme") == "normal"


def test_a_canvas_follows_a_page_that_turns_dark(host):
    """marimo names its theme in a class of the body."""
    w = host.show(explore(torch.arange(4096).view(64, 64)), "shadow")
    host.page.add_style_tag(content=":root:has(body.dark) { color-scheme: dark }")
    canvas = w.locator("canvas").first
    pixels = "(canvas) => canvas.toDataURL()"
    light = canvas.evaluate(pixels)
    host.page.evaluate("document.body.classList.add('dark')")
    painted(host.page)
    dark = canvas.evaluate(pixels)
    host.page.evaluate("document.body.classList.remove('dark')")
    painted(host.page)
    assert dark != light == canvas.evaluate(pixels)
