"""The widgets' JavaScript in Python: values, refusals, defects, time, threads, forks, a missing engine."""

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


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A function that turns a text into a script."""

    def write(text):
        name = f"{tmp_path.name}.js"
        (tmp_path / name).write_text(text, encoding="utf-8")
        return Script(name)

    source = assets._source
    monkeypatch.setattr(
        assets,
        "_source",
        lambda name: (tmp_path / name).read_text() if name.startswith("test_") else source(name),
    )
    return write


def run(code):
    """The result of a fresh Python, which prints its answer."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_values_cross_as_json(script):
    own = script(
        "export const SIZES = { most: 3 };\nexport const same = (x) => x;\nexport function none() {}\n"
        "export const kinds = () => [new Set([1]), new Map([[2, 3]]), (1234567).toLocaleString()];\n"
    )
    assert own.SIZES == {"most": 3}
    assert own.same(["ü\ud800\0", 2**53 - 1, None, True, 0.5, {"a": []}]) == [
        *("ü\ud800\0", 2**53 - 1, None, True, 0.5, {"a": []})
    ]
    assert own.none() is None
    assert own.kinds() == [[1], [[2, 3]], "1,234,567"]
    with pytest.raises(AttributeError, match="exports no other"):
        own.other  # noqa: B018


def test_scripts_import_each_other(script):
    own = script(
        'import { numel as count } from "./page/layout.js";\nexport const twice = (x) => 2 * count(x);\n'
    )
    assert own.twice(X) == 48


def test_what_the_page_refuses_is_a_layout_error():
    with pytest.raises(LayoutError) as refused:
        LAYOUT.apply(X | {"shape": [6, 4], "stride": [1, 6]}, {"name": "view", "args": [[24]]})
    with pytest.raises(LayoutError) as expected:
        Layout((6, 4), (1, 6)).view(24)
    assert str(refused.value) == str(expected.value)


def test_a_defect_tells_where_it_is(script):
    own = script("export const broken = () => (void 0).shape;\nexport const deep = () => deep();\n")
    with pytest.raises(
        RuntimeError, match=r"\.js: broken has a defect: TypeError: .*\n.*at broken"
    ):
        own.broken()
    with pytest.raises(RuntimeError, match="Maximum call stack"):
        own.deep()


def test_an_endless_script_stops(script, monkeypatch):
    own = script("export function endless() { for (;;); }\nexport const fine = () => 1;\n")
    engine._engine().set_time_limit(0.2)
    try:
        with pytest.raises(TimeoutError, match="endless ran for 10 seconds"):
            own.endless()
        assert own.fine() == 1
    finally:
        engine._engine().set_time_limit(engine.SECONDS)


def test_threads_and_forks_get_the_same_answers():
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda k: LAYOUT.numel({"shape": [k, 7]}), range(300)))
        assert answers == [7 * k for k in range(300)]
        if hasattr(os, "fork"):
            busy = pool.map(lambda k: LAYOUT.reach(X), range(300))
            child = run(
                "import os\nfrom threading import Thread\n"
                "from stridekit.widgets.engine import Script\nlayout = Script('page/layout.js')\n"
                "ask = lambda: [layout.numel({'shape': [6, 7]}) for _ in range(2000)]\n"
                "Thread(target=ask).start()\n"
                "for _ in range(20):\n"
                "    if not (child := os.fork()):\n"
                "        os._exit(layout.numel({'shape': [6, 7]}))\n"
                "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=' ')\n"
            )
            assert child.stdout.split() == ["42"] * 20, child.stderr
            assert len(list(busy)) == 300


def test_only_widgets_load_the_engine():
    done = run(
        "import sys, stridekit\nassert 'quickjs' not in sys.modules\n"
        "from stridekit.widgets.engine import Script\n"
        "print([name for name in ('ipywidgets', 'anywidget') if name in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_missing_engine_is_named():
    done = run("import sys\nsys.modules['quickjs'] = None\nimport stridekit.widgets.engine")
    assert "ImportError: stridekit's widgets need the package quickjs-ng" in done.stderr
