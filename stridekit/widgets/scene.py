"""What the stride explorer shows, as plain functions of a Layout: sentences, limits, presets, tiles.

page/core.js mirrors `offset`, `verdicts`, `limit`, `place` and `code`, so that a picture follows the hand
without asking the kernel. tests/fixtures/explorer.json pins both sides to the same answers.
Other widgets use it too, which is why it lies beside their folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from stridekit.layout import Layout
from stridekit.memory.memset import MemorySet

MAX_CELLS = 4096  # HTML cells up to 256, a canvas above: both at interactive speed
MAX_DIMS = 4
MAX_SIDE = 64  # cells of a plane, across and down, that a page has room for
MAX_ROWS = MAX_PLANES = 256  # of a plane, and planes: more would make a page of metres
CACHE_LINE = 64  # bytes
MOST = 2**53 - 1  # a browser counts exactly up to here


def layout_json(layout: Layout) -> dict[str, Any]:
    """A layout as a widget's state has it.

    >>> layout_json(Layout((4, 6), itemsize=4))
    {'shape': [4, 6], 'stride': [6, 1], 'storage_offset': 0, 'itemsize': 4}
    """
    return {
        "shape": list(layout.shape),
        "stride": list(layout.stride),
        "storage_offset": layout.storage_offset,
        "itemsize": layout.itemsize,
    }


class Verdict(NamedTuple):
    """A sentence about a layout; `good` is True, False, or None where it is neither."""

    good: bool | None
    text: str

    def __str__(self) -> str:
        sign = {True: "✓", False: "✗", None: "·"}[self.good]
        return f"{sign} {self.text}"


def verdicts(layout: Layout, storage_size: int) -> list[Verdict]:
    """Contiguity, holes, shared elements and reach, each with its reason.

    >>> for verdict in verdicts(Layout((4, 6), (8, 1), 2, 4), 40):
    ...     print(verdict)
    ✗ not contiguous: dim 0 has stride 8, 6 is needed
    ✗ 6 holes between the first and the last element
    ✓ no two indices share an element
    · reaches 24 of 40 elements (96 of 160 bytes)
    """
    why, reached = layout.why_not_contiguous(), MemorySet.of(layout).count() // layout.itemsize
    holes, shared = len(layout.span) - reached, layout.numel - reached
    reach = f"reaches {reached} of {storage_size} element{'s' * (storage_size != 1)}"
    size = f"({reached * layout.itemsize} of {storage_size * layout.itemsize} bytes)"
    return [
        Verdict(not why, f"not contiguous: {why}" if why else "contiguous"),
        Verdict(
            not holes,
            f"{holes} hole{'s' * (holes != 1)} between the first and the last element"
            if holes
            else "no holes",
        ),
        Verdict(
            not shared,
            f"{layout.numel} indices share {reached} element{'s' * (reached != 1)}"
            if shared
            else "no two indices share an element",
        ),
        Verdict(None, f"{reach} {size}"),
    ]


def place(layout: Layout, index: tuple[int, ...], name: str = "x") -> str:
    """Where one element lies: its number, its byte and its cache line.

    >>> place(Layout((4, 6), (8, 1), 2, 4), (2, 3))
    'x[2, 3] is element 21 of the storage: byte 84, cache line 1'
    """
    byte = layout.address(index)
    where = f"byte {byte}, cache line {byte // CACHE_LINE}"
    return f"{element_name(index, name)} is element {layout.offset(index)} of the storage: {where}"


def formula(layout: Layout, index: tuple[int, ...]) -> str:
    """The address formula with its numbers.

    >>> formula(Layout((4, 6), (8, 1), 2), (2, 3))
    '2 + 2*8 + 3*1 = 21'
    """
    terms = [f"{i}*{s}" for i, s in zip(index, layout.stride, strict=True)]
    return f"{' + '.join([str(layout.storage_offset), *terms])} = {layout.offset(index)}"


def element_name(index: Sequence[int], name: str) -> str:
    """x[2, 3], or x where there are no dims."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def code(source: str, layout: Layout) -> str:
    """The torch expression that makes this layout on the storage of `source`.

    >>> code("torch.arange(40.)", Layout((4, 6), (8, 1), 2))
    'torch.arange(40.).as_strided((4, 6), (8, 1), 2)'
    """
    return f"{source}.as_strided({layout.shape}, {layout.stride}, {layout.storage_offset})"


