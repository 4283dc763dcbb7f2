"""StrideExplorer: a grid of indices and the storage that it reads, linked both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import traitlets

from stridekit._arguments import a_kind, int_, texts, varargs
from stridekit.layout import Layout, LayoutError
from stridekit.tensors.storage import read_storage, storage_bytes
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer, plain
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import corner, layout_json, layout_of

script = Script("stride_explorer/chain.js")
words = Script("stride_explorer/views.js")

MAX_VALUES = 4096  # beyond this the elements' numbers are shown in place of values
MAX_SIDE = 64  # cells of a plane, across and down, that fit a page
CORNER = {1: 32, 2: 8, 3: 4, 4: 3}  # by ndim, the sizes of the corner of a large layout


class Part(traitlets.TraitType[Any, Any]):
    """A part of an explorer's state: read from it, set by a change of it, and observed like any trait."""

    def __init__(self, read: Callable[[dict[str, Any]], Any], **options: Any) -> None:
        super().__init__(**options)
        self.read = read

    def get(self, obj: Any, cls: Any = None) -> Any:
        """Read the part of the present state."""
        return self.read(obj._state)

    def set(self, obj: Any, value: Any) -> None:
        """Change the state."""
        obj._change(**{self.name: value})


class StrideExplorer(Explorer, script="stride_explorer/chain.js"):
    """Drag a stride and watch where the elements come from.

    `layout` is the layout on screen: at most 4 dims and 4,096 elements, on a storage of `storage_size`
    elements (by default 40, or as many as the layout reaches). `index` is the selected element. Both
    follow the hand, can be set from Python, and can be observed. `chain` is the operations that led
    here, `code` the torch expression that reproduces the picture. With `more=False` a button stands for
    everything but the grid, the tape, the strides and the goals. Raises LayoutError for a layout that
    leaves its storage or does not fit the picture, IndexError for an index out of range; the picture then
    stays as it was.

    >>> explorer = StrideExplorer()
    >>> explorer.layout = Layout((4, 6), (9, 1), storage_offset=2, itemsize=4)
    >>> explorer.index = (2, 3)
    >>> explorer.facts["element"], explorer.facts["holes"]
    (23, 9)
    """

    # ipywidgets has its own `layout`, for CSS; here it is the tensor's. The page gets it in `_state`.
    layout: Any = Part(layout_of, help="The layout on screen; a tensor or an array sets its own.")
    index: Any = Part(
        lambda state: plain(state["index"]), help="The selected element: one int per dim."
    )
    storage_size = traitlets.Int(read_only=True, help="Elements in the storage.").tag(sync=True)
    source = traitlets.Unicode(read_only=True, help="The torch expression of the start.").tag(
        sync=True
    )
    _values = traitlets.List().tag(sync=True)  # a text for each element of the storage, or none
    _name = traitlets.Unicode("x").tag(sync=True)  # of the tensor, in sentences
    _note = traitlets.Unicode().tag(sync=True)
    _presets = traitlets.List().tag(sync=True)
    _more = traitlets.Bool(True).tag(sync=True)  # than a beginner sees at first
    _slider_max = traitlets.Dict().tag(sync=True)
    _knows = ("source", "storage_size", "_name", "_note")

    def __init__(
        self,
        layout: Layout | torch.Tensor | None = None,
        storage_size: int | None = None,
        *,
        goals: Iterable[Goal] = (),
        more: bool = True,
    ) -> None:
        start = layout_of(words.DEFAULTS[0]["layout"]) if layout is None else Layout.of(layout)
        size = max(40, start.span.stop)
        if storage_size is not None:
            size = int_("storage_size", storage_size)
        if size < 0:
            raise LayoutError(f"storage_size is {size}: give 0 or more")
        if size >= 2**53:
            raise LayoutError(
                f"a storage of {size} elements is beyond what a browser counts exactly"
            )
        if not isinstance(more, bool):
            raise TypeError(f"more is {a_kind(more)}: give True or False")
        super().__init__(_more=more)
        expression = None if layout is None else "x"
        self._show(start, size, f"torch.arange({size}.)", expression)
        self._aim(goals)

    def _show(
        self, layout: Layout, size: int, source: str, expression: str | None, **traits: Any
    ) -> None:
        """Set the whole state, in one message to the front end.

        The presets are views of the layout, under its expression; without one, the default layouts.
        """
        with self.hold_sync():
            self.set_trait("storage_size", size)
            self.set_trait("source", source)
            for name, value in traits.items():
                setattr(self, name, value)
            start = layout_json(layout)
            self._state = start | {"index": None, "chain": None}  # the middle; refuses first
            self._slider_max = words.slidersFor(start, size)
            presets = words.DEFAULTS if expression is None else words.presetsOf(start, expression)
            self._presets = [p for p in presets if not words.whyNotDrawn(p["layout"], size)]

    @property
    def chain(self) -> tuple[str, ...]:
        """The operations that led to the layout on screen; `()` before the first one.

        Setting it applies the operations to the start of the chain, which is the layout on screen before
        the first one; one text may hold several. A copy starts a storage of its own. Changing the layout
        by hand ends the chain. Raises LayoutError for an operation that torch or the picture refuses;
        the picture then stays as it was.

        >>> explorer = StrideExplorer()
        >>> explorer.chain = (".permute(1, 0)", "[1:]")
        >>> explorer.code
        'torch.arange(40.).view(5, 8)[:4, 2:].permute(1, 0)[1:]'
        """
        chain = self._state["chain"]
        return tuple(chain["steps"]) if chain else ()

    @chain.setter
    def chain(self, steps: Iterable[str]) -> None:
        lines = texts("chain", [steps] if isinstance(steps, str) else steps)
        old = self._state["chain"] or self._begun()
        new = old | {"steps": lines}
        start, *stages = script.stagesOf(new, self.storage_size, None, self._name)
        if not stages:
            self._change(layout=Layout(**start["layout"]), chain=None)
            return
        chain = old | {"steps": [stage["text"] for stage in stages]}
        self._change(layout=Layout(**stages[-1]["layout"]), chain=chain)

    def _begun(self) -> dict[str, Any]:
        """Return a chain from the layout on screen, without steps."""
        layout = layout_json(self.layout)
        expressions = [p["expression"] for p in self._presets if p["layout"] == layout]
        source = expressions[0] if expressions else self.code
        return {"source": source, "start": layout, "steps": []}

    def _change(self, **changed: Any) -> None:
        """Change parts of the state; another layout keeps the index inside."""
        if "layout" in changed:
            layout = Layout.of(changed.pop("layout"))
            changed |= layout_json(layout) | {"index": _nearest(layout.shape, self.index)}
        self._state = self._state | changed

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state with an index inside, and a chain that leads to the layout."""
        numbers = dict(state)
        index = numbers.pop("index")
        chain = numbers.pop("chain", None)
        layout = Layout(**numbers)
        if chain is not None:
            chain = {**chain, "start": layout_json(Layout(**chain["start"]))}
        chain, why = script.chainTo(layout_json(layout), chain, self.storage_size)
        if why:
            raise LayoutError(why)
        if layout.numel == 0 or index is None:
            inside = _nearest(layout.shape, None)
        else:
            index = varargs("index", (index,))
            layout.offset(index)  # raises IndexError for an index out of range
            inside = [i % n for i, n in zip(index, layout.shape, strict=True)]
        return layout_json(layout) | {"index": inside, "chain": chain}

    def _check(self, state: dict[str, Any]) -> None:
        self._checked(state)

    @traitlets.validate("_state")
    def _put_right(self, proposal: Any) -> dict[str, Any]:
        return self._checked(proposal["value"])

    @traitlets.observe("_state")
    def _tell(self, change: Any) -> None:
        if not change["old"]:
            return
        for part in (type(self).layout, type(self).index):
            old = part.read(change["old"])
            new = part.read(change["new"])
            if old != new:
                self._notify_trait(part.name, old, new)


def explore(t: torch.Tensor, name: str = "x", *, goals: Iterable[Goal] = ()) -> StrideExplorer:
    """A StrideExplorer on the storage of your own tensor, with its values as they are now.

    `name` is its name in code and sentences. Of a large tensor the leading corner is shown, and a note
    says so. Raises TypeError or LayoutError for anything without a strided layout.

    >>> t = torch.arange(12).view(3, 4)
    >>> explore(t.t(), "t").code
    't.as_strided((4, 3), (1, 4), 0)'
    """
    if not isinstance(t, torch.Tensor):
        raise TypeError(
            f"{a_kind(t)} is not a torch tensor: torch.from_numpy(a) shares an array's memory"
        )
    if not isinstance(name, str):
        raise TypeError(f"name is {a_kind(name)}: give the text that code and sentences call it")
    layout = Layout.of(t)
    size = storage_bytes(t) // layout.itemsize
    shown, expression = _tile(layout, name)
    values = _values_of(t, size)
    notes = []
    if expression != name:
        notes.append(f"{expression} of shape {tuple(t.shape)}")
    if values is None:
        notes.append("the numbers are places in the storage, not values")
    explorer = StrideExplorer()
    note = ": ".join(notes)
    explorer._show(shown, size, name, expression, _values=values or [], _note=note, _name=name)
    explorer._aim(goals)
    return explorer


def _tile(layout: Layout, name: str) -> tuple[Layout, str]:
    """Return the whole of a small layout or the leading corner of a large one, and its code."""
    fits = layout.ndim < 2 or max(layout.shape) <= MAX_SIDE
    if fits and not words.whyNotDrawn(layout_json(layout), layout.span.stop):
        return layout, name
    if layout.numel == 0:  # there may be nothing to select from a leading dim
        return layout.view(0), f"{name}.view(0)"
    return corner(layout, name, words.MAX_DIMS, CORNER)


def _nearest(shape: tuple[int, ...], index: tuple[int, ...] | None) -> list[int] | None:
    """Clamp an index into a shape, by default the middle; None where there is nothing to select."""
    if 0 in shape:
        return None
    if index is None:
        return [n // 2 for n in shape]
    padded = (*index, *[0] * len(shape))
    return [min(i, n - 1) for i, n in zip(padded, shape, strict=False)]


def _values_of(t: torch.Tensor, size: int) -> list[str] | None:
    """Return a short text for each element of the storage, or [] if these are the elements' numbers.

    Return None for a large storage, and for one whose elements Python cannot read.
    """
    if size > MAX_VALUES:
        return None
    try:
        values = [_short(value) for value in read_storage(t).tolist()]
    except (ValueError, RuntimeError):
        # Meta and fake tensors have no values, and elements of four bits are no Python numbers.
        return None
    return [] if values == [str(k) for k in range(size)] else values


def _short(value: Any) -> str:
    """Write a value in six characters, which a box has room for, if it is a number."""
    if isinstance(value, complex):
        return f"{value:.2g}"
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    if value.is_integer() and size < 1e5:
        return str(int(value))
    digits = f"{value:.0f}" if 1e3 <= size < 1e5 else f"{value:.3g}"
    if len(digits) > 6 and size >= 0.01:
        digits = f"{value:.2g}"
    elif len(digits) > 6:
        digits = f"{value:.1e}" if value > 0 else f"{value:.0e}"
    return digits.replace("e-0", "e-").replace("e+0", "e+")
