"""ReshapeStepper without a browser: its walk against torch and the view rule, its state and its text."""

import base64
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, LayoutError
from stridekit.rules import chunks
from stridekit.widgets import ReshapeStepper
from stridekit.widgets.reshape_stepper.steps import MESSAGE, steps
from stridekit.widgets.reshape_stepper.widget import PRESETS
from tests.live import assert_walk_is_torchs
from tests.strategies import tensors

X = Layout((4, 8), itemsize=4)[:, :6]


@given(tensors(max_ndim=4, max_size=6), st.data())
def test_any_walk_agrees_with_torch(x, data):
    """Any layout as any shape of as many elements: verdict, strides, message and chunks."""
    target, left = [], x.numel()
    while left > 1:
        target.append(data.draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0])))
        left //= target[-1]
        if len(target) > 5:
            target.append(left)
            break
    layout = Layout.of(x)
    target = tuple(target) if x.numel() else (0, 3)
    assert_walk_is_torchs(layout, target)
    if layout.numel and layout.ndim:
        merges = [step for step in steps(layout, target) if step.part == "merge"]
        begun = [s.dims[0] for s in merges if "starts" in s.says or "new chunk" in s.says]
        assert begun[::-1] == [chunk.last for chunk in chunks(layout.shape, layout.stride)]


def test_presets_are_the_views_they_name():
    """Each expression, run by torch, has the preset's layout; most offer views and refusals."""
    for preset in PRESETS:
        x = eval(preset.expression, {"torch": torch})
        assert Layout.of(x) == preset.layout, preset.name
        assert {x.reshape(target).numel() for target in preset.targets} == {x.numel()}
    verdicts = {p.name: {not p.layout.why_not_view(t) for t in p.targets} for p in PRESETS}
    free = {name for name, found in verdicts.items() if found == {True}}
    assert free == {"contiguous", "every second column", "sizes of 1"}
    assert not any(found == {False} for found in verdicts.values())


def test_ones_own_layout_is_the_first_to_choose():
    """With each two neighbours merged, and flat; a layout that is there anyway is there once."""
    names = [preset.name for preset in PRESETS]
    assert [preset["name"] for preset in ReshapeStepper()._presets] == names
    mine, *others = ReshapeStepper(torch.arange(24.0).view(2, 3, 4).permute(1, 0, 2))._presets
    assert mine["name"] == "as given" and [preset["name"] for preset in others] == names
    assert mine["targets"] == [[6, 4], [3, 8], [24]]
    assert Layout.of(eval(mine["expression"])) == Layout(**mine["layout"])


def test_state_from_python():
    """Layout, target, step and index are set and read; a new layout keeps the target where it fits."""
    stepper = ReshapeStepper(torch.arange(32.0).view(4, 8)[:, :6], shape=(2, -1))
    assert stepper.layout == X and stepper.target == (2, 12) and stepper.step == 0
    assert stepper.result is None and stepper.why == X.why_not_view(2, 12)
    stepper.step = -1
    assert stepper.step == len(steps(X, (2, 12))) - 1
    stepper.index = (2, 1)
    assert stepper.index == (2, 1) and stepper.new_index == (1, 1)
    stepper.target = 2, 2, 6
    assert stepper.step == 0 and stepper.why == ""
    assert stepper.result == X.view(2, 2, 6)
    stepper.layout = torch.arange(24).view(6, 4).T
    assert stepper.target == (2, 2, 6) and stepper.index == (2, 1)
    stepper.layout = torch.arange(6)
    assert stepper.target == (6,) and stepper.index == (5,)
    stepper.layout = torch.empty(0, 3)
    assert stepper.index is None and stepper.new_index is None


@pytest.mark.parametrize(
    ("act", "error", "sentence"),
    [
        (lambda s: setattr(s, "target", (5, 5)), LayoutError, "(5, 5) has 25 elements"),
        (lambda s: setattr(s, "target", (-1, -1)), LayoutError, "only one can be worked out"),
        (lambda s: setattr(s, "target", (24, *[1] * 8)), LayoutError, "9 new dims do not fit"),
        (lambda s: setattr(s, "step", 9), IndexError, "this walk has steps 0 to 4"),
        (lambda s: setattr(s, "index", (4, 0)), IndexError, "index 4 is out of range for dim 0"),
        (lambda s: setattr(s, "layout", torch.empty(600)), LayoutError, "256 elements; give a"),
        (lambda s: setattr(s, "layout", torch.empty(24, 30)[:, 0]), LayoutError, "spans 691"),
        (lambda s: setattr(s, "layout", Layout((4,), (-1,), 3)), LayoutError, "no such tensor"),
        (lambda s: setattr(s, "layout", "x"), TypeError, "a str has no layout"),
    ],
)
def test_what_is_wrong_changes_nothing(act, error, sentence):
    """The error says why, and the picture stays."""
    stepper = ReshapeStepper(X, (2, 12))
    before = stepper._state
    with pytest.raises(error, match=re.escape(sentence)):
        act(stepper)
    assert stepper._state == before


def test_the_front_end_is_followed():
    """What JavaScript sets is what Python reads, and is not sent back changed."""
    stepper, sent = ReshapeStepper(X, (2, 12)), []
    stepper.observe(lambda change: sent.append(change["new"]), "_state")
    state = {**stepper._state, "target": [4, 2, 3], "step": 3, "flat": 7}
    stepper.set_state({"_state": state})
    assert stepper.target == (4, 2, 3) and stepper.step == 3
    assert stepper.index == (1, 1) and stepper.new_index == (1, 0, 1)
    assert sent == [state]


def test_picture_and_text_where_there_is_no_kernel():
    """All steps in words, and a PNG that is the same each time."""
    (data, metadata), (again, _) = (
        ReshapeStepper(X, (2, 12))._repr_mimebundle_() for _ in range(2)
    )
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["image/png"] == again["image/png"] and metadata["image/png"]["width"] == 900
    text = data["text/plain"]
    assert text.splitlines()[:3] == [
        "ReshapeStepper: shape (4, 6), stride (8, 1) as (2, 12)",
        "  0. Can shape (4, 6), stride (8, 1) be viewed as (2, 12)? First: which neighbouring dims "
        "step evenly?",
        "  1. Dim 1 is the last: it starts a chunk, 6 elements in steps of 1.",
    ]
    assert f"torch says: {MESSAGE}" in text and "copies all 24 elements, 96 bytes" in text


@pytest.mark.parametrize("shape", [(), (0, 2), (1, 1), (2, 1, 3), (2, 2, 2, 2, 2, 2)])
def test_pictures_of_every_rank(shape):
    """No rank, size of 1 or empty layout breaks the still picture."""
    stepper = ReshapeStepper(torch.zeros(shape), -1 if 0 not in shape else 0)
    assert len(stepper._repr_mimebundle_()[0]["image/png"]) > 1000
