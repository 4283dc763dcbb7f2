"""The messages of refusals: what happened, with the numbers, and what to do.

They stand in refusals.txt. Which kinds of values each name refuses is in test_robustness.py.
"""

import itertools
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit._arguments import a_kind
from tests.core.robustness import example_names, read_refusals


def raises():
    raise KeyError("lost")


@pytest.fixture(scope="module")
def names():
    """The names of the calls: examples, and tensors whose first size is a symbol."""
    # Not above: these imports take two seconds in each worker.
    from torch.fx.experimental import symbolic_shapes as symbolic

    symbols = symbolic.ShapeEnv()
    first_dim = symbolic.StatelessSymbolicContext(
        dynamic_sizes=[symbolic.DimDynamic.DYNAMIC, symbolic.DimDynamic.STATIC]
    )
    symbolic_mode = FakeTensorMode(shape_env=symbols)
    yield example_names() | {
        "itertools": itertools,
        "raises": raises,
        "sym": symbolic_mode.from_tensor(torch.ones(5, 4), symbolic_context=first_dim),
        "unbacked": symbolic.ShapeEnv().create_unbacked_symint(),
    }
    assert not symbols.guards and not symbols.replacements


ROWS = read_refusals(Path(__file__).with_name("refusals.txt"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call[:60])
def test_a_refusal_says_what_and_why(row, names):
    assert row.outcome(names) == row.error


ARTICLES = (
    "an int, an ndarray, a uint8, a NoneType, a UserDict, a UUID, a Union, a UnicodeError, a ufunc, "
    "an UntypedStorage, an Undecided, an Upsample, an OrderedDict, a OneHot, a Euler, an LSTM, an MLP, "
    "an NDFrame, a MemorySet, a SymInt, a Named, an X, a Y, a _Private"
)


@pytest.mark.parametrize("spoken", ARTICLES.split(", "))
def test_the_article_follows_the_sound_of_a_type_s_name(spoken):
    value = type(spoken.split(" ")[1], (), {})()
    assert a_kind(value) == spoken
