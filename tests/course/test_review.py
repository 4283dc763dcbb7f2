"""A review asks what was wrong or seen long ago, from the record alone, some of it with new numbers."""

import ast
import builtins
import copy
import json
import re
from datetime import date
from pathlib import Path
from random import Random

import pytest
import torch

import stridekit
from stridekit import Predict
from stridekit.exercises import given, new_numbers, recall, review
from stridekit.exercises.progress import _lesson
from stridekit.widgets import kept

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TODAY = date(2026, 11, 29)
FIXED = [
    question for question in recall.cards() if new_numbers.problem(question, Random(0)) is None
]
LATER = [f'{{"day": "2026-11-{day}"}}' for day in range(10, 30)]


@pytest.fixture
def record(tmp_path, monkeypatch):
    """The record of a kernel in a folder of its own."""
    path = tmp_path / "my_answers" / "record.jsonl"
    monkeypatch.setattr(kept, "path", lambda: path)
    monkeypatch.setattr(kept, "_kernel", kept._Kernel())
    monkeypatch.setattr(kept, "today", lambda: TODAY)
    path.parent.mkdir()
    return path


def noted(question, is_right, kind="card"):
    return json.dumps({kind: question, "right": is_right})


def write(record, *lines):
    record.write_text("".join(f"{line}\n" for line in lines))


def asked(count=10):
    return [card.question for card in review(count)._asked]


def answer(card, is_right):
    """Send what a page sends: the right answer, or another one and then the right one."""
    problem = card._problem
    first = None
    if not is_right:
        others = {"choice": [0, 1], "number": [-1], "tuple": [[-1]]}[problem["kind"]]
        first = next(other for other in others if other != problem["answer"])
        card.set_state({"_state": {"first": first, "said": None, "shown": False}})
    card.set_state({"_state": {"first": first, "said": problem["answer"], "shown": True}})


def test_wrong_and_skipped_cards_come_first_and_then_those_seen_longest_ago(record):
    wrong, skipped, undated, old, older, of_today = FIXED[:6]
    write(
        record,
        noted(undated, True),
        '{"day": "2026-10-20"}',
        noted(older, True),
        noted(wrong, False),
        '{"day": "2026-11-01"}',
        noted(old, True),
        '{"day": "2026-11-29"}',
        noted(of_today, True),
        noted(skipped, None),
    )
    assert asked() == [wrong, skipped, undated, older, old]
    assert asked(2) == [wrong, skipped]


def test_the_last_answer_decides(record):
    once_wrong, once_right, other = FIXED[:3]
    write(
        record,
        noted(once_wrong, False),
        noted(once_right, True),
        noted(other, False),
        '{"day": "2026-11-28"}',
        noted(once_wrong, True, "review"),
        noted(once_right, False, "review"),
    )
    assert asked() == [other, once_right, once_wrong]


def test_ten_of_many(record):
    write(record, *(noted(question, False) for question in FIXED[:12]))
    assert asked() == FIXED[:10]


def test_an_empty_record_says_what_to_do(record):
    for text in (
        "",
        '{"passed": "strides_row"}\n',
        '{"card": "Of another version?", "right": false}\n',
    ):
        record.write_text(text)
        assert repr(review()) == (
            "· nothing to review yet\n"
            "  Answer some cards in a lesson first, then call `review()` again."
        )


def test_cards_that_were_right_today_wait(record):
    write(record, '{"day": "2026-11-29"}', *(noted(question, True) for question in FIXED[:3]))
    assert repr(review()).splitlines()[0] == (
        "✓ nothing to review today: your last answers were all right"
    )


def test_a_broken_record_is_read_as_far_as_it_goes_or_says_what_is_in_the_way(record):
    write(record, "{broken", noted(FIXED[0], False), '{"review": 1}', '{"day": "never"}', "[]")
    assert asked() == [FIXED[0]]
    record.write_bytes(b"\xff\xfe")
    assert repr(review()).startswith("· your record cannot be read: record.jsonl is not text")


def test_answers_are_noted_once_and_the_summary_says_what_to_read_again(record):
    questions = FIXED[:3]
    write(record, *(noted(question, False) for question in questions))
    before = len(kept.record())
    round_ = review()
    assert round_.summary.text == "· 0 of 3 answered, 0 right at once"
    answer(round_.cards[0], True)
    answer(round_.cards[1], False)
    place = recall.cards()[questions[1]].place
    assert round_.summary.text == f"· 2 of 3 answered, 1 right at once\n  read again  {place}"
    assert repr(round_).splitlines()[0] == recall.cards()[questions[0]].place
    assert place in round_._summary.value.replace("&#x27;", "'")
    round_.cards[1].committed = None  # try again
    answer(round_.cards[1], True)
    round_.cards[2].set_state({"_state": {"first": None, "said": None, "shown": True}})
    assert kept.record()[before:] == [
        {"review": questions[0], "right": True},
        {"review": questions[1], "right": False},
        {"review": questions[2], "right": False},
    ]
    assert asked() == questions[1:]


