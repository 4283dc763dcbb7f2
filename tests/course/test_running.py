"""The parts of a run: outcomes, what is printed, what may not change, errors, and blanks."""

import functools
import io
import linecache

import numpy as np
import pytest
import torch

from stridekit.exercises import running
from stridekit.exercises.readers.answers import read_number, read_stride
from stridekit.exercises.running import Case, Outcome, Shortened, Trial, Unusable, raised, snapshot

X = torch.arange(6)


def printed(*texts):
    """Return what arrives of texts that are written one after the other."""
    stream = io.StringIO()
    shortened = Shortened(stream)
    assert [shortened.write(text) for text in texts] == [*map(len, texts)]
    return stream.getvalue()


END = "\n… (the rest is not shown)\n"


def test_10_000_characters_are_shown_and_a_new_line_counts_as_a_hundred():
    assert printed("a" * 9_999) == "a" * 9_999
    assert printed("a" * 9_999, "b", "c") == "a" * 9_999 + "b" + END
    assert printed("a" * 10_000) == "a" * 10_000 + END
    assert printed("a" * 6_000, "b" * 6_000, "c") == "a" * 6_000 + "b" * 4_000 + END
    assert printed("a\n" * 99) == "a\n" * 99
    assert printed("\n" * 99, "b" * 99, "c") == "\n" * 99 + "b" * 99 + "c" + END


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.fill_(7),
        lambda x: x.unsqueeze_(0),
        lambda x: x.as_strided_((4,), (1,), 2),
        lambda x: x.as_strided_((4,), (2,), 1),
        lambda x: setattr(x, "data", x.data.view(torch.float64)),
        lambda x: x.untyped_storage().fill_(1),
        lambda x: torch.as_strided(x, (1,), (1,), 11).fill_(3),  # beside the tensor
    ],
)
def test_a_snapshot_of_a_tensor_has_its_layout_its_dtype_and_its_storage(change):
    x = torch.arange(12)[1:5]
    before = snapshot(x)
    assert snapshot(x) == before == snapshot(torch.arange(12)[1:5])
    change(x)
    assert snapshot(x) != before


def test_a_snapshot_of_other_inputs_has_their_values():
    array = np.arange(6.0)
    items = [3, 4]
    before = snapshot(array), snapshot(items)
    array[2] = 9
    items[1] = 5
    assert snapshot(array) != before[0] and snapshot(items) != before[1]
    turned = np.arange(6.0)[::-1]
    assert snapshot(turned) != snapshot(np.ascontiguousarray(turned))  # the same values
    assert snapshot(np.zeros(2)) != snapshot(np.zeros(2, int))
    assert snapshot("text") == "text" and snapshot(7) == 7 and snapshot((1, 2)) == (1, 2)
    assert before[1] == (3, 4)


def test_a_case_makes_its_inputs_afresh_and_only_those_that_are_named():
    case = Case("x = torch.zeros(3); other = np.ones(2); n = 4")
    first = case.arguments(("x", "n"))
    first["x"].fill_(1)
    again = case.arguments(("n", "x"))
    assert [*first] == ["x", "n"] and [*again] == ["n", "x"] and again["x"].sum() == 0


# Facts that agree, and facts that do not: a pair of answers to a task on one number.
ALIKE = [
    (6, 6.0),
    (6, torch.tensor(6)),
    (6, torch.tensor(6.0, dtype=torch.bfloat16)),
    (6, np.int16(6)),
    (6, np.array(6)),
    (6, 6 + 0j),
    (0.0, -0.0),
    (0.5, torch.tensor(0.5)),
    (float("inf"), np.float32("inf")),
    (2**70, 2**70),
]
DIFFERENT = [
    (6, 7),
    (6, 6.5),
    (6, 6 + 1j),
    (0.1, np.float32(0.1)),
    (2**53, 2**53 + 1),
    (float("nan"), float("nan")),  # no number equals it
    (float("inf"), -float("inf")),
    (6, [6]),
    (1, True),
    (0, torch.tensor(False)),
    (6, (6,)),
    (6, {6}),
    (6, "6"),
    (6, None),
    (6, torch.tensor([6])),
    (6, np.array([6])),
]


def agree(right, answer, reader=read_number):
    """Return whether a trial takes an answer for the right one."""
    trial = Trial(Case(""), running.read(reader, answer, {}), running.read(reader, right, {}))
    return trial.is_right


@pytest.mark.parametrize(("right", "answer"), ALIKE)
def test_numbers_of_other_types_are_the_same_number(right, answer):
    assert agree(right, answer)


@pytest.mark.parametrize(("right", "answer"), DIFFERENT)
def test_another_value_and_another_kind_are_not(right, answer):
    assert not agree(right, answer)


