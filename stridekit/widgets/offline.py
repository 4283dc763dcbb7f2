"""Live widgets in a plain HTML page: no kernel, no network, one file."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import anywidget

from stridekit.widgets.assets import module, unpack
from stridekit.widgets.base import StateWidget

# Jupyter's traits, those that a page holds once per kind of widget, and those that only a kernel needs.
_NOT_STATE = {"_esm", "_css", "_code", "_anywidget_id", "_change_id", "_answered_id"}
_NOT_STATE |= anywidget.AnyWidget.class_traits(sync=True).keys()


class Offline(NamedTuple):
    """The parts of a widget that a page needs: module, style sheets, and the traits the module reads."""

    esm: str
    styles: Sequence[str]
    state: dict[str, Any]

    @classmethod
    def of(cls, key: str, states: Mapping[str, Any]) -> Offline:
        """The parts of a widget, from the full states of all models as a kernel sends them to a page."""
        state = states[key]
        own = {name: value for name, value in state.items() if name not in _NOT_STATE}
        if "_code" in state:
            code = states[state["_code"].removeprefix("IPY_MODEL_")]
            esm, *styles = unpack(code["_zip"])
            return cls(esm, styles, own)
        return cls(str(state["_esm"]), [str(state.get("_css", ""))], own)


def offline_page(widgets: Sequence[StateWidget], title: str = "stridekit") -> str:
    """A whole HTML page with the widgets, live, one below the other.

    >>> from stridekit.widgets import StrideExplorer
    >>> "http" in offline_page([StrideExplorer()]).replace("http://www.w3.org/2000/svg", "")
    False
    """
    style = "body { margin: 2em; background: light-dark(#fff, #111418); color-scheme: light dark }"
    return page_of(offline(widgets), title, style)


def offline(widgets: Sequence[StateWidget]) -> list[Offline]:
    """The parts of widgets that are alive in this process."""
    models = [*widgets, *(widget._code for widget in widgets)]
    states = {model.model_id: model.get_state() for model in models}
    return [Offline.of(widget.model_id, states) for widget in widgets]


def page_of(widgets: Sequence[Offline], title: str = "stridekit", style: str = "") -> str:
    """A whole HTML page with nothing but these widgets, live."""
    body = "\n".join(f'<div class="widget" data-widget="{k}"></div>' for k in range(len(widgets)))
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title>"
    return (
        f"<!doctype html><html lang='en'><head>{head}<style>{style}</style></head>"
        f"<body>{body}{live(widgets)}</body></html>"
    )


def live(widgets: Sequence[Offline]) -> str:
    """The HTML that makes each node with `data-widget="k"` the live k-th widget.

    Each module and each style sheet is included once.
    """
    modules = list(dict.fromkeys(widget.esm for widget in widgets))
    sheets = dict.fromkeys(sheet for widget in widgets for sheet in widget.styles)
    rows = [[modules.index(widget.esm), widget.state] for widget in widgets]
    # "</script>" in the JSON would end the element, and "<!--" would hide its end.
    text = json.dumps({"modules": modules, "widgets": rows}).replace("<", "\\u003c")
    styles = "".join(f"<style>{sheet}</style>" for sheet in sheets)
    host = (
        f"{module('page/host.js')}\n"
        "bringToLife(document, JSON.parse(document.getElementById('stridekit').textContent));"
    )
    return (
        f'{styles}<script type="application/json" id="stridekit">{text}</script>'
        f'<script type="module">{host}</script>'
    )
