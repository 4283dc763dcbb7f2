"""Cache lines, sectors and pages of memory sets, against the blocks of every single byte."""

from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given

from stridekit import Layout, MemorySet, Undecided, memset
from stridekit.memory.blocks import Blocks, blocks_together
from stridekit.memory.strided_set import Budget, normal_form
from tests.brute_force import layout_bytes, slow_blocks
from tests.fuzz_memory import check_blocks, part_of
from tests.strategies import tensors


def test_blocks_of_every_small_layout():
    """All layouts of three small dims with small strides, at each offset within a block of 4 and of 6."""
    for shape in product((1, 2, 3), repeat=3):
        for stride in combinations_with_replacement(range(8), 3):
            numbers = layout_bytes(Layout(shape, stride))
            for offset, size in product(range(6), (4, 6)):
                x = MemorySet.of(Layout(shape, stride, offset))
                assert x.blocks(size) == slow_blocks({n + offset for n in numbers}, size)


@given(tensors())
def test_blocks_of_a_tensor_are_those_of_its_addresses(x):
    """Blocks follow the real address; an empty tensor touches none."""
    found = memset(x).blocks(64)
    assert found == slow_blocks(set(memset(x)), 64)
    assert found.partial == found.touched - found.filled
    assert memset(x).blocks(1).touched == len(memset(x))


def test_the_number_of_elements_costs_nothing():
    """10**12 elements within the smallest budgets, and counts too large for len()."""
    x = Layout((10**6, 10**6), itemsize=4)
    assert memset(x).blocks(64, budget=10) == Blocks(64, 62_500_000_000, 62_500_000_000)
    assert memset(x[:, 7]).blocks(64, budget=10) == Blocks(64, 10**6, 0)
    assert memset(x[:, ::16]).blocks(64, budget=10).touched == 62_500_000_000
    odd = Layout((1001, 1003, 1007, 1009))[::2, 5:, ::3, 1:].permute(3, 1, 0, 2)
    for size in (32, 64, 4096):
        memset(odd).blocks(size, budget=3000)
    huge = Layout((10**30, 10**40), (10**50, 64))
    assert memset(huge).blocks(64) == Blocks(64, 10**70, 0)


def test_slices_of_a_large_layout_together_cost_nothing():
    """Even and odd columns; overlapping windows of rows; halves of complex numbers."""
    x = Layout((10**6, 10**6), itemsize=4)

    def together(*layouts):
        return blocks_together([part_of(layout) for layout in layouts], 64, Budget(100))

    assert together(x[:, ::2], x[:, 1::2]) == memset(x).blocks(64).touched
    assert together(x[::2], x[1::2]) == memset(x).blocks(64).touched
    assert together(x[:-1, :500], x[1:, :500]) == memset(x[:, :500]).blocks(64).touched
    assert together(x[:10], x[20:30, ::32]) == 10 * 62_500 + 10 * 31_250


def test_two_columns_of_rows_that_end_inside_a_block():
    """A row may end in the block in which the next begins; the last row has no next."""
    for first, start, width, size in product((1, 10, 40), (50, 75, 90), (5, 10), (16, 64)):
        rows = [(0, ((1, first), (100, 3))), (start, ((1, width), (100, 3)))]
        check_blocks(rows, size)
    # One set ends where the other goes on, within a block.
    check_blocks([(64, ((1, 48), (112, 4))), (0, ((1, 16), (48, 3), (112, 6)))], 3)
    check_blocks([(896, ((1, 96), (112, 8))), (96, ((1, 16), (112, 48)))], 7)


def test_what_is_written_out_ends_in_undecided():
    """Sets without a common step run out of budget soon, and do not overflow Python's stack."""
    wide = [normal_form(0, [(2**20 + k, 10**9)]) for k in (0, 1)]
    deep = [Layout((2,) * 600, [3**i for i in range(600)], offset) for offset in (0, 3**300)]
    for parts in (wide, [part_of(layout) for layout in deep]):
        with pytest.raises(Undecided, match="within a budget of 250,000 steps"):
            blocks_together(parts, 64, Budget(250_000))
