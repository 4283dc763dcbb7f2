"""traffic(reads=…, writes=…): the bytes that an operation has to move, predicted from its layouts.

Memory moves in whole cache lines: ask for four bytes of one and you get 64. So the cost of an
operation that waits for memory, as most do, follows from the number of lines its operands touch.
Nothing is run or read here, and all numbers but those of `cache=` are exact at any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError, Strided, a_kind, int_, ints, shown
from stridekit._table import columns, html_table
from stridekit._torch import as_plain, borrowed, is_tensor
from stridekit.cost.refetch import Walk, fetched_lines
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

    `operands` has one row for each operand. `useful` counts the bytes that are read and written.
    The totals `lines_read`, `lines_written` and `lines_kept` count lines of `line` bytes. A line
    that several reads, or several writes, touch counts once. A kept line is read only because it is
    written in part, or at all if `store` is "allocate". `minimum` is the bytes moved if the useful
    ones were packed densely. `cache` is the size of the cache in bytes, or None.

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
        head = ("", "useful bytes", "lines", "partial", "sectors", "fetched")
        rows = [head[: 5 if self.cache is None else 6]]
        for name, *numbers in self.operands:
            rows.append((name, *(f"{number:,}" for number in numbers if number is not None)))
        return rows

    def _sum(self) -> str:
        kept = f", {self.lines_kept:,} read only {_KEPT[self.store]}" if self.lines_kept else ""
        lines = f"{self.lines_read:,} lines read, {self.lines_written:,} written{kept}"
        return (
            f"moved: {self.moved:,} bytes ({lines}); dense: {self.minimum:,}, "
            f"{100 * self.efficiency:.0f} % of that"
        )


def traffic(
    reads: Strided | Sequence[Strided] = (),
    writes: Strided | Sequence[Strided] = (),
    *,
    line: int = 64,
    cache: int | None = None,
    order: Sequence[int] | None = None,
    store: str = "bypass",
    alignment: int = 0,
    budget: int = BUDGET,
) -> Traffic:
    """Predict the bytes, cache lines of `line` bytes and 32-byte sectors that operands cost.

    An operand is a strided tensor (of any device), an array or a Layout; several come as a tuple or
    list. Tensors have addresses. The storage of a Layout or a meta tensor is taken to begin
    `alignment` bytes after the start of a line. Layouts lie in one storage, as views of one tensor
    do, unless the names of their storages differ: `Layout((4, 6), storage="out")`. An operand
    updated in place is a read and a write.

    For each operand the table shows the lines that it touches, and how many of them it uses in
    part. A line counts once in the total, however many operands touch it. Lines that are written in
    part are read too, to keep their rest; with `store="allocate"`, all lines are read before they
    are written.

    With `cache`, a size in bytes, the operation runs as loops through a cache of that size, which
    evicts the line that was used least recently: lines that were evicted are fetched again. The
    loops are those of an elementwise operation with at most one write (`loop_nest`), or in `order`,
    the dims outermost first. This is an estimate, see `stridekit.cost.refetch`. Ask for a copy that
    torch makes first by itself.

    Raises ValueError for no operands, a line that is not a power of two, another store, and sizes
    that make no sense; LayoutError if shapes do not broadcast, and for loops over what torch copies
    first; like `memset` for operands not backed by a single storage; Undecided if the exact answer
    would cost more than the budget, in steps.

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
    sources = _operands("reads", reads)
    targets = _operands("writes", writes)
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
    read = _together(reads_by_space, line, steps)
    written = _together(writes_by_space, line, steps)
    kept = 0
    for space, parts in writes_by_space.items():
        kept += _kept(parts, reads_by_space.get(space, []), store, line, steps)
    read_bytes = [blocks_together(parts, 1, steps) for parts in reads_by_space.values()]
    written_bytes = [blocks_together(parts, 1, steps) for parts in writes_by_space.values()]
    dense = _dense_lines(read_bytes, written_bytes, kept, line, store)
    if cache is not None:
        loads = [row.lines for row in rows]
        walks = _walks(sources, targets, places, order)
        if _together(_by_space(places), line, steps) > cache // line:
            fetches = fetched_lines(walks, line, cache // line, steps)
            loads = [lines.touched for lines in fetches]
            read, written, kept = _totals_with_refetches(walks, fetches, len(sources), store)
        rows = [row._replace(fetched=load) for row, load in zip(rows, loads, strict=True)]
    useful = sum(read_bytes) + sum(written_bytes)
    return Traffic(tuple(rows), line, cache, useful, read, written, kept, line * dense, store)


def _dense_lines(
    read_bytes: list[int], written_bytes: list[int], kept: int, line: int, store: str
) -> int:
    """Return the lines that would move if the bytes of each storage were packed densely."""
    dense = sum([-(-nbytes // line) for nbytes in (*read_bytes, *written_bytes)])
    if store == "bypass":  # only the last line of a write can be partial
        dense_kept = sum([nbytes % line > 0 for nbytes in written_bytes])
    else:
        dense_kept = sum([-(-nbytes // line) for nbytes in written_bytes])
    return dense + min(kept, dense_kept)


def _row(name: str, place: Place, line: int, budget: Budget) -> Operand:
    """Return the numbers of one operand by itself."""
    part = place.part()
    if part is None:
        return Operand(name, 0, 0, 0, 0, None)
    lines = blocks(part, line, budget)
    useful = blocks(part, 1, budget).touched
    sectors = blocks(part, SECTOR, budget).touched
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
    """Return the bytes of the operands that are not empty, by their address spaces."""
    spaces: _Spaces = {}
    for place in places:
        if part := place.part():
            spaces.setdefault(place.space, []).append(part)
    return spaces


# The operands and their places --------------------------------------------------------------------


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

    Two meta tensors on one storage lie in one space, and a Layout in the space of its storage's
    name. Raises TypeError and LayoutError as `Layout.of` does, and like `memset` for what has
    memory.
    """
    x = borrowed(x)
    layout = Layout.of(x)  # refuses what is not strided
    space = ("storage", x.storage) if isinstance(x, Layout) else _meta_space(x)
    if space is None:
        return Place(memset(x).space, first_address(x), layout)
    return Place(space, alignment + layout.itemsize * layout.storage_offset, layout)


def _meta_space(x: Any) -> object:
    """Return a name for the storage of a meta or fake tensor; None for a tensor or array in memory."""
    if not is_tensor(x):
        return None
    try:
        storage = as_plain(x).untyped_storage()
    except NotImplementedError:  # inside vmap or grad: memset refuses it
        return None
    return ("meta", storage._cdata) if storage.device.type == "meta" else None


def _operands(name: str, argument: Any) -> tuple[Any, ...]:
    """Return the operands of an argument that is one operand, or several."""
    is_single = isinstance(argument, Layout) or is_tensor(argument)
    if is_single or hasattr(argument, "__array_interface__") or hasattr(argument, "__dlpack__"):
        operands: tuple[Any, ...] = (argument,)
    elif isinstance(argument, Iterable):
        operands = tuple(islice(argument, MOST_OPERANDS + 1))
    else:
        raise TypeError(
            f"{name} is {shown(argument)}, {a_kind(argument)}: "
            "give a tensor, an array, a Layout, or a tuple of them"
        )
    if len(operands) > MOST_OPERANDS:
        raise ValueError(f"{name} has more than {MOST_OPERANDS:,} operands: ask for a part of them")
    # The cost of an operand grows with the square of its dims, and is paid for each operand.
    if sum([x.ndim**2 for x in operands if isinstance(x, Layout) or is_tensor(x)]) > MOST_DIMS**2:
        raise ValueError(f"{name} has operands with too many dims together: ask for a part of them")
    return operands


def require_aligned(name: str, size: int, alignment: int, usual: str) -> None:
    """Raise unless the size of a line or a sector is a power of two and the alignment lies within it."""
    if int_(name, size) < 1 or size & (size - 1):
        raise ValueError(f"{name} is {size} bytes: give a power of two, {usual}")
    if not 0 <= int_("alignment", alignment) < size:
        raise ValueError(f"alignment is {alignment} bytes: give 0 to {size - 1}, within one {name}")


# Loops through a cache ----------------------------------------------------------------------------


def _walks(
    sources: Sequence[Any], targets: Sequence[Any], places: Sequence[Place], order: Any
) -> list[Walk]:
    """Return each operand as the loops of an elementwise operation walk it, in the order of the places."""
    if len(targets) > 1:
        raise ValueError(
            "cache= follows the loops of an elementwise operation with one result, here are "
            f"{len(targets)} writes: ask for each of them"
        )
    walks = []
    for looped, place in zip(_loops(sources, targets, order), places, strict=True):
        part = place.part()
        itemsize = looped.itemsize
        dims = zip(looped.stride, looped.shape, strict=True)
        steps = tuple((itemsize * step, size) for step, size in dims)
        walks.append(Walk(part[0] if part else 0, steps, itemsize, place.space))
    return walks


def _loops(sources: Sequence[Any], targets: Sequence[Any], order: Any) -> Sequence[Layout]:
    """Return the operands over the dims of the loops, the outermost first, in the order of the places."""
    if order is not None:
        dims = ints("order", order)
        operands = broadcast_tensors(*sources, *targets)
        if sorted(dims) != list(range(operands[0].ndim)):
            raise ValueError(
                f"order is {dims} for operands of shape {operands[0].shape}: "
                "give each dim once, the outermost loop first"
            )
        return [operand.permute(dims) for operand in operands]
    if sources and targets:
        output, *inputs = loop_nest(*sources, out=targets[0])
        (written, *read), _ = as_computed(sources, targets[0])
        _require_no_copy([*read, written], len(sources))
        return [*inputs, output]
    loops = loop_nest(*sources, *targets)[1:]
    computed, _ = as_computed((*sources, *targets))
    _require_no_copy(computed, len(sources))
    return loops


def _require_no_copy(operands: Sequence[Computed], reads: int) -> None:
    """Raise LayoutError if torch would copy an operand first: that is an operation of its own."""
    for name, operand in zip(_names(reads, len(operands) - reads), operands, strict=True):
        if operand.why_copied:
            raise LayoutError(
                f"{name} goes by way of a copy ({operand.why_copied}), which moves bytes of its own: ask "
                "for the copying, traffic(x, copy, cache=…), and for the operation on the copy"
            )


def _names(reads: int, writes: int) -> list[str]:
    """Return the names of the operands in a table."""
    return [f"read {i}" for i in range(reads)] + [f"write {i}" for i in range(writes)]


def _totals_with_refetches(
    walks: list[Walk], fetches: list[Blocks], reads: int, store: str
) -> tuple[int, int, int]:
    """Count the lines read, written and kept; two operands of one walk fetch their lines together."""
    lines_of = dict(zip(walks, fetches, strict=True))
    read = set(walks[:reads])
    written = set(walks[reads:])
    kept_lines = [lines_of[walk] for walk in written - read]
    if store == "bypass":
        kept = sum([lines.partial for lines in kept_lines])
    else:
        kept = sum([lines.touched for lines in kept_lines])
    lines_read = sum([lines_of[walk].touched for walk in read])
    lines_written = sum([lines_of[walk].touched for walk in written])
    return lines_read, lines_written, kept
