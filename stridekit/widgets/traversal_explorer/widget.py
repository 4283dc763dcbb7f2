"""TraversalExplorer: the order in which an operation walks memory, and the cache lines that it loads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from stridekit._arguments import int_, ints, shown
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import CACHE_LINE, counted
from stridekit.widgets.traversal_explorer import facts, traversal
from stridekit.widgets.traversal_explorer.traversal import Counts, Walk, Warp

MAX_STRIDE = 32  # of a warp's lanes
CORNER = {1: 64, 2: 16, 3: 8, 4: 4}  # by ndim, the sizes of the corner of a large layout
MAX_DIMS, MAX_VISITS = 4, 512  # so that the boxes keep up with a hand


class TraversalExplorer(Explorer):
    """Scrub through a walk over a layout, and watch which cache lines it loads.

    `layout` is walked in the `order` of its dims, outermost first ("torch" for the order of torch's
    elementwise operations), through a cache of `cache_lines` lines of 64 bytes. The storage starts
    `alignment` bytes after the start of a line. Beside it is a second walk, of `other_layout` in
    `other_order`: by default the same layout with its loops in reverse order. `visit` is the number of
    visits made, half of them if it is not given, and `counts` are their costs. With a `warp` the picture
    shows the 32 lanes of a GPU's warp on 32-byte sectors instead. All of it follows the hand, and can be
    set.

    `x` and `other` are layouts, tensors or arrays; of a large one the leading corner is walked. Raises
    LayoutError for a layout that does not fit the picture, ValueError for other invalid values; the
    picture then stays as it was.

    >>> x = Layout((6, 8), itemsize=8)
    >>> TraversalExplorer(x, order=(0, 1), cache_lines=4, visit=48)
    TraversalExplorer: 48 visits, a cache of 4 lines, alignment 0
      left   x of shape (6, 8), stride (8, 1): row by row, dims (0, 1)
             48 visits load 6 cache lines, as few as can be: 384 of 384 bytes are used
      right  x of shape (6, 8), stride (8, 1): column by column, dims (1, 0)
             48 visits load 48 cache lines, 6 would do: 384 of 3072 bytes are used
      the right one loads 8 times as many cache lines as the left one
    """

    _module = module("traversal_explorer/widget.js")
    _style = style("page/base.css", "traversal_explorer/widget.css")

    _presets = traitlets.List().tag(sync=True)
    _note = traitlets.Unicode().tag(sync=True)

    FACTS, _facts = facts.FACTS, staticmethod(facts.facts)

    def __init__(
        self,
        x: Any = None,
        order: Sequence[int] | str | None = None,
        *,
        other: Any = None,
        other_order: Sequence[int] | str | None = None,
        cache_lines: int = 4,
        alignment: int = 0,
        visit: int | None = None,
        warp: Sequence[int] | None = None,
        goals: Iterable[Goal] = (),
    ) -> None:
        super().__init__()
        presets, walks = traversal.presets(), traversal.presets()[0].walks
        if x is not None or order is not None or other is not None or other_order is not None:
            left, note = _corner("x", walks[0].layout if x is None else x)
            right = left
            if other is not None:
                right, _ = _corner("other", other)
            start = rows(left.layout) if order is None else _order(left.layout, order)
            walks = (left._replace(order=start),)
            if right.layout.ndim > 1 or other is not None:
                beside = start[::-1] if other is None else rows(right.layout)
                beside = beside if other_order is None else _order(right.layout, other_order)
                walks = (*walks, right._replace(order=beside))
            presets = [traversal.Preset("as given", "", walks), *presets]
            self._note = note
        self._presets = [
            preset._asdict() | {"walks": [*map(traversal.to_json, preset.walks)]}
            for preset in presets
        ]
        self._state = self._checked(
            {
                "walks": [traversal.to_json(step) for step in walks],
                "visit": max(step.layout.numel for step in walks) // 2 if visit is None else visit,
                "cache_lines": cache_lines,
                "alignment": alignment,
                "warp": _warp(warp),
            }
        )
        self._aim(goals)

    # On screen ------------------------------------------------------------------------------------

    @property
    def walks(self) -> tuple[Walk, ...]:
        """The one or two walks: name, layout and order."""
        return tuple(map(traversal.from_json, self._state["walks"]))

    @property
    def layout(self) -> Layout:
        """The layout that is walked on the left."""
        return self.walks[0].layout

    @layout.setter
    def layout(self, x: Any) -> None:
        self._set_layout(0, x)

    @property
    def order(self) -> tuple[int, ...]:
        """Its dims, outermost loop first. Set it to "torch" for the order of torch's elementwise loops."""
        return self.walks[0].order

    @order.setter
    def order(self, order: Sequence[int] | str) -> None:
        self._set_order(0, order)

    @property
    def other_layout(self) -> Layout | None:
        """The layout on the right, or None."""
        return self.walks[1].layout if len(self.walks) > 1 else None

    @other_layout.setter
    def other_layout(self, x: Any) -> None:
        self._set_layout(1, x)

    @property
    def other_order(self) -> tuple[int, ...] | None:
        """The order of the walk on the right."""
        return self.walks[1].order if len(self.walks) > 1 else None

    @other_order.setter
    def other_order(self, order: Sequence[int] | str) -> None:
        self._set_order(1, order)

    @property
    def visit(self) -> int:
        """The number of visits made so far, from 0 to the number of elements."""
        return int(self._state["visit"])

    @visit.setter
    def visit(self, visit: int) -> None:
        self._set(visit=visit)

    @property
    def cache_lines(self) -> int:
        """The number of lines that the cache holds: 1, 2, 4, 8, 16 or 32."""
        return int(self._state["cache_lines"])

    @cache_lines.setter
    def cache_lines(self, cache_lines: int) -> None:
        self._set(cache_lines=cache_lines)

    @property
    def alignment(self) -> int:
        """The number of bytes from the start of a cache line to the start of the storage."""
        return int(self._state["alignment"])

    @alignment.setter
    def alignment(self, alignment: int) -> None:
        self._set(alignment=alignment)

    @property
    def warp(self) -> Warp | None:
        """The warp shown in place of the walks, or None."""
        return None if self._state["warp"] is None else Warp(**self._state["warp"])

    @warp.setter
    def warp(self, warp: Sequence[int] | None) -> None:
        self._set(warp=_warp(warp))

    @property
    def counts(self) -> Counts:
        """The costs of the left walk so far.

        >>> TraversalExplorer(Layout((6, 8), itemsize=8), (1, 0), visit=20).counts.misses
        20
        """
        return self._counts(self.walks[0])

    @property
    def other_counts(self) -> Counts | None:
        """The costs of the walk on the right so far."""
        return self._counts(self.walks[1]) if len(self.walks) > 1 else None

    @property
    def code(self) -> str:
        """The line of Python that makes the picture."""
        return facts.code(self._state)

    def _counts(self, step: Walk) -> Counts:
        visits = traversal.walk(step.layout, step.order, self.cache_lines, self.alignment)
        return traversal.counts(visits, step.layout.itemsize, self.visit)

    # Changing it ----------------------------------------------------------------------------------

    def _set(self, **changes: Any) -> None:
        self._state = self._checked({**self._state, **changes})

    def _set_layout(self, k: int, x: Any) -> None:
        """Walk another layout row by row, to the end."""
        walks, layout = [*self.walks], _fitting(Layout.of(x))
        # If both walks are of one layout, both get the new one.
        both = k == 0 and len(walks) > 1 and walks[0].layout == walks[1].layout
        walks[k : k + 1] = [Walk("x", layout, rows(layout))]
        if both:
            walks[1] = Walk("x", layout, rows(layout)[::-1])
        visit = max(step.layout.numel for step in walks)
        self._set(walks=[*map(traversal.to_json, walks)], visit=visit)

    def _set_order(self, k: int, order: Sequence[int] | str) -> None:
        """Walk the same layout in another order."""
        walks = [*self.walks]
        step = walks[min(k, len(walks) - 1)]
        walks[k : k + 1] = [step._replace(order=_order(step.layout, order))]
        self._set(walks=[*map(traversal.to_json, walks)])

    def _check(self, state: dict[str, Any]) -> None:
        for step in map(traversal.from_json, self._checked(state)["walks"]):
            _order(_fitting(step.layout), step.order)

    def _checked(self, new: dict[str, Any]) -> dict[str, Any]:
        """The state with plain ints; raises ValueError if one of its numbers is not allowed."""
        walks = [*map(traversal.from_json, new["walks"])]
        most = max(step.layout.numel for step in walks)
        itemsize = max(step.layout.itemsize for step in walks)
        new = new | {key: int_(key, new[key]) for key in ("cache_lines", "visit", "alignment")}
        if new["cache_lines"] not in traversal.CACHE_SIZES:
            raise ValueError(
                f"cache_lines is {new['cache_lines']!r}: give one of {traversal.CACHE_SIZES}"
            )
        if new["visit"] not in range(most + 1):
            raise ValueError(f"visit is {new['visit']!r}: the walk has {most}, give 0 to {most}")
        if new["alignment"] not in range(0, CACHE_LINE, itemsize):
            raise ValueError(
                f"alignment is {new['alignment']!r}: give a multiple of the itemsize, {itemsize}, "
                f"from 0 to {CACHE_LINE - itemsize}"
            )
        if new["warp"] is not None:
            _check_warp(Warp(**new["warp"]))
        return new

    # In text, and where no kernel runs ------------------------------------------------------------

    def __repr__(self) -> str:
        if self.warp is not None:
            said = f"TraversalExplorer: {traversal.warp_sentence(self.warp)}"
            return "\n  ".join([said, *self._aims()])
        state = f"{counted(self.visit, 'visit')}, a cache of {counted(self.cache_lines, 'line')}"
        head = f"TraversalExplorer: {state}, alignment {self.alignment}"
        lines = [head, *([self._note] if self._note else [])]
        found = [self._counts(step) for step in self.walks]
        for side, step, costs in zip(("left", "right"), self.walks, found, strict=False):
            what = f"{step.name} of shape {step.layout.shape}, stride {step.layout.stride}"
            lines.append(f"{side:<5}  {what}: {traversal.order_name(step.order)}")
            lines.append(f"{'':<5}  {traversal.counts_sentence(costs)}")
        if len(found) > 1:
            lines.append(traversal.comparison(*found))
        return "\n  ".join([*lines, *self._aims()])


