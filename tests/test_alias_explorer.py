"""AliasExplorer without a browser: its state. tests/live_lines.py compares what lines do with torch."""

import re
from pathlib import Path
from random import Random

import nbformat
import pytest
import torch

from stridekit import Goal, Layout, LayoutError
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


# The goals of lesson 02: for each explorer, lines of which each reaches the next goal -------------------

LESSON = Path(__file__).parent.parent / "notebooks" / "02_views.ipynb"
REACHED_BY = [
    [["y[:, :2] += 100"], ["z = x[:, 1::2]"], ["y = y.clone()"]],
    [["z = z.clone()", "z += 1"], ["z = x[:, 1:]", "y = z[1:]"], ["y = x[0].unfold(0, 3, 1)"]],
]


def test_each_goal_of_the_lesson_is_reached_by_typed_lines():
    """In torch's own words, and no goal by those that reach another."""
    cells = nbformat.read(LESSON, as_version=4).cells
    sources = [cell.source for cell in cells if "\nAliasExplorer(" in cell.source]
    assert len(sources) == len(REACHED_BY)
    for source, turns in zip(sources, REACHED_BY, strict=True):
        names = {"AliasExplorer": AliasExplorer, "Goal": Goal}
        exec(source.replace("\nAliasExplorer(", "\nexplorer = AliasExplorer("), names)
        explorer = names["explorer"]
        assert len(turns) == len(explorer.goals)
        for k, lines in enumerate(turns):
            assert [*explorer.goals.values()] == [j < k for j in range(len(turns))]
            for one in lines:
                explorer.steps += (one,)
        assert all(explorer.goals.values())
