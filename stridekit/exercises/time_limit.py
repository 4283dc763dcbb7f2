"""Stop a call that does not come to an end: raise in it, again and again, until it lets go.

In the main thread of Linux and macOS a timer of the system does so, which ends a sleep and the wait
for a lock as well. Elsewhere another thread does. Neither can stop a single call into C, where no Python
runs: one of torch's that takes a minute is stopped after that minute, and one that never returns, such
as `sum(itertools.repeat(0))`, ends only with its process.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")
Place = tuple[CodeType, int]  # a frame's code, and the line that it is on
# Seconds from one error to the next. A loop that catches all of them around another one is left only by
# an error that comes right after it has caught one.
SOON = 1e-5


class TimeIsUp(BaseException):
    """A call took too long; `places` says where it was, from the innermost frame outwards."""

    places: tuple[Place, ...] = ()


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """What `call` returns. Raises TimeIsUp if it takes longer, even if it catches all and returns."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    alarm = (_Timer if in_main_thread and hasattr(signal, "setitimer") else _Watcher)()
    said, sys.unraisablehook = sys.unraisablehook, _unless_time_is_up(sys.unraisablehook)
    try:
        alarm.start(seconds)
        result = call()
    except TimeIsUp:
        if not alarm.places:  # a limit inside this one
            raise
    finally:
        alarm.is_on = False  # before any call: that is where Python would let the alarm in
        try:
            alarm.end()
        except TimeIsUp:  # which a thread had raised before
            alarm.end()
        sys.unraisablehook = said
    if alarm.places:
        up = TimeIsUp()
        up.places = alarm.places
        raise up
    return result


def _unless_time_is_up(say: Callable[[Any], object]) -> Callable[[Any], object]:
    """Say nothing of an alarm that goes off in a finalizer: Python drops it, and the next one follows."""
    return lambda error: None if error.exc_type is TimeIsUp else say(error)


class _Alarm:
    """Raises TimeIsUp in the thread that made it, from a certain time on."""

    def __init__(self) -> None:
        self.is_on = True
        self.places: tuple[Place, ...] = ()

    def note(self, frame: FrameType | None) -> None:
        """Note where the call is when the alarm goes off for the first time."""
        found = []
        while frame and not self.places:
            found.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        self.places = self.places or tuple(found)


class _Timer(_Alarm):
    """By SIGALRM."""

    soon, is_setting = SOON, False

    def start(self, seconds: float) -> None:
        self.handler = signal.signal(signal.SIGALRM, self.go_off)
        self.timer = signal.setitimer(signal.ITIMER_REAL, seconds)

    def go_off(self, signum: int, frame: FrameType | None) -> None:
        if self.is_on:
            self.note(frame)
            # On a busy machine the next alarm may go off before this one is through: then it waits longer.
            self.soon, self.is_setting = 2 * self.soon if self.is_setting else SOON, True
            signal.setitimer(signal.ITIMER_REAL, self.soon)
            self.is_setting = False
            raise TimeIsUp

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.handler or signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, *self.timer)


class _Watcher(_Alarm):
    """By a thread, which can raise in another one only between two steps of Python."""

    def start(self, seconds: float) -> None:
        self.interval = sys.getswitchinterval()
        self.ended = threading.Event()
        self.target = threading.get_ident()
        self.thread = threading.Thread(target=self.watch, args=(seconds,), daemon=True)
        self.thread.start()

    def watch(self, seconds: float) -> None:
        while not self.ended.wait(seconds) and self.is_on:
            self.note(sys._current_frames().get(self.target))
            self.raise_in_target(TimeIsUp)
            seconds = SOON
            sys.setswitchinterval(SOON)

    def raise_in_target(self, error: type[BaseException] | None) -> None:
        value = ctypes.py_object(error) if error else None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.target), value)

    def end(self) -> None:
        self.ended.set()
        self.thread.join()
        sys.setswitchinterval(self.interval)
        self.raise_in_target(None)  # nor is an error left that has not arrived yet
