"""StrideExplorer: a grid of indices and the storage that it reads, linked both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import traitlets

from stridekit._arguments import Strided, a_kind, int_, texts, varargs
from stridekit._torch import as_plain, borrowed, is_tensor
from stridekit.layout import Layout, LayoutError
from stridekit.tensors.storage import storage_bytes
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer, plain
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import corner, layout_json, layout_of
from stridekit.widgets.stride_explorer.values import Reader, array_source, reader_of, text_of

script = Script("stride_explorer/chain.js")
words = Script("stride_explorer/views.js")
windows = Script("stride_explorer/window.js")
numbers_of_page = Script("page/layout.js")

MAX_VALUES = 4096  # of a storage whose values are all sent; of others, those in the window are
CORNER = {1: 32, 2: 8, 3: 4, 4: 3}  # by ndim, of a layout that a browser cannot count


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

    `layout` is the layout on screen, on a storage of `storage_size` elements (by default 40, or as many
    as the layout reaches). `index` is the selected element. Both follow the hand, can be set from Python,
    and can be observed. The picture draws at most 4 dims and 4,096 elements. A larger layout has a
    `window`, which follows the index; facts and verdicts are those of the whole. `chain` is the operations
    that led here, `code` the torch expression that reproduces the layout. With `more=False` a button
    stands for everything but the grid, the tape, the strides and the goals. Raises LayoutError for a
    layout that leaves its storage, IndexError for an index out of range; the picture then stays as it was.

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
    _seen = traitlets.Dict().tag(
        sync=True
    )  # of a large storage, texts of the elements in the window
    _has_values = traitlets.Bool().tag(sync=True)  # that are not the numbers of the elements
    _name = traitlets.Unicode("x").tag(sync=True)  # of the tensor, in sentences
    _note = traitlets.Unicode().tag(sync=True)
    _presets = traitlets.List().tag(sync=True)
    _more = traitlets.Bool(True).tag(sync=True)  # than a beginner sees at first
    _slider_max = traitlets.Dict().tag(sync=True)
    _read: Reader | None = None  # reads values of a large storage
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
            first = {"index": None, "chain": None, "window": None, "values": self._has_values}
            self._state = start | first  # the middle; refuses first
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
        start, *stages = script.stagesOf(new, self.storage_size, self._name)
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

    @property
    def window(self) -> str:
        """The part of the layout that is drawn, as "x[0, 5, 8:16, 0:8]"; the name alone if it is all.

        Setting it moves the window: an index as "2, 5, 90, 0", or slices for the dims to be drawn, one to
        three of them. The selected index comes along. Raises LayoutError for anything else, and where the
        picture draws the whole layout.

        >>> explorer = StrideExplorer(Layout((64, 3, 224, 224), itemsize=4))
        >>> explorer.window
        'x[0, 0, 0:8, 0:8]'
        >>> explorer.window = "9, :, 100, 8:"
        >>> explorer.window, explorer.index
        ('x[9, 0:3, 100, 8:16]', (9, 0, 100, 8))
        """
        window = self._state["window"]
        return windows.windowName(self._state, window, self._name) if window else self._name

    @window.setter
    def window(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"window is {a_kind(text)}: give a text, as '0, 5, 8:, :'")
        if text == self.window:
            return
        if self._state["window"] is None:
            raise LayoutError(f"{self._name} is drawn whole, so there is no window to move")
        self._change(**windows.readPlace(text, self._state, self._state, self._name))

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
        window = numbers.pop("window", None)
        values = bool(numbers.pop("values", self._has_values)) and self._has_values
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
        layout_state = layout_json(layout)
        return layout_state | {
            "index": inside,
            "chain": chain,
            "window": windows.windowFor(layout_state, inside, window),
            "values": values,
        }

    def _check(self, state: dict[str, Any]) -> None:
        self._checked(state)

    @traitlets.validate("_state")
    def _put_right(self, proposal: Any) -> dict[str, Any]:
        return self._checked(proposal["value"])

    @traitlets.observe("_state")
    def _tell(self, change: Any) -> None:
        self._look(change["new"])
        if not change["old"]:
            return
        for part in (type(self).layout, type(self).index):
            old = part.read(change["old"])
            new = part.read(change["new"])
            if old != new:
                self._notify_trait(part.name, old, new)

    def _look(self, state: dict[str, Any]) -> None:
        """Read the values in the window: a page has no others of a large storage."""
        if self._read is None or not state["values"]:
            return
        elements = script.sourcesInWindow(state, self.storage_size)
        self._seen = {
            str(k): text_of(v) for k, v in zip(elements, self._read(elements), strict=True)
        }


def explore(x: Strided, name: str = "x", *, goals: Iterable[Goal] = ()) -> StrideExplorer:
    """A StrideExplorer on the storage of your own tensor or NumPy array, with its values.

    `name` is its name in code and sentences. A large tensor is drawn through a window, which a hand moves;
    contiguity, holes and all other facts are those of the whole. The values of a storage of up to 4,096
    elements are those at the time of the call. Those of a larger one are read as the window comes to them,
    so the explorer keeps the tensor alive. Raises TypeError or LayoutError for anything without a strided
    layout, such as sparse and nested tensors.

    >>> t = torch.arange(12).view(3, 4)
    >>> explore(t.t(), "t").code
    't.as_strided((4, 3), (1, 4), 0)'
    >>> images = explore(torch.zeros(64, 3, 224, 224), "images")
    >>> images.facts["contiguous"], images.window
    (True, 'images[0, 0, 0:8, 0:8]')
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {a_kind(name)}: give the text that code and sentences call it")
    x = borrowed(x)
    layout = Layout.of(x)
    size = layout.span.stop if isinstance(x, Layout) else storage_bytes(x) // layout.itemsize
    shown, expression = _countable(layout, name)
    notes = []
    if expression != name:
        notes.append(
            f"{expression} of shape {layout.shape}, which has more elements than a browser counts exactly"
        )
        size = min(size, 2**53 - 1)
    explorer = StrideExplorer()
    read = reader_of(x, size)
    if read is None:
        notes.append("the numbers are places in the storage, not values")
    elif is_tensor(x) and (as_plain(x).is_conj() or as_plain(x).is_neg()):
        notes.append("the values are those in memory: conjugation or negation is still pending")
    values: list[str] = []
    if size > MAX_VALUES:
        explorer._read = read
    elif read is not None:
        texts_of_all = [text_of(value) for value in read([*range(size)])]
        if texts_of_all != [str(k) for k in range(size)]:
            values = texts_of_all
    explorer._has_values = bool(values or explorer._read)
    source = name
    if not is_tensor(x) and not isinstance(x, Layout):
        source = array_source(x, name)
        if expression == name and not layout.why_not_torch():
            expression = f"torch.from_numpy({name})"
    explorer._show(
        shown, size, source, expression, _values=values, _note=": ".join(notes), _name=name
    )
    explorer._aim(goals)
    return explorer


def _countable(layout: Layout, name: str) -> tuple[Layout, str]:
    """Return the layout and its code, or the corner of one whose numbers a browser cannot hold."""
    if not numbers_of_page.whyNotCounted(layout_json(layout)):
        return layout, name
    if layout.numel == 0:  # there may be nothing to select from a leading dim
        return layout.view(0), f"{name}.view(0)"
    return corner(layout, name, windows.MAX_DIMS, CORNER)


def _nearest(shape: tuple[int, ...], index: tuple[int, ...] | None) -> list[int] | None:
    """Clamp an index into a shape, by default the middle of what is drawn; None if it has no elements."""
    if 0 in shape:
        return None
    if index is None:
        return list(windows.middleOf({"shape": [*shape]}))
    padded = (*index, *[0] * len(shape))
    return [min(i, n - 1) for i, n in zip(padded, shape, strict=False)]