def why_not_drawn(layout: Layout, storage_size: int) -> str:
    """Why the picture cannot hold a layout on a storage; "" if it can.

    >>> why_not_drawn(Layout((5, 9), (8, 1)), 40)
    'shape (5, 9), stride (8, 1), storage_offset 0 reaches element 40, and the storage ends at 39'
    """
    shape, stride, count = layout.shape, layout.stride, layout.numel
    if too_large := why_not_counted(layout):
        return too_large
    if layout.ndim > MAX_DIMS or count > MAX_CELLS:
        return (
            f"shape {shape} has {layout.ndim} dims and {count} elements: the picture holds "
            f"{MAX_DIMS} and {MAX_CELLS}; explore(t) shows a corner"
        )
    if too_many := _too_long(shape):
        return f"shape {shape} has {too_many}; explore(t) shows a corner"
    if min(stride, default=0) < 0:
        return f"stride {stride} is negative: torch has no such tensors"
    if count == 0 or layout.span.stop <= storage_size:
        return ""
    return (
        f"shape {shape}, stride {stride}, storage_offset {layout.storage_offset} reaches element "
        f"{layout.span.stop - 1}, and the storage ends at {storage_size - 1}"
    )


def why_not_counted(layout: Layout) -> str:
    """Why a browser could not have the numbers of a layout as they are; "" if it could.

    >>> why_not_counted(Layout((1, 1), (2**53, 1)))
    'numbers beyond 9007199254740991 are not exact in a browser'
    """
    numbers = (layout.numel, *layout.shape, *layout.stride, layout.span.stop)
    return f"numbers beyond {MOST} are not exact in a browser" if max(numbers) > MOST else ""


def _too_long(shape: Sequence[int]) -> str:
    """Of what a shape has too many for a page; "" where it fits."""
    if max(shape, default=0) > MAX_CELLS:  # though a 0 beside it leaves no elements
        return f"a size of {max(shape)}: the picture holds {MAX_CELLS}"
    if len(shape) > 1 and shape[-2] > MAX_ROWS:
        return f"{shape[-2]} rows: the picture holds {MAX_ROWS}"
    planes = prod(shape[:-2])
    return f"{planes} planes: the picture holds {MAX_PLANES}" if planes > MAX_PLANES else ""


