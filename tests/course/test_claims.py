"""Claims and their records: a notebook shows a record beside this machine's run, and stores it alone."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

import refresh
from stridekit.lessons import claims as claims_module
from stridekit.lessons import plots, records
from stridekit.lessons.claims import Claim, claim, show_runs
from stridekit.lessons.records import ALONE, RECORDED, WRITES, Record, read, recorded
from stridekit.timing import (
    Comparison,
    Ratio,
    TimingError,
    TooShort,
    compare,
    machine,
    page_faults,
    sampling,
)
from tests.core.fake_gpu import fake_gpus  # noqa: F401  (a fixture)

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MACHINE = machine() | {"processor": "A CPU", "cores": 8, "torch": "2.13.0", "date": "2026-05-04"}
WHERE = "recorded on A CPU, 8 cores, torch 2.13.0, 2026-05-04"
SLOWER = Ratio(8.02, 7.9, 8.1)
SAME = Ratio(1.0, 0.99, 1.01)
TWO = Record({"a": 1e-3, "b": 8.02e-3}, {"b": SLOWER})
THREE = Record({"a": 1e-3, "b": 8.02e-3, "c": 1e-3}, {"b": SLOWER, "c": SAME})
RUNS = [1e-3, 2e-3, 1.5e-3]


@pytest.fixture(autouse=True)
def shown_with_here(monkeypatch):
    monkeypatch.delenv(ALONE, raising=False)
    monkeypatch.delenv(WRITES, raising=False)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A lesson's file with two claims and some runs, of another machine."""
    path = tmp_path / "lesson.json"
    with monkeypatch.context() as patched:
        patched.setattr(records, "machine", lambda: MACHINE)
        records.add(path, "two", TWO)
        records.add(path, "three", THREE)
        records.add(path, "runs", RUNS)
    monkeypatch.setattr(records, "RECORDED", tmp_path)
    return path


@pytest.fixture
def compared(monkeypatch):
    """The calls of compare: each answers at once, with a quiet comparison in which all are alike."""
    calls = []

    def answer(functions, **options):
        if len(functions) < 2:
            raise TimingError("a comparison needs two")
        calls.append((list(functions), options))
        return Comparison(
            samples={name: [[1e-3]] * 3 for name in functions},
            order=[[0, 1]] * 3,
            calls=dict.fromkeys(functions, 1),
            threads=1,
            device="cpu",
        )

    monkeypatch.setattr(claims_module, "compare", answer)
    return calls


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """The file that a claim writes, as under `make record`."""
    monkeypatch.setenv(WRITES, str(tmp_path / "new.json"))
    return tmp_path / "new.json"


def work(*names):
    return dict.fromkeys(names, int)


def claim_about(ratio, expected="slower", noise=()):
    """Return a claim that b is slower than a, with this measured ratio."""
    here = Record({"a": 1.0, "b": ratio.value}, {"b": ratio}, noise)
    verdicts = {"b": expected} if expected else {}
    return Claim("a", {"b": 8.0}, verdicts, here)


@pytest.fixture
def on_gpu(gpus):
    """Two functions, one eight times as slow as the first, however busy the machine is."""
    return lambda: gpus.launch(1e-3), lambda: gpus.launch(8e-3)


def test_a_sure_verdict_is_told_and_the_others_stay_in_the_picture(on_gpu):
    quick, eight_times = on_gpu
    work = {
        "once": quick,
        "8 times": eight_times,
        "again": quick,
    }
    predicted = {
        "once": 150,
        "8 times": 1200,
        "again": 100,
    }
    result = claim(work, predicted, slower=["8 times"], rounds=12, device="cuda")
    assert repr(result) == (
        "time against “once”\n"
        "           predicted    measured\n"
        "  8 times  8x slower    slower\n"
        "  again    1.5x faster"
    )
    assert result.holds
    assert result.sure == {"8 times": "slower"}
    assert list(result.predicted.values()) == [8, 2 / 3]
    assert result.measured.ratios["8 times"].value == pytest.approx(8)


