"""Live widgets in a plain HTML page: no kernel, no network, one file."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from stridekit._extras import extra
from stridekit.widgets.assets import module, unpack
from stridekit.widgets.base import StateWidget

with extra("widgets"):
    import anywidget

# The traits that a page does not need in each widget.
_NOT_STATE = {
    *("_esm", "_css", "_code", "_key"),  # a page holds the code once for all widgets of a type
    *("_anywidget_id", "_change_id", "_answered_id"),  # only a kernel needs them
    *anywidget.AnyWidget.class_traits(sync=True),
}


class Offline(NamedTuple):
    """The parts of a widget that a page needs: module, style sheets, and the traits the module reads."""

    esm: str
    styles: Sequence[str]
    state: dict[str, Any]

    @classmethod
    def of(cls, key: str, states: Mapping[str, Any]) -> Offline:
        """Return the parts of a widget, given the states of all models as a kernel sends them to a page."""
        state = states[key]
        own = {name: value for name, value in state.items() if name not in _NOT_STATE}
        if "_code" in state:
            code = states[state["_code"].removeprefix("IPY_MODEL_")]
            esm, *styles = unpack(code["_zip"])
            return cls(esm, styles, own)
        return cls(str(state["_esm"]), [str(state.get("_css", ""))], own)


def offline_page(widgets: Sequence[StateWidget], title: str = "stridekit") -> str:
    """Return a whole HTML page with the widgets, live, one below the other.

    >>> from stridekit.widgets import StrideExplorer
    >>> "http" in offline_page([StrideExplorer()]).replace("http://www.w3.org/2000/svg", "")
    False
    """
    style = "body { margin: 2em; background: light-dark(#fff, #111418); color-scheme: light dark }"
    return page_of(offline(widgets), title, style)


def offline(widgets: Sequence[StateWidget]) -> list[Offline]:
    """Return the parts of widgets that are alive in this process."""
    models = [*widgets, *(widget._code for widget in widgets)]
    states = {model.model_id: model.get_state() for model in models}
    return [Offline.of(widget.model_id, states) for widget in widgets]


def page_of(widgets: Sequence[Offline], title: str = "stridekit", style: str = "") -> str:
    """Return a whole HTML page with nothing but these widgets, live."""
    nodes = "\n".join(f'<div class="widget" data-widget="{k}"></div>' for k in range(len(widgets)))
    return (
        "<!doctype html><html lang='en'>"
        f"<head><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<style>{style}</style></head>"
        f"<body>{nodes}{live(widgets)}</body></html>"
    )


def live(widgets: Sequence[Offline]) -> str:
    """Return the HTML that turns each node with `data-widget="k"` into the live k-th widget.

    Each module and each style sheet is included once.
    """
    modules = list(dict.fromkeys(widget.esm for widget in widgets))
    sheets = dict.fromkeys(chain.from_iterable(widget.styles for widget in widgets))
    rows = [[modules.index(widget.esm), widget.state] for widget in widgets]
    # "</script>" in the JSON would end the element, and "<!--" would hide its end.
    text = json.dumps({"modules": modules, "widgets": rows}).replace("<", "\\u003c")
    styles = "".join(f"<style>{sheet}</style>" for sheet in sheets)
    host = module("page/host.js")
    start = "bringToLife(document, JSON.parse(document.getElementById('stridekit').textContent));"
    return (
        f'{styles}<script type="application/json" id="stridekit">{text}</script>'
        f'<script type="module">{host}\n{start}</script>'
    )
