"""The widgets' JavaScript in Python: values, refusals, defects, time, threads, a missing engine."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from stridekit import Layout, LayoutError
from stridekit.widgets import assets, engine
from stridekit.widgets.engine import Script

LAYOUT = Script("page/layout.js")
X = {"shape": [4, 6], "stride": [6, 1], "storage_offset": 0, "itemsize": 4}
TEXT = """\
import { numel as count } from "./page/layout.js";
export const SIZES = { most: 3 };
export const same = (x) => x;
export function none() {}
export const collections = () => [new Set([1]), new Map([[2, 3]])];
export const twice = (x) => 2 * count(x);
export const broken = () => (void 0).shape;
export const deep = () => deep();
export function endless() { for (;;); }
"""


@pytest.fixture
def script(monkeypatch):
    source = assets._source
    monkeypatch.setattr(assets, "_source", lambda name: TEXT if name == "own.js" else source(name))
    return Script("own.js")


def test_values_cross_as_json(script):
    values = ["ü\ud800\0", 2**53 - 1, None, True, 0.5, {"a": []}]
    assert script.SIZES == {"most": 3}
    assert script.same(values) == values
    assert script.none() is None
    assert script.collections() == [[1], [[2, 3]]]


def test_scripts_import_each_other(script):
    assert script.twice(X) == 48


def test_a_missing_export_is_named(script):
    with pytest.raises(AttributeError, match="exports no other"):
        script.other  # noqa: B018


def test_a_refusal_of_the_page_is_a_layout_error():
    with pytest.raises(LayoutError) as refused:
        LAYOUT.apply(X | {"shape": [6, 4], "stride": [1, 6]}, {"name": "view", "args": [[24]]})
    with pytest.raises(LayoutError) as expected:
        Layout((6, 4), (1, 6)).view(24)
    assert str(refused.value) == str(expected.value)


def test_a_defect_tells_where_it_is(script):
    with pytest.raises(RuntimeError, match=r"js: broken has a defect: TypeError: .*\n.*at broken"):
        script.broken()
    with pytest.raises(RuntimeError, match="Maximum call stack"):
        script.deep()


def test_an_endless_script_stops(script):
    engine._engine().set_time_limit(0.2)
    try:
        with pytest.raises(TimeoutError, match="endless ran for 10 seconds"):
            script.endless()
        assert script.twice(X) == 48
    finally:
        engine._engine().set_time_limit(engine.SECONDS)


def test_threads_get_the_same_answers():
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda k: LAYOUT.numel({"shape": [k, 7]}), range(300)))
    assert answers == [7 * k for k in range(300)]


PROGRAM = """
import os, sys, stridekit
assert "quickjs" not in sys.modules
from stridekit.widgets.engine import Script
assert not {"ipywidgets", "anywidget"} & {*sys.modules}
ask = lambda: Script("page/layout.js").numel({"shape": [6, 7]})
print(ask(), flush=True)
if hasattr(os, "fork") and not os.fork():
    os._exit(print(ask(), flush=True) or 0)
hasattr(os, "fork") and os.wait()
del sys.modules["stridekit.widgets.engine"]
sys.modules["quickjs"] = None
import stridekit.widgets.engine
"""


def test_only_widgets_load_the_engine_a_fork_has_it_and_a_missing_one_is_named():
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    answers = ["42", "42"] if hasattr(os, "fork") else ["42"]
    assert process.stdout.split() == answers, process.stderr
    assert "ImportError: stridekit's widgets need the package quickjs-ng" in process.stderr
