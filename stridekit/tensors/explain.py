"""explain(x): everything the layout of a tensor says, in a few sentences that are always the same."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from stridekit._arguments import Strided, a_kind, many
from stridekit._table import columns, html_table
from stridekit._torch import as_plain, borrowed, is_tensor
from stridekit.layout import Layout
from stridekit.memory.memset import MemorySet, Undecided
from stridekit.rules import memory_formats
from stridekit.tensors.storage import smallest_storage, stand_in, storage_bytes

_EXAMPLE_BUDGET = 100_000  # indices to look through for two that share an element


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of `explain`: a title and labelled sentences; prints as text, shows as a table.

    `title` has shape, stride and storage_offset in elements; `lines` are pairs of a label and a
    sentence.

    >>> dict(explain(Layout((2, 3))).lines)["contiguous"]
    'yes'
    """

    title: str
    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *columns(self.lines)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.title, self.lines, align="<")


def explain(x: Strided, name: str = "x") -> Explanation:
    """Say where the elements of a strided torch tensor, a NumPy array or a Layout live.

    The text gives shape, stride and storage_offset in elements, contiguity and memory format, the
    reached part of the storage, overlap, and why torch cannot have such an array or Layout; it
    calls the tensor `name`. Meta and fake tensors can be explained too, because no data is read.
    Raises TypeError and LayoutError as `Layout.of` does, ValueError inside vmap or grad.

    >>> import torch
    >>> explain(torch.arange(40.0).view(5, 8)[:4, 2:])
    torch.float32 tensor of shape (4, 6), stride (8, 1), storage_offset 2
      element        x[i, j] is element 2 + 8*i + 1*j of the storage, 4 bytes each
      contiguous     no: dim 0 has stride 8, 6 is needed
      memory format  none of torch's
      storage        24 of 40 elements are reached (96 of 160 bytes)
      overlap        none: every index has an element of its own
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {a_kind(name)}: give the text that the sentences call it")
    x = borrowed(x)
    layout = Layout.of(x)
    total_bytes = None if isinstance(x, Layout) else storage_bytes(x)
    stand_in_kind = stand_in(x)
    if stand_in_kind == "wrapper":  # its storage is made up
        total_bytes = None
    why_not_contiguous = layout.why_not_contiguous()
    lines = [
        ("element", _formula(layout, name)),
        ("contiguous", f"no: {why_not_contiguous}" if why_not_contiguous else "yes"),
        ("memory format", _memory_format(layout)),
        *_storage_rows(layout, total_bytes, name),
    ]
    if why_not_torch := layout.why_not_torch():
        lines.append(("torch", f"cannot hold it: {why_not_torch}"))
    if layout.copied:
        lines.append(("copied", "an operation on the way here needed a storage of its own"))
    plain = as_plain(x)
    if is_tensor(plain) and (plain.is_conj() or plain.is_neg()):
        lines.append(("lazy", "conjugated or negated when read, not yet in memory"))
    if stand_in_kind == "meta":
        lines.append(("device", "meta: there is no memory behind these numbers"))
    elif stand_in_kind:
        lines.append(
            (
                "memory",
                f"none of its own: this {type(x).__name__} stands for values that lie elsewhere, "
                "or nowhere",
            )
        )
    title = (
        f"{_kind(x)} of shape {layout.shape}, stride {layout.stride}, "
        f"storage_offset {layout.storage_offset}"
    )
    return Explanation(title, tuple(lines))


def _kind(x: Any) -> str:
    """Return the noun for a layout, a tensor or an array, with its dtype."""
    if isinstance(x, Layout):
        return "layout"
    is_tensor = callable(getattr(x, "stride", None))
    return f"{x.dtype} tensor" if is_tensor else f"numpy {x.dtype} array"


def _formula(layout: Layout, name: str) -> str:
    """Return the sentence that computes the element of an index."""
    size = f"{many(layout.itemsize, 'byte')} each"
    if layout.numel == 0:
        return f"there is none: a size is 0 ({size})"
    letters = list("ijklmnpq"[: layout.ndim])
    if layout.ndim > len(letters):
        letters = [f"i{d}" for d in range(layout.ndim)]
    terms = [str(layout.storage_offset)]
    for letter, stride in zip(letters, layout.stride, strict=True):
        terms.append(f"{'-' if stride < 0 else '+'} {abs(stride)}*{letter}")
    index = f"[{', '.join(letters)}]" if letters else ""
    return f"{name}{index} is element {' '.join(terms)} of the storage, {size}"


def _memory_format(layout: Layout) -> str:
    """Return the names of the memory formats in which the layout is contiguous."""
    formats = memory_formats(layout.shape, layout.stride)
    if len(formats) > 1:
        why = "sizes of 1 leave the order open" if layout.numel else "there is nothing to order"
        return f"{' and '.join(formats)}: {why}"
    return formats[0] if formats else "none of torch's"


def _storage_rows(layout: Layout, total_bytes: int | None, name: str) -> list[tuple[str, str]]:
    """Return the two lines that need the count of reached elements."""
    try:
        reached = MemorySet.of(layout).count() // layout.itemsize
    except Undecided as error:
        total = smallest_storage(layout) if total_bytes is None else total_bytes // layout.itemsize
        return [("storage", f"{total:,} elements"), ("overlap", f"not decided: {error}")]
    overlap = "none: every index has an element of its own"
    if layout.numel == 0:
        overlap = "none: there are no elements"
    elif reached < layout.numel:
        example = _example(layout, name)
        overlap = f"yes: {layout.numel:,} indices share {many(reached, 'element', ',')}{example}"
    return [("storage", _storage(layout, reached, total_bytes)), ("overlap", overlap)]


def _storage(layout: Layout, reached: int, total_bytes: int | None) -> str:
    """Return the part of the storage that is reached; a layout does not know its storage's size."""
    needed = smallest_storage(layout)
    if total_bytes is None:
        sentence = _storage(layout, reached, needed * layout.itemsize)
        return f"{sentence} in the smallest storage that holds them"
    total = total_bytes // layout.itemsize
    if total < needed:
        return (
            f"{reached:,} elements are reached, up to number {needed - 1:,}, but it has only {total:,} "
            "(after a resize_, or an as_strided that was not checked)"
        )
    verb = "is" if total == 1 else "are"
    return (
        f"{reached:,} of {many(total, 'element', ',')} {verb} reached "
        f"({reached * layout.itemsize:,} of {total_bytes:,} bytes)"
    )


def _example(layout: Layout, name: str) -> str:
    """Return the first two indices that share an element, in the order of visit."""
    first_indices: dict[int, tuple[int, ...]] = {}
    # product makes tuples of its ranges; more than the budget is never visited along any dim.
    ranges = [range(min(size, _EXAMPLE_BUDGET)) for size in layout.shape]
    for index in islice(product(*ranges), _EXAMPLE_BUDGET):
        first = first_indices.setdefault(layout.offset(index), index)
        if first != index:
            return f", such as {name}{list(first)} and {name}{list(index)}"
    return ""
