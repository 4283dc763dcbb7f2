"""count_elements against brute force, and its price."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, Undecided, count_elements
from tests.strategies import tensors


def brute_force(layout):
    """Every index, every element, in a set."""
    indices = itertools.product(*map(range, layout.shape))
    return len({layout.offset(index) for index in indices})


@given(tensors())
def test_count_is_the_size_of_the_set(x):
    """Any tensor: views, overlaps, stride 0, empty."""
    layout = Layout.of(x)
    assert count_elements(layout) == brute_force(layout)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(-9, 40)), max_size=5))
def test_count_with_wide_and_negative_strides(dims):
    """Strides that interleave in every way, NumPy's negative ones included."""
    shape, stride = [n for n, _ in dims], [s for _, s in dims]
    layout = Layout(shape, stride, storage_offset=1000)
    assert count_elements(layout) == brute_force(layout)


def test_count_exhaustively():
    """Every layout of three dims of 1 to 4 with strides of 0 to 8."""
    for shape in itertools.product(range(1, 5), repeat=3):
        for stride in itertools.combinations_with_replacement(range(9), 3):
            layout = Layout(shape, stride)
            assert count_elements(layout) == brute_force(layout), layout


def test_huge_layouts_cost_no_more():
    """10**12 elements are counted, not visited."""
    x = Layout((10**3,) * 4)
    assert count_elements(x) == 10**12
    assert count_elements(x.permute(3, 1, 0, 2)[::2, 5:]) == 500 * 995 * 10**6
    assert count_elements(x.expand(7, *x.shape)) == 10**12


def test_undecided_instead_of_a_guess():
    """Where the table would not fit the budget, there is no answer."""
    layout = Layout((1000, 1000, 1000), (10_007, 10_009, 10_037))
    with pytest.raises(Undecided, match="more than the budget of 1000: raise the budget"):
        count_elements(layout, budget=1000)
    # Within the budget the table is exact.
    small = Layout((20, 20, 20), (10_007, 10_009, 10_037))
    assert count_elements(small) == brute_force(small)
