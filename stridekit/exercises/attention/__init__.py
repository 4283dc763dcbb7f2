"""The exercises of notebook 06, in the order in which a learner meets them."""

from stridekit.exercises.attention.cache import append, blocks
from stridekit.exercises.attention.heads import head_layout, merge_heads
from stridekit.exercises.attention.products import group_scores, matmul_clones

__all__ = ["head_layout", "matmul_clones", "merge_heads", "group_scores", "append", "blocks"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
