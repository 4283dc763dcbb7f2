"""AliasExplorer: up to three tensors on one storage, and the effect of a line of code on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import traitlets
from matplotlib.figure import Figure

from stridekit.layout import Layout, LayoutError
from stridekit.widgets.alias_explorer.session import Entry, Session
from stridekit.widgets.alias_explorer.still import draw
from stridekit.widgets.assets import module, style
from stridekit.widgets.base import StateWidget

STEPS = ("y = x[1:, ::2]", "z = x[:, 4:]")


class AliasExplorer(StateWidget):
    """Type `y = x[1:, ::2]`, then `y += 100`, and see which tensors change; after `z = y + 1`, none does.

    x is `torch.arange(n).view(shape)`. `steps` are the lines that were run, with the names x, y and z;
    they follow the hand and can be set from Python. `tensors` and `values` are the present layouts and
    values of the names. A view shares its tensor's storage, a copy opens a new one. Raises LayoutError,
    which quotes torch, for a line that torch refuses or whose result it leaves undefined; the picture
    then stays as it was.

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

    _module = module("alias_explorer/widget.js")
    _style = style("page/base.css", "alias_explorer/widget.css")

    def __init__(self, shape: Sequence[int] = (4, 6), steps: Sequence[str] = STEPS) -> None:
        self._session = Session(shape, steps)
        super().__init__()
        self._state = {"shape": list(self._session.shape), "steps": list(self.steps)}

    @property
    def steps(self) -> tuple[str, ...]:
        """The lines that were run, in order. Setting them starts again from x."""
        return tuple(entry.text for entry in self._session.log)

    @steps.setter
    def steps(self, steps: Sequence[str]) -> None:
        session = Session(self._session.shape, steps)
        self._state = {"shape": list(session.shape), "steps": [entry.text for entry in session.log]}

    @property
    def tensors(self) -> dict[str, Layout]:
        """The layout of each name, on its storage."""
        return {name: self._session.tensors[name].layout for name in self._session.names()}

    @property
    def values(self) -> dict[str, Any]:
        """The values of each name, as nested lists.

        >>> AliasExplorer((4,), ["y = x[::2]", "y += 10"]).values
        {'x': [10, 1, 12, 3], 'y': [10, 12]}
        """
        return {
            name: self._session.tensors[name].tensor.long().tolist()
            for name in self._session.names()
        }

    def relation(self, y: str, x: str) -> str:
        """A sentence on how y and x share memory.

        >>> AliasExplorer((4, 6), ["y = x[:, ::2]", "z = x[:, 1::2]"]).relation("z", "y")
        'z and y share no element, though their ranges interleave'
        """
        for name in (y, x):
            if name not in self._session.tensors:
                raise LayoutError(f"{name} is not there: {', '.join(self._session.names())} are")
        return self._session.relation(y, x)

    def _check(self, state: dict[str, Any]) -> None:
        Session(state["shape"], state["steps"])

    @traitlets.observe("_state")
    def _followed(self, change: Any) -> None:
        """The front end ran a line, or Python set them."""
        self._session = Session(change["new"]["shape"], change["new"]["steps"])

    def __repr__(self) -> str:
        session = self._session
        start = (
            f"x = torch.arange({prod(session.shape)}).view({', '.join(map(str, session.shape))})"
        )
        width = max((len(entry.text) for entry in session.log), default=0)
        lines = [f"{entry.text:{width}}  # {_words(entry)}" for entry in session.log]
        return "\n  ".join([f"AliasExplorer: {start}", *lines, *session.relations()])

    def _still(self) -> Figure:
        return draw(self._session, repr(self))


def _words(entry: Entry) -> str:
    return entry.sentence if entry.kind == "write" else f"{entry.kind}: {entry.sentence}"
