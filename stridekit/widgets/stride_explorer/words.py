"""The words of the stride explorer: verdicts on a layout, places in it, and the limits of the picture.

words.js says the same, so that the picture follows the hand without asking the kernel; tests/live.py
compares the two. The limits of sliders are only there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from stridekit.layout import Layout
from stridekit.memory.memset import MemorySet
from stridekit.widgets.notation import CACHE_LINE, counted, element_name, why_not_counted

MAX_CELLS = 4096  # HTML cells up to 256, a canvas above: both at interactive speed
MAX_DIMS = 4
MAX_ROWS = MAX_PLANES = 256  # of a plane, and planes: more would make a page metres long


class Verdict(NamedTuple):
    """A sentence about a layout; `good` is True, False, or None for neither."""

    good: bool | None
    text: str

    def __str__(self) -> str:
        sign = {True: "✓", False: "✗", None: "·"}[self.good]
        return f"{sign} {self.text}"


def verdicts(layout: Layout, storage_size: int) -> list[Verdict]:
    """Contiguity, holes, shared elements and reach, each with its reason.

    >>> for verdict in verdicts(Layout((4, 6), (8, 1), 2, 4), 40):
    ...     print(verdict)
    ✗ not contiguous: dim 0 has stride 8, 6 is needed
    ✗ 6 holes between the first and the last element
    ✓ no two indices share an element
    · reaches 24 of 40 elements (96 of 160 bytes)
    """
    why, reached = layout.why_not_contiguous(), MemorySet.of(layout).count() // layout.itemsize
    holes, shared = len(layout.span) - reached, layout.numel - reached
    gaps = f"{counted(holes, 'hole')} between the first and the last element"
    owners = f"{layout.numel} indices share {counted(reached, 'element')}"
    size = f"({reached * layout.itemsize} of {storage_size * layout.itemsize} bytes)"
    return [
        Verdict(not why, f"not contiguous: {why}" if why else "contiguous"),
        Verdict(not holes, gaps if holes else "no holes"),
        Verdict(not shared, owners if shared else "no two indices share an element"),
        Verdict(None, f"reaches {reached} of {counted(storage_size, 'element')} {size}"),
    ]


def place(layout: Layout, index: tuple[int, ...], name: str = "x") -> str:
    """The place of one element: its number, its byte and its cache line.

    >>> place(Layout((4, 6), (8, 1), 2, 4), (2, 3))
    'x[2, 3] is element 21 of the storage: byte 84, cache line 1'
    """
    byte = layout.address(index)
    where = f"byte {byte}, cache line {byte // CACHE_LINE}"
    return f"{element_name(index, name)} is element {layout.offset(index)} of the storage: {where}"


def formula(layout: Layout, index: tuple[int, ...]) -> str:
    """The address formula with its numbers.

    >>> formula(Layout((4, 6), (8, 1), 2), (2, 3))
    '2 + 2*8 + 3*1 = 21'
    """
    terms = [f"{i}*{s}" for i, s in zip(index, layout.stride, strict=True)]
    return f"{' + '.join([str(layout.storage_offset), *terms])} = {layout.offset(index)}"


def why_not_drawn(layout: Layout, storage_size: int) -> str:
    """The reason why the picture cannot hold a layout on a storage; "" if it can.

    >>> why_not_drawn(Layout((5, 9), (8, 1)), 40)
    'shape (5, 9), stride (8, 1), storage_offset 0 reaches element 40, and the storage ends at 39'
    """
    shape, stride, count = layout.shape, layout.stride, layout.numel
    if too_large := why_not_counted(layout):
        return too_large
    if layout.ndim > MAX_DIMS or count > MAX_CELLS:
        return (
            f"shape {shape} has {layout.ndim} dims and {count} elements: the picture holds "
            f"{MAX_DIMS} and {MAX_CELLS}; explore(t) shows a corner"
        )
    if too_many := too_long(shape):
        return f"shape {shape} has {too_many}; explore(t) shows a corner"
    if min(stride, default=0) < 0:
        return f"stride {stride} is negative: torch has no such tensors"
    if count == 0 or layout.span.stop <= storage_size:
        return ""
    return (
        f"shape {shape}, stride {stride}, storage_offset {layout.storage_offset} reaches element "
        f"{layout.span.stop - 1}, and the storage ends at {storage_size - 1}"
    )


def too_long(shape: Sequence[int]) -> str:
    """The count in a shape that is too large for a page, in words; "" if all fit."""
    if max(shape, default=0) > MAX_CELLS:  # though a 0 beside it leaves no elements
        return f"a size of {max(shape)}: the picture holds {MAX_CELLS}"
    if len(shape) > 1 and shape[-2] > MAX_ROWS:
        return f"{shape[-2]} rows: the picture holds {MAX_ROWS}"
    planes = prod(shape[:-2])
    return f"{planes} planes: the picture holds {MAX_PLANES}" if planes > MAX_PLANES else ""
