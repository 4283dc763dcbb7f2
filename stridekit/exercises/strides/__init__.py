"""The exercises of notebook 01, in the order in which a learner meets them."""

from stridekit.exercises.strides.e1_address import address
from stridekit.exercises.strides.e2_contiguous_stride import contiguous_stride
from stridekit.exercises.strides.e3_mistakes import slice_layout
from stridekit.exercises.strides.e4_recover_slice import recover_slice
from stridekit.exercises.strides.e5_raw_bytes import raw_bytes
from stridekit.exercises.strides.e6_column import column
from stridekit.exercises.strides.e6_row import row
from stridekit.exercises.strides.e6_steps import diagonal, trace
from stridekit.exercises.strides.e6_windows import windows

__all__ = [
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


def __dir__() -> list[str]:
    """Let `ex.` and the tab key offer the exercises alone."""
    return __all__
