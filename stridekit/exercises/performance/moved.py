"""E3 and E5: the bytes that an operation moves, and what they decide."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major  # noqa: F401 (for mistakes)
from stridekit.exercises.performance.lines import counted as cache_lines
from stridekit.exercises.performance.lines import span  # noqa: F401 (for mistakes)
from stridekit.exercises.readers.answers import read_number, type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable
from stridekit.exercises.watch import Means


def bytes_by_line(t: Tensor) -> Counter[int]:
    """Return the cache lines that a tensor touches, with the number of its own bytes in each."""
    return own_bytes(tuple(t.shape), t.stride(), t.storage_offset(), t.itemsize)


@cache
def own_bytes(shape: Ints, stride: Ints, offset: int, itemsize: int) -> Counter[int]:
    elements = {offset + int(np.dot(index, stride)) for index in np.ndindex(*shape)}
    counts: Counter[int] = Counter()
    for element in elements:
        start = element * itemsize
        counts.update(byte // 64 for byte in range(start, start + itemsize))
    return counts


def read_moved(answer: Any, args: Arguments) -> Outcome:
    """Read a number of bytes. Lines that are written in part may count once or twice."""
    outcome = read_number(answer, args)
    once = 64 * sum(len(bytes_by_line(t)) for t in args.values())
    written_in_part = sum(own < 64 for own in bytes_by_line(args["out"]).values())
    if outcome.facts["value"] == once + 64 * written_in_part:
        return replace(outcome, facts={"value": once})
    return outcome


@exercise(
    title="the bytes that an operation moves",
    read=read_moved,
    means=Means(whole=("traffic",)),
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
        "out = torch.zeros(100, dtype=torch.bool)[40:70]",
        "x = torch.zeros(12, 20).t(); y = torch.zeros(20, 12); out = torch.zeros(20, 12)",
        "x = torch.zeros(9, 64)[::2, 40:56]; y = torch.zeros(5, 16)\n"
        "out = torch.zeros(200)[7:87].view(5, 16)",
        "x = torch.zeros(6, 32); y = torch.zeros(32, 6).t(); out = torch.zeros(6, 64)[:, 8:40]",
        "x = torch.zeros(50, 2, dtype=torch.int16)[10:, 1]\n"
        "y = torch.zeros((), dtype=torch.int16).expand(40)\n"
        "out = torch.zeros(40, 3, dtype=torch.int16)[:, 2]",
        "x = torch.zeros(1, 70)[:, 5:6]; y = torch.zeros(1, 1); out = torch.zeros(1, 1)",
        "x = torch.zeros(()); y = torch.zeros(()); out = torch.zeros(())",
        "x = torch.zeros(0, 3); y = torch.zeros(0, 3); out = torch.zeros(0, 3)",
    ],
    hints=[
        "Three tensors take part: x and y are read, out is written. How many bytes does each of "
        "them move?",
        "Lines travel whole. `cache_lines` of the exercise before counts them. It takes "
        "`t.shape, t.stride(), t.storage_offset(), t.itemsize` of a tensor.",
        "Add up the lines of x, y and out, and multiply by 64.",
    ],
    otherwise=(
        "Count the lines of x, of y and of out on paper, and compare them with the three numbers "
        "in your function. Which of them differs?"
    ),
    takeaway="An operation moves whole lines of each tensor that it reads or writes.",
)
def bytes_moved(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> int:
    """The bytes that `torch.add(x, y, out=out)` moves between memory and the processor.

    Not allowed: stridekit's `traffic`, which does the whole task.

    x, y    the operands, each on a storage of its own, whose byte 0 starts a line
    out     the result, of the same shape as x and y, on a storage of its own as well
    return  64 for each line that holds an element of x, of y or of out. A line of out that is
            written only in part is read first, to keep its other bytes. You may count 64 more
            for it or leave that out: both are right
    """
    lines = 0
    for t in (x, y, out):
        lines += cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)
    return 64 * lines


def traffic_on_one_storage(x: Tensor, y: Tensor, out: Tensor) -> int:
    read = bytes_by_line(x) | bytes_by_line(y)
    written = bytes_by_line(out)
    read_first = sum(own < 64 and line not in read for line, own in written.items())
    return 64 * (len(read) + len(written) + read_first)


bytes_moved.slots["(x, y, out)"] = {
    "(x, y)": (
        "You leave out the result. It has to travel to memory as well: that is a third of the "
        "bytes of a contiguous `x + y`."
    ),
    "(x, out)": (
        "You leave out the second operand. `x + y` reads both, and y can lie in another way than x."
    ),
    (
        "(x, x, x)",
        "(y, y, y)",
        "(out, out, out)",
        "(x, y, x)",
        "(x, y, y)",
        "(x, x, out)",
        "(y, y, out)",
    ): (
        "You count one tensor in place of another. Tensors of one shape can lie quite differently: "
        "count the lines of x, of y and of out."
    ),
    "(x, y, out, out)": shared.WRITTEN_TWICE,
}
bytes_moved.slots["t.itemsize"] = {
    ("4", "1", "x.itemsize", "y.itemsize", "out.itemsize"): (
        "You take one itemsize for all elements. The three tensors can have different dtypes: ask "
        "each for its own `t.itemsize`."
    ),
}
bytes_moved.slots["t.storage_offset()"] = {
    ("0", "t.storage_offset() * t.itemsize"): shared.STARTS_LATER,
}
bytes_moved.slots["64 * lines"] = {
    "lines": "That is the number of lines. The task asks for bytes.",
    "lines * t.itemsize": (
        "You multiply lines by the bytes of an element. A line has 64 bytes, whatever lies on it."
    ),
    "32 * lines": "Your lines have 32 bytes. A cache line has 64; the sectors of a GPU have 32.",
}
bytes_moved.wrong |= {
    (
        "t.stride() => row_major(t.shape)",
        "64 * sum(math.ceil(t.nbytes / 64) for t in (x, y, out))",
        "bytes_moved(x, y, torch.empty(0)) + 64 * math.ceil(out.nbytes / 64)",
    ): (
        "You count whole lines, but as if the tensors were packed. Count the lines that their "
        "strides and offsets lead to."
    ),
    (
        "x.nbytes + y.nbytes + out.nbytes",
        "64 * math.ceil((x.nbytes + y.nbytes + out.nbytes) / 64)",
    ): (
        "You count the bytes of the elements. Memory sends lines of 64 bytes. Each line of `x[::5]` "
        "holds only a few elements that you want, but all of it travels."
    ),
    "4 * (x.numel() + y.numel() + out.numel())": (
        "You count 4 bytes for each element. The tensors have several dtypes, and memory sends "
        "whole lines."
    ),
    "bytes_moved(x, y, torch.empty(0)) + out.nbytes": (
        "You count whole lines of x and y, but only the bytes of the elements of out. Lines travel "
        "whole there, too."
    ),
    "x.numel() + y.numel() + out.numel()": (
        "That is the number of elements. The task asks for the bytes of all lines that hold them."
    ),
    (
        "64 * sum(math.ceil(t.untyped_storage().nbytes() / 64) for t in (x, y, out))",
        "sum(t.untyped_storage().nbytes() for t in (x, y, out))",
    ): ("You count the whole storages. A slice moves only the lines that hold its elements."),
    "64 * (x.numel() + y.numel() + out.numel())": (
        "You count a line for each of its elements. It travels once and then stays in the cache: "
        "count different lines."
    ),
    "64 * (x.nbytes + y.nbytes + out.nbytes)": (
        "You count 64 bytes for each byte. A line holds 64 bytes: how many lines hold the tensor?"
    ),
    "2 * bytes_moved(x, y, out)": (
        "That is twice the right number. Each line is counted once: read, or written."
    ),
    (
        "64 * len(bytes_by_line(x) | bytes_by_line(y) | bytes_by_line(out))",
        "64 * (len(bytes_by_line(x) | bytes_by_line(y)) + len(bytes_by_line(out)))",
        "traffic_on_one_storage(x, y, out)",
    ): (
        "You count a line of one tensor and a line of another as one line, because they have the "
        "same number. Each tensor has a storage of its own, so line 0 of x is not line 0 of y."
    ),
}


def read_order(answer: Any, args: Arguments) -> Outcome:
    """Read an order of the names of the expressions."""
    order = _names_in_order(answer, len(args["expressions"]))
    if sorted(order) != sorted(args["expressions"]):
        raise Unusable(
            f"{type_in_words(answer)}, where a list with each of the names once is asked for, "
            "the cheapest first"
        )
    return Outcome({"order": order}, " < ".join(order))


def _names_in_order(answer: Any, count: int) -> tuple[str, ...]:
    """Return the names in an answer, up to one too many; none if it is not an order of names."""
    has_no_order = isinstance(answer, str | bytes | Tensor | set | frozenset)
    if has_no_order or not isinstance(answer, Iterable):
        return ()
    names = tuple(islice(answer, count + 1))  # the answer may never end
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else ()


def case(*views: str, names: str = "abcd") -> str:
    """Return the source of a case: four names, and the views of zeros that they stand for."""
    pairs = zip(names, views, strict=True)
    items = ", ".join(f"{name!r}: torch.zeros{view}" for name, view in pairs)
    return f"expressions = {{{items}}}"


F64 = "dtype=torch.float64"
U8 = "dtype=torch.uint8"
I16 = "dtype=torch.int16"


@exercise(
    title="order four expressions by their traffic",
    read=read_order,
    cases=[
        case("(64, 64).t()", "(64, 64)[:8]", "(16, 16).t()", "(32, 64)"),
        case("(640)[::10]", "(96)", "(32)", "(100, 5)[:, 0]"),
        case("(2080)", "(592, 6)[:, 0]", "(32)", "(64)"),
        case(f"(100, {F64})", "(240)[::2]", f"(150, {U8})", f"(390, {I16})[::3]"),
        case("(40, 40).t()", "(36, 80)[:, ::2]", "(45, 40)", "(38, 44)[:, 2:42]", names="dbca"),
        case("(27, 64)", "(30, 1).expand(30, 64)", "(64).expand(30, 64)", "(20, 64, 2)[..., 0]"),
        case("(16, 64)[:, 8:24]", "(20, 16)", "(16, 64)[:, 16:32]", "(25, 64)[:, 0]", names="cadb"),
        case(f"(13, 8, {F64})", "(30)", f"(10, 32, {F64})[:, 4:12]", f"(10, 32, {F64})[:, 8:16]"),
        case("(16, 100)[:, 0]", "(9, 32)[:, :8]", "(60)[10:]", "(4, 64)[:, 5:13]"),
        case("(2000)[::40]", "(400)[::7]", "(300)", "(900)[::16]", names="badc"),
        case(
            f"(70, {F64})[::2]",
            "(200, dtype=torch.float16)",
            f"(500, {U8})[::3]",
            "(48)",
            names="dacb",
        ),
        case("(34)[::2]", "(0, 50)", "(1, 40)[:, 7:30]", "(20, 20)[3, 4]"),
        case("(20)", "(24)[8:24]", "(64)[::4]", "(16)", names="bdac"),
        case(
            "(6, 5, 16).permute(2, 0, 1)", "(8, 10, 64)[::2, :, :12]", "(500)", "(7, 6, 12)[:, ::2]"
        ),
        case("(60)[15:47]", "(32)", "(90)[20:52]", "(1, 16)", names="bcad"),
        case("(90)[9:41]", "(64)[::2]", f"(40, {F64})[2:18]", "(32)", names="cbad"),
        case("(64, 2)[:, 1]", "(64, 2)[:, 0]", "(64)", "(64)", names="badc"),
    ],
    hints=[
        "Each expression reads its view and writes a new tensor. Count the lines of both, and "
        "sort the names by the sum.",
        "The lines of the view depend on its stride and offset. The result is dense: its "
        "`v.numel() * v.itemsize` bytes fill whole lines, and perhaps a part of one more.",
        "Call `sorted(expressions, key=...)`. The key of a name is the number of lines of its view "
        "plus `math.ceil(v.numel() * v.itemsize / 64)`.",
    ],
    otherwise=(
        "Print how many lines each of the four expressions reads, and how many it writes. Compare "
        "the sums with your order."
    ),
    takeaway="The number of lines decides, not the size, the stride or contiguity.",
)
def cheapest_first(expressions: dict[str, torch.Tensor]) -> list[str]:
    """The names, sorted by how many cache lines their expressions move, the fewest first.

    expressions  a dict from names to views v. Each stands for `v + 1`, which reads v and writes a
                 new dense tensor of v's shape and dtype. All storages start a line
    return       a list of the names, by lines read plus lines written; ties keep the order of the
                 dict. You may also count a line that is written only in part as read, as
                 `traffic` does: that changes no order here
    """

    def lines(name: str) -> int:
        v = expressions[name]
        read = cache_lines(v.shape, v.stride(), v.storage_offset(), v.itemsize)
        return read + math.ceil(v.numel() * v.itemsize / 64)

    return sorted(expressions, key=lines)


def in_float32(v: Tensor) -> Tensor:
    """Return a tensor laid out like v, with elements of 4 bytes."""
    storage = torch.empty(v.untyped_storage().nbytes())
    return storage.as_strided(v.shape, v.stride(), v.storage_offset())


def cost(v: Tensor) -> int:
    """Return how many cache lines `v + 1` reads and writes."""
    return len(bytes_by_line(v)) + math.ceil(v.nbytes / 64)


def has_ties(expressions: dict[str, Tensor]) -> bool:
    return len(set(map(cost, expressions.values()))) < len(expressions)


cheapest_first.slots["read + math.ceil(v.numel() * v.itemsize / 64)"] = {
    "v.numel()": (
        "You sort by the number of elements. Fewer elements can move more lines, if they lie far "
        "apart or have a larger dtype."
    ),
    "v.nbytes": (
        "You sort by the bytes of the elements. Memory sends whole lines, so a view with gaps "
        "reads more."
    ),
    ("v.stride(-1) if v.ndim else 0", "max(v.stride(), default=0)", "v.stride()"): (
        "You sort by the stride. A large stride between long rows costs little, and a small tensor "
        "moves few lines with any stride."
    ),
    "v.ndim": "You sort by the number of dims. A view with one dim can move more than a matrix.",
    (
        "not v.is_contiguous()",
        "(not v.is_contiguous(), read + math.ceil(v.numel() * v.itemsize / 64))",
    ): (
        "You put the contiguous views first. `is_contiguous` is about order: a small view with "
        "gaps can move less, and a transpose without gaps moves as much."
    ),
    ("read", "2 * read"): (
        "You sort by the lines that are read. `v + 1` also writes its result. It is dense, so an "
        "expanded v reads little and writes much."
    ),
    "math.ceil(v.nbytes / 64)": (
        "You sort by the lines of the dense result. A view with gaps reads many more lines."
    ),
    "read + v.nbytes": (
        "You add bytes to lines. A line has 64 bytes: how many lines does the result fill?"
    ),
    "read + v.numel()": (
        "You add elements to lines. How many bytes have the elements of the result, and how many "
        "lines do they fill?"
    ),
    "v.untyped_storage().nbytes()": (
        "You sort by the size of the storages. A view moves its own lines, however large the "
        "storage is that it was cut from."
    ),
    "read + 2 * math.ceil(v.nbytes / 64)": shared.WRITTEN_TWICE,
}
cheapest_first.slots["expressions[name]"] = {
    "in_float32(expressions[name])": (
        "You count 4 bytes for every element. The views have several dtypes: use `v.itemsize`."
    ),
}
cheapest_first.slots["v.storage_offset()"] = {
    ("0", "v.storage_offset() * v.itemsize"): shared.STARTS_LATER,
}
cheapest_first.wrong |= {
    "read + math.ceil(v.numel() * v.itemsize / 64) => "
    "-(read + math.ceil(v.numel() * v.itemsize / 64))": (
        "That is the right order, back to front: the cheapest comes first."
    ),
    ("sorted(expressions)", "list(expressions)"): (
        "Your order does not depend on the views. Give `sorted` a key that counts the lines of a "
        "view."
    ),
    (
        "cache_lines(v.shape, v.stride(), v.storage_offset(), v.itemsize) => "
        "math.ceil(span(v.shape, v.stride()) * v.itemsize / 64)",
        "cache_lines(v.shape, v.stride(), v.storage_offset(), v.itemsize) => "
        "span(v.shape, v.stride()) * v.itemsize // 64",
    ): (shared.HULL.format("line")),
    "math.ceil(v.numel() * v.itemsize / 64) => v.nbytes // 64": (
        "You round down the lines of the result, perhaps with one more added each time. A line that "
        "is full only in part counts as one line, and a full line does not add another."
    ),
    "math.ceil(v.numel() * v.itemsize / 64) => v.nbytes / 64": (
        "You count a part of a line for the result. Lines travel whole: round up."
    ),
    "math.ceil(v.numel() * v.itemsize / 64) => "
    "cache_lines(v.shape, row_major(v.shape), v.storage_offset(), v.itemsize)": (
        shared.STARTS_A_LINE
    ),
}
cheapest_first.only["has_ties(expressions)"] = (
    "Right wherever no two move equally many lines. Ties keep the order of the dict. `sorted` "
    "keeps it if the key is the number of lines and nothing else."
)
