"""Exercise 7, the as_strided ladder: row, column, diagonal, trace and windows."""

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_number, view_of
from stridekit.exercises.watch import Means

BYTES = (
    "as_strided counts elements, and so does `x.storage_offset()`. Leave the size of an element "
    "out."
)
STANDS_STILL = (
    "Your stride is 0, so all elements of your {} are its first element. How far is it from one "
    "element to the next?"
)
BY_AS_STRIDED = Means(
    function="as_strided",
    hint=(
        "Right numbers. Now work out all three yourself, from `x.size()`, `x.stride()` and "
        "`x.storage_offset()`. One call of `x.as_strided(size, stride, storage_offset)` makes "
        "this view."
    ),
)
SUM_BY_AS_STRIDED = Means(
    function="as_strided",
    hint=(
        "Right sums. Now choose the elements yourself: one call of `x.as_strided(size, stride, "
        "storage_offset)` makes the diagonal, and `.sum()` adds it up."
    ),
)


@exercise(
    title="a row, by as_strided",
    read=view_of("x", ndim=1),
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
    otherwise=(
        "Three questions, each answered by x itself and not by its shape alone: how many elements, "
        "how far apart, and at which element of the storage is the first?"
    ),
    takeaway="One dim dropped, one offset moved: that is all x[i] does.",
)
def row(x: torch.Tensor, i: int) -> torch.Tensor:
    """Row i of a matrix, as a view: what `x[i]` answers.

    x       a 2-D tensor, perhaps sliced, transposed or expanded
    i       an int from 0 to x.size(0) - 1
    return  a 1-D view on x's storage, with the shape, stride and storage_offset of x[i]
            (the stride of a dim of size 0 or 1 is free)

    Write it with `x.as_strided`. Take all numbers from x itself, not from another view.
    """
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(0))


row.slots["x.storage_offset()"] = {
    "0": shared.ABSOLUTE.format("x"),
    "x.storage_offset() * x.element_size()": BYTES,
}
row.slots["i * x.stride(0)"] = {
    "i * x.size(0)": (
        "You go from row to row by the number of rows, `len(x)`. It says how many rows there are. "
        "How far apart two rows lie, `x.stride(0)` says."
    ),
    "(i + 1) * x.stride(0)": shared.FROM_ZERO.format("row"),
    "i * x.size(1)": (
        "You go from row to row by the number of elements in one, as if they lay one after the "
        "other. `x.stride(0)` says how far apart they really are."
    ),
    "i": "Your row starts i elements into x. One row further is `x.stride(0)` elements further.",
    "i * x.stride(1)": (
        "You go i steps along the first row. Row i starts at x[i, 0]: that is i steps to the next "
        "row, of `x.stride(0)` each."
    ),
    "i * x.stride(0) * x.element_size()": BYTES,
}
row.slots["(x.stride(1),)"] = {
    "(1,)": (
        "You step from column to column by 1. They lie `x.stride(1)` apart: a slice and a "
        "transpose keep the strides of the whole."
    ),
    "(x.size(1),)": (
        "You step by the number of columns. That is the step down a new matrix; here the columns "
        "lie `x.stride(1)` apart."
    ),
    "(x.stride(0),)": (
        "You start at the right element and then walk along the column. Along a row one step is "
        "`x.stride(1)`."
    ),
    "(x.stride(1) * x.element_size(),)": BYTES,
    "(0,)": STANDS_STILL.format("row"),
}
row.slots["x.size(1)"] = {
    "x.size(0)": (
        "The steps are right, their number is not: a row has as many elements as x has columns, "
        "`x.size(1)`."
    ),
    "x.size(1) - 1": (
        "One element is missing at the end. The size is the number of elements, not the number of "
        "steps between them."
    ),
}
row.wrong |= {
    "x.as_strided((x.size(1),), (1,), i * x.size(1))": (
        "Those numbers fit a freshly made matrix of this shape alone: use `x.stride(0)`, "
        "`x.stride(1)`, `x.storage_offset()`."
    ),
    "column.reference(x, i)": (
        "That is column i. Along a row the column changes: exchange the two dims."
    ),
    "row(x, 0)": (
        "That is row 0, whatever i is: the offset does not grow with i. Row i lies i steps of "
        "`x.stride(0)` further on."
    ),
    "x.as_strided((x.size(1),), (x.stride(1),), 0)": (
        "Your row starts at element 0 of the storage, whatever x and i are: the offset counts from "
        "there, also if you call as_strided on x[i]. How many elements lie before x[i, 0]?"
    ),
    (
        "x[i : i + 1]",
        "x.as_strided((1, x.size(1)), (1, x.stride(1)), x.storage_offset() + i * x.stride(0))",
    ): "Two sizes make a matrix of a single row. A row has one dim: one size and one stride.",
    "x[i].clone()": shared.COPY,
    "x.contiguous()[i]": shared.SOMETIMES_A_COPY.format("x"),
    "x[i].contiguous()": shared.SOMETIMES_A_COPY.format("the row"),
}


