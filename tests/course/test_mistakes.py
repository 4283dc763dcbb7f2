"""Which mistake is recognised: each threshold from both sides, and the source that proves a mistake."""

import pytest

from stridekit.exercises.mistakes import Formula, Mistake, best_match, changes, hint_for, row_major
from stridekit.exercises.running import Case, Outcome, Trial

FACTS = {"E": {"raised": "ValueError"}, "T": {"value": True}, "F": {"value": False}}


def facts_of(answers):
    """Return the facts of each answer: digits are numbers, T and F are bools, and E is an error."""
    return [FACTS[answer] if answer in FACTS else {"value": int(answer)} for answer in answers]


def chosen(expected, learner, *mistakes):
    """Return the position of the mistake that matches the learner best; None if none fits."""
    answers = zip(facts_of(learner), facts_of(expected), strict=True)
    trials = [Trial(Case(""), Outcome(mine, ""), Outcome(right, "")) for mine, right in answers]
    known = [Mistake(int, str(k)) for k in range(len(mistakes))]
    best = best_match(zip(known, map(facts_of, mistakes), strict=True), trials)
    return None if best is None else int(best.hint)


# The right answers are 0 or T. Learners who are wrong answer 1 or F, and 2 is another wrong answer.
FITTING = [
    # Three quarters of the wrong answers, and all of one or two.
    ("00000000", "11111111", "11111122"),
    ("000000", "111000", "112000"),
    ("00000000", "11000000", "11000000"),
    ("00000000", "10000000", "10000000"),
    ("0" * 20, "1" * 8 + "0" * 12, "1" * 6 + "0" * 14),
    # Three quarters of all answers.
    ("00000000", "11110000", "11112200"),
    # As many shared wrong answers as there are right ones on wrong cases of the mistake.
    ("000000000000", "110000000000", "112200000000"),
    # Of two possible answers, four fifths.
    ("T" * 10, "F" * 10, "F" * 8 + "TT"),
    ("T" * 10, "F" * 8 + "TT", "F" * 9 + "T"),
    # A number among the right answers, or 1 for True: more than two answers are possible.
    ("0TTTT", "1FFFF", "1FFFT"),
    ("11111", "00000", "00002"),
    # The same error on the first wrong case: two shared ones are enough.
    ("0" * 10, "EE11110000", "EE22222200"),
    ("0000", "1EE0", "1EE0"),
]
APART = [
    ("00000000", "11111111", "11111222"),
    ("000000", "111000", "122000"),
    ("00000000", "11000000", "12000000"),
    ("00000000", "10000000", "20000000"),
    ("0" * 20, "1" * 8 + "0" * 12, "1" * 5 + "0" * 15),
    ("T" * 20, "F" * 8 + "T" * 12, "F" * 5 + "T" * 15),
    ("00000000", "11110000", "11112220"),
    ("000000000000", "110000000000", "112220000000"),
    ("T" * 10, "F" * 10, "F" * 7 + "TTT"),
    ("TTTTT", "FFFFF", "FFFTT"),
    ("T" * 10, "F" * 7 + "TTT", "F" * 9 + "T"),
    # Another answer on the first wrong case, which is the one that the learner sees.
    ("00000000", "11111111", "21111111"),
    ("00000000", "01111111", "02111111"),
    # Too few shared errors, more wrong answers of the mistake, or another answer first.
    ("0" * 10, "E111110000", "E222220000"),
    ("0" * 10, "EE11110000", "EE22222220"),
    ("0" * 10, "1EE1110000", "2EE2220000"),
    # Errors alone are chance.
    ("0000", "EEEE", "EEEE"),
]


@pytest.mark.parametrize(("expected", "learner", "mistake"), FITTING)
def test_a_mistake_fits_that_matches_enough(expected, learner, mistake):
    assert chosen(expected, learner, mistake) == 0


@pytest.mark.parametrize(("expected", "learner", "mistake"), APART)
def test_a_mistake_does_not_fit_that_matches_one_answer_less(expected, learner, mistake):
    assert chosen(expected, learner, mistake) is None


