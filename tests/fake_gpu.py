"""A device that works through a queue, as a GPU does, but on a clock that tests can read.

With it a comparison finds the ratio that was put in, on the busiest of machines.
"""

import pytest

from stridekit.timing import clocks


class FakeEvent:
    """Stands in the queue and notes when the device came past it."""

    def __init__(self, queue):
        self.queue = queue

    def record(self):
        self.queue.add(lambda: setattr(self, "at", self.queue.clock))

    def elapsed_time(self, later):
        return (later.at - self.at) * 1000


class FakeQueue:
    """The host puts a piece of work into it every four microseconds; none begins before it is there."""

    l2_bytes = 1000

    def __init__(self):
        self.clock = self.host = 0.0
        self.waiting = []
        self.elsewhere = 0.0  # seconds of work on another stream
        self.erased = self.captured = 0

    def add(self, piece):
        self.host += 4e-6
        self.waiting.append((self.host, piece))

    def launch(self, seconds):
        def piece():
            self.clock += seconds

        self.add(piece)

    def synchronize(self):
        self.finish()
        self.elsewhere = 0.0

    def finish(self):
        while self.waiting:
            launched, piece = self.waiting.pop(0)
            self.clock = max(self.clock, launched)
            piece()
        self.host = max(self.host, self.clock)

    def is_idle(self):
        return not self.waiting and not self.elsewhere

    def event(self):
        return FakeEvent(self)

    def hold(self, cycles):
        self.launch(cycles / 2e9)

    def eraser(self, nbytes):
        assert nbytes == 2 * self.l2_bytes  # a cache need not forget what is oldest first

        def erase():
            self.erased += 1
            self.launch(1.0)

        return erase

    def capture(self, work):
        self.captured += 1
        return work


@pytest.fixture(name="queue")
def fake_queue(monkeypatch):
    """A fake GPU, whose clock is also the host's."""
    queue = FakeQueue()
    monkeypatch.setattr(clocks, "CudaQueue", lambda: queue)
    monkeypatch.setattr(clocks.time, "perf_counter", lambda: queue.host)
    monkeypatch.setattr(clocks.time, "monotonic", lambda: queue.host)
    return queue
