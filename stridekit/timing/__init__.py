"""Measured time, as ratios that can be trusted: `measure` one function, `compare` several.

>>> import torch
>>> from stridekit.timing import compare
>>> x = torch.ones(500, 500)
>>> comparison = compare({"once": lambda: x.sum(1), "ten times": lambda: [x.sum(1) for _ in range(10)]})
>>> comparison.verdict
'slower'

`clocks` says what a host and a GPU clock are, `sampling` how a sample is taken, `rounds` in which
order and for how long, and `comparison` how samples become a ratio, an interval and a verdict. One
function's number is the lower quartile of the same short samples; `to_torch` hands them to
torch.utils.benchmark.
"""

from stridekit.timing.caches import Cache, Hierarchy, hierarchy
from stridekit.timing.clocks import TimingError, TooShort, why_no_cuda
from stridekit.timing.comparison import Comparison, Ratio
from stridekit.timing.fingerprint import machine
from stridekit.timing.measurement import Measurement, measure
from stridekit.timing.rounds import compare
from stridekit.timing.sampling import page_faults

__all__ = [
    "measure",
    "Measurement",
    "compare",
    "Comparison",
    "Ratio",
    "page_faults",
    "hierarchy",
    "Hierarchy",
    "Cache",
    "machine",
    "TimingError",
    "TooShort",
    "why_no_cuda",
]


def __dir__() -> list[str]:
    """Return the public names, so that the tab key leaves out the modules."""
    return __all__
