"""The exercises of notebook 03, in the order in which a learner meets them."""

from stridekit.exercises.contiguity.e1_is_contiguous import is_contiguous
from stridekit.exercises.contiguity.e2_mergeable import mergeable
from stridekit.exercises.contiguity.e3_mistakes import view_stride
from stridekit.exercises.contiguity.e4_unviewable import unviewable
from stridekit.exercises.contiguity.e5_clone_stride import clone_stride
from stridekit.exercises.contiguity.e6_by_columns import by_columns

__all__ = [
    "is_contiguous",
    "mergeable",
    "view_stride",
    "unviewable",
    "clone_stride",
    "by_columns",
]


def __dir__() -> list[str]:
    """Let `ex.` and the tab key offer the exercises alone."""
    return __all__
