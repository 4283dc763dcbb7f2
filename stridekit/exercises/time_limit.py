"""Stop a call that does not end, by a timer of the system that raises in it again and again.

Only the main thread of Linux and macOS has such a timer. Elsewhere the notebook's stop button ends the
call. A single call into C is stopped after it returns.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
# Seconds from one error to the next. A loop that catches all of them around another loop is left only by
# an error that comes right after it has caught one.
SOON = 1e-5


class TimeIsUp(BaseException):
    """A call took too long."""


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what `call` returns; raise TimeIsUp if it takes longer, even if it catches that."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        return call()
    is_on, soon, up = True, SOON, TimeIsUp()

    def go_off(*_: Any) -> None:
        nonlocal soon
        if is_on:
            soon *= 2  # on a busy machine the next alarm may meet this one
            signal.setitimer(signal.ITIMER_REAL, soon)
            soon = SOON
            raise up

    before = signal.signal(signal.SIGALRM, go_off)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        result = call()
    finally:
        is_on = False  # before any call: that is where Python would let the alarm in
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, *timer)
    if up.__traceback__:  # it went off, and was caught
        raise up
    return result
