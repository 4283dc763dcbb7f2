"""traffic(reads=…, writes=…): the bytes that an operation has to move, predicted from its layouts.

Memory moves in whole cache lines: ask for four bytes of one and you get 64. So the cost of an operation
that waits for memory, as most do, follows from the number of lines its operands touch. Nothing is run or
read here, and all numbers but those of `cache=` are exact at any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import torch

from stridekit._arguments import LayoutError, a_kind, int_, ints, shown
from stridekit._table import columns, html_table
from stridekit.cost.refetch import Walk, fetched
from stridekit.elementwise import Computed, as_computed, broadcast_tensors, loop_nest
from stridekit.layout import MOST_DIMS, Layout
from stridekit.memory.blocks import Blocks, blocks, blocks_together, partial_together
from stridekit.memory.memset import generators_of
from stridekit.memory.strided_set import BUDGET, Budget, Part, normal_form
from stridekit.tensors.sharing import first_address, memset

SECTOR = 32  # bytes: the least that a GPU fetches
MOST_OPERANDS = 10_000  # each of them is compared with all others

# How a store treats a line: what it assumes, and why a line is read that no operand asks for.
_STORES = {
    "bypass": "whole lines are written unread",
    "allocate": "lines are read before they are written",
}
_KEPT = {"bypass": "to keep their rest", "allocate": "because they are written"}

# The bytes of operands, by their address spaces.
_Spaces = dict[object, list[Part]]


class Operand(NamedTuple):
    """One operand: its useful bytes, each counted once, and the lines and sectors they lie in."""

    name: str
    useful: int
    lines: int
    partial: int  # lines of which only some bytes are useful
    sectors: int
    fetched: int | None  # with cache=: lines fetched, repeats included


@dataclass(frozen=True, slots=True, repr=False)
class Traffic:
    """The result of `traffic`; prints as text, shows as a table.

    `operands` has one row for each operand. `useful` counts the bytes that are read and written. The totals
    `lines_read`, `lines_written` and `lines_kept` count lines of `line` bytes. A line that several reads,
    or several writes, touch counts once. A kept line is read only because it is written in part, or at all
    if `store` is "allocate". `minimum` is the bytes moved if the useful ones were packed densely. `cache`
    is the size of the cache in bytes, or None.

    >>> column = traffic(reads=Layout((1000,), stride=(16,), itemsize=4))
    >>> column.useful, column.lines_read, column.moved, column.efficiency
    (4000, 1000, 64000, 0.063)
    """

    operands: tuple[Operand, ...]
    line: int
    cache: int | None
    useful: int
    lines_read: int
    lines_written: int
    lines_kept: int
    minimum: int
    store: str = "bypass"

    @property
    def moved(self) -> int:
        """The bytes between memory and cache: all lines read, written and kept, in full."""
        return self.line * (self.lines_read + self.lines_written + self.lines_kept)

    @property
    def efficiency(self) -> float:
        """The part of the moved bytes that dense operands would move too; 1 if nothing moves."""
        return self.minimum / self.moved if self.moved else 1.0

    def __repr__(self) -> str:
        return "\n".join([self._title(), *columns(self._rows(), "<>"), f"  {self._sum()}"])

    def _repr_html_(self) -> str:
        (_, *names), *rows = self._rows()
        head = ["operand", *names]  # a screen reader needs a name for each column
        return html_table(self._title(), rows, head=head, foot=self._sum(), align="<>")

    def _title(self) -> str:
        where = "" if self.cache is None else f", a cache of {self.cache:,} bytes"
        stores = f"; {_STORES[self.store]}" if self.lines_written else ""
        return f"traffic in lines of {self.line} bytes{where}{stores}"

    def _rows(self) -> list[tuple[str, ...]]:
        names = ("", "useful bytes", "lines", "partial", "sectors", "fetched")
        rows = [names[: 5 if self.cache is None else 6]]
        for operand in self.operands:
            rows.append((operand.name, *(f"{n:,}" for n in operand[1:] if n is not None)))
        return rows

    def _sum(self) -> str:
        kept = f", {self.lines_kept:,} read only {_KEPT[self.store]}" if self.lines_kept else ""
        lines = f"{self.lines_read:,} lines read, {self.lines_written:,} written{kept}"
        return (
            f"moved: {self.moved:,} bytes ({lines}); dense: {self.minimum:,}, "
            f"{100 * self.efficiency:.0f} % of that"
        )


def traffic(
    reads: Any = (),
    writes: Any = (),
    *,
    line: int = 64,
    cache: int | None = None,
    order: Sequence[int] | None = None,
    store: str = "bypass",
    alignment: int = 0,
    budget: int = BUDGET,
) -> Traffic:
    """Predict the bytes, cache lines of `line` bytes and 32-byte sectors that operands cost.

    An operand is a strided tensor (of any device), an array or a Layout; several come as a tuple or list.
    Tensors have addresses. The storage of a Layout or a meta tensor is taken to begin `alignment` bytes
    after the start of a line. Layouts lie in one storage, as views of one tensor do, unless the names of
    their storages differ: `Layout((4, 6), storage="out")`. An operand updated in place is a read and a
    write.

    For each operand the table shows the lines that it touches, and how many of them it uses in part. A line
    counts once in the total, however many operands touch it. Lines that are written in part are read too,
    to keep their rest; with `store="allocate"`, all lines are read before they are written.

    With `cache`, a size in bytes, the operation runs as loops through a cache of that size, which evicts
    the line that was used least recently: lines that were evicted are fetched again. The loops are those of
    an elementwise operation with at most one write (`loop_nest`), or in `order`, the dims outermost first.
    This is an estimate, see `stridekit.cost.refetch`. Ask for a copy that torch makes first by itself.

    Raises ValueError for no operands, a line that is not a power of two, another store, and sizes that make
    no sense; LayoutError if shapes do not broadcast, and for loops over what torch copies first; like
    `memset` for operands not backed by a single storage; Undecided if the exact answer would cost more than
    the budget, in steps.

    >>> x = Layout((1000, 1000), itemsize=4)
    >>> traffic(reads=x[:, ::2], writes=Layout((1000, 500), itemsize=4, storage="y"))
    traffic in lines of 64 bytes; whole lines are written unread
               useful bytes   lines  partial  sectors
      read 0      2,000,000  62,500   62,500  125,000
      write 0     2,000,000  31,250        0   62,500
      moved: 6,000,000 bytes (62,500 lines read, 31,250 written); dense: 4,000,000, 67 % of that
    >>> [traffic(writes=x, store=store).moved / 4e6 for store in ("bypass", "allocate")]
    [1.0, 2.0]
    """
    sources, targets = _operands("reads", reads), _operands("writes", writes)
    if not (sources or targets):
        raise ValueError("no operands: give reads=, writes= or both: tensors, arrays or Layouts")
    require_aligned("line", line, alignment, "64 on most CPUs")
    if cache is not None and int_("cache", cache) < line:
        raise ValueError(f"cache is {cache} bytes: give one line of {line} bytes or more")
    if cache is None and order is not None:
        raise ValueError("order= is that of loops through a cache: give cache= too")
    if not (isinstance(store, str) and store in _STORES):
        raise ValueError(f"store is {shown(store)}: give 'bypass' or 'allocate'")
    steps = Budget(budget)
    places = [place_of(x, alignment) for x in (*sources, *targets)]
    names = _names(len(sources), len(targets))
    rows = [_row(name, place, line, steps) for name, place in zip(names, places, strict=True)]
    reads_by_space = _by_space(places[: len(sources)])
    writes_by_space = _by_space(places[len(sources) :])
    read, written = _together(reads_by_space, line, steps), _together(writes_by_space, line, steps)
    kept = sum(
        _kept(parts, reads_by_space.get(space, []), store, line, steps)
        for space, parts in writes_by_space.items()
    )
    read_bytes = [blocks_together(parts, 1, steps) for parts in reads_by_space.values()]
    written_bytes = [blocks_together(parts, 1, steps) for parts in writes_by_space.values()]
    # Packed densely, only the last line of a write can be partial.
    ragged = sum(n % line > 0 if store == "bypass" else -(-n // line) for n in written_bytes)
    dense = sum(-(-n // line) for n in (*read_bytes, *written_bytes)) + min(kept, ragged)
    if cache is not None:
        loads = [row.lines for row in rows]
        walks = _walks(sources, targets, places, order)
        if _together(_by_space(places), line, steps) > cache // line:
            refetched = fetched(walks, line, cache // line, steps)
            loads = [loaded.touched for loaded in refetched]
            read, written, kept = _refetched(walks, refetched, len(sources), store)
        rows = [row._replace(fetched=n) for row, n in zip(rows, loads, strict=True)]
    useful = sum(read_bytes) + sum(written_bytes)
    return Traffic(tuple(rows), line, cache, useful, read, written, kept, line * dense, store)


def _row(name: str, place: Place, line: int, budget: Budget) -> Operand:
    """Return the numbers of one operand by itself."""
    part = place.part()
    if part is None:
        return Operand(name, 0, 0, 0, 0, None)
    lines = blocks(part, line, budget)
    useful, sectors = (blocks(part, size, budget).touched for size in (1, SECTOR))
    return Operand(name, useful, lines.touched, lines.partial, sectors, None)


def _together(spaces: _Spaces, line: int, budget: Budget) -> int:
    """Count the lines of operands; a line that several operands touch counts once."""
    return sum([blocks_together(parts, line, budget) for parts in spaces.values()])


def _kept(written: list[Part], read: list[Part], store: str, line: int, budget: Budget) -> int:
    """Return the lines that are read only because they are written."""
    if store == "bypass":
        return partial_together(written, read, line, budget)
    return blocks_together([*written, *read], line, budget) - blocks_together(read, line, budget)


def _by_space(places: Sequence[Place]) -> _Spaces:
    spaces: _Spaces = {}
    for place in places:
        if part := place.part():
            spaces.setdefault(place.space, []).append(part)
    return spaces


# The operands: which are accepted, and where they lie -----------------------------------------------


class Place(NamedTuple):
    """An operand's address space, the first byte of the element at index 0, and its layout.

    Bytes of two spaces are never the same, even if their numbers are.
    """

    space: object
    start: int
    layout: Layout

    def part(self) -> Part | None:
        """Return the set of the operand's bytes, None for an empty one."""
        generators = generators_of(self.layout)[1]
        return normal_form(self.start, generators) if self.layout.numel else None


