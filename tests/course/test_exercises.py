"""The checks of the exercises: right answers pass, wrong ones never do and get their own hint."""

import builtins
import ctypes
import gc
import inspect
import itertools
import linecache
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from symtable import symtable

import numpy as np
import pytest
import torch

from stridekit.exercises import (
    attention,
    channels_last,
    contiguity,
    core,
    exercise,
    hardware,
    performance,
    start,
    strides,
    views,
    way_back,
    your_model,
)
from stridekit.exercises.mistakes import Formula
from stridekit.exercises.readers.answers import (
    as_int,
    as_ints,
    layout_facts,
    read_number,
    read_parts,
    read_uses,
    read_yes_or_no,
    view_of,
)
from stridekit.exercises.readers.copies import CopyLog
from stridekit.exercises.reports import Panel, Report, Row, python, spec
from stridekit.exercises.running import Outcome, Trial, Unusable
from stridekit.exercises.views.memory_sets import read_byte_set
from stridekit.lessons.notebook import parse
from tests.course.right_answers import BY_STRIDEKIT, BY_TORCH, NOT_BY_AS_STRIDED, RIGHT
from tests.course.wrong_answers import WRONG
from tests.course.wrong_answers.collecting import STOPS, answering

ROOT = Path(__file__).parents[2]
ex = strides
LESSONS = [
    start,
    strides,
    contiguity,
    views,
    performance,
    channels_last,
    attention,
    your_model,
    hardware,
    way_back,
]
EXERCISES = [getattr(lesson, name) for lesson in LESSONS for name in lesson.__all__]
each_exercise = pytest.mark.parametrize("task", EXERCISES, ids=lambda task: task.name)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Keep a busy machine from stopping an answer, and an alarm from landing in a finalizer."""
    monkeypatch.setattr(core, "SECONDS", 600)
    gc.disable()
    yield
    gc.enable()


def of_exercises(rows):
    """Mark a test to run for each row, named by its exercise."""
    names = [row[0].name for row in rows]
    return pytest.mark.parametrize("row", rows, ids=names)


# Right answers --------------------------------------------------------------------------------


@each_exercise
def test_the_reference_solution_passes_and_runs_in_its_lesson(task):
    """A learner who copies the solution there has all names that it takes from outside."""
    outcomes = [task._run_known(task.reference, case) for case in task.cases]
    for outcome in outcomes:
        assert "raised" not in outcome.facts and "unusable" not in outcome.facts
    report = task.check(task.reference)
    assert report.passed and report.attempted and report.hint == ""
    assert report.text == f"✓ {task.name}: right on all {len(task.cases)} cases\n  {task.takeaway}"
    assert report._repr_html_().count("<details") == 1 and ">One solution</summary>" in report.more
    (path,) = (ROOT / "notebooks").glob(f"*_{task.lesson_name}.ipynb")
    cells = [cell.source for cell in parse(path.read_text()).cells if cell.cell_type == "code"]
    (number,) = (k for k, source in enumerate(cells) if f".{task.name}.check(" in source)
    module = symtable("\n".join(cells[:number]), str(path), "exec")
    defined = {symbol.get_name() for symbol in module.get_symbols()}
    assert inspect.getclosurevars(task.reference).globals.keys() <= defined
    signature = symtable(task.source, str(path), "exec")  # Python looks its annotations up, too
    names = {symbol.get_name() for symbol in signature.get_symbols() if symbol.is_referenced()}
    assert names <= defined | {*dir(builtins)}


@of_exercises(RIGHT)
def test_right_answers_in_other_forms_pass(row):
    report = row[0].check(answering(*row))
    assert report.passed, report.text


@of_exercises(NOT_BY_AS_STRIDED)
def test_what_is_right_without_as_strided_is_a_kind_note(row):
    task = row[0]
    report = task.check(answering(*row))
    assert (report.status, report.passed, report.attempted) == ("note", False, True)
    headline = f"· {task.name}: right on all {len(task.cases)} cases, but not by as_strided alone"
    assert report.text.startswith(headline) and task.takeaway not in report.text
    assert report.hint.startswith("Right ") and "`x.as_strided(size, stride, " in report.hint


@of_exercises(BY_STRIDEKIT)
def test_an_answer_by_stridekit_itself_is_a_note_with_its_name(row):
    task, answer, name = row
    report = task.check(answer)
    assert report.status == "note"
    assert report.hint.startswith(f"The right answer, by `stridekit.{name}`")
    assert task.check(task.reference).passed


@each_exercise
def test_a_task_says_which_functions_are_not_allowed(task):
    """An answer that uses one of them is right and does not pass, so a learner has to know."""
    *_, not_allowed = task.spec.partition("Not allowed: ")
    sentence = not_allowed.partition("\n\n")[0]
    assert [name for name in task.means.whole if f"`{name}`" not in sentence] == []


@of_exercises(BY_TORCH)
def test_an_answer_by_torch_itself_is_a_note(row):
    report = row[0].check(row[1])
    assert (report.status, report.passed) == ("note", False)
    assert "but torch has worked it out" in report.text and "do without it" in report.hint
    assert re.search("calls  (stride|is_contiguous)", report.text)


# Wrong answers --------------------------------------------------------------------------------


def told(words, hint):
    """True if a hint has these words; what the source does not prove is what it looks like."""
    return words.lower() in hint.replace("It looks as if you", "You").lower()


@of_exercises(WRONG)
def test_each_wrong_answer_gets_its_own_hint(row):
    report = row.exercise.check(row.answer)
    assert report.status == "failed" and report.attempted and told(row.words, report.hint)
    assert "input" in report.text and "expected" in report.text and "yours" in report.text
    holds_no_address_and_is_well_formed(report)


@each_exercise
def test_each_mistake_gets_its_hint(task):
    hints = {mistake.hint for mistake in task.mistakes} | {*task.only.values()}
    assert len(hints) >= 6 and task.otherwise not in hints
    assert [hint for hint in hints if not hint.endswith((".", "?", ")"))] == []  # none is cut off
    right = [task._run_known(task.reference, case) for case in task.cases]
    for mistake in task.mistakes:
        answers = [task._run_known(mistake.answer, case) for case in task.cases]
        report = task._report_failure(mistake.answer, [*map(Trial, task.cases, answers, right)])
        assert told(mistake.hint, report.hint), mistake.answer.__name__
        holds_no_address_and_is_well_formed(report)


def test_an_answer_with_two_mistakes_shows_an_input_of_the_one_in_its_hint():
    """On images of 2 x 2 groups, the shuffle that undoes the right one is right."""
    (undoes,) = [row.answer for row in WRONG if row.answer.__name__ == "shuffle_back_and_convert"]
    report = your_model.shuffle.check(undoes)
    assert Row("differs", "values") in report.rows


@each_exercise
def test_a_condition_is_told_to_those_who_go_wrong_only_where_it_holds(task):
    """Whatever the wrong answer is: a condition that holds in all cases, or in none, tells nothing."""
    formula = Formula(task.reference)
    right = f"{task.name}({', '.join(task.parameters)})"
    for condition, hint in task.only.items():
        holds = formula.answering(condition)
        inputs = [case.arguments(task.parameters).values() for case in task.cases]
        assert {bool(holds(*values)) for values in inputs} == {True, False}, condition
        answer = formula.answering(f"object() if {condition} else {right}")
        assert task.check(answer).hint == hint


def passes(task, answer):
    """True if an answer is right; stops at the first case that differs."""
    for case in task.cases:
        expected = task._run_known(task.reference, case)
        if task._run(answer, case).facts != expected.facts:
            return False
    return True


SAMPLE = 12  # combinations of each exercise; the nightly run tries all


@pytest.mark.parametrize("most", [SAMPLE, pytest.param(None, marks=pytest.mark.long)])
@each_exercise
def test_each_combination_is_wrong_and_its_hint_is_about_what_the_input_shows(task, most):
    """A check that lets one pass has too few cases.

    The hint is that of a mistake which is wrong by itself on the shown input. If every case raises
    an error, it can be that of the error.
    """
    right = [task._run_known(task.reference, case) for case in task.cases]
    inputs = [task._describe_input(case) for case in task.cases]
    wrong_there = set()  # the hint of a mistake, and an input on which it is wrong
    for mistake in task.mistakes:
        for case, shown, expected in zip(task.cases, inputs, right, strict=True):
            if task._run_known(mistake.answer, case).facts != expected.facts:
                wrong_there.add((mistake.hint, shown))
    interval = max(len(task.combinations) // most, 1) if most else 1
    for combination in task.combinations[::interval]:
        answers = [task._run_known(combination.answer, case) for case in task.cases]
        trials = [*map(Trial, task.cases, answers, right)]
        name = combination.answer.__name__
        assert not all(trial.is_right for trial in trials), name
        report = task._report_failure(combination.answer, trials)
        hint = re.sub("^It looks as if you", "You", report.hint)
        is_of_an_error = all("raised" in answer.facts for answer in answers)
        if not is_of_an_error or hint != answers[0].hint:
            assert (hint, report.rows[0].text) in wrong_there, name


@each_exercise
def test_mistakes_that_are_alike_in_every_case_have_one_hint(task):
    hints = {}
    for mistake in task.mistakes:
        facts = repr([task._run_known(mistake.answer, case).facts for case in task.cases])
        assert hints.setdefault(facts, mistake.hint) == mistake.hint, mistake.answer.__name__


# What else learners hand over -----------------------------------------------------------------


numbers = itertools.count()


def cell(source):
    """The names that a notebook's cell with this source defines."""
    name = f"<cell {next(numbers)}>"
    names = {"__name__": "__main__"}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), names)
    return names


