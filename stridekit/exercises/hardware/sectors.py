"""E2: the sectors that a warp loads."""

from __future__ import annotations

from typing import Any

from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_number
from stridekit.exercises.watch import Means

WARPS: list[tuple[Any, ...]] = [  # an itemsize, and strides with offsets
    (4, (1, 0), (2, 0), (5, 0), (8, 0), (32, 0), (1, 1), (1, 8), (3, 7), (5, 3)),
    (8, (1, 0), (1, 3), (4, 0), (3, 1)),
    (2, (1, 0), (1, 9), (7, 15)),
    (1, (1, 0), (1, 31), (9, 5), (40, 3)),
    (16, (1, 1), (3, 1)),
    (4, (0, 5)),
    (8, (0, 0)),
]


@exercise(
    title="the sectors that a warp loads",
    read=read_number,
    means=Means(whole=("warp_sectors",)),
    cases=[
        f"stride = {stride}; offset = {offset}; itemsize = {itemsize}"
        for itemsize, *lanes in WARPS
        for stride, offset in lanes
    ],
    hints=[
        "It is `cache_lines` of lesson 05 again, with 32 elements and blocks of 32 bytes.",
        "Lane k reads element `offset + k * stride`. At which byte does it start, and which sector holds "
        "that byte?",
        "Put `(offset + lane * stride) * itemsize // 32` into a set, for every lane of range(32).",
    ],
    otherwise="Write down the byte at which each of the 32 elements starts, and divide each by 32. How "
    "many different numbers do you get?",
    takeaway="Neighbouring lanes should read neighbouring bytes, from an aligned start: coalesced.",
)
def warp_sectors(stride: int, offset: int, itemsize: int) -> int:
    """How many 32-byte sectors a warp loads when each of its 32 lanes reads one element.

    stride    lane k reads element offset + k * stride of the storage: an int >= 0
    offset    the element of lane 0: an int >= 0
    itemsize  the bytes of an element: 1, 2, 4, 8 or 16
    return    the number of different sectors: sector k is the bytes 32*k to 32*k + 31 of the
              storage, whose byte 0 starts a sector
    """
    return len({(offset + lane * stride) * itemsize // 32 for lane in range(32)})


NEIGHBOURS = (
    "You count the sectors of 32 elements in a row. The lanes' elements lie `stride` apart, and sectors "
    "travel whole."
)

warp_sectors.slots["// 32"] = {
    "// 128": "Your blocks have 128 bytes: that is a GPU's cache line. It is filled by sectors of 32 "
    "bytes, and only those that are asked for travel.",
    "// 64": "Your blocks have 64 bytes: that is the cache line of a CPU. A GPU fetches sectors of 32 "
    "bytes.",
    "/ 32": "Each element gets a number of its own, and neighbours in one sector should get the same. The "
    "number of the sector is `byte // 32`, with `//`.",
    "% 32": "`%` gives the place within a sector. The sector itself is `// 32`.",
}
warp_sectors.slots["itemsize"] = {
    "4": "You took 4 bytes per element for granted. Only 4 elements of float64 fit in a sector, but 32 of "
    "uint8: `itemsize` says how many bytes each has.",
}
warp_sectors.slots["offset"] = {
    "0": "You let the warp start at the start of a sector. With an offset it can reach into one sector "
    "more: drag the warp's offset in the picture above.",
    "offset / itemsize": "You added the offset as bytes. It counts elements, as the stride does: multiply "
    "the whole sum by `itemsize`.",
    "offset * stride": "You multiply the offset by the stride. It says where lane 0 reads; only the "
    "lane's number is multiplied.",
}
warp_sectors.alone["itemsize"] = {
    "1": "You divide element numbers by 32, and a sector has 32 *bytes*. Multiply by `itemsize` first.",
}
warp_sectors.alone["* stride"] = {
    "": NEIGHBOURS,
}
warp_sectors.wrong |= {
    "32": "That is one sector for each lane. Lanes whose elements lie in one sector share it: that is "
    "what coalescing means.",
    "32 * itemsize // 32": NEIGHBOURS,
    "(offset + 31 * stride) * itemsize // 32 - offset * itemsize // 32 + 1": "You count every sector from "
    "the first lane's to the last lane's. With a large stride nobody asks for those in between, and they "
    "stay where they are.",
    "32 * warp_sectors(stride, offset, itemsize)": "The right sectors, in bytes. The task asks how many "
    "sectors there are.",
}
warp_sectors.exact |= dict.fromkeys(
    [
        f"len({{(offset + lane * stride) * itemsize // 32 for lane in range({lanes})}})"
        for lanes in ("31", "33", "1, 33", "64")
    ],
    "A warp has 32 lanes, numbered 0 to 31: `range(32)`.",
)
