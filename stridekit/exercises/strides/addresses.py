"""Exercises 2 and 3: from an index to a byte, and the stride of a new tensor."""

from math import prod  # noqa: F401 (for mistakes)
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major  # noqa: F401 (for mistakes)
from stridekit.exercises.readers.answers import as_int, read_stride
from stridekit.exercises.running import Arguments, Outcome
from stridekit.exercises.watch import without_a_tensor

ADDRESS = (
    "Your number is an address in the memory of this process, which differs at every run. Count "
    "from the start of the storage: the task does not need `data_ptr()`."
)


def read_byte(answer: Any, args: Arguments) -> Outcome:
    """Read a byte of t's storage. An absolute address is shown relative to the storage's start.

    An address differs from run to run, so none may get into a report.
    """
    byte = as_int(answer)
    storage = args["t"].untyped_storage()
    farthest = 16 * storage.nbytes()  # far enough for wrong units to show as numbers
    if 0 <= byte <= farthest:
        return Outcome({"byte": byte}, f"byte {byte}")
    distance = byte - storage.data_ptr()
    if 0 <= distance <= farthest:
        shown = f"the address of the storage's start, plus {distance}"
        return Outcome({"address": distance}, shown, ADDRESS)
    return Outcome({"byte": "outside"}, f"a number outside the storage of {storage.nbytes()} bytes")


@exercise(
    title="from an index to a byte",
    read=read_byte,
    # In most cases a value is not its element's number, so nobody can read the answer off it. In
    # the first case it is, so that an answer which reads values is right at first.
    cases=[
        "t = torch.arange(10, dtype=torch.float32); index = (4,)",
        "t = torch.zeros(4, 6, dtype=torch.int16); index = (2, 3)",
        "t = torch.zeros(4, 6, dtype=torch.uint8); index = (3, 5)",
        "t = torch.zeros(10)[3:]; index = (2,)",
        "t = torch.zeros(4, 6)[1:, 1:]; index = (0, 3)",
        "t = torch.zeros(4, 6)[1:, ::2]; index = (2, 1)",
        "t = torch.zeros(4, 6, dtype=torch.float64).t(); index = (4, 1)",
        "t = torch.zeros(4, 6, dtype=torch.int32)[:, 2]; index = (3,)",
        "t = torch.zeros(2, 3, 4, dtype=torch.int64).permute(2, 0, 1)[1:]; index = (2, 1, 2)",
        "t = torch.zeros(2, 3, 4, 5)[:, 1:, ::2]; index = (1, 1, 0, 3)",
        "t = torch.zeros(2, 2, 3, 2, 3, dtype=torch.int16).transpose(0, 4); index = (2, 1, 2, 1, "
        "1)",
        "t = torch.ones(10, dtype=torch.bool)[2::3]; index = (2,)",
        "t = torch.zeros(3, 1, dtype=torch.bfloat16).expand(3, 4); index = (2, 3)",
        "t = torch.zeros(3, 5, dtype=torch.complex64)[1:, 1:]; index = (0, 0)",
        "t = torch.zeros(4, 6)[2:3, 1:2]; index = (0, 0)",
        "t = torch.arange(10, dtype=torch.float32).unfold(0, 4, 2); index = (3, 2)",
        "t = torch.zeros(2, 3)[1, 2]; index = ()",
        "t = torch.tensor(7.0); index = ()",
    ],
    hints=[
        "Three facts about `t` are enough: `t.stride()`, `t.storage_offset()` and "
        "`t.element_size()`. Two of them count elements, one counts bytes.",
        "Walk: start at the storage's first element, go to t's first element, then take "
        "`index[d]` steps along each dim d. How long is one step along dim d?",
        "Add up in elements first, the offset and every `index[d] * t.stride()[d]`, and multiply "
        "once, at the end, by the bytes an element takes.",
    ],
    otherwise=(
        "Do it on paper for the input above. Go from the start of the storage to t's first "
        "element, then `index[d]` steps along each dim, all in elements. Bytes come last."
    ),
    takeaway="Offset plus steps, times the size of an element: indexing is nothing more.",
)
def address(t: torch.Tensor, index: tuple[int, ...]) -> int:
    """The byte at which element `t[index]` starts, counted from the start of t's storage.

    t       any strided tensor with that element
    index   a tuple with one int >= 0 for each dim of t; () where t is 0-d
    return  an int, in bytes: 0 is the first byte of the storage, wherever that lies in memory
    """
    steps = sum(i * step for i, step in zip(index, t.stride(), strict=True))
    return (t.storage_offset() + steps) * t.element_size()


