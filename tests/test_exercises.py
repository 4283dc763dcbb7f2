"""The checks of the exercises: right answers pass, wrong ones never do and get their own hint."""

import builtins
import ctypes
import inspect
import io
import itertools
import keyword
import linecache
import math
import random
import re
import tokenize
from collections import defaultdict
from copy import copy
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from symtable import symtable

import numpy as np
import pytest
import torch

from stridekit import Layout, shares_memory
from stridekit.exercises import (
    attention,
    channels_last,
    contiguity,
    core,
    exercise,
    hardware,
    performance,
    views,
    your_model,
)
from stridekit.exercises import strides as ex
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
from stridekit.exercises.report import Card, Report, Row, python, spec
from stridekit.exercises.running import Outcome, Unusable
from stridekit.exercises.views.memory_sets import read_byte_set
from stridekit.export.notebook import parse
from tests.wrong_answers import FORMULAS, UNNAMED, WRONG
from tests.wrong_answers.collecting import beside_its_slots

ROOT = Path(__file__).parent.parent
LESSONS = [ex, contiguity, views, performance, channels_last, attention, your_model, hardware]
EXERCISES = [getattr(lesson, name) for lesson in LESSONS for name in lesson.__all__]
each_exercise = pytest.mark.parametrize("task", EXERCISES, ids=lambda task: task.name)
each_wrong_answer = pytest.mark.parametrize("wrong", WRONG, ids=lambda w: w.answer.__name__)
each_unnamed_one = pytest.mark.parametrize("wrong", UNNAMED, ids=lambda w: w.answer.__name__)


# Right answers --------------------------------------------------------------------------------


@each_exercise
def test_the_reference_solution_passes(task):
    facts = [task._run_own(task.reference, case).facts for case in task.cases]
    assert not any("raised" in it or "unusable" in it for it in facts)
    report = task.check(task.reference)
    assert report.passed and report.attempted and report.hint == ""
    assert report.text == f"✓ {task.name}: right on all {len(task.cases)} cases\n  {task.takeaway}"
    assert report._repr_html_().count("<details") == 1 and ">One solution</summary>" in report.more


@each_exercise
def test_a_solution_runs_in_its_lesson(task):
    """Whoever copies it there finds the names that it takes from outside."""
    package = task.reference.__module__.split(".")[2]
    (path,) = (ROOT / "notebooks").glob(f"*_{package}.ipynb")
    cells = [cell.source for cell in parse(path.read_text()).cells if cell.cell_type == "code"]
    (at,) = (k for k, source in enumerate(cells) if f".{task.name}.check(" in source)
    module = symtable("\n".join(cells[:at]), str(path), "exec")
    there = {symbol.get_name() for symbol in module.get_symbols()}
    assert inspect.getclosurevars(task.reference).globals.keys() <= there
    signature = symtable(task.source, str(path), "exec")  # Python looks its annotations up, too
    names = {symbol.get_name() for symbol in signature.get_symbols() if symbol.is_referenced()}
    assert names <= there | {*dir(builtins)}


# Wrong answers --------------------------------------------------------------------------------


def told(words, hint):
    """True if a hint has these words; what the source does not prove is what it looks like."""
    return words.lower() in hint.replace("It looks as if you", "You").lower()


@each_wrong_answer
def test_each_wrong_answer_is_refused_with_its_own_hint(wrong):
    report = wrong.exercise.check(wrong.answer)
    assert not report.passed and report.attempted
    assert told(wrong.words, report.hint)
    assert "input" in report.text and "expected" in report.text and "yours" in report.text
    assert report == wrong.exercise.check(wrong.answer)
    holds_no_address_and_is_well_formed(report)


@each_wrong_answer
def test_the_order_of_the_cases_changes_neither_verdict_nor_hint(wrong):
    for seed in range(3):
        shuffled = copy(wrong.exercise)
        shuffled.cases = list(shuffled.cases)
        random.Random(seed).shuffle(shuffled.cases)
        shuffled.cases.sort(key=lambda case: case.delicate)  # these stay last
        report = shuffled.check(wrong.answer)
        assert not report.passed
        assert told(wrong.words, report.hint)


@each_unnamed_one
def test_a_wrong_answer_that_matches_no_mistake_is_told_nothing_false(wrong):
    report = wrong.exercise.check(wrong.answer)
    assert report.status == "failed" and report.hint.startswith(wrong.told)
    for mistake in wrong.exercise.mistakes:
        assert mistake.hint not in report.text
    assert not re.search(r"0x[0-9a-f]|\d{9}", report.text)


