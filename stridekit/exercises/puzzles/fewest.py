"""Puzzles 25 to 30: as little new memory as possible."""

import torch
import torch.nn.functional as F

from stridekit.exercises.puzzles.drawn import FEWEST, puzzle


@puzzle(
    title="twice as much",
    rule=FEWEST,
    fewest=lambda x: x.size(1) * x.itemsize,
    cases=[
        "x = torch.arange(4).expand(3, 4)",
        "x = torch.arange(3).expand(5, 3)",
        "x = torch.arange(6).expand(2, 6)",
        "x = torch.arange(24).view(4, 6)[1].expand(3, 6)",
        "x = torch.arange(5).mul(3).remainder(7).expand(4, 5)",
    ],
    hints=[
        "All rows of x are one row in memory. How many numbers have to be multiplied?",
        "Double one row, and then repeat it as x does.",
    ],
    takeaway=(
        "Arithmetic forgets that rows are equal. Compute on one of them, and expand the result."
    ),
    tints=None,
    saving="All rows are one row in memory: double it once, and repeat the result by a view.",
    others=("x[:1].mul(2).expand_as(x)", "(x[0] + x[0]).expand(x.shape)", "2 * x"),
)
def doubled(x: torch.Tensor) -> torch.Tensor:
    """Double every number of x, a matrix that shows one row many times.

    x       a row, expanded to 2 rows or more
    return  a tensor with the shape of x
    """
    return (2 * x[0]).expand_as(x)


doubled.wrong |= {
    "2 * x[0]": "That is one row. It is wanted in every row of x.",
    "2 * x[:1]": "That is one row. It is wanted in every row of x.",
    "x": "That is x. The task asks for twice as much.",
    "x.repeat(2, 1)": "You make twice as many rows. The task asks for numbers twice as large.",
    "x * x": "You square each number. The task asks for twice as much.",
}


@puzzle(
    title="sums that move",
    rule=FEWEST,
    fewest=lambda x: (len(x) - 2) * x.itemsize,
    cases=[
        "x = torch.arange(7)",
        "x = torch.arange(5)",
        "x = torch.arange(3)",
        "x = torch.arange(12)[1::2]",
        "x = torch.arange(10).mul(3).remainder(11)",
    ],
    hints=[
        "A sum of slices is right, but the first sum is new memory, and so is the second.",
        "Make the windows of three, which cost nothing, and let one operation sum each row.",
    ],
    takeaway="A view first, one reduction last: no sum in between is stored.",
    tints=None,
    saving="Only the sums have to be written: let one operation add all three numbers of a view.",
    others=(
        "x.as_strided((len(x) - 2, 3), (x.stride(0),) * 2, x.storage_offset()).sum(1)",
        "x[:-2] + x[1:-1] + x[2:]",
        "torch.stack((x[:-2], x[1:-1], x[2:])).sum(0)",
    ),
)
def moving_sums(x: torch.Tensor) -> torch.Tensor:
    """Add each number to its next two.

    x       a vector of 3 numbers or more, perhaps a slice
    return  a vector of len(x) - 2 sums
    """
    return x.unfold(0, 3, 1).sum(1)


moving_sums.wrong |= {
    "x.unfold(0, 3, 1).sum()": (
        "That is the sum of all windows. Each window has a sum of its own: sum one dim."
    ),
    "x.unfold(0, 3, 1).sum(0)": "You sum down the windows. Sum along each window, which is dim 1.",
    "x.unfold(0, 3, 3).sum(1)": "Your windows lie side by side. They should move by one.",
    "x.unfold(0, 2, 1).sum(1)": (
        "Your windows have two numbers. Each number and its next two are three."
    ),
    "x.cumsum(0)[2:]": "Your sums grow from the start of x. Only three numbers belong to each.",
    "x.unfold(0, 3, 1)": "Those are the windows. Sum each of them.",
    "x.unfold(0, 3, 1).float().mean(1)": (
        "You take the mean. The task asks for sums, in the dtype of x."
    ),
}


