"""Claims tell the prediction, and of the measurement only what every run agrees on."""

import pytest
import torch
from matplotlib.figure import Figure

from stridekit.lessons import claims as claiming
from stridekit.lessons.claims import Claim, claim
from stridekit.timing import Comparison, Ratio, TooShort, compare, page_faults, sampling
from tests.fake_gpu import fake_queue  # noqa: F401  (a fixture)

x = torch.ones(300, 300)


def once():
    return x.sum(1)


TWO = {"a": once, "b": once}


def found(ratio, expected="slower", noise=()):
    """A claim about one function of this ratio."""
    samples = {"a": [[1.0]], "b": [[ratio.value]]}
    one = Comparison(samples, [[0, 1]], {"a": 1, "b": 1}, 1, "cpu", noise)
    return Claim("a", {"b": 8.0}, {"b": ratio}, {"b": expected} if expected else {}, (one,))


# What a claim finds ---------------------------------------------------------------------------


@pytest.fixture
def on_gpu(queue):
    """Two functions, one eight times as slow as the first, however busy the machine is."""
    return lambda: queue.launch(1e-3), lambda: queue.launch(8e-3)


def test_a_sure_verdict_is_told_and_the_others_stay_in_the_picture(on_gpu):
    once, eight_times = on_gpu
    work = {"once": once, "8 times": eight_times, "again": once}
    predicted = {"once": 150, "8 times": 1200, "again": 100}
    one = claim(work, predicted, slower=["8 times"], rounds=12, device="cuda")
    assert repr(one) == (
        "time against “once”\n           predicted    measured\n"
        "  8 times  8x slower    slower\n  again    1.5x faster"
    )
    assert one.holds and one.sure == {"8 times": "slower"}
    assert list(one.predicted.values()) == [8, 2 / 3]
    assert one.measured["8 times"].value == pytest.approx(8)


def test_pairs_are_compared_each_by_itself(on_gpu):
    once, eight_times = on_gpu
    work = {"a": (once, eight_times), "b": (eight_times, once)}
    options = {"baseline": "it", "rounds": 12, "device": "cuda"}
    one = claim(work, {"a": 8, "b": 0.125}, slower=["a"], faster=["b"], **options)
    assert one.sure == {"a": "slower", "b": "faster"} and len(one.comparisons) == 2
    assert repr(one).startswith(
        "time against “it”\n     predicted  measured\n  a  8x slower  slower\n"
    )


def test_predictions_become_ratios():
    """One number stands for all names but the baseline; a result of `traffic` is a prediction too."""

    class Found:
        moved = 3

    alone, pairs = {"a": once, "b": once, "c": once}, {"b": (once, once), "c": (once, once)}
    told = [
        (alone, 1, {"b": 1, "c": 1}),
        (alone, {"a": 2, "b": Found(), "c": 8}, {"b": 1.5, "c": 4}),
        (pairs, 0.5, {"b": 0.5, "c": 0.5}),
        (pairs, {"b": 4, "c": 0}, {"b": 4, "c": 0}),
    ]
    for work, predicted, ratios in told:
        assert claim(work, predicted, baseline="a", rounds=1).predicted == ratios


@pytest.mark.parametrize(
    ("tries", "kept", "count"),
    [
        (["slower slower"], 0, 1),
        (["same same", "slower same", "same same"], 1, 3),
        (["same same", "same slower", "slower same"], 2, 3),
        (["same same"] * 3, 2, 3),
    ],
)
def test_of_several_tries_the_last_that_contradicts_no_more_than_before(
    monkeypatch, tries, kept, count
):
    verdicts = {"slower": Ratio(3, 2.5, 3.5), "same": Ratio(1, 0.97, 1.02)}
    made = []

    def measured(*_):
        made.append(len(made))
        found = [verdicts[word] for word in tries[made[-1]].split()]
        return dict(zip("bc", found, strict=True)), (made[-1],)

    monkeypatch.setattr(claiming, "_measured", measured)
    one = claim({"a": once, "b": once, "c": once}, 8, slower=["b", "c"])
    assert one.comparisons == (kept,) and len(made) == count
    assert list(one.sure.values()) == tries[kept].split()