VALUE = (
    "That is the value of t at `index`. The task asks where this value lies: at which byte does "
    "the element begin?"
)
address.slots["t.storage_offset()"] = {
    "0": (
        "You count from t's own first element. Try a slice: its first element is not the first of "
        "the storage, and `t.storage_offset()` says how far in it lies."
    ),
}
address.slots["t.stride()"] = {
    "row_major(t.shape)": (
        "You take the strides of a new tensor of this shape. A slice or a transpose keeps the "
        "strides of the tensor that it came from: print `t.stride()`."
    ),
    "t.shape": (
        "You take `index[d]` times the size of dim d. A size is the number of steps along a dim. "
        "The length of a step is in `t.stride()`."
    ),
    "t.stride()[::-1]": (
        "You pair the first index with the last stride. Both tuples have the same order: "
        "`index[d]` steps go along dim d, and each of them is `t.stride(d)` long."
    ),
}
address.slots["t.element_size()"] = {
    "1": (
        "That is the number of the element, and a good start. The question asks for its first "
        "byte: how many bytes does one element take?"
    ),
    ("4", "8"): shared.ITEMSIZE.format("t.element_size()"),
    "t.nbytes": (
        "You multiply by the bytes of all elements together. One element takes "
        "`t.element_size()` bytes."
    ),
}
address.wrong |= {
    "+ steps) * t.element_size() => ) + steps * t.element_size()": (
        "Two units meet in your sum: `t.storage_offset()` counts elements, not bytes. Multiply it "
        "by the size of an element as well."
    ),
    "(t.storage_offset() + steps) * t.element_size() => "
    "t.storage_offset() * t.element_size() + steps": (
        "Two units meet in your sum: the offset is in bytes, and the steps are in elements. "
        "`t.stride()` counts elements too (NumPy's strides are the ones in bytes)."
    ),
    "sum(map(prod, zip(index, row_major(t.shape)))) * t.element_size()": (
        "You number t's elements in reading order. The storage can hold more elements, and it can "
        "hold t's elements in another order."
    ),
    "t[index].data_ptr()": ADDRESS,
    "i * step => (i + 1) * step": shared.FROM_ZERO.format("index"),
    "sum(i * step => sum((i - 1) * step": (
        "You subtract 1 from each index. The first index is 0 and takes 0 steps, so `i` itself is "
        "the number of steps."
    ),
    ("t[index]", "t[index].item()", "int(t[index].real)"): VALUE,
    "int(t[index].real) * t.element_size()": (
        "You read the answer off the value. `arange` happens to store the number of each element. "
        "The place of an element never depends on its value."
    ),
}
address.exact["t.storage_offset() * t.element_size()"] = (
    "That is where t itself begins, whatever `index` is. From there, take `index[d]` steps along "
    "each dim."
)
address.only |= {
    "not index": (
        "Right wherever t has a dim. Without dims there is nothing to step along, but t can still "
        "begin anywhere in its storage, and `t.storage_offset()` counts elements here, too."
    ),
    "0 in index": (
        "Right wherever no index is 0. An index of 0 only means 0 steps along its own dim. The "
        "offset and the steps along the other dims still count."
    ),
}


def of_first_dims(t: torch.Tensor, index: Ints, ndim: int) -> int:
    """Return the address as if t had at most `ndim` dims."""
    steps = sum(i * step for i, step in zip(index[:ndim], t.stride(), strict=False))
    return (t.storage_offset() + steps) * t.element_size()


for ndim in (1, 2, 3, 4):
    by_slice = f"of_first_dims(t, index, {ndim})"
    by_index = f"index[{ndim - 1}] * 0 + {by_slice}"  # an IndexError where there are fewer dims
    by_unpacking = f"{by_slice} if len(index) == {ndim} else int('too many values to unpack')"
    address.wrong[by_slice, by_index, by_unpacking] = (
        "Right for some numbers of dims, but t can have any number of them. Each dim has a "
        "stride: let the sum run over all of `t.stride()`."
    )


