"""E5: order expressions by their traffic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from stridekit.exercises.answers import kind
from stridekit.exercises.core import exercise
from stridekit.exercises.performance import e2_cache_lines
from stridekit.exercises.performance.lines import dense_lines, line_numbers, lines_of
from stridekit.exercises.running import Arguments, Outcome, Unusable

cache_lines = e2_cache_lines.cache_lines.reference
Expressions = Mapping[str, Tensor]


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


def case(**views: str) -> str:
    """One case: four names, and the views that they stand for."""
    inside = ", ".join(f"{name!r}: {view}" for name, view in views.items())
    return f"expressions = {{{inside}}}"


@exercise(
    title="order four expressions by their traffic",
    read=read_order,
    cases=[
        case(
            a="torch.zeros(64, 64).t()",
            b="torch.zeros(64, 64)[:8]",
            c="torch.zeros(16, 16).t()",
            d="torch.zeros(32, 64)",
        ),
        case(
            a="torch.zeros(640)[::10]",
            b="torch.zeros(96)",
            c="torch.zeros(32)",
            d="torch.zeros(100, 5)[:, 0]",
        ),
        case(
            a="torch.zeros(100, dtype=torch.float64)",
            b="torch.zeros(240)[::2]",
            c="torch.zeros(150, dtype=torch.uint8)",
            d="torch.zeros(390, dtype=torch.int16)[::3]",
        ),
        case(
            a="torch.zeros(40, 40).t()",
            b="torch.zeros(36, 80)[:, ::2]",
            c="torch.zeros(45, 40)",
            d="torch.zeros(38, 44)[:, 2:42]",
        ),
        case(
            a="torch.zeros(27, 64)",
            b="torch.zeros(30, 1).expand(30, 64)",
            c="torch.zeros(64).expand(30, 64)",
            d="torch.zeros(20, 64, 2)[..., 0]",
        ),
        case(
            a="torch.zeros(16, 100)[:, 0]",
            b="torch.zeros(9, 32)[:, :8]",
            c="torch.zeros(60)[10:]",
            d="torch.zeros(4, 64)[:, 5:13]",
        ),
        case(
            a="torch.zeros(2000)[::40]",
            b="torch.zeros(400)[::7]",
            c="torch.zeros(300)",
            d="torch.zeros(900)[::16]",
        ),
        case(
            a="torch.zeros(70, dtype=torch.float64)[::2]",
            b="torch.zeros(200, dtype=torch.float16)",
            c="torch.zeros(500, dtype=torch.uint8)[::3]",
            d="torch.zeros(48)",
        ),
        case(
            a="torch.zeros(34)[::2]",
            b="torch.zeros(0, 50)",
            c="torch.zeros(1, 40)[:, 7:30]",
            d="torch.zeros(20, 20)[3, 4]",
        ),
        case(
            a="torch.zeros(6, 5, 16).permute(2, 0, 1)",
            b="torch.zeros(8, 10, 64)[::2, :, :12]",
            c="torch.zeros(500)",
            d="torch.zeros(7, 6, 12)[:, ::2]",
        ),
        case(
            a="torch.zeros(60)[15:47]",
            b="torch.zeros(32)",
            c="torch.zeros(34)[::2]",
            d="torch.zeros(1, 16)",
        ),
        case(
            a="torch.zeros(90)[9:41]",
            b="torch.zeros(64)[::2]",
            c="torch.zeros(40, dtype=torch.float64)[2:18]",
            d="torch.zeros(30)",
        ),
        case(
            a="torch.zeros(64, 2)[:, 1]",
            b="torch.zeros(64, 2)[:, 0]",
            c="torch.zeros(64)",
            d="torch.zeros(64)",
        ),
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


def by(key: Callable[[Tensor], Any], expressions: Expressions) -> list[str]:
    """The names, sorted by something of their views."""
    return sorted(expressions, key=lambda name: key(expressions[name]))


def traffic(v: Tensor) -> int:
    """The lines of `v + 1`."""
    return lines_of(v) + dense_lines(v.shape, v.itemsize)


@cheapest_first.mistake(
    "You go by the number of elements. A view with fewer of them, far apart or of a larger dtype, can "
    "move more lines."
)
def by_numel(expressions: Expressions) -> list[str]:
    return by(lambda v: v.numel(), expressions)


@cheapest_first.mistake(
    "You go by the bytes of the elements. Memory sends whole lines: a view with gaps reads more than "
    "its elements hold."
)
def by_nbytes(expressions: Expressions) -> list[str]:
    return by(lambda v: v.numel() * v.itemsize, expressions)


STRIDE = (
    "You go by the stride. A large stride costs nothing where long rows are read between the jumps, and "
    "a small tensor with gaps is still small."
)


@cheapest_first.mistake(STRIDE)
def by_stride(expressions: Expressions) -> list[str]:
    return by(lambda v: v.stride(-1) if v.ndim else 0, expressions)


@cheapest_first.mistake(STRIDE)
def by_largest_stride(expressions: Expressions) -> list[str]:
    return by(lambda v: max(v.stride(), default=0), expressions)


CONTIGUOUS = (
    "You put the contiguous ones first. `is_contiguous` speaks about order, not about size: a small "
    "view with gaps can move less, and a transpose without gaps moves the same."
)


@cheapest_first.mistake(CONTIGUOUS)
def contiguous_ones_first(expressions: Expressions) -> list[str]:
    return by(lambda v: not v.is_contiguous(), expressions)


@cheapest_first.mistake(CONTIGUOUS)
def contiguous_ones_first_then_traffic(expressions: Expressions) -> list[str]:
    return by(lambda v: (not v.is_contiguous(), traffic(v)), expressions)


@cheapest_first.mistake(
    "You go by what is read. `v + 1` also writes its result, and that is dense, without the gaps and "
    "repeats of v: an expanded v reads little and writes much."
)
def by_reads(expressions: Expressions) -> list[str]:
    return by(lines_of, expressions)


@cheapest_first.mistake(
    "You count what is written alone. The result is dense, but v may have to be gathered from many "
    "lines: those travel too."
)
def by_writes(expressions: Expressions) -> list[str]:
    return by(lambda v: dense_lines(v.shape, v.itemsize), expressions)


@cheapest_first.mistake("That is the right order, back to front: the cheapest comes first.")
def dearest_first(expressions: Expressions) -> list[str]:
    return by(lambda v: -traffic(v), expressions)


@cheapest_first.mistake(
    "You go by the size of the storages. A view moves its own lines, however large the storage is that "
    "it was cut from."
)
def by_storage(expressions: Expressions) -> list[str]:
    return by(lambda v: v.untyped_storage().nbytes(), expressions)


@cheapest_first.mistake(
    "You count 4 bytes for every element. The views have several dtypes: `v.itemsize`."
)
def assumes_four_bytes(expressions: Expressions) -> list[str]:
    return by(lines_as_float32, expressions)


def lines_as_float32(v: Tensor) -> int:
    """The traffic, if every element had 4 bytes."""
    read = len(line_numbers(v.shape, v.stride(), v.storage_offset(), 4))
    return read + dense_lines(v.shape, 4)


@cheapest_first.mistake(
    "You let every view start at the start of a line. One that starts in the middle can reach into one "
    "line more: `v.storage_offset()`."
)
def forgets_the_offset(expressions: Expressions) -> list[str]:
    return by(lines_from_the_start, expressions)


def lines_from_the_start(v: Tensor) -> int:
    """The traffic, if every view started a line."""
    return len(line_numbers(v.shape, v.stride(), 0, v.itemsize)) + dense_lines(v.shape, v.itemsize)
