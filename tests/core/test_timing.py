"""Timing: the tests assert wide orderings, words and counts, but never times."""

import contextlib
import gc
import itertools
import json
import random
import re
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from stridekit import timing
from stridekit.timing import (
    Comparison,
    Measurement,
    Ratio,
    TimingError,
    TooShort,
    clocks,
    compare,
    comparison,
    fingerprint,
    measure,
    rounds,
    sampling,
)
from stridekit.timing.measurement import in_words
from tests.core.fake_gpu import fake_gpus  # noqa: F401  (a fixture)

x = torch.ones(300, 300)
ON_GPU = {"device": "cuda", "flush": False}  # a flush takes a second of the fake clock


def once():
    return x.sum(1)


def raises():
    raise KeyError("lost")


def stops():
    raise KeyboardInterrupt


both_ways = pytest.mark.parametrize(
    "time_it",
    [
        lambda work, **options: compare({"a": work, "b": work}, rounds=1, **options),
        lambda work, **options: measure(work, min_run_time=1e-3, **options),
    ],
    ids=["compare", "measure"],
)


# The clock of a GPU, and which work is left when a function returns


@pytest.mark.parametrize(("l2_bytes", "flush", "erased"), [(9, 10, 18), (9, 0, 0), (0, 10, 2**28)])
def test_a_gpu_is_timed_by_its_clock_without_flush_and_launch(gpus, l2_bytes, flush, erased):
    """For work shorter than its launch, only a full queue keeps the launch out of the time."""
    gpus.l2_bytes = l2_bytes  # some drivers do not tell it
    clock = clocks.CudaClock(flush=bool(flush))
    taken, launched = clock.seconds(clock.begin(lambda: gpus.launch(1e-6)), 10)
    assert taken == pytest.approx(1e-5)
    assert launched == pytest.approx(10 * 3 * 4e-6)  # two events and the work
    assert (gpus.erased, gpus.flushed_bytes) == (flush, erased)  # twice the L2


@both_ways
def test_flush_and_graph_reach_the_gpu(gpus, time_it):
    def timed(**options):
        time_it(lambda: gpus.launch(0.5), device="cuda", **options)
        return gpus.erased > 0, gpus.captured > 0

    assert timed(flush=False) == (False, False)
    assert timed(flush=False, graph=True) == (False, True)
    assert timed() == (True, True)


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("is_current", [True, False])
def test_work_on_any_stream_of_any_gpu_is_noticed(gpus, kind, device, is_current):
    """Even if the work is the first to touch a GPU; a wait for it in the function makes it right."""
    gpus.kind = kind
    work = partial(gpus.launch, 1e-4, device, is_current)
    with pytest.raises(TimingError, match=r"^f returned while .* alone\. Give device='cuda'"):
        clocks.HostClock().begin(work, "f")
    clock = clocks.HostClock()
    taken, launched = clock.seconds(clock.begin(lambda: [work(), gpus.synchronize(device)]), 2)
    assert taken == launched > 0


def test_one_delayed_wait_is_no_work(gpus):
    """A busy host delays a wait now and then, and only a GPU that holds memory is waited for."""
    assert clocks.HostClock().begin(once) is once and gpus.host == 0  # no GPU is in use
    gpus.launch(0.0)
    gpus.stalls = iter([0.0, 0.0, 1.0])
    assert clocks.HostClock().begin(once) is once and gpus.host > 1


def test_work_on_another_stream_is_refused_by_the_clock_of_the_current_one(gpus):
    work = {"a": lambda: gpus.launch(1e-3), "b": lambda: gpus.launch(1e-3, is_current=False)}
    with pytest.raises(TimingError, match=r"^'b' works on another stream or GPU .*wait_stream"):
        compare(work, device="cuda", rounds=1)


def test_samples_of_no_time_are_refused():
    with pytest.raises(TimingError, match=r"^'it' took 0 s in one of calls 2 to 3: it gives"):
        sampling.Subject("it", once, 2).sample(SimpleNamespace(seconds=lambda *_: (0.0, 0.0)))
    nothing = Comparison({"a": [[0.0]], "b": [[1.0]]}, [[0, 1]], {"a": 1, "b": 1}, 1, "cpu")
    with pytest.raises(TimingError, match="a sample of 0 s has no ratio"):
        repr(nothing)


