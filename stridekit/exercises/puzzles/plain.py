"""Puzzles 1 to 6: the views of every day, on new tensors."""

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.puzzles.drawn import VIEWS, puzzle


@puzzle(
    title="on its side",
    rule=VIEWS,
    cases=[
        "x = torch.arange(6).view(2, 3)",
        "x = torch.arange(10).view(5, 2)",
        "x = torch.arange(9).view(3, 3)",
        "x = torch.arange(4).view(1, 4)",
        "x = torch.arange(12).mul(5).remainder(13).view(2, 6)",
    ],
    hints=[
        "The number at row 0, column 1 is wanted at row 1, column 0: the two dims exchange places.",
        "`x.transpose` takes the two dims to exchange. For a matrix there is a name of one letter.",
    ],
    takeaway="A transpose exchanges two sizes and two strides, and moves no number.",
    others=("x.transpose(0, 1)", "x.permute(1, 0)", "x.t().contiguous()"),
)
def turned(x: torch.Tensor) -> torch.Tensor:
    """Turn x on its side, so that its rows become columns.

    x       a new matrix
    return  a view of x
    """
    return x.T


turned.wrong |= {
    "x.reshape(x.size(1), x.size(0))": shared.NO_TRANSPOSE.format("rows"),
    "x": "That is x as it was. Its rows are still rows.",
    "x.T.flip(0)": "You turn x by a quarter. Here no row or column is turned round.",
    "x.flip(0)": "Your rows are in another order, and they are still rows.",
}


@puzzle(
    title="every second row",
    rule=VIEWS,
    cases=[
        "x = torch.arange(12).view(4, 3)",
        "x = torch.arange(10).view(5, 2)",
        "x = torch.arange(12).view(3, 4)",
        "x = torch.arange(5).view(1, 5)",
        "x = torch.arange(12).mul(5).remainder(13).view(6, 2)",
    ],
    hints=[
        "A slice has a start, a stop and a step.",
        "A slice without start and stop takes all. The step stands behind the second colon.",
    ],
    takeaway="A step doubles a stride. A list of indices copies, even where a step would do.",
    others=(
        "x.unfold(0, 1, 2).squeeze(2)",
        "x[torch.arange(0, len(x), 2)]",
        "x[::2].clone()",
    ),
)
def second_rows(x: torch.Tensor) -> torch.Tensor:
    """Take every second row, beginning with row 0.

    x       a new matrix
    return  a view of x
    """
    return x[::2]


second_rows.wrong |= {
    "x[1::2]": "You begin with row 1. The first row is row 0.",
    "x[:, ::2]": "Those are columns. The first index counts rows.",
    ("x[:2]", "x[: len(x) // 2]", "x[: (len(x) + 1) // 2]"): (
        "You take the first rows, one after the other. Every second row needs a step."
    ),
    "x[::3]": "Your step is 3, so you leave out two rows. Every second row needs a step of 2.",
}


@puzzle(
    title="without the border",
    rule=VIEWS,
    cases=[
        "x = torch.arange(20).view(4, 5)",
        "x = torch.arange(18).view(6, 3)",
        "x = torch.arange(21).view(3, 7)",
        "x = torch.arange(16).mul(5).remainder(17).view(4, 4)",
    ],
    hints=[
        "The border is one row above, one row below, one column on the left and one on the right.",
        "A slice of each dim: from 1 up to the last, without the last. A negative stop "
        "counts from the end.",
    ],
    takeaway="A slice of both dims moves the offset and shrinks the sizes. The strides stay.",
    others=("x.narrow(0, 1, len(x) - 2)[:, 1:-1]", "x[1:-1, 1:-1].contiguous()"),
)
def inside(x: torch.Tensor) -> torch.Tensor:
    """Take the border off: the first and the last row, the first and the last column.

    x       a new matrix of 3 rows and columns or more
    return  a view of x
    """
    return x[1:-1, 1:-1]


inside.wrong |= {
    "x[1:, 1:]": "You take the border off at two sides only. A stop of -1 leaves the last one out.",
    "x[:-1, :-1]": (
        "You take the border off at two sides only. A start of 1 leaves the first one out."
    ),
    "x[1:-1]": "You slice the rows only. The first and the last column have to go, too.",
    "x[:, 1:-1]": "You slice the columns only. The first and the last row have to go, too.",
    "x[1:-2, 1:-2]": "You leave out two at the end. A stop of -1 leaves out the last one only.",
    "x[2:-1, 2:-1]": (
        "You leave out two at the start. Indices count from 0, so 1 is the second row."
    ),
}