STRIDES = [
    ((6, 1), True),
    ([6, 1], True),
    (torch.Size((6, 1)), True),
    (torch.tensor([6, 1]), True),
    (np.array([6, 1]), True),
    ((np.int8(6), torch.tensor(1)), True),
    ((6.0, 1.0), True),
    (range(6, -4, -5), True),
    (iter([6, 1]), True),
    ({6: 0, 1: 0}.keys(), True),
    ((1, 6), False),
    ((6,), False),
    ((6, 1, 1), False),
    ((6, -1), False),
    ((6, True), False),
    ({6, 1}, False),
    ({6: 0, 1: 0}, False),
    (torch.tensor([[6, 1]]), False),
    ("61", False),
    (61, False),
    ((6, 1.5), False),
    ((6, None), False),
]


@pytest.mark.parametrize(("answer", "is_right"), STRIDES)
def test_a_stride_is_any_ordered_pair_of_whole_numbers(answer, is_right):
    assert agree((6, 1), answer, read_stride) == is_right


def test_a_tensor_that_is_read_has_at_most_100_000_items():
    def reader(answer, args):
        return Outcome({"size": len(answer)}, "")

    for make in (torch.zeros, np.zeros):
        assert running.read(reader, make(100_000), {}).facts == {"size": 100_000}
        assert "of 100,001, which is more" in running.read(reader, make(100_001), {}).shown
        assert running.read(reader, make((2, 50_000)), {}).facts == {"size": 2}
        assert "unusable" in running.read(reader, make((2, 50_001)), {}).facts
    huge = torch.zeros(1).expand(100_001)
    assert "unusable" in running.read(reader, huge, {}).facts
    assert running.read(reader, range(200_000), {}).facts == {"size": 200_000}


def test_a_tensor_behind_the_end_of_its_storage_is_not_read():
    shrunk = torch.ones(6)
    shrunk.untyped_storage().resize_(20)
    outcome = running.read(lambda answer, _: Outcome({"size": len(answer)}, ""), shrunk, {})
    assert outcome.shown.startswith("a tensor that reaches 4 bytes past the end of its storage")
    whole = running.read(lambda answer, _: Outcome({"size": len(answer)}, ""), shrunk[:5], {})
    assert whole.facts == {"size": 5}


def test_none_is_a_forgotten_return_only_where_the_reader_refuses_it():
    def refuse(answer, args):
        raise Unusable("nothing like that")

    assert running.read(refuse, None, {}).facts == {"returned": None}
    assert "Is a `return` missing?" in running.read(refuse, None, {}).hint
    for answer in (0, False, (), ""):
        outcome = running.read(refuse, answer, {})
        assert outcome.facts == {"unusable": "nothing like that"} == {"unusable": outcome.shown}
        assert "another kind of answer" in outcome.hint
    taken = running.read(lambda answer, _: Outcome({"answer": answer}, "None"), None, {})
    assert taken.facts == {"answer": None} and taken.hint == ""


def defined(body, **names):
    """Return the function with this body, whose source Python can find."""
    source = f"def answer(x):\n{body}\n"
    linecache.cache[source] = (len(source), None, source.splitlines(keepends=True), source)
    exec(compile(source, source, "exec"), names)
    return names["answer"]


def error_of(body, error_type=Exception, **names):
    """Return the outcome of a function that raises; "Elsewhere." is the hint for other places."""
    function = defined(body, **names)
    try:
        function(X)
    except error_type as error:
        return raised(function, error, "Elsewhere.")
    raise AssertionError("it raised nothing")


def helper(error):
    raise error


def test_an_error_has_its_type_its_message_and_the_line_of_the_answer():
    outcome = error_of("    y = x\n    return 1 // 0")
    assert outcome.facts == {"raised": "ZeroDivisionError"} and outcome.hint == running.STOPS
    assert outcome.shown.startswith("raised ZeroDivisionError: ")
    assert outcome.shown.endswith("\non the line: return 1 // 0")
    assert error_of("    raise KeyError").shown == "raised KeyError\non the line: raise KeyError"
    first_line = error_of("    return helper(ValueError('one\\ntwo'))", helper=helper).shown
    assert first_line == (
        "raised ValueError: one\non the line: return helper(ValueError('one\\ntwo'))"
    )
    again = "    return answer(x[1:]) if len(x) > 2 else x[5]"
    assert "on the line: return answer" in error_of(again).shown


def test_the_deepest_line_of_the_answer_is_shown():
    outcome = error_of("    if x is None:\n        raise KeyError\n    return answer(None)")
    assert outcome.shown == "raised KeyError\non the line: raise KeyError"


