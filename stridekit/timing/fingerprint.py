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
    """Versions, processor, caches, threads, load and GPU of this machine, as JSON can hold them.

    `load` is the average number of busy threads over the last minute, None if the system does not
    tell; `caches` gives bytes by level, as far as the system tells.

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
    """Return the average number of busy threads over the last minute; None if the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()


def _gpu() -> dict[str, Any] | None:
    if not torch.cuda.is_available():
        return None
    of = torch.cuda.get_device_properties()
    named = {"name": of.name, "capability": f"{of.major}.{of.minor}", "memory": of.total_memory}
    return named | {"L2": of.L2_cache_size, "cuda": torch.version.cuda}