BLANKS = [
    "...",
    "pass",
    "'To be written.'",
    "'To be written.'; ...; pass; return",
    "return ...",
    "raise NotImplementedError",
    "message = 'to do'; raise NotImplementedError(message)",
]
SHRUNK = torch.ones(6)
SHRUNK.untyped_storage().resize_(8)


@each_exercise
def test_no_constant_is_right(task):
    """Not even the right answer to one of the cases."""
    for case in task.cases:
        answer = task.reference(*case.arguments(task.parameters).values())
        assert not passes(task, lambda *args, answer=answer: answer), case.source


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_is_no_attempt(blank):
    report = ex.address.check(cell(f"def answer(*args): {blank}")["answer"])
    assert not report.attempted and not report.passed and report.hint == ""
    assert report.text.startswith("○ address: not attempted yet")


def not_implemented():
    raise NotImplementedError


def beyond(t):
    """A read that begins three bytes before the storage and ends five behind it."""
    storage = t.untyped_storage()
    return ctypes.string_at(storage.data_ptr() - 3, storage.nbytes() + 8)


ALONG = "x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + j * x.stride(0))"
EXPLAINED = [  # an exercise, what is handed over, and words of the report and of the hint
    (ex.address, "None", "yours None", "Is a `return` missing?"),
    (ex.address, 3, "yours an int, not a function", "`ex.address.check(address)`"),
    (ex.address, lambda: 0, "a function of ()", "`address(t, index)`"),
    (ex.address, "{'a': 1}", "yours a dict of 1, where ", "That is another kind of answer"),
    # Its values are no longer its own, and to ask for them may end Python.
    (ex.address, lambda *_: SHRUNK, "reaches 16 bytes past the end of its storage", "another kind"),
    (ex.address, "index[7]", "raised IndexError", STOPS),  # errors alone are chance
    # Neither torch's word for what it does not have nor that of a helper makes a blank.
    (ex.address, "torch.ones(2, dtype=torch.float8_e4m3fn) + 1", "NotImplementedError", STOPS),
    (ex.address, lambda *_: not_implemented(), "raised NotImplementedError", STOPS),
    # Errors of torch differ by who raised them, and errors of as_strided by their numbers.
    (ex.trace, "torch.einsum('ii', x)", "RuntimeError: einsum()", STOPS),
    (ex.column, ALONG, "are out of bounds for storage", "You go j steps along the first column"),
    (ex.contiguous_stride, type, "", ""),  # it hides its parameters
    (contiguity.view_stride, "(7, 7)", "yours (7, 7)", ""),
    (ex.recover_slice, "slice(0, 3, 0)", "raises ValueError", ""),
    (ex.recover_slice, "slice(3.0, 7.0)", "// keeps ints whole", ""),
    (ex.recover_slice, "slice(10**12, 0)", "slice((an address), 0, None)", ""),
    (hardware.time_it, "51", "", "You ask for no work between two readings"),
    (ex.raw_bytes, beyond, "3 of them from before the storage's first byte (be)", ""),
    (ex.raw_bytes, beyond, "5 of them from past the storage's end (af)", ""),
    (contiguity.unviewable, "None", "", "You answer None for every input"),
    (contiguity.unviewable, "(-1, 1)", "torch makes that view", ""),
    (contiguity.view_stride, "None if len(shape) > 1 else stride", "yours None", ""),
    *(
        (channels_last.flatten_images, copy_in_disguise, "", "")
        for copy_in_disguise in (
            "flatten_images(x).clone()",
            "torch.tensor(x.tolist(), dtype=x.dtype).reshape(len(x), math.prod(x.shape[1:]))",
            "torch.from_numpy(np.ascontiguousarray(x.flatten(1).numpy())[:].copy())",
            "x.flatten(1) + 0",
            "x.flatten(1).sort(1).values",
            "torch.cat([image.reshape(1, -1) for image in x]) if len(x) else x.flatten(1)",
        )
    ),
]


