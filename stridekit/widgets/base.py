"""The Python that all widgets share: one value as their state, and a picture for pages without a kernel."""

from __future__ import annotations

from threading import RLock
from typing import Any

import anywidget
import traitlets
from matplotlib.figure import Figure

from stridekit.widgets.static import png

# Some kernels have a thread for what pages send: a change may come while a cell is at another one.
_one_after_the_other = RLock()


class Picture(anywidget.AnyWidget):
    """A widget whose whole state is `_state`, which either side writes as one value.

    Both may do so at the same moment. The last change to reach the kernel wins: the kernel takes them one
    after the other, and answers each of a page's with what it then holds. A page gives each change a
    number of its own, `_turn`; the answer names it in `_seen`. Until its newest change is answered, a page
    keeps it on screen, since what comes sooner is older. So all end up with what the kernel holds, also
    where it has refused a change, and nothing flips to and fro.

    A widget is live where a kernel or an exported page is; beside it go a still picture and its repr,
    which are the same on every run.
    """

    # The answer does what ipywidgets' echo would do, which does not wait for a refusal.
    _state = traitlets.Dict().tag(sync=True, echo_update=False)
    _turn = traitlets.Float().tag(sync=True, echo_update=False)
    _seen = traitlets.Float().tag(sync=True)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse a public name that a widget of this kind does not have: nothing on screen would change."""
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no {name} that could be set")
        with _one_after_the_other:
            super().__setattr__(name, value)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what a page has changed, or refuse it whole by raising, and answer it, in one message."""
        with _one_after_the_other, self.hold_sync():
            try:
                if "_state" in sync_data:
                    self._check(sync_data["_state"])
                super().set_state(sync_data)
            finally:
                self._seen = sync_data.get("_turn", self._seen)
                self._states_to_send.add("_state")

    def _check(self, state: dict[str, Any]) -> None:
        """Raise for a state that cannot be, and change nothing: JavaScript mirrors, Python decides."""
        raise NotImplementedError

    def _still(self) -> Figure:
        """The picture of the present state, drawn on a bare Figure of a hundred pixels an inch."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data["image/png"], metadata["image/png"] = png(self._still())
        return data, metadata
