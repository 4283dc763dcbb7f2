"""GPUs that work through queues, as torch shows them, but on a clock that tests can read.

With them a comparison finds the ratio that was put in, on the busiest of machines.
"""

from collections import deque
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
import torch

from stridekit.timing import clocks


class FakeGpus:
    """Two GPUs, as `torch.cuda`, `torch.accelerator` and the module of their device show them.

    The host puts a piece of work into a queue every four microseconds; none begins before it is there.
    """

    def __init__(self):
        self.kind = "cuda"
        self.started = False
        self.host = self.clock = 0.0  # seconds
        self.queues = [deque(), deque()]  # of the current streams
        self.elsewhere = [0.0, 0.0]  # seconds of work on other streams
        self.stalls = iter(())  # seconds by which waits are delayed
        self.l2_bytes = 1000
        self.flushed_bytes = 0
        self.erased = 0  # how often the L2 was written over
        self.captured = 0  # the graphs

    def launch(self, seconds, device=0, is_current=True):
        self.started = True
        if not is_current:
            self.elsewhere[device] += seconds
            return

        def kernel():
            self.clock += seconds

        self.add(kernel, device)

    def add(self, kernel, device=0):
        self.host += 4e-6
        self.queues[device].append((self.host, kernel))

    def finish(self, device=0):
        while self.queues[device]:
            launched, kernel = self.queues[device].popleft()
            self.clock = max(self.clock, launched)
            kernel()
        self.host = max(self.host, self.clock)

    # The functions of torch.accelerator, and of the module of a device.

    def is_available(self):
        return True

    def current_accelerator(self):
        return torch.device(self.kind)

    def device_count(self):
        return 3 if self.kind == "cuda" else 2

    def get_device_module(self, kind):
        return SimpleNamespace() if self.kind == "mps" else self

    def is_initialized(self):
        return self.started

    def memory_reserved(self, device):
        return device < 2

    def current_stream(self, device=0):
        return SimpleNamespace(
            query=lambda: not self.queues[device],
            synchronize=lambda: self.finish(device),
            wait_stream=lambda other: None,
        )

    def synchronize(self, device=0):
        assert self.started or self.kind == "mps", "a wait would start it"
        self.finish(device)
        self.host += self.elsewhere[device] + next(self.stalls, 0.0)
        self.elsewhere[device] = 0.0

    # The functions of torch.cuda.

    def get_device_properties(self):
        return SimpleNamespace(L2_cache_size=self.l2_bytes)

    def Event(self, enable_timing):
        event = SimpleNamespace()
        event.record = lambda: self.add(lambda: setattr(event, "at", self.clock))
        event.elapsed_time = lambda later: (later.at - event.at) * 1000
        return event

    def _sleep(self, cycles):
        self.launch(cycles / 2e9)

    def empty(self, nbytes, dtype, device):
        assert (dtype, device) == (torch.int8, "cuda")
        self.flushed_bytes = nbytes
        return SimpleNamespace(zero_=self.erase)

    def erase(self):
        self.erased += 1
        self.launch(1.0)

    def Stream(self):
        return self.current_stream()

    def stream(self, side):
        return nullcontext()

    CUDAGraph = SimpleNamespace

    @contextmanager
    def graph(self, graph):
        self.finish()
        yield
        kernels = [kernel for _, kernel in self.queues[0]]
        self.queues[0].clear()

        def replay():
            for kernel in kernels:
                self.add(kernel)

        graph.replay = replay
        self.captured += 1


@pytest.fixture(name="gpus")
def fake_gpus(monkeypatch):
    """Fake GPUs, whose clock is also the host's."""
    fake = FakeGpus()
    fake_torch = SimpleNamespace(
        cuda=fake,
        accelerator=fake,
        int8=torch.int8,
        empty=fake.empty,
        get_device_module=fake.get_device_module,
    )
    monkeypatch.setattr(clocks, "torch", fake_torch)
    monkeypatch.setattr(clocks.time, "perf_counter", lambda: fake.host)
    monkeypatch.setattr(clocks.time, "monotonic", lambda: fake.host)
    return fake