def limit(
    layout: Layout,
    storage_size: int,
    slider_max: dict[str, int],
    what: str,
    dim: int = 0,
    name: str = "x",
) -> tuple[int, str]:
    """How far a slider may go, and the sentence that says why it stops there.

    `what` is "size", "stride" or "storage_offset". No value up to the limit leaves the storage.

    >>> limit(Layout((4, 6), (8, 1), 2), 40, {"stride": 39}, "stride", 0)
    (10, 'stride[0] stops at 10: beyond it, x[3, 5] would be element 40, and the storage ends at 39')
    """
    label = what if what == "storage_offset" else f"{what}[{dim}]"
    shape, stride, offset = layout.shape, layout.stride, layout.storage_offset
    moving = dim if what != "storage_offset" else None
    others = [(n, s) for d, (n, s) in enumerate(zip(shape, stride, strict=True)) if d != moving]
    rest = sum((n - 1) * s for n, s in others)
    # The highest element is `fixed + value * step`, value being where the slider stands.
    if what == "storage_offset":
        fixed, step = rest, 1
    elif what == "stride":
        fixed, step = offset + rest, shape[dim] - 1
    else:
        fixed, step = offset + rest - stride[dim], stride[dim]
    most, why = slider_max[what], f"{label} stops at {slider_max[what]}: the slider ends here"
    cells = prod(n for n, _ in others)
    if what == "size" and cells * most > MAX_CELLS:
        most = MAX_CELLS // cells
        why = f"{label} stops at {most}: the picture holds {MAX_CELLS} elements"
    planes = prod(n for d, n in enumerate(shape[:-2]) if d != dim)
    if what == "size" and dim == layout.ndim - 2 and most > MAX_ROWS:
        most, why = MAX_ROWS, f"{label} stops at {MAX_ROWS}: the picture holds {MAX_ROWS} rows"
    elif what == "size" and dim < layout.ndim - 2 and planes * most > MAX_PLANES:
        most = MAX_PLANES // planes
        why = f"{label} stops at {most}: the picture holds {MAX_PLANES} planes"
    nothing_reached = cells == 0 or (what != "size" and 0 in shape)
    room = storage_size - 1 - fixed
    fits = max(room // step, 0) if step > 0 else most if room >= 0 else 0
    if nothing_reached or fits >= most:
        return most, why
    grown = dim if what == "size" else None
    corner = tuple(fits if d == grown else n - 1 for d, n in enumerate(shape))
    return fits, (
        f"{label} stops at {fits}: beyond it, {element_name(corner, name)} would be element "
        f"{fixed + (fits + 1) * step}, and the storage ends at {storage_size - 1}"
    )


def sliders_for(layout: Layout, storage_size: int) -> dict[str, int]:
    """Where each kind of slider ends: far enough to play, near enough to aim."""
    size = 16 if layout.ndim <= 2 else 8
    stride = storage_size - 1 if storage_size <= 64 else max(64, 2 * max(layout.stride, default=1))
    return {
        "size": max(size, *layout.shape, 1) if layout.shape else size,
        "stride": max(stride, *layout.stride, 1) if layout.stride else 1,
        "storage_offset": max(storage_size - 1, 0),
    }


class Preset(NamedTuple):
    """A layout worth a look, its name, and the torch expression that makes it."""

    name: str
    layout: Layout
    expression: str


def presets(x: Layout, name: str, expression: str) -> list[Preset]:
    """The views of `x` that show what strides can do, as far as they exist for it.

    >>> [preset.name for preset in presets(Layout((4, 6)), "row-major", "x")]
    ['row-major', 'transpose', 'every second column', 'diagonal', 'broadcast', 'windows']
    """
    found = [Preset(name, x, expression)]
    if x.numel == 0 or x.ndim == 0:
        return found
    if x.ndim > 1:
        found += [
            Preset("transpose", x.transpose(-2, -1), f"{expression}.mT"),
            Preset("every second column", x[..., ::2], f"{expression}[..., ::2]"),
            Preset("diagonal", x.diagonal(0, -2, -1), f"{expression}.diagonal(0, -2, -1)"),
            Preset(
                "broadcast",
                x[..., :1, :].expand(x.shape),
                f"{expression}[..., :1, :].expand{x.shape}",
            ),
        ]
    size = min(3, x.shape[-1])
    if x.ndim < MAX_DIMS and x.numel * size <= MAX_CELLS:
        windows = Layout(
            (*x.shape[:-1], x.shape[-1] - size + 1, size),
            (*x.stride, x.stride[-1]),
            x.storage_offset,
            x.itemsize,
        )
        found.append(Preset("windows", windows, f"{expression}.unfold(-1, {size}, 1)"))
    return found


def default_presets(itemsize: int) -> list[Preset]:
    """The same for 40 numbers as 5 rows of 8, with column-major and longer windows."""
    x = Layout((5, 8), itemsize=itemsize)
    flat = "torch.arange(40.)"
    column_major = Layout((5, 8), (1, 5), itemsize=itemsize)
    windows = Layout((9, 8), (4, 1), itemsize=itemsize)
    row_major, *others = presets(x, "row-major", f"{flat}.view(5, 8)")
    return [
        row_major,
        Preset("column-major", column_major, f"{flat}.view(8, 5).mT"),
        *others[:-1],
        Preset("windows", windows, f"{flat}.unfold(0, 8, 4)"),
    ]


def tile(layout: Layout) -> tuple[Layout, str]:
    """The leading corner of a layout that the picture can hold, and how to write it; "" for all.

    >>> tile(Layout((1000, 1000)))
    (Layout(shape=(8, 8), stride=(1000, 1), storage_offset=0, itemsize=1), 'x[:8, :8]')
    """
    lead, largest = layout.ndim - MAX_DIMS, max(layout.shape, default=0)
    small = largest <= MAX_SIDE or layout.ndim < 2
    if lead <= 0 and layout.numel <= MAX_CELLS and small and not _too_long(layout.shape):
        return layout, ""
    if layout.numel == 0:
        return layout.view(0), "x.view(0)"  # there may be nothing to select from a leading dim
    most = {1: 32, 2: 8, 3: 4}.get(layout.ndim, 3)
    items = [0] * max(lead, 0) + [slice(min(most, n)) for n in layout.shape[max(lead, 0) :]]
    text = ", ".join(":" + str(i.stop) if isinstance(i, slice) else str(i) for i in items)
    return layout[tuple(items)], f"x[{text}]"
