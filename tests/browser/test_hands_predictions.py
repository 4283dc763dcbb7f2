"""Predict under a hand, on a plain page: focus, marks, complaints, and no empty boxes."""

import pytest

from stridekit.widgets import Predict
from tests.browser.pages import button, each, focused, labelled, prevented, text, texts
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]


def stride():
    return Predict("What is the stride of `x.t()`?", (1, 6), choices=[(6, 1), (1, 6), "none"],
                   why="`t()` swaps", experiment="x.t().stride()", remarks={"none": "`t`"})  # fmt: skip


def said(w):
    return text(w, ".sk-answer"), w.locator(".sk-answer").get_attribute("data-sign")


def test_a_complaint_goes_with_the_next_try(show):
    """A choice or a letter clears it."""
    choice, line = show(stride(), Predict("How many bytes?", 48)).all()
    button(choice, "Commit").click()
    assert said(choice) == ("Choose one first: a guess is enough.", None)
    choice.get_by_label("(6, 1)").check()
    assert said(choice) == ("", None)
    field = labelled(line, "your prediction")
    for typed, complaint in [
        ("", "Write your answer first: a guess is enough."),
        ("x", "I could not read “x”: write it like 1024, 2.5 or 2 * 3 * 4."),
    ]:
        field.fill(typed)
        button(line, "Commit").click()
        assert said(line) == (complaint, None) and focused(line) == "your prediction"
        assert field.get_attribute("aria-invalid") == "true" and field.input_value() == typed
        field.press_sequentially("4")
        assert said(line) == ("", None) and field.get_attribute("aria-invalid") is None


def commit(w, pick):
    w.locator(".sk-option input").nth(pick).check()
    button(w, "Commit").click()


@pytest.mark.parametrize(
    ("picks", "sentence", "marks", "remark"),
    [
        ((1,), "✓ you said (1, 6), and so it is", ["", "✓ you said", ""], ""),
        ((0, 1), "✓ you said (1, 6), and so it is", ["✗ not this", "✓ you said", ""], ""),
        ((2, 0), "✗ you said (6, 1), it is (1, 6)", ["✗ you said", "✓ it is", "✗ not this"], ""),
        ((0, 2), "✗ you said “none”, it is (1, 6)", ["✗ not this", "✓ it is", "✗ you said"], "t"),
        ((), "· you skipped this one: it is (1, 6)", ["", "✓ it is", ""], ""),
        ((2,), "· it is (1, 6)", ["", "✓ it is", "✗ not this"], "t"),
    ],
)
def test_each_answer_is_marked(show, picks, sentence, marks, remark):
    """By a sign and by marks at the options; nothing can be changed until you try again."""
    w = show(stride())
    options, fields = w.locator(".sk-option"), w.locator("fieldset")
    disabled, active = "node => node.disabled", "node => node === document.activeElement"
    for pick in picks:
        commit(w, pick)
    if button(w, "show me").is_visible():
        button(w, "show me").click()
    assert said(w) == (sentence, sentence[0]) and texts(w, ".sk-tick") == marks
    data = each(options, "dataset.is")
    assert data == [{"✓": "right", "✗": "wrong", "": None}[mark[:1]] for mark in marks]
    checked = each(options, "firstChild.checked")
    assert checked == ["you said" in mark for mark in marks]
    assert text(w, ".sk-remark") == remark and texts(w, ".sk-reveal p:visible")[-1].startswith(
        "the exp"
    )
    assert fields.evaluate(disabled) and w.locator(".sk-answer").evaluate(active)
    assert not button(w, "Commit").is_visible() and not button(w, "show me").is_visible()
    button(w, "try again").click()
    assert said(w) == ("", None) and not button(w, "try again").is_visible()
    assert not fields.evaluate(disabled)
    assert w.locator("input").first.evaluate(active)
    assert not any(each(options, "firstChild.checked"))


def test_a_wrong_guess_shows_its_remark_and_nothing_of_the_answer(show):
    """By keys and by touch: the guess is marked and closed, and the hand stays among the others."""
    w = show(stride())
    w.locator(".sk-option input").nth(2).focus()
    w.page.keyboard.press("Space")
    w.page.keyboard.press("Enter")
    assert said(w) == ("✗ not “none”: one more try", "✗") and text(w, ".sk-remark") == "t"
    assert texts(w, ".sk-tick") == ["", "", "✗ not this"]
    assert not any(words in w.inner_html() for words in ("swaps", "it is", "x.t().stride()"))
    assert each(w.locator(".sk-option"), "firstChild.disabled") == [False, False, True]
    assert w.locator("input").first.evaluate("node => node === document.activeElement")
    button(w, "Commit").click()
    assert said(w)[0] == "Choose one first: a guess is enough."
    commit(w, 1)
    assert said(w)[1] == "✓"


