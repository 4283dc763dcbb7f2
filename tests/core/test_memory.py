"""Memory sets and the strided sets below them: the protocol, the budget, the price, the blocks.

Here are the cases that tests/core/fuzz_memory.py rarely draws.
"""

import operator
from itertools import combinations_with_replacement, islice, permutations, product

import pytest

from stridekit import (
    Layout,
    MemorySet,
    Undecided,
    has_internal_overlap,
    is_view,
    memset,
    shares_memory,
)
from stridekit.memory.blocks import Blocks, blocks_together
from stridekit.memory.memset import has_collision
from stridekit.memory.strided_set import BUDGET, Budget, _sums_by_heap, count, cut, normal_form
from tests.core.brute_force import bytes_of
from tests.core.fuzz_memory import PLENTY, check_blocks, check_strided_set, part_of

INTERLEAVED = [(6, 10, 15, 35), (9, 10, 11, 13), (1, 5, 7, 31)]
CLUSTERED = [(2, 40), (3, 40), (1001, 5), (1003, 5)]
SHARED_ENDS = [
    [(3, 8), (22, 9), (4, 3)],
    [(19, 4), (29, 10), (15, 3)],
    [(30, 2), (25, 9), (21, 6)],
]
THIN = [(101, 3), (103, 3), (107, 3), (109, 3)]  # fewer choices than numbers
SIZES = [
    (30, 30, 30),
    (5, 80, 3),
    (200, 7, 9),
    (60, 9, 2, 3),
    (4, 4, 4),
]
SETS = [list(zip(*pair, strict=False)) for pair in product(INTERLEAVED, SIZES)]
SETS += [
    [(4, 2), (4, 2)],
    [(1, 4), (3, 2)],
    [(2, 4), (3, 3)],
    [(-1, 4), (3, 2)],
    [(0, 2)],
    CLUSTERED,
    [(1, 4), (4, 2)],
    [(2, 3), (3, 2)],
    [(0, 1), (3, 9)],
    [],
    THIN,
    *SHARED_ENDS,
]


@pytest.mark.parametrize("generators", SETS, ids=str)
def test_sets_of_each_kind(generators):
    """Interleaved, clustered, equal, backward and repeated steps; steps that the finer ones just reach."""
    check_strided_set(generators)


def test_sums_by_heap_come_in_order_each_choice_once():
    multiples = [range(0, step * size, step) for step, size in THIN]
    expected = sorted(map(sum, product(*multiples)))
    assert list(_sums_by_heap(tuple(THIN), Budget(PLENTY))) == expected


def test_interleaved_counts_do_not_grow_with_the_longest():
    """A pattern that repeats is counted once, so the largest size costs nothing."""

    def count_of(size):
        _, normal = normal_form(0, [(6, size), (10, 4), (15, 4)])
        return count(cut(normal), Budget(100))

    start = count_of(1000)
    growth = count_of(1001) - start
    assert count_of(10**9) == start + (10**9 - 1000) * growth


def test_a_part_of_a_budget_is_charged_to_the_whole():
    """A question within a part of the budget has an answer or None, and its steps are spent either way."""

    def costs(steps):
        def answer(share):
            share.spend(steps)
            return "answered"

        return answer

    budget = Budget(10)
    assert budget.within(4, costs(3)) == "answered"
    assert budget.left == 7
    assert budget.within(4, costs(5)) is None
    assert budget.left == 3
    assert budget.within(4, costs(4)) is None
    assert budget.left == 0
    assert budget.within(4, costs(0)) == "answered"
    budget.failed.add((((2, 3), (3, 3)), 1))
    budget.renew()
    assert budget.left == 10
    assert not budget.failed
    budget.spend(8)
    budget.require_room(10)  # as many things as the whole budget has steps, whatever is left of it
    with pytest.raises(Undecided, match="within a budget of 10 steps"):
        budget.require_room(11)


def test_every_small_layout():
    """Two memory sets are equal, with one hash, exactly if their bytes are."""
    first_by_bytes = {}
    shapes = product((1, 2, 3), repeat=3)
    strides = combinations_with_replacement(range(6), 3)
    for shape, stride in product(shapes, strides):
        layout = Layout(shape, stride)
        memory = MemorySet.of(layout)
        filled = frozenset(bytes_of(layout))
        first = first_by_bytes.setdefault(filled, memory)
        assert first == memory
        assert hash(first) == hash(memory)
    distinct = set(first_by_bytes.values())
    assert len(distinct) == len(first_by_bytes)


