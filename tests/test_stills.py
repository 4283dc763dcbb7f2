"""The still pictures of all widgets, as GitHub shows them: their texts and their rings."""

import base64
from itertools import combinations, dropwhile

import pytest
import torch
from matplotlib.colors import to_rgba

from stridekit import Layout, StrideExplorer, explore
from stridekit.widgets import (
    AliasExplorer,
    AttentionExplorer,
    CacheExplorer,
    ChannelsLastExplorer,
    Diagnose,
    FormatTracer,
    Predict,
    ReshapeStepper,
    Sort,
    TraversalExplorer,
)
from stridekit.widgets.channels_last_explorer import words
from stridekit.widgets.copy_tracer.still import BAR, COPIED
from tests.widget_kinds import KINDS, NAMES, make


def texts(w):
    """All that is written in the still picture, in the order in which it was drawn, and then under it."""
    (ax,) = w._still().axes
    within = [*dropwhile(lambda text: text.get_family() == ["monospace"], ax.texts)]
    under = ax.texts[: len(ax.texts) - len(within)]
    return [text.get_text() for text in (*within, *under)]


def ringed(w, width):
    """The texts in the middle of the boxes with lines of this width."""
    (ax,) = w._still().axes
    found = []
    for box in ax.patches:
        if box.get_linewidth() == width and hasattr(box, "get_x"):
            x, y = box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2
            found += [t.get_text() for t in ax.texts if abs(t.get_position()[0] - x) < 3
                      and abs(t.get_position()[1] - y) < 4]  # fmt: skip
    return found


# Every rank, no elements, sizes of 1, more than a picture has room for.
PICTURES = [
    *(f"explore(torch.zeros({shape}))" for shape in [(), (0,), (3,), (16, 16), (64, 64), (4096,)]),
    *("explore(torch.zeros(8, 8, 8, 8))", "explore(torch.arange(24).view(2, 3, 4).mT)"),
    *("AliasExplorer((4, 6), [])", "AliasExplorer((4, 6), ['y = x[:0]'])"),
    *("AliasExplorer()", "AliasExplorer((4, 6), ['y = x.view(2, 2, 2, 3)', 'z = y[0, 0, 0, 0]'])"),
    *(f"ChannelsLastExplorer({shape})" for shape in [(2, 3, 2, 4), (1, 1, 1, 1), (3, 4, 3, 5)]),
    *(
        "FormatTracer()",
        "FormatTracer((2, 1, 4, 4), ['unsqueeze', 'cat', 'view'])",
        "FormatTracer(layers=[])",
    ),
    *(f"ReshapeStepper(torch.zeros({shape}), -1)" for shape in [(), (1, 1), (2, 1, 3), (2,) * 6]),
    *("ReshapeStepper(torch.zeros(0, 2), 0)", "ReshapeStepper(torch.zeros(4, 8)[:, :6], (2, 12))"),
    *("TraversalExplorer()", "TraversalExplorer(torch.zeros(50, 60).t(), 'torch', cache_lines=1)"),
    *("TraversalExplorer(torch.zeros(0, 3))", "TraversalExplorer(torch.tensor(1.0))"),
    "TraversalExplorer(torch.zeros(6, 8), other=torch.zeros(3, dtype=torch.int16), alignment=8)",
    "TraversalExplorer(warp=(4, 3, 1))",
    "AttentionExplorer(1, 1, 1, 2, attention='SDPA')",
    "AttentionExplorer(2, 4, 4, 4, kv_heads=2, rotary='rot(x)*sin + x*cos')",
    "AttentionExplorer(2, 4, 4, 4, packing='HD3', rotary='x*cos + rot(x)*sin')",
    "CacheExplorer(0, batch=1, heads=1)",
    "CacheExplorer(8, heads=3, order='tokens first', block=4)",
    *("CopyTracer(audit(lambda: 1))", KINDS["CopyTracer"].make),
    "CopyTracer(audit(nn.Sequential(*[nn.ReLU() for _ in range(99)]), torch.zeros(3)), 50)",
    *("Diagnose()", "Diagnose('$x$ is {no} message\\ud800')", "Diagnose('😀 ' * 9999)"),
    "Sort(torch.tensor(1.0), 'x', also='x[None]', moves=[('x', 'view')])",
    f"Sort(torch.ones(4, 6), *{[f'x.expand(2, 4, 6)[..., :{1 + k}]' for k in range(24)]}, also='-x')",
]


