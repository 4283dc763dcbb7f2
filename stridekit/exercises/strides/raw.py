"""Exercise 6: read a storage byte by byte, behind a fence.

An answer that starts or stops at the wrong byte would read foreign memory, or crash Python. So the
storages of these cases are windows in a larger arena, where reading too much does no harm. Such
bytes are recognised: every byte before the window is `be`, and every byte after it is `af`.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable

MARGIN = 4096  # bytes on both sides of the window; a multiple of every alignment
BEFORE = b"\xbe"
AFTER = b"\xaf"
SHOWN = 24  # bytes in hexadecimal in a report


class OutOfTheStorage(Exception):
    """A read that would have left the arena, stopped before it happened."""

    hint = (
        "Outside this check, that read could have ended Python. So first look at the two numbers "
        "alone, without reading: where does the storage begin, and how many bytes does it have?"
    )


def in_an_arena(t: torch.Tensor) -> tuple[torch.Tensor, range]:
    """Return the same tensor on a storage inside an arena, and the arena's addresses."""
    nbytes = t.untyped_storage().nbytes()
    if nbytes == 0:  # a storage without bytes has no address, and there is nothing to read
        return t, range(0)
    arena = bytearray(BEFORE * MARGIN + bytes(nbytes) + AFTER * MARGIN)
    start = torch.frombuffer(arena, dtype=torch.uint8).data_ptr()
    addresses = range(start, start + len(arena))
    window = torch.frombuffer(arena, dtype=torch.uint8, offset=MARGIN, count=nbytes)
    storage = window.untyped_storage()  # this keeps the arena alive
    storage.copy_(t.untyped_storage())
    inside = torch.empty(0, dtype=t.dtype).set_(storage, t.storage_offset(), t.shape, t.stride())
    return inside, addresses


@contextmanager
def arena_fence(fn: Callable[..., Any], arguments: Arguments) -> Iterator[Arguments]:
    """Move t's storage into an arena, and let `ctypes.string_at` read nothing but the arena."""
    t, arena = in_an_arena(arguments["t"])
    string_at = ctypes.string_at

    def fenced(address: Any, size: int = -1) -> bytes:
        first = ctypes.cast(address, ctypes.c_void_p).value or 0
        if size != 0 and not (first in arena and size <= arena.stop - first):
            if first == 0:
                raise OutOfTheStorage("stopped before it read at address 0")
            raise OutOfTheStorage("stopped before it read far from the storage")
        return string_at(address, size)

    # `import ctypes` and `from ctypes import string_at`, under any name, meet the fence.
    namespaces = [vars(ctypes)]
    if type(fn) is FunctionType:
        namespaces.append(fn.__globals__)
    replaced = []
    for namespace in namespaces:
        names = [name for name, value in namespace.items() if value is string_at]
        replaced += [(namespace, name) for name in names]
    try:
        for namespace, name in replaced:
            namespace[name] = fenced
        yield {"t": t}
    finally:
        for namespace, name in replaced:
            namespace[name] = string_at


def read_bytes(answer: Any, args: Arguments) -> Outcome:
    """Read bytes, or an object that holds bytes, such as a ctypes array."""
    try:
        data = memoryview(answer).tobytes()
    except TypeError:
        raise Unusable(f"{type_in_words(answer)}, where bytes are asked for") from None
    facts = {"length": len(data), "content": data}
    return Outcome(facts, _spell(data))


def _spell(data: bytes) -> str:
    """Return the number of bytes, the first in hexadecimal, and how many lie in a margin."""
    if not data:
        return "no bytes"
    lines = [f"{len(data)} bytes: {data[:SHOWN].hex(' ')}"]
    if len(data) > SHOWN:
        lines[0] += " …"
    before = len(data) - len(data.lstrip(BEFORE))
    after = len(data) - len(data.rstrip(AFTER))
    if before:
        lines.append(f"{before} of them from before the storage's first byte (be)")
    if after:
        lines.append(f"{after} of them from past the storage's end (af)")
    return "\n".join(lines)


