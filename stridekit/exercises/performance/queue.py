"""A device that works through a queue, as a GPU does, on a clock that always tells the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

MOST_STEPS = 10_000
LAUNCH = 1  # what the host needs to ask for work


class Queue:
    """Ask it for work and it returns at once; `synchronize` waits until the work is done.

    Its n-th piece of work takes `work[n]` microseconds, from the front again after the last; the very
    first takes `first` more. For the first `busy` microseconds it works for somebody else. To ask for a
    piece takes the host 1 microsecond. `clock` tells the host's time. Nothing here is random, and
    nothing depends on the machine.

    >>> queue = Queue([50], first=400)
    >>> queue.work()
    >>> queue.clock()
    1
    >>> queue.synchronize()
    >>> queue.clock()
    451
    """

    def __init__(self, work: Sequence[int], first: int = 0, busy: int = 0) -> None:
        self._costs = cycle(work)
        self._first = first
        self._host = 0
        self._free = busy  # when the device will have done all that it was asked for
        self._steps = 0

    def work(self) -> None:
        """Ask for one piece of work. It stands in the queue when this returns; it is not done."""
        self._step()
        self._host += LAUNCH
        self._free = max(self._free, self._host) + next(self._costs) + self._first
        self._first = 0

    def synchronize(self) -> None:
        """Wait until nothing is left in the queue."""
        self._step()
        self._host = max(self._host, self._free)

    def clock(self) -> int:
        """The host's time, in microseconds."""
        self._step()
        return self._host

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise RuntimeError(f"the queue was used {MOST_STEPS:,} times: does your loop end?")
