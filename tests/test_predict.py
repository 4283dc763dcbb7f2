"""Predict without a browser: its questions, the answers that it takes, and those that it refuses."""

import ast
import re

import numpy as np
import pytest
import torch

from stridekit.widgets import Predict
from tests.live_lines import answered

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


# What is typed, and what it is taken for, or why it cannot be read.
ALONE = "the question asks for no such thing; write the number alone"
NUMBER = "write it like 1024, 2.5 or 2 * 3 * 4"
COMMA = "a comma groups three digits, as in 1,024, and 2.5 has a point"
POWER = "a power is a whole number up to 2000"
LARGE = "a browser counts exactly up to 2**53 - 1"
INTS = "write whole numbers with commas between them"
TUPLES = {
    "(1, 6)": [1, 6], "1, 6": [1, 6], "[1,6]": [1, 6], "1 6": [1, 6], " ( 1 ,6, ) ": [1, 6],
    "torch.Size([4, 6])": [4, 6], "6": [6], "(6,)": [6], "()": [], "[]": [], "(-1, +2)": [-1, 2],
    "(0, -0)": [0, 0], "((1, 2))": [1, 2], "(5*8, 8)": [40, 8], "5*8": [40], "(1+2), (3)": [3, 3],
    "1 -6": [1, -6], "2**3, 24/4": [8, 6], "(1, x)": ("x", INTS), "1,,6": ("", INTS), "(1, 6": ("(1", INTS),
    "1.5, 2": ("1.5", INTS), ",": ("", INTS), "(1)(2)": ("", INTS), "9007199254740993": ("", LARGE),
    "(1; 6)": ("1; 6", INTS), "six": ("", INTS), "1 024, 5": ("1 024", INTS), "3/2": ("", INTS),
}  # fmt: skip
NUMBERS = {
    "24": 24, " 24 ": 24, "-3": -3, "2.5": 2.5, ".5": 0.5, "2.": 2, "1e3": 1000, "1E-3": 0.001,
    "1_024": 1024, "1,024": 1024, "12,582,912": 12_582_912, "1 024": 1024, "1,024.5": 1024.5,
    "-0": 0, "(24)": 24, "5*8*4": 160, "5 × 8 · 4": 160, "36 * 2**20 / 4096": 9216, "2^10": 1024,
    "-2**2": -4, "2**-1": 0.5, "2**3**2": 512, "10 - 2 - 3": 5, "2 - -3": 5, "7 − 2": 5, "(1 + 2) * 3": 9,
    "24 bytes": 24, "24 B": 24, "24b": 24, "1 byte": 1, "12 KiB": 12288, "36MiB": 36 * 2**20,
    "(1 + 2) KiB": 3072, "9 storage bytes": 9,
    "24 sheep": ("sheep", ALONE),
    "12 KB": ("KB", "it may count by 1,000 or by 1,024; write KiB or the number"),
    "1,5": ("", COMMA), "1,0245": ("", COMMA), "1,024,5": ("", COMMA),
    "0x18": ("", NUMBER), "5 * * 4": ("", NUMBER),
    "5 4": ("", NUMBER), "1.5.2": ("", NUMBER), "(24": ("", NUMBER),
    "Infinity": ("", NUMBER), "٣": ("", NUMBER),
    "1e400": ("", LARGE), "9007199254740993": ("", LARGE), "2**60 / 2**50": 1024,
    "10**400 - 10**400": ("", LARGE),
    "1/0": ("", "nothing can be divided by 0"), "2**.5": ("", POWER),
    "2**2001": ("", POWER), "0**-1": ("", POWER),
}  # fmt: skip
BYTES = "How many bytes has the storage?"


@pytest.mark.parametrize(("kind", "texts"), [("tuple", TUPLES), ("number", NUMBERS)])
def test_what_is_typed_is_read_as_it_is_meant_or_refused(kind, texts):
    """From Python too; the refusal names what could not be read."""
    for text, value in texts.items():
        card = Predict(BYTES, (1,) if kind == "tuple" else 1)
        if not isinstance(value, tuple):
            assert answered(kind, text, BYTES) == value, text
            card.committed = text
            assert card.committed == (tuple(value) if kind == "tuple" else value), text
            continue
        part, advice = value
        where = f"“{part}” in “{text}”" if part else f"“{text}”"
        with pytest.raises(ValueError, match=re.escape(f"I could not read {where}: {advice}.")):
            card.committed = text
        assert card.committed is None


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "Write your answer first"), (" ", "Write your"), ("1" * 201, "at most 200")],
)
def test_an_answer_has_a_length(text, said):
    assert said in answered("number", text, BYTES)


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("How many KiB has it?", "36 KiB", 36),
        ("In how many of 64 sets?", "4 sets", 4),
        ("How many times as long?", "1.5 times", 1.5),
        ("How many pages of 4 KiB?", "9 pages", 9),
        ("Which element is it?", "9 bytes", None),
        ("Which element is it?", "9 KiB", None),
    ],
)
def test_words_behind_a_number_are_the_questions(question, text, value):
    found = answered("number", text, question)
    assert found == value if value else ALONE in found


def test_what_is_python_is_read_as_python():
    """A tuple or a number that Python reads in a text is what the front end reads."""
    for text, value in (TUPLES | NUMBERS).items():
        try:
            python = ast.literal_eval(text.strip())
        except (SyntaxError, ValueError):
            continue
        if not isinstance(value, tuple) and isinstance(python, (tuple, list)) == isinstance(
            value, list
        ):
            assert value == (list(python) if isinstance(value, list) else python), text


def test_commit_then_see():
    """Prediction, verdict and reason are shown; None asks again."""
    predict = stride()
    assert predict.committed is None and predict.correct is None and not predict.shown
    for shown, line in (
        (False, "  ✗ not (6, 1): one more try"),
        (True, "  ✗ you said (6, 1), it is (1, 6)"),
    ):
        predict.committed = (6, 1)
        assert (predict.committed, predict.correct, predict.shown) == ((6, 1), False, shown)
        assert repr(predict).splitlines()[2:4] == [line, "  That is x's own stride."]
        assert ("swaps the two" in repr(predict)) == shown
    assert repr(predict).splitlines()[3:] == [
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
    """The text does not depend on which answer is right, or on the why."""
    shown = []
    for answer, why in (((1, 6), "because"), ((6, 1), "")):
        predict = Predict("?", answer, choices=[(6, 1), (1, 6)], why=why, experiment="x.stride()")
        shown.append(repr(predict))
    assert shown[0] == shown[1]
