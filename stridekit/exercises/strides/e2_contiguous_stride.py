"""E2: the stride of a new tensor."""

from __future__ import annotations

from math import prod

import numpy as np

from stridekit.exercises.answers import read_stride
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]


@exercise(
    title="the stride that a new tensor gets",
    read=read_stride,
    cases=[
        "shape = (4, 6)",
        "shape = (6,)",
        "shape = (2, 3, 4)",
        "shape = (2, 3, 4, 5)",
        "shape = (7, 7, 7)",
        "shape = (3, 1)",
        "shape = (1, 3)",
        "shape = (2, 1, 3, 1, 5)",
        "shape = (1, 1)",
        "shape = ()",
        "shape = (0,)",
        "shape = (3, 0)",
        "shape = (2, 0, 3)",
        "shape = (4, 0, 0, 5)",
    ],
    hints=[
        "Elements lie row by row: the last index runs fastest. So the last stride is the easiest. "
        "Which is it?",
        "In shape (2, 3, 4), walk from [0, 0, 0] to [1, 0, 0]. Every element of x[0] lies "
        "between: how many are there?",
        "The stride of dim d is the product of the sizes after d. Going from the last dim to the "
        "first, one multiplication a dim does it. A size of 0 counts as 1.",
    ],
    otherwise="Take the shape above, number its elements in reading order, and go one index up in "
    "each dim in turn. By how much does the number grow? (A size of 0 counts as 1.)",
    takeaway="One step along a dim skips all that lies inside it: the product of the sizes after "
    "it.",
)
def contiguous_stride(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of a new tensor: what `torch.empty(shape).stride()` answers.

    shape   a tuple of ints >= 0; () is a 0-d tensor
    return  a tuple of as many ints, in elements, exactly torch's: also for sizes of 1 and 0
            (torch counts a size of 0 as 1 here)
    """
    stride: list[int] = []
    step = 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= max(size, 1)
    return tuple(stride)


@contiguous_stride.mistake(
    "Walk one row: in shape (2, 3, 4), between [0, 0, 0] and [1, 0, 0] lie not 3 elements but all "
    "those of x[0]. One size is not enough, it takes a product."
)
def takes_the_next_size(shape: Ints) -> Ints:
    return (*shape[1:], 1)[: len(shape)]


@contiguous_stride.mistake(
    "That is the shape. A size says how many steps a dim has; a stride says how long one step is, "
    "in elements."
)
def takes_the_size_itself(shape: Ints) -> Ints:
    return shape


@contiguous_stride.mistake(
    "A step along dim d skips what lies inside it, the dims after d. Your product also counts the "
    "size of d itself, so every step is too long: the last one should be 1."
)
def counts_its_own_size(shape: Ints) -> Ints:
    return tuple(prod(max(size, 1) for size in shape[d:]) for d in range(len(shape)))


@contiguous_stride.mistake(
    "That is column-major: the first index runs fastest, as in Fortran. In a new torch tensor the "
    "last index does, so multiply the sizes after d, not those before."
)
def multiplies_the_sizes_before(shape: Ints) -> Ints:
    return tuple(prod(max(size, 1) for size in shape[:d]) for d in range(len(shape)))


@contiguous_stride.mistake(
    "The right numbers from back to front: you collected them from the last dim to the first and "
    "left them so. Turn them round."
)
def leaves_them_reversed(shape: Ints) -> Ints:
    return solve(shape)[::-1]


ZERO = (
    "Right wherever there is an element. A size of 0 wipes out your product; torch counts it as "
    "1, so that a stride never becomes 0 that way."
)


@contiguous_stride.mistake(ZERO)
def divides_what_is_zero(shape: Ints) -> Ints:
    return tuple(prod(shape) // max(prod(shape[: d + 1]), 1) for d in range(len(shape)))


@contiguous_stride.mistake(ZERO)
def divides_by_zero(shape: Ints) -> Ints:
    return tuple(prod(shape) // prod(shape[: d + 1]) for d in range(len(shape)))


@contiguous_stride.mistake(ZERO)
def lets_a_zero_through(shape: Ints) -> Ints:
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


@contiguous_stride.mistake(
    "A dim of size 1 gets its stride by the same rule as any other. Nobody ever steps along it, "
    "but torch reports the product all the same: no size makes the stride of a new tensor 0."
)
def gives_size_one_a_stride_of_zero(shape: Ints) -> Ints:
    return tuple(0 if n == 1 else s for n, s in zip(shape, solve(shape), strict=True))


@contiguous_stride.mistake(
    "A dim of size 1 is no special case, and its stride need not be 1. It is the product of the "
    "sizes after it, as for any other dim."
)
def gives_size_one_a_stride_of_one(shape: Ints) -> Ints:
    return tuple(1 if n == 1 else s for n, s in zip(shape, solve(shape), strict=True))


@contiguous_stride.mistake(
    "Shape () has no dims, so there is nothing to step along. A stride has one number for each "
    "dim: here none, the empty tuple."
)
def gives_a_number_a_stride(shape: Ints) -> Ints:
    return solve(shape) or (1,)


@contiguous_stride.mistake(
    "One number too many: the first of yours is the product of all sizes, a step that leads out "
    "of the tensor. A stride has one number for each dim."
)
def gives_one_more_than_dims(shape: Ints) -> Ints:
    return (prod(max(size, 1) for size in shape), *solve(shape))


@contiguous_stride.mistake(
    "You add up the sizes after d. In shape (2, 3, 4), x[0] has 3 rows of 4: that makes 12 "
    "elements, not 7. Multiply them."
)
def adds_instead_of_multiplying(shape: Ints) -> Ints:
    return tuple(sum(shape[d + 1 :]) or 1 for d in range(len(shape)))


BYTES = (
    "Those are strides in bytes, as NumPy counts them. torch counts elements, whatever their size."
)


@contiguous_stride.mistake(BYTES)
def counts_bytes(shape: Ints) -> Ints:
    return np.empty(shape).strides


@contiguous_stride.mistake(BYTES)
def counts_bytes_of_float32(shape: Ints) -> Ints:
    return tuple(4 * step for step in solve(shape))


def solve(shape: Ints) -> Ints:
    """The right answer, for mistakes that start from it."""
    stride: Ints = contiguous_stride.reference(shape)
    return stride
