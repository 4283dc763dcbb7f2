"""The bugs of notebook 10: every honest repair passes, and a repair that hides the symptom never passes."""

import ctypes
import inspect
import linecache
import re
from functools import partial
from pathlib import Path
from symtable import symtable

import pytest
import torch

from stridekit.exercises import bug_hunt, core
from stridekit.exercises.bug_hunt import photos, programs
from stridekit.exercises.bug_hunt.hunting import Near, is_same_program, one_thread
from stridekit.exercises.mistakes import Formula
from stridekit.exercises.running import Trial
from stridekit.lessons.notebook import parse
from tests.course.bug_repairs import RIGHT, WRONG

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "10_bug_hunt.ipynb"
BUGS = [getattr(bug_hunt, name) for name in bug_hunt.__all__]
each_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Keep a busy machine from stopping a program, and programs from waiting for threads."""
    monkeypatch.setattr(core, "SECONDS", 600)
    with one_thread():
        yield


def rows(repairs):
    """Return a case for each repair, with the name of its bug."""
    pairs = [(name, source) for name in repairs for source in repairs[name]]
    return [pytest.param(getattr(bug_hunt, name), source, id=name) for name, source in pairs]


def repaired(bug, source):
    """Return the faulty program after the changes of a source: "piece => other piece"."""
    return Formula(bug.faulty).answering(source)


def as_cell(source, namespace):
    """Run a source as a cell of a notebook does, so that inspect finds it."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), namespace)


# Repairs ----------------------------------------------------------------------------------------


@each_bug
def test_the_solution_passes_and_the_report_has_the_rule_and_the_test(bug):
    report = bug.check(bug.reference)
    assert report.passed
    labels = [row.label for row in report.rows]
    assert labels[:2] == ["rule", "test to keep"] and report.rows[0].text == bug.takeaway
    assert report.rows[1].text == bug.test
    assert [row.text for row in bug.solution().rows] == [bug.source, bug.takeaway, bug.test]


@pytest.mark.parametrize(("bug", "source"), rows(RIGHT))
def test_an_honest_repair_passes(bug, source):
    report = bug.check(repaired(bug, source))
    assert report.passed, report.text


@pytest.mark.parametrize(("bug", "source"), rows(WRONG))
def test_a_repair_that_hides_the_symptom_is_refused_with_what_is_still_wrong(bug, source):
    report = bug.check(repaired(bug, source))
    assert report.status == "failed", report.text
    words = WRONG[bug.name][source]
    assert words in report.hint, report.hint
    assert re.search(r"\d", report.hint), report.hint
    assert max(map(len, report.text.splitlines())) <= 96


@each_bug
def test_each_bug_has_three_honest_repairs_and_five_wrong_ones(bug):
    assert len(RIGHT[bug.name]) >= 3 and len(WRONG[bug.name]) >= 5


def test_a_read_of_freed_memory_is_stopped_under_any_name_of_the_function():
    source = inspect.getsource(programs.pack).replace(
        "ctypes.string_at(part.", "read(copy_of(part)."
    )
    names = {"torch": torch, "read": ctypes.string_at, "copy_of": torch.Tensor.contiguous}
    as_cell(source, names)
    without_memory = torch.empty(2**58, device="meta")  # it seems to hold all addresses
    report = bug_hunt.pack.check(names["pack"])
    assert (
        without_memory.is_meta
        and "stopped a read of memory that belongs to no tensor" in report.text
    )
    assert names["read"] is ctypes.string_at
    assert bug_hunt.pack.check(partial(bug_hunt.pack.reference)).passed  # it has no namespace


# The program as it was reported -------------------------------------------------------------------


@each_bug
def test_the_program_as_reported_is_no_attempt_and_its_answers_are_wrong(bug):
    report = bug.check(bug.faulty)
    assert report.text.startswith(f"○ {bug.name}: not attempted yet") and not report.attempted
    outcomes = [bug._run(bug.faulty, case) for case in bug.cases]
    right = [bug._run_known(bug.reference, case) for case in bug.cases]
    trials = [*map(Trial, bug.cases, outcomes, right)]
    assert not all(trial.is_right for trial in trials)
    assert not any("raised" in outcome.facts for outcome in outcomes)  # a program that runs
    hint = bug._report_failure(bug.faulty, trials).hint
    assert re.search(r"\d", hint) and hint != bug.otherwise


