"""Cache lines, counted by looking at every element: what the exercises of this lesson stand on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import torch

LINE = 64  # bytes


def line_numbers(
    shape: Sequence[int], stride: Sequence[int], offset: int, itemsize: int, line: int = LINE
) -> set[int]:
    """The numbers of the lines that some element lies in; the storage starts at the start of line 0.

    >>> line_numbers((4,), (8,), 0, 4)
    {0, 1}
    """
    indices = product(*map(range, shape))
    elements = {
        offset + sum(i * s for i, s in zip(index, stride, strict=True)) for index in indices
    }
    return {element * itemsize // line for element in elements}


def lines_of(t: torch.Tensor) -> int:
    """How many lines a tensor touches."""
    return len(line_numbers(t.shape, t.stride(), t.storage_offset(), t.itemsize))


def dense_lines(shape: Sequence[int], itemsize: int) -> int:
    """How many lines a new tensor of this shape fills, the last of them perhaps in part."""
    return -(-prod(shape) * itemsize // LINE)
