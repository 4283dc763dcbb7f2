"""StrideExplorer without a browser: its state, its presets against torch, its picture and its text."""

import base64
import re
import subprocess
from pathlib import Path

import pytest
import torch
from hypothesis import given

from stridekit import Layout, LayoutError, StrideExplorer, explore
from stridekit.widgets.stride_explorer import presets
from tests.needs import NODE, needs_node
from tests.refused import NO_LAYOUT, NO_MEMORY
from tests.strategies import tensors


@needs_node
def test_javascript():
    """All of tests/js, by node's own runner: geometry, the state on its way, pages without a kernel."""
    tests = Path(__file__).parent / "js"
    assert NODE, "node is not installed"
    run = subprocess.run(
        [NODE, "--test", *sorted(map(str, tests.glob("*.mjs")))], capture_output=True
    )
    assert run.returncode == 0, run.stdout.decode()


def test_presets_are_the_views_they_name():
    """Each preset's expression, run by torch, has exactly the preset's layout."""
    for preset in presets.default_presets(itemsize=4):
        assert Layout.of(eval(preset.expression, {"torch": torch})) == preset.layout, preset.name
    for x in (
        torch.arange(24.0).view(2, 3, 4),
        torch.arange(12.0),
        torch.arange(24.0).view(4, 6).t(),
    ):
        for preset in presets.presets(Layout.of(x), "as given", "x"):
            assert Layout.of(eval(preset.expression, {"x": x})) == preset.layout, preset.name
    names = [preset.name for preset in presets.default_presets(4)]
    assert names == ["row-major", "column-major", "transpose", "every second column", "diagonal",
                     "broadcast", "windows"]  # fmt: skip


def test_code_reproduces_the_picture():
    """What `.code` says, torch makes."""
    explorer = StrideExplorer()
    explorer.layout = Layout((3, 4, 2), (8, 2, 1), 5, 4)
    assert Layout.of(eval(explorer.code)) == explorer.layout


def test_layout_and_index_follow_each_other():
    """A smaller layout keeps the index inside; an empty one has none; observers see each change."""
    explorer, seen = StrideExplorer(), []
    explorer.observe(lambda change: seen.append(change["new"]), "layout")
    explorer.index = (4, -1)
    assert explorer.index == (4, 7)
    explorer.layout = Layout((2, 3), (8, 1), 0, 4)
    assert explorer.index == (1, 2) and seen == [explorer.layout]
    explorer.layout = Layout((0, 3), itemsize=4)
    assert explorer.index is None
    explorer.layout = Layout((), (), 7, 4)
    assert explorer.index == ()


def test_the_front_end_is_followed():
    """What JavaScript sets arrives as a Layout, and is not sent back changed."""
    explorer, sent = StrideExplorer(), []
    explorer.observe(lambda change: sent.append(change["new"]), "_state")
    state = {"shape": [8, 5], "stride": [1, 8], "storage_offset": 0, "itemsize": 4, "index": [7, 4],
             "chain": None}  # fmt: skip
    explorer.set_state({"_state": state})
    assert explorer.layout == Layout((8, 5), (1, 8), 0, 4) and explorer.index == (7, 4)
    assert sent == [state]  # as it came, once


def test_a_chain_from_python():
    """Its layout, its code and its text; torch makes the same of the code."""
    explorer = StrideExplorer()
    explorer.chain = ("permute(1, 0)", "[1:]", "contiguous()")
    assert explorer.chain == (".permute(1, 0)", "[1:]", ".contiguous()")
    assert explorer.code == "torch.arange(40.).view(5, 8).permute(1, 0)[1:].contiguous()"
    assert Layout.of(eval(explorer.code)) == explorer.layout == Layout((7, 5), (5, 1), 0, 4)
    text = repr(explorer)
    assert (
        "  .contiguous(): shape (7, 5), stride (5, 1), storage_offset 0, copy: new storage of 35 elements"
        in text
    )
    assert "reaches 35 of 35 elements" in text
    explorer.chain = ()
    assert explorer.layout == Layout((5, 8), (8, 1), 0, 4) and explorer.chain == ()
    assert explorer.code.endswith(".as_strided((5, 8), (8, 1), 0)")


