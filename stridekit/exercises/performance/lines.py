"""E1: the cache lines that a layout touches."""

from functools import cache
from math import ceil, prod  # noqa: F401  (in sources alone)
from operator import mul  # noqa: F401
from typing import Any

import numpy as np

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major  # noqa: F401
from stridekit.exercises.readers.answers import read_number
from stridekit.exercises.watch import Means

LAYOUTS: list[tuple[Any, ...]] = [  # a shape, a stride, an offset, an itemsize
    ((16,), (1,), 0, 4), ((40,), (1,), 0, 4), ((10,), (8,), 0, 4), ((10,), (16,), 0, 4),
    ((10,), (32,), 0, 4), ((16,), (1,), 8, 4), ((17,), (3,), 15, 4), ((6, 8), (8, 1), 0, 8),
    ((8, 6), (1, 8), 0, 8), ((6,), (40,), 3, 8), ((5, 4), (100, 1), 30, 2),
    ((4, 5), (0, 20), 1, 4), ((3, 7), (2, 0), 15, 4), ((30,), (1,), 50, 1),
    ((3, 2, 4), (200, 24, 5), 9, 4), ((2, 3, 3), (1, 64, 8), 7, 2), ((9,), (3,), 2, 16),
    ((3, 4), (16, 16), 0, 4), ((3, 4), (24, 16), 5, 8), ((4, 3, 2), (64, 80, 32), 0, 2),
    ((20, 5), (1, 1), 10, 4), ((1, 6), (999, 30), 5, 8), ((1,), (7,), 500, 4), ((), (), 33, 8),
    ((0, 5), (5, 1), 0, 4), ((4, 0, 2), (2, 2, 1), 3, 2),
]  # fmt: skip


@exercise(
    title="how many cache lines a layout touches",
    read=read_number,
    means=Means(whole=("traffic",)),
    cases=["shape = {}; stride = {}; offset = {}; itemsize = {}".format(*it) for it in LAYOUTS],
    hints=[
        "Which line is an element on? It starts at byte `element * itemsize` of the storage, and "
        "a line has 64 bytes.",
        "Go through every index, find its element by the formula of lesson 01, and divide its "
        "byte by 64. Several elements can share a line.",
        "Put `(offset + sum of index * stride) * itemsize // 64` into a set, for every index of "
        "`np.ndindex(*shape)`. Its length is the answer.",
    ],
    otherwise=(
        "Work through a small input on paper: write down the byte of every element, and beside it "
        "`byte // 64`. How many different numbers do you get?"
    ),
    takeaway="Memory travels in lines: what an element costs depends on what else is on its line.",
)
def cache_lines(shape: tuple[int, ...], stride: tuple[int, ...], offset: int, itemsize: int) -> int:
    """How many 64-byte cache lines a tensor with this layout touches.

    shape, stride  tuples of ints >= 0, one for each dim
    offset         the storage offset, in elements
    itemsize       the bytes of an element: 1, 2, 4, 8 or 16
    return         the number of different lines that hold an element of it: line k is the bytes
                   64*k to 64*k + 63 of the storage, whose byte 0 starts a line
    """
    lines = set()
    for index in np.ndindex(*shape):
        element = offset + sum(i * s for i, s in zip(index, stride, strict=True))
        lines.add(element * itemsize // 64)
    return len(lines)


# Other solutions call it, as a learner does; their mistakes do so for the same tensors again and again.
counted = cache(cache_lines.reference)


def span(shape: Ints, stride: Ints) -> int:
    """The number of places from the first element to the last, both included."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if all(shape) else 0


PACKED = (
    "You pack the elements close together and count the lines of that. They lie where the stride "
    "puts them: with gaps, each can be on a line of its own. Try `x[::16]`."
)
COUNTED = "cache_lines(shape, stride, offset, itemsize)"
cache_lines.slots["stride"] = {"row_major(shape)": PACKED}
cache_lines.slots["itemsize"] = {
    "4": shared.ITEMSIZE.format("itemsize"),
    "1": shared.DIVIDED_ELEMENTS.format("line", 64),
}
cache_lines.slots["offset"] = {
    "0": (
        "You let the layout start at the start of a line. It starts `offset` elements into the "
        "storage, so it can reach into one line more."
    ),
    "offset / itemsize": shared.OFFSET_IN_BYTES,
    "offset * itemsize": (
        "The offset counts elements, as the stride does; `itemsize` multiplies it twice."
    ),
}
cache_lines.slots["len(lines)"] = {
    "max(lines) - min(lines) + 1 if lines else 0": shared.HULL.format("line"),
    "max(1, len(lines))": (
        "A size of 0 leaves nothing to read, so no line is touched. Let the loop over all indices "
        "decide: its body never runs."
    ),
}
cache_lines.wrong |= {
    "// 64 => / 64": shared.NOT_WHOLE.format("line", 64),
    "// 64 => % 64": shared.PLACE_IN.format("line", 64),
    "prod(shape)": (
        "That is the number of elements. Neighbours can share a line, and a line travels once: "
        "which line does each of them lie on?"
    ),
    "ceil(prod(shape) * itemsize / 64)": PACKED,
    "ceil(span(shape, stride) * itemsize / 64)": shared.HULL.format("line"),
    "sum(cache_lines(shape[-1:], stride[-1:], offset + sum(map(mul, index, stride)), itemsize) for index "
    "in np.ndindex(shape[:-1]))": (
        "You count the lines of each row by itself and add them up. Two rows can share a line, or "
        "be the same row, where the stride is 0: count the different lines of all."
    ),
    f"64 * {COUNTED}": shared.IN_BYTES.format("lines"),
    tuple(
        f"prod(shape) if stride and {longest} * itemsize >= 64 else {COUNTED}"
        for longest in ("min(stride)", "stride[-1]", "max(stride)")
    ): (
        "You answer with the number of elements where a stride is a line or longer. They can share "
        "a line there too: along another dim, or because two indices reach one element. Count "
        "different lines."
    ),
}
cache_lines.exact |= {
    COUNTED.replace("itemsize", "2 * itemsize"): (
        "Your blocks have 32 bytes: that is a GPU's sector. A line has 64."
    ),
    COUNTED.replace("itemsize", "itemsize / 2"): "Your blocks have 128 bytes. Here a line has 64.",
}