@exercise(
    title="a column, by as_strided",
    read=view_of("x", ndim=1),
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
    otherwise=(
        "Put your finger on x[0, j] and go down to x[1, j]. Where in the storage did you start? "
        "How far did you go? How often can you go?"
    ),
    takeaway="A column is as cheap as a row; only its elements lie further apart.",
)
def column(x: torch.Tensor, j: int) -> torch.Tensor:
    """Column j of a matrix, as a view: what `x[:, j]` answers.

    x       a 2-D tensor, perhaps sliced, transposed or expanded
    j       an int from 0 to x.size(1) - 1
    return  a 1-D view on x's storage, with the shape, stride and storage_offset of x[:, j]
            (the stride of a dim of size 0 or 1 is free)

    Write it with `x.as_strided`. Take all numbers from x itself, not from another view.
    """
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + j * x.stride(1))


column.slots["x.storage_offset()"] = {
    "0": shared.ABSOLUTE.format("x"),
    "x.storage_offset() * x.element_size()": BYTES,
}
column.slots["j * x.stride(1)"] = {
    "j * x.size(1)": (
        "You go from column to column by the number of columns. It says how many columns there "
        "are. How far apart two columns lie, `x.stride(1)` says."
    ),
    "(j + 1) * x.stride(1)": shared.FROM_ZERO.format("column"),
    "j * x.size(0)": (
        "You go from column to column by the number of elements in one, as if they lay one after "
        "the other. `x.stride(1)` says how far apart they really are."
    ),
    "j": (
        "Your column starts j elements into x. One column further is `x.stride(1)` elements "
        "further."
    ),
    "j * x.stride(0)": (
        "You go j steps along the first column. Column j starts at x[0, j]: that is j steps to the "
        "next column, of `x.stride(1)` each."
    ),
    "j * x.stride(1) * x.element_size()": BYTES,
}
column.slots["(x.stride(0),)"] = {
    "(1,)": (
        "You step from row to row by 1. They lie `x.stride(0)` apart: a slice and a transpose keep "
        "the strides of the whole."
    ),
    "(x.size(1),)": (
        "You step by the number of columns. That is the step down a new matrix; here the rows lie "
        "`x.stride(0)` apart."
    ),
    "(x.stride(1),)": (
        "You start at the right element and then walk along the row. Along a column one step is "
        "`x.stride(0)`."
    ),
    "(x.stride(0) * x.element_size(),)": BYTES,
    "(0,)": STANDS_STILL.format("column"),
    "(x.size(0),)": (
        "You step by the number of rows. It says how many rows there are. How far apart two rows "
        "lie, `x.stride(0)` says."
    ),
}
column.slots["x.size(0)"] = {
    "x.size(1)": (
        "The steps are right, their number is not: a column has as many elements as x has rows, "
        "`x.size(0)`."
    ),
    "x.size(0) - 1": (
        "One element is missing at the end. The size is the number of elements, not the number of "
        "steps between them."
    ),
}
column.wrong |= {
    "x.as_strided((x.size(0),), (x.size(1),), j)": (
        "Those numbers fit a freshly made matrix of this shape alone: use `x.stride(0)`, "
        "`x.stride(1)`, `x.storage_offset()`."
    ),
    "row.reference(x, j)": "That is row j. Along a column the row changes: exchange the two dims.",
    "column(x, 0)": (
        "That is column 0, whatever j is: the offset does not grow with j. Column j lies j steps "
        "of `x.stride(1)` further on."
    ),
    "x.as_strided((x.size(0),), (x.stride(0),), 0)": (
        "Your column starts at element 0 of the storage, whatever x and j are: the offset counts "
        "from there, also if you call as_strided on x[:, j]. How many elements lie before x[0, j]?"
    ),
    (
        "x[:, j : j + 1]",
        "x.as_strided((1, x.size(0)), (1, x.stride(0)), x.storage_offset() + j * x.stride(1))",
    ): (
        "Two sizes make a matrix of a single column. A column has one dim: one size and one stride."
    ),
    "x[:, j].clone()": shared.COPY,
    "x.contiguous()[:, j]": shared.SOMETIMES_A_COPY.format("x"),
    "x.t().contiguous()[j]": shared.SOMETIMES_A_COPY.format("`x.t()`"),
    "x[:, j].contiguous()": shared.SOMETIMES_A_COPY.format("the column"),
}


