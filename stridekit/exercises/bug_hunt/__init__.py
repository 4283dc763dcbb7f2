"""The bugs of notebook 10, in the order in which a learner meets them."""

from stridekit.exercises.bug_hunt.photos import prepare

__all__ = ["prepare"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the bugs alone