@exercise(
    title="the stride that a new tensor gets",
    read=read_stride,
    means=without_a_tensor("Layout"),
    cases=[
        "shape = (4, 6)",
        "shape = (6,)",
        "shape = (2, 3, 4)",
        "shape = (2, 3, 4, 5)",
        "shape = (7, 7, 7)",
        "shape = (3, 1)",
        "shape = (1, 3)",
        "shape = (2, 1, 3, 1, 5)",
        "shape = (1, 1)",
        "shape = ()",
        "shape = (0,)",
        "shape = (3, 0)",
        "shape = (2, 0, 3)",
        "shape = (4, 0, 0, 5)",
    ],
    hints=[
        "Elements lie row by row: the last index runs fastest. So the last stride is the easiest. "
        "Which is it?",
        "In shape (2, 3, 4), walk from [0, 0, 0] to [1, 0, 0]. Every element of x[0] lies "
        "between: how many are there?",
        "The stride of dim d is the product of the sizes after d. Going from the last dim to the "
        "first, one multiplication per dim does it. A size of 0 counts as 1.",
    ],
    otherwise=(
        "Number the elements of the shape above in reading order. Then raise the index of each "
        "dim by 1 in turn: by how much does the number grow? (A size of 0 counts as 1.)"
    ),
    takeaway=(
        "One step along a dim skips all that lies inside it: the product of the sizes after it."
    ),
)
def contiguous_stride(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of a new tensor: what `torch.empty(shape).stride()` answers, without a tensor.

    shape   a tuple of ints >= 0; () is a 0-d tensor
    return  a tuple of as many ints, in elements, exactly torch's: also for sizes of 1 and 0
            (torch counts a size of 0 as 1 here)

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    stride: list[int] = []
    step = 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= max(size, 1)
    return tuple(stride)


ZERO = (
    "Right wherever there is an element. torch counts a size of 0 as 1 here, so no stride becomes "
    "0 through it."
)
NO_DIMS = (
    "Shape () has no dims, so there is nothing to step along. A stride has one number for each "
    "dim, so this stride is empty."
)
contiguous_stride.only |= {
    "not shape": NO_DIMS,
    "0 in shape": ZERO,
    "not shape or 0 in shape": (
        "Right wherever there is a dim and no size is 0. Shape () has no dims, so its stride is "
        "empty. And torch counts a size of 0 as 1 here."
    ),
}
contiguous_stride.wrong |= {
    "(*shape[1:], 1)[: len(shape)]": (
        "You take one size for each stride. In shape (2, 3, 4), one step along dim 0 leads from "
        "[0, 0, 0] to [1, 0, 0], past all elements of x[0]: you need a product."
    ),
    "(*shape[:-1], 1)[: len(shape)]": (
        "You take a dim's own size for its stride. One step along dim 0 passes all elements of "
        "x[0], and the size of dim 0 is not among their sizes."
    ),
    "(1,) * len(shape)": (
        "All your strides are 1, but only one step along the last dim leads to the next element. "
        "A step along an earlier dim passes all that lies inside it."
    ),
    "shape": (
        "That is the shape. A size says how many steps a dim has, a stride how long one step is."
    ),
    (
        "[s * max(n, 1) for n, s in zip(shape, contiguous_stride(shape))]",
        "[prod(shape[d:]) for d in range(len(shape))]",
    ): (
        "A step along dim d skips the dims after d. Your product also counts the size of d itself, "
        "so every step is too long."
    ),
    (
        "contiguous_stride(shape[::-1])[::-1]",
        "[prod(shape[: d + 1]) for d in range(len(shape))]",
    ): (
        "That is column-major: the first index runs fastest, as in Fortran. In a new torch tensor "
        "the last index does, so multiply the sizes after d, not those before."
    ),
    "contiguous_stride(shape)[::-1]": shared.BACK_TO_FRONT,
    (
        "[prod(shape) // max(prod(shape[: d + 1]), 1) for d in range(len(shape))]",
        "[prod(shape) // prod(shape[: d + 1]) for d in range(len(shape))]",
        "row_major(shape)",
    ): ZERO,
    (
        "[0 if n == 1 else s for n, s in zip(shape, contiguous_stride(shape))]",
        "[1 if n == 1 else s for n, s in zip(shape, contiguous_stride(shape))]",
    ): shared.SIZE_ONE,
    "contiguous_stride(shape) or (1,)": NO_DIMS,
    "contiguous_stride((1, *shape))[:1] + contiguous_stride(shape)": (
        "You have one number too many. Your first number is the product of all sizes, and such a "
        "step leads out of the tensor."
    ),
    (
        "np.empty(shape).strides",
        "[4 * step for step in contiguous_stride(shape)]",
        "[8 * step for step in contiguous_stride(shape)]",
    ): shared.ELEMENTS,
    (
        "[sum(shape[d + 1 :]) for d in range(len(shape))]",
        "[sum(shape[d + 1 :]) or 1 for d in range(len(shape))]",
    ): (
        "You add up the sizes after d. In shape (2, 3, 4), x[0] has 3 rows of 4 elements. How "
        "many elements are these?"
    ),
}
