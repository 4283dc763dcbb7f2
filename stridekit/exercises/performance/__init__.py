"""The exercises of notebook 05, in the order in which a learner meets them."""

from stridekit.exercises.performance.copies import break_even
from stridekit.exercises.performance.lines import cache_lines
from stridekit.exercises.performance.traffic import bytes_moved, cheapest_first

__all__ = ["cache_lines", "bytes_moved", "cheapest_first", "break_even"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
