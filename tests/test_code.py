"""The texts of a kind of widget: once in a kernel and in a saved notebook, and small there."""

import json
import re

import ipywidgets
import pytest

from stridekit.widgets import assets
from stridekit.widgets.base import Code
from tests.widget_kinds import KINDS, make

# What a saved notebook has of each: of a kind its texts, as JSON, and of a widget its state.
MOST_FOR_A_KIND, MOST_FOR_A_WIDGET = 80_000, 25_000


@pytest.mark.parametrize("kind", KINDS)
def test_widgets_of_a_kind_share_their_texts(kind):
    one, two = make(kind), make(kind)
    assert one._code is two._code
    assert assets.unpack(one._code._zip) == (one._module, one._style)
    assert not re.search(r"^ *(//|/?\*)", one._module, re.MULTILINE)  # comments stay at home
    assert repr(one._code._key) in one._esm and one._esm == two._esm


def test_each_kind_has_texts_of_its_own():
    codes = {make(kind)._code for kind in KINDS}
    assert len(codes) == len({code._key for code in codes}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_notebook_stays_small(kind):
    """Nothing else is sent: no texts with a widget, and no further models."""
    w = make(kind)
    state = w.get_state()
    assert len(json.dumps(state)) < MOST_FOR_A_WIDGET
    assert len(json.dumps(w._code.get_state())) < MOST_FOR_A_KIND
    referred = [name for name, value in state.items() if "IPY_MODEL_" in str(value)]
    assert referred == ["_code"]


def test_widgets_are_made_after_all_were_closed():
    before = make("Predict")._code
    ipywidgets.Widget.close_all()
    w = make("Predict")
    assert w._code.comm is not None and w._code is not before
    assert w._code._key == before._key


def test_other_texts_have_another_name():
    """Two versions on one page do not replace each other."""
    packs = [assets.pack(module, style) for module, style in (("a", "b"), ("a", "c"), ("d", "b"))]
    assert len({assets.name_of(packed) for packed in packs}) == 3


def test_the_code_of_the_code_imports_nothing():
    assert "import {" not in Code.class_traits()["_esm"].default_value
