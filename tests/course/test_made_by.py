"""The exercise `made_by` and the audit have one definition of the step that made a layout."""

import random

import pytest
import torch

from stridekit.audit.causes import History
from stridekit.audit.record import Recorder
from stridekit.exercises.your_model import made_by

SHAPES = [(4, 6), (2, 3, 4), (2, 3, 2, 2)]
# Chains on which one of the two once blamed another step than the other, and the step.
ONCE_APART = [
    ((2, 3, 4), ["t.transpose(1, 2)", "t.permute(1, 2, 0)", "t[..., 0]"], 0),
    ((2, 3, 4), ["t.transpose(0, 1)", "t[..., :2]", "t[..., 0]"], 0),
    ((2, 3, 4), ["t.transpose(0, 2)", "t[:, 0]", "t + 1"], 0),
    ((2, 3, 4), ["t.transpose(1, 2)", "t.permute(1, 2, 0)", "t + 1", "t[..., 0]"], 0),
    ((2, 3, 2, 2), ["t[..., 1:]", "t.transpose(1, 2)", "t + 1", "t + 1"], 1),
    ((4, 6), ["t.t()", "t.t()", "t.t()"], 2),
]


def step_blamed_by_audit(x, steps):
    """Return the step with the op that an audit blames for a final copy; len(steps) if none copies."""
    run = Recorder(None, {})
    ends = []  # for each step, how many ops ran until its end
    with run.watching():
        for step in steps:
            x = step(x)
            ends.append(len(run.ops))
        copies_before = len(run.copies)
        x.reshape(-1)
    copies = run.copies[copies_before:]
    if not copies:
        return len(steps)
    op = History(run).cause(copies[0]).op
    return next(k for k, end in enumerate(ends) if op < end)


def chain_of(sources):
    return [eval(f"lambda t: {source}", {"torch": torch}) for source in sources]


def random_chain(draw, shape):
    """Draw the steps of a chain, each one for the tensor that it gets."""
    t = torch.zeros(shape)
    sources = []
    for _ in range(draw.randint(1, 6)):
        source = draw.choice(choices(draw, t))
        sources.append(source)
        t = chain_of([source])[0](t)
    return sources


def choices(draw, t):
    """Return steps for a tensor; none asks for a memory order that the tensor has already."""
    found = ["t + 1", "t.clone()", f"t.unsqueeze({draw.randint(0, t.ndim)})"]
    if t.ndim > 1:
        dims = draw.sample(range(t.ndim), t.ndim)
        size = t.size(dims[0])
        found += [f"t.transpose({dims[0]}, {dims[1]})", f"t.permute({dims})"]
        found += [f"t.select({dims[0]}, 0)", f"t.narrow({dims[0]}, 0, {max(1, size - 1)})"]
        if size == 4:
            found.append(f"t.unflatten({dims[0]}, (2, 2))")
    if not t.is_contiguous():
        found.append("t.contiguous()")
    elif t.ndim == 4:
        found.append("t.to(memory_format=torch.channels_last)")
    return found


@pytest.mark.parametrize(("shape", "sources", "number"), ONCE_APART)
def test_both_blame_the_last_step_that_leads_to_the_copy_from_a_contiguous_tensor(
    shape, sources, number
):
    steps = chain_of(sources)
    assert made_by.reference(torch.zeros(shape), steps) == number
    assert step_blamed_by_audit(torch.zeros(shape), steps) == number


@pytest.mark.parametrize("chains", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_the_exercise_and_the_audit_blame_the_same_step_of_random_chains(chains):
    draw = random.Random(60)
    numbers = set()
    for _ in range(chains):
        shape = draw.choice(SHAPES)
        sources = random_chain(draw, shape)
        steps = chain_of(sources)
        number = made_by.reference(torch.zeros(shape), steps)
        assert step_blamed_by_audit(torch.zeros(shape), steps) == number, (shape, sources)
        numbers.add(number - len(steps))
    assert numbers >= {0, -1, -2, -3}  # no copy, and layouts that other steps pass on