@each_exercise
def test_each_exercise_knows_three_mistakes_or_more(task):
    hints = {mistake.hint for mistake in task.mistakes} | {*task.only.values()}
    assert len(hints) >= 3 and task.otherwise not in hints
    words = {wrong.words for wrong in WRONG if wrong.exercise is task}
    assert all(sum(word in hint for hint in hints) == 1 for word in words)


@each_exercise
def test_each_mistake_gets_its_hint_in_a_report_that_is_the_same_each_time(task):
    for mistake in task.mistakes:
        report = task.check(mistake.answer)
        assert report.status == "failed" and told(mistake.hint, report.hint), (
            mistake.answer.__name__
        )
        assert report == task.check(mistake.answer)
        holds_no_address_and_is_well_formed(report)


@each_exercise
def test_who_is_wrong_only_where_a_condition_holds_is_told_so(task):
    """Whatever the wrong answer is: a condition that holds in all cases, or in none, tells nothing."""
    formula = Formula(task.reference)
    right = f"{task.name}({', '.join(task.parameters)})"
    for condition, hint in task.only.items():
        holds = map(formula.holding(condition), (c.arguments(task.parameters) for c in task.cases))
        assert {*holds} == {True, False}, condition
        answer = formula.answering(f"object() if {condition} else {right}")
        assert task.check(answer).hint == hint


# Slots ----------------------------------------------------------------------------------------

SLOTS = [(task, task.slots) for task in EXERCISES if task.slots]
ALONE = [(task, beside_its_slots(task, task.alone)) for task in EXERCISES if task.alone]
EVERY_FORMULA = [*SLOTS, *ALONE, *FORMULAS]


def passes(task, answer):
    """True if an answer is right; stops at the first case that differs."""
    return all(
        task._run(answer, case).facts == task._run_own(task.reference, case).facts
        for case in task.cases
    )


@pytest.mark.parametrize(("task", "slots"), EVERY_FORMULA, ids=lambda it: getattr(it, "name", ""))
def test_of_all_combinations_of_pieces_the_solution_alone_is_right(task, slots):
    """A check that lets another one pass has too few cases."""
    hints = {right: dict.fromkeys(wrong, "") for right, wrong in slots.items()}
    formula = Formula(task.reference)
    wrong = [*formula.with_one_piece(hints), *formula.combinations(hints)]
    assert [it.answer.__name__ for it in wrong if passes(task, it.answer)] == []


@each_exercise
def test_answers_that_are_alike_in_every_case_are_told_one_hint(task):
    """A combination is told the first of its wrong pieces, or what a single mistake like it is told."""
    groups = [[*task.mistakes, *task.combinations]]
    for case in task.cases:
        split = defaultdict(list)
        for k, group in enumerate(groups):
            for mistake in group:
                split[k, repr(task._run_own(mistake.answer, case).facts)].append(mistake)
        groups = [group for group in split.values() if len({it.hint for it in group}) > 1]
    for group in groups:
        single = {mistake.hint for mistake in group if mistake in task.mistakes}
        assert len(single) == 1, [mistake.answer.__name__ for mistake in group]


@each_exercise
def test_no_constant_passes(task):
    """Not even the right answer to one of the cases."""
    for case in task.cases:
        answer = task.reference(*case.arguments(task.parameters).values())
        assert not passes(task, lambda *args, answer=answer: answer), case.source


# What else learners hand over -----------------------------------------------------------------


numbers = itertools.count()


def cell(source):
    """The names that a notebook's cell with this source defines."""
    name, names = f"<cell {next(numbers)}>", {"__name__": "__main__"}
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


@each_exercise
@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_is_not_attempted_yet(task, blank):
    report = task.check(cell(f"def answer(*args): {blank}")["answer"])
    assert not report.attempted and not report.passed and report.hint == ""
    assert report.text.startswith(f"○ {task.name}: not attempted yet")


def test_what_is_blank_in_a_later_case_alone_has_been_attempted():
    seen = []

    def answer(t, index):
        seen.append(index)
        return ... if len(seen) > 1 else ex.address.reference(t, index)

    report = ex.address.check(answer)
    assert report.attempted and "right on 1 of 18 cases" in report.headline


@each_exercise
def test_a_function_that_forgets_its_return_has_been_attempted(task):
    report = task.check(lambda *args: print(end=""))
    assert report.attempted and "Is a `return` missing?" in report.hint


