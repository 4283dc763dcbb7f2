"""Timing: what is asserted are orderings by wide margins, words and counts, never times."""

import contextlib
import json
import math
import os
import random
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import benchmark

from stridekit import timing
from stridekit.timing import (
    Comparison,
    Measurement,
    Ratio,
    TimingError,
    clocks,
    compare,
    fingerprint,
    measure,
    noise,
    sampling,
)
from stridekit.timing import comparison as comparing
from stridekit.timing.measurement import in_words

x = torch.ones(300, 300)


def once():
    return x.sum(1)


def five_times():
    for _ in range(5):
        x.sum(1)


# A device that works through a queue, as a GPU does, but on a clock that tests can read ---------


class FakeEvent:
    """Stands in the queue and notes when the device came past it."""

    def __init__(self, queue):
        self.queue = queue

    def record(self):
        self.queue.add(lambda: setattr(self, "at", self.queue.clock))

    def elapsed_time(self, later):
        return (later.at - self.at) * 1000


class FakeQueue:
    """Launching costs no time; the work is done at `synchronize`, each piece in its own seconds."""

    l2_bytes = 1000

    def __init__(self):
        self.clock, self.waiting, self.done = 0.0, [], []
        self.erased = self.captured = 0

    def add(self, piece):
        self.waiting.append(piece)

    def launch(self, seconds):
        def piece():
            self.clock += seconds

        self.add(piece)

    def synchronize(self):
        while self.waiting:
            self.waiting.pop(0)()

    def is_idle(self):
        return not self.waiting

    def event(self):
        return FakeEvent(self)

    def hold(self, cycles):
        self.launch(cycles / 2e9)

    def eraser(self, nbytes):
        assert nbytes >= self.l2_bytes

        def erase():
            self.erased += 1
            self.launch(1.0)

        return erase

    def capture(self, work):
        self.captured += 1
        return work


def test_a_gpu_is_timed_by_its_own_clock_without_the_flush_and_the_launch():
    queue = FakeQueue()
    clock = clocks.CudaClock(queue=queue)
    work = clock.begin(lambda: queue.launch(0.002))
    taken, launched = clock.seconds(work, 10)
    assert taken == pytest.approx(0.02)
    assert queue.erased == 10 and queue.is_idle()
    assert 0 < launched < 0.02


def test_without_flush_nothing_is_erased_and_a_graph_is_captured_when_asked():
    queue = FakeQueue()
    clock = clocks.CudaClock(flush=False, graph=True, queue=queue)
    work = clock.begin(lambda: queue.launch(0.5))
    assert clock.seconds(work, 2)[0] == pytest.approx(1.0)
    assert queue.erased == 0 and queue.captured == 1


def test_a_gpu_that_is_still_at_work_is_refused_by_the_host_clock():
    queue = FakeQueue()
    clock = clocks.HostClock(gpu=queue)
    with pytest.raises(TimingError, match=r"time the launch alone\. Give device='cuda'"):
        clock.begin(lambda: queue.launch(0.002))


def test_a_function_that_waits_for_the_gpu_is_timed_on_the_host():
    queue = FakeQueue()

    def patient():
        queue.launch(0.002)
        queue.synchronize()

    queue.launch(1.0)  # of somebody else, before
    assert clocks.HostClock(gpu=queue).begin(patient) is patient


def test_comparisons_on_the_gpu_have_its_times(monkeypatch):
    queue = FakeQueue()
    monkeypatch.setattr(clocks, "CudaQueue", lambda: queue)
    two = compare(
        {"short": lambda: queue.launch(1e-4), "long": lambda: queue.launch(3e-4)},
        device="cuda",
        rounds=4,
    )
    assert two.ratios["long"].value == pytest.approx(3)
    assert two.device == "cuda" and two.verdict == "slower"
    one = measure(lambda: queue.launch(1e-3), device="cuda", min_run_time=0.01)
    assert one.median == pytest.approx(1e-3)
    assert "the host launched a call in" in repr(one)


