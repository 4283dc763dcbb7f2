"""The base of all widgets in Python: their code, and one value as the state."""

from __future__ import annotations

from threading import RLock
from typing import Any, ClassVar

from stridekit._extras import extra
from stridekit.widgets.assets import module, pack, pack_name, styles
from stridekit.widgets.engine import Script

with extra("widgets"):
    import anywidget
    import traitlets
    from ipywidgets import Widget, widget_serialization

# Some kernels receive messages in a thread of their own: a change may arrive while a cell makes another.
_one_after_the_other = RLock()


class Code(Widget):
    """The texts of a widget type: one for all of its widgets in a kernel, and in a saved notebook.

    `_script` is page/code.js, which unpacks the others. It has no name of anywidget's: marimo keeps those.
    """

    _script = traitlets.Unicode(module("page/code.js")).tag(sync=True)
    _zip = traitlets.Unicode().tag(sync=True)

    @classmethod
    def of(cls, widget_type: type[StateWidget]) -> Code:
        """Return the code of a widget type; make it for the first widget, and after `close_all()`."""
        packed = pack(widget_type._module, *widget_type._styles)
        code = _codes.get(packed)
        if code is None or code.comm is None or _closes_with_its_cell(code):
            code = _codes[packed] = cls(_zip=packed)
        return code


def _closes_with_its_cell(model: Widget) -> bool:
    """Return True in marimo, which closes a cell's models before it runs again, whoever needs them."""
    return getattr(model.comm, "kernel", None) == "marimo"


_codes: dict[str, Code] = {}  # by their packs


class StateWidget(anywidget.AnyWidget):
    """A widget whose whole state is `_state`, which either side writes as one value.

    A widget type names its script; widget.js and widget.css lie beside it. The script exports `told`,
    the lines of the repr, and mostly `code`; Python asks them with the state and `_known`.

    If both write at once, the last change to reach the kernel wins: it takes changes one by one, and
    replies with the state that it then holds. page/shell.js says how a page numbers its changes.

    A widget is live in a kernel, in a saved notebook and on an exported page. Elsewhere its repr stands in.
    """

    # Each widget type has its own.
    _module: str  # with a default export, as anywidget wants it
    _styles: tuple[str, str]
    _script: ClassVar[Script]
    _knows: ClassVar[tuple[str, ...]] = ()  # the traits that the script needs besides the state
    layout: Any = None
    _esm = traitlets.Unicode(module("page/load.js")).tag(sync=True)
    _code = traitlets.Instance(Code).tag(sync=True, **widget_serialization)
    _key = traitlets.Unicode().tag(sync=True)  # of the code: a page reads it once

    # No echo: ipywidgets echoes before a change can be refused. set_state replies instead.
    _state = traitlets.Dict().tag(sync=True, echo_update=False)
    _change_id = traitlets.Float().tag(sync=True, echo_update=False)
    _answered_id = traitlets.Float().tag(sync=True)

    def __init_subclass__(cls, script: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if script:
            folder = script.split("/")[0]
            cls._module = module(f"{folder}/widget.js")
            cls._script = Script(script)
            cls._styles = styles(folder)

    @traitlets.default("_code")
    def _shared_code(self) -> Code:
        return Code.of(type(self))

    @traitlets.default("_key")
    def _key_of_code(self) -> str:
        return pack_name(self._code._script + self._code._zip)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse public names that this widget does not have: setting them would change nothing."""
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no {name} that could be set")
        with _one_after_the_other:
            super().__setattr__(name, value)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a page's change, or refuse all of it by raising; reply in one message either way."""
        with _one_after_the_other, self.hold_sync():
            try:
                if "_state" in sync_data:
                    self._check(sync_data["_state"])
                super().set_state(sync_data)
            finally:
                self._answered_id = sync_data.get("_change_id", self._answered_id)
                # Private to ipywidgets, which has no other way to send a state that did not change.
                self._states_to_send.add("_state")

    def _check(self, state: dict[str, Any]) -> None:
        """Raise for an impossible state, and change nothing: JavaScript mirrors, Python decides."""
        raise NotImplementedError

    @property
    def _known(self) -> list[Any]:
        return [getattr(self, name) for name in self._knows]

    def __repr__(self) -> str:
        return "\n  ".join(self._script.told(self._state, *self._known))
