"""AliasExplorer without a browser: its state. tests/live_lines.py compares what lines do with torch."""

import re
from random import Random

import pytest
import torch

from stridekit import Layout, LayoutError
from stridekit.widgets import AliasExplorer
from tests.typed_lines import line


def test_steps_are_the_state():
    """They are read, set and added to; the tensors follow."""
    explorer = AliasExplorer((4, 6), ["y = x[1:, ::2]"])
    explorer.steps += ("y += 100",)
    assert explorer.steps == ("y = x[1:, ::2]", "y += 100")
    assert explorer.tensors == {"x": Layout((4, 6), itemsize=8), "y": Layout((3, 3), (6, 2), 6, 8)}
    x = torch.arange(24).view(4, 6)
    x[1:, ::2] += 100
    assert explorer.values == {"x": x.tolist(), "y": x[1:, ::2].tolist()}
    with pytest.raises(LayoutError, match="z is not there: x, y are"):
        explorer.relation("z", "x")


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


def test_all_lines_have_a_limit():
    lines = ["y = x" + ".T" * 490] * 10
    assert len(AliasExplorer((4, 6), lines).steps) == 10
    with pytest.raises(LayoutError, match="the steps have more than 10,000 characters: run fewer"):
        AliasExplorer((4, 6), [*lines, *lines[:1]])


@pytest.mark.parametrize("shape", [(97,), (2,) * 5, (0, 97), (2**60, 0), (-1,)])
def test_x_fits_the_picture(shape):
    said = "is negative" if -1 in shape else "^x( would have|: numbers beyond)"
    with pytest.raises(LayoutError, match=said):
        AliasExplorer(shape, ())


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("a b c", "names are a sequence: write ('a', 'b', 'c')"),
        (("a", "b"), "names are ('a', 'b'): give three different ones, as ('ten', 'even', 'odd')"),
        (("a", "b", "a"), "names are ('a', 'b', 'a'): give three different ones"),
        (
            ("a", "b", "for"),
            "'for' is no name for a tensor here: it has letters, digits and _, 5 at most",
        ),
        (("a", "b", "1c"), "'1c' is no name for a tensor here"),
        (("a", "b", "é"), "'é' is no name for a tensor here"),
        (("a", "b", "longer"), "'longer' is no name for a tensor here"),
        (("a", "b", "torch"), "'torch' is no name for a tensor here"),
        ((1, 2, 3), "names[0] is 1, an int: give a text"),
    ],
)
def test_names_are_three_of_python(names, says):
    with pytest.raises(LayoutError, match=f"^{re.escape(says)}"):
        AliasExplorer((4, 6), (), names=names)