@exercise(
    title="the diagonal, by as_strided",
    read=view_of("x", ndim=1),
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
    otherwise=(
        "Follow x[0, 0], x[1, 1], x[2, 2]: where is the first, how far apart are they, and when do "
        "you run out of rows or of columns?"
    ),
    takeaway="A step along two dims at once is the sum of their strides.",
)
def diagonal(x: torch.Tensor) -> torch.Tensor:
    """The elements x[0, 0], x[1, 1], … as a view: what `x.diagonal()` answers.

    x       a 2-D tensor, perhaps not square, sliced, transposed or expanded
    return  a 1-D view on x's storage, with the shape, stride and storage_offset of x.diagonal()
            (the stride of a dim of size 0 or 1 is free)

    Write it with `x.as_strided`. Take all numbers from x itself, not from another view.
    """
    return x.as_strided((min(x.shape),), (x.stride(0) + x.stride(1),), x.storage_offset())


diagonal.slots["x.storage_offset()"] = {
    "0": shared.ABSOLUTE.format("x"),
    "x.storage_offset() * x.element_size()": BYTES,
}
diagonal.slots["x.stride(0) + x.stride(1)"] = {
    "x.size(1) + 1": (
        "You step by the number of columns plus one. That is a diagonal step only where the rows "
        "lie one after the other. How far down does x step, and how far to the right?"
    ),
    "x.size(0) + 1": (
        "You step by the number of rows plus one. The number of rows says how many steps there "
        "are down, not how long one is: that is `x.stride(0)`."
    ),
    "x.stride(1)": (
        "You only go to the right: that is the first row. A diagonal step also goes down, by "
        "`x.stride(0)`."
    ),
    "x.stride(0)": (
        "You only go down: that is the first column. A diagonal step also goes right, by "
        "`x.stride(1)`."
    ),
    ("x.stride(0) + 1", "max(x.stride()) + 1"): (
        "You step one row down and one element on. The next column is not always the next element: "
        "it lies `x.stride(1)` further."
    ),
    "x.stride(0) * x.stride(1)": (
        "You multiply the two strides. First one step down, then one to the right: two distances, "
        "one after the other, add up."
    ),
}
diagonal.slots["min(x.shape)"] = {
    "x.size(0)": (
        "Your diagonal has as many elements as x has rows. In a tall matrix the columns run out "
        "first."
    ),
    "x.size(1)": (
        "Your diagonal has as many elements as x has columns. In a wide matrix the rows run out "
        "first."
    ),
    "max(x.shape)": "Your diagonal is as long as the longer dim. It ends with the shorter one.",
    "min(x.shape) - 1": (
        "One element is missing at the end. The size is the number of elements, not the number of "
        "steps between them."
    ),
}
ROWS_END_TO_END = (
    "You step through all rows laid end to end. `flatten` copies where x does not lie so, and in "
    "a tall matrix your steps go on after the last column."
)
diagonal.wrong |= {
    "x.flatten()[:: x.size(1) + 1]": ROWS_END_TO_END,
    "x.diagonal().clone()": shared.COPY,
    "x.contiguous().diagonal()": shared.SOMETIMES_A_COPY.format("x"),
}


