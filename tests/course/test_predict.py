"""Predict without a browser: its questions, the answers that it takes, and those that it refuses."""

import ast
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


def answered(kind, text, question):
    """What is read, or the refusal."""
    try:
        return numbers.readAnswer(kind, text, question)
    except LayoutError as error:
        return str(error)


TYPED = [
    (kind, text, said)
    for kind, extra in (("tuple", (" ( 1 ,6, ) ", "[1, 6]")), ("number", (" 24 ", "24")))
    for text, said in [*rows(f"a {kind} as it is typed"), extra]
]


@pytest.mark.parametrize(("kind", "text", "said"), TYPED)
def test_what_is_typed_is_read_as_it_is_meant_or_refused(kind, text, said):
    """From Python too, and as Python reads it; the refusal names what could not be read."""
    card = Predict(BYTES, (1,) if kind == "tuple" else 1)
    if said.startswith("“"):
        with pytest.raises(ValueError, match=re.escape(f"I could not read {said}.")):
            card.committed = text
        assert card.committed is None
        return
    value = ast.literal_eval(said)
    assert answered(kind, text, BYTES) == value
    card.committed = text
    assert card.committed == (tuple(value) if kind == "tuple" else value)
    try:
        python = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError):
        return
    if isinstance(python, (tuple, list)) == (kind == "tuple"):
        assert np.array_equal(value, python)


@pytest.mark.parametrize(("question", "text", "value"), [
    ("How many KiB has it?", "36 KiB", 36),
    ("In how many of 64 sets?", "4 sets", 4),
    ("How many times as long?", "1.5 times", 1.5),
    ("How many pages of 4 KiB?", "9 pages", 9),
    ("Which element is it?", "9 bytes", ALONE),
    ("Which element is it?", "9 KiB", ALONE),
    (BYTES, "", "Write your answer first"),
    (BYTES, " ", "Write your answer first"),
    (BYTES, "1" * 201, "at most 200"),
])  # fmt: skip
def test_words_behind_a_number_are_the_questions(question, text, value):
    read = answered("number", text, question)
    assert value in read if isinstance(value, str) else read == value


def test_commit_then_see():
    """Prediction, verdict and reason are shown; None asks again."""
    predict = make("Predict")
    assert predict.committed is None and predict.correct is None and not predict.shown
    remark, why = "  That is the stride of `x` itself.", "  `t()` swaps the two."
    code = ["  x.t().stride()", "  # (1, 6)"]
    for shown, lines in (
        (False, ["  ✗ not (6, 1): one more try", remark]),
        (True, ["  ✗ you said (6, 1), it is (1, 6)", remark, why, *code]),
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
        made = Predict("?", X.stride(), experiment=experiment, output=output)
        assert made._problem["output"] == shown


def test_a_skipped_question_has_no_prediction():
    predict = make("Predict")
    predict.show()
    assert predict.shown and predict.committed is None and predict.correct is None
    assert "· you skipped this one: it is (1, 6)" in repr(predict)
    predict.committed = (1, 6)
    predict.show()
    assert predict.correct is True


@pytest.mark.parametrize(("answer", "kind", "said"), [
    (True, "choice", False),
    (8, "number", 8.0),
    (8, "number", 9),
    (0.25, "number", 0.25),
    (np.int64(7), "number", 7),
    (torch.Size([2, 3]), "tuple", [2, 3]),
    ([1, 2], "tuple", (np.int64(1), 2)),
    ((), "tuple", (1,)),
])  # fmt: skip
def test_the_kind_follows_from_the_answer(answer, kind, said):
    predict = Predict("?", answer)
    assert predict._problem["kind"] == kind
    predict.committed = said
    same = np.array_equal(answer, said)  # a list and a tuple of the same numbers, too
    assert predict.correct == same and np.array_equal(predict.committed, said)


def test_nothing_gives_the_answer_away():
    """The text does not depend on which answer is right, or on the why."""
    shown = []
    for answer, why in (((1, 6), "because"), ((6, 1), "")):
        predict = Predict("?", answer, choices=[(6, 1), (1, 6)], why=why, experiment="x.stride()")
        shown.append(repr(predict))
    assert shown[0] == shown[1] and "(6, 1)" in shown[0]
