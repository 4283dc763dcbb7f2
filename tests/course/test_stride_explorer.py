"""StrideExplorer without a browser: its state, its presets against torch, and `explore`."""

import pytest
import torch
from hypothesis import given

from stridekit import Layout, LayoutError, StrideExplorer, explore
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.widget import words
from tests.core.strategies import tensors


def test_presets_are_the_views_they_name():
    """Each preset's expression, run by torch, has exactly the preset's layout."""
    for x in (torch.empty(2, 3, 4), torch.empty(12), torch.empty(4, 6).t()):
        for preset in words.DEFAULTS + words.presetsOf(layout_json(Layout.of(x)), "x"):
            made = eval(preset["expression"], {"torch": torch, "x": x})
            assert layout_json(Layout.of(made)) == preset["layout"], preset["name"]
    names = [preset["name"] for preset in words.DEFAULTS]
    assert names == ["slice", "row-major", "column-major", "transpose", "every 2nd", "diagonal",
                     "broadcast", "windows"]  # fmt: skip


chain = Script("stride_explorer/chain.js")


def stages(*steps):
    start = layout_json(Layout((5, 8), itemsize=4))
    return chain.stagesOf({"source": "x", "start": start, "steps": steps}, 40, None)


def test_what_is_suggested_exists_changes_something_and_says_where_it_copies():
    def offered(*steps):
        return {one["text"]: one["copied"] for one in chain.suggestions(stages(*steps)[-1])}

    assert [*offered()][:4] == [".T", "[1:]", "[:, ::2]", ".diagonal()"]
    assert ".contiguous()" not in offered() and ".contiguous()" in offered(".T")
    assert ".expand(3, 8)" in offered("[:1]") and ".view(-1)" not in offered(".T")
    assert (offered()[".reshape(-1)"], offered(".T")[".reshape(-1)"]) == (False, True)
    for step in ("[0, 0]", "[0:0]", "[0]", ".view(5, 2, 2, 2)"):
        assert all(stages(step, text) for text in offered(step))


@pytest.mark.parametrize(("steps", "index", "flat"), [
    ([".T"], [2, 3], 17),
    (["[1:]"], [0, 3], None),  # it is gone
    ([".T", ".contiguous()"], [3, 2], 17),
    ([".T", ".contiguous()", "[1:]"], [1, 3], 3),  # by its place on the copy's own storage
    (["[0:0]"], [0, 0], None),
])  # fmt: skip
def test_the_selected_element_is_followed_by_its_place_or_its_value(steps, index, flat):
    *_, before, after = stages(*steps)
    assert chain.followed(before, after, index) == flat


def test_observers_see_each_layout_and_a_change_by_hand_stays_in_the_last_copy():
    explorer, seen = StrideExplorer(), []
    explorer.observe(lambda change: seen.append(change["new"]), "layout")
    explorer.chain = (".T", ".contiguous()", "[0]")
    with pytest.raises(LayoutError, match="reaches element 24, and the storage ends at 23"):
        explorer.layout = Layout((25,), (1,), 0, 4)
    assert seen == [explorer.layout]


SHAPES = [(4096, 1), (1, 4096), (64, 64, 1, 1), (300, 2, 2), (2, 300, 2), (40, 10, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_explore_offers_only_what_fits_a_page(shape):
    """A long tensor is shown by its corner, without presets that the picture would refuse."""
    explorer = explore(torch.zeros(shape))
    for preset in explorer._presets:
        explorer.layout = Layout(**preset["layout"])


def test_values_fit_a_box():
    """At most six characters, exponents without a leading zero, whole numbers unchanged."""
    t = torch.tensor([-0.000535, -0.0535, 1234.5, -12345.6, 0.00123, 3, 99999], dtype=torch.float64)
    assert explore(t)._values == ["-5e-4", "-0.053", "1234", "-12346", "1.2e-3", "3", "99999"]


def test_the_note_says_what_is_shown():
    """The note tells the corner and the whole shape, or that numbers are not values; the repr has it."""
    places = "the numbers are places in the storage, not values"
    for x, note in [
        (torch.zeros(60, 3), ""),
        (torch.zeros(70, 3), "t[:8, :3] of shape (70, 3)"),
        (torch.zeros(2, 3, 4, 5, 6, 2), "t[0, 0, :3, :3, :3, :2] of shape (2, 3, 4, 5, 6, 2)"),
        (torch.zeros(3, 2000).t()[:4], places),
        (torch.zeros(5000), f"t[:32] of shape (5000,): {places}"),
        (torch.zeros(2, 3, device="meta"), places),
    ]:
        e = explore(x, "t")
        assert e._note == note
        assert repr(e).splitlines()[1] == f"  {note}" or not note


@given(tensors(max_ndim=5, max_size=4))
def test_explore_takes_any_tensor(x):
    """Any strided tensor has a picture, of itself or of a corner, on its own storage."""
    explorer = explore(x)
    corner = eval(explorer.code, {"x": x})
    assert Layout.of(corner) == explorer.layout
    if x.ndim <= 4 and x.numel() <= 256 and max(x.shape, default=0) <= 16:
        assert explorer.layout == Layout.of(x)
