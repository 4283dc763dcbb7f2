"""Predict without a browser: its questions, the answers that it takes, and those that it refuses."""

import ast
import math
import re

import numpy as np
import pytest
import torch

from stridekit import LayoutError
from stridekit.widgets import Predict
from stridekit.widgets.engine import Script
from tests.course.widget_kinds import make, rows

X = torch.arange(24).view(4, 6)
numbers = Script("page/numbers.js")


ALONE = "the question asks for no such thing; write the number alone"
BYTES = "How many bytes has the storage?"


def read(kind, text, question):
    """Return the answer in a text, or the refusal."""
    try:
        return numbers.readAnswer(kind, text, question)
    except LayoutError as error:
        return str(error)


TUPLES = [*rows("a tuple as it is typed"), (" ( 1 ,6, ) ", "[1, 6]")]
NUMBERS = [*rows("a number as it is typed"), (" 24 ", "24")]
TYPED = [("tuple", *row) for row in TUPLES] + [("number", *row) for row in NUMBERS]


@pytest.mark.parametrize(("kind", "text", "expected"), TYPED)
def test_what_is_typed_is_read_as_it_is_meant_or_refused(kind, text, expected):
    """From Python too, and as Python reads it; the refusal quotes the part that could not be read."""
    card = Predict(BYTES, (1,) if kind == "tuple" else 1)
    if expected.startswith("“"):
        with pytest.raises(ValueError, match=re.escape(f"I could not read {expected}.")):
            card.committed = text
        assert card.committed is None
        return
    value = ast.literal_eval(expected)
    assert read(kind, text, BYTES) == value
    card.committed = text
    assert card.committed == (tuple(value) if kind == "tuple" else value)
    try:
        python = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError):
        return
    if isinstance(python, (tuple, list)) == (kind == "tuple"):
        assert np.array_equal(value, python)


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("How many KiB has it?", "36 KiB", 36),
        ("In how many of 64 sets?", "4 sets", 4),
        ("How many times as long?", "1.5 times", 1.5),
        ("How many pages of 4 KiB?", "9 pages", 9),
    ],
)
def test_words_behind_a_number_are_those_of_the_question(question, text, value):
    assert read("number", text, question) == value


@pytest.mark.parametrize(
    ("question", "text", "refusal"),
    [
        ("Which element is it?", "9 bytes", ALONE),
        ("Which element is it?", "9 KiB", ALONE),
        (BYTES, "", "Write your answer first"),
        (BYTES, " ", "Write your answer first"),
        (BYTES, "1" * 201, "at most 200"),
    ],
)
def test_other_words_no_words_and_too_many_are_refused(question, text, refusal):
    assert refusal in read("number", text, question)


def test_commit_then_see():
    """Prediction, verdict and reason are shown; None asks again."""
    predict = make("Predict")
    assert predict.committed is None and predict.correct is None and not predict.shown
    remark = "  That is the stride of `x` itself."
    reveal = ["  `t()` swaps the two.", "  x.t().stride()", "  # (1, 6)"]
    for shown, lines in (
        (False, ["  ✗ not (6, 1): one more try", remark]),
        (True, ["  ✗ you said (6, 1), it is (1, 6)", remark, *reveal]),
    ):
        predict.committed = (6, 1)
        assert (predict.committed, predict.correct, predict.shown) == ((6, 1), False, shown)
        assert repr(predict).splitlines()[1:] == lines
    predict.committed = None
    assert predict.correct is None and "you said" not in repr(predict)


def test_the_output_is_the_answer_unless_it_is_given():
    """As Python prints it; without an experiment there is nothing to print."""
    for experiment, output, shown in (
        ("x.stride()", None, "(6, 1)"),
        ("print('six')", "six", "six"),
        ("print()", "", ""),
        ("", None, ""),
    ):
        card = Predict("?", X.stride(), experiment=experiment, output=output)
        assert card._problem["output"] == shown


@pytest.mark.parametrize(("output", "last_line"), [("six", "  # six"), ("", "  print()")])
def test_a_shown_card_ends_with_its_output_if_there_is_one(output, last_line):
    card = Predict("?", X.stride(), experiment="print()", output=output)
    card.show()
    assert repr(card).splitlines()[-1] == last_line


def test_a_skipped_question_has_no_prediction():
    predict = make("Predict")
    predict.show()
    assert predict.shown and predict.committed is None and predict.correct is None
    assert "· you skipped this one: it is (1, 6)" in repr(predict)
    predict.committed = (1, 6)
    predict.show()
    assert predict.correct is True


