"""What all widgets share in Python: one value as their state, and a picture for where no kernel runs."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets
from matplotlib.figure import Figure

from stridekit.widgets.static import png


class Picture(anywidget.AnyWidget):
    """A widget whose whole state is `_scene`, which either side writes as one value.

    A widget is live where a kernel or an exported page is; beside it go a still picture and its repr,
    which are the same on every run.
    """

    _scene = traitlets.Dict().tag(sync=True)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse a public name that a widget of this kind does not have: nothing on screen would change."""
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no {name} that could be set")
        super().__setattr__(name, value)

    def _still(self) -> Figure:
        """The picture of the present state, drawn on a bare Figure of a hundred pixels an inch."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data["image/png"], metadata["image/png"] = png(self._still())
        return data, metadata
