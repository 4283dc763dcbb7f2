"""Claims, and their records, which stand beside what is measured here, and alone in what is stored."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

import refresh as tool
from stridekit.lessons import claims as claiming
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
SLOWER, SAME = Ratio(8.02, 7.9, 8.1), Ratio(1.0, 0.99, 1.01)
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
        for name, entry in {"two": TWO, "three": THREE, "runs": RUNS}.items():
            records.add(path, name, entry)
    monkeypatch.setattr(records, "RECORDED", tmp_path)
    return path


@pytest.fixture
def compared(monkeypatch):
    """The calls of compare: each answers at once, with a quiet comparison in which all are alike."""
    seen = []

    def answer(functions, **options):
        if len(functions) < 2:
            raise TimingError("a comparison needs two")
        seen.append((list(functions), options))
        samples = {name: [[1e-3]] * 3 for name in functions}
        return Comparison(samples, [[0, 1]] * 3, dict.fromkeys(functions, 1), 1, "cpu")

    monkeypatch.setattr(claiming, "compare", answer)
    return seen


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """The file that is written, as by `make record`."""
    monkeypatch.setenv(WRITES, str(tmp_path / "new.json"))
    return tmp_path / "new.json"


def work(*names):
    return dict.fromkeys(names, int)


def found(ratio, expected="slower", noise=()):
    here = Record({"a": 1.0, "b": ratio.value}, {"b": ratio}, noise)
    return Claim("a", {"b": 8.0}, {"b": expected} if expected else {}, here)


@pytest.fixture
def on_gpu(gpus):
    """Two functions, one eight times as slow as the first, however busy the machine is."""
    return lambda: gpus.launch(1e-3), lambda: gpus.launch(8e-3)


def test_a_sure_verdict_is_told_and_the_others_stay_in_the_picture(on_gpu):
    quick, eight_times = on_gpu
    work = {"once": quick, "8 times": eight_times, "again": quick}
    predicted = {"once": 150, "8 times": 1200, "again": 100}
    one = claim(work, predicted, slower=["8 times"], rounds=12, device="cuda")
    assert repr(one) == (
        "time against “once”\n           predicted    measured\n"
        "  8 times  8x slower    slower\n  again    1.5x faster"
    )
    assert one.holds and one.sure == {"8 times": "slower"}
    assert list(one.predicted.values()) == [8, 2 / 3]
    assert one.measured.ratios["8 times"].value == pytest.approx(8)


def test_pairs_are_compared_each_by_itself(on_gpu):
    quick, eight_times = on_gpu
    work = {"a": (quick, eight_times), "b": (eight_times, quick)}
    options = {"baseline": "it", "rounds": 12, "device": "cuda"}
    one = claim(work, {"a": 8, "b": 0.125}, slower=["a"], faster=["b"], **options)
    assert one.sure == {"a": "slower", "b": "faster"} and len(one.measured.seconds) == 4
    assert repr(one).startswith("time against “it”\n")


ALONE_OR_PAIRS = work("a", "b", "c"), {"b": (int, int), "c": (int, int)}


@pytest.mark.parametrize(("pairs", "predicted", "ratios"), [
    (False, 1, {"b": 1, "c": 1}),  # one number stands for all names but the baseline
    (False, {"a": 2, "b": SimpleNamespace(moved=3), "c": 8}, {"b": 1.5, "c": 4}),  # of traffic
    (True, 0.5, {"b": 0.5, "c": 0.5}),
    (True, {"b": 4, "c": 0}, {"b": 4, "c": 0}),
])  # fmt: skip
def test_predictions_become_ratios(compared, pairs, predicted, ratios):
    assert claim(ALONE_OR_PAIRS[pairs], predicted, baseline="a").predicted == ratios


@pytest.mark.parametrize(("record", "tries", "kept"), [
    ("", ["slower slower"], 0),
    ("", ["same same", "slower same", "same same"], 1),
    ("", ["same same", "same slower", "slower same"], 2),
    ("", ["same same"] * 3, 2),
    ("", ["slower slower noisy"], 0),
    ("new", ["slower slower noisy", "slower slower"], 1),  # what is recorded has no noise
])  # fmt: skip
def test_of_several_tries_the_last_that_contradicts_no_more_than_before(
    recording, monkeypatch, record, tries, kept
):
    verdicts = {"slower": Ratio(3, 2.5, 3.5), "same": Ratio(1, 0.97, 1.02)}
    made = []

    def measured(*_):
        b, c, *noise = tries[len(made)].split()
        made.append(Record({"a": len(made)}, {"b": verdicts[b], "c": verdicts[c]}, tuple(noise)))
        return made[-1]

    monkeypatch.setattr(claiming, "_measured", measured)
    if not record:
        monkeypatch.delenv(WRITES)
    one = claim(work("a", "b", "c"), 8, slower=["b", "c"], record=record)
    assert one.measured == made[kept] and len(made) == len(tries)
    assert " ".join(one.sure.values()) in tries[kept]


def test_on_a_noisy_machine_nothing_is_contradicted():
    same = Ratio(1.0, 0.97, 1.02)
    assert not found(same).holds
    assert found(same, noise=("9 threads were busy on 2 cores",)).holds
    assert found(same, expected="").holds
    assert found(Ratio(3, 2.5, 3.5)).holds


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
    one = claim(work("a", "b"), 1)
    told = [sign for sign in one.measured.noise if "rounds" in sign]
    assert told == ["took three rounds: a round takes an hour"] * (short == 2)
    assert [options.get("rounds") for options in seen] == [None, None, 3][:tried]
    assert {options["max_seconds"] for options in seen} == {0.15}


def test_a_file_has_the_machine_and_a_line_for_each_entry(tmp_path):
    path = tmp_path / "new.json"
    noisy = Record({"a": 1 / 3}, {"b": Ratio(1 / 3, 2 / 3, 1)}, ("x",))
    records.add(path, "one", noisy)
    records.add(path, "“runs”", RUNS)
    first, second, *lines, end = path.read_text(encoding="utf-8").splitlines()
    assert (first[:12], second, end) == ('{"machine": ', ' "records": {', "}}")
    ends = '{"value": 0.33333, "low": 0.66667, "high": 1}'  # five digits
    entry = f'{{"seconds": {{"a": 0.33333}}, "ratios": {{"b": {ends}}}, "noise": ["x"]}}'
    assert lines == [f'  "one": {entry},', '  "\\u201cruns\\u201d": [0.001, 0.002, 0.0015]']
    of, entries = read(path)
    assert of == machine()
    close = Record({"a": 0.33333}, {"b": Ratio(0.33333, 0.66667, 1)}, ("x",))
    assert entries == {"one": close, "“runs”": RUNS}


def test_what_is_recorded_comes_with_its_machine(stored):
    assert recorded("two", THREE) == (TWO, WHERE)
    assert recorded("runs", [1.0]) == (RUNS, WHERE)
    of = json.loads(stored.read_text())
    stored.write_text(json.dumps(of | {"machine": MACHINE | {"cores": 1}}))
    assert recorded("two", TWO)[1] == WHERE.replace("8 cores", "1 core")
    records.add(stored.with_name("another.json"), "four", TWO)
    assert recorded("four", TWO)[1] != recorded("three", TWO)[1]  # each lesson has its machine


def test_its_words_are_those_of_the_record(stored, compared):
    one = claim(work("a", "b", "c"), {"a": 1, "b": 8, "c": 1}, slower=["b"], record="three")
    assert repr(one) == (
        "time against “a”\n     predicted  recorded\n  b  8x slower  8.02x slower\n"
        f"  c  same       same\n{WHERE}"
    )
    assert one.record == THREE and one.recorded_on == WHERE
    assert one.sure == {"b": "same"} and not one.holds  # of what is measured here
    assert compared[0][1] == {"max_seconds": 0.15}


@pytest.fixture
def drawn(monkeypatch):
    """What the functions that draw are asked for, in order."""
    asked = []
    for name in ("draw_claim", "draw_sweep", "draw_roofline", "draw_runs"):

        def draw(*args, name=name, **options):
            asked.append((name, *args, options))
            return Figure().subplots()

        monkeypatch.setattr(plots, name, draw)
    return asked


@pytest.mark.parametrize(
    ("record", "shown"), [("", ["here"]), ("three", ["recorded", "here"]), ("three", ["recorded"])]
)
def test_pictures_have_the_record_and_this_run(stored, compared, drawn, monkeypatch, record, shown):
    """As they are stored, the record alone; and the noise of this machine alone."""
    if "here" not in shown:
        monkeypatch.setenv(ALONE, "1")
    one = claim(work("a", "b", "c"), {"a": 1, "b": 8, "c": 2}, record=record)
    one = replace(one, measured=replace(one.measured, noise=("x",)))
    of = {kind: {"recorded": one.record, "here": one.measured}[kind] for kind in shown}
    jobs, ceilings = {"a": (1, 2)}, {"memory": "a", "arithmetic": "b"}
    pictures = [
        one.plot(),
        one.sweep([1, 2, 4], "up and down", marks={2: "here"}),
        one.sweep([1, 2, 4], "up and down", ylabel="times"),
        one.roofline(jobs, "up and down", **ceilings),
    ]
    ratios = {"predicted": {"b": 8, "c": 2}} | {kind: it.ratios for kind, it in of.items()}
    curves = {kind: [1, *values.values()] for kind, values in ratios.items()}
    seconds = {kind: it.seconds for kind, it in of.items()}
    assert drawn == [
        ("draw_claim", "a", ratios, {}),
        ("draw_sweep", [1, 2, 4], curves, {"ylabel": "times “a”", "marks": {2: "here"}}),
        ("draw_sweep", [1, 2, 4], curves, {"ylabel": "times"}),
        ("draw_roofline", jobs, seconds, ceilings),
    ]
    assert [repr(picture) for picture in pictures] == [repr(one)] + ["up and down"] * 3
    assert [picture.title for picture in pictures] == [""] + ["up and down"] * 3
    for picture in pictures:
        assert picture.measured == ("here" in shown) == (picture.noise == ("x",))
        assert picture.where == (WHERE if record else "")


@pytest.mark.parametrize("alone", [False, True])
def test_runs_stand_beside_those_that_are_recorded(stored, drawn, monkeypatch, alone):
    if alone:
        monkeypatch.setenv(ALONE, "1")
    picture = show_runs([3e-3, 1e-3], "not two alike", record="runs")
    kinds = {"recorded": RUNS} | ({} if alone else {"here": [3e-3, 1e-3]})
    assert drawn == [("draw_runs", kinds, {})] and picture.measured is not alone
    assert repr(picture) == picture.title == "not two alike" and picture.where == WHERE


@pytest.mark.parametrize(("names", "record", "said"), [
    ("ab", "three", "'three' was recorded for b, c, and these are b: run `m"),
    ("acb", "three", "for b, c, and these are c, b"),
    ("ab", "four", "nothing is recorded as 'four', only two, three, runs: name one of these"),
])  # fmt: skip
def test_a_record_of_other_names_or_of_none_is_refused(stored, compared, names, record, said):
    with pytest.raises(TimingError, match=said):
        claim(work(*names), 1, record=record)


def test_what_is_only_recorded_is_not_called(stored, compared):
    options = {"slower": ["b", "c"], "record": "three", "only_recorded": ["c"]}
    one = claim(work("a", "b", "c"), 8, **options)
    assert {tuple(names) for names, _ in compared} == {("a", "b")}
    assert list(one.predicted) == ["b", "c"] and list(one.measured.ratios) == ["b"]
    assert one.sure == {"b": "same"} and "  c  8x slower  same" in repr(one)


@pytest.mark.parametrize("pairs", [False, True])
def test_if_all_is_only_recorded_nothing_is_measured_here(stored, compared, pairs):
    options = {"only_recorded": ["b", "c"], "baseline": "a"}
    one = claim(ALONE_OR_PAIRS[pairs], 8, record="three", **options)
    assert compared == [] and not one.measured.ratios and one.holds
    assert "measured" not in one._repr_mimebundle_()[1]["image/png"]


def test_while_recording_all_is_measured_for_longer(recording, compared):
    """And what a lesson says for a quick run does not count, nor that a name is only recorded."""
    options = {"rounds": 4, "max_seconds": 0.1, "threads": 2, "only_recorded": ["c"]}
    one = claim(work("a", "b", "c"), 1, record="new", **options)
    wanted = {"max_seconds": 3.0, "rounds": None, "threads": 2}
    assert compared == [(["a", "b", "c"], wanted)]
    of, entries = read(recording)
    ratios = {
        name: Ratio(*(float(f"{end:.5g}") for end in (r.value, r.low, r.high)))
        for name, r in one.measured.ratios.items()
    }
    assert entries == {"new": Record(dict.fromkeys("abc", 1e-3), ratios)} == {"new": one.record}
    assert of["date"] in one.recorded_on
    compared.clear()
    claim(work("a", "b"), 1, rounds=4)  # without a record, as ever
    assert compared == [(["a", "b"], {"max_seconds": 0.15, "rounds": 4})]


def test_each_pair_is_recorded_with_its_own_baseline_and_runs_as_they_are(recording, compared):
    claim({"b": (int, int), "c": (int, int)}, 1, baseline="it", record="new")
    assert [names for names, _ in compared] == [["baseline of b", "b"], ["baseline of c", "c"]]
    show_runs([1 / 3, 0.5], "two", record="runs")
    entries = read(recording)[1]
    assert list(entries["new"].seconds) == ["baseline of b", "b", "baseline of c", "c"]
    assert list(entries["new"].ratios) == ["b", "c"] and entries["runs"] == [0.33333, 0.5]


def test_pages_are_those_of_all_calls_where_anybody_counts(monkeypatch):
    usage = SimpleNamespace(ru_minflt=7)
    counter = SimpleNamespace(getrusage=lambda who: usage, RUSAGE_SELF=0)
    monkeypatch.setattr(sampling, "resource", counter)

    def work():
        usage.ru_minflt += 10

    assert [page_faults(work, calls) for calls in (0, 1, 3)] == [0, 10, 30]
    assert page_faults(work) == 10
    monkeypatch.setattr(sampling, "resource", None)
    assert page_faults(work) == 0


def test_each_record_is_shown_by_one_cell_and_was_made_on_a_quiet_machine():
    """In the text of a notebook, quotes in a cell have a backslash."""
    lessons = [path.read_text(encoding="utf-8") for path in NOTEBOOKS]
    shown = [name for text in lessons for name in re.findall(r'record=\\"(.+?)\\"', text)]
    files = [read(path)[1] for path in sorted(RECORDED.glob("*.json"))]
    assert sorted(shown) == sorted(name for entries in files for name in entries)
    assert [sign for entries in files for sign in tool.noise(entries)] == []