@pytest.mark.parametrize(("task", "answer", "words", "hint"), EXPLAINED)
def test_whatever_is_handed_over_is_explained(task, answer, words, hint):
    report = task.check(answering(task, answer))
    assert words in " ".join(report.text.split()) and told(hint, report.hint)
    assert report.status == "failed" and report.attempted
    assert report._repr_html_().count("<details") == len(task.hints) + 1


def test_what_is_blank_in_a_later_case_alone_has_been_attempted():
    seen = []

    def answer(t, index):
        seen.append(index)
        return ... if len(seen) > 1 else ex.address.reference(t, index)

    report = ex.address.check(answer)
    assert report.attempted and "right on 1 of 18 cases" in report.headline


def test_single_agreements_are_taken_for_chance():
    right = iter([16, 30, 23])
    report = ex.address.check(lambda t, index: next(right, 8))  # 8: as if the offset was forgotten
    assert report.hint == ex.address.otherwise


def test_cases_are_on_the_cpu_whatever_the_notebook_has_set():
    torch.set_default_device("meta")
    try:
        assert ex.address.check(ex.address.reference).passed
    finally:
        torch.set_default_device(None)


# How answers are read -------------------------------------------------------------------------


INT16 = {"t": torch.zeros(3, dtype=torch.int16)}
PARTS = read_parts("shape", "stride", "offset")
NOTHING = {"count": 0, "bytes": frozenset()}
TWO = {"count": 2, "bytes": frozenset({0, 1})}
READ = [  # a reader, what it makes of all these answers, and the answers
    (as_int, 6, [6, 6.0, torch.tensor(6), np.int16(6)]),
    (as_int, 2**64 - 1, [2**64 - 1]),
    (as_ints, (2, 3), [torch.tensor([2, 3]), [2.0, 3], torch.Size((2, 3)), range(2, 4)]),
    (read_number, {"value": 80}, [80, 80.0, torch.tensor(80), np.float32(80), np.int16(80)]),
    (read_byte_set, TWO, [{0, 1}, frozenset({0, 1}), {0.0, 1}, dict.fromkeys((0, 1)).keys()]),
    (read_byte_set, NOTHING, [{}, set()]),
]
REFUSED = [  # a reader, what it asks for, and answers of other kinds
    (as_int, "where an int is asked", [True, 6.5, "6", None, torch.zeros(2), [6]]),
    (as_ints, "asked for", ["12", b"12", {1, 2}, 3, torch.zeros(2, 2), [1, 2.5], [True]]),
    (read_number, "where one number is", ["80", True, [80], torch.zeros(2), np.ones(1)]),
    (
        read_byte_set,
        "asked for",
        [{"a": 1}, {"a"}, {1.5}, "01", 3, [0, 1], torch.arange(2), {True}],
    ),
    (read_yes_or_no, "where True or False is", [1, 0, "True", None, [True], torch.ones(1) > 0]),
    (PARTS, "where the three parts", [((2,), (1,)), ((2,), (1,), 0, 0), {1, 2, 3}]),
]


