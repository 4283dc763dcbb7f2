"""StrideExplorer: a grid of indices and the storage it is read from, linked both ways."""

from __future__ import annotations

from typing import Any

import torch
import traitlets
from matplotlib.figure import Figure

from stridekit.layout import Layout, LayoutError
from stridekit.storage import read_storage, storage_bytes
from stridekit.widgets import scene
from stridekit.widgets.assets import module, style
from stridekit.widgets.base import Picture
from stridekit.widgets.static import draw

# In the order in which they may import one another.
FILES = ["core.js", "view.js", "dom.js", "shell.js", "grid.js", "ink.js", "tape.js", "panels.js"]
FILES += ["stride_explorer.js"]
MAX_VALUES = 4096  # more values than this are not sent; the elements' numbers are shown instead


class StrideExplorer(Picture):
    """Drag a stride and watch where the elements come from.

    `layout` is what is on screen: at most 4 dims and 512 elements, on a storage of `storage_size`
    elements (by default 40, or as many as the layout reaches). `index` is the selected element. Both
    follow the hand, can be set from Python, and can be observed. `code` is the torch expression that
    reproduces the picture. Raises LayoutError for a layout that leaves its storage or does not fit
    the picture, IndexError for an index out of range; the picture then stays as it was.

    >>> explorer = StrideExplorer()
    >>> explorer.layout = Layout((4, 6), (8, 1), storage_offset=2, itemsize=4)
    >>> explorer.index = (2, 3)
    >>> explorer
    StrideExplorer: torch.arange(40.).as_strided((4, 6), (8, 1), 2)
      2 + 2*8 + 3*1 = 21
      x[2, 3] is element 21 of the storage: byte 84, cache line 1
      ✗ not contiguous: dim 0 has stride 8, 6 is needed
      ✗ 6 holes between the first and the last element
      ✓ no two indices share an element
      · reaches 24 of 40 elements (96 of 160 bytes)
    """

    _esm = module(*FILES)
    _css = style("base.css", "stride_explorer.css")

    # ipywidgets has a `layout` of its own, for CSS; here it is the tensor's. The front end gets it
    # with the index in `_scene`, as one value: no half-changed state can ever be seen or sent.
    layout = traitlets.Instance(Layout)
    index = traitlets.Any(allow_none=True)
    storage_size = traitlets.Int(read_only=True).tag(sync=True)
    source = traitlets.Unicode(read_only=True).tag(sync=True)
    _values = traitlets.List().tag(sync=True)  # a text for each element of the storage, or none
    _name = traitlets.Unicode("x").tag(sync=True)  # what the sentences call the tensor
    _note = traitlets.Unicode().tag(sync=True)
    _presets = traitlets.List().tag(sync=True)
    _slider_max = traitlets.Dict().tag(sync=True)

    def __init__(self, layout: Layout | None = None, storage_size: int | None = None) -> None:
        presets = scene.default_presets(itemsize=4)
        if layout is not None:
            presets = scene.presets(Layout.of(layout), "as given", "x")
        start = presets[0].layout
        size = max(40, start.span.stop) if storage_size is None else storage_size
        super().__init__()
        self._show(start, size, f"torch.arange({size}.)", presets)

    def _show(
        self, layout: Layout, size: int, source: str, presets: list[scene.Preset], **traits: Any
    ) -> None:
        """Set the whole scene, as one message to the front end."""
        with self.hold_sync():
            self.set_trait("storage_size", size)
            self.set_trait("source", source)
            self._slider_max = scene.sliders_for(layout, size)
            self._presets = [
                {"name": p.name, "expression": p.expression, "layout": _to_json(p.layout)}
                for p in presets
                if p.layout.span.stop <= size and p.layout.numel <= scene.MAX_CELLS
            ]
            for name, value in traits.items():
                setattr(self, name, value)
            self.layout = layout
            self.index = None  # the middle

    @property
    def code(self) -> str:
        """The torch expression that reproduces what is on screen."""
        return scene.code(self.source, self.layout)

    @traitlets.validate("layout")
    def _check_layout(self, proposal: Any) -> Layout:
        layout = proposal["value"]
        if layout.ndim > scene.MAX_DIMS or layout.numel > scene.MAX_CELLS:
            raise LayoutError(
                f"shape {layout.shape} has {layout.ndim} dims and {layout.numel} elements: the "
                f"picture holds {scene.MAX_DIMS} and {scene.MAX_CELLS}; explore(t) shows a corner"
            )
        if min(layout.stride, default=0) < 0:
            raise LayoutError(f"stride {layout.stride} is negative: torch has no such tensors")
        if layout.numel and layout.span.stop > self.storage_size:
            raise LayoutError(
                f"shape {layout.shape}, stride {layout.stride}, storage_offset "
                f"{layout.storage_offset} reaches element {layout.span.stop - 1}, and the storage "
                f"ends at {self.storage_size - 1}"
            )
        return layout

    @traitlets.validate("index")
    def _check_index(self, proposal: Any) -> tuple[int, ...] | None:
        index = proposal["value"]
        if self.layout.numel == 0 or index is None:
            return _nearest(self.layout.shape, None)
        self.layout.offset(index)  # raises IndexError for what is out of range
        index = (index,) if isinstance(index, int) else index
        return tuple(i % n for i, n in zip(index, self.layout.shape, strict=True))

    @traitlets.observe("layout", "index")
    def _publish(self, change: Any) -> None:
        """Python changed the scene: keep the index inside, and tell the front end."""
        self.index = _nearest(self.layout.shape, self.index)
        # A list, as JSON has it: what the front end sent is then equal, and is not sent back.
        index = None if self.index is None else list(self.index)
        self._scene = _to_json(self.layout) | {"index": index}

    @traitlets.observe("_scene")
    def _dragged(self, change: Any) -> None:
        """The front end changed the scene, which it keeps legal."""
        scene_now = dict(change["new"])
        index = scene_now.pop("index")
        with self.hold_trait_notifications():
            self.layout = Layout(**scene_now)
            self.index = index

    def __repr__(self) -> str:
        lines = [str(verdict) for verdict in scene.verdicts(self.layout, self.storage_size)]
        where = []
        if self.index is not None:
            where = [
                scene.formula(self.layout, self.index),
                scene.place(self.layout, self.index, self._name),
            ]
        note = [self._note] if self._note else []
        return "\n  ".join([f"StrideExplorer: {self.code}", *note, *where, *lines])

    def _still(self) -> Figure:
        return draw(self.layout, self.storage_size, self.index, repr(self), self._values)


