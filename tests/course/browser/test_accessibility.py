"""axe on all widgets in their fullest states, in a light and a dark theme and with forced colours.

No host changes how a widget looks (test_looks.py): what holds on this page holds in JupyterLab.
"""

import pytest
import torch

from stridekit import explore
from tests.course.browser.pages import (
    assert_accessible,
    button,
    enter,
    painted,
    see_all_of,
)
from tests.course.needs import at_night_but, needs_chromium
from tests.course.widget_kinds import FULL, KINDS, make

pytestmark = needs_chromium

# Only a hand brings these about: complaints of what cannot be read, and a wrong card.
COMPLAINTS = {
    "StrideExplorer": lambda w: enter(w, "then", ".view(7)"),
    "AliasExplorer": lambda w: enter(w, "run a line", "w = x", "y += 1"),
    "ReshapeStepper": lambda w: enter(w, "view it as", "5, 5"),
    "Predict": lambda w: button(w, "Commit").click(),
    "Sort": lambda w: button(w, "copy").click(),
}


THEMES = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"color_scheme": "dark", "forced_colors": "active"},
}


@pytest.mark.parametrize("theme", at_night_but(["light"], THEMES))
def test_axe_finds_nothing_in_the_fullest_states(show, theme):
    """With all rules in the light theme, and with those on colours in the others."""
    large = torch.zeros(64, 3, 224, 224).log()  # minus infinity
    roots = show(*(make(kind, *FULL[kind]) for kind in KINDS), explore(large, "large"))
    for kind, complain in COMPLAINTS.items():
        complain(roots.nth([*KINDS].index(kind)))
    button(roots.first, "share").click()
    formats = roots.nth([*KINDS].index("ChannelsLastExplorer"))
    button(formats, "replay").click()
    formats.get_by_label("position in the last step", exact=True).fill("100")
    see_all_of(roots.page)
    roots.page.emulate_media(**THEMES[theme])
    painted(roots.page)
    assert_accessible(roots.page, ".stridekit", only_colours=theme != "light")
