"""AliasExplorer: up to three tensors on one storage, and the effect of a line of code on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from keyword import iskeyword
from typing import Any

import numpy as np

from stridekit._arguments import ints, texts
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer, kinds
from stridekit.widgets.goals import Goal
from stridekit.widgets.notation import elements

NAMES, LONGEST_NAME = ("x", "y", "z"), 5
STEPS = ("y = x[1:, ::2]", "z = x[:, 4:]")
script = Script("alias_explorer/facts.js")


class AliasExplorer(Explorer):
    """Type `y = x[1:, ::2]`, then `y += 100`, and see which tensors change; after `z = y + 1`, none does.

    x is `torch.arange(n).view(shape)`. `steps` are the lines that were run, with the names x, y and z, or
    with three `names` of yours; they follow the hand and can be set from Python. `tensors` and `values` are
    the present layouts and values of the names. A view shares its tensor's storage, a copy opens a new one.
    Raises LayoutError, which quotes torch, for a line that torch refuses or whose result it leaves
    undefined, and for names that are no Python names; the picture then stays as it was.

    >>> explorer = AliasExplorer((4, 6), ["y = x[1:, ::2]", "z = x.t().contiguous()"])
    >>> explorer.steps += ("y += 100",)
    >>> explorer
    AliasExplorer: x = torch.arange(24).view(4, 6)
      y = x[1:, ::2]          # view: nothing was copied
      z = x.t().contiguous()  # copy: on a storage of its own: dim 1 has stride 6, 1 is needed
      y += 100                # y changed: 9 of its 9 elements; x changed too: 9 of its 24
      y lies inside x: 9 of x's 24 elements
      z and x share no element: they have two storages
      z and y share no element: they have two storages
    >>> AliasExplorer((10,), ["even = ten[::2]"], names=("ten", "even", "odd"))
    AliasExplorer: ten = torch.arange(10).view(10)
      even = ten[::2]  # view: nothing was copied
      even lies inside ten: 5 of ten's 10 elements
    """

    _module = module("alias_explorer/widget.js")
    _style = style("page/base.css", "alias_explorer/widget.css")

    FACTS = kinds(script.facts({"shape": [4, 6], "steps": ["y = x", "z = y"]}))
    _facts = staticmethod(script.facts)

    def __init__(
        self,
        shape: Sequence[int] = (4, 6),
        steps: Sequence[str] = STEPS,
        *,
        names: Sequence[str] = NAMES,
        goals: Iterable[Goal] = (),
    ) -> None:
        super().__init__(_state=_state_of(shape, steps, names))
        self._aim(goals)

    def _check(self, state: dict[str, Any]) -> None:
        _state_of(**state)

    @property
    def steps(self) -> tuple[str, ...]:
        """The lines that were run, in order. Setting them starts again from x."""
        return _lines(self._state)

    @steps.setter
    def steps(self, steps: Sequence[str]) -> None:
        self._state = _state_of(**self._state | {"steps": steps})

    @property
    def code(self) -> str:
        """The lines of torch that make the tensors."""
        return str(script.code(self._state | {"steps": self.steps}))

    @property
    def tensors(self) -> dict[str, Layout]:
        """The layout of each name, on its storage."""
        return {name: layout for name, (layout, _) in self._held().items()}

    @property
    def values(self) -> dict[str, Any]:
        """The values of each name, as nested lists.

        >>> AliasExplorer((4,), ["y = x[::2]", "y += 10"]).values
        {'x': [10, 1, 12, 3], 'y': [10, 12]}
        """
        return {
            name: np.reshape([storage[k] for k in elements(layout)], layout.shape).tolist()
            for name, (layout, storage) in self._held().items()
        }

    def _held(self) -> dict[str, tuple[Layout, list[int]]]:
        """The layout of each name, and the values on its storage."""
        session = script.sessionOf(self._state)
        tensors = [(name, session["tensors"].get(name)) for name in session["called"]]
        return {
            name: (Layout(**tensor["layout"]), session["tapes"][tensor["tape"]])
            for name, tensor in tensors
            if tensor
        }

    def relation(self, y: str, x: str) -> str:
        """A sentence on how y and x share memory.

        >>> AliasExplorer((4, 6), ["y = x[:, ::2]", "z = x[:, 1::2]"]).relation("z", "y")
        'z and y share no element, though their ranges interleave'
        """
        tensors = self.tensors
        for name in (y, x):
            if name not in tensors:
                raise LayoutError(f"{name} is not there: {', '.join(tensors)} are")
        return str(script.related(self._state, y, x))

    def __repr__(self) -> str:
        return "\n  ".join([*script.told(self._state), *self._aims()])


def _state_of(
    shape: Sequence[int], steps: Sequence[str], names: Sequence[str] = NAMES
) -> dict[str, Any]:
    """The state after some lines. Raises LayoutError for a line that torch or the picture refuses."""
    if isinstance(steps, str):
        raise LayoutError(f'steps are a sequence of lines: write ("{steps}",)')
    called = _three_names(names)
    state = {"shape": Layout(ints("shape", shape)).shape, "steps": texts("steps", steps)}
    state |= {} if called == NAMES else {"names": called}
    return {name: [*part] for name, part in state.items()} | {"steps": [*_lines(state)]}


def _lines(state: dict[str, Any]) -> tuple[str, ...]:
    """The lines of a state, in the form that torch takes."""
    return tuple(entry["text"] for entry in script.sessionOf(state)["log"])


def _three_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names for x, y and z."""
    if isinstance(names, str):
        raise LayoutError(f"names are a sequence: write {tuple(names.split()) or ('a', 'b', 'c')}")
    found = texts("names", names)
    if len(found) != 3 or len({*found}) != 3:
        raise LayoutError(
            f"names are {found}: give three different ones, as ('ten', 'even', 'odd')"
        )
    for name in found:
        is_name = name.isascii() and name.isidentifier() and not iskeyword(name)
        if not is_name or len(name) > LONGEST_NAME or name == "torch":
            raise LayoutError(
                f"{name!r} is no name for a tensor here: it has letters, digits and _, "
                f"{LONGEST_NAME} at most"
            )
    return found