def test_a_sample_on_the_gpu_lasts_a_millisecond_and_has_no_more_calls_than_the_queue_holds(gpus):
    work = {"short": lambda: gpus.launch(1e-4), "long": lambda: gpus.launch(3e-4)}
    two = compare(work, device="cuda", rounds=4)
    assert two.calls == {"short": 10, "long": 3}
    assert two.ratios["long"].value == pytest.approx(3)
    one = measure(lambda: gpus.launch(1e-4), device="cuda", min_run_time=14.5e-3)
    assert one.label == "<lambda>" and one.seconds == pytest.approx((1e-4,) * 15)
    assert one.host_seconds == pytest.approx((12e-6,) * 15)
    one = measure(lambda: gpus.launch(1e-9), device="cuda", min_run_time=1e-9)
    assert (one.calls, one.warm_up_calls) == (100, 255)


def test_what_a_gpu_function_returns_is_not_kept(gpus):
    made = []

    def work():
        t = torch.zeros(3)
        made.append(weakref.ref(t))
        return t

    clock = clocks.CudaClock()
    clock.seconds(clock.begin(work), 3)
    assert [ref() for ref in made] == [None] * 4


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@both_ways
def test_without_a_gpu_one_stable_line_says_so(time_it):
    with pytest.raises(TimingError) as caught:
        time_it(once, device="cuda")
    assert str(caught.value) == timing.why_no_cuda()


# One function


def test_a_measurement_has_a_dozen_samples_unless_they_take_long(gpus, monkeypatch):
    """Then it has those that `min_run_time` has room for, and says how many seconds a dozen need."""
    monkeypatch.setattr(sampling, "load", lambda: None)

    def samples(seconds, min_run_time):
        one = measure(gpus.launch, seconds, device="cuda", min_run_time=min_run_time)
        return len(one.seconds), *one.noise

    assert samples(1e-4, 1e-9) == samples(1e-3, 0.0119) == (12,)
    assert samples(1e-3, 0.0999) == (100,)
    assert samples(0.004, 0.02) == (5, "5 samples: give min_run_time=0.05 for 12")
    assert samples(0.25, 0.001) == (1, "1 sample: give min_run_time=3 for 12")


def test_arguments_and_threads_reach_the_function():
    seen = set()
    measure(lambda *args: seen.add((args, torch.get_num_threads())), 1, 2, 3, threads=2)
    assert seen == {((1, 2, 3), 2)}


def test_a_measurement_says_all_that_was_noticed():
    noisy = ("9.0 threads were busy on 2 cores", "the cat walked by")
    one = Measurement("f", (1e-6, 2e-6, 3e-6, 8e-6), (4e-6,) * 4, 1, 9, 2, "cuda", noisy)
    assert repr(one) == (
        "f: 1.75 µs per call on cuda, the lower quartile\n"
        "  median 2.5 µs, half of the samples in 1.75 µs to 4.25 µs\n"
        "  4 samples of 1 call, after 9 to warm up, 2 threads\n"
        "  the host launched a call in 4 µs\n"
        "  noisy: 9.0 threads were busy on 2 cores\n"
        "  noisy: the cat walked by"
    )
    single = Measurement("f", (1e-6,), (1e-6,), 2, 0, 1, "cpu")
    assert "\n  1 sample of 2 calls, after 0 to warm up, 1 thread" in repr(single)


@both_ways
def test_garbage_is_collected_between_samples_alone(time_it):
    """Only the first call of each function, in the warm-up, is outside of a sample."""
    seen = []
    time_it(lambda: seen.append(gc.isenabled()))
    assert len(seen) > 100 and seen.count(True) <= 2 and gc.isenabled()


def test_times_in_words():
    seconds = [2.5, 0.0123456, 4.2e-5, 3e-10, 0.0, 1e-3, 999.4e-6, 999.6e-6, 0.9996, 12345.6]
    said = "2.5 s, 12.3 ms, 42 µs, 0.3 ns, 0 ns, 1 ms, 999 µs, 1 ms, 1 s, 12346 s"
    assert ", ".join(map(in_words, seconds)) == said


