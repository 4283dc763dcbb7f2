"""E1: the cache lines that a layout touches."""

from functools import cache
from math import ceil, prod  # noqa: F401 (for mistakes)
from operator import mul  # noqa: F401 (for mistakes)

import numpy as np

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major  # noqa: F401 (for mistakes)
from stridekit.exercises.readers.answers import read_number
from stridekit.exercises.watch import Means


@exercise(
    title="how many cache lines a layout touches",
    read=read_number,
    means=Means(whole=("traffic",)),
    cases=[
        "shape = (16,); stride = (1,); offset = 0; itemsize = 4",
        "shape = (40,); stride = (1,); offset = 0; itemsize = 4",
        "shape = (10,); stride = (8,); offset = 0; itemsize = 4",
        "shape = (10,); stride = (16,); offset = 0; itemsize = 4",
        "shape = (10,); stride = (32,); offset = 0; itemsize = 4",
        "shape = (16,); stride = (1,); offset = 8; itemsize = 4",
        "shape = (17,); stride = (3,); offset = 15; itemsize = 4",
        "shape = (6, 8); stride = (8, 1); offset = 0; itemsize = 8",
        "shape = (8, 6); stride = (1, 8); offset = 0; itemsize = 8",
        "shape = (6,); stride = (40,); offset = 3; itemsize = 8",
        "shape = (5, 4); stride = (100, 1); offset = 30; itemsize = 2",
        "shape = (4, 5); stride = (0, 20); offset = 1; itemsize = 4",
        "shape = (3, 7); stride = (2, 0); offset = 15; itemsize = 4",
        "shape = (30,); stride = (1,); offset = 50; itemsize = 1",
        "shape = (3, 2, 4); stride = (200, 24, 5); offset = 9; itemsize = 4",
        "shape = (2, 3, 3); stride = (1, 64, 8); offset = 7; itemsize = 2",
        "shape = (9,); stride = (3,); offset = 2; itemsize = 16",
        "shape = (3, 4); stride = (16, 16); offset = 0; itemsize = 4",
        "shape = (3, 4); stride = (24, 16); offset = 5; itemsize = 8",
        "shape = (4, 3, 2); stride = (64, 80, 32); offset = 0; itemsize = 2",
        "shape = (20, 5); stride = (1, 1); offset = 10; itemsize = 4",
        "shape = (1, 6); stride = (999, 30); offset = 5; itemsize = 8",
        "shape = (1,); stride = (7,); offset = 500; itemsize = 4",
        "shape = (); stride = (); offset = 33; itemsize = 8",
        "shape = (0, 5); stride = (5, 1); offset = 0; itemsize = 4",
        "shape = (4, 0, 2); stride = (2, 2, 1); offset = 3; itemsize = 2",
    ],
    hints=[
        "On which line does an element lie? It starts at byte `element * itemsize` of the storage, "
        "and a line has 64 bytes.",
        "Go through every index, find its element by the formula of lesson 01, and divide its "
        "byte by 64. Several elements can share a line.",
        "For every index of `np.ndindex(*shape)`, put "
        "`(offset + sum of index * stride) * itemsize // 64` into a set. The answer is the number "
        "of different lines in it.",
    ],
    otherwise=(
        "Work through a small input on paper. Write down the byte of every element, and beside it "
        "`byte // 64`. How many different numbers do you get?"
    ),
    takeaway=(
        "Memory travels in lines. The cost of an element depends on the other elements on its line."
    ),
)
def cache_lines(shape: tuple[int, ...], stride: tuple[int, ...], offset: int, itemsize: int) -> int:
    """How many 64-byte cache lines a tensor with this layout touches.

    Not allowed: stridekit's `traffic`, which does the whole task.

    shape, stride  tuples of ints >= 0, one for each dim
    offset         the storage offset, in elements
    itemsize       the bytes of an element: 1, 2, 4, 8 or 16
    return         the number of different lines that hold an element of the tensor. Line k is the
                   bytes 64*k to 64*k + 63 of the storage, whose byte 0 starts a line
    """
    lines = set()
    for index in np.ndindex(*shape):
        element = offset + sum(i * s for i, s in zip(index, stride, strict=True))
        lines.add(element * itemsize // 64)
    return len(lines)


# Other solutions call it, as a learner does. Their mistakes ask about the same tensors many times.
counted = cache(cache_lines.reference)


def span(shape: Ints, stride: Ints) -> int:
    """Return the number of elements from the first to the last of a layout, gaps included."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))


PACKED = (
    "You count the lines of elements that lie close together. The stride says where they lie: with "
    "gaps between them, each can be on a line of its own. Try `x[::16]`."
)

cache_lines.slots["stride"] = {"row_major(shape)": PACKED}
cache_lines.slots["itemsize"] = {
    "4": shared.ITEMSIZE.format("itemsize"),
    "1": shared.DIVIDED_ELEMENTS.format("line", 64),
}
cache_lines.slots["offset"] = {
    "0": (
        "You start the layout at the start of a line. It starts `offset` elements into the "
        "storage, so it can reach into one more line."
    ),
    "offset / itemsize": shared.OFFSET_IN_BYTES,
    "offset * itemsize": (
        "You multiply the offset by `itemsize` twice. It counts elements, like the stride."
    ),
}
cache_lines.slots["len(lines)"] = {
    "max(lines) - min(lines) + 1 if lines else 0": shared.HULL.format("line"),
    ("max(lines, default=-1) + 1", "max(lines, default=0) + 1"): (
        "You count every line from the start of the storage. Only a line that holds an element "
        "counts."
    ),
    "max(1, len(lines))": (
        "Right wherever there is an element. A size of 0 leaves nothing to read, so the layout "
        "touches no line."
    ),
}
cache_lines.wrong |= {
    "// 64 => / 64": shared.NOT_WHOLE.format("line", 64),
    "// 64 => % 64": shared.PLACE_IN.format("line", 64),
    "prod(shape)": (
        "That is the number of elements. Neighbours can share a line, and a line travels once. On "
        "which line does each element lie?"
    ),
    "ceil(prod(shape) * itemsize / 64)": PACKED,
    ("prod(shape) * itemsize // 64", "prod(shape) * itemsize / 64"): (
        "You divide the bytes of all elements by the bytes of a line. A line counts even if only "
        "one element lies on it."
    ),
    (
        "ceil(span(shape, stride) * itemsize / 64)",
        "ceil(sum(map(mul, shape, stride)) * itemsize / 64)",
        "ceil(max(map(mul, shape, stride), default=1) * itemsize / 64)",
    ): shared.HULL.format("line"),
    "ceil(prod(shape) * min(stride[-1] * itemsize, 64) / 64) if shape else 1": (
        "You work with the last stride alone, as if the layout had one dim and started a line. Go "
        "through the elements one by one."
    ),
    "prod(shape[:-1]) * cache_lines(shape[-1:], stride[-1:], offset, itemsize)": (
        "You multiply the lines of one row by the number of rows. Two rows can share a line, and a "
        "row that starts deeper in a line can touch one more."
    ),
    "cache_lines(shape[-1:], stride[-1:], offset, itemsize)": (
        "You count the lines of one row. The other rows lie on other lines."
    ),
    (
        "prod(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
        "sum(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
    ): (
        "You count lines for each dim by itself and put the numbers together. An element has an "
        "index in every dim: find the line of each element."
    ),
    "lines.add(element * itemsize // 64) => "
    "lines.update({element * itemsize // 64, (element + 1) * itemsize // 64})": (
        "You also count the line of the first byte after an element. This byte belongs to the next "
        "element, which may not be read."
    ),
    "lines.add(element * itemsize // 64) => "
    "lines.update(range(element * itemsize, (element + 1) * itemsize))": (
        "You count bytes. Many bytes lie on the same line: put the number of the line into the set."
    ),
    "cache_lines(shape[:1], stride[:1], offset, itemsize)": (
        "You go along the first dim alone. Every index in all dims has an element."
    ),
    (
        "element * itemsize // 64 => -(-element * itemsize // 64)",
        "element * itemsize // 64 => round(element * itemsize / 64)",
    ): "You round the number of the line. Byte 63 is still on line 0: cut off, with `//`.",
    "*shape => *[n - 1 for n in shape if n]": (
        "You leave out the last index of each dim. `np.ndindex(n)` goes from 0 to n - 1."
    ),
    "zip(index, stride, strict=True) => zip(index, stride[::-1], strict=True)": (
        "You pair each index with the stride of another dim. Index and stride have the same order."
    ),
    "sum(cache_lines(shape[-1:], stride[-1:], offset + sum(map(mul, index, stride)), itemsize) "
    "for index in np.ndindex(shape[:-1]))": (
        "You count the lines of each row by itself and add them up. Two rows can share a line, and "
        "with a stride of 0 they are the same row. Count the different lines of all rows."
    ),
    "64 * cache_lines(shape, stride, offset, itemsize)": shared.IN_BYTES.format("lines"),
    (
        "prod(shape) if stride and min(stride) * itemsize >= 64 else "
        "cache_lines(shape, stride, offset, itemsize)",
        "prod(shape) if stride and stride[-1] * itemsize >= 64 else "
        "cache_lines(shape, stride, offset, itemsize)",
        "prod(shape) if stride and max(stride) * itemsize >= 64 else "
        "cache_lines(shape, stride, offset, itemsize)",
    ): (
        "You answer with the number of elements where a stride is a line or longer. There, too, "
        "elements can share a line along another dim, and two indices can reach one element."
    ),
}
cache_lines.exact |= {
    "cache_lines(shape, stride, offset, 2 * itemsize)": (
        "Your blocks have 32 bytes, like the sectors of a GPU. A line has 64 bytes."
    ),
    "cache_lines(shape, stride, offset, itemsize / 2)": (
        "Your blocks have 128 bytes. Here a line has 64 bytes."
    ),
}