def place_of(x: Any, alignment: int) -> Place:
    """Return the place of a tensor, an array or a Layout; a storage without a place begins at `alignment`.

    Two meta tensors on one storage lie in one space, and a Layout in the space of its storage's name.
    Raises TypeError and LayoutError as `Layout.of` does, and like `memset` for what has memory.
    """
    layout = Layout.of(x)  # refuses what is not strided
    space = ("storage", x.storage) if isinstance(x, Layout) else _meta_space(x)
    if space is None:
        return Place(memset(x).space, first_address(x), layout)
    return Place(space, alignment + layout.itemsize * layout.storage_offset, layout)


def _meta_space(x: Any) -> object:
    """Return a name for the storage of a meta or fake tensor; None for a tensor or array in memory."""
    if not isinstance(x, torch.Tensor):
        return None
    try:
        storage = x.untyped_storage()
    except NotImplementedError:  # inside vmap or grad: memset refuses it
        return None
    return ("meta", storage._cdata) if storage.device.type == "meta" else None


def _operands(name: str, given: Any) -> tuple[Any, ...]:
    """Return one operand or several as a tuple."""
    alone = isinstance(given, (Layout, torch.Tensor)) or hasattr(given, "__array_interface__")
    if not alone and not isinstance(given, Iterable):
        advice = "give a tensor, an array, a Layout, or a tuple of them"
        raise TypeError(f"{name} is {shown(given)}, {a_kind(given)}: {advice}")
    operands = (given,) if alone else tuple(islice(given, MOST_OPERANDS + 1))
    if len(operands) > MOST_OPERANDS:
        raise ValueError(f"{name} has more than {MOST_OPERANDS:,} operands: ask for a part of them")
    # The cost of an operand grows with the square of its dims, and is paid for each operand.
    if sum([x.ndim**2 for x in operands if isinstance(x, (Layout, torch.Tensor))]) > MOST_DIMS**2:
        raise ValueError(f"{name} has operands with too many dims together: ask for a part of them")
    return operands


