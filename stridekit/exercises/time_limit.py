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
AGAIN = 1e-3  # seconds from one error to the next: some are caught by the answer


class TimeIsUp(BaseException):
    """A call took too long."""


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what `call` returns; raise TimeIsUp if it takes longer, even if it catches that."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        return call()
    is_on, up = True, TimeIsUp()

    def go_off(*_: Any) -> None:
        if is_on:
            raise up

    before = signal.signal(signal.SIGALRM, go_off)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        result = call()
    finally:
        is_on = False  # before any call: that is where Python would let the alarm in
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
    if up.__traceback__:  # it went off, and was caught
        raise up
    return result