def explore(t: torch.Tensor, name: str = "x") -> StrideExplorer:
    """A StrideExplorer on the storage of your own tensor, with its values as they are now.

    `name` is what the code and the sentences call it. Of a large tensor the leading corner is shown,
    and a note says so. Raises TypeError or LayoutError for what has no strided layout.

    >>> t = torch.arange(12).view(3, 4)
    >>> explore(t.t(), "t").code
    't.as_strided((4, 3), (1, 4), 0)'
    """
    if not isinstance(t, torch.Tensor):
        raise TypeError(
            f"a {type(t).__name__} is not a torch tensor: torch.from_numpy(a) shares an array's memory"
        )
    layout = Layout.of(t)
    size = storage_bytes(t) // layout.itemsize
    corner, expression = scene.tile(layout)
    expression = name + expression.removeprefix("x")
    values = _values_of(t, size)
    notes = [f"{expression} of shape {tuple(t.shape)}"] if expression != name else []
    if values is None:
        notes.append("the numbers are places in the storage, not values")
    presets = scene.presets(corner, "as given", expression)
    explorer = StrideExplorer()
    note = ": ".join(notes)
    explorer._show(corner, size, name, presets, _values=values or [], _note=note, _name=name)
    return explorer


def _to_json(layout: Layout) -> dict[str, Any]:
    return {
        "shape": list(layout.shape),
        "stride": list(layout.stride),
        "storage_offset": layout.storage_offset,
        "itemsize": layout.itemsize,
    }


def _nearest(shape: tuple[int, ...], index: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The index clamped into the shape; None where there is nothing to select."""
    if 0 in shape:
        return None
    if index is None:
        return tuple(n // 2 for n in shape)
    padded = (*index, *[0] * len(shape))
    return tuple(min(i, n - 1) for i, n in zip(padded, shape, strict=False))


def _values_of(t: torch.Tensor, size: int) -> list[str] | None:
    """A short text for each element of the storage, [] where the elements' numbers say the same.

    None for a large storage, or one without memory.
    """
    if size > MAX_VALUES:
        return None
    try:
        values = [_short(value) for value in read_storage(t).tolist()]
    except ValueError:  # meta and fake tensors: a layout, and nothing to read
        return None
    return [] if values == [str(k) for k in range(size)] else values


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, complex):
        return f"{value:.2g}"
    return str(value)
