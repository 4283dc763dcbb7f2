"""relation: each line is true, and calls torch's misleading tests misleading."""

import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, relation
from tests.core import steps
from tests.core.brute_force import bytes_of
from tests.core.strategies import tensors

X = torch.arange(10)


@given(tensors(max_ndim=3), st.randoms(use_true_random=True))
def test_fields_are_the_truth(x, r):
    y = x
    if x.ndim:
        y = r.choice((x, x.detach(), x[..., :1], x[:0]))
    if r.random() < 0.8:
        y, _ = steps.viewed(r, y)
    else:
        y = torch.as_strided(x, (1,), (1,), 0)
    x_bytes = bytes_of(x)
    y_bytes = bytes_of(y)
    is_view = y_bytes <= x_bytes
    shares_memory = bool(x_bytes & y_bytes)
    result = relation(y, x)
    assert result.is_view == is_view
    assert result.is_base == (x_bytes <= y_bytes)
    assert result.shares_memory == shares_memory
    assert result.shares_storage
    assert result.same_data_ptr == (x.data_ptr() == y.data_ptr())
    assert result.autograd_view == y._is_view()
    lines = dict(result.lines)
    assert ("yet" in lines["data_ptr"]) == (shares_memory != result.same_data_ptr)
    assert ("yet" in lines["storage"]) == (not shares_memory)
    if y_bytes:
        misleads = result.autograd_view != is_view and y is not x
        assert ("yet" in lines["_is_view"]) == misleads
    has_overlap = len(y_bytes) < y.numel() * y.element_size()
    assert ("overlap" in lines) == has_overlap
    if x_bytes and y_bytes and not shares_memory:
        assert "no byte in common" in lines["memory"]
        assert "share no byte" in result.title
    sentence, sizes = memory_sentence(y_bytes, x_bytes)
    assert re.sub(r"\d[\d,]*", "#", lines["memory"]).startswith(sentence)
    assert re.findall(r"\d[\d,]*", lines["memory"]) == [f"{size:,}" for size in sizes]


def memory_sentence(y_bytes, x_bytes):
    """Return the beginning of the sentence about two sets of bytes, and the sizes that it gives."""
    y_size, x_size = len(y_bytes), len(x_bytes)
    if not y_bytes:
        return "y has no byte", []
    if y_bytes == x_bytes:
        return "the same # bytes", [y_size]
    if y_bytes < x_bytes:
        return "y's # bytes lie inside x's #", [y_size, x_size]
    if x_bytes < y_bytes:
        return "x's # bytes lie inside y's #", [x_size, y_size]
    if y_bytes & x_bytes:
        return "some bytes in common, and each has bytes of its own (y", [y_size, x_size]
    if max(y_bytes) < min(x_bytes) or max(x_bytes) < min(y_bytes):
        return "no byte in common: one ends before the other begins (y", [y_size, x_size]
    return "no byte in common, though the ranges interleave (y", [y_size, x_size]


RECORD = "autograd keeps no record of detach, inference mode, NumPy, set_"
ANOTHER = "True, yet y does not lie inside x: the base that autograd knows is another"
INTERLEAVED = "one, yet no byte is shared: torch._C._overlaps looks no further and says True"
Y3 = Layout((3,))
X4 = Layout((4,))
OUTSIDE = torch.arange(10)[4:].detach().as_strided((2,), (1,), 0)  # no byte is one of its base's
Z = torch.arange(10)
HANDLE = torch.from_numpy(Z.numpy())
LAZY = torch._lazy_clone(Z)
CLONE = "False, yet y lies inside x: a lazy clone, to which the first write gives its own bytes"


class Sentence(NamedTuple):
    """A line of `relation(y, x)`; None if the line is left out."""

    y: Any
    x: Any
    label: str
    sentence: str | None


