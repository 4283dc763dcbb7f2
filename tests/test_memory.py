"""MemorySet against Python's sets and brute force: the protocol, the budget, the price."""

import itertools
import operator
import random

import pytest

from stridekit import Layout, MemorySet, Undecided, memset
from stridekit.memory.memset import has_collision
from stridekit.memory.strided_set import BUDGET, Budget
from tests.brute_force import layout_bytes


def test_sets_of_many_layouts_are_equal_exactly_when_filled_sets_are():
    """Equality and hash over all layouts of three small dims, one normal form or several."""
    found = {}
    for shape in itertools.product((1, 2, 3), repeat=3):
        for stride in itertools.combinations_with_replacement(range(7), 3):
            layout = Layout(shape, stride)
            filled = frozenset(layout_bytes(layout))
            first, this = found.setdefault(filled, MemorySet.of(layout)), MemorySet.of(layout)
            assert first == this and hash(first) == hash(this)
    assert len(set(found.values())) == len(found)


def test_the_size_of_the_numbers_costs_nothing():
    """10**12 elements, and more bytes than len can say."""
    x = Layout((10**3,) * 4, itemsize=8)
    whole, part = memset(x), memset(x.permute(3, 1, 0, 2)[::2, 5:])
    assert len(whole) == 8 * 10**12 and len(part) == 8 * 500 * 995 * 10**6
    assert part < whole and not whole <= part and not whole.isdisjoint(part)
    assert memset(x[::2]).isdisjoint(memset(x[1::2]))
    assert list(itertools.islice(memset(x[:, 5]), 3)) == [40_000_000, 40_000_001, 40_000_002]
    huge = memset(Layout((10**30,)))
    assert huge.count() == 10**30
    with pytest.raises(OverflowError):
        len(huge)


def test_spaces_do_not_meet():
    """A copied layout, and sets of two devices, have no byte in common; the empty set is one."""
    x = Layout((3, 4))
    on_gpu = MemorySet(0, [(1, 12)], "cuda:0")
    on_cpu = MemorySet(0, [(1, 12)], "cpu")
    one, other = memset(x.clone()), memset(x.clone())
    for a, b in itertools.permutations((memset(x), one, other), 2):
        assert a.isdisjoint(b) and not a <= b and a != b
    assert on_gpu.isdisjoint(on_cpu) and not on_gpu <= on_cpu and on_gpu != on_cpu
    empty = MemorySet(5, [(1, 0)], "cuda:0")
    assert empty != memset(x) and memset(x[:0]) != on_cpu  # which is known wherever they count from
    assert empty == MemorySet(9, [(0, 0), (4, 2)], "cpu") == memset(x[:0])
    assert hash(empty) == hash(memset(x[:0])) and empty < on_cpu and empty.isdisjoint(empty)


QUESTIONS = [getattr(operator, name) for name in ("le", "lt", "ge", "gt", "eq", "ne")]
QUESTIONS += [MemorySet.issubset, MemorySet.issuperset, MemorySet.isdisjoint]


@pytest.mark.parametrize("question", [*QUESTIONS, lambda a, b: a in [b]])
def test_a_layout_is_not_compared_with_a_device(question):
    """Addresses within a storage and absolute addresses are never compared, in either order."""
    of_layouts = [MemorySet.of(Layout((3,))), MemorySet.of(Layout((3, 1)).clone())]
    for a, b in itertools.product(of_layouts, [MemorySet(n, [(1, 3)], "cpu") for n in (0, 7)]):
        for pair in [(a, b), (b, a)]:
            with pytest.raises(ValueError, match=r"compare two tensors, or Layout\.of\(t\) with"):
                question(*pair)


def test_sets_of_layouts_and_of_devices_as_keys():
    """Their hashes differ, so a dict never has to compare them."""
    of_layout, of_tensor = MemorySet.of(Layout((3,))), MemorySet(0, [(1, 3)], "cpu")
    assert len({of_layout, of_tensor, MemorySet.of(Layout((3, 1)))}) == 2
    assert {of_tensor: "cpu"}.get(of_layout) is None


