"""Calls that do not end are stopped, even if they catch that, and leave nothing behind."""

import itertools
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from stridekit.exercises.time_limit import TimeIsUp, call_within

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timers"
)
SHORT = 0.05


def loops():
    while True:
        pass


def catches_all():
    x = 0
    while True:
        try:
            x += 1
        except BaseException:
            x -= 1


def catches_it_and_returns():
    try:
        loops()
    except BaseException:
        return 7


ENDLESS = {
    "loops": loops,
    "takes from an endless iterator": lambda: next(k for k in itertools.count() if k < 0),
    "catches all": catches_all,
    "catches it and returns": catches_it_and_returns,
    "sleeps": lambda: time.sleep(60),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_call_without_an_end_is_stopped(name, monkeypatch):
    # An alarm that meets a destructor cannot be raised there.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeIsUp):
        call_within(SHORT, ENDLESS[name])
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_call_in_time_is_left_alone():
    """Its answer and its errors are its own, and no alarm is left."""

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_within(60, fail)
    assert call_within(60, lambda: 7) == 7
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_in_another_thread_there_is_no_limit():
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(call_within, 1e-6, lambda: sum(range(10**6)))
        assert call.result() == sum(range(10**6))
