"""Predicted traffic against the lines of every byte, and a cache filled visit by visit."""

import random
from collections import OrderedDict
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout, loop_nest, memset, output_layout, traffic
from stridekit.cost.refetch import CacheSets, Walk, fetched_lines
from stridekit.cost.warp import warp_sectors
from stridekit.memory.strided_set import Budget
from tests.core.brute_force import address_of, blocks_of, bytes_of, partial_of
from tests.core.strategies import tensors

PLENTY = 1_000_000


def views_of(storages, rng, count):
    """Views, mostly of the first storage, and rarely empty."""
    views = []
    for _ in range(count):
        x = storages[max(0, rng.randint(-2, len(storages) - 1))]
        starts = [rng.randrange(n) for n in x.shape]
        ends = [rng.randint(first + 1, n) for first, n in zip(starts, x.shape, strict=True)]
        x = x[tuple(map(slice, starts, ends, rng.choices((1, 2, 3), k=2)))]
        views.append(x.t() if rng.random() < 0.5 else x[: rng.randint(0, 40)])
    return views


@given(tensors())
def test_the_numbers_of_one_operand(x):
    numbers = bytes_of(x)
    [operand] = traffic(reads=x).operands
    assert operand.useful == len(numbers)
    assert operand.lines == len(blocks_of(numbers))
    assert operand.partial == len(partial_of(numbers))
    for line in (64, 256):  # sectors have 32 bytes, whatever the line
        assert traffic(reads=x, line=line).operands[0].sectors == len(blocks_of(numbers, 32))


