"""Measured time, as ratios that can be trusted: `measure` one function, `compare` several.

`clocks` has the host's and the GPU's clock, `sampling` takes samples, `rounds` decides in which
order and for how long, and `comparison` turns samples into a ratio, an interval and a verdict.
"""

from stridekit.timing.caches import Cache, Hierarchy, hierarchy
from stridekit.timing.clocks import TimingError, TooShort, why_no_cuda
from stridekit.timing.comparison import Comparison, Ratio
from stridekit.timing.fingerprint import machine
from stridekit.timing.measurement import Measurement, measure
from stridekit.timing.rounds import compare
from stridekit.timing.sampling import page_faults

__all__ = ["measure", "Measurement", "compare", "Comparison", "Ratio", "page_faults"]
__all__ += ["hierarchy", "Hierarchy", "Cache", "machine", "TimingError", "TooShort", "why_no_cuda"]


def __dir__() -> list[str]:
    """Return the public names, so that the tab key leaves out the modules."""
    return __all__
