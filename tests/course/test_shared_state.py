"""The kernel's half of a widget's state: what it accepts, refuses and answers, for each widget type.

The page's half, and both together in every order, are in tests/course/js/crossing.test.mjs.
"""

import json
import re
from pathlib import Path
from threading import Thread

import ipywidgets
import pytest

from stridekit import Layout, widgets
from stridekit.widgets.explorer import Explorer
from tests.course import widget_kinds
from tests.course.widget_kinds import FULL, KINDS, RIGHT, UNFIT

FOLDER = Path(widgets.__file__).parent


if ipywidgets.__version__.startswith("7."):  # it takes no other comm than those of ipykernel
    from ipykernel.comm import Comm
else:
    Comm = object


class Wire(Comm):
    """A comm that stores each message, as JSON."""

    comm_id = "wire"
    kernel = "a kernel"  # ipywidgets 7 sends nothing without one

    def __init__(self):
        self.sent = []

    def send(self, data, buffers=None):
        assert data["method"] == "update" and not buffers
        self.sent.append(json.loads(json.dumps(data["state"])))

    def on_msg(self, callback):
        pass

    def close(self, **options):
        pass


def make(kind, *changes):
    """Return a widget after some changes in Python, on a wire that has received none of them."""
    w = widget_kinds.make(kind, *changes)
    w.close()  # or ipywidgets keeps it under the comm that it had first
    w.comm = Wire()
    return w


def test_no_widgets_share_their_texts_in_marimo():
    """marimo closes the models of a cell before that runs again; widgets of other cells still need them."""
    w = make("Predict")
    shared = w._code
    assert make("Predict")._code is shared
    shared.comm = Wire()
    shared.comm.kernel = "marimo"
    assert make("Predict")._code is not shared


def as_json(state):
    """Return a state as it arrives on the other side."""
    return json.loads(json.dumps(state))


def pairs(sources):
    """Return each widget with each of its sources."""
    return [(kind, source) for kind in KINDS for source in sources[kind]]


def test_every_widget_has_its_rows():
    assert all(RIGHT.values()) and all(UNFIT.values()) and all(FULL.values())


@pytest.mark.parametrize(("kind", "change"), pairs(RIGHT))
def test_a_change_of_a_page_is_accepted_and_answered_at_once(kind, change):
    """One message has the state and the number of the change. The widget is as if Python had set it."""
    w = make(kind)
    twin = make(kind, change)
    states = []
    w.observe(lambda change: states.append(change["new"]), "_state")
    state = as_json(twin._state)
    w.set_state({"_state": state, "_change_id": 0.25})
    assert w.comm.sent == [{"_state": state, "_answered_id": 0.25}]
    assert states == [state]
    assert (repr(w), w._state) == (repr(twin), twin._state)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_in_python_is_sent_whole_and_answers_nothing(kind):
    """The page then knows that its own change, already sent, comes later."""
    w = make(kind)
    w.set_state({"_state": w._state, "_change_id": 0.25})
    w.comm.sent.clear()
    exec(RIGHT[kind][1], {"w": w, "Layout": Layout})
    assert w.comm.sent[-1]["_state"] == as_json(w._state)
    assert not any({"_answered_id", "_change_id"} & message.keys() for message in w.comm.sent)


@pytest.mark.parametrize(("kind", "part"), [*pairs(UNFIT), *((kind, {}) for kind in KINDS)])
def test_an_impossible_state_is_refused_whole(kind, part):
    """Nothing changes, no observer is called, and the answer to the page is the present state."""
    w = make(kind, RIGHT[kind][0])
    text = repr(w)
    state = w._state
    changes = []
    w.observe(changes.append)
    impossible = {**make(kind)._state, **part} if part else {}
    with pytest.raises((ValueError, IndexError, TypeError, KeyError)):
        w.set_state({"_state": impossible, "_change_id": 0.25})
    assert (repr(w), w._state) == (text, state)
    assert [change["name"] for change in changes] == ["_answered_id"]
    assert w.comm.sent == [{"_state": as_json(state), "_answered_id": 0.25}]


@pytest.mark.parametrize(("part", "index"), [({}, (0, 1)), ({"index": [-1, 0]}, (3, 0))])
def test_the_answer_is_the_state_in_python(part, index):
    """Python answers a message without a state, and corrects a negative index."""
    w = make("StrideExplorer", "w.index = (0, 1)")
    message = {"_state": dict(w._state, **part)} if part else {}
    w.set_state(message | {"_change_id": 0.25})
    assert w.index == index
    assert w.comm.sent == [{"_state": as_json(w._state), "_answered_id": 0.25}]
    assert w.comm.sent[0]["_state"]["index"] == [*index]


def test_an_observer_that_fails_undoes_nothing():
    """The error is the observer's own; the change is accepted and answered."""
    w = make("StrideExplorer")
    twin = make("StrideExplorer", RIGHT["StrideExplorer"][0])

    def fail(change):
        raise ZeroDivisionError

    w.observe(fail, "_state")
    with pytest.raises(ZeroDivisionError):
        w.set_state({"_state": twin._state, "_change_id": 0.25})
    assert w._state == twin._state
    assert w.comm.sent[-1]["_answered_id"] == 0.25
    assert w.comm.sent[-1]["_state"] == as_json(twin._state)


@pytest.mark.parametrize("page_first", [True, False])
def test_one_change_is_done_before_the_next_begins(page_first):
    """The second waits for the first, even in two threads, as from a page and a cell."""
    w = make("StrideExplorer")
    after_page = make("StrideExplorer", RIGHT["StrideExplorer"][0])
    state = as_json(after_page._state)

    def change_by_page():
        w.set_state({"_state": state, "_change_id": 0.25})

    def change_by_cell():
        exec(RIGHT["StrideExplorer"][1], {"w": w, "Layout": Layout})

    first, second = change_by_page, change_by_cell
    if not page_first:
        first, second = second, first
    thread = Thread(target=second)
    has_waited = []

    def start_second(change):
        if thread.ident is None:
            thread.start()
            thread.join(timeout=0.1)
            has_waited.append(thread.is_alive())

    w.observe(start_second, "_state")
    first()
    thread.join()
    assert has_waited == [True]
    states = [message["_state"] for message in w.comm.sent if "_state" in message]
    assert states[-1] == as_json(w._state)
    if page_first:
        assert states[0] == state  # the cell may build on this state
    else:
        assert (w._state, repr(w)) == (after_page._state, repr(after_page))


# A trait that the page reads and Python does not send, or the other way round, would never show.
TRAITS = re.compile(r'(?:const TRAITS =|traits:) \[\s*((?:"\w+",?\s*)+)')
READ = re.compile(r'model\.get\("(\w+)"\)')


@pytest.mark.parametrize("kind", KINDS)
def test_a_widget_is_drawn_for_each_trait_that_it_reads_and_python_sends(kind):
    folder = FOLDER / type(make(kind)).__module__.split(".")[-2]
    source = (folder / "widget.js").read_text(encoding="utf-8")
    drawn = {"_state", *re.findall(r"\w+", " ".join(TRAITS.findall(source)))}
    shared = {*Explorer.class_traits(sync=True)} - {"_state"}
    sent = {name for name in make(kind).keys if name not in shared}
    assert drawn == sent - {"_anywidget_id"}
    scripts = "\n".join(path.read_text("utf-8") for path in folder.glob("*.js"))
    assert {*READ.findall(scripts)} <= drawn