@given(st.randoms(use_true_random=True))
def test_lines_that_operands_share_count_once(rng):
    storages = torch.zeros(40, 40), torch.zeros(30, 40)
    reads = views_of(storages, rng, rng.randint(0, 3))
    writes = views_of(storages, rng, rng.randint(0 if reads else 1, 2))
    read = set().union(*(set(memset(x)) for x in reads))
    written = set().union(*(set(memset(x)) for x in writes))
    lines_read = blocks_of(read)
    lines_written = blocks_of(written)
    dense_read = -(-len(read) // 64)
    dense_written = -(-len(written) // 64)

    bypass = traffic(reads, writes)
    assert bypass.store == "bypass" and bypass.useful == len(read) + len(written)
    assert (bypass.lines_read, bypass.lines_written) == (len(lines_read), len(lines_written))
    assert bypass.lines_kept == len(partial_of(written) - lines_read)
    assert bypass.moved == 64 * (bypass.lines_read + bypass.lines_written + bypass.lines_kept)
    dense_kept = min(bypass.lines_kept, len(written) % 64 > 0)  # the last line that is written
    assert bypass.minimum == 64 * (dense_read + dense_written + dense_kept) <= bypass.moved
    assert 0 < bypass.efficiency <= 1

    allocate = traffic(reads, writes, store="allocate")
    assert allocate.lines_kept == len(lines_written - lines_read)
    dense_kept = min(allocate.lines_kept, dense_written)
    assert allocate.minimum == 64 * (dense_read + dense_written + dense_kept) <= allocate.moved
    assert (allocate.lines_read, allocate.lines_written) == (len(lines_read), len(lines_written))


@given(tensors(), st.sampled_from([1, 16, 32, 64, 128]), st.integers(0, 15))
def test_a_layout_begins_at_its_alignment(x, line, alignment):
    """The alignment of a storage moves all of its lines; meta tensors are counted like layouts."""
    layout = Layout.of(x)
    alignment %= line
    numbers = {byte + alignment for byte in bytes_of(layout)}
    aligned = traffic(reads=layout, line=line, alignment=alignment)
    assert aligned.lines_read == len(blocks_of(numbers, line))
    with FakeTensorMode():
        fake = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)
    meta = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    without_offset = Layout(x.shape, x.stride(), 0, x.element_size())
    expected = traffic(reads=without_offset, line=line)
    assert traffic(reads=meta, line=line) == traffic(reads=fake, line=line) == expected


def test_storages_of_results_and_of_meta_tensors():
    x = Layout((1000,), itemsize=4)
    assert traffic(reads=(x, output_layout(x))).lines_read == 126
    meta = torch.empty(64, 64, device="meta")
    assert traffic(reads=(meta, meta.t())).lines_read == 256
    assert traffic(reads=(meta[:, ::2], meta[:, 1::2])).useful == 4 * 64 * 64
    assert traffic(reads=(meta, torch.empty_like(meta))).lines_read == 512


def test_one_byte_in_a_last_line_is_kept_even_if_all_is_dense():
    bypass = traffic(writes=Layout((65,)))
    assert bypass.minimum == bypass.moved == 3 * 64


def test_a_store_that_allocates_reads_what_it_writes():
    """A fill, a copy and a sum of two move 2, 3 and 4 lines, not 1, 2 and 3; in place, no more."""
    x, y, out = (Layout((64, 64), itemsize=4, storage=name) for name in "xyz")
    nbytes = 4 * out.numel
    for cache in (None, 1024):
        for reads, arrays in (((), 1), (x, 2), ((x, y), 3)):
            bypass = traffic(reads, out, cache=cache, store="bypass")
            allocate = traffic(reads, out, cache=cache, store="allocate")
            assert (bypass.moved, allocate.moved) == (arrays * nbytes, (arrays + 1) * nbytes)
        assert traffic(x, x, cache=cache, store="allocate").moved == 2 * nbytes


def test_the_number_of_elements_costs_nothing():
    """10**12 elements, dense, cut, permuted and through a cache, in a few hundred steps."""
    x, y, out = (Layout((10**6, 10**6), itemsize=4, storage=name) for name in "xyz")
    once = traffic((x, y.t()), out, budget=300)
    assert (once.moved, once.efficiency) == (64 * 187_500_000_000, 1.0)
    cached = traffic((x, y.t()), out, cache=2**20, budget=300)
    assert [operand.fetched for operand in cached.operands] == [625 * 10**8, 10**12, 625 * 10**8]
    assert traffic(reads=x[:, ::16], budget=300).efficiency == 1 / 16
    for pair in ((x[:, ::2], x[:, 1::2]), (x[::2], x[1::2]), (x[:-1], x[1:])):
        assert traffic(pair, budget=300).lines_read == 625 * 10**8
    assert traffic((x, y.t()), out, store="allocate", budget=300).moved == 64 * 250_000_000_000
    odd = Layout((1001, 1003, 1007, 1009), itemsize=4)[::2, 5:, ::3, 1:].permute(3, 1, 0, 2)
    assert traffic(odd, odd.contiguous(), budget=3000).lines_written * 16 >= odd.numel


class Cache:
    """Sets of `ways` lines, each of which evicts the least recently used one."""

    def __init__(self, ways, sets=1):
        self.ways = ways
        self.lines_of_sets = [OrderedDict() for _ in range(sets)]

    def misses(self, number):
        """Use a line; True if the cache did not have it."""
        lines = self.lines_of_sets[number % len(self.lines_of_sets)]
        is_miss = number not in lines
        lines[number] = None
        lines.move_to_end(number)
        if len(lines) > self.ways:
            lines.popitem(last=False)
        return is_miss


def lru(walks, line, lines):
    """The lines that each walk fetches through a cache of so many lines, visit by visit."""
    cache = Cache(lines)
    misses = [0] * len(walks)
    for index in product(*(range(n) for _, n in walks[0].loops)):
        for k, walk in enumerate(walks):
            steps = zip(index, walk.loops, strict=True)
            first = walk.start + sum(i * step for i, (step, _) in steps)
            last = first + walk.itemsize - 1
            for number in range(first // line, last // line + 1):
                misses[k] += cache.misses(number)
    return misses


def random_walks(rng):
    """Loops over one operand to three: dense, in any order, with gaps, repeated."""
    shape = [rng.choice([2, 3, 5, 8, 16, 20, 33]) for _ in range(rng.randint(1, 3))]
    walks = []
    base = 0
    for _ in range(rng.choice([1, 1, 2, 3])):
        itemsize = rng.choice([4, 8, 8])
        stride = [0] * len(shape)
        step = 1
        for d in rng.sample(range(len(shape)), len(shape)):
            if rng.random() < 0.9:
                stride[d] = step
            step *= shape[d]
            step += rng.choice([0, 0, rng.randint(1, 9)])
        loops = tuple((itemsize * c, n) for c, n in zip(stride, shape, strict=True))
        walks.append(Walk(base + itemsize * rng.choice([0, 0, 1, 2, 8]), loops, itemsize))
        base += (step * itemsize // 4096 + 2) * 4096
    return walks


def test_fetched_lines_against_a_cache_filled_visit_by_visit():
    """Exact where all fits; else nearly always, and rarely more than a tenth off."""
    rng = random.Random(0)
    exact = 0
    near = 0
    total = 0
    for _ in range(250):
        walks = random_walks(rng)
        lines = max(rng.choice([2, 4, 8, 16, 32, 64]), len(walks))
        fetches = fetched_lines(walks, 64, lines, Budget(PLENTY))
        assert all(0 <= blocks.filled <= blocks.touched for blocks in fetches)
        predicted = [blocks.touched for blocks in fetches]
        expected = lru(walks, 64, lines)
        if sum(lru(walks, 64, PLENTY)) <= lines:
            assert predicted == expected
        else:
            total += 1
            exact += predicted == expected
            near += 0.9 <= sum(predicted) / sum(expected) <= 1.1
    assert total > 60 and exact >= 0.85 * total and near >= 0.9 * total


@pytest.mark.parametrize(
    ("outer", "inner", "lines"),
    [((32, 5), (96, 5), 7), ((32, 3), (96, 2), 3), ((16, 5), (96, 5), 7)],
)
def test_turns_that_just_fit(outer, inner, lines):
    """As many turns as fill the cache to its last line are still there; one line less, and they go."""
    walk = Walk(0, (outer, inner), 4)
    for cache in (lines - 1, lines, lines + 1):
        [fetches] = fetched_lines([walk], 64, cache, Budget(PLENTY))
        assert [fetches.touched] == lru([walk], 64, cache)


def test_lines_that_come_in_parts_are_not_filled():
    """Three whole lines are touched, and none of the 16 fetches fills one: never a negative number."""
    in_parts = Walk(4, ((4, 3), (12, 3), (36, 2)), 4)
    one_turn = Walk(5, ((4, 2), (1, 1), (2, 2)), 2)  # bytes 5 to 12: this loop only moves on
    for walk, line, lines, counts in [(in_parts, 16, 2, (16, 0)), (one_turn, 4, 1, (3, 1))]:
        [fetches] = fetched_lines([walk], line, lines, Budget(PLENTY))
        assert (fetches.touched, fetches.filled) == counts


def test_a_line_that_two_rows_share_comes_twice_column_by_column():
    """A column of 64 fits, but the end of a row is needed long after its line came, and fills no line."""
    x = Layout((64, 48), (50, 1), itemsize=4)
    column_by_column = {"cache": 64 * 80, "order": (1, 0)}
    lines_read = traffic(reads=x, **column_by_column).lines_read
    assert [lines_read] == lru([Walk(0, ((4, 48), (200, 64)), 4)], 64, 80)
    assert lines_read > traffic(reads=x).lines_read
    written = traffic(writes=Layout((64, 50), itemsize=4), **column_by_column)
    written_twice = written.lines_written - 200  # the line between two rows comes in two parts
    assert written_twice > 10 and written.lines_kept == 2 * written_twice


def test_operands_of_one_walk_are_fetched_together():
    """They need room once, and lines that are read anyway are not read again to be kept."""
    x, y = (Layout((64, 48), (64, 1), itemsize=4, storage=name) for name in "xy")
    by_columns = {"cache": 64 * 64, "order": (1, 0)}  # a column of 64 just fits
    assert traffic(x, **by_columns).lines_read == 64 * 3
    assert traffic((x, x), **by_columns).lines_read == 64 * 3
    assert traffic((x, y), **by_columns).lines_read > 2 * 64 * 3  # two storages need it twice
    half = Layout((512, 512), itemsize=4)[:, ::2]
    in_place = traffic(half, half, cache=4096, order=(1, 0))
    assert (in_place.lines_read, in_place.lines_written) == (half.numel, half.numel)
    assert in_place.lines_kept == 0
    assert traffic(writes=half, cache=4096, order=(1, 0)).lines_kept == half.numel


def test_nothing_is_fetched_where_a_loop_has_no_turn():
    empty = torch.empty(0, 4096)
    row = torch.empty(1, 4096)
    both = traffic((empty, row), cache=1024)
    _, row_of_table = both.operands
    assert (both.moved, row_of_table.fetched) == (0, 0)
    assert row_of_table.lines == traffic(row).lines_read > 16


def test_the_loops_are_those_of_torch():
    """x.t() + 1 is walked as it lies; into a contiguous out, one side is against the grain."""
    x = Layout((512, 512), itemsize=4)
    out = x.clone()
    assert loop_nest(x.t())[0].shape == (512 * 512,)
    assert traffic(reads=x.t(), cache=4096).efficiency == 1
    transposed = traffic(reads=x.t(), writes=out, cache=4096)
    assert [operand.fetched for operand in transposed.operands] == [512 * 512, 512 * 512 // 16]
    by_columns = traffic(writes=out, cache=4096, order=(1, 0))
    assert by_columns.lines_written == by_columns.lines_kept == 512 * 512


def test_a_cast_is_an_operation_of_its_own():
    """The loops read a copy, whose bytes are not listed; list the copy, and it is counted."""
    x = torch.empty(4, 64)
    y = torch.empty(4, 64, dtype=torch.float64)
    z = torch.empty(4, 64, dtype=torch.complex64)
    for reads, writes in [((x, y), y), ((y, x.int()), ()), ((y, y), x), (z.conj(), z)]:
        assert traffic(reads, writes).moved == traffic(reads, writes, cache=256, order=(0, 1)).moved
    copy = x.double()
    assert traffic((copy, y), torch.empty_like(y), cache=256).lines_read == 2 * 4 * 8
    assert traffic((x, x), torch.empty(4, 64, dtype=torch.bool), cache=256).lines_written == 4


def misses_of(addresses, sets, ways, line):
    """The misses of a plain cache of sets."""
    cache = Cache(ways, sets)
    return sum(cache.misses(address // line) for address in addresses)


@given(
    st.lists(st.integers(0, 999) | st.integers(2**64 - 999, 2**64 + 99), max_size=80),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([1, 16, 24, 64]),
)
@example([0, 1, 0, 2, 0], 1, 2, 1)  # a line that is used again stays
def test_misses_against_a_plain_cache(addresses, sets, ways, line):
    cache = CacheSets(sets, ways, line)
    assert cache.misses(addresses) == misses_of(addresses, sets, ways, line)
    addresses = [address % 2**64 for address in addresses]
    expected = misses_of(addresses, sets, ways, line)
    assert cache.misses(np.array(addresses, np.uint64)) == expected


@given(tensors(), st.integers(1, 9), st.integers(1, 3), st.randoms())
def test_a_layout_is_walked_in_the_order_of_its_indices(x, sets, ways, rng):
    layout = Layout.of(x)
    order = rng.sample(range(x.ndim), x.ndim)
    cache = CacheSets(sets, ways)
    addresses = [layout.address(index) for index in product(*map(range, layout.shape))]
    assert cache.misses(layout) == misses_of(addresses, sets, ways, 64)
    assert cache.misses(layout, order) == cache.misses(layout.permute(order))


@pytest.mark.parametrize(("layout", "misses"), [
    (Layout((5,), (2**62,)), 5),
    (Layout((5,), (2**4000,), 2**4000, 2**70), 5),
    (Layout((2**70, 0)), 0),
    (Layout((1,) * 100), 1),
])  # fmt: skip
def test_addresses_have_no_limit(layout, misses):
    """Addresses beyond 64 bits stay apart; an empty layout visits nothing; any number of dims will do."""
    assert CacheSets(sets=2, ways=8).misses(layout) == misses


def test_the_table_names_lines_that_are_kept_the_cache_and_what_stores_do():
    x, out = Layout((100, 100), itemsize=4), Layout((100, 100), itemsize=4, storage="out")
    table = traffic((x, x.t()), (x[1:], x[2:]))
    names = [operand.name for operand in table.operands]
    assert names == ["read 0", "read 1", "write 0", "write 1"]
    assert str(traffic(reads=x, writes=out[:, 7])).endswith(
        "  write 0           400    100      100      100\n"
        "  moved: 52,800 bytes (625 lines read, 100 written, 100 read only to keep their rest); "
        "dense: 40,512, 77 % of that"
    )
    title, head, *_ = str(traffic(reads=x, cache=4096)).splitlines()
    assert title.endswith(", a cache of 4,096 bytes") and head.endswith("sectors  fetched")
    title, *_, last = str(traffic(x, out, store="allocate")).splitlines()
    assert title.endswith("64 bytes; lines are read before they are written")
    assert "625 written, 625 read only because they are written); dense: 120,000, 100 %" in last


@given(tensors(), st.sampled_from([1, 4, 32]), st.sampled_from([8, 32, 64]))
def test_sectors_of_a_warp(x, lanes, sector):
    """Each warp takes its elements in the order of the indices: the sectors of their bytes."""
    indices = product(*map(range, x.shape))
    addresses = [address_of(x, index) for index in indices]
    for warp in range(-(-len(addresses) // lanes)):
        numbers = set()
        for address in addresses[warp * lanes : (warp + 1) * lanes]:
            numbers |= {*range(address, address + x.itemsize)}
        result = warp_sectors(x, warp, lanes=lanes, sector=sector)
        assert result.sectors == len(blocks_of(numbers, sector))
        assert result.useful == len(numbers)
        assert result.minimum <= result.sectors and 0 < result.efficiency <= 1


def test_sectors_of_a_negative_stride_an_alignment_and_huge_elements():
    assert warp_sectors(Layout((32,), (-1,), 31, 4)).sectors == 4
    assert warp_sectors(Layout((32,), itemsize=4), alignment=4).sectors == 5
    assert warp_sectors(Layout((10**6, 10**6), itemsize=4), 10**9).sectors == 4
    for step, useful in ((0, 10**18), (1, 32 * 10**18), (2, 32 * 10**18)):  # no byte is counted
        result = warp_sectors(Layout((32,), (step,), itemsize=10**18))
        assert (result.sectors, result.useful) == (useful // 32, useful)