def test_the_best_match_counts_and_of_equals_the_first():
    right, learner = "00000000", "11111111"
    assert chosen(right, learner, "11111122", "11111112", "11111113") == 1
    assert chosen(right, learner, "11111122", "21111111", "11111113") == 2
    assert chosen(right, learner) is None


PROVEN = "def answer(n):\n    return border( n )+2\n"
HINTS = [  # a hint, the piece that proves it, and the hint that a learner with this source gets
    ("You add two.", "border(n) + 2", "You add two."),
    ("You add two.", "border(n) + 3", "It looks as if you add two."),
    ("You add two.", "", "It looks as if you add two."),
    ("Your side is short.", "n - 1", "Your side is short."),
    ("Add You two.", "n - 1", "Add You two."),
    ("You and You.", "n - 1", "It looks as if you and You."),
]


@pytest.mark.parametrize(("hint", "piece", "shown"), HINTS)
def test_a_hint_says_you_only_if_the_source_proves_it(monkeypatch, hint, piece, shown):
    monkeypatch.setattr("stridekit.exercises.mistakes.source_of", lambda fn: PROVEN)
    assert hint_for(Mistake(int, hint, piece=piece), int) == shown


def area(width, height):
    """The docstring is no part of the body: width * height."""
    base = width
    return base * height


def plain(width):
    return width + 1


FORMULA = Formula(area)
SOURCES = [  # a source, and its answer for (3, 5)
    ("width - height", -2),
    ("area(width, 2)", 6),
    ("float(torch.tensor(width)) + np.add(height, 1)", 9.0),
    ("base * height => base + height", 8),
    ("base = width => base = height && base * height => base - height", 0),
    ("= width => = height && * height => * width", 15),
]


@pytest.mark.parametrize(("source", "value"), SOURCES)
def test_a_source_is_an_expression_or_the_changed_solution(source, value):
    answer = FORMULA.answering(source)
    assert answer(3, 5) == answer(height=5, width=3) == value
    assert answer.__name__ == answer.__qualname__ == source


def test_a_solution_without_a_docstring_begins_with_its_first_line():
    def nested(n):
        return n + 1

    for solution in (plain, nested):
        assert Formula(solution).body.strip() in ("return width + 1", "return n + 1")
        assert Formula(solution).answering("+ 1 => + 3")(4) == 7


def test_a_piece_has_to_be_in_the_solution_once():
    for piece, times in {"depth": 0, "base": 2, "width * height": 0}.items():
        with pytest.raises(ValueError, match=f"is in the solution {times} times, not once"):
            FORMULA.answering(f"{piece} => 1")


def test_the_piece_that_proves_a_mistake_is_the_wrong_one():
    both = "= width => = height && base * height => base - height"
    rows = [("width + 1", False, "width + 1"), ("= width => = 1", False, "= 1")]
    rows += [(both, False, "base - height"), ("= width => = 1", True, "= 1")]
    rows += [("width", True, "width")]
    for source, exact, piece in rows:
        mistake = FORMULA.mistake(source, "A hint.", exact=exact)
        assert (mistake.hint, mistake.exact, mistake.piece) == ("A hint.", exact, piece)
        assert mistake.answer.__name__ == source
    assert not FORMULA.mistake("width", "A hint.").exact and not Mistake(int, "A hint.").exact


def test_a_combination_makes_all_of_its_mistakes():
    side = FORMULA.mistake("= width => = height", "Side.")
    sign = FORMULA.mistake("base * height => base - height", "Sign.")
    combination = FORMULA.combination([side, sign])
    assert combination.parts == (side, sign) and combination.answer(3, 5) == 0
    names = "= width => = height && base * height => base - height"
    assert combination.answer.__name__ == names


def test_changes_and_the_usual_stride():
    assert changes("d", {"ab": "One.", ("b", "c"): "Two."}) == [
        ("d => ab", "One."),
        ("d => b", "Two."),
        ("d => c", "Two."),
    ]
    assert [row_major(shape) for shape in ((), (4,), (2, 3, 5))] == [(), (1,), (15, 5, 1)]
