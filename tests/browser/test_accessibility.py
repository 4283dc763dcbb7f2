"""axe on all widgets: on a page in three themes, and in a real JupyterLab in each theme and many states."""

import pytest

from tests.browser.pages import (
    COLOURS,
    THEMES,
    assert_accessible,
    button,
    enter,
    painted,
    run_last_cell,
    see_all_of,
    settled,
    wear,
)
from tests.needs import needs_chromium
from tests.widget_kinds import FULL, KINDS, RIGHT, make

pytestmark = needs_chromium

# What only a hand brings about: complaints of what cannot be read, and a wrong card.
COMPLAINTS = {
    "StrideExplorer": lambda w: enter(w, "then", ".view(7)"),
    "AliasExplorer": lambda w: enter(w, "run a line", "w = x", "y += 1"),
    "ReshapeStepper": lambda w: enter(w, "view it as", "5, 5"),
    "Predict": lambda w: button(w, "Commit").click(),
    "Sort": lambda w: button(w, "copy").click(),
}
THEMES_OF_A_PAGE = [("light", "none", ()), ("dark", "none", COLOURS), ("light", "active", COLOURS)]


def test_axe_finds_nothing_in_the_fullest_states(show):
    """Colour contrast included, in a light and a dark theme and with forced colours."""
    roots = show(*(make(kind, *FULL[kind]) for kind in KINDS))
    for kind, complain in COMPLAINTS.items():
        complain(roots.nth([*KINDS].index(kind)))
    button(roots.first, "share").click()
    see_all_of(roots.page)
    for scheme, forced, rules in THEMES_OF_A_PAGE:
        roots.page.emulate_media(color_scheme=scheme, forced_colors=forced)
        painted(roots.page)
        assert_accessible(roots.page, ".stridekit", rules)


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_jupyterlab(lab, kinds_page, theme):
    """In any state; under forced colours it sees the fullest ones only."""
    run_last_cell(kinds_page, "pass")
    wear(lab, kinds_page, theme)
    for states in ({kind: RIGHT[kind][:1] for kind in KINDS}, FULL):
        for k, kind in enumerate(KINDS):
            settled(kinds_page)
            assert lab.run_code(kinds_page, "\n".join([f"w = w{k}", *states[kind]])) == ""
        see_all_of(kinds_page)
        if states is FULL or "forced" not in theme:
            assert_accessible(kinds_page, ".stridekit")


@pytest.mark.long
def test_two_of_a_kind_have_ids_of_their_own(lab, kinds_page):
    """Each model loads its own module, yet no two ids are equal: a label belongs to its own widget."""
    wear(lab, kinds_page, "light")
    run_last_cell(kinds_page, f"display({', '.join(kind.make for kind in KINDS.values())})")
    kinds_page.wait_for_function(
        "(n) => document.querySelectorAll('.stridekit').length === n", arg=2 * len(KINDS)
    )
    painted(kinds_page)
    assert kinds_page.locator(".stridekit").evaluate_all(IDS) == []
    rules = ["duplicate-id-aria", "landmark-unique", "label", "aria-valid-attr-value"]
    assert_accessible(kinds_page, ".stridekit", rules)


# Ids that two nodes have, and references that lead out of their widget or nowhere.
IDS = """(roots) => roots.flatMap((root) => {
  const aria = ['labelledby', 'describedby', 'controls', 'activedescendant'].map((name) => `aria-${name}`);
  const named = (id) => [...document.querySelectorAll(`[id='${id}']`)];
  const wrong = [...root.querySelectorAll('[id]')].map(({ id }) => id).filter((id) => named(id).length > 1);
  for (const name of ['for', ...aria])
    for (const node of root.querySelectorAll(`[${name}]`))
      for (const id of node.getAttribute(name).split(' ').filter((id) => id))
        if (!named(id).some((target) => root.contains(target))) wrong.push(`${name}=${id}`);
  return wrong;
})"""
