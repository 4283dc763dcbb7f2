"""The benchmarks' own arithmetic; no test asserts a time."""

import bench
from stridekit import Layout, memset


def test_summary_has_the_median_and_what_nineteen_of_twenty_stay_below():
    waits = [float(k) for k in range(101)]
    assert bench.summary(waits) == "median 50.0 ms (mark 12), p95 95.0 ms (mark 30)"


def test_sets_are_filled_with_the_elements_of_a_memory_set():
    x = Layout((3, 4, 5), (40, 0, 2), 7)
    assert bench.filled(x) == set(memset(x))
    for pair in bench.pairs(Layout((4,) * 4)):
        assert [bench.filled(view) for view in pair] == [set(memset(view)) for view in pair]
