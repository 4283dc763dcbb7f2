"""The speed of a copy in memory, for estimates: measured in this process, or recorded elsewhere.

`bandwidth()` keeps what it measured here. Nothing else starts a measurement.
"""

from __future__ import annotations

from typing import NamedTuple


class Speed(NamedTuple):
    """Bytes per second that a copy reads and writes, and where they come from, in words."""

    value: float
    source: str = ""


# The result of bandwidth() for lesson 08, on one thread of an idle machine.
RECORDED = Speed(14.7e9, "as recorded on another machine")
_measured: list[Speed] = []  # the latest measurement of this process, or none


def speed_of_copies() -> Speed:
    """Return the speed that this process measured last, or the recorded one."""
    return _measured[-1] if _measured else RECORDED


def keep_measured(value: float) -> None:
    """Keep a speed that was measured in this process, in bytes per second."""
    _measured[:] = [Speed(value, "as bandwidth() measured here")]
