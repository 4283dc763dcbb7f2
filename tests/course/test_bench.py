"""`make bench` measures what it says: the right questions, in the right units, and draws them."""

import sys
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from torch import nn

import bench
from stridekit import Layout, audit, is_view, shares_memory
from stridekit.widgets import palette

# The elements of both views of a pair, those that they have in common, and the sum of their numbers, where
# those of the second view count twice: for a base of shape (5, 6, 7, 8).
FACTS_OF_PAIRS = [
    (1008, 672, 0, 1974504),
    (1120, 1680, 1120, 3917760),
    (1470, 1470, 1470, 3704400),
    (840, 630, 420, 1761900),
    (700, 700, 700, 1820700),
    (1680, 1680, 1680, 4231080),
    (210, 480, 60, 982110),
    (210, 360, 45, 760260),
    (192, 525, 60, 1103022),
]


def test_the_pairs_of_views_are_those_of_torch_for_a_layout_too():
    shape = (5, 6, 7, 8)
    views = bench.pairs(torch.arange(5 * 6 * 7 * 8).view(shape))
    layouts = bench.pairs(Layout(shape, itemsize=4))
    facts = []
    for (y, x), (y_layout, x_layout) in zip(views, layouts, strict=True):
        y_elements = set(y.flatten().tolist())
        x_elements = set(x.flatten().tolist())
        assert bench.elements(y_layout) == y_elements
        assert bench.elements(x_layout) == x_elements
        common = y_elements & x_elements
        total = sum(y_elements) + 2 * sum(x_elements)
        facts.append((len(y_elements), len(x_elements), len(common), total))
    assert facts == FACTS_OF_PAIRS


def test_the_elements_of_a_layout_begin_at_its_offset_and_repeat_where_a_stride_is_0():
    assert bench.elements(Layout((2, 3), (10, 2), storage_offset=5)) == {5, 7, 9, 15, 17, 19}
    assert bench.elements(Layout((3, 2), (0, 1))) == {0, 1}


def test_numpy_sees_the_layout_of_an_array_without_memory():
    array = bench.numpy_array(Layout((2, 3), (10, 2), storage_offset=5, itemsize=4))
    base = bench.numpy_array(Layout((1,), itemsize=4))
    assert (array.shape, array.strides, array.dtype) == ((2, 3), (40, 8), np.float32)
    assert array.__array_interface__["data"][0] - base.__array_interface__["data"][0] == 20
    assert not array.flags.writeable


@pytest.fixture
def clock(monkeypatch):
    """A clock that only moves when a question takes its microseconds."""
    now = SimpleNamespace(seconds=0.0, calls=0)
    monkeypatch.setattr(bench.time, "perf_counter", lambda: now.seconds)

    def take(microseconds):
        now.calls += 1
        now.seconds += microseconds / 1e6

    now.take = take
    return now


def test_microseconds_are_those_of_one_call_in_the_median_round(clock):
    assert bench.micros(lambda: clock.take(3), calls=4, rounds=5) == pytest.approx(3)
    assert clock.calls == 20
    rounds = iter([1, 1, 8, 8, 2, 2])
    assert bench.micros(lambda: clock.take(next(rounds)), calls=2, rounds=3) == pytest.approx(2)


@pytest.mark.parametrize(("took", "calls"), [(10, 1 + 5 * 100), (400, 1 + 5 * 2), (3000, 1 + 5)])
def test_numpy_is_asked_for_about_a_millisecond_a_round(clock, monkeypatch, took, calls):
    limits = set()

    def shares(y, x, max_work):
        limits.add(max_work)
        clock.take(took)

    monkeypatch.setattr(np, "shares_memory", shares)
    assert bench.numpy_micros(Layout((2,)), Layout((3,))) == pytest.approx(took)
    assert (clock.calls, limits) == (calls, {10**7})


def test_numpy_gives_up_at_infinity(monkeypatch):
    monkeypatch.setattr(bench, "NUMPY_WORK", 10)
    *_, (y, x) = bench.pairs(Layout((1000,) * 4, itemsize=4))
    assert bench.numpy_micros(y, x) == float("inf")