def test_what_is_typed_is_shown_back_as_python_writes_it(show):
    """Small numbers with their exponent; to try again, the line is empty and has the focus."""
    one = "a number, or what gives it: 2 * 3 * 4"
    many = "whole numbers with commas between them, as torch writes a shape or a stride"
    cases = [
        (2.5e-05, "0.00003", one, "3e-05"),
        (0.001, "1e-3", one, "0.001"),
        ((2, 3), "2 3", many, "(2, 3)"),
        ((6,), "6", many, "(6,)"),
        (3, "3.0", one, "3"),
    ]
    roots = show(*[Predict("?", answer) for answer, *_ in cases]).all()
    for w, (answer, typed, hint, shown) in zip(roots, cases, strict=True):
        field = labelled(w, "your prediction")
        assert text(w, ".sk-hint") == hint
        field.fill(typed)
        assert prevented(field, "Enter")
        right = (f"✓ you said {shown}, and so it is", "✓")
        wrong = (f"✗ not {shown}: one more try", "✗")
        assert said(w) == (right if shown == str(answer) else wrong)
        if said(w) == wrong:
            assert prevented(field, "Enter") and said(w)[0].startswith("That was your first guess")
            button(w, "show me").click()
            assert said(w) == (f"· it is {answer}", "·")
        else:
            assert field.input_value() == shown
        button(w, "try again").click()
        assert field.input_value() == "" and focused(w) == "your prediction"


def test_the_card_shows_what_it_understands(show):
    """While it is typed, beside a line that grows with it; what says so itself gets the hint."""
    number, stride = show(Predict("How many bytes?", 160), Predict("Its stride?", (6, 1))).all()
    hints = "a number, or what gives it: 2 * 3 * 4", "whole numbers with commas between them"
    cases = [
        (number, hints[0], ("5*8*4", "= 160"), ("12,582,912", "= 12582912"), ("12 KiB", "= 12288"),
         ("160 bytes", "= 160"), ("160", hints[0]), ("5*", hints[0]), ("1/3", "= 0.3333333333333333")),
        (stride, hints[1], ("6 1", "= (6, 1)"), ("[2*3,1]", "= (6, 1)"), ("(6, 1)", hints[1])),
    ]  # fmt: skip
    for w, hint, *typed in cases:
        field, says = labelled(w, "your prediction"), w.locator(".sk-hint")
        assert says.inner_text().startswith(hint)
        for said_, understood in typed:
            field.fill(said_)
            assert says.inner_text().startswith(understood), said_
    field = labelled(number, "your prediction")
    field.fill("1 + " * 20 + "140")
    assert field.evaluate("node => node.scrollWidth <= node.clientWidth")
    field.press("Enter")
    assert said(number)[1] == "✓" and field.input_value() == "160"


def test_words_between_backticks_are_code_in_the_verdict_too(show):
    """No backtick is left anywhere."""
    words = ["`x` itself", "a copy of `x`", "`x`, or `y`"]
    w = show(Predict("`y = x.t()`: what is `y`?", words[0], choices=words, why="`t`"))
    w.locator(".sk-option input").nth(1).check()
    button(w, "Commit").click()
    assert said(w)[0] == "✗ not “a copy of x”: one more try"
    commit(w, 2)
    assert said(w)[0] == "✗ you said “x, or y”, it is “x itself”"
    assert texts(w, ".sk-answer code") == ["x", "y", "x"]
    assert "`" not in w.inner_text()


def test_code_is_code_and_nothing_shows_where_there_is_nothing(show):
    """Backticks mark code; without an experiment there is no caption and no empty box."""
    full, bare = show(stride(), Predict("Is `x` a view?", True, why="It is.")).all()
    assert texts(full, "legend code") == ["x.t()"]
    assert texts(full, ".sk-option code") == ["(6, 1)", "(1, 6)"]
    for w in (full, bare):
        button(w, "show me").click()
    shown = [".sk-shows", ".sk-code", ".sk-output"]
    assert all(full.locator(css).is_visible() for css in shown)
    assert not any(bare.locator(css).is_visible() for css in shown)
    assert texts(full, ".sk-reveal > p > code") == ["t()"]
    assert text(full, ".sk-output") == "(1, 6)"
    assert text(bare, ".sk-reveal") == "It is."