def test_an_error_outside_of_the_answer_has_no_line_and_another_hint():
    try:
        helper(ValueError("so"))
    except ValueError as error:
        outcome = raised(len, error, "Elsewhere.")
    assert (outcome.shown, outcome.hint) == ("raised ValueError: so", "Elsewhere.")


BLANK_ERRORS = [
    ("    raise NotImplementedError", True),
    ("    raise NotImplementedError('later')", True),
    ("    if True: raise NotImplementedError", True),
    ("    helper(NotImplementedError())", False),
    ("    raise error", False),  # a line that does not name it
    ("    raise NotImplementedErrors()", False),
    ("    return answer(x[1:]) if len(x) else helper(NotImplementedError())", False),
]


@pytest.mark.parametrize(("body", "is_blank"), BLANK_ERRORS)
def test_not_implemented_is_a_blank_if_the_answer_itself_raises_it(body, is_blank):
    class NotImplementedErrors(ValueError):
        pass

    names = {"helper": helper, "error": NotImplementedError()}
    outcome = error_of(body, NotImplementedErrors=NotImplementedErrors, **names)
    assert (outcome is running.NOT_ATTEMPTED) == is_blank


TOO_FAR = "    return x.as_strided((2, 9), (3, 1), {})"


def test_errors_agree_by_their_type_and_runtime_errors_by_their_first_word():
    assert error_of("    helper(ValueError('a b'))", helper=helper).facts == {
        "raised": "ValueError"
    }
    runtime = [
        error_of(f"    helper(RuntimeError('{message}'))", helper=helper).facts
        for message in ("einsum(): a", "einsum(): b", "view: a")
    ]
    assert runtime[0] == runtime[1] == {"raised": ("RuntimeError", "einsum():")} != runtime[2]
    far = [error_of(TOO_FAR.format(offset)) for offset in (2, 2, 3)]
    assert far[0].facts == far[1].facts != far[2].facts
    assert far[0].facts["raised"][2:] == ("sizes [2, 9], strides [3, 1], storage offset 2",)
    assert {outcome.hint for outcome in far} == {running._TOO_FAR}


def test_some_errors_have_a_hint_of_their_own():
    unpaired = error_of("    return x.as_strided((2, 2), (1,))")
    assert unpaired.hint == running._UNPAIRED
    unknown = running._NO_SUCH_NAME.format("nn")
    assert error_of("    return nn.ReLU()(x)").hint == unknown
    assert error_of("    return y\n    y = x").hint == running.STOPS  # a name without a value yet
    assert error_of("    raise NameError").hint == running.STOPS
    assert error_of("    return x.view(7)").hint == running.STOPS
    hinted = ValueError("no")
    hinted.hint = "Stay inside."
    assert error_of("    helper(error)", helper=helper, error=hinted).hint == "Stay inside."
    late = error_of("    helper(error)", BaseException, helper=helper, error=running.TimeIsUp("9"))
    assert late.facts == {"stopped": "9"} and late.shown.startswith("no answer after 9 s: stopped")
    assert "after 9 s" in late.hint


BODIES = [
    ("    ...", True),
    ("    pass", True),
    ("    'words'", True),
    ("    return", True),
    ("    'words'\n    pass\n    return", True),
    ("    7", True),
    ("    return None", False),
    ("    return 7", False),
    ("    'words'\n    return x", False),
    ("    pass\n    x.fill_(1)", False),
    ("    x", False),
    ("    y = ...", False),
]


@pytest.mark.parametrize(("body", "is_blank"), BODIES)
def test_a_blank_does_nothing(body, is_blank):
    assert running.is_blank(defined(body)) == is_blank


def test_a_blank_behind_a_decorator_is_a_blank():
    for body in ("    ...", "    y = ..."):
        function = defined(body)
        behind = functools.wraps(function)(lambda x, function=function: print(x) or function(x))
        assert running.is_blank(behind) == (body == "    ...")


def test_a_function_whose_source_is_lost_is_no_blank():
    for function in (len, eval("lambda x: None"), 7):
        assert not running.is_blank(function) and running.source_of(function) == ""


def test_the_first_difference_is_the_first_fact_that_differs():
    right = Outcome({"a": 1, "b": 2, "c": 3}, "")
    for facts, name in {(1, 2, 3): "", (1, 5, 6): "b", (0, 5, 6): "a", (1, 2, 4): "c"}.items():
        outcome = Outcome(dict(zip("abc", facts, strict=True)), "")
        assert right.first_difference(outcome) == outcome.first_difference(right) == name
    assert right.first_difference(Outcome({"a": 0, "b": 2}, "")) == ""
    assert Outcome({"a": 1}, "").first_difference(Outcome({"a": 2}, "")) == ""
