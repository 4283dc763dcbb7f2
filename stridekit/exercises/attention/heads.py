"""E1 and E3: where the heads of a packed projection lie, and how they merge again."""

from typing import Any

import torch
from torch import Tensor

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major
from stridekit.exercises.readers.answers import free_where_unused, read_parts
from stridekit.exercises.readers.copies import logging_copies, read_with_copies
from stridekit.exercises.running import Arguments, Outcome
from stridekit.exercises.watch import Means
from stridekit.layout import Layout


def read_head_layout(answer: Any, args: Arguments) -> Outcome:
    """Read (shape, stride, offset); the stride of a dim of size 1 is free."""
    outcome = read_parts("shape", "stride", "offset")(answer, args)
    shape = [args[name] for name in "BHTD"]
    stride = free_where_unused(shape, outcome.facts["stride"])
    return Outcome(outcome.facts | {"stride": stride}, outcome.shown)


@exercise(
    title="q, k or v of a packed projection",
    read=read_head_layout,
    means=Means(
        hint=(
            "The right answer, and torch has worked it out. Now do without it: how many elements "
            "are in the row of one token, and how many lie between two heads, between two features, "
            "and between q and k?"
        ),
        whole=("packed_heads", "Layout"),
    ),
    cases=[
        "B, T, H, D = 2, 5, 3, 4; which, packing = 'q', '3HD'",
        "B, T, H, D = 2, 5, 3, 4; which, packing = 'k', '3HD'",
        "B, T, H, D = 2, 5, 3, 4; which, packing = 'q', 'H3D'",
        "B, T, H, D = 2, 5, 3, 4; which, packing = 'v', 'H3D'",
        "B, T, H, D = 2, 5, 3, 4; which, packing = 'q', 'HD3'",
        "B, T, H, D = 2, 5, 3, 4; which, packing = 'k', 'HD3'",
        "B, T, H, D = 3, 2, 5, 8; which, packing = 'v', '3HD'",
        "B, T, H, D = 3, 2, 5, 8; which, packing = 'k', 'H3D'",
        "B, T, H, D = 3, 2, 5, 8; which, packing = 'v', 'HD3'",
        "B, T, H, D = 8, 128, 12, 64; which, packing = 'k', '3HD'",
        "B, T, H, D = 1, 7, 2, 16; which, packing = 'v', '3HD'",
        "B, T, H, D = 4, 1, 2, 8; which, packing = 'k', 'H3D'  # one token: decoding",
        "B, T, H, D = 4, 6, 1, 8; which, packing = 'v', 'HD3'  # one head",
        "B, T, H, D = 2, 6, 5, 1; which, packing = 'v', 'H3D'",
        "B, T, H, D = 1, 1, 1, 1; which, packing = 'v', '3HD'",
    ],
    hints=[
        "Write down the row of one token: 3 * H * D elements. Where in it is feature d of head h "
        "of k?",
        "The next token is a whole row further, and the next item of the batch is T rows further. "
        "Heads and features step inside the row, and `packing` says how.",
        'Heads and features step by D and 1 in "3HD", by 3 * D and 1 in "H3D", and by 3 * D and 3 '
        'in "HD3". The start of k is H * D, D or 1 elements after the start of q.',
    ],
    otherwise=(
        "Take feature d of head h of token t in item b. Count the elements before it: whole items, "
        "whole tokens, and then a part of its own row."
    ),
    takeaway=(
        "Heads are a view of one packed row. In every packing the next token is 3 * H * D away."
    ),
)
def head_layout(
    B: int, T: int, H: int, D: int, which: str, packing: str
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Where q, k or v lies as a view of one packed projection.

    Not allowed: a tensor's own stride or offset, stridekit's `Layout` and `packed_heads`.

    B, T, H, D  the sizes of batch, tokens, heads and features of a head, 1 or more
    which       "q", "k" or "v"
    packing     the order in a row of the projection, which is contiguous, of shape
                (B, T, 3 * H * D): "3HD" is all heads of q, then of k, then of v; "H3D" has
                q, k and v of each head together; "HD3" of each feature
    return      (shape, stride, offset) in elements, where shape is (B, H, T, D). The stride of
                a dim of size 1 is free
    """
    row = 3 * H * D
    between, head, feature = {"3HD": (H * D, D, 1), "H3D": (D, 3 * D, 1), "HD3": (1, 3 * D, 3)}[
        packing
    ]
    return (B, H, T, D), (T * row, head, row, feature), "qkv".index(which) * between


STARTS_AT_Q = (
    "Your offset is 0 for k and v as well, where q begins. How many elements of the row lie before "
    "k and before v?"
)


def in_bytes(shape: Ints, stride: Ints, offset: int) -> tuple[Ints, Ints, int]:
    return shape, tuple(4 * step for step in stride), 4 * offset


SHORT_ROWS = (
    "Your rows are H * D long, as if q, k and v had rows of their own. One row holds all three."
)

head_layout.slots["(B, H, T, D)"] = {
    "(B, T, H, D)": (
        "Your shape has tokens before heads, as in the projection. Attention takes (B, H, T, D), "
        "with a matrix for each head."
    ),
}
head_layout.slots["3 * H * D"] = {
    "H * D": SHORT_ROWS,
    "3 * D": ("You step from token to token by 3 * D: q, k and v of one head. A row has H heads."),
    "D": (
        "You step from token to token by D, as if each head lay by itself. The whole row of the "
        "projection lies between two tokens: all heads of q, k and v."
    ),
}
head_layout.slots["T * row, head, row, feature"] = {
    "T * row, row, head, feature": (
        "Your shape has heads before tokens, but your strides have tokens before heads. A transpose "
        "exchanges both."
    ),
}
head_layout.slots["(D, 3 * D, 1)"] = {
    "(D, D, 1)": (
        'In "H3D", your heads of k are D apart. But v of one head and q of the next lie between '
        "them."
    ),
}
head_layout.slots["(1, 3 * D, 3)"] = {
    "(1, 3 * D, 1)": (
        'In "HD3", your features are neighbours. There q, k and v of one feature lie together, so '
        "the next feature of k is further away."
    ),
    "(1, D, 3)": (
        'In "HD3", your heads are D apart. A head has q, k and v of each of its D features there.'
    ),
}
head_layout.slots[" * between"] = {
    "": "Your offset counts q, k and v. How many elements lie between the start of q and of k?",
    " * between * 4": "Your offset is in bytes. Offsets and strides count elements.",
    " * H * D": (
        'Your offset is that of "3HD" in every packing. In the others, k begins sooner: right '
        "after the D features of one head of q, or after one feature."
    ),
    " * D": (
        'Your offset is that of "H3D" in every packing. How many elements of q lie before the first '
        "of k in the others?"
    ),
}
head_layout.slots['"qkv".index(which)'] = {"0": STARTS_AT_Q}
head_layout.wrong |= {
    (
        "T * row, head, row, feature => row, head, row, feature",
        "((B, H, T, D), (3 * H * D, D, 3 * H * D, 1), 'qkv'.index(which) * H * D)",
    ): ("You step by one row to the next item of the batch. An item has T rows."),
    "T * row, head, row, feature => T * row, T * D, row, feature": (
        "Your heads are T * D apart, as if each head had its tokens by itself. The row of one token "
        "has all heads."
    ),
    "T * row, head, row, feature => row, head, T * row, feature": (
        "You step by T rows from token to token, and by one row from item to item. The tokens of an "
        "item are neighbours in the projection."
    ),
    "(D, 3 * D, 1) => (H * D, 3 * D, 1)": (
        'Your strides are right, but not the offset in "H3D". There k of a head follows q of the '
        "same head at once."
    ),
    "(1, 3 * D, 3) => (D, 3 * D, 3)": (
        'Your strides are right, but not the offset in "HD3". There q, k and v of each feature lie '
        "side by side."
    ),
    "(1, 3 * D, 3) => (D, 3 * D, 1)": (
        'You take "HD3" for "H3D". The letters go from the outermost to the innermost dim. In "HD3" '
        "the 3 is the innermost: q, k and v change with each element."
    ),
    "head_layout(B, T, H, D, which, {'H3D': 'HD3', 'HD3': 'H3D'}.get(packing, packing))": (
        "You read the packing from its end. The letters go from the outermost to the innermost dim."
    ),
    "head_layout(B, T, H, D, {'q': 'k', 'k': 'q'}.get(which, which), packing)": (
        "You put k before q. The row has q first, then k, then v."
    ),
    "((B, H, T, D), (T * H * D, D, H * D, 1), 'qkv'.index(which) * H * D)": SHORT_ROWS,
    (" * between =>  * B * T * H * D", "(H * D, D, 1) => (B * T * H * D, D, 1)"): (
        "You put k behind all of q, as if q were a tensor of its own. q, k and v share each row: k "
        "begins in the first row."
    ),
    "head_layout(B, T, H, D, which, '3HD')": (
        "You answer alike for all packings. Each packing has another order in the row. What lies "
        "between two heads, between two features, and between q and k?"
    ),
    (
        "((B, T, H, D), "
        "(T * 3 * H * D, 3 * H * D, *head_layout(B, T, H, D, which, packing)[1][1::2]), "
        "head_layout(B, T, H, D, which, packing)[2])",
        "((B, T, H, D), row_major((B, T, H, D)), 0)",
        "((B, T, H, D), row_major((B, T, H, D)), 'qkv'.index(which) * B * T * H * D)",
    ): (
        "Your shape and your strides have tokens before heads, as in the projection. Attention "
        "takes (B, H, T, D): exchange two sizes and two strides."
    ),
    "((B, H, T, D), row_major((B, H, T, 3 * D)), head_layout(B, T, H, D, which, packing)[2])": (
        "You cut the projection into (B, H, T, ...) at once, so pieces of tokens become heads. Cut "
        "the last dim, and then exchange tokens and heads."
    ),
    "in_bytes(*head_layout(B, T, H, D, which, packing))": shared.ELEMENTS,
    (
        "((B, H, T, D), row_major((B, H, T, D)), 0)",
        "((B, H, T, D), row_major((B, H, T, D)), 'qkv'.index(which) * H * D)",
        "((B, H, T, D), row_major((B, H, T, D)), 'qkv'.index(which) * B * T * H * D)",
        "((B, H, T, D), row_major((B, H, T, D)), head_layout(B, T, H, D, which, packing)[2])",
    ): (
        "Those are the strides of a new tensor of this shape. Yours is a view: it steps through the "
        "rows of the projection."
    ),
}


def needed(args: Arguments) -> int:
    """Return the bytes that merging has to copy."""
    y = args["y"]
    B, H, T, D = y.shape
    return y.nbytes if Layout.of(y).transpose(1, 2).why_not_view(B, T, H * D) else 0


@exercise(
    title="merge heads, without a copy where none is needed",
    read=read_with_copies(needed),
    fence=logging_copies,
    cases=[
        "y = torch.arange(120).view(2, 5, 3, 4).transpose(1, 2)  # in the order of tokens",
        "y = torch.arange(120).view(2, 3, 5, 4)  # in the order of heads",
        "y = torch.arange(360).view(2, 5, 3, 3, 4)[:, :, 1].transpose(1, 2)  # k of a packed row",
        "y = torch.arange(360).view(2, 5, 3, 3, 4)[:, :, :, 1].transpose(1, 2)  # packed by heads",
        "y = torch.arange(360).view(2, 5, 3, 4, 3)[..., 1].transpose(1, 2)  # packed by features",
        "y = torch.arange(180.0).view(2, 5, 3, 6).transpose(1, 2)[..., 2:]",
        "y = torch.arange(180.0).view(2, 5, 6, 3).transpose(1, 2)[:, ::2]",
        "y = torch.arange(180.0).view(2, 5, 6, 3).transpose(1, 2)[:, 2:]",
        "y = torch.arange(144, dtype=torch.int16).view(2, 6, 3, 4).transpose(1, 2)[1:, :, ::2]",
        "y = torch.arange(144, dtype=torch.bfloat16).view(2, 3, 6, 4)[:, :, 1:4]",
        "y = torch.arange(60).view(3, 5, 4).expand(2, 3, 5, 4)",
        "y = torch.arange(60).view(5, 3, 4).transpose(0, 1).expand(2, 3, 5, 4)",
        "y = torch.arange(40).view(2, 1, 5, 4).expand(2, 3, 5, 4)",
        "y = torch.arange(120).view(2, 3, 4, 5).mT",
        "y = torch.arange(24).view(2, 3, 1, 4)  # one token",
        "y = torch.arange(40).view(2, 1, 5, 4)[:, :, 1:]  # one head",
        "y = torch.arange(30).view(2, 3, 5, 1)",
        "y = torch.arange(60.0, dtype=torch.float64).view(1, 3, 5, 4)",
        "y = torch.tensor([[[[7]]]])",
        "y = torch.zeros(2, 3, 5, 0)",
    ],
    hints=[
        "The heads of a token have to lie side by side. Which view brings (B, H, T, D) to "
        "(B, T, H, D)?",
        "After `y.transpose(1, 2)` two neighbouring dims merge. Their strides decide whether this "
        "is a view. Which function makes a view if there is one, and copies only if there is none?",
        "`reshape` and `flatten` do this, without `contiguous()` before them.",
    ],
    otherwise=(
        "Look at token t of your answer: it has the D features of head 0, then those of head 1, and "
        "so on. Then look at each of your steps: which of them fills new memory?"
    ),
    takeaway=(
        "Heads in the order of tokens merge for free: reshape looks, and contiguous copies anyway."
    ),
)
def merge_heads(y: torch.Tensor) -> torch.Tensor:
    """The heads of each token side by side, as a view of y if torch can make one.

    Not allowed: lists and NumPy, because only operations of torch are counted.

    y       the result of attention, a tensor of shape (B, H, T, D), perhaps sliced or expanded
    return  a tensor of shape (B, T, H * D) and y's dtype. Row t has the D features of head 0,
            then those of head 1, and so on. Each element is copied once at most, and none is
            copied if the merged dims are a view of y
    """
    return y.transpose(1, 2).flatten(2)


def merged(y: Tensor) -> tuple[int, ...]:
    return (y.size(0), y.size(2), y.size(1) * y.size(3))


def by_tokens(y: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the result's shape, and its strides if y lay packed in the order of tokens."""
    return merged(y), row_major(merged(y))


merge_heads.only["y.numel() == 0"] = shared.MINUS_ONE
merge_heads.wrong |= {
    "y.reshape(merged(y))": shared.NO_TRANSPOSE.format("tokens"),
    "y.transpose(1, 2).contiguous().view(merged(y))": (
        "Right values, but one copy too many on this input, such as that of `contiguous()`. The q "
        "of a packed row has gaps between its rows, and heads and features merge all the same."
    ),
    "torch.cat(y.unbind(1), -1)": (
        "Right values, but a copy on every input. If y comes in the order of tokens, its heads lie "
        "side by side already. Which method copies only if it has to?"
    ),
    "merge_heads(y).clone()": shared.TWICE,
    "y.transpose(1, 2).view(merged(y))": shared.NO_COPY.format("heads and features merge"),
    "y.transpose(1, 2).clone().view(merged(y))": shared.CLONE_KEEPS_ORDER,
    "torch.stack([torch.cat(item.unbind(0), -1) for item in y])": (
        "You copy twice on every input: first you join the heads, and then the items of the batch. "
        "One method does it for all of y at once."
    ),
    "y.transpose(1, 2)": "Tokens come before heads. Now merge the last two dims to H * D.",
    "y.permute(0, 2, 3, 1).flatten(2)": (
        "Your rows go through the heads for each feature. The task asks for all features of head 0, "
        "then all of head 1."
    ),
    "y.permute(2, 0, 1, 3).flatten(2)": (
        "Your tokens come before the batch. The batch stays the first dim: (B, T, H * D)."
    ),
    "y.mT.flatten(1, 2)": (
        "Your tokens are the last dim. The task asks for a row for each token: (B, T, H * D)."
    ),
    "y.flatten(1, 2)": (
        "You merge heads and tokens. Bring heads and features together, and merge these."
    ),
    "y.flatten(2)": (
        "You merge the tokens and the features of each head. Bring heads and features together, "
        "and merge these."
    ),
    "y.transpose(1, 2).flatten(1, 2)": "You merge tokens and heads. Only heads and features merge.",
    "y.transpose(1, 2).flatten(1)": "You merge tokens, too. Only heads and features merge.",
    (
        "y.transpose(1, 2).reshape(y.size(0), y.size(1), y.size(2) * y.size(3))",
        "y.transpose(1, 2).reshape(y.size(0), y.size(1) * y.size(3), y.size(2))",
    ): (
        "Your sizes are not B, T and H * D. `y.size(1)` is the number of heads, and `y.size(2)` the "
        "number of tokens."
    ),
    "y.view(merged(y))": (
        "`view` keeps the order of the dims, so heads stay before tokens. Bring tokens before heads "
        "first."
    ),
    ("merge_heads(y.float())", "merge_heads(y).float()"): shared.DTYPE.format("y"),
    "torch.as_strided(y, *by_tokens(y))": shared.AS_IF_PACKED.format("y", "by tokens"),
}
merge_heads.exact |= {
    "y.contiguous().transpose(1, 2).flatten(2)": (
        "You make y contiguous before the transpose. That lays y out by heads, so the merge has to "
        "copy it back."
    ),
}