def test_a_layout_set_by_hand_ends_the_chain():
    """as_strided of the storage on screen: the first one, or the last copy's."""
    explorer = StrideExplorer()
    explorer.chain = (".T", "[1:]")
    explorer.layout = Layout((2, 3), (8, 1), 0, 4)
    assert (
        explorer.chain == () and explorer.code == "torch.arange(40.).as_strided((2, 3), (8, 1), 0)"
    )
    explorer.chain = (".T", ".contiguous()", "[0]")
    explorer.layout = Layout((3, 2), (1, 1), 2, 4)
    assert explorer.chain == (".T", ".contiguous()", ".as_strided((3, 2), (1, 1), 2)")
    assert Layout.of(eval(explorer.code)) == explorer.layout
    with pytest.raises(LayoutError, match="reaches element 6, and the storage ends at 5"):
        explorer.layout = Layout((7,), (1,), 0, 4)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ((".T", ".view(40)"), "dims 0 and 1 do not merge"),
        (("[9]",), "index 9 is out of range for dim 0 of size 5"),
        ((".expand(2, 2, 2, 5, 8)",), "has 5 dims and 320 elements: the picture holds 4 and 4096"),
        ((".permute(1, 0) T",), 'cannot read ".permute(1, 0) T" at "T": write operations as'),
        ((".permute(1, 0).view(-1)",), "dims 0 and 1 do not merge"),
        (("__class__",), "__class__ is not known here"),
        ((".view(open('x'))",), "cannot read"),
        ((".transpose(0)",), "cannot apply .transpose(0): "),
        ((".as_strided((5, 9), (8, 1))",), "reaches element 40, and the storage ends at 39"),
    ],
)
def test_a_refused_chain_changes_nothing(steps, sentence):
    """The error says why; chain and layout stay."""
    explorer = StrideExplorer()
    explorer.chain = (".T",)
    before = explorer._state
    with pytest.raises((LayoutError, IndexError), match=re.escape(sentence)):
        explorer.chain = steps
    assert explorer._state is before and explorer.chain == (".T",)


def test_a_chain_from_the_front_end_is_followed():
    """The steps arrive with the layout, once, and the still picture shows the copy's own storage."""
    explorer, sent = StrideExplorer(), []
    explorer.observe(lambda change: sent.append(change["new"]), "_state")
    start = {"shape": [5, 8], "stride": [8, 1], "storage_offset": 0, "itemsize": 4}
    chain = {"source": "x", "start": start, "steps": [".T", ".reshape(-1)"]}
    state = {"shape": [40], "stride": [1], "storage_offset": 0, "itemsize": 4}
    state |= {"index": [3], "chain": chain}
    explorer.set_state({"_state": state})
    assert explorer.chain == (".T", ".reshape(-1)") and explorer.code == "x.T.reshape(-1)"
    assert sent == [state]
    assert len(explorer._repr_mimebundle_()[0]["image/png"]) > 1000


def test_a_chain_of_ones_own_values():
    """A copy carries the values along, in their new order."""
    explorer = explore(torch.tensor([[10, 20], [30, 40]]), "t")
    explorer.chain = [".t()", ".contiguous()"]
    assert explorer.code == "t.t().contiguous()"
    assert explorer._stages()[-1].labels == ["10", "30", "20", "40"]


@pytest.mark.parametrize(
    ("layout", "sentence"),
    [
        (Layout((5, 9), (8, 1)), "reaches element 40, and the storage ends at 39"),
        (Layout((2,) * 5), "has 5 dims and 32 elements: the picture holds 4 and 4096"),
        (Layout((5000,), (0,)), "has 1 dims and 5000 elements"),
        (
            Layout((4096, 1), (0, 1)),
            "has 4096 rows: the picture holds 256; explore(t) shows a corner",
        ),
        (Layout((4,), (-1,), 3), "stride (-1,) is negative: torch has no such tensors"),
    ],
)
def test_an_illegal_layout_changes_nothing(layout, sentence):
    """The error says why, and the picture stays."""
    explorer = StrideExplorer()
    before = explorer.layout
    with pytest.raises(LayoutError, match=re.escape(sentence)):
        explorer.layout = layout
    assert explorer.layout == before
    with pytest.raises(IndexError, match="index 5 is out of range for dim 0 of size 5"):
        explorer.index = (5, 0)