def test_what_a_gpu_function_returns_is_not_kept():
    queue, made = FakeQueue(), []

    def work():
        t = torch.zeros(3)
        made.append(weakref.ref(t))
        return t

    clock = clocks.CudaClock(queue=queue)
    clock.seconds(clock.begin(work), 3)
    assert len(made) == 4 and all(ref() is None for ref in made)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_one_stable_line_says_so():
    line = "no CUDA device here: the recorded results stand in for it"
    assert timing.why_no_cuda() == line
    with pytest.raises(TimingError, match=line):
        measure(once, device="cuda")
    with pytest.raises(TimingError, match=line):
        compare({"a": once, "b": once}, device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_on_a_gpu_twice_the_work_takes_longer_and_no_memory_is_kept():
    a = torch.rand(2**24, device="cuda")
    before = torch.cuda.memory_allocated()
    found = compare(
        {"once": lambda: a + 1, "four times": lambda: [a + 1 for _ in range(4)]}, device="cuda"
    )
    assert found.verdict == "slower"
    assert torch.cuda.memory_allocated() == before
    assert measure(torch.add, a, a, device="cuda", graph=True, min_run_time=0.01).median > 0
    with pytest.raises(TimingError, match="launch alone"):
        measure(lambda: [a + 1 for _ in range(50)])


# Measurements ---------------------------------------------------------------------------------


def test_a_measurement_tells_its_time_its_spread_and_how_it_was_taken():
    one = measure(torch.sum, x, min_run_time=0.02)
    low, high = one.quartiles
    assert 0 < min(one.seconds) <= low <= one.median <= high
    assert one.label == "sum" and one.device == "cpu" and one.threads == 1
    assert one.warm_up_calls >= 1 and one.host_seconds == one.seconds
    assert repr(one).startswith("sum: ") and "to warm up, 1 thread" in repr(one)


def test_torch_s_own_tables_take_a_measurement():
    one = measure(once, min_run_time=0.02, label="rows")
    theirs = one.to_torch()
    assert theirs.median == pytest.approx(one.median)
    assert "rows" in str(benchmark.Compare([theirs, measure(once, min_run_time=0.02).to_torch()]))


def test_quartiles_are_numpy_s():
    rng = random.Random(0)
    for count in range(1, 12):
        seconds = tuple(rng.random() for _ in range(count))
        one = Measurement("a", seconds, seconds, 1, 1, 1, "cpu")
        assert one.quartiles == pytest.approx(tuple(np.quantile(seconds, [0.25, 0.75])))
        assert noise.quartile(seconds) == pytest.approx(np.quantile(seconds, 0.25))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2.5, "2.5 s"), (0.0123456, "12.3 ms"), (4.2e-5, "42 µs"), (3e-10, "0.3 ns"), (0.0, "0 ns")],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


# Comparisons ----------------------------------------------------------------------------------


def test_five_times_the_work_is_slower_and_half_of_it_faster():
    found = compare({"once": once, "five": five_times})
    assert found.verdict == "slower" and found.ratios["five"].low > 2
    assert compare({"five": five_times, "once": once}).verdict == "faster"


def test_two_go_there_and_back_and_more_go_in_a_new_order_each_round():
    two = compare({"a": once, "b": once}, rounds=5)
    assert list(two.order) == [[0, 1, 1, 0]] * 5
    assert [len(one) for one in two.samples["b"]] == [2] * 5
    four = compare(dict.fromkeys("abcd", once), rounds=30)
    assert {tuple(sorted(order)) for order in four.order} == {(0, 1, 2, 3)}
    assert len({tuple(order) for order in four.order}) > 5
    assert four.order == compare(dict.fromkeys("abcd", once), rounds=30).order


def test_a_comparison_of_more_than_two_has_no_single_verdict():
    found = compare(dict.fromkeys("abc", once), rounds=2)
    assert list(found.ratios) == ["b", "c"]
    with pytest.raises(TimingError, match="these are 3: ask ratios"):
        found.verdict  # noqa: B018


