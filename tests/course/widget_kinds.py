"""All widget types: how to make one, its place on a page, and the right and wrong values of its state."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch

from stridekit import Goal, Layout, audit, widgets


class Kind(NamedTuple):
    """The selector of a widget on a page, and the source that makes one."""

    css: str
    make: str


KINDS = {
    "StrideExplorer": Kind(".sk-explorer", "StrideExplorer()"),
    "AliasExplorer": Kind(".sk-aliases", "AliasExplorer()"),
    "ReshapeStepper": Kind(".sk-reshape", "ReshapeStepper()"),
    "ChannelsLastExplorer": Kind(".sk-channels", "ChannelsLastExplorer()"),
    "FormatTracer": Kind(".sk-formats", "FormatTracer()"),
    "TraversalExplorer": Kind(".sk-traversal", "TraversalExplorer()"),
    "Predict": Kind(
        ".sk-predict",
        "Predict('What is the stride of `x.t()`?', (1, 6), why='`t()` swaps the two.', "
        "experiment='x.t().stride()', remarks={(6, 1): 'That is the stride of `x` itself.'})",
    ),
    "Sort": Kind(
        ".sk-sort",
        "Sort(torch.ones(4, 6, dtype=torch.float, device='cpu'), 'x.t(); x + 0; x.reshape(-1)', "
        "also='x.t(); x[1:]')",
    ),
    "Drill": Kind(".sk-drill", "Drill('address', seed=1)"),
    "AttentionExplorer": Kind(".sk-attention", "AttentionExplorer()"),
    "CacheExplorer": Kind(".sk-cache", "CacheExplorer()"),
    "CopyTracer": Kind(
        ".sk-copies",
        "CopyTracer(audit(nn.Sequential(nn.Flatten(0), nn.ReLU()), torch.ones(4, 6).t()))",
    ),
    "Diagnose": Kind(".sk-paste", "Diagnose('ValueError: step must be greater than zero')"),
}
# For a page on which all of them are made.
IMPORTS = f"""import torch
from torch import nn
from stridekit import Goal, Layout, audit, explore
from stridekit.widgets import {", ".join(KINDS)}
"""
NAMES = {"torch": torch, "nn": torch.nn, "Layout": Layout, "Goal": Goal, "audit": audit}
NAMES |= {name: getattr(widgets, name) for name in KINDS}


@contextmanager
def hidden_widgets() -> Iterator[None]:
    """Hide the widgets that live: an export asks for the repr of each, which takes a minute."""
    from ipywidgets.widgets.widget import _instances  # which older versions lack

    alive = dict(_instances)
    _instances.clear()
    yield
    _instances.update(alive)


def make(kind: str, *changes: str) -> Any:
    """Return a widget, after some changes; a change is source that calls the widget `w`."""
    w = eval(KINDS[kind].make, NAMES)
    for change in changes:
        exec(change, NAMES | {"w": w})
    return w


def rows(title: str) -> list[tuple[str, str]]:
    """Return the rows of a part of widgets.txt: an input, and what comes of it."""
    text = Path(__file__).with_name("widgets.txt").read_text(encoding="utf-8")
    part = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    lines = [line.partition("  =>  ") for line in part[1].splitlines() if line]
    return [(source, outcome) for source, _, outcome in lines]


def _wrong_values() -> list[tuple[str, str, str, str]]:
    """Return kinds, public names, sources of wrong values, and the words of their refusals.

    A heading in widgets.txt may have several names, as in "# StrideExplorer.layout, ReshapeStepper.layout".
    """
    values = []
    heading = ""
    for source, refusal in rows("wrong values"):
        if source.startswith("# "):
            heading = source.removeprefix("# ")
            continue
        for full_name in heading.split(", "):
            kind, name = full_name.split(".")
            values.append((kind, name, source, refusal.replace("NAME", name)))
    return values


def _by_kind(title: str) -> dict[str, list[str]]:
    sources: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, source in rows(title):
        sources[kind].append(source)
    return sources


WRONG = _wrong_values()
# Changes of a widget w that move its picture away from the first one, in Python.
RIGHT = _by_kind("right states")
# Changes that show most of the nodes that are hidden at first.
FULL = _by_kind("full states")
# Impossible parts of a state; the other parts are those of the first state.
UNFIT = {
    kind: [eval(source) for source in sources]
    for kind, sources in _by_kind("states that no sound page sends").items()
}
