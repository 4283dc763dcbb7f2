"""Puzzles 13 to 18: views in several steps, also of slices."""

import torch

from stridekit.exercises.puzzles.drawn import VIEWS, puzzle


@puzzle(
    title="heads",
    rule=VIEWS,
    cases=[
        "x = torch.arange(12).view(3, 4); n = 2",
        "x = torch.arange(12).view(2, 6); n = 3",
        "x = torch.arange(12).view(2, 6); n = 2",
        "x = torch.arange(8).view(4, 2); n = 1",
        "x = torch.arange(24).view(4, 6)[1:]; n = 3",
        "x = torch.arange(24).mul(4).remainder(29).view(4, 6)[:, :4]; n = 2",
    ],
    hints=[
        "Cut each row of x into n pieces. That splits one dim in two, and leaves the rows alone.",
        "Then the n heads are the middle dim. They are wanted in front.",
    ],
    takeaway=(
        "Split a dim where its parts lie, then exchange dims. That is how attention makes its "
        "heads."
    ),
    tints=lambda x, n: torch.arange(x.size(1)) // (x.size(1) // n),
    others=("x.unflatten(1, (n, -1)).movedim(1, 0)", "torch.stack(x.chunk(n, 1))"),
)
def heads(x: torch.Tensor, n: int) -> torch.Tensor:
    """Split each row into n heads, and give each head a matrix of all its rows.

    x       a matrix, perhaps a slice of a larger one
    n       the number of heads, a divisor of x.size(1)
    return  a view of x, of shape (n, x.size(0), x.size(1) // n)
    """
    return x.view(len(x), n, -1).transpose(0, 1)


heads.wrong |= {
    "x.reshape(n, len(x), -1)": (
        "You cut x into n parts of whole reading order, so a head mixes the columns of all heads. "
        "Split the columns first, and then exchange dims."
    ),
    "x.view(len(x), n, -1)": "Your first dim is the row. The heads are wanted in front.",
    "x.view(len(x), -1, n).permute(2, 0, 1)": (
        "Your head h has every n-th column. A head is a group of neighbours: its number "
        "comes first."
    ),
    "x.view(len(x), n, -1).permute(1, 2, 0)": (
        "Each head lies on its side. Keep the rows in front of the columns."
    ),
    "x.view(len(x), n, -1).transpose(1, 2)": (
        "Your first dim is the row. The heads are wanted in front."
    ),
}


