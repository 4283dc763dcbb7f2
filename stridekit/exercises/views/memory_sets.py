"""E1 and E2: the bytes that a tensor reaches, and whether two have one in common."""

from collections.abc import Set
from typing import Any

import numpy as np
import torch

from stridekit._arguments import many
from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import as_int, read_yes_or_no, type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable
from stridekit.exercises.watch import Means

Either = Any  # a torch.Tensor or an np.ndarray

RUNS_SHOWN = 6
ADDRESSES = (
    "Those are addresses: they change from run to run. Count from the start of the storage, which "
    "is byte 0 wherever it lies."
)


def read_byte_set(answer: Any, args: Arguments) -> Outcome:
    """Read a set of bytes; {} stands for no bytes.

    Absolute addresses are shown relative to the storage's start, so that none gets into a report.
    """
    if not isinstance(answer, Set) and (not isinstance(answer, dict) or answer):
        raise Unusable(f"{type_in_words(answer)}, where a set of ints is asked for")
    if len(answer) > 100_000:
        raise Unusable(f"{type_in_words(answer)}, more than any answer needs")
    numbers = {as_int(byte, "an int in the set") for byte in answer}
    storage = args["t"].untyped_storage()
    far = 16 * storage.nbytes() + 4096  # beyond what wrong units could make of a byte
    if numbers and min(numbers) > far:
        distances = {byte - storage.data_ptr() for byte in numbers}
        if max(map(abs, distances)) > far:
            return Outcome({"bytes": "outside"}, "numbers far outside the storage")
        shown = f"addresses: the storage's start, plus\n{in_runs(distances)}"
        return Outcome({"addresses": frozenset(distances)}, shown, ADDRESSES)
    facts = {"count": len(numbers), "bytes": frozenset(numbers)}
    return Outcome(facts, in_runs(numbers))


def in_runs(numbers: Set[int]) -> str:
    """Return the number of bytes, then the bytes themselves, in runs of neighbours.

    >>> in_runs({0, 1, 2, 3, 8, 9, 10, 11, 16})
    '9 bytes: 0–3, 8–11, 16'
    """
    if not numbers:
        return "no byte"
    ordered = sorted(numbers)
    firsts = [byte for byte in ordered if byte - 1 not in numbers]
    lasts = [byte for byte in ordered if byte + 1 not in numbers]
    ends = zip(firsts, lasts, strict=True)
    runs = [f"{first}–{last}" if first < last else str(first) for first, last in ends]
    shown = runs[:RUNS_SHOWN]
    if len(runs) > RUNS_SHOWN:
        shown.append("…")
    return f"{many(len(numbers), 'byte')}: {', '.join(shown)}"


@exercise(
    title="the bytes that a tensor reaches",
    read=read_byte_set,
    means=Means(whole=("memset",)),
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
    otherwise=(
        "Draw the storage of the input above as a line of bytes. Mark the bytes of each element "
        "of t, and compare the marks with your answer."
    ),
    takeaway=("A memory set has every byte of every index. Two sets show what two tensors share."),
)
def memset_of(t: torch.Tensor) -> set[int]:
    """The memory set of t: the bytes of its storage that t's elements occupy.

    t       a small strided tensor of any dtype, perhaps sliced, transposed, expanded or empty
    return  a set of ints: byte 0 is the first of the storage, wherever that lies in memory

    Not allowed: `memset`, which answers the same question.
    """
    item = t.element_size()
    elements = {t.storage_offset()}
    for size, step in zip(t.shape, t.stride(), strict=True):
        elements = {e + i * step for e in elements for i in range(size)}
    return {e * item + k for e in elements for k in range(item)}


OFF_BY_ONE = (
    "One byte too many: an element of 2 bytes that starts at byte 6 has bytes 6 and 7. Count the "
    "bytes of the first input by hand: how many are there?"
)
DIMS = "zip(t.shape, t.stride(), strict=True)"

