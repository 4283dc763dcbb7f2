"""ReshapeStepper: the rule that decides if a reshape is free, walked step by step."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import traitlets

from stridekit._arguments import int_, ints, varargs
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import layout_json, layout_of

MAX_NEW_DIMS = 8
script = Script("reshape_stepper/steps.js")


class ReshapeStepper(Explorer, script="reshape_stepper/steps.js"):
    """Walk the rule of `view`: merge the old dims into chunks, cut the chunks into the new dims.

    `layout` is viewed: a Layout, a tensor or an array of at most 6 dims and 256 elements. `target` is the
    new shape (a -1 is worked out), `step` the step that the walk has reached, from 0, and `index` the
    followed element. All of them can be set, and follow the hand. `result` is the view's Layout, or None
    if there is none, and `why` then gives the reason. Raises LayoutError for a layout that does not fit the
    picture and for a shape that does not hold its elements, IndexError for a step or an index out of range;
    the picture then stays as it was.

    >>> stepper = ReshapeStepper(Layout((4, 8), itemsize=4)[:, :6], shape=(2, -1))
    >>> stepper.why
    'dims 0 and 1 do not merge (stride 8 found, 6 needed), and the new dim 1 of size 12 would straddle them'
    >>> stepper.target = (2, 2, 6)
    >>> stepper.result.stride
    (16, 8, 1)
    """

    _knows = ("_given",)
    _given = traitlets.List().tag(sync=True)  # one's own layout, as the first preset

    def __init__(
        self,
        layout: Any = None,
        shape: int | Iterable[int] | None = None,
        *,
        goals: Iterable[Goal] = (),
    ) -> None:
        super().__init__()
        first = script.PRESETS[0]
        x = layout_of(first["layout"]) if layout is None else _checked(layout)
        targets = first["targets"] if layout is None else script.targetsOf(x.shape)
        target = targets[0] if shape is None else _complete(x, shape)
        self._show(x, target, x.numel // 2)
        self._aim(goals)

    def _show(self, x: Layout, target: Iterable[int], flat: int) -> None:
        """Begin with another layout, which the presets then offer."""
        with self.hold_sync():
            self._given = script.ownPreset(layout_json(x))
            followed = None if x.numel == 0 else min(flat, x.numel - 1)
            self._state = layout_json(x) | {"target": [*target], "step": 0, "flat": followed}

    def _check(self, state: dict[str, Any]) -> None:
        x = _checked(layout_of(state))
        target = ints("target", state["target"])
        flat = state["flat"]
        is_complete = _complete(x, target) == target
        is_followed = flat is None if x.numel == 0 else flat in range(x.numel)
        if not is_complete or not is_followed or state["step"] not in range(script.count(state)):
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
        self._show(x, target, self._state["flat"] or 0)

    @property
    def target(self) -> tuple[int, ...]:
        """The new shape, complete."""
        return tuple(self._state["target"])

    @target.setter
    def target(self, shape: int | Iterable[int]) -> None:
        self._state = {**self._state, "target": [*_complete(self.layout, shape)], "step": 0}

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
        return self.facts["index"]

    @index.setter
    def index(self, index: int | Iterable[int]) -> None:
        order = Layout(self.layout.shape)  # of a contiguous layout the offset is the order
        self._state = {**self._state, "flat": order.offset(varargs("index", (index,)))}

    new_index = property(
        lambda self: self.facts["new_index"], doc="The index of the element in `target`."
    )

    @property
    def result(self) -> Layout | None:
        """The view, or None where torch would refuse."""
        return None if self.why else self.layout.view(self.target)

    @property
    def why(self) -> str:
        """The reason why the view does not exist; "" if it does."""
        return self.layout.why_not_view(self.target)


def _checked(x: Any) -> Layout:
    """Return the layout of a tensor, an array or a Layout, if the picture can hold it."""
    layout = Layout.of(x)
    if why := layout.why_not_torch():
        raise LayoutError(f"torch has no such tensor: {why}")
    if why := script.whyNotShown(layout_json(layout)):
        raise LayoutError(f"{why}; give a smaller tensor with such strides")
    return layout


def _complete(layout: Layout, shape: int | Iterable[int]) -> tuple[int, ...]:
    """Work out the -1 of a new shape. Raises LayoutError if it cannot hold the elements."""
    target = layout.reshape(shape).shape
    if len(target) > MAX_NEW_DIMS:
        raise LayoutError(
            f"{len(target)} new dims do not fit the picture: give at most {MAX_NEW_DIMS}"
        )
    return target