def read(reader, answer):
    return reader(answer) if reader in (as_int, as_ints) else reader(answer, INT16)


@pytest.mark.parametrize(("reader", "facts", "answers"), READ)
def test_an_answer_may_be_written_in_several_ways(reader, facts, answers):
    for answer in answers:
        result = read(reader, answer)
        assert getattr(result, "facts", result) == facts


@pytest.mark.parametrize(("reader", "words", "answers"), REFUSED)
def test_an_answer_of_another_kind_is_refused(reader, words, answers):
    for answer in answers:
        with pytest.raises(Unusable, match=words):
            read(reader, answer)


def test_an_order_without_an_end_is_read_one_name_too_far():
    taken = []

    def endless(expressions):
        for name in itertools.cycle(performance.cheapest_first.reference(expressions)):
            taken.append(name)
            yield name

    performance.cheapest_first.check(endless)
    assert len(taken) == 5 * len(performance.cheapest_first.cases)


def test_a_view_is_read_fact_by_fact():
    x = torch.arange(24).view(4, 6)

    def first_difference(answer):
        return view_of("x")(x[:, 2], {"x": x}).first_difference(view_of("x")(answer, {"x": x}))

    assert first_difference(x[:, 2].view(torch.float64)) == "dtype"
    assert first_difference(x[:3, 2]) == "shape"
    assert first_difference(x[:, 2].clone()) == "sharing"
    assert first_difference(x[0, :4]) == "stride"
    assert first_difference(x[:, 1]) == "storage_offset"
    assert first_difference(x.as_strided((4,), (6,), 2)) == ""
    outcome = Outcome({"a": 1, "b": 2}, "")
    assert outcome.first_difference(Outcome({"c": 1, "d": 2}, "")) == ""
    assert outcome.first_difference(Outcome({"a": 1, "b": 3}, "")) == "b"
    assert Outcome({"a": 1}, "").first_difference(Outcome({"a": 2}, "")) == ""


