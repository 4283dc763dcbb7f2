"""Predict without a browser: its questions, the answers that it takes, and those that it refuses."""

import ast

import numpy as np
import pytest
import torch

from stridekit.widgets import Predict
from tests.needs import needs_node
from tests.pipe import ask

X = torch.arange(24).view(4, 6)


def stride():
    """A question with choices, a remark and an experiment, its answer computed by torch."""
    return Predict(
        "What is the stride of `x.t()`?",
        X.t().stride(),
        choices=[(6, 1), (1, 6), (1, 4)],
        why="`t()` swaps the two.",
        experiment="x.t().stride()",
        remarks={(6, 1): "That is x's own stride."},
    )


# What is typed, and what it is taken for; None where it cannot be read.
TUPLES = {
    "(1, 6)": [1, 6], "1, 6": [1, 6], "[1,6]": [1, 6], "1 6": [1, 6], " ( 1 ,6, ) ": [1, 6],
    "torch.Size([4, 6])": [4, 6], "6": [6], "(6,)": [6], "()": [], "[]": [], "(-1, +2)": [-1, 2],
    "(0, -0)": [0, 0], "": None, "  ": None, "(1, x)": None, "1,,6": None, "(1, 6": None,
    "1.5, 2": None, ",": None, "(1)(2)": None, "9007199254740993": None, "(1; 6)": None,
}  # fmt: skip
NUMBERS = {
    "24": 24, " 24 ": 24, "-3": -3, "2.5": 2.5, ".5": 0.5, "2.": 2, "1e3": 1000, "1_024": 1024,
    "-0": 0, "": None, "1,024": None, "24 bytes": None, "0x18": None, "1e400": None, "(24)": None,
    "Infinity": None, "9007199254740993": None,
}  # fmt: skip


@needs_node
@pytest.mark.parametrize(("kind", "texts"), [("tuple", TUPLES), ("number", NUMBERS)])
def test_what_is_typed_is_read_as_it_is_meant_or_refused(kind, texts):
    for text, value in texts.items():
        read = ask("predict/words/readAnswer", kind, text)
        assert read.get("value") == value and ("why" in read) == (value is None), text


@needs_node
@pytest.mark.parametrize(
    ("kind", "text", "where"),
    [
        ("tuple", "(1, x)", "“x” in “(1, x)”"),
        ("tuple", "six", "“six”"),
        ("tuple", "1,,6", "“1,,6”"),
        ("number", "24 bytes", "“24 bytes” as one number"),
    ],
)
def test_a_refusal_names_what_it_could_not_read(kind, text, where):
    hows = {
        "tuple": "write whole numbers with commas between them",
        "number": "write it like 1024 or 2.5",
    }
    why = ask("predict/words/readAnswer", kind, text)["why"]
    assert why == f"I could not read {where}: {hows[kind]}."
    assert ask("predict/words/readAnswer", kind, " ")["why"].startswith("Write your answer first")


def test_what_is_python_is_read_as_python():
    """A tuple or a number that Python reads in a text is what the front end reads."""
    for text, value in (TUPLES | NUMBERS).items():
        try:
            python = ast.literal_eval(text.strip())
        except (SyntaxError, ValueError):
            continue
        if value is not None and isinstance(python, (tuple, list)) == isinstance(value, list):
            assert value == (list(python) if isinstance(value, list) else python), text


def test_commit_then_see():
    """Prediction, verdict and reason are shown; None asks again."""
    predict = stride()
    assert predict.committed is None and predict.correct is None and not predict.shown
    predict.committed = (6, 1)
    assert predict.committed == (6, 1) and predict.correct is False and predict.shown
    assert repr(predict).splitlines()[2:] == [
        "  ✗ you said (6, 1), it is (1, 6)",
        "  That is x's own stride.",
        "  `t()` swaps the two.",
        "  x.t().stride()",
        "  # (1, 6)",
    ]
    predict.committed = None
    assert predict.correct is None and "you said" not in repr(predict)


def test_the_output_is_the_answer_unless_it_is_given():
    """As Python prints it; without an experiment there is nothing to print."""
    for arguments, output in [
        ({"experiment": "x.stride()"}, "(6, 1)"),
        ({"experiment": "print('six')", "output": "six"}, "six"),
        ({"experiment": "print()", "output": ""}, ""),
        ({}, ""),
    ]:
        assert Predict("?", X.stride(), **arguments)._problem["output"] == output


def test_a_skipped_question_has_no_prediction():
    """It shows the answer and says that it was skipped."""
    predict = stride()
    predict.show()
    assert predict.shown and predict.committed is None and predict.correct is None
    assert "· you skipped this one: it is (1, 6)" in repr(predict)
    predict.committed = (1, 6)
    predict.show()
    assert predict.correct is True


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
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
def test_the_kind_follows_from_the_answer(answer, kind, said):
    predict = Predict("?", answer)
    assert predict._problem["kind"] == kind
    predict.committed = said
    same = np.array_equal(answer, said)  # a list and a tuple of the same numbers, too
    assert predict.correct == same and np.array_equal(predict.committed, said)


def test_nothing_gives_the_answer_away():
    """Neither the text nor the picture depends on which answer is right, or on the why."""
    shown = []
    for answer, why in (((1, 6), "because"), ((6, 1), "")):
        predict = Predict("?", answer, choices=[(6, 1), (1, 6)], why=why, experiment="x.stride()")
        data, _ = predict._repr_mimebundle_()
        shown.append((data["text/plain"], data["image/png"]))
    assert shown[0] == shown[1]
    predict.committed = (6, 1)
    assert predict._repr_mimebundle_()[0]["image/png"] == shown[0][1]
