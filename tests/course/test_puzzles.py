"""The puzzles of notebook 11: right answers pass, wrong ones get a true hint and a picture."""

import inspect
import itertools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from stridekit.exercises import core, puzzles
from stridekit.exercises.core import Exercise
from stridekit.exercises.mistakes import sources_with_hints
from stridekit.exercises.puzzles.drawn import ONLY_THE_PICTURE, STRIDED, Drawable
from stridekit.exercises.puzzles.picture import Picture, beside, tint
from stridekit.lessons.notebook import parse
from stridekit.widgets.palette import PAPER, ROWS
from tests.course.puzzle_answers import RIGHT, WRONG
from tests.course.test_variants import is_refused
from tests.course.variants import variants

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "11_puzzles.ipynb"
PUZZLES = [getattr(puzzles, name) for name in puzzles.__all__]
BY_STRIDED = [puzzle for puzzle in PUZZLES if puzzle.rule is STRIDED]
each_puzzle = pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Keep a busy machine from stopping an answer."""
    monkeypatch.setattr(core, "SECONDS", 600)


def report_on(puzzle, expression):
    """Return the report on an expression of the parameters."""
    return puzzle.check(puzzle.formula.answering(expression))


def has(words, hint):
    """Return whether a hint has these words; what no source proves is what an answer looks like."""
    return words.lower() in hint.replace("It looks as if you", "You").lower()


# Answers ------------------------------------------------------------------------------------------


@each_puzzle
def test_right_answers_pass_and_the_report_has_the_cost_of_others(puzzle):
    for expression in (puzzle.reference_expression, *RIGHT[puzzle.name]):
        report = report_on(puzzle, expression)
        assert report.passed, (expression, report.text)
        assert puzzle.takeaway in " ".join(report.text.split())
        costs = next(row.text for row in report.rows if "new bytes" in row.text).splitlines()
        answers = [line.strip().split("  ")[1] for line in costs]
        assert answers == ["answer", "yours", puzzle.reference_expression, *puzzle.others]


@each_puzzle
def test_wrong_answers_are_refused_with_a_true_hint(puzzle):
    for expression, words in WRONG[puzzle.name].items():
        report = report_on(puzzle, expression)
        assert report.status == "failed", expression
        assert has(words, report.hint), (expression, report.hint)
        assert max(map(len, report.text.splitlines())) <= 96, report.text
        assert "<b>wanted</b>" in report.more and "<b>yours</b>" in report.more


@each_puzzle
def test_each_puzzle_has_three_right_answers_and_five_wrong_ones(puzzle):
    assert len({*RIGHT[puzzle.name]} - {puzzle.reference_expression}) >= 3
    assert len(WRONG[puzzle.name]) >= 5
    assert len({*WRONG[puzzle.name].values()}) >= 4


@each_puzzle
def test_each_mistake_gets_its_hint_and_none_copies_alone(puzzle):
    """What fills too many bytes is explained by its own operations, not by those of a mistake."""
    right = [puzzle._run_known(puzzle.reference, case).facts for case in puzzle.cases]
    for source, hint in sources_with_hints(puzzle.wrong):
        report = report_on(puzzle, source)
        assert report.status == "failed" and has(hint, report.hint), (source, report.hint)
        answer = puzzle.formula.answering(source)
        differs = []
        for case, expected in zip(puzzle.cases, right, strict=True):
            facts = puzzle._run(answer, case).facts
            differs += [name for name in facts if facts[name] != expected.get(name)]
        assert {*differs} != {"new bytes"}, source


@each_puzzle
def test_other_answers_have_the_right_numbers_and_one_of_them_costs_more(puzzle):
    """Where as_strided alone is asked for, others show views by other operations as well."""
    costs = set()
    for expression in puzzle.others:
        for case in puzzle.cases:
            outcome = puzzle._run(puzzle.formula.answering(expression), case)
            expected = puzzle._run_known(puzzle.reference, case)
            difference = expected.first_difference(outcome)
            assert isinstance(outcome, Drawable) and difference in ("", "new bytes"), expression
        report = report_on(puzzle, expression)
        costs.add(report.status)
    assert "failed" in costs and costs - {"failed"} == {
        "note" if puzzle in BY_STRIDED else "passed"
    }


@pytest.mark.parametrize("puzzle", BY_STRIDED, ids=lambda puzzle: puzzle.name)
def test_a_view_by_another_operation_is_right_and_a_note(puzzle):
    expression = next(other for other in puzzle.others if report_on(puzzle, other).attempted)
    report = report_on(puzzle, expression)
    assert report.status == "note" and "not by as_strided alone" in report.headline
    assert "<b>wanted</b>" in report.more


@each_puzzle
def test_no_constant_is_right_and_no_foreign_answer_passes(puzzle):
    """Not even the right answer to one of the cases, nor what is right for the picture alone."""
    right = [puzzle._run_known(puzzle.reference, case) for case in puzzle.cases]
    constants = [
        puzzle.reference(*case.arguments(puzzle.parameters).values()) for case in puzzle.cases
    ]
    foreign = [7, "x", None, torch.eye(3).to_sparse(), torch.empty(2, device="meta"), np.ones(3)]
    for answer in (*constants, *foreign):
        outcomes = [puzzle._run(lambda *_, answer=answer: answer, case) for case in puzzle.cases]
        assert [o.facts for o in outcomes] != [r.facts for r in right]


# The same in other words: dims in another order, the last dim as -1, another of the equal rows.
EQUIVALENT = {
    "heads": ["x.view(len(x), n, -1).transpose(1, 0)"],
    "tiles": ["x.view(len(x) // 2, 2, x.size(1) // 2, 2).transpose(2, 1)"],
    "half_turn": ["x.flip(1, 0)"],
    "merged_heads": ["x.transpose(1, 0).reshape(x.size(1), -1)"],
    "channels_last": ["x.clone(memory_format=torch.channels_last)"],
    "doubled": ["(2 * x[1]).expand_as(x)", "(2 * x[-1]).expand_as(x)"],
    "moving_sums": ["x.unfold(-1, 3, 1).sum(1)"],
    "histories": ["F.pad(x, (n - 1, 0)).unfold(-1, n, 1)"],
    "circulant": ["torch.cat((x, x[:-1])).unfold(-1, len(x), 1)"],
}


@each_puzzle
def test_every_variant_of_a_solution_is_refused_or_does_the_same(puzzle):
    passing = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in variants(Exercise.source.func(puzzle)):
            if not is_refused(puzzle, text):
                passing.append(text.partition("return ")[2])
    assert passing == EQUIVALENT.get(puzzle.name, [])


def test_an_answer_that_fits_the_picture_alone_is_told_so_on_another_input():
    report = report_on(puzzles.diagonal, "x.as_strided((4,), (5,))")
    assert report.hint == ONLY_THE_PICTURE and "x = torch.arange(9).view(3, 3)" in report.text


def test_numbers_that_no_operation_took_from_x_are_new_memory():
    """The picture counts its numbers, so that arange makes them; a view fills nothing."""
    report = report_on(puzzles.turned, "torch.arange(6).view(2, 3).T")
    assert "fills 48 bytes of new memory, and a view fills none" in report.hint
    report = report_on(puzzles.second_rows, "torch.arange(x.numel()).view(x.shape)[::2]")
    assert report.status == "failed" and "fills 96 bytes of new memory" in report.hint
    report = report_on(puzzles.second_rows, "torch.tensor(x.tolist())[::2]")
    assert "memory that no operation of torch made" in report.hint


def test_an_input_that_was_changed_in_place_is_noticed():
    assert "changes `x`" in report_on(puzzles.turned, "x.t_()").hint


# Pictures -----------------------------------------------------------------------------------------


@each_puzzle
def test_the_task_shows_the_wanted_tensor_before_any_code(puzzle):
    blank = puzzle.check(lambda *_: ...)
    assert blank.status == "blank" and not blank.attempted
    for panel in (blank, puzzle._task()):
        assert puzzle.sentence in " ".join(panel.text.split())
        assert puzzle.rule.words.split(":")[0] in panel.text
        assert "<b>wanted</b>" in panel._repr_html_() and "<b>yours</b>" not in panel.more
        assert len(panel.text.splitlines()) <= 40
    (wanted,) = (row.text for row in blank.rows if row.label == "wanted")
    expected = puzzle._run_known(puzzle.reference, puzzle.cases[0]).facts
    numbers = re.findall(r"-?\d+", wanted.partition("\n")[2])
    assert [*map(int, numbers)] == torch.tensor(expected["values"]).flatten().tolist()
    assert "stride" not in wanted or puzzle is puzzles.channels_last  # it is often the answer


@each_puzzle
def test_each_value_of_a_picture_has_one_colour(puzzle):
    case = puzzle.cases[0]
    x = next(iter(case.arguments(puzzle.parameters).values()))
    tints = puzzle._tints_of(case)
    assert len(tints) == (0 if puzzle.tints is None else x.numel())


def test_a_wrong_number_has_a_frame_and_a_sign():
    report = report_on(puzzles.turned, "x.reshape(3, 2)")
    assert report.more.count("✗") == report.more.count("3px solid") == 4
    assert " 0 ✗1" in report.text and "✗4  5" in report.text


def test_an_answer_of_another_shape_is_drawn_without_signs():
    report = report_on(puzzles.turned, "x.flatten()")
    assert "✗" not in report.more and "shape (6,)" in report.more
    assert report.hint == "Your result has shape (6,), and (3, 2) is wanted."


def test_an_error_stands_in_place_of_the_picture():
    report = report_on(puzzles.turned, "x.T.view(-1)")
    assert "raised RuntimeError: view size is not compatible" in report.more
    assert "no longer what it was" in report_on(puzzles.turned, "x.t_()").more


def test_new_memory_has_a_dashed_border():
    assert "dashed" not in report_on(puzzles.turned, "x.T").more
    assert report_on(puzzles.turned, "x.T.clone()").more.count("dashed") == 6


SHAPES = [(), (1,), (3,), (2, 3), (2, 3, 2), (2, 2, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_picture_has_each_number_once_in_reading_order(shape):
    numbers = torch.arange(int(torch.Size(shape).numel())).view(shape)
    picture = Picture("x", "", shape, numbers.tolist(), wanted=numbers.tolist())
    cells = re.findall(r"<td[^>]*>(\d+)</td>", picture.html)
    assert (
        [*map(int, cells)] == [*map(int, " ".join(picture.lines).split())] == [*range(len(cells))]
    )
    assert len(cells) == numbers.numel() and "✗" not in picture.html
    matrices = int(torch.Size(shape[:-2]).numel())
    assert picture.html.count("<table") == matrices
    assert picture.lines.count("") == matrices - 1


@pytest.mark.parametrize("shape", [(0,), (2, 0), (65,), (1, 1, 1, 1, 1)], ids=str)
def test_a_tensor_without_numbers_or_with_too_many_is_not_drawn(shape):
    picture = Picture("x", "so", shape, torch.zeros(shape).tolist())
    assert picture.lines == [] and "<td" not in picture.html and "so" in picture.html


def test_a_text_in_a_picture_is_escaped():
    picture = Picture("<x>", "a < b", (1,), ["<i>"])
    assert "&lt;x&gt;" in picture.html and "a &lt; b" in picture.html
    assert "&lt;i&gt;" in beside([picture, picture])


def test_an_error_and_its_line_stand_below_each_other_in_a_picture():
    picture = Picture("yours", "raised <Error>\non the line: x.view(7)", (0,), [])
    assert "raised &lt;Error&gt;<br>on the line: x.view(7)" in picture.html


def channels(colour):
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_tint_over_a_page_is_nearly_that_of_the_palette(number):
    """No host has to know whether a page is dark."""
    *rgb, alpha = map(float, re.findall(r"[\d.]+", tint(number)))
    assert tint(number + len(ROWS)) == tint(number)
    for paper, wanted in zip(PAPER, ROWS[number], strict=True):
        over = [c * alpha + p * (1 - alpha) for c, p in zip(rgb, channels(paper), strict=True)]
        assert max(abs(a - b) for a, b in zip(over, channels(wanted), strict=True)) < 32


# The notebook -------------------------------------------------------------------------------------


def test_each_puzzle_has_a_cell_with_its_sentence_in_the_order_of_the_package():
    cells = [
        cell
        for cell in parse(NOTEBOOK.read_text("utf-8")).cells
        if "exercise" in cell.metadata.get("tags", [])
    ]
    for number, (cell, puzzle) in enumerate(itertools.zip_longest(cells, PUZZLES), start=1):
        *comment, call = cell.source.splitlines()
        sentence = " ".join(line.removeprefix("# ") for line in comment)
        assert sentence == f"{number}. {puzzle.sentence}"
        parameters = ", ".join(inspect.signature(puzzle.reference).parameters)
        assert call == f"ex.{puzzle.name}.check(lambda {parameters}: ...)"


def test_the_puzzles_grow_harder_by_levels_and_the_first_is_a_first_try():
    rules = [puzzle.rule for puzzle in PUZZLES]
    levels = [rules[k : k + 6] for k in range(0, 30, 6)]
    assert len(PUZZLES) == 30 and [len({*map(id, level)}) for level in levels] == [1] * 5
    for level in range(5):
        dots = [puzzle._mark.count("●") for puzzle in PUZZLES[6 * level : 6 * level + 6]]
        assert dots[0] == min(dots) and dots[-1] == max(dots)
    assert puzzles.turned._mark.count("●") == 1 and len(puzzles.turned.reference_expression) == 3
