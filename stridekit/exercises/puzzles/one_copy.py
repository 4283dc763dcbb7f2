"""Puzzles 19 to 24: results that need memory of their own, filled once."""

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.puzzles.drawn import ONE_COPY, puzzle

MATRICES = [
    "x = torch.arange(6).view(2, 3)",
    "x = torch.arange(12).view(4, 3)",
    "x = torch.arange(9).view(3, 3)",
    "x = torch.arange(24).view(4, 6)[1:, ::2]",
    "x = torch.arange(12).mul(5).remainder(13).view(2, 6)",
]


@puzzle(
    title="half a turn",
    rule=ONE_COPY,
    cases=MATRICES,
    hints=[
        "Half a turn puts the last row first, and the last column first. torch has no "
        "negative strides.",
        "`x.flip` takes several dims in one call.",
    ],
    takeaway="torch has no negative strides, so each flip copies. One flip can turn two dims.",
    tints=lambda x: torch.arange(x.numel()).view(x.shape),
    saving="Each flip copies, and a flip takes several dims at once.",
    others=("x.rot90(2)", "x.flatten().flip(0).view(x.shape)", "x.flip(0).flip(1)"),
)
def half_turn(x: torch.Tensor) -> torch.Tensor:
    """Turn x by half a turn, so that the last number comes first.

    x       a matrix, perhaps a slice
    return  a tensor with the shape of x
    """
    return x.flip(0, 1)


half_turn.wrong |= {
    "x.flip(0)": "You turn the order of the rows only. Each row has to be turned round, too.",
    "x.flip(1)": "You turn each row round only. The order of the rows has to turn, too.",
    ("x.rot90()", "x.rot90(-1)"): "That is a quarter of a turn. Half a turn keeps the shape.",
    "x.T": "A transpose keeps the first number first. The last one has to come first.",
    "x.roll((1, 1), (0, 1))": "You move the rows and columns round, and their order stays.",
}


@puzzle(
    title="one to the right",
    rule=ONE_COPY,
    cases=MATRICES,
    hints=[
        "`x.roll` moves numbers round. In each row by itself: which dim is that?",
        "Without a dim, roll flattens x first, and numbers move on from row to row.",
    ],
    takeaway=(
        "A view cannot wrap round: a stride never goes back. So roll writes every number once."
    ),
    tints=lambda x: torch.arange(x.size(1)),
    others=(
        "torch.cat((x[:, -1:], x[:, :-1]), 1)",
        "x[:, torch.arange(x.size(1)) - 1]",
        "torch.cat((x, x), 1)[:, x.size(1) - 1 : -1].clone()",
    ),
)
def rolled(x: torch.Tensor) -> torch.Tensor:
    """Move each row one place to the right. Its last number comes to its front.

    x       a matrix, perhaps a slice
    return  a tensor with the shape of x
    """
    return x.roll(1, 1)


rolled.wrong |= {
    "x.roll(1)": (
        "Without a dim, `roll` flattens x, so the last number of a row moves to the next "
        "row. Name the dim."
    ),
    "x.roll(1, 0)": "You move the rows down. The columns are dim 1.",
    ("x.roll(-1, 1)", "torch.cat((x[:, 1:], x[:, :1]), 1)"): (
        "You move each row to the left, so the first number goes to the end. The last "
        "number has to "
        "come to the front."
    ),
    "torch.cat((x[:, :1], x[:, :-1]), 1)": (
        "Your first column stands there twice, and the last one is lost. Bring the last one"
        " to the front."
    ),
    "x.flip(1)": "You turn each row round. All but the last number keep their order.",
}


