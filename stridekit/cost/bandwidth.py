"""bandwidth(): the fastest that this machine moves bytes, a ceiling for every prediction.

Two operations that only wait for memory are timed on arrays too large for the caches: a copy, and
STREAM's triad a = b + s*c (McCalpin, "Memory Bandwidth and Machine Balance", 1995). Bytes are counted
as `traffic` counts them: each array once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.utils.benchmark import Timer

from stridekit._arguments import int_, many, shown
from stridekit._defaults import torch_defaults
from stridekit.timing.clocks import why_no_cuda
from stridekit.timing.fingerprint import machine
from stridekit.timing.sampling import quartile

_MIB = 1 << 20
_MOST_BYTES = 256 * _MIB
_SAMPLE = 0.002  # seconds: the least that one sample takes


@dataclass(frozen=True, slots=True, repr=False)
class Bandwidth:
    """The result of `bandwidth`, in bytes per second, and the machine that it holds for.

    `copy` and `triad` are the two operations; `nbytes` is the size of their three arrays together and
    `last_cache` that of the largest cache, both in bytes; `last_cache` is None if the system does not
    tell. `threads` threads of `device` did the work.

    >>> Bandwidth(9e9, 11e9, threads=1, device="cpu", nbytes=240 << 20, last_cache=32 << 20)
    bandwidth of cpu, 1 thread: copy 9 GB/s, triad 11 GB/s
    """

    copy: float
    triad: float
    threads: int
    device: str
    nbytes: int
    last_cache: int | None

    @property
    def ceiling(self) -> float:
        """The better of the two: no operation that waits for memory should be much faster."""
        return max(self.copy, self.triad)

    def why_not_memory(self) -> str:
        """The reason why caches may have helped; "" if the arrays are far larger than the caches."""
        if self.last_cache is None:
            return "the size of the last cache is not known"
        if self.nbytes < 4 * self.last_cache:
            return (
                f"the arrays have {self.nbytes // _MIB} MiB, the last cache {self.last_cache // _MIB} "
                "MiB: it may hold a part of them"
            )
        return ""

    def __str__(self) -> str:
        threads = f", {many(self.threads, 'thread')}" if self.device == "cpu" else ""
        why = self.why_not_memory()
        return (
            f"bandwidth of {self.device}{threads}: copy {self.copy / 1e9:.3g} GB/s, "
            f"triad {self.triad / 1e9:.3g} GB/s{f' ({why})' if why else ''}"
        )

    __repr__ = __str__


@torch_defaults()
def bandwidth(
    nbytes: int = 240 * _MIB, *, repetitions: int = 12, threads: int = 1, device: str = "cpu"
) -> Bandwidth:
    """Measure how many bytes per second a copy and a triad move: the ceiling of this machine, now.

    Three float32 arrays have `nbytes` bytes together, at most 256 MiB. torch.utils.benchmark times both
    operations in turn, `repetitions` times; the lower quartile of each counts, and the number of threads
    is restored. It takes seconds, and any other process slows it down.
    Raises ValueError for numbers and devices that make no sense, RuntimeError for a missing device.

    >>> found = bandwidth(3 * 2**20, repetitions=4)
    >>> found.triad > 0 and found.ceiling == max(found.copy, found.triad)
    True
    """
    nbytes = _require("nbytes", nbytes, 3 * 4096, _MOST_BYTES, "bytes for three arrays")
    repetitions = _require("repetitions", repetitions, 2, 10_000, "repetitions of each operation")
    threads = _require("threads", threads, 1, 1024, "threads")
    _require_device(device)
    length = nbytes // 12
    a, b, c = (torch.full((length,), float(k), device=device) for k in range(3))
    each = a.numel() * a.element_size()
    timers = [
        Timer(statement, globals={"torch": torch, "a": a, "b": b, "c": c}, num_threads=threads)
        for statement in ("a.copy_(b)", "torch.add(b, c, alpha=3.0, out=a)")
    ]
    counts = [max(1, round(_SAMPLE / max(timer.timeit(1).mean, 1e-7))) for timer in timers]
    samples: list[list[float]] = [[], []]
    for turn in range(repetitions):
        for k in (0, 1) if turn % 2 == 0 else (1, 0):
            samples[k].append(timers[k].timeit(counts[k]).mean)
    copy, triad = (quartile(times) for times in samples)
    return Bandwidth(
        copy=2 * each / copy,
        triad=3 * each / triad,
        threads=threads,
        device=str(a.device),
        nbytes=3 * each,
        last_cache=_last_cache(a.device),
    )


def _last_cache(device: torch.device) -> int | None:
    """The bytes of the last cache before memory; None if the system does not tell."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    return max(machine()["caches"].values(), default=None)


def _require(name: str, value: int, least: int, most: int, what: str) -> int:
    number = int_(name, value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number:,}: give {least:,} to {most:,} {what}")
    return number


def _require_device(device: str) -> None:
    """Raise unless the device moves bytes; meta tensors would move any number in no time."""
    kind = str(device).partition(":")[0] if isinstance(device, (str, torch.device)) else ""
    if kind not in ("cpu", "cuda"):
        raise ValueError(f"device is {shown(device)}: give 'cpu' or 'cuda'")
    if kind == "cuda" and why_no_cuda():
        raise RuntimeError(why_no_cuda())
