"""Bugs in programs that hand bytes on: a file of states, and a packet of pixels."""

import ctypes
import gc
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import nn

from stridekit._arguments import many
from stridekit.exercises.bug_hunt import programs
from stridekit.exercises.bug_hunt.hunting import Facts, Near, bug
from stridekit.exercises.readers.answers import type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable

NUMBERS = 32  # in a state, each of 4 bytes
OVERHEAD = (
    1500,
    400,
)  # bytes of a file that hold no numbers: at most so many, and more for each state


NO_NUMBERS = torch.zeros(0, dtype=torch.float64)


def flat(state: torch.Tensor) -> torch.Tensor:
    """Return the numbers of a state as a vector of float64."""
    return state.detach().double().flatten()


def bytes_of(answer: Any) -> bytes:
    """Return an answer that is bytes, or an object that holds bytes."""
    if isinstance(answer, io.BytesIO):
        return answer.getvalue()
    try:
        return memoryview(answer).tobytes()
    except TypeError:
        raise Unusable(f"{type_in_words(answer)}, where bytes are asked for") from None


# A file of states ---------------------------------------------------------------------------------


def read_states(answer: Any, args: Arguments) -> Outcome:
    """Read a file of states: the states, the size of the file, and the storages in it."""
    data = bytes_of(answer)
    size = f"a file of {len(data):,} bytes"
    try:
        states = torch.load(io.BytesIO(data), weights_only=True)
    except Exception:
        hint = (
            f"`torch.load` cannot read these {len(data):,} bytes, so nobody can use the file as "
            "before. Let the file hold less, in the same form."
        )
        return Outcome({"loads": False}, f"{len(data):,} bytes that torch.load cannot read", hint)
    if not isinstance(states, dict):
        raise Unusable(f"{type_in_words(states)} in the file, where a dict of tensors is asked for")
    for state in states.values():
        if not torch.is_tensor(state):
            raise Unusable(
                f"a dict with {type_in_words(state)}, where a dict of tensors is asked for"
            )
    storages = {}
    for state in states.values():
        storage = state.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
    needed = 4 * NUMBERS * len(args["texts"])
    for_all, for_each = OVERHEAD
    facts: Facts = {
        "names": tuple(states),
        "shapes": tuple(tuple(state.shape) for state in states.values()),
        "dtypes": tuple(str(state.dtype) for state in states.values()),
        "states": Near(torch.cat([NO_NUMBERS, *map(flat, states.values())]), 1e-4),
        "storages": sum(storages.values()),
        "file": max(len(data), needed + for_all + for_each * len(states)),
    }
    stored = f"{many(len(states), 'state')} on storages of {sum(storages.values()):,} bytes"
    return Outcome(facts, f"{size}: {stored}")


def in_quotes(names: tuple[str, ...]) -> str:
    """Return names in a sentence."""
    return ", ".join(map(repr, names))