def test_pairs_are_compared_each_by_itself(on_gpu):
    quick, eight_times = on_gpu
    work = {
        "a": (quick, eight_times),
        "b": (eight_times, quick),
    }
    result = claim(
        work,
        {"a": 8, "b": 0.125},
        slower=["a"],
        faster=["b"],
        baseline="it",
        rounds=12,
        device="cuda",
    )
    assert result.sure == {"a": "slower", "b": "faster"}
    assert len(result.measured.seconds) == 4
    assert repr(result).startswith("time against “it”\n")


SINGLE = work("a", "b", "c")
PAIRS = {"b": (int, int), "c": (int, int)}
BY_TRAFFIC = {"a": 2, "b": SimpleNamespace(moved=3), "c": 8}


@pytest.mark.parametrize(
    ("functions", "predicted", "ratios"),
    [
        (SINGLE, 1, {"b": 1, "c": 1}),  # a number stands for all names but the baseline
        (SINGLE, BY_TRAFFIC, {"b": 1.5, "c": 4}),
        (PAIRS, 0.5, {"b": 0.5, "c": 0.5}),
        (PAIRS, {"b": 4, "c": 0}, {"b": 4, "c": 0}),
    ],
)
def test_predictions_become_ratios(compared, functions, predicted, ratios):
    assert claim(functions, predicted, baseline="a").predicted == ratios


@pytest.mark.parametrize("names", ["b c", "a b", "a c b", "a b c d", "b c d"])
def test_predictions_of_other_names_are_refused(compared, names):
    """A prediction for the baseline may be missing only for pairs, which have ratios."""
    predicted = dict.fromkeys(names.split(), 2)
    message = f"predicted {', '.join(predicted)}, to measure a, b, c: give both the same names"
    with pytest.raises(TimingError, match=message):
        claim(SINGLE, predicted)
    if names == "b c":
        assert claim(PAIRS, predicted, baseline="a").predicted == predicted
    else:
        with pytest.raises(TimingError, match="to measure b, c: give both"):
            claim(PAIRS, predicted, baseline="z")


@pytest.mark.parametrize(
    ("record", "tries", "kept"),
    [
        ("", ["slower slower"], 0),
        ("", ["same same", "slower same", "same same"], 1),
        ("", ["same same", "same slower", "slower same"], 2),
        ("", ["same same"] * 3, 2),
        ("", ["slower slower noisy"], 0),
        ("new", ["slower slower noisy", "slower slower"], 1),  # a record has no noise
    ],
)
def test_of_several_tries_the_last_that_contradicts_no_more_than_before(
    recording, monkeypatch, record, tries, kept
):
    ratios = {
        "slower": Ratio(3, 2.5, 3.5),
        "same": Ratio(1, 0.97, 1.02),
    }
    records_of_tries = []

    def measured(*_):
        number = len(records_of_tries)
        b, c, *noise = tries[number].split()
        measured_ratios = {"b": ratios[b], "c": ratios[c]}
        record = Record({"a": number}, measured_ratios, tuple(noise))
        records_of_tries.append(record)
        return record

    monkeypatch.setattr(claims_module, "_measured", measured)
    if not record:
        monkeypatch.delenv(WRITES)
    result = claim(work("a", "b", "c"), 8, slower=["b", "c"], record=record)
    assert result.measured == records_of_tries[kept]
    assert len(records_of_tries) == len(tries)
    assert " ".join(result.sure.values()) in tries[kept]


def test_on_a_noisy_machine_nothing_is_contradicted():
    same = Ratio(1.0, 0.97, 1.02)
    assert not claim_about(same).holds
    assert claim_about(same, noise=("9 threads were busy on 2 cores",)).holds
    assert claim_about(same, expected="").holds
    assert claim_about(Ratio(3, 2.5, 3.5)).holds


