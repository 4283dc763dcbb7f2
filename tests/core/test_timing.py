"""Timing: the tests assert wide orderings, words and counts, but never times."""

import contextlib
import gc
import itertools
import json
import random
import re
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

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


# The clock of a GPU, and the work that is left when a function returns


@pytest.mark.parametrize(("l2_bytes", "flush", "erased"), [(9, 10, 18), (9, 0, 0), (0, 10, 2**28)])
def test_a_gpu_is_timed_by_its_clock_without_flush_and_launch(gpus, l2_bytes, flush, erased):
    """For work shorter than its launch, only a full queue keeps the launch out of the time."""
    gpus.l2_bytes = l2_bytes  # some drivers do not report it
    clock = clocks.CudaClock(flush=bool(flush))
    seconds, host_seconds = clock.seconds(clock.begin(lambda: gpus.launch(1e-6)), 10)
    assert seconds == pytest.approx(1e-5)
    assert host_seconds == pytest.approx(10 * 3 * 4e-6)  # two events and the work
    assert gpus.erased == flush
    assert gpus.flushed_bytes == erased  # twice the L2


@both_ways
def test_flush_and_graph_reach_the_gpu(gpus, time_it):
    def features_after(**options):
        time_it(lambda: gpus.launch(0.5), device="cuda", **options)
        return gpus.erased > 0, gpus.captured > 0

    assert features_after(flush=False) == (False, False)
    assert features_after(flush=False, graph=True) == (False, True)
    assert features_after() == (True, True)


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("is_current", [True, False])
def test_work_on_any_stream_of_any_gpu_is_noticed(gpus, kind, device, is_current):
    """Even if the work is the first to touch a GPU; a wait for it in the function makes it right."""
    gpus.kind = kind
    work = partial(gpus.launch, 1e-4, device, is_current)
    with pytest.raises(TimingError, match=r"^f returned while .* alone\. Give device='cuda'"):
        clocks.HostClock().begin(work, "f")

    def work_and_wait():
        work()
        gpus.synchronize(device)

    clock = clocks.HostClock()
    seconds, host_seconds = clock.seconds(clock.begin(work_and_wait), 2)
    assert seconds == host_seconds > 0


def test_one_delayed_wait_is_no_work(gpus):
    """A busy host delays a wait now and then, and only a GPU that holds memory is waited for."""
    assert clocks.HostClock().begin(once) is once
    assert gpus.host == 0  # no GPU is in use
    gpus.launch(0.0)
    gpus.stalls = iter([0.0, 0.0, 1.0])
    assert clocks.HostClock().begin(once) is once
    assert gpus.host > 1


def test_work_on_another_stream_is_refused_by_the_clock_of_the_current_one(gpus):
    functions = {"a": lambda: gpus.launch(1e-3), "b": lambda: gpus.launch(1e-3, is_current=False)}
    with pytest.raises(TimingError, match=r"^'b' works on another stream or GPU .*wait_stream"):
        compare(functions, device="cuda", rounds=1)


def test_samples_of_no_time_are_refused():
    stopped_clock = SimpleNamespace(seconds=lambda *_: (0.0, 0.0))
    with pytest.raises(TimingError, match=r"^'it' took 0 s in one of calls 2 to 3: it gives"):
        sampling.Subject("it", once, 2).sample(stopped_clock)
    result = Comparison({"a": [[0.0]], "b": [[1.0]]}, [[0, 1]], {"a": 1, "b": 1}, 1, "cpu")
    with pytest.raises(TimingError, match="a sample of 0 s has no ratio"):
        repr(result)


