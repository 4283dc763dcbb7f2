"""Puzzles 7 to 12: one call of as_strided each, on new tensors."""

import torch

from stridekit.exercises.puzzles.drawn import STRIDED, puzzle

SQUARES = [
    "x = torch.arange(16).view(4, 4)",
    "x = torch.arange(9).view(3, 3)",
    "x = torch.arange(4).view(2, 2)",
    "x = torch.arange(25).mul(4).remainder(29).view(5, 5)",
]


@puzzle(
    title="the diagonal",
    rule=STRIDED,
    cases=SQUARES,
    hints=[
        "Three questions: how many numbers, how far apart in memory, and where is the first?",
        "The numbers of x are their places in memory. By how much do those on the diagonal grow?",
    ],
    takeaway="One step down and one to the right is one stride: the sum of the two.",
    tints=lambda x: (torch.arange(len(x)).view(-1, 1) == torch.arange(len(x))).int(),
    others=("x.diagonal()", "x.view(-1)[:: len(x) + 1]", "torch.diag(x)"),
)
def diagonal(x: torch.Tensor) -> torch.Tensor:
    """Take the diagonal, from the top left to the bottom right.

    x       a new square matrix
    return  a view of x, with one dim
    """
    return x.as_strided((len(x),), (len(x) + 1,))


diagonal.wrong |= {
    "x.as_strided((len(x),), (1,))": "Your stride is 1, so that is the first row.",
    "x.as_strided((len(x),), (len(x),))": (
        "You step one row down each time, so that is the first column. Go one to the right as well."
    ),
    "x.as_strided((len(x),), (len(x) - 1,), len(x) - 1)": (
        "You go down to the left, from the top right. A step of one more than a row goes to"
        " the right."
    ),
    "x.as_strided((len(x) - 1,), (len(x) + 1,))": (
        "The last number is missing. Count them: as many as rows."
    ),
    "x.as_strided((len(x), 1), (len(x) + 1, 1))": "Your result has two dims, and one is wanted.",
    "x.as_strided((len(x), len(x)), (len(x) + 1, 0))": (
        "Your result has two dims, and one is wanted."
    ),
    "x.as_strided((len(x) - 1,), (len(x) + 1,), 1)": "You start at number 1, beside the diagonal.",
}


@puzzle(
    title="four corners",
    rule=STRIDED,
    cases=[
        "x = torch.arange(12).view(3, 4)",
        "x = torch.arange(10).view(5, 2)",
        "x = torch.arange(4).view(2, 2)",
        "x = torch.arange(18).mul(4).remainder(19).view(3, 6)",
    ],
    hints=[
        "Two rows of two. How far is it in memory from the left corner to the right one?",
        "From the top to the bottom it is all rows but one, of x.size(1) numbers each.",
    ],
    takeaway="A stride may jump over a whole row, or over the whole matrix.",
    others=("x[:: len(x) - 1, :: x.size(1) - 1]", "x[[0, -1]][:, [0, -1]]"),
)
def corners(x: torch.Tensor) -> torch.Tensor:
    """Take the four corners, as a matrix of two rows.

    x       a new matrix of 2 rows and columns or more
    return  a view of x, of shape (2, 2)
    """
    return x.as_strided((2, 2), ((len(x) - 1) * x.size(1), x.size(1) - 1))


corners.wrong |= {
    "x.as_strided((2, 2), (x.size(1), 1))": (
        "Those are four neighbours at the top left. Your strides go one row down and one column on."
    ),
    "x.as_strided((2, 2), (x.size(1), x.size(1) - 1))": (
        "Your second row is row 1. The last row is len(x) - 1 rows below the first."
    ),
    "x.as_strided((2, 2), ((len(x) - 1) * x.size(1), 1))": (
        "Your second column is column 1. The last column is x.size(1) - 1 further on."
    ),
    "x.as_strided((2, 2), (x.size(1) - 1, (len(x) - 1) * x.size(1)))": (
        "Your corners lie on their side: the first stride is the step down."
    ),
    "x.as_strided((4,), (x.size(1) - 1,))": (
        "Your result has one dim, and two rows of two are wanted."
    ),
}


@puzzle(
    title="everything twice",
    rule=STRIDED,
    cases=[
        "x = torch.arange(4)",
        "x = torch.arange(6)",
        "x = torch.arange(1)",
        "x = torch.arange(2)",
        "x = torch.arange(5).mul(3).remainder(7)",
    ],
    hints=[
        "Row i has number i twice. What is the stride from one row to the next?",
        "A step to the right stays at the same number: which stride does not move?",
    ],
    takeaway="Stride 0 stands still: two indices, one place.",
    others=("x.unsqueeze(1).expand(-1, 2)", "torch.stack((x, x), 1)"),
)
def twice(x: torch.Tensor) -> torch.Tensor:
    """Make a matrix of two columns, both of which are x.

    x       a new vector
    return  a view of x, with two columns
    """
    return x.as_strided((len(x), 2), (1, 0))


twice.wrong |= {
    "x.as_strided((2, len(x)), (0, 1))": "Your two rows are x. The task asks for two columns.",
    "x.as_strided((len(x), 2), (0, 1))": (
        "Each of your rows begins with number 0: a step down has to move."
    ),
    "x.as_strided((len(x), 2), (0, 0))": "Every place shows number 0. A step down has to move.",
    "x.as_strided((len(x), 1), (1, 1))": "Your result has one column, and two are wanted.",
    "x.as_strided((len(x),), (1,))": "Your result has one dim, and two are wanted.",
    "x.as_strided((len(x) // 2, 2), (2, 1))": (
        "Those are pairs of neighbours. Each number is wanted twice."
    ),
}


