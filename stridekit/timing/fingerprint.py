"""The fingerprint of a machine: what you need to know about where a time was measured."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path
from typing import Any

import torch

from stridekit.timing.caches import hierarchy


def machine() -> dict[str, Any]:
    """Return the versions, processor, caches, threads, load and GPU of this machine, as JSON holds them.

    `load` is the average number of busy threads over the last minute, None if the system does not
    report it; `caches` has the bytes of each level that the system reports.

    >>> sorted(machine())
    ['caches', 'cores', 'date', 'gpu', 'load', 'platform', 'processor', 'python', 'threads', 'torch']
    """
    return {
        "date": date.today().isoformat(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "caches": {cache.level: cache.nbytes for cache in hierarchy().caches if cache.nbytes},
        "threads": torch.get_num_threads(),
        "load": load(),
        "gpu": _gpu(),
    }


def load() -> float | None:
    """Return the average number of busy threads over the last minute; None if it is not reported."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _processor() -> str:
    """Return the name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()


def _gpu() -> dict[str, Any] | None:
    """Return the properties of the current GPU; None if there is none."""
    if not torch.cuda.is_available():
        return None
    gpu = torch.cuda.get_device_properties()
    return {
        "name": gpu.name,
        "capability": f"{gpu.major}.{gpu.minor}",
        "memory": gpu.total_memory,
        "L2": gpu.L2_cache_size,
        "cuda": torch.version.cuda,
    }
