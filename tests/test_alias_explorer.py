"""AliasExplorer without a browser: what lines do against torch, the state, the picture and the text."""

import base64

import pytest
import torch

from stridekit import Layout, LayoutError
from stridekit.widgets import AliasExplorer
from stridekit.widgets.alias_explorer.session import MAX_CELLS, Session


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (["w = x"], "w is not one of x, y and z"),
        (["y = w[0]"], "w is not one of x, y and z"),
        (["y = z"], "z is not there yet"),
        (["y = x.view(5)"], "(5,) has 5 elements, the layout has 24"),
        (
            ["y = x.unfold(1, 3, 1).unfold(0, 2, 1).expand(2, -1, -1, -1, -1)"],
            f"144 elements in 5 dims: the picture holds {MAX_CELLS} in 4",
        ),
        (
            ["y = x.as_strided((2, 2), (20, 5))"],
            "would reach element 25, and the storage ends at 23",
        ),
        (["y = x.t(", "z = x"], "cannot read"),
        (["x.__class__"], "__class__ is not known here"),
        (["y = x[torch.arange(2)]"], "cannot read"),
        (["y = x.add_(1)"], "cannot read"),
        (["x.T += 3"], "cannot read"),
        (["x += 0.5"], "cannot read"),
        (["x = y = x"], "cannot read"),
        (["import os"], "cannot read"),
        (["x *= 99999"], "the boxes hold five digits"),
        (["y = x[:1].expand(3, -1)", "y += 1"], "more than one element of the written-to tensor"),
        (["x[1:] += x[:-1]"], "x[1:] and x[:-1] share 12 elements, and torch refuses"),
        (["x[:, 1:] += x[:, :-1]"], "depends on the order of visit. Use x[:, :-1].clone()"),
    ],
)
def test_what_cannot_be_shown_is_refused(steps, sentence):
    """With a sentence, and the picture stays as it was."""
    explorer = AliasExplorer()
    before = repr(explorer), explorer.values
    with pytest.raises(LayoutError) as raised:
        explorer.steps = steps
    assert sentence in str(raised.value)
    assert (repr(explorer), explorer.values) == before
    with pytest.raises(LayoutError):
        AliasExplorer((4, 6), steps)


def test_a_refused_line_leaves_the_session_as_it_was():
    """Also one that torch would have run."""
    session = Session((4, 6))
    with pytest.raises(LayoutError):
        session.run("x[:, 1:] += x[:, :-1]")
    assert session.tapes[0].tolist() == list(range(24)) and session.log == []


def test_steps_are_the_state():
    """They are read, set and added to; the tensors follow, and the front end is followed."""
    explorer = AliasExplorer((4, 6), ["y = x[1:, ::2]"])
    explorer.steps += ("y += 100",)
    assert explorer.steps == ("y = x[1:, ::2]", "y += 100")
    assert explorer.tensors == {"x": Layout((4, 6), itemsize=8), "y": Layout((3, 3), (6, 2), 6, 8)}
    x = torch.arange(24).view(4, 6)
    x[1:, ::2] += 100
    assert explorer.values == {"x": x.tolist(), "y": x[1:, ::2].tolist()}
    sent = []
    explorer.observe(lambda change: sent.append(change["new"]), "_state")
    state = {"shape": [4, 6], "steps": ["y = x.t()"]}
    explorer.set_state({"_state": state})
    assert explorer.steps == ("y = x.t()",) and sent == [state]
    with pytest.raises(LayoutError, match="steps are a sequence of lines"):
        explorer.steps = "y = x"
    with pytest.raises(LayoutError, match="z is not there: x, y are"):
        explorer.relation("z", "x")


def test_picture_and_text():
    """A PNG and a repr that are the same on every run, also of nothing and of 4 dims."""
    for steps in (
        [],
        ["y = x[:0]"],
        ["y = x.view(2, 2, 2, 3)", "z = y[0, 0, 0, 0]"],
        ["y = x.t().flatten()"],
    ):
        explorer = AliasExplorer((4, 6), steps)
        data, _ = explorer._repr_mimebundle_()
        again, _ = AliasExplorer((4, 6), steps)._repr_mimebundle_()
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
        assert data["image/png"] == again["image/png"] and data["text/plain"] == again["text/plain"]
        assert data["text/plain"].startswith("AliasExplorer: x = torch.arange(24).view(4, 6)")
