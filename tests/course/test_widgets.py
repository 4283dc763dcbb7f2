"""Every widget type: its refusals, its messages, and how its texts and its sheet share a page."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import ipywidgets
import pytest
import torch

from stridekit import Layout, LayoutError
from stridekit.widgets import AliasExplorer, assets
from stridekit.widgets.alias_explorer.widget import LONGEST_NAME
from stridekit.widgets.traversal_explorer.widget import Counts, Warp
from tests.course.widget_kinds import KINDS, NAMES, WRONG, make, rows

REFUSALS = (ValueError, IndexError, TypeError)
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_every_public_name_that_can_be_set_is_in_the_table():
    in_table: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for kind, name, _, _ in WRONG:
        in_table[kind].add(name)
    for kind in KINDS:
        settable = set()
        for name, member in vars(NAMES[kind]).items():
            if is_settable(member) and not name.startswith("_"):
                settable.add(name)
        assert settable == in_table[kind], kind


def is_settable(member):
    """Return whether a member of a class is a property with a setter, or a trait that can be set."""
    return getattr(member, "fset", None) or getattr(member, "read_only", True) is False


@pytest.mark.parametrize(("kind", "name", "source", "refusal"), WRONG)
def test_a_wrong_value_is_refused_and_changes_nothing(kind, name, source, refusal):
    w = make(kind)
    before = (json.dumps(w._state), repr(w))
    with pytest.raises(REFUSALS, match=re.escape(refusal)):
        setattr(w, name, eval(source, NAMES))
    assert (json.dumps(w._state), repr(w)) == before


@pytest.mark.parametrize(("call", "refusal"), rows("refused calls"))
def test_an_impossible_call_is_refused(call, refusal):
    with pytest.raises(REFUSALS, match=re.escape(refusal)):
        eval(call, NAMES)


@every_kind
def test_a_misspelt_name_is_refused(kind):
    """Setting it would change nothing on screen, without a word."""
    with pytest.raises(AttributeError, match=f"{kind} has no shapes that could be set"):
        make(kind).shapes = (2, 3)


T = torch.tensor
ROWS = Layout((6, 8), itemsize=8)
TURNED = Layout((6, 4), (1, 6), 0, 4)
CUT = Layout((2, 3), (8, 1), 0, 4)
CHAIN = (".permute(1, 0)", "[1:]", ".contiguous()")
CODE = f"torch.arange(40.).view(5, 8)[:4, 2:]{''.join(CHAIN)}"
AGAIN = ".as_strided((2, 3), (8, 1), 0)"


class Change(NamedTuple):
    """The properties that are set in turn, and those that follow; "said" is a part of the repr."""

    kind: str
    settings: dict[str, Any]
    expected: dict[str, Any]


CHANGES = [
    Change(
        kind="StrideExplorer",
        settings={"index": (3, -1)},
        expected={"index": (3, 5)},
    ),
    Change(
        kind="StrideExplorer",
        settings={
            "index": (3, 5),
            "layout": CUT,
        },
        expected={"index": (1, 2)},
    ),
    Change(
        kind="StrideExplorer",
        settings={"index": T([1, 2]).numpy()},
        expected={"index": (1, 2)},
    ),
    Change(
        kind="StrideExplorer",
        settings={"layout": Layout((0, 3), itemsize=4)},
        expected={"index": None},
    ),
    Change(
        kind="StrideExplorer",
        settings={"layout": Layout((), (), 7, 4)},
        expected={"index": ()},
    ),
    Change(
        kind="StrideExplorer",
        settings={"layout": torch.zeros(4, 6).t()},
        expected={"layout": TURNED},
    ),
    Change(
        kind="StrideExplorer",
        settings={"chain": ("permute(1, 0)[1:]", "contiguous()")},
        expected={
            "chain": CHAIN,
            "code": CODE,
        },
    ),
    Change(
        kind="StrideExplorer",
        settings={"chain": CHAIN},
        expected={
            "layout": Layout((5, 4), itemsize=4),
            "said": "20 of 20",
        },
    ),
    Change(
        kind="StrideExplorer",
        settings={"chain": CHAIN},
        expected={"said": "copy: new storage of 20 elements\n"},
    ),
    Change(
        kind="StrideExplorer",
        settings={
            "chain": CHAIN[:2],
            "layout": CUT,
        },
        expected={
            "chain": (),
            "said": f"(40.){AGAIN}",
        },
    ),
    Change(
        kind="StrideExplorer",
        settings={
            "chain": CHAIN,
            "layout": CUT,
        },
        expected={
            "chain": (*CHAIN, AGAIN),
            "code": CODE + AGAIN,
        },
    ),
    Change(
        kind="ReshapeStepper",
        settings={"index": T([1, 2]).numpy()},
        expected={
            "index": (1, 2),
            "new_index": (1, 0),
        },
    ),
    Change(
        kind="ReshapeStepper",
        settings={
            "step": -1,
            "target": (4, -1),
        },
        expected={
            "step": 0,
            "target": (4, 6),
            "why": "",
        },
    ),
    Change(
        kind="ReshapeStepper",
        settings={
            "layout": TURNED,
            "target": (24,),
            "step": -1,
        },
        expected={
            "result": None,
            "step": 4,
        },
    ),
    Change(
        kind="ReshapeStepper",
        settings={
            "target": (2, 2, 6),
            "layout": TURNED,
        },
        expected={"target": (2, 2, 6)},
    ),
    Change(
        kind="ReshapeStepper",
        settings={
            "index": (3, 5),
            "layout": Layout((6,)),
        },
        expected={
            "target": (6,),
            "index": (5,),
        },
    ),
    Change(
        kind="ReshapeStepper",
        settings={"layout": torch.empty(0, 3)},
        expected={
            "index": None,
            "new_index": None,
        },
    ),
    Change(
        kind="ReshapeStepper",
        settings={"layout": Layout((2, 6), (250, 1))},
        expected={"said": "stride (250, 1)"},
    ),
    Change(
        kind="ChannelsLastExplorer",
        settings={"shape": torch.Size([2, 2, 2, 2])},
        expected={"shape": (2, 2, 2, 2)},
    ),
    Change(
        kind="ChannelsLastExplorer",
        settings={
            "index": (1, -1, 1, 3),
            "shape": (1, 2, 3, 2),
        },
        expected={"index": (0, 1, 1, 1)},
    ),
    Change(
        kind="ChannelsLastExplorer",
        settings={"highlight": "channel"},
        expected={"said": "8 pixels of channel 1 of image"},
    ),
    Change(
        kind="FormatTracer",
        settings={"layers": "relu"},
        expected={
            "layers": ("relu",),
            "said": "F.relu(x): contiguous_format | ",
        },
    ),
    Change(
        kind="FormatTracer",
        settings={
            "layers": ("view", "relu"),
            "shape": [2, 1, 4, 4],
        },
        expected={"layers": ("relu", "view")},
    ),
    Change(
        kind="TraversalExplorer",
        settings={},
        expected={
            "layout": ROWS,
            "other_layout": ROWS,
            "order": (0, 1),
        },
    ),
    Change(
        kind="TraversalExplorer",
        settings={},
        expected={
            "visit": 24,
            "cache_lines": 4,
            "alignment": 0,
            "warp": None,
        },
    ),
    Change(
        kind="TraversalExplorer",
        settings={
            "visit": T(10),
            "alignment": 32,
        },
        expected={"counts": Counts(10, 2, 2, 7, 80, 128)},
    ),
    Change(
        kind="TraversalExplorer",
        settings={
            "visit": 48,
            "cache_lines": 8,
        },
        expected={"other_counts": Counts(48, 6, 6, 6, 384, 384)},
    ),
    Change(
        kind="TraversalExplorer",
        settings={"layout": torch.zeros(4, 16).t()},
        expected={
            "visit": 64,
            "other_order": (1, 0),
        },
    ),
    Change(
        kind="TraversalExplorer",
        settings={
            "layout": TURNED,
            "order": "torch",
        },
        expected={
            "order": (1, 0),
            "other_layout": TURNED,
        },
    ),
    Change(
        kind="TraversalExplorer",
        settings={"other_layout": Layout((3,))},
        expected={
            "other_order": (0,),
            "layout": ROWS,
        },
    ),
    Change(
        kind="TraversalExplorer",
        settings={"warp": Warp(stride=2)},
        expected={
            "warp": (4, 2, 0),
            "said": "8 sectors, 4 would do",
        },
    ),
    Change(
        kind="AttentionExplorer",
        settings={"heads": T(4)},
        expected={
            "heads": 4,
            "kv_heads": 4,
        },
    ),
    Change(
        kind="AttentionExplorer",
        settings={
            "kv_heads": 1,
            "heads": 3,
        },
        expected={"kv_heads": 1},
    ),
    Change(
        kind="AttentionExplorer",
        settings={"followed": ("k", *T([1, 1, -1, 0]))},
        expected={"followed": ("k", 1, 1, 2, 0)},
    ),
    Change(
        kind="AttentionExplorer",
        settings={
            "followed": ("v", 1, 1, 2, 3),
            "batch": 1,
        },
        expected={"followed": ("v", 0, 1, 2, 3)},
    ),
    Change(
        kind="AttentionExplorer",
        settings={
            "followed": ("v", 1, 1, 2, 3),
            "kv_heads": 1,
        },
        expected={"followed": ("v", 1, 0, 2, 3)},
    ),
    Change(
        kind="AttentionExplorer",
        settings={
            "packing": "HD3",
            "attention": "SDPA",
        },
        expected={"said": "dim 3 of q has stride 3"},
    ),
    Change(
        kind="CacheExplorer",
        settings={},
        expected={
            "tokens": 3,
            "batch": 2,
            "heads": 2,
            "block": 2,
            "order": "heads first",
        },
    ),
    Change(
        kind="CacheExplorer",
        settings={
            "block": T(4),
            "tokens": 0,
        },
        expected={
            "block": 4,
            "said": "cat: nothing is written yet",
        },
    ),
]


@pytest.mark.parametrize(Change._fields, CHANGES, ids=str)
def test_a_property_that_is_set_is_read_and_the_others_follow(kind, settings, expected):
    w = make(kind)
    for name, value in settings.items():
        setattr(w, name, value)
    for name, value in expected.items():
        if name == "said":
            assert value in repr(w)
        else:
            assert getattr(w, name) == value
    assert json.dumps(w._state)


# Characters of JSON in a saved notebook: the texts of a widget type, and the state of a widget.
MOST_FOR_A_TYPE = 110_000
MOST_FOR_A_WIDGET = 25_000


@every_kind
def test_widgets_of_a_type_share_their_texts_and_stay_small(kind):
    """Nothing else is sent: no texts with a widget, and no further models."""
    w = make(kind)
    twin = make(kind)
    assert w._code is twin._code
    assert w._esm == twin._esm
    assert w._key == twin._key
    assert len(w._esm) < 700
    assert assets.unpack(w._code._zip) == [w._module, *w._styles]
    assert not re.search(r"^ *(//|/?\*)", w._module, re.MULTILINE)  # comments stay at home
    state = w.get_state()
    assert len(json.dumps(state)) < MOST_FOR_A_WIDGET
    assert len(json.dumps(w._code.get_state())) < MOST_FOR_A_TYPE
    models = [name for name, value in state.items() if str(value).startswith("IPY_MODEL_")]
    assert models == ["_code"]


def test_other_texts_have_another_name():
    """Two widget types, or two versions of one on a page, do not replace each other."""
    packs = [
        assets.pack("a", "b"),
        assets.pack("a", "c"),
        assets.pack("d", "b"),
    ]
    names = {assets.pack_name(packed) for packed in packs}
    assert len(names) == len(packs)
    keys = {make(kind)._key for kind in KINDS}
    assert len(keys) == len(KINDS)


def test_widgets_are_made_after_all_were_closed():
    before = make("Predict")
    ipywidgets.Widget.close_all()
    after = make("Predict")
    assert after._code.comm is not None
    assert after._code is not before._code
    assert after._key == before._key


PACKAGE = Path(assets.__file__).parents[1]
SHEETS = sorted(PACKAGE.glob("widgets/*/widget.css"))


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_a_sheet_is_one_block_of_its_own_kind(path):
    """Everything but keyframes is nested in a selector with the class of that widget alone."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    replaced = 1
    while replaced:
        text, replaced = re.subn(r"\{[^{}]*\}", ";", text)
    heads = [head.strip() for head in text.split(";") if head.strip()]
    (selector,) = [head for head in heads if not head.startswith("@keyframes")]
    assert re.fullmatch(r"\.stridekit\.sk-[a-z]+:is\(#sk-host, \*\)", selector)


def test_no_class_of_the_site_is_one_of_a_widget():
    """A rule for the page around the lessons would reach the widgets in them."""
    classes = {}
    for folder in ("export", "widgets"):
        sheets = (PACKAGE / folder).rglob("*.css")
        text = "".join(path.read_text(encoding="utf-8") for path in sheets)
        classes[folder] = {*re.findall(r"\.((?:sk|is)-[\w-]+)", text)}
    assert "sk-done" in classes["export"]
    assert "sk-box" in classes["widgets"]
    assert classes["export"] & classes["widgets"] == set()


def test_a_name_of_a_tensor_has_a_greatest_length():
    longest = "a" * LONGEST_NAME
    assert AliasExplorer((2,), (), names=(longest, "y", "z")).code.startswith(f"{longest} = ")
    with pytest.raises(LayoutError, match=f"{LONGEST_NAME} at most"):
        AliasExplorer((2,), (), names=(f"{longest}a", "y", "z"))