@puzzle(
    title="a table of sums",
    rule=ONE_COPY,
    cases=[
        "x = torch.tensor([10, 20, 30]); y = torch.arange(4)",
        "x = torch.arange(5); y = torch.tensor([10, 20])",
        "x = torch.arange(3); y = torch.tensor([40, 20, 10])",
        "x = torch.tensor([7]); y = torch.arange(5)",
        "x = torch.arange(12)[::3]; y = torch.tensor([9, 5, 8])",
    ],
    hints=[
        "A sum of a column and a row is a matrix: broadcasting repeats both by strides of 0.",
        "x has to be the column. `x[:, None]` has one column.",
    ],
    takeaway="Broadcasting repeats by views. The table is the only new memory.",
    tints=None,
    others=(
        "x.unsqueeze(1).add(y)",
        "x[:, None].expand(-1, len(y)) + y",
        "x.repeat(len(y), 1).T + y.repeat(len(x), 1)",
    ),
)
def sums(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Add each number of x to each number of y: row i has x[i] plus all of y.

    x, y    two vectors, perhaps slices
    return  a matrix of shape (len(x), len(y))
    """
    return x[:, None] + y


sums.wrong |= {
    ("x + y[:, None]", "(y[:, None] + x).contiguous()"): (
        "Your rows belong to y. Row i belongs to x[i], so x is the column."
    ),
    "torch.outer(x, y)": "You multiply. The task asks for sums.",
    "x[:, None] - y": "You subtract y. The task asks for sums.",
    "x[:, None].expand(-1, len(y))": "That is x alone, in every column. Add y.",
    "y.expand(len(x), -1)": "That is y alone, in every row. Add x.",
}


@puzzle(
    title="heads, merged",
    rule=ONE_COPY,
    cases=[
        "x = torch.arange(12).view(2, 3, 2)",
        "x = torch.arange(12).view(3, 2, 2)",
        "x = torch.arange(24).view(2, 4, 3)",
        "x = torch.arange(24).view(4, 3, 2)[::2]",
        "x = torch.arange(18).mul(5).remainder(19).view(3, 3, 2)",
    ],
    hints=[
        "Row t of the result has row t of each head, one after the other. So the row comes first.",
        "Exchange the first two dims, and then merge the last two. The merge cannot be a view.",
    ],
    takeaway=(
        "transpose, then reshape: reshape copies once, because no stride leads from head to head."
    ),
    tints=lambda x: torch.arange(len(x)).view(-1, 1, 1),
    others=(
        "x.transpose(0, 1).flatten(1)",
        "torch.cat(x.unbind(), 1)",
        "x.transpose(0, 1).clone().flatten(1)",
    ),
)
def merged_heads(x: torch.Tensor) -> torch.Tensor:
    """Lay the heads side by side: row t has row t of each head.

    x       a tensor of shape (heads, rows, size), perhaps a slice, of 2 heads and rows or more
    return  a matrix of shape (rows, heads * size)
    """
    return x.transpose(0, 1).reshape(x.size(1), -1)


merged_heads.wrong |= {
    "x.reshape(x.size(1), -1)": (
        "`reshape` keeps the reading order, so a row has several rows of one head. Bring "
        "the rows to "
        "the front first."
    ),
    "x.flatten(0, 1)": "Your heads are below each other. They belong side by side.",
    "x.permute(1, 2, 0).reshape(x.size(1), -1)": (
        "Your columns of different heads alternate. Keep the columns of a head together: the head "
        "comes before its columns."
    ),
    "x.transpose(0, 1)": "The order is right. Merge the last two dims into one.",
    "x.transpose(1, 2).reshape(x.size(1), -1)": (
        "You exchange rows and columns. Exchange heads and rows."
    ),
}


@puzzle(
    title="larger pixels",
    rule=ONE_COPY,
    cases=[
        "x = torch.arange(6).view(2, 3)",
        "x = torch.arange(4).view(4, 1)",
        "x = torch.arange(5).view(1, 5)",
        "x = torch.arange(24).view(4, 6)[1:3, ::2]",
        "x = torch.arange(9).mul(4).remainder(11).view(3, 3)",
    ],
    hints=[
        "Each pixel twice in a row, and each row twice. Both repeats can be views: which "
        "stride repeats?",
        "Give x two new dims of size 1, one behind each dim. Expand them to 2, and merge once.",
    ],
    takeaway="Expand first, copy last: one reshape writes the large picture once.",
    tints=lambda x: torch.arange(x.numel()).view(x.shape),
    saving="Repeat both dims by views first, so that the large picture alone is written.",
    others=(
        "x.unsqueeze(1).unsqueeze(3).expand(-1, 2, -1, 2).reshape(2 * len(x), -1)",
        "x.repeat_interleave(2, 0).repeat_interleave(2, 1)",
        "x[torch.arange(2 * len(x))[:, None] // 2, torch.arange(2 * x.size(1)) // 2]",
    ),
)
def upsampled(x: torch.Tensor) -> torch.Tensor:
    """Make each number a square of 2 x 2.

    x       a matrix, perhaps a slice
    return  a matrix with twice as many rows and columns
    """
    return x[:, None, :, None].expand(-1, 2, -1, 2).reshape(2 * len(x), -1)


upsampled.wrong |= {
    ("x.repeat(2, 2)", "x[None, :, None, :].expand(2, -1, 2, -1).reshape(2 * len(x), -1)"): (
        "You repeat x as a whole. Each number is wanted twice beside itself: a new dim belongs "
        "behind the dim that it repeats."
    ),
    "x.repeat_interleave(2)": "Without a dim, `repeat_interleave` flattens x. A matrix is wanted.",
    "x.repeat_interleave(2, 1)": (
        "Each number is there twice in its row. Each row is wanted twice, too."
    ),
    "x.repeat_interleave(2, 0)": (
        "Each row is there twice. Each number is wanted twice in its row, too."
    ),
    "x[:, None, :, None].expand(-1, 2, -1, 2)": (
        "That is right, with two dims too many. Merge them."
    ),
}


@puzzle(
    title="the same image, another order",
    rule=ONE_COPY,
    with_stride=True,
    cases=[
        "x = torch.arange(12).view(1, 3, 2, 2)",
        "x = torch.arange(24).view(2, 3, 2, 2)",
        "x = torch.arange(12).view(1, 2, 2, 3)",
        "x = torch.arange(48).view(2, 4, 2, 3)[:, 1:3]",
        "x = torch.arange(18).mul(5).remainder(19).view(1, 3, 3, 2)",
    ],
    hints=[
        "Shape and numbers stay. Only the strides change: the channels of a pixel lie "
        "beside each other.",
        "`contiguous` and `to` take a `memory_format`.",
    ],
    takeaway="A memory format changes strides and no index. Setting it is one copy.",
    tints=lambda x: torch.arange(x.size(1)).view(-1, 1, 1),
    others=(
        "x.to(memory_format=torch.channels_last)",
        "x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)",
        "x.clone().contiguous(memory_format=torch.channels_last)",
    ),
)
def channels_last(x: torch.Tensor) -> torch.Tensor:
    """Keep shape and numbers, and lay the channels of each pixel beside each other in memory.

    x       a tensor of shape (images, channels, height, width), all sizes but the first 2 or more
    return  a tensor with the shape of x, in channels-last
    """
    return x.contiguous(memory_format=torch.channels_last)


channels_last.wrong |= {
    "x.permute(0, 2, 3, 1)": (
        "Your shape is (images, height, width, channels). The shape has to stay: memory "
        "alone changes."
    ),
    "x.permute(0, 2, 3, 1).contiguous()": (
        "Memory is right, and your shape is (images, height, width, channels). Exchange the"
        " dims back."
    ),
    ("x.contiguous()", "x.clone(memory_format=torch.contiguous_format)"): (
        "Your strides are those of a new tensor: the columns lie beside each other. The "
        "channels should."
    ),
    "x.reshape(x.size(0), x.size(2), x.size(3), x.size(1))": shared.NO_TRANSPOSE.format("channels"),
    "x.to(memory_format=torch.channels_last).contiguous()": (
        "You copy twice, and the result lies by rows: `contiguous()` without a format means rows."
    ),
    "x.as_strided(x.shape, x[:, "
    ":1].expand_as(x).contiguous(memory_format=torch.channels_last).stride(), "
    "x.storage_offset())": (
        "Your strides are right, and the numbers lie as before, so the strides now lead to others. "
        "Another order of memory needs a copy."
    ),
}