@pytest.mark.parametrize("size", [0, 1])
def test_the_stride_of_a_dim_that_nobody_steps_along_is_free(size):
    """A right diagonal of nothing may have any stride, so size 0 counts too."""
    x = torch.zeros(4, 6)
    for facts in (layout_facts, lambda t: view_of("x")(t, {"x": x}).facts):
        usual, odd = (x.as_strided((size, 3), (step, 2), 4) for step in (6, 99))
        assert facts(usual) == facts(odd) and facts(usual)["stride"] == ("free", 2)
        assert facts(usual) != facts(x.as_strided((size, 3), (6, 1), 4))


def test_what_readers_show():
    assert [read_uses(uses, {}).shown for uses in (2 / 3, 4, np.inf)] == ["0.666667", "4", "inf"]
    shown = read_byte_set({*range(0, 80, 2)}, {"t": torch.zeros(100, dtype=torch.int16)}).shown
    assert shown == "40 bytes: 0, 2, 4, 6, 8, 10, …"
    assert "on e's storage" not in views.bump_first.check(lambda e: e.clone()).text


def test_copies_are_logged_with_their_bytes_and_whatever_says_where_is_free():
    """Indices and masks, however they are made; a tensor without bytes is neither."""
    x = torch.arange(4)
    array = np.arange(4)
    with CopyLog(x) as log:
        x.t().view(2, 2).clone().add_(1)
        torch.empty(0).clone()
        torch.arange(4).flip(0).mul(3)
        torch.full_like(x, 2)
        torch.tensor([1, 2])
        x.new_zeros(3)
        assert log.copies == [("clone", 32)]
        _ = x[torch.tensor([0, 2])]
        _ = x[torch.arange(4) > 1]
        x.index_select(0, torch.arange(1))
        assert log.copies[1:] == [("index", 16), ("index", 16), ("index_select", 8)]
        x[torch.from_numpy(array)] = 7
        new = torch.empty(4).copy_(x)
        assert log.copies[4:] == [("empty", 16)] and not log.is_outside(new)
        outside = torch.from_numpy(array) + x
    assert log.is_outside(outside) and log.is_outside(torch.arange(4))
    assert not log.is_outside(torch.empty(0)) and not log.is_outside(x[1:])


