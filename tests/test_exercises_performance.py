"""The exercises of notebooks 05 and 08: the references agree with what counts by other means."""

import itertools
import math
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, traffic
from stridekit.exercises import hardware
from stridekit.exercises import performance as ex
from stridekit.exercises.hardware.timer import MOST_STEPS, Queue
from stridekit.widgets.traversal_explorer.widget import Warp
from tests.walks import visits_of

SIZES = (1, 2, 4, 8, 16)


layouts = st.integers(0, 4).flatmap(
    lambda ndim: st.builds(
        lambda shape, stride, offset, itemsize: Layout(
            tuple(shape), tuple(stride), offset, itemsize
        ),
        st.lists(st.integers(0, 5), min_size=ndim, max_size=ndim),
        st.lists(st.integers(0, 70), min_size=ndim, max_size=ndim),
        st.integers(0, 100),
        st.sampled_from(SIZES),
    )
)


# References -----------------------------------------------------------------------------------


@given(layouts)
def test_cache_lines_are_those_that_a_walk_meets(layout):
    found = ex.cache_lines.reference(
        layout.shape, layout.stride, layout.storage_offset, layout.itemsize
    )
    visits = visits_of(layout, tuple(range(layout.ndim)), cache_lines=10_000)
    assert found == len({visit.line for visit in visits})