def explain_states(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with a file of states."""
    if yours["names"] != expected["names"]:
        count = len(expected["names"])
        return (
            f"The file is to hold {many(count, 'state')}, one for each text: "
            f"{in_quotes(expected['names'])}. Yours has {in_quotes(yours['names']) or 'none'}."
        )
    if yours["shapes"] != expected["shapes"]:
        other = next(shape for shape in yours["shapes"] if shape != (NUMBERS,))
        return f"A state is a vector of {NUMBERS} numbers. Your file has a tensor of shape {other}."
    if yours["dtypes"] != expected["dtypes"]:
        types = f"The states in your file are {yours['dtypes'][0]}, not {expected['dtypes'][0]}."
        if yours["storages"] < expected["storages"]:
            return (
                f"{types} So the file is small, but digits are lost. In their own type, the numbers "
                f"take no more than {expected['storages']:,} bytes."
            )
        return (
            f"{types} The numbers of all states take {expected['storages']:,} bytes in their own type, "
            f"and the storages in your file take {yours['storages']:,}."
        )
    if yours["states"] != expected["states"]:
        got, right = yours["states"].numbers, expected["states"].numbers
        place = int((got - right).abs().argmax())
        name = expected["names"][place // NUMBERS]
        return (
            f"Your file holds other states. Number {place % NUMBERS} of the state of {name!r} is "
            f"{got[place]:.4f}, and in the last state of that text it is {right[place]:.4f}."
        )
    return (
        f"The states are right. They need {expected['storages']:,} bytes, and the file holds "
        f"storages of {yours['storages']:,} bytes. Each storage goes into the file whole, with all "
        "states of its text, as long as the tensor that is saved is a view of it."
    )


@bug(
    title="a file that is forty times too large",
    faulty=programs.save_states,
    read=read_states,
    explain=explain_states,
    cases=[
        'texts = {"a": torch.arange(400) % 100}',
        'texts = {"short": torch.arange(3), "long": torch.arange(900) % 7}',
        'texts = {f"page {k}": torch.arange(50 * k + 50) % 90 for k in range(6)}',
        'texts = {"one word": torch.tensor([5])}',
    ],
    hints=[
        "Ask how much memory a state keeps alive. For a state in `states`, compare `nbytes`, which "
        "counts its own numbers, with `untyped_storage().nbytes()`. `storages` of stridekit lists "
        "them.",
        "A state has 32 numbers, 128 bytes. Its storage is as large as the states of all words of "
        "the text. `torch.save` writes whole storages, so that views still share after loading.",
        "Look at the line that puts a state into `states`. `contiguous()` returns the same view "
        "there, because the view is contiguous already. What always makes new memory?",
    ],
    otherwise="Compare `state.nbytes` with `state.untyped_storage().nbytes()` for each state.",
    takeaway="`torch.save` writes whole storages. Before you save or keep a slice, `clone` it.",
    test=(
        "def test_a_file_holds_what_it_needs():\n"
        '    data = save_states({"a": torch.arange(100)})\n'
        "    states = torch.load(io.BytesIO(data))\n"
        '    assert states["a"].untyped_storage().nbytes() == states["a"].nbytes'
    ),
)
def save_states(texts: dict[str, torch.Tensor]) -> bytes:
    """Repair `save_states`. It reads each text with a network, and keeps the last state of each.

    texts   the words of each text, as numbers, by name
    return  the bytes of a file that `torch.load` reads: a dict of 32 float32 numbers by name. It
            holds these numbers, and little else
    """
    torch.manual_seed(0)
    vectors = nn.Embedding(100, 16)
    network = nn.GRU(16, 32)
    states = {}
    with torch.no_grad():
        for name, words in texts.items():
            all_states, _ = network(vectors(words))
            states[name] = all_states[-1].clone()
    file = io.BytesIO()
    torch.save(states, file)
    return file.getvalue()


# A packet of pixels -------------------------------------------------------------------------------


NO_BLOCK = (0, 0)


class ReadOfNothing(Exception):
    """A read of memory that no tensor has, stopped before it happened."""

    def __init__(self, size: int, left: int) -> None:
        super().__init__("stopped a read of memory that belongs to no tensor")
        if left:
            self.hint = (
                f"`string_at` would read {size:,} bytes, and the memory of the tensor ends after {left} "
                "of them. A part has as many bytes as it has pixels."
            )
            return
        self.hint = (
            f"`string_at` would read {size:,} bytes, and no living tensor has any of them. A copy "
            "without a name is freed as soon as its `data_ptr()` is returned: the address is then of "
            "memory that anybody may overwrite. Let a name hold the copy until it is read."
        )


def living_blocks(frame: FrameType, arguments: Arguments) -> Iterator[tuple[int, int]]:
    """Yield the address and the bytes of each block of memory that may be read.

    They are those of the arguments, of local names, and of all that was made during the call.
    """
    for value in [*arguments.values(), *frame.f_locals.values(), *gc.get_objects()]:
        yield from blocks_of(value)


def blocks_of(value: Any) -> Iterator[tuple[int, int]]:
    """Yield the address and the bytes of the memory of a tensor, a storage or an array.

    A meta tensor has a size and no memory. The bytes of an expanded array are not all there.
    """
    if type(value) is torch.UntypedStorage and value.device.type == "cpu":
        yield value.data_ptr(), value.nbytes()
    elif type(value) is torch.Tensor and value.device.type == "cpu":
        storage = value.untyped_storage()
        yield storage.data_ptr(), storage.nbytes()
    elif type(value) is np.ndarray and value.flags.forc:
        yield value.ctypes.data, value.nbytes


def bytes_from(address: int, block: tuple[int, int]) -> int:
    """Return how many bytes of a block follow an address that lies in it; 0 if it lies elsewhere."""
    start, count = block
    return start + count - address if start <= address < start + count else 0


@contextmanager
def watching_reads(fn: Callable[..., Any], arguments: Arguments) -> Iterator[Arguments]:
    """Let `ctypes.string_at` read nothing but the memory of what is alive."""
    string_at = ctypes.string_at

    def watched(address: Any, size: int = -1) -> bytes:
        if isinstance(address, int):
            blocks = living_blocks(sys._getframe(1), arguments)
            left = max(bytes_from(address, block) for block in [*blocks, NO_BLOCK])
            if left < size:
                raise ReadOfNothing(size, left)
        return string_at(address, size)

    # A program may have imported the function under a name of its own.
    namespace = getattr(fn, "__globals__", {})
    names = [name for name, value in namespace.items() if value is string_at]
    own_names = mock.patch.dict(namespace, dict.fromkeys(names, watched))
    gc.freeze()  # so that gc.get_objects leaves out what is older than the call
    try:
        with mock.patch.object(ctypes, "string_at", watched), own_names:
            yield arguments
    finally:
        gc.unfreeze()


def read_packet(answer: Any, args: Arguments) -> Outcome:
    """Read a packet: two sizes, then the pixels."""
    data = bytes_of(answer)
    facts: Facts = {"sizes": tuple(data[:2]), "pixels": tuple(data[2:])}
    pixels = ", ".join(map(str, data[2:14]))
    more = ", …" if len(data) > 14 else ""
    return Outcome(facts, f"sizes {facts['sizes']}, {len(data) - 2} pixels: {pixels}{more}")


def explain_packet(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with a packet."""
    rows, columns = expected["sizes"]
    got, right = yours["pixels"], expected["pixels"]
    if yours["sizes"] != expected["sizes"]:
        begins = (
            f"The packet is to begin with the sizes {rows} and {columns}, and yours begins with "
            f"{', '.join(map(str, yours['sizes'])) or 'nothing'}."
        )
        if yours["sizes"] == (columns, rows):
            return f"{begins} A part is turned if it is taller than wide: its columns become rows."
        return f"{begins} The sizes are those of the part as it is sent, and they come first."
    if len(got) != len(right):
        counted = f"A part of {rows} by {columns} has {len(right)} pixels, and your packet has {len(got)}."
        if len(got) > len(right):
            return f"{counted} The bytes between two rows of the part belong to the frame."
        return f"{counted} Each pixel of the part is sent once."
    places = [k for k, pair in enumerate(zip(got, right, strict=True)) if pair[0] != pair[1]]
    first = places[0]
    row, column = divmod(first, columns)
    if sorted(got) == sorted(right):
        by_columns = tuple(torch.tensor(right).view(rows, columns).T.flatten().tolist())
        order = "column by column" if got == by_columns else "in another order"
        return (
            f"All {len(right)} pixels are in your packet, and {len(places)} of them at a wrong place. "
            f"At row {row}, column {column} is {got[first]}, and {right[first]} belongs there: they "
            f"come {order}, not row by row."
        )
    counted = (
        f"{len(places)} of {len(right)} pixels are wrong. The first is at row {row}, column {column}: "
        f"your packet has {got[first]}, and the part has {right[first]}."
    )
    # In a frame of the cases, a pixel is the number of its place in memory.
    if first and got[first] == got[first - 1] + 1:
        return (
            f"{counted} That is the neighbour of {got[first - 1]} in memory. In this part, the next "
            "pixel is no neighbour."
        )
    if got[0] + len(got) - 1 == got[-1]:
        return f"{counted} Your bytes begin at another place of the frame."
    return counted


PIXELS = "frame = torch.arange(120, dtype=torch.uint8)"
FRAME = f"{PIXELS}.view(10, 12)"


@bug(
    title="a picture that leans",
    faulty=programs.pack,
    read=read_packet,
    explain=explain_packet,
    fence=watching_reads,
    cases=[
        f"{FRAME}; top = 0; left = 0; height = 10; width = 12",
        f"{FRAME}; top = 2; left = 0; height = 3; width = 12",
        f"{FRAME}; top = 1; left = 4; height = 3; width = 5",
        f"{FRAME}; top = 0; left = 2; height = 6; width = 2",
        f"{FRAME}; top = 4; left = 11; height = 5; width = 1",
        f"{FRAME}; top = 9; left = 3; height = 1; width = 6",
        f"{FRAME}; top = 5; left = 6; height = 4; width = 4",
        f"{PIXELS}.view(12, 10); top = 0; left = 0; height = 12; width = 10",
        f"{FRAME}[:, ::2]; top = 3; left = 1; height = 4; width = 5",
        f"{FRAME}.t(); top = 0; left = 0; height = 4; width = 9",
    ],
    hints=[
        "Ask stridekit about the part, just before its pixels are read: `explain(part)`. Compare a "
        "part that comes out right with a leaning part.",
        "The leaning part is not contiguous: its rows are as far from each other as those of the "
        "whole frame. Which of shape, stride and offset does `string_at` get?",
        "Look at the line with `data_ptr()`. It reads neighbours in memory, so it needs a tensor "
        "whose pixels are neighbours, row by row, and which is alive while it is read.",
    ],
    otherwise="Print the shape and the stride of the part before its pixels are read.",
    takeaway=(
        "A pointer does not carry strides. Before you pass one on, make the tensor contiguous, keep it in "
        "a name, or refuse it."
    ),
    test=(
        "def test_a_part_is_packed_row_by_row():\n"
        "    frame = torch.arange(12, dtype=torch.uint8).view(3, 4)\n"
        "    assert pack(frame, 0, 1, 2, 2) == bytes([2, 2, 1, 2, 5, 6])\n"
        "    assert pack(frame, 0, 1, 3, 2) == bytes([2, 3, 1, 5, 9, 2, 6, 10])"
    ),
)
def pack(frame: torch.Tensor, top: int, left: int, height: int, width: int) -> bytes:
    """Repair `pack`. It cuts a part from a frame, and turns it if it is taller than wide.

    frame   uint8, of two dims
    top, left, height, width  ints: where the part begins, and how large it is
    return  bytes: the two sizes of the part as it is sent, then its pixels, row by row
    """
    part = frame[top : top + height, left : left + width]
    if height > width:
        part = part.t()  # the viewer shows a tall part lying on its side
    sizes = bytes(part.shape)
    part = part.contiguous()
    pixels = ctypes.string_at(part.data_ptr(), part.numel())
    return sizes + pixels
