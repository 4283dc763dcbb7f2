"""Python, the browser and torch: cases that Hypothesis draws, and some that are chosen.

`make fuzz` draws many more of the first.
"""

import re
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


@pytest.mark.parametrize("family", live.CASES)
@given(r=st.randoms(use_true_random=True))
def test_both_sides_agree(family, r):
    live.CASES[family](r)


CHAINS = [
    (),
    (".permute(1, 0)", "[1:]"),
    ("[1:, ::2]", ".T", ".diagonal(1)"),
    (".T", ".contiguous()", ".view(5, 8)", "[:, 3]"),
    (".T", ".reshape(-1)", ".unfold(0, 8, 4)", ".reshape(4, 18)", "[1:]", ".contiguous()"),
    ("[:1]", ".expand(5, 8)", ".flatten()", ".contiguous()"),
    (".view(5, 2, 2, 2)", ".contiguous(memory_format=torch.channels_last)", ".flatten(1)"),
    (".view(5, 2, 2, 2)", ".permute(0, 2, 3, 1)", ".reshape(-1)"),
    ("[0:0]", ".T", ".contiguous()"),
    ("[2, 3]", ".contiguous()", ".unsqueeze(0)"),
    (".T", ".clone()", "[:, ::2]", ".clone()", ".contiguous()"),
    ("[:1]", ".expand(5, 8)", ".clone()", ".view(-1)"),
    (".view(5, 2, 2, 2)", ".clone(memory_format=torch.channels_last)", "[1:]", ".clone()"),
    (".T", ".clone(memory_format=torch.contiguous_format)", ".clone('channels_last')"),
    (".reshape(8, 5)", ".as_strided((3, 3), (4, 2), 1)", ".contiguous()"),
    (".T", ".contiguous()", ".as_strided((2, 2), (1, 1), 36)", ".T"),
    (".T", ".view(-1)"),
    (".as_strided((5, 9), (8, 1))",),
    (".view(5, 2, 2, 2, 1)",),
    ("[:1]", ".unsqueeze(0)", ".expand(200, 1, 8)", ".contiguous()", ".unfold(0, 9, 1)"),
    ("[:1, :1]", ".expand(257, 1)"),
    ("[:1, :1]", ".expand(256, 8, 1)", ".permute(0, 2, 1)", ".permute(1, 0, 2)"),
    ("[:1, :1]", ".unsqueeze(0)", ".expand(257, 1, 1)"),
    (".T", ".contiguous()", ".as_strided((41,), (1,), 0)"),
    ("[5]",),
    (".numpy()",),
    (".T()",),
    (".permute",),
]


@pytest.mark.parametrize("named", [False, True])
def test_chains(named):
    """Limits of the pictures, copies of copies, formats; also with names for the elements."""
    for steps in CHAINS:
        labels = [f"v{k}" for k in range(40)] if named else None
        chain = Chains(Layout((5, 8), itemsize=4), 40, labels)
        for text in steps:
            if not chain.type(text):
                break


# What a lesson shows, and what the widget offers to run; last, no element and sizes beside the 0.
LESSONS = """
y = x[1:, ::2]; z = y.reshape(-1); y += 100; z = x.t().flatten(); z.zero_(); z = y; z[0] = 7

y = x[:, ::2]; z = x[:, 1::2]; y += z; y.copy_(z); y[:] = z.clone(); z = x[:0]; x.neg_()

y = x[:2]; z = x[2:]; z = x[1:3]; y += z; y[0] = z[1]; x = x.clone(); y.fill_(-1)

y = x[:1].expand(3, -1); y += 1; y.fill_(3); y[0] = 7; y[:] = 7; y = y.clone(); y += 1

z = x[0].unfold(0, 3, 1); z.add_(100); z.fill_(5); z *= 2; z[0] += z[1]; z.copy_(x[:, :3])

y = x + 1; y += 100; z = x.t() * 2; z = y[:1] - x[:, :1]; y = x[:, 1:] + x; y = 5 + 1
z = 99 * x - 1; y = 1 - x[:1].expand(3, -1); y = x[:2]; x = x[1:]

x[1:] += x[:-1]; x[1:] += x[:-1].clone(); x[:, 1:] += x[:, :-1]; x[:, 1:] += x[:, :-1].clone()

y = x[:, :4]; y += y.t(); y += y.t().clone(); x += x; x += x[0]; x[:] = x[0]; x[1:] = x[0]

y = x.as_strided((0, 96), (1, 1)); y = x.as_strided((0, 97), (1, 1))
y = x.as_strided((50000000, 0), (1, 1))

y = x.view(1, 4, 6); z = y.unfold(2, 6, 1); z[...] = z[0]; z[:] = z; y[...] = y[0]; y[:, 1:] = x[:1]
"""


@pytest.mark.parametrize("lines", LESSONS.strip().split("\n\n"))
def test_lessons(lines):
    session = Sessions((4, 6))
    for text in re.split("; |\n", lines):
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