def test_each_question_is_answered_right(monkeypatch):
    """All libraries agree on each pair, if a question returns its answer in place of a time."""
    slow = []

    def answer_of(question, calls=40, rounds=15):
        answer = question()
        if isinstance(answer, set) or calls * rounds < 40 * 15:
            slow.append((calls, rounds))
        return answer

    monkeypatch.setattr(bench, "micros", answer_of)
    answers = {(question.library, question.text): question for question in bench.QUESTIONS}
    assert answers.pop(("numpy.shares_memory", "overlap")).micros == bench.numpy_micros
    for y, x in bench.pairs(Layout((6, 6, 6, 6), itemsize=4)):
        subset, overlap = is_view(y, x), shares_memory(y, x)
        assert np.shares_memory(bench.numpy_array(y), bench.numpy_array(x)) == overlap
        answer = {key: question.micros(y, x) for key, question in answers.items()}
        assert answer["stridekit", "subset"] == answer["Python sets", "subset"] == subset
        assert answer["stridekit", "overlap"] == bool(answer["Python sets", "overlap"]) == overlap
        assert answer["stridekit", "count"] == len(bench.elements(y)) * 4
        assert answer["stridekit", "internal overlap"] == (y.numel > len(bench.elements(y)))
    assert slow == [(1, 1)] * 18  # the questions to Python's sets, which are asked once
    for question in bench.QUESTIONS:  # a set of 10^9 elements would take all memory
        assert question.most_elements == (10**6 if question.library == "Python sets" else 10**12)


@pytest.fixture
def two_questions(monkeypatch):
    """Two questions about bases of 81 and 256 elements; the second one cannot take the larger."""
    monkeypatch.setattr(bench, "SIZES", (81, 256))
    numbers = iter(range(1000))
    quick = bench.Question("stridekit", "overlap", lambda y, x: next(numbers), 256)
    slow = bench.Question("Python sets", "overlap", lambda y, x: 2000 + len(bench.elements(y)), 81)
    monkeypatch.setattr(bench, "QUESTIONS", [quick, slow])


def test_each_question_is_measured_at_each_size_that_it_can_take(two_questions):
    times = bench.measure_questions()
    assert times["stridekit", "overlap"] == {81: [*range(9)], 256: [*range(9, 18)]}
    counts = [len(bench.elements(y)) for y, _ in bench.pairs(Layout((3, 3, 3, 3)))]
    assert times["Python sets", "overlap"] == {81: [2000 + count for count in counts]}


