"""E1: the bytes that a module with two calls of contiguous() writes."""

import torch

from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_number

SHAPE = "torch.arange(120.0).view(2, 3, 4, 5)"


@exercise(
    title="what do the two calls in Norm write?",
    read=read_number,
    cases=[
        f"x = {SHAPE}.to(memory_format=torch.channels_last)",
        f"x = {SHAPE}",
        f"x = {SHAPE}.double()",
        f"x = {SHAPE}.half().to(memory_format=torch.channels_last)",
        "x = torch.arange(40.0).view(2, 1, 4, 5)",
        "x = torch.arange(6.0).view(2, 3, 1, 1)",
        "x = torch.arange(30.0).view(2, 3, 5, 1)",
        f"x = {SHAPE}[:, :, ::2]",
        f"x = {SHAPE}[:1]",
        f"x = {SHAPE}.to(memory_format=torch.channels_last)[:, :2]",
        f"x = {SHAPE}.to(memory_format=torch.channels_last)[:1]",
        "x = torch.arange(6.0).view(2, 3, 1, 1).expand(2, 3, 4, 4)",
        "x = torch.arange(6.0).view(2, 1, 1, 3).expand(2, 2, 4, 3)",
        "x = torch.zeros(0, 3, 4, 5)",
    ],
    hints=[
        "`contiguous()` copies only a tensor that is not contiguous, and then it writes all of its "
        "elements: `t.nbytes` bytes.",
        "Follow the two calls. The first one gets `x.permute(0, 2, 3, 1)`. What does the second one "
        "get, after a norm whose result is contiguous?",
        "The second one gets `x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)`. Ask both "
        "tensors for `is_contiguous()`, and add `nbytes` for each answer False.",
    ],
    otherwise=(
        "Write the two lines of `Norm` for the input above, without the norm. What is the stride of "
        "each tensor before its call of `contiguous()`, and which stride would be contiguous?"
    ),
    takeaway="Count what each call gets. `contiguous()` writes nothing, or all of the tensor.",
)
def norm_bytes(x: torch.Tensor) -> int:
    """How many bytes the two calls of `contiguous()` in `Norm` write for an input x.

    x       a tensor of shape (N, C, H, W), of any layout and any float dtype. The norm between
            the two calls returns a contiguous tensor of the shape and dtype that it gets
    return  an int, in bytes
    """
    first = x.permute(0, 2, 3, 1)
    second = first.contiguous().permute(0, 3, 1, 2)
    written = 0
    for view in (first, second):
        if not view.is_contiguous():
            written += view.nbytes
    return written


norm_bytes.wrong |= {
    "(first, second) => (first,)": (
        "You count the first call alone. The second call gets channels that are last in memory, and "
        "writes them as rows."
    ),
    "(first, second) => (second,)": (
        "You count the second call alone. For an x that is not channels-last, the first call copies "
        "as well."
    ),
    ("2 * x.nbytes", "if not view.is_contiguous() => if True"): (
        "You count both calls as copies, always. A call on a tensor that is contiguous already "
        "copies nothing: ask each of the two tensors."
    ),
    (
        "first = x.permute(0, 2, 3, 1) => first = x",
        "2 * x.nbytes if not x.is_contiguous() else x.nbytes",
    ): (
        "You ask whether x is contiguous. The first call gets `x.permute(0, 2, 3, 1)`: that tensor "
        "is contiguous where x is channels-last."
    ),
    (
        "second = first.contiguous().permute(0, 3, 1, 2) => second = first.permute(0, 3, 1, 2)",
        "second = first.contiguous().permute(0, 3, 1, 2) => second = x",
    ): (
        "You pass the layout of x on to the second call. In between, the first call and the norm "
        "return contiguous tensors: the second call gets a permute of such a tensor."
    ),
    "norm_bytes(x) // x.itemsize": (
        "You count elements. An element of x has `x.itemsize` bytes: 4 in float32, 8 in float64. "
        "`t.nbytes` counts bytes."
    ),
    "4 * (norm_bytes(x) // x.itemsize)": (
        "You take 4 bytes for each element. float64 has 8, and float16 has 2: `x.itemsize`."
    ),
    (
        "view.nbytes => x.untyped_storage().nbytes()",
        "view.nbytes => view.untyped_storage().nbytes()",
    ): (
        "You count the storage. A slice has a larger storage than it needs, and an expanded tensor a "
        "smaller one: a copy writes each element of the tensor once."
    ),
    (
        "x.nbytes if x.is_contiguous(memory_format=torch.channels_last) else 2 * x.nbytes",
        "x.nbytes + (not x.is_contiguous(memory_format=torch.channels_last)) * x.nbytes",
    ): (
        "Right wherever the second call copies. It copies nothing where its tensor is contiguous "
        "already: with one channel, or with images of one pixel. Ask that tensor, too."
    ),
}