@puzzle(
    title="the other diagonal",
    rule=STRIDED,
    cases=SQUARES,
    hints=[
        "Where is the first number, the one at the top right? The storage offset is its place.",
        "A step down and one to the left: a row less one.",
    ],
    takeaway="A step to the left is a smaller stride; only the whole stride may not be negative.",
    tints=lambda x: (torch.arange(len(x)).view(-1, 1) + torch.arange(len(x)) == len(x) - 1).int(),
    others=("x.view(-1)[len(x) - 1 : -1 : len(x) - 1]", "x.flip(1).diagonal()"),
)
def antidiagonal(x: torch.Tensor) -> torch.Tensor:
    """Take the other diagonal, from the top right to the bottom left.

    x       a new square matrix of 2 rows or more
    return  a view of x, with one dim
    """
    return x.as_strided((len(x),), (len(x) - 1,), len(x) - 1)


antidiagonal.wrong |= {
    "x.as_strided((len(x),), (len(x) + 1,))": (
        "That is the main diagonal. This one starts at the top right."
    ),
    "x.as_strided((len(x),), (len(x) - 1,))": (
        "You start at number 0, the top left. The third argument is the place of the first number."
    ),
    "x.as_strided((len(x),), (len(x) - 1,), len(x))": (
        "You start in row 1. The top right has x.size(1) - 1 numbers in front of it."
    ),
    "x.as_strided((len(x),), (len(x),), len(x) - 1)": (
        "You go straight down, so that is the last column. Go one to the left as well."
    ),
    "x.as_strided((len(x) - 1,), (len(x) - 1,), len(x) - 1)": (
        "The last number is missing: the bottom left."
    ),
}


@puzzle(
    title="a window that slides",
    rule=STRIDED,
    cases=[
        "x = torch.arange(6); size = 3",
        "x = torch.arange(7); size = 2",
        "x = torch.arange(4); size = 4",
        "x = torch.arange(5); size = 1",
        "x = torch.arange(9).mul(4).remainder(11); size = 5",
    ],
    hints=[
        "How many windows fit? Slide one of 3 along 6 numbers.",
        "A step along a window moves by 1. By how much does a step to the next window move?",
    ],
    takeaway=(
        "Two dims may walk over the same memory. Windows overlap, and no number is stored twice."
    ),
    tints=lambda x, size: torch.arange(len(x)),
    others=(
        "x.unfold(0, size, 1)",
        "torch.stack([x[i : i + size] for i in range(len(x) - size + 1)])",
    ),
)
def windows(x: torch.Tensor, size: int) -> torch.Tensor:
    """Show each window of neighbours as a row.

    x       a new vector
    size    the length of a window, from 1 to len(x)
    return  a view of x, of shape (len(x) - size + 1, size)
    """
    return x.as_strided((len(x) - size + 1, size), (1, 1))


windows.wrong |= {
    "x.as_strided((len(x) - size, size), (1, 1))": (
        "The last window is missing: it ends with the last number."
    ),
    "x.as_strided((len(x) // size, size), (size, 1))": (
        "Your windows lie side by side. The next window begins one number further."
    ),
    "x.as_strided((len(x) - size + 1, size), (0, 1))": (
        "Each of your rows is the first window. A step down has to move by 1."
    ),
    "x.as_strided((size, len(x) - size + 1), (1, 1))": (
        "Your windows are the columns. They should be rows."
    ),
    "x.as_strided((len(x), size), (1, 1))": (
        "You start a window at every number, so the last windows reach past the end."
    ),
}


@puzzle(
    title="small squares",
    rule=STRIDED,
    cases=[
        "x = torch.arange(12).view(3, 4)",
        "x = torch.arange(8).view(4, 2)",
        "x = torch.arange(9).view(3, 3)",
        "x = torch.arange(4).view(2, 2)",
        "x = torch.arange(10).mul(4).remainder(11).view(2, 5)",
    ],
    hints=[
        "Four dims: which square down, which square across, and inside of it the row and "
        "the column.",
        "The next square below begins one row further. So do the numbers of its second row.",
    ],
    takeaway="This view is what a convolution reads. As a copy it is called im2col.",
    others=("x.unfold(0, 2, 1).unfold(1, 2, 1)", "x.unfold(0, 2, 1).unfold(1, 2, 1).contiguous()"),
)
def patches(x: torch.Tensor) -> torch.Tensor:
    """Show each square of 2 x 2 neighbours: [i, j] is the one that begins at row i, column j.

    x       a new matrix of 2 rows and columns or more
    return  a view of x, of shape (rows - 1, columns - 1, 2, 2)
    """
    return x.as_strided((len(x) - 1, x.size(1) - 1, 2, 2), (x.size(1), 1, x.size(1), 1))


patches.wrong |= {
    "x.as_strided((len(x) // 2, x.size(1) // 2, 2, 2), (2 * x.size(1), 2, x.size(1), 1))": (
        "Your squares lie side by side. The next square begins one row or one column further."
    ),
    "x.as_strided((len(x) - 1, x.size(1) - 1, 2, 2), (x.size(1), 1, 1, x.size(1)))": (
        "Each of your squares lies on its side: the third dim is the row inside of a square."
    ),
    "x.as_strided((len(x) - 1, x.size(1) - 1, 2, 2), (x.size(1), 1, 2, 1))": (
        "The second row of a square lies one row of x further, which is x.size(1) numbers."
    ),
    "x.as_strided((x.size(1) - 1, len(x) - 1, 2, 2), (1, x.size(1), x.size(1), 1))": (
        "The squares are right and stand in the wrong order. The first dim goes down."
    ),
}
