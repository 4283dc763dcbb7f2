"""Predicted traffic against the lines of every byte, and a cache filled visit by visit."""

import random
from collections import OrderedDict
from dataclasses import replace
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
        storage_number = max(0, rng.randint(-2, len(storages) - 1))
        storage = storages[storage_number]
        starts = [rng.randrange(n) for n in storage.shape]
        ends = []
        for first, n in zip(starts, storage.shape, strict=True):
            ends.append(rng.randint(first + 1, n))
        steps = rng.choices((1, 2, 3), k=2)
        view = storage[tuple(map(slice, starts, ends, steps))]
        is_turned = rng.random() < 0.5
        views.append(view.t() if is_turned else view[: rng.randint(0, 40)])
    return views


def lines_read(reads, **options):
    """The lines that the reads alone fetch."""
    return traffic(reads, **options).lines_read


@given(tensors())
def test_the_numbers_of_one_operand(x):
    numbers = bytes_of(x)
    [operand] = traffic(reads=x).operands
    assert operand.useful == len(numbers)
    assert operand.lines == len(blocks_of(numbers))
    assert operand.partial == len(partial_of(numbers))
    sectors = len(blocks_of(numbers, 32))
    for line in (64, 256):  # sectors have 32 bytes, whatever the line
        [operand] = traffic(reads=x, line=line).operands
        assert operand.sectors == sectors


