"""E2: how many cache lines a layout touches."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from stridekit.exercises.answers import read_number
from stridekit.exercises.core import exercise
from stridekit.exercises.performance.lines import LINE, dense_lines, line_numbers

Ints = tuple[int, ...]


@exercise(
    title="how many cache lines a layout touches",
    read=read_number,
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
        "shape = (20, 5); stride = (1, 1); offset = 10; itemsize = 4",
        "shape = (1, 6); stride = (999, 30); offset = 5; itemsize = 8",
        "shape = (1,); stride = (7,); offset = 500; itemsize = 4",
        "shape = (); stride = (); offset = 33; itemsize = 8",
        "shape = (0, 5); stride = (5, 1); offset = 0; itemsize = 4",
        "shape = (4, 0, 2); stride = (2, 2, 1); offset = 3; itemsize = 2",
    ],
    hints=[
        "Which line is one element in? It starts at byte `element * itemsize` of the storage, and a "
        "line has 64 bytes.",
        "Go over every index, work out the element by the formula of lesson 01, divide its byte by 64. "
        "Several elements can share a line.",
        "Put `(offset + sum of index * stride) * itemsize // 64` into a set, for every index of "
        "`np.ndindex(*shape)`. Its length is the answer.",
    ],
    otherwise="Take a small input to paper: write down the byte of every element, and beside it "
    "`byte // 64`. How many different numbers stand there?",
    takeaway="Memory travels in lines: what an element costs depends on who else is on its line.",
)
def cache_lines(shape: tuple[int, ...], stride: tuple[int, ...], offset: int, itemsize: int) -> int:
    """How many 64-byte cache lines a tensor with this layout touches.

    shape, stride  tuples of ints >= 0, one for each dim
    offset         the storage offset, in elements
    itemsize       the bytes of an element: 1, 2, 4, 8 or 16
    return         the number of different lines that hold some element of it: line k is the bytes
                   64*k to 64*k + 63 of the storage, whose byte 0 starts a line
    """
    lines = set()
    for index in np.ndindex(*shape):
        element = offset + sum(i * s for i, s in zip(index, stride, strict=True))
        lines.add(element * itemsize // 64)
    return len(lines)


def span(shape: Ints, stride: Ints) -> int:
    """How many elements lie between the first and the last, these two included."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if all(shape) else 0


@cache_lines.mistake(
    "You let the layout start at the start of a line. It starts `offset` elements into the storage, and "
    "may so reach into one line more."
)
def assumes_alignment(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return len(line_numbers(shape, stride, 0, itemsize))


@cache_lines.mistake(
    "That is the number of elements. Neighbours can share a line, and a line travels once: which line "
    "does each of them lie in?"
)
def counts_elements(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return prod(shape)


PACKED = (
    "You pack the elements close together and count the lines of that. They lie where the stride puts "
    "them: with gaps, each may be on a line of its own. Try the stride sweep's `x[::16]`."
)


@cache_lines.mistake(PACKED)
def divides_the_bytes(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return dense_lines(shape, itemsize)


@cache_lines.mistake(PACKED)
def divides_the_bytes_behind_the_offset(
    shape: Ints, stride: Ints, offset: int, itemsize: int
) -> int:
    count = prod(shape)
    return len(line_numbers((count,), (1,), offset, itemsize))


HULL = (
    "You count every line from the first element to the last. Where a stride jumps over whole lines, "
    "nobody asks for those in between, and they stay where they are."
)


@cache_lines.mistake(HULL)
def counts_the_hull(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return len(line_numbers((span(shape, stride),), (1,), offset, itemsize))


@cache_lines.mistake(HULL)
def counts_an_aligned_hull(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return dense_lines((span(shape, stride),), itemsize)


@cache_lines.mistake(
    "You took 4 bytes an element for granted. Of float64 only 8 fit on a line, of uint8 64: "
    "`itemsize` says how many bytes each has."
)
def assumes_four_bytes(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return len(line_numbers(shape, stride, offset, 4))


@cache_lines.mistake(
    "You divide elements by 64, and a line has 64 *bytes*. Multiply by `itemsize` before you divide."
)
def sixty_four_elements_a_line(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return len(line_numbers(shape, stride, offset, 1))


@cache_lines.mistake(
    "You count the lines of each row by itself and add them up. Two rows can share a line, or even be "
    "the same row, where the stride is 0: count the *different* lines of all of them."
)
def adds_up_the_rows(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    if not shape:
        return 1
    found = 0
    for index in product(*map(range, shape[:-1])):
        start = offset + sum(i * s for i, s in zip(index, stride, strict=False))
        found += len(line_numbers(shape[-1:], stride[-1:], start, itemsize))
    return found


@cache_lines.mistake(
    "The offset counts elements, as the stride does; you added it as bytes. Multiply the whole sum by "
    "`itemsize`."
)
def adds_the_offset_in_bytes(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    starts = line_numbers(shape, stride, 0, itemsize, line=1)
    return len({(offset + byte) // LINE for byte in starts})


@cache_lines.mistake(
    "A size of 0 leaves nothing to read, so no line is touched. Let the loop over all indices decide: "
    "it does not turn once."
)
def at_least_one_line(shape: Ints, stride: Ints, offset: int, itemsize: int) -> int:
    return max(1, len(line_numbers(shape, stride, offset, itemsize)))