memset_of.slots["range(item)"] = {
    "range(1)": (
        "You have only the first byte of each element. An element takes `t.element_size()` bytes "
        "in a row."
    ),
    "range(1, item + 1)": (
        "Each of your elements begins one byte too late. At which byte does element number 0 begin?"
    ),
    "range(item + 1)": OFF_BY_ONE,
    "range(item - 1)": (
        "The last byte of each element is missing: `range(a, b)` stops before b. An element of 2 "
        "bytes that starts at byte 6 has the bytes 6 and 7."
    ),
}
memset_of.slots["range(size)"] = {
    "range(size + 1)": (
        "You step once too often along each dim: a dim of size 3 has the indices 0, 1 and 2, so "
        "its last element lies two steps from its first."
    ),
    "range(size - 1)": (
        "You leave out the last index of each dim: a dim of size 3 has the indices 0, 1 and 2, and "
        "`range(3)` runs through just these."
    ),
}
memset_of.slots["{t.storage_offset()}"] = {
    "{0}": (
        "You count from t's own first element. Byte 0 is the first of the storage: at which byte "
        "does `x[4:7]` begin?"
    ),
}
memset_of.slots["t.stride()"] = {
    "torch.empty(t.shape).stride()": (
        "Your bytes lie in one piece, like those of a new tensor. A column or a slice with a step "
        "leaves gaps, and an expanded tensor returns to the same bytes. Where does `t.stride()` "
        "lead?"
    ),
    "t.shape": "You step by sizes. `t.stride()` has the distance to the next element for each dim.",
}
memset_of.wrong |= {
    (
        "e * item + k => e",
        "set(range(t.storage_offset(), t.storage_offset() + t.numel()))",
        "set(range(t.numel()))",
    ): (
        "Those are numbers of elements, and the task asks for bytes. Which bytes does element "
        "number 5 have when an element takes 2 of them?"
    ),
    "e * item + k => t.storage_offset() + (e - t.storage_offset()) * item + k": (
        "You mix two units: your steps are in bytes, and the storage offset still counts elements. "
        "Try a slice that starts later."
    ),
    "e * item + k => t.storage_offset() * item + (e - t.storage_offset()) + k": (
        "You mix two units: the offset is in bytes, and your steps are not. torch's strides count "
        "elements."
    ),
    "{t.storage_offset() + k for k in range(t.nbytes)}": (
        "You mix two units: you add numbers of bytes to the storage offset, which counts elements. "
        "Try a slice that starts later."
    ),
    "e * item + k => e + k": (
        "You add numbers of bytes to numbers of elements. The element after number 5 begins a "
        "whole element later, not a byte: multiply before you add."
    ),
    (
        "i in range(size) => i in range(size if t.numel() else 1)",
        "elements = {e => elements |= {e",
        "memset_of(t) or {t.storage_offset() * t.itemsize}",
    ): (
        "Right wherever t has an element. If a size is 0, t does not reach any byte: the answer is "
        "the empty set."
    ),
    "{t.storage_offset() * t.itemsize + i * s * t.itemsize + k "
    "for n, s in zip(t.shape, t.stride()) for i in range(n) for k in range(t.itemsize)}": (
        "You walk along one dim at a time, always from the first element. An index steps along "
        "every dim at once: `t[1, 2]` is 1 step along dim 0 and 2 steps along dim 1."
    ),
    "set(range(min(memset_of(t)), max(memset_of(t)) + 1)) if t.numel() else set()": (
        "You take everything between the first and the last byte. But t can leave gaps. Which "
        "elements of the storage does `x[::3]` reach?"
    ),
    "set(range(t.untyped_storage().nbytes()))": (
        "That is the whole storage. t may reach only a part of it: which bytes change if you fill "
        "t with other values?"
    ),
    "{t.untyped_storage().data_ptr() + byte for byte in memset_of(t)}": ADDRESSES,
    "{int(value.real) for value in t.flatten()}": (
        "Those are t's values. The place of an element never depends on its value: a tensor of "
        "zeros has a memory set too."
    ),
    "set(range(start := t.storage_offset() * t.itemsize, start + t.nbytes + 1))": OFF_BY_ONE,
    (
        f"{DIMS} => [(t.size(d), t.stride(d)) for d in range(1)]",
        f"{DIMS} => [(t.size(d), t.stride(d)) for d, _ in zip(range(1), t.shape, strict=True)]",
        f"{DIMS} => [(t.size(d), t.stride(d)) for d in range(2)]",
        f"{DIMS} => [(t.size(d), t.stride(d)) for d, _ in zip(range(2), t.shape, strict=True)]",
        f"{DIMS} => [(t.size(d), t.stride(d)) for d in range(3)]",
        f"{DIMS} => [(t.size(d), t.stride(d)) for d, _ in zip(range(3), t.shape, strict=True)]",
    ): (
        "Your loops are written for a fixed number of dims, and t can have any number, even none. "
        "Let one loop run over all dims."
    ),
    (
        "e * item + k for e in elements for k in range(item) => "
        "e * 4 + k for e in elements for k in range(4)",
        "e * item + k for e in elements for k in range(item) => "
        "e * 8 + k for e in elements for k in range(8)",
    ): shared.ITEMSIZE.format("t.element_size()"),
}


