"""The exercises of notebook 01, in the order in which a learner meets them."""

from stridekit.exercises.strides.addresses import address, contiguous_stride
from stridekit.exercises.strides.elements import element
from stridekit.exercises.strides.ladder import column, diagonal, row, trace, windows
from stridekit.exercises.strides.raw import raw_bytes
from stridekit.exercises.strides.slices import recover_slice, slice_layout

__all__ = [
    "element",
    "address",
    "contiguous_stride",
    "slice_layout",
    "recover_slice",
    "raw_bytes",
    "row",
    "column",
    "diagonal",
    "trace",
    "windows",
]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