def test_all_right_at_once_praises(record):
    write(record, noted(FIXED[0], False))
    round_ = review()
    answer(round_.cards[0], True)
    assert round_.summary.text.startswith("✓ 1 of 1 answered, 1 right at once")


@pytest.mark.parametrize("count", [0, 51, 2.5, "ten"])
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises((ValueError, TypeError)):
        review(count)


@pytest.mark.parametrize("start", new_numbers.beginnings())
def test_a_card_has_new_numbers_and_one_right_answer(start, record):
    """Each set of numbers makes a card; the same random numbers make the same card."""
    (question,) = [question for question in recall.cards() if question.startswith(start)]
    problems = [new_numbers.problem(question, Random(seed)) for seed in range(100)]
    assert len({problem["question"] for problem in problems}) > 10
    assert len({json.dumps(problem["answer"]) for problem in problems}) > 1
    assert problems[7] == new_numbers.problem(question, Random(7))
    write(record, noted(question, False))
    round_ = review(random=Random(7))
    assert round_.cards[0]._problem["question"] == problems[7]["question"] != question
    answer(round_.cards[0], True)
    assert kept.record()[-1] == {
        "review": question,
        "right": True,
    }  # the card as it is in its lesson


def test_ten_cards_and_more_have_new_numbers():
    assert len(new_numbers.beginnings()) >= 10
    assert new_numbers.problem("Something else?", Random(0)) is None


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_stored_cards_are_those_of_the_notebook(path):
    """If not, a cell was edited or run without `make refresh`, which stores both."""
    stored = json.loads((ROOT / "stridekit/exercises/cards.json").read_text("utf-8"))[path.stem]
    offer = _lesson(path)
    assert stored["title"] == offer.title
    cells = json.loads(path.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in outputs]
    alone = tuple(f"Predict: {question}" for question in given.LESSON_ALONE)
    shown = [text for text in texts if text.startswith("Predict: ") and not text.startswith(alone)]
    assert shown == [repr(Predict.again("?", problem)) for _, problem in stored["cards"]]
    sections = []
    for section in offer.sections:
        asked = [card for card in section.cards if not card.startswith(given.LESSON_ALONE)]
        sections += [section.heading] * len(asked)
    assert [section for section, _ in stored["cards"]] == sections


def test_a_stored_card_is_asked_as_it_is_in_its_lesson(record):
    for card in recall.cards().values():
        again = Predict.again(card.question, card.problem)
        again.set_state({"_state": {"first": None, "said": card.problem["answer"], "shown": True}})
        assert again.correct and again.first_was_right
        assert repr(again).startswith(f"Predict: {card.question}")
        assert re.search("it is", repr(again))


def snippets(text):
    """Return the code between the backticks of a text."""
    return re.findall("`([^`]+)`", text)


def undefined(problem):
    """Return the names in a card's code that nothing on the card defines or describes."""
    used = set()
    known = {"torch", "F", "copy", "file", "arange", *dir(builtins)}
    texts = snippets(problem["question"])
    for text in [*texts, *(choice for choice in problem["choices"] if "(" in choice)]:
        try:
            tree = ast.parse(text)
        except SyntaxError:  # words, or an address such as `..., k = 2`
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                known.add(node.id)
            elif isinstance(node, ast.Name):
                used.add(node.id)
    described = (
        r"`?(\w+)(?:\[0\])?`?(?: and `?(\w+)`?)? (?:each )?(?:has|have|is|are|was|touches)\b"
    )
    for names in re.findall(described, problem["question"]):
        known.update(names)
    functions = {name for name in used if len(name) > 1 and hasattr(torch.Tensor, name)}
    return used - known - functions


# Cards whose words describe these names.
IN_WORDS = {
    "`z` begins at element 8.": {"z"},
    "`signal` has 12 numbers and `kernel` 5.": {"kernel"},
    "`x.t()` has shape (6, 4) and stride (1, 6).": {"x"},
    "In `last`, C is innermost": {"last"},
    "How many bytes does `t.permute(0, 2, 3, 1)": {"t"},
    "u and v have 1,048,576 floats each.": {"sums"},
    "`left * right.transpose(p, q)`": {"p", "q"},
    "`merged(sdpa(rotated, k, v))`": {"turned", "rotated"},
    "Over all steps, how many times the bytes": {"cat"},
    "How many of the two `contiguous()` calls in `Norm`": {"Norm"},
    "x is channels-last. What is the stride of `Shuffle()(x)`": {"Shuffle"},
    "If stores allocate, how many times": {"out", "x"},
    "Does `x.flip(0)` share memory": {"x"},
    "The last stride is 1. Which of these": {"row_sums", "tricky_layouts", "x"},
    "x is contiguous, of shape (2, 3). `times_stride": {"turn"},
    "What does the clock read right after": {"queue"},
    "A processor does 120 GFLOP/s": {"x", "y"},
    "Say the ridge is at 10.": {"x", "a", "b"},
    "By the bytes, how many times faster": {"x", "y"},
}


