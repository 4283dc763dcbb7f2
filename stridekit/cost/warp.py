"""warp_sectors(x): the sectors that one warp of a GPU asks for, if each thread takes one element.

The 32 threads of a warp load together. The hardware joins their requests into sectors of 32 bytes,
and fetches each sector once and whole: neighbours in memory share sectors, threads far apart do
not.
"""

from __future__ import annotations

from typing import NamedTuple

from stridekit._arguments import Strided, int_
from stridekit.cost.traffic import place_of, require_aligned
from stridekit.layout import Layout

MOST_LANES = 10_000  # far more than a GPU has


class WarpSectors(NamedTuple):
    """The result of `warp_sectors`: the sectors fetched, and how few could hold the useful bytes.

    `sectors` and `minimum` count sectors of `size` bytes; `useful` counts the bytes that the lanes
    take.

    >>> column = warp_sectors(Layout((1024, 1024), itemsize=4).t())
    >>> column.sectors, column.minimum, column.efficiency
    (32, 4, 0.125)
    """

    sectors: int
    minimum: int
    useful: int  # bytes that the lanes take, each counted once
    size: int  # bytes in a sector

    @property
    def efficiency(self) -> float:
        """The useful part of the fetched bytes."""
        return self.useful / (self.sectors * self.size) if self.sectors else 1.0


def warp_sectors(
    x: Strided, warp: int = 0, *, lanes: int = 32, sector: int = 32, alignment: int = 0
) -> WarpSectors:
    """Count the sectors that a warp fetches if its lanes take neighbouring elements, in index order.

    Lane k of warp w takes the element whose row-major number is w * lanes + k, as in most kernels
    that visit all elements. `x` is a strided tensor, an array or a Layout, whose storage begins
    `alignment` bytes after the start of a sector. Raises IndexError for a warp that does not exist,
    ValueError for sizes that make no sense, and like `memset` for what has no single memory.

    >>> x = Layout((1024, 1024), itemsize=4)
    >>> warp_sectors(x)
    WarpSectors(sectors=4, minimum=4, useful=128, size=32)
    >>> warp_sectors(x.t()).sectors, warp_sectors(x[:, 1:]).sectors, warp_sectors(x[:, ::2]).sectors
    (32, 5, 8)
    """
    if not 1 <= int_("lanes", lanes) <= MOST_LANES:
        raise ValueError(f"lanes is {lanes}: give 1 to {MOST_LANES:,}, 32 on NVIDIA's GPUs")
    require_aligned("sector", sector, alignment, "32 on NVIDIA's GPUs")
    _, first, layout = place_of(x, alignment)
    itemsize = layout.itemsize
    warps = -(-layout.numel // lanes)
    if not 0 <= int_("warp", warp) < warps:
        existing = f"0 to {warps - 1}" if warps else "none, it is empty"
        raise IndexError(
            f"there is no warp {warp} of {lanes} lanes for shape {layout.shape}: {existing}"
        )
    elements = range(warp * lanes, min(layout.numel, (warp + 1) * lanes))
    starts = sorted({first + itemsize * _offset(layout, number) for number in elements})
    # Different elements share no byte, but may share a sector, which counts with the first of them.
    sectors = 0
    next_sector = 0  # all before it are counted
    for start in starts:
        end = (start + itemsize - 1) // sector + 1
        sectors += end - max(start // sector, next_sector)
        next_sector = end
    useful = itemsize * len(starts)
    return WarpSectors(sectors, -(-useful // sector), useful, sector)


def _offset(layout: Layout, number: int) -> int:
    """Return the distance of the element with this row-major number from element 0, in elements."""
    offset = 0
    for size, step in zip(reversed(layout.shape), reversed(layout.stride), strict=True):
        number, i = divmod(number, size)
        offset += i * step
    return offset
