"""E6, the as_strided ladder: row, column, diagonal, trace and windows."""

from dataclasses import replace

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_number, view_of
from stridekit.exercises.watch import Means

BYTES = "as_strided counts elements, and so does `x.storage_offset()`. Leave the size of an element out."
BY_AS_STRIDED = Means(
    "as_strided",
    "Right numbers. Now say all three yourself, from what x alone tells (`x.size()`, "
    "`x.stride()`, `x.storage_offset()`): one call of `x.as_strided(size, stride, "
    "storage_offset)` makes this view.",
)
SUM_BY_AS_STRIDED = replace(
    BY_AS_STRIDED,
    hint=(
        "Right sums. Now say yourself which elements they add, from what x alone tells: one call "
        "of `x.as_strided(size, stride, storage_offset)` makes the diagonal, and `.sum()` adds it "
        "up."
    ),
)
# The slots of each rung, in the order in which they are told: the start, the steps, the sizes.
START = {
    "x.storage_offset()": {
        "0": shared.ABSOLUTE.format("x"),
        "x.storage_offset() * x.element_size()": BYTES,
    }
}


WHOLE = "torch.arange(24).view(4, 6)"
MATRICES = [  # with the number of a row and of a column
    (WHOLE, 0, 0), (WHOLE, 2, 2), ("torch.zeros(3, 5)", 2, 4),
    (f"{WHOLE}[1:]", 1, 3), (f"{WHOLE}[:, 1:5]", 2, 2), (f"{WHOLE}[1:, ::2]", 1, 1), (f"{WHOLE}.t()", 3, 3),
    ("torch.zeros(6, 5, 4)[2].t()[1:]", 2, 2), ("torch.arange(3).expand(4, 3)", 2, 2),
    ("torch.arange(5).view(5, 1).expand(5, 3)[1:]", 2, 2),
]  # fmt: skip


