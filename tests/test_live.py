"""Python, the browser and torch: cases that Hypothesis draws, and some that are chosen.

`make fuzz` draws many more of the first.
"""

from itertools import chain
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, output_layout
from tests import live, walks
from tests.live_lines import Chains, Sessions
from tests.test_reshape_stepper import PRESETS
from tests.widget_kinds import rows


@pytest.mark.parametrize("family", live.CASES)
@given(r=st.randoms(use_true_random=True))
def test_both_sides_agree(family, r):
    live.CASES[family](r)


@pytest.mark.parametrize("named", [False, True])
def test_chains_are_torchs_to_their_limits(named):
    """Limits of the pictures, copies of copies, formats; also with names for the elements."""
    for row, _ in rows("chains on a layout of shape (5, 8)"):
        labels = [f"v{k}" for k in range(40)] if named else None
        typed = Chains(Layout((5, 8), itemsize=4), 40, labels)
        for text in row.split("  "):
            if not typed.type(text):
                break


@pytest.mark.parametrize("lines", [row for row, _ in rows("sessions on x of shape (4, 6)")])
def test_sessions_are_torchs(lines):
    """What lessons show, and what the widget offers to run; no element, and sizes beside the 0."""
    session = Sessions((4, 6))
    for text in lines.split("; "):
        session.type(text)


def test_presets():
    """Every shape that the reshape stepper offers, and every walk of the traversal explorer."""
    for _, layout, targets in PRESETS:
        for target in targets:
            live.reshape(layout, target)
    for shape, stride, target in [
        ((), (), ()),
        ((), (), (1, 1)),
        ((1, 1), (7, 9), (1,)),
        ((3, 1), (1, 5), (3,)),
        ((2, 0, 4), (4, 4, 1), (0, 5)),
        ((4, 6), (0, 0), (24,)),
    ]:
        live.reshape(Layout(shape, stride), target)
    for walk in chain.from_iterable(walks.PRESETS.values()):
        live.walk(walk.layout, walk.order, 4, 0, Random(0))
    again = Layout((3, 2, 2), (8, 24, 8), 0, 8)  # a line that came first is used last
    live.walk(again, (0, 1, 2), 4, 0, Random(0))


def test_how_far_the_stepper_reaches():
    """A picture holds 256 elements with those in its gaps; one more is refused on both sides."""
    for row in (250, 251):
        why = live.stepper.whyNotShown(live.layout_json(Layout((2, 6), (row, 1))))
        assert ("spans 257 elements" in why) == (row == 251)


def test_a_number_is_an_operand_of_no_dims():
    """As in the lines of the alias explorer: x[None, 4:] + 1 of no elements is a new tensor by rows."""
    x = torch.empty(4, 6)[None, 4:]
    assert (x + 1).stride() == output_layout(x, Layout((), itemsize=4)).stride == (6, 6, 1)