def test_an_error_of_torch_is_not_taken_for_a_blank():
    def answer(x, i):
        return torch.ones(2, dtype=torch.float8_e4m3fn) + 1  # not implemented, says torch

    with pytest.raises(NotImplementedError):
        answer(None, 0)
    report = ex.row.check(answer)
    assert report.attempted and "raised NotImplementedError" in report.text


@each_exercise
def test_an_error_is_reported_with_its_line_and_does_not_escape(task):
    def answer(*args):
        return args[99]

    report = task.check(answer)
    assert "yours     raised IndexError: tuple index out of range" in report.text
    assert "on the line: return args[99]" in report.text
    assert report.hint.startswith("Your function stops on this input.")


@each_exercise
def test_anything_but_a_function_of_these_parameters_is_explained(task):
    report = task.check(3)
    assert not report.passed
    assert "yours  an int, not a function" in report.text
    assert f"`ex.{task.name}.check({task.name})`" in report.hint
    report = task.check(lambda: 0)
    assert "a function of ()" in report.text
    assert f"`{task.name}({', '.join(task.parameters)})`" in report.hint


def test_builtins_that_hide_their_parameters_are_tried():
    assert not ex.contiguous_stride.check(print).passed
    assert not ex.contiguous_stride.check(type).passed


@each_exercise
def test_answers_of_another_kind_are_named(task):
    report = task.check(lambda *args: {"a": 1})
    assert "yours     a dict of 1, where " in report.text
    assert report.hint.startswith("That is another kind of answer")


@pytest.mark.parametrize("nbytes", [0, 8])
@each_exercise
def test_an_answer_whose_storage_was_shrunk_is_not_read(task, nbytes):
    """Its values are no longer its own, and to ask for them may end Python."""
    answer = torch.ones(6)
    answer.untyped_storage().resize_(nbytes)
    missing = f"reaches {24 - nbytes} bytes past the end of its storage, which was shrunk"
    report = task.check(lambda *args: answer)
    assert not report.passed and missing in " ".join(report.text.split())


def test_what_an_answer_prints_ends_with_the_case_that_the_report_is_about(capsys):
    def answer(t, index):
        print(tuple(t.shape))
        return ex.address.reference(t, index) * (t.storage_offset() == 0)

    ex.address.check(answer)
    assert capsys.readouterr().out == "(10,)\n(4, 6)\n(4, 6)\n(7,)\n"


def test_errors_of_torch_are_told_apart_by_who_raised_them():
    report = ex.trace.check(lambda x: torch.einsum("ii", x))
    assert "RuntimeError: einsum()" in report.text  # as_strided raises a RuntimeError here, too
    assert report.hint.startswith("Your function stops on this input.")


def test_errors_of_views_beyond_the_storage_are_told_apart_by_their_numbers():
    def answer(x, j):
        start = x.storage_offset() + j * x.stride(0)
        return x.as_strided((x.size(0),), (x.stride(0),), start)

    report = ex.column.check(answer)
    assert "are out of bounds for storage" in report.text  # as for a column as long as a row
    assert report.hint.startswith("You start j rows down")


def test_errors_alone_are_no_agreement():
    report = ex.address.check(lambda t, index: index[7])
    assert report.hint.startswith("Your function stops on this input.")


def test_who_is_right_where_a_mistake_goes_wrong_has_not_made_it():
    def answer(*args):
        shape, stride, offset = ex.slice_layout.reference(*args)
        return [max(n, 1) for n in shape], stride, offset  # as with a stop included, sometimes

    assert ex.slice_layout.check(answer).hint == ex.slice_layout.otherwise


def test_one_agreement_among_several_wrong_answers_is_taken_for_chance():
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


INT16 = torch.zeros(3, dtype=torch.int16)
READ = [  # a reader, what it makes of all these answers, and the answers
    (as_int, 6, [6, 6.0, torch.tensor(6), np.int16(6)]),
    (as_ints, (2, 3), [torch.tensor([2, 3]), [2.0, 3], torch.Size((2, 3)), range(2, 4)]),
    (read_number, {"value": 80}, [80, 80.0, torch.tensor(80), np.float32(80), np.int16(80)]),
    (
        read_byte_set,
        {"count": 2, "bytes": frozenset({0, 1})},
        [{0, 1}, frozenset({0, 1}), {0.0, 1}, dict.fromkeys((0, 1)).keys()],
    ),
    (read_byte_set, {"count": 0, "bytes": frozenset()}, [{}, set()]),
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
    (
        read_parts("shape", "stride", "offset"),
        "where the three parts",
        [((2,), (1,)), ((2,), (1,), 0, 0), {1, 2, 3}],
    ),
]
of_each_reader = [(case[0], case[1], answer) for case in READ for answer in case[2]]
of_other_kinds = [(case[0], case[1], answer) for case in REFUSED for answer in case[2]]