def test_a_sample_on_the_gpu_lasts_a_millisecond_and_has_no_more_calls_than_the_queue_holds(gpus):
    functions = {"short": lambda: gpus.launch(1e-4), "long": lambda: gpus.launch(3e-4)}
    result = compare(functions, device="cuda", rounds=4)
    assert result.calls == {"short": 10, "long": 3}
    assert result.ratios["long"].value == pytest.approx(3)
    medium = measure(lambda: gpus.launch(1e-4), device="cuda", min_run_time=14.5e-3)
    assert medium.label == "<lambda>"
    assert medium.seconds == pytest.approx((1e-4,) * 15)
    assert medium.host_seconds == pytest.approx((12e-6,) * 15)
    tiny = measure(lambda: gpus.launch(1e-9), device="cuda", min_run_time=1e-9)
    assert tiny.calls == 100
    assert tiny.warm_up_calls == 255


def test_the_result_of_a_gpu_function_is_not_kept(gpus):
    references = []

    def work():
        result = torch.zeros(3)
        references.append(weakref.ref(result))
        return result

    clock = clocks.CudaClock()
    clock.seconds(clock.begin(work), 3)
    assert [reference() for reference in references] == [None] * 4


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@both_ways
def test_without_a_gpu_one_stable_line_says_so(time_it):
    with pytest.raises(TimingError) as caught:
        time_it(once, device="cuda")
    assert str(caught.value) == timing.why_no_cuda()


# One function


def test_a_measurement_has_a_dozen_samples_unless_they_take_long(gpus, monkeypatch):
    """Slow calls get the samples that `min_run_time` has room for; noise says how long a dozen takes."""
    monkeypatch.setattr(sampling, "load", lambda: None)

    def samples(seconds, min_run_time):
        result = measure(gpus.launch, seconds, device="cuda", min_run_time=min_run_time)
        return len(result.seconds), *result.noise

    assert samples(1e-4, 1e-9) == samples(1e-3, 0.0119) == (12,)
    assert samples(1e-3, 0.0999) == (100,)
    assert samples(0.004, 0.02) == (5, "5 samples: give min_run_time=0.05 for 12")
    assert samples(0.25, 0.001) == (1, "1 sample: give min_run_time=3 for 12")


def test_arguments_and_threads_reach_the_function():
    calls = set()
    measure(lambda *args: calls.add((args, torch.get_num_threads())), 1, 2, 3, threads=2)
    assert calls == {((1, 2, 3), 2)}


def test_a_measurement_shows_every_sign_of_noise():
    noise = ("9.0 threads were busy on 2 cores", "the cat walked by")
    noisy = Measurement("f", (1e-6, 2e-6, 3e-6, 8e-6), (4e-6,) * 4, 1, 9, 2, "cuda", noise)
    assert repr(noisy) == (
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
    states = []
    time_it(lambda: states.append(gc.isenabled()))
    assert len(states) > 100
    assert states.count(True) <= 2
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2.5, "2.5 s"),
        (0.0123456, "12.3 ms"),
        (4.2e-5, "42 µs"),
        (3e-10, "0.3 ns"),
        (0.0, "0 ns"),
        (1e-3, "1 ms"),
        (999.4e-6, "999 µs"),
        (999.6e-6, "1 ms"),
        (0.9996, "1 s"),
        (12345.6, "12346 s"),
    ],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


class WarmUp(NamedTuple):
    """The seconds of the first and of all later calls, and the numbers of calls that follow."""

    first: list[float]
    later: float
    calls: int
    warm_up_calls: int


@pytest.mark.parametrize(
    WarmUp._fields,
    [
        # a disturbed call does not count
        WarmUp(
            first=[1e-4, 5e-2],
            later=1e-4,
            calls=10,
            warm_up_calls=32,
        ),
        WarmUp(
            first=[5e-2, 5e-2],
            later=1e-4,
            calls=10,
            warm_up_calls=32,
        ),
        WarmUp(
            first=[1e-4, 5e-2, 5e-2],
            later=1e-4,
            calls=10,
            warm_up_calls=33,
        ),
        WarmUp(
            first=[5e-2],
            later=1e-4,
            calls=10,
            warm_up_calls=31,
        ),
        # a slow function is tried once
        WarmUp(
            first=[0.2],
            later=0.2,
            calls=1,
            warm_up_calls=1,
        ),
        # unless its first call was fast
        WarmUp(
            first=[1e-3],
            later=0.2,
            calls=1,
            warm_up_calls=3,
        ),
    ],
)
def test_a_warm_up_finds_how_many_calls_take_1_ms(gpus, first, later, calls, warm_up_calls):
    """Samples of one call would time the clock as well."""
    first_seconds = iter(first)
    result = measure(lambda: gpus.launch(next(first_seconds, later)), min_run_time=1e-3, **ON_GPU)
    assert result.calls == calls
    assert result.warm_up_calls == warm_up_calls


