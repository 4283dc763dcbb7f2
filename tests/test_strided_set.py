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
    _sums_by_heap,
    bitmap,
    count,
    cut,
    iter_set,
    meet,
    normal_form,
)
from tests.brute_force import sums
from tests.fuzz_memory import PLENTY, check_strided_set

# Few small steps interleave; the wide and the negative ones nest.
STEPS = st.one_of(st.integers(0, 12), st.integers(-40, 40))


def generators(max_size=4, max_count=5):
    return st.lists(st.tuples(STEPS, st.integers(1, max_count)), max_size=max_size)


@given(st.integers(-9, 9), generators(5))
def test_the_normal_form_is_the_same_set_in_digits(base, given_generators):
    """Flipping, sorting and merging lose and add nothing; a level's step exceeds what lies below it."""
    lowest, normal = normal_form(base, given_generators)
    assert sums(lowest, normal) == sums(base, given_generators)
    assert all(c > 0 and n > 1 for c, n in normal)
    assert all(c < d for (c, _), (d, _) in pairwise(normal))
    bits = bitmap(normal, Budget(PLENTY))
    assert sums(0, normal) == {k for k in range(bits.bit_length()) if bits >> k & 1}
    levels = cut(normal)
    assert [g for _, own, _ in reversed(levels) for g in own] == list(normal)
    for k, (step, own, below) in enumerate(levels):
        lower = [g for _, finer, _ in levels[k + 1 :] for g in finer]
        assert below == max(sums(0, lower)) < step
        assert math.gcd(*[c for c, _ in own]) == step


@given(generators(4, 8), generators(), st.data())
def test_two_sets(outer, inner, data):
    """Whether they meet, and whether one lies inside the other, often from a member on."""
    (_, outer), (_, inner) = normal_form(0, outer), normal_form(0, inner)
    whole = sums(0, outer)
    start = data.draw(st.sampled_from(sorted(whole)) | st.integers(-60, 60))
    part = sums(start, inner)
    assert meet(outer, inner, start, Budget(PLENTY)) == bool(whole & part)
    assert includes(cut(outer), (start, inner), Budget(PLENTY)) == (part <= whole)


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


@given(generators(5), st.integers(1, 400))
def test_each_number(given_generators, budget):
    """All numbers in order, or Undecided: with any budget never a wrong one."""
    _, normal = normal_form(0, given_generators)
    expected, levels = sorted(sums(0, normal)), cut(normal)
    assert list(iter_set(levels, Budget(PLENTY))) == expected
    found = []
    with contextlib.suppress(Undecided):
        found.extend(iter_set(levels, Budget(budget)))
    assert found == expected[: len(found)]


INTERLEAVED = [(6, 10, 15, 35), (9, 10, 11, 13), (1, 5, 7, 31)]
CLUSTERED = [(2, 40), (3, 40), (1001, 5), (1003, 5)]
SHARED_ENDS = [[(3, 8), (22, 9), (4, 3)], [(19, 4), (29, 10), (15, 3)], [(30, 2), (25, 9), (21, 6)]]
THIN = [(101, 3), (103, 3), (107, 3), (109, 3)]  # fewer choices than numbers


@pytest.mark.parametrize(
    "given_generators",
    [
        *(list(zip(steps, sizes, strict=False)) for steps in INTERLEAVED
          for sizes in ((30, 30, 30), (5, 80, 3), (200, 7, 9), (60, 9, 2, 3), (4, 4, 4))),
        *([(4, 2), (4, 2)], [(1, 4), (3, 2)], [(2, 4), (3, 3)], [(-1, 4), (3, 2)], [(0, 2)], CLUSTERED),
        *([(1, 4), (4, 2)], [(2, 3), (3, 2)], [(0, 1), (3, 9)], [], THIN, *SHARED_ENDS),
    ],
    ids=str,
)  # fmt: skip
def test_sets_of_each_kind(given_generators):
    """Interleaved, clustered, equal, backward and repeated steps; steps that the finer ones just reach."""
    check_strided_set(given_generators)


def test_sums_by_heap_come_in_order_each_choice_once():
    choices = product(*[range(0, c * n, c) for c, n in THIN])
    assert list(_sums_by_heap(tuple(THIN), Budget(PLENTY))) == sorted(map(sum, choices))


def test_interleaved_counts_do_not_grow_with_the_longest():
    """A pattern that repeats is counted once, so the largest size costs nothing."""

    def counted(size):
        return count(cut(normal_form(0, [(6, size), (10, 4), (15, 4)])[1]), Budget(100))

    assert counted(10**9) == counted(1000) + (10**9 - 1000) * (counted(1001) - counted(1000))


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
