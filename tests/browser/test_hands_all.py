"""Rules for all widgets, on a plain page: no key goes to JupyterLab, and a grid is one tab stop."""

import pytest

from tests.needs import needs_chromium
from tests.widget_kinds import KINDS, NAMES

pytestmark = needs_chromium

# A state and a button that together show the nodes which are hidden at first.
FULLEST = {
    "StrideExplorer": ("w.chain = ('.T', '.contiguous()')", "[aria-label=share]"),
    "AliasExplorer": ("w.steps = ['y = x[0].unfold(0, 3, 1)']", "button:has-text('z.add_(100)')"),
    "ReshapeStepper": ("w.target, w.step = (2, 12), -1", "button:has-text('back')"),
    "ChannelsLastExplorer": ("w.shape = (1, 2, 2, 2)", "button:has-text('pixels')"),
    "FormatTracer": ("w.shape = (2, 1, 4, 4)", "input[type=checkbox]"),
    "TraversalExplorer": ("w.visit = 7", "button:has-text('warp')"),
    "Predict": ("pass", "button:has-text('show me')"),
    "Sort": ("w.moves = [('x.t()', 'view'), ('x + 0', 'copy')]", "button:has-text('it depends')"),
    "AttentionExplorer": (
        "w.heads = 4; w.kv_heads, w.rotary = 2, 'rot(x)*sin + x*cos'",
        "button:has-text('SDPA')",
    ),
    "CacheExplorer": ("w.order, w.tokens = 'tokens first', 7", "button:has-text('SDPA')"),
    "CopyTracer": ("w.row = 0", "[aria-label=share]"),
    "Diagnose": ("pass", "[aria-label=share]"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_kept_from_jupyterlab(show, kind):
    """By an attribute of each node that takes the focus, before and after a press."""
    w = eval(KINDS[kind].make, NAMES)
    exec(FULLEST[kind][0], {"w": w})
    root = show(w)
    assert root.get_attribute("class") == f"stridekit {KINDS[kind].css.removeprefix('.')}"
    for press in (root.locator(FULLEST[kind][1]).first.click, lambda: None):
        assert root.evaluate(ASTRAY) == []
        grids = root.locator("[role=grid], [role=listbox]")
        logs = root.locator(".sk-log")  # which scroll
        assert root.locator("[tabindex='0']").count() == grids.count() + logs.count()
        assert (
            root.locator(":is([role=grid], [role=listbox]) :is(button, input, [tabindex])").count()
            == 0
        )
        press()


# The nodes that take the focus but leave the keys to JupyterLab.
ASTRAY = """(root) => [...root.querySelectorAll('button, input, select, textarea, a, [tabindex="0"]')]
  .filter((node) => node.dataset.lmSuppressShortcuts !== 'true').map((node) => node.outerHTML)"""
