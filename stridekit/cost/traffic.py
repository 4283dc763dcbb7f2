"""traffic(reads=…, writes=…): the bytes that an operation has to move, predicted from its layouts.

Memory moves in whole cache lines: whoever wants four bytes of one gets 64. So the cost of an operation
that waits for memory, as most do, follows from how many lines its operands touch. Nothing is run or
read here, and all numbers are exact for any number of elements; only `cache=`, which asks what loops
fetch again, is an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch

from stridekit._arguments import LayoutError, a_kind, int_, ints, shown
from stridekit.cost.placement import without_memory
from stridekit.cost.refetch import Walk, fetched
from stridekit.cost.traffic_table import Operand, Traffic
from stridekit.elementwise import Computed, as_computed, broadcast_tensors, loop_nest
from stridekit.layout import MOST_DIMS, Layout
from stridekit.memory.block_union import blocks_together, partial_together
from stridekit.memory.blocks import Blocks, Part, blocks
from stridekit.memory.memset import generators_of
from stridekit.memory.strided_set import BUDGET, Budget, normal_form
from stridekit.tensors.sharing import memset

__all__ = ["Operand", "Traffic", "traffic"]

MOST_OPERANDS = 10_000  # each of them is compared with all others
SECTOR = 32  # bytes: what a GPU fetches at least


class _Place(NamedTuple):
    """Where an operand lies: its address space, and the set of its bytes, None for an empty one."""

    space: object
    part: Part | None


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

    Raises ValueError for no operands, a line that is no power of two, and sizes that make no sense;
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
    sources, targets = _operands("reads", reads), _operands("writes", writes)
    both = (*sources, *targets)
    if not both:
        raise ValueError("no operands: give reads=, writes= or both: tensors, arrays or Layouts")
    _require_sizes(line, cache, order, alignment)
    steps = Budget(budget)
    places = [_place(x, alignment) for x in both]
    names = _names(len(sources), len(targets))
    operands = [
        _operand(name, place, line, steps) for name, place in zip(names, places, strict=True)
    ]
    came, went = _by_space(places[: len(sources)]), _by_space(places[len(sources) :])
    read, written = _lines(came, line, steps), _lines(went, line, steps)
    kept = sum([partial_together(p, came.get(space, []), line, steps) for space, p in went.items()])
    used = [blocks_together(parts, 1, steps) for parts in came.values()]
    made = [blocks_together(parts, 1, steps) for parts in went.values()]
    # Packed densely, the last line of what is written may be partial, but no other is.
    ragged = sum([n % line > 0 for n in made])
    dense = sum([-(-n // line) for n in (*used, *made)]) + min(kept, ragged)
    if cache is not None:
        loads = [operand.lines for operand in operands]
        walks = _walks(sources, targets, places, order)
        if _lines(_by_space(places), line, steps) > cache // line:
            found = fetched(walks, line, cache // line, steps)
            loads = [one.touched for one in found]
            read, written, kept = _refetched(walks, found, len(sources))
        operands = [operand._replace(fetched=n) for operand, n in zip(operands, loads, strict=True)]
    return Traffic(
        operands=tuple(operands),
        line=line,
        cache=cache,
        useful=sum(used) + sum(made),
        lines_read=read,
        lines_written=written,
        lines_kept=kept,
        minimum=line * dense,
    )


def _operand(name: str, place: _Place, line: int, budget: Budget) -> Operand:
    """The numbers of one operand by itself."""
    if place.part is None:
        return Operand(name, 0, 0, 0, 0, None)
    lines = blocks(place.part, line, budget)
    return Operand(
        name,
        blocks(place.part, 1, budget).touched,
        lines.touched,
        lines.partial,
        blocks(place.part, SECTOR, budget).touched,
        None,
    )


def _lines(spaces: dict[object, list[Part]], line: int, budget: Budget) -> int:
    return sum([blocks_together(parts, line, budget) for parts in spaces.values()])


def _by_space(places: Sequence[_Place]) -> dict[object, list[Part]]:
    found: dict[object, list[Part]] = {}
    for space, part in places:
        if part is not None:
            found.setdefault(space, []).append(part)
    return found


def _place(x: Any, alignment: int) -> _Place:
    """Where an operand lies; what has numbers and no memory lies in a space of its own storage."""
    placed = without_memory(x)
    if placed is None:
        bytes_ = memset(x)
        return _Place(bytes_.space, (bytes_.first, bytes_._generators) if bytes_ else None)
    layout, space = placed
    start, generators, _ = generators_of(layout)
    return _Place(space, normal_form(start + alignment, generators) if layout.numel else None)


# Loops through a cache ------------------------------------------------------------------------------


def _walks(
    sources: tuple[Any, ...],
    targets: tuple[Any, ...],
    places: Sequence[_Place],
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
        steps = [nest.itemsize * step for step in nest.stride]
        first = place.part[0] if place.part else 0
        loops = tuple(zip(steps, nest.shape, strict=True))
        walks.append(Walk(first, loops, nest.itemsize, place.space))
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


# What callers hand in -------------------------------------------------------------------------------


def _operands(name: str, given: Any) -> tuple[Any, ...]:
    """One operand or several as a tuple."""
    one = isinstance(given, (Layout, torch.Tensor)) or hasattr(given, "__array_interface__")
    if not one and not isinstance(given, Iterable):
        raise TypeError(
            f"{name} is {shown(given)}, {a_kind(given)}: give a tensor, an array, a Layout, or a tuple "
            "of them"
        )
    found = (given,) if one else tuple(islice(given, MOST_OPERANDS + 1))
    if len(found) > MOST_OPERANDS:
        raise ValueError(f"{name} has more than {MOST_OPERANDS:,} operands: ask for a part of them")
    # What each operand takes by itself grows with the square of its dims, of which there are few.
    if sum([x.ndim**2 for x in found if isinstance(x, (Layout, torch.Tensor))]) > MOST_DIMS**2:
        raise ValueError(f"{name} has operands with too many dims together: ask for a part of them")
    return found


def _require_sizes(
    line: int, cache: int | None, order: Sequence[int] | None, alignment: int
) -> None:
    if int_("line", line) < 1 or line & (line - 1):
        raise ValueError(f"line is {line} bytes: give a power of two, 64 on most CPUs")
    if not 0 <= int_("alignment", alignment) < line:
        raise ValueError(f"alignment is {alignment} bytes: give 0 to {line - 1}, within one line")
    if cache is not None and int_("cache", cache) < line:
        raise ValueError(f"cache is {cache} bytes: it holds one line of {line} bytes at the least")
    if cache is None and order is not None:
        raise ValueError("order= is that of loops through a cache: give cache= too")
