"""E5 and E6: the strides that clone gives, and the same result with fewer bytes copied."""

from math import prod  # noqa: F401 (for mistakes)
from typing import Any

import torch
from torch import Tensor

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints
from stridekit.exercises.readers.answers import free_where_unused, read_stride_of
from stridekit.exercises.readers.copies import logging_copies, read_with_copies
from stridekit.exercises.running import Arguments
from stridekit.exercises.watch import without_a_tensor
from stridekit.rules import packed_stride  # noqa: F401 (for mistakes)


@exercise(
    title="the stride that clone gives",
    read=read_stride_of("shape"),
    means=without_a_tensor("Layout"),
    cases=[
        "shape, stride = (4, 6), (6, 1)  # x = torch.empty(4, 6)",
        "shape, stride = (6, 4), (1, 6)  # x.t()",
        "shape, stride = (4, 3), (6, 1)  # x[:, :3]",
        "shape, stride = (4, 3), (6, 2)  # x[:, ::2]",
        "shape, stride = (3, 4), (1, 6)  # x[:, :3].t()",
        "shape, stride = (3, 4), (2, 6)  # x[:, ::2].t()",
        "shape, stride = (2, 6), (12, 1)  # x[::2]",
        "shape, stride = (6, 2), (1, 12)  # x[::2].t()",
        "shape, stride = (4,), (6,)  # x[:, 2]",
        "shape, stride = (2, 3, 4), (12, 4, 1)  # y = torch.empty(2, 3, 4)",
        "shape, stride = (4, 2, 3), (1, 12, 4)  # y.permute(2, 0, 1)",
        "shape, stride = (3, 4, 2), (4, 1, 12)  # y.permute(1, 2, 0)",
        "shape, stride = (4, 2, 2), (1, 12, 4)  # y[:, :2].permute(2, 0, 1)",
        "shape, stride = (3, 2, 2), (4, 2, 12)  # y[:, :, ::2].permute(1, 2, 0)",
        "shape, stride = (2, 5, 3, 4), (60, 1, 20, 5)  # z: an image in channels-last",
        "shape, stride = (2, 2, 3, 4), (60, 1, 20, 5)  # z[:, :2]",
        "shape, stride = (2, 5, 3, 2), (60, 1, 20, 10)  # z[:, :, :, ::2]",
        "shape, stride = (3, 3), (1, 7)",
        "shape, stride = (2, 3), (8, 1)",
        "shape, stride = (3, 2), (2, 14)",
        "shape, stride = (5, 2), (7, 2)",
        "shape, stride = (2, 5), (3, 9)",
        "shape, stride = (4, 6), (0, 1)  # torch.empty(6).expand(4, 6)",
        "shape, stride = (6, 4), (1, 0)  # the same, turned",
        "shape, stride = (2, 3), (0, 0)  # torch.empty(1).expand(2, 3)",
        "shape, stride = (3, 4, 5), (0, 1, 4)  # torch.empty(5, 4).t().expand(3, 4, 5)",
        "shape, stride = (4, 3, 5), (1, 0, 4)  # the same, permuted",
        "shape, stride = (5, 3, 4), (4, 0, 1)  # the same, permuted",
        "shape, stride = (4, 1, 6), (6, 99, 1)",
        "shape, stride = (4, 1, 3), (6, 99, 1)",
        "shape, stride = (3, 1, 4), (1, 5, 6)",
        "shape, stride = (1, 1, 3), (7, 99, 1)",
        "shape, stride = (1, 3), (5, 2)",
        "shape, stride = (), ()",
        "shape, stride = (0, 3), (3, 1)",
        "shape, stride = (3, 0), (1, 3)",
    ],
    hints=[
        "Clone some tensors and print the strides, such as those of `x.t().clone()` and of "
        "`x[:, ::2].clone()`. Which order in memory does the copy have, and does it have gaps?",
        "A dense tensor keeps its strides. From any other the gaps go, and the order of the dims "
        "in memory stays: which dim has the smallest stride, which the next?",
        "Go through the dims from the smallest stride to the largest: the first gets 1, each of "
        "the next the product of the sizes already passed. A dim of stride 0 keeps its place "
        "among them, counted from the last dim.",
    ],
    otherwise=(
        "Write the dims in the order of memory: the smallest stride first, but one of stride 0 "
        "where it stands, counted from the last dim. The first gets 1, each other one the product "
        "of the sizes before it in that order. At which dim does yours differ?"
    ),
    takeaway="clone keeps the order in memory and closes the gaps. A dense tensor keeps its strides.",
)
def clone_stride(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of `x.clone()`, found without making a tensor.

    shape, stride   those of x, in elements; no two dims have the same stride, except that some
                    may be expanded: stride 0
    return          the stride of the clone, one int for each dim. The stride of a dim of size
                    1 is free, and so are all where there is no element.

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    dims = list(reversed(range(len(shape))))  # the last one first: so they lie if nothing else
    by_stride = iter(sorted((d for d in dims if stride[d] != 0), key=lambda d: stride[d]))
    order = [d if stride[d] == 0 else next(by_stride) for d in dims]  # expanded ones stay
    new_stride = [1] * len(shape)
    step = 1
    for d in order:
        new_stride[d] = step
        step *= max(shape[d], 1)
    return tuple(new_stride)


def dims_by(stride: Ints, key: Any) -> list[int]:
    """Return the dims sorted by a key of their strides. Equal dims come last first."""
    return sorted(range(len(stride)), key=lambda d: (key(stride[d]), -d))


def is_dense(shape: Ints, stride: Ints) -> bool:
    clone = clone_stride.reference(shape, stride)
    return free_where_unused(shape, clone) == free_where_unused(shape, stride)


clone_stride.only |= {
    "0 in shape": "Right wherever there is an element. Without one any stride will do.",
    "1 in shape": (
        "Right wherever no size is 1. Such a dim has its place in the answer, with any stride, and "
        "changes none of the others."
    ),
    "0 in stride": (
        "Right wherever no dim is expanded. A stride of 0 says nothing about the order: such a dim "
        "keeps its place, counted from the last dim, and the others are sorted around it."
    ),
}
clone_stride.wrong |= {
    "step *= max(shape[d], 1) => step = max(shape[d], 1)": (
        "From the third dim on, counted from the innermost, the step is a running product of all "
        "the sizes further in, not the last size alone."
    ),
    "clone_stride(shape, stride)[::-1]": shared.BACK_TO_FRONT,
    (
        "[4 * step for step in clone_stride(shape, stride)]",
        "[8 * step for step in clone_stride(shape, stride)]",
    ): shared.ELEMENTS,
    "[prod(n for n, t in zip(shape, stride) if t <= s) for s in stride]": (
        "Each of your strides counts the size of its own dim as well. A step passes all that lies "
        "inside the dim: the dims with smaller strides."
    ),
    "stride": (
        "Your clone keeps the gaps of its input. clone copies only the elements, side by side, "
        "into new memory. Print `x[:, ::2].clone().stride()`."
    ),
    "packed_stride(shape, dims_by(stride, lambda s: 0))": (
        "You make every clone contiguous. That is `contiguous()`; clone keeps the order in memory: "
        "look at `x.t().clone().stride()`."
    ),
    "stride if is_dense(shape, stride) else packed_stride(shape, dims_by(stride, lambda s: 0))": (
        "Right for dense tensors. You lay the others out in reading order. But clone only closes "
        "the gaps, and the dims stay in the order of their strides: look at `x[:, ::2].t()`."
    ),
    "packed_stride(shape, [d for d in dims_by(stride, abs) if stride[d]])": (
        "You keep a stride of 0. The clone of an expanded tensor has an element for each index, so "
        "that you can write to it: every dim of more than one element needs a step."
    ),
    "packed_stride(shape, dims_by(stride, abs))": (
        "You put expanded dims innermost, as if 0 were the smallest step. A stride of 0 says "
        "nothing about the order: such a dim keeps its place. Look at "
        "`torch.empty(6).expand(4, 6).clone()`."
    ),
    "packed_stride(shape, dims_by(stride, lambda s: (s == 0, s)))": (
        "You put expanded dims outermost. A stride of 0 says nothing about the order: such a dim "
        "keeps its place. Look at `torch.empty(6).expand(4, 6).t().clone()`."
    ),
    "packed_stride(shape, dims_by(stride, abs)[::-1])": (
        "You give a stride of 1 to the dim of the largest stride. The smallest step in memory "
        "stays the smallest."
    ),
    "tuple(sorted(clone_stride(shape, stride), reverse=True))": (
        "Your numbers are right, but in the order of memory. Put each number at the place of its "
        "dim."
    ),
    "packed_stride(shape, list(range(len(shape))))": (
        "You lay every clone out by columns. clone keeps the order of its input. Look at "
        "`x.clone().stride()`."
    ),
    (
        "packed_stride(shape, sorted(range(len(shape)), key=lambda d: shape[d]))",
        "packed_stride(shape, sorted(range(len(shape)), key=lambda d: -shape[d]))",
        "packed_stride(shape, sorted(range(len(shape))[::-1], key=lambda d: shape[d]))",
        "packed_stride(shape, sorted(range(len(shape))[::-1], key=lambda d: -shape[d]))",
    ): (
        "You order the dims by their sizes. clone keeps the order in memory: the dim of the "
        "smallest stride is the innermost, whether it is long or short."
    ),
}

clone_stride.exact |= {
    "tuple(s // min(filter(None, stride), default=1) for s in stride)": (
        "You divide the gaps away by the smallest stride. That closes gaps inside a row. There can "
        "also be a gap after each row. Print `x[:, :3].clone().stride()`."
    ),
}


def needed(args: Arguments) -> int:
    """Return the bytes of the copy that the task needs; 0 where a view will do."""
    x = args["x"]
    return 0 if x.transpose(1, 2).is_contiguous() else x.nbytes


@exercise(
    title="the same with fewer copies",
    read=read_with_copies(needed),
    fence=logging_copies,
    cases=[
        "y = torch.arange(24).view(2, 3, 4); x = y",
        "y = torch.arange(24).view(2, 3, 4); x = y.transpose(1, 2)",
        "w = torch.arange(48).view(2, 4, 6); x = w[:, :, :3]",
        "w = torch.arange(48).view(2, 4, 6); x = w[:, :, ::2]",
        "w = torch.arange(48).view(2, 4, 6); x = w[:, 1:].transpose(1, 2)",
        "w = torch.arange(48).view(2, 4, 6); x = w.transpose(1, 2)[:, ::2]",
        "x = torch.arange(24).view(4, 3, 2).transpose(1, 2)[::2]",
        "y = torch.arange(24).view(2, 3, 4); x = y.permute(2, 0, 1)",
        "y = torch.arange(24).view(2, 3, 4); x = y.permute(1, 2, 0)",
        "y = torch.arange(24).view(2, 3, 4); x = y.permute(2, 1, 0)",
        "x = torch.arange(18, dtype=torch.int16).view(2, 3, 3)",
        "x = torch.arange(18, dtype=torch.int16).view(2, 3, 3).transpose(1, 2)",
        "x = torch.arange(40, dtype=torch.float32).view(2, 4, 5)[1:, :, 1:4]",
        "x = torch.arange(40, dtype=torch.float32).view(2, 5, 4)[1:].transpose(1, 2)",
        "x = torch.arange(6).view(1, 2, 3).expand(4, 2, 3)",
        "x = torch.arange(3).expand(2, 4, 3)",
        "x = torch.arange(12).view(2, 6, 1)",
        "x = torch.arange(12).view(2, 1, 6)",
        "x = torch.arange(24).view(2, 12, 1)[:, ::2]",
        "x = torch.arange(24).view(4, 1, 6)[::2]",
        "x = torch.tensor([[[7]]])",
        "x = torch.empty(2, 0, 3)",
        "x = torch.empty(0, 2, 3)",
    ],
    hints=[
        "Run the given line on a slice such as `torch.empty(2, 4, 6)[..., :3]`. Which of its four "
        "steps copy elements? Does the first copy change the result?",
        "The elements have to be read by columns, and that is what `x.transpose(1, 2)` does, "
        "without a copy. From there on: what gives the shape, and copies only if it has to?",
        "`reshape` returns a view if one exists, and copies once otherwise. You do not need "
        "`contiguous()` before it.",
    ],
    otherwise=(
        "Run your line on this input step by step. Look at the shape and the values after each "
        "step: which steps copy, and which of these copies does the result need?"
    ),
    takeaway="First the views, then at most one copy: reshape finds out whether it takes one.",
)
def by_columns(x: torch.Tensor) -> torch.Tensor:
    """Each matrix of x as one row, read by columns, with fewer copies than this line makes.

        x.contiguous().transpose(1, 2).contiguous().view(x.size(0), x.size(1) * x.size(2))

    x       a tensor of three dims, perhaps sliced, transposed or expanded
    return  a tensor of the same dtype, shape and values, made by operations of torch on x. Each
            element is copied once at most, and none where `x.transpose(1, 2)` is contiguous. A
            view of x will do, of any stride
    """
    return x.transpose(1, 2).reshape(x.size(0), x.size(1) * x.size(2))


def width(x: Tensor) -> tuple[int, int]:
    return x.size(0), x.size(1) * x.size(2)


by_columns.only["x.numel() == 0"] = shared.MINUS_ONE
by_columns.wrong |= {
    "x.contiguous().transpose(1, 2).contiguous().view(width(x))": (
        "The right values, in up to two copies. (`reshape` can be one of them.) Which of your steps "
        "copy elements, and does the result need the first copy?"
    ),
    "x.transpose(1, 2).clone(memory_format=torch.contiguous_format).view(width(x))": (
        "You copy on every input, also where x lies in memory by columns already and a view would "
        "do. Which method copies only then?"
    ),
    "by_columns(x).clone()": shared.TWICE,
    (
        "x.reshape(width(x))",
        "x.contiguous().view(width(x))",
        "by_columns(x.reshape(x.size(0), x.size(2), x.size(1)))",
    ): shared.NO_TRANSPOSE.format("columns"),
    ("by_columns(x.float())", "by_columns(x.double())"): shared.DTYPE.format("x"),
    "x.transpose(1, 2)": (
        "The elements are in the right order, but each matrix still has two dims. Each should be "
        "one row."
    ),
    "by_columns(x).flatten()": (
        "All matrices are in one row. Dim 0 stays: each matrix has a row of its own."
    ),
    "x.transpose(0, 2).reshape(width(x))": (
        "You exchange the matrices with their columns. Dim 0 counts the matrices and stays first."
    ),
    "x.contiguous().transpose(1, 2).view(width(x))": (
        "You make it contiguous too early, because the transpose exchanges the strides again. "
        "Which step needs a contiguous tensor?"
    ),
    "x.transpose(1, 2).view(width(x))": shared.NO_COPY.format("x lies by columns"),
    "x.transpose(1, 2).clone().view(width(x))": shared.CLONE_KEEPS_ORDER,
    (
        "x.as_strided((x.size(0), x.size(2), x.size(1)), (x[0].numel(), 1, x.size(2)))"
        ".reshape(width(x))",
        "x.as_strided(width(x), (x[0].numel(), 1))",
    ): shared.AS_IF_PACKED.format("x", "by rows"),
}
