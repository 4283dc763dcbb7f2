"""Clocks: how long some calls of a function took, on the host or on a GPU.

A GPU works through a queue. A function that gives it work returns long before the work is done, so a
host clock would time the launch alone. The GPU's own clock stands in the queue: one event before the
work and one after it.
"""

from __future__ import annotations

import inspect
import math
import time
import timeit
from collections.abc import Awaitable, Callable
from types import AsyncGeneratorType, GeneratorType
from typing import Any

import torch

from stridekit._arguments import a_kind

Work = Callable[[], Any]

# While this many cycles pass for each call, the host fills the queue, so that no call waits for its
# launch between its two events. About 20 microseconds.
CYCLES_PER_LAUNCH = 40_000
WARM_UPS_BEFORE_CAPTURE = 3


class TimingError(ValueError):
    """Something cannot be timed; the message says why, and what to do: a ValueError.

    Raised by `measure`, `compare` and everything built on them.

    >>> clock_for("tpu")
    Traceback (most recent call last):
    stridekit.timing.clocks.TimingError: device 'tpu' cannot be timed: 'cpu' and 'cuda' can
    """


class TooShort(TimingError):
    """`max_seconds` leaves no time for three rounds; the message says how long they take: a TimingError.

    Raised by `compare`.

    >>> from stridekit.timing import compare
    >>> def nap():
    ...     time.sleep(0.01)
    >>> compare({"a": nap, "b": nap}, max_seconds=0.02)
    Traceback (most recent call last):
    stridekit.timing.clocks.TooShort: max_seconds=0.02 is too short: a round takes about ...
    """


def why_no_cuda() -> str:
    """The reason why nothing can be timed on a GPU here, in one line; "" if it can.

    >>> why_no_cuda() == "" or why_no_cuda()
    'no CUDA device here: the recorded results stand in for it'
    """
    if torch.cuda.is_available():
        return ""
    return "no CUDA device here: the recorded results stand in for it"


class HostClock:
    """Wall time. Refuses a function that leaves a GPU at work when it returns."""

    most_calls = 100_000  # in one sample

    def __init__(self, gpu: Any = None) -> None:
        self._gpu = gpu if gpu is not None else CudaQueue() if torch.cuda.is_initialized() else None

    def begin(self, work: Work, name: str = "the function") -> Work:
        """Call `work` once, and return it; raise TimingError unless it waits for what it starts."""
        if self._gpu is not None:
            self._gpu.synchronize()
        _refuse_lazy(work(), name)
        if self._gpu is not None and not self._gpu.is_idle():
            raise TimingError(
                f"{name} returned while the GPU was still at work: a host clock would time the "
                "launch alone. Give device='cuda', which times the work itself."
            )
        return work

    def seconds(self, work: Work, calls: int) -> tuple[float, float]:
        """Seconds of `calls` calls, with the garbage collector off: of the work, and of the host."""
        taken = timeit.Timer(work).timeit(calls)
        return taken, taken


def _refuse_lazy(result: object, name: str) -> None:
    """Raise TimingError for a result that still has all of its work to do."""
    if isinstance(result, GeneratorType | map | filter | zip):
        advice = "lambda: list(f())"
    elif isinstance(result, Awaitable | AsyncGeneratorType):
        advice = "a function that awaits it to its end, as in lambda: asyncio.run(f())"
    else:
        return
    if inspect.iscoroutine(result):
        result.close()  # else Python warns that nobody awaited it
    raise TimingError(
        f"{name} returned {a_kind(result)}, which has not begun its work: only the making of it would be "
        f"timed. Give {advice}"
    )


class CudaQueue:
    """All that a clock needs from torch.cuda; tests put a queue of their own in its place."""

    def __init__(self) -> None:
        if why := why_no_cuda():
            raise TimingError(why)
        self.l2_bytes: int = torch.cuda.get_device_properties().L2_cache_size

    def synchronize(self) -> None:
        """Wait until the queue is empty."""
        torch.cuda.synchronize()

    def is_idle(self) -> bool:
        """True if the current stream has nothing left to do."""
        return bool(torch.cuda.current_stream().query())

    def event(self) -> Any:
        """An event with `record()` and `elapsed_time(later)`, in milliseconds."""
        return torch.cuda.Event(enable_timing=True)

    def hold(self, cycles: int) -> None:
        """Keep the GPU busy, so that the queue can fill meanwhile."""
        torch.cuda._sleep(cycles)

    def eraser(self, nbytes: int) -> Work:
        """A function that writes `nbytes` bytes, and so evicts all that the L2 cache holds."""
        return torch.empty(nbytes, dtype=torch.int8, device="cuda").zero_

    def capture(self, work: Work) -> Work:
        """A function that replays what one call of `work` launches, without Python in between."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS_BEFORE_CAPTURE):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return graph.replay


class CudaClock:
    """Pairs of events around each call, on the current stream, in a queue that is already full.

    `flush` writes over the L2 cache before each call, outside the events, as Triton's do_bench does:
    without it a small tensor is timed in the cache. `graph` replays a captured CUDA graph, for work
    that takes less time than its launch. Nothing that the clock allocates outlives it.
    """

    most_calls = 100  # in one sample: each has two events, and the queue is finite

    def __init__(self, *, flush: bool = True, graph: bool = False, queue: Any = None) -> None:
        self._queue = queue if queue is not None else CudaQueue()
        self._erase = self._queue.eraser(2 * self._queue.l2_bytes) if flush else None
        self._graph = graph

    def begin(self, work: Work, name: str = "the function") -> Work:
        """Call `work` once, and return it or a graph of it; its result is not kept."""
        _refuse_lazy(work(), name)
        self._queue.synchronize()
        return self._queue.capture(work) if self._graph else work

    def seconds(self, work: Work, calls: int) -> tuple[float, float]:
        """Seconds of `calls` calls on the GPU, and the host's seconds to launch them."""
        pairs = [(self._queue.event(), self._queue.event()) for _ in range(calls)]
        self._queue.synchronize()
        self._queue.hold(calls * CYCLES_PER_LAUNCH)
        launched = 0.0
        for start, end in pairs:
            if self._erase:
                self._erase()
            begun = time.perf_counter()
            start.record()
            work()
            end.record()
            launched += time.perf_counter() - begun
        self._queue.synchronize()
        return math.fsum(start.elapsed_time(end) for start, end in pairs) / 1000, launched


Clock = HostClock | CudaClock


def clock_for(device: str, *, flush: bool = True, graph: bool = False) -> Clock:
    """The clock of a device, "cpu" or "cuda". Raises TimingError for another, or for a missing one."""
    if not isinstance(device, str):
        raise TimingError(f"device is of type {type(device).__name__}: give 'cpu' or 'cuda'")
    if device == "cuda":
        return CudaClock(flush=flush, graph=graph)
    if device != "cpu":
        raise TimingError(f"device {device!r} cannot be timed: 'cpu' and 'cuda' can")
    if graph:
        raise TimingError("graph=True replays a CUDA graph: give device='cuda' as well")
    return HostClock()
