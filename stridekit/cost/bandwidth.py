"""bandwidth(): the fastest that this machine moves bytes, a ceiling for predictions; what a store costs.

Three operations are timed in turn, on arrays too large for the caches: a fill, a copy, and STREAM's
triad a = b + s*c (McCalpin, 1995). Each writes one array; they read none, one and two. If stores go
past the caches, the three move 1, 2 and 3 lines; if a store first reads its line
("write-allocate"), they move 2, 3 and 4.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch

from stridekit._arguments import many, positive
from stridekit._defaults import torch_defaults
from stridekit._table import columns, html_table
from stridekit.timing.caches import Cache, hierarchy
from stridekit.timing.clocks import clock_for
from stridekit.timing.comparison import Comparison
from stridekit.timing.rounds import compare
from stridekit.timing.speed import keep_measured

_MIB = 1 << 20
# The bytes of the three arrays, unless the caller asks for others.
_USUAL_BYTES = 240 * _MIB
_MOST_BYTES = 768 * _MIB
_BEYOND = 4  # times the last cache: arrays as large lie in memory
_READS = {"fill": 0, "copy": 1, "triad": 2}  # arrays; each operation writes one more
_MEASURED = ("operation", "GB/s", "half of the samples", "times a fill (95 %)")
_HEAD = (*_MEASURED, "if stores bypass", "if they allocate")
_STORES = {
    "bypass": "stores bypass the caches: a line is written without being read",
    "allocate": "stores allocate: a line is read before it is written",
    "unclear": "what a store costs is unclear",
}


@dataclass(frozen=True, repr=False)
class Bandwidth:
    """The result of `bandwidth`: bytes per second, the memory that they hold for, and the cost of a store.

    `comparison` has the times of "fill", "copy" and "triad"; `nbytes` is the size of their three
    arrays together, in bytes. `caches` are those in front of the memory, the last one last, each
    with the bytes that all threads together can have there; none if the system does not tell.

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
    def speeds(self) -> dict[str, float]:
        """Bytes per second of "fill", "copy" and "triad", by the lower quartile; each array counts once."""
        return {name: self._range(name)[1] for name in _READS}

    @property
    def ceiling(self) -> float:
        """Bytes per second of the better of copy and triad, each array counted once."""
        return max(self.speeds["copy"], self.speeds["triad"])

    @property
    def where(self) -> str:
        """The smallest cache that holds all arrays, as "L3", or "L3 and memory", "memory", "unknown".

        Memory is what has four times the bytes of the last cache.
        """
        for cache in self.caches:
            if cache.nbytes and self.nbytes <= cache.nbytes:
                return cache.level
        if not self.caches or not self.caches[-1].nbytes:
            return "unknown"
        last = self.caches[-1]
        if self.nbytes >= _BEYOND * (last.nbytes or 0):
            return "memory"
        return f"{last.level} and memory"

    @property
    def store(self) -> str:
        """The lines of a store: "bypass" is one, "allocate" two, because it reads its line first; or
        "unclear".

        The answer is clear only beyond the last cache, and only if the intervals of both ratios to
        the fill lie on one side of 1.5 lines a store.
        """
        if not self.where.endswith("memory"):
            return "unclear"
        ratios = self.comparison.ratios
        limits = [(ratios[name], 1 + _READS[name] / 1.5) for name in ("copy", "triad")]
        if all(ratio.low > limit for ratio, limit in limits):
            return "bypass"
        if all(ratio.low > 1 and ratio.high < limit for ratio, limit in limits):
            return "allocate"
        return "unclear"

    def why_not_memory(self) -> str:
        """Return why this may be no speed of memory, with the numbers; "" if it is one."""
        if self.where == "memory":
            return ""
        if self.where == "unknown":
            return "the caches of this machine are unknown, and so is whether this is memory"
        level = self.where.partition(" ")[0]
        cache = next(cache for cache in self.caches if cache.level == level)
        share = "a part" if self.where.endswith("memory") else "all"
        return (
            f"the arrays have {self.nbytes / _MIB:,.0f} MiB, {cache.level} "
            f"{(cache.nbytes or 0) / _MIB:,.3g} MiB: it may hold {share} of them"
        )

    def _range(self, name: str) -> tuple[float, float]:
        """Return bytes per second that a quarter of the samples do not reach, and that a quarter exceed."""
        moved = (_READS[name] + 1) * self.nbytes / 3
        short_time, long_time = self.comparison.measurement(name).quartiles
        return moved / long_time, moved / short_time

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for name, reads in _READS.items():
            low, high = (f"{speed / 1e9:.3g}" for speed in self._range(name))
            ratio = str(self.comparison.ratios[name]) if reads else "1"
            yield name, high, f"{low} to {high}", ratio, str(1 + reads), f"{1 + reads / 2:g}"

    def _title(self) -> str:
        where = "memory or a cache" if self.where == "unknown" else self.where
        device = self.comparison.device
        if device == "cpu":
            device = f"cpu, {many(self.comparison.threads, 'thread')}"
        return f"bandwidth of {where}: {device}, {self.nbytes / _MIB:,.0f} MiB in three arrays"

    def _notes(self) -> list[str]:
        name = max(("copy", "triad"), key=self.speeds.__getitem__)
        notes = [
            f"ceiling: {name}, {self.ceiling / 1e9:.3g} GB/s; each array counts once",
            _STORES[self.store],
            self.why_not_memory(),
            *(f"noisy: {sentence}" for sentence in self.comparison.noise),
        ]
        return [note for note in notes if note]

    def __repr__(self) -> str:
        rows = [("", *_HEAD[1:]), *self._rows()]
        return "\n".join([self._title(), *columns(rows), *(f"  {note}" for note in self._notes())])

    def _repr_html_(self) -> str:
        foot = "; ".join(self._notes())
        return html_table(self._title(), list(self._rows()), head=_HEAD, foot=foot, align="<")