@pytest.mark.parametrize(("read", "found", "answer"), of_each_reader)
def test_an_answer_may_be_written_in_several_ways(read, found, answer):
    if read in (as_int, as_ints):
        assert read(answer) == found
    else:
        assert read(answer, {"t": INT16}).facts == found


@pytest.mark.parametrize(("read", "words", "answer"), of_other_kinds)
def test_an_answer_of_another_kind_is_refused(read, words, answer):
    with pytest.raises(Unusable, match=words):
        read(answer) if read in (as_int, as_ints) else read(answer, {"t": INT16})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            torch.zeros(()).expand(10**9, 10**9),
            "a Tensor of 1,000,000,000,000,000,000, which is more",
        ),
        (np.zeros(200_000), "an ndarray of 200,000, which is more than any answer needs"),
        ((1,) * 200_000, "a tuple of 200,000, which is more than any answer needs"),
        ({*range(200_000)}, "a set of 200,000, which is more than any answer needs"),
        ("x" * 200_000, "a str of 200,000, which is more than any answer needs"),
        (10**5000, "an int of 16,610 bits, where an int is asked for"),
    ],
    ids=["tensor", "array", "tuple", "set", "str", "int"],
)
def test_an_answer_of_any_size_is_named_and_not_read(answer, said):
    for task in EXERCISES:
        report = task.check(lambda *_: answer)
        assert not report.passed
    report = ex.address.check(lambda t, index: answer)
    assert said in report.text


def test_endless_answers_end():
    """Of zeros, of names, of formats: whichever a reader takes one by one."""
    for task in EXERCISES:
        for item in (0, "a", "channels_last"):
            assert not task.check(lambda *_, item=item: itertools.repeat(item)).passed


def test_a_view_is_read_fact_by_fact():
    x = torch.arange(24).view(4, 6)
    read = view_of("x")

    def first_difference(answer):
        return read(x[:, 2], {"x": x}).first_difference(read(answer, {"x": x}))

    assert first_difference(x[:, 2].view(torch.float64)) == "dtype"
    assert first_difference(x[:3, 2]) == "shape"
    assert first_difference(x[:, 2].clone()) == "sharing"
    assert first_difference(x[0, :4]) == "stride"
    assert first_difference(x[:, 1]) == "storage_offset"
    assert first_difference(x.as_strided((4,), (6,), 2)) == ""


@pytest.mark.parametrize("size", [0, 1])
def test_the_stride_of_a_dim_that_nobody_steps_along_is_free(size):
    """Of size 0, too: a right diagonal of nothing has whatever stride its maker chose."""
    x = torch.zeros(4, 6)
    for read in (layout_facts, lambda t: view_of("x")(t, {"x": x}).facts):
        usual, odd = (x.as_strided((size, 3), (step, 2), 4) for step in (6, 99))
        assert read(usual) == read(odd) and read(usual)["stride"] == ("free", 2)
        assert read(usual) != read(x.as_strided((size, 3), (6, 1), 4))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda base, view: slice(0, 3, 0), "raises ValueError"),
        (lambda base, view: slice(4, 0, -1), "raises ValueError"),
        (lambda base, view: slice(3.0, 7.0), "// keeps ints whole"),
        (lambda base, view: slice("3"), "where an int in the slice is asked for"),
        (lambda base, view: view, "where a slice is asked for"),
        (lambda base, view: slice(base.data_ptr(), 0), "slice((an address), 0, None)"),
    ],
)
def test_slices_that_slice_nothing_are_explained(answer, said):
    assert said in ex.recover_slice.check(answer).text


# The fence of raw_bytes -----------------------------------------------------------------------


def test_a_read_beyond_the_storage_is_harmless_and_recognised():
    def answer(t):
        storage = t.untyped_storage()
        return ctypes.string_at(storage.data_ptr() - 3, storage.nbytes() + 8)

    text = ex.raw_bytes.check(answer).text
    assert "3 of them from before the storage's first byte (be)" in text
    assert "5 of them from past the storage's end (af)" in text


