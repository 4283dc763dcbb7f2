"""What torch makes of a call: run on several tensors, it shares their memory or not."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import torch

from stridekit._arguments import a_kind, shown, texts
from stridekit._defaults import torch_defaults
from stridekit.layout import Layout
from stridekit.tensors.sharing import memset, shares_memory

MOST_CALLS, MOST_TENSORS, LONGEST = 24, 8, 48  # LONGEST is that of a call, in characters
LARGEST = 2**20  # bytes: each call gets a storage of its own, into which it may write
DOES = {"itself": "gives back", "view": "makes a view of", "copy": "copies"}
DOES |= {"error": "raises an error for"}
NUMBERS = "shape {0.shape}, stride {0.stride}, storage_offset {0.storage_offset}"


class Try(NamedTuple):
    """What a call made of one tensor: "itself", a "view", a "copy" or an "error"."""

    source: str  # of the tensor
    made: str
    numbers: str


def expressions(name: str, given: Any, most: int) -> tuple[str, ...]:
    """The expressions with x in some texts; one text may hold several, with semicolons between them."""
    found = []
    for text in texts(name, given):
        if len(text) > most * (LONGEST + 2):
            long = f"{name} has a text of {len(text):,} characters"
            raise ValueError(f"{long}: give a few short calls")
        try:
            body = ast.parse(text.strip()).body
        except (SyntaxError, ValueError) as error:
            raise ValueError(f"{name}: {shown(text)} is not Python: {error}") from None
        for line in body:
            source = ast.get_source_segment(text.strip(), line) or ""
            used = {node.id for node in ast.walk(line) if isinstance(node, ast.Name)}
            if not isinstance(line, ast.Expr) or "x" not in used:
                raise ValueError(f"{name}: {source} is no expression with x in it, as x.t() is")
            if len(source) > LONGEST:
                raise ValueError(f"{name}: {source} is longer than a card: {LONGEST} characters")
            found.append(source)
    for source in found:
        if found.count(source) > 1:
            raise ValueError(f"{name}: {source} is there {found.count(source)} times: give it once")
    if not 1 <= len(found) <= most:
        raise ValueError(f"{name} has {len(found)} expressions: give 1 to {most}")
    return tuple(found)


def checked(x: Any) -> torch.Tensor:
    """A small tensor that has memory, as a plain one."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is {shown(x)}, {a_kind(x)}: give a tensor")
    if not memset(x):
        nothing = "no elements, and shares nothing"
        raise ValueError(f"x has shape {tuple(x.shape)}, {nothing}: give some")
    nbytes = x.untyped_storage().nbytes()
    if max(x.numel(), nbytes) > LARGEST:
        size = f"{x.numel():,} elements in a storage of {nbytes:,} bytes"
        advice = f"and each call is run on a copy of it: give {LARGEST:,} at most"
        raise ValueError(f"x has {size}, {advice}")
    return x.detach().as_subclass(torch.Tensor)


def cards(x: torch.Tensor, calls: Sequence[str], sources: Sequence[str]) -> list[dict[str, Any]]:
    """A card for each call: where it belongs and why, and what speaks against the other bins."""
    with (
        torch_defaults(),
        torch.random.fork_rng(devices=[]),
        warnings.catch_warnings(action="ignore"),
    ):
        return [_card(call, [_tried(x, call, source) for source in sources]) for call in calls]


def _tried(x: torch.Tensor, call: str, source: str) -> Try:
    """Run a call on a tensor made of x; whatever it writes, x stays as it was."""
    names = {"torch": torch, "x": deepcopy(x)}
    tensor = names["x"] = _run(source, names)
    if not isinstance(tensor, torch.Tensor) or not memset(tensor):
        raise ValueError(f"{source} is no tensor with elements, on which a call could be run")
    try:
        y = _run(call, names)
    except ValueError:
        if source == "x":
            raise
        return Try(source, "error", "")
    try:
        made = "itself" if y is tensor else "view" if shares_memory(y, tensor) else "copy"
        if memset(y):
            return Try(source, made, NUMBERS.format(Layout.of(y)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{call} of {source} cannot be judged: {error}") from None
    raise ValueError(f"{call} of {source} cannot be judged: it has no elements")


def _run(source: str, names: dict[str, Any]) -> Any:
    try:
        return eval(source, names)
    except Exception as error:
        raise ValueError(f"{source} raises {type(error).__name__}: {error}") from None


def _card(call: str, tries: Sequence[Try]) -> dict[str, Any]:
    made: dict[str, list[str]] = {}
    for one in tries:
        made.setdefault(one.made, []).append(one.source)
    shared = [one for one in tries if one.made in ("itself", "view")]
    place = 2 if shared and "copy" in made else int(not shared)
    taken = listed([one.source for one in tries if one.made != "error"])
    against = ["", "", f"does not depend on `x`: the answer is the same for {taken}"]
    if "copy" in made:
        against[0] = f"is not always a view: it copies `{made['copy'][0]}`"
    if shared:
        against[1] = f"is not always a copy: it {DOES[shared[0].made]} `{shared[0].source}`"
    against[place] = ""
    how = _how(made, place, tries[0].numbers)
    copies = f"copies {listed(made['copy'])}" if place == 2 else ""
    said = {"how": how, "copies": copies, "against": against}
    return {"call": call, "quoted": repr(call), "bin": place, **said}


def _how(made: dict[str, list[str]], place: int, numbers: str) -> str:
    """What a call does with which tensor; `numbers` are those of the first result."""
    if [*made] == ["view"]:
        return f"makes a view each time: of `x` with {numbers}"
    if [*made] == ["copy"]:
        return "makes a copy each time, with memory of its own"
    *most, last = (f"{DOES[what]} {listed(sources)}" for what, sources in made.items())
    does = f"{', '.join(most)}, but {last}" if most else last
    return does + ("; it never copies", "; it never makes a view", "")[place]


def listed(sources: Sequence[str]) -> str:
    """Sources as code in a sentence."""
    *most, last = (f"`{source}`" for source in sources)
    return f"{', '.join(most)} and {last}" if most else last