@pytest.mark.parametrize(("first", "later", "calls", "warm_up_calls"), [
    ([1e-4, 5e-2], 1e-4, 10, 32),  # a disturbed call does not count
    ([5e-2, 5e-2], 1e-4, 10, 32),
    ([1e-4, 5e-2, 5e-2], 1e-4, 10, 33),
    ([5e-2], 1e-4, 10, 31),
    ([0.2], 0.2, 1, 1),  # a slow function is tried once
    ([1e-3], 0.2, 1, 3),  # unless its first call was fast
])  # fmt: skip
def test_a_warm_up_finds_how_many_calls_take_1_ms(gpus, first, later, calls, warm_up_calls):
    """Samples of one call would time the clock as well."""
    seconds = iter(first)
    found = measure(lambda: gpus.launch(next(seconds, later)), min_run_time=1e-3, **ON_GPU)
    assert (found.calls, found.warm_up_calls) == (calls, warm_up_calls)


# Several functions


def test_two_go_there_and_back_and_more_go_in_a_new_order_each_round():
    two = compare({"a": once, "b": once}, rounds=5)
    assert list(two.order) == [[0, 1, 1, 0]] * 5
    assert [len(one) for one in two.samples["b"]] == [2] * 5
    three = dict.fromkeys("abc", once)
    compared = compare(three, rounds=30)
    assert {tuple(sorted(order)) for order in compared.order} == {(0, 1, 2)}
    assert len({tuple(order) for order in compared.order}) > 3
    assert compared.order == compare(three, rounds=30).order
    assert compared.order != compare(three, rounds=30, seed=1).order
    assert list(compared.ratios) == ["b", "c"]
    with pytest.raises(TimingError, match="the name 1 is an int"):
        compare({"a": once, 1: once})


FULL = Comparison(
    {"a": [[10e-3, 30e-3], [10e-3, 30e-3]], "<b>": [[5e-3, 15e-3], [5e-3, 15e-3]]},
    [[0, 1, 1, 0], [1, 0, 0, 1]], {"a": 3, "<b>": 4}, 2, "cuda", ("1 < 2", "the cat walked by"),
)  # fmt: skip


def test_the_samples_of_one_function_are_a_measurement():
    seconds = (5e-3, 15e-3, 5e-3, 15e-3)
    expected = Measurement("<b>", seconds, seconds, 4, 0, 2, "cuda", FULL.noise)
    assert FULL.measurement("<b>") == expected
    title, *_, first, second = repr(FULL).splitlines()
    assert title == "2 rounds on cuda, 2 threads; lower quartiles"
    assert (first, second) == ("  noisy: 1 < 2", "  noisy: the cat walked by")


def compared(gpus, first, second, **options):
    """A comparison on the fake GPU, whose clock is the only one."""
    work = {"a": lambda: gpus.launch(first), "b": lambda: gpus.launch(second())}
    return compare(work, **ON_GPU, **options)


def test_rounds_go_on_until_it_is_sure_and_for_max_seconds_at_the_most(gpus, monkeypatch):
    """But for twelve rounds and 0.2 s at least, unless you set `rounds`."""
    rng = random.Random(0)

    def count(first, second, **options):
        return len(compared(gpus, first, second, **options).order)

    def unsure():
        return rng.uniform(1e-2, 3e-2)

    assert count(1e-2, lambda: 2e-2) == 12
    assert count(1e-3, lambda: 2e-3) == 33  # 6 ms each
    assert count(1e-2, lambda: 2e-2, rounds=2, max_seconds=1e-9) == 2
    assert 40 < count(1e-2, unsure) < 60
    assert 12 < count(1e-2, unsure, max_seconds=1) < 20
    looks = []
    monkeypatch.setattr(rounds, "_narrow_enough", lambda _, rounds: looks.append(rounds))
    assert 27 < count(1e-2, lambda: 2e-2, max_seconds=2) < 33
    assert looks == [12, 15, 18, 22, 27]  # each look costs a bootstrap, and a chance to be wrong


@pytest.mark.parametrize("seconds", [0.001, 0.04, 0.25, 2.0])
@pytest.mark.parametrize("max_seconds", [0.01, 0.1, 0.5, 1.2, 1.27, 3.0])
def test_max_seconds_is_kept_to_within_one_call(gpus, seconds, max_seconds):
    """The warm-up included; with fewer than three rounds it is refused, and the advice works."""
    try:
        found = compared(gpus, seconds, lambda: seconds, max_seconds=max_seconds)
    except TimingError as error:
        assert gpus.host < max_seconds + seconds + 1e-3
        said = re.search(r"max_seconds=([\d.]+), or rounds=3$", str(error))
        found = compared(gpus, seconds, lambda: seconds, max_seconds=float(said[1]))
        assert len(found.order) >= 12 and not any("too narrow" in sign for sign in found.noise)
    else:
        assert gpus.host < max_seconds + seconds + 1e-3
        assert len(found.order) >= 3
        assert any("too narrow" in sign for sign in found.noise) == (len(found.order) < 12)


