"""E3 to E5: the bytes that an operation moves, and what they decide."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from stridekit.exercises.answers import kind, read_number, read_uses
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import row_major  # noqa: F401  (in sources alone)
from stridekit.exercises.performance.lines import cache_lines as cache_lines_exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable

cache_lines = cache_lines_exercise.reference  # the solutions call it, as a learner does


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


PACKED = (
    "You count in whole lines, but as if each tensor were packed close. Its elements lie where its "
    "stride and offset put them: count the lines that these touch."
)

bytes_moved.slots["(x, y, out)"] = {
    "(x, y)": "You forgot what is written. The result has to travel to memory as well: that is a "
    "third of the bytes of a contiguous `x + y`.",
    "(x, out)": "You forgot the second operand. `x + y` reads both, and y need not lie as x does.",
    "(x, x, x)": "You take three times the lines of x. Operands of one shape can lie quite "
    "differently: ask each of the three.",
}
bytes_moved.slots["t.itemsize"] = {
    "4": "You took 4 bytes per element for granted. Ask each of the three for its own "
    "`t.itemsize`: the result can be of another dtype than the operands.",
    "x.itemsize": "You took the itemsize of x for all three. Ask each of them for its own: the "
    "result can be of another dtype than the operands, and so can y.",
}
bytes_moved.slots["t.storage_offset()"] = {
    "0": "You left the storage offsets out. Where a tensor starts in the middle of a line it can "
    "reach into one line more: `t.storage_offset()`.",
}
bytes_moved.slots["64 * lines"] = {
    "lines": "That is the number of lines, and a good start. The question asks for bytes: how many "
    "has a line?",
}
bytes_moved.alone["t.stride()"] = {
    "row_major(t.shape)": PACKED,
}
bytes_moved.wrong |= {
    "x.nbytes + y.nbytes + out.nbytes": "You count the bytes of the elements. Memory does not send "
    "elements, it sends lines of 64 bytes: of `x[::5]` each line holds few that are wanted, and "
    "all of it travels.",
    "64 * sum(math.ceil(t.nbytes / 64) for t in (x, y, out))": PACKED,
    "64 * sum(math.ceil(t.untyped_storage().nbytes() / 64) for t in (x, y, out))": "You count the "
    "whole storages. Lines that no element of the tensor lies in stay where they are: a slice of a "
    "large tensor moves no more than its own lines.",
    "64 * (x.numel() + y.numel() + out.numel())": "You count a line each time that an element of "
    "it is used. It travels once and stays in the cache for its neighbours: count different lines.",
}


@exercise(
    title="when does a copy pay back, in lines?",
    read=read_uses,
    cases=[
        "t = torch.zeros(1000, 2)[:, 0]",
        "t = torch.zeros(320, 5)[:, 0]",
        "t = torch.zeros(64, 16)[:, 3]",
        "t = torch.zeros(64, 40)[:, 3]",
        "t = torch.zeros(96, 3, dtype=torch.float64)[:, 1]",
        "t = torch.zeros(200, 5, dtype=torch.uint8)[:, 2]",
        "t = torch.zeros(90, 2)[7:60, 1]",
        "t = torch.zeros(12, 64)[:, 4:36]",
        "t = torch.zeros(40, 4, 6)[:, 1, ::2]",
        "t = torch.zeros(7, 40)[:, 20:29].t()",
        "t = torch.zeros(64, 2, 16)[:, 0]",
        "t = torch.zeros(40, 24)",
        "t = torch.zeros(40, 24)[5:9]",
        "t = torch.zeros(1, 64, 30).permute(1, 2, 0)",
        "t = torch.zeros(40, 24).t()",
        "t = torch.zeros(16).expand(30, 16)",
        "t = torch.zeros(30, 1).expand(30, 20)",
        "t = torch.zeros(8, 4, 16)[:, ::2].transpose(0, 2)",
        "t = torch.zeros(9, 30)[:, 2:3]",
        "t = torch.zeros(9, 30)[4, 2]",
        "t = torch.zeros(9, 30)[:, 7:7]",
    ],
    hints=[
        "Count three things in lines: what t touches, what its dense copy fills, and what making the "
        "copy moves.",
        "To copy reads all of t and writes all of the copy. A use then reads the copy instead of t: how "
        "many lines does that save each time?",
        "0 if `t.is_contiguous()`. Else with a = lines of t and b = lines of the copy: "
        "`math.ceil((a + b) / (a - b))` if `a > b`, else `math.inf`.",
    ],
    otherwise="With a lines of t and b lines of its copy, n uses cost n*a without the copy, and "
    "a + b + n*b with it. Try your n, and n - 1.",
    takeaway="A copy pays back only where it is packed closer than what it copies, and is used again.",
)
def break_even(t: torch.Tensor) -> float:
    """After how many uses `c = t.contiguous()` has paid back, counted in cache lines of 64 bytes.

    t       a tensor on a storage whose byte 0 starts a line; a use reads each line of it once
    return  the smallest whole n >= 0 for which making c, and reading c n times, moves no more
            lines than reading t n times; math.inf if there is none. c starts a line, and
            where t is contiguous already it is t itself
    """
    if t.is_contiguous():
        return 0
    before = cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)
    after = math.ceil(t.numel() * t.itemsize / 64)
    if after >= before:
        return math.inf
    return math.ceil((before + after) / (before - after))


NEVER = (
    "Right where the copy is packed closer. Where it touches as many lines as t, or more, no number of "
    "uses pays it back: the answer there is `math.inf`."
)

break_even.slots["before + after"] = {
    "after": "You pay for writing the copy alone. To make it, t has to be read once, every line of "
    "it.",
    "before": "You pay for reading t alone. The copy has to be written as well, every line of it.",
}
break_even.slots["before - after"] = {
    "after": "You divide by what a use costs with the copy. What pays it back is what a use "
    "*saves*: the lines of t less those of the copy.",
}
break_even.slots["return math.ceil("] = {
    "return math.floor(": "You round down. After that many uses the copy has not quite paid back; "
    "part of a use does not exist, so it takes one more.",
    "return float(": "The right quotient, not yet a count of uses: part of a use does not exist. "
    "What is the smallest whole number that is enough?",
}
break_even.slots["t.is_contiguous()"] = {
    "False": "`t.contiguous()` of a contiguous tensor is t itself: nothing is copied, so nothing "
    "has to be paid back. Ask `t.is_contiguous()` first.",
}
break_even.alone["cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)"] = {
    "t.numel()": "You charge a whole line for every element. Neighbours share lines, in t and in "
    "its copy: count the different lines of each.",
}
break_even.alone["return math.ceil("] = {
    "return 1 + math.floor(": "One use too many where the sums are equal: then the copy has paid "
    "back exactly, and that counts.",
}
break_even.alone["after >= before"] = {
    "False": NEVER,
}
break_even.alone["math.inf"] = {
    "math.inf if after == before else math.ceil((before + after) / (after - before))": NEVER,
    "0": NEVER,
    "-1": NEVER,
}
break_even.wrong |= {
    "break_even(t) if break_even(t) in (0, math.inf) else 1": "You compare one use with one use, "
    "as if the copy were free. It is paid for once, by reading all of t and writing all of the "
    "copy.",
    "0 if t.is_contiguous() else math.inf": "You count the bytes of the elements, and t has as "
    "many as its copy: so nothing would ever be saved. What differs is how many *lines* they lie "
    "on.",
}


def read_order(answer: Any, args: Arguments) -> Outcome:
    """An answer that is an order of the given names."""
    wanted = "a list with each of the names once is asked for, the cheapest first"
    ordered = isinstance(answer, Iterable) and not isinstance(answer, str | bytes | set | Tensor)
    if not ordered:
        raise Unusable(f"{kind(answer)}, where {wanted}")
    names = list(islice(answer, len(args["expressions"]) + 1))  # also of what never ends
    if sorted(map(str, names)) != sorted(args["expressions"]):
        raise Unusable(f"{kind(answer)}, where {wanted}")
    return Outcome({"order": tuple(names)}, " < ".join(map(str, names)))


def case(*views: str) -> str:
    """One case: the names a to d, and the views of zeros that they stand for."""
    inside = ", ".join(f"{k!r}: torch.zeros{view}" for k, view in zip("abcd", views, strict=True))
    return f"expressions = {{{inside}}}"


F64, U8, I16 = "dtype=torch.float64", "dtype=torch.uint8", "dtype=torch.int16"


@exercise(
    title="order four expressions by their traffic",
    read=read_order,
    cases=[
        case("(64, 64).t()", "(64, 64)[:8]", "(16, 16).t()", "(32, 64)"),
        case("(640)[::10]", "(96)", "(32)", "(100, 5)[:, 0]"),
        case(f"(100, {F64})", "(240)[::2]", f"(150, {U8})", f"(390, {I16})[::3]"),
        case("(40, 40).t()", "(36, 80)[:, ::2]", "(45, 40)", "(38, 44)[:, 2:42]"),
        case("(27, 64)", "(30, 1).expand(30, 64)", "(64).expand(30, 64)", "(20, 64, 2)[..., 0]"),
        case("(16, 100)[:, 0]", "(9, 32)[:, :8]", "(60)[10:]", "(4, 64)[:, 5:13]"),
        case("(2000)[::40]", "(400)[::7]", "(300)", "(900)[::16]"),
        case(f"(70, {F64})[::2]", "(200, dtype=torch.float16)", f"(500, {U8})[::3]", "(48)"),
        case("(34)[::2]", "(0, 50)", "(1, 40)[:, 7:30]", "(20, 20)[3, 4]"),
        case(
            "(6, 5, 16).permute(2, 0, 1)", "(8, 10, 64)[::2, :, :12]", "(500)", "(7, 6, 12)[:, ::2]"
        ),
        case("(60)[15:47]", "(32)", "(34)[::2]", "(1, 16)"),
        case("(90)[9:41]", "(64)[::2]", f"(40, {F64})[2:18]", "(30)"),
        case("(64, 2)[:, 1]", "(64, 2)[:, 0]", "(64)", "(64)"),
    ],
    hints=[
        "Each expression reads its view and writes a new tensor. Count both, in lines; the names are "
        "then sorted by the sum.",
        "The view's lines depend on its stride and offset. The result is dense: only its bytes count, "
        "`v.numel() * v.itemsize`, in whole lines.",
        "`sorted(expressions, key=...)`, where the key of a name is the lines of its view plus "
        "`math.ceil(v.numel() * v.itemsize / 64)`.",
    ],
    otherwise="Print the lines that are read and the lines that are written, for each of the four, and "
    "compare the sums with your order.",
    takeaway="Neither size nor stride nor contiguity decides: the lines do.",
)
def cheapest_first(expressions: dict[str, torch.Tensor]) -> list[str]:
    """The names, the one whose expression moves the fewest cache lines first.

    expressions  a dict from names to views v. Each stands for `v + 1`: v is read, and a new
                 dense tensor of v's shape and dtype is written. All storages start a line
    return       a list of the names, by lines read and written; equals as they were given
    """

    def lines(name: str) -> int:
        v = expressions[name]
        read = cache_lines(v.shape, v.stride(), v.storage_offset(), v.itemsize)
        return read + math.ceil(v.numel() * v.itemsize / 64)

    return sorted(expressions, key=lines)


def in_float32(v: Tensor) -> Tensor:
    """A tensor laid out like v, with elements of 4 bytes."""
    storage = torch.empty(v.untyped_storage().nbytes())
    return storage.as_strided(v.shape, v.stride(), v.storage_offset())


BY_LINES = "read + math.ceil(v.numel() * v.itemsize / 64)"
STRIDE = (
    "You go by the stride. A large stride costs nothing where long rows are read between the jumps, and "
    "a small tensor with gaps is still small."
)
CONTIGUOUS = (
    "You put the contiguous ones first. `is_contiguous` speaks about order, not about size: a small "
    "view with gaps can move less, and a transpose without gaps moves the same."
)

cheapest_first.slots[BY_LINES] = {
    "v.numel()": "You go by the number of elements. A view with fewer of them, far apart or of a "
    "larger dtype, can move more lines.",
    "v.nbytes": "You go by the bytes of the elements. Memory sends whole lines: a view with gaps "
    "reads more than its elements hold.",
    "v.stride(-1) if v.ndim else 0": STRIDE,
    "max(v.stride(), default=0)": STRIDE,
    "not v.is_contiguous()": CONTIGUOUS,
    f"(not v.is_contiguous(), {BY_LINES})": CONTIGUOUS,
    "read": "You go by what is read. `v + 1` also writes its result, and that is dense, without "
    "the gaps and repeats of v: an expanded v reads little and writes much.",
    "math.ceil(v.nbytes / 64)": "You count what is written alone. The result is dense, but v may "
    "have to be gathered from many lines: those travel too.",
    "v.untyped_storage().nbytes()": "You go by the size of the storages. A view moves its own "
    "lines, however large the storage is that it was cut from.",
}
cheapest_first.slots["expressions[name]"] = {
    "in_float32(expressions[name])": "You count 4 bytes for every element. The views have several "
    "dtypes: `v.itemsize`.",
}
cheapest_first.slots["v.storage_offset()"] = {
    "0": "You let every view start at the start of a line. One that starts in the middle can reach "
    "into one line more: `v.storage_offset()`.",
}
cheapest_first.alone[BY_LINES] = {
    f"-({BY_LINES})": "That is the right order, back to front: the cheapest comes first.",
}
