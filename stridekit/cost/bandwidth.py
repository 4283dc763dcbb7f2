"""bandwidth(): the fastest that this machine moves bytes, a ceiling for predictions; what a store costs.

Three operations are timed in turn, on arrays too large for the caches: a fill, a copy, and STREAM's triad a
= b + s*c (McCalpin, 1995). Each writes one array; they read none, one and two. If stores go past the
caches, the three move 1, 2 and 3 lines; if a store first reads its line ("write-allocate"), they move 2, 3
and 4.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path

import torch

from stridekit._arguments import int_, many, shown
from stridekit._defaults import torch_defaults
from stridekit._table import columns, html_table
from stridekit.timing.caches import Cache, hierarchy, text_of
from stridekit.timing.clocks import why_no_cuda
from stridekit.timing.comparison import Comparison
from stridekit.timing.rounds import compare

_MIB = 1 << 20
_USUAL_BYTES, _MOST_BYTES = 240 * _MIB, 768 * _MIB  # unless more are asked for
_BEYOND = 4  # times the last cache: what is as large lies in memory
_READS = {"fill": 0, "copy": 1, "triad": 2}  # arrays; each operation writes one more
_MEASURED = ("operation", "GB/s", "half of the samples", "times a fill (95 %)")
_HEAD = (*_MEASURED, "if stores bypass", "if they allocate")


@dataclass(frozen=True, repr=False)
class Bandwidth:
    """The result of `bandwidth`: bytes per second, the memory that they hold for, and the cost of a store.

    `comparison` has the times of "fill", "copy" and "triad"; `nbytes` is the size of their three arrays
    together, in bytes. `caches` are those in front of the memory, the last one last, each with the bytes
    that all threads together can have there; none if the system does not tell.

    >>> times = {"fill": [[4e-3]] * 8, "copy": [[6e-3]] * 8, "triad": [[8e-3]] * 8}
    >>> compared = Comparison(times, [[0, 1, 2]] * 8, dict.fromkeys(times, 1), threads=1, device="cpu")
    >>> Bandwidth(compared, nbytes=120 * 10**6, caches=(Cache("L3", 2**24),))
    bandwidth of memory: cpu, 1 thread, 114 MiB in three arrays
             GB/s  half of the samples  times a fill (95 %)  if stores bypass  if they allocate
      fill   10    10 to 10             1                    1                 1
      copy   13.3  13.3 to 13.3         1.50 (1.49 to 1.51)  2                 1.5
      triad  15    15 to 15             2.00 (1.99 to 2.01)  3                 2
      ceiling: triad, 15 GB/s; each array counts once
      stores allocate: a line is read before it is written
    """

    comparison: Comparison
    nbytes: int
    caches: tuple[Cache, ...] = ()

    @property
    def fill(self) -> float:
        """Bytes per second of a fill, which writes one array."""
        return self._range("fill")[1]

    @property
    def copy(self) -> float:
        """Bytes per second of a copy: one array read and one written, each counted once."""
        return self._range("copy")[1]

    @property
    def triad(self) -> float:
        """Bytes per second of a = b + s*c: two arrays read and one written, each counted once."""
        return self._range("triad")[1]

    @property
    def ceiling(self) -> float:
        """Bytes per second of the better of copy and triad, each array counted once."""
        return self._best()[1]

    @property
    def where(self) -> str:
        """The smallest cache that holds all arrays, as "L3", or "L3 and memory", "memory", "unknown".

        Memory is what has four times the bytes of the last cache.
        """
        holding = [
            cache.level for cache in self.caches if cache.nbytes and self.nbytes <= cache.nbytes
        ]
        last = self.caches[-1].nbytes if self.caches else None
        if holding or not last:
            return holding[0] if holding else "unknown"
        beyond = self.nbytes >= _BEYOND * last
        return "memory" if beyond else f"{self.caches[-1].level} and memory"

    @property
    def store(self) -> str:
        """The lines of a store: "bypass" is one, "allocate" two, because it reads its line first; or
        "unclear".

        The answer is clear only beyond the last cache, and only if the intervals of both ratios to the fill
        lie on one side of 1.5 lines a store.
        """
        if not self.where.endswith("memory"):
            return "unclear"
        ratios = self.comparison.ratios
        limits = [(ratios[name], 1 + _READS[name] / 1.5) for name in ("copy", "triad")]
        if all(ratio.low > limit for ratio, limit in limits):
            return "bypass"
        return "allocate" if all(r.low > 1 and r.high < limit for r, limit in limits) else "unclear"

    def why_not_memory(self) -> str:
        """Return why this may be no speed of memory, with the numbers; "" if it is one."""
        where, size = self.where, f"the arrays have {self.nbytes / _MIB:,.0f} MiB"
        if where == "memory":
            return ""
        if where == "unknown":
            return "the caches of this machine are unknown, and so is whether this is memory"
        cache = next(cache for cache in self.caches if cache.level == where.partition(" ")[0])
        held = f"{size}, {cache.level} {(cache.nbytes or 0) / _MIB:,.3g} MiB"
        part = "a part" if where.endswith("memory") else "all"
        return f"{held}: it may hold {part} of them"

    def _range(self, name: str) -> tuple[float, float]:
        """Return bytes per second that a quarter of the samples do not reach, and that a quarter exceed."""
        moved = (_READS[name] + 1) * self.nbytes / 3
        fast, slow = self.comparison.measurement(name).quartiles
        return moved / slow, moved / fast

    def _best(self) -> tuple[str, float]:
        return max(((name, self._range(name)[1]) for name in ("copy", "triad")), key=itemgetter(1))

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for name, reads in _READS.items():
            low, high = (f"{speed / 1e9:.3g}" for speed in self._range(name))
            ratio = str(self.comparison.ratios[name]) if reads else "1"
            yield name, high, f"{low} to {high}", ratio, str(1 + reads), f"{1 + reads / 2:g}"

    def _title(self) -> str:
        where = "memory or a cache" if self.where == "unknown" else self.where
        device, threads = self.comparison.device, many(self.comparison.threads, "thread")
        size = f"{self.nbytes / _MIB:,.0f} MiB in three arrays"
        return f"bandwidth of {where}: {device}{f', {threads}' if device == 'cpu' else ''}, {size}"

    def _notes(self) -> list[str]:
        name, speed = self._best()
        why = self.why_not_memory()
        return [
            f"ceiling: {name}, {speed / 1e9:.3g} GB/s; each array counts once",
            _STORES[self.store],
            *([why] if why else []),
            *(f"noisy: {sentence}" for sentence in self.comparison.noise),
        ]

    def __repr__(self) -> str:
        rows = [("", *_HEAD[1:]), *self._rows()]
        return "\n".join([self._title(), *columns(rows), *(f"  {note}" for note in self._notes())])

    def _repr_html_(self) -> str:
        foot = "; ".join(self._notes())
        return html_table(self._title(), list(self._rows()), head=_HEAD, foot=foot, align="<")


_STORES = {
    "bypass": "stores bypass the caches: a line is written without being read",
    "allocate": "stores allocate: a line is read before it is written",
    "unclear": "what a store costs is unclear",
}


@torch_defaults()
def bandwidth(
    nbytes: int | None = None, *, repetitions: int = 8, threads: int = 1, device: str = "cpu"
) -> Bandwidth:
    """Measure how many bytes per second a fill, a copy and a triad move: the ceiling of this machine, now.

    Three float32 arrays have `nbytes` bytes together; unless you say, four times as many as the last cache,
    but 240 to 768 MiB, and at most a quarter of the free memory. `compare` times all three in turn, in
    `repetitions` rounds; the lower quartiles count. It takes seconds, and any other process slows it down.
    If a cache may hold the arrays, the result does not call it memory. Raises ValueError for numbers and
    devices that make no sense, RuntimeError for a missing device.

    >>> found = bandwidth(3 * 2**20, repetitions=4)
    >>> found.triad > 0 and found.ceiling == max(found.copy, found.triad)
    True
    """
    _require_device(device)
    repetitions = _require("repetitions", repetitions, 2, 10_000, "repetitions of each operation")
    threads = _require("threads", threads, 1, 1024, "threads")
    caches, most = _caches(device, threads), (_free(device) or 4 << 30) // 4
    if nbytes is None:
        last = (caches[-1].nbytes or 0) if caches else 0
        nbytes = min(max(_USUAL_BYTES, _BEYOND * last), _MOST_BYTES, max(most, 3 * 4096))
    else:
        what = "bytes for three arrays, at most a quarter of the free memory"
        nbytes = _require("nbytes", nbytes, 3 * 4096, most, what)
    a, b, c = (torch.full((-(-nbytes // 12),), float(k), device=device) for k in range(3))
    work = {
        "fill": partial(a.fill_, 1.0),
        "copy": partial(a.copy_, b),
        "triad": partial(torch.add, b, c, alpha=3.0, out=a),
    }
    comparison = compare(work, rounds=repetitions, threads=threads, device=device, progress=False)
    return Bandwidth(comparison, 3 * a.nbytes, caches)


def _caches(device: str, threads: int) -> tuple[Cache, ...]:
    """Return the caches of a device, with what all threads together can have of each."""
    if device == "cuda":
        return (Cache("L2", int(torch.cuda.get_device_properties(device).L2_cache_size)),)
    cores = os.cpu_count() or threads
    return tuple(
        replace(cache, nbytes=min(threads, -(-cores // (cache.shared_by or 1))) * cache.nbytes)
        if cache.nbytes
        else cache
        for cache in hierarchy().caches
    )


def _free(device: str) -> int | None:
    """Return the bytes of memory that can be had; None if the system does not tell."""
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    matches = ((re.search(p, text_of(Path(path)), re.MULTILINE), unit) for path, p, unit in _FREE)
    limits = [int(match[1]) * unit for match, unit in matches if match]
    return min(limits, default=None)


# What the system can give, and what a container may have.
_FREE = (
    ("/proc/meminfo", r"^MemAvailable:\s*([0-9]+) kB", 1024),
    ("/sys/fs/cgroup/memory.max", r"\A([0-9]+)\Z", 1),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", r"\A([0-9]+)\Z", 1),
)


def _require(name: str, value: int, least: int, most: int, what: str) -> int:
    number = int_(name, value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {shown(number)}: give {least:,} to {most:,} {what}")
    return number


def _require_device(device: str) -> None:
    """Raise unless the device moves bytes; meta tensors would move any number in no time."""
    if not (isinstance(device, str) and device in ("cpu", "cuda")):
        raise ValueError(f"device is {shown(device)}: give 'cpu' or 'cuda'")
    if device == "cuda" and why_no_cuda():
        raise RuntimeError(why_no_cuda())
