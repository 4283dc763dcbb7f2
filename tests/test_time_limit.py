"""Calls that do not end are stopped, whatever they catch, and leave nothing behind."""

import itertools
import signal
import sys
import threading
import time

import pytest

from stridekit.exercises.time_limit import TimeIsUp, call_within

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timers"
)
SHORT = 0.05


def loops():
    while True:
        pass


def takes_from_an_endless_iterator():
    for _ in itertools.repeat(0):
        pass


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


def catches_it_and_returns():
    try:
        loops()
    except BaseException:
        return 7


def sleeps():
    time.sleep(60)


ENDLESS = [
    loops, takes_from_an_endless_iterator, catches_all, catches_all_around_a_loop, catches_it_and_returns,
    sleeps,
]  # fmt: skip


def stopped(call, seconds=SHORT):
    """True if the call was stopped."""
    with pytest.raises(TimeIsUp):
        call_within(seconds, call)
    return True


@pytest.fixture(autouse=True)
def unraisable(monkeypatch):
    """Ignore alarms that meet a destructor, where they cannot be raised."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


@pytest.mark.parametrize("call", ENDLESS, ids=lambda call: call.__name__)
def test_a_call_without_an_end_is_stopped(call):
    before = signal.getsignal(signal.SIGALRM)
    assert stopped(call)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_call_in_time_is_left_alone():
    """Its answer and its errors are its own, and nothing goes off later."""

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_within(SHORT, fail)
    assert call_within(SHORT, lambda: 7) == 7
    time.sleep(2 * SHORT)


def test_a_limit_inside_another_one():
    """Each stops the call that is its own."""
    assert call_within(60, lambda: stopped(loops))
    assert stopped(lambda: (stopped(loops), catches_all()), 1)


def test_in_another_thread_there_is_no_limit():
    results = []
    call = threading.Thread(
        target=lambda: results.append(call_within(0.001, lambda: time.sleep(SHORT) or 7))
    )
    call.start()
    call.join()
    assert results == [7]


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
    assert nested[:3] == [2e-5, 4e-5, 8e-5] and len(nested) < 100