def _corner(name: str, x: Any) -> tuple[Walk, str]:
    """The walk over a layout, tensor or array, and a note if it covers only a corner."""
    layout = Layout.of(x)
    if layout.ndim <= MAX_DIMS and layout.numel <= MAX_VISITS:
        return Walk(name, _fitting(layout), ()), ""
    lead = max(layout.ndim - MAX_DIMS, 0)
    if layout.numel == 0:
        return Walk(name, Layout((0,), itemsize=layout.itemsize), ()), "there is nothing to walk"
    most = CORNER[layout.ndim - lead]
    kept = [min(most, size) for size in layout.shape[lead:]]
    corner = layout[(*[0] * lead, *map(slice, kept))]
    text = ", ".join([*["0"] * lead, *(f":{size}" for size in kept)])
    note = f"corner = {name}[{text}] of shape {layout.shape}"
    return Walk("corner", _fitting(corner), ()), note


def _fitting(layout: Layout) -> Layout:
    """The layout, if the picture holds it."""
    if layout.ndim > MAX_DIMS or layout.numel > MAX_VISITS:
        raise LayoutError(
            f"shape {layout.shape} has {layout.ndim} dims and {layout.numel} elements: the picture "
            f"holds {MAX_DIMS} and {MAX_VISITS}; TraversalExplorer(x) walks a corner"
        )
    if layout.why_not_torch():
        raise LayoutError(f"torch has no such tensor: {layout.why_not_torch()}")
    return layout