@puzzle(
    title="histories",
    rule=FEWEST,
    fewest=lambda x, n: (len(x) + n - 1) * x.itemsize,
    cases=[
        "x = torch.arange(1, 6); n = 3",
        "x = torch.arange(1, 5); n = 2",
        "x = torch.arange(1, 4); n = 5",
        "x = torch.arange(1, 4); n = 1",
        "x = torch.arange(12)[1::2]; n = 3",
        "x = torch.arange(1, 11).mul(3).remainder(11); n = 4",
    ],
    hints=[
        "Row 0 has n - 1 zeros and x[0]. Which vector has all rows as windows?",
        "Put n - 1 zeros in front of x. Then make windows of n.",
    ],
    takeaway="Pad once, and look at it through windows: the padding of every causal convolution.",
    tints=lambda x, n: torch.arange(len(x)),
    saving="One padded vector is enough: the histories are windows of it, by a view.",
    others=(
        "torch.cat((x.new_zeros(n - 1), x)).unfold(0, n, 1)",
        "F.pad(x, (n - 1, 0)).as_strided((len(x), n), (1, 1))",
        "F.pad(x, (n - 1, 0)).unfold(0, n, 1).contiguous()",
    ),
)
def histories(x: torch.Tensor, n: int) -> torch.Tensor:
    """Give each number its history as a row: the last n numbers up to it, or zeros before the start.

    x       a vector, perhaps a slice
    n       how many numbers a history has
    return  a matrix of shape (len(x), n), whose last column is x
    """
    return F.pad(x, (n - 1, 0)).unfold(0, n, 1)


histories.wrong |= {
    "F.pad(x, (0, n - 1)).unfold(0, n, 1)": (
        "Your zeros are behind x, so each row has the numbers that follow. Zeros belong in front."
    ),
    "F.pad(x, (n, 0)).unfold(0, n, 1)": "You have one zero too many, and so one row too many.",
    "F.pad(x, (n - 1, 0)).unfold(0, n, 1).flip(1)": (
        "Each of your rows goes back in time. The last column is x itself."
    ),
    "F.pad(x, (n - 1, 0)).unfold(0, n, 1).T": (
        "Your histories are the columns. They should be rows."
    ),
    "F.pad(x, (n - 1, 0))": "That is the vector of which all rows are windows. Show its windows.",
}


@puzzle(
    title="below the diagonal",
    rule=FEWEST,
    fewest=lambda x: len(x) * (len(x) + 1) // 2 * x.itemsize,
    cases=[
        "x = torch.arange(16).view(4, 4)",
        "x = torch.arange(9).view(3, 3)",
        "x = torch.arange(4).view(2, 2)",
        "x = torch.arange(36).view(6, 6)[1:, 1:]",
        "x = torch.arange(25).mul(4).remainder(29).view(5, 5)",
    ],
    hints=[
        "No strides make rows of growing length, so these numbers have to be copied: each once.",
        "Indices cost nothing here. `torch.tril_indices` has them, and a mask would do as well.",
    ],
    takeaway=(
        "An index picks and copies exactly the numbers that it names. Half of a matrix is half "
        "of the bytes."
    ),
    tints=lambda x: torch.arange(len(x)).view(-1, 1).expand_as(x),
    saving=(
        "Indices and masks cost nothing here, and one of them picks the numbers out of x itself."
    ),
    others=(
        "x[torch.ones(x.shape).tril() > 0]",
        "x.masked_select(torch.arange(len(x))[:, None] >= torch.arange(len(x)))",
        "torch.cat([x[i, : i + 1] for i in range(len(x))])",
        "x.reshape(-1)[torch.tril(torch.ones(x.shape)).flatten() > 0]",
        "x.tril()[torch.ones(x.shape).tril() > 0]",
    ),
)
def lower_triangle(x: torch.Tensor) -> torch.Tensor:
    """Take the numbers on and below the diagonal, row by row, as a vector.

    x       a square matrix, perhaps a slice of a larger one
    return  a vector of n * (n + 1) / 2 numbers, for n rows
    """
    return x[*torch.tril_indices(len(x), len(x))]


lower_triangle.wrong |= {
    "x.tril()": (
        "That is the whole matrix, with zeros above the diagonal. Only the others are wanted."
    ),
    "x.tril().flatten()": "Your zeros are those above the diagonal. Leave them out.",
    "x[*torch.triu_indices(len(x), len(x))]": (
        "Those lie on and above the diagonal. tril stands for below."
    ),
    "x[*torch.tril_indices(len(x), len(x), -1)]": "The diagonal is missing.",
    "x.T[*torch.triu_indices(len(x), len(x))]": "You go column by column. Row by row is wanted.",
}


