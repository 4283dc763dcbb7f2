"""AliasExplorer: up to three tensors on one storage, and the effect of a line of code on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from stridekit.layout import Layout, LayoutError
from stridekit.widgets.alias_explorer import facts
from stridekit.widgets.alias_explorer.session import NAMES, Entry, Session
from stridekit.widgets.assets import module, style
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.goals import Goal

STEPS = ("y = x[1:, ::2]", "z = x[:, 4:]")


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

    FACTS, _facts = facts.FACTS, staticmethod(facts.facts)

    def __init__(
        self,
        shape: Sequence[int] = (4, 6),
        steps: Sequence[str] = STEPS,
        *,
        names: Sequence[str] = NAMES,
        goals: Iterable[Goal] = (),
    ) -> None:
        self._session = Session(shape, steps, names)
        super().__init__()
        self._state = self._state_of(self._session)
        self._aim(goals)

    @property
    def steps(self) -> tuple[str, ...]:
        """The lines that were run, in order. Setting them starts again from x."""
        return tuple(entry.text for entry in self._session.log)

    @steps.setter
    def steps(self, steps: Sequence[str]) -> None:
        self._state = self._state_of(Session(self._session.shape, steps, self._session.called))

    @property
    def code(self) -> str:
        """The lines of torch that make the tensors."""
        return facts.code(self._session.shape, self.steps, self._session.called[0])

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
        _session_of(state)

    @staticmethod
    def _state_of(session: Session) -> dict[str, Any]:
        names = {} if session.called == NAMES else {"names": list(session.called)}
        lines = [entry.text for entry in session.log]
        return {"shape": list(session.shape), "steps": lines, **names}

    @traitlets.observe("_state")
    def _followed(self, change: Any) -> None:
        """The front end ran a line, or Python set them."""
        self._session = _session_of(change["new"])

    def __repr__(self) -> str:
        session = self._session
        start, *_ = self.code.splitlines()
        width = max((len(entry.text) for entry in session.log), default=0)
        lines = [f"{entry.text:{width}}  # {_words(entry)}" for entry in session.log]
        relations = session.relations()
        return "\n  ".join([f"AliasExplorer: {start}", *lines, *relations, *self._aims()])


def _session_of(state: dict[str, Any]) -> Session:
    return Session(state["shape"], state["steps"], state.get("names", NAMES))


def _words(entry: Entry) -> str:
    return entry.sentence if entry.kind == "write" else f"{entry.kind}: {entry.sentence}"