# Several functions


def test_two_go_there_and_back_and_more_go_in_a_new_order_each_round():
    of_two = compare({"a": once, "b": once}, rounds=5)
    assert list(of_two.order) == [[0, 1, 1, 0]] * 5
    assert [len(samples) for samples in of_two.samples["b"]] == [2] * 5
    functions = dict.fromkeys("abc", once)
    of_three = compare(functions, rounds=30)
    assert {tuple(sorted(order)) for order in of_three.order} == {(0, 1, 2)}
    assert len({tuple(order) for order in of_three.order}) > 3
    assert of_three.order == compare(functions, rounds=30).order
    assert of_three.order != compare(functions, rounds=30, seed=1).order
    assert list(of_three.ratios) == ["b", "c"]
    with pytest.raises(TimingError, match="the name 1 is an int"):
        compare({"a": once, 1: once})


FULL = Comparison(
    samples={"a": [[10e-3, 30e-3], [10e-3, 30e-3]], "<b>": [[5e-3, 15e-3], [5e-3, 15e-3]]},
    order=[[0, 1, 1, 0], [1, 0, 0, 1]],
    calls={"a": 3, "<b>": 4},
    threads=2,
    device="cuda",
    noise=("1 < 2", "the cat walked by"),
)


def test_the_samples_of_one_function_are_a_measurement():
    seconds = (5e-3, 15e-3, 5e-3, 15e-3)
    expected = Measurement("<b>", seconds, seconds, 4, 0, 2, "cuda", FULL.noise)
    assert FULL.measurement("<b>") == expected
    title, *_, first, second = repr(FULL).splitlines()
    assert title == "2 rounds on cuda, 2 threads; lower quartiles"
    assert first == "  noisy: 1 < 2"
    assert second == "  noisy: the cat walked by"


def compare_on_gpu(gpus, a_seconds, b_seconds, **options):
    """A comparison on the fake GPU, whose clock is the only one; `b_seconds` is called for each call."""
    functions = {"a": lambda: gpus.launch(a_seconds), "b": lambda: gpus.launch(b_seconds())}
    return compare(functions, **ON_GPU, **options)


def test_rounds_go_on_until_it_is_sure_and_for_max_seconds_at_the_most(gpus, monkeypatch):
    """At least twelve rounds and 0.2 s are timed, unless you set `rounds`."""
    rng = random.Random(0)

    def count(a_seconds, b_seconds, **options):
        return len(compare_on_gpu(gpus, a_seconds, b_seconds, **options).order)

    def varying():
        return rng.uniform(1e-2, 3e-2)

    assert count(1e-2, lambda: 2e-2) == 12
    assert count(1e-3, lambda: 2e-3) == 33  # 6 ms each
    assert count(1e-2, lambda: 2e-2, rounds=2, max_seconds=1e-9) == 2
    assert 40 < count(1e-2, varying) < 60
    assert 12 < count(1e-2, varying, max_seconds=1) < 20
    checked = []
    monkeypatch.setattr(rounds, "_narrow_enough", lambda _, rounds: checked.append(rounds))
    assert 27 < count(1e-2, lambda: 2e-2, max_seconds=2) < 33
    # Each check costs a bootstrap, and may be wrong by chance.
    assert checked == [12, 15, 18, 22, 27]


