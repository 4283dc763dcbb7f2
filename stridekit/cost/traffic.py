"""traffic(reads=…, writes=…): the bytes that an operation has to move, predicted from its layouts.

Memory moves in whole cache lines: whoever wants four bytes of one gets 64. So the cost of an operation
that waits for memory, as most do, follows from how many lines its operands touch. Nothing is run or
read here, and all numbers are exact for any number of elements; only `cache=`, which asks what loops
fetch again, is an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stridekit._arguments import LayoutError, int_, ints
from stridekit.cost.operands import Place, operands, place_of, require_aligned
from stridekit.cost.refetch import Walk, fetched
from stridekit.cost.traffic_table import Operand, Traffic
from stridekit.elementwise import Computed, as_computed, broadcast_tensors, loop_nest
from stridekit.layout import Layout
from stridekit.memory.blocks import Blocks, blocks, blocks_together, partial_together
from stridekit.memory.strided_set import BUDGET, Budget, Part

__all__ = ["Operand", "Traffic", "traffic"]

SECTOR = 32  # bytes: what a GPU fetches at least

# The bytes of operands, by their address spaces.
_Spaces = dict[object, list[Part]]


def traffic(
    reads: Any = (),
    writes: Any = (),
    *,
    line: int = 64,
    cache: int | None = None,
    order: Sequence[int] | None = None,
    alignment: int = 0,
    budget: int = BUDGET,
) -> Traffic:
    """The bytes, cache lines of `line` bytes and 32-byte sectors that reading and writing operands costs.

    An operand is a strided tensor (of any device), an array or a Layout; several come as a tuple or list.
    Tensors lie where they lie. A Layout, as a meta tensor, has a storage without a place: it is taken to
    begin `alignment` bytes behind the start of a line. Layouts lie in one storage, as views of one tensor
    do, unless the names of their storages differ: `Layout((4, 6), storage="out")`. What is updated in
    place is a read and a write.

    Without `cache` every line comes once for reading and goes once for writing; lines that are
    written in part and not read have to come too, to keep their other bytes. (Many CPUs fetch each
    line that they write. The measured `bandwidth()` does not count those either.)
    With `cache`, its size in bytes, lines are fetched again by the loops of an elementwise operation
    that returns to them too late: torch's `loop_nest`, or with `order`, the dims outermost first, loops
    in that order. At most one write then. This is an estimate, see `stridekit.cost.refetch`.
    Only what is listed is counted. Where torch first casts an operand into a copy, that copying is an
    operation to ask for by itself; with torch's loops, such an operand is refused.

    Raises ValueError for no operands, a line that is not a power of two, and sizes that make no sense;
    LayoutError where shapes do not broadcast, and for loops over what torch copies first; like `memset`
    for operands without one memory; Undecided where the exact answer would cost more than the budget.

    >>> x = Layout((1000, 1000), itemsize=4)
    >>> traffic(reads=x[:, ::2], writes=Layout((1000, 500), itemsize=4, storage="y"))
    traffic in lines of 64 bytes
               useful bytes   lines  partial  sectors
      read 0      2,000,000  62,500   62,500  125,000
      write 0     2,000,000  31,250        0   62,500
      moved: 6,000,000 bytes (62,500 lines read, 31,250 written); dense: 4,000,000, 67 % of that
    >>> traffic(reads=x.t(), writes=x.clone(), cache=32768).moved / 8e6
    8.5
    """
    sources, targets = operands("reads", reads), operands("writes", writes)
    if not (sources or targets):
        raise ValueError("no operands: give reads=, writes= or both: tensors, arrays or Layouts")
    _require_sizes(line, cache, order, alignment)
    steps = Budget(budget)
    places = [place_of(x, alignment) for x in (*sources, *targets)]
    names = _names(len(sources), len(targets))
    rows = [_row(name, place, line, steps) for name, place in zip(names, places, strict=True)]
    came, went = _by_space(places[: len(sources)]), _by_space(places[len(sources) :])
    read, written = _together(came, line, steps), _together(went, line, steps)
    kept = sum([partial_together(p, came.get(space, []), line, steps) for space, p in went.items()])
    used = [blocks_together(parts, 1, steps) for parts in came.values()]
    made = [blocks_together(parts, 1, steps) for parts in went.values()]
    # Packed densely, the last line of what is written may be partial, but no other is.
    ragged = sum([n % line > 0 for n in made])
    dense = sum([-(-n // line) for n in (*used, *made)]) + min(kept, ragged)
    if cache is not None:
        loads = [row.lines for row in rows]
        walks = _walks(sources, targets, places, order)
        if _together(_by_space(places), line, steps) > cache // line:
            found = fetched(walks, line, cache // line, steps)
            loads = [one.touched for one in found]
            read, written, kept = _refetched(walks, found, len(sources))
        rows = [row._replace(fetched=n) for row, n in zip(rows, loads, strict=True)]
    return Traffic(
        operands=tuple(rows),
        line=line,
        cache=cache,
        useful=sum(used) + sum(made),
        lines_read=read,
        lines_written=written,
        lines_kept=kept,
        minimum=line * dense,
    )


def _row(name: str, place: Place, line: int, budget: Budget) -> Operand:
    """The numbers of one operand by itself."""
    part = place.part()
    if part is None:
        return Operand(name, 0, 0, 0, 0, None)
    lines = blocks(part, line, budget)
    useful, sectors = (blocks(part, size, budget).touched for size in (1, SECTOR))
    return Operand(name, useful, lines.touched, lines.partial, sectors, None)


def _together(spaces: _Spaces, line: int, budget: Budget) -> int:
    """The lines of operands, those that several of them touch counted once."""
    return sum([blocks_together(parts, line, budget) for parts in spaces.values()])


def _by_space(places: Sequence[Place]) -> _Spaces:
    found: _Spaces = {}
    for place in places:
        if part := place.part():
            found.setdefault(place.space, []).append(part)
    return found


# Loops through a cache ------------------------------------------------------------------------------


def _walks(
    sources: tuple[Any, ...],
    targets: tuple[Any, ...],
    places: Sequence[Place],
    order: Sequence[int] | None,
) -> list[Walk]:
    """Each operand as the loops of an elementwise operation walk it, in the order of the places."""
    if len(targets) > 1:
        raise ValueError(
            f"cache= follows the loops of an elementwise operation with one result, here are "
            f"{len(targets)} writes: ask for each of them"
        )
    nests: Sequence[Layout]
    if order is not None:
        nests = _in_order(broadcast_tensors(*sources, *targets), order)
    elif sources and targets:
        output, *inputs = loop_nest(*sources, out=targets[0])
        nests = [*inputs, output]
        (written, *read), _ = as_computed(sources, targets[0])
        _require_no_copy([*read, written], len(sources))
    else:
        nests = loop_nest(*sources, *targets)[1:]
        _require_no_copy(as_computed((*sources, *targets))[0], len(sources))
    walks = []
    for nest, place in zip(nests, places, strict=True):
        part = place.part()
        loops = zip([nest.itemsize * step for step in nest.stride], nest.shape, strict=True)
        walks.append(Walk(part[0] if part else 0, tuple(loops), nest.itemsize, place.space))
    return walks


def _require_no_copy(operands: Sequence[Computed], reads: int) -> None:
    """Raise LayoutError where torch would copy an operand first: that is an operation of its own."""
    for name, operand in zip(_names(reads, len(operands) - reads), operands, strict=True):
        if operand.why_copied:
            raise LayoutError(
                f"{name} goes by way of a copy ({operand.why_copied}), which moves bytes of its own: ask "
                "for the copying, traffic(x, copy, cache=…), and for the operation on the copy"
            )


def _names(reads: int, writes: int) -> list[str]:
    return [f"read {i}" for i in range(reads)] + [f"write {i}" for i in range(writes)]


def _refetched(walks: list[Walk], found: list[Blocks], reads: int) -> tuple[int, int, int]:
    """The lines read, written and kept; two operands of one walk fetch their lines together."""
    by_walk = dict(zip(walks, found, strict=True))
    came, went = set(walks[:reads]), set(walks[reads:])
    return (
        sum([by_walk[walk].touched for walk in came]),
        sum([by_walk[walk].touched for walk in went]),
        sum([by_walk[walk].partial for walk in went - came]),
    )


def _in_order(layouts: Sequence[Layout], order: Sequence[int]) -> list[Layout]:
    dims = ints("order", order)
    if sorted(dims) != list(range(layouts[0].ndim)):
        raise ValueError(
            f"order is {dims} for operands of shape {layouts[0].shape}: give each dim once, the "
            "outermost loop first"
        )
    return [layout.permute(dims) for layout in layouts]


def _require_sizes(
    line: int, cache: int | None, order: Sequence[int] | None, alignment: int
) -> None:
    require_aligned("line", line, alignment, "64 on most CPUs")
    if cache is not None and int_("cache", cache) < line:
        raise ValueError(f"cache is {cache} bytes: it holds one line of {line} bytes at the least")
    if cache is None and order is not None:
        raise ValueError("order= is that of loops through a cache: give cache= too")
