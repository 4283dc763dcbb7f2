"""The messages with which widgets, cards and the functions of lessons refuse a value: see refusals.txt."""

from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout
from tests.core.robustness import read_refusals
from tests.course.test_robustness import all_names


@pytest.fixture(scope="module")
def names():
    """The names of the calls: examples, and operands of attention."""
    with FakeTensorMode():
        gpu_tensor = torch.empty(2, 3, 4, device="cuda")
    return all_names() | {
        "gpu_tensor": gpu_tensor,
        "q": torch.rand(2, 3, 5, 4),
        "h": Layout((2, 3, 5, 4), itemsize=4),
        "bools": Layout((2, 3, 5, 5)),
    }


ROWS = read_refusals(Path(__file__).with_name("refusals.txt"))


@pytest.mark.filterwarnings("ignore:ComplexHalf:UserWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call[:60])
def test_a_refusal_says_what_and_why(row, names):
    assert row.outcome(names) == row.error
