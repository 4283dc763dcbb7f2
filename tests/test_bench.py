"""The benchmarks' own arithmetic: what they count and say; how long anything takes, no test asserts."""

from types import SimpleNamespace

import pytest

import bench
import bench_memory
import bench_storage
import bench_timer
from stridekit import Layout, memset


def test_a_summary_has_the_median_and_what_nineteen_of_twenty_stay_below():
    waits = [9.0, *(k / 1000 for k in range(99, 0, -1))]
    assert bench._summary(waits) == "median 50.5 ms, p95 96.0 ms, 100 times"


def test_the_raw_reader_is_held_against_memcpy_by_lower_quartiles(monkeypatch, capsys):
    """Slow rounds, three of five, do no harm; the ratio is ours to memcpy's."""
    seconds = {"memcpy, warm": 1, "reader, warm": 2, "memcpy, fresh": 4, "reader, fresh": 5}
    steps = [
        step
        for slow in (1, 9, 9, 1, 9)
        for way, taken in seconds.items()
        for step in (0, taken * (slow if "reader" in way else 1))
    ]
    monkeypatch.setattr(bench_storage.time, "perf_counter", lambda: steps.pop(0))
    found = bench_storage.storage_bandwidth(nbytes=1 << 12, rounds=5)
    assert found == {"warm": pytest.approx(1 / 2), "fresh": pytest.approx(4 / 5)}
    assert "0.50 times memcpy's" in capsys.readouterr().out


def test_an_order_is_wrong_by_the_true_ratio_whichever_was_given_first(monkeypatch):
    """Which of the two comes first is drawn: a way that always names the first is right by half."""
    turned = []

    def names_the_first(first, second):
        turned.append(first > second)
        return -1

    ways = {
        "knows": lambda a, b: -1 if a < b else 1,
        "never": lambda a, b: 0,
        "wrong": lambda a, b: 1 if a < b else -1,
        "first": names_the_first,
    }
    monkeypatch.setattr(bench_timer, "WAYS", ways)
    monkeypatch.setattr(bench_timer, "_work", lambda times: times)
    took = {way: [] for way in ways}
    found = bench_timer._ask(1.3, 40, took)
    assert found["knows"] == ["right"] * 40 and found["wrong"] == ["wrong"] * 40
    assert found["never"] == ["unsure"] * 40
    assert found["first"] == ["wrong" if turn else "right" for turn in turned]
    assert 10 < sum(turned) < 30 and all(len(times) == 40 for times in took.values())


@pytest.mark.parametrize(
    ("verdict", "sign"), [("slower", -1), ("faster", 1), ("same", 0), ("inconclusive", 0)]
)
def test_a_verdict_says_which_is_faster(monkeypatch, verdict, sign):
    """Of the second against the first: where that is slower, the first is the faster one."""
    monkeypatch.setattr(bench_timer, "compare", lambda *_, **__: SimpleNamespace(verdict=verdict))
    assert bench_timer._by_compare(None, None) == sign


@pytest.mark.parametrize(
    ("micros", "cell"),
    [
        ([], "–"),
        ([3.0, 1.0, 2.0], "2.0 (3.0)"),
        ([3.0, float("inf"), 1.0], "2.0 (3.0) 1 too hard"),
        ([float("inf")] * 2, "2 too hard"),
        ([50.0, 100.0], "75.0 (100)"),
        ([1234.0], "1,234 (1,234)"),
        ([2.5e6], "2.5 s (2.5 s)"),
    ],
)
def test_a_cell_has_the_median_and_the_slowest(micros, cell):
    assert bench_memory._cell(micros) == cell


def test_sets_are_filled_with_the_same_elements():
    x = Layout((3, 4, 5), (40, 0, 2), 7)
    assert bench_memory._filled(x) == set(memset(x))
    overlaps = bench_memory.WITH_SETS["internal overlap"]
    assert overlaps(x, x) and not overlaps(x[:, 0], x)
    assert bench_memory.WITH_SETS["count"](x, x) == len(memset(x)) == 15
    assert bench_memory.WITH_SETS["subset"](x[1:], x) and not bench_memory.WITH_SETS["subset"](
        x, x[1:]
    )
    assert not bench_memory.WITH_SETS["overlap"](x[0], x[1])
