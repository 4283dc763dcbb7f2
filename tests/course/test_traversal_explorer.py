"""Walks over cache lines: their least costs, and the widget. tests/course/live.py counts them."""

import pytest
import torch
from hypothesis import given

from stridekit import Layout
from stridekit.widgets import TraversalExplorer
from stridekit.widgets.traversal_explorer.widget import Walk, Warp, costs
from tests.core.strategies import tensors
from tests.course.widget_kinds import rows

X = Layout((6, 8), itemsize=8)


@pytest.mark.parametrize(("source", "said"), rows("costs of walks and warps in words"))
def test_costs_in_words(source, said):
    assert eval(source, WORDS) == said


def cost(order, upto=None, **other):
    """What a walk over X costs, and counts put in its place."""
    visits = costs.visitsOf(Walk("x", X, order).json(), 4, 0)
    return costs.countsOf(visits, 8, len(visits) if upto is None else upto) | other


WORDS = {"warp": lambda *given: costs.warpSentence(Warp(*given)._asdict())}
WORDS |= {
    "order": costs.orderName,
    "counts": costs.countsSentence,
    "compared": costs.comparison,
    "cost": cost,
}


def test_presets_are_the_tensors_they_name():
    """Each walk's name, run by torch on some x, has the layout; and the numbers that the lessons claim."""
    named = {
        "x": [torch.arange(48).view(6, 8), torch.arange(24)],
        "x.t()": [torch.arange(48).view(6, 8).t()],
        "x[:, ::2]": [torch.arange(96).view(6, 16)[:, ::2]],
        "x[::5]": [torch.arange(120)[::5]],
        "row.expand(6, 8)": [torch.arange(8).expand(6, 8)],
        "column.expand(6, 8)": [torch.arange(6).view(6, 1).expand(6, 8)],
        "x.permute(2, 0, 1)": [torch.arange(48).view(2, 6, 4).permute(2, 0, 1)],
    }
    misses = []
    for preset in costs.PRESETS:
        for walk in map(Walk.of, preset["walks"]):
            assert walk.layout in [Layout.of(x) for x in named[walk.name]], walk
        shown = {**preset, "cache_lines": 4, "alignment": 0, "visit": 48}
        misses.append([count["misses"] for count in costs.countsOfAll(shown)])
    assert misses == [[6, 48], [48, 6], [6, 48], [6, 12], [3, 15], [1, 1], [24, 6]]


def test_ones_own_walks_are_the_first_to_choose():
    """As they were given, the corner of a large one; without them there are the presets alone."""
    assert TraversalExplorer()._given == []
    t = TraversalExplorer(torch.zeros(60, 50), "torch", other=torch.zeros(3))
    (first,) = t._given
    assert (first["name"], first["lesson"], first["walks"]) == ("as given", "", t._state["walks"])
    assert [walk["name"] for walk in first["walks"]] == ["corner", "other"]


def test_a_large_tensor_is_walked_in_its_corner():
    """And the note says which; without dims to compare there is one walk."""
    t = TraversalExplorer(torch.zeros(2, 50, 60, 2, 9).permute(0, 2, 1, 4, 3))
    assert t.layout == Layout((4, 4, 4, 2), (18, 1080, 1, 9), 0, 4)
    assert "corner = x[0, :4, :4, :4, :2] of shape (2, 60, 50, 9, 2)" in repr(t)
    assert TraversalExplorer(torch.zeros(600)[::2]).layout == Layout((300,), (2,), 0, 4)
    assert TraversalExplorer(torch.zeros(600)).layout == Layout((64,), itemsize=4)
    assert TraversalExplorer(torch.zeros(9)).other_layout is None


@given(tensors(max_ndim=5, max_size=4))
def test_any_tensor_has_a_walk(x):
    """Of itself or of its corner, within what the picture holds."""
    t = TraversalExplorer(x)
    t.visit = t.layout.numel
    assert t.layout.numel <= 512 and t.counts.visits == t.layout.numel


def test_sizes_beside_a_zero_are_not_walked():
    """There is nothing to visit, however large the other sizes are."""
    for shape in ((0, 10**18), (10**18, 0), (10**18, 10**18, 0)):
        explorer = TraversalExplorer(Layout(shape, itemsize=4))
        assert "0 visits" in repr(explorer) and explorer.counts.lines == 0
