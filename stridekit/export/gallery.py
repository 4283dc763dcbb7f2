"""The gallery: every widget, alive, below the line that makes it."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from stridekit import audit, widgets
from stridekit.widgets.base import StateWidget

# The lines of widgets that need arguments; the others are made without.
LINES = {
    "Predict": "Predict('What is the stride of `torch.ones(4, 6).t()`?', (1, 6))",
    "Sort": "Sort(torch.ones(4, 6), 'x.t(); x + 0; x.reshape(-1)', also='x.t(); x[1:]')",
    "CopyTracer": "CopyTracer(audit(nn.Sequential(nn.Flatten(0), nn.ReLU()), torch.ones(4, 6).t()))",
    "Drill": "Drill('address')",
    "Diagnose": "Diagnose('ValueError: step must be greater than zero')",
}


def names() -> list[str]:
    """Return the names of all widgets, the explorer first."""
    kinds = []
    for name in dir(widgets):
        value = getattr(widgets, name)
        if isinstance(value, type) and issubclass(value, StateWidget):
            kinds.append(name)
    return sorted(kinds, key=lambda name: (name != "StrideExplorer", name))


def line_of(name: str) -> str:
    """Return the line of Python that makes a widget."""
    return LINES.get(name, f"{name}()")


def made(name: str) -> Any:
    """Return the widget that its line makes."""
    scope = {"torch": torch, "nn": torch.nn, "audit": audit, name: getattr(widgets, name)}
    return eval(line_of(name), scope)


def source() -> str:
    """Return the sections of the gallery; the k-th has the place of the k-th widget."""
    sections = []
    for number, name in enumerate(names()):
        lead = str(inspect.getdoc(getattr(widgets, name))).partition("\n\n")[0]
        lead = " ".join(lead.split()).removeprefix(f"{name}: ")
        sections.append(
            f"## {name}\n\n{lead} {{py:obj}}`Reference <stridekit.{name}>`\n\n"
            f"```python\n{line_of(name)}\n```\n\n"
            f'<div data-widget="{number}"></div>'
        )
    return "\n\n".join(sections)
