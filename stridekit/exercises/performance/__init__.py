"""The exercises of notebook 05, in the order in which a learner meets them."""

from stridekit.exercises.performance.e1_time_it import time_it
from stridekit.exercises.performance.e2_cache_lines import cache_lines
from stridekit.exercises.performance.e3_bytes_moved import bytes_moved
from stridekit.exercises.performance.e4_break_even import break_even
from stridekit.exercises.performance.e5_cheapest_first import cheapest_first
from stridekit.exercises.performance.e6_warp_sectors import warp_sectors
from stridekit.exercises.performance.queue import Queue as Queue

__all__ = [
    "time_it",
    "cache_lines",
    "bytes_moved",
    "break_even",
    "cheapest_first",
    "warp_sectors",
]


def __dir__() -> list[str]:
    """Let `ex.` and the tab key offer the exercises, and the device that one of them needs."""
    return [*__all__, "Queue"]
