"""What an exercise shows where a kernel runs, and what its panel asks of it."""

import json
import sys
from copy import copy
from threading import Thread
from types import SimpleNamespace

import pytest

from stridekit import notebook
from stridekit.exercises import Card, Report, panel, performance, prose
from stridekit.exercises import strides as ex
from tests.test_exercises import declared
from tests.test_notebooks import code
from tests.test_notebooks import notebook as write_notebook

VIEW = notebook.WIDGET_VIEW


class Shell(SimpleNamespace):
    """A kernel's shell: the names of a notebook, and a loop that keeps what is called later."""

    def __init__(self, **names):
        later = []
        loop = SimpleNamespace(add_callback=later.append)
        super().__init__(user_ns=names, kernel=SimpleNamespace(io_loop=loop), later=later)


@pytest.fixture
def lesson(monkeypatch):
    """The exercises of a lesson, as nobody has touched them yet."""
    for task in ex.address.lesson:
        monkeypatch.setattr(task, "solved", False)
        monkeypatch.setattr(task, "opened", 0)
    return ex.address.lesson


@pytest.fixture
def task(lesson):
    """The first of them."""
    return lesson[0]


def blank(t, index): ...


def wrong(t, index):
    return 0


def show(task, fn=None, shell=None):
    """A panel of the task, or of the report on a function."""
    card = task._task() if fn is None else task.check(fn)
    return panel.panel_of(task, fn, card, shell or Shell())


def press(w, message="check"):
    """What a page does when its button is pressed; return what it is sent."""
    sent = []
    w.comm.send = lambda data, **options: sent.append(data)
    w._handle_custom_msg({message: True}, [])
    return sent


# Where no kernel runs ---------------------------------------------------------------------------------


def test_without_a_kernel_there_are_cards(task, monkeypatch):
    """Neither in plain Python nor in IPython without a kernel; and no widget is loaded for them."""
    for shell in (None, SimpleNamespace()):
        monkeypatch.setitem(
            sys.modules, "IPython", SimpleNamespace(get_ipython=lambda it=shell: it)
        )
        assert task._repr_mimebundle_() is None
        assert task.check(blank)._repr_mimebundle_(include=None, exclude=None) is None
    assert Card("note", "a")._repr_mimebundle_() is None


def test_a_report_is_equal_to_another_one_whoever_made_it(task):
    assert task.check(wrong) == copy(task).check(wrong)
    assert "live" not in repr(task.check(wrong))


# In a kernel ------------------------------------------------------------------------------------------

SOURCES = [
    "from stridekit.exercises import strides as ex",
    "ex.address",
    "ex.address.check(lambda t, index: 0)",
    "ex.address.hint()",
    "print(ex.address.opened)",
]


def test_in_a_kernel_a_view_stands_beside_text_and_html(tmp_path):
    """What is stored without the view is the card; to run all twice tells no more."""
    book = write_notebook(tmp_path, cells=[*map(code, SOURCES * 2)]).content
    notebook.run(book, tmp_path)
    shown = [output for cell in book.cells for output in cell.outputs]
    assert [VIEW in output.get("data", {}) for output in shown] == [True, True, False, False] * 2
    texts = [output.get("text") or output.data["text/plain"] for output in shown]
    assert texts[:4] == texts[4:] and texts[3] == "0\n"
    assert texts[:3] == [
        *(repr(ex.address), repr(ex.address.check(lambda t, index: 0)), repr(ex.address.hint(1)))
    ]
    assert shown[0].data["text/html"] == ex.address._repr_html_()
    notebook.tidy(book)
    assert "widget" not in json.dumps(book.cells)


def test_a_panel_of_the_task_and_one_of_a_report(task):
    """Hints and the solution are there, and closed."""
    of_task, of_report = show(task), show(task, wrong)
    assert of_task._exercise["task"]["headline"] == f"address(t, index): {task.title}"
    assert prose.spec(task.spec) in of_task._exercise["task"]["rows"] and of_task._report == {}
    assert of_report._exercise["task"] == {} and of_report._report == task.check(wrong).parts
    for w in (of_task, of_report):
        assert w._exercise["hints"] == [*map(prose.inline, task.hints)]
        assert w._exercise["solution"] == prose.python(task.source)
        assert w._state == {"hints": 0, "solution": False} and json.dumps(w.get_state())


