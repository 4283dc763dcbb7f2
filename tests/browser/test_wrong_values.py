"""Setting a wrong value shows the error under the cell, and a picture that agrees with Python."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import painted, run_last_cell
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, RIGHT, WRONG

pytestmark = [needs_chromium, pytest.mark.long]

ALL_OF = {kind: [case for case in WRONG if case[0] == kind] for kind in KINDS}
FIRST_AND_LAST = [case for cases in ALL_OF.values() for case in (cases[0], cases[-1])]


@pytest.mark.parametrize(("kind", "name", "value", "said"), FIRST_AND_LAST)
def test_a_wrong_value_is_told_and_not_drawn(lab, kinds_page, kind, name, value, said):
    """The picture is that of a widget which was given only the right value."""
    made, right = KINDS[kind].make, RIGHT[kind][0]
    told = run_last_cell(
        kinds_page,
        f"w = fresh = {made}; first, same, last = {made}, {made}, {made}\n{right}\n"
        f"display(first, fresh, same, last)\nfor w in (same, last):\n    {right}\nlast.{name} = {value}",
    )
    assert said in told
    views = kinds_page.locator(".jp-Cell").last.locator(KINDS[kind].css)
    expect(views).to_have_count(4)
    painted(kinds_page)
    ids = re.compile(r"stridekit-\d+")  # each view has its own
    htmls, (_, *texts) = zip(*views.evaluate_all(SHOWN), strict=True)
    first, _, same, last = (ids.sub("", html) for html in htmls)
    assert last == same != first
    assert len({*texts}) == 1, "Python does not move the picture"
    said = lab.run_code(kinds_page, "print(last._state == same._state != first._state)")
    assert said.strip() == "True"


# The HTML and the text, without hidden nodes and the words that are read aloud later.
SHOWN = """(views) => views.map((view) => {
  const copy = view.cloneNode(true);
  for (const node of copy.querySelectorAll('.sk-spoken, [hidden]')) node.remove();
  return [copy.innerHTML, copy.textContent];
})"""
