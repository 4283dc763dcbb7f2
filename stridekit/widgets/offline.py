"""Widgets alive in a plain HTML page: no kernel, no network, one file."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import anywidget

from stridekit.widgets.assets import script

# Traits of Jupyter, those that a page has once for all widgets of a kind, and those that are for a kernel.
_NOT_STATE = anywidget.AnyWidget.class_traits(sync=True).keys() | {
    *("_esm", "_css", "_anywidget_id"),
    *("_turn", "_seen"),
}


class Offline(NamedTuple):
    """A widget as a page needs it: its module, its style sheet, and the traits that its module reads."""

    esm: str
    css: str
    state: dict[str, Any]

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Offline:
        """The widget of a full state, as it goes from a kernel to the front end.

        >>> Offline.of({"_esm": "export default {}", "_state": {}, "_model_module": "anywidget"})
        Offline(esm='export default {}', css='', state={'_state': {}})
        """
        own = {name: value for name, value in state.items() if name not in _NOT_STATE}
        return cls(str(state["_esm"]), str(state.get("_css", "")), own)


def offline_page(widgets: Sequence[anywidget.AnyWidget], title: str = "stridekit") -> str:
    """A whole HTML page on which the widgets stand one below the other, alive.

    >>> from stridekit.widgets import StrideExplorer
    >>> "http" in offline_page([StrideExplorer()]).replace("http://www.w3.org/2000/svg", "")
    False
    """
    body = "\n".join(f'<div class="widget" data-widget="{k}"></div>' for k in range(len(widgets)))
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title>"
    style = (
        "body { margin: 24px; background: light-dark(#fff, #111418); color-scheme: light dark; }"
    )
    return (
        f"<!doctype html><html lang='en'><head>{head}<style>{style}</style></head>"
        f"<body>{body}{live([Offline.of(widget.get_state()) for widget in widgets])}</body></html>"
    )


def live(widgets: Sequence[Offline]) -> str:
    """The elements that bring each node with `data-widget="k"` to life as the k-th of the widgets.

    Each module and each style sheet goes into the page once.
    """
    modules = list(dict.fromkeys(widget.esm for widget in widgets))
    sheets = dict.fromkeys(widget.css for widget in widgets)
    data = {
        "modules": modules,
        "widgets": [[modules.index(widget.esm), widget.state] for widget in widgets],
    }
    # "</script>" inside of a JSON text would end the element, and "<!--" would hide its end.
    text = json.dumps(data).replace("<", "\\u003c")
    styles = "".join(f"<style>{sheet}</style>" for sheet in sheets)
    host = (
        f"{script('page/host.js')}\n"
        "bringToLife(document, JSON.parse(document.getElementById('stridekit').textContent));"
    )
    return (
        f'{styles}<script type="application/json" id="stridekit">{text}</script>'
        f'<script type="module">{host}</script>'
    )