@exercise(
    title="the trace, by as_strided and sum",
    read=read_number,
    means=SUM_BY_AS_STRIDED,
    # The values differ everywhere, so a wrong diagonal has a wrong sum.
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
        "and `.sum()` after it.",
    ],
    otherwise=(
        "Look at your as_strided without the sum. Does it hold x[0, 0], x[1, 1], … and nothing "
        "else?"
    ),
    takeaway="The sum reads only the elements of the diagonal, without a copy, a loop or a mask.",
)
def trace(x: torch.Tensor) -> torch.Tensor:
    """The sum of x[0, 0], x[1, 1], …: what `x.diagonal().sum()` answers.

    x       a 2-D tensor, perhaps not square, sliced, transposed or expanded
    return  the sum: a 0-d tensor or a number

    Write it with `x.as_strided(…).sum()`. Take all numbers from x itself, not from another view.
    """
    step = x.stride(0) + x.stride(1)
    return x.as_strided((min(x.shape),), (step,), x.storage_offset()).sum()


# The trace adds up the diagonal, so it can go wrong like the diagonal.
trace.slots |= diagonal.slots
trace.wrong |= {
    "x.flatten()[:: x.size(1) + 1].sum()": ROWS_END_TO_END,
    "x.sum()": "You add up all of x. Only x[0, 0], x[1, 1], … belong to the trace.",
    "x.diagonal()": "You return the diagonal. Only the `.sum()` is missing.",
    "x.diagonal().sum(0, keepdim=True)": (
        "The right number, in a tensor that still has a dim. A sum over everything does not have "
        "dims: leave out `keepdim` and slices."
    ),
    "x.contiguous().as_strided((min(x.shape),), (x.size(1) + 1,), 0).sum()": (
        shared.SOMETIMES_A_COPY.format("x")
    ),
}


@exercise(
    title="all windows, by as_strided",
    read=view_of("x", ndim=2),
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
        "element further on too. Two strides may be equal.",
        "The shape is (n - size + 1, size), both strides are `x.stride(0)`, and the first window "
        "starts where x does.",
    ],
    otherwise=(
        "Write down the windows of [a, b, c, d] with size 2. How many are there? How far is it "
        "from one window to the next, and from one element of a window to the next?"
    ),
    takeaway="Overlapping windows cost nothing: several indices simply share one element.",
)
def windows(x: torch.Tensor, size: int) -> torch.Tensor:
    """Every window of `size` neighbours, one step apart: what `x.unfold(0, size, 1)` answers.

    x       a 1-D tensor of n elements, perhaps sliced or expanded
    size    an int from 1 to n
    return  a view on x's storage of shape (n - size + 1, size), with the stride and the
            storage_offset of x.unfold(0, size, 1) (the stride of a dim of size 1 is free)

    Write it with `x.as_strided`. Take all numbers from x itself, not from another view.
    """
    count, step = x.numel() - size + 1, x.stride(0)
    return x.as_strided((count, size), (step, step), x.storage_offset())


SIDE_BY_SIDE = (
    "Your windows stand side by side, each starting where the last one ended. They should "
    "overlap: the next one starts one element further on."
)

windows.slots["x.storage_offset()"] = {
    "0": shared.ABSOLUTE.format("x"),
    "x.storage_offset() * x.element_size()": BYTES,
}
windows.slots["(step, step)"] = {
    ("(size * step, step)", "(size, 1)"): SIDE_BY_SIDE,
    "(step, 1)": (
        "Inside a window you step by 1. Where x skips, its neighbours lie `x.stride(0)` apart."
    ),
    "(1, step)": "From window to window you step by 1. Where x skips, it is `x.stride(0)`.",
    "(0, step)": (
        "All your windows are the first window, because you step by 0 from window to window. The "
        "next window starts one element further on."
    ),
    "(1, 1)": (
        "Your steps are 1. Where x skips, as x[::2] does, neighbours lie `x.stride(0)` apart."
    ),
}
windows.slots["x.numel() - size + 1"] = {
    ("x.numel() - size", "x.numel() - size - 1"): (
        "Windows are missing at the end: the last window ends with x. Count those of [a, b, c, d] "
        "with size 2."
    ),
    "x.numel()": (
        "You start a window at every element, so the last ones reach beyond x. Count the windows "
        "of [a, b, c, d] with size 2."
    ),
}
windows.wrong |= {
    (
        "x.unfold(0, size, size)",
        "x.as_strided((x.numel() // size, size), (size, 1), x.storage_offset())",
    ): SIDE_BY_SIDE,
    "x.unfold(0, size, 1).t()": "Your windows are the columns. They should be the rows.",
    "x.unfold(0, size, 1).clone()": shared.COPY,
    "x.contiguous().unfold(0, size, 1)": shared.SOMETIMES_A_COPY.format("x"),
}
