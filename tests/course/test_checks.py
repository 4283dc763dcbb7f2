"""The steps of a check: which hint is found, what is counted, what is kept, and what is described."""

import time

import pytest
import torch

from stridekit.exercises import core, exercise
from stridekit.exercises.readers.answers import read_number
from stridekit.exercises.running import Outcome
from stridekit.exercises.watch import Means
from stridekit.widgets import kept


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Keep a busy machine from stopping an answer, and the record of this machine from changing."""
    monkeypatch.setattr(core, "SECONDS", 600)
    monkeypatch.setattr(core, "_passed", {})


def twice(n):
    """Twice n."""
    return 2 * n


def declared(cases=range(1, 9), solution=twice, **options):
    """Return an exercise on some numbers; options are its mistakes, or its other declarations."""
    declarations = {
        "title": "twice",
        "read": read_number,
        "cases": [case if isinstance(case, str) else f"n = {case}" for case in cases],
        "hints": ["Think.", "Add.", "Add n to n."],
        "otherwise": "Otherwise.",
        "takeaway": "Done.",
    }
    return exercise(**declarations | options)(solution)


def wrong_where(condition, answer=lambda n: -1):
    """Return an answer that is right except where a condition holds."""
    return lambda n: answer(n) if condition(n) else 2 * n


# The hint of a wrong answer -----------------------------------------------------------------------

ONLY = {"n > 6": "Large.", "n % 2 == 0": "Even.", "n != 3": "Not three."}
CONDITIONS = [
    (lambda n: n > 6, "Large."),
    (lambda n: n == 8, "Large."),  # the first of two that hold
    (lambda n: n == 2, "Even."),
    (lambda n: n > 5, "Not three."),
    (lambda n: n in (2, 7), "Not three."),
    (lambda n: n == 3, "Otherwise."),
    (lambda n: n < 4, "Otherwise."),
    (lambda n: True, "Otherwise."),
]


@pytest.mark.parametrize(("condition", "hint"), CONDITIONS)
def test_a_condition_gives_its_hint_if_it_holds_in_all_wrong_cases(condition, hint):
    report = declared(only=ONLY).check(wrong_where(condition))
    assert report.hint == hint and report.rows[-2].text == hint


def divide(n):
    return n // 0


KNOWN = [  # mistakes, an answer, and its hint
    # A mistake with an error in some cases, and with errors alone.
    ({"wrong": {"n if n > 2 else n // 0": "Stops."}}, lambda n: n if n > 2 else n // 0, "Stops."),
    ({"wrong": {"n // 0": "Stops."}}, divide, "Your function stops"),
    ({"wrong": {"n // 0": "Stops."}, "only": {"n": "All."}}, divide, "All."),
    # What is the same everywhere comes before a condition, and a condition before what is alike.
    ({"wrong": {"n": "Once."}, "only": {"n": "All."}}, lambda n: n, "Once."),
    ({"wrong": {"n": "Once."}, "only": {"n": "All."}}, lambda n: n + (n == 8), "All."),
    ({"wrong": {"n": "Once."}, "only": {"n < 8": "Small."}}, lambda n: n + (n == 8),
     "This fits most of your answers. Once."),
    ({"exact": {"n": "Once."}}, lambda n: n, "Once."),
    ({"exact": {"n": "Once."}}, lambda n: n + (n == 8), "Otherwise."),
    # The order of the mistakes: slots, wrong, exact.
    ({"slots": {"2": {"3": "Slot."}}, "wrong": {"3 * n": "Wrong."}, "exact": {"n * 3": "Exact."}},
     lambda n: 3 * n, "Slot."),
    ({"wrong": {"3 * n": "Wrong."}, "exact": {"n * 3": "Exact."}}, lambda n: 3 * n, "Wrong."),
    ({"exact": {("0", "n * 3"): "Exact.", "3 * n": "Late."}}, lambda n: 3 * n, "Exact."),
]  # fmt: skip


@pytest.mark.parametrize(("mistakes", "answer", "hint"), KNOWN)
def test_the_hint_of_the_closest_rule(mistakes, answer, hint):
    assert declared(**mistakes).check(answer).hint.startswith(hint)


def sum_of(n):
    first = n + 1
    second = n - 1
    third = n * 1
    return first + second + third - n


SLOTS = {
    "n + 1": {"n + 2": "First."},
    "n - 1": {"n - 3": "Second.", "n - 5": "Five."},
    "n * 1": {"n * 9": "Third."},
}


def test_combinations_make_a_mistake_in_each_of_several_slots_the_smallest_first():
    task = declared(solution=sum_of, slots=SLOTS)
    assert len(task.mistakes) == 4 and not any(mistake.exact for mistake in task.mistakes)
    combinations = task.combinations
    assert [len(combination.parts) for combination in combinations] == [2, 2, 2, 2, 2, 3, 3]
    for combination in combinations:
        names = [part.answer.__name__ for part in combination.parts]
        assert combination.answer.__name__ == " && ".join(names)
        assert {*combination.parts} <= {*task.mistakes}


def place(base, index, step):
    start = base
    return (start + index * step) * 4


PLACE = {
    "= base": {"= 0": "Base."},
    "index * step": {"index": "Step.", "(index + 1) * step": "Index.", "index * 1": "One."},
    ") * 4": {") * 1": "Bytes."},
}
BOTH = "base = 3; index = 2; step = 5"
NO_BASE = "base = 0; index = 2; step = 5"
NO_STEP = "base = 3; index = 0; step = 5"
LATE = "base = 3; index = 4; step = 5"
SHOWN = [  # the cases, an answer with several wrong pieces, its hint, and the case that is shown
    # The first wrong piece is right where the base is 0: the second one is shown, alone.
    ([NO_BASE, LATE], lambda b, i, s: i * s, "Bytes.", NO_BASE),
    ([BOTH, NO_BASE], lambda b, i, s: i * s, "Bytes.", NO_BASE),
    ([BOTH, NO_STEP], lambda b, i, s: 4 * i, "Base.", NO_STEP),
    # No case shows one alone: the first wrong case, and the first piece that is wrong there.
    ([BOTH, LATE], lambda b, i, s: i * s, "Base.", BOTH),
    ([BOTH, LATE], lambda b, i, s: 4 * i, "Base.", BOTH),
    # Of three the one that a case shows alone, though it is the last.
    ([BOTH, "base = 0; index = 0; step = 1", "base = 0; index = 3; step = 1"],
     lambda b, i, s: i, "Bytes.", "base = 0; index = 3; step = 1"),
    # Simple mistakes come before combinations.
    ([NO_BASE, "base = 0; index = 3; step = 2"], lambda b, i, s: 4 * i, "Step.", NO_BASE),
]  # fmt: skip


@pytest.mark.parametrize(("cases", "answer", "hint", "shown"), SHOWN)
def test_of_several_wrong_pieces_the_hint_is_of_one_that_the_shown_case_shows(
    cases, answer, hint, shown
):
    report = declared(cases=cases, solution=place, slots=PLACE).check(answer)
    assert (report.hint, report.rows[0].text) == (hint, shown)
    values = {}
    exec(shown, values)
    assert [row.text for row in report.rows[1:3]] == [
        str(place(values["base"], values["index"], values["step"])),
        str(answer(values["base"], values["index"], values["step"])),
    ]


def test_a_combination_that_no_piece_explains_has_no_hint():
    """Where no piece does harm alone, none of their hints is true."""

    def either(first, second):
        left = first
        right = second
        return max(left, right)

    slots = {"left = first": {"left = 0": "Left."}, "right = second": {"right = 0": "Right."}}
    cases = ["first = 5; second = 5", "first = 0; second = 0"]
    report = declared(cases=cases, solution=either, slots=slots).check(lambda first, second: 0)
    assert report.hint == "Otherwise."


# Counts, cases and what is shown ------------------------------------------------------------------


def test_a_report_counts_the_right_cases_and_shows_the_first_wrong_one():
    report = declared().check(wrong_where(lambda n: n in (3, 7)))
    assert report.headline == "twice: not yet (right on 6 of 8 cases)"
    assert [(row.label, row.text) for row in report.rows[:3]] == [
        ("input", "n = 3"),
        ("expected", "6"),
        ("yours", "-1"),
    ]
    assert [row.label for row in report.rows[3:]] == ["hint", ""]


def test_every_case_runs_once_and_the_solution_once_in_all():
    runs = []

    def counted(n):
        runs.append(n)
        return 2 * n

    seen = []
    task = declared(solution=counted)
    for _ in range(2):
        task.check(lambda n: seen.append(n) or 2 * n)
    assert runs == [*range(1, 9)] and seen == runs * 2


DELICATE = {"cases": [1, 2], "delicate_cases": ["n = 3", "n = 4"]}


@pytest.mark.parametrize(
    ("wrong", "seen", "score"),
    [
        ((), [1, 2, 3, 4], "right on all 4 cases"),
        ((2,), [1, 2], "not yet (right on 1 of 2 cases)"),
        ((3,), [1, 2, 3], "not yet (right on 2 of 3 cases)"),
        ((4,), [1, 2, 3, 4], "not yet (right on 3 of 4 cases)"),
    ],
)
def test_a_delicate_case_runs_while_all_is_right(wrong, seen, score):
    calls = []
    report = declared(**DELICATE).check(lambda n: calls.append(n) or (0 if n in wrong else 2 * n))
    assert calls == seen and report.headline.endswith(score)


def endless(n):
    """Never return, in steps between which Python lets an alarm in."""
    return sum(1 for _ in iter(int, n))


def test_a_case_that_times_out_is_the_last(monkeypatch):
    monkeypatch.setattr(core, "SECONDS", 0.02)
    task = declared(only={"n": "All."})
    report = task.check(endless)
    assert report.headline == "twice: not yet (stopped on the first case)"
    seen = []
    report = task.check(lambda n: seen.append(n) or (2 * n if n < 4 else endless(n)))
    assert report.headline == "twice: not yet (right on 3 of 3 cases, stopped on the next)"
    assert seen == [1, 2, 3, 4] and "had not come to its end" in report.hint  # and not: All.
    report = task.check(lambda n: endless(n) if n > 3 else n + 1)
    assert report.headline == "twice: not yet (right on 1 of 3 cases, stopped on the next)"


def test_the_solution_has_all_the_time_it_needs(monkeypatch):
    def slow(n):
        time.sleep(0.03)
        return 2 * n

    monkeypatch.setattr(core, "SECONDS", 0.02)
    assert declared(cases=[1], solution=slow).check(twice).passed


def test_the_input_names_the_layout_of_tensors_and_arrays_alone():
    def first(x, a, k):
        return k

    source = "x = torch.zeros(2, 3, dtype=torch.int16).t(); a = np.zeros((2, 2)); k = 4"
    report = declared(cases=[source], solution=first).check(lambda x, a, k: 5)
    assert report.rows[0].text.splitlines() == [
        source,
        "x: shape (3, 2), stride (1, 3), storage_offset 0, 2 bytes an element",
        "a: array of shape (2, 2), strides (16, 8) in bytes, 8 bytes an element",
    ]
    single = declared(cases=["x = torch.zeros(2).bool(); a = 0; k = 4"], solution=first)
    assert single.check(lambda x, a, k: 5).rows[0].text.endswith(", 1 byte an element")


def test_the_fact_that_differs_is_named_if_there_are_several():
    def read(answer, args):
        return Outcome({"sign": answer > 0, "value": abs(answer)}, str(answer))

    task = declared(read=read)
    differs = [row.text for row in task.check(lambda n: -2 * n).rows if row.label == "differs"]
    assert differs == ["sign"]
    differs = [row.text for row in task.check(lambda n: n).rows if row.label == "differs"]
    assert differs == ["value"]
    assert [row.label for row in declared().check(lambda n: n).rows].count("differs") == 0


# What is handed over ------------------------------------------------------------------------------

CALLABLE = [
    (lambda n: 2 * n, True),
    (lambda *numbers: 2 * numbers[0], True),
    (lambda n, more=1: 2 * n, True),
    (lambda other: 2 * other, True),
    (lambda: 2, False),
    (lambda n, m: 2 * n, False),
    (lambda *, n: 2 * n, False),
    (lambda n, *, m: 2 * n, False),
]


@pytest.mark.parametrize(("answer", "is_callable"), CALLABLE)
def test_a_function_takes_the_parameters_by_position(answer, is_callable):
    report = declared().check(answer)
    assert report.passed == is_callable
    assert ("cannot be called yet" in report.headline) == (not is_callable)
    if not is_callable:
        assert report.rows[0].text.startswith("a function of (")
        assert (
            report.hint
            == "It will be called as `twice(n)`: give it the same parameters, in the same order."
        )


@pytest.mark.parametrize("answer", [None, 4, "lambda n: 2", [len], torch.zeros(1)])
def test_what_is_no_function_is_named(answer):
    report = declared().check(answer)
    assert report.rows[0].text.endswith(", not a function")
    assert report.hint.endswith("without calling it: `ex.twice.check(twice)`.")


def changing(n, x):
    return 2 * n


@pytest.mark.parametrize("writes", [(), ("n",), ("x",), ("n", "x")])
@pytest.mark.parametrize("changes", [False, True])
def test_only_arguments_that_a_task_writes_may_change(writes, changes):
    cases = ["n = torch.ones(()); x = torch.zeros(2)"]
    task = declared(cases=cases, solution=changing, writes=writes)
    report = task.check(lambda n, x: (2 * n, x.fill_(7))[0] if changes else 2 * n)
    assert report.passed == (not changes or "x" in writes)
    if not report.passed:
        assert report.rows[2].text == "x is no longer what it was before the call"
        assert "changes" in report.hint and "x" in report.hint


def blank(n):
    """Do nothing."""


def forgetful(n):
    n += n


BLANKS = [(lambda n: ..., True), (blank, True), (forgetful, False), (lambda n: 0, False)]


@pytest.mark.parametrize(("answer", "is_blank"), BLANKS)
def test_an_ellipsis_and_an_empty_body_are_blanks(answer, is_blank):
    report = declared().check(answer)
    assert (report.status == "blank") == is_blank == (not report.attempted)
    if is_blank:
        assert report.headline == "twice: not attempted yet" and len(report.rows) == 2


# A right answer -----------------------------------------------------------------------------------

MEANS = [  # the means of a task, an answer, and words of its headline and of its rows; "" if it passes
    (Means(), lambda x: x.sum(), "", ""),
    (Means("sum", "By sum."), lambda x: x.sum(), "", ""),
    (Means("sum", "By sum."), lambda x: x.t().sum(), "", ""),
    (Means("sum", "By sum."), lambda x: x.cumsum(0)[-1].sum(), "not by sum alone", "cumsum"),
    (Means("sum", "By sum."), lambda x: sum(map(sum, x.tolist())), "not by sum alone", "tolist"),
    (Means("sum", "By sum."), lambda x: 15, "not by sum alone", ""),
    (Means(hint="No torch."), lambda x: x.sum(), "", ""),
    (Means(hint="No torch."), lambda x: x.sum() + 0 * x.stride(0), "torch has worked it out", "stride"),
    (Means(hint="No torch.", whole=("sum",)), lambda x: x.sum(),
     "torch.sum has worked it out", "torch.sum"),
    (Means(hint="No torch.", whole=("sum",)), lambda x: (x.stride(), x.sum())[1],
     "torch.sum has worked it out", "torch.sum"),
    (Means(hint="No torch.", whole=("sum",)), lambda x: x.cumsum(0)[-1].mean() * 3 // 1, "", ""),
]  # fmt: skip


def total(x):
    return 15


@pytest.mark.parametrize(("means", "answer", "flaw", "calls"), MEANS)
def test_a_right_answer_by_other_means_is_a_note(means, answer, flaw, calls):
    cases = ["x = torch.arange(6.0).view(2, 3)", "x = torch.arange(6.0).view(3, 2).t()"]
    report = declared(cases=cases, solution=total, means=means).check(answer)
    assert (report.status, report.passed) == (("note", False) if flaw else ("passed", True))
    if not flaw:
        assert report.headline == "total: right on all 2 cases" and report.hint == ""
        return
    assert report.headline == f"total: right on all 2 cases, but {flaw}"
    assert [row.text for row in report.rows if row.label == "calls"] == ([calls] if calls else [])
    assert report.hint == report.rows[-2].text and report.rows[-2].label == "hint"
    whole = f"The right answer, by `{calls}`, which is what the task asks for. Do without it."
    assert report.hint == (whole if "." in calls else means.hint)


@pytest.fixture
def noted(monkeypatch, tmp_path):
    """The record of a kernel in a folder of its own."""
    monkeypatch.setattr(kept, "path", lambda: tmp_path / "my_answers" / "record.jsonl")
    monkeypatch.setattr(kept, "_kernel", kept._Kernel())
    return kept.record


def test_an_answer_that_passed_is_kept_and_the_reference_is_not(noted):
    task = declared()
    report = task.check(task.reference)
    assert report.passed and len(report.rows) == 1 and noted() == [] and task.mine is twice

    def mine(n):
        return n + n

    report = task.check(mine)
    assert report.rows[-1].text == "Well done: 1 of 1 in this lesson. That was the last."
    assert task.mine is mine and noted() == [{"passed": task.key}]
    assert not task.check(lambda n: 0).passed and task.mine is mine


def lesson_of(*names):
    """Return exercises that make up a lesson."""
    tasks = [declared() for _ in names]
    for task, name in zip(tasks, names, strict=True):
        task.source = task.source  # before it has another name
        task.name = name
        task.key = f"here_{name}"
        task.lesson = tasks
    return tasks


def test_what_comes_next_is_the_next_that_has_not_passed_and_then_the_first(noted):
    a, b, c = lesson_of("a", "b", "c")
    for task, words in (
        (b, "1 of 3 in this lesson. Next: `c`."),
        (b, "1 of 3 in this lesson. Next: `c`."),
        (c, "2 of 3 in this lesson. Next: `a`."),
        (a, "3 of 3 in this lesson. That was the last."),
    ):
        assert task.check(lambda n: n + n).rows[-1].text == f"Well done: {words}"
    core._passed.clear()
    kept.note(card="here_a", right=True)
    assert "3 of 3" in a.check(lambda n: n + n).rows[-1].text  # the others are on record


def test_help_is_offered_after_a_wrong_answer_and_the_solution_after_a_right_one():
    task = declared()
    wrong, right = task.check(lambda n: 0), task.check(lambda n: n + n)
    last = wrong.rows[-1]
    assert last.form == "terminal" and "`ex.twice.hint()` shows a hint" in last.text
    assert [report.more.count("<details") for report in (wrong, right)] == [4, 1]
    assert "ex.twice.hint" not in right.text and "ex.twice.hint" not in wrong._repr_html_()


def test_hints_go_on_until_the_solution():
    task = declared()
    panels = [task.hint(k) for k in (1, 2, 3)]
    assert [[row.label for row in panel.rows] for panel in panels] == [
        ["", ""],
        ["1", "2", ""],
        ["1", "2", "3", ""],
    ]
    assert [panel.rows[-1].text for panel in panels] == [
        "`ex.twice.hint(2)` goes on.",
        "`ex.twice.hint(3)` goes on.",
        "`ex.twice.solution()` shows one way.",
    ]
    for number in (0, 4):
        with pytest.raises(
            ValueError, match=rf"twice has 3 hints: hint\({number}\) is none of them"
        ):
            task.hint(number)


def test_an_exercise_describes_itself():
    task = declared()
    assert (task.name, task.parameters, task.spec) == ("twice", ("n",), "Twice n.")
    assert task.source.startswith("def twice(n):") and task.source.endswith("return 2 * n")
    assert repr(task).splitlines() == ["· twice(n): twice", "  Twice n."]
    assert task.lesson == [task] and task.__doc__ == "Twice n."


def test_a_call_cannot_leave_settings_of_torch_behind():
    task = declared()
    dtypes = []

    def answer(n):
        dtypes.append(torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        return n + n

    assert task.check(answer).passed
    assert dtypes == [torch.float32] * 8 and torch.get_default_dtype() == torch.float32
