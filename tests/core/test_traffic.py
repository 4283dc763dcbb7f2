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
from stridekit.widgets.traversal_explorer.widget import Warp, costs
from tests.core.brute_force import address_of, blocks_of, bytes_of, partial_of
from tests.core.strategies import tensors

PLENTY = 1_000_000


def views_of(storages, rng, count):
    """Views, mostly of the first storage, and rarely empty."""
    found = []
    for _ in range(count):
        x = storages[max(0, rng.randint(-2, len(storages) - 1))]
        starts = [rng.randrange(n) for n in x.shape]
        ends = [rng.randint(first + 1, n) for first, n in zip(starts, x.shape, strict=True)]
        x = x[tuple(map(slice, starts, ends, rng.choices((1, 2, 3), k=2)))]
        found.append(x.t() if rng.random() < 0.5 else x[: rng.randint(0, 40)])
    return found


@given(tensors())
def test_the_numbers_of_one_operand(x):
    numbers = bytes_of(x)
    (found,) = traffic(reads=x).operands
    assert found.useful == len(numbers) and found.lines == len(blocks_of(numbers))
    assert found.partial == len(partial_of(numbers))
    for line in (64, 256):  # sectors have 32 bytes, whatever the line
        assert traffic(reads=x, line=line).operands[0].sectors == len(blocks_of(numbers, 32))


