"""Python, the browser and torch: cases that Hypothesis draws, and some that are chosen.

`make fuzz` draws many more of the first.
"""

import re
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout
from stridekit.widgets import AliasExplorer
from stridekit.widgets.notation import layout_of
from stridekit.widgets.traversal_explorer.widget import Walk, costs
from tests.course import live
from tests.course.live_lines import Chains, Sessions
from tests.course.widget_kinds import rows

SESSIONS = [row.split("; ") for row, _ in rows("sessions on x of shape (4, 6)")]


@pytest.mark.parametrize("family", live.CASES)
@given(r=st.randoms(use_true_random=True))
def test_both_sides_agree(family, r):
    live.CASES[family](r)


def test_chains_are_torchs_to_their_limits():
    """Copies of copies, and formats."""
    for row, _ in rows("chains on a layout of shape (5, 8)"):
        typed = Chains(Layout((5, 8), itemsize=4), 40)
        for text in row.split("  "):
            if not typed.type(text):
                break


@pytest.mark.parametrize("lines", SESSIONS, ids="; ".join)
def test_sessions_are_torchs_under_any_names(lines):
    """What lessons show, and what the widget offers to run; other names change the names alone."""
    typed = Sessions((4, 6))
    plain, mine = AliasExplorer((4, 6), ()), AliasExplorer((4, 6), (), names=NAMES)
    for text in lines:
        if typed.type(text):
            plain.steps += (text,)
            mine.steps += (renamed(text),)
            assert in_one_space(mine) == renamed(in_one_space(plain))
            assert [*mine.values.values()] == [*plain.values.values()]
    assert mine.code.startswith("ten = torch.arange(24).view(4, 6)")
    assert mine.facts["changed"] == tuple(map(renamed, plain.facts["changed"]))
    mine.set_state({"_state": {**mine._state, "steps": []}})
    assert mine.tensors.keys() == {"ten"} and "names" not in plain._state


NAMES = ("ten", "even", "odd")


def renamed(text):
    return re.sub(r"\b[xyz]\b", lambda name: NAMES["xyz".index(name[0])], text)


def in_one_space(explorer):
    """What is said, without the column of the comments."""
    return re.sub(" +#", " #", repr(explorer))


def test_presets():
    """Every shape that the reshape stepper offers, and every walk of the traversal explorer."""
    chosen = [
        (Layout((), ()), ()),
        (Layout((), ()), (1, 1)),
        (Layout((1, 1), (7, 9)), (1,)),
        (Layout((3, 1), (1, 5)), (3,)),
        (Layout((2, 0, 4), (4, 4, 1)), (0, 5)),
        (Layout((4, 6), (0, 0)), (24,)),
    ]
    for preset in live.stepper.PRESETS:
        for target in preset["targets"]:
            live.reshape(layout_of(preset["layout"]), tuple(target))
    for layout, target in chosen:
        live.reshape(layout, target)
    again = Walk("t", Layout((3, 2, 2), (8, 24, 8), 0, 8), (0, 1, 2))  # first come, last used
    for walk in [*(Walk.of(walk) for preset in costs.PRESETS for walk in preset["walks"]), again]:
        live.walk(walk.layout, walk.order, 4, 0, Random(0))
    far = live.layout_json(Layout((2, 6), (251, 1)))  # one element more than a picture holds
    assert "spans 257 elements" in live.stepper.whyNotShown(far)


def test_rows_are_alike_where_there_are_several_and_the_step_between_them_is_0():
    for shape, stride in (((1, 6), (0, 1)), ((4, 6), (0, 1)), ((4, 6), (1, 0)), ((2, 0), (0, 1))):
        state = live.layout_json(Layout(shape, stride)) | {"index": None, "chain": None}
        live.assert_layout_facts(state, torch.arange(40).as_strided(shape, stride))
