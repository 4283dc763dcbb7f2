"""Every kind of widget: what it refuses, what it sends, and how its texts and its sheet share a page."""

import json
import re
from typing import Any

import ipywidgets
import pytest
import torch

from stridekit import Layout
from stridekit.widgets import assets
from stridekit.widgets.base import Code
from stridekit.widgets.traversal_explorer.widget import Counts, Warp
from tests.course.widget_kinds import KINDS, NAMES, WRONG, make, rows

REFUSALS = (ValueError, IndexError, TypeError)
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_every_public_name_that_can_be_set_is_in_the_table():
    for kind in KINDS:
        public = {name: x for name, x in vars(NAMES[kind]).items() if not name.startswith("_")}
        settable = {name for name, x in public.items() if getattr(x, "fset", None)}
        settable |= {name for name, x in public.items() if getattr(x, "read_only", True) is False}
        assert settable == {name for of, name, *_ in WRONG if of == kind}, kind


@pytest.mark.parametrize(("kind", "name", "value", "said"), WRONG)
def test_a_wrong_value_is_refused_and_changes_nothing(kind, name, value, said):
    w = make(kind)
    before = (json.dumps(w._state), repr(w))
    with pytest.raises(REFUSALS, match=re.escape(said)):
        setattr(w, name, eval(value, NAMES))
    assert (json.dumps(w._state), repr(w)) == before


@pytest.mark.parametrize(("call", "said"), rows("refused calls"))
def test_a_call_that_cannot_be_is_refused(call, said):
    with pytest.raises(REFUSALS, match=re.escape(said)):
        eval(call, NAMES)


@every_kind
def test_a_misspelt_name_is_refused(kind):
    """It would change nothing on screen, without a word."""
    with pytest.raises(AttributeError, match=f"{kind} has no shapes that could be set"):
        make(kind).shapes = (2, 3)


T, ROWS, TURNED = torch.tensor, Layout((6, 8), itemsize=8), Layout((6, 4), (1, 6), 0, 4)
CUT, CHAIN = Layout((2, 3), (8, 1), 0, 4), (".permute(1, 0)", "[1:]", ".contiguous()")
CODE = f"torch.arange(40.).view(5, 8)[:4, 2:]{''.join(CHAIN)}"
AGAIN = ".as_strided((2, 3), (8, 1), 0)"
# A kind, what is set, one after the other, and what then holds; "said" stands in its text.
FOLLOWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("StrideExplorer", {"index": (3, -1)}, {"index": (3, 5)}),
    ("StrideExplorer", {"index": (3, 5), "layout": CUT}, {"index": (1, 2)}),
    ("StrideExplorer", {"index": T([1, 2]).numpy()}, {"index": (1, 2)}),
    ("StrideExplorer", {"layout": Layout((0, 3), itemsize=4)}, {"index": None}),
    ("StrideExplorer", {"layout": Layout((), (), 7, 4)}, {"index": ()}),
    ("StrideExplorer", {"layout": torch.zeros(4, 6).t()}, {"layout": TURNED}),
    ("StrideExplorer", {"chain": ("permute(1, 0)[1:]", "contiguous()")}, {"chain": CHAIN, "code": CODE}),
    ("StrideExplorer", {"chain": CHAIN}, {"layout": Layout((5, 4), itemsize=4), "said": "20 of 20"}),
    ("StrideExplorer", {"chain": CHAIN}, {"said": "copy: new storage of 20 elements\n"}),
    ("StrideExplorer", {"chain": CHAIN[:2], "layout": CUT}, {"chain": (), "said": f"(40.){AGAIN}"}),
    ("StrideExplorer", {"chain": CHAIN, "layout": CUT}, {"chain": (*CHAIN, AGAIN), "code": CODE + AGAIN}),
    ("ReshapeStepper", {"index": T([1, 2]).numpy()}, {"index": (1, 2), "new_index": (1, 0)}),
    ("ReshapeStepper", {"step": -1, "target": (4, -1)}, {"step": 0, "target": (4, 6), "why": ""}),
    ("ReshapeStepper", {"layout": TURNED, "target": (24,), "step": -1}, {"result": None, "step": 4}),
    ("ReshapeStepper", {"target": (2, 2, 6), "layout": TURNED}, {"target": (2, 2, 6)}),
    ("ReshapeStepper", {"index": (3, 5), "layout": Layout((6,))}, {"target": (6,), "index": (5,)}),
    ("ReshapeStepper", {"layout": torch.empty(0, 3)}, {"index": None, "new_index": None}),
    ("ReshapeStepper", {"layout": Layout((2, 6), (250, 1))}, {"said": "stride (250, 1)"}),
    ("ChannelsLastExplorer", {"shape": torch.Size([2, 2, 2, 2])}, {"shape": (2, 2, 2, 2)}),
    ("ChannelsLastExplorer", {"index": (1, -1, 1, 3), "shape": (1, 2, 3, 2)}, {"index": (0, 1, 1, 1)}),
    ("ChannelsLastExplorer", {"highlight": "channel"}, {"said": "8 pixels of channel 1 of image"}),
    ("FormatTracer", {"layers": "relu"}, {"layers": ("relu",), "said": "F.relu(x): contiguous_format | "}),
    ("FormatTracer", {"layers": ("view", "relu"), "shape": [2, 1, 4, 4]}, {"layers": ("relu", "view")}),
    ("TraversalExplorer", {}, {"layout": ROWS, "other_layout": ROWS, "order": (0, 1)}),
    ("TraversalExplorer", {}, {"visit": 24, "cache_lines": 4, "alignment": 0, "warp": None}),
    ("TraversalExplorer", {"visit": T(10), "alignment": 32}, {"counts": Counts(10, 2, 2, 7, 80, 128)}),
    ("TraversalExplorer", {"visit": 48, "cache_lines": 8}, {"other_counts": Counts(48, 6, 6, 6, 384, 384)}),
    ("TraversalExplorer", {"layout": torch.zeros(4, 16).t()}, {"visit": 64, "other_order": (1, 0)}),
    ("TraversalExplorer", {"layout": TURNED, "order": "torch"}, {"order": (1, 0), "other_layout": TURNED}),
    ("TraversalExplorer", {"other_layout": Layout((3,))}, {"other_order": (0,), "layout": ROWS}),
    ("TraversalExplorer", {"warp": Warp(stride=2)}, {"warp": (4, 2, 0), "said": "8 sectors, 4 would do"}),
    ("AttentionExplorer", {"heads": T(4)}, {"heads": 4, "kv_heads": 4}),
    ("AttentionExplorer", {"kv_heads": 1, "heads": 3}, {"kv_heads": 1}),
    ("AttentionExplorer", {"followed": ("k", *T([1, 1, -1, 0]))}, {"followed": ("k", 1, 1, 2, 0)}),
    ("AttentionExplorer", {"followed": ("v", 1, 1, 2, 3), "batch": 1}, {"followed": ("v", 0, 1, 2, 3)}),
    ("AttentionExplorer", {"followed": ("v", 1, 1, 2, 3), "kv_heads": 1}, {"followed": ("v", 1, 0, 2, 3)}),
    ("AttentionExplorer", {"packing": "HD3", "attention": "SDPA"}, {"said": "dim 3 of q has stride 3"}),
    ("CacheExplorer", {}, {"tokens": 3, "batch": 2, "heads": 2, "block": 2, "order": "heads first"}),
    ("CacheExplorer", {"block": T(4), "tokens": 0}, {"block": 4, "said": "cat: nothing is written yet"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "held"), FOLLOWS, ids=str)
