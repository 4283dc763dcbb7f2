"""The exercises of notebook 04, in the order in which a learner meets them."""

from stridekit.exercises.channels_last.costs import flatten_images, uses_to_pay_back
from stridekit.exercises.channels_last.flags import first_to_lose, formats
from stridekit.exercises.channels_last.nhwc import channels_last_stride, channels_last_view

__all__ = [
    "channels_last_stride",
    "channels_last_view",
    "formats",
    "first_to_lose",
    "flatten_images",
    "uses_to_pay_back",
]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
