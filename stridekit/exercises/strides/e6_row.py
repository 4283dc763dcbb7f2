"""E6, the first rung: a row by as_strided."""

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


@exercise(
    title="a row, by as_strided",
    read=view_of("x"),
    means=BY_AS_STRIDED,
    cases=[
        "x = torch.arange(24).view(4, 6); i = 0",
        "x = torch.arange(24).view(4, 6); i = 2",
        "x = torch.zeros(3, 5); i = 2",
        "x = torch.arange(24).view(4, 6)[1:]; i = 1",
        "x = torch.arange(24).view(4, 6)[:, 1:5]; i = 2",
        "x = torch.arange(24).view(4, 6)[1:, ::2]; i = 1",
        "x = torch.arange(24).view(4, 6).t(); i = 3",
        "x = torch.zeros(6, 5, 4)[2].t()[1:]; i = 2",
        "x = torch.arange(3).expand(4, 3); i = 2",
        "x = torch.arange(5).view(5, 1).expand(5, 3)[1:]; i = 2",
        "x = torch.zeros(4, 6)[:, 3:4]; i = 2",
        "x = torch.zeros(1, 6)[:, 2:]; i = 0",
        "x = torch.zeros(4, 6)[1:, 2:2]; i = 1",
    ],
    hints=[
        "`x.as_strided(size, stride, storage_offset)` makes any view of x's storage. So three "
        "questions: how many elements, how far apart, and where is the first?",
        "Along a row only the column changes, so one step is `x.stride(1)`. From one row to the "
        "next it is `x.stride(0)`.",
        "The first element is x[i, 0]: `x.storage_offset() + i * x.stride(0)` elements from the "
        "start of the storage.",
    ],
    otherwise="Three questions, each answered by x itself and not by its shape alone: how many "
    "elements, how far apart, and at which element of the storage is the first?",
    takeaway="One dim dropped, one offset moved: that is all x[i] does.",
)
def row(x: torch.Tensor, i: int) -> torch.Tensor:
    """Row i of a matrix, as a view: what `x[i]` answers. Write it with `x.as_strided`.

    x       a 2-D tensor, perhaps sliced, transposed or expanded
    i       an int from 0 to x.size(0) - 1
    return  a 1-D view on x's storage, with the shape, stride and storage_offset of x[i]
            (the stride of a dim of size 0 or 1 is free)
    """
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(0))


@row.mistake(ABSOLUTE)
def row_from_the_start_of_the_storage(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(1),), i * x.stride(0))


@row.mistake(
    "You step from column to column by 1. That holds for a new matrix; in a slice or a transpose "
    "the columns lie `x.stride(1)` apart."
)
def row_by_ones(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (1,), x.storage_offset() + i * x.stride(0))


@row.mistake(
    "You go from row to row by the number of columns, as if the rows lay one behind the other. "
    "`x.stride(0)` says how far apart they really are."
)
def row_after_packed_rows(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.size(1))


@row.mistake(
    "Your numbers come from the shape alone, so they fit a freshly made matrix and no other. Use "
    "`x.stride(0)`, `x.stride(1)` and `x.storage_offset()`."
)
def row_of_a_new_matrix(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (1,), i * x.size(1))


@row.mistake(
    "That is column i: it goes down, from row to row. Along a row the column changes: exchange "
    "the two dims."
)
def row_is_a_column(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + i * x.stride(1))


@row.mistake(
    "Your row starts i elements into x. One row further is not one element further, it is "
    "`x.stride(0)` of them."
)
def row_starts_i_elements_in(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i)


@row.mistake(
    "That is row 0, whatever i is: without an offset of your own, as_strided starts where x "
    "starts. Row i lies i steps of `x.stride(0)` further on."
)
def row_without_i(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(1),))


@row.mistake(
    "You move i columns on and start at x[0, i]. Row i starts at x[i, 0]: that is i steps down, of "
    "`x.stride(0)` each."
)
def row_starts_i_columns_on(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(1))


@row.mistake(
    "You start at the right element and then walk down the column. Along a row one step is "
    "`x.stride(1)`."
)
def row_down_the_column(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(0),), x.storage_offset() + i * x.stride(0))


@row.mistake(
    "The steps are right, their number is not: a row has as many elements as x has columns, "
    "`x.size(1)`."
)
def row_as_long_as_a_column(x: Tensor, i: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(1),), x.storage_offset() + i * x.stride(0))


@row.mistake(BYTES)
def row_with_its_offset_in_bytes(x: Tensor, i: int) -> Tensor:
    start = x.storage_offset() * x.element_size() + i * x.stride(0)
    return x.as_strided((x.size(1),), (x.stride(1),), start)


@row.mistake(BYTES)
def row_all_in_bytes(x: Tensor, i: int) -> Tensor:
    start, step = x.storage_offset() + i * x.stride(0), x.stride(1)
    return x.as_strided((x.size(1),), (step * x.element_size(),), start * x.element_size())


@row.mistake(BYTES)
def row_with_its_start_in_bytes(x: Tensor, i: int) -> Tensor:
    start = (x.storage_offset() + i * x.stride(0)) * x.element_size()
    return x.as_strided((x.size(1),), (x.stride(1),), start)


@row.mistake(
    "You kept the row's dim: that is x[i:i + 1], a matrix with one row. x[i] has one dim, so give "
    "one size and one stride."
)
def row_as_a_matrix(x: Tensor, i: int) -> Tensor:
    return x[i : i + 1]


@row.mistake(COPY)
def row_copied(x: Tensor, i: int) -> Tensor:
    return x[i].clone()


@row.mistake(SOMETIMES_A_COPY)
def row_of_contiguous(x: Tensor, i: int) -> Tensor:
    return x.contiguous()[i]
