"""E1: from an index to a byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch

from stridekit.exercises.answers import as_int
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome

Index = tuple[int, ...]


def read_byte(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a byte of t's storage; absolute addresses are shown from its start.

    So no address, which differs from run to run, gets into a report.
    """
    byte = as_int(answer)
    storage = args["t"].untyped_storage()
    if 0 <= byte <= 16 * storage.nbytes():  # 16: far enough for wrong units to show as numbers
        return Outcome({"byte": byte}, f"byte {byte}")
    after = byte - storage.data_ptr()
    if 0 <= after <= 16 * storage.nbytes():
        return Outcome({"address": after}, f"the address of the storage's start, plus {after}")
    return Outcome({"byte": "outside"}, f"a number outside the storage of {storage.nbytes()} bytes")


@exercise(
    title="from an index to a byte",
    read=read_byte,
    # Values that are not their own element's number, so that nobody can read the answer off them,
    # but also (the first) values that are, so that reading them starts out well.
    cases=[
        "t = torch.arange(10, dtype=torch.float32); index = (4,)",
        "t = torch.zeros(4, 6, dtype=torch.int16); index = (2, 3)",
        "t = torch.zeros(4, 6, dtype=torch.uint8); index = (3, 5)",
        "t = torch.zeros(10)[3:]; index = (2,)",
        "t = torch.zeros(4, 6)[1:, ::2]; index = (2, 1)",
        "t = torch.zeros(4, 6, dtype=torch.float64).t(); index = (4, 1)",
        "t = torch.zeros(4, 6, dtype=torch.int32)[:, 2]; index = (3,)",
        "t = torch.zeros(2, 3, 4, dtype=torch.int64).permute(2, 0, 1)[1:]; index = (2, 1, 2)",
        "t = torch.zeros(2, 3, 4, 5)[:, 1:, ::2]; index = (1, 1, 0, 3)",
        "t = torch.zeros(2, 2, 3, 2, 3, dtype=torch.int16).transpose(0, 4); index = (2, 1, 2, 1, 1)",
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
    otherwise="Take the input above to paper: from the storage's start to t's first element, then "
    "`index[d]` steps along each dim, all in elements. Bytes come last.",
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


def steps(index: Index, stride: Sequence[int]) -> int:
    """How many elements the steps of an index go."""
    return sum(i * step for i, step in zip(index, stride, strict=True))


def row_major(shape: Sequence[int]) -> list[int]:
    """The stride a new tensor of this shape would have."""
    return [prod(shape[d + 1 :]) for d in range(len(shape))]


@address.mistake(
    "You count from t's own first element. Try a slice: its first element is not the first of the "
    "storage, and `t.storage_offset()` says how far in it lies."
)
def forgets_the_offset(t: torch.Tensor, index: Index) -> int:
    return steps(index, t.stride()) * t.element_size()


@address.mistake(
    "That is the number of the element, and a good start. The question asks for its first byte: "
    "how many bytes does one element take?"
)
def counts_elements(t: torch.Tensor, index: Index) -> int:
    return t.storage_offset() + steps(index, t.stride())


@address.mistake(
    "Two units meet in your sum: `t.storage_offset()` counts elements, not bytes. Multiply it by "
    "the size of an element as well."
)
def adds_an_offset_in_elements(t: torch.Tensor, index: Index) -> int:
    return t.storage_offset() + steps(index, t.stride()) * t.element_size()


@address.mistake(
    "Two units meet in your sum: the offset is in bytes now, the steps are still in elements. "
    "`t.stride()` counts elements too (NumPy's strides are the ones in bytes)."
)
def adds_steps_in_elements(t: torch.Tensor, index: Index) -> int:
    return t.storage_offset() * t.element_size() + steps(index, t.stride())


@address.mistake(
    "Your steps come from the shape, as if t were freshly made. A slice or a transpose keeps the "
    "steps of the tensor it came from: ask `t.stride()`."
)
def takes_steps_from_the_shape(t: torch.Tensor, index: Index) -> int:
    return (t.storage_offset() + steps(index, row_major(t.shape))) * t.element_size()


@address.mistake(
    "You number t's elements in reading order, row by row. Memory knows nothing of that order: "
    "the storage can hold more than t, and t can walk it by other steps."
)
def counts_in_reading_order(t: torch.Tensor, index: Index) -> int:
    return steps(index, row_major(t.shape)) * t.element_size()


@address.mistake(
    "That is a place in this process's memory, another one at every run. Count from the start of "
    "the storage: no `data_ptr()` is needed."
)
def gives_an_absolute_address(t: torch.Tensor, index: Index) -> int:
    return t.data_ptr() + steps(index, t.stride()) * t.element_size()


@address.mistake(
    "You took 4 bytes an element for granted. That is float32's size; `t.element_size()` knows "
    "that of every dtype."
)
def takes_every_element_for_four_bytes(t: torch.Tensor, index: Index) -> int:
    return (t.storage_offset() + steps(index, t.stride())) * 4


@address.mistake(
    "You read the answer off the value. `arange` happens to store every element's number; where "
    "an element lies never depends on what it holds."
)
def reads_the_value(t: torch.Tensor, index: Index) -> int:
    return int(t[index].real) * t.element_size()


@address.mistake(
    "You pair the first index with the last stride. The two stand in the same order: `index[d]` "
    "steps go along dim d, and `t.stride(d)` is one of them."
)
def pairs_them_back_to_front(t: torch.Tensor, index: Index) -> int:
    return (t.storage_offset() + steps(index, t.stride()[::-1])) * t.element_size()


SOME_DIMS = (
    "Your sum is made for a certain number of dims, and t can have any. There is one stride for "
    "each dim: let the sum run over all of `t.stride()`."
)


def stopping_after(dims: int) -> Callable[[torch.Tensor, Index], int]:
    """The wrong answer that lets the first so many dims take part."""

    def answer(t: torch.Tensor, index: Index) -> int:
        taken = steps(index[:dims], t.stride()[:dims])
        return (t.storage_offset() + taken) * t.element_size()

    return answer


def naming(dims: int) -> Callable[[torch.Tensor, Index], int]:
    """The wrong answer that names the first so many dims one by one."""

    def answer(t: torch.Tensor, index: Index) -> int:
        taken = sum(index[d] * t.stride(d) for d in range(dims))
        return (t.storage_offset() + taken) * t.element_size()

    return answer


def unpacking(dims: int) -> Callable[[torch.Tensor, Index], int]:
    """The wrong answer that unpacks index into so many names."""

    def answer(t: torch.Tensor, index: Index) -> int:
        if len(index) != dims:
            raise ValueError(f"expected {dims} values to unpack")
        return stopping_after(dims)(t, index)

    return answer


for dims in (1, 2, 3, 4):
    for wrong_answer in (stopping_after(dims), naming(dims), unpacking(dims)):
        address.mistake(SOME_DIMS)(wrong_answer)