@pytest.mark.parametrize(("address", "where"), [(0, "at address 0"), (-8, "far from the storage")])
def test_a_read_that_would_end_python_is_stopped(address, where):
    string_at = ctypes.string_at
    for name in ("string_at", "read"):  # as after from ctypes import string_at as read
        namespace = {name: string_at, "address": address}
        exec(f"def answer(t): return {name}(address, 16)", namespace)
        report = ex.raw_bytes.check(namespace["answer"])
        assert f"raised OutOfTheStorage: stopped before it read {where}" in report.text
        assert "without reading" in report.hint  # and not: run it in a cell of its own
        assert namespace[name] is string_at
    assert not ex.raw_bytes.check(lambda t: ctypes.string_at(address, 16)).passed


def test_the_fence_lets_pointers_through_and_comes_down_again():
    def answer(t):
        storage = t.untyped_storage()
        return ctypes.string_at(ctypes.c_void_p(storage.data_ptr()), storage.nbytes())

    string_at = ctypes.string_at
    assert ex.raw_bytes.check(answer).passed
    assert ctypes.string_at is string_at


def test_a_delicate_case_waits_until_all_others_are_right():
    seen = []

    def answer(t):
        seen.append(t.numel())
        return b""

    ex.raw_bytes.check(answer)
    plain = [case for case in ex.raw_bytes.cases if not case.delicate]
    assert len(seen) == len(plain) == len(ex.raw_bytes.cases) - 1


# Reports, hints and solutions -----------------------------------------------------------------


class Tags(HTMLParser):
    """Checks that tags nest, and collects which there are."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def holds_no_address_and_is_well_formed(report):
    assert repr(report) == report.text
    assert not re.search(r"0x[0-9a-f]|\d{9}", report.text + report._repr_html_())
    assert max(map(len, report.text.splitlines())) <= 96
    tags = {"div", "span", "pre", "b", "code", "details", "summary"}
    assert Tags(report._repr_html_()).seen <= tags


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


def test_each_part_of_a_card_is_escaped():
    """The headline, the labels, the words between and outside of backticks, and code."""
    text = '<i>a</i> < b & `<u>c</u> < d` & "e"'
    shown = "&lt;i&gt;a&lt;/i&gt; &lt; b &amp; {} &amp; &quot;e&quot;"
    code = "&lt;u&gt;c&lt;/u&gt; &lt; d"
    prose, verbatim = shown.format(f"<code>{code}</code>"), shown.format(f"`{code}`")
    card = Card("note", text, (Row(text, text), Row(text, text, kind="lines"), Row("", text)))
    html = card._repr_html_()
    assert Card("note", "a < b")._repr_html_().count("a &lt; b") == 1
    assert f"<b>{prose}</b>" in html
    assert html.count(f">{prose}</span>") == 2 and html.count(f">{verbatim}</span>") == 2
    assert f">{verbatim}</pre>" in html
    assert "<i>" not in html and "<u>" not in html
    Tags(html)


@each_exercise
def test_hints_are_shown_up_to_the_one_that_is_asked_for(task):
    """From the first, all of them; the last points to the solution. No call opens another one."""
    total = len(task.hints)
    for k in range(1, total + 1):
        card = task.hint(k)
        which = "hint 1" if k == 1 else f"hints 1 to {k}"
        after = f"hint({k + 1})` goes on." if k < total else "solution()` shows one way."
        assert card == task.hint(k) and card.headline == f"{task.name}: {which} of {total}"
        assert [row.text for row in card.rows] == [*task.hints[:k], f"`ex.{task.name}.{after}"]
        assert task.hint() == task.hint(1)
        Tags(card._repr_html_())


@pytest.mark.parametrize("last", [0, -1, 4, "2", 1.0, True])
def test_a_hint_that_is_not_there_is_refused(last):
    said = "address has 3 hints" if last in (0, -1, 4) else "the last hint is"
    with pytest.raises(ValueError, match=said):
        ex.address.hint(last)


@each_exercise
def test_the_solution_is_the_source_of_the_tested_function(task):
    card = task.solution()
    shown = card.rows[0].text
    assert shown in inspect.getsource(task.reference) and shown.startswith(f"def {task.name}(")
    namespace = {"torch": torch, "ctypes": ctypes, "np": np, "shares_memory": shares_memory}
    namespace |= {"math": math, "Layout": Layout}
    namespace |= {other.name: other.reference for other in EXERCISES}  # solved before
    exec(shown, namespace)
    assert task.check(namespace[task.name]).passed
    Tags(card._repr_html_())


@each_exercise
def test_the_task_shows_itself(task):
    first_line = f"· {task.name}({', '.join(task.parameters)}): {task.title}"
    assert repr(task).startswith(first_line)
    assert task.__doc__ == task.reference.__doc__
    assert "\nreturn " in task.spec
    assert len(repr(task).splitlines()) <= 14
    assert max(map(len, task.spec.splitlines())) <= 94  # longer ones would be broken
    Tags(task._repr_html_())


def words(html):
    """The text of some HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