@exercise(
    title="do these two share a byte?",
    read=read_yes_or_no,
    means=Means(whole=("shares_memory", "memset", "relation", "is_view")),
    cases=[
        "x = torch.arange(12)\na, b = x[2:8], x[5:]",
        "x = torch.arange(12)\na, b = x[:6], x[6:]",
        "a, b = torch.arange(6), torch.arange(6)",
        "x = torch.arange(12)\na, b = x, x[3:9].clone()",
        "x = torch.arange(12)\na, b = x[::2], x[1::2]",
        "x = torch.arange(12)\na, b = x[::2], x[::3]",
        "x = torch.arange(12)\na, b = x[1::3], x[2::3]",
        "x = torch.arange(12)\na, b = x[5:6], x[::5]",
        "x = torch.arange(12).view(3, 4)\na, b = x.t(), x[1, 2]",
        "x = torch.arange(12).view(3, 4)\na, b = x[1], x[:, 2]",
        "x = torch.arange(12).view(3, 4)\na, b = x[:, 1], x[:, 2]",
        "x = torch.arange(12).view(3, 4)\na, b = x[:, :2], x[:, 2:]",
        "x = torch.arange(12).view(3, 4)\na, b = x[:, :2], x[1:, :1]",
        "x = torch.arange(12).view(3, 4)\na, b = x[:2, 1:3], x[1:, 2:]",
        "x = torch.arange(12).view(3, 4)\na, b = x.reshape(-1), x[2]",
        "x = torch.arange(12).view(3, 4)\na, b = x.t().reshape(-1), x",
        "x = torch.arange(12)\na, b = x.detach()[3:], x",
        "x = torch.arange(12)\na, b = x[4], x[::3]",
        "x = torch.arange(12)\na, b = x[6], x[::3]",
        "x = torch.arange(12)\na, b = x[2].expand(4, 3), x[:3]",
        "x = torch.arange(12)\na, b = x[:2].expand(5, 2), x[2:4].expand(5, 2)",
        "x = torch.arange(12)\na, b = x.unfold(0, 2, 5), x[3:5]",
        "x = torch.arange(12)\na, b = x[6:], x[6:].as_strided((3,), (1,), 2)",
        "x = torch.zeros(4)\na, b = x, x.view(torch.uint8)[5:7]",
        "x = torch.zeros(4)\na, b = x.view(torch.uint8)[5:7], x",
        "x = torch.zeros(4)\na, b = x[1:2], x.view(torch.int16)[3]",
        "x = torch.zeros(4)\na, b = x.view(torch.uint8)[1::4], x[2:3]",
        "x = torch.zeros(4)\na, b = x[2:3], x.view(torch.uint8)[1::4]",
        "x = torch.zeros(4)\na, b = x.view(torch.int16)[::2], x.view(torch.int16)[1::2]",
        "x = torch.arange(12)\na, b = x[:0], x",
        "a, b = torch.empty(0), torch.empty(0)",
        "x = torch.arange(12)\na, b = x[3:3], x[:0]",
        "x = torch.arange(12)\na, b = x, x.numpy()[3:]",
        "x = torch.arange(12)\na, b = x.numpy()[1::2], x[::2]",
        "x = torch.arange(12)\na, b = x.numpy()[1::2], x[3::4]",
        "x = torch.arange(12)\na, b = x.numpy().reshape(3, 4)[:, 1], x[2::4]",
        "x = torch.arange(12)\na, b = torch.from_numpy(x.numpy()[4:]), x[:6]",
        "x = torch.arange(12)\na, b = torch.from_numpy(x.numpy()[6:]), x[:6]",
        "n = np.arange(12)\na, b = n[::-1], n[:1]",
        "n = np.arange(12)\na, b = torch.from_numpy(n)[:6], n[:5:-1]",
        "n = np.arange(12)\na, b = n[::-2], torch.from_numpy(n)[::2]",
        "x = torch.zeros(8, dtype=torch.bfloat16)\na, b = x[::2], x[1::2]",
        "x = torch.zeros(8, dtype=torch.bfloat16)\na, b = x[2:], x.view(4, 2)[1]",
        "a, b = torch.arange(6, dtype=torch.uint8), np.arange(6, dtype=np.uint8)",
        "n = np.zeros((3, 4))\na, b = n[:, 1:1], n",
    ],
    hints=[
        "You have written the memory set of one tensor. Two such sets can be compared, if both "
        "count from the same place: here that has to be memory itself.",
        "The first element of a tensor lies at `data_ptr()`; that of an array at "
        '`array.__array_interface__["data"][0]`. From there, the steps: torch counts them in '
        "elements, NumPy in bytes, and backwards too.",
        "Make the set of all bytes of a, and that of b. `not first.isdisjoint(second)` is the "
        "answer, also where one of them is empty.",
    ],
    otherwise=(
        "Draw the memory as a line. Mark each byte of a, then each byte of b. Is a byte marked "
        "twice?"
    ),
    takeaway="Two tensors share memory if they have a byte in common. Nothing else decides it.",
)
def share_bytes(a: torch.Tensor | np.ndarray, b: torch.Tensor | np.ndarray) -> bool:
    """Whether a and b have a byte in common, so that a write to one may change the other.

    a, b    small: each a strided tensor on the CPU or a NumPy array, of any dtype, perhaps empty
    return  True or False

    Not allowed: `shares_memory`, `memset`, `relation` and `is_view`.
    """
    memsets = []
    for x in (a, b):
        if isinstance(x, torch.Tensor):
            places, steps = {x.data_ptr()}, tuple(s * x.itemsize for s in x.stride())
        else:
            places, steps = {x.__array_interface__["data"][0]}, x.strides
        for size, step in zip((*x.shape, x.itemsize), (*steps, 1), strict=True):
            places = {byte + i * step for byte in places for i in range(size)}
        memsets.append(places)
    return not memsets[0].isdisjoint(memsets[1])


