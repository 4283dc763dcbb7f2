"""E6, the last rung: all windows by as_strided."""

from __future__ import annotations

import torch
from torch import Tensor

from stridekit.exercises.answers import view_of
from stridekit.exercises.core import exercise
from stridekit.exercises.strides.e6_words import (
    ABSOLUTE,
    BY_AS_STRIDED,
    BYTES,
    COPY,
    SOMETIMES_A_COPY,
)

SIDE_BY_SIDE = (
    "Your windows stand side by side, each starting where the last one ended. They should "
    "overlap: the next one starts one element further on."
)


@exercise(
    title="all windows, by as_strided",
    read=view_of("x"),
    means=BY_AS_STRIDED,
    cases=[
        "x = torch.arange(6); size = 3",
        "x = torch.zeros(8); size = 2",
        "x = torch.arange(7); size = 1",
        "x = torch.arange(5); size = 5",
        "x = torch.arange(10)[2:]; size = 4",
        "x = torch.arange(12)[::2]; size = 3",
        "x = torch.zeros(20)[3::4]; size = 2",
        "x = torch.arange(24).view(4, 6)[:, 2]; size = 2",
        "x = torch.arange(24).view(4, 6)[1, 1:]; size = 3",
        "x = torch.tensor(2.0).expand(6); size = 3",
    ],
    hints=[
        "Two dims: which window, and which element in it. The stride of each is a step in x's "
        "storage.",
        "The next window starts one element further on. The next element of a window lies one "
        "element further on too. Nothing says that two strides have to differ.",
        "The shape is (n - size + 1, size), both strides are `x.stride(0)`, and the first window "
        "starts where x does.",
    ],
    otherwise="Write down the windows of [a, b, c, d] with size 2. How many are there, and what "
    "is the step from one to the next, and inside one?",
    takeaway="Overlapping windows cost nothing: several indices simply share one element.",
)
def windows(x: torch.Tensor, size: int) -> torch.Tensor:
    """Every window of `size` neighbours, one step apart: what `x.unfold(0, size, 1)` answers.

    x       a 1-D tensor of n elements, perhaps sliced or expanded
    size    an int from 1 to n
    return  a view on x's storage of shape (n - size + 1, size), with the stride and the
            storage_offset of x.unfold(0, size, 1) (the stride of a dim of size 1 is free)

    Write it with `x.as_strided`.
    """
    count, step = x.numel() - size + 1, x.stride(0)
    return x.as_strided((count, size), (step, step), x.storage_offset())


@windows.mistake(ABSOLUTE)
def windows_from_the_start_of_the_storage(x: Tensor, size: int) -> Tensor:
    return x.unfold(0, size, 1).as_strided(*_shape_and_stride(x, size), 0)


@windows.mistake(SIDE_BY_SIDE)
def windows_side_by_side(x: Tensor, size: int) -> Tensor:
    return x.unfold(0, size, size)


@windows.mistake(SIDE_BY_SIDE)
def windows_side_by_side_beyond_the_end(x: Tensor, size: int) -> Tensor:
    shape, (step, _) = _shape_and_stride(x, size)
    return x.as_strided(shape, (size * step, step), x.storage_offset())


@windows.mistake(SIDE_BY_SIDE)
def windows_side_by_side_by_ones(x: Tensor, size: int) -> Tensor:
    return x.as_strided((x.numel() // size, size), (size, 1), x.storage_offset())


@windows.mistake(SIDE_BY_SIDE)
def windows_by_ones_beyond_the_end(x: Tensor, size: int) -> Tensor:
    shape, _ = _shape_and_stride(x, size)
    return x.as_strided(shape, (size, 1), x.storage_offset())


@windows.mistake(
    "Inside a window you step by 1. Its elements are neighbours in x, and where x itself skips, "
    "these lie `x.stride(0)` apart, just as the windows do."
)
def windows_by_ones_inside(x: Tensor, size: int) -> Tensor:
    shape, (step, _) = _shape_and_stride(x, size)
    return x.as_strided(shape, (step, 1), x.storage_offset())


@windows.mistake(
    "From window to window you step by 1. The next one starts at x's next element, and where x "
    "itself skips, that lies `x.stride(0)` further, just as inside a window."
)
def windows_by_ones_between(x: Tensor, size: int) -> Tensor:
    shape, (step, _) = _shape_and_stride(x, size)
    return x.as_strided(shape, (1, step), x.storage_offset())


@windows.mistake(BYTES)
def windows_with_their_start_in_bytes(x: Tensor, size: int) -> Tensor:
    return x.as_strided(*_shape_and_stride(x, size), x.storage_offset() * x.element_size())


@windows.mistake(
    "Your steps are 1. Where x itself skips, as x[::2] does, its neighbours lie `x.stride(0)` "
    "apart."
)
def windows_by_ones(x: Tensor, size: int) -> Tensor:
    shape, _ = _shape_and_stride(x, size)
    return x.as_strided(shape, (1, 1), x.storage_offset())


@windows.mistake(
    "One window is missing: the last one may end with x's last element. With n elements there are "
    "n - size + 1."
)
def windows_without_the_last(x: Tensor, size: int) -> Tensor:
    return x.unfold(0, size, 1)[:-1]


@windows.mistake(
    "A window for every element is too many: the last ones would reach beyond x. With n elements "
    "there are n - size + 1."
)
def windows_one_for_each_element(x: Tensor, size: int) -> Tensor:
    step = x.stride(0)
    return x.as_strided((x.numel(), size), (step, step), x.storage_offset())


@windows.mistake(
    "Your windows are the columns. They should be the rows: first which window, then which "
    "element in it."
)
def windows_as_columns(x: Tensor, size: int) -> Tensor:
    return x.unfold(0, size, 1).t()


@windows.mistake(COPY)
def windows_copied(x: Tensor, size: int) -> Tensor:
    return x.unfold(0, size, 1).clone()


@windows.mistake(SOMETIMES_A_COPY)
def windows_of_contiguous(x: Tensor, size: int) -> Tensor:
    return x.contiguous().unfold(0, size, 1)


def _shape_and_stride(x: Tensor, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (x.numel() - size + 1, size), (x.stride(0), x.stride(0))
