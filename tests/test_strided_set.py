"""Strided sets against Python's own sets: every question, by brute force."""

import contextlib
import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Undecided
from stridekit.memory.inclusion import includes, residues
from stridekit.memory.strided_set import (
    Budget,
    _least,
    _sums_by_heap,
    bitmap,
    collide,
    contains,
    count,
    cut,
    iter_generators,
    iter_set,
    meet,
    normal_form,
    runs,
)
from tests.brute_force import sums
from tests.fuzz_memory import PLENTY

# Few small steps interleave; the wide and the negative ones nest.
STEPS = st.one_of(st.integers(0, 12), st.integers(-40, 40))


def generators(max_size=4, max_count=5):
    return st.lists(st.tuples(STEPS, st.integers(1, max_count)), max_size=max_size)


@given(st.integers(-9, 9), generators(5))
def test_normal_form_is_the_same_set(base, given_generators):
    """Flipping, sorting and merging lose and add nothing, and leave steps that grow."""
    lowest, normal = normal_form(base, given_generators)
    assert sums(lowest, normal) == sums(base, given_generators)
    assert all(c > 0 and n > 1 for c, n in normal)
    assert all(c < d for (c, _), (d, _) in pairwise(normal))
    assert sums(0, normal) == {k for k in range(10_000) if bitmap(normal, Budget(PLENTY)) >> k & 1}


@given(generators(5))
def test_levels_are_digits(given_generators):
    """All numbers of a level are multiples of its step, and what lies below is less than that."""
    _, normal = normal_form(0, given_generators)
    levels = cut(normal)
    assert [g for _, own, _ in reversed(levels) for g in own] == list(normal)
    for k, (step, own, below) in enumerate(levels):
        lower = [g for _, finer, _ in levels[k + 1 :] for g in finer]
        assert below == max(sums(0, lower)) < step
        assert math.gcd(*[c for c, _ in own]) == step


@given(generators(), generators(), st.integers(-60, 60))
def test_meet(a, b, shift):
    """Two sets have a number in common: the same as Python's sets say."""
    _, a = normal_form(0, a)
    _, b = normal_form(0, b)
    assert meet(a, b, shift, Budget(PLENTY)) == bool(sums(0, a) & sums(shift, b))


@given(generators(4, 8), generators(3), st.data())
def test_includes(outer, inner, data):
    """One set lies inside another: the same as Python's sets say, often from a member on."""
    _, outer = normal_form(0, outer)
    expected = sums(0, outer)
    start = data.draw(st.sampled_from(sorted(expected)) | st.integers(-9, 9))
    piece = normal_form(start, inner)
    assert includes(cut(outer), piece, Budget(PLENTY)) == (sums(*piece) <= expected)


def test_includes_exhaustively():
    """Every pair of two-step sets with small numbers: nested, interleaved, slices of each other."""
    sets = {
        normal: sums(0, normal)
        for a, b in product(product(range(1, 8), range(1, 4)), repeat=2)
        for _, normal in [normal_form(0, [a, b])]
    }
    for outer, whole in sets.items():
        levels = cut(outer)
        for inner, part in sets.items():
            for shift in (0, 1, 3):
                moved = {number + shift for number in part}
                assert includes(levels, (shift, inner), Budget(PLENTY)) == (moved <= whole)


@given(generators(), st.integers(-50, 50), st.integers(1, 24))
def test_residues(given_generators, base, modulus):
    """The pieces together are the set modulo m, and none leaves the cycle."""
    piece = normal_form(base, given_generators)
    pieces = [sums(*part) for part in residues(piece, modulus, Budget(PLENTY))]
    assert set().union(*pieces) == {number % modulus for number in sums(*piece)}


def test_a_generator_that_goes_all_the_way_round_is_not_cut():
    """Modulo 8, every second number from 6 on is every second number from 0 on: one piece."""
    assert list(residues((6, ((2, 4),)), 8, Budget(10))) == [(0, ((2, 4),))]


@pytest.mark.parametrize("sizes", [(30, 30, 30), (5, 80, 3), (200, 7, 9), (60, 60, 2, 3)])
def test_count_of_interleaved_steps(sizes):
    """Three or more interleaved steps are counted by the new part of each period."""
    for steps in [(6, 10, 15, 35), (9, 10, 11, 13), (1, 5, 7, 31)]:
        given_generators = list(zip(steps, sizes, strict=False))
        _, normal = normal_form(0, given_generators)
        assert count(cut(normal), Budget(PLENTY)) == len(sums(0, given_generators))