@given(st.randoms(use_true_random=True))
def test_lines_that_operands_share_count_once(rng):
    storages = torch.zeros(40, 40), torch.zeros(30, 40)
    reads = views_of(storages, rng, rng.randint(0, 3))
    writes = views_of(storages, rng, rng.randint(0 if reads else 1, 2))
    came = set().union(*(set(memset(x)) for x in reads))
    went = set().union(*(set(memset(x)) for x in writes))
    found = traffic(reads, writes)
    assert found.store == "bypass" and found.useful == len(came) + len(went)
    assert (found.lines_read, found.lines_written) == (len(blocks_of(came)), len(blocks_of(went)))
    assert found.lines_kept == len(partial_of(went) - blocks_of(came))
    assert found.moved == 64 * (found.lines_read + found.lines_written + found.lines_kept)
    ragged = min(found.lines_kept, len(went) % 64 > 0)  # the last line of what is written densely
    dense = 64 * (-(-len(came) // 64) + -(-len(went) // 64))
    assert found.minimum == dense + 64 * ragged <= found.moved and 0 < found.efficiency <= 1
    first = traffic(reads, writes, store="allocate")
    assert first.lines_kept == len(blocks_of(went) - blocks_of(came))
    assert first.minimum == dense + 64 * min(first.lines_kept, -(-len(went) // 64)) <= first.moved
    assert (first.lines_read, first.lines_written) == (found.lines_read, found.lines_written)


@given(tensors(), st.sampled_from([1, 16, 32, 64, 128]), st.integers(0, 15))
def test_a_layout_begins_where_it_is_told(x, line, alignment):
    """The alignment of a storage moves all of its lines; meta tensors are counted like layouts."""
    layout, alignment = Layout.of(x), alignment % line
    numbers = {byte + alignment for byte in bytes_of(layout)}
    found = traffic(reads=layout, line=line, alignment=alignment)
    assert found.lines_read == len(blocks_of(numbers, line))
    with FakeTensorMode():
        fake = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)
    meta = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    bare = traffic(reads=Layout(x.shape, x.stride(), 0, x.element_size()), line=line)
    assert traffic(reads=meta, line=line) == traffic(reads=fake, line=line) == bare


def test_storages_of_results_and_of_meta_tensors():
    x = Layout((1000,), itemsize=4)
    assert traffic(reads=(x, output_layout(x))).lines_read == 126
    meta = torch.empty(64, 64, device="meta")
    assert traffic(reads=(meta, meta.t())).lines_read == 256
    assert traffic(reads=(meta[:, ::2], meta[:, 1::2])).useful == 4 * 64 * 64
    assert traffic(reads=(meta, torch.empty_like(meta))).lines_read == 512


def test_one_byte_in_a_last_line_is_kept_even_if_all_is_dense():
    found = traffic(writes=Layout((65,)))
    assert found.minimum == found.moved == 3 * 64


def test_a_store_that_allocates_reads_what_it_writes():
    """A fill, a copy and a sum of two move 2, 3 and 4 lines, not 1, 2 and 3; in place, no more."""
    x, y, out = (Layout((64, 64), itemsize=4, storage=name) for name in "xyz")
    for cache in (None, 1024):
        for reads, lines in (((), 1), (x, 2), ((x, y), 3)):
            for store, more in (("bypass", 0), ("allocate", 1)):
                moved = traffic(reads, out, cache=cache, store=store).moved
                assert moved == (lines + more) * 4 * out.numel
        assert traffic(x, x, cache=cache, store="allocate").moved == 2 * 4 * x.numel


def test_the_number_of_elements_costs_nothing():
    """10**12 elements, dense, cut, permuted and through a cache, in a few hundred steps."""
    x, y, out = (Layout((10**6, 10**6), itemsize=4, storage=name) for name in "xyz")
    found = traffic((x, y.t()), out, budget=300)
    assert (found.moved, found.efficiency) == (64 * 187_500_000_000, 1.0)
    through = traffic((x, y.t()), out, cache=2**20, budget=300)
    assert [operand.fetched for operand in through.operands] == [625 * 10**8, 10**12, 625 * 10**8]
    assert traffic(reads=x[:, ::16], budget=300).efficiency == 1 / 16
    for parts in ((x[:, ::2], x[:, 1::2]), (x[::2], x[1::2]), (x[:-1], x[1:])):
        assert traffic(parts, budget=300).lines_read == 625 * 10**8
    assert traffic((x, y.t()), out, store="allocate", budget=300).moved == 64 * 250_000_000_000
    odd = Layout((1001, 1003, 1007, 1009), itemsize=4)[::2, 5:, ::3, 1:].permute(3, 1, 0, 2)
    assert traffic(odd, odd.contiguous(), budget=3000).lines_written * 16 >= odd.numel


class Cache:
    """Sets of `ways` lines, each of which evicts the least recently used one."""

    def __init__(self, ways, sets=1):
        self.ways, self.held = ways, [OrderedDict() for _ in range(sets)]

    def misses(self, number):
        """Use a line; True if the cache did not have it."""
        held = self.held[number % len(self.held)]
        miss = number not in held
        held[number] = None
        held.move_to_end(number)
        if len(held) > self.ways:
            held.popitem(last=False)
        return miss


def lru(walks, line, lines):
    cache, misses = Cache(lines), [0] * len(walks)
    for index in product(*(range(n) for _, n in walks[0].loops)):
        for k, walk in enumerate(walks):
            first = walk.start + sum(i * c for i, (c, _) in zip(index, walk.loops, strict=True))
            for number in range(first // line, (first + walk.itemsize - 1) // line + 1):
                misses[k] += cache.misses(number)
    return misses


def random_walks(rng):
    """Loops over one operand to three: dense, in any order, with gaps, repeated."""
    shape = [rng.choice([2, 3, 5, 8, 16, 20, 33]) for _ in range(rng.randint(1, 3))]
    walks, base = [], 0
    for _ in range(rng.choice([1, 1, 2, 3])):
        item, stride, step = rng.choice([4, 8, 8]), [0] * len(shape), 1
        for d in rng.sample(range(len(shape)), len(shape)):
            stride[d] = step * (rng.random() < 0.9)
            step *= shape[d]
            step += rng.choice([0, 0, rng.randint(1, 9)])
        loops = tuple((item * c, n) for c, n in zip(stride, shape, strict=True))
        walks.append(Walk(base + item * rng.choice([0, 0, 1, 2, 8]), loops, item))
        base += (step * item // 4096 + 2) * 4096
    return walks


def test_fetched_lines_against_a_cache_filled_visit_by_visit():
    """Exact where all fits; else nearly always, and rarely more than a tenth off."""
    rng, exact, near, total = random.Random(0), 0, 0, 0
    for _ in range(250):
        walks = random_walks(rng)
        lines = max(rng.choice([2, 4, 8, 16, 32, 64]), len(walks))
        blocks_of_each = fetched_lines(walks, 64, lines, Budget(PLENTY))
        assert all(0 <= one.filled <= one.touched for one in blocks_of_each)
        found = [one.touched for one in blocks_of_each]
        expected = lru(walks, 64, lines)
        if sum(lru(walks, 64, PLENTY)) <= lines:
            assert found == expected
        else:
            total += 1
            exact += found == expected
            near += 0.9 <= sum(found) / sum(expected) <= 1.1
    assert total > 60 and exact >= 0.85 * total and near >= 0.9 * total


@pytest.mark.parametrize(
    ("outer", "inner", "lines"),
    [((32, 5), (96, 5), 7), ((32, 3), (96, 2), 3), ((16, 5), (96, 5), 7)],
)
def test_turns_that_just_fit(outer, inner, lines):
    """As many turns as fill the cache to its last line are still there; one line less, and they go."""
    walk = Walk(0, (outer, inner), 4)
    for cache in (lines - 1, lines, lines + 1):
        [found] = fetched_lines([walk], 64, cache, Budget(PLENTY))
        assert found.touched == lru([walk], 64, cache)[0]


def test_lines_that_come_in_parts_are_not_filled():
    """Three whole lines are touched, and none of the 16 fetches fills one: never a negative number."""
    in_parts = Walk(4, ((4, 3), (12, 3), (36, 2)), 4)
    one_turn = Walk(5, ((4, 2), (1, 1), (2, 2)), 2)  # bytes 5 to 12: this loop only moves on
    for walk, line, lines, counts in [(in_parts, 16, 2, (16, 0)), (one_turn, 4, 1, (3, 1))]:
        [found] = fetched_lines([walk], line, lines, Budget(PLENTY))
        assert (found.touched, found.filled) == counts


def test_a_line_that_two_rows_share_comes_twice_column_by_column():
    """A column of 64 fits, but the end of a row is needed long after its line came, and fills no line."""
    x, column_by_column = Layout((64, 48), (50, 1), itemsize=4), {"cache": 64 * 80, "order": (1, 0)}
    found = traffic(reads=x, **column_by_column).lines_read
    assert [found] == lru([Walk(0, ((4, 48), (200, 64)), 4)], 64, 80)
    assert found > traffic(reads=x).lines_read
    found = traffic(writes=Layout((64, 50), itemsize=4), **column_by_column)
    again = found.lines_written - 200  # the line between two rows is written in two parts
    assert again > 10 and found.lines_kept == 2 * again


def test_operands_of_one_walk_are_fetched_together():
    """They need room once, and lines that are read anyway are not read again to be kept."""
    x, y = (Layout((64, 48), (64, 1), itemsize=4, storage=name) for name in "xy")
    against = {"cache": 64 * 64, "order": (1, 0)}  # a column of 64 just fits
    assert traffic((x, x), **against).lines_read == traffic(x, **against).lines_read == 64 * 3
    assert traffic((x, y), **against).lines_read > 2 * 64 * 3  # in two memories, they need it twice
    half = Layout((512, 512), itemsize=4)[:, ::2]
    found = traffic(half, half, cache=4096, order=(1, 0))
    assert (found.lines_read, found.lines_written, found.lines_kept) == (half.numel, half.numel, 0)
    assert traffic(writes=half, cache=4096, order=(1, 0)).lines_kept == half.numel


def test_nothing_is_fetched_where_a_loop_has_no_turn():
    nothing, row = torch.empty(0, 4096), torch.empty(1, 4096)
    found = traffic((nothing, row), cache=1024)
    assert (found.moved, found.operands[1].fetched) == (0, 0)
    assert found.operands[1].lines == traffic(row).lines_read > 16


def test_the_loops_are_those_of_torch():
    """x.t() + 1 is walked as it lies; into a contiguous out, one side is against the grain."""
    x = Layout((512, 512), itemsize=4)
    out = x.clone()
    assert loop_nest(x.t())[0].shape == (512 * 512,)
    assert traffic(reads=x.t(), cache=4096).efficiency == 1
    mixed = traffic(reads=x.t(), writes=out, cache=4096)
    assert [operand.fetched for operand in mixed.operands] == [512 * 512, 512 * 512 // 16]
    against = traffic(writes=out, cache=4096, order=(1, 0))
    assert against.lines_written == against.lines_kept == 512 * 512


def test_what_torch_casts_first_is_an_operation_to_ask_for():
    """The loops read a copy, whose bytes are not listed; list the copy, and it is counted."""
    x, y, z = (torch.empty(4, 64, dtype=d) for d in (torch.float32, torch.float64, torch.complex64))
    for reads, writes in [((x, y), y), ((y, x.int()), ()), ((y, y), x), (z.conj(), z)]:
        assert traffic(reads, writes).moved == traffic(reads, writes, cache=256, order=(0, 1)).moved
    copy = x.double()
    assert traffic((copy, y), torch.empty_like(y), cache=256).lines_read == 2 * 4 * 8
    assert traffic((x, x), torch.empty(4, 64, dtype=torch.bool), cache=256).lines_written == 4


def by_sets(addresses, sets, ways, line):
    cache = Cache(ways, sets)
    return sum(cache.misses(address // line) for address in addresses)


@given(
    st.lists(st.integers(0, 999) | st.integers(2**64 - 999, 2**64 + 99), max_size=80),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([1, 16, 24, 64]),
)
@example([0, 1, 0, 2, 0], 1, 2, 1)  # what was used again stays
def test_misses_against_a_plain_cache(addresses, sets, ways, line):
    cache, expected = CacheSets(sets, ways, line), by_sets(addresses, sets, ways, line)
    assert cache.misses(addresses) == expected
    addresses = [address % 2**64 for address in addresses]
    expected = by_sets(addresses, sets, ways, line)
    assert cache.misses(np.array(addresses, np.uint64)) == expected


@given(tensors(), st.integers(1, 9), st.integers(1, 3), st.randoms())
def test_a_layout_is_walked_in_the_order_of_its_indices(x, sets, ways, rng):
    layout, order = Layout.of(x), rng.sample(range(x.ndim), x.ndim)
    addresses = [layout.address(index) for index in product(*map(range, layout.shape))]
    assert CacheSets(sets, ways).misses(layout) == by_sets(addresses, sets, ways, 64)
    turned = layout.permute(order)
    assert CacheSets(sets, ways).misses(layout, order) == CacheSets(sets, ways).misses(turned)


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
    several = traffic((x, x.t()), (x[1:], x[2:]))
    assert [one.name for one in several.operands] == ["read 0", "read 1", "write 0", "write 1"]
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
    elements = [{address_of(x, index) + k for k in range(x.itemsize)} for index in indices]
    for warp in range(-(-len(elements) // lanes)):
        numbers = set().union(*elements[warp * lanes : (warp + 1) * lanes])
        found = warp_sectors(x, warp, lanes=lanes, sector=sector)
        assert found.sectors == len(blocks_of(numbers, sector)) and found.useful == len(numbers)
        assert found.minimum <= found.sectors and 0 < found.efficiency <= 1


def test_a_warp_is_that_of_the_widget():
    """All that the widget offers, a negative stride, an alignment, and huge elements."""
    for itemsize, stride, offset in product((1, 2, 4, 8, 16), (0, 1, 2, 3, 8, 32), (0, 1, 4, 31)):
        shown = costs.sectorsOf(Warp(itemsize, stride, offset)._asdict())
        found = warp_sectors(Layout((32,), (stride,), offset, itemsize))
        assert (found.sectors, found.minimum) == (shown["touched"], shown["minimum"])
    assert warp_sectors(Layout((32,), (-1,), 31, 4)).sectors == 4
    assert warp_sectors(Layout((32,), itemsize=4), alignment=4).sectors == 5
    assert warp_sectors(Layout((10**6, 10**6), itemsize=4), 10**9).sectors == 4
    for step, useful in ((0, 10**18), (1, 32 * 10**18), (2, 32 * 10**18)):  # no byte is counted
        found = warp_sectors(Layout((32,), (step,), itemsize=10**18))
        assert (found.sectors, found.useful) == (useful // 32, useful)