@pytest.mark.parametrize(
    ("failures", "rounds", "noise"),
    [
        (0, [None], []),
        (1, [None, None], []),
        (2, [None, None, 3], ["took three rounds: a round takes an hour"]),
    ],
)
def test_where_time_is_short_three_rounds_are_measured(monkeypatch, failures, rounds, noise):
    """A second try comes before, because a compiled function is slow only once."""
    calls = []

    def compare_or_fail(functions, **options):
        calls.append(options)
        if len(calls) <= failures:
            raise TooShort("a round takes an hour")
        return compare(functions, rounds=1)

    monkeypatch.setattr(claims_module, "compare", compare_or_fail)
    result = claim(work("a", "b"), 1)
    signs = [sign for sign in result.measured.noise if "rounds" in sign]
    assert signs == noise
    assert [options.get("rounds") for options in calls] == rounds
    assert {options["max_seconds"] for options in calls} == {0.15}


def test_a_file_has_the_machine_and_a_line_for_each_entry(tmp_path):
    path = tmp_path / "new.json"
    noisy = Record({"a": 1 / 3}, {"b": Ratio(1 / 3, 2 / 3, 1)}, ("x",))
    records.add(path, "one", noisy)
    records.add(path, "“runs”", RUNS)
    first, second, *lines, end = path.read_text(encoding="utf-8").splitlines()
    assert first[:12] == '{"machine": '
    assert second == ' "records": {'
    assert end == "}}"
    ratio = '{"value": 0.33333, "low": 0.66667, "high": 1}'  # five digits
    entry = f'{{"seconds": {{"a": 0.33333}}, "ratios": {{"b": {ratio}}}, "noise": ["x"]}}'
    assert lines == [f'  "one": {entry},', '  "\\u201cruns\\u201d": [0.001, 0.002, 0.0015]']
    recorded_on, entries = read(path)
    assert recorded_on == machine()
    rounded = Record({"a": 0.33333}, {"b": Ratio(0.33333, 0.66667, 1)}, ("x",))
    assert entries == {"one": rounded, "“runs”": RUNS}


def test_a_record_comes_with_its_machine(stored):
    assert recorded("two", THREE) == (TWO, WHERE)
    assert recorded("runs", [1.0]) == (RUNS, WHERE)
    content = json.loads(stored.read_text())
    content["machine"]["cores"] = 1
    stored.write_text(json.dumps(content))
    _, where = recorded("two", TWO)
    assert where == WHERE.replace("8 cores", "1 core")
    records.add(stored.with_name("another.json"), "four", TWO)
    _, where_of_another = recorded("four", TWO)
    assert where_of_another != where  # each lesson has its machine


def test_the_words_of_a_claim_are_those_of_its_record(stored, compared):
    result = claim(work("a", "b", "c"), {"a": 1, "b": 8, "c": 1}, slower=["b"], record="three")
    assert repr(result) == (
        "time against “a”\n"
        "     predicted  recorded\n"
        "  b  8x slower  8.02x slower\n"
        "  c  same       same\n"
        f"{WHERE}"
    )
    assert result.record == THREE
    assert result.recorded_on == WHERE
    assert result.sure == {"b": "same"}
    assert not result.holds  # as measured here
    _, options = compared[0]
    assert options == {"max_seconds": 0.15}


def test_the_noise_of_a_record_stands_in_its_texts_and_below_its_pictures(stored, compared):
    signs = ("b: its best sample says 7.1, not 8.02", "9 threads were busy on 2 cores")
    records.add(stored, "noisy", replace(TWO, noise=signs))
    result = claim(work("a", "b"), {"a": 1, "b": 8}, record="noisy")
    lines_of_noise = [f"noisy: {sign}" for sign in signs]
    assert repr(result).splitlines()[-3:] == [WHERE, *lines_of_noise]
    jobs = {"a": (1, 2), "b": (2, 2)}
    pictures = {
        repr(result): result.plot(),
        "\n".join(["up", *lines_of_noise]): result.sweep([1, 2], "up"),
        "\n".join(["two", *lines_of_noise]): result.roofline(
            jobs, "two", memory="a", arithmetic="b"
        ),
    }
    for text, picture in pictures.items():
        assert repr(picture) == text
        assert picture.where.splitlines() == [WHERE, *lines_of_noise]
        assert picture.figure.get_supxlabel() == picture.where
    assert [picture.title for picture in pictures.values()] == ["", "up", "two"]