def test_the_sectors_of_every_warp_are_the_picture_s():
    for stride, offset, itemsize in itertools.product(range(33), range(33), SIZES):
        expected = len(set(Warp(itemsize, stride, offset).sectors))
        assert hardware.warp_sectors.reference(stride, offset, itemsize) == expected


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 30), st.integers(0, 5))
def test_breaking_even_is_the_first_use_that_costs_no_more(rows, apart, columns, first):
    t = torch.zeros(rows, apart, columns)[first:, 0]
    n = ex.break_even.reference(t)
    before = ex.bytes_moved.reference(t, t[:0], t[:0]) // 64
    copy = t.contiguous()
    after = -(-copy.numel() * 4 // 64)
    making = 0 if copy is t else before + after

    def pays(uses):
        return making + uses * after <= uses * before

    if n == math.inf:
        assert not any(map(pays, range(10_000)))
    else:
        assert n == 0 or not pays(n - 1)
        assert pays(n) or t.is_contiguous()


def test_the_queue_is_a_device_that_works_while_the_host_goes_on():
    queue = Queue([50, 20], first=400, busy=7)
    assert queue.clock() == 0
    queue.work()
    assert queue.clock() == 1
    queue.synchronize()
    assert queue.clock() == 7 + 450
    queue.work()
    queue.work()
    assert queue.clock() == 459
    queue.synchronize()
    assert queue.clock() == 458 + 20 + 50


def test_a_loop_that_waits_for_the_queue_s_clock_comes_to_an_end():
    queue = Queue([1])
    for _ in range(MOST_STEPS):
        queue.clock()
    with pytest.raises(RuntimeError, match="does your loop end"):
        queue.clock()


# Right answers by other means -----------------------------------------------------------------


def time_patiently(queue, repeats):
    """Time the warm-up too, warm up more, wait more, and take NumPy's word for the order."""
    queue.clock()
    for _ in range(5):
        queue.work()
    samples = []
    for _ in range(repeats):
        queue.synchronize()
        start = queue.clock()
        queue.work()
        queue.synchronize()
        queue.synchronize()
        samples.append(queue.clock() - start)
    return np.sort(samples)[repeats // 4]


def lines_by_bytes(shape, stride, offset, itemsize):
    """Mark every byte of a storage."""
    elements = np.zeros(shape, dtype=np.int64) + offset
    for d, (n, s) in enumerate(zip(shape, stride, strict=True)):
        elements += (np.arange(n) * s).reshape(-1, *[1] * (len(shape) - d - 1))
    first = elements.ravel()[:, None] * itemsize
    return len(np.unique((first + np.arange(itemsize)) // 64))


def bytes_by_pointers(x, y, out):
    """Look at addresses: torch's storages start at a multiple of 64."""
    lines = 0
    for t in (x, y, out):
        offset = t.storage_offset()
        lines += lines_by_bytes(tuple(t.shape), t.stride(), offset, t.itemsize)
    return torch.tensor(lines * 64)


def even_by_counting(t):
    """Count uses one by one."""
    if t.is_contiguous():
        return 0
    before = lines_by_bytes(tuple(t.shape), t.stride(), t.storage_offset(), t.itemsize)
    after = lines_by_bytes((t.numel(),), (1,), 0, t.itemsize)
    return next(
        (n for n in range(20_000) if before + after + n * after <= n * before), float("inf")
    )


def sectors_by_bits(stride, offset, itemsize):
    """Set a bit for each sector."""
    bits = 0
    for lane in range(32):
        bits |= 1 << ((offset + lane * stride) * itemsize >> 5)
    return bits.bit_count()


def order_by_pointers(expressions):
    """Sort pairs, with the place to keep the order of equals."""
    costs = []
    for place, (name, v) in enumerate(expressions.items()):
        out = torch.empty(v.numel(), dtype=v.dtype)
        costs.append(
            (int(bytes_by_pointers(v, v[..., :0] if v.ndim else out[:0], out)), place, name)
        )
    return tuple(name for *_, name in sorted(costs))


def bytes_by_traffic(x, y, out):
    """With the lines of out that are read only because a part of them is written."""
    return traffic(reads=(x, y), writes=out).moved


def even_by_traffic(t):
    """With the line of the copy that is written only in part."""
    copy = t.contiguous()
    making = 0 if copy is t else traffic(t, copy).moved
    saved = traffic(t).moved - traffic(copy).moved
    return 0 if not making else math.ceil(making / saved) if saved > 0 else math.inf


def order_by_traffic(expressions):
    """With the line of the result that is written only in part."""
    return sorted(
        expressions, key=lambda name: traffic(expressions[name], expressions[name] + 1).moved
    )


def order_by_layouts(expressions):
    """On one storage, where some partly written lines are read anyway."""

    def moved(name):
        v = Layout.of(expressions[name])
        return traffic(v, Layout(v.shape, itemsize=v.itemsize)).moved

    return (name for name in sorted(expressions, key=moved))


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (hardware.time_it, time_patiently),
        (ex.break_even, even_by_traffic),
        (ex.cheapest_first, order_by_traffic),
        (ex.cheapest_first, order_by_layouts),
        (ex.cache_lines, lines_by_bytes),
        (ex.bytes_moved, bytes_by_pointers),
        (ex.break_even, even_by_counting),
        (hardware.warp_sectors, sectors_by_bits),
        (ex.cheapest_first, order_by_pointers),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_right_answers_by_other_means_pass(task, answer):
    report = task.check(answer)
    assert report.passed, report


def test_lines_that_are_written_in_part_make_the_two_counts_differ():
    """Those of `bytes_moved`; for `break_even` they are the same in each case."""
    x, y, out = torch.zeros(3, 96), torch.zeros(3, 96), torch.zeros(3, 208)[:, 8:104]
    assert ex.bytes_moved.reference(x, y, out) == 64 * (18 + 18 + 21)
    assert bytes_by_traffic(x, y, out) == 64 * (18 + 18 + 21 + 6)
    for task, by_traffic in ((ex.bytes_moved, bytes_by_traffic), (ex.break_even, even_by_traffic)):
        cases = [case.arguments(task.parameters).values() for case in task.cases]
        differ = [by_traffic(*case) != task.reference(*case) for case in cases]
        assert any(differ) == (task is ex.bytes_moved) and not all(differ)


# Wrong answers that no mistake describes ------------------------------------------------------


@pytest.mark.parametrize("clock", [time.perf_counter, time.perf_counter_ns, lambda: 7])
def test_who_reads_another_clock_is_told_of_the_queue_s_own(clock):
    """Whatever that clock says: even if the answer happens to be right."""

    def answer(queue, repeats):
        start = clock()
        queue.work()
        queue.synchronize()
        return clock() - start

    assert hardware.time_it.check(answer).hint.startswith(
        "Nothing is asked for between two readings"
    )
    report = hardware.time_it.check(
        lambda queue, repeats: hardware.time_it.reference(Queue([50]), 1)
    )
    assert report.headline == "time_it: not yet (right on 0 of 13 cases)"


def test_things_without_an_end_or_an_order_are_no_order():
    """Of what has no end, one name more than needed is taken."""
    taken = []

    def endless(expressions):
        for name in itertools.cycle(ex.cheapest_first.reference(expressions)):
            taken.append(name)
            yield name

    for answer in (
        endless,
        lambda _: itertools.count(),
        lambda _: itertools.repeat("a"),
        frozenset,
    ):
        report = ex.cheapest_first.check(answer)
        assert report.hint.startswith("That is another kind of answer")
    assert len(taken) == 5 * len(ex.cheapest_first.cases)
