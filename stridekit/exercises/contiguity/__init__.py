"""The exercises of notebook 03, in the order in which a learner meets them."""

from stridekit.exercises.contiguity.clones import by_columns, clone_stride
from stridekit.exercises.contiguity.order import is_contiguous, mergeable
from stridekit.exercises.contiguity.view_rule import unviewable, view_stride

__all__ = ["is_contiguous", "mergeable", "view_stride", "unviewable", "clone_stride", "by_columns"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
