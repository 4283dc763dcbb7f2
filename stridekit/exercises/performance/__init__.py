"""The exercises of notebook 05, in the order in which a learner meets them."""

from stridekit.exercises.performance.copies import break_even
from stridekit.exercises.performance.lines import cache_lines, warp_sectors
from stridekit.exercises.performance.timer import Queue as Queue
from stridekit.exercises.performance.timer import time_it
from stridekit.exercises.performance.traffic import bytes_moved, cheapest_first

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
