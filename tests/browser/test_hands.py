"""Each widget under a hand, on a plain page without a kernel: the rows of hands.txt."""

import pytest

from tests.browser.hand import SIZE, WIDTH, Hand, rows
from tests.browser.pages import resize
from tests.messages import BUCKET
from tests.needs import needs_chromium
from tests.widget_kinds import FULL, KINDS, make

pytestmark = needs_chromium


@pytest.mark.parametrize("row", rows("hands.txt"))
def test_hand(show, row):
    Hand(show, row.make).follow(row)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_kept_from_jupyterlab(show, kind):
    """By an attribute of each node that takes the focus; a grid is one stop of the Tab key."""
    w = show(make(kind, *FULL[kind]))
    assert w.get_attribute("class") == f"stridekit {KINDS[kind].css.removeprefix('.')}"
    assert w.evaluate(ASTRAY) == []
    stops = w.locator("[role=grid], [role=listbox], .sk-log")
    assert w.locator("[tabindex='0']").count() == stops.count()
    inside = ":is([role=grid], [role=listbox]) :is(button, input, [tabindex])"
    assert w.locator(inside).count() == 0


# The nodes that take the focus but leave the keys to JupyterLab.
ASTRAY = """(root) => [...root.querySelectorAll('button, input, select, textarea, a, [tabindex="0"]')]
  .filter((node) => node.dataset.lmSuppressShortcuts !== 'true').map((node) => node.outerHTML)"""


def test_widgets_begin_within_a_screen_and_a_phone_cuts_nothing(show):
    """Of 620 px at the width that JupyterLab gives them; at 390 px a finger can press all of it."""
    all_kinds = show(*map(make, KINDS))
    resize(all_kinds.page, WIDTH)
    heights = all_kinds.evaluate_all("(all) => all.map((root) => root.offsetHeight)")
    assert max(heights) <= 620, dict(zip(KINDS, heights, strict=True))
    resize(all_kinds.page, 390)
    assert all_kinds.page.evaluate("document.documentElement.scrollWidth") == 390
    for w in all_kinds.all():
        assert w.evaluate(SIZE)[0] == []


# The most that each picture holds: what does not fit scrolls in its pane.
MOST = [
    "StrideExplorer(Layout((2, 2, 3, 2), (18, 9, 2, 1), 2), 64)",
    "StrideExplorer(Layout((24, 4), (16, 1), itemsize=4))",
    "StrideExplorer(Layout((16, 16)))",
    "StrideExplorer(Layout((16, 32)))",
    "StrideExplorer(Layout((4, 4), (20_000, 999), 17, 4), 80_000)",
    "explore(torch.arange(4096.).view(2, 8, 16, 16))",
    "AliasExplorer((4, 4, 6), ['y = x.clone()', 'z = y * -900', 'y = z[1:]'])",
    "AliasExplorer((96, 1), ['y = x.clone()', 'z = x.clone()'] + ['z += 1'] * 40)",
    "ReshapeStepper(torch.zeros(64, 4)[:, :3], (3, 64))",
    "ChannelsLastExplorer((3, 4, 3, 5))",
    "TraversalExplorer(torch.zeros(50, 60).t(), 'torch', visit=256)",
    "TraversalExplorer(warp=(4, 2, 0))",
    "AttentionExplorer(3, 4, 4, 4, kv_heads=2, rotary='rot(x)*sin + x*cos')",
    "CacheExplorer(8, batch=3, heads=3)",
    "Sort(torch.ones(4, 6), '; '.join(f'x[:{1 + k % 3}, :{1 + k // 3}]' for k in range(24)), also='x[1:]')",
    "CopyTracer(audit(lambda x: nn.Sequential(*[nn.ReLU()] * 20, nn.Flatten(0))(x.t()), torch.rand(9, 9)))",
    f"Diagnose('a line' * 40 + {BUCKET!r})",
]


@pytest.mark.long
@pytest.mark.parametrize("source", MOST)
def test_the_most_that_a_picture_holds_fits_a_screen(show, source):
    hand = Hand(show, source)
    hand.agrees(is_pointing=False)
    for chip in hand.w.locator(".sk-presets button, .sk-idea button").all():
        chip.click()
        hand.agrees(is_pointing=False)
