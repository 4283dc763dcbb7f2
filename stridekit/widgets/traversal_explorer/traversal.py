"""The costs of walking a layout: cache lines and hits of a loop order, sectors of a warp.

Everything is counted by simulation: visit after visit through a cache that drops the line used longest
ago. traversal.js counts and says the same, so that a picture follows the hand without asking the kernel;
tests/live.py compares the two. The sentence on one visit is only there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stridekit.cost.refetch import Lru
from stridekit.layout import Layout
from stridekit.widgets.notation import CACHE_LINE, counted, elements, layout_json, layout_of

SECTOR = 32  # bytes: the least that a GPU fetches
LANES = 32  # the threads of a warp
ITEMSIZES = (1, 2, 4, 8, 16)
CACHE_SIZES = (1, 2, 4, 8, 16, 32)


class Visit(NamedTuple):
    """One visit of a walk: the element, its cache line, and whether the cache had it."""

    element: int
    line: int
    hit: bool


class Counts(NamedTuple):
    """The costs of a walk, or of its beginning.

    `lines` is the number of different cache lines touched, `misses` the number of loads, and `minimum`
    the number of lines that the whole layout covers: no order can load fewer. `bytes_used` counts each
    byte once.
    """

    visits: int
    lines: int
    misses: int
    minimum: int
    bytes_used: int
    bytes_loaded: int


def walk(
    layout: Layout, order: Sequence[int], cache_lines: int = 4, alignment: int = 0
) -> list[Visit]:
    """Every visit of a walk through a cache of 64-byte lines that drops the line used longest ago.

    The storage starts `alignment` bytes after the start of line 0.

    >>> [visit.hit for visit in walk(Layout((2, 3), (8, 1), itemsize=8), (0, 1))]
    [False, True, True, False, True, True]
    """
    cache, visits = Lru(cache_lines), []
    for element in elements(layout, order):
        line = (alignment + element * layout.itemsize) // CACHE_LINE
        visits.append(Visit(element, line, cache.load(line)))
    return visits


def counts(visits: Sequence[Visit], itemsize: int, upto: int | None = None) -> Counts:
    """The costs of the first `upto` visits of a walk; without it, of the whole walk.

    >>> x = Layout((6, 8), itemsize=8)
    >>> counts(walk(x, (0, 1)), 8).misses, counts(walk(x, (1, 0)), 8).misses
    (6, 48)
    """
    done = visits[: len(visits) if upto is None else upto]
    misses = sum(not visit.hit for visit in done)
    return Counts(
        visits=len(done),
        lines=len({visit.line for visit in done}),
        misses=misses,
        minimum=len({visit.line for visit in visits}),
        bytes_used=len({visit.element for visit in done}) * itemsize,
        bytes_loaded=misses * CACHE_LINE,
    )


# Sentences ------------------------------------------------------------------------------------------


def order_name(order: Sequence[int]) -> str:
    """The name of a loop order.

    >>> order_name((1, 0)), order_name((0, 2, 1))
    ('column by column, dims (1, 0)', 'dims (0, 2, 1)')
    """
    dims = f"dims {tuple(order)}" if len(order) > 1 else "dim 0" if order else "no dims"
    names: dict[tuple[int, ...], str] = {(0, 1): "row by row, ", (1, 0): "column by column, "}
    return names.get(tuple(order), "") + dims


def counts_sentence(found: Counts) -> str:
    """A sentence on the loaded lines, the fewest possible, and the share of bytes used.

    >>> counts_sentence(counts(walk(Layout((6, 8), itemsize=8), (1, 0)), 8))
    '48 visits load 48 cache lines, 6 would do: 384 of 3072 bytes are used'
    """
    least = "as few as can be" if found.misses <= found.lines else f"{found.lines} would do"
    visits = f"{counted(found.visits, 'visit')} load{'s' * (found.visits == 1)}"
    used = f"{found.bytes_used} of {found.bytes_loaded} bytes are used"
    return f"{visits} {counted(found.misses, 'cache line')}, {least}: {used}"


def comparison(left: Counts, right: Counts) -> str:
    """A sentence that says which of two walks loads more, and how many times as much.

    >>> x = Layout((6, 8), itemsize=8)
    >>> comparison(counts(walk(x, (0, 1)), 8), counts(walk(x, (1, 0)), 8))
    'the right one loads 8 times as many cache lines as the left one'
    """
    few, many = sorted((left.misses, right.misses))
    if few == many:
        return f"both load {counted(many, 'cache line')}"
    names = ("right", "left") if right.misses > left.misses else ("left", "right")
    if few == 0:
        return f"the {names[0]} one loads {many}, the {names[1]} one none"
    tenths = (20 * many + few) // (2 * few)  # rounded as in JavaScript
    times = f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"
    return f"the {names[0]} one loads {times} times as many cache lines as the {names[1]} one"


# A warp ---------------------------------------------------------------------------------------------


class Warp(NamedTuple):
    """32 threads in step: thread t reads element t * stride + offset of an aligned storage."""

    itemsize: int = 4
    stride: int = 1
    offset: int = 0

    @property
    def sectors(self) -> tuple[int, ...]:
        """The 32-byte sector that each lane's element lies in.

        >>> len(set(Warp(itemsize=4, stride=2).sectors))
        8
        """
        return tuple(
            (lane * self.stride + self.offset) * self.itemsize // SECTOR for lane in range(LANES)
        )

    @property
    def minimum(self) -> int:
        """The fewest sectors that hold as many bytes as the warp uses."""
        return -(-self.bytes_used // SECTOR)

    @property
    def bytes_used(self) -> int:
        """The bytes that the lanes read, each counted once."""
        return self.itemsize * (LANES if self.stride else 1)

    @property
    def bytes_loaded(self) -> int:
        """The bytes of the sectors that the lanes touch."""
        return len(set(self.sectors)) * SECTOR


def warp_sentence(warp: Warp) -> str:
    """A sentence on the sectors that a warp loads, the fewest possible, and the waste.

    >>> warp_sentence(Warp(itemsize=4, stride=2))
    '32 lanes, 4 bytes each, stride 2: 8 sectors, 4 would do; half of each is thrown away'
    """
    offset = f", offset {warp.offset}" if warp.offset else ""
    touched = len(set(warp.sectors))
    least = f"{warp.minimum} would do" if touched > warp.minimum else "as few as can be"
    waste = warp.bytes_loaded - warp.bytes_used
    if not waste:
        thrown = "every byte is used"
    elif 2 * waste == warp.bytes_loaded and warp.offset == 0:
        thrown = "half of each is thrown away"
    else:
        thrown = f"{waste} of {warp.bytes_loaded} bytes are thrown away"
    lanes = f"{LANES} lanes, {counted(warp.itemsize, 'byte')} each, stride {warp.stride}{offset}"
    return f"{lanes}: {counted(touched, 'sector')}, {least}; {thrown}"


# Presets --------------------------------------------------------------------------------------------


class Walk(NamedTuple):
    """A layout, its name in sentences, and the order in which it is walked."""

    name: str
    layout: Layout
    order: tuple[int, ...]


class Preset(NamedTuple):
    """One or two walks worth a look, side by side, and the lesson in them."""

    name: str
    lesson: str
    walks: tuple[Walk, ...]


def presets() -> list[Preset]:
    """The walks to start from: mostly 48 numbers of 8 bytes, which fill six cache lines.

    >>> [preset.name for preset in presets()][:2]
    ['rows against columns', 'transpose']
    """
    x, deep = Layout((6, 8), itemsize=8), Layout((2, 6, 4), itemsize=8).permute(2, 0, 1)
    wide, long = Layout((6, 16), itemsize=8), Layout((120,), itemsize=8)
    row, column = Layout((8,), itemsize=8), Layout((6, 1), itemsize=8)
    rows, columns = (0, 1), (1, 0)
    return [
        Preset(
            "rows against columns",
            "One tensor, two loop orders. A column crosses six lines: a cache of four has dropped "
            "each of them before the next column comes.",
            (Walk("x", x, rows), Walk("x", x, columns)),
        ),
        Preset(
            "transpose",
            "x.t() is not slow. torch's elementwise operations sort their loops by stride, so that "
            "x.t() + 1 walks the memory as x + 1 does.",
            (Walk("x.t()", x.t(), rows), Walk("x.t()", x.t(), columns)),
        ),
        Preset(
            "one loop, two layouts",
            "The same loops over both. Where two operands lie differently, no order suits "
            "both: one of them has to jump.",
            (Walk("x", x, rows), Walk("x.t()", x.t(), rows)),
        ),
        Preset(
            "every 2nd column",
            "Lines come whole: every second element uses half of each, and as many visits load "
            "twice as many lines.",
            (Walk("x", x, rows), Walk("x[:, ::2]", wide[:, ::2], rows)),
        ),
        Preset(
            "stride 5",
            "Every fifth number is wanted, and the four between come along: 8 bytes in 40 are of use.",
            (Walk("x", long[:24], (0,)), Walk("x[::5]", long[::5], (0,))),
        ),
        Preset(
            "broadcast",
            "A stride of 0 comes back to the same elements: 48 visits, and hardly a line to load.",
            (
                Walk("row.expand(6, 8)", row.expand(6, 8), rows),
                Walk("column.expand(6, 8)", column.expand(6, 8), rows),
            ),
        ),
        Preset(
            "3-d permuted",
            "Three dims have six orders; the one sorted by stride reads the memory from end to end.",
            (
                Walk("x.permute(2, 0, 1)", deep, (0, 1, 2)),
                Walk("x.permute(2, 0, 1)", deep, deep.dim_order()),
            ),
        ),
    ]


def to_json(step: Walk) -> dict[str, Any]:
    """A walk as JSON."""
    return {"name": step.name, **layout_json(step.layout), "order": list(step.order)}


def from_json(found: dict[str, Any]) -> Walk:
    """The walk in a result of `to_json`."""
    return Walk(found["name"], layout_of(found), tuple(found["order"]))