@each_exercise
def test_the_task_reads_as_prose(task):
    """Each name has a line of its own; what stands between backticks is code."""
    html = spec(task.spec)
    found = words(re.sub("</(code|span|div|pre)>", r"\g<0> ", html)).split()
    assert "".join(found) == "".join(task.spec.replace("`", "").split())
    names = re.findall(r"<code>([^<]*)</code><span>", html)
    assert ", ".join(names[:-1]).split(", ") == [*task.parameters] and names[-1] == "return"
    assert "`" not in html and ("<pre" in html) == (task.name == "by_columns")


@each_exercise
def test_solutions_are_in_the_colours_of_pythons_own_words(task):
    """As Python's tokenizer sees them; nothing is lost or added."""
    coloured = python(task.source)
    assert words(coloured) == task.source and coloured in task.solution()._repr_html_()
    found = re.findall(r"var\(--jp-([\w-]*), inherit\)\">(.*?)</span>", coloured, re.S)
    tokens = list(tokenize.generate_tokens(io.StringIO(task.source).readline))
    expected = [
        (COLOURS["def" if before.string == "def" else _kind(token)], token.string)
        for before, token in itertools.pairwise([tokens[-1], *tokens])
        if before.string == "def" or _kind(token) in COLOURS
    ]
    assert [(colour, unescape(text)) for colour, text in found] == expected


COLOURS = {kind: f"mirror-editor-{kind}-color" for kind in ("keyword", "def")}
COLOURS |= {tokenize.STRING: "mirror-editor-string-color", tokenize.COMMENT: "ui-font-color2"}
COLOURS |= {tokenize.NUMBER: "mirror-editor-number-color"}


def _kind(token):
    return "keyword" if keyword.iskeyword(token.string) else token.type


def test_code_of_every_kind_has_its_colours():
    source = "x = rb'a\\'#' + b\"{y}\" # if 'a'\nn2 = 0x1F + 1e3 - is_in"
    found = re.findall(r"--jp-(?:mirror-editor-)?([a-z]+)[^>]*>(.*?)</span>", python(source))
    assert [(kind, unescape(text)) for kind, text in found] == [
        *[("string", "rb'a\\'#'"), ("string", 'b"{y}"'), ("ui", "# if 'a'")],
        *[("number", "0x1F"), ("number", "1e3")],
    ]


def test_the_tab_key_offers_the_exercises_alone():
    assert dir(ex) == sorted(ex.__all__)


def declared(reference, cases=("n = 1", "n = 2", "n = 3", "n = 4", "n = 5"), **mistakes):
    """An exercise around a reference; the mistakes as `wrong`, `exact` and so on."""
    task = exercise(
        title="a number", read=read_number, cases=cases, hints=["Think."], otherwise="Otherwise.",
        takeaway="Done."
    )(reference)  # fmt: skip
    for kind, of_this_kind in mistakes.items():
        setattr(task, kind, of_this_kind)
    return task


def same(n):
    return n


NOUGHT = "0 if n < 5 else 5"


def nought(n):
    return 0 if n < 5 else 5


def test_a_combination_is_known_without_being_written():
    """It is told its first wrong piece, and only to those who answer like it in every case."""

    def area(n):
        """The border of a square, once."""
        side, count = n + 1, 4
        return side * count

    task = declared(
        area,
        slots={"n + 1": {"n": "Side.", "n - 1": "Short."}, "4": {"2": "Two.", "3": "Three."}},
        alone={"side * count": {"side + count": "Sum."}},
        wrong={"area(n) + 1": "One more.", "side(n)": "An error."},
        exact={"0": "Nothing."},
    )
    assert len(task.mistakes) == 8 and len(task.combinations) == 4
    hints = {task.check(answer).hint for answer in (lambda n: 2 * n, lambda n: 3 * n)}
    assert hints == {"Side."}
    assert task.check(lambda n: 3 * (n - 1)).hint == "Short."
    assert task.check(lambda n: 3 * n if n < 5 else 7).hint == "Otherwise."
    assert task.check(lambda n: 2 * n + 2).hint == "Two."
    assert task.check(lambda n: n + 5).hint == "Sum."
    assert task.check(lambda n: 4 * n + 5).hint == "One more."
    assert task.check(lambda n: side(n)).hint.startswith("Your function stops")  # noqa: F821


