"""Widgets alive in a plain HTML page: no kernel, no network, one file."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

import anywidget

from stridekit.widgets.assets import module

# What belongs to Jupyter, or is written into the page once for all widgets of a kind.
_NOT_STATE = {"_esm", "_css", "_anywidget_id", "layout", "tabbable", "tooltip"}


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
        f"<body>{body}{live(widgets)}</body></html>"
    )


def live(widgets: Sequence[anywidget.AnyWidget]) -> str:
    """The elements that bring widgets to life: each kind's module and style once, each one's state."""
    kinds = {type(widget).__name__: widget for widget in widgets}
    data = {
        "modules": {name: str(widget._esm) for name, widget in kinds.items()},
        "widgets": [[type(widget).__name__, state_of(widget)] for widget in widgets],
    }
    styles = "".join(f"<style>{widget._css}</style>" for widget in kinds.values())
    # "</script>" inside of a JSON text would end the element.
    text = json.dumps(data).replace("</", "<\\/")
    script = (
        f"{module('host.js')}\n"
        "const { modules, widgets } = JSON.parse(document.getElementById('stridekit').textContent);\n"
        "widgets.forEach(([kind, state], k) =>\n"
        "  mount(document.querySelector(`[data-widget='${k}']`), modules[kind], state));"
    )
    return (
        f'{styles}<script type="application/json" id="stridekit">{text}</script>'
        f'<script type="module">{script}</script>'
    )


def state_of(widget: anywidget.AnyWidget) -> dict[str, Any]:
    """The traits that the widget's own JavaScript reads."""
    names = widget.traits(sync=True).keys() - anywidget.AnyWidget.class_traits(sync=True).keys()
    return {name: value for name, value in widget.get_state().items() if name in names - _NOT_STATE}
