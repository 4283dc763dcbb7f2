"""The code that a notebook copies for a state makes the same widget again."""

import inspect
import json

import pytest

from stridekit import Layout, LayoutError, widgets
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer
from tests.course.widget_kinds import KINDS, make

page = Script("page/frame.js")
CHANGES = {
    "StrideExplorer": [
        "w.layout = Layout((2, 1, 3), (10, 5, 2), 1, 1)",
        "w.chain = ('.T', '[1:]', '.contiguous()')",
    ],
    "AliasExplorer": ["w.steps = ('y = x.t()', 'y += 100')"],
    "ReshapeStepper": ["w.target = (2, 12)"],
    "FormatTracer": ["w.layers = ('relu', 'flatten')"],
    "AttentionExplorer": ["w.attention = 'SDPA'"],
    "CacheExplorer": ["w.tokens = 7"],
    "TraversalExplorer": ["w.visit = 3"],
    "ChannelsLastExplorer": ["w.shape = (1, 2, 3, 4)"],
}
KNOWN = {kind for kind in KINDS if issubclass(getattr(widgets, kind), Explorer)}


def test_each_explorer_has_a_changed_state():
    assert {*CHANGES} == {kind for kind in KNOWN if kind not in ("Sort", "CopyTracer", "Diagnose")}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_copied_state_makes_the_same_widget(kind):
    for changes in [[], *([change] for change in CHANGES[kind])]:
        w = make(kind, *changes)
        given = ""
        if "storage_size" in inspect.signature(type(w)).parameters:
            given = f", storage_size={w.storage_size}"
        source = f"{kind}.restored({page.pythonOf(w._state)}{given})"
        restored = eval(source, {kind: getattr(widgets, kind)})
        assert restored._state == w._state
        assert restored.code == w.code


@pytest.mark.parametrize("value", [None, True, False, 0, -1, 2**40, 'it\'s "so"\\n', [[], {}]])
def test_a_value_of_json_is_written_as_python_reads_it(value):
    value = json.loads(json.dumps({"a": [value, {"b": value}]}))
    assert eval(page.pythonOf(value)) == value


def test_a_large_storage_comes_along():
    w = widgets.StrideExplorer(Layout((64, 64)), 2 * 64 * 64)
    restored = widgets.StrideExplorer.restored(w._state, storage_size=w.storage_size)
    assert (restored.layout, restored.storage_size) == (w.layout, 8192)


def test_a_state_that_cannot_be_shown_is_refused():
    state = widgets.CacheExplorer()._state | {"tokens": 10**6}
    with pytest.raises(LayoutError, match="tokens"):
        widgets.CacheExplorer.restored(state)