def test_the_text_and_the_html_tell_all():
    found = Comparison(
        {"a": [[1e-3, 1e-3]] * 4, "<b>": [[2e-3, 2e-3]] * 4},
        [[0, 1, 1, 0]] * 4, {"a": 1, "<b>": 1}, 1, "cpu", ("the cat walked by",),
    )  # fmt: skip
    assert repr(found) == (
        "4 rounds on cpu, 1 thread; lower quartiles\n"
        "  a    1 ms  1                    the baseline\n"
        "  <b>  2 ms  2.00 (2.00 to 2.00)  slower\n"
        "  noisy: the cat walked by"
    )
    html = found._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html and "the cat walked by" in html
    assert html.count("<tr>") == html.count("</tr>") == 3


def test_json_brings_all_of_it_back():
    found = compare({"a": once, "b": once}, rounds=3)
    again = Comparison.from_json(found.to_json())
    assert again.ratios == found.ratios and again.machine == found.machine
    assert repr(again) == repr(found)


def test_a_comparison_of_another_machine_says_so():
    found = compare({"a": once, "b": once}, rounds=3)
    data = json.loads(found.to_json())
    data["machine"] |= {"processor": "Abacus", "date": "2001-02-03"}
    text = repr(Comparison.from_json(json.dumps(data)))
    assert "recorded on another machine: Abacus, torch" in text and "2001-02-03" in text
    assert "another machine" not in repr(found)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 99}', "null"])
def test_other_json_is_refused(text):
    with pytest.raises(TimingError, match=r"no comparison that to_json wrote|another schema"):
        Comparison.from_json(text)


# The interval and the verdict -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.96, 1.04, "same"), (0.5, 0.9, "faster"), (1.1, 1.2, "slower"), (0.9, 1.1, "inconclusive"),
     (0.94, 0.99, "faster"), (1.01, 1.04, "same"), (1.0, 1.2, "inconclusive")],
)  # fmt: skip
def test_verdicts(low, high, verdict):
    assert Ratio((low + high) / 2, low, high).verdict == verdict


@given(st.floats(0.2, 5), st.integers(0, 1000))
def test_the_interval_finds_a_known_ratio_under_noise(true, seed):
    """Both sides share each round's slowness, and have some of their own."""
    rng = np.random.default_rng(seed)
    slow = 1 + rng.exponential(0.5, (60, 1)) * (rng.random((60, 1)) < 0.3)
    a, b = (base * slow * (1 + rng.exponential(0.02, (60, 2))) for base in (1.0, true))
    [found] = comparing.ratios([a.tolist(), b.tolist()])
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(true, rel=0.05)


def test_the_same_samples_give_the_same_interval():
    samples = np.random.default_rng(1).random((3, 20, 2)).tolist()
    assert comparing.ratios(samples) == comparing.ratios(samples)


# Signs of noise -------------------------------------------------------------------------------


def subject(name, seconds, faults=0):
    return sampling.Subject(name, once, seconds=list(seconds), page_faults=faults)


def test_a_wide_spread_is_told():
    [told] = noise._spread([subject("a", [1.0] * 4 + [3.0] * 6)])
    assert told == "the median is 3.0 times the lower quartile"


def test_minima_that_say_something_else_are_told():
    told = noise._minima([subject("a", [1.0] * 9), subject("b", [0.5] + [1.0] * 8)])
    assert told == ["b: its best sample says 0.50, not 1.00"]


def test_fresh_pages_are_told():
    told = noise._faults([subject("out=", [1.0] * 9), subject("new", [1.0] * 9, faults=9 * 512)])
    assert told == [
        "new takes 512 new pages of memory a call, out= 0: give out= to time the work alone"
    ]


