"""Clocks: how long some calls of a function took, on the host or on a GPU.

A GPU works through a queue. A function that gives it work returns long before the work is done, so
a host clock would time the launch alone. The GPU's own clock stands in the queue: one event before
the work and one after it.
"""

from __future__ import annotations

import inspect
import io
import math
import time
import timeit
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import torch

from stridekit._arguments import a_kind, shown, with_article

Work = Callable[[], Any]

# While this many cycles pass for each call, the host fills the queue, so that no call waits for its
# launch between its two events. About 20 microseconds.
CYCLES_PER_LAUNCH = 40_000
WARM_UPS_BEFORE_CAPTURE = 3
UNKNOWN_L2 = 1 << 27  # bytes to flush where the driver reports no L2: no L2 is larger today
# Work is left if in WAITS tries the wait takes more than LONGER times an idle one, and NOTICED
# seconds.
WAITS = 3
LONGER = 3
NOTICED = 2e-5


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
    >>> compare(dict.fromkeys("ab", lambda: time.sleep(0.01)), max_seconds=0.02)
    Traceback (most recent call last):
    stridekit.timing.clocks.TooShort: max_seconds=0.02 is too short: a round takes about ...
    """


def why_no_cuda() -> str:
    """Return why nothing can be timed on a GPU here, in one line; "" if it can.

    >>> why_no_cuda() == "" if torch.cuda.is_available() else "no CUDA" in why_no_cuda()
    True
    """
    if torch.cuda.is_available():
        return ""
    return "no CUDA device here: recorded results stand in for it"


def is_int(value: Any) -> bool:
    """Return True for an int that is not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def require_seconds(name: str, value: Any) -> None:
    """Raise TimingError unless the value is a number above 0."""
    if isinstance(value, bool) or not (isinstance(value, int | float) and 0 < value < math.inf):
        raise TimingError(f"{name}={shown(value)}: give seconds, more than 0")


class Devices:
    """All GPUs that this process has used, with all their streams."""

    def synchronize(self) -> float:
        """Wait until no stream has anything left to do; return the seconds that the wait took."""
        start = time.perf_counter()
        for index in self._used():
            torch.accelerator.synchronize(index)
        return time.perf_counter() - start

    def is_idle(self) -> bool:
        """Return True if no stream is at work: a long wait shows work on streams that are not current."""
        if not all(torch.accelerator.current_stream(index).query() for index in self._used()):
            return False
        first_wait = self.synchronize()
        idle_waits = [self.synchronize() for _ in range(WAITS)]
        return first_wait <= LONGER * max(idle_waits) + NOTICED

    @staticmethod
    def _used() -> list[int]:
        """Return the indices of the GPUs in use; asking never starts one."""
        if not torch.accelerator.is_available():  # torch 2.6 raises if there is none
            return []
        device = torch.accelerator.current_accelerator()
        module = torch.get_device_module(device)
        indices = range(torch.accelerator.device_count())
        if not getattr(module, "is_initialized", torch.accelerator.is_available)():
            return []
        return [
            index for index in indices if device.type != "cuda" or module.memory_reserved(index)
        ]


class HostClock:
    """Wall time. Refuses a function that leaves a GPU at work when it returns."""

    most_calls = 100_000  # in one sample

    def begin(self, work: Work, name: str = "the function") -> Work:
        """Call `work`, and return it; raise TimingError unless it waits for what it starts."""
        if not _finishes(work, name, Devices(), lambda: None):
            raise TimingError(
                f"{name} returned while the GPU was still at work: a host clock would time the launch "
                "alone. Give device='cuda', which times the work itself, or end it with "
                "torch.accelerator.synchronize()"
            )
        return work

    def seconds(self, work: Work, calls: int) -> tuple[float, float]:
        """Return the seconds of `calls` calls, for the work and for the host; no garbage is collected."""
        seconds = timeit.Timer(work).timeit(calls)
        return seconds, seconds


def _finishes(work: Work, name: str, gpu: Devices, finish: Work) -> bool:
    """Call `work`; return True if nothing of it is left after `finish`."""
    for _ in range(WAITS):  # a busy host delays a wait now and then
        gpu.synchronize()
        _refuse_unfinished(work(), name)
        finish()
        if gpu.is_idle():
            return True
    return False