def test_the_estimate_is_said_before_a_round_begins(gpus):
    with pytest.raises(TooShort) as caught:
        compared(gpus, 0.25, lambda: 0.25, max_seconds=0.5)
    assert str(caught.value) == (
        "max_seconds=0.5 is too short: a round takes about 1 s, and 12 rounds with the warm-up up to "
        "14 s: give max_seconds=14.1, or rounds=3"
    )
    before = gpus.host
    with pytest.raises(TooShort, match="about 1 s"):
        compared(gpus, 0.25, lambda: 0.25, max_seconds=3)
    assert gpus.host - before == pytest.approx(1, abs=0.01)  # each was called twice
    with pytest.raises(TooShort, match=r"a round takes about 4\.82 ms"):  # of ten calls a sample
        compared(gpus, 1e-4, lambda: 1e-4, max_seconds=0.008)


@pytest.mark.parametrize("fast_calls", [6, 8])
def test_a_comparison_that_becomes_slow_is_ended(gpus, fast_calls):
    """What the warm-up promised does not hold: the limit does, and the new estimate is told."""
    slow = iter([1e-2] * fast_calls)  # in one round, or in two
    with pytest.raises(TooShort, match=r"a round takes about 1\.02 s"):
        compared(gpus, 1e-2, lambda: next(slow, 0.5), max_seconds=0.4)
    assert gpus.host < 0.4 + 0.5 + 1e-3


def test_a_round_that_is_not_whole_does_not_count(gpus):
    found = compared(gpus, 1e-2, lambda: 1e-2, max_seconds=0.3)
    assert [len(rounds) for rounds in found.samples.values()] == [len(found.order)] * 2
    assert {len(one) for rounds in found.samples.values() for one in rounds} == {2}
    assert found.noise[0] == (
        f"max_seconds=0.3 ended it after {len(found.order)} rounds: the intervals of fewer than 12 are "
        "too narrow"
    )


def test_it_is_sure_when_every_interval_is_within_3_percent_of_its_ratio(monkeypatch):
    def sure(*found):
        monkeypatch.setattr(rounds, "ratios", lambda samples: list(found))
        return rounds._narrow_enough([], 12)

    assert sure(Ratio(10, 9.8, 10.3), Ratio(0.1, 0.098, 0.103))
    assert not sure(Ratio(10, 9.8, 10.3), Ratio(0.1, 0.097, 0.104))
    assert not sure(Ratio(10, 9.6, 10.3), Ratio(0.1, 0.098, 0.103))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.96, 1.04, "same"), (0.5, 0.9, "faster"), (1.1, 1.2, "slower"), (0.9, 1.1, "inconclusive"),
     (0.94, 0.99, "faster"), (1.01, 1.04, "same"), (1.0, 1.2, "inconclusive"),
     (1.01, 1.06, "slower"), (0.96, 0.99, "same"), (0.8, 1.0, "inconclusive"),
     (0.95, 1.05, "same"), (0.949, 1.05, "inconclusive"), (0.95, 1.051, "inconclusive")],
)  # fmt: skip
def test_verdicts(low, high, verdict):
    """ "same" comes first, on both sides of 1, its ends included."""
    assert Ratio((low + high) / 2, low, high).verdict == verdict
    assert str(Ratio(2.0, low, high)) == f"2.00 ({low:.2f} to {high:.2f})"


def test_the_interval_is_that_of_a_bootstrap_over_whole_rounds():
    """In plain words: rounds drawn with replacement, quartiles of all their samples, and half a percent."""
    rng = np.random.default_rng(5)
    a, b = rng.exponential(size=(2, 20, 2))
    draws = np.random.default_rng(0).integers(20, size=(1000, 20))
    again = sorted(
        sampling.quartile(b[list(rounds)].ravel()) / sampling.quartile(a[list(rounds)].ravel())
        for rounds in draws
    )
    [found] = comparison.ratios([a.tolist(), b.tolist()])
    assert found.value == pytest.approx(sampling.quartile(b.ravel()) / sampling.quartile(a.ravel()))
    assert again[24] <= found.low / 0.995 <= again[25]
    assert again[974] <= found.high / 1.005 <= again[975]
    assert comparison.ratios([a.tolist(), b.tolist()]) == [found]  # always the same draws


