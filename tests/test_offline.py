"""The module of a widget, put together from files, and pages that show widgets without a kernel."""

import json
import re
import subprocess

import pytest

from stridekit.widgets import assets
from stridekit.widgets.base import StateWidget
from stridekit.widgets.offline import Offline, live, offline_page
from tests.needs import NODE, needs_node
from tests.widget_kinds import KINDS, RIGHT, make


def states_in(text):
    """The modules and the states in a page."""
    return json.loads(re.search(r'id="stridekit">(.*?)</script>', text, re.S)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_the_state_as_python_has_it_now(kind):
    """All that the widget's module reads, and nothing of Jupyter's, nor of how page and kernel agree."""
    w = make(kind, RIGHT[kind][0])
    page = states_in(offline_page([w]))
    ((module, state),) = page["widgets"]
    assert page["modules"][module] == w._module
    assert state["_state"] == json.loads(json.dumps(w._state))
    shared = StateWidget.class_traits(sync=True).keys() | {"_anywidget_id"}
    assert state.keys() == {*w.keys} - (shared - {"_state"})


def test_modules_and_sheets_are_there_once():
    """Two widgets of a kind and one of another."""
    page = offline_page([make(kind) for kind in ("Predict", "AliasExplorer", "Predict")])
    found = states_in(page)
    assert [module for module, _ in found["widgets"]] == [0, 1, 0] and len(found["modules"]) == 2
    assert page.count("<style>.stridekit") == 2


def test_no_text_of_a_state_ends_its_element():
    state = {"_esm": "export default 1", "_state": {"text": "</script><!-- <script>"}}
    page = live([Offline.of("w", {"w": state})])
    assert page.count("</script>") == 2 and "<!--" not in page
    assert states_in(page)["widgets"][0][1] == {"_state": state["_state"]}


def test_a_title_is_escaped():
    assert "<title>a &lt; b</title>" in offline_page([], "a < b")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files that import one another, two of them with a name for a thing of their own."""
    files = {
        "page/one.js": "globalThis.runs = (globalThis.runs ?? 0) + 1;\nconst own = 1;\n"
        "export const one = () => own;\nexport class Kind {}\nexport async function late() {}\n",
        "page/two.js": 'import { one } from "./one.js";\nconst own = 2;\n'
        "export function two() {\n  return one() + own;\n}\n",
        "kind/widget.js": 'import { one as first, late, Kind } from "../page/one.js";\n'
        'import { two } from "../page/two.js";\n'
        "export default { sum: first() + two(), late, Kind };\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(assets, "_HERE", tmp_path)
    assets.files.cache_clear()
    yield tmp_path
    assets.files.cache_clear()


@needs_node
def test_a_module_is_all_that_it_imports(folder):
    """Each file keeps its own names and runs once."""
    code = assets.module("kind/widget.js")
    assert "import" not in code
    (folder / "a.mjs").write_text(code)
    (folder / "b.mjs").write_text(
        'import a from "./a.mjs";\n'
        "console.log(a.sum, globalThis.runs, typeof a.late, typeof a.Kind);\n"
    )
    done = subprocess.run([NODE, folder / "b.mjs"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "1", "function", "function"]