def are_tensors(a: Either, b: Either) -> bool:
    return isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)


def from_its_storage(x: Either) -> set[int]:
    """Return the bytes of exercise 1; an array is taken over by torch first."""
    return memset_of.reference(torch.as_tensor(x))


def with_offset_twice(x: Either) -> set[int]:
    """Return the bytes of exercise 1, counted from the tensor's own start."""
    return {x.data_ptr() + byte for byte in memset_of.reference(x)}


def first_byte(x: Either) -> int:
    if isinstance(x, torch.Tensor):
        return x.data_ptr()
    address: int = x.__array_interface__["data"][0]
    return address


def block(x: Either) -> int:
    """Return the address of a tensor's storage, or of the block that an array lies in."""
    if isinstance(x, torch.Tensor):
        return x.untyped_storage().data_ptr()
    while isinstance(x.base, np.ndarray):
        x = x.base
    return first_byte(x) if x.base is None else block(x.base)


def without_gaps(x: Either) -> range:
    """Return as many bytes as x's elements take, in a row from its first byte on."""
    return range(first_byte(x), first_byte(x) + x.nbytes)


def first_to_last(x: Either) -> range:
    """Return the bytes from x's first element to its last, as if every step went forward."""
    is_array = isinstance(x, np.ndarray)
    steps = x.strides if is_array else [step * x.itemsize for step in x.stride()]
    reach = sum((size - 1) * step for size, step in zip(x.shape, steps, strict=True))
    return range(first_byte(x), first_byte(x) + reach + x.itemsize)