@pytest.mark.parametrize("seconds", [0.001, 0.04, 0.25, 2.0])
@pytest.mark.parametrize("max_seconds", [0.01, 0.1, 0.5, 1.2, 1.27, 3.0])
def test_max_seconds_is_kept_to_within_one_call(gpus, seconds, max_seconds):
    """The warm-up included; with fewer than three rounds it is refused, and the advice works."""

    def is_too_narrow(result):
        return any("too narrow" in sign for sign in result.noise)

    try:
        result = compare_on_gpu(gpus, seconds, lambda: seconds, max_seconds=max_seconds)
    except TimingError as error:
        assert gpus.host < max_seconds + seconds + 1e-3
        advice = re.search(r"max_seconds=([\d.]+), or rounds=3$", str(error))
        result = compare_on_gpu(gpus, seconds, lambda: seconds, max_seconds=float(advice[1]))
        assert len(result.order) >= 12
        assert not is_too_narrow(result)
    else:
        assert gpus.host < max_seconds + seconds + 1e-3
        assert len(result.order) >= 3
        assert is_too_narrow(result) == (len(result.order) < 12)


def test_the_estimate_comes_before_a_round_begins(gpus):
    with pytest.raises(TooShort) as caught:
        compare_on_gpu(gpus, 0.25, lambda: 0.25, max_seconds=0.5)
    assert str(caught.value) == (
        "max_seconds=0.5 is too short: a round takes about 1 s, and 12 rounds with the warm-up up to "
        "14 s: give max_seconds=14.1, or rounds=3"
    )
    before = gpus.host
    with pytest.raises(TooShort, match="about 1 s"):
        compare_on_gpu(gpus, 0.25, lambda: 0.25, max_seconds=3)
    assert gpus.host - before == pytest.approx(1, abs=0.01)  # each was called twice
    with pytest.raises(TooShort, match=r"a round takes about 4\.82 ms"):  # of ten calls a sample
        compare_on_gpu(gpus, 1e-4, lambda: 1e-4, max_seconds=0.008)


@pytest.mark.parametrize("fast_calls", [6, 8])
def test_a_comparison_that_becomes_slow_is_ended(gpus, fast_calls):
    """The limit holds although the estimate of the warm-up does not, and the error has a new estimate."""
    fast_seconds = iter([1e-2] * fast_calls)  # in one round, or in two
    with pytest.raises(TooShort, match=r"a round takes about 1\.02 s"):
        compare_on_gpu(gpus, 1e-2, lambda: next(fast_seconds, 0.5), max_seconds=0.4)
    assert gpus.host < 0.4 + 0.5 + 1e-3


def test_a_round_that_is_not_whole_does_not_count(gpus):
    result = compare_on_gpu(gpus, 1e-2, lambda: 1e-2, max_seconds=0.3)
    count = len(result.order)
    for name in "ab":
        assert [len(in_round) for in_round in result.samples[name]] == [2] * count
    assert result.noise[0] == (
        f"max_seconds=0.3 ended it after {count} rounds: the intervals of fewer than 12 are too narrow"
    )


def test_it_is_sure_when_every_interval_is_within_3_percent_of_its_ratio(monkeypatch):
    def is_sure(*intervals):
        monkeypatch.setattr(rounds, "ratios", lambda samples: list(intervals))
        return rounds._narrow_enough([], 12)

    assert is_sure(Ratio(10, 9.8, 10.3), Ratio(0.1, 0.098, 0.103))
    assert not is_sure(Ratio(10, 9.8, 10.3), Ratio(0.1, 0.097, 0.104))
    assert not is_sure(Ratio(10, 9.6, 10.3), Ratio(0.1, 0.098, 0.103))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.96, 1.04, "same"),
        (0.5, 0.9, "faster"),
        (1.1, 1.2, "slower"),
        (0.9, 1.1, "inconclusive"),
        (0.94, 0.99, "faster"),
        (1.01, 1.04, "same"),
        (1.0, 1.2, "inconclusive"),
        (1.01, 1.06, "slower"),
        (0.96, 0.99, "same"),
        (0.8, 1.0, "inconclusive"),
        (0.95, 1.05, "same"),
        (0.949, 1.05, "inconclusive"),
        (0.95, 1.051, "inconclusive"),
    ],
)
def test_verdicts(low, high, verdict):
    """ "same" comes first, on both sides of 1, its ends included."""
    assert Ratio((low + high) / 2, low, high).verdict == verdict
    assert str(Ratio(2.0, low, high)) == f"2.00 ({low:.2f} to {high:.2f})"


