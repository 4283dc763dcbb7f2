"""E6, the first two rungs: a row and a column by as_strided."""

from __future__ import annotations

import torch
from torch import Tensor

from stridekit.exercises.answers import view_of
from stridekit.exercises.core import exercise

ABSOLUTE = (
    "The offset of as_strided counts from the start of the storage, not from x. Where x is a "
    "slice, it begins at `x.storage_offset()`, and you have to begin there too."
)
COPY = (
    "The right values, in new memory: that is a copy. as_strided on x itself moves nothing, and a "
    "write to x then shows in what you return."
)
SOMETIMES_A_COPY = (
    "`contiguous()` gives x back only if x is contiguous already. A slice or a transpose it "
    "copies, and then you stand on another storage. x's own strides will do."
)


@exercise(
    title="a row, by as_strided",
    read=view_of("x"),
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


@exercise(
    title="a column, by as_strided",
    read=view_of("x"),
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
