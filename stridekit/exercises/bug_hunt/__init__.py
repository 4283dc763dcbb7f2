"""The bugs of notebook 10, in the order in which a learner meets them."""

from stridekit.exercises.bug_hunt.files import pack, save_states
from stridekit.exercises.bug_hunt.networks import features
from stridekit.exercises.bug_hunt.photos import prepare
from stridekit.exercises.bug_hunt.training import fit, train_branches, train_photos, train_reader

__all__ = [
    "prepare",
    "fit",
    "save_states",
    "train_reader",
    "train_photos",
    "pack",
    "features",
    "train_branches",
]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the bugs alone