@torch_defaults()
def bandwidth(
    nbytes: int | None = None, *, repetitions: int = 8, threads: int = 1, device: str = "cpu"
) -> Bandwidth:
    """Measure how many bytes per second a fill, a copy and a triad move: the ceiling of this machine, now.

    Three float32 arrays have `nbytes` bytes together; unless you say, four times as many as the
    last cache, but 240 to 768 MiB. `compare` times all three in turn, in `repetitions` rounds; the
    lower quartiles count. It takes seconds, and any other process slows it down. If a cache may
    hold the arrays, the result does not call it memory. Audits estimate times by the speed of the
    copy that was measured last. Raises LayoutError for other `nbytes`,
    TimingError as `compare` does.

    >>> here = bandwidth(3 * 2**20, repetitions=4)
    >>> here.ceiling == max(here.speeds["copy"], here.speeds["triad"])
    True
    """
    clock_for(device)  # raises for a device that cannot be timed
    caches = _caches(device, positive("threads", threads))
    if nbytes is None:
        last = (caches[-1].nbytes or 0) if caches else 0
        nbytes = min(max(_USUAL_BYTES, _BEYOND * last), _MOST_BYTES)
    elements = -(-positive("nbytes", nbytes) // 12)
    a, b, c = (torch.full((elements,), float(k), device=device) for k in range(3))
    functions = {
        "fill": partial(a.fill_, 1.0),
        "copy": partial(a.copy_, b),
        "triad": partial(torch.add, b, c, alpha=3.0, out=a),
    }
    comparison = compare(functions, rounds=repetitions, threads=threads, device=device)
    result = Bandwidth(comparison, 3 * a.nbytes, caches)
    if device == "cpu" and result.where.endswith("memory"):
        keep_measured(result.speeds["copy"])
    return result


def _caches(device: str, threads: int) -> tuple[Cache, ...]:
    """Return the caches of a device, with what all threads together can have of each."""
    if device == "cuda":
        return (Cache("L2", int(torch.cuda.get_device_properties(device).L2_cache_size)),)
    cores = os.cpu_count() or threads
    caches = []
    for cache in hierarchy().caches:
        if cache.nbytes is not None:
            copies = -(-cores // (cache.shared_by or 1))
            cache = replace(cache, nbytes=cache.nbytes * min(threads, copies))
        caches.append(cache)
    return tuple(caches)