def test_the_size_of_the_numbers_costs_nothing():
    x = Layout((10**3,) * 4, itemsize=8)
    base = memset(x)
    view = memset(x.permute(3, 1, 0, 2)[::2, 5:])
    assert len(base) == 8 * 10**12
    assert len(view) == 8 * 500 * 995 * 10**6
    assert view < base
    assert not base <= view
    assert not base < memset(x)
    assert memset(x) <= base
    assert not base.isdisjoint(view)
    even_rows = memset(x[::2])
    odd_rows = memset(x[1::2])
    assert even_rows.isdisjoint(odd_rows)
    first_bytes = islice(memset(x[:, 5]), 3)
    assert list(first_bytes) == [40_000_000, 40_000_001, 40_000_002]
    huge = memset(Layout((10**30,)))
    assert huge.count() == 10**30
    with pytest.raises(OverflowError):
        len(huge)


def test_spaces_do_not_meet():
    """A copied layout, and sets of two devices, have no byte in common; the empty set is one."""
    x = Layout((3, 4))
    on_gpu = MemorySet(0, [(1, 12)], "cuda:0")
    on_cpu = MemorySet(0, [(1, 12)], "cpu")
    in_storages = (memset(x), memset(x.clone()), memset(x.clone()))
    for a, b in permutations(in_storages, 2):
        assert a.isdisjoint(b)
        assert not a <= b
        assert a != b
    assert on_gpu.isdisjoint(on_cpu)
    assert not on_gpu <= on_cpu
    assert on_gpu != on_cpu
    empty = MemorySet(5, [(1, 0)], "cuda:0")
    empty_on_cpu = MemorySet(9, [(0, 0), (4, 2)], "cpu")
    empty_in_storage = memset(x[:0])
    assert empty != memset(x)
    assert empty_in_storage != on_cpu  # which is known wherever they count from
    assert empty == empty_on_cpu
    assert empty_on_cpu == empty_in_storage
    assert hash(empty) == hash(empty_in_storage)
    assert empty < on_cpu
    assert empty.isdisjoint(empty)