# A class with both of these methods is a future, whose work may go on.
_FUTURE_METHODS = [
    ("result", "done"),  # concurrent.futures
    ("wait", "done"),  # torch.futures
    ("wait", "ready"),  # multiprocessing.pool
    ("wait", "is_completed"),  # torch.distributed
    ("join", "is_alive"),  # threads and processes
    ("wait", "poll"),  # subprocess
]


def _refuse_unfinished(result: Any, name: str) -> None:
    """Raise TimingError for a result that still has work to do."""
    if isinstance(result, Iterator) and not isinstance(result, io.IOBase):
        raise TimingError(
            f"{name} returned {a_kind(result)}, which has not begun its work: "
            "only the making of it would be timed. Give lambda: list(f())"
        )
    if isinstance(result, Awaitable | AsyncIterator):
        if inspect.iscoroutine(result):
            result.close()  # else Python warns that nobody awaited it
        raise TimingError(
            f"{name} returned {a_kind(result)}, which has not begun its work: "
            "only the making of it would be timed. Give a function that awaits it to its end, "
            "as in lambda: asyncio.run(f())"
        )
    classes = {type(result)}
    if type(result) in (list, tuple, set):
        classes = {*map(type, result)}
    elif type(result) is dict:
        classes = {*map(type, result.values())}
    for cls in classes:
        if _is_future(cls):
            raise TimingError(
                f"{name} returned {with_article(cls.__name__)}, which may still be at work: only its "
                "start would be timed. Give a function that waits for it, as in lambda: f().result()"
            )


def _is_future(cls: type) -> bool:
    """Return True for a class whose objects stand for work that may go on."""
    return any(hasattr(cls, wait) and hasattr(cls, ask) for wait, ask in _FUTURE_METHODS)


class CudaQueue(Devices):
    """The part of torch.cuda that a clock needs."""

    def __init__(self) -> None:
        if why := why_no_cuda():
            raise TimingError(why)
        self.l2_bytes: int = torch.cuda.get_device_properties().L2_cache_size or UNKNOWN_L2

    def finish(self) -> None:
        """Wait until the current stream has nothing left to do."""
        torch.cuda.current_stream().synchronize()

    def event(self) -> Any:
        """Return an event with `record()` and `elapsed_time(later)`, in milliseconds."""
        return torch.cuda.Event(enable_timing=True)

    def hold(self, cycles: int) -> None:
        """Keep the GPU busy, so that the queue can fill meanwhile."""
        torch.cuda._sleep(cycles)

    def eraser(self, nbytes: int) -> Work:
        """Return a function that writes `nbytes` bytes, and so evicts all that the L2 cache holds."""
        return torch.empty(nbytes, dtype=torch.int8, device="cuda").zero_

    def capture(self, work: Work) -> Work:
        """Return a function that replays what one call of `work` launches, without Python in between."""
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

    `flush` writes over the L2 cache before each call, outside the events, as Triton's do_bench
    does. `graph` replays a captured CUDA graph, for work that takes less time than its launch.
    """

    most_calls = 100  # in one sample: each has two events, and the queue is finite

    def __init__(self, *, flush: bool = True, graph: bool = False) -> None:
        self._queue = CudaQueue()
        self._erase = self._queue.eraser(2 * self._queue.l2_bytes) if flush else None
        self._graph = graph

    def begin(self, work: Work, name: str = "the function") -> Work:
        """Call `work`, and return it or a graph of it; its result is not kept."""
        if not _finishes(work, name, self._queue, self._queue.finish):
            raise TimingError(
                f"{name} works on another stream or GPU than the current one, whose events do not time "
                "it: let the current stream wait for it, as "
                "torch.cuda.current_stream().wait_stream(other) does"
            )
        return self._queue.capture(work) if self._graph else work

    def seconds(self, work: Work, calls: int) -> tuple[float, float]:
        """Return seconds of `calls` calls on the GPU, and the host's seconds to launch them."""
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
    """Return the clock of a device, "cpu" or "cuda"; raise TimingError for any other or missing device."""
    for name, value in (("flush", flush), ("graph", graph)):
        if not isinstance(value, bool):
            raise TimingError(f"{name}={shown(value)}: give True or False")
    if not isinstance(device, str):
        raise TimingError(f"device is of type {type(device).__name__}: give 'cpu' or 'cuda'")
    if device == "cuda":
        return CudaClock(flush=flush, graph=graph)
    if device != "cpu":
        raise TimingError(f"device {device!r} cannot be timed: 'cpu' and 'cuda' can")
    if graph:
        raise TimingError("graph=True replays a CUDA graph: give device='cuda' as well")
    return HostClock()