def test_what_is_not_a_memory_set():
    """Operators return NotImplemented, as usual in Python; == is False."""
    x = MemorySet.of(Layout((3,)))
    for compare in QUESTIONS[:4]:
        with pytest.raises(TypeError, match="not supported between instances"):
            compare(x, {0, 1, 2})
    assert x != {0, 1, 2}


def test_a_set_never_changes():
    """It can be a key, so its numbers are fixed."""
    x = MemorySet.of(Layout((3,)))
    with pytest.raises(AttributeError, match="never changes"):
        x.first = 5
    with pytest.raises(AttributeError, match="never changes"):
        del x.space
    assert list(x) == [0, 1, 2]


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (memset(Layout((4, 6))[:, 2]), "4 bytes: 2 + 6*[0, 4)"),
        (memset(Layout((0,))), "empty"),
        (MemorySet(3, [(8, 2)], "cpu"), "2 bytes on cpu: 8*[0, 2)"),
        (memset(Layout((4,), storage="a")), "4 bytes in storage 'a': 0 + [0, 4)"),
        (memset(Layout(())), "1 byte: 0"),
        (MemorySet(999, [(8, 3), (1, 4)], "cuda:1"), "12 bytes on cuda:1: 8*[0, 3) + [0, 4)"),
        (
            memset(Layout((10**6,) * 3, (10**9 + 7, 10**9 + 9, 10**9 + 21))),
            "an undecided number of bytes: 0 + 1000000021*[0, 1000000) + 1000000009*[0, 1000000) "
            "+ 1000000007*[0, 1000000)",
        ),
    ],
)
def test_repr_shows_the_digits(found, shown):
    """The repr has step and size of each digit, but not absolute addresses, which differ in each run."""
    assert repr(found) == f"MemorySet({shown})"


def subset_sum_overlap(n, rng, solvable):
    """Do some of n weights sum to a target? Written as: do two layouts meet?"""
    weights = [rng.randrange(1, 1 << 30) for _ in range(n)]
    target = sum(w for w in weights if rng.random() < 0.5) + (not solvable)
    wide = 1 << 40
    a = Layout((2,) * n, [(wide << i) + w for i, w in enumerate(weights)])
    b = Layout((2,) * n, [wide << i for i in range(n)], target)
    return MemorySet.of(a), MemorySet.of(b)


