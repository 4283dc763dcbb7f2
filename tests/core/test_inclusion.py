"""Inclusion and overlap of small sets: every pair, compared with bitmaps filled number by number."""

from itertools import combinations_with_replacement, product

import pytest

from stridekit import Layout, MemorySet


def bitmap(start, generators):
    """Set a bit for each number that the generators reach from the start."""
    bits = 1 << start
    for step, count in generators:
        reached = 0
        for k in range(count):
            reached |= bits << k * step
        bits = reached
    return bits


def set_of(start, generators):
    shape = [count for _, count in generators]
    stride = [step for step, _ in generators]
    return MemorySet.of(Layout(shape, stride, start, 1, storage="small"))


def small_sets(most_generators, steps, counts, starts=(0,)):
    """Every set of up to so many generators of these steps and counts, with its bitmap."""
    sets = []
    for length in range(most_generators + 1):
        for generators in combinations_with_replacement([*product(steps, counts)], length):
            for start in starts:
                sets.append((set_of(start, generators), bitmap(start, generators)))
    return sets


def wrong_answers(outer_sets, inner_sets):
    """The pairs for which a question has another answer than the bitmaps."""
    wrong = []
    for outer, outer_bits in outer_sets:
        for inner, inner_bits in inner_sets:
            is_inside = inner_bits & ~outer_bits == 0
            is_apart = inner_bits & outer_bits == 0
            if inner.issubset(outer) != is_inside or inner.isdisjoint(outer) != is_apart:
                wrong.append((outer, inner))
    return wrong


def test_each_pair_of_sets_of_two_strides():
    outer_sets = small_sets(2, range(1, 8), (2, 3))
    inner_sets = small_sets(2, range(1, 8), (2, 3), starts=range(4))
    assert wrong_answers(outer_sets, inner_sets) == []


def test_each_pair_of_sets_of_three_strides():
    """Steps that grow make several levels; equal and neighbouring ones interleave in one level."""
    outer_sets = small_sets(3, (1, 3, 4, 10, 12), (2, 4))
    inner_sets = small_sets(2, (1, 2, 3, 9, 10, 13), (2, 3), starts=(0, 1, 4))
    assert wrong_answers(outer_sets, inner_sets) == []


@pytest.mark.long
def test_each_pair_of_many_sets_of_three_strides():
    outer_sets = small_sets(3, range(1, 8), (2, 3))
    inner_sets = small_sets(2, range(1, 8), (2, 3), starts=range(8))
    assert wrong_answers(outer_sets, inner_sets) == []