@exercise(
    title="read the raw bytes of a storage",
    read=read_bytes,
    fence=arena_fence,
    cases=[
        "t = torch.arange(4, dtype=torch.int16)",
        "t = torch.arange(6, dtype=torch.int32)[2:]",
        "t = torch.arange(6, dtype=torch.int16)[:4]",
        "t = torch.arange(6, dtype=torch.int16).view(2, 3).t()",
        "t = torch.arange(12, dtype=torch.uint8).view(3, 4)[1:, ::2]",
        "t = torch.tensor([1.0, -2.0, 0.5], dtype=torch.bfloat16)",
        "t = torch.tensor([True, False, True, True])[1:]",
        "t = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)[1]",
        "t = torch.tensor([1.5, 2.5, 3.5], dtype=torch.float64)[1:2].expand(4)",
        "t = torch.arange(200, dtype=torch.int32)[7:9]",
        "t = torch.arange(3000, dtype=torch.int16)[::1000]",
        "t = torch.tensor(7.0)",
        "t = torch.empty(0)",
    ],
    delicate_cases=["t = torch.arange(4, dtype=torch.int16)[4:]"],
    hints=[
        "`ctypes.string_at(address, size)` copies `size` bytes that begin at `address`. Ask for "
        "both where they belong to: the storage, not the tensor.",
        "`t.untyped_storage()` is the storage: plain bytes, without dtype, shape or offset. It "
        "has a `data_ptr()` and it has `nbytes()`.",
        "The whole body is one line: `string_at` of the storage's `data_ptr()` and `nbytes()`.",
    ],
    otherwise=(
        "Two numbers decide: the address of the storage's first byte, and how many bytes the "
        "storage holds. Which object knows both?"
    ),
    takeaway="The storage is the memory; a tensor is one way of walking through it.",
)
def raw_bytes(t: torch.Tensor) -> bytes:
    """All the bytes of t's storage, in the order in which they lie there.

    t       a strided tensor on the CPU, of any dtype; often only a part of its storage
    return  bytes, as many as the storage has: also those that t itself never reaches

    Read them with `ctypes.string_at(address, size)`. Here a read beyond the storage is caught and
    does no harm. Elsewhere nothing catches it, and it may well end Python.
    """
    storage = t.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def past_the_last(t: torch.Tensor) -> int:
    """Return the number of the element behind t's last; 0 where t has no element."""
    if t.numel() == 0:
        return 0
    steps = sum((n - 1) * step for n, step in zip(t.shape, t.stride(), strict=True))
    return t.storage_offset() + steps + 1


raw_bytes.slots["storage.data_ptr()"] = {
    "t.data_ptr()": (
        "You start at t's own first element. The storage begins earlier, so as many bytes from there "
        "on reach past its end, into foreign memory. Where does the storage begin?"
    ),
    "t.data_ptr() - t.storage_offset()": (
        "You walk back from `t.data_ptr()`, but too short a way: `t.storage_offset()` counts "
        "elements, an address counts bytes. The storage knows its own start."
    ),
}
raw_bytes.slots["storage.nbytes()"] = {
    "t.numel() * t.element_size()": (
        "You start at the right byte and stop too soon: `numel() * element_size()` is what t "
        "needs, and the storage can hold more than t."
    ),
    "past_the_last(t) * t.element_size()": (
        "You start at the right byte and stop after t's last element. The storage may go on after "
        "it: its own size says how far."
    ),
    "(t.storage_offset() + t.numel()) * t.element_size()": (
        "You start at the right byte and add t's offset to t's size. That reaches t's end only "
        "where t has no gaps, and the storage may go on after it: ask the storage for its size."
    ),
    ("t.numel() * 4", "t.numel() * 8"): shared.ITEMSIZE.format("t.element_size()"),
    ("t.numel()", "storage.nbytes() // t.element_size()"): (
        "Your size counts elements, and `string_at` counts bytes. An untyped storage has no "
        "elements: `nbytes()` is its size."
    ),
    ("storage.nbytes() + 1", "storage.nbytes() - 1"): (
        "You are wrong by one byte. `string_at(address, size)` takes the number of bytes, and "
        "`nbytes()` is this number."
    ),
    "storage.nbytes() * t.element_size()": (
        "`nbytes()` is in bytes already. Multiplied by the size of an element it takes you far "
        "past the storage's end."
    ),
}
raw_bytes.wrong |= {
    "storage.data_ptr() => t.data_ptr() - t.storage_offset() * t.element_size()": (
        "Right wherever t has an element. The `data_ptr()` of an empty view is 0, though its "
        "storage is still there."
    ),
    "ctypes.string_at(t.data_ptr(), t.numel() * t.element_size())": (
        "You read t's bytes as if they lay in one piece from its first element on. But t can "
        "begin after the start of the storage, end before its end, and leave gaps."
    ),
    "bytes(t.clone(memory_format=torch.contiguous_format).untyped_storage().tolist())": (
        "Those are the bytes of a tidy copy: t's elements in reading order. The storage lies in an "
        "order of its own, and can hold elements that t leaves out."
    ),
    "ctypes.string_at(t.untyped_storage().data_ptr())": (
        "Without a size, `string_at` reads a C string and stops at the first zero byte. Give it "
        "the number of bytes."
    ),
}
