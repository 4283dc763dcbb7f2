"""Calls that have no end are stopped, whatever they catch, and leave nothing behind."""

import itertools
import signal
import sys
import threading
import time

import pytest

from stridekit.exercises.time_limit import TimeIsUp, call_within


def loops():
    while True:
        pass


def takes_from_an_endless_iterator():
    for _ in itertools.repeat(0):
        pass


def catches_errors():
    while True:
        try:
            len("a")
        except Exception:
            str(7)


def catches_all():
    x = 0
    while True:
        try:
            x += 1
        except BaseException:
            x -= 1


def catches_all_around_a_loop():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def catches_all_twice():
    while True:
        try:
            try:
                for _ in itertools.repeat(0):
                    pow(3, 3)
            except BaseException:
                str(7)
        finally:
            print(end="")


def catches_it_and_returns():
    try:
        loops()
    except BaseException:
        return 7


def sleeps():
    time.sleep(60)


def waits_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


ENDLESS = [
    *(loops, takes_from_an_endless_iterator, catches_errors, catches_all, catches_it_and_returns),
    catches_all_twice,
]
# What only the timer stops at once. Another thread may need half a minute for the last.
BY_TIMER = [sleeps, waits_for_a_lock, catches_all_around_a_loop]
SHORT = 0.05


def in_a_thread(call):
    """The result of a call in another thread than the main one."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


def stopped(call, seconds=SHORT):
    """Where a call was stopped, as the names of its functions."""
    try:
        call_within(seconds, call)
    except TimeIsUp as up:
        return [code.co_name for code, _ in up.places]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer on this system")
@pytest.mark.parametrize("call", ENDLESS + BY_TIMER, ids=lambda call: call.__name__)
def test_a_call_without_an_end_is_stopped(call):
    before = signal.getsignal(signal.SIGALRM)
    assert call.__name__ in stopped(call)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize("call", ENDLESS, ids=lambda call: call.__name__)
def test_in_another_thread_it_is_stopped_as_well(call):
    before = sys.getswitchinterval(), threading.active_count()
    assert call.__name__ in in_a_thread(lambda: stopped(call))
    assert (sys.getswitchinterval(), threading.active_count()) == before


@pytest.mark.parametrize("where", [lambda call: call(), in_a_thread])
def test_a_call_in_time_is_left_alone(where):
    """Its answer and its errors are its own, and nothing goes off later."""

    def fail():
        raise KeyboardInterrupt

    def caught():
        with pytest.raises(KeyboardInterrupt):
            call_within(SHORT, fail)
        return call_within(SHORT, lambda: 7)

    assert where(caught) == 7
    assert where(lambda: time.sleep(2 * SHORT)) is None


@pytest.mark.parametrize("where", [lambda call: call(), in_a_thread])
def test_a_limit_inside_another_one(where):
    """Each stops the call that is its own; the error of the inner one is not taken for the outer one's."""

    def one_in_the_other():
        with pytest.raises(TimeIsUp) as caught:
            call_within(60, lambda: call_within(SHORT, loops))
        return caught.value.places[0][0].co_name

    assert where(one_in_the_other) == "loops"
    assert where(lambda: stopped(lambda: (stopped(loops), catches_all()), 1)[0]) == "catches_all"
    assert where(lambda: call_within(60, lambda: stopped(loops))[0]) == "loops"


def test_it_says_where_the_call_was():
    try:
        call_within(SHORT, catches_it_and_returns)
    except TimeIsUp as up:
        (code, line), (outer, _) = up.places[:2]
    assert (code, outer) == (loops.__code__, catches_it_and_returns.__code__)
    assert line in (loops.__code__.co_firstlineno + 1, loops.__code__.co_firstlineno + 2)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_an_alarm_that_meets_the_last_one_waits_longer(monkeypatch):
    """As on a machine so busy that no two lines take less than a millisecond."""
    real, waits = signal.setitimer, []

    def setitimer(which, seconds, *interval):
        waits.append(seconds)
        before = real(which, seconds, *interval)
        if 0 < seconds < 1e-3:
            signal.raise_signal(signal.SIGALRM)
        return before

    monkeypatch.setattr(signal, "setitimer", setitimer)
    with pytest.raises(TimeIsUp):
        call_within(0.01, loops)
    nested = [seconds for seconds in waits if 0 < seconds < 0.01]
    assert nested[:4] == [1e-5, 2e-5, 4e-5, 8e-5] and len(nested) < 100


@pytest.mark.parametrize("where", [lambda call: call(), in_a_thread])
def test_an_alarm_in_a_finalizer_is_not_reported(where, monkeypatch):
    """Python drops the error there, and the next one stops the call. Other errors there are reported."""
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)

    class Finalized:
        def __init__(self, end):
            self.end = end

        def __del__(self):
            self.end()

    def call():
        Finalized(lambda: 1 / 0)
        Finalized(loops)
        loops()

    hook = sys.unraisablehook
    assert where(lambda: stopped(call))[0] == "loops"
    assert [error.exc_type for error in said] == [ZeroDivisionError]
    assert sys.unraisablehook == hook
