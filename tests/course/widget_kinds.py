"""All widgets: how to make one, where it is on a page, and what its public state can and cannot be."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import torch

from stridekit import Goal, Layout, audit, widgets


class Kind(NamedTuple):
    """Where a widget is on a page, by its class, and the source that makes one."""

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
from stridekit import Goal, Layout, audit
from stridekit.widgets import {", ".join(KINDS)}
"""
NAMES = {"torch": torch, "nn": torch.nn, "Layout": Layout, "Goal": Goal, "audit": audit}
NAMES |= {name: getattr(widgets, name) for name in KINDS}


def make(kind: str, *changes: str) -> Any:
    """A widget of a kind, after some changes of it, `w`, as source."""
    w = eval(KINDS[kind].make, NAMES)
    for change in changes:
        exec(change, NAMES | {"w": w})
    return w


def rows(title: str) -> list[tuple[str, str]]:
    """The rows of a part of widgets.txt: what is typed or given, and what comes of it."""
    text = Path(__file__).with_name("widgets.txt").read_text(encoding="utf-8")
    part = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    lines = [line.partition("  =>  ") for line in part[1].splitlines() if line]
    return [(given, said) for given, _, said in lines]


def _wrong() -> list[tuple[str, str, str, str]]:
    """Kinds, public names, sources of wrong values, words of refusals: a heading may have several names."""
    made, names = [], ""
    for value, said in rows("wrong values"):
        if value.startswith("# "):
            names = value.removeprefix("# ")
        else:
            both = [name.split(".") for name in names.split(", ")]
            made += [(kind, name, value, said.replace("NAME", name)) for kind, name in both]
    return made


def _of_each(title: str) -> dict[str, list[str]]:
    return {kind: [said for of, said in rows(title) if of == kind] for kind in KINDS}


WRONG = _wrong()
# What can be, and moves the picture away from how it begins: states of a widget w, in Python.
RIGHT = _of_each("right states")
# What shows most of the nodes that are hidden at first.
FULL = _of_each("full states")
# Parts that cannot be, beside the parts that a state begins with.
UNFIT = {kind: [*map(eval, it)] for kind, it in _of_each("states that no sound page sends").items()}