@pytest.mark.parametrize(
    "shape", [(4096, 1), (1, 4096), (64, 64, 1, 1), (300, 2, 2), (2, 300, 2), (40, 10, 3)]
)
def test_explore_offers_only_what_fits_a_page(shape):
    """Of a long tensor the corner, and no preset that the picture would refuse."""
    explorer = explore(torch.zeros(shape))
    for preset in explorer._presets:
        explorer.layout = Layout(**preset["layout"])


def test_explore_shows_a_tensor_with_its_values():
    """The storage's size, the tensor's own values, and a name in the code."""
    t = (torch.arange(12) * 1.5).view(3, 4)[:, 1:]
    explorer = explore(t, "t")
    assert explorer.layout == Layout.of(t) and explorer.storage_size == 12
    assert explorer.code == "t.as_strided((3, 3), (4, 1), 1)"
    assert explorer._values == [
        "0",
        "1.5",
        "3",
        "4.5",
        "6",
        "7.5",
        "9",
        "10.5",
        "12",
        "13.5",
        "15",
        "16.5",
    ]
    assert explore(torch.arange(5))._values == []  # the numbers of the elements say it already


def test_values_fit_a_box():
    """Six signs at the most, the exponent without its zero, whole numbers as they are."""
    t = torch.tensor([-0.000535, -0.0535, 1234.5, -12345.6, 0.00123, 3, 99999], dtype=torch.float64)
    assert explore(t)._values == ["-5e-4", "-0.053", "1234", "-12346", "1.2e-3", "3", "99999"]


def test_explore_shows_a_corner_of_a_large_tensor():
    """And says so, in the note and in the text."""
    t = torch.zeros(100, 200, dtype=torch.bfloat16)
    explorer = explore(t.t())
    assert explorer.layout == Layout((8, 8), (1, 200), 0, 2)
    assert "x[:8, :8] of shape (200, 100)" in repr(explorer)
    deep = explore(torch.zeros(2, 3, 4, 5, 6, 7))
    assert deep.layout.ndim == 4 and "x[0, 0, :3, :3, :3, :3]" in repr(deep)


def test_the_note_says_what_is_shown():
    """A corner and of what, numbers in place of values, both or neither; in the text too."""
    places = "the numbers are places in the storage, not values"
    for x, note in [
        (torch.zeros(60, 3), ""),
        (torch.zeros(70, 3), "t[:8, :3] of shape (70, 3)"),
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


@pytest.mark.parametrize("name", NO_LAYOUT)
def test_explore_refuses(name):
    """What has no layout, with the reason."""
    with pytest.raises((TypeError, LayoutError)):
        explore(NO_LAYOUT[name][0])


def test_explore_without_memory():
    """Meta and fake tensors have a layout and no values."""
    for x, _ in NO_MEMORY.values():
        assert explore(x).layout == Layout((3, 4), (4, 1), 0, 4)
        assert explore(x)._values == []


def test_picture_and_text_where_there_is_no_kernel():
    """A PNG and a text stand beside the live view, and are the same each time."""
    make = lambda: explore((torch.arange(24) * 2).view(2, 3, 4).permute(2, 0, 1))  # noqa: E731
    (data, metadata), (again, _) = make()._repr_mimebundle_(), make()._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["image/png"] == again["image/png"] and data["text/plain"] == again["text/plain"]
    assert metadata["image/png"]["width"] == 900
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "0x" not in data["text/plain"]


@pytest.mark.parametrize(
    "shape", [(), (0,), (3,), (16, 16), (64, 64), (4096,), (2, 3, 4), (8, 8, 8, 8)]
)
def test_pictures_of_every_rank(shape):
    """No rank and no empty layout breaks the still picture."""
    data, _ = explore(torch.zeros(shape))._repr_mimebundle_()
    assert len(data["image/png"]) > 1000
