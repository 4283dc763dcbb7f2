"""E3: the bytes that an elementwise operation moves."""

from __future__ import annotations

import torch
from torch import Tensor

from stridekit.exercises.answers import read_number
from stridekit.exercises.core import exercise
from stridekit.exercises.performance import e2_cache_lines
from stridekit.exercises.performance.lines import LINE, dense_lines, line_numbers, lines_of

cache_lines = e2_cache_lines.cache_lines.reference


@exercise(
    title="the bytes that an operation moves",
    read=read_number,
    cases=[
        "x = torch.zeros(32); y = torch.zeros(32); out = torch.zeros(32)",
        "x = torch.zeros(4, 40, dtype=torch.float64); y = torch.zeros(4, 40, dtype=torch.float64)\n"
        "out = torch.zeros(4, 40, dtype=torch.float64)",
        "x = torch.zeros(160)[::5]; y = torch.zeros(32); out = torch.zeros(32)",
        "x = torch.zeros(64); y = torch.zeros(640)[::10]; out = torch.zeros(320)[::5]",
        "x = torch.zeros(20, 8)[:, 0]; y = torch.zeros(20); out = torch.zeros(20)",
        "x = torch.zeros(100)[3:35]; y = torch.zeros(32); out = torch.zeros(32)",
        "x = torch.zeros(6, 48); y = torch.zeros(48).expand(6, 48); out = torch.zeros(6, 48)",
        "x = torch.zeros(48, dtype=torch.uint8); y = torch.zeros(48, dtype=torch.int64)\n"
        "out = torch.zeros(48, dtype=torch.int64)",
        "x = torch.zeros(30, dtype=torch.float64); y = torch.zeros(30, dtype=torch.float64)\n"
        "out = torch.zeros(30, dtype=torch.bool)",
        "x = torch.zeros(12, 20).t(); y = torch.zeros(20, 12); out = torch.zeros(20, 12)",
        "x = torch.zeros(9, 64)[::2, 40:56]; y = torch.zeros(5, 16)\n"
        "out = torch.zeros(200)[7:87].view(5, 16)",
        "x = torch.zeros(50, 2, dtype=torch.int16)[10:, 1]\n"
        "y = torch.zeros((), dtype=torch.int16).expand(40)\n"
        "out = torch.zeros(40, 3, dtype=torch.int16)[:, 2]",
        "x = torch.zeros(1, 70)[:, 5:6]; y = torch.zeros(1, 1); out = torch.zeros(1, 1)",
        "x = torch.zeros(()); y = torch.zeros(()); out = torch.zeros(())",
        "x = torch.zeros(0, 3); y = torch.zeros(0, 3); out = torch.zeros(0, 3)",
    ],
    hints=[
        "Three tensors take part: x and y are read, out is written. What does each of them move, by "
        "itself?",
        "Lines travel whole. `cache_lines` of the exercise before counts them; a tensor's layout is "
        "`t.shape, t.stride(), t.storage_offset(), t.itemsize`.",
        "Add up the lines of x, y and out, and multiply by 64.",
    ],
    otherwise="Count the lines of x, of y and of out, each by itself, and print the three numbers. "
    "Which of them is not what you expect?",
    takeaway="Bytes moved: whole lines, of all that is read and all that is written.",
)
def bytes_moved(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> int:
    """The bytes that `torch.add(x, y, out=out)` moves between memory and the processor.

    x, y    what is read: each on a storage of its own, whose byte 0 starts a line
    out     what is written, of the same shape as x and y, on a storage of its own as well
    return  64 for each line that holds an element of x, of y or of out; a line that holds
            several elements travels once
    """
    lines = 0
    for t in (x, y, out):
        lines += cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)
    return 64 * lines


@bytes_moved.mistake(
    "You forgot what is written. The result has to travel to memory as well: that is a third of the "
    "bytes of a contiguous `x + y`."
)
def forgets_the_write(x: Tensor, y: Tensor, out: Tensor) -> int:
    return LINE * (lines_of(x) + lines_of(y))


@bytes_moved.mistake(
    "You forgot the second operand. `x + y` reads both, and y need not lie as x does."
)
def forgets_y(x: Tensor, y: Tensor, out: Tensor) -> int:
    return LINE * (lines_of(x) + lines_of(out))


@bytes_moved.mistake(
    "You count the bytes of the elements. Memory does not send elements, it sends lines of 64 bytes: "
    "of `x[::5]` each line holds few that are wanted, and all of it travels."
)
def counts_elements(x: Tensor, y: Tensor, out: Tensor) -> int:
    return sum(t.numel() * t.itemsize for t in (x, y, out))


@bytes_moved.mistake(
    "You count in whole lines, but as if each tensor were packed close. Its elements lie where its "
    "stride and offset put them: count the lines that these touch."
)
def packs_them(x: Tensor, y: Tensor, out: Tensor) -> int:
    return LINE * sum(dense_lines(t.shape, t.itemsize) for t in (x, y, out))


@bytes_moved.mistake(
    "You took 4 bytes an element for granted. Ask each of the three for its own `t.itemsize`: the "
    "result can be of another dtype than the operands."
)
def assumes_four_bytes(x: Tensor, y: Tensor, out: Tensor) -> int:
    layouts = [(t.shape, t.stride(), t.storage_offset(), 4) for t in (x, y, out)]
    return LINE * sum(len(line_numbers(*layout)) for layout in layouts)


@bytes_moved.mistake(
    "You took the itemsize of x for all three. Ask each of them for its own: the result can be of "
    "another dtype than the operands, and so can y."
)
def takes_x_s_itemsize(x: Tensor, y: Tensor, out: Tensor) -> int:
    layouts = [(t.shape, t.stride(), t.storage_offset(), x.itemsize) for t in (x, y, out)]
    return LINE * sum(len(line_numbers(*layout)) for layout in layouts)


@bytes_moved.mistake(
    "You left the storage offsets out. Where a tensor starts in the middle of a line it can reach into "
    "one line more: `t.storage_offset()`."
)
def forgets_the_offset(x: Tensor, y: Tensor, out: Tensor) -> int:
    layouts = [(t.shape, t.stride(), 0, t.itemsize) for t in (x, y, out)]
    return LINE * sum(len(line_numbers(*layout)) for layout in layouts)


@bytes_moved.mistake(
    "That is the number of lines, and a good start. The question asks for bytes: how many has a line?"
)
def answers_in_lines(x: Tensor, y: Tensor, out: Tensor) -> int:
    return lines_of(x) + lines_of(y) + lines_of(out)


@bytes_moved.mistake(
    "You take three times the lines of x. Operands of one shape can lie quite differently: ask each of "
    "the three."
)
def three_times_x(x: Tensor, y: Tensor, out: Tensor) -> int:
    return 3 * LINE * lines_of(x)


@bytes_moved.mistake(
    "You count the whole storages. Lines that no element of the tensor lies in stay where they are: a "
    "slice of a large tensor moves no more than its own lines."
)
def counts_the_storages(x: Tensor, y: Tensor, out: Tensor) -> int:
    return LINE * sum(-(-t.untyped_storage().nbytes() // LINE) for t in (x, y, out))


@bytes_moved.mistake(
    "You count a line each time that an element of it is used. It travels once and stays in the cache "
    "for its neighbours: count different lines."
)
def a_line_an_element(x: Tensor, y: Tensor, out: Tensor) -> int:
    return LINE * (x.numel() + y.numel() + out.numel())
