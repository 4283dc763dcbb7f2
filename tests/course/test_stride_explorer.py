"""StrideExplorer without a browser: its state, its presets against torch, and `explore`."""

import pytest
import torch
from hypothesis import given

from stridekit import Layout, LayoutError, StrideExplorer, explore
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.widget import words
from tests.core.strategies import tensors

chain = Script("stride_explorer/chain.js")


@pytest.mark.parametrize(
    "x",
    [torch.empty(2, 3, 4), torch.empty(12), torch.empty(4, 6).t()],
    ids=["3 dims", "1 dim", "transposed"],
)
def test_presets_are_the_views_they_name(x):
    """Each preset's expression, run by torch, has exactly the preset's layout."""
    for preset in words.DEFAULTS + words.presetsOf(layout_json(Layout.of(x)), "x"):
        view = eval(preset["expression"], {"torch": torch, "x": x})
        assert layout_json(Layout.of(view)) == preset["layout"], preset["name"]


def test_names_of_presets():
    names = [preset["name"] for preset in words.DEFAULTS]
    assert names == [
        "slice",
        "row-major",
        "column-major",
        "transpose",
        "every 2nd",
        "diagonal",
        "broadcast",
        "windows",
    ]


def stages(*steps):
    """Return the stages of a chain from shape (5, 8)."""
    start = layout_json(Layout((5, 8), itemsize=4))
    return chain.stagesOf({"source": "x", "start": start, "steps": steps}, 40, None)


def suggestions(*steps):
    """Return the steps that are offered after a chain, and whether each one copies."""
    end = stages(*steps)[-1]
    return {suggestion["text"]: suggestion["copied"] for suggestion in chain.suggestions(end)}


def test_the_most_instructive_suggestions_come_first():
    assert list(suggestions())[:4] == [".T", "[1:]", "[:, ::2]", ".diagonal()"]


def test_suggestions_exist_and_change_something():
    assert ".contiguous()" not in suggestions()
    assert ".contiguous()" in suggestions(".T")
    assert ".expand(3, 8)" in suggestions("[:1]")
    assert ".view(-1)" not in suggestions(".T")
    for step in ("[0, 0]", "[0:0]", "[0]", ".view(5, 2, 2, 2)"):
        for text in suggestions(step):
            stages(step, text)  # is not refused


def test_suggestions_say_whether_they_copy():
    assert not suggestions()[".reshape(-1)"]
    assert suggestions(".T")[".reshape(-1)"]


@pytest.mark.parametrize(
    ("steps", "index", "flat"),
    [
        pytest.param([".T"], [2, 3], 17, id="a view has it"),
        pytest.param(["[1:]"], [0, 3], None, id="a view lacks it"),
        pytest.param([".T", ".contiguous()"], [3, 2], 17, id="a copy keeps its place"),
        pytest.param([".T", ".contiguous()", "[1:]"], [1, 3], 3, id="a view of a copy"),
        pytest.param(["[0:0]"], [0, 0], None, id="an empty view"),
    ],
)
def test_the_selected_element_is_followed_by_its_place_or_its_value(steps, index, flat):
    *_, before, after = stages(*steps)
    assert chain.followed(before, after, index) == flat


def test_observers_see_each_layout_and_a_change_by_hand_stays_in_the_last_copy():
    explorer = StrideExplorer()
    seen = []
    explorer.observe(lambda change: seen.append(change["new"]), "layout")
    explorer.chain = (".T", ".contiguous()", "[0]")
    with pytest.raises(LayoutError, match="reaches element 24, and the storage ends at 23"):
        explorer.layout = Layout((25,), (1,), 0, 4)
    assert seen == [explorer.layout]


SHAPES = [(4096, 1), (1, 4096), (64, 64, 1, 1), (300, 2, 2), (2, 300, 2), (40, 10, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_explore_offers_only_presets_that_fit_a_page(shape):
    """A long tensor is shown by its corner, without presets that the picture would refuse."""
    explorer = explore(torch.zeros(shape))
    for preset in explorer._presets:
        explorer.layout = Layout(**preset["layout"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.000535, "-5e-4"),
        (-0.0535, "-0.053"),
        (1234.5, "1234"),
        (-12345.6, "-12346"),
        (0.00123, "1.2e-3"),
        (3.0, "3"),
        (99999.0, "99999"),
    ],
)
def test_values_fit_a_box(value, text):
    """They have at most six characters, exponents without a leading zero, whole numbers unchanged."""
    assert explore(torch.tensor([value], dtype=torch.float64))._values == [text]


PLACES = "the numbers are places in the storage, not values"


@pytest.mark.parametrize(
    ("x", "note"),
    [
        (torch.zeros(60, 3), ""),
        (torch.zeros(70, 3), "t[:8, :3] of shape (70, 3)"),
        (torch.zeros(2, 3, 4, 5, 6, 2), "t[0, 0, :3, :3, :3, :2] of shape (2, 3, 4, 5, 6, 2)"),
        (torch.zeros(3, 2000).t()[:4], PLACES),
        (torch.zeros(5000), f"t[:32] of shape (5000,): {PLACES}"),
        (torch.zeros(2, 3, device="meta"), PLACES),
    ],
    ids=lambda x: "" if isinstance(x, str) else str(tuple(x.shape)),
)
def test_the_note_names_the_corner_and_says_if_numbers_are_not_values(x, note):
    """The repr has it, too."""
    explorer = explore(x, "t")
    assert explorer._note == note
    if note:
        assert repr(explorer).splitlines()[1] == f"  {note}"


@given(tensors(max_ndim=5, max_size=4))
def test_explore_takes_any_tensor(x):
    """Any strided tensor has a picture, of itself or of a corner, on its own storage."""
    explorer = explore(x)
    corner = eval(explorer.code, {"x": x})
    assert Layout.of(corner) == explorer.layout
    if x.ndim <= 4 and x.numel() <= 256 and max(x.shape, default=0) <= 16:
        assert explorer.layout == Layout.of(x)
