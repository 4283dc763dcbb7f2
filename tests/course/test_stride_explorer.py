"""StrideExplorer without a browser: its state, its presets against torch, and `explore`."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import nn

from stridekit import Layout, LayoutError, StrideExplorer, explore
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.values import text_of
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
    return chain.stagesOf({"source": "x", "start": start, "steps": steps}, 40)


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
def test_each_preset_of_a_large_tensor_can_be_shown(shape):
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
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
    ],
)
def test_values_fit_a_box(value, text):
    """They have at most six characters, exponents without a leading zero, whole numbers unchanged."""
    assert explore(torch.tensor([value], dtype=torch.float64))._values == [text]


def test_the_facts_of_a_batch_of_images_are_those_of_the_whole():
    """The corner x[:3, :3, :3, :3] would not be contiguous, and would have holes."""
    explorer = explore(torch.zeros(64, 3, 224, 224), "images")
    assert explorer.facts["contiguous"] and not explorer.facts["overlaps"]
    assert (explorer.facts["holes"], explorer.facts["reached"]) == (0, 64 * 3 * 224 * 224)
    assert "✓ contiguous" in repr(explorer)
    assert "reaches 9,633,792 of 9,633,792 elements" in repr(explorer)
    explorer.chain = ".permute(0, 2, 3, 1)"
    assert explorer.layout.shape == (64, 224, 224, 3)
    assert "✗ not contiguous: dim 3 has stride 50176, 1 is needed" in repr(explorer)
    explorer.chain += (".contiguous()",)
    assert "✓ contiguous" in repr(explorer)
    assert explorer.code == "images.permute(0, 2, 3, 1).contiguous()"


WINDOWS = [  # a text, and the window and the index that it leads to from x[0, 0, 0:8, 0:8]
    ("5, 1, 100, 40", "x[5, 1, 96:104, 36:44]", (5, 1, 100, 40)),
    ("x[63, -1, -1, 0]", "x[63, 2, 216:224, 0:8]", (63, 2, 223, 0)),
    ("[:, 2, 7, 3:]", "x[0:8, 2, 7, 3:11]", (0, 2, 7, 3)),
    ("9:, :, 200:, 5", "x[9:13, 0:3, 200:204, 5]", (9, 0, 200, 5)),
    ("(7,)", "x[7, 0, 0:8, 0:8]", (7, 0, 1, 1)),
    (":", "x[0:32, 0, 1, 1]", (0, 0, 1, 1)),
]


@pytest.mark.parametrize(("text", "window", "index"), WINDOWS)
def test_a_text_moves_the_window_and_chooses_its_dims(text, window, index):
    explorer = explore(torch.zeros(64, 3, 224, 224))
    explorer.window = text
    assert (explorer.window, explorer.index) == (window, index)
    assert f"the picture shows {window}" in repr(explorer)


def test_the_window_follows_the_index_and_stays_while_it_is_inside():
    explorer = explore(torch.zeros(500, 500))
    windows = []
    for index in ((7, 7), (8, 7), (8, 300), (0, 299), (499, 499)):
        explorer.index = index
        windows.append(explorer.window)
    assert windows == [
        "x[0:8, 0:8]",
        "x[1:9, 0:8]",
        "x[1:9, 293:301]",
        "x[0:8, 293:301]",
        "x[492:500, 492:500]",
    ]


def test_values_of_a_large_tensor_are_read_where_the_window_is():
    x = torch.arange(300.0 * 300).view(300, 300) / 4
    x[200, 100] = float("nan")
    explorer = explore(x.t())
    assert explorer._values == [] and len(explorer._seen) == 64
    explorer.index = (100, 200)
    assert explorer._seen[str(200 * 300 + 100)] == "nan"
    assert explorer._seen[str(200 * 300 + 99)] == "15025"
    explorer.chain = ".contiguous()"  # which has the same values in other places
    explorer.index = (101, 200)
    assert explorer._seen[str(200 * 300 + 101)] == "15025"
    assert len(explorer._seen) == 64
    x[200, 101] = 7
    explorer.set_state({"_state": {**explorer._state, "values": False}})
    explorer.index = (101, 199)
    assert explorer._seen[str(200 * 300 + 101)] == "15025"  # places need no values
    explorer.set_state({"_state": {**explorer._state, "values": True}})
    assert explorer._seen[str(200 * 300 + 101)] == "7"


def test_a_storage_that_shrank_has_no_values_any_more():
    x = torch.ones(300, 300)
    explorer = explore(x)
    x.untyped_storage().resize_(0)
    explorer.index = (200, 200)
    assert {*explorer._seen.values()} == {""}


BLOCK = np.arange(24.0).reshape(4, 6)
ARRAYS = {
    "whole": BLOCK,
    "negative strides": BLOCK[::-1, ::-2],
    "columns first": np.asfortranarray(BLOCK),
    "a part of a part": BLOCK[1:].T[2:],
    "one element": BLOCK[2, 3:4].reshape(()),
    "no element": BLOCK[:0],
    "repeated": np.broadcast_to(BLOCK[0], (3, 6)),
    "read-only": np.frombuffer(BLOCK.tobytes()).reshape(6, 4)[:, 1],
    "large": np.arange(200_000.0).reshape(40, 5, 1000)[:, ::-1],
}


@pytest.mark.parametrize("dtype", ["float64", ">f4", "uint16", "bool", "complex64"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_numpy_have_their_values_and_code_that_makes_them(kind, dtype):
    array = ARRAYS[kind]
    if dtype != "float64":
        array = array.astype(dtype, order="K")
    explorer = explore(array, "a")
    assert explorer.layout == Layout.of(array)
    assert explorer.facts["contiguous"] == array.flags.c_contiguous
    again = eval(explorer.code, {"a": array, "np": np})
    assert Layout.of(again) == Layout.of(array) and np.array_equal(again, array)
    if array.size and explorer._has_values and not explorer._seen:
        element = Layout.of(array).offset((0,) * array.ndim)
        assert explorer._values[element] == text_of(array[(0,) * array.ndim].item())
    if explorer._seen:
        first = array[0, 0, 0].item()
        assert explorer._seen[str(explorer.layout.storage_offset)] == text_of(first)


def test_an_array_with_negative_strides_says_that_torch_has_none():
    explorer = explore(BLOCK[::-1], "a")
    assert "✗ no torch tensor: the stride of dim 0 is negative" in repr(explorer)
    assert explorer.facts["holes"] == 0
    explorer.chain = ".contiguous()"
    assert "no torch tensor" not in repr(explorer)


PLACES = "the numbers are places in the storage, not values"
HUGE = "x[:8, :8] of shape (1000000000, 1000000000), which has more elements than a browser counts exactly"


@pytest.mark.parametrize(
    ("make", "note", "values"),
    [
        (lambda: torch.arange(6), "", []),
        (lambda: torch.rand(2, requires_grad=True) * 0, "", ["0", "0"]),
        (lambda: nn.Parameter(torch.ones(2)), "", ["1", "1"]),
        (lambda: torch.zeros(2, 3, device="meta"), PLACES, []),
        (lambda: np.array([None, "b"]), PLACES, []),
        (lambda: np.array(["one", "b"]), "", ["one", "b"]),
        (lambda: np.zeros(1, "datetime64[s]"), "", ["1970-01-01 …"]),
        (lambda: Layout((2, 3)), PLACES, []),
        (lambda: torch.zeros(1000, 1000, 1000, device="meta"), PLACES, []),
        (lambda: torch.tensor([True, False]), "", ["True", "False"]),
        (lambda: torch.tensor([1.5]).bfloat16(), "", ["1.5"]),
        (lambda: torch.tensor([1.5]).to(torch.float8_e4m3fn), "", ["1.5"]),
        (lambda: torch.tensor([1 + 2j]).conj(), "pending", ["1+2j"]),
        (lambda: torch.tensor([1 + 2j]).conj().imag, "pending", ["1", "2"]),
        (lambda: torch.ones(1).expand(3, 4), "", ["1"]),
        (lambda: torch.ones(()).expand(10**9, 10**9), HUGE, ["1"]),
    ],
)
def test_tensors_of_all_kinds_have_values_or_say_that_they_have_none(make, note, values):
    explorer = explore(make())
    assert explorer._values == values
    assert explorer._note == note or (note == "pending" and "still pending" in explorer._note)
    if note:
        assert explorer._note in repr(explorer)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: torch.eye(3).to_sparse(), "x.to_dense()"),
        (lambda: torch.eye(3).to_sparse_csr(), "x.to_dense()"),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "x.unbind()"),
        (lambda: [1, 2], "a list has no layout"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_tensor_without_strides_is_refused_with_what_to_do(make, why):
    with pytest.raises((LayoutError, TypeError), match=re.escape(why)):
        explore(make())


@given(tensors(max_ndim=5, max_size=4))
def test_explore_takes_any_tensor(x):
    """Any strided tensor has a picture on its own storage."""
    explorer = explore(x)
    again = eval(explorer.code, {"x": x})
    assert Layout.of(again) == explorer.layout == Layout.of(x)
