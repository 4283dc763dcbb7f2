"""AliasExplorer: up to three tensors on one storage, and the effect of a line of code on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import Any

import numpy as np

from stridekit._arguments import ints, texts
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.explorer import Explorer, setting
from stridekit.widgets.goals import Goal

NAMES = ("x", "y", "z")
LONGEST_NAME = 5
STEPS = ("y = x[1:, ::2]", "z = x[:, 4:]")


class AliasExplorer(Explorer, script="alias_explorer/session.js"):
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
    """

    def __init__(
        self,
        shape: Sequence[int] = (4, 6),
        steps: Sequence[str] = STEPS,
        *,
        names: Sequence[str] = NAMES,
        goals: Iterable[Goal] = (),
    ) -> None:
        super().__init__(_state=self._checked({"shape": shape, "steps": steps, "names": names}))
        self._aim(goals)

    steps = setting("steps", "The lines that were run, in order. Setting them starts again from x.")

    @property
    def tensors(self) -> dict[str, Layout]:
        """The layout of each name, on its storage."""
        return {name: layout for name, (layout, _) in self._tensors().items()}

    @property
    def values(self) -> dict[str, Any]:
        """The values of each name, as nested lists."""
        return {name: _values_in(*tensor) for name, tensor in self._tensors().items()}

    def _tensors(self) -> dict[str, tuple[Layout, list[int]]]:
        """Return the layout of each name and the values of its storage."""
        session = self._script.sessionOf(self._state)
        tensors = {}
        for name in session["called"]:
            if name in session["tensors"]:
                tensor = session["tensors"][name]
                tensors[name] = (Layout(**tensor["layout"]), session["tapes"][tensor["tape"]])
        return tensors

    def relation(self, y: str, x: str) -> str:
        """A sentence on how y and x share memory."""
        for name in (y, x):
            if name not in self.tensors:
                raise LayoutError(f"{name} is not there: {', '.join(self.tensors)} are")
        return str(self._script.relation(self._script.sessionOf(self._state), y, x)["text"])

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state with its lines as torch takes them.

        Raises LayoutError if torch or the picture refuses a line.
        """
        if isinstance(state["steps"], str):
            raise LayoutError(f'steps are a sequence of lines: write ("{state["steps"]}",)')
        called = _three_names(state.get("names", NAMES))
        shape = Layout(ints("shape", state["shape"])).shape
        new: dict[str, Any] = {"shape": [*shape], "steps": [*texts("steps", state["steps"])]}
        if called != NAMES:
            new["names"] = [*called]
        log = self._script.sessionOf(new)["log"]
        return new | {"steps": [entry["text"] for entry in log]}


def _values_in(layout: Layout, storage: Sequence[int]) -> Any:
    """Return the values of a layout on its storage, as nested lists."""
    flat = [storage[layout.offset(index)] for index in np.ndindex(layout.shape)]
    return np.reshape(flat, layout.shape).tolist()


def _three_names(names: Sequence[str]) -> tuple[str, ...]:
    """Check the names of the three tensors. Raises LayoutError for names that Python would not take."""
    if isinstance(names, str):
        raise LayoutError(f"names are a sequence: write {tuple(names.split()) or ('a', 'b', 'c')}")
    called = texts("names", names)
    if len(called) != 3 or len({*called}) != 3:
        raise LayoutError(
            f"names are {called}: give three different ones, as ('ten', 'even', 'odd')"
        )
    for name in called:
        is_name = name.isascii() and name.isidentifier() and not iskeyword(name)
        if not is_name or len(name) > LONGEST_NAME or name == "torch":
            raise LayoutError(
                f"{name!r} is no name for a tensor here: "
                f"it has letters, digits and _, {LONGEST_NAME} at most"
            )
    return called
