"""E6, the next two rungs: the diagonal and the trace by as_strided."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from stridekit.exercises.answers import read_number, view_of
from stridekit.exercises.core import exercise
from stridekit.exercises.strides.e6_words import (
    ABSOLUTE,
    BY_AS_STRIDED,
    BYTES,
    COPY,
    SOMETIMES_A_COPY,
)

SUM_BY_AS_STRIDED = replace(
    BY_AS_STRIDED,
    hint="Right sums. Now say yourself which elements they add: one call of `x.as_strided(size, "
    "stride, storage_offset)`, on x as it lies, makes the diagonal, and `.sum()` adds it up.",
)


@exercise(
    title="the diagonal, by as_strided",
    read=view_of("x"),
    means=BY_AS_STRIDED,
    cases=[
        "x = torch.arange(9).view(3, 3)",
        "x = torch.zeros(5, 5)",
        "x = torch.arange(24).view(4, 6)",
        "x = torch.arange(24).view(6, 4)",
        "x = torch.arange(25).view(5, 5)[1:, 1:]",
        "x = torch.arange(24).view(4, 6)[:, 1:5]",
        "x = torch.arange(30).view(5, 6)[1:, ::2]",
        "x = torch.zeros(6, 5, 4)[2].t()[1:]",
        "x = torch.arange(24).view(4, 6).t()",
        "x = torch.arange(3).expand(4, 3)",
        "x = torch.zeros(4, 6)[2:3, 1:]",
        "x = torch.zeros(4, 6)[:, 6:]",
    ],
    hints=[
        "From x[0, 0] to x[1, 1] you take one step down and one to the right. How far is that in "
        "the storage?",
        "One stride is the sum of two. And the diagonal ends where the first of the two dims does.",
        "The size is `min(x.shape)`, the stride `x.stride(0) + x.stride(1)`, and x[0, 0] is where "
        "x itself starts.",
    ],
    otherwise="Follow x[0, 0], x[1, 1], x[2, 2]: where is the first, how far apart are they, and "
    "when do you run out of rows or of columns?",
    takeaway="A step along two dims at once is the sum of their strides.",
)
def diagonal(x: torch.Tensor) -> torch.Tensor:
    """The elements x[0, 0], x[1, 1], … as a view: what `x.diagonal()` answers, by `x.as_strided`.

    x       a 2-D tensor, perhaps not square, sliced, transposed or expanded
    return  a 1-D view on x's storage, with the shape, stride and storage_offset of x.diagonal()
            (the stride of a dim of size 0 or 1 is free)
    """
    return x.as_strided((min(x.shape),), (x.stride(0) + x.stride(1),), x.storage_offset())


@diagonal.mistake(ABSOLUTE)
def diagonal_from_the_start_of_the_storage(x: Tensor) -> Tensor:
    return x.as_strided((min(x.shape),), (x.stride(0) + x.stride(1),), 0)


@diagonal.mistake(
    "You step by the number of columns plus one. That is a diagonal step where rows lie one "
    "behind the other; in general it is `x.stride(0) + x.stride(1)`."
)
def diagonal_by_the_width_plus_one(x: Tensor) -> Tensor:
    return x.as_strided((min(x.shape),), (x.size(1) + 1,), x.storage_offset())


@diagonal.mistake(
    "You only go down: that is the first column. A diagonal step also goes one to the right, "
    "another `x.stride(1)`."
)
def diagonal_straight_down(x: Tensor) -> Tensor:
    return x.as_strided((min(x.shape),), (x.stride(0),), x.storage_offset())


@diagonal.mistake(
    "You step one row down and one element on. The next column is not always the next element: it "
    "lies `x.stride(1)` further."
)
def diagonal_down_and_one_on(x: Tensor) -> Tensor:
    return x.as_strided((min(x.shape),), (x.stride(0) + 1,), x.storage_offset())


@diagonal.mistake(
    "You multiply the two strides. First one step down, then one to the right: two distances, one "
    "after the other, add up."
)
def diagonal_by_a_product(x: Tensor) -> Tensor:
    return x.as_strided((min(x.shape),), (x.stride(0) * x.stride(1),), x.storage_offset())


@diagonal.mistake(BYTES)
def diagonal_with_its_start_in_bytes(x: Tensor) -> Tensor:
    start = x.storage_offset() * x.element_size()
    return x.as_strided((min(x.shape),), (x.stride(0) + x.stride(1),), start)


@diagonal.mistake(
    "Your diagonal has as many elements as x has rows. In a matrix that is taller than wide the "
    "columns run out first."
)
def diagonal_as_long_as_there_are_rows(x: Tensor) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(0) + x.stride(1),), x.storage_offset())


@diagonal.mistake(
    "Your diagonal has as many elements as x has columns. In a matrix that is wider than tall the "
    "rows run out first."
)
def diagonal_as_long_as_there_are_columns(x: Tensor) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(0) + x.stride(1),), x.storage_offset())


@diagonal.mistake(COPY)
def diagonal_copied(x: Tensor) -> Tensor:
    return x.diagonal().clone()


@diagonal.mistake(SOMETIMES_A_COPY)
def diagonal_of_contiguous(x: Tensor) -> Tensor:
    return x.contiguous().diagonal()


@exercise(
    title="the trace, by as_strided and sum",
    read=read_number,
    means=SUM_BY_AS_STRIDED,
    # The values differ everywhere, so that a wrong diagonal has a wrong sum.
    cases=[
        "x = torch.arange(9).view(3, 3) ** 2",
        "x = torch.arange(16).view(4, 4) ** 2",
        "x = torch.arange(24).view(4, 6) ** 2",
        "x = torch.arange(24).view(6, 4) ** 2",
        "x = (torch.arange(30.0).view(5, 6) ** 2)[1:, 1:]",
        "x = (torch.arange(30).view(5, 6) ** 2)[:4, 1:5]",
        "x = (torch.arange(30).view(5, 6) ** 2)[1:, ::2]",
        "x = (torch.arange(20).view(5, 4) ** 2).t()",
        "x = (torch.arange(60).view(3, 5, 4) ** 2)[1].t()[1:]",
        "x = torch.tensor([2, 3, 5]).expand(4, 3)",
        "x = (torch.arange(24).view(4, 6) ** 2)[2:3, 4:5]",
        "x = torch.zeros(4, 6)[:, 6:]",
    ],
    hints=[
        "The trace is the sum of the diagonal, and you have the diagonal already.",
        "`x.as_strided(size, stride, storage_offset)` with the three numbers of your `diagonal`, "
        "and `.sum()` behind it.",
    ],
    otherwise="Look at your as_strided without the sum. Does it hold x[0, 0], x[1, 1], … and "
    "nothing else?",
    takeaway="The sum walks the same few elements; no copy, no loop and no mask were needed.",
)
def trace(x: torch.Tensor) -> torch.Tensor:
    """The sum of x[0, 0], x[1, 1], …: what `x.diagonal().sum()` answers.

    x       a 2-D tensor, perhaps not square, sliced, transposed or expanded
    return  the sum: a 0-d tensor or a number

    Write it with `x.as_strided(…).sum()`.
    """
    step = x.stride(0) + x.stride(1)
    return x.as_strided((min(x.shape),), (step,), x.storage_offset()).sum()


@trace.mistake(ABSOLUTE)
def trace_from_the_start_of_the_storage(x: Tensor) -> Tensor:
    return diagonal_from_the_start_of_the_storage(x).sum()


@trace.mistake(
    "You add up every (number of columns + 1)th element. That is the diagonal where rows lie one "
    "behind the other; in general its step is `x.stride(0) + x.stride(1)`."
)
def trace_by_the_width_plus_one(x: Tensor) -> Tensor:
    return diagonal_by_the_width_plus_one(x).sum()


@trace.mistake(
    "You add up the first column: your step goes down but not to the right. It takes both strides."
)
def trace_straight_down(x: Tensor) -> Tensor:
    return diagonal_straight_down(x).sum()


@trace.mistake(
    "Your step goes one row down and one element on. The next column is not always the next "
    "element: it lies `x.stride(1)` further."
)
def trace_down_and_one_on(x: Tensor) -> Tensor:
    return diagonal_down_and_one_on(x).sum()


@trace.mistake(
    "Your step is the product of the two strides. One step down and one to the right are two "
    "distances, one after the other: they add up."
)
def trace_by_a_product(x: Tensor) -> Tensor:
    return diagonal_by_a_product(x).sum()


@trace.mistake(BYTES)
def trace_with_its_start_in_bytes(x: Tensor) -> Tensor:
    return diagonal_with_its_start_in_bytes(x).sum()


@trace.mistake(
    "You add as many elements as x has rows. Where x is taller than wide, the last of them lie "
    "beyond its columns."
)
def trace_over_as_many_as_rows(x: Tensor) -> Tensor:
    return diagonal_as_long_as_there_are_rows(x).sum()


@trace.mistake(
    "You add as many elements as x has columns. Where x is wider than tall, the last of them lie "
    "beyond its rows."
)
def trace_over_as_many_as_columns(x: Tensor) -> Tensor:
    return diagonal_as_long_as_there_are_columns(x).sum()


@trace.mistake("You add up all of x. Only x[0, 0], x[1, 1], … belong to the trace.")
def trace_over_everything(x: Tensor) -> Tensor:
    return x.sum()


@trace.mistake("There is the diagonal. Only the `.sum()` is missing.")
def trace_without_the_sum(x: Tensor) -> Tensor:
    return x.diagonal()


@trace.mistake(
    "The right number, in a tensor that still has a dim. A sum over everything has none: leave "
    "`keepdim` and slices out, and `.sum()` is 0-d."
)
def trace_that_keeps_a_dim(x: Tensor) -> Tensor:
    return x.diagonal().sum(0, keepdim=True)


@trace.mistake(SOMETIMES_A_COPY)
def trace_of_contiguous(x: Tensor) -> Tensor:
    return x.contiguous().as_strided((min(x.shape),), (x.size(1) + 1,), 0).sum()