def subject(name, seconds, faults=0, calls=1):
    return sampling.Subject(name, once, calls, seconds=list(seconds), page_faults=faults)


GROWS = "calls take {} time, in the end {} times as much: does each change what the next works on?"
RISING = [1 + k / 10 + (-1) ** k / 100 for k in range(24)]
QUIET, LUCKY, SLOW = [1.0] * 9, [0.5] + [1.0] * 9, [1.0] * 4 + [3.0] * 6
A, B = subject("a", QUIET), subject("b", QUIET)
BEST = "its best sample says {}, not 1.00"
# Samples, and what is told of them.
SIGNS = [
    ([subject("a", SLOW)], ["the median is 3.0 times the lower quartile"]),
    ([subject("a", [1.0] * 4 + [1.5] * 6)], []),  # wide is above one and a half times
    ([subject("a", [*QUIET, 99.0])], []),
    ([A, subject("b", SLOW)], ["b: the median is 3.0 times the lower quartile"]),
    ([A, B, subject("c", LUCKY)], [f"c: {BEST.format('0.50')}"]),
    ([A, subject("b", [0.94, *QUIET])], [f"b: {BEST.format('0.94')}"]),
    ([subject("a", [0.94, *QUIET]), B], [f"b: {BEST.format('1.06')}"]),
    ([A, subject("b", [0.955, *QUIET])], []),  # up to 5 % is chance
    ([subject("a", [0.955, *QUIET]), B], []),
    ([A, subject("b", QUIET, faults=9)], []),  # up to one page a call
    ([subject("new", QUIET, faults=9 * 8 * 512, calls=8), A],
     ["new takes 512 new pages of memory per call, a 0: give out= to time the work alone"]),
    ([A, subject("new", QUIET, faults=10)],
     ["new takes 1 new pages of memory per call, a 0: give out= to time the work alone"]),
    ([subject("a", QUIET, faults=99), subject("b", QUIET, faults=99)], []),
    ([subject("a", RISING)], [GROWS.format("more and more", "3")]),
    ([subject("a", RISING), subject("b", RISING)],
     ["a: " + GROWS.format("more and more", "3"), "b: " + GROWS.format("more and more", "3")]),
    ([subject("a", RISING[::-1])], [GROWS.format("less and less", "0.33")]),
    ([subject("a", RISING[:15])], []),  # few samples rise by chance
    ([subject("a", [1 + k / 100 for k in range(24)])], []),  # up to a quarter is the machine
    ([subject("a", [1.0] * 12 + [1.4] * 12)], []),  # load begins, or ends
    ([subject("a", [1.4] * 12 + [1.0] * 12)], []),
    ([subject("a", [*RISING[:21], 1, 1, 1])], []),
]  # fmt: skip


@pytest.mark.parametrize(("subjects", "told"), SIGNS)
def test_each_sign_of_noise_has_a_sentence(monkeypatch, subjects, told):
    monkeypatch.setattr(sampling, "load", lambda: None)
    assert sampling.signs_of_noise(subjects, threads=2) == tuple(told)


