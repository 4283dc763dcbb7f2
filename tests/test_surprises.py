"""Surprises of today's torch and NumPy, and stridekit's answers.

Each test holds both sides. One that fails after an update of torch is good news: a surprise less.
"""

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import as_strided
from torch.nn.functional import scaled_dot_product_attention

from stridekit import Layout, LayoutError, explain, has_internal_overlap, is_view, shares_memory
from stridekit.elementwise import output_layout
from stridekit.lessons.attention import sdpa_output, why_no_flash

# Writes that torch does not refuse -------------------------------------------------------------


def test_in_place_through_windows():
    """Windows share elements, and add_ adds 1 to each of them once for every window it is in."""
    x = torch.zeros(6)
    windows = x.unfold(0, 3, 1)
    windows.add_(1)
    assert x.tolist() == [1, 2, 3, 3, 2, 1]
    assert has_internal_overlap(windows)


def test_in_place_from_a_neighbour():
    """x[:, 1:].add_(x[:, :-1]) reads what it has just written; 1-D, the same is refused."""
    x = torch.arange(12.0).view(3, 4)
    meant = x[:, 1:] + x[:, :-1]
    x[:, 1:].add_(x[:, :-1])
    assert not torch.equal(x[:, 1:], meant)
    assert shares_memory(x[:, 1:], x[:, :-1])
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        x[0, 1:].add_(x[0, :-1])


def test_assignment_through_expand():
    """One element of an expanded tensor can be assigned, and all change; add_ is refused."""
    x = torch.zeros(1).expand(4)
    x[0] = 1
    assert x.tolist() == [1, 1, 1, 1]
    assert has_internal_overlap(x)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)


def test_compile_misses_an_overlap():
    """torch.compile takes two blocks of one parent for disjoint: it answers 204, eager torch 324."""

    def f(x, y):
        x.add_(10)
        y.mul_(2)
        return x.sum() + y.sum()

    def blocks():
        parent = torch.arange(20.0).view(4, 5)
        return parent[:, :2], parent[1:, :1]

    assert f(*blocks()) == 324
    assert torch.compile(f, backend="aot_eager")(*blocks()) == 204
    x, y = blocks()
    assert shares_memory(x, y) and is_view(y, x)
    torch._dynamo.reset()


# Contiguity and strides ------------------------------------------------------------------------


def test_contiguous_plus_contiguous():
    """The sum of two contiguous tensors may not be contiguous: the strides of size-1 dims decide."""
    row, column = torch.ones(2, 1, 1).permute(2, 1, 0), torch.ones(1, 1, 2).permute(2, 0, 1)
    assert row.is_contiguous() and row.shape == (1, 1, 2) and row.stride() == (1, 1, 1)
    assert column.is_contiguous() and column.shape == (2, 1, 1)
    assert not (row + column).is_contiguous()
    assert (row.view(1, 1, 2) + column).is_contiguous()  # the same, with the strides of torch.ones
    predicted = output_layout(row, column)
    assert predicted.stride == (row + column).stride() == (1, 4, 2)
    assert predicted.why_not_contiguous() == "dim 2 has stride 2, 1 is needed"


# NumPy ------------------------------------------------------------------------------------------


def test_numpy_does_not_check_as_strided():
    """NumPy's as_strided silently leaves its memory, torch's refuses to; explain tells."""
    array = np.arange(3)
    outside = as_strided(array, (5,), (8,))
    assert "up to number 4, but it has only 3" in dict(explain(outside).lines)["storage"]
    assert not is_view(outside, array)
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        torch.from_numpy(array).as_strided((5,), (1,))


def test_numpy_reshapes_by_the_same_rule():
    """reshape keeps a stride of 0 in both, though ravel copies in both."""
    one = np.zeros(1)
    wide, tensor = np.broadcast_to(one, (2, 3)), torch.from_numpy(one).expand(2, 3)
    for result in (wide.reshape(6), tensor.reshape(6)):
        assert Layout.of(result) == Layout.of(wide).view(6) == Layout((6,), (0,), 0, 8)
        assert shares_memory(result, one)
    for result in (wide.ravel(), tensor.ravel()):
        assert not shares_memory(result, one)


# Attention --------------------------------------------------------------------------------------


def test_sdpa_writes_amiss_behind_overlapping_windows():
    """The output is an empty_like(q), whose last stride is 2 here; the kernel writes as if it were 1."""
    q = torch.arange(4.0).view(1, 1, 4).unfold(2, 3, 1)
    k, v = 50 * torch.eye(3)[None, None], torch.arange(9.0).view(1, 1, 3, 3)
    out = scaled_dot_product_attention(q, k, v)
    assert q.stride() == (4, 4, 1, 1) and out.stride() == (6, 6, 1, 2)
    assert scaled_dot_product_attention(q.contiguous(), k, v)[0, 0, 1].tolist() == [6, 7, 8]
    assert out[0, 0, 1, 1] == 8
    assert why_no_flash(q, k, v) == ""
    with pytest.raises(
        LayoutError, match=r"last stride of 2, and torch 2\.13 writes its output as"
    ):
        sdpa_output(q, k, v)


def test_sdpa_does_not_compare_the_tokens_of_k_and_v():
    """Flash leaves out what k has more than v, and reads what lies behind a k that has less."""
    q, k, v = torch.rand(3, 1, 2, 7, 4)
    few, whole = slice(3), scaled_dot_product_attention(q, k, v)
    cut = scaled_dot_product_attention(q, k[:, :, few], v[:, :, few])
    assert torch.equal(scaled_dot_product_attention(q, k, v[:, :, few]), cut)
    assert torch.equal(scaled_dot_product_attention(q, k[:, :, few], v), whole)
    with pytest.raises(RuntimeError, match="Expected size for first two dimensions of batch2"):
        scaled_dot_product_attention(q[0], k[0], v[0, :, few])  # the math path
    with pytest.raises(LayoutError, match="Expected size for first two dimensions of batch2"):
        sdpa_output(q, k[:, :, few], v)
