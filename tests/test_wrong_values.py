"""Wrong values of a widget's public state: an error names the value, and nothing changes."""

import json
import re

import pytest
import torch

from stridekit import Layout, widgets
from stridekit.widgets.base import StateWidget
from tests.widget_kinds import KINDS, NAMES, WRONG, make


def concrete(kind):
    """The names of the classes below one that have none below them."""
    below = kind.__subclasses__()
    return [name for other in below for name in concrete(other)] or [kind.__name__]


def test_every_kind_and_every_public_name_is_here():
    """A name that can be set is a property with a setter, or a trait of the widget's own."""
    assert set(KINDS) == set(concrete(StateWidget))
    found = {name: getattr(widgets, name) for name in widgets.__all__}
    public = {name for name, kind in found.items() if issubclass(type(kind), type(StateWidget))}
    assert set(KINDS) == public
    for kind in KINDS:
        own = vars(NAMES[kind])
        settable = {
            name
            for name, value in own.items()
            if not name.startswith("_")
            and (getattr(value, "fset", None) or getattr(value, "read_only", None) is False)
        }
        assert settable == {name for of, name, *_ in WRONG if of == kind}, kind


@pytest.mark.parametrize(("kind", "name", "value", "said"), WRONG)
def test_a_wrong_value_is_refused(kind, name, value, said):
    """By a sentence with the value in it; the picture and what is sent stay as they were."""
    w = make(kind)
    before = (json.dumps(w._state), repr(w))
    with pytest.raises((ValueError, IndexError, TypeError), match=re.escape(said)):
        setattr(w, name, eval(value, NAMES))
    assert (json.dumps(w._state), repr(w)) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_is_not_there_is_refused(kind):
    """A misspelled name would change nothing on screen, without a word."""
    w = make(kind)
    with pytest.raises(AttributeError, match=f"{kind} has no shapes that could be set"):
        w.shapes = (2, 3)


def test_numpys_and_torchs_integers_are_as_good_as_pythons():
    """They become plain ints, as JSON needs."""
    np_index = torch.tensor([1, 2]).numpy()
    for w in (widgets.StrideExplorer(), widgets.ReshapeStepper()):
        w.index = np_index
        assert w.index == (1, 2) and json.dumps(w._state)
    c = widgets.ChannelsLastExplorer()
    c.index, c.shape = torch.tensor([1, 1, 1, 1]), torch.Size([2, 2, 2, 2])
    assert (c.index, c.shape) == ((1, 1, 1, 1), (2, 2, 2, 2)) and json.dumps(c._state)
    t = widgets.TraversalExplorer()
    t.visit = torch.tensor(7)
    assert t.visit == 7 and json.dumps(t._state)
    a = widgets.AttentionExplorer(tokens=torch.tensor(2))
    a.heads, a.followed = torch.tensor(3), ("k", *torch.tensor([1, 2, -1, 0]))
    assert a.followed == ("k", 1, 2, 1, 0) and json.dumps(a._state)
    c = widgets.CacheExplorer(torch.tensor(5), block=torch.tensor(4))
    c.heads = torch.tensor(3)
    assert (c.tokens, c.heads, c.block) == (5, 3, 4) and json.dumps(c._state)


def test_a_tensor_is_as_good_as_its_layout():
    e = widgets.StrideExplorer()
    e.layout = torch.zeros(4, 6).t()
    assert e.layout == Layout((6, 4), (1, 6), 0, 4)