@pytest.fixture
def drawn(monkeypatch):
    """The calls of the functions that draw, in order."""
    calls = []
    for name in ("draw_claim", "draw_sweep", "draw_roofline", "draw_runs"):

        def draw(*args, name=name, **options):
            calls.append((name, *args, options))
            return Figure().subplots()

        monkeypatch.setattr(plots, name, draw)
    return calls


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        ("", ["here"]),
        ("three", ["recorded", "here"]),
        ("three", ["recorded"]),
    ],
)
def test_pictures_have_the_record_and_this_run(stored, compared, drawn, monkeypatch, record, shown):
    """A stored picture shows the record alone, and noise is that of this machine alone."""
    if "here" not in shown:
        monkeypatch.setenv(ALONE, "1")
    result = claim(work("a", "b", "c"), {"a": 1, "b": 8, "c": 2}, record=record)
    result = replace(result, measured=replace(result.measured, noise=("x",)))
    jobs = {"a": (1, 2)}
    ceilings = {"memory": "a", "arithmetic": "b"}
    pictures = [
        result.plot(),
        result.sweep([1, 2, 4], "up and down", marks={2: "here"}),
        result.sweep([1, 2, 4], "up and down", ylabel="times"),
        result.roofline(jobs, "up and down", **ceilings),
    ]
    records_of = {"recorded": result.record, "here": result.measured}
    ratios = {"predicted": {"b": 8, "c": 2}}
    seconds = {}
    for source in shown:
        ratios[source] = records_of[source].ratios
        seconds[source] = records_of[source].seconds
    curves = {source: [1, *values.values()] for source, values in ratios.items()}
    assert drawn == [
        ("draw_claim", "a", ratios, {}),
        ("draw_sweep", [1, 2, 4], curves, {"ylabel": "times “a”", "marks": {2: "here"}}),
        ("draw_sweep", [1, 2, 4], curves, {"ylabel": "times"}),
        ("draw_roofline", jobs, seconds, ceilings),
    ]
    of_claim, *others = pictures
    assert repr(of_claim) == repr(result)
    assert of_claim.title == ""
    for picture in others:
        assert repr(picture) == "up and down"
        assert picture.title == "up and down"
    is_measured = "here" in shown
    for picture in pictures:
        assert picture.measured == is_measured
        assert (picture.noise == ("x",)) == is_measured
        assert picture.where == (WHERE if record else "")


@pytest.mark.parametrize("alone", [False, True])
def test_runs_stand_beside_those_that_are_recorded(stored, drawn, monkeypatch, alone):
    if alone:
        monkeypatch.setenv(ALONE, "1")
    picture = show_runs([3e-3, 1e-3], "not two alike", record="runs")
    shown = {"recorded": RUNS}
    if not alone:
        shown["here"] = [3e-3, 1e-3]
    assert drawn == [("draw_runs", shown, {})]
    assert picture.measured is not alone
    assert repr(picture) == picture.title == "not two alike"
    assert picture.where == WHERE


@pytest.mark.parametrize(
    ("names", "record", "message"),
    [
        ("ab", "three", "'three' was recorded for b, c, and these are b: run `m"),
        ("acb", "three", "for b, c, and these are c, b"),
        ("ab", "four", "nothing is recorded as 'four', only two, three, runs: name one of these"),
    ],
)
def test_a_record_of_other_names_or_of_none_is_refused(stored, compared, names, record, message):
    with pytest.raises(TimingError, match=message):
        claim(work(*names), 1, record=record)


def test_a_function_that_is_only_recorded_is_not_called(stored, compared):
    result = claim(
        work("a", "b", "c"),
        8,
        slower=["b", "c"],
        record="three",
        only_recorded=["c"],
    )
    assert {tuple(names) for names, _ in compared} == {("a", "b")}
    assert list(result.predicted) == ["b", "c"]
    assert list(result.measured.ratios) == ["b"]
    assert result.sure == {"b": "same"}
    assert "  c  8x slower  same" in repr(result)


@pytest.mark.parametrize("functions", [SINGLE, PAIRS], ids=["single", "pairs"])
def test_if_all_is_only_recorded_nothing_is_measured_here(stored, compared, functions):
    result = claim(
        functions,
        8,
        record="three",
        only_recorded=["b", "c"],
        baseline="a",
    )
    assert compared == []
    assert not result.measured.ratios
    assert result.holds
    _, metadata = result._repr_mimebundle_()
    assert "measured" not in metadata["image/png"]