def test_the_interval_is_that_of_a_bootstrap_over_whole_rounds():
    """It draws rounds with replacement, takes the quartiles of their samples, and adds half a percent."""
    rng = np.random.default_rng(5)
    a, b = rng.exponential(size=(2, 20, 2))

    def ratio_of(drawn_rounds):
        b_quartile = sampling.quartile(b[drawn_rounds].ravel())
        return b_quartile / sampling.quartile(a[drawn_rounds].ravel())

    draws = np.random.default_rng(0).integers(20, size=(1000, 20))
    resampled = sorted(ratio_of(list(drawn_rounds)) for drawn_rounds in draws)
    [ratio] = comparison.ratios([a.tolist(), b.tolist()])
    assert ratio.value == pytest.approx(ratio_of(list(range(20))))
    assert resampled[24] <= ratio.low / 0.995 <= resampled[25]
    assert resampled[974] <= ratio.high / 1.005 <= resampled[975]
    assert comparison.ratios([a.tolist(), b.tolist()]) == [ratio]  # always the same draws


def subject(name, seconds, faults=0, calls=1):
    """A function with these samples."""
    return sampling.Subject(name, once, calls, seconds=list(seconds), page_faults=faults)


GROWS = "calls take {} time, in the end {} times as much: does each change what the next works on?"
RISING = [1 + k / 10 + (-1) ** k / 100 for k in range(24)]
QUIET = [1.0] * 9
LUCKY = [0.5] + [1.0] * 9
SLOW = [1.0] * 4 + [3.0] * 6
A = subject("a", QUIET)
B = subject("b", QUIET)
BEST = "its best sample says {}, not 1.00"


class SubjectsWithSigns(NamedTuple):
    """Functions with their samples, and the signs of noise in them."""

    subjects: list[sampling.Subject]
    signs: list[str]


SIGNS = [
    SubjectsWithSigns(
        subjects=[subject("a", SLOW)],
        signs=["the median is 3.0 times the lower quartile"],
    ),
    # wide is above one and a half times
    SubjectsWithSigns(
        subjects=[subject("a", [1.0] * 4 + [1.5] * 6)],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", [*QUIET, 99.0])],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[A, subject("b", SLOW)],
        signs=["b: the median is 3.0 times the lower quartile"],
    ),
    SubjectsWithSigns(
        subjects=[A, B, subject("c", LUCKY)],
        signs=[f"c: {BEST.format('0.50')}"],
    ),
    SubjectsWithSigns(
        subjects=[A, subject("b", [0.94, *QUIET])],
        signs=[f"b: {BEST.format('0.94')}"],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", [0.94, *QUIET]), B],
        signs=[f"b: {BEST.format('1.06')}"],
    ),
    # up to 5 % is chance
    SubjectsWithSigns(
        subjects=[A, subject("b", [0.955, *QUIET])],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", [0.955, *QUIET]), B],
        signs=[],
    ),
    # up to one page a call
    SubjectsWithSigns(
        subjects=[A, subject("b", QUIET, faults=9)],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[subject("new", QUIET, faults=9 * 8 * 512, calls=8), A],
        signs=["new takes 512 new pages of memory per call, a 0: give out= to time the work alone"],
    ),
    SubjectsWithSigns(
        subjects=[A, subject("new", QUIET, faults=10)],
        signs=["new takes 1 new pages of memory per call, a 0: give out= to time the work alone"],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", QUIET, faults=99), subject("b", QUIET, faults=99)],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", RISING)],
        signs=[GROWS.format("more and more", "3")],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", RISING), subject("b", RISING)],
        signs=[
            "a: " + GROWS.format("more and more", "3"),
            "b: " + GROWS.format("more and more", "3"),
        ],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", RISING[::-1])],
        signs=[GROWS.format("less and less", "0.33")],
    ),
    # few samples rise by chance
    SubjectsWithSigns(
        subjects=[subject("a", RISING[:15])],
        signs=[],
    ),
    # up to a quarter is the machine
    SubjectsWithSigns(
        subjects=[subject("a", [1 + k / 100 for k in range(24)])],
        signs=[],
    ),
    # load begins, or ends
    SubjectsWithSigns(
        subjects=[subject("a", [1.0] * 12 + [1.4] * 12)],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", [1.4] * 12 + [1.0] * 12)],
        signs=[],
    ),
    SubjectsWithSigns(
        subjects=[subject("a", [*RISING[:21], 1, 1, 1])],
        signs=[],
    ),
]


