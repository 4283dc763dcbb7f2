"""The benchmarks' own arithmetic and words; no test asserts a time."""

import contextlib
from types import SimpleNamespace

import pytest
import torch

import bench
import bench_memory
import bench_timer
from stridekit import Layout, memset
from stridekit.timing import Comparison, Ratio


def test_a_summary_has_the_median_and_what_nineteen_of_twenty_stay_below():
    waits = [9.0, *(k / 1000 for k in range(99, 0, -1))]
    assert bench._summary(waits) == "median 50.5 ms, p95 96.0 ms, 100 times"


def test_a_mark_is_measured_alone_where_it_is_named(monkeypatch, capsys):
    measured = []
    marks = {name: lambda name=name: measured.append(name) for name in bench.MARKS}
    monkeypatch.setattr(bench, "MARKS", marks)
    for arguments, names in (([], list(marks)), (["timers", "import"], ["timers", "import"])):
        monkeypatch.setattr("sys.argv", ["bench.py", *arguments])
        assert bench.main() == 0 and measured == names
        measured.clear()
    monkeypatch.setattr("sys.argv", ["bench.py", "memory", "speed"])
    assert bench.main() == 2 and measured == []
    assert capsys.readouterr().err.startswith("no mark is called speed: import, memory, storage, ")


def test_the_raw_reader_is_held_against_memcpy_by_lower_quartiles(monkeypatch, capsys):
    """The ratio is our bandwidth over memcpy's, and slow rounds do not change it."""
    options = []

    def compared(ways, **given):
        options.append(given)
        for way in ways.values():
            way()
        seconds = {"memcpy": [2e-4, 9e-4, 2e-4], "reader": [4e-4, 4e-4, 9e-4]}
        samples = {name: [[taken] for taken in seconds[name]] for name in ways}
        return Comparison(samples, [[0, 1]] * 3, dict.fromkeys(ways, 1), 1, "cpu")

    monkeypatch.setattr(bench_memory, "compare", compared)
    assert bench_memory.storage_bandwidth(nbytes=1 << 20, rounds=5) == {"warm": 0.5, "fresh": 0.5}
    said = capsys.readouterr().out
    assert said.count("memory: 2.4 GiB/s, 0.50 times memcpy's 4.9; the mark is 0.9") == 2
    threads = torch.get_num_threads()
    assert options == [{"rounds": 5, "threads": threads, "progress": False}] * 2


def test_an_order_is_wrong_by_the_true_ratio_whichever_was_given_first(monkeypatch):
    """The order of the two is random, so always naming the first is right half of the time."""
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
    found = {way: [] for way in ways}
    for way, word, seconds in bench_timer._ask(1.3, 40):
        assert seconds >= 0
        found[way].append(word)
    assert found["knows"] == ["right"] * 40 and found["wrong"] == ["wrong"] * 40
    assert found["never"] == ["unsure"] * 40
    assert found["first"] == ["wrong" if turn else "right" for turn in turned]
    assert 10 < sum(turned) < 30


def test_wrong_answers_are_counted_for_each_way_and_ratio(monkeypatch, capsys):
    words = {1.1: ["wrong", "unsure"], 1.3: ["right", "wrong"], 2.0: ["right", "right"]}

    def ask(ratio, trials):
        return [
            bench_timer.Answer(way, word, 0.5) for way in ("compare", "b") for word in words[ratio]
        ]

    monkeypatch.setattr(bench_timer, "_bursts", contextlib.nullcontext)
    monkeypatch.setattr(bench_timer, "_ask", ask)
    monkeypatch.setattr(bench_timer, "WAYS", ["compare", "b"])
    bench_timer.wrong_answers(2)
    title, *said = capsys.readouterr().out.splitlines()
    assert "wrong answers of 2 for each true ratio" in title
    shares = "wrong 50% at 1.1, 50% at 1.3, 0% at 2.0"
    assert said == [
        f"  compare                {shares}, unsure 1 times; 0.50 s for a pair",
        f"  b                      {shares}; 0.50 s for a pair",
    ]


def test_equal_measurements_are_as_far_apart_as_p90_is_above_p10(monkeypatch, capsys):
    ours, theirs = iter(range(100, 200)), iter(range(10, 110))
    busy = []

    def bursts(*given, **options):
        busy.append((given, options))
        return contextlib.nullcontext()

    class Timer:
        def __init__(self, *_, **__):
            self.blocked_autorange = lambda: SimpleNamespace(median=next(theirs))

    monkeypatch.setattr(bench_timer, "_bursts", bursts)
    monkeypatch.setattr(bench_timer.benchmark, "Timer", Timer)
    monkeypatch.setattr(bench_timer, "measure", lambda _: SimpleNamespace(value=next(ours)))
    bench_timer.spread(11)
    assert busy == [((2,), {"rests": False})]
    assert capsys.readouterr().out == (
        "11 equal measurements beside two busy processes: p90 is 7.9% above p10, blocked_autorange's "
        "72.7%; 0.11 times as far, the mark is 0.33\n"
    )


def test_intervals_that_hold_the_true_ratio_are_counted(monkeypatch, capsys):
    """Idle and loaded, with its ends; the width is a share of the ratio."""
    asked = []

    def of_loops(true):
        asked.append(true)
        if true == 1.05:
            return Ratio(1, 1.04, 1.049)
        if true == 1.1:
            return Ratio(1, 1.11, 1.3)
        return Ratio(2 * true, true, true * 1.1)

    loads = []
    monkeypatch.setattr(bench_timer, "_bursts", lambda: loads.append(1) or contextlib.nullcontext())
    monkeypatch.setattr(bench_timer, "_ratio_of_loops", of_loops)
    bench_timer.coverage(10)
    assert asked == [1.0, 1.05, 1.1, 1.25, 1.5] * 4 and loads == [1]
    held = "6 of 10 hold the true ratio, the mark is 10; median width 5.0%"
    assert capsys.readouterr().out == (
        f"intervals of 95 % on this machine as it is: {held}\n"
        f"intervals of 95 % beside bursts of load: {held}\n"
    )


def test_a_loop_of_a_known_ratio_is_that_much_longer(monkeypatch):
    counts = []
    monkeypatch.setattr(bench_timer, "repeat", lambda _, count: counts.append(count) or ())
    monkeypatch.setattr(
        bench_timer,
        "compare",
        lambda work, **_: [f() for f in work.values()] and SimpleNamespace(ratios={"more": 3}),
    )
    assert bench_timer._ratio_of_loops(1.25) == 3 and counts == [20_000, 25_000]


@pytest.mark.parametrize(
    ("verdict", "sign"), [("slower", -1), ("faster", 1), ("same", 0), ("inconclusive", 0)]
)
def test_a_verdict_says_which_is_faster(monkeypatch, verdict, sign):
    """The verdict is about the second function: if it is slower, the first is faster."""
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
