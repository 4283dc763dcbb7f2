"""Every kind of widget: what it refuses, what it sends, and how its texts and its sheet share a page."""

import json
import re
from colorsys import rgb_to_hls
from itertools import combinations

import ipywidgets
import pytest
import torch

from stridekit import Layout, widgets
from stridekit.widgets import assets, palette
from stridekit.widgets.base import Code, StateWidget
from tests.widget_kinds import KINDS, NAMES, WRONG, make, rows

REFUSALS = (ValueError, IndexError, TypeError)
every_kind = pytest.mark.parametrize("kind", KINDS)

# Wrong values ------------------------------------------------------------------------------------------


def test_every_kind_and_every_public_name_is_in_the_table():
    """A name that can be set is a property with a setter, or a trait of the widget's own."""
    found = {name: getattr(widgets, name) for name in widgets.__all__}
    public = {name for name, kind in found.items() if issubclass(type(kind), type(StateWidget))}
    assert set(KINDS) == public
    for kind in KINDS:
        settable = {
            name
            for name, value in vars(NAMES[kind]).items()
            if not name.startswith("_")
            and (getattr(value, "fset", None) or getattr(value, "read_only", None) is False)
        }
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


@pytest.mark.parametrize(
    ("kind", "name", "value", "held"),
    [
        ("StrideExplorer", "index", torch.tensor([1, 2]).numpy(), (1, 2)),
        ("StrideExplorer", "layout", torch.zeros(4, 6).t(), Layout((6, 4), (1, 6), 0, 4)),
        ("ReshapeStepper", "index", torch.tensor([1, 2]).numpy(), (1, 2)),
        ("ChannelsLastExplorer", "shape", torch.Size([2, 2, 2, 2]), (2, 2, 2, 2)),
        ("ChannelsLastExplorer", "index", torch.tensor([1, 1, 1, 1]), (1, 1, 1, 1)),
        ("TraversalExplorer", "visit", torch.tensor(7), 7),
        ("AttentionExplorer", "heads", torch.tensor(3), 3),
        ("AttentionExplorer", "followed", ("k", *torch.tensor([1, 1, -1, 0])), ("k", 1, 1, 2, 0)),
        ("CacheExplorer", "block", torch.tensor(4), 4),
    ],
)
def test_numbers_of_numpy_and_torch_become_plain(kind, name, value, held):
    w = make(kind)
    setattr(w, name, value)
    assert getattr(w, name) == held and json.dumps(w._state)


# What is sent and saved --------------------------------------------------------------------------------

# What a saved notebook has of each: of a kind its texts, as JSON, and of a widget its state.
MOST_FOR_A_KIND, MOST_FOR_A_WIDGET = 80_000, 25_000


@every_kind
def test_widgets_of_a_kind_share_their_texts_and_stay_small(kind):
    """Nothing else is sent: no texts with a widget, and no further models."""
    w, twin = make(kind), make(kind)
    assert w._code is twin._code and repr(w._code._key) in w._esm and w._esm == twin._esm
    assert assets.unpack(w._code._zip) == (w._module, w._style)
    assert not re.search(r"^ *(//|/?\*)", w._module, re.MULTILINE)  # comments stay at home
    state = w.get_state()
    assert len(json.dumps(state)) < MOST_FOR_A_WIDGET
    assert len(json.dumps(w._code.get_state())) < MOST_FOR_A_KIND
    assert [name for name, value in state.items() if "IPY_MODEL_" in str(value)] == ["_code"]


def test_other_texts_have_another_name():
    """Kinds, or two versions on one page, do not replace each other."""
    packs = [assets.pack(module, style) for module, style in (("a", "b"), ("a", "c"), ("d", "b"))]
    assert len({*map(assets.name_of, packs)}) == 3
    assert len({make(kind)._code._key for kind in KINDS}) == len(KINDS)
    assert "import {" not in Code.class_traits()["_esm"].default_value


def test_widgets_are_made_after_all_were_closed():
    before = make("Predict")._code
    ipywidgets.Widget.close_all()
    after = make("Predict")._code
    assert after.comm is not None and after is not before and after._key == before._key


# Styles ------------------------------------------------------------------------------------------------

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


def test_every_widget_has_a_class_of_its_own():
    for name, kind in KINDS.items():
        module = getattr(widgets, name)._module
        found = re.findall(r'kind: "(sk-(?!d|offset)[a-z]+)", (?:traits|draw)', module)
        assert found == [kind.css.removeprefix(".")]
    assert len({kind.css for kind in KINDS.values()}) == len(KINDS) == len(SHEETS)


def test_no_class_of_the_site_is_one_of_a_widget():
    """A rule for the page around the lessons would reach the widgets in them."""
    classes = {}
    for room in ("export", "widgets"):
        sheets = assets._HERE.parent.joinpath(room).rglob("*.css")
        text = "".join(path.read_text(encoding="utf-8") for path in sheets)
        classes[room] = {*re.findall(r"\.((?:sk|is)-[\w-]+)", text)}
    assert "sk-done" in classes["export"] and "sk-box" in classes["widgets"]
    assert classes["export"] & classes["widgets"] == set()


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_a_colour_means_one_thing(theme):
    """Nothing has nearly the hue of a dim or of the offset: neither the others, nor rows, nor verdicts."""
    dims = [pair[theme] for pair in (*palette.DIMS, palette.OFFSET)]
    tints = [pair[theme] for pair in palette.ROWS]
    others = [*tints, palette.GOOD[theme], palette.BAD[theme]]
    pairs = [*combinations(dims, 2), *((a, b) for a in dims for b in others)]
    assert [pair for pair in pairs if apart(*pair) < 15 / 360] == []
    assert all(apart(a, b) > 1 / 48 for a, b in combinations(tints, 2))


def apart(a, b):
    """How far two colours lie from each other on the circle of hues, as a part of it; greys have none."""
    channels = [[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in (a, b)]
    (hue, _, grey), (other, _, pale) = (rgb_to_hls(*channel) for channel in channels)
    return 1 if min(grey, pale) < 0.15 else min(abs(hue - other), 1 - abs(hue - other))
