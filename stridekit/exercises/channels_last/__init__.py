"""The exercises of notebook 04, in the order in which a learner meets them."""

from stridekit.exercises.channels_last.e1_stride import channels_last_stride
from stridekit.exercises.channels_last.e2_view import channels_last_view
from stridekit.exercises.channels_last.e3_formats import formats
from stridekit.exercises.channels_last.e4_layers import first_to_lose
from stridekit.exercises.channels_last.e5_flatten import flatten_images
from stridekit.exercises.channels_last.e6_pay_back import uses_to_pay_back

__all__ = [
    "channels_last_stride",
    "channels_last_view",
    "formats",
    "first_to_lose",
    "flatten_images",
    "uses_to_pay_back",
]


def __dir__() -> list[str]:
    """Let `ex.` and the tab key offer the exercises alone."""
    return __all__