@exercise(
    title="a row, by as_strided",
    read=view_of("x", ndim=1),
    means=BY_AS_STRIDED,
    cases=[f"x = {x}; i = {i}" for x, i, _ in MATRICES]
    + [
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


@exercise(
    title="a column, by as_strided",
    read=view_of("x", ndim=1),
    means=BY_AS_STRIDED,
    cases=[f"x = {x}; j = {j}" for x, _, j in MATRICES]
    + ["x = torch.zeros(4, 6)[2:3, 1:]; j = 2", "x = torch.zeros(4, 6)[4:, 2:]; j = 1"],
    hints=[
        "The same three questions: how many elements has a column, how far apart do they lie, and "
        "where is the first?",
        "Going down, the row changes and the column stays: one step is `x.stride(0)`.",
        "The first element is x[0, j], and that is j steps of `x.stride(1)` from x's own first.",
    ],
    otherwise=(
        "Put your finger on x[0, j] and go down to x[1, j]. Where did you start in the storage, "
        "how far did you go, how often can you?"
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


# A row and a column are mirror images, and so are their mistakes.
for task, line, other, k, along, across, first, view in (
    (row, "row", "column", "i", 1, 0, "x[i, 0]", "x[i]"),
    (column, "column", "row", "j", 0, 1, "x[0, j]", "x[:, j]"),
):
    length, step, jump = f"x.size({along})", f"x.stride({along})", f"x.stride({across})"
    fresh = ("1", f"i * {length}") if along else ("x.size(1)", "j")
    of_length = f"x.as_strided(({length},), ({{}},), {{}})".format
    task.slots |= START
    task.slots[f"{k} * {jump}"] = {
        f"{k} * x.size({along})": (
            f"You go from {line} to {line} by the number of elements in one, as if "
            f"they lay one after the other. `{jump}` says how far apart they really are."
        ),
        k: f"Your {line} starts {k} elements into x. One {line} further is `{jump}` elements further.",
        f"{k} * {step}": (
            f"You go {k} steps along the first {line}. {line.capitalize()} {k} starts at "
            f"{first}: that is {k} steps to the next {line}, of `{jump}` each."
        ),
        f"{k} * {jump} * x.element_size()": BYTES,
    }
    task.slots[f"({step},)"] = {
        "(1,)": (
            f"You step from {other} to {other} by 1. They lie `{step}` apart: a slice and a transpose "
            "keep the strides of the whole."
        ),
        "(x.size(1),)": (
            "You step by the number of columns. That is the step down a new matrix; here the "
            f"{other}s lie `{step}` apart."
        ),
        f"({jump},)": (
            f"You start at the right element and then walk along the {other}. Along a {line} "
            f"one step is `{step}`."
        ),
        f"({step} * x.element_size(),)": BYTES,
    }
    task.slots[length] = {
        f"x.size({across})": (
            f"The steps are right, their number is not: a {line} has as many elements as "
            f"x has {other}s, `{length}`."
        )
    }
    task.wrong |= {
        of_length(*fresh): (
            "Those numbers fit a freshly made matrix of this shape alone: use `x.stride(0)`, "
            "`x.stride(1)`, `x.storage_offset()`."
        ),
        f"{'column' if along else 'row'}.reference(x, {k})": (
            f"That is {other} {k}. Along a {line} the {other} changes: exchange the two dims."
        ),
        f"{line}(x, 0)": (
            f"That is {line} 0, whatever {k} is: the offset does not grow with {k}. "
            f"{line.capitalize()} {k} lies {k} steps of `{jump}` further on."
        ),
        of_length(step, "0"): (
            f"Your {line} starts at element 0 of the storage, whatever x and {k} are: "
            f"the offset counts from there, also if you call as_strided on {view}. How many elements lie "
            f"before {first}?"
        ),
        (
            view.replace(k, f"{k} : {k} + 1"),
            f"x.as_strided((1, {length}), (1, {step}), x.storage_offset() + {k} * {jump})",
        ): f"Two sizes make a matrix of a single {line}. A {line} has one dim: one size and one stride.",
        f"{view}.clone()": shared.COPY,
        view.replace("x", "x.contiguous()"): shared.SOMETIMES_A_COPY.format("x"),
        f"{view}.contiguous()": shared.SOMETIMES_A_COPY.format(f"the {line}"),
    }


RECTANGLES = [
    "arange(9).view(3, 3)", "zeros(5, 5)", "arange(24).view(4, 6)", "arange(24).view(6, 4)",
    "arange(25).view(5, 5)[1:, 1:]", "arange(24).view(4, 6)[:, 1:5]",
    "arange(30).view(5, 6)[1:, ::2]", "zeros(6, 5, 4)[2].t()[1:]", "arange(24).view(4, 6).t()",
    "arange(3).expand(4, 3)", "zeros(4, 6)[2:3, 1:]", "zeros(4, 6)[:, 6:]",
]  # fmt: skip


@exercise(
    title="the diagonal, by as_strided",
    read=view_of("x", ndim=1),
    means=BY_AS_STRIDED,
    cases=[f"x = torch.{it}" for it in RECTANGLES],
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


diagonal.slots |= START
diagonal.slots["x.stride(0) + x.stride(1)"] = {
    "x.size(1) + 1": (
        "You step by the number of columns plus one. That is a diagonal step where rows lie one "
        "after the other; in general it is `x.stride(0) + x.stride(1)`."
    ),
    "x.stride(0)": (
        "You only go down: that is the first column. A diagonal step also goes right, by "
        "`x.stride(1)`."
    ),
    "x.stride(0) + 1": (
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
}
diagonal.wrong |= {
    "x.diagonal().clone()": shared.COPY,
    "x.contiguous().diagonal()": shared.SOMETIMES_A_COPY.format("x"),
}


SQUARED = [
    "torch.arange(9).view(3, 3) ** 2", "torch.arange(16).view(4, 4) ** 2",
    "torch.arange(24).view(4, 6) ** 2", "torch.arange(24).view(6, 4) ** 2",
    "(torch.arange(30.0).view(5, 6) ** 2)[1:, 1:]", "(torch.arange(30).view(5, 6) ** 2)[:4, 1:5]",
    "(torch.arange(30).view(5, 6) ** 2)[1:, ::2]", "(torch.arange(20).view(5, 4) ** 2).t()",
    "(torch.arange(60).view(3, 5, 4) ** 2)[1].t()[1:]", "torch.tensor([2, 3, 5]).expand(4, 3)",
    "(torch.arange(24).view(4, 6) ** 2)[2:3, 4:5]", "torch.zeros(4, 6)[:, 6:]",
]  # fmt: skip


@exercise(
    title="the trace, by as_strided and sum",
    read=read_number,
    means=SUM_BY_AS_STRIDED,
    # The values differ everywhere, so that a wrong diagonal has a wrong sum.
    cases=[f"x = {it}" for it in SQUARED],
    hints=[
        "The trace is the sum of the diagonal, and you have the diagonal already.",
        "`x.as_strided(size, stride, storage_offset)` with the three numbers of your `diagonal`, "
        "and `.sum()` after it.",
    ],
    otherwise=(
        "Look at your as_strided without the sum. Does it hold x[0, 0], x[1, 1], … and nothing "
        "else?"
    ),
    takeaway="The sum walks the same few elements; no copy, no loop and no mask were needed.",
)
def trace(x: torch.Tensor) -> torch.Tensor:
    """The sum of x[0, 0], x[1, 1], …: what `x.diagonal().sum()` answers.

    x       a 2-D tensor, perhaps not square, sliced, transposed or expanded
    return  the sum: a 0-d tensor or a number

    Write it with `x.as_strided(…).sum()`. Take all numbers from x itself, not from another view.
    """
    step = x.stride(0) + x.stride(1)
    return x.as_strided((min(x.shape),), (step,), x.storage_offset()).sum()


trace.slots |= diagonal.slots
trace.wrong |= {
    "x.sum()": "You add up all of x. Only x[0, 0], x[1, 1], … belong to the trace.",
    "x.diagonal()": "There is the diagonal. Only the `.sum()` is missing.",
    "x.diagonal().sum(0, keepdim=True)": (
        "The right number, in a tensor that still has a dim. A sum over everything has none: leave "
        "`keepdim` and slices out, and `.sum()` is 0-d."
    ),
    "x.contiguous().as_strided((min(x.shape),), (x.size(1) + 1,), 0).sum()": shared.SOMETIMES_A_COPY.format(
        "x"
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
        "element further on too. Nothing says that two strides have to differ.",
        "The shape is (n - size + 1, size), both strides are `x.stride(0)`, and the first window "
        "starts where x does.",
    ],
    otherwise=(
        "Write down the windows of [a, b, c, d] with size 2. How many are there, and what is the "
        "step from one to the next, and inside one?"
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

windows.slots |= START
windows.slots["(step, step)"] = {
    ("(size * step, step)", "(size, 1)"): SIDE_BY_SIDE,
    "(step, 1)": (
        "Inside a window you step by 1. Where x skips, its neighbours lie `x.stride(0)` apart."
    ),
    "(1, step)": "From window to window you step by 1. Where x skips, it is `x.stride(0)`.",
    "(1, 1)": (
        "Your steps are 1. Where x skips, as x[::2] does, neighbours lie `x.stride(0)` apart."
    ),
}
windows.slots["x.numel() - size + 1"] = {
    "x.numel() - size": "One window is missing: the last may end with x. There are n - size + 1.",
    "x.numel()": "A window for every element: the last reach beyond x. There are n - size + 1.",
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
