"""The exercises of notebook 05, in the order in which a learner meets them."""

from stridekit.exercises.performance.lines import cache_lines
from stridekit.exercises.performance.moved import bytes_moved, cheapest_first
from stridekit.exercises.performance.payback import break_even

__all__ = ["cache_lines", "bytes_moved", "cheapest_first", "break_even"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
