"""E1: the bytes that a tensor reaches, as a set."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import torch

from stridekit.exercises.answers import as_int, as_ints
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome

RUNS_SHOWN = 6


def read_byte_set(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a set of bytes, or what holds ints otherwise; {} passes for no bytes.

    Absolute addresses are shown from the storage's start, so that none gets into a report.
    """
    empty_dict = isinstance(answer, dict) and not answer
    if isinstance(answer, set | frozenset) or empty_dict:
        found = {as_int(byte, "an int in the set") for byte in answer}
    else:
        flat = isinstance(answer, np.ndarray) and answer.ndim == 1
        found = set(as_ints(answer.tolist() if flat else answer, "a set of ints"))
    storage = args["t"].untyped_storage()
    far = 16 * storage.nbytes() + 4096  # beyond what wrong units could make of a byte
    if found and min(found) > far:
        after = {byte - storage.data_ptr() for byte in found}
        if max(map(abs, after)) > far:
            return Outcome({"bytes": "outside"}, "numbers far outside the storage")
        shown = f"addresses: the storage's start, plus\n{in_runs(after)}"
        return Outcome({"addresses": frozenset(after)}, shown)
    facts = {"count": len(found), "bytes": frozenset(found)}
    return Outcome(facts, in_runs(found))


def in_runs(found: Iterable[int]) -> str:
    """How many bytes, and which, in runs of neighbours.

    >>> in_runs({0, 1, 2, 3, 8, 9, 10, 11, 16})
    '9 bytes: 0–3, 8–11, 16'
    """
    runs: list[list[int]] = []
    for byte in sorted(found):
        if runs and byte == runs[-1][1] + 1:
            runs[-1][1] = byte
        else:
            runs.append([byte, byte])
    if not runs:
        return "no byte"
    count = sum(last - first + 1 for first, last in runs)
    shown = [f"{a}–{b}" if a < b else str(a) for a, b in runs[:RUNS_SHOWN]]
    dots = ", …" if len(runs) > RUNS_SHOWN else ""
    return f"{count} {'byte' if count == 1 else 'bytes'}: {', '.join(shown)}{dots}"


@exercise(
    title="the bytes that a tensor reaches",
    read=read_byte_set,
    cases=[
        "t = torch.zeros(3, dtype=torch.int16)",
        "t = torch.zeros(2, 3, dtype=torch.float32)",
        "t = torch.zeros(10, dtype=torch.int16)[4:7]",
        "t = torch.zeros(10, dtype=torch.int16)[::3]",
        "t = torch.zeros(4, 6, dtype=torch.int16)[:, 2]",
        "t = torch.zeros(4, 6, dtype=torch.int32)[1:, ::2]",
        "t = torch.zeros(4, 6, dtype=torch.float64)[1:3, 2:4].t()",
        "t = torch.arange(12, dtype=torch.uint8)[1::4]",
        "t = torch.ones(9, dtype=torch.bool)[2:8:5]",
        "t = torch.zeros(3, dtype=torch.int16).expand(4, 3)",
        "t = torch.zeros(7, dtype=torch.int16)[1:].unfold(0, 3, 2)",
        "t = torch.zeros(2, 3, 4, dtype=torch.int16)[:, 1:, ::3]",
        "t = torch.zeros(2, 2, 3, 2, dtype=torch.int16).permute(3, 1, 0, 2)[1:, :, 1]",
        "t = torch.zeros(3, 5, dtype=torch.complex64)[1:2, 2:3]",
        "t = torch.zeros(2, 2, 2, 2, 2, dtype=torch.uint8)[..., 1]",
        "t = torch.zeros(10, dtype=torch.int16)[7]",
        "t = torch.tensor(7.0)",
        "t = torch.zeros(10, dtype=torch.int16)[4:4]",
        "t = torch.zeros(4, 6)[2:2, 1:]",
        "t = torch.empty(0)",
    ],
    hints=[
        "First the numbers of the elements in the storage, by the formula of the last lesson: one "
        "for each index of t. Then the bytes of each element.",
        "Start with one number, that of t's first element. Each dim multiplies what you have: for "
        "every number so far, and every `i in range(size)`, take `i * step` more.",
        "An element with number e has the bytes `e * item + k` for `k in range(item)`. Put them "
        "all into one set; where t has no element, none is left.",
    ],
    otherwise="Take the input above to paper: the storage is a line of bytes. Mark the bytes of each "
    "element of t, one element after the other, and compare the marks with yours.",
    takeaway="A tensor's memory set: every index, every byte. Two such sets say who shares what.",
)
def memset_of(t: torch.Tensor) -> set[int]:
    """The memory set of t: the bytes of its storage that t's elements occupy.

    t       a small strided tensor of any dtype, perhaps sliced, transposed, expanded or empty
    return  a set of ints: byte 0 is the first of the storage, wherever that lies in memory
    """
    item = t.element_size()
    elements = {t.storage_offset()}
    for size, step in zip(t.shape, t.stride(), strict=True):
        elements = {e + i * step for e in elements for i in range(size)}
    return {e * item + k for e in elements for k in range(item)}


def elements(t: torch.Tensor, offset: int | None = None) -> set[int]:
    """The numbers of t's elements in its storage; those from another offset, if one is given."""
    start = t.storage_offset() if offset is None else offset
    return {
        start + sum(i * step for i, step in zip(index, t.stride(), strict=True))
        for index in product(*map(range, t.shape))
    }


def widened(starts: Iterable[int], item: int) -> set[int]:
    """All bytes of the elements that start at these."""
    return {start + k for start in starts for k in range(item)}