def rounded(ratio):
    """Return a ratio with five digits, as in a file."""
    numbers = (ratio.value, ratio.low, ratio.high)
    return Ratio(*(float(f"{number:.5g}") for number in numbers))


def test_while_recording_all_is_measured_for_longer(recording, compared):
    """The options that a lesson has for a quick run do not count, nor `only_recorded`."""
    result = claim(
        work("a", "b", "c"),
        1,
        record="new",
        rounds=4,
        max_seconds=0.1,
        threads=2,
        only_recorded=["c"],
    )
    options = {"max_seconds": 3.0, "rounds": None, "threads": 2}
    assert compared == [(["a", "b", "c"], options)]
    recorded_on, entries = read(recording)
    ratios = {name: rounded(ratio) for name, ratio in result.measured.ratios.items()}
    expected = Record(dict.fromkeys("abc", 1e-3), ratios)
    assert entries == {"new": expected}
    assert result.record == expected
    assert recorded_on["date"] in result.recorded_on


@pytest.mark.parametrize("record", ["", "two"])
def test_what_no_picture_shows_is_measured_in_one_round(stored, compared, monkeypatch, record):
    """Where a stored picture has the record alone. Elsewhere a verdict that contradicts is looked into."""
    monkeypatch.setenv(ALONE, "1")
    name, *_ = TWO.ratios
    claim(work("a", name), 1, slower=[name], record=record, rounds=4)
    options = {"max_seconds": 0.15, "rounds": 1 if record else 4}
    tries = 1 if record else claims_module.TRIES
    assert compared == [(["a", name], options)] * tries


def test_a_record_is_measured_in_full_where_pictures_show_it_alone(
    recording, compared, monkeypatch
):
    monkeypatch.setenv(ALONE, "1")
    claim(work("a", "b"), 1, record="new", rounds=4)
    assert compared == [(["a", "b"], {"max_seconds": 3.0, "rounds": None})]


def test_without_a_record_the_options_of_a_lesson_count_while_recording(recording, compared):
    claim(work("a", "b"), 1, rounds=4)
    assert compared == [(["a", "b"], {"max_seconds": 0.15, "rounds": 4})]


def test_each_pair_is_recorded_with_its_own_baseline_and_runs_as_they_are(recording, compared):
    claim(PAIRS, 1, baseline="it", record="new")
    assert [names for names, _ in compared] == [
        ["baseline of b", "b"],
        ["baseline of c", "c"],
    ]
    show_runs([1 / 3, 0.5], "two", record="runs")
    _, entries = read(recording)
    assert list(entries["new"].seconds) == ["baseline of b", "b", "baseline of c", "c"]
    assert list(entries["new"].ratios) == ["b", "c"]
    assert entries["runs"] == [0.33333, 0.5]


def test_page_faults_are_those_of_all_calls_and_0_where_nobody_counts(monkeypatch):
    usage = SimpleNamespace(ru_minflt=7)
    counter = SimpleNamespace(getrusage=lambda who: usage, RUSAGE_SELF=0)
    monkeypatch.setattr(sampling, "resource", counter)

    def work():
        usage.ru_minflt += 10

    assert page_faults(work, 0) == 0
    assert page_faults(work, 1) == 10
    assert page_faults(work, 3) == 30
    assert page_faults(work) == 10
    monkeypatch.setattr(sampling, "resource", None)
    assert page_faults(work) == 0


def test_each_record_is_shown_by_one_cell_and_was_made_on_a_quiet_machine():
    """In the text of a notebook, quotes in a cell have a backslash."""
    shown_names = []
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        shown_names += re.findall(r'record=\\"(.+?)\\"', text)
    recorded_names = []
    noise = []
    for path in RECORDED.glob("*.json"):
        _, entries = read(path)
        recorded_names += entries
        noise += refresh.noise(entries)
    assert sorted(shown_names) == sorted(recorded_names)
    assert noise == []
