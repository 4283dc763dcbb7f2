"""No answer ends a check with an error, passes for right, or leaves something behind."""

import itertools
import math
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum

import numpy as np
import pytest
import torch

from stridekit.exercises import attention, core, views
from stridekit.exercises import strides as ex
from stridekit.exercises.readers import answers
from stridekit.exercises.reports import presentable
from stridekit.exercises.running import TimeIsUp, call_within
from tests.course.test_exercises import EXERCISES, Tags, cell, passes, patient  # noqa: F401
from tests.course.wrong_answers.collecting import STOPS

right = ex.address.reference
append = attention.append.reference


def test_errors_are_told_with_their_line():
    def answer(t, index):
        raise error("no\x1b")

    for error in (GeneratorExit, SystemExit, StopIteration, AssertionError, RecursionError):
        report = ex.address.check(answer)
        assert report.status == "failed" and report.hint.startswith(STOPS)
        assert f"raised {error.__name__}" in report.text
        assert "on the line: raise error(" in report.text
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", report.text)

    def long(t, index):
        return long(t, ()) if index else raising(ValueError("x" * 500 + "\nmore"))

    shown = ex.address.check(long).rows[2].text
    assert shown.startswith(f"raised ValueError: {'x' * 160}…\non the line: return long(t, ())")


def raising(error):
    raise error


def test_an_interruption_ends_the_check():
    for stop in (lambda _: raising(KeyboardInterrupt), lambda _: map(raising, [KeyboardInterrupt])):
        with pytest.raises(KeyboardInterrupt):
            ex.contiguous_stride.check(stop)


def test_a_generator_that_stops_is_a_function_that_stops():
    def answer(shape):
        yield shape[99]

    report = ex.contiguous_stride.check(answer)
    assert "on the line: yield shape[99]" in report.text and report.hint.startswith(STOPS)
    report = ex.contiguous_stride.check(lambda shape: map(raising, [ValueError("so")]))
    assert "raised ValueError: so" in report.text
    assert report.hint.startswith("Your function comes to its end, but reading its answer raises")


NESTED = []
for _ in range(5_000):
    NESTED = [NESTED]
ANSWERS = {
    "deep": NESTED,
    "huge ints": (10**5000, -(10**5000), 10**5000),
    "large float": 1e300,
    "nans": (math.nan, math.nan, math.nan),
    "inf": -math.inf,
    "meta tensor": torch.empty(2, device="meta"),
    "sparse tensor": torch.eye(3).to_sparse(),
    "huge tensor": torch.zeros(()).expand(10**9, 10**9),
    "huge array": np.zeros(200_000),
    "objects": np.array([object()], object),
    "surrogate": "\ud800",
    "type": int,
    "nothing": NotImplemented,
}
HUGE = ("huge tensor", "huge array")


def test_no_answer_ends_a_check_or_passes(monkeypatch):
    """Each report can also be shown, as text and as HTML."""
    for name, answer in ANSWERS.items():
        report = ex.address.check(lambda *args, answer=answer: answer)
        assert report.status == "failed" and report.hint, name
        report.text.encode()
        Tags(report._repr_html_())
        for task in EXERCISES:
            assert not passes(task, lambda *args, answer=answer: answer), (task.name, name)
    huge = [ex.address.check(lambda *_, name=name: ANSWERS[name]).text for name in HUGE]
    assert "a Tensor of 1,000,000,000,000,000,000, which is more" in huge[0]
    assert "an ndarray of 200,000, which is more than any answer needs" in huge[1]
    monkeypatch.setattr(answers, "_MAX_LENGTH", 200)
    for task, item in itertools.product(EXERCISES, (0, "a", "channels_last")):
        assert not passes(task, lambda *_, item=item: itertools.repeat(item))  # without an end


def test_other_types_of_the_right_values_are_right():
    """An IntEnum, NumPy's numbers, a parameter; and none of them stays in the facts."""
    enum = IntEnum("Byte", {f"b{k}": k for k in range(2000)})
    assert ex.address.check(lambda *args: enum(right(*args))).passed
    assert ex.address.check(lambda *args: np.int64(right(*args))).passed
    kept = views.keep_row.reference
    assert views.keep_row.check(lambda big, i: kept(big, i).as_subclass(torch.nn.Buffer)).passed


SAME_SIZE = {1: torch.int8, 2: torch.float16, 4: torch.int32}
HARM = {
    "its layout": lambda t: t.unsqueeze_(0),
    "its values": lambda t: t.fill_(7),
    "its dtype": lambda t: setattr(t, "data", t.data.view(SAME_SIZE.get(t.itemsize, t.dtype))),
    "its storage freed": lambda t: t.untyped_storage().resize_(0),
    "another storage": lambda t: t.set_(),
    "another size": lambda t: t.resize_(100),
    "other data": lambda t: setattr(t, "data", torch.zeros(3, dtype=torch.int8)),
}


