"""E6, the second rung: a column by as_strided."""

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
    title="a column, by as_strided",
    read=view_of("x"),
    means=BY_AS_STRIDED,
    cases=[
        "x = torch.arange(24).view(4, 6); j = 0",
        "x = torch.arange(24).view(4, 6); j = 2",
        "x = torch.zeros(3, 5); j = 4",
        "x = torch.arange(24).view(4, 6)[1:]; j = 3",
        "x = torch.arange(24).view(4, 6)[:, 1:5]; j = 2",
        "x = torch.arange(24).view(4, 6)[1:, ::2]; j = 1",
        "x = torch.arange(24).view(4, 6).t(); j = 3",
        "x = torch.zeros(6, 5, 4)[2].t()[1:]; j = 2",
        "x = torch.arange(3).expand(4, 3); j = 2",
        "x = torch.arange(5).view(5, 1).expand(5, 3)[1:]; j = 2",
        "x = torch.zeros(4, 6)[2:3, 1:]; j = 2",
        "x = torch.zeros(4, 6)[4:, 2:]; j = 1",
    ],
    hints=[
        "The same three questions: how many elements has a column, how far apart do they lie, and "
        "where is the first?",
        "Going down, the row changes and the column stays: one step is `x.stride(0)`.",
        "The first element is x[0, j], and that is j steps of `x.stride(1)` from x's own first.",
    ],
    otherwise="Put your finger on x[0, j] and go down to x[1, j]. Where did you start in the "
    "storage, how far did you go, how often can you?",
    takeaway="A column is as cheap as a row; only its elements lie further apart.",
)
def column(x: torch.Tensor, j: int) -> torch.Tensor:
    """Column j of a matrix, as a view: what `x[:, j]` answers. Write it with `x.as_strided`.

    x       a 2-D tensor, perhaps sliced, transposed or expanded
    j       an int from 0 to x.size(1) - 1
    return  a 1-D view on x's storage, with the shape, stride and storage_offset of x[:, j]
            (the stride of a dim of size 0 or 1 is free)
    """
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + j * x.stride(1))


@column.mistake(ABSOLUTE)
def column_from_the_start_of_the_storage(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(0),), j * x.stride(1))


@column.mistake(
    "You step down by the number of columns. Rows cut out of wider ones lie further apart than "
    "they are long: `x.stride(0)` says how far."
)
def column_by_the_width(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.size(1),), x.storage_offset() + j * x.stride(1))


@column.mistake(
    "You start j elements into x. That is x[0, j] only where neighbouring columns lie side by "
    "side; in general they are `x.stride(1)` apart."
)
def column_starts_j_elements_in(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + j)


@column.mistake(
    "You start j rows down, at x[j, 0]. Column j starts at x[0, j]: that is j steps to the right, "
    "of `x.stride(1)` each."
)
def column_starts_j_rows_down(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + j * x.stride(0))


@column.mistake(BYTES)
def column_with_its_offset_in_bytes(x: Tensor, j: int) -> Tensor:
    start = x.storage_offset() * x.element_size() + j * x.stride(1)
    return x.as_strided((x.size(0),), (x.stride(0),), start)


@column.mistake(BYTES)
def column_all_in_bytes(x: Tensor, j: int) -> Tensor:
    start, step = x.storage_offset() + j * x.stride(1), x.stride(0)
    return x.as_strided((x.size(0),), (step * x.element_size(),), start * x.element_size())


@column.mistake(BYTES)
def column_with_its_start_in_bytes(x: Tensor, j: int) -> Tensor:
    start = (x.storage_offset() + j * x.stride(1)) * x.element_size()
    return x.as_strided((x.size(0),), (x.stride(0),), start)


@column.mistake(
    "Your numbers come from the shape alone, so they fit a freshly made matrix and no other. Use "
    "`x.stride(0)`, `x.stride(1)` and `x.storage_offset()`."
)
def column_of_a_new_matrix(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.size(1),), j)


@column.mistake(
    "You start at the right element and then walk along the row. Down a column one step is "
    "`x.stride(0)`."
)
def column_along_the_row(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(1),), x.storage_offset() + j * x.stride(1))


@column.mistake(
    "That is row j: it goes along, from column to column. Down a column the row changes: exchange "
    "the two dims."
)
def column_is_a_row(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + j * x.stride(0))


@column.mistake(
    "The steps are right, their number is not: a column has as many elements as x has rows, "
    "`x.size(0)`."
)
def column_as_long_as_a_row(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(1),), (x.stride(0),), x.storage_offset() + j * x.stride(1))


@column.mistake(
    "That is column 0, whatever j is: without an offset of your own, as_strided starts where x "
    "starts. Column j lies j steps of `x.stride(1)` further on."
)
def column_without_j(x: Tensor, j: int) -> Tensor:
    return x.as_strided((x.size(0),), (x.stride(0),))


@column.mistake(
    "You kept the column's dim: that is x[:, j:j + 1], a matrix with one column. x[:, j] has one "
    "dim, so give one size and one stride."
)
def column_as_a_matrix(x: Tensor, j: int) -> Tensor:
    return x[:, j : j + 1]


@column.mistake(COPY)
def column_copied(x: Tensor, j: int) -> Tensor:
    return x[:, j].clone()


@column.mistake(SOMETIMES_A_COPY)
def column_of_contiguous(x: Tensor, j: int) -> Tensor:
    return x.contiguous()[:, j]
