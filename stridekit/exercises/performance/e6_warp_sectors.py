"""E6: the sectors that a warp loads."""

from __future__ import annotations

from stridekit.exercises.answers import read_number
from stridekit.exercises.core import exercise

LANES, SECTOR = 32, 32


def sectors(stride: int, offset: int, itemsize: int, size: int = SECTOR) -> int:
    """How many blocks of `size` bytes the 32 elements of a warp lie in."""
    return len({(offset + lane * stride) * itemsize // size for lane in range(LANES)})


@exercise(
    title="the sectors that a warp loads",
    read=read_number,
    cases=[
        "stride = 1; offset = 0; itemsize = 4",
        "stride = 2; offset = 0; itemsize = 4",
        "stride = 5; offset = 0; itemsize = 4",
        "stride = 8; offset = 0; itemsize = 4",
        "stride = 32; offset = 0; itemsize = 4",
        "stride = 1; offset = 1; itemsize = 4",
        "stride = 1; offset = 8; itemsize = 4",
        "stride = 3; offset = 7; itemsize = 4",
        "stride = 1; offset = 0; itemsize = 8",
        "stride = 1; offset = 3; itemsize = 8",
        "stride = 4; offset = 0; itemsize = 8",
        "stride = 1; offset = 0; itemsize = 2",
        "stride = 1; offset = 9; itemsize = 2",
        "stride = 7; offset = 15; itemsize = 2",
        "stride = 1; offset = 0; itemsize = 1",
        "stride = 1; offset = 31; itemsize = 1",
        "stride = 9; offset = 5; itemsize = 1",
        "stride = 40; offset = 3; itemsize = 1",
        "stride = 1; offset = 1; itemsize = 16",
        "stride = 3; offset = 1; itemsize = 16",
        "stride = 0; offset = 5; itemsize = 4",
        "stride = 0; offset = 0; itemsize = 8",
    ],
    hints=[
        "It is `cache_lines` again, for 32 elements in a row and blocks of 32 bytes.",
        "Lane k reads element `offset + k * stride`. At which byte does it start, and in which 32 bytes "
        "does that lie?",
        "Put `(offset + lane * stride) * itemsize // 32` into a set, for every lane of range(32).",
    ],
    otherwise="Write down the byte at which each of the 32 elements starts, and divide each by 32. How "
    "many different numbers are there?",
    takeaway="Neighbouring lanes should read neighbouring bytes, from an aligned start: coalesced.",
)
def warp_sectors(stride: int, offset: int, itemsize: int) -> int:
    """How many 32-byte sectors one warp loads, whose 32 lanes read one element each.

    stride    lane k reads element offset + k * stride of the storage: an int >= 0
    offset    the element of lane 0: an int >= 0
    itemsize  the bytes of an element: 1, 2, 4, 8 or 16
    return    the number of different sectors: sector k is the bytes 32*k to 32*k + 31 of the
              storage, whose byte 0 starts a sector
    """
    return len({(offset + lane * stride) * itemsize // 32 for lane in range(32)})


@warp_sectors.mistake(
    "You let the warp start at the start of a sector. With an offset it may reach into one sector more: "
    "drag the warp's offset in the picture above."
)
def forgets_the_offset(stride: int, offset: int, itemsize: int) -> int:
    return sectors(stride, 0, itemsize)


@warp_sectors.mistake(
    "That is a sector for each lane. Lanes whose elements lie in one sector share it: that is what "
    "coalescing means."
)
def counts_lanes(stride: int, offset: int, itemsize: int) -> int:
    return LANES


@warp_sectors.mistake(
    "You took 4 bytes an element for granted. Of float64 only 4 fit in a sector, of uint8 32: "
    "`itemsize` says how many bytes each has."
)
def assumes_four_bytes(stride: int, offset: int, itemsize: int) -> int:
    return sectors(stride, offset, 4)


@warp_sectors.mistake(
    "Your blocks have 128 bytes: that is a GPU's cache line. It is filled by sectors of 32 bytes, and "
    "only those that are asked for travel."
)
def counts_lines_of_128(stride: int, offset: int, itemsize: int) -> int:
    return sectors(stride, offset, itemsize, 128)


@warp_sectors.mistake(
    "Your blocks have 64 bytes: that is the cache line of a CPU. A GPU fetches sectors of 32 bytes."
)
def counts_lines_of_64(stride: int, offset: int, itemsize: int) -> int:
    return sectors(stride, offset, itemsize, 64)


@warp_sectors.mistake(
    "You divide the bytes that are wanted by 32. That is the least there could be; the elements lie "
    "`stride` apart, and sectors travel whole."
)
def divides_the_bytes(stride: int, offset: int, itemsize: int) -> int:
    return LANES * itemsize // SECTOR


@warp_sectors.mistake(
    "You count every sector from the first lane's to the last lane's. With a large stride nobody asks "
    "for those in between, and they stay where they are."
)
def counts_the_hull(stride: int, offset: int, itemsize: int) -> int:
    first = offset * itemsize // SECTOR
    return (offset + (LANES - 1) * stride) * itemsize // SECTOR - first + 1


@warp_sectors.mistake(
    "You divide element numbers by 32, and a sector has 32 *bytes*. Multiply by `itemsize` first."
)
def thirty_two_elements_a_sector(stride: int, offset: int, itemsize: int) -> int:
    return sectors(stride, offset, 1)


@warp_sectors.mistake(
    "You added the offset as bytes. It counts elements, as the stride does: multiply the whole sum by "
    "`itemsize`."
)
def adds_the_offset_in_bytes(stride: int, offset: int, itemsize: int) -> int:
    return len({(offset + lane * stride * itemsize) // SECTOR for lane in range(LANES)})


@warp_sectors.mistake("The right sectors, in bytes. The question asks how many there are.")
def answers_in_bytes(stride: int, offset: int, itemsize: int) -> int:
    return SECTOR * sectors(stride, offset, itemsize)
