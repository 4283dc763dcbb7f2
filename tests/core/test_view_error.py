"""explain_view against torch: its verdict, its words, and the numbers that explain them."""

import re
from itertools import pairwise
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout
from stridekit.tensors.view_error import explain_view
from tests.core import steps
from tests.core.strategies import randoms, tensors

SPANS = "at least one dimension spans across two contiguous subspaces"
GRID = torch.arange(24.0).view(4, 6)
BACKWARDS = np.arange(24, dtype=np.int16).reshape(4, 6)[::-1]


def refusal(x, shape):
    """torch's error about the view; None if it makes the view."""
    try:
        x.view(shape)
    except RuntimeError as error:
        return str(error)
    return None


@given(tensors(), randoms)
def test_any_view_is_explained_as_torch_makes_it(x, r):
    """A view exists if torch makes it, with torch's stride; else torch is quoted in full."""
    shape = tuple(steps.new_shape(r, x.numel(), wrong=0.1))
    message = refusal(x, shape)
    explanation = explain_view(x, shape)
    facts = dict(explanation.lines)
    verb = "can" if message is None else "cannot"
    assert facts.get("torch says") == message
    assert explanation.title == (
        f"shape {tuple(x.shape)}, stride {x.stride()} {verb} be viewed as {shape}"
    )
    if message is None:
        view = Layout.of(x.view(shape))
        assert facts["the view"].startswith(
            f"shape {view.shape}, stride {view.stride}, storage_offset {view.storage_offset}:"
        )
    check_subspaces(x, facts.get("contiguous subspaces", ""))
    if message and SPANS in message:
        new_shape = Layout(tuple(x.shape)).view(shape).shape
        check_boundary(x, new_shape, facts["spans across two"])
        check_advice(x, new_shape, facts)


def check_subspaces(x, sentence):
    """Compare the number and the step of the elements of each subspace with torch's view of it."""
    pattern = r"dims? (\d+)(?: (?:and|to) (\d+))? \((\d+) elements in steps of (\d+)\)"
    subspaces = re.findall(pattern, sentence)
    for first, last, numel, step in subspaces:
        dims = range(int(first), int(last or first) + 1)
        run = x[tuple(slice(None) if d in dims else 0 for d in range(x.ndim))].view(-1)
        assert run.shape == (int(numel),) and run.stride() == (int(step),)
    if subspaces:
        assert prod(int(numel) for _, _, numel, _ in subspaces) == x.numel()


def check_boundary(x, new_shape, sentence):
    """Check that the two named dims are neighbours that do not merge, and that the new dim needs both."""
    outer, inner, stride, needed, new_dim, new_size = map(int, re.findall(r"\d+", sentence))
    assert x.stride(outer) == stride != needed == x.shape[inner] * x.stride(inner)
    assert x.shape[outer] > 1 and x.shape[inner] > 1
    assert set(x.shape[outer + 1 : inner]) <= {1}
    assert new_shape[new_dim] == new_size
    # The elements to the right of the boundary are more than a step of the new dim, and fewer than all.
    assert prod(new_shape[new_dim + 1 :]) < prod(x.shape[inner:]) < prod(new_shape[new_dim:])


def check_advice(x, new_shape, facts):
    """Check that torch can make the advised view, and that it refines the new shape where possible."""
    sizes, advice = re.match(r"shape (\(.*?\))(.*)", facts["a view instead"]).groups()
    view = x.view(tuple(map(int, re.findall(r"\d+", sizes))))
    runs = [*map(int, re.findall(r"\((\d+) elements", facts["contiguous subspaces"]))]
    run_steps = steps_of(runs)
    all_steps = run_steps | steps_of(new_shape)
    # One shape can have all these steps only if each divides the next.
    if all(outer % inner == 0 for inner, outer in pairwise(sorted(all_steps))):
        assert "cut where the runs meet" in advice and steps_of(view.shape) >= all_steps
    else:
        assert "a dim for each run" in advice and steps_of(view.shape) == run_steps


def steps_of(shape):
    """For each dim, the number of elements in it and all dims to its right."""
    return {prod(shape[d:]) for d in range(len(shape))}


def test_eager_torch_is_quoted_in_each_mode():
    """FakeTensorMode and vmap word the error differently."""
    x = GRID.t()
    expected = str(explain_view(x, 2, 12))
    with FakeTensorMode():
        assert str(explain_view(x, 2, 12)) == expected
    texts = []

    def explain_inside(x):
        texts.append(str(explain_view(x.t(), 2, 12)))
        return x

    torch.vmap(explain_inside)(torch.ones(2, 4, 6))
    assert texts == [expected]


