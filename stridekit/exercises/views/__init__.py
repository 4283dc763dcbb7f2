"""The exercises of notebook 02, in the order in which a learner meets them."""

from stridekit.exercises.views.e1_memset_of import memset_of
from stridekit.exercises.views.e2_share_bytes import share_bytes
from stridekit.exercises.views.e3_permute_layout import permute_layout
from stridekit.exercises.views.e4_keep_row import keep_row
from stridekit.exercises.views.e5_first_copy import first_copy
from stridekit.exercises.views.e6_bump_first import bump_first

__all__ = [
    "memset_of",
    "share_bytes",
    "permute_layout",
    "keep_row",
    "first_copy",
    "bump_first",
]


def __dir__() -> list[str]:
    """Let `ex.` and the tab key offer the exercises alone."""
    return __all__