OFF_BY_ONE = (
    "One byte too many: an element of 2 bytes that starts at byte 6 has the bytes 6 and 7. Count "
    "those of the first input with your fingers: how many should there be?"
)


@memset_of.mistake(OFF_BY_ONE)
def has_a_byte_behind_each_element(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    return widened((e * item for e in elements(t)), item + 1)


@memset_of.mistake(
    "You have the first byte of each element, and no other. An element takes `t.element_size()` "
    "bytes in a row, and they all belong to it."
)
def has_first_bytes_only(t: torch.Tensor) -> set[int]:
    return {e * t.element_size() for e in elements(t)}


@memset_of.mistake(
    "The last byte of each element is missing: `range(a, b)` stops before b. An element of 2 bytes "
    "that starts at byte 6 has the bytes 6 and 7."
)
def leaves_the_last_byte_out(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    return widened((e * item for e in elements(t)), item - 1)


@memset_of.mistake(
    "Those are the numbers of the elements. The set is one of bytes: which bytes does element "
    "number 5 have when an element takes 2 of them?"
)
def counts_elements(t: torch.Tensor) -> set[int]:
    return elements(t)


@memset_of.mistake(
    "You take everything between the first and the last byte. t can leave gaps: look at `x[::3]`, "
    "and ask which of its neighbours in the storage it really reaches."
)
def fills_the_gaps(t: torch.Tensor) -> set[int]:
    found = elements(t)
    item = t.element_size()
    return set(range(min(found) * item, (max(found) + 1) * item)) if found else set()


@memset_of.mistake(
    "You count from t's own first element. Byte 0 is the storage's first: where in it does a "
    "slice such as `x[4:7]` begin?"
)
def forgets_the_offset(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    return widened((e * item for e in elements(t, 0)), item)


@memset_of.mistake(
    "Your bytes lie in one piece, as those of a new tensor do. A column or a slice with a step "
    "leaves gaps, and an expanded tensor comes back: ask `t.stride()` where the next element is."
)
def lays_them_in_one_piece(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    start = t.storage_offset() * item
    return set(range(start, start + t.numel() * item))


@memset_of.mistake(
    "That is the whole storage. It may hold much that t never reaches: which bytes would change "
    "if you filled t with other values?"
)
def takes_the_storage(t: torch.Tensor) -> set[int]:
    return set(range(t.untyped_storage().nbytes()))


@memset_of.mistake(
    "Those are addresses in this process, other ones at every run. Count from the start of the "
    "storage: no `data_ptr()` is needed."
)
def gives_addresses(t: torch.Tensor) -> set[int]:
    item, start = t.element_size(), t.untyped_storage().data_ptr()
    return widened((start + e * item for e in elements(t)), item)


@memset_of.mistake(
    "Two units meet: your steps are in bytes, the storage offset still counts elements. Try it on "
    "a slice that starts later."
)
def adds_an_offset_in_elements(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    return widened((t.storage_offset() + e * item for e in elements(t, 0)), item)


@memset_of.mistake(
    "Two units meet: the offset is in bytes, your steps are not. torch's strides count elements, "
    "and each of those takes `t.element_size()` bytes."
)
def steps_in_elements(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    return widened((t.storage_offset() * item + e for e in elements(t, 0)), item)


@memset_of.mistake(
    "You step once too often along each dim: a dim of size 3 has the indices 0, 1 and 2, so its "
    "last element lies two steps from its first."
)
def steps_once_too_often(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    wider = {t.storage_offset()}
    for size, step in zip(t.shape, t.stride(), strict=True):
        wider = {e + i * step for e in wider for i in range(size + 1)}
    return widened((e * item for e in wider), item)


@memset_of.mistake(
    "Those are t's values. Where an element lies never depends on what it holds: a tensor of "
    "zeros has a memory set too."
)
def collects_values(t: torch.Tensor) -> set[int]:
    return {int(value.real) for value in t.flatten()}


NO_ELEMENT = (
    "Right wherever t has an element. Where a size is 0 there is no index, so there is no byte "
    "either: the answer is the empty set."
)


@memset_of.mistake(NO_ELEMENT)
def gives_an_empty_tensor_one_element(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    found = elements(t) if t.numel() else {t.storage_offset()}
    return widened((e * item for e in found), item)


@memset_of.mistake(NO_ELEMENT)
def starts_with_the_first_element(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    found = {t.storage_offset()}
    for size, step in zip(t.shape, t.stride(), strict=True):
        found |= {e + i * step for e in found for i in range(size)}
    return widened((e * item for e in found), item)


SOME_DIMS = (
    "Your loops are made for a certain number of dims, and t can have any, also none. One stride "
    "a dim: let a single loop run over all of them."
)


def for_dims(dims: int, strict: bool) -> Any:
    """The wrong answer that walks this many dims, and stops on others if it is strict."""

    def answer(t: torch.Tensor) -> set[int]:
        if t.ndim < dims or (strict and t.ndim != dims):
            raise (ValueError if strict else IndexError)("not this many dims")
        item = t.element_size()
        pairs = zip(t.shape[:dims], t.stride()[:dims], strict=True)
        walked = {t.storage_offset()}
        for size, step in pairs:
            walked = {e + i * step for e in walked for i in range(size)}
        return widened((e * item for e in walked), item)

    return answer


for dims in (1, 2, 3):
    for strict in (False, True):
        memset_of.mistake(SOME_DIMS)(for_dims(dims, strict))


@memset_of.mistake(OFF_BY_ONE)
def stops_behind_the_last_byte_of_one_piece(t: torch.Tensor) -> set[int]:
    item = t.element_size()
    start = t.storage_offset() * item
    return set(range(start, start + t.numel() * item + 1))
