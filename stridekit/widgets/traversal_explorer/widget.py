"""TraversalExplorer: the order in which an operation walks memory, and the cache lines that it loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import traitlets

from stridekit._arguments import int_, ints, shown
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer, choice, setting
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import corner, layout_json, layout_of

MAX_STRIDE = 32  # of a warp's lanes
CORNER = {1: 64, 2: 16, 3: 8, 4: 4}  # by ndim, the sizes of the corner of a large layout
MAX_DIMS = 4
MAX_VISITS = 512  # so that the boxes keep up with a hand

costs = Script("traversal_explorer/traversal.js")
page = Script("page/layout.js")


class Walk(NamedTuple):
    """A layout, its name in sentences, and the order in which it is walked."""

    name: str
    layout: Layout
    order: tuple[int, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the walk in the form of a widget's state."""
        return {"name": self.name, **layout_json(self.layout), "order": [*self.order]}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Walk:
        """Return the walk in a widget's state."""
        return cls(state["name"], layout_of(state), tuple(state["order"]))


class Counts(NamedTuple):
    """The costs of a walk so far: `lines` are those touched, `misses` the loads.

    No order can load fewer lines than the `minimum`. `bytes_used` counts each byte once.
    """

    visits: int
    lines: int
    misses: int
    minimum: int
    bytes_used: int
    bytes_loaded: int


class Warp(NamedTuple):
    """32 threads in step: thread t reads element t * stride + offset of an aligned storage."""

    itemsize: int = 4
    stride: int = 1
    offset: int = 0

    @property
    def sectors(self) -> tuple[int, ...]:
        """The 32-byte sector that each lane's element lies in."""
        return tuple(costs.sectorsOf(self._asdict())["sectors"])


def _warp(warp: Any) -> dict[str, int] | None:
    """Check a warp as Python gives it, and return it in the form of a widget's state."""
    if warp is None:
        return None
    numbers = ints("warp", warp)
    if len(numbers) != len(Warp._fields):
        raise LayoutError(f"warp is {warp!r}: give (itemsize, stride, offset), or None")
    return Warp(*numbers)._asdict()


def _of_walk(k: int, name: str, doc: str) -> property:
    """Make a property of the layout or the order of the k-th walk, None if there is none."""

    def get(explorer: TraversalExplorer) -> Any:
        walks = explorer.walks
        return getattr(walks[k], name) if k < len(walks) else None

    def put(explorer: TraversalExplorer, value: Any) -> None:
        getattr(explorer, f"_set_{name}")(k, value)

    return property(get, put, doc=doc)


