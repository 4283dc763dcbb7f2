"""The exercises of notebook 07, in the order in which a learner meets them."""

from stridekit.exercises.your_model.chains import can_go, does_nothing, made_by
from stridekit.exercises.your_model.cures import decode, features, shuffle
from stridekit.exercises.your_model.norms import norm_bytes

__all__ = ["norm_bytes", "made_by", "shuffle", "features", "does_nothing", "can_go", "decode"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercises alone