# The fence of raw_bytes -----------------------------------------------------------------------


@pytest.mark.parametrize(("address", "where"), [(0, "at address 0"), (-8, "far from the storage")])
def test_a_read_that_would_end_python_is_stopped(address, where):
    string_at = ctypes.string_at
    for name in ("string_at", "read"):  # as after from ctypes import string_at as read
        namespace = {name: string_at, "address": address}
        exec(f"def answer(t): return {name}(address, 16)", namespace)
        report = ex.raw_bytes.check(namespace["answer"])
        assert f"raised OutOfTheStorage: stopped before it read {where}" in report.text
        assert "without reading" in report.hint  # and not: run it in a cell of its own
        assert namespace[name] is string_at is ctypes.string_at
    assert not ex.raw_bytes.check(lambda t: ctypes.string_at(address, 16)).passed


def test_a_delicate_case_waits_until_all_others_are_right():
    seen = []
    ex.raw_bytes.check(lambda t: seen.append(t) or b"")
    assert len(seen) == len(ex.raw_bytes.cases) - 1


# Reports, hints and solutions -----------------------------------------------------------------


class Tags(HTMLParser):
    """Checks that tags nest, and collects which there are."""

    def __init__(self, html):
        super().__init__()
        self.open = []
        self.seen = set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def holds_no_address_and_is_well_formed(report):
    html = report._repr_html_()
    assert repr(report) == report.text
    assert not re.search(r"0x[0-9a-f]|\d{12}", report.text + html)
    assert max(map(len, report.text.splitlines())) <= 96
    assert Tags(html).seen <= {"div", "span", "pre", "b", "code", "details", "summary"}


def test_a_report_says_what_differs():
    report = ex.row.check(lambda x, i: x.as_strided(x.shape[1:], x.stride()[1:], i * x.stride(0)))
    assert report.text == (
        "✗ row: not yet (right on 5 of 13 cases)\n"
        "  input     x = torch.arange(24).view(4, 6)[1:]; i = 1\n"
        "            x: shape (3, 6), stride (6, 1), storage_offset 6, 8 bytes an element\n"
        "  expected  shape (6,), stride (1,), storage_offset 12, on x's storage\n"
        "  yours     shape (6,), stride (1,), storage_offset 6, on x's storage\n"
        "  differs   storage_offset\n"
        "  hint      The offset of as_strided counts from the start of the storage, not from x. "
        "Where x\n            is a slice, it begins at `x.storage_offset()`, and you have to begin "
        "there too.\n"
        "            `ex.row.hint()` shows a hint, `ex.row.solution()` one way to write it."
    )


def test_each_part_of_a_panel_is_escaped():
    """The headline, the labels, the words between and outside of backticks, and code."""
    text = '<i>a</i> < b & `<u>c</u> < d` & "e"'
    shown = "&lt;i&gt;a&lt;/i&gt; &lt; b &amp; {} &amp; &quot;e&quot;"
    code = "&lt;u&gt;c&lt;/u&gt; &lt; d"
    prose, verbatim = shown.format(f"<code>{code}</code>"), shown.format(f"`{code}`")
    panel = Panel("note", text, (Row(text, text), Row(text, text, form="lines"), Row("", text)))
    html = panel._repr_html_()
    assert f"<b>{prose}</b>" in html and f">{verbatim}</pre>" in html
    assert html.count(f">{prose}</span>") == 2 and html.count(f">{verbatim}</span>") == 2
    assert "<i>" not in html and "<u>" not in html
    Tags(html)