class TraversalExplorer(Explorer, script="traversal_explorer/traversal.js"):
    """Scrub through a walk over a layout, and watch which cache lines it loads.

    `layout` is walked in the `order` of its dims, outermost first ("torch" for the order of torch's
    elementwise operations), through a cache of `cache_lines` lines of 64 bytes. The storage starts
    `alignment` bytes after the start of a line. Beside it is a second walk, of `other_layout` in
    `other_order`: by default the same layout with its loops in reverse order. `visit` is the number of
    visits made, half of them if it is not given, and `counts` are their costs. With a `warp` the picture
    shows the 32 lanes of a GPU's warp on 32-byte sectors instead. All of it follows the hand, and can be
    set.

    `x` and `other` are layouts, tensors or arrays; of a large one the leading corner is walked. Raises
    LayoutError (ValueError) for what the picture cannot show, which then stays as it was.

    >>> explorer = TraversalExplorer(Layout((6, 8), itemsize=8), order=(0, 1), cache_lines=4, visit=48)
    >>> explorer.counts.misses, explorer.other_counts.misses
    (6, 48)
    """

    _given = traitlets.List().tag(sync=True)  # one's own walks, as the first preset
    _note = traitlets.Unicode().tag(sync=True)
    _knows = ("_note",)

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
        first_preset = [Walk.of(walk) for walk in costs.PRESETS[0]["walks"]]
        if x is None and order is None and other is None and other_order is None:
            walks = first_preset
        else:
            left, note = _corner("x", first_preset[0].layout if x is None else x)
            left = left._replace(order=rows(left.layout))
            if order is not None:
                left = left._replace(order=_order(left.layout, order))
            walks = [left, *_beside(left, other, other_order)]
            own_preset = {"name": "as given", "lesson": "", "walks": [w.json() for w in walks]}
            self._given = [own_preset]
            self._note = note
        if visit is None:
            visit = max(walk.layout.numel for walk in walks) // 2
        self._change(
            walks=[walk.json() for walk in walks],
            visit=visit,
            cache_lines=cache_lines,
            alignment=alignment,
            warp=_warp(warp),
        )
        self._aim(goals)

    @property
    def walks(self) -> tuple[Walk, ...]:
        """The one or two walks: name, layout and order."""
        return tuple(map(Walk.of, self._state["walks"]))

    layout = _of_walk(0, "layout", "The layout that is walked on the left.")
    order = _of_walk(0, "order", 'Its dims, outermost loop first, or "torch" for torch\'s order.')
    other_layout = _of_walk(1, "layout", "The layout on the right, or None.")
    other_order = _of_walk(1, "order", "The order of the walk on the right.")
    visit = setting("visit", "The number of visits made so far, from 0 to the number of elements.")
    cache_lines = setting("cache_lines", "The lines that the cache holds: 1, 2, 4, 8, 16 or 32.")
    alignment = setting("alignment", "The bytes from a line's start to the start of the storage.")
    warp = setting(
        "warp", "The warp shown in place of the walks, or None.", lambda w: w and Warp(**w), _warp
    )

    @property
    def counts(self) -> Counts:
        """The costs of the left walk so far."""
        return Counts(**self._script.countsOfAll(self._state)[0])

    @property
    def other_counts(self) -> Counts | None:
        """The costs of the walk on the right so far."""
        counts = self._script.countsOfAll(self._state)
        return Counts(**counts[1]) if len(counts) > 1 else None

    def _set_layout(self, k: int, x: Any) -> None:
        """Walk another layout row by row, to the end."""
        layout = _fitting(Layout.of(x))
        walks = self.walks
        new_walk = Walk("x", layout, rows(layout))
        new_walks = _with_walk(walks, k, new_walk)
        # If both walks are of one layout, both get the new one.
        if k == 0 and len(walks) > 1 and walks[0].layout == walks[1].layout:
            new_walks = [new_walk, new_walk._replace(order=new_walk.order[::-1])]
        visit = max(walk.layout.numel for walk in new_walks)
        self._change(walks=[walk.json() for walk in new_walks], visit=visit)

    def _set_order(self, k: int, order: Sequence[int] | str) -> None:
        walks = self.walks
        walk = walks[min(k, len(walks) - 1)]
        new_walks = _with_walk(walks, k, walk._replace(order=_order(walk.layout, order)))
        self._change(walks=[walk.json() for walk in new_walks])

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state with plain ints. Raises LayoutError if a number is not allowed."""
        layouts = [_fitting(layout_of(walk)) for walk in state["walks"]]
        for layout, walk in zip(layouts, state["walks"], strict=True):
            _order(layout, walk["order"])
        most = max(layout.numel for layout in layouts)
        itemsize = max(layout.itemsize for layout in layouts)
        new = dict(state)
        new |= {key: int_(key, state[key]) for key in ("cache_lines", "visit", "alignment")}
        choice("cache_lines", new["cache_lines"], costs.CACHE_SIZES)
        if new["visit"] not in range(most + 1):
            raise LayoutError(f"visit is {new['visit']!r}: the walk has {most}, give 0 to {most}")
        if new["alignment"] not in range(0, page.CACHE_LINE, itemsize):
            raise LayoutError(
                f"alignment is {new['alignment']!r}: give a multiple of the itemsize, {itemsize}, "
                f"from 0 to {page.CACHE_LINE - itemsize}"
            )
        if new["warp"] is not None:
            allowed = [costs.ITEMSIZES, range(MAX_STRIDE + 1), range(costs.LANES)]
            for (name, value), values in zip(new["warp"].items(), allowed, strict=True):
                choice(f"{name} of the warp", value, values)
        return new


def _with_walk(walks: Sequence[Walk], k: int, walk: Walk) -> list[Walk]:
    """Return the walks with another one in the k-th place."""
    return [*walks[:k], walk, *walks[k + 1 :]]


def _beside(left: Walk, other: Any, other_order: Sequence[int] | str | None) -> list[Walk]:
    """Return the walk beside another one: by default over the same layout in reverse order."""
    if other is None and left.layout.ndim <= 1:
        return []
    if other is None:
        right = left._replace(order=left.order[::-1])
    else:
        right, _ = _corner("other", other)
        right = right._replace(order=rows(right.layout))
    if other_order is not None:
        right = right._replace(order=_order(right.layout, other_order))
    return [right]


def _corner(name: str, x: Any) -> tuple[Walk, str]:
    """Return the walk over a layout, tensor or array, and a note if it covers only a corner."""
    layout = Layout.of(x)
    is_small = layout.ndim <= MAX_DIMS and layout.numel <= MAX_VISITS
    if is_small and not (layout.numel == 0 and page.whyNotCounted(layout_json(layout))):
        return Walk(name, _fitting(layout)), ""
    if layout.numel == 0:
        return Walk(name, Layout((0,), itemsize=layout.itemsize)), "there is nothing to walk"
    cut, text = corner(layout, name, MAX_DIMS, CORNER)
    return Walk("corner", _fitting(cut)), f"corner = {text} of shape {layout.shape}"


def _fitting(layout: Layout) -> Layout:
    """Return a layout that the picture can hold. Raises LayoutError for another one."""
    if layout.ndim > MAX_DIMS or layout.numel > MAX_VISITS:
        raise LayoutError(
            f"shape {layout.shape} has {layout.ndim} dims and {layout.numel} elements: "
            f"the picture holds {MAX_DIMS} and {MAX_VISITS}; TraversalExplorer(x) walks a corner"
        )
    if why := layout.why_not_torch():
        raise LayoutError(f"torch has no such tensor: {why}")
    if why := page.whyNotCounted(layout_json(layout)):
        raise LayoutError(f"the picture cannot show {layout}: {why}")
    return layout


def rows(layout: Layout) -> tuple[int, ...]:
    """Return the order of loops that walks a layout row by row."""
    return tuple(range(layout.ndim))


def _order(layout: Layout, order: Sequence[int] | str) -> tuple[int, ...]:
    """Return the order as a tuple of dims. Raises LayoutError unless it names each dim once."""
    dims = order if isinstance(order, str) else ints("order", order)
    if dims == "torch":
        return layout.dim_order()
    if isinstance(dims, str) or sorted(dims) != [*rows(layout)]:
        raise LayoutError(
            f"order {shown(dims)} does not name each of the {layout.ndim} dims once: "
            f"give a permutation of {rows(layout)}, the outermost loop first, or 'torch'"
        )
    return dims