@given(st.randoms(use_true_random=True))
def test_lines_that_operands_share_count_once(rng):
    storages = torch.zeros(40, 40), torch.zeros(30, 40)
    reads = views_of(storages, rng, rng.randint(0, 3))
    writes = views_of(storages, rng, rng.randint(0 if reads else 1, 2))
    read = set().union(*map(memset, reads))
    written = set().union(*map(memset, writes))
    read_lines = blocks_of(read)
    written_lines = blocks_of(written)
    dense_lines = -(-len(read) // 64) + -(-len(written) // 64)

    bypass = traffic(reads, writes)
    assert bypass.store == "bypass"
    assert bypass.useful == len(read) + len(written)
    assert bypass.lines_read == len(read_lines)
    assert bypass.lines_written == len(written_lines)
    assert bypass.lines_kept == len(partial_of(written) - read_lines)
    moved_lines = bypass.lines_read + bypass.lines_written + bypass.lines_kept
    assert bypass.moved == 64 * moved_lines
    has_partial_line = len(written) % 64 > 0  # the last line that is written
    dense_kept = min(bypass.lines_kept, has_partial_line)
    assert bypass.minimum == 64 * (dense_lines + dense_kept)
    assert bypass.minimum <= bypass.moved
    assert 0 < bypass.efficiency <= 1

    allocate = traffic(reads, writes, store="allocate")
    assert allocate.lines_kept == len(written_lines - read_lines)
    dense_written = -(-len(written) // 64)
    dense_kept = min(allocate.lines_kept, dense_written)
    assert allocate.minimum == 64 * (dense_lines + dense_kept)
    assert allocate.minimum <= allocate.moved
    assert allocate.lines_read == len(read_lines)
    assert allocate.lines_written == len(written_lines)


@given(tensors(), st.sampled_from([1, 16, 32, 64, 128]), st.integers(0, 15))
def test_a_layout_begins_at_its_alignment(x, line, alignment):
    """The alignment of a storage moves all of its lines; meta tensors are counted like layouts."""
    layout = Layout.of(x)
    alignment %= line
    numbers = {byte + alignment for byte in bytes_of(layout)}
    aligned_lines = lines_read(layout, line=line, alignment=alignment)
    assert aligned_lines == len(blocks_of(numbers, line))
    without_offset = Layout(x.shape, x.stride(), 0, x.element_size())
    expected = traffic(without_offset, line=line)
    with FakeTensorMode():
        fake = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)
    assert traffic(fake, line=line) == expected
    meta = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    assert traffic(meta, line=line) == expected


def test_storages_of_results_and_of_meta_tensors():
    x = Layout((1000,), itemsize=4)
    result = output_layout(x)
    assert lines_read((x, result)) == 126
    meta = torch.empty(64, 64, device="meta")
    assert lines_read((meta, meta.t())) == 256
    another = torch.empty_like(meta)
    assert lines_read((meta, another)) == 512
    even_columns = meta[:, ::2]
    odd_columns = meta[:, 1::2]
    assert traffic((even_columns, odd_columns)).useful == 4 * 64 * 64


def test_one_byte_in_a_last_line_is_kept_even_if_all_is_dense():
    bypass = traffic(writes=Layout((65,)))
    assert bypass.moved == 3 * 64
    assert bypass.minimum == bypass.moved


def test_a_store_that_allocates_reads_what_it_writes():
    """A fill, a copy and a sum of two move 2, 3 and 4 lines, not 1, 2 and 3; in place, no more."""
    x, y, out = (Layout((64, 64), itemsize=4, storage=name) for name in "xyz")
    nbytes = 4 * out.numel
    operations = [((), 1), (x, 2), ((x, y), 3)]  # the reads of each, and the arrays that it moves
    for cache in (None, 1024):
        for reads, arrays in operations:
            bypass = traffic(reads, out, cache=cache, store="bypass")
            allocate = traffic(reads, out, cache=cache, store="allocate")
            assert bypass.moved == arrays * nbytes
            assert allocate.moved == (arrays + 1) * nbytes
        in_place = traffic(x, x, cache=cache, store="allocate")
        assert in_place.moved == 2 * nbytes


def test_the_number_of_elements_costs_nothing():
    """10**12 elements, dense, cut, permuted and through a cache, in a few hundred steps."""
    x, y, out = (Layout((10**6, 10**6), itemsize=4, storage=name) for name in "xyz")
    reads = (x, y.t())
    dense_lines = 625 * 10**8  # of one operand, with 16 elements a line
    once = traffic(reads, out, budget=300)
    assert once.moved == 64 * 3 * dense_lines
    assert once.efficiency == 1.0
    allocate = traffic(reads, out, store="allocate", budget=300)
    assert allocate.moved == 64 * 4 * dense_lines
    cached = traffic(reads, out, cache=2**20, budget=300)
    fetched = [operand.fetched for operand in cached.operands]
    assert fetched == [dense_lines, 10**12, dense_lines]
    one_of_16 = traffic(x[:, ::16], budget=300)
    assert one_of_16.efficiency == 1 / 16
    pairs = [
        (x[:, ::2], x[:, 1::2]),
        (x[::2], x[1::2]),
        (x[:-1], x[1:]),
    ]
    for pair in pairs:
        assert lines_read(pair, budget=300) == dense_lines
    dense = Layout((1001, 1003, 1007, 1009), itemsize=4)
    odd = dense[::2, 5:, ::3, 1:].permute(3, 1, 0, 2)
    copy = traffic(odd, odd.contiguous(), budget=3000)
    assert copy.lines_written * 16 >= odd.numel


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
    turns = [range(n) for _, n in walks[0].loops]
    for index in product(*turns):
        for k, walk in enumerate(walks):
            first = walk.start
            for i, (step, _) in zip(index, walk.loops, strict=True):
                first += i * step
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
        steps = [0] * len(shape)
        step = itemsize
        for d in rng.sample(range(len(shape)), len(shape)):
            if rng.random() < 0.9:
                steps[d] = step
            step *= shape[d]
            step += itemsize * rng.choice([0, 0, rng.randint(1, 9)])
        loops = tuple(zip(steps, shape, strict=True))
        start = base + itemsize * rng.choice([0, 0, 1, 2, 8])
        walks.append(Walk(start, loops, itemsize))
        base += (step // 4096 + 2) * 4096
    return walks


def test_fetched_lines_against_a_cache_filled_visit_by_visit():
    """Exact where all fits; else nearly always, and rarely more than a tenth off."""
    rng = random.Random(0)
    exact = 0
    near = 0
    total = 0
    for _ in range(250):
        walks = random_walks(rng)
        lines = rng.choice([2, 4, 8, 16, 32, 64])
        lines = max(lines, len(walks))
        predicted = []
        for blocks in fetched_lines(walks, 64, lines, Budget(PLENTY)):
            assert 0 <= blocks.filled <= blocks.touched
            predicted.append(blocks.touched)
        expected = lru(walks, 64, lines)
        fits = sum(lru(walks, 64, PLENTY)) <= lines
        if fits:
            assert predicted == expected
        else:
            total += 1
            exact += predicted == expected
            near += 0.9 <= sum(predicted) / sum(expected) <= 1.1
    assert total > 60
    assert exact >= 0.85 * total
    assert near >= 0.9 * total


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
    [fetches] = fetched_lines([in_parts], 16, 2, Budget(PLENTY))
    assert fetches.touched == 16
    assert fetches.filled == 0
    one_turn = Walk(5, ((4, 2), (1, 1), (2, 2)), 2)  # bytes 5 to 12: this loop only moves on
    [fetches] = fetched_lines([one_turn], 4, 1, Budget(PLENTY))
    assert fetches.touched == 3
    assert fetches.filled == 1


def test_a_line_that_two_rows_share_comes_twice_column_by_column():
    """A column of 64 fits, but the end of a row is needed long after its line came, and fills no line."""
    x = Layout((64, 48), (50, 1), itemsize=4)
    column_by_column = {"cache": 64 * 80, "order": (1, 0)}
    walk = Walk(0, ((4, 48), (200, 64)), 4)
    fetched = lines_read(x, **column_by_column)
    assert [fetched] == lru([walk], 64, 80)
    assert fetched > lines_read(x)
    dense = Layout((64, 50), itemsize=4)
    written = traffic(writes=dense, **column_by_column)
    written_twice = written.lines_written - 200  # the line between two rows comes in two parts
    assert written_twice > 10
    assert written.lines_kept == 2 * written_twice


def test_operands_of_one_walk_are_fetched_together():
    """They need room once, and lines that are read anyway are not read again to be kept."""
    x, y = (Layout((64, 48), (64, 1), itemsize=4, storage=name) for name in "xy")
    by_columns = {"cache": 64 * 64, "order": (1, 0)}  # a column of 64 just fits
    assert lines_read(x, **by_columns) == 64 * 3
    assert lines_read((x, x), **by_columns) == 64 * 3
    assert lines_read((x, y), **by_columns) > 2 * 64 * 3  # two storages need it twice
    half = Layout((512, 512), itemsize=4)[:, ::2]
    in_place = traffic(half, half, **by_columns)
    assert in_place.lines_read == half.numel
    assert in_place.lines_written == half.numel
    assert in_place.lines_kept == 0
    written = traffic(writes=half, **by_columns)
    assert written.lines_kept == half.numel


def test_nothing_is_fetched_where_a_loop_has_no_turn():
    empty = torch.empty(0, 4096)
    row = torch.empty(1, 4096)
    both = traffic((empty, row), cache=1024)
    _, row_of_table = both.operands
    assert both.moved == 0
    assert row_of_table.fetched == 0
    assert row_of_table.lines == lines_read(row)
    assert row_of_table.lines > 16


def test_the_loops_are_those_of_torch():
    """x.t() + 1 is walked as it lies; into a contiguous out, one side is against the grain."""
    x = Layout((512, 512), itemsize=4)
    out = x.clone()
    out_loops, _ = loop_nest(x.t())
    assert out_loops.shape == (x.numel,)
    assert traffic(reads=x.t(), cache=4096).efficiency == 1
    transposed = traffic(reads=x.t(), writes=out, cache=4096)
    fetched = [operand.fetched for operand in transposed.operands]
    assert fetched == [x.numel, x.numel // 16]
    by_columns = traffic(writes=out, cache=4096, order=(1, 0))
    assert by_columns.lines_written == x.numel
    assert by_columns.lines_kept == x.numel


def test_a_cast_is_an_operation_of_its_own():
    """The loops read a copy, whose bytes are not listed; list the copy, and it is counted."""
    x = torch.empty(4, 64)
    y = torch.empty(4, 64, dtype=torch.float64)
    z = torch.empty(4, 64, dtype=torch.complex64)
    operations = [
        ((x, y), y),
        ((y, x.int()), ()),
        ((y, y), x),
        (z.conj(), z),
    ]
    for reads, writes in operations:
        cached = traffic(reads, writes, cache=256, order=(0, 1))
        assert cached.moved == traffic(reads, writes).moved
    copy = x.double()
    listed = traffic((copy, y), torch.empty_like(y), cache=256)
    assert listed.lines_read == 2 * 4 * 8
    bools = torch.empty(4, 64, dtype=torch.bool)
    compared = traffic((x, x), bools, cache=256)
    assert compared.lines_written == 4


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
    wrapped = [address % 2**64 for address in addresses]
    expected = misses_of(wrapped, sets, ways, line)
    assert cache.misses(np.array(wrapped, np.uint64)) == expected


@given(tensors(), st.integers(1, 9), st.integers(1, 3), st.randoms())
def test_a_layout_is_walked_in_the_order_of_its_indices(x, sets, ways, rng):
    layout = Layout.of(x)
    cache = CacheSets(sets, ways)
    indices = product(*map(range, layout.shape))
    addresses = [layout.address(index) for index in indices]
    assert cache.misses(layout) == misses_of(addresses, sets, ways, 64)
    order = rng.sample(range(x.ndim), x.ndim)
    assert cache.misses(layout, order) == cache.misses(layout.permute(order))


@pytest.mark.parametrize(
    ("layout", "misses"),
    [
        (Layout((5,), (2**62,)), 5),
        (Layout((5,), (2**4000,), 2**4000, 2**70), 5),
        (Layout((2**70, 0)), 0),
        (Layout((1,) * 100), 1),
    ],
)
def test_addresses_have_no_limit(layout, misses):
    """Addresses beyond 64 bits stay apart; an empty layout visits nothing; any number of dims will do."""
    assert CacheSets(sets=2, ways=8).misses(layout) == misses


def test_the_table_names_lines_that_are_kept_the_cache_and_what_stores_do():
    x = Layout((100, 100), itemsize=4)
    out = replace(x, storage="out")
    table = traffic((x, x.t()), (x[1:], x[2:]))
    names = [operand.name for operand in table.operands]
    assert names == ["read 0", "read 1", "write 0", "write 1"]
    text = str(traffic(reads=x, writes=out[:, 7]))
    assert text.endswith(
        "  write 0           400    100      100      100\n"
        "  moved: 52,800 bytes (625 lines read, 100 written, 100 read only to keep their rest); "
        "dense: 40,512, 77 % of that"
    )
    title, head, *_ = str(traffic(reads=x, cache=4096)).splitlines()
    assert title.endswith(", a cache of 4,096 bytes")
    assert head.endswith("sectors  fetched")
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
            numbers.update(range(address, address + x.itemsize))
        result = warp_sectors(x, warp, lanes=lanes, sector=sector)
        assert result.sectors == len(blocks_of(numbers, sector))
        assert result.useful == len(numbers)
        assert result.minimum <= result.sectors
        assert 0 < result.efficiency <= 1


def test_sectors_of_a_negative_stride_an_alignment_and_huge_elements():
    backward = Layout((32,), (-1,), 31, 4)
    assert warp_sectors(backward).sectors == 4
    forward = Layout((32,), itemsize=4)
    assert warp_sectors(forward, alignment=4).sectors == 5
    large = Layout((10**6, 10**6), itemsize=4)
    assert warp_sectors(large, 10**9).sectors == 4
    huge = 10**18  # bytes in an element, none of which is counted
    for step, useful in ((0, huge), (1, 32 * huge), (2, 32 * huge)):
        result = warp_sectors(Layout((32,), (step,), itemsize=huge))
        assert result.sectors == useful // 32
        assert result.useful == useful