SENTENCES = [
    Sentence(
        y=X,
        x=X,
        label="title",
        sentence="y is a view of x: every byte of y is a byte of x",
    ),
    Sentence(
        y=X,
        x=X[2:],
        label="title",
        sentence="y is not a view of x, but they share bytes",
    ),
    Sentence(
        y=X[:0],
        x=X,
        label="title",
        sentence="y is empty: inside of anything, and sharing with nothing",
    ),
    Sentence(
        y=X,
        x=X[:0],
        label="title",
        sentence="y and x share no byte",
    ),
    Sentence(
        y=X.numpy()[::-1],
        x=X,
        label="title",
        sentence="y is a view of x: every byte of y is a byte of x",
    ),
    Sentence(
        y=X,
        x=X,
        label="memory",
        sentence="the same 80 bytes",
    ),
    Sentence(
        y=X[2:],
        x=X,
        label="memory",
        sentence="y's 64 bytes lie inside x's 80",
    ),
    Sentence(
        y=X,
        x=X[2:],
        label="memory",
        sentence="x's 64 bytes lie inside y's 80",
    ),
    Sentence(
        y=X[:0],
        x=X,
        label="memory",
        sentence="y has no byte",
    ),
    Sentence(
        y=X[:6],
        x=X[3:],
        label="memory",
        sentence="some bytes in common, and each has bytes of its own (y has 48 bytes, x 56)",
    ),
    Sentence(
        y=X[:4],
        x=X[4:],
        label="memory",
        sentence="no byte in common: one ends before the other begins (y has 32 bytes, x 48)",
    ),
    Sentence(
        y=X[4:],
        x=X[:4],
        label="memory",
        sentence="no byte in common: one ends before the other begins (y has 48 bytes, x 32)",
    ),
    Sentence(
        y=X[:9:2],
        x=X[1:9:2],
        label="memory",
        sentence="no byte in common, though the ranges interleave (y has 40 bytes, x 32)",
    ),
    Sentence(
        y=replace(Y3, storage="a"),
        x=X4,
        label="memory",
        sentence="no byte in common: y is in storage 'a', x in the storage (y has 3 bytes, x 4)",
    ),
    Sentence(
        y=X,
        x=X.clone(),
        label="storage",
        sentence="two",
    ),
    Sentence(
        y=X[::2],
        x=X[1::2],
        label="storage",
        sentence=INTERLEAVED,
    ),
    Sentence(
        y=X[:4],
        x=X.numpy()[4:],
        label="storage",
        sentence="one, yet no byte is shared",
    ),
    Sentence(
        y=torch.from_numpy(X.numpy()),
        x=X,
        label="storage",
        sentence="two storages over one block of memory, yet torch takes them for unrelated",
    ),
    Sentence(
        y=X,
        x=X,
        label="data_ptr",
        sentence="equal",
    ),
    Sentence(
        y=X[4:],
        x=X,
        label="data_ptr",
        sentence="different, yet bytes are shared: they only begin at different places",
    ),
    Sentence(
        y=X[:0],
        x=X.clone()[:0],
        label="data_ptr",
        sentence="equal, yet no byte is shared: for a tensor without elements torch says 0",
    ),
    Sentence(
        y=X[:0],
        x=X,
        label="data_ptr",
        sentence="different",
    ),
    Sentence(
        y=X.clone()[:0],
        x=X,
        label="_is_view",
        sentence="True",
    ),
    # it lies inside of anything: nothing misleads
    Sentence(
        y=X[:0].detach(),
        x=X,
        label="_is_view",
        sentence="False",
    ),
    Sentence(
        y=X,
        x=X,
        label="_is_view",
        sentence="False: y is x itself",
    ),
    Sentence(
        y=X,
        x=X.view(2, 5),
        label="_is_view",
        sentence="False, yet y lies inside x: y is the base that x was made from",
    ),
    Sentence(
        y=X[::2].detach(),
        x=X,
        label="_is_view",
        sentence=f"False, yet y lies inside x: {RECORD}",
    ),
    Sentence(
        y=X.detach(),
        x=X.view(2, 5),
        label="_is_view",
        sentence=f"False, yet y lies inside x: {RECORD}",
    ),
    Sentence(
        y=Z,
        x=LAZY,
        label="_is_view",
        sentence=CLONE,
    ),
    Sentence(
        y=LAZY,
        x=HANDLE,
        label="_is_view",
        sentence=CLONE,
    ),
    Sentence(
        y=OUTSIDE,
        x=OUTSIDE._base,
        label="_is_view",
        sentence="True, yet y does not lie inside x: as_strided can leave its base",
    ),
    Sentence(
        y=X[:3],
        x=X[5:],
        label="_is_view",
        sentence=ANOTHER,
    ),
    Sentence(
        y=X.unfold(0, 3, 1),
        x=X,
        label="overlap",
        sentence="two indices of y share a byte: a write to one changes the other",
    ),
    # Lines that do not apply are left out: arrays have no autograd, Layouts no addresses.
    Sentence(
        y=np.arange(3),
        x=X,
        label="_is_view",
        sentence=None,
    ),
    Sentence(
        y=Y3,
        x=X4,
        label="_is_view",
        sentence=None,
    ),
    Sentence(
        y=Y3,
        x=X4,
        label="data_ptr",
        sentence=None,
    ),
    Sentence(
        y=Y3,
        x=X4,
        label="overlap",
        sentence=None,
    ),
]


@pytest.mark.parametrize(Sentence._fields, SENTENCES)
def test_sentences(y, x, label, sentence):
    assert line_of(relation(y, x), label) == sentence
    if sentence is not None:
        sentence = re.sub(r"\bx\b", "weights", sentence)
        sentence = re.sub(r"\by\b", "its rows", sentence)
    assert line_of(relation(y, x, names=("its rows", "weights")), label) == sentence


def line_of(result, label):
    """The title, or the line with this label; None if it is left out."""
    return result.title if label == "title" else dict(result.lines).get(label)


def test_lines_that_the_budget_leaves_open():
    """A line says only what was decided: that bytes are shared, but not that one lies inside."""
    base = torch.zeros(4000)
    y = base.as_strided((9, 9), (7, 11), 1)
    x = base.as_strided((30, 30), (5, 13), 0)
    undecided = relation(y, x, budget=0)
    assert undecided.is_view is None
    assert undecided.shares_memory is None
    assert undecided.title == "whether y and x share a byte was not decided within the budget"
    assert dict(undecided.lines) == {
        "memory": "not decided: the strides interleave too much (y has 324 bytes, x 1,900)",
        "storage": "one",
        "data_ptr": "different",
        "_is_view": "True",
    }
    half = relation(y, x, budget=60)  # ten for each question
    assert half.is_view is None
    assert half.shares_memory is True
    assert half.title == "y and x share bytes; whether all of y's was not decided within the budget"
    assert dict(half.lines)["memory"] == (
        "some bytes in common; whether one lies inside the other was not decided "
        "(y has 324 bytes, x 1,900)"
    )
