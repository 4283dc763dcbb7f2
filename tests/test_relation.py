"""relation: each line true, and every misleading test of torch called so."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given

from stridekit import Layout, relation
from tests.brute_force import tensor_bytes
from tests.refused import NO_LAYOUT, NO_MEMORY
from tests.test_aliasing import relatives

X = torch.arange(10)


@given(relatives())
def test_fields_are_the_truth(pair):
    """Every field, against the filled sets and torch's own tests."""
    x, y = pair
    found, p, q = relation(y, x), tensor_bytes(x), tensor_bytes(y)
    assert (found.is_view, found.is_base, found.shares_memory) == (q <= p, p <= q, bool(p & q))
    assert found.shares_storage
    assert found.same_data_ptr == (x.data_ptr() == y.data_ptr())
    assert found.autograd_view == y._is_view()
    lines = dict(found.lines)
    assert ("yet" in lines["data_ptr"]) == (bool(p & q) != found.same_data_ptr)
    assert ("yet" in lines["storage"]) == (not p & q)
    if q:
        truth = q <= p
        assert ("yet" in lines["_is_view"]) == (found.autograd_view != truth and y is not x)
    assert ("overlap" in lines) == (len(q) < y.numel() * y.element_size())
    if p and q and not p & q:
        assert ("no byte in common" in lines["memory"]) and ("share no byte" in found.title)


@pytest.mark.parametrize(
    ("y", "x", "text"),
    [
        (X, X, "the same 80 bytes"),
        (X, X[2:], "x's 64 bytes lie inside y's 80"),
        (
            X[:6],
            X[4:],
            "some bytes in common, and each has bytes of its own (y has 48 bytes, x 48)",
        ),
        (X[:4], X[4:], "no byte in common: one ends before the other begins"),
        (X[::2], X[1::2], "no byte in common, though the ranges interleave"),
        (
            X[::2],
            X[1::2],
            "one, yet no byte is shared: torch._C._overlaps looks no further and says",
        ),
        (X[::2].detach(), X, "False, yet y lies inside x: autograd keeps no record of detach"),
        (torch.from_numpy(X.numpy()), X, "two storages over one block of memory, yet torch takes"),
        (X, X.view(2, 5), "False, yet y lies inside x: y is the base that x was made from"),
        (
            X[:3],
            X[5:],
            "True, yet y does not lie inside x: the base that autograd knows is another",
        ),
        (X[4:], X, "different, yet bytes are shared: they only begin at different places"),
        (X[:0], X.clone()[:0], "equal, yet no byte is shared: for a tensor without elements torch"),
        (X[:0], X, "y is empty: inside of anything, and sharing with nothing"),
        (X.clone(), X, "y and x share no byte"),
        (X.unfold(0, 3, 1), X, "two indices of y share a byte"),
        (X.numpy()[::-1], X, "y is a view of x: every byte of y is a byte of x"),
        (Layout((3,)), Layout((4,)), "y's 3 bytes lie inside x's 4"),
    ],
)
def test_sentences(y, x, text):
    """What a person reads, case by case."""
    assert text in str(relation(y, x))


def test_as_strided_leaves_its_base():
    """A view by autograd's book, none of its bytes in the tensor it was made from."""
    x = torch.arange(10)[4:].detach()
    y = x.as_strided((2,), (1,), 0)
    assert y._base is x
    assert "True, yet y does not lie inside x: as_strided can leave its base" in str(relation(y, x))


def test_what_does_not_apply_is_left_out():
    """Arrays have no autograd, Layouts no addresses."""
    labels = [label for label, _ in relation(np.arange(3), X).lines]
    assert labels == ["memory", "storage", "data_ptr"]
    found = relation(Layout((3,)), Layout((4,)))
    assert [label for label, _ in found.lines] == ["memory", "storage"]
    assert found.same_data_ptr is None and found.autograd_view is None


def test_undecided_is_said():
    """Where the budget ends, the display says so instead of guessing."""
    n, wide = 30, 1 << 40
    y = Layout((2,) * n, [(wide << i) + 3**i for i in range(n)])
    x = Layout((2,) * n, [wide << i for i in range(n)], sum(3**i for i in range(0, n, 2)) + 1)
    found = relation(y, x, budget=50)
    assert found.shares_memory is None
    assert "was not decided within the budget" in found.title
    assert "not decided: the strides interleave too much" in str(found)


def test_a_lazy_clone_is_not_made_real():
    """Looking does not change what is looked at."""
    x = torch.arange(4.0)
    y = torch._lazy_clone(x)
    assert relation(y, x).is_view and torch._C._is_cow_tensor(y)
    assert "a lazy clone, to which the first write gives its own bytes" in str(relation(y, x))


@pytest.mark.parametrize("name", [*NO_LAYOUT, *NO_MEMORY])
def test_refused(name):
    """What has no memory has no relations."""
    value, sentence = (NO_LAYOUT | NO_MEMORY)[name]
    with pytest.raises((TypeError, ValueError), match=re.escape(sentence)):
        relation(value, X)
