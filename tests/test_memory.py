"""MemorySet against Python's sets and brute force: the protocol, the budget, the price."""

import itertools
import operator

import pytest

from stridekit import Layout, MemorySet, Undecided, memset
from stridekit.memory.memset import has_collision
from stridekit.memory.strided_set import BUDGET, Budget
from tests.brute_force import layout_bytes
from tests.fuzz_memory import check_members, check_protocol


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


NESTED = Layout((4, 6), itemsize=2)
PAIRS = [
    (NESTED, NESTED.t()),
    (NESTED, NESTED[1:, ::2]),
    (NESTED[:, ::2], NESTED[:, 1::2]),
    (NESTED[1:], NESTED[:3]),
    (Layout((3, 4), (2, 3)), Layout((10,))),
    (Layout((5, 5), (3, 4), 30), Layout((2, 9), (-1, 4), 8)),
    (Layout((3, 0), (0, 1), 5), Layout((2,), (0,), 5, 3)),
]


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_two_layouts(a, b):
    """Nested, interleaved, overlapping, backward and empty: what the filled sets say."""
    for x, y in itertools.permutations((a, b)):
        check_protocol(x, y)
        check_members(x)


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
    on_gpu, on_cpu = (MemorySet(0, [(1, 12)], device) for device in ("cuda:0", "cpu"))
    for a, b in itertools.permutations((memset(x), memset(x.clone()), memset(x.clone())), 2):
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
        assert {b: "cpu"}.get(a) is None  # hashes differ, so a dict never has to compare them
        for pair in [(a, b), (b, a)]:
            with pytest.raises(ValueError, match=r"compare two tensors, or Layout\.of\(t\) with"):
                question(*pair)


def test_a_memory_set_is_a_value_of_its_own_kind():
    """Operators return NotImplemented for another kind, as usual in Python; its numbers are fixed."""
    x = MemorySet.of(Layout((3,)))
    for compare in QUESTIONS[:4]:
        with pytest.raises(TypeError, match="not supported between instances"):
            compare(x, {0, 1, 2})
    assert x != {0, 1, 2}
    with pytest.raises(AttributeError, match="never changes"):
        x.first = 5
    with pytest.raises(AttributeError, match="never changes"):
        del x.space


TANGLED = Layout((10**6,) * 3, (10**9 + 7, 10**9 + 9, 10**9 + 21))
SHOWN = {
    "4 bytes: 2 + 6*[0, 4)": memset(Layout((4, 6))[:, 2]),
    "empty": memset(Layout((0,))),
    "2 bytes on cpu: 8*[0, 2)": MemorySet(3, [(8, 2)], "cpu"),
    "4 bytes in storage 'a': 0 + [0, 4)": memset(Layout((4,), storage="a")),
    "1 byte: 0": memset(Layout(())),
    "12 bytes on cuda:1: 8*[0, 3) + [0, 4)": MemorySet(999, [(8, 3), (1, 4)], "cuda:1"),
    "an undecided number of bytes: 0 + 1000000021*[0, 1000000) + 1000000009*[0, 1000000) "
    "+ 1000000007*[0, 1000000)": memset(TANGLED),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_repr_shows_the_digits(shown):
    """The repr has step and size of each digit, but not absolute addresses, which differ in each run."""
    assert repr(SHOWN[shown]) == f"MemorySet({shown})"


def test_nothing_collides_with_nothing():
    """A count of 0 leaves no digits to choose."""
    assert not has_collision([(0, 5), (4, 0), (1, 4)]) and has_collision([(0, 5), (1, 4)])


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


BUDGETED = {
    "issubset": lambda a, b, budget: a.issubset(b, budget),
    "issuperset": lambda a, b, budget: b.issuperset(a, budget),
    "isdisjoint": lambda a, b, budget: a.isdisjoint(b, budget),
    "count": lambda a, b, budget: a.count(budget),
    "blocks": lambda a, b, budget: a.blocks(64, budget),
}


@pytest.mark.parametrize("budget", [0, 1, 50])
@pytest.mark.parametrize("ask", BUDGETED)
def test_a_question_spends_the_budget_that_its_error_names(ask, budget, monkeypatch):
    a = memset(Layout((40, 40, 40), (1009, 1013, 1019), 200_000))
    b = memset(Layout((400, 400, 400), (1009, 1021, 1031)))
    spent, spend = [], Budget.spend
    monkeypatch.setattr(
        Budget, "spend", lambda self, steps=1: spent.append(steps) or spend(self, steps)
    )
    with pytest.raises(Undecided, match=f"not decided within a budget of {budget} steps"):
        BUDGETED[ask](a, b, budget)
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
