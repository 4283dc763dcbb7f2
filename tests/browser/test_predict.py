"""Predict in a real JupyterLab: hand and keyboard commit, nothing shows before, and torch is right."""

import pytest
import torch

from tests.browser.pages import in_kernel, settled
from tests.needs import needs_chromium

pytestmark = needs_chromium

CELLS = [
    "import torch\nfrom stridekit.widgets import Predict\nx = torch.arange(24).view(4, 6)\n"
    "p = Predict('What is the stride of `x.t()`?', x.t().stride(), choices=[(6, 1), (1, 6), (1, 4)],\n"
    "  why='`t()` swaps the two.', experiment='x.t().stride()',\n"
    "  remarks={(6, 1): 'That is the stride of `x` itself.'})\np",
    "q = Predict('What shape has `x.unfold(0, 3, 1)`?', x.unfold(0, 3, 1).shape, why='windows last')\nq",
    "n = Predict('How many bytes is one row of `x`?', x[0].nbytes)\nn",
    "p",
]
X = torch.arange(24).view(4, 6)


@pytest.fixture(scope="module")
def page(notebook):
    """A page with a question of each kind, the first of them shown twice."""
    return notebook(*CELLS)


@pytest.fixture
def ask(lab, page):
    """The widgets by number, all asked anew."""
    settled(page)
    lab.run_code(page, "p.committed = q.committed = n.committed = None")
    return [page.locator(".sk-predict").nth(k) for k in range(len(CELLS))]


def said(w):
    return w.locator(".sk-answer").inner_text()


def test_nothing_shows_before(ask):
    """Not in the text, not for a screen reader, not hidden in the page."""
    html = ask[0].inner_html()
    for secret in ("swaps", "x.t().stride()", "it is", "That is"):
        assert secret not in html
    assert "windows last" not in ask[1].inner_html() and str(X[0].nbytes) not in ask[2].inner_html()


def test_choose_by_hand(lab, page, ask):
    """The prediction stays beside the right answer, in both views, and the kernel hears of it."""
    ask[0].get_by_label("(6, 1)").check()
    ask[0].get_by_role("button", name="Commit").click()
    assert X.t().stride() == (1, 6)
    for view in (ask[0], ask[3]):
        assert said(view) == "✗ you said (6, 1), it is (1, 6)"
        assert view.locator(".sk-tick").all_inner_texts() == ["✗ you said", "✓ it is", ""]
        assert view.locator(".sk-remark").inner_text() == "That is the stride of x itself."
        assert view.locator(".sk-code code").first.inner_text() == "x.t().stride()"
        assert eval(view.locator(".sk-output").inner_text()) == X.t().stride()
    assert in_kernel(lab, page, "(p.committed, p.correct)") == "((6, 1), False)"
    ask[0].get_by_role("button", name="try again").click()
    assert "swaps" not in ask[0].inner_html() and said(ask[0]) == ""
    assert in_kernel(lab, page, "p.committed") == "None"


def test_choose_by_keyboard(lab, page, ask):
    """Arrows choose, Enter commits; the focus goes to the verdict, and JupyterLab takes no key."""
    ask[0].get_by_label("(6, 1)").focus()
    for key in ("ArrowDown", "a", "d", "d", "Enter"):
        page.keyboard.press(key)
    assert said(ask[0]) == "✓ you said (1, 6), and so it is"
    status = ask[0].get_by_role("status").first
    assert status.evaluate("node => node === document.activeElement")
    assert in_kernel(lab, page, "p.correct") == "True"
    assert page.locator(".jp-Cell").count() == len(CELLS)


def test_type_a_shape(lab, page, ask):
    """Any usual way to write it; what cannot be read is said, and is no prediction."""
    line = ask[1].get_by_label("your prediction")
    line.click()
    line.press("Enter")
    assert said(ask[1]) == "Write your answer first: a guess is enough."
    line.fill("(2, y)")
    line.press("Enter")
    assert said(ask[1]).startswith("I could not read “y” in “(2, y)”")
    assert line.get_attribute("aria-invalid") == "true"
    line.fill("[2,6, 3]")
    line.press("Enter")
    assert said(ask[1]) == "✓ you said (2, 6, 3), and so it is"
    assert in_kernel(lab, page, "q.committed") == str(tuple(X.unfold(0, 3, 1).shape))


def test_a_number_and_a_skip(lab, page, ask):
    line = ask[2].get_by_label("your prediction")
    line.fill("6")
    ask[2].get_by_role("button", name="Commit").click()
    assert said(ask[2]) == f"✗ you said 6, it is {X[0].nbytes}"
    ask[2].get_by_role("button", name="try again").click()
    assert line.input_value() == ""
    ask[2].get_by_role("button", name="show me").click()
    assert said(ask[2]) == f"· you skipped this one: it is {X[0].nbytes}"
    assert in_kernel(lab, page, "(n.shown, n.committed)") == "(True, None)"


def test_python_commits(lab, page, ask):
    lab.run_code(page, "p.committed = (1, 4)")
    page.wait_for_function("document.querySelector('.sk-answer').textContent.includes('you said')")
    assert said(ask[0]) == "✗ you said (1, 4), it is (1, 6)"
    assert ask[0].get_by_label("(1, 4)").is_checked()
