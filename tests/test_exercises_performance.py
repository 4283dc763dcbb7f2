"""The exercises of notebook 05: the references against what counts by other means, and formulas."""

import itertools
import math
import statistics

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout
from stridekit.exercises import performance as ex
from stridekit.exercises.performance.queue import MOST_STEPS, Queue
from stridekit.widgets.traversal_explorer.traversal import Warp, walk

SIZES = (1, 2, 4, 8, 16)


def passes(task, answer):
    """Whether the check takes an answer, or one that raises."""
    return task.check(answer).passed


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
    visits = walk(layout, tuple(range(layout.ndim)), cache_lines=10_000)
    assert found == len({visit.line for visit in visits})


def test_the_sectors_of_every_warp_are_the_picture_s():
    for stride, offset, itemsize in itertools.product(range(33), range(33), SIZES):
        expected = len(set(Warp(itemsize, stride, offset).sectors))
        assert ex.warp_sectors.reference(stride, offset, itemsize) == expected


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
    """Warm up more, wait more, and take NumPy's word for the quartile."""
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
    return next((n for n in range(1000) if before + after + n * after <= n * before), float("inf"))


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


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (ex.time_it, time_patiently),
        (ex.cache_lines, lines_by_bytes),
        (ex.bytes_moved, bytes_by_pointers),
        (ex.break_even, even_by_counting),
        (ex.warp_sectors, sectors_by_bits),
        (ex.cheapest_first, order_by_pointers),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_right_answers_by_other_means_pass(task, answer):
    report = task.check(answer)
    assert report.passed, report


# Families of formulas -------------------------------------------------------------------------


def packed(shape):
    """The stride of a new tensor."""
    return [math.prod(shape[d + 1 :]) for d in range(len(shape))]


def test_one_formula_alone_counts_lines():
    strides = {
        "stride": lambda shape, stride: stride,
        "packed": lambda shape, stride: packed(shape),
        "shape": lambda shape, stride: shape,
        "reversed": lambda shape, stride: stride[::-1],
    }
    units = {"1": lambda n: 1, "4": lambda n: 4, "8": lambda n: 8, "item": lambda n: n}
    offsets = {"none": lambda o, n: 0, "elements": lambda o, n: o, "bytes": lambda o, n: o / n}
    passing = []
    for by, unit, start, line, count in itertools.product(
        strides, units, offsets, (16, 32, 64, 128), ("different", "all", "hull")
    ):

        def formula(
            shape, stride, offset, itemsize, by=by, unit=unit, start=start, line=line, count=count
        ):
            size, first = units[unit](itemsize), offsets[start](offset, itemsize)
            indices = itertools.product(*map(range, shape))
            lines = [
                (first + sum(map(math.prod, zip(i, strides[by](shape, stride), strict=True))))
                * size
                // line
                for i in indices
            ]
            if count == "hull":
                return max(lines) - min(lines) + 1 if lines else 0
            return len(lines if count == "all" else set(lines))

        if passes(ex.cache_lines, formula):
            passing.append((by, unit, start, line, count))
    assert passing == [("stride", "item", "elements", 64, "different")]