@puzzle(
    title="two ears",
    rule=VIEWS,
    cases=[
        "x = torch.arange(8)",
        "x = torch.arange(6)",
        "x = torch.arange(2)",
        "x = torch.arange(10).mul(3).remainder(11)",
    ],
    hints=[
        "First make a matrix of pairs: one row for each moment, left and right beside each other.",
        "In the matrix of pairs, the left ear is a column. The task asks for rows.",
    ],
    takeaway="Interleaved samples become channels by a view: one cut, and one exchange of dims.",
    tints=lambda x: torch.arange(len(x)) % 2,
    others=("x.unfold(0, 2, 2).T", "torch.stack((x[::2], x[1::2]))"),
)
def stereo(x: torch.Tensor) -> torch.Tensor:
    """Give each ear a row: x holds left, right, left, right and so on.

    x       a new vector of an even length
    return  a view of x, with a row for the left ear and a row for the right ear
    """
    return x.view(-1, 2).T


stereo.wrong |= {
    "x.view(2, -1)": (
        "You cut x in the middle, so that each row has both ears: `view` keeps the reading order. "
        "Cut x into pairs first."
    ),
    "x.view(-1, 2)": "Each of your rows is a pair of left and right. Exchange the two dims.",
    "x.view(-1, 2).T.flip(0)": (
        "Your rows are the right ear and the left ear. The left one is first."
    ),
    "x.view(2, -1).T": (
        "You cut x in the middle before you exchange the dims. Cut x into pairs first."
    ),
    "x[::2]": "That is the left ear alone. The right ear is the second row.",
}


@puzzle(
    title="one row, many times",
    rule=VIEWS,
    cases=[
        "x = torch.arange(4); n = 3",
        "x = torch.arange(3); n = 5",
        "x = torch.arange(5); n = 1",
        "x = torch.arange(4); n = 4",
        "x = torch.arange(6).mul(3).remainder(7); n = 2",
    ],
    hints=[
        "Each row is the same memory again: a step down has stride 0.",
        "`x.expand` takes the sizes of the result, new dims in front. -1 stands for a size "
        "that stays.",
    ],
    takeaway="expand repeats by a stride of 0. repeat writes every number again.",
    tints=lambda x, n: torch.arange(len(x)),
    others=("x.expand(n, len(x))", "x.broadcast_to((n, len(x)))", "x.repeat(n, 1)"),
)
def same_rows(x: torch.Tensor, n: int) -> torch.Tensor:
    """Make a matrix of n rows, each of which is x.

    x       a new vector
    n       the number of rows
    return  a view of x
    """
    return x.expand(n, -1)


same_rows.wrong |= {
    "x.unsqueeze(1).expand(-1, n)": "Each of your columns is x. Put the new dim in front.",
    "x.expand(len(x), -1)": "Your number of rows is the length of x. The task asks for n rows.",
    "x.unsqueeze(0)": (
        "That is one row. It stands there n times: which method repeats without a copy?"
    ),
    "x.expand(n + 1, -1)": "You have one row too many.",
}


@puzzle(
    title="colours first",
    rule=VIEWS,
    cases=[
        "x = torch.arange(12).view(2, 2, 3)",
        "x = torch.arange(18).view(2, 3, 3)",
        "x = torch.arange(24).view(4, 2, 3)",
        "x = torch.arange(27).view(3, 3, 3)",
        "x = torch.arange(18).mul(5).remainder(19).view(3, 2, 3)",
    ],
    hints=[
        "The three matrices of the result are red, green and blue. In x, which dim counts "
        "the colours?",
        "`x.permute` takes the old dims in the new order. The colours are dim 2, and come first.",
    ],
    takeaway="permute names the order: dim k of the result is the k-th dim that you name.",
    tints=lambda x: torch.arange(3),
    others=("x.movedim(2, 0)", "torch.stack(x.unbind(2))", "x.permute(2, 0, 1).contiguous()"),
)
def channels_first(x: torch.Tensor) -> torch.Tensor:
    """Bring the colours of a photo to the front: a matrix of red, one of green, one of blue.

    x       a new tensor of shape (height, width, 3)
    return  a view of x, of shape (3, height, width)
    """
    return x.permute(2, 0, 1)


channels_first.wrong |= {
    "x.reshape(3, x.size(0), x.size(1))": shared.NO_TRANSPOSE.format("colours"),
    ("x.permute(2, 1, 0)", "x.transpose(0, 2)"): (
        "Your pictures lie on their side: rows and columns are exchanged. Height comes "
        "before width."
    ),
    "x.permute(1, 2, 0)": (
        "You moved the first dim to the end. That is the way back, from colours first to "
        "colours last."
    ),
    "x.transpose(1, 2)": "Your first dim is still the height. The colours belong there.",
}