def test_hints_that_were_opened_stay(task):
    """In the next panel and in `hint()`; a panel that has fewer takes none away."""
    older, w = show(task), show(task, blank)
    w.set_state({"_state": {"hints": 2, "solution": True}, "_change_id": 0.5})
    older.set_state({"_state": {"hints": 1, "solution": False}, "_change_id": 0.5})
    assert task.opened == 2 and task.hint() == task.hint(2)
    assert show(task, wrong)._state == {"hints": 2, "solution": False}


# To check again ---------------------------------------------------------------------------------------


def test_a_button_checks_what_the_function_is_now(task):
    """The page hears at once that somebody is there, and then the report."""
    shell = Shell()
    w = show(task, wrong, shell)
    shell.user_ns["wrong"] = task.reference
    heard, *told = press(w)
    assert heard == {"method": "custom", "content": {"heard": True}}
    assert [message["state"]["_report"] for message in told] == [w._report]
    assert w._report["sign"] == "✓" and w._report["note"] == "" and w._report["checks"] == 1
    press(w)
    note = "address has not changed. After an edit, run its cell."
    assert (w._report["note"], w._report["checks"]) == (note, 2)


def test_a_function_without_a_name_is_checked_as_it_was(task):
    w = show(task, lambda t, index: 0)
    press(w)
    count = len(task.cases)
    assert w._report["headline"] == f"address: not yet (right on 1 of {count} cases)"


def test_the_task_waits_for_a_function_of_its_name(task):
    shell = Shell()
    w = show(task, shell=shell)
    press(w)
    assert w._report["headline"] == "address: not written yet" and "note" in w._report
    assert "<code>def address(t, index)</code>" in w._report["rows"] and w._report["note"] == ""
    shell.user_ns["address"] = 3
    press(w)
    assert "of type int, not a function" in w._report["rows"]
    shell.user_ns["address"] = blank
    press(w)
    assert w._report["headline"] == "address: not attempted yet"


def test_a_check_runs_in_the_main_thread(task):
    """Where an endless loop can be stopped, and no cell runs at the same time."""
    shell = Shell(wrong=task.reference)
    w = show(task, wrong, shell)
    before = w._report
    thread = Thread(target=press, args=(w,))
    thread.start()
    thread.join()
    assert w._report is before and len(shell.later) == 1
    shell.later[0]()
    assert w._report["status"] == "passed"


def test_a_check_that_is_interrupted_says_so(task):
    def stops(t, index):
        raise KeyboardInterrupt

    w = show(task, wrong, Shell(wrong=stops))
    press(w)
    assert w._report["headline"] == "address: interrupted"


# A right answer ---------------------------------------------------------------------------------------


def test_a_right_answer_says_how_far_the_lesson_is_and_what_is_next(lesson):
    first, second, *_, last = lesson
    total = len(lesson)

    def said(task):
        report = show(task, task.reference)._report
        return report["says"], report["next"]

    assert said(second) == (f"Well done. 1 of {total} in this lesson.", lesson[2].name)
    assert said(last) == (f"Well done. 2 of {total} in this lesson.", first.name)
    assert said(first) == (f"Well done. 3 of {total} in this lesson.", lesson[2].name)
    for task in lesson[2:-2]:
        task.check(task.reference)
    ended = f"Well done. That was the last of {total}: the whole lesson is right."
    assert said(lesson[-2]) == (ended, "")
    assert "says" not in show(first, wrong)._report and first.solved


def test_an_exercise_of_ones_own_has_no_lesson():
    def same(n):
        """The number itself."""
        return n

    task = declared(same)
    assert task.lesson == []
    report = show(task, same)._report
    assert (report["says"], report["next"]) == ("Well done.", "")


def test_each_exercise_is_in_its_lesson():
    assert [task.name for task in performance.time_it.lesson] == performance.__all__
    assert all(isinstance(ex.row.check(it), Report) for it in (blank, wrong))