INVALID = "shape '{}' is invalid for input of size 24"
LEFT = "24 elements do not divide by {}, {} would be left over: no size fits the -1"
NEGATIVE = "nothing: dim 0 has stride -6: torch has no negative strides, copy the array first"
TOO_LARGE = "nothing: a size of {} does not fit into 64 bits"
NONE = "there is none: {} and no step to take"
RUN = "there is 1 evenly spaced run of dims: "
RUNS = "there are 2 evenly spaced runs of dims: "
# The tensor, the shape, and the beginnings of some lines.
FACTS = [
    (GRID, (5, 5), {
        "torch says": INVALID.format([5, 5]),
        "shape '[5, 5]'": "it has 5 * 5 = 25 elements",
        "input of size 24": "shape (4, 6) has 4 * 6 = 24 elements, a view has as many",
        "a view instead": "sizes that multiply to 24; one of them may be -1",
    }),
    (GRID, (9, -1), {"torch says": INVALID.format([9, -1]), "shape '[9, -1]'": LEFT.format(9, 6)}),
    (GRID, (-1, 0), {"shape '[-1, 0]'": "0 times any size is 0: no size fits the -1"}),
    (GRID, (), {"torch says": INVALID.format([]), "shape '[]'": "it has 1 element"}),
    (GRID, (-1, 3, -1), {
        "torch says": "only one dimension can be inferred",
        "inferred": "a size of -1 is worked out: 24 elements by the other sizes",
        "only one": "new dims 0 and 2 are both -1, so there is no single answer",
        "a view instead": "all sizes but one written out",
    }),
    (GRID, (12, -2), {
        "torch says": "invalid shape dimension -2",  # torch 2.6 names no index
        "dimension -2":
            "new dim 1 is -2: a size is 0 or more, or -1 where it is to be worked out",
        "a view instead": "(12, -1), which stands for (12, 2)",
    }),
    (GRID, (5, -2), {"a view instead": "sizes of 0 or more, one of which may be -1"}),
    (GRID[:0], (0, -1), {
        "torch says": "cannot reshape tensor of 0 elements into shape [0, -1] because the ",
        "0 elements": "shape (0, 6) has 0 * 6 = 0 elements",
        "can be any value": "0 times any size is 0, so nothing says what new dim 1 would be",
        "a view instead": "(0, -1) with the size of dim 1 written out",
    }),
    # The new dim that straddles is the one that holds elements of both runs, and not of size 1.
    (torch.arange(3.0).expand(2, 3), (1, 1, 6, 1), {
        "spans across two": "dims 0 and 1 do not merge (stride 0 found, 3 needed), and the new dim 2"
    }),
    # A boundary at 4 elements and new dims of 6: the runs themselves are the view.
    (GRID.t(), (4, -1), {
        "a view instead":
            "shape (6, 4), a dim for each run: no cuts of (4, 6) fall where they meet",
        ".reshape(4, -1)": "copies all 24 elements",
    }),
    # A backwards array has views that torch does not have; its sizes are checked all the same.
    (BACKWARDS, (24,), {
        "torch says": NEGATIVE,
        "spans across two": "dims 0 and 1 do not merge (stride -6 found, 6 needed)",
        ".reshape(24)": "copies all 24 elements, 48 bytes",
    }),
    (BACKWARDS, (2, 2, 6), {
        "torch says": NEGATIVE,
        "the view": "shape (2, 2, 6), stride (-12, -6, 1), storage_offset 18:",
    }),
    # Sizes beyond 64 bits are compared all the same, and torch is not asked.
    (GRID, (2**70,), {
        "torch says": TOO_LARGE.format(2**70),
        "reason": f"({2**70},) has {2**70} elements, the layout has 24",
    }),
    (GRID, (2**63,), {"torch says": TOO_LARGE.format(2**63)}),
    (GRID, (-(2**63),), {"torch says": TOO_LARGE.format(2**63)}),
    (GRID, (2**63 - 1,), {"torch says": INVALID.format([2**63 - 1])}),
    (Layout((2**40, 2**40)), (2**80,), {"the view": f"shape ({2**80},), stride (1,)"}),
    # Views that exist.
    (GRID, (24,), {
        "contiguous subspaces": RUN + "dims 0 and 1 (24 elements in steps of 1)",
        "spans across two": "no new dim of (24,) does",
    }),
    (GRID[:, :3], (2, 2, 3), {
        "contiguous subspaces":
            RUNS + "dim 0 (4 elements in steps of 6), dim 1 (3 elements in steps of 1)",
        "spans across two": "no new dim of (2, 2, 3) does",
    }),
    (torch.zeros(2, 3, 4), (24,), {"contiguous subspaces": RUN + "dims 0 to 2 (24 elements in"}),
    (torch.zeros(1), (1, 1), {"contiguous subspaces": NONE.format("1 element")}),
]  # fmt: skip


@pytest.mark.parametrize(("x", "shape", "lines"), FACTS)
def test_the_words_of_each_line(x, shape, lines):
    facts = dict(explain_view(x, shape).lines)
    beginnings = {label: facts[label][: len(line)] for label, line in lines.items()}
    assert beginnings == lines