@pytest.mark.parametrize(SubjectsWithSigns._fields, SIGNS)
def test_each_sign_of_noise_has_a_sentence(monkeypatch, subjects, signs):
    monkeypatch.setattr(sampling, "load", lambda: None)
    assert sampling.signs_of_noise(subjects, threads=2) == tuple(signs)


class BusyMachine(NamedTuple):
    """A machine with this load, and what it adds to the noise of a timing."""

    cores: int
    load: float
    threads: int
    signs: list[str]


@pytest.mark.parametrize(
    BusyMachine._fields,
    [
        BusyMachine(
            cores=2,
            load=3.25,
            threads=1,
            signs=("3.2 threads were busy on 2 cores",),
        ),
        BusyMachine(
            cores=2,
            load=2.0,
            threads=1,
            signs=(),
        ),
        BusyMachine(
            cores=1,
            load=1.5,
            threads=1,
            signs=("1.5 threads were busy on 1 core",),
        ),
        BusyMachine(
            cores=2,
            load=1.5,
            threads=1,
            signs=(),
        ),
        BusyMachine(
            cores=2,
            load=1.5,
            threads=2,
            signs=("2 threads were timed while 1.5 were busy on 2 cores",),
        ),
        BusyMachine(
            cores=2,
            load=1.0,
            threads=2,
            signs=(),
        ),
    ],
)
def test_compare_and_measure_report_a_busy_machine(monkeypatch, gpus, cores, load, threads, signs):
    monkeypatch.setattr(sampling.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(sampling, "load", lambda: load)
    options = {"device": "cuda", "threads": threads}
    work = partial(gpus.launch, 1e-3)
    assert compare({"a": work, "b": work}, rounds=2, **options).noise[: len(signs)] == signs
    assert measure(work, min_run_time=12e-3, **options).noise == signs


def test_pages_are_counted_over_all_samples(monkeypatch, gpus):
    page_counts = itertools.count(0, 5)
    monkeypatch.setattr(sampling, "_page_faults", lambda: next(page_counts))
    sampled = sampling.Subject("a", lambda: gpus.launch(1e-3), calls=2)
    for _ in range(3):
        sampled.sample(clocks.CudaClock())
    assert sampled.page_faults == 15
    assert sampled.faults_per_call == 2.5


@pytest.mark.parametrize(
    ("calls", "seconds", "when"),
    [
        (3, 1e-3, "its warm-up"),
        (4, 1e-3, "sample 1, call 5, and"),
        (1500, 1e-5, r"sample \d+, one of calls 1,4\d\d to 1,5\d\d, and"),
    ],
)
def test_a_failure_names_the_function_and_the_sample(gpus, calls, seconds, when):
    times = iter([seconds] * calls)
    with pytest.raises(TimingError, match=f"^'it' raised StopIteration in {when}") as caught:
        measure(lambda: gpus.launch(next(times)), label="it", **ON_GPU)
    assert isinstance(caught.value.__cause__, StopIteration)


async def waits():
    pass


async def yields():
    yield


LIST = r"Give lambda: list\(f\(\)\)$"
RUN = r"lambda: asyncio\.run\(f\(\)\)$"
WAIT = r"as in lambda: f\(\)\.result\(\)$"
POOL = ThreadPoolExecutor(1)


class Unfinished(NamedTuple):
    """A function whose result has work to do, and the advice that its error gives."""

    work: Callable[[], Any]
    result: str
    advice: str


UNFINISHED = [
    Unfinished(
        work=lambda: (k for k in "ab"),
        result="a generator",
        advice=LIST,
    ),
    Unfinished(
        work=lambda: map(int, "12"),
        result="a map",
        advice=LIST,
    ),
    Unfinished(
        work=lambda: iter(DataLoader([1])),
        result="a _SingleProcessDataLoaderIter",
        advice=LIST,
    ),
    Unfinished(
        work=waits,
        result="a coroutine",
        advice=RUN,
    ),
    Unfinished(
        work=yields,
        result="an async_generator",
        advice=RUN,
    ),
    Unfinished(
        work=lambda: POOL.submit(len, "ab"),
        result="a Future",
        advice=WAIT,
    ),
    Unfinished(
        work=lambda: [POOL.submit(len, "ab")],
        result="a Future",
        advice=WAIT,
    ),
    Unfinished(
        work=lambda: {"a": POOL.submit(len, "ab")},
        result="a Future",
        advice=WAIT,
    ),
    Unfinished(
        work=torch.futures.Future,
        result="a Future",
        advice=WAIT,
    ),
    Unfinished(
        work=partial(threading.Thread, target=once),
        result="a Thread",
        advice=WAIT,
    ),
]


@pytest.mark.parametrize(Unfinished._fields, UNFINISHED)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_result_with_unfinished_work_is_refused(gpus, work, result, advice, device):
    """Only the making of it would be timed. Python does not warn about a coroutine."""
    with pytest.raises(TimingError, match=f"^'b' returned {result}, which .*{advice}"):
        compare({"a": list, "b": work}, device=device, rounds=1)


def test_an_open_file_is_a_result():
    with open(__file__, encoding="utf-8") as file:
        assert clocks.HostClock().begin(lambda: file)() is file


@pytest.mark.parametrize("ending", [once, raises, stops])
@both_ways
def test_threads_are_as_before(ending, time_it):
    thread_counts = set()

    def work():
        thread_counts.add(torch.get_num_threads())
        ending()

    with sampling.threads(1024):
        assert torch.get_num_threads() == 1024
    with sampling.threads(3):
        with contextlib.suppress(TimingError, KeyboardInterrupt):
            time_it(work, threads=2)
        assert thread_counts == {2}
        assert torch.get_num_threads() == 3


def test_load_and_threads_are_those_of_now(monkeypatch):
    monkeypatch.delattr(fingerprint.os, "getloadavg", raising=False)
    assert timing.machine()["load"] is None
    monkeypatch.setattr(fingerprint.os, "getloadavg", lambda: (1.236, 7.0, 8.0), raising=False)
    with sampling.threads(3):
        here = timing.machine()
    assert json.loads(json.dumps(here)) == here
    assert here["torch"] == torch.__version__
    assert here["load"] == 1.24
    assert here["threads"] == 3


def test_the_processor_has_the_first_name_that_the_system_reports(monkeypatch, tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    monkeypatch.setattr(fingerprint, "Path", lambda name: cpuinfo)
    monkeypatch.setattr(fingerprint.platform, "processor", lambda: "chip")
    assert fingerprint._processor() == "chip"
    cpuinfo.write_text("Hardware : a board\n", encoding="utf-8")
    assert fingerprint._processor() == "chip"
    cpuinfo.write_text("model name\t: Abacus: 3\nmodel name\t: Other\n", encoding="utf-8")
    assert fingerprint._processor() == "Abacus: 3"