@pytest.mark.parametrize(("piece", "times"), [("border", 0), ("side", 2)])
def test_a_piece_that_is_not_in_the_body_once_is_refused(piece, times):
    def area(n):
        """The border of a square."""
        side = n + 1
        return side * 4

    task = declared(area, slots={piece: {"1": "One."}})
    with pytest.raises(ValueError, match=f"'{piece}' is in the solution {times} times, not once"):
        task.check(same)


def test_an_exact_mistake_is_told_only_to_those_who_make_it_everywhere():
    """Not to those who are right in a case where the mistake is wrong."""

    def mostly(n):
        return 0 if n < 4 else n

    exact = declared(same, exact={NOUGHT: "Nought."})
    assert declared(same, wrong={NOUGHT: "Nought."}).check(mostly).hint.endswith("answers. Nought.")
    assert exact.check(mostly).hint == "Otherwise." and exact.check(nought).hint == "Nought."


def test_a_condition_is_told_before_what_is_only_alike(monkeypatch):
    """And after what is the same everywhere; not where cases are left that were not tried."""
    task = declared(
        same, wrong={"0 if n > 3 else n": "Nought."}, only={"n > 2": "Large.", "n": "All."}
    )
    assert task.check(lambda n: 0 if n > 3 else n).hint == "Nought."
    assert task.check(lambda n: 0 if n > 3 else n + (n == 3)).hint == "Large."
    assert task.check(lambda n: n + 1).hint == "All."
    monkeypatch.setattr(core, "LEAST_SECONDS", 0.1)
    assert "had not come to its end" in task.check(lambda n: sum(1 for _ in iter(int, n))).hint


def test_an_explicit_none_has_been_attempted():
    def answer(shape, stride):
        return None

    report = contiguity.unviewable.check(answer)
    assert report.attempted and told("You answer None for every input", report.hint)


def test_of_two_mistakes_that_fit_alike_the_first_is_told():
    task = declared(same, wrong={NOUGHT: "First.", f"({NOUGHT})": "Second."})
    assert task.check(nought).hint == "First."


def test_an_error_beside_an_agreement_is_one_more():
    task = declared(same, wrong={"n * n if n != 2 else n / 0": "Square."})
    assert task.check(lambda n: n * n if n != 2 else n / 0).hint == "Square."


def test_an_input_is_described_with_its_itemsize():
    def one(n):
        return 1

    for dtype, said in (("uint8", "1 byte an element"), ("int16", "2 bytes an element")):
        cases = [f"n = torch.zeros(2, dtype=torch.{dtype})"]
        report = declared(one, cases).check(lambda n: 2)
        assert f"n: shape (2,), stride (1,), storage_offset 0, {said}\n" in report.text


def test_an_error_is_told_with_its_first_words_and_its_innermost_line():
    def answer(t, index):
        if index:
            return answer(t, ())
        raise ValueError("x" * 500 + "\nmore")

    yours = ex.address.check(answer).rows[2].text
    assert (
        yours
        == f"raised ValueError: {'x' * 160}\non the line: "
        + 'raise ValueError("x" * 500 + "\\nmore")'
    )


def test_a_helper_that_is_not_implemented_is_an_attempt():
    def helper():
        raise NotImplementedError

    report = ex.address.check(lambda t, index: helper())
    assert report.attempted and "raised NotImplementedError" in report.text


def test_outcomes_of_two_kinds_differ_as_a_whole():
    some, others = Outcome({"a": 1, "b": 2}, ""), Outcome({"c": 1, "d": 2}, "")
    assert (
        some.first_difference(others)
        == ""
        == Outcome({"a": 1}, "").first_difference(Outcome({"a": 2}, ""))
    )
    assert some.first_difference(Outcome({"a": 1, "b": 3}, "")) == "b"


def viewed(shape, stride, new_shape):
    try:
        return torch.empty_strided(shape, stride).view(new_shape).stride()
    except RuntimeError:
        return None


def sliced(shape, stride, offset, dim, start, stop, step):
    x = torch.empty(1000).as_strided(shape, stride, offset)
    part = x[(slice(None),) * dim + (slice(start, stop, step),)]
    return part.shape, part.stride(), part.storage_offset()


def permuted(shape, stride, dims):
    y = torch.zeros(1000).as_strided(shape, stride).permute(dims)
    return y.shape, y.stride()


