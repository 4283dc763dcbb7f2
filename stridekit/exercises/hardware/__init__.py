"""The exercises of notebook 08, in the order in which a learner meets them."""

from stridekit.exercises.hardware.sectors import warp_sectors
from stridekit.exercises.hardware.timer import Queue as Queue
from stridekit.exercises.hardware.timer import time_it

__all__ = ["time_it", "warp_sectors"]


def __dir__() -> list[str]:
    """Let `ex.` and the tab key offer the exercises, and the device that one of them needs."""
    return [*__all__, "Queue"]
