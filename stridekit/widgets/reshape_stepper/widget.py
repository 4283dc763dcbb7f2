"""ReshapeStepper: the rule that decides if a reshape is free, walked step by step."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, NamedTuple

import numpy as np
import traitlets

from stridekit._arguments import int_, ints, varargs
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer, kinds
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import code, layout_json, layout_of

MAX_NEW_DIMS = 8
script = Script("reshape_stepper/facts.js")


class Preset(NamedTuple):
    """A layout worth a look, the torch expression that makes it, and shapes to try on it."""

    name: str
    expression: str
    layout: Layout
    targets: tuple[tuple[int, ...], ...]


def _presets() -> list[Preset]:
    x = Layout((4, 6), itemsize=4)
    wide = Layout((4, 8), itemsize=4)
    images = Layout((2, 2, 2, 3), itemsize=4)
    x24 = "torch.arange(24.)"
    return [
        Preset("contiguous", f"{x24}.view(4, 6)", x, ((3, 8), (2, 12), (24,), (2, 2, 3, 2))),
        Preset("transposed", f"{x24}.view(4, 6).T", x.t(), ((24,), (2, 3, 4), (3, 8), (6, 2, 2))),
        Preset(
            "rows cut out",
            "torch.arange(32.).view(4, 8)[:, :6]",
            wide[:, :6],
            ((2, 12), (2, 2, 6), (4, 2, 3), (3, 8)),
        ),
        Preset("every 2nd column", f"{x24}.view(4, 6)[:, ::2]", x[:, ::2], ((12,), (2, 6), (3, 4))),
        Preset(
            "permuted",
            f"{x24}.view(2, 3, 4).permute(2, 0, 1)",
            Layout((2, 3, 4), itemsize=4).permute(2, 0, 1),
            ((4, 6), (24,), (2, 2, 6), (8, 3)),
        ),
        Preset(
            "sizes of 1",
            f"{x24}.view(1, 4, 6).permute(1, 0, 2)",
            Layout((1, 4, 6), itemsize=4).permute(1, 0, 2),
            ((24,), (4, 6), (2, 1, 12), (4, 6, 1)),
        ),
        Preset(
            "expanded",
            "torch.arange(6.).expand(4, 6)",
            Layout((6,), itemsize=4).expand(4, 6),
            ((24,), (2, 2, 6), (4, 2, 3)),
        ),
        Preset(
            "channels-last",
            f"{x24}.view(2, 2, 2, 3).permute(0, 3, 1, 2)",
            images.permute(0, 3, 1, 2),
            ((2, 3, 4), (2, 12), (6, 4), (24,)),
        ),
    ]


PRESETS = _presets()


class ReshapeStepper(Explorer):
    """Walk the rule of `view`: merge the old dims into chunks, cut the chunks into the new dims.

    `layout` is viewed: a Layout, a tensor or an array of at most 6 dims and 256 elements. `target` is the
    new shape (a -1 is worked out), `step` the step that the walk has reached, from 0, and `index` the
    followed element. All of them can be set, and follow the hand. `result` is the view's Layout, or None
    if there is none, and `why` then gives the reason. Raises LayoutError for a layout that does not fit the
    picture and for a shape that does not hold its elements, IndexError for a step or an index out of range;
    the picture then stays as it was.

    >>> stepper = ReshapeStepper(Layout((4, 8), itemsize=4)[:, :6], shape=(2, -1))
    >>> stepper.target, stepper.result
    ((2, 12), None)
    >>> stepper.why
    'dims 0 and 1 do not merge (stride 8 found, 6 needed), and the new dim 1 of size 12 would straddle them'
    >>> stepper.target = (2, 2, 6)
    >>> stepper.result.stride
    (16, 8, 1)
    """

    _module = module("reshape_stepper/widget.js")
    _style = style("page/base.css", "reshape_stepper/widget.css")
    _presets = traitlets.List().tag(sync=True)

    FACTS = kinds(script.facts(layout_json(Layout(())) | {"target": [], "step": 0, "flat": 0}))
    _facts = staticmethod(script.facts)

    def __init__(
        self,
        layout: Any = None,
        shape: int | Iterable[int] | None = None,
        *,
        goals: Iterable[Goal] = (),
    ) -> None:
        super().__init__()
        given = PRESETS[0] if layout is None else _own(_checked(layout))
        x = given.layout
        target = given.targets[0] if shape is None else _complete(x, shape)
        with self.hold_sync():
            self._offer(given)
            flat = None if x.numel == 0 else x.numel // 2
            self._state = {**layout_json(x), "target": list(target), "step": 0, "flat": flat}
            self._aim(goals)

    def _offer(self, given: Preset) -> None:
        """Set the layouts to choose from: `given` goes first, unless it is one of the others."""
        own = [] if any(preset.layout == given.layout for preset in PRESETS) else [given]
        self._presets = [
            preset._asdict() | {"layout": layout_json(preset.layout)} for preset in [*own, *PRESETS]
        ]

    # The state ------------------------------------------------------------------------------------

    def _check(self, state: dict[str, Any]) -> None:
        x, target, flat = layout_of(state), ints("target", state["target"]), state["flat"]
        count = script.count(state) if _complete(_checked(x), target) == target else 0
        followed = flat is None if x.numel == 0 else flat in range(x.numel)
        if state["step"] not in range(count) or not followed:
            raise LayoutError(f"the picture cannot show {state}")

    # ipywidgets has its own `layout`, for CSS; here it is the tensor's.
    @property
    def layout(self) -> Layout:
        """The layout that is viewed."""
        return layout_of(self._state)

    @layout.setter
    def layout(self, layout: Any) -> None:
        x = _checked(layout)
        target = self.target if prod(self.target) == x.numel else (x.numel,)
        flat = None if x.numel == 0 else min(self._state["flat"] or 0, x.numel - 1)
        with self.hold_sync():
            self._offer(_own(x))
            self._state = {**layout_json(x), "target": list(target), "step": 0, "flat": flat}

    @property
    def target(self) -> tuple[int, ...]:
        """The new shape, complete."""
        return tuple(self._state["target"])

    @target.setter
    def target(self, shape: int | Iterable[int]) -> None:
        target = _complete(self.layout, shape)
        self._state = {**self._state, "target": list(target), "step": 0}

    @property
    def step(self) -> int:
        """The step that the walk has reached; set it to -1 for the last one."""
        return int(self._state["step"])

    @step.setter
    def step(self, step: int) -> None:
        count = script.count(self._state)
        step = int_("step", step)
        if not -count <= step < count:
            raise IndexError(f"step {step} is out of range: this walk has steps 0 to {count - 1}")
        self._state = {**self._state, "step": step % count}

    @property
    def index(self) -> tuple[int, ...] | None:
        """The index of the followed element in `layout`; None if there are no elements."""
        return self._index_in(self.layout.shape)

    @index.setter
    def index(self, index: int | Iterable[int]) -> None:
        index = varargs("index", (index,))
        flat = Layout(self.layout.shape).offset(index)  # of a contiguous layout it is the order
        self._state = {**self._state, "flat": flat}

    @property
    def new_index(self) -> tuple[int, ...] | None:
        """The index of the same element in `target`."""
        return self._index_in(self.target)

    def _index_in(self, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        flat = self._state["flat"]
        return None if flat is None else tuple(map(int, np.unravel_index(flat, shape)))

    @property
    def result(self) -> Layout | None:
        """The view, or None where torch would refuse."""
        return None if self.why else self.layout.view(self.target)

    @property
    def why(self) -> str:
        """The reason why the view does not exist; "" if it does."""
        return self.layout.why_not_view(self.target)

    @property
    def code(self) -> str:
        """The lines of torch that make the layout and the result; a copy, where there is no view."""
        return str(script.code(self._presets, self._state))

    # Without a kernel ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        return "\n  ".join([*script.told(self._state), *self._aims()])


def _checked(x: Any) -> Layout:
    """The layout of a tensor, an array or a Layout, if the picture can hold it."""
    layout = Layout.of(x)
    if why := layout.why_not_torch():
        raise LayoutError(f"torch has no such tensor: {why}")
    if why := script.whyNotShown(layout_json(layout)):
        raise LayoutError(f"{why}; give a smaller tensor with such strides")
    return layout


def _complete(layout: Layout, shape: int | Iterable[int]) -> tuple[int, ...]:
    """The new shape with its -1 worked out; raises LayoutError if it cannot hold the elements."""
    target = layout.reshape(shape).shape
    if len(target) > MAX_NEW_DIMS:
        raise LayoutError(
            f"{len(target)} new dims do not fit the picture: give at most {MAX_NEW_DIMS}"
        )
    return target


def _own(layout: Layout) -> Preset:
    """A given layout with shapes to try."""
    made = code(f"torch.arange({layout.span.stop}.)", layout)
    targets = tuple(tuple(target) for target in script.targetsOf(layout.shape))
    return Preset("as given", made, layout, targets)