def test_one_formula_alone_counts_sectors():
    offsets = {"none": lambda o, n: 0, "elements": lambda o, n: o * n, "bytes": lambda o, n: o}
    steps = {"1": lambda s, n: s, "4": lambda s, n: 4 * s, "item": lambda s, n: n * s}
    passing = []
    for offset_by, step_by, lanes, size, reach in itertools.product(
        offsets, steps, (16, 31, 32, 33, 64), (16, 32, 64, 128), ("first byte", "last byte", "hull")
    ):

        def formula(
            stride, offset, itemsize,
            offset_by=offset_by, step_by=step_by, lanes=lanes, size=size, reach=reach,
        ):  # fmt: skip
            first = offsets[offset_by](offset, itemsize)
            starts = [first + lane * steps[step_by](stride, itemsize) for lane in range(lanes)]
            if reach == "hull":
                return starts[-1] // size - starts[0] // size + 1
            end = itemsize if reach == "last byte" else 0
            return len({(start + end) // size for start in starts})

        if passes(ex.warp_sectors, formula):
            passing.append((offset_by, step_by, lanes, size, reach))
    assert passing == [("elements", "item", 32, 32, "first byte")]


def test_one_way_alone_times():
    warm_ups = {
        "none": lambda q: None,
        "in flight": lambda q: q.work(),
        "over": lambda q: (q.work(), q.synchronize()),
        "only waits": lambda q: q.synchronize(),
    }
    samples = {
        "no wait": lambda q: q.work(),
        "before": lambda q: (q.synchronize(), q.work()),
        "behind": lambda q: (q.work(), q.synchronize()),
    }
    words = {
        "min": min,
        "lower quartile": lambda s: sorted(s)[len(s) // 4],
        "one more": lambda s: sorted(s)[min(len(s) // 4 + 1, len(s) - 1)],
        "one less": lambda s: sorted(s)[max(len(s) // 4 - 1, 0)],
        "median": statistics.median,
        "mean": statistics.mean,
        "max": max,
        "first": lambda s: s[0],
        "last": lambda s: s[-1],
    }
    passing = []
    for warm_up, sample, word, after in itertools.product(warm_ups, samples, words, (0, 1)):

        def timer(queue, repeats, warm_up=warm_up, sample=sample, word=word, after=after):
            warm_ups[warm_up](queue)
            found = []
            for _ in range(repeats):
                start = queue.clock()
                samples[sample](queue)
                found.append(queue.clock() - start)
                if after:
                    queue.synchronize()
            return words[word](found)

        if passes(ex.time_it, timer):
            passing.append((warm_up, sample, word, after))
    assert passing == [("over", "behind", "lower quartile", after) for after in (0, 1)]


def test_one_formula_alone_moves_the_bytes():
    lines = ex.cache_lines.reference
    strides = {"stride": lambda t: t.stride(), "packed": lambda t: packed(t.shape)}
    offsets = {"offset": lambda t: t.storage_offset(), "none": lambda t: 0}
    sizes = {"item": lambda t, x: t.itemsize, "4": lambda t, x: 4, "x's": lambda t, x: x.itemsize}
    passing = []
    for by, start, size, weight in itertools.product(
        strides, offsets, sizes, itertools.product((0, 1, 2), repeat=3)
    ):

        def formula(x, y, out, by=by, start=start, size=size, weight=weight):
            each = [
                lines(tuple(t.shape), tuple(strides[by](t)), offsets[start](t), sizes[size](t, x))
                for t in (x, y, out)
            ]
            return 64 * sum(w * n for w, n in zip(weight, each, strict=True))

        if passes(ex.bytes_moved, formula):
            passing.append((by, start, size, weight))
    assert passing == [("stride", "offset", "item", (1, 1, 1))]


def test_one_formula_alone_breaks_even():
    lines = ex.cache_lines.reference
    costs = list(itertools.product((0, 1, 2), repeat=2))
    rounds = {"ceil": math.ceil, "floor": math.floor, "round": round, "exact": lambda n: n}
    rounds["one more"] = lambda n: math.floor(n) + 1
    guards = {"asks": lambda t: t.is_contiguous(), "does not": lambda t: False}
    never = {"inf": math.inf, "0": 0, "-1": -1}
    passing = []
    for cost, by, guard, none in itertools.product(costs, rounds, guards, never):

        def formula(t, cost=cost, by=by, guard=guard, none=none):
            if guards[guard](t):
                return 0
            a = lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)
            b = math.ceil(t.numel() * t.itemsize / 64)
            if a <= b:
                return never[none]
            return rounds[by]((cost[0] * a + cost[1] * b) / (a - b))

        if passes(ex.break_even, formula):
            passing.append((cost, by, guard, none))
    assert passing == [((1, 1), "ceil", "asks", "inf")]


def test_one_key_alone_puts_the_cheapest_first():
    def lines(v):
        return ex.cache_lines.reference(v.shape, v.stride(), v.storage_offset(), v.itemsize)

    reads = {
        "lines": lines,
        "bytes": lambda v: v.nbytes / 64,
        "numel": lambda v: v.numel(),
        "storage": lambda v: v.untyped_storage().nbytes() / 64,
        "nothing": lambda v: 0,
        "aligned": lambda v: ex.cache_lines.reference(v.shape, v.stride(), 0, v.itemsize),
        "floats": lambda v: ex.cache_lines.reference(v.shape, v.stride(), v.storage_offset(), 4),
    }
    writes = {
        "packed": lambda v: math.ceil(v.nbytes / 64),
        "like v": lines,
        "numel": lambda v: v.numel(),
        "nothing": lambda v: 0,
        "storage": lambda v: v.untyped_storage().nbytes() / 64,
    }
    passing = []
    for read, write, sign in itertools.product(reads, writes, (1, -1)):

        def order(expressions, read=read, write=write, sign=sign):
            def key(name):
                return sign * (reads[read](expressions[name]) + writes[write](expressions[name]))

            return sorted(expressions, key=key)

        if passes(ex.cheapest_first, order):
            passing.append((read, write, sign))
    assert passing == [("lines", "packed", 1)]


@pytest.mark.parametrize("number", [0, 1, 2, 4, 8, 32, 64, math.inf])
def test_no_constant_passes(number):
    for task in (ex.time_it, ex.cache_lines, ex.bytes_moved, ex.break_even, ex.warp_sectors):
        assert not passes(task, lambda *args: number)


def test_whether_something_is_contiguous_is_no_answer():
    assert not passes(ex.break_even, lambda t: 0 if t.is_contiguous() else math.inf)
    assert not passes(ex.break_even, lambda t: 0 if t.is_contiguous() else 2)
    for names in itertools.permutations("abcd"):
        assert not passes(ex.cheapest_first, lambda expressions, names=names: names)
