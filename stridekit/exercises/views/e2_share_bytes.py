"""E2: whether two tensors or arrays have a byte in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from stridekit.exercises.answers import read_yes_or_no
from stridekit.exercises.core import exercise

Either = Any  # a torch.Tensor or an np.ndarray

X = "x = torch.arange(12)\n"
M = "x = torch.arange(12).view(3, 4)\n"


@exercise(
    title="do these two share a byte?",
    read=read_yes_or_no,
    cases=[
        X + "a, b = x[2:8], x[5:]",
        X + "a, b = x[:6], x[6:]",
        "a, b = torch.arange(6), torch.arange(6)",
        X + "a, b = x, x[3:9].clone()",
        X + "a, b = x[::2], x[1::2]",
        X + "a, b = x[::2], x[::3]",
        X + "a, b = x[1::3], x[2::3]",
        X + "a, b = x[5:6], x[::5]",
        M + "a, b = x.t(), x[1, 2]",
        M + "a, b = x[1], x[:, 2]",
        M + "a, b = x[:, 1], x[:, 2]",
        M + "a, b = x[:, :2], x[:, 2:]",
        M + "a, b = x[:, :2], x[1:, :1]",
        M + "a, b = x[:2, 1:3], x[1:, 2:]",
        M + "a, b = x.reshape(-1), x[2]",
        M + "a, b = x.t().reshape(-1), x",
        X + "a, b = x.detach()[3:], x",
        X + "a, b = x[4], x[::3]",
        X + "a, b = x[6], x[::3]",
        X + "a, b = x[2].expand(4, 3), x[:3]",
        X + "a, b = x[:2].expand(5, 2), x[2:4].expand(5, 2)",
        X + "a, b = x.unfold(0, 2, 5), x[3:5]",
        X + "a, b = x[6:], x[6:].as_strided((3,), (1,), 2)",
        "x = torch.zeros(4)\na, b = x, x.view(torch.uint8)[5:7]",
        "x = torch.zeros(4)\na, b = x[1:2], x.view(torch.int16)[3]",
        "x = torch.zeros(4)\na, b = x.view(torch.int16)[::2], x.view(torch.int16)[1::2]",
        X + "a, b = x[:0], x",
        "a, b = torch.empty(0), torch.empty(0)",
        X + "a, b = x[3:3], x[:0]",
        X + "a, b = x, x.numpy()[3:]",
        X + "a, b = x.numpy()[1::2], x[::2]",
        X + "a, b = x.numpy()[1::2], x[3::4]",
        X + "a, b = x.numpy().reshape(3, 4)[:, 1], x[2::4]",
        X + "a, b = torch.from_numpy(x.numpy()[4:]), x[:6]",
        X + "a, b = torch.from_numpy(x.numpy()[6:]), x[:6]",
        "n = np.arange(12)\na, b = n[::-1], n[:1]",
        "n = np.arange(12)\na, b = torch.from_numpy(n)[:6], n[:5:-1]",
        "n = np.arange(12)\na, b = n[::-2], torch.from_numpy(n)[::2]",
        "a, b = torch.arange(6, dtype=torch.uint8), np.arange(6, dtype=np.uint8)",
        "n = np.zeros((3, 4))\na, b = n[:, 1:1], n",
    ],
    hints=[
        "You have written the memory set of one tensor. Two such sets can be compared, if both count "
        "from the same place: here that has to be memory itself.",
        "The first element of a tensor lies at `data_ptr()`; that of an array at "
        '`array.__array_interface__["data"][0]`. From there, the steps: torch counts them in '
        "elements, NumPy in bytes, and backwards too.",
        "Make the set of all bytes of a, and that of b. `not first.isdisjoint(second)` is the "
        "answer, also where one of them is empty.",
    ],
    otherwise="Work out by hand which bytes a has and which b: the storage as a line, a mark for each "
    "byte. Is one of them marked twice?",
    takeaway="Same storage, same address, equal values: none of them is it. A byte in common is.",
)
def share_bytes(a: torch.Tensor | np.ndarray, b: torch.Tensor | np.ndarray) -> bool:
    """Whether a and b have a byte in common, so that a write to one may change the other.

    a, b    small: each a strided tensor on the CPU or a NumPy array, of any dtype, perhaps empty
    return  True or False
    """
    memsets = []
    for x in (a, b):
        if isinstance(x, torch.Tensor):
            found, steps = {x.data_ptr()}, tuple(s * x.itemsize for s in x.stride())
        else:
            found, steps = {x.__array_interface__["data"][0]}, x.strides
        for size, step in zip((*x.shape, x.itemsize), (*steps, 1), strict=True):
            found = {byte + i * step for byte in found for i in range(size)}
        memsets.append(found)
    return not memsets[0].isdisjoint(memsets[1])


def first_byte(x: Either) -> int:
    """Where x begins."""
    return x.data_ptr() if isinstance(x, torch.Tensor) else x.__array_interface__["data"][0]


def byte_steps(x: Either) -> list[int]:
    """The steps of x along its dims, in bytes."""
    if isinstance(x, torch.Tensor):
        return [step * x.itemsize for step in x.stride()]
    return list(x.strides)


def all_bytes(x: Either, item: int | None = None, steps: list[int] | None = None) -> set[int]:
    """The memory set of x; of elements of another size, or by other steps, if these are given."""
    steps = byte_steps(x) if steps is None else steps
    found = {first_byte(x)}
    for size, step in zip(x.shape, steps, strict=True):
        found = {byte + i * step for byte in found for i in range(size)}
    return {byte + k for byte in found for k in range(x.itemsize if item is None else item)}


def block(x: Either) -> tuple[int, int]:
    """The storage of a tensor or the block behind an array: its address and its bytes."""
    if isinstance(x, torch.Tensor):
        return x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()
    while isinstance(x.base, np.ndarray):
        x = x.base
    return block(x.base) if isinstance(x.base, torch.Tensor) else (first_byte(x), x.nbytes)


POINTERS = (
    "You compare where the two begin. `x[2:8]` and `x[5:]` begin at different bytes and yet meet, "
    "and tensors without elements all say 0."
)


@share_bytes.mistake(POINTERS)
def compares_data_ptr(a: Either, b: Either) -> bool:
    return first_byte(a) == first_byte(b)


@share_bytes.mistake(POINTERS)
def compares_data_ptr_of_tensors(a: Any, b: Any) -> bool:
    return a.data_ptr() == b.data_ptr()


STORAGES = (
    "You ask whether the two stand on one storage. Halves of one storage need not meet: write to "
    "`x[:6]` and look whether `x[6:]` changes. (And one memory can have two handles, after NumPy.)"
)


@share_bytes.mistake(STORAGES)
def compares_storages(a: Either, b: Either) -> bool:
    return block(a)[0] == block(b)[0]


@share_bytes.mistake(STORAGES)
def compares_storages_of_tensors(a: Any, b: Any) -> bool:
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


@share_bytes.mistake(STORAGES)
def compares_storages_by_way_of_torch(a: Either, b: Either) -> bool:
    return compares_storages_of_tensors(torch.as_tensor(a), torch.as_tensor(b))


RANGES = (
    "You ask whether the ranges meet, from the first byte to the last. `x[::2]` and `x[1::2]` lie in "
    "each other's gaps: does a write to one ever reach the other?"
)


@share_bytes.mistake(RANGES)
def compares_ranges(a: Either, b: Either) -> bool:
    first, second = all_bytes(a), all_bytes(b)
    return bool(first and second and min(first) <= max(second) and min(second) <= max(first))


@share_bytes.mistake(RANGES)
def compares_ranges_that_only_go_up(a: Either, b: Either) -> bool:
    (a0, a1), (b0, b1) = (
        (
            first_byte(x),
            first_byte(x)
            + sum((n - 1) * step for n, step in zip(x.shape, byte_steps(x), strict=True))
            + x.itemsize,
        )
        for x in (a, b)
    )
    return a0 < b1 and b0 < a1


@share_bytes.mistake(RANGES)
def compares_bounds_as_numpy_does(a: Either, b: Either) -> bool:
    return np.may_share_memory(np.asarray(a), np.asarray(b))


PIECES = (
    "You take each of them for one piece: so many bytes from its first on. With a step there are "
    "gaps, and the last element lies further away: `x[::3]` of 12 elements reaches the tenth."
)


@share_bytes.mistake(PIECES)
def takes_both_for_one_piece(a: Either, b: Either) -> bool:
    (a0, a1), (b0, b1) = ((first_byte(x), first_byte(x) + x.nbytes) for x in (a, b))
    return a0 < b1 and b0 < a1


@share_bytes.mistake(PIECES)
def takes_both_for_sets_of_one_piece(a: Either, b: Either) -> bool:
    first, second = (set(range(first_byte(x), first_byte(x) + x.nbytes)) for x in (a, b))
    return not first.isdisjoint(second)


VALUES = (
    "You compare values. Two new tensors of the same numbers share nothing, and two views of one "
    "tensor can show quite different ones. What counts is where they lie."
)


@share_bytes.mistake(VALUES)
def compares_values(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool((a == b).all())


@share_bytes.mistake(VALUES)
def looks_for_a_value_in_common(a: Either, b: Either) -> bool:
    first, second = ({float(v) for v in np.asarray(x).ravel()} for x in (a, b))
    return not first.isdisjoint(second)


BASES = (
    "You ask from which tensor the two were made. That is autograd's notebook, with gaps: it knows "
    "neither `detach()` nor NumPy, and two halves of one base need not meet."
)


def base_of(x: Any) -> Any:
    """The base that a tensor or an array was made from, or itself."""
    base = x._base if isinstance(x, torch.Tensor) else x.base
    return x if base is None else base


@share_bytes.mistake(BASES)
def compares_bases(a: Either, b: Either) -> bool:
    return base_of(a) is base_of(b)


@share_bytes.mistake(BASES)
def compares_bases_of_tensors(a: Any, b: Any) -> bool:
    return a._base is b or b._base is a or (a._base is not None and a._base is b._base)


@share_bytes.mistake(BASES)
def asks_whether_they_are_views(a: Any, b: Any) -> bool:
    return a._is_view() or b._is_view()


@share_bytes.mistake(BASES)
def asks_the_second_first(a: Any, b: Any) -> bool:
    return b._is_view() or a._is_view()


@share_bytes.mistake(BASES)
def asks_whether_one_is_the_base_of_the_other(a: Any, b: Any) -> bool:
    return a._base is b or b._base is a


@share_bytes.mistake(
    "You compare the first bytes of the elements only. A `uint8` view can begin in the middle of "
    "a float: every element has `itemsize` bytes, and all of them count."
)
def compares_first_bytes_of_elements(a: Either, b: Either) -> bool:
    return not all_bytes(a, item=1).isdisjoint(all_bytes(b, item=1))


@share_bytes.mistake(
    "You ask whether all of a lies inside b. That is more than sharing: `x[2:8]` and `x[5:]` have "
    "bytes in common, and each has some of its own. (And an empty set lies inside any.)"
)
def asks_for_a_subset(a: Either, b: Either) -> bool:
    return all_bytes(a) <= all_bytes(b)


@share_bytes.mistake(
    "You ask whether one of the two lies inside the other. They can meet without that: `x[2:8]` "
    "and `x[5:]`. (And an empty set lies inside any.)"
)
def asks_for_either_subset(a: Either, b: Either) -> bool:
    first, second = all_bytes(a), all_bytes(b)
    return first <= second or second <= first


@share_bytes.mistake(
    "You multiply NumPy's strides by the size of an element. They count bytes already: print "
    "`x.stride()` beside `x.numpy().strides`."
)
def takes_numpy_strides_for_elements(a: Either, b: Either) -> bool:
    first, second = (
        all_bytes(x, steps=[s * x.itemsize for s in x.strides])
        if isinstance(x, np.ndarray)
        else all_bytes(x)
        for x in (a, b)
    )
    return not first.isdisjoint(second)


@share_bytes.mistake(
    "Your steps along a torch tensor count bytes, and torch's strides count elements: each of "
    "those takes `itemsize` bytes. (NumPy's are in bytes already.)"
)
def takes_torch_strides_for_bytes(a: Either, b: Either) -> bool:
    first, second = (
        all_bytes(x, steps=list(x.stride())) if isinstance(x, torch.Tensor) else all_bytes(x)
        for x in (a, b)
    )
    return not first.isdisjoint(second)


@share_bytes.mistake(
    "Your steps go forward only. An array can walk backwards, as `n[::-1]` does: its stride is "
    "negative, and its first element lies behind its last."
)
def walks_forward_only(a: Either, b: Either) -> bool:
    first, second = (all_bytes(x, steps=list(map(abs, byte_steps(x)))) for x in (a, b))
    return not first.isdisjoint(second)


SAME_FOR_ALL = (
    "You say the same of every pair (so does `a is b`, since a view is an object of its own). Some of "
    "these share memory and some do not: the first two inputs are one of each."
)


@share_bytes.mistake(SAME_FOR_ALL)
def says_yes(a: Either, b: Either) -> bool:
    return True


@share_bytes.mistake(SAME_FOR_ALL)
def says_no(a: Either, b: Either) -> bool:
    return False