@each_bug
def test_a_comment_or_a_space_is_no_repair_and_another_line_is(bug):
    source = inspect.getsource(bug.faulty)
    first_line, rest = source.split("\n", 1)
    names = dict(vars(programs))
    as_cell(f"# looked at\n{first_line}  # here\n\n{rest}", names)
    assert is_same_program(names[bug.name], bug.faulty)
    as_cell(f"{source}    ...\n", names)
    assert not is_same_program(names[bug.name], bug.faulty)
    assert bug.check(names[bug.name]).status == "failed"


@each_bug
def test_the_test_to_keep_fails_before_the_repair_and_passes_after_it(bug):
    names = dict(vars(programs))
    exec(bug.test, names)
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    with pytest.raises(AssertionError):
        test()
    names[bug.name] = bug.reference
    test()


# The notebook -------------------------------------------------------------------------------------


@each_bug
def test_a_cell_of_the_notebook_has_the_program_and_all_names_that_it_needs(bug):
    """The check comes after the symptom, and a solution can be pasted into the cell."""
    cells = parse(NOTEBOOK.read_text("utf-8")).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    sources = [cell.source for cell in code]
    place = sources.index(inspect.getsource(bug.faulty).strip())
    assert code[place].metadata.tags == ["program"]
    assert bug.name in sources[place + 1] and "check(" not in sources[place + 1]
    assert sources[place + 2] == f"ex.{bug.name}.check({bug.name})"
    assert code[place + 2].metadata.tags == ["exercise"]
    module = symtable("\n".join(sources[:place]), str(NOTEBOOK), "exec")
    defined = {symbol.get_name() for symbol in module.get_symbols()}
    test_names = {*compile(bug.test, "test", "exec").co_consts[0].co_names} & {*vars(programs)}
    assert inspect.getclosurevars(bug.reference).globals.keys() | test_names <= defined | {bug.name}


def test_the_notebook_meets_the_bugs_in_the_order_of_the_package():
    text = NOTEBOOK.read_text("utf-8")
    assert re.findall(r'"ex\.(\w+)\.check\(', text) == bug_hunt.__all__


# What a learner reads -----------------------------------------------------------------------------


@each_bug
def test_the_hints_are_three_and_give_no_line_away(bug):
    """The first names a tool, and no hint has a line of the solution that the program lacks."""
    assert len(bug.hints) == 3
    before = Formula(bug.faulty).body.splitlines()
    new_lines = {*Formula(bug.reference).body.splitlines()} - {*before}
    assert not any(line.strip() in hint for line in new_lines for hint in bug.hints)
    assert "\nreturn " in bug.spec and len(repr(bug).splitlines()) <= 14


@each_bug
def test_the_solution_differs_from_the_program_in_few_lines(bug):
    """A reader who looks at the solution sees one repair, not another program."""
    before = Formula(bug.faulty).body.splitlines()
    after = Formula(bug.reference).body.splitlines()
    assert 1 <= len({*after} - {*before}) <= 2 and len({*before} - {*after}) <= 3


def test_numbers_are_near_if_rounding_alone_parts_them():
    assert Near([1.0, 200.0]) == Near([1.0005, 200.1])
    assert Near([1.0]) != Near([1.01]) and Near([1.0]) != Near([1.0, 1.0]) and Near(1.0) != 1.0
    assert Near([float("nan")]) == Near([float("nan")])


def test_a_check_computes_in_one_thread_and_gives_the_others_back():
    seen = []

    def program(photo):
        seen.append(torch.get_num_threads())
        return bug_hunt.prepare.reference(photo)

    torch.set_num_threads(2)
    assert bug_hunt.prepare.check(program).passed
    assert {*seen} == {1} and torch.get_num_threads() == 2


def test_a_batch_that_is_shown_is_its_photo_and_beyond_the_ends_of_a_level_black_and_white():
    photo = photos.sunset(4, 6)
    batch = (torch.from_numpy(photo).permute(2, 0, 1) / 255 - photos.MEAN) / photos.SPREAD
    assert (photos.rgb_of(batch[None]) == photo).all()
    assert (photos.rgb_of(batch[None] + 9) == 255).all()
    assert (photos.rgb_of(batch[None] - 9) == 0).all()
