"""relation: each line is true, and calls torch's misleading tests misleading."""

import re
from dataclasses import replace

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
    y = r.choice((x, x.detach(), x[..., :1], x[:0])) if x.ndim else x
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
    assert ("overlap" in lines) == (len(y_bytes) < y.numel() * y.element_size())
    if x_bytes and y_bytes and not shares_memory:
        assert "no byte in common" in lines["memory"] and "share no byte" in result.title


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

SENTENCES = [
    (X, X, "title", "y is a view of x: every byte of y is a byte of x"),
    (X, X[2:], "title", "y is not a view of x, but they share bytes"),
    (X[:0], X, "title", "y is empty: inside of anything, and sharing with nothing"),
    (X, X[:0], "title", "y and x share no byte"),
    (X.numpy()[::-1], X, "title", "y is a view of x: every byte of y is a byte of x"),
    (X, X, "memory", "the same 80 bytes"),
    (X[2:], X, "memory", "y's 64 bytes lie inside x's 80"),
    (X, X[2:], "memory", "x's 64 bytes lie inside y's 80"),
    (X[:0], X, "memory", "y has no byte"),
    (X[:6], X[3:], "memory",
     "some bytes in common, and each has bytes of its own (y has 48 bytes, x 56)"),
    (X[:4], X[4:], "memory",
     "no byte in common: one ends before the other begins (y has 32 bytes, x 48)"),
    (X[4:], X[:4], "memory",
     "no byte in common: one ends before the other begins (y has 48 bytes, x 32)"),
    (X[:9:2], X[1:9:2], "memory",
     "no byte in common, though the ranges interleave (y has 40 bytes, x 32)"),
    (replace(Y3, storage="a"), X4, "memory",
     "no byte in common: y is in storage 'a', x in the storage (y has 3 bytes, x 4)"),
    (X, X.clone(), "storage", "two"),
    (X[::2], X[1::2], "storage", INTERLEAVED),
    (X[:4], X.numpy()[4:], "storage", "one, yet no byte is shared"),
    (torch.from_numpy(X.numpy()), X, "storage",
     "two storages over one block of memory, yet torch takes them for unrelated"),
    (X, X, "data_ptr", "equal"),
    (X[4:], X, "data_ptr", "different, yet bytes are shared: they only begin at different places"),
    (X[:0], X.clone()[:0], "data_ptr",
     "equal, yet no byte is shared: for a tensor without elements torch says 0"),
    (X[:0], X, "data_ptr", "different"),
    (X.clone()[:0], X, "_is_view", "True"),
    (X[:0].detach(), X, "_is_view", "False"),  # it lies inside of anything: nothing misleads
    (X, X, "_is_view", "False: y is x itself"),
    (X, X.view(2, 5), "_is_view", "False, yet y lies inside x: y is the base that x was made from"),
    (X[::2].detach(), X, "_is_view", f"False, yet y lies inside x: {RECORD}"),
    (X.detach(), X.view(2, 5), "_is_view", f"False, yet y lies inside x: {RECORD}"),
    (Z, LAZY, "_is_view", CLONE),
    (LAZY, HANDLE, "_is_view", CLONE),
    (OUTSIDE, OUTSIDE._base, "_is_view",
     "True, yet y does not lie inside x: as_strided can leave its base"),
    (X[:3], X[5:], "_is_view", ANOTHER),
    (X.unfold(0, 3, 1), X, "overlap",
     "two indices of y share a byte: a write to one changes the other"),
    # Lines that do not apply are left out: arrays have no autograd, Layouts no addresses.
    (np.arange(3), X, "_is_view", None),
    (Y3, X4, "_is_view", None),
    (Y3, X4, "data_ptr", None),
    (Y3, X4, "overlap", None),
]  # fmt: skip


@pytest.mark.parametrize(("y", "x", "label", "sentence"), SENTENCES)
def test_sentences(y, x, label, sentence):
    assert line_of(relation(y, x), label) == sentence
    if sentence is not None:
        sentence = re.sub(r"\by\b", "its rows", re.sub(r"\bx\b", "weights", sentence))
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
    assert (undecided.is_view, undecided.shares_memory) == (None, None)
    assert undecided.title == "whether y and x share a byte was not decided within the budget"
    assert dict(undecided.lines) == {
        "memory": "not decided: the strides interleave too much (y has 324 bytes, x 1,900)",
        "storage": "one",
        "data_ptr": "different",
        "_is_view": "True",
    }
    half = relation(y, x, budget=60)  # ten for each question
    assert (half.is_view, half.shares_memory) == (None, True)
    assert half.title == "y and x share bytes; whether all of y's was not decided within the budget"
    assert dict(half.lines)["memory"] == (
        "some bytes in common; whether one lies inside the other was not decided "
        "(y has 324 bytes, x 1,900)"
    )