def overlap(first: range, second: range) -> bool:
    return first.start < second.stop and second.start < first.stop


def base_of(x: Either) -> Either:
    """Return the base that a tensor or an array was made from; x itself if it has none."""
    base = x._base if isinstance(x, torch.Tensor) else x.base
    return x if base is None else base


share_bytes.slots["s * x.itemsize"] = {
    "s": (
        "Addresses count bytes, and torch's strides count elements: how many bytes is one step "
        "along a tensor? (NumPy's strides are in bytes already.)"
    ),
}
share_bytes.slots["not memsets[0].isdisjoint(memsets[1])"] = {
    (
        "memsets[0] <= memsets[1]",
        "memsets[1] <= memsets[0]",
        "memsets[0] <= memsets[1] or memsets[1] <= memsets[0]",
    ): (
        "You ask whether one of the two lies inside the other. They can also meet in a part, such "
        "as `x[2:8]` and `x[5:]`. (And an empty set lies inside any set.)"
    ),
}
share_bytes.slots["(*x.shape, x.itemsize)"] = {
    "(*x.shape, 1)": (
        "You compare only the first bytes of the elements. A `uint8` view can begin in the middle "
        "of a float. How many bytes does an element have?"
    ),
}
share_bytes.slots["x.strides"] = {
    "[s * x.itemsize for s in x.strides]": (
        "You multiply NumPy's strides by the size of an element. They count bytes already: print "
        "`x.stride()` beside `x.numpy().strides`."
    ),
    "[s // x.itemsize for s in x.strides]": (
        "You count an array's steps in elements. Addresses count bytes, and so do NumPy's strides: "
        "take them as they are."
    ),
}
share_bytes.slots["(*steps, 1)"] = {
    "(*map(abs, steps), 1)": (
        "Your steps only go forward. An array such as `n[::-1]` walks backwards. Its stride is "
        "negative, and its first element lies after its last."
    ),
}
share_bytes.wrong |= {
    (
        "(*x.shape, x.itemsize) => (*x.shape, a.itemsize)",
        "(*x.shape, x.itemsize) => (*x.shape, b.itemsize)",
    ): (
        "You count with one size of elements for both. A float32 and a view of its bytes are on "
        "one memory, and each has an `itemsize` of its own."
    ),
    ("(*x.shape, x.itemsize) => (*x.shape, 4)", "(*x.shape, x.itemsize) => (*x.shape, 8)"): (
        shared.ITEMSIZE.format("x.itemsize")
    ),
    "(*x.shape, x.itemsize) => (*x.shape, x.itemsize + 1)": (
        "One byte too many for each element: the next one belongs to the neighbour. `x[:6]` and "
        "`x[6:]` only touch."
    ),
    "not memsets[0].isdisjoint(memsets[1]) => memsets[0] == memsets[1]": (
        "You ask whether the two have the same bytes. One common byte is enough."
    ),
    (
        "not memsets[0].isdisjoint(memsets[1]) => "
        "memsets[0] != set() and min(memsets[0]) in memsets[1]",
        "not memsets[0].isdisjoint(memsets[1]) => "
        "any(a and min(a) in b for a, b in (memsets, memsets[::-1]))",
    ): (
        "You look for a first byte alone. Two tensors can meet further on: `x[1]` and `x[:, 2]` of "
        "a matrix have one element in common, and neither begins with it."
    ),
    "not share_bytes(a, b)": (
        "Each answer is the opposite of the right one. `isdisjoint` is True where nothing is "
        "shared."
    ),
    (
        "bool(memset_of.reference(a) & memset_of.reference(b))",
        "bool(from_its_storage(a) & from_its_storage(b))",
        "bool(from_its_storage(np.array(a)) & from_its_storage(np.array(b))) "
        "if not are_tensors(a, b) else bool(memset_of.reference(a) & memset_of.reference(b))",
        "block(torch.as_tensor(a)) == block(torch.as_tensor(b)) "
        "and bool(from_its_storage(a) & from_its_storage(b))",
    ): (
        "You count from the start of a storage, as in exercise 1. Here a and b can have two "
        "storages, and each has a byte 0 of its own. Compare addresses in memory."
    ),
    (
        "bool(with_offset_twice(a) & with_offset_twice(b))",
        "bool(with_offset_twice(a) & with_offset_twice(b)) "
        "if are_tensors(a, b) else share_bytes(a, b)",
    ): (
        "The offset counts twice: `data_ptr()` is where the tensor begins, its storage offset "
        "included. Add the steps alone to it, or the bytes of exercise 1 to "
        "`untyped_storage().data_ptr()`."
    ),
    ("first_byte(a) == first_byte(b)", "a.data_ptr() == b.data_ptr()"): (
        "You compare where the two begin. `x[2:8]` and `x[5:]` begin at different bytes and yet "
        "meet."
    ),
    (
        "block(a) == block(b)",
        "a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()",
        "block(torch.as_tensor(a)) == block(torch.as_tensor(b))",
    ): (
        "You ask whether the two are on one storage. Two halves of one storage do not meet: does a "
        "write to `x[:6]` change `x[6:]`? (And after NumPy, one memory can have two storages.)"
    ),
    ("np.may_share_memory(a, b)", "overlap(first_to_last(a), first_to_last(b))"): (
        "You ask whether the ranges meet, from the first byte to the last. But `x[::2]` and "
        "`x[1::2]` lie in each other's gaps. Does a write to one reach the other?"
    ),
    (
        "first_byte(a) <= first_byte(b) < first_byte(a) + a.nbytes",
        "a.data_ptr() <= b.data_ptr() < a.data_ptr() + a.nbytes",
    ): (
        "You ask whether b begins inside of a, as if a lay in one piece. a can also begin inside "
        "of b, and both can leave gaps."
    ),
    "overlap(without_gaps(a), without_gaps(b))": (
        "You take each of them for one piece: `nbytes` bytes from its first element on. A step "
        "leaves gaps: `x[::3]` of 12 elements reaches the tenth."
    ),
    ("a.nbytes > 0 and b.nbytes > 0", "a.nbytes > 0 or b.nbytes > 0"): (
        "You answer True if both have elements. Two tensors with elements can lie far apart."
    ),
    (
        "a.shape == b.shape and bool((a == b).all())",
        "torch.equal(a, b)",
        "bool(np.isin(a, b).any())",
    ): shared.VALUES,
    (
        "base_of(a) is base_of(b)",
        "a._base is b or b._base is a or (a._base is not None and a._base is b._base)",
        "a._is_view() or b._is_view()",
        "b._is_view() or a._is_view()",
        "a._base is b or b._base is a",
    ): (
        "You ask which tensor the two were made from. Autograd keeps that record, but without "
        "`detach()` and NumPy. And two halves of one base do not meet."
    ),
    ("True", "False"): shared.ALIKE.format("pair"),
    ("s * x.itemsize => s * a.itemsize", "s * x.itemsize => s * b.itemsize"): (
        "You count with one size of elements for both. A float32 and a view of its bytes are on "
        "one memory, and each has an `itemsize` of its own."
    ),
}
share_bytes.exact |= {
    (
        "share_bytes(a, b) if are_tensors(a, b) else a.data_ptr() + b.data_ptr()",
        "share_bytes(a, b) if are_tensors(a, b) else a.size(0) + b.size(0)",
        "are_tensors(a, b) and share_bytes(a, b)",
    ): (
        "Right wherever both are tensors. One can also be an array on the other's memory. An "
        'array\'s first element lies at `array.__array_interface__["data"][0]`, and '
        "`array.strides` counts bytes."
    ),
    "share_bytes(torch.as_tensor(a), torch.as_tensor(b))": (
        "Right except for arrays that walk backwards, because torch does not have negative "
        "strides. Use the address and the strides of the array itself."
    ),
    "type(a) is type(b) and share_bytes(a, b)": (
        "Right wherever both are tensors or both are arrays. `x` and `x.numpy()` lie on the same "
        "memory too."
    ),
    "np.shares_memory(np.asarray(a), np.asarray(b))": shared.NO_BFLOAT16,
}
