"""The facts of widgets' states, goals over them, and code that makes them: Python, the browser, torch."""

import re
from collections.abc import Callable
from random import Random
from typing import Any

import torch

from stridekit import Layout, LayoutError, has_internal_overlap, shares_memory
from stridekit.widgets import AliasExplorer, ReshapeStepper, StrideExplorer
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.goals import Goal, goals_json
from stridekit.widgets.notation import layout_json
from tests import steps as drawn
from tests.pipe import ask

Facts = dict[str, Any]


def checked(kind: type[Explorer], state: Facts, other: Facts) -> Facts:
    """The facts of a state, whose kinds are known; goals over those of two states tell them apart."""
    found, others = kind._facts(state), kind._facts(other)
    assert [*found] == [*kind.FACTS]
    assert all(type(value) in (kind.FACTS[name], type(None)) for name, value in found.items()), (
        found
    )
    known = {name: value for name, value in others.items() if value is not None}
    goals = goals_json(
        [Goal(name, **{name: value}) for name, value in known.items()], kind.FACTS, kind.__name__
    )
    held = {k for k, (name, value) in enumerate(known.items()) if found[name] == value}
    assert held == {*ask("page/goals/heldBy", found, goals)}
    return found


def explorer_facts(r: Random) -> None:
    """A layout with an index, perhaps at the end of a chain."""
    one, other = (_scene(r) for _ in range(2))
    found = checked(StrideExplorer, one, other)
    size = Layout(*(one[k] for k in ("shape", "stride", "storage_offset"))).span.stop
    x = torch.arange(size).as_strided(one["shape"], one["stride"], one["storage_offset"])
    assert found["contiguous"] == x.is_contiguous()
    if x.ndim == 4:
        assert found["channels_last"] == x.is_contiguous(memory_format=torch.channels_last)
    assert found["reached"] == x.unique().numel()
    assert found["holes"] == (x.max() - x.min() + 1 - found["reached"] if x.numel() else 0)
    assert found["overlaps"] == (found["reached"] < x.numel())
    if found["element"] is not None:
        assert found["element"] == x[tuple(one["index"])].item()
    if found["elements"] is not None:
        assert [*found["elements"]] == x.flatten().tolist()
    if x.ndim == 2:
        alike = len(x) > 1 and x.numel() > 0 and bool((x == x[0]).all())
        assert found["rows_alike"] == (alike and x.stride(0) == 0) == alike


def _scene(r: Random) -> Facts:
    x = Layout(*drawn.numbers(r), itemsize=r.choice((1, 4, 8)))
    index = None if 0 in x.shape else [r.randrange(n) for n in x.shape]
    chain = {"source": "x", "start": layout_json(x), "steps": r.choice([[".T"], [".T", ".T"]])}
    return layout_json(x) | {"index": index, "chain": r.choice([None, chain])}


LINES = """
y = x[1:, ::2]; z = x[:, 4:]; y = x; z = y; z = x.t().flatten(); y = x[:1].expand(3, -1); y += 100; x[0] = 7
z = y + 1; y[:] = 0; z = x[0].unfold(0, 3, 1); y = x.contiguous(); z.add_(1); x[::2] *= 2; y = x[:, ::2]
z = x[:, 1::2]; y = x[:2]; z = x[1:]; x[2:1] = 3; y = x.clone()
"""


def alias_facts(r: Random) -> None:
    """Some lines that torch takes."""
    states = []
    for _ in range(2):
        steps: list[str] = []
        for line in r.choices(re.split("; |\n", LINES.strip()), k=r.randint(0, 5)):
            try:
                AliasExplorer((4, 6), [*steps, line])
            except LayoutError:
                continue
            steps.append(line)
        states.append({"shape": [4, 6], "steps": steps})
    found = checked(AliasExplorer, states[0], states[1])
    w = AliasExplorer((4, 6), states[0]["steps"])
    names: dict[str, Any] = {"torch": torch}
    exec(w.code, names)
    x = {name: names[name] for name in "xyz" if name in names}
    assert w.facts == found and w.values == {name: t.tolist() for name, t in x.items()}
    assert len({t.untyped_storage().data_ptr() for t in x.values()}) == found["storages"]
    assert found["lines"] == len(w.steps)
    assert found["overlapping"] == tuple(name for name in x if has_internal_overlap(x[name]))


def reshape_facts(r: Random) -> None:
    """A layout, a new shape of as many elements, and a step of the walk."""
    states = []
    for _ in range(2):
        x = Layout([r.choice((1, 2, 3, 4)) for _ in range(r.randint(0, 3))], itemsize=4)
        x = x.permute(r.sample(range(x.ndim), x.ndim))
        sizes = [n for n in range(1, x.numel + 1) if x.numel % n == 0]
        first = r.choice(sizes)
        w = ReshapeStepper(x, r.choice([(first, -1), (x.numel,), (-1, 1, first)]))
        w.step = r.choice((0, -1))
        states.append(w._state)
    found = checked(ReshapeStepper, states[1], states[0])
    assert w.facts == found and found["finished"] == (w.step > 0)
    names: dict[str, Any] = {"torch": torch}
    exec(w.code, names)
    assert (names["x"].shape, names["x"].stride()) == (found["shape"], found["stride"])
    assert names["y"].shape == found["target"]
    assert found["viewable"] == shares_memory(names["x"].reshape(found["target"]), names["x"])
    if found["viewable"]:
        assert names["y"].stride() == found["new_stride"]
        assert names["y"][found["new_index"]] == names["x"][found["index"]] == found["element"]


_FAMILIES = (explorer_facts, alias_facts, reshape_facts)
CASES: dict[str, Callable[[Random], None]] = {family.__name__: family for family in _FAMILIES}
