"""How quickly `read_storage` copies a storage: beside memcpy, in turns, in one run.

Where the copy goes matters as much as the copying: memory that was never touched has to be fetched
from the system page by page. So each way is compared with a memcpy into memory of the same kind.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from collections.abc import Callable

import torch

from stridekit import read_storage

GIB = 1 << 30
ROUNDS = 7


def main() -> int:
    """Print the bandwidth of the raw reader."""
    storage_bandwidth()
    return 0


def storage_bandwidth(nbytes: int = GIB, rounds: int = ROUNDS) -> dict[str, float]:
    """How many times memcpy's bandwidth `read_storage` reaches, by the kind of memory it writes to."""
    source = torch.full((nbytes,), 7, dtype=torch.uint8)
    view = source.view(torch.float32)[1:]  # an offset: the storage is larger than the tensor
    warm = torch.ones(nbytes // 4)  # every page of it is there before the first round
    ways: dict[str, Callable[[], object]] = {
        "memcpy, warm": lambda: _memcpy(warm, source),
        "reader, warm": lambda: read_storage(view, out=warm),
        "memcpy, fresh": lambda: _memcpy(torch.empty(nbytes // 4), source),
        "reader, fresh": lambda: read_storage(view),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - start)
    # The lower quartile: what else the machine does only ever adds.
    speed = {
        name: nbytes / GIB / statistics.quantiles(s, method="inclusive")[0]
        for name, s in seconds.items()
    }
    ratios = {}
    for memory, call in [("warm", "read_storage(x, out=…)"), ("fresh", "read_storage(x)")]:
        ours, memcpy = speed[f"reader, {memory}"], speed[f"memcpy, {memory}"]
        ratios[memory] = ours / memcpy
        print(
            f"{call} into {memory} memory: {ours:.1f} GiB/s, {ratios[memory]:.2f} times memcpy's "
            f"{memcpy:.1f}; the mark is 0.9 (threads: {torch.get_num_threads()}, rounds: {rounds})"
        )
    return ratios


def _memcpy(target: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    ctypes.memmove(target.data_ptr(), source.data_ptr(), source.nbytes)
    return target


if __name__ == "__main__":
    sys.exit(main())
