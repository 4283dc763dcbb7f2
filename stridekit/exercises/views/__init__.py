"""The exercises of notebook 02, in the order in which a learner meets them."""

from stridekit.exercises.views.memory_sets import memset_of, share_bytes
from stridekit.exercises.views.permuting import permute_layout
from stridekit.exercises.views.which_copies import bump_first, first_copy, keep_row

__all__ = ["memset_of", "share_bytes", "permute_layout", "keep_row", "first_copy", "bump_first"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