@puzzle(
    title="there and back",
    rule=FEWEST,
    fewest=lambda x: (2 * len(x) - 1) * x.itemsize,
    cases=[
        "x = torch.arange(4)",
        "x = torch.arange(6)",
        "x = torch.arange(2)",
        "x = torch.arange(12)[1::2]",
        "x = torch.arange(7).mul(3).remainder(8)",
    ],
    hints=[
        "`cat` of x and of its flip writes the way back twice: flip copies, and cat copies that.",
        "Write the places first: 0, 1, 2, 3, 2, 1, 0. One index with them copies once. They are "
        "distances from the last place.",
    ],
    takeaway="flip copies. If a copy follows anyway, let an index do both at once.",
    tints=lambda x: torch.arange(len(x)),
    saving="`flip` copies, and what follows copies again. One index with all places does both.",
    others=(
        "F.pad(x[None], (0, len(x) - 1), mode='reflect')[0]",
        "x[[*range(len(x)), *range(len(x) - 1)[::-1]]]",
        "torch.cat((x, x[:-1].flip(0)))",
    ),
)
def mirrored(x: torch.Tensor) -> torch.Tensor:
    """Go through x and back again. The last number of x stands in the middle, once.

    x       a vector of 2 numbers or more, perhaps a slice
    return  a vector of 2 * len(x) - 1 numbers
    """
    return x[len(x) - 1 - (torch.arange(2 * len(x) - 1) - len(x) + 1).abs()]


mirrored.wrong |= {
    "torch.cat((x, x.flip(0)))": "The last number of x stands there twice. It is wanted once.",
    "torch.cat((x.flip(0), x[1:]))": "You begin at the end. x comes first, and then the way back.",
    "torch.cat((x, x[:-1]))": "You begin again at the start. The second half goes back.",
    "torch.cat((x, x[1:].flip(0)))": (
        "The last number stands there twice, and the first is missing at the end."
    ),
    "x.flip(0)": "That is the way back alone.",
}


@puzzle(
    title="a circle",
    rule=FEWEST,
    fewest=lambda x: (2 * len(x) - 1) * x.itemsize,
    cases=[
        "x = torch.arange(4)",
        "x = torch.arange(6)",
        "x = torch.arange(2)",
        "x = torch.arange(12)[1::2]",
        "x = torch.arange(7).mul(3).remainder(8)",
    ],
    hints=[
        "Row i begins with x[i], and goes round. A stride cannot go back to the start of x.",
        "Write x twice, one after the other. Each row is then a window. How much of the "
        "second x is read?",
    ],
    takeaway=(
        "A ring is a line that was written twice, and its rows are windows: 2n - 1 numbers "
        "instead of n²."
    ),
    tints=lambda x: torch.arange(len(x)),
    saving=(
        "Each row is a window of x written twice, and no row reads the last number of the second x."
    ),
    others=(
        "torch.cat((x, x[:-1])).as_strided((len(x), len(x)), (1, 1))",
        "x[torch.arange(2 * len(x) - 1) % len(x)].unfold(0, len(x), 1)",
        "x.repeat(2).unfold(0, len(x), 1)[:-1]",
        "torch.stack([x.roll(-i) for i in range(len(x))])",
    ),
)
def circulant(x: torch.Tensor) -> torch.Tensor:
    """Show x from each of its places on, round to its start: row i begins with x[i].

    x       a vector of 2 numbers or more, perhaps a slice
    return  a square matrix
    """
    return torch.cat((x, x[:-1])).unfold(0, len(x), 1)


circulant.wrong |= {
    ("x.repeat(2).unfold(0, len(x), 1)", "torch.cat((x, x)).unfold(0, len(x), 1)"): (
        "You have one row too many: after x.size(0) rows it is x again."
    ),
    "torch.stack([x.roll(i) for i in range(len(x))])": (
        "Your rows turn the other way: row 1 begins with the last number. It should begin "
        "with x[1]."
    ),
    "x.expand(len(x), -1)": "Each of your rows begins with x[0]. Row i begins with x[i].",
    "torch.cat((x, x[1:])).unfold(0, len(x), 1)": (
        "Your rows go on with x[1] after the last number. Begin again at x[0]."
    ),
}