@each_exercise
def test_hints_are_shown_up_to_the_one_that_is_asked_for(task):
    """From the first, all of them; the last points to the solution. No call opens another one."""
    total = len(task.hints)
    for k in range(1, total + 1):
        panel = task.hint(k)
        which = "hint 1" if k == 1 else f"hints 1 to {k}"
        after = f"hint({k + 1})` goes on." if k < total else "solution()` shows one way."
        assert panel == task.hint(k) and panel.headline == f"{task.name}: {which} of {total}"
        assert [row.text for row in panel.rows] == [*task.hints[:k], f"`ex.{task.name}.{after}"]
        assert task.hint() == task.hint(1)
        Tags(panel._repr_html_())


@pytest.mark.parametrize("last", [0, -1, 4, "2", 1.0, True])
def test_a_hint_that_is_not_there_is_refused(last):
    message = "address has 3 hints" if last in (0, -1, 4) else "the last hint is"
    with pytest.raises(ValueError, match=message):
        ex.address.hint(last)


def words(html):
    """The text of some HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


@each_exercise
def test_the_task_and_its_solution_show_themselves(task):
    """Each name has a line of its own, and code has its colours."""
    assert repr(task).startswith(f"· {task.name}({', '.join(task.parameters)}): {task.title}")
    assert task.__doc__ == task.reference.__doc__ and "\nreturn " in task.spec
    assert len(repr(task).splitlines()) <= 14 and max(map(len, task.spec.splitlines())) <= 94
    Tags(task._repr_html_())
    html = spec(task.spec)
    shown = words(re.sub("</(code|span|div|pre)>", r"\g<0> ", html)).split()
    assert "".join(shown) == "".join(task.spec.replace("`", "").split())
    names = re.findall(r"<code>([^<]*)</code><span>", html)
    assert ", ".join(names[:-1]).split(", ") == [*task.parameters] and names[-1] == "return"
    assert "`" not in html and ("<pre" in html) == (task.name == "by_columns")
    coloured = python(task.source)
    solution = task.solution()
    assert words(coloured) == task.source and coloured in solution._repr_html_()
    assert task.source in inspect.getsource(task.reference) and task.source.startswith("def ")
    Tags(solution._repr_html_())


def test_code_is_shown_in_the_colours_of_the_editor():
    source = "def twice(n):  # <b>\n    return not n and 'a' * 2"
    spans = re.findall(r"var\(--jp-([\w-]*), inherit\)\">(.*?)</span>", python(source), re.S)
    kinds = dict.fromkeys(["def", "return", "not", "and"], "keyword")
    kinds |= {"twice": "def", "'a'": "string", "2": "number"}
    wanted = {text: f"mirror-editor-{kind}-color" for text, kind in kinds.items()}
    wanted["# <b>"] = "ui-font-color2"
    assert {unescape(text): colour for colour, text in spans} == wanted | {"def": wanted["not"]}
    assert words(python(source)) == source


@pytest.mark.parametrize(
    ("status", "sign", "colour"),
    [
        ("passed", "✓", "success"),
        ("failed", "✗", "warn"),
        ("blank", "○", "border"),
        ("note", "·", "brand"),
    ],
)
def test_a_panel_shows_its_status_in_a_sign_and_a_colour(status, sign, colour):
    report = Report(status, "a")
    assert report.text == f"{sign} a" and f">{sign}</span> <b>" in report._repr_html_()
    assert f"var(--jp-{colour}-color1, #" in report._repr_html_()
    assert (report.passed, report.attempted) == (status == "passed", status != "blank")


def test_long_lines_are_broken_and_lines_of_code_indented():
    text = "word " * 40
    panel = Panel("note", "a", (Row("label", text), Row("", text, form="lines")))
    lines = panel.text.splitlines()
    assert max(map(len, lines)) <= 96 and len(lines) == 7
    assert lines[1].startswith("  label  word") and lines[2].startswith("         word")
    assert lines[4].startswith("         word") and lines[5].startswith("             word")


@pytest.mark.parametrize("form", ["prose", "terminal"])
def test_no_line_of_words_ends_within_a_word_with_hyphens(form):
    for length in range(60, 100):
        text = f"{'x' * length} channels-last"
        assert "channels-last" in Panel("note", "a", (Row("hint", text, form),)).text


def test_the_tab_key_offers_the_exercises_alone():
    assert dir(ex) == sorted(ex.__all__)


# How an exercise comes to know mistakes -------------------------------------------------------


def border(n):
    side = n + 1
    count = 4
    return side * count


def adds_two(n):
    return border(n) + 1 + 1


BORDER = {
    "slots": {"n + 1": {"n": "Side.", "n - 1": "Short."}, "4": {"2": "Two.", "3": "Three."}},
    "wrong": {
        ("side * count => side + count", "side * count => count + side"): "Sum.",
        "border(n) + 1": "One more.",
        "side(n)": "An error.",
    },
    "exact": {"0": "Nothing."},
}
NOUGHT = "0 if n < 5 else border(n)"
CONDITIONS = {
    "wrong": {"0 if n > 3 else border(n)": "Nought."},
    "only": {"n > 2": "Large.", "n": "All."},
}
TOLD = [  # the mistakes that an exercise knows, a wrong answer, and its hint
    # A combination gets the hint of its first wrong piece, for the same answers in every case.
    (BORDER, lambda n: 2 * n, "Side."),
    (BORDER, lambda n: 3 * (n - 1), "Short."),
    (BORDER, lambda n: 3 * n if n < 5 else 7, "Otherwise."),
    (BORDER, lambda n: 2 * n + 2, "Two."),
    (BORDER, lambda n: n + 5, "Sum."),
    (BORDER, lambda n: 4 * n + 5, "One more."),
    # An exact mistake is not told to those who are right in a case where it is wrong.
    ({"exact": {NOUGHT: "Nought."}}, lambda n: 0 if n < 4 else border(n), "Otherwise."),
    ({"exact": {NOUGHT: "Nought."}}, lambda n: 0 if n < 5 else border(n), "Nought."),
    (
        {"wrong": {NOUGHT: "Nought."}},
        lambda n: 0 if n < 4 else border(n),
        "This fits most of your answers. Nought.",
    ),
    (
        {"wrong": {NOUGHT: "First.", f"({NOUGHT})": "Other."}},
        lambda n: 0 if n < 5 else border(n),
        "First.",
    ),
    ({"wrong": {"n if n != 2 else n / 0": "Even."}}, lambda n: n if n != 2 else n / 0, "Even."),
    # A hint asserts only what the source shows.
    ({"wrong": {"border(n) + 2": "You add two."}}, lambda n: border(n) + 2, "You add two."),
    ({"wrong": {"border(n) + 2": "You add two."}}, adds_two, "It looks as if you add two."),
    # A condition is told before what is only alike, and after what is the same everywhere.
    (CONDITIONS, lambda n: 0 if n > 3 else border(n), "Nought."),
    (CONDITIONS, lambda n: 0 if n > 3 else border(n) + (n == 3), "Large."),
    (CONDITIONS, lambda n: border(n) + 1, "All."),
]


@pytest.mark.parametrize(("mistakes", "answer", "hint"), TOLD)
def test_which_mistake_is_told(mistakes, answer, hint):
    task = declared(**mistakes)
    assert task.check(answer).hint == hint


def declared(**mistakes):
    """Return an exercise that knows these mistakes."""
    task = exercise(
        title="a border",
        read=read_number,
        cases=[f"n = {n}" for n in range(1, 6)],
        hints=["Think."],
        otherwise="Otherwise.",
        takeaway="Done.",
    )(border)
    for name, hints in mistakes.items():
        setattr(task, name, hints)
    return task


def test_no_condition_is_told_where_cases_are_left_and_no_error_that_is_chance(monkeypatch):
    assert declared(**BORDER).check(lambda n: n / 0).hint.startswith(STOPS)
    monkeypatch.setattr(core, "SECONDS", 0.1)
    report = declared(only={"n": "All."}).check(lambda n: sum(1 for _ in iter(int, n)))
    assert "had not come to its end" in report.hint