@pytest.mark.parametrize("name", HARM)
def test_an_input_that_was_spoilt_is_noticed(name):
    """Its layout, its dtype and all of its storage are compared, also of a cache that is written to."""
    report = ex.address.check(lambda t, index: (right(t, index), HARM[name](t))[0])
    assert report.status == "failed" and report.hint
    assert "t is no longer what it was before the call" in report.text
    assert ex.address.check(lambda *args: right(*args)).passed
    for k in (0, 1):  # the cache; k, which may not change at all
        report = attention.append.check(lambda *args, k=k: (append(*args), HARM[name](args[k]))[0])
        assert report.status == "failed" and report.hint
    assert attention.append.check(append).passed


def test_what_lies_beside_a_cache_is_guarded():
    def write_all(cache, k, t):
        kept = append(cache, k, t)
        if cache.untyped_storage().nbytes() > cache.nbytes:
            own = cache.clone()
            torch.empty(0, dtype=cache.dtype).set_(cache.untyped_storage()).fill_(9)
            cache.copy_(own)
        return kept

    report = attention.append.check(write_all)
    assert report.status == "failed" and "differs   cache" in report.text


@pytest.fixture
def short(monkeypatch):
    """A twentieth of a second for each case, however slow the solution is."""
    monkeypatch.setattr(core, "SECONDS", 0.05)
    # An alarm that meets a destructor cannot be raised there.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


def test_a_loop_that_is_endless_in_some_cases(monkeypatch):
    """The cases before count; the first wrong answer is shown, with the hint of its mistake."""
    monkeypatch.setattr(core, "SECONDS", 0.5)
    loop = cell("def answer(t, index):\n    n = 1\n    while n > 0:\n        n += 1\n")["answer"]
    report = ex.address.check(loop)
    assert report.headline == "address: not yet (stopped on the first case)"
    assert "no answer after 0.5 s: stopped\n            on the line: " in report.text
    assert "had not come to its end after 0.5 s" in report.hint

    def answer(t, index):
        while t.storage_offset():
            pass
        return right(t, index)

    assert "(right on 3 of 3 cases, stopped on the next)" in ex.address.check(answer).headline
    report = ex.address.check(lambda t, index: answer(t, index) // t.element_size())
    assert "(right on 1 of 3 cases, stopped on the next)" in report.headline
    assert "That is the number of the element" in report.hint


@pytest.mark.parametrize("task", [ex.address, ex.raw_bytes, views.first_copy, attention.append])
def test_no_exercise_waits_for_an_answer_without_an_end(task, short):
    report = task.check(lambda *args: next(k for k in itertools.count() if k < 0))
    assert "(stopped on the first case)" in report.headline
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()


def catches_all():
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            for _ in range(100):  # Python lets an alarm in where a loop begins again
                pass
        except BaseException:
            pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("endless", [catches_all, lambda: time.sleep(60)])
def test_a_call_without_an_end_is_stopped_and_no_alarm_is_left(endless, short):
    before = signal.getsignal(signal.SIGALRM)
    calls = {TimeIsUp: endless, KeyboardInterrupt: lambda: raising(KeyboardInterrupt)}
    for error, call in calls.items():
        with pytest.raises(error):
            call_within(0.05, call)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert call_within(60, lambda: 7) == 7


def test_in_another_thread_there_is_no_limit():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(call_within, 1e-6, lambda: sum(range(10**6))).result() == 499_999_500_000


def test_what_an_endless_loop_prints_is_cut(monkeypatch, capsys):
    monkeypatch.setattr(core, "SECONDS", 0.5)

    def answer(t, index):
        while True:
            print("again")

    ex.address.check(answer)
    printed = capsys.readouterr().out
    assert printed.startswith("again\nagain\n") and printed.count("\n") < 110
    assert printed.endswith("\n… (the rest is not shown)\n")


def test_what_is_printed_ends_with_the_case_that_the_report_is_about(capsys):
    """However much came before."""

    def answer(t, index):
        print("line\n" * 50, tuple(t.shape))
        return right(t, index) if t.dim() else -1

    ex.address.check(answer)
    printed = capsys.readouterr().out
    assert printed.count("line") == 50 * 17 and printed.endswith(" ()\n")


def test_addresses_are_told_from_numbers():
    for text, shown in {
        "0x7f5c3e00 and 140033962414080.": "0x… and (an address).",
        "-94310000000000": "(an address)",
        "12345678901.5 and 1.123456789012": "12345678901.5 and 1.123456789012",
        "9" * 5000: "(an address)",
        "999999 and 1073741000": "999999 and 1073741000",
    }.items():
        assert presentable(text) == shown