@pytest.mark.parametrize(
    ("answer", "kind", "guess"),
    [
        (True, "choice", False),
        (8, "number", 8.0),
        (8, "number", 9),
        (0.25, "number", 0.25),
        (np.int64(7), "number", 7),
        (torch.Size([2, 3]), "tuple", [2, 3]),
        ([1, 2], "tuple", (np.int64(1), 2)),
        ((), "tuple", (1,)),
    ],
)
def test_the_kind_follows_from_the_answer(answer, kind, guess):
    predict = Predict("?", answer)
    assert predict._problem["kind"] == kind
    predict.committed = guess
    assert predict.correct == np.array_equal(answer, guess)  # true for a list and a tuple, too
    assert np.array_equal(predict.committed, guess)


@pytest.mark.parametrize(
    ("answer", "guess", "is_right"),
    [
        (1, 1.0, True),
        (1, np.int8(1), True),
        (1, np.float32(1), True),
        (1, "1", True),
        (1, -1, False),
        (1, 1.5, False),
        (0, -0.0, True),
        (-0.0, 0, True),
        (0.1, np.float64(0.1), True),
        (0.1, np.float32(0.1), False),
        (2**53 - 1, 2**53 - 2, False),
        ((2, 3), [2, 3], True),
        ((2, 3), torch.Size([2, 3]), True),
        ((2, 3), (np.int64(2), 3.0), True),
        ((2, 3), (3, 2), False),
        ((2, 3), (2, 3, 1), False),
        ((2, 3), (2,), False),
        ((2, 3), (2, -3), False),
        ((), [], True),
        (True, False, False),
        (False, False, True),
    ],
)
def test_a_guess_is_right_if_its_value_is(answer, guess, is_right):
    card = Predict("?", answer)
    card.committed = guess
    assert card.correct is is_right and card.shown is is_right


NO_NUMBERS = [math.nan, math.inf, -math.inf, 1 + 0j, None, {1, 2}, {1: 2}, "1", b"1", 2**53]
NO_NUMBERS += [torch.tensor(1), torch.tensor([1]), np.array(1), np.array([1]), (1.5,), ((1,), 2)]
NO_NUMBERS += [(True, 1), (1, None), ("1",), (2**53,)]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_cannot_be_typed_needs_choices_and_is_no_guess(value):
    with pytest.raises(ValueError, match=r"give choices=|beyond 2"):
        Predict("?", value)
    if isinstance(value, (str, type(None))):  # a text is read as it is typed, and None asks again
        return
    for answer in (1, (1, 2)):
        card = Predict("?", answer)
        with pytest.raises(ValueError, match=r"give choices=|beyond 2"):
            card.committed = value
        assert card.committed is None and card.correct is None


@pytest.mark.parametrize(
    ("answer", "guess"),
    [(1, (1,)), (1, [1]), (1, ()), ((1,), 1), ((1,), 1.0), (1, True), ((1,), True)],
)
def test_a_guess_of_another_kind_is_refused(answer, guess):
    card = Predict("?", answer)
    with pytest.raises(ValueError, match=r"as the answer is|cannot be typed"):
        card.committed = guess
    assert card.committed is None


CHOICES = [
    [1, True],
    [0, False, "False alarm"],
    [math.nan, 1],
    [0.5, (0.5,)],
    [(1, 6), (6, 1), (1, 6, 1)],
    [torch.float32, torch.float64],
    [{1, 2}, {1}],
    [np.int8(3), "three"],
    ["a", "A"],
]


@pytest.mark.parametrize("choices", CHOICES)
def test_choices_are_told_apart_whatever_their_type(choices):
    for answer in choices:
        for guess in choices:
            card = Predict("?", answer, choices=choices)
            card.committed = guess
            assert card.correct is (guess is answer)


@pytest.mark.parametrize("pair", [[1, 1.0], [0, -0.0], [(1,), [1]], ["1", 1], [np.int8(3), 3]])
def test_choices_that_read_alike_are_refused(pair):
    with pytest.raises(ValueError, match="is there 2 times: give it once"):
        Predict("?", pair[0], choices=[*pair, "another"])


def test_nothing_gives_the_answer_away():
    """The text does not depend on which answer is right, or on the why."""
    choices = [(6, 1), (1, 6)]
    first = repr(Predict("?", (1, 6), choices=choices, why="because", experiment="x.stride()"))
    second = repr(Predict("?", (6, 1), choices=choices, why="", experiment="x.stride()"))
    assert first == second
    assert "(6, 1)" in first
