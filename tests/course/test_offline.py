"""Pages that show widgets without a kernel."""

import json
import re

import pytest

from stridekit.widgets.base import StateWidget
from stridekit.widgets.offline import Offline, live, offline_page
from tests.course.widget_kinds import KINDS, RIGHT, make


def states_in(page):
    """Return the modules and the states in a page."""
    return json.loads(re.search(r'id="stridekit">(.*?)</script>', page, re.S)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_the_state_as_python_has_it_now(kind):
    """It has all traits that the widget's module reads, and none that only Jupyter or a kernel needs."""
    w = make(kind, RIGHT[kind][0])
    data = states_in(offline_page([w]))
    ((module, state),) = data["widgets"]
    assert data["modules"][module] == w._module
    assert state["_state"] == json.loads(json.dumps(w._state))
    shared = StateWidget.class_traits(sync=True).keys() | {"_anywidget_id"}
    assert state.keys() == {*w.keys} - (shared - {"_state"})


def test_modules_and_sheets_are_there_once():
    page = offline_page([make(kind) for kind in ("Predict", "AliasExplorer", "Predict")])
    data = states_in(page)
    assert [module for module, _ in data["widgets"]] == [0, 1, 0]
    assert len(data["modules"]) == 2
    assert page.count("<style>") == 4  # the page's, the shared one, and one for each widget type


def test_no_text_of_a_state_ends_its_element():
    state = {"_esm": "export default 1", "_state": {"text": "</script><!-- <script>"}}
    page = live([Offline.of("w", {"w": state})])
    assert page.count("</script>") == 2 and "<!--" not in page
    assert states_in(page)["widgets"][0][1] == {"_state": state["_state"]}


def test_a_title_is_escaped():
    assert "<title>a &lt; b</title>" in offline_page([], "a < b")