def test_a_busy_machine_is_told(monkeypatch):
    monkeypatch.setattr(noise.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(noise, "load", lambda: 3.25)
    assert noise._machine(1) == ["3.2 threads were busy on 2 cores"]
    monkeypatch.setattr(noise, "load", lambda: 1.5)
    assert noise._machine(1) == []
    assert noise._machine(2) == ["2 threads were timed while 1.5 were busy on 2 cores"]
    monkeypatch.setattr(noise, "load", lambda: None)
    assert noise._machine(2) == []


# What is refused, and what is put back --------------------------------------------------------


def raises():
    raise KeyError("lost")


@pytest.mark.parametrize(
    ("functions", "options", "words"),
    [
        ({}, {}, "0 function: a comparison needs two"),
        ({"a": once}, {}, "1 function: a comparison needs two"),
        ([once, once], {}, "of type list: give a dict"),
        ({"a": once, "b": 3}, {}, "'b' is of type int, not a function"),
        ({"a": once, "b": raises}, {}, "'b' raised KeyError in its warm-up, so nothing was timed"),
        ({"a": once, "b": once}, {"rounds": 0}, "rounds=0: give the number of rounds"),
        ({"a": once, "b": once}, {"rounds": True}, "rounds=True"),
        ({"a": once, "b": once}, {"max_seconds": 0}, "max_seconds=0: give seconds"),
        ({"a": once, "b": once}, {"max_seconds": math.inf}, "max_seconds=inf"),
        ({"a": once, "b": once}, {"threads": 0}, "threads=0: torch needs one thread"),
        ({"a": once, "b": once}, {"threads": 1.5}, "threads=1.5"),
        ({"a": once, "b": once}, {"device": "tpu"}, "device 'tpu' cannot be timed"),
        ({"a": once, "b": once}, {"graph": True}, "give device='cuda' as well"),
    ],
)
def test_nonsense_is_refused(functions, options, words):
    with pytest.raises(TimingError, match=words):
        compare(functions, **options)


@pytest.mark.parametrize(
    ("fn", "options", "words"),
    [
        (3, {}, "'it' is of type int"),
        (raises, {}, "'raises' raised KeyError"),
        (once, {"min_run_time": 0}, "min_run_time=0"),
        (once, {"min_run_time": "1"}, "min_run_time='1'"),
        (once, {"threads": -1}, "threads=-1"),
    ],
)
def test_nonsense_is_not_measured(fn, options, words):
    with pytest.raises(TimingError, match=words):
        measure(fn, **options)


def test_the_cause_of_a_failure_is_kept():
    with pytest.raises(TimingError) as caught:
        measure(raises)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("ending", [once, raises])
def test_threads_are_as_before(ending):
    before, seen = torch.get_num_threads(), set()

    def looks():
        seen.add(torch.get_num_threads())
        return ending()

    torch.set_num_threads(3)
    try:
        with contextlib.suppress(TimingError):
            compare({"a": looks, "b": once}, rounds=1, threads=2)
        assert seen == {2} and torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_an_interruption_puts_the_threads_back_too():
    before = torch.get_num_threads()

    def stops():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare({"a": stops, "b": once}, threads=before + 1)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("variable", "shows"), [(None, True), ("CI", False), ("TQDM_DISABLE", False)]
)
def test_progress_shows_where_somebody_waits(variable, shows):
    """One line, only after a second; nothing under CI or in a notebook that is tested."""
    code = (
        "import time\nfrom stridekit.timing import compare\n"
        "compare({'a': lambda: time.sleep(0.3), 'b': lambda: time.sleep(0.3)}, rounds=1)"
    )
    quiet = {"CI", "TQDM_DISABLE"}
    env = {key: value for key, value in os.environ.items() if key not in quiet}
    if variable:
        env[variable] = "1"
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert (b"rounds" in run.stderr) == shows
    assert b"\n" not in run.stderr  # one line, drawn over


# The machine ----------------------------------------------------------------------------------


def test_the_fingerprint_fits_into_json():
    here = timing.machine()
    assert json.loads(json.dumps(here)) == here
    assert here["torch"] == torch.__version__ and here["cores"] >= 1


def test_machines_are_told_apart():
    here = timing.machine()
    assert fingerprint.same_machine(here, here | {"date": "2001-02-03", "load": 9.0})
    assert not fingerprint.same_machine(here, here | {"torch": "1.0"})


def test_where_the_system_tells_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(fingerprint, "CACHES", tmp_path)
    monkeypatch.delattr(fingerprint.os, "getloadavg")
    here = timing.machine()
    assert here["caches"] == {} and here["load"] is None