@pytest.mark.parametrize("source", PICTURES)
def test_a_picture_and_a_text_stand_beside_the_live_view(source):
    data, metadata = eval(source, NAMES | {"explore": explore})._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert metadata == {"image/png": {"width": 900}, "needs_background": "light"}
    assert "0x" not in data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind != "ExercisePanel"]
)  # a card has HTML
def test_a_picture_and_a_text_are_the_same_on_every_run(kind):
    (data, _), (again, _) = (make(kind)._repr_mimebundle_() for _ in range(2))
    assert data["image/png"] == again["image/png"] and data["text/plain"] == again["text/plain"]


def test_a_layout_with_its_strides_offset_and_bytes():
    """Each stride by its own dim, in whatever order they nest; rows by their bytes; the element twice."""
    e = StrideExplorer()
    e.layout, e.index = Layout((3, 4), (6, 1), 2, itemsize=8), (2, 3)
    said = texts(e)
    assert [text for text in said if " = " in text and "as_strided" not in text] == [
        "stride[1] = 1", "stride[0] = 6", "storage_offset = 2", "  2 + 2*6 + 3*1 = 17"]  # fmt: skip
    assert [text for text in said if text.endswith(" B")] == ["0 B", "128 B", "256 B"]
    assert ringed(e, 2.4) == ["17", "17"]
    assert said[-len(repr(e).splitlines()) :] == repr(e).splitlines()
    e.layout = Layout((3, 0), (1, 1), 0, 4)
    assert "no elements: a size is 0" in texts(e) and ringed(e, 2.4) == []


def test_ones_own_values_and_planes():
    """Values stand for the numbers of the elements; planes have their index; of a large one the corner."""
    t = (torch.arange(12.0) / 2).view(3, 2, 2)
    said = texts(explore(t, "t"))
    assert said[:12] == ["0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5", "5.5"]
    assert [text for text in said if text.endswith(":, :]")] == [f"[{k}, :, :]" for k in range(3)]
    e = StrideExplorer(Layout((30, 30), itemsize=4))
    assert texts(e)[-1] == "  the picture shows the leading (16, 16) of (30, 30)"
    assert ringed(e, 2.4) == ["465"]  # on the tape alone
    e.index = (2, 3)
    assert ringed(e, 2.4) == ["63", "63"]


def test_walks_with_their_loads():
    """The loads of a walk and of each line; boxes at their bytes; lines that are left out are counted."""
    e = TraversalExplorer(Layout((6, 8), itemsize=8), cache_lines=2, alignment=8)
    e.visit = 20
    said = texts(e)
    assert said[:2] == ["x: row by row, dims (0, 1)", "3 cache lines loaded, 3 would do"]
    assert "20 cache lines loaded, 6 would do" in said
    loads = [text for text in said if text.startswith("×")]
    assert loads[:7] == ["×1", "×1", "×1", "×0", "×0", "×0", "×0"]
    assert sum(int(text[1:]) for text in loads[7:]) == e.other_counts.misses
    (ax,) = e._still().axes
    first = next(t for t in ax.texts if t.get_text() == "0")
    line = next(t for t in ax.texts if t.get_text() == "line 0")
    byte = (450 - 130) / 64  # a pane is half of the picture, with room for names and loads
    assert first.get_position()[0] == pytest.approx(line.get_position()[0] + 8 + byte * (8 + 4))
    assert ringed(e, 2.4) == ["19", str(torch.arange(48).view(6, 8).t().flatten()[19].item())]
    for lines, more in ((25, "and 1 more line"), (27, "and 3 more lines")):
        assert more in texts(TraversalExplorer(torch.zeros(lines, 16)[:, :2], (0, 1)))