ORDERINGS = [
    operator.le,
    operator.lt,
    operator.ge,
    operator.gt,
]
QUESTIONS = [
    *ORDERINGS,
    operator.eq,
    operator.ne,
    MemorySet.issubset,
    MemorySet.issuperset,
    MemorySet.isdisjoint,
    lambda a, b: a in [b],
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_layout_is_not_compared_with_a_device(question):
    """Addresses within a storage and absolute addresses are never compared, in either order."""
    in_storages = [MemorySet.of(Layout((3,))), MemorySet.of(Layout((3, 1)).clone())]
    on_cpu = [MemorySet(first, [(1, 3)], "cpu") for first in (0, 7)]
    advice = r"compare two tensors, or Layout\.of\(t\) with"
    for a, b in product(in_storages, on_cpu):
        assert {b: "cpu"}.get(a) is None  # hashes differ, so a dict never has to compare them
        with pytest.raises(ValueError, match=advice):
            question(a, b)
        with pytest.raises(ValueError, match=advice):
            question(b, a)


def test_a_memory_set_is_a_value_of_its_own_kind():
    """Operators return NotImplemented for another kind, as usual in Python; its numbers are fixed."""
    x = MemorySet.of(Layout((3,)))
    for compare in ORDERINGS:
        with pytest.raises(TypeError, match="not supported between instances"):
            compare(x, {0, 1, 2})
    assert x != {0, 1, 2}
    with pytest.raises(AttributeError, match="never changes"):
        x.first = 5
    with pytest.raises(AttributeError, match="never changes"):
        del x.space


TANGLED = Layout((10**6,) * 3, (10**9 + 7, 10**9 + 9, 10**9 + 21))


@pytest.mark.parametrize(
    ("memory", "shown"),
    [
        (
            memset(Layout((4, 6))[:, 2]),
            "4 bytes: 2 + 6*[0, 4)",
        ),
        (
            memset(Layout((0,))),
            "empty",
        ),
        (
            MemorySet(3, [(8, 2)], "cpu"),
            "2 bytes on cpu: 8*[0, 2)",
        ),
        (
            memset(Layout((4,), storage="a")),
            "4 bytes in storage 'a': 0 + [0, 4)",
        ),
        (
            MemorySet(999, [(8, 3), (1, 4)], "cuda:1"),
            "12 bytes on cuda:1: 8*[0, 3) + [0, 4)",
        ),
        (
            memset(TANGLED),
            "an undecided number of bytes: "
            "0 + 1000000021*[0, 1000000) + 1000000009*[0, 1000000) + 1000000007*[0, 1000000)",
        ),
    ],
)
def test_repr_shows_the_digits(memory, shown):
    assert repr(memory) == f"MemorySet({shown})"


def test_nothing_collides_with_nothing():
    assert not has_collision([(0, 5), (4, 0), (1, 4)])
    assert has_collision([(0, 5), (1, 4)])


@pytest.mark.parametrize("size", [10**9, 10**30])
@pytest.mark.parametrize("steps", [(2, 3), (6, 10, 15), TANGLED.stride])
def test_the_first_bytes_come_at_once(steps, size):
    """Even of a set too large to finish, and inside a single endless run."""
    endless = Layout((size,) * len(steps), steps)
    beginning = Layout((31,) * len(steps), steps)
    expected = sorted(bytes_of(beginning))[:30]
    assert list(islice(memset(endless), 30)) == expected


def test_iteration_goes_on_beyond_the_budget_of_a_byte():
    """Each byte has a budget of its own, so there may be more bytes than steps."""
    endless = memset(Layout((10**9, 10**9), (2, 3)))
    last = next(islice(endless, BUDGET + 5, None))
    assert last == BUDGET + 6  # of the bytes 0, 2, 3, 4 … only 1 is missing


def test_iteration_keeps_little_in_memory():
    stride = [10**18 + 3**k for k in range(60)]
    tangled = memset(Layout((2,) * 60, stride))
    with pytest.raises(Undecided, match="within a budget of 100,000 steps"):
        list(islice(tangled, 300_000))


HARD = Layout((2,) * 60, [10**12 + k**5 for k in range(60)])
BUDGETED = {
    "issubset": lambda a, b, budget: memset(a).issubset(memset(b), budget),
    "issuperset": lambda a, b, budget: memset(b).issuperset(memset(a), budget),
    "isdisjoint": lambda a, b, budget: memset(a).isdisjoint(memset(b), budget),
    "count": lambda a, b, budget: memset(a).count(budget),
    "blocks": lambda a, b, budget: memset(a).blocks(64, budget),
    "is_view": lambda a, b, budget: is_view(a, b, budget),
    "shares_memory": lambda a, b, budget: shares_memory(a, b, budget),
    "has_internal_overlap": lambda a, b, budget: has_internal_overlap(HARD, budget),
}


@pytest.mark.parametrize("budget", [0, 1, 50])
@pytest.mark.parametrize("name", BUDGETED)
def test_a_question_spends_the_budget_that_its_error_names(name, budget, monkeypatch):
    a = Layout((40, 40, 40), (1009, 1013, 1019), 200_000)
    b = Layout((400, 400, 400), (1009, 1021, 1031))
    expenses = []
    spend = Budget.spend

    def record_and_spend(self, steps=1):
        expenses.append(steps)
        spend(self, steps)

    monkeypatch.setattr(Budget, "spend", record_and_spend)
    with pytest.raises(Undecided, match=f"not decided within a budget of {budget} steps"):
        BUDGETED[name](a, b, budget)
    assert sum(expenses[:-1]) <= budget  # the last one was too many


def test_blocks_of_many_elements_cost_nothing():
    x = Layout((10**6, 10**6), itemsize=4)
    all_blocks = 62_500_000_000
    blocks = memset(x).blocks(64, budget=10)
    assert blocks == Blocks(64, all_blocks, all_blocks)
    blocks = memset(x[:, 7]).blocks(64, budget=10)
    assert blocks == Blocks(64, 10**6, 0)
    blocks = memset(x[:, ::16]).blocks(64, budget=10)
    assert blocks.touched == all_blocks
    dense = Layout((1001, 1003, 1007, 1009))
    odd = dense[::2, 5:, ::3, 1:].permute(3, 1, 0, 2)
    for size in (32, 64, 4096):
        memset(odd).blocks(size, budget=3000)
    huge = Layout((10**30, 10**40), (10**50, 64))
    assert memset(huge).blocks(64) == Blocks(64, 10**70, 0)


def test_two_columns_of_rows_that_end_inside_a_block():
    """A row may end in the block in which the next begins; the last row has no next."""
    first_widths = (1, 10, 40)
    starts = (50, 75, 90)
    widths = (5, 10)
    for first_width, start, width in product(first_widths, starts, widths):
        first = (0, ((1, first_width), (100, 3)))
        second = (start, ((1, width), (100, 3)))
        check_blocks([first, second], 16)
        check_blocks([first, second], 64)


def test_one_set_ends_within_a_block_where_another_goes_on():
    first = (64, ((1, 48), (112, 4)))
    second = (0, ((1, 16), (48, 3), (112, 6)))
    check_blocks([first, second], 3)
    first = (896, ((1, 96), (112, 8)))
    second = (96, ((1, 16), (112, 48)))
    check_blocks([first, second], 7)


def test_what_is_written_out_ends_in_undecided():
    """Sets without a common step run out of budget soon, and do not overflow Python's stack."""
    wide = [normal_form(0, [(2**20 + k, 10**9)]) for k in (0, 1)]
    powers = [3**i for i in range(600)]
    deep = [part_of(Layout((2,) * 600, powers, offset)) for offset in (0, 3**300)]
    for parts in (wide, deep):
        with pytest.raises(Undecided, match="within a budget of 250,000 steps"):
            blocks_together(parts, 64, Budget(250_000))