def merged(shape, stride, d):
    return viewed(shape, stride, (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :])) is not None


def head(B, T, H, D, which, packing):
    sizes = [{"3": 3, "H": H, "D": D}[letter] for letter in packing]
    part = torch.zeros(B, T, *sizes).select(2 + packing.index("3"), "qkv".index(which))
    heads = part.transpose(1, 2)
    return heads.shape, heads.stride(), heads.storage_offset()


BY_TORCH = [
    (attention.head_layout, head),
    (ex.contiguous_stride, lambda shape: torch.empty(shape).stride()),
    (ex.slice_layout, sliced),
    (views.permute_layout, permuted),
    (contiguity.is_contiguous, lambda *layout: torch.empty_strided(*layout).is_contiguous()),
    (contiguity.mergeable, merged),
    (contiguity.view_stride, viewed),
    (contiguity.clone_stride, lambda *layout: torch.empty_strided(*layout).clone().stride()),
    (
        channels_last.channels_last_stride,
        lambda shape: torch.empty(shape, memory_format=torch.channels_last).stride(),
    ),
]


@pytest.mark.parametrize(("task", "answer"), BY_TORCH, ids=lambda it: getattr(it, "name", ""))
def test_who_hands_the_work_to_torch_is_told_to_do_it(task, answer):
    report = task.check(answer)
    assert (report.status, report.passed) == ("note", False)
    assert "but torch has worked it out" in report.text and "do without it" in report.hint
    assert (
        "calls  stride" in report.text
        or "calls  is_contiguous" in report.text
        or task.name == "mergeable"
    )


def test_a_tensor_of_numbers_is_no_tensor_of_the_shape():
    """Of one dim are the layouts of some cases, and whatever somebody calculates with."""

    def by_cumprod(shape, stride):
        ends = torch.tensor([1, *shape[:0:-1]]).cumprod(0).flip(0)[: len(shape)].tolist()
        dims = zip(shape, stride, ends, strict=True)
        return 0 in shape or all(n == 1 or s == m for n, s, m in dims)

    assert contiguity.is_contiguous.check(by_cumprod).passed


def test_uses_are_shown_with_a_few_digits():
    assert [read_uses(uses, {}).shown for uses in (2 / 3, 4, math.inf)] == ["0.666667", "4", "inf"]


def test_copies_are_logged_with_their_bytes_and_whatever_says_where_is_free():
    """Indices and masks, however they are made; a tensor without bytes is neither."""
    x, array = torch.arange(4), np.arange(4)
    with CopyLog(x) as log:
        x.t().view(2, 2).clone().add_(1)
        torch.empty(0).clone()
        torch.arange(4).flip(0).mul(3), torch.full_like(x, 2), torch.tensor([1, 2]), x.new_zeros(3)
        assert log.copies == [("clone", 32)]
        x[torch.tensor([0, 2])], x[torch.arange(4) > 1], x.index_select(0, torch.arange(1))
        assert log.copies[1:] == [("index", 16), ("index", 16), ("index_select", 8)]
        x[torch.from_numpy(array)] = 7
        new = torch.empty(4).copy_(x)
        assert log.copies[4:] == [("empty", 16)] and not log.is_outside(new)
        outside = torch.from_numpy(array) + x
    assert log.is_outside(outside) and log.is_outside(torch.arange(4))
    assert not log.is_outside(torch.empty(0)) and not log.is_outside(x[1:])


@pytest.mark.parametrize(
    ("status", "sign", "colour"),
    [
        ("passed", "✓", "success"),
        ("failed", "✗", "warn"),
        ("blank", "○", "border"),
        ("note", "·", "brand"),
    ],
)
def test_a_card_says_its_status_in_a_sign_and_a_colour(status, sign, colour):
    card = Card(status, "a")
    assert card.text == f"{sign} a" and f">{sign}</span> <b>" in card._repr_html_()
    assert f"var(--jp-{colour}-color1, #" in card._repr_html_()
    report = Report(status, "a")
    assert (report.passed, report.attempted) == (status == "passed", status != "blank")


def test_long_lines_are_broken_and_lines_of_code_indented():
    words = "word " * 40
    card = Card("note", "a", (Row("label", words), Row("", words, kind="lines")))
    lines = card.text.splitlines()
    assert max(map(len, lines)) <= 96 and len(lines) == 7
    assert lines[1].startswith("  label  word") and lines[2].startswith("         word")
    assert lines[4].startswith("         word") and lines[5].startswith("             word")
