"""AliasExplorer with names of one's own. tests/live_lines.py compares what lines do with torch."""

import re
from random import Random

import torch

from stridekit import LayoutError
from stridekit.widgets import AliasExplorer
from tests.typed_lines import line

NAMES = ("ten", "even", "odd")


def renamed(value):
    """A text, or all texts of a list, with x, y and z called otherwise."""
    if isinstance(value, (list, tuple)):
        return [renamed(item) for item in value]
    return re.sub(r"\b[xyz]\b", lambda found: NAMES["xyz".index(found[0])], value)


def test_names_change_nothing_else():
    """The same lines with other names: the same values, and the same sentences about those names."""
    for seed in range(25):
        r, plain, mine = (
            Random(seed),
            AliasExplorer((4, 6), ()),
            AliasExplorer((4, 6), (), names=NAMES),
        )
        for _ in range(6):
            text = line(r, {name: torch.tensor(x) for name, x in plain.values.items()})
            said = []
            for explorer, typed in ((plain, text), (mine, renamed(text))):
                try:
                    explorer.steps += (typed,)
                    said.append(repr(explorer).splitlines())
                except LayoutError as error:
                    said.append([str(error)])
            joined = [[re.sub(" +# ", "  # ", text) for text in texts] for texts in said]
            assert joined[1] == renamed(joined[0]), plain.steps
            assert [*mine.values.values()] == [*plain.values.values()]


def test_an_explorer_keeps_its_names():
    """In its state, its code and its facts, where x, y, z stand for the three."""
    assert "names" not in AliasExplorer()._state
    explorer = AliasExplorer((10,), ["even = ten[::2]", "odd = ten[1::2]"], names=NAMES)
    explorer.steps += ("even += 1",)
    assert explorer.code == (
        "ten = torch.arange(10).view(10)\neven = ten[::2]\nodd = ten[1::2]\neven += 1"
    )
    found = explorer.facts
    assert found["changed"] == ("even", "ten")
    assert [found[key] for key in ("y_and_x", "z_and_x", "z_and_y")] == ["inside", "inside", "none"]
    assert explorer.relation("odd", "even").startswith("odd and even share no element")
    explorer.set_state({"_state": {**explorer._state, "steps": []}})
    assert explorer.tensors.keys() == {"ten"} and explorer._state["names"] == [*NAMES]
