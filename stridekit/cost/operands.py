"""The operands of a prediction: where each of them lies, and what may be handed in.

Layouts, meta and fake tensors have numbers and no place: their lines can be predicted too, from where
their storage is taken to begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

import torch

from stridekit._arguments import a_kind, int_, shown
from stridekit.layout import MOST_DIMS, Layout
from stridekit.memory.memset import generators_of
from stridekit.memory.strided_set import Part, normal_form
from stridekit.tensors.sharing import first_address, memset

MOST_OPERANDS = 10_000  # each of them is compared with all others


class Place(NamedTuple):
    """An operand's address space, the first byte of the element at index 0, and its layout.

    Bytes of two spaces are never the same, whatever their numbers.
    """

    space: object
    start: int
    layout: Layout

    def part(self) -> Part | None:
        """The set of the operand's bytes, None for an empty one."""
        generators = generators_of(self.layout)[1]
        return normal_form(self.start, generators) if self.layout.numel else None


def place_of(x: Any, alignment: int) -> Place:
    """The place of a tensor, an array or a Layout; a storage without a place begins at `alignment`.

    Two meta tensors on one storage lie in one space, and a Layout in the space of its storage's name.
    Raises TypeError and LayoutError as `Layout.of` does, and like `memset` for what has memory.

    >>> place_of(torch.empty(3, device="meta")[1:], 16).start
    20
    """
    layout = Layout.of(x)  # refuses what is not strided
    space = ("storage", x.storage) if isinstance(x, Layout) else _meta_space(x)
    if space is None:
        return Place(memset(x).space, first_address(x), layout)
    return Place(space, alignment + layout.itemsize * layout.storage_offset, layout)


def _meta_space(x: Any) -> object:
    """A name for the storage of a meta or fake tensor; None for what lies in memory."""
    if not isinstance(x, torch.Tensor):
        return None
    try:
        storage = x.untyped_storage()
    except NotImplementedError:  # inside vmap or grad: whoever asks for its memory says so
        return None
    return ("meta", storage._cdata) if storage.device.type == "meta" else None


def operands(name: str, given: Any) -> tuple[Any, ...]:
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


def require_aligned(name: str, size: int, alignment: int, usual: str) -> None:
    """Raise unless the size of a line or a sector is a power of two and the alignment lies within it."""
    if int_(name, size) < 1 or size & (size - 1):
        raise ValueError(f"{name} is {size} bytes: give a power of two, {usual}")
    if not 0 <= int_("alignment", alignment) < size:
        raise ValueError(f"alignment is {alignment} bytes: give 0 to {size - 1}, within one {name}")