@pytest.mark.parametrize("question", recall.cards())
def test_a_review_defines_all_names_of_a_card(question):
    in_words = [names for start, names in IN_WORDS.items() if question.startswith(start)]
    assert undefined(recall.cards()[question].again(Random(0))) == set().union(*in_words)


# Expressions that compute the answer of a card from the setting that a review gives.
COMPUTED = {
    "`t` has shape (2, 3, 4, 1).": "t.stride(-1)",
    "What is the stride of `x[:, :1]`": "x[:, :1].stride()",
    "`y += 100` was run.": "y.numel()",
    "`even = ten[::2]`, `odd = ten[1::2]`": "stridekit.shares_memory(even, odd)",
    "After `grid[0, 0] = -1`": "int(by_slice[0, 0]), int(by_range[0, 0])",
    "`column = x[:, 2]` has stride (6,).": (
        "sum(not stridekit.shares_memory(flat, column) for flat in (column.reshape(-1), "
        "column.flatten(), column.contiguous(), column.ravel()))"
    ),
    "`big` has been deleted.": "first_rows[0].untyped_storage().nbytes()",
    "Which of these keeps 4,000 bytes alive": "'row.clone()' * (row.nbytes == 4000)",
    "`d = six.detach()`": "d._is_view()",
    "`family` has ten, even, odd": (
        "sum(stridekit.shares_memory(even, t) for t in (ten, odd, ten[3:3], ten[3:], copy))"
    ),
    "A review of lesson 02: `x[:, ::2]`": "x[:, ::2].numel() * x.itemsize",
    "What is the shape of `last = x.to(": "tuple(last.shape)",
    "`skip` has the shape of `y`": (
        "'contiguous_format, like `skip`' * (y.contiguous() + y).is_contiguous()"
    ),
    "Both flags of `mask` are True.": (
        "'torch.cat([y, mask.to(memory_format=NHWC)], 1)' * "
        "torch.cat([y, mask.to(memory_format=NHWC)], 1).is_contiguous(memory_format=NHWC)"
    ),
    "`loss(leaf)` flattens `leaf`.": (
        "'in contiguous_format' * torch.autograd.grad(loss(leaf), leaf)[0].is_contiguous()"
    ),
    "How many bytes does `t.permute(0, 2, 3, 1)": (
        "0 * stridekit.is_view(y.permute(0, 2, 3, 1).reshape(-1, 4), y)"
    ),
    "k has shape (B, H, T, D) = (2, 3, 5, 4).": "k.stride()",
    "q is a view with strides (180, 4, 36, 1).": "sdpa(q, k, v).stride()",
    "`full` has 150 elements of one byte.": "len(stridekit.memset(full))",
    "After `pool[table][0] = 7`": "int(pool.sum())",
    "`few` has 320 bytes.": "few[:, :, None].expand(B, 2, 4, T, D).reshape(B, 8, T, D).nbytes",
    "Is `features.view(B, H, T, D)` equal": (
        "'no' if features.view(B, H, T, D).ne(features.view(B, T, H, D).transpose(1, 2)).any() "
        "else 'yes'"
    ),
    "`all_states` has shape (1000, 32)": "deep.untyped_storage().nbytes()",
    "x is channels-last. What is the stride of `Shuffle()(x)`": (
        "torch.empty(8, 32, 56, 56).to(memory_format=torch.channels_last)"
        ".view(8, 2, 16, 56, 56).transpose(1, 2).reshape(8, 32, 56, 56).stride()"
    ),
}


@pytest.mark.parametrize("start", COMPUTED)
def test_a_card_is_right_in_the_setting_that_a_review_gives(start):
    found = [card for card in recall.cards().values() if card.question.startswith(start)]
    if start.startswith("`all_states`") and not found:
        pytest.skip("the hunt has no lesson yet")
    problem = found[0].again(Random(0))
    names = {"torch": torch, "stridekit": stridekit, "F": torch.nn.functional, "copy": copy}
    if start.startswith("`all_states`"):
        names["all_states"] = torch.zeros(1000, 32)
    for code in snippets(problem["question"]):
        if re.match(r"[\w, \[\]]+ = |\w+ \+= ", code):
            exec(code, names)
    answer = eval(COMPUTED[start], names)
    right = problem["answer"]
    if problem["kind"] == "choice":
        assert problem["choices"][right] == str(answer)
    else:
        assert right == (list(answer) if isinstance(answer, tuple) else answer)


def test_a_card_about_a_measurement_in_its_lesson_is_not_asked(record):
    measured = [start for start in given.LESSON_ALONE if start.startswith("The cell above")]
    assert len(measured) == 1
    write(record, noted(measured[0], False))
    assert repr(review()).startswith("· nothing to review yet")
    write(record, noted(measured[0], False), noted(FIXED[0], False))
    assert asked() == [FIXED[0]]