def test_what_is_set_is_read_and_the_rest_follows(kind, given, held):
    w = make(kind)
    for name, value in given.items():
        setattr(w, name, value)
    for name, value in held.items():
        assert value in repr(w) if name == "said" else value == getattr(w, name)
    assert json.dumps(w._state)


# What a saved notebook has of each: of a kind its texts, as JSON, and of a widget its state.
MOST_FOR_A_KIND, MOST_FOR_A_WIDGET = 80_000, 25_000


@every_kind
def test_widgets_of_a_kind_share_their_texts_and_stay_small(kind):
    """Nothing else is sent: no texts with a widget, and no further models."""
    w, twin = make(kind), make(kind)
    assert w._code is twin._code and repr(w._code._key) in w._esm and w._esm == twin._esm
    assert assets.unpack(w._code._zip) == [w._module, *w._styles]
    assert not re.search(r"^ *(//|/?\*)", w._module, re.MULTILINE)  # comments stay at home
    state = w.get_state()
    assert len(json.dumps(state)) < MOST_FOR_A_WIDGET
    assert len(json.dumps(w._code.get_state())) < MOST_FOR_A_KIND
    assert [name for name, value in state.items() if "IPY_MODEL_" in str(value)] == ["_code"]


def test_other_texts_have_another_name():
    """Kinds, or two versions on one page, do not replace each other."""
    packs = [assets.pack(module, style) for module, style in (("a", "b"), ("a", "c"), ("d", "b"))]
    assert len({*map(assets.pack_name, packs)}) == 3
    assert len({make(kind)._code._key for kind in KINDS}) == len(KINDS)
    assert "import {" not in Code.class_traits()["_esm"].default_value


def test_widgets_are_made_after_all_were_closed():
    before = make("Predict")._code
    ipywidgets.Widget.close_all()
    after = make("Predict")._code
    assert after.comm is not None and after is not before and after._key == before._key


SHEETS = sorted(path for path in assets._HERE.rglob("*.css") if path.name != "base.css")


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_a_sheet_is_one_block_of_its_own_kind(path):
    """Everything but keyframes is nested in a selector with the class of that widget alone."""
    text, nested = path.read_text(encoding="utf-8"), 1
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    while nested:
        text, nested = re.subn(r"\{[^{}]*\}", ";", text)
    heads = [head.strip() for head in text.split(";") if head.strip()]
    (kind,) = [head for head in heads if not head.startswith("@keyframes")]
    assert re.fullmatch(r"\.stridekit\.sk-[a-z]+:is\(#sk-host, \*\)", kind)


def test_no_class_of_the_site_is_one_of_a_widget():
    """A rule for the page around the lessons would reach the widgets in them."""
    classes = {}
    for room in ("export", "widgets"):
        sheets = assets._HERE.parent.joinpath(room).rglob("*.css")
        text = "".join(path.read_text(encoding="utf-8") for path in sheets)
        classes[room] = {*re.findall(r"\.((?:sk|is)-[\w-]+)", text)}
    assert "sk-done" in classes["export"] and "sk-box" in classes["widgets"]
    assert classes["export"] & classes["widgets"] == set()
