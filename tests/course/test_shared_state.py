"""The kernel's half of a widget's state: what it takes from a page, refuses and answers, for each kind.

The page's half, and both together in every order, are in tests/course/js/crossing.test.mjs.
"""

import json
import re
from pathlib import Path
from threading import Thread

import pytest

from stridekit import Layout, widgets
from stridekit.widgets.explorer import Explorer
from tests.course import widget_kinds
from tests.course.widget_kinds import FULL, KINDS, RIGHT, UNFIT

FOLDER = Path(widgets.__file__).parent


class Wire:
    """A comm that writes down each message, as JSON has it."""

    comm_id = "wire"

    def __init__(self):
        self.sent = []

    def send(self, data, buffers=None):
        assert data["method"] == "update" and not buffers
        self.sent.append(json.loads(json.dumps(data["state"])))

    def on_msg(self, callback):
        pass

    def close(self):
        pass


def make(kind, *changes):
    """A widget of a kind after some changes in Python, on a wire that has heard of none of them."""
    w = widget_kinds.make(kind, *changes)
    w.close()  # or ipywidgets keeps it under the comm that it had first
    w.comm = Wire()
    return w


def test_every_kind_is_here():
    assert all(RIGHT.values()) and all(UNFIT.values()) and all(FULL.values())


@pytest.mark.parametrize(("kind", "change"), [(kind, one) for kind in KINDS for one in RIGHT[kind]])
def test_a_change_of_a_page_is_taken_and_answered_at_once(kind, change):
    """In one message: what is held, and which change was seen. The widget is as if Python had set it."""
    w, twin, told = make(kind), make(kind, change), []
    w.observe(lambda change: told.append(change["new"]), "_state")
    state = json.loads(json.dumps(twin._state))
    w.set_state({"_state": state, "_change_id": 0.25})
    assert w.comm.sent == [{"_state": state, "_answered_id": 0.25}] and told == [state]
    assert (repr(w), w._state) == (repr(twin), twin._state)


@pytest.mark.parametrize("kind", KINDS)
def test_what_python_sets_is_told_whole_and_answers_nothing(kind):
    """The page then knows that its own change, already sent, comes later."""
    w = make(kind)
    w.set_state({"_state": w._state, "_change_id": 0.25})
    w.comm.sent.clear()
    exec(RIGHT[kind][1], {"w": w, "Layout": Layout})
    assert w.comm.sent[-1]["_state"] == json.loads(json.dumps(w._state))
    assert not any({"_answered_id", "_change_id"} & message.keys() for message in w.comm.sent)


@pytest.mark.parametrize(("kind", "part"), [(k, one) for k in KINDS for one in [*UNFIT[k], {}]])
def test_what_cannot_be_is_refused_whole(kind, part):
    """Nothing changes, no observer is called, and the answer to the page is the present state."""
    w = make(kind, RIGHT[kind][0])
    before, held, told = repr(w), w._state, []
    w.observe(told.append)
    scene = {**make(kind)._state, **part} if part else {}
    with pytest.raises((ValueError, IndexError, TypeError, KeyError)):
        w.set_state({"_state": scene, "_change_id": 0.25})
    assert (repr(w), w._state) == (before, held)
    assert [change["name"] for change in told] == ["_answered_id"]
    assert w.comm.sent == [{"_state": json.loads(json.dumps(held)), "_answered_id": 0.25}]


@pytest.mark.parametrize(("sent", "held"), [({}, (0, 1)), ({"index": [-1, 0]}, (3, 0))])
def test_the_answer_is_what_python_holds(sent, held):
    """Without a state, where Python has moved on; and with what it puts right, as a negative index."""
    w = make("StrideExplorer", "w.index = (0, 1)")
    state = {"_state": dict(w._state, **sent)} if sent else {}
    w.set_state(state | {"_change_id": 0.25})
    assert w.index == held
    assert w.comm.sent == [{"_state": json.loads(json.dumps(w._state)), "_answered_id": 0.25}]
    assert w.comm.sent[0]["_state"]["index"] == [*held]


def test_an_observer_that_fails_undoes_nothing():
    """The error is the observer's own; the change is taken and answered."""
    w, twin = make("StrideExplorer"), make("StrideExplorer", RIGHT["StrideExplorer"][0])

    def fail(change):
        raise ZeroDivisionError

    w.observe(fail, "_state")
    with pytest.raises(ZeroDivisionError):
        w.set_state({"_state": twin._state, "_change_id": 0.25})
    assert w._state == twin._state and w.comm.sent[-1]["_answered_id"] == 0.25
    assert w.comm.sent[-1]["_state"] == json.loads(json.dumps(twin._state))


@pytest.mark.parametrize("page_first", [True, False])
def test_one_change_is_done_before_the_next_begins(page_first):
    """The second waits for the first, even in two threads, as from a page and a cell."""
    w, page = make("StrideExplorer"), make("StrideExplorer", RIGHT["StrideExplorer"][0])
    state = json.loads(json.dumps(page._state))
    changes = [
        lambda: w.set_state({"_state": state, "_change_id": 0.25}),
        lambda: exec(RIGHT["StrideExplorer"][1], {"w": w, "Layout": Layout}),
    ]
    first, second = changes if page_first else changes[::-1]
    late, waited = Thread(target=second), []

    def meet(change):
        if late.ident is None:
            late.start()
            late.join(timeout=0.1)
            waited.append(late.is_alive())

    w.observe(meet, "_state")
    first()
    late.join()
    assert waited == [True]
    told = [message["_state"] for message in w.comm.sent if "_state" in message]
    assert told[-1] == json.loads(json.dumps(w._state))
    if page_first:  # what the cell does to it may build on what it finds
        assert told[0] == state
    else:
        assert (w._state, repr(w)) == (page._state, repr(page))


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
    read = {name for path in folder.glob("*.js") for name in READ.findall(path.read_text("utf-8"))}
    assert read <= drawn
