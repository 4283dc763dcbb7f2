"""Walks over cache lines: their least costs, and the widget. tests/course/live.py counts them."""

from itertools import product

import pytest
import torch
from hypothesis import given

from stridekit import Layout
from stridekit.cost.warp import warp_sectors
from stridekit.widgets import TraversalExplorer
from stridekit.widgets.traversal_explorer.widget import Walk, Warp, costs
from tests.core.strategies import tensors
from tests.course.widget_kinds import rows

X = Layout((6, 8), itemsize=8)


def cost(order, upto=None, **replaced):
    """Return the costs of a walk over X, with some counts replaced."""
    visits = costs.visitsOf(Walk("x", X, order).json(), 4, 0)
    end = len(visits) if upto is None else upto
    return costs.countsOf(visits, 8, end) | replaced


def warp(itemsize, stride, offset):
    return costs.warpSentence(Warp(itemsize, stride, offset)._asdict())


NAMES = {
    "warp": warp,
    "order": costs.orderName,
    "counts": costs.countsSentence,
    "compared": costs.comparison,
    "cost": cost,
}


@pytest.mark.parametrize(("source", "sentence"), rows("costs of walks and warps in words"))
def test_costs_in_words(source, sentence):
    assert eval(source, NAMES) == sentence


# Some tensors whose walks have these names.
TENSORS = {
    "x": [torch.arange(48).view(6, 8), torch.arange(24)],
    "x.t()": [torch.arange(48).view(6, 8).t()],
    "x[:, ::2]": [torch.arange(96).view(6, 16)[:, ::2]],
    "x[::5]": [torch.arange(120)[::5]],
    "row.expand(6, 8)": [torch.arange(8).expand(6, 8)],
    "column.expand(6, 8)": [torch.arange(6).view(6, 1).expand(6, 8)],
    "x.permute(2, 0, 1)": [torch.arange(48).view(2, 6, 4).permute(2, 0, 1)],
}
MISSES = {
    "rows against columns": [6, 48],
    "transpose": [48, 6],
    "one loop, two layouts": [6, 48],
    "every 2nd column": [6, 12],
    "stride 5": [3, 15],
    "broadcast": [1, 1],
    "3-d permuted": [24, 6],
}


@pytest.mark.parametrize("preset", costs.PRESETS, ids=lambda preset: preset["name"])
def test_presets_are_the_tensors_they_name_and_cost_what_lessons_claim(preset):
    for walk in map(Walk.of, preset["walks"]):
        assert walk.layout in [Layout.of(x) for x in TENSORS[walk.name]]
    state = {**preset, "cache_lines": 4, "alignment": 0, "visit": 48}
    counts = costs.countsOfAll(state)
    assert [count["misses"] for count in counts] == MISSES[preset["name"]]


def test_without_own_walks_there_are_the_presets_alone():
    assert TraversalExplorer()._given == []


def test_ones_own_walks_are_the_first_to_choose():
    """They stand as they were given, a large one with its corner."""
    t = TraversalExplorer(torch.zeros(60, 50), "torch", other=torch.zeros(3))
    (preset,) = t._given
    assert preset == {"name": "as given", "lesson": "", "walks": t._state["walks"]}
    assert [walk["name"] for walk in preset["walks"]] == ["corner", "other"]


def test_a_large_tensor_is_walked_in_its_corner_and_the_note_names_it():
    t = TraversalExplorer(torch.zeros(2, 50, 60, 2, 9).permute(0, 2, 1, 4, 3))
    assert t.layout == Layout((4, 4, 4, 2), (18, 1080, 1, 9), 0, 4)
    assert "corner = x[0, :4, :4, :4, :2] of shape (2, 60, 50, 9, 2)" in repr(t)


@pytest.mark.parametrize(
    ("x", "layout"),
    [
        (torch.zeros(600)[::2], Layout((300,), (2,), 0, 4)),
        (torch.zeros(600), Layout((64,), itemsize=4)),
    ],
    ids=["small", "large"],
)
def test_only_a_large_tensor_is_cut_to_its_corner(x, layout):
    assert TraversalExplorer(x).layout == layout


def test_a_tensor_of_one_dim_has_one_walk():
    assert TraversalExplorer(torch.zeros(9)).other_layout is None


@given(tensors(max_ndim=5, max_size=4))
def test_any_tensor_has_a_walk(x):
    """The walk is over the tensor or its corner, within what the picture holds."""
    t = TraversalExplorer(x)
    t.visit = t.layout.numel
    assert t.layout.numel <= 512
    assert t.counts.visits == t.layout.numel


@pytest.mark.parametrize("shape", [(0, 10**18), (10**18, 0), (10**18, 10**18, 0)])
def test_sizes_beside_a_zero_are_not_walked(shape):
    """There is nothing to visit, however large the other sizes are."""
    explorer = TraversalExplorer(Layout(shape, itemsize=4))
    assert "0 visits" in repr(explorer)
    assert explorer.counts.lines == 0


def test_sectors_of_a_warp_are_those_of_the_package():
    for itemsize, stride, offset in product((1, 2, 4, 8, 16), (0, 1, 2, 3, 8, 32), (0, 1, 4, 31)):
        of_widget = costs.sectorsOf(Warp(itemsize, stride, offset)._asdict())
        result = warp_sectors(Layout((32,), (stride,), offset, itemsize))
        assert (result.sectors, result.minimum) == (of_widget["touched"], of_widget["minimum"])


def test_the_layout_is_that_of_the_first_preset_if_only_an_order_is_given():
    turned = TraversalExplorer(order=(1, 0))
    assert turned.layout == Layout((6, 8), itemsize=8)
    assert turned.order == (1, 0)