def require_aligned(name: str, size: int, alignment: int, usual: str) -> None:
    """Raise unless the size of a line or a sector is a power of two and the alignment lies within it."""
    if int_(name, size) < 1 or size & (size - 1):
        raise ValueError(f"{name} is {size} bytes: give a power of two, {usual}")
    if not 0 <= int_("alignment", alignment) < size:
        raise ValueError(f"alignment is {alignment} bytes: give 0 to {size - 1}, within one {name}")


# Loops through a cache ------------------------------------------------------------------------------


def _walks(
    sources: Sequence[Any], targets: Sequence[Any], places: Sequence[Place], order: Any
) -> list[Walk]:
    """Return each operand as the loops of an elementwise operation walk it, in the order of the places."""
    if len(targets) > 1:
        loops_of = "cache= follows the loops of an elementwise operation with one result"
        raise ValueError(f"{loops_of}, here are {len(targets)} writes: ask for each of them")
    loops: Sequence[Layout]
    if order is not None:
        dims, operands = ints("order", order), broadcast_tensors(*sources, *targets)
        if sorted(dims) != list(range(operands[0].ndim)):
            advice = "give each dim once, the outermost loop first"
            raise ValueError(f"order is {dims} for operands of shape {operands[0].shape}: {advice}")
        loops = [operand.permute(dims) for operand in operands]
    elif sources and targets:
        output, *inputs = loop_nest(*sources, out=targets[0])
        loops = [*inputs, output]
        (written, *read), _ = as_computed(sources, targets[0])
        _require_no_copy([*read, written], len(sources))
    else:
        loops = loop_nest(*sources, *targets)[1:]
        _require_no_copy(as_computed((*sources, *targets))[0], len(sources))
    walks = []
    for looped, place in zip(loops, places, strict=True):
        part, item = place.part(), looped.itemsize
        steps = [(item * s, n) for s, n in zip(looped.stride, looped.shape, strict=True)]
        walks.append(Walk(part[0] if part else 0, tuple(steps), item, place.space))
    return walks


def _require_no_copy(operands: Sequence[Computed], reads: int) -> None:
    """Raise LayoutError if torch would copy an operand first: that is an operation of its own."""
    for name, operand in zip(_names(reads, len(operands) - reads), operands, strict=True):
        if operand.why_copied:
            raise LayoutError(
                f"{name} goes by way of a copy ({operand.why_copied}), which moves bytes of its own: ask "
                "for the copying, traffic(x, copy, cache=…), and for the operation on the copy"
            )


def _names(reads: int, writes: int) -> list[str]:
    return [f"read {i}" for i in range(reads)] + [f"write {i}" for i in range(writes)]


def _refetched(walks: list[Walk], counts: list[Blocks], reads: int, store: str) -> list[int]:
    """Count the lines read, written and kept; two operands of one walk fetch their lines together."""
    by_walk = dict(zip(walks, counts, strict=True))
    read, written = set(walks[:reads]), set(walks[reads:])
    kept = [by_walk[walk] for walk in written - read]
    touched = [sum(by_walk[walk].touched for walk in some) for some in (read, written)]
    return [*touched, sum(b.partial if store == "bypass" else b.touched for b in kept)]