def subset_sum_inclusion(n, rng, solvable):
    """The same, as: does a layout avoid the one hole that another has in each of its periods?"""
    wide = 1 << 40
    weights = [rng.randrange(1, wide // n) for _ in range(n)]
    hole = sum(w for w in weights if rng.random() < 0.5) + (not solvable)
    a = Layout((2,) * n, weights, wide)
    b = Layout((n + 3, wide - 1), (wide, 1), hole + 1)
    return MemorySet.of(a), MemorySet.of(b)


@pytest.mark.parametrize("solvable", [True, False])
def test_small_members_of_the_hard_family_are_decided(solvable):
    """Ten weights, each way: the answer is that of all sums."""
    rng = random.Random(1)
    for _ in range(20):
        a, b = subset_sum_overlap(10, rng, solvable=True)
        assert a.isdisjoint(b) == set(a).isdisjoint(b)
        a, b = subset_sum_inclusion(10, rng, solvable)
        assert a.issubset(b) == all(byte in b for byte in a)


def test_nothing_collides_with_nothing():
    """A count of 0 leaves no digits to choose."""
    assert not has_collision([(0, 5), (4, 0), (1, 4)]) and has_collision([(0, 5), (1, 4)])
    for byte in (0, 5):
        assert byte not in memset(Layout((3, 0), (0, 1), 5))


def test_count_is_undecided_rather_than_guessed():
    """A table that does not fit the budget raises Undecided."""
    layout = Layout((1000, 1000, 1000), (10_007, 10_009, 10_037))
    with pytest.raises(Undecided, match="within a budget of 10 steps"):
        MemorySet.of(layout).count(budget=10)
    small = Layout((20, 20, 20), (10_007, 10_009, 10_037))
    assert MemorySet.of(small).count() == len(layout_bytes(small))


@pytest.mark.parametrize("size", [10**9, 10**30])
@pytest.mark.parametrize("steps", [(2, 3), (6, 10, 15), (10**9 + 7, 10**9 + 9, 10**9 + 21)])
def test_the_first_bytes_come_at_once(steps, size):
    """Even of a set too large to finish, and inside a single endless run."""
    highest = 40 * max(steps)
    expected = sorted(layout_bytes(Layout([highest // step + 1 for step in steps][:2], steps[:2])))
    if len(steps) == 3:
        expected = sorted({a + k * steps[2] for a in expected for k in range(41)})
    found = memset(Layout((size,) * len(steps), steps))
    assert list(itertools.islice(found, 30)) == expected[:30]


def test_iteration_goes_on_beyond_the_budget_of_a_byte():
    """Each byte has a budget of its own, so there may be more bytes than steps."""
    endless = memset(Layout((10**9, 10**9), (2, 3)))
    last = next(itertools.islice(endless, BUDGET + 5, None))
    assert last == BUDGET + 6  # of the bytes 0, 2, 3, 4 … only 1 is missing


def test_iteration_keeps_little_in_memory():
    """A set whose choices of digits pile up ends in Undecided before it fills the memory."""
    piling = memset(Layout((2,) * 60, [10**18 + 3**k for k in range(60)]))
    with pytest.raises(Undecided, match="within a budget of 100,000 steps"):
        list(itertools.islice(piling, 300_000))


def test_runs_have_one_budget_together():
    """Each number sought in interleaved strides costs a step; plain digits cost none."""
    tangled = memset(Layout((2000, 2000), (2, 3)))
    assert list(tangled.runs()) == [range(0, 1), range(2, 9994), range(9995, 9996)]
    runs = tangled.runs(budget=100)
    assert next(runs) == range(0, 1)
    with pytest.raises(Undecided, match="within a budget of 100 steps"):
        next(runs)
    rows = memset(Layout((1000, 3), (8, 1)))
    assert sum(len(run) for run in rows.runs(budget=0)) == 3000


@pytest.mark.parametrize("budget", [0, 1, 50])
@pytest.mark.parametrize(
    "ask",
    [
        lambda a, b, budget: a.issubset(b, budget),
        lambda a, b, budget: b.issuperset(a, budget),
        lambda a, b, budget: a.isdisjoint(b, budget),
        lambda a, b, budget: a.count(budget),
        lambda a, b, budget: a.blocks(64, budget),
        lambda a, b, budget: list(a.runs(budget)),
    ],
    ids=["issubset", "issuperset", "isdisjoint", "count", "blocks", "runs"],
)
def test_one_question_spends_one_budget(ask, budget, monkeypatch):
    """A question spends only the budget that its error names."""
    a = memset(Layout((40, 40, 40), (1009, 1013, 1019), 200_000))
    b = memset(Layout((400, 400, 400), (1009, 1021, 1031)))
    spent = []

    def spend(self, steps=1):
        spent.append(steps)
        spend_(self, steps)

    spend_ = Budget.spend
    monkeypatch.setattr(Budget, "spend", spend)
    with pytest.raises(Undecided, match=f"not decided within a budget of {budget} steps"):
        ask(a, b, budget)
    assert sum(spent[:-1]) <= budget  # the last one was too many


def test_operators_have_one_budget_for_both_directions(monkeypatch):
    """a < b and a == b ask twice whether one lies inside the other, and spend one default budget."""
    part, whole = memset(Layout((4,), (3,))), memset(Layout((10,), (3,)))
    a, b = memset(Layout((2, 2, 3), (2, 3, 4))), memset(Layout((3, 2, 2), (2, 3, 6)))  # equal
    budgets = []

    class Counted(Budget):
        def __init__(self, steps):
            budgets.append(steps)
            super().__init__(steps)

    monkeypatch.setattr("stridekit.memory.memset.Budget", Counted)
    for ask in (lambda: part < whole, lambda: part > whole, lambda: a == b, lambda: a != b):
        budgets.clear()
        ask()
        assert len(budgets) == 1