def test_the_table_has_medians_and_the_slowest_answer_of_stridekit(
    two_questions, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(bench, "PICTURE", tmp_path / "sets.png")
    slower = bench.Question("stridekit", "count", lambda y, x: 1234.5)
    quicker = bench.Question("stridekit", "subset", lambda y, x: 1.0)
    bench.QUESTIONS[1:] = [slower, quicker]
    bench.memory_sets(draws_picture=False)
    first, *rows, slowest = capsys.readouterr().out.splitlines()
    assert first.startswith("memory sets: microseconds a question at 10^3")
    assert [row.split() for row in rows] == [
        ["stridekit", "overlap", "4.0", "13.0"],
        ["stridekit", "count", "1,234.5", "1,234.5"],
        ["stridekit", "subset", "1.0", "1.0"],
    ]
    assert len({len(row) for row in rows}) == 1  # they are aligned
    assert slowest.split(": ")[1] == "1234.5 µs, the mark is 20"
    assert not (tmp_path / "sets.png").exists()


def test_the_picture_is_drawn_if_it_is_asked_for(two_questions, monkeypatch, tmp_path, capsys):
    assert bench.PICTURE.is_file()
    monkeypatch.setattr(bench, "PICTURE", tmp_path / "sets.png")
    drawn = plt.figure(figsize=(1, 1))
    monkeypatch.setattr(bench, "draw", lambda times: drawn)
    bench.QUESTIONS.pop()
    bench.memory_sets(draws_picture=True)
    assert (tmp_path / "sets.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.endswith(f"plot: {tmp_path / 'sets.png'}\n")
    plt.close(drawn)


INF = float("inf")


def test_the_picture_shows_medians_bands_and_where_numpy_gives_up():
    times = {
        ("stridekit", "overlap"): {10**3: [1.0, 2.0, 6.0], 10**6: [3.0, 4.0, 5.0]},
        ("numpy.shares_memory", "overlap"): {10**3: [1.0, 1.5, 2.0], 10**6: [7.0, 9.0, INF]},
        ("stridekit", "subset"): {10**3: [2.0, 2.0, 2.0]},
        ("stridekit", "count"): {10**3: [50.0]},
    }
    figure = bench.draw(times)
    overlap, subset = figure.axes
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Do y and x share a byte?", "Is y a view of x?"]
    for axes in figure.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlabel() == "elements of the base"
        assert [*axes.get_xticks()] == [1e3, 1e6, 1e9, 1e12]
    assert overlap.get_ylabel() == "microseconds a question" and not subset.get_ylabel()
    assert overlap.get_ylim() == subset.get_ylim()
    ours, cross, numpy = overlap.lines
    assert ours.get_xydata().tolist() == [[10**3, 2], [10**6, 4]]
    assert numpy.get_xydata().tolist() == [[10**3, 1.5], [10**6, 8]]
    assert (cross.get_xydata().tolist(), cross.get_marker()) == ([[10**6, 9]], "x")
    (note,) = overlap.texts
    assert note.get_text() == "TooHardError\nfor 1 of 3 pairs"
    assert (note.xy, note.xyann) == ((10**6, 9), (0, 8))
    colours = [to_hex(line.get_color()) for line in (ours, numpy, cross)]
    assert colours == [palette.DIMS[1][0], palette.DIMS[0][0], palette.DIMS[0][0]]
    band = overlap.collections[0].get_datalim(overlap.transData)
    assert (band.ymin, band.ymax) == (1, 6)
    assert overlap.get_legend() is None
    legend = subset.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["stridekit", "numpy.shares_memory"]
    assert legend.get_title().get_text().startswith("median of nine pairs")
    assert not legend.get_frame_on()
    plt.close(figure)


# Audits ----------------------------------------------------------------------------------------------


@pytest.fixture
def compared(monkeypatch):
    """Run each side of a comparison once; return the values of the sides."""
    values = {}

    def compare(sides, max_seconds):
        values.update({name: side() for name, side in sides.items()})
        values["grad"] = torch.is_grad_enabled()
        return SimpleNamespace(ratios={"audited": "2.0"})

    monkeypatch.setattr(bench, "compare", compare)
    return values


def test_a_model_is_audited_on_the_same_input(compared, capsys):
    bench.print_audit_ratio(nn.Flatten(0), torch.ones(3, 4).t())
    assert torch.equal(compared["plain"], torch.ones(12))
    assert len(compared["audited"].copies) == 1
    assert compared["grad"] is False
    assert capsys.readouterr().out == "audit of a Flatten: 2.0 times as long as the plain pass\n"


def test_the_models_are_a_network_and_an_encoder_and_then_steps_in_place(monkeypatch, capsys):
    threads = []
    models = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    monkeypatch.setattr(bench, "print_audit_ratio", lambda model, x: models.append((model, x)))
    monkeypatch.setattr(bench, "micros", lambda steps, calls, rounds: steps.args[-1] ** 2 * rounds)
    bench.audits()
    (network, images), (encoder, words) = models
    assert threads == [1]
    assert (images.shape, words.shape) == ((4, 64, 56, 56), (4, 64, 256))
    assert not network.training and len(network) == 9 and len(encoder.layers) == 6
    with torch.no_grad():
        assert network(images[:1, :, :4, :4]).shape == (1, 64, 4, 4)
        assert encoder.layers[0](words[:1, :2]).shape == (1, 2, 256)
    # Four times the steps in 16 times the time.
    assert "audit of 4,000 steps in place: 16.0 times 1,000 of them" in capsys.readouterr().out


def test_each_step_changes_the_weight_in_place_and_copies_it_once():
    report = str(audit(bench.take_steps, 3))
    assert "1 finding; 3 of 6 copies changed a layout, 49.2 kB" in report
    assert "weight.t().reshape(-1)" in report


# The command line ------------------------------------------------------------------------------------


def test_latency_is_summed_up_as_median_and_percentile():
    waits = [float(wait) for wait in range(1, 22)]
    assert bench.summary(waits) == "median 11.0 ms (mark 12), p95 20.0 ms (mark 30)"


def test_without_chromium_no_latency_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(bench, "find_chromium", lambda: None)
    bench.latency()
    assert capsys.readouterr().out == "latency: not measured, because Chromium is not installed\n"


@pytest.mark.parametrize(
    ("arguments", "measured"),
    [
        ([], ["memory False", "audit", "latency"]),
        (["latency", "memory"], ["latency", "memory False"]),
        (["--picture", "memory"], ["memory True"]),
    ],
)
def test_main_measures_the_marks_that_are_named_or_all(monkeypatch, arguments, measured):
    done = []
    monkeypatch.setattr(bench, "memory_sets", lambda picture: done.append(f"memory {picture}"))
    monkeypatch.setattr(bench, "audits", lambda: done.append("audit"))
    monkeypatch.setattr(bench, "latency", lambda: done.append("latency"))
    monkeypatch.setattr(sys, "argv", ["bench.py", *arguments])
    bench.main()
    assert done == measured
    done.clear()
    monkeypatch.setattr(sys, "argv", ["bench.py", "audit", "speed"])
    with pytest.raises(SystemExit):
        bench.main()
    assert done == []