def test_interleaved_counts_do_not_grow_with_the_longest():
    """A pattern that repeats is counted once, so the largest size costs nothing."""
    _, normal = normal_form(0, [(6, 10**9), (10, 4), (15, 4)])
    some = count(cut(normal_form(0, [(6, 1000), (10, 4), (15, 4)])[1]), Budget(100))
    more = count(cut(normal_form(0, [(6, 1001), (10, 4), (15, 4)])[1]), Budget(100))
    assert count(cut(normal), Budget(100)) == some + (10**9 - 1000) * (more - some)


@given(generators(5), st.integers(1, 400))
def test_each_and_runs(given_generators, budget):
    """All numbers in order, one by one and as runs, or Undecided: with any budget never a wrong one."""
    _, normal = normal_form(0, given_generators)
    expected, levels = sorted(sums(0, normal)), cut(normal)
    assert list(iter_set(levels, Budget(PLENTY))) == expected
    joined = list(runs(levels, Budget(PLENTY)))
    assert [number for run in joined for number in run] == expected
    assert all(a.stop < b.start for a, b in pairwise(joined))
    found = []
    with contextlib.suppress(Undecided):
        found.extend(iter_set(levels, Budget(budget)))
    assert found == expected[: len(found)]


def test_order_of_sums_in_clusters_and_in_gaps():
    """Small steps in clusters, set apart by wide ones: each number comes once, in order."""
    clustered = ((2, 40), (3, 40), (1001, 5), (1003, 5))
    expected = sorted(sums(0, clustered))
    assert list(iter_generators(clustered, Budget(PLENTY))) == expected
    thin = ((101, 3), (103, 3), (107, 3), (109, 3))  # fewer choices than numbers
    assert list(iter_generators(thin, Budget(PLENTY))) == sorted(sums(0, thin))
    choices = product(*[range(0, c * n, c) for c, n in thin])
    assert list(_sums_by_heap(thin, Budget(PLENTY))) == sorted(
        map(sum, choices)
    )  # each choice once


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 3, 5), (7, 1, 3), (3, 9, 2)])
def test_one_budget_answers_for_each_number(sizes):
    """What was found missing for one number says nothing of another."""
    generators, budget = tuple(zip((6, 10, 15), sizes, strict=True)), Budget(PLENTY)
    expected, levels = sums(0, generators), cut(normal_form(0, generators)[1])
    asked = [*range(-3, max(expected) + 4)] * 2
    assert [number for number in asked if contains(levels, number, budget)] == sorted(expected) * 2
    assert list(iter_generators(normal_form(0, generators)[1], budget)) == sorted(expected)


def test_two_choices_make_one_number():
    """Equal steps, a step that the finer ones just reach, and one that they do not."""
    for steps in (
        [(4, 2), (4, 2)],
        [(1, 4), (3, 2)],
        [(2, 4), (3, 3)],
        [(-1, 4), (3, 2)],
        [(0, 2)],
    ):
        assert collide(steps, Budget(PLENTY))
    for steps in ([(1, 4), (4, 2)], [(2, 3), (3, 2)], [(0, 1), (3, 9)], []):
        assert not collide(steps, Budget(PLENTY))


def test_looking_for_the_next_number_takes_steps():
    """The search ends if it would have to try each step of a long generator."""
    wide = ((10**9 + 7, 10**9), (10**9 + 9, 10**9))
    assert _least(wide, 5, Budget(1)) == 10**9 + 7
    with pytest.raises(Undecided, match="within a budget of 50 steps"):
        _least(wide, 10**15 + 1, Budget(50))


def test_a_part_of_a_budget_is_charged_to_the_whole():
    """A question within a part of the budget has an answer or None, and its steps are spent either way."""

    def costs(steps):
        return lambda part: part.spend(steps) or "answered"

    budget = Budget(10)
    assert budget.within(4, costs(3)) == "answered" and budget.left == 7
    assert budget.within(4, costs(5)) is None and budget.left == 3
    assert budget.within(4, costs(4)) is None and budget.left == 0
    assert budget.within(4, costs(0)) == "answered"
    budget.failed.add((((2, 3), (3, 3)), 1))
    budget.renew()
    assert budget.left == 10 and not budget.failed
    budget.spend(8)
    budget.require_room(10)  # as many things as the whole budget has steps, whatever is left of it
    with pytest.raises(Undecided, match="within a budget of 10 steps"):
        budget.require_room(11)