@puzzle(
    title="tiles",
    rule=VIEWS,
    cases=[
        "x = torch.arange(24).view(4, 6)",
        "x = torch.arange(16).view(8, 2)",
        "x = torch.arange(12).view(2, 6)",
        "x = torch.arange(36).view(6, 6)[2:]",
        "x = torch.arange(30).mul(4).remainder(31).view(5, 6)[1:, 2:]",
    ],
    hints=[
        "Split each of the two dims: which tile, and which place inside of the tile.",
        "That gives (tile down, row, tile across, column). Now bring the two inner dims to "
        "the end.",
    ],
    takeaway="Two splits and one exchange cut a matrix into blocks, and nothing moves.",
    tints=lambda x: torch.arange(len(x)).view(-1, 1) // 2 * 3 + torch.arange(x.size(1)) // 2,
    others=(
        "x.unflatten(1, (-1, 2)).unflatten(0, (-1, 2)).transpose(1, 2)",
        "x.unfold(0, 2, 2).unfold(1, 2, 2)",
        "torch.stack([torch.stack(row.split(2, 1)) for row in x.split(2)])",
    ),
)
def tiles(x: torch.Tensor) -> torch.Tensor:
    """Cut x into tiles of 2 x 2.

    x       a matrix of even sizes, perhaps a slice of a larger one
    return  a view of x, of shape (rows / 2, columns / 2, 2, 2)
    """
    return x.view(len(x) // 2, 2, x.size(1) // 2, 2).transpose(1, 2)


tiles.wrong |= {
    "x.reshape(len(x) // 2, x.size(1) // 2, 2, 2)": (
        "Each of your tiles has four numbers that follow each other in reading order. A tile has "
        "two numbers of one row, and two of the next."
    ),
    "x.view(len(x) // 2, 2, x.size(1) // 2, 2)": (
        "The splits are right. Your dims are (tile down, row, tile across, column): exchange two."
    ),
    "x.view(len(x) // 2, 2, x.size(1) // 2, 2).permute(0, 2, 3, 1)": (
        "Each of your tiles lies on its side: the row inside of a tile comes before the column."
    ),
    "x.unfold(0, 2, 1).unfold(1, 2, 1)": (
        "Your tiles overlap. The next one begins two further: a step of 2."
    ),
    "x.view(len(x) // 2, 2, x.size(1) // 2, 2).permute(2, 0, 1, 3)": (
        "The tiles are right and stand in the wrong order. The first dim goes down."
    ),
}


@puzzle(
    title="phases",
    rule=VIEWS,
    cases=[
        "x = torch.arange(24).view(4, 6)",
        "x = torch.arange(16).view(8, 2)",
        "x = torch.arange(12).view(2, 6)",
        "x = torch.arange(36).view(6, 6)[2:]",
        "x = torch.arange(30).mul(4).remainder(31).view(5, 6)[1:, 2:]",
    ],
    hints=[
        "Four small pictures. Each takes every second row and every second column: which ones?",
        "Split both dims as for the tiles. The places inside of a tile come first this time.",
    ],
    takeaway="Pixel unshuffle is a view. Only the merge of its two new dims would copy.",
    tints=lambda x: torch.arange(len(x)).view(-1, 1) % 2 * 2 + torch.arange(x.size(1)) % 2,
    others=(
        "x.unfold(0, 2, 2).unfold(1, 2, 2).permute(2, 3, 0, 1)",
        "torch.stack([torch.stack([x[i::2, j::2] for j in (0, 1)]) for i in (0, 1)])",
    ),
)
def phases(x: torch.Tensor) -> torch.Tensor:
    """Make four small pictures: [i, j] has every second row from i on, every second column from j.

    x       a matrix of even sizes, perhaps a slice of a larger one
    return  a view of x, of shape (2, 2, rows / 2, columns / 2)
    """
    return x.view(len(x) // 2, 2, x.size(1) // 2, 2).permute(1, 3, 0, 2)


phases.wrong |= {
    "x.reshape(2, 2, len(x) // 2, x.size(1) // 2)": (
        "`reshape` keeps the reading order, so each of your pictures is a stretch of x. Split both "
        "dims, and then bring them into another order."
    ),
    "x.view(2, len(x) // 2, 2, x.size(1) // 2).permute(0, 2, 1, 3)": (
        "Those are the four quarters of x. You split each dim the wrong way round: the 2 "
        "comes last."
    ),
    "x.view(len(x) // 2, 2, x.size(1) // 2, 2).permute(3, 1, 0, 2)": (
        "Your pictures [0, 1] and [1, 0] are exchanged: the first index is that of the row."
    ),
    "x.view(len(x) // 2, 2, x.size(1) // 2, 2).transpose(1, 2)": (
        "Those are the tiles. Here the places inside of a tile come first."
    ),
    "x.view(len(x) // 2, 2, x.size(1) // 2, 2).permute(1, 3, 2, 0)": (
        "Each of your pictures lies on its side: its rows come before its columns."
    ),
}


@puzzle(
    title="a diagonal of each",
    rule=VIEWS,
    cases=[
        "x = torch.arange(18).view(2, 3, 3)",
        "x = torch.arange(12).view(3, 2, 2)",
        "x = torch.arange(27).view(3, 3, 3)",
        "x = torch.arange(36).view(4, 3, 3)[::2]",
        "x = torch.arange(20).mul(4).remainder(23).view(5, 2, 2)[1:]",
    ],
    hints=[
        "`x.diagonal` can take its diagonal along any two dims. Which two are the matrices?",
        "The parameters are `dim1` and `dim2`. Without them it is dims 0 and 1.",
    ],
    takeaway="diagonal joins two dims to one and puts it last. All others are a batch.",
    tints=lambda x: torch.arange(len(x)).view(-1, 1, 1),
    others=(
        "torch.linalg.diagonal(x)",
        "x.as_strided(x.shape[:2], (x.stride(0), x.stride(1) + x.stride(2)), x.storage_offset())",
        "torch.stack([matrix.diagonal() for matrix in x])",
    ),
)
def batch_diagonals(x: torch.Tensor) -> torch.Tensor:
    """Take the diagonal of each matrix, as a row.

    x       a batch of square matrices, of shape (n, size, size), perhaps a slice
    return  a view of x, of shape (n, size)
    """
    return x.diagonal(dim1=1, dim2=2)


batch_diagonals.wrong |= {
    "x.diagonal()": (
        "You walk along dims 0 and 1: from matrix to matrix. The matrices are dims 1 and 2."
    ),
    "x.diagonal(dim1=0, dim2=2)": (
        "You walk along dims 0 and 2: from matrix to matrix. The matrices are dims 1 and 2."
    ),
    "x.diagonal(dim1=1, dim2=2).T": (
        "Your rows are places on the diagonal. A row for each matrix is wanted."
    ),
    "x[:, 0]": "Those are the first rows. A diagonal goes down as well.",
    "x.diagonal(1, 1, 2)": "Your diagonals begin one to the right of the main diagonal.",
}


@puzzle(
    title="bytes",
    rule=VIEWS,
    cases=[
        "x = torch.tensor([1, 2, 256, 770], dtype=torch.int32)",
        "x = torch.tensor([5, 66051], dtype=torch.int32)",
        "x = torch.tensor([3, 1024, 131072], dtype=torch.int32)",
        "x = torch.tensor([1, 2, 256, 770, 7, 65793], dtype=torch.int32)[2:]",
        "x = torch.tensor([-1, 84281096], dtype=torch.int32)",
    ],
    hints=[
        "A conversion changes the numbers. Which method takes the same bytes for numbers of"
        " another dtype?",
        "`x.view(torch.uint8)` makes the last dim four times as long. What if the last dim is 1?",
    ],
    takeaway="view(dtype) changes how bytes are read. to(dtype) changes the bytes.",
    tints=None,
    others=(
        "x.unsqueeze(1).view(torch.uint8)",
        "x.view(torch.uint8).unflatten(0, (-1, 4))",
        "torch.stack([x // 256**k % 256 for k in range(4)], 1).byte()",
    ),
)
def bytes_of(x: torch.Tensor) -> torch.Tensor:
    """Show the four bytes of each number as a row, in the order of memory.

    x       a vector of int32, perhaps a slice
    return  a view of x: uint8, of shape (len(x), 4)
    """
    return x.view(torch.uint8).view(-1, 4)


bytes_of.wrong |= {
    "x.view(torch.uint8)": (
        "Those are all the bytes in one row. Four of them belong to each number."
    ),
    "x.byte()": (
        "You convert each number to one byte, which keeps its lowest byte and drops three. No byte "
        "is to change: take the same bytes for another dtype."
    ),
    "x.view(torch.uint8).view(4, -1)": (
        "Your rows are four stretches of memory. A row for each number is wanted."
    ),
    "x.view(torch.uint8).view(4, -1).T": (
        "You cut the bytes into four parts first. Cut them into fours, one for each number."
    ),
    "x.view(torch.int8).view(-1, 4)": "Your bytes have a sign. The task asks for torch.uint8.",
}


@puzzle(
    title="a band",
    rule=VIEWS,
    cases=[
        "x = torch.arange(25).view(5, 5)",
        "x = torch.arange(16).view(4, 4)",
        "x = torch.arange(9).view(3, 3)",
        "x = torch.arange(49).view(7, 7)[:6, 1:]",
        "x = torch.arange(36).mul(4).remainder(37).view(6, 6)[1:, 1:]",
    ],
    hints=[
        "Leave out the first and the last row. Each other row has three numbers around the "
        "diagonal.",
        "By as_strided: one step along the band is a row and a column. By `unfold`, make "
        "all windows of "
        "three in each row; then only the windows on a diagonal are wanted.",
    ],
    takeaway=(
        "A band is a matrix of its own: three rows, and a stride that runs along the diagonal."
    ),
    tints=lambda x: (torch.arange(len(x)) - torch.arange(len(x)).view(-1, 1)).clamp(-2, 2) + 2,
    others=(
        "x.as_strided((3, len(x) - 2), (x.stride(1), x.stride(0) + x.stride(1)), "
        "x[1].storage_offset())",
        "torch.stack([x.diagonal(-1)[:-1], x.diagonal()[1:-1], x.diagonal(1)[1:]])",
    ),
)
def band(x: torch.Tensor) -> torch.Tensor:
    """Take the numbers below, on and above the diagonal as three rows. Leave the first and the last
    row of x out.

    x       a square matrix of 3 rows or more, perhaps a slice of a larger one
    return  a view of x, of shape (3, rows - 2): below the diagonal, on it, and above it
    """
    return x[1:-1].unfold(1, 3, 1).diagonal()


band.wrong |= {
    "x.unfold(1, 3, 1).diagonal()": (
        "You begin with row 0, where your first window lies on the diagonal and to its right. The "
        "first row of the band is row 1."
    ),
    "x[1:-1].unfold(1, 3, 1).diagonal().T": (
        "Your rows are rows of x. The three diagonals are wanted as rows."
    ),
    "x[1:-1, :3].T": (
        "Those are the first three columns. The band moves on by one column with each row."
    ),
    "x[1:-1, 1:-1].T[:3]": "Those are columns of x. The band moves on by one column with each row.",
}