def rows(layout: Layout) -> tuple[int, ...]:
    """The order of loops that walks a layout row by row."""
    return tuple(range(layout.ndim))


def _order(layout: Layout, order: Sequence[int] | str) -> tuple[int, ...]:
    """The order as a tuple of dims; raises ValueError unless it names each dim once."""
    dims = order if isinstance(order, str) else ints("order", order)
    if dims == "torch":
        return layout.dim_order()
    if isinstance(dims, str) or sorted(dims) != [*rows(layout)]:
        raise ValueError(
            f"order {shown(dims)} does not name each of the {layout.ndim} dims once: give a permutation "
            f"of {rows(layout)}, the outermost loop first, or 'torch'"
        )
    return dims


def _warp(warp: Any) -> dict[str, int] | None:
    """A warp as JSON; raises ValueError unless it is three ints."""
    if warp is None:
        return None
    numbers = ints("warp", warp)
    if len(numbers) != len(Warp._fields):
        raise ValueError(f"warp is {warp!r}: give (itemsize, stride, offset), or None")
    return Warp(*numbers)._asdict()


def _check_warp(warp: Warp) -> None:
    """Raises ValueError for a warp that the picture cannot show."""
    allowed: dict[str, Sequence[int]] = {
        "itemsize": traversal.ITEMSIZES,
        "stride": range(MAX_STRIDE + 1),
        "offset": range(traversal.LANES),
    }
    for name, values in allowed.items():
        value = getattr(warp, name)
        if value not in values:
            wanted = values if isinstance(values, tuple) else f"{values[0]} to {values[-1]}"
            raise ValueError(f"{name} of the warp is {value!r}: give {wanted}")