@pytest.mark.parametrize("work", [TWO, {"b": (once, once), "c": (once, once)}])
def test_options_are_those_of_compare(monkeypatch, work):
    """A claim is quick and quiet by default, and keeps each comparison."""
    seen = []

    def compared(functions, **options):
        seen.append(options)
        return compare(functions, rounds=1)

    monkeypatch.setattr(claiming, "compare", compared)
    one = claim(work, 1, slower=())
    assert seen == [{"max_seconds": 0.15, "progress": False}] * len(one.comparisons)
    seen.clear()
    claim(work, 1, max_seconds=9, progress=True, threads=2)
    assert seen == [{"max_seconds": 9, "progress": True, "threads": 2}] * len(one.comparisons)
    assert [found.names[1:] for found in one.comparisons] == [
        (name,) for name in work if name != "a"
    ]


def test_on_a_noisy_machine_nothing_is_contradicted():
    same = Ratio(1.0, 0.97, 1.02)
    assert not found(same).holds
    assert found(same, noise=("9 threads were busy on 2 cores",)).holds
    assert found(same, expected="").holds
    assert found(Ratio(3, 2.5, 3.5)).holds


def test_the_noise_of_every_comparison_is_told_once():
    found_in = [found(Ratio(1, 1, 1), noise=(sign,)).comparisons[0] for sign in "xyx"]
    assert Claim("a", {}, {}, {}, tuple(found_in)).noise == ("x", "y")


@pytest.mark.parametrize(("short", "tried"), [(0, 1), (1, 2), (2, 3)])
def test_where_time_is_short_three_rounds_are_measured(monkeypatch, short, tried):
    """After a second try: a function that is compiled is slow only once. The rounds are told as noise."""
    seen = []

    def compared(functions, **options):
        seen.append(options)
        if len(seen) <= short:
            raise TooShort("a round takes an hour")
        return compare(functions, rounds=1)

    monkeypatch.setattr(claiming, "compare", compared)
    one = claim(TWO, 1)
    told = [sign for sign in one.noise if "rounds" in sign]
    assert told == ["took three rounds: a round takes an hour"] * (short == 2)
    assert [options.get("rounds") for options in seen] == [None, None, 3][:tried]
    assert {options["max_seconds"] for options in seen} == {0.15}


# Pictures -------------------------------------------------------------------------------------


def test_the_picture_has_the_measured_verdict():
    """It shows the measured verdict instead of the claimed one, on the given Axes."""
    where = Figure().subplots()
    assert found(Ratio(1.0, 0.97, 1.02)).plot(where) is where
    assert [text.get_text() for text in where.texts] == ["1: no difference", "8x slower", "same"]
    assert where.get_xlabel() == "time, as multiples of “a”"  # and no notes


def test_a_prediction_of_nothing_has_its_place():
    one = claim(TWO, {"a": 1, "b": 0}, rounds=1).plot(Figure().subplots())
    assert one.texts[1].get_text() == "0x faster" and one.patches[1].get_width() == 0


def test_a_notebook_gets_the_words_and_a_picture_marked_as_measured():
    data, about = found(Ratio(3, 2.5, 3.5))._repr_mimebundle_()
    assert (
        data["text/plain"] == "time against “a”\n     predicted  measured\n  b  8x slower  slower"
    )
    assert about["image/png"]["measured"] is True and "image/png" in data


# Page faults ----------------------------------------------------------------------------------


def test_pages_are_counted_where_a_large_tensor_is_new():
    big = torch.rand(9 * 2**20)
    out = torch.empty_like(big)
    new = min(page_faults(lambda: big + 1) for _ in range(4))
    old = min(page_faults(lambda: torch.add(big, 1, out=out)) for _ in range(4))
    assert old < 100
    assert new > 1000 or new == 0  # nobody counts, or the pages are huge


def test_pages_are_those_of_all_calls(monkeypatch):
    counted = {"pages": 7}
    monkeypatch.setattr(sampling, "_page_faults", lambda: counted["pages"])

    def work():
        counted["pages"] += 10

    assert [page_faults(work, calls) for calls in (0, 1, 3)] == [0, 10, 30]
    assert page_faults(work) == 10
    with pytest.raises(ZeroDivisionError):
        page_faults(lambda: 1 / 0)


def test_where_nobody_counts_there_are_no_pages(monkeypatch):
    monkeypatch.setattr(sampling, "resource", None)
    assert page_faults(lambda: torch.ones(10**6)) == 0
