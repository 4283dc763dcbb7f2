"""The widgets' JavaScript in Python: values, refusals, defects, time, threads, a missing engine."""

import os
import re
import signal
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
/** A comment
 * of two lines. */
export const broken = () => (void 0).shape; // line 9
// A comment of a line.
export const deep = () => deep(); // line 11
export function greedy() { for (const list = []; ; ) list.push(new Array(1000).fill(7)); }
export const huge = () => "ab".repeat(200_000_000);
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
    with pytest.raises(
        RuntimeError, match=r"has a defect: TypeError: .*\n.*at broken \(own\.js:9\)"
    ):
        script.broken()
    with pytest.raises(RuntimeError, match=r"Maximum call stack.*\n.*at deep \(own\.js:11\)"):
        script.deep()


def test_a_defect_in_an_imported_file_tells_the_line_of_that_file(script):
    """Here a layout without a shape."""
    with pytest.raises(RuntimeError) as crashed:
        script.twice({})
    (number,) = re.findall(r"at numel \(page/layout\.js:(\d+)\)", str(crashed.value))
    text = assets._source("page/layout.js").splitlines()
    first = next(
        n for n, line in enumerate(text, 1) if re.match(r"export (const|function) numel\b", line)
    )
    assert first <= int(number) <= first + 3
    assert "at twice (own.js:6)" in str(crashed.value)


def test_a_file_that_is_no_javascript_is_named(monkeypatch):
    monkeypatch.setattr(assets, "_source", lambda name: "export const one = 1;\n\nconst = 2;\n")
    with pytest.raises(RuntimeError, match=r"SyntaxError: [^\n]*\n *at wrong\.js:3"):
        Script("wrong.js").one()


@pytest.mark.parametrize("name", ["greedy", "huge"])
def test_a_script_that_takes_all_memory_stops(script, name):
    engine._engine().set_memory_limit(16 * 2**20)
    try:
        with pytest.raises(MemoryError, match=f"own.js: {name} needs more than 512 MB"):
            getattr(script, name)()
        assert script.twice(X) == 48
    finally:
        engine._engine().set_memory_limit(engine.MEGABYTES * 2**20)


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


WITHOUT = """
import sys
sys.modules["quickjs"] = None
from stridekit import diagnose
diagnose("RuntimeError: shape '[5, -1]' is invalid for input of size 24")
"""


def test_diagnose_names_what_it_needs():
    process = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    expected = "ImportError: diagnose needs quickjs-ng, a JavaScript engine: pip install quickjs-ng"
    assert process.stderr.endswith(f"{expected}\n")


class OlderContext:
    """What a context of the package quickjs answers: its engine of 2021 has no iterators to call."""

    def eval(self, source):
        return "undefined"


def test_the_older_quickjs_is_known_and_its_cure_named(monkeypatch):
    """Both packages install a module of one name."""
    monkeypatch.setattr(engine.quickjs, "Context", OlderContext)
    with pytest.raises(ImportError, match="pip uninstall quickjs, then pip install --force-rein"):
        engine._engine.__wrapped__()


# A child begins without an engine. Each is interrupted at another moment of its first call.
INTERRUPTED = """
import os, signal
from stridekit.widgets.engine import Script

MESSAGE = "RuntimeError: shape '[5, -1]' is invalid for input of size 24"

def interrupt(*_):
    raise KeyboardInterrupt

def child(milliseconds):
    try:
        signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
        Script("diagnose/diagnose.js").diagnose(MESSAGE)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert Script("diagnose/diagnose.js").diagnose(MESSAGE)[0] == "a shape for another number of elements"
    assert Script("page/layout.js").numel({"shape": [6, 7]}) == 42

signal.signal(signal.SIGALRM, interrupt)
for k in range(40):
    if os.fork() == 0:
        child(0.5 + k ** 2 / 16)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer that interrupts")
def test_an_interrupt_at_any_moment_of_the_first_call_leaves_the_engine_usable():
    process = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("interrupted") > 5
