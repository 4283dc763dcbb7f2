"""The benchmarks' own arithmetic; no test asserts a time."""

import subprocess
import sys
from pathlib import Path

import bench
from stridekit import Layout, memset


def test_a_summary_has_the_median_and_what_nineteen_of_twenty_stay_below():
    waits = [9.0, *(k / 1000 for k in range(99, 0, -1))]
    assert bench._summary(waits) == "median 50.5 ms, p95 96.0 ms, 100 times"


def test_a_mark_is_measured_alone_where_it_is_named():
    command = [sys.executable, Path(bench.__file__)]
    done = subprocess.run([*command, "speed"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("no mark is called speed: memory, audit, ")


def test_sets_are_filled_with_the_elements_of_a_memory_set():
    x = Layout((3, 4, 5), (40, 0, 2), 7)
    assert bench.filled(x) == set(memset(x))
    for pair in bench.pairs(Layout((4,) * 4)):
        assert [bench.filled(view) for view in pair] == [set(memset(view)) for view in pair]