def test_a_warp_with_its_sectors():
    """Those that are touched, by number, then the lanes."""
    (*said, _) = texts(TraversalExplorer(warp=(8, 2, 4)))
    assert said == [*map(str, range(1, 17)), *map(str, range(32))]


def test_lanes_and_storages():
    """Each box says how often a name owns it, each tape its storage, each tensor its numbers."""
    e = AliasExplorer((2, 3), ["y = x[:1].expand(2, -1)", "z = x[:, 1:].clone()"])
    said = texts(e)
    assert [text for text in said if text.startswith("storage")] == [
        *["storage_offset 0"] * 3, "storage 1: x, y", "storage 2: z"]  # fmt: skip
    assert said.count("y×2") == 3 and said.count("z") == 1 + 4 and "x" in said
    assert "shape (2, 3), stride (0, 1)" in said and "shape (2, 2), stride (2, 1)" in said
    assert "storage: x" in texts(AliasExplorer((2, 3), []))
    assert "storage_offset 1" in texts(AliasExplorer((2, 3), ["y = x[:, 1:]"]))


def test_what_is_found_and_needed():
    """With the sign of a boundary that holds or not; each new dim has the stride that it got, or none."""
    said = texts(ReshapeStepper(Layout((2, 4, 6), (40, 8, 1), 3, 4), (2, 2, 12)))
    assert [text for text in said if " found" in text][:2] == ["≠  8 found", "≠  40 found"]
    assert [text for text in said if text.endswith("needed")][:2] == ["6 needed", "32 needed"]
    assert "no stride" in said and "1 · 12 = 12 of 6" in said
    view = texts(ReshapeStepper(Layout((2, 4, 6), (48, 12, 2), 3, 4), (8, 3, 2)))
    assert [text for text in view if " found" in text][:2] == ["=  12 found", "=  48 found"]
    assert [view[view.index(f"new dim {d}") + 2] for d in range(3)] == [
        f"stride {n}" for n in (12, 4, 2)
    ]


def test_both_orders_with_their_strides():
    """Titles say stride and distance; the selected element has the heavier ring, its group the other."""
    e = ChannelsLastExplorer((2, 3, 2, 3))
    e.index = (1, 2, 0, 1)
    said = texts(e)
    assert [text for text in said if "   " in text] == [
        "contiguous_format   stride (18, 6, 3, 1)   6 elements apart",
        "channels_last   stride (18, 1, 9, 3)   side by side",
    ]
    assert said[:5] == ["c = 0: a", "c = 1: b", "c = 2: c", "n = 0", "n = 1"]
    (ax,) = e._still().axes
    widths = [box.get_linewidth() for box in ax.patches]
    assert widths.count(2.8) == 3 and widths.count(1.5) == 3 * (
        len(words.group((2, 3, 2, 3), e.index, "pixel")) - 1
    )


def test_layers_with_both_outputs():
    """Heads, then the code of each row with the format, the stride and the note of both outputs."""
    t = FormatTracer(layers=["unsqueeze", "conv2d", "view"])
    head, *said = texts(t)
    assert head == "x of shape (2, 3, 4, 4)"
    formats = [
        text for text in said if text in ("contiguous_format", "channels_last", "contiguous")
    ]
    assert formats[:4] == ["contiguous_format", "channels_last"] * 2
    assert formats[4:] == ["contiguous_format"] * 2 + ["contiguous"] * 2
    assert "taken for contiguous_format; channels_last is lost: its flag" in " ".join(said)
    assert texts(FormatTracer(layers=["view"]))[-1] == (
        "torch refuses: C is innermost in memory, not W"
    )