@pytest.mark.parametrize(("cores", "load", "threads", "told"), [
    (2, 3.25, 1, ("3.2 threads were busy on 2 cores",)),
    (2, 2.0, 1, ()),
    (1, 1.5, 1, ("1.5 threads were busy on 1 core",)),
    (2, 1.5, 1, ()),
    (2, 1.5, 2, ("2 threads were timed while 1.5 were busy on 2 cores",)),
    (2, 1.0, 2, ()),
])  # fmt: skip
def test_compare_and_measure_tell_of_a_busy_machine(monkeypatch, gpus, cores, load, threads, told):
    monkeypatch.setattr(sampling.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(sampling, "load", lambda: load)
    options = {"device": "cuda", "threads": threads}
    work = lambda: gpus.launch(1e-3)  # noqa: E731
    assert compare({"a": work, "b": work}, rounds=2, **options).noise[: len(told)] == told
    assert measure(work, min_run_time=12e-3, **options).noise == told


def test_pages_are_counted_over_all_samples(monkeypatch, gpus):
    counted = itertools.count(0, 5)
    monkeypatch.setattr(sampling, "_page_faults", lambda: next(counted))
    one = sampling.Subject("a", lambda: gpus.launch(1e-3), calls=2)
    for _ in range(3):
        one.sample(clocks.CudaClock())
    assert one.page_faults == 15 and one.faults_per_call == 2.5


@pytest.mark.parametrize(("most", "seconds", "said"), [
    (3, 1e-3, "its warm-up"),
    (4, 1e-3, "sample 1, call 5, and"),
    (1500, 1e-5, r"sample \d+, one of calls 1,4\d\d to 1,5\d\d, and"),
])  # fmt: skip
def test_a_failure_names_the_function_and_the_sample(gpus, most, seconds, said):
    left = iter(range(most))
    with pytest.raises(TimingError, match=f"^'it' raised StopIteration in {said}") as caught:
        measure(lambda: gpus.launch(seconds + 0 * next(left)), label="it", **ON_GPU)
    assert isinstance(caught.value.__cause__, StopIteration)


async def waits():
    pass


async def both():
    yield


LIST, RUN = r"Give lambda: list\(f\(\)\)$", r"lambda: asyncio\.run\(f\(\)\)$"
WAIT = r"as in lambda: f\(\)\.result\(\)$"
POOL = ThreadPoolExecutor(1)
NOT_BEGUN = [
    (lambda: (k for k in "ab"), "a generator", LIST),
    (lambda: map(int, "12"), "a map", LIST),
    (lambda: iter(DataLoader([1])), "a _SingleProcessDataLoaderIter", LIST),
    (waits, "a coroutine", RUN),
    (both, "an async_generator", RUN),
    (lambda: POOL.submit(len, "ab"), "a Future", WAIT),
    (lambda: [POOL.submit(len, "ab")], "a Future", WAIT),
    (lambda: {"a": POOL.submit(len, "ab")}, "a Future", WAIT),
    (torch.futures.Future, "a Future", WAIT),
    (partial(threading.Thread, target=once), "a Thread", WAIT),
]


@pytest.mark.parametrize(("work", "kind", "advice"), NOT_BEGUN)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_has_not_begun_its_work_is_refused(gpus, work, kind, advice, device):
    """The making of it alone would be timed; and Python warns of no coroutine."""
    with pytest.raises(TimingError, match=f"^'b' returned {kind}, which .*{advice}"):
        compare({"a": list, "b": work}, device=device, rounds=1)


def test_an_open_file_is_a_result():
    with open(__file__, encoding="utf-8") as file:
        assert clocks.HostClock().begin(lambda: file)() is file


@pytest.mark.parametrize("ending", [once, raises, stops])
@both_ways
def test_threads_are_as_before(ending, time_it):
    seen = set()
    with sampling.threads(1024):
        assert torch.get_num_threads() == 1024
    with sampling.threads(3):
        with contextlib.suppress(TimingError, KeyboardInterrupt):
            time_it(lambda: [seen.add(torch.get_num_threads()), ending()], threads=2)
        assert seen == {2} and torch.get_num_threads() == 3


def test_load_and_threads_are_those_of_now(monkeypatch):
    monkeypatch.delattr(fingerprint.os, "getloadavg", raising=False)
    assert timing.machine()["load"] is None
    monkeypatch.setattr(fingerprint.os, "getloadavg", lambda: (1.236, 7.0, 8.0), raising=False)
    with sampling.threads(3):
        here = timing.machine()
    assert json.loads(json.dumps(here)) == here and here["torch"] == torch.__version__
    assert here["load"] == 1.24 and here["threads"] == 3


def test_the_processor_has_the_first_name_that_the_system_tells(monkeypatch, tmp_path):
    told = tmp_path / "cpuinfo"
    monkeypatch.setattr(fingerprint, "Path", lambda name: told)
    monkeypatch.setattr(fingerprint.platform, "processor", lambda: "chip")
    assert fingerprint._processor() == "chip"
    told.write_text("Hardware : a board\n", encoding="utf-8")
    assert fingerprint._processor() == "chip"
    told.write_text("model name\t: Abacus: 3\nmodel name\t: Other\n", encoding="utf-8")
    assert fingerprint._processor() == "Abacus: 3"
