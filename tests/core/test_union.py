"""count_union: the bytes of several sets together, by brute force and where nothing can be enumerated."""

from itertools import combinations, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stridekit import Layout, MemorySet, Undecided
from stridekit.memory.memset import count_together
from stridekit.memory.strided_set import BUDGET, Budget
from stridekit.memory.union import count_union
from tests.core.brute_force import sums

steps = st.sampled_from((1, 1, 2, 3, 5, 8, 12, -4))
generators = st.lists(st.tuples(steps, st.integers(1, 5)), max_size=3)
parts = st.lists(st.tuples(st.integers(0, 60), generators), max_size=6)


def in_all(parts):
    return len(set().union(*(sums(base, generators) for base, generators in parts)))


@given(parts)
@example([(0, [(1, 4)]), (4, [(1, 4)]), (2, [(3, 2)])])  # two runs that touch hide a third set
@example(
    [(0, [(1, 9)]), (3, [(5, 2)])]
)  # a set begins in the range of a run, and ends outside of it
def test_it_counts_each_number_once(parts):
    assert count_union(parts, Budget(BUDGET)) == in_all(parts)


@given(generators, st.lists(st.integers(0, 60), max_size=6))
def test_sets_of_one_form(generators, bases):
    parts = [(base, generators) for base in bases]
    assert count_union(parts, Budget(BUDGET)) == in_all(parts)


def test_all_pairs_of_small_sets():
    forms = [[(c, n), (d, m)] for c, n, d, m in product((1, 2, 3), (1, 2, 3), (4, 7), (1, 3))]
    for (a, b), shift in product(combinations(forms, 2), (0, 1, 5, 9)):
        pair = [(0, a), (shift, b)]
        assert count_union(pair, Budget(BUDGET)) == in_all(pair), pair


HUGE = Layout((10**6, 10**6), itemsize=4)
# Layouts and the bytes of their union, which is counted without a single step, for 4 * 10**12 bytes.
PARTS = {
    "rows": ([HUGE[k] for k in range(100)], 4 * 10**8),
    "columns": ([HUGE[:, k] for k in range(100)], 4 * 10**8),
    "columns in pairs": ([HUGE[:, k : k + 2] for k in range(100)], 4 * 101 * 10**6),
    "a part of the whole": ([HUGE, HUGE[::3, ::7], HUGE.diagonal()], 4 * 10**12),
    "the same twice": ([HUGE.diagonal(), HUGE.diagonal()], 4 * 10**6),
    "far apart": ([HUGE[:9, 1], HUGE[10:, ::2]], 36 + 2 * 10**6 * (10**6 - 10)),
    "nothing": ([HUGE[:0]], 0),
}


@pytest.mark.parametrize("name", PARTS)
def test_no_element_is_visited(name):
    layouts, nbytes = PARTS[name]
    assert count_together([MemorySet.of(x) for x in layouts], Budget(0)) == nbytes


def test_it_does_not_guess():
    sets = [MemorySet.of(HUGE[::2, ::3]), MemorySet.of(HUGE[::3, ::2])]
    with pytest.raises(Undecided):
        count_together(sets, Budget(1_000))