def test_memories_with_what_they_cost():
    """Arrows beside the steps; a label where a vector begins; the followed element, and where it goes."""
    w = AttentionExplorer(1, 2, 2, 2, packing="H3D", rotary="rot(x)*sin + x*cos", attention="SDPA")
    w.followed = ("k", 0, 1, 1, 0)
    said = texts(w)
    assert said[:10] == ["linear", "new: 96 bytes", "heads", "view", "rotary", "new: 64 bytes",
                         "attention", "new: 32 bytes", "merge", "copy out: 32 bytes"]  # fmt: skip
    rows = [text.split() for text in said[10:18]]
    assert rows[:2] == [["qa", "ka", "va", "qb", "kb", "vb"]] * 2
    assert rows[2:] == [["a0", "a1"], ["b0", "b1"]] * 2 + [["a0", "b0"], ["a1", "b1"]]
    (ax,) = w._still().axes
    widths = [box.get_linewidth() for box in ax.patches]
    assert widths.count(2.4) == 2 and widths.count(1.2) == 2 * 4  # in qkv and k; in out and y


def test_caches_with_their_curves():
    """Each memory in rows, the newest token in a frame, and the curves named by their ends."""
    w = CacheExplorer(3, batch=1)
    said = texts(w)
    assert said[:19] == [
        *("cat", "a0", "a1", "a2", "b0", "b1", "b2"),
        *("in place", "a0", "a1", "a2", *[""] * 5, "b0", "b1", "b2"),
    ]
    assert "── cat: 67,239,936 bytes" in said and "1 to 512 tokens" in said
    (ax,) = w._still().axes
    assert [box.get_linewidth() for box in ax.patches].count(2.0) == 3 * 2
    assert len(ax.lines) == 3


def test_a_question_without_its_answer():
    """The choices, and where to answer; never the why."""
    said = texts(Predict("Is `x.t()` a view?", True, why="It is.", experiment="x.t()._base is x"))
    assert said == ["predict", "Is x.t() a view?", "○  True", "○  False",
                    "commit to an answer where this lesson runs; then it is shown"]  # fmt: skip


def test_a_game_with_all_of_its_cards():
    """Each stands in the pile, or in its bin, and no two overlap."""
    w = make("Sort")
    w.moves = [("x + 0", "copy")]
    assert texts(w)[2:] == ["view", "copy", "it depends", "x.t()", "x.reshape(-1)", "x + 0",
                            "sort them where this lesson runs"]  # fmt: skip
    w = Sort(torch.ones(4, 6), *[f"x.expand(2, 4, 6)[..., :{1 + k}]" for k in range(24)], also="-x")
    for moves in ((), [*w.answers.items()]):
        w.moves = moves
        (ax,) = w._still().axes
        boxes = [p.get_bbox() for p in ax.patches if p.get_facecolor()[:3] == (1, 1, 1)]
        assert len(boxes) == 24 and max(box.x1 for box in boxes) <= 900
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_run_has_its_copies_and_their_way():
    """A row has its module, its line, its layout, and what it did; marks lead to the chosen one."""
    w = make("CopyTracer")
    said = texts(w)
    assert said[0] == "audit of Sequential: 1 finding; 1 of 1 copies changed a layout, 96 B"
    for one in ("the input", "(6, 4): (1, 6)", "new, 96 B", "copies 96 B, finding 1"):
        assert one in said
    assert [one for one in said if one in {*"●○◆"}] == ["●", "◆"]
    (bar,) = [box for box in w._still().axes[0].patches if box.get_facecolor() == to_rgba(COPIED)]
    assert bar.get_width() == BAR
    w.row = 0  # which the way begins with
    assert [one for one in texts(w) if one in {*"●○◆"}] == ["●", "◆"]
    w.row = 2
    assert [one for one in texts(w) if one in {*"●○◆"}] == []


def test_a_diagnosis_of_any_length():
    """As the text has it, below what to do; a long one ends with dots."""
    w = Diagnose("step must be greater than zero")
    said = texts(w)
    assert said[:3] == ["diagnose", "Paste an error or a warning where this lesson runs",
                        "or on its page, which needs no kernel"]  # fmt: skip
    assert said[3:-1] == str(w.found).splitlines()
    w.text = (
        f"Some tensors share memory, this will lead to duplicate memory on disk: [{'a, ' * 6000}]"
    )
    assert len(texts(w)) < 50 and texts(w)[-2] == "…"
