"""The puzzles of notebook 11, in the order in which a learner meets them."""

from stridekit.exercises.puzzles.fewest import (
    circulant,
    doubled,
    histories,
    lower_triangle,
    mirrored,
    moving_sums,
)
from stridekit.exercises.puzzles.one_copy import (
    channels_last,
    half_turn,
    merged_heads,
    rolled,
    sums,
    upsampled,
)
from stridekit.exercises.puzzles.plain import (
    channels_first,
    inside,
    same_rows,
    second_rows,
    stereo,
    turned,
)
from stridekit.exercises.puzzles.strided import (
    antidiagonal,
    corners,
    diagonal,
    patches,
    twice,
    windows,
)
from stridekit.exercises.puzzles.turning import (
    band,
    batch_diagonals,
    bytes_of,
    heads,
    phases,
    tiles,
)

__all__ = [
    "turned",
    "second_rows",
    "inside",
    "stereo",
    "same_rows",
    "channels_first",
    "diagonal",
    "corners",
    "twice",
    "antidiagonal",
    "windows",
    "patches",
    "heads",
    "tiles",
    "phases",
    "batch_diagonals",
    "bytes_of",
    "band",
    "half_turn",
    "rolled",
    "sums",
    "merged_heads",
    "upsampled",
    "channels_last",
    "doubled",
    "moving_sums",
    "histories",
    "lower_triangle",
    "mirrored",
    "circulant",
]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the puzzles alone
