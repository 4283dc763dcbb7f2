"""CopyTracer under a hand, on a plain page: pointing, keys, chips, what is heard, and on a phone."""

import pytest
import torch
from torch import nn

from stridekit import CopyTracer, audit
from tests.audit_models import MODELS
from tests.browser.pages import (
    active,
    away,
    beyond,
    button,
    each,
    hears,
    painted,
    press,
    resize,
    stop_the_clock,
    text,
    texts,
    too_small,
)
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

SIGNS = {"made by": "●", "given as": "●", "passed on by": "○"}
MARKS = ("●", "○", "◆")


class Turned(nn.Module):
    """Rows 0 to 7: two findings meet in the first copy, and a call does nothing."""

    def __init__(self):
        super().__init__()
        self.norm, self.act = nn.LayerNorm(8), nn.ReLU()

    def forward(self, x):
        y = x.permute(0, 2, 3, 1)
        y = self.norm(y).permute(0, 3, 1, 2)
        y = y.contiguous()
        y = self.act(y)
        y = y.contiguous()
        for _ in range(2):
            y = y.to(memory_format=torch.channels_last) * 1
            y = y.contiguous() + 1
        return y


def turned():
    torch.manual_seed(0)
    return audit(Turned(), torch.rand(2, 8, 4, 4).to(memory_format=torch.channels_last))


def option(w, row):
    return w.get_by_role("option").nth(row)


def assert_picture(w, run, row):
    """Every word is Python's; the rows of the chains have their marks, the row that is shown its frame."""
    rows, chains = run["rows"], [run["chains"][k] for k in run["rows"][row]["chains"]]
    assert text(w, ".sk-head p") == run["title"]
    modules, sources, layouts, did = (
        each(w.locator(f"[role=option] .sk-{name}"), "textContent")
        for name in ("module", "source", "layout", "did")
    )
    assert modules == [one["module"] for one in rows]
    assert sources == [one["line"] + one["source"] for one in rows]
    assert all(one.endswith(row["layout"]) for one, row in zip(layouts, rows, strict=True))
    assert did == [one["did"] + "".join(map(str, one["about"])) for one in rows]
    first = {}
    for chain in chains:
        first.setdefault(chain["finding"], chain)
    shown = list(first.values())[:2]
    for k, mark in enumerate(each(w.locator(".sk-mark"), "textContent")):
        parts = [
            (chain["rows"].index(k), len(chain["rows"]) - 1)
            for chain in shown
            if k in chain["rows"]
        ]
        marks = ["◆" if at == last else "○" if at else "●" for at, last in parts]
        assert mark == [*marks, ""][0]
    frames = [
        k for k, kind in enumerate(each(w.get_by_role("option"), "className")) if kind == "is-here"
    ]
    assert frames == [row]
    assert texts(w, ".sk-ways p:first-child") == [
        f"{one['finding']}: {one['title']}" for one in shown
    ]
    steps = [step for one in shown for step in one["steps"]]
    assert texts(w, "dt") == [f"{SIGNS.get(role, '◆')} {role}" for role, *_ in steps]
    assert each(w.locator("dd code:first-child"), "textContent") == [
        "  ".join(filter(None, step[1:3])) for step in steps
    ]
    assert each(w.locator("dd .sk-layout"), "textContent") == [step[3] for step in steps]
    assert each(w.locator(".sk-advice"), "textContent") == [one["advice"] for one in shown]


@pytest.mark.parametrize("name", ["resnet_channels_last", "attention_by_hand", "windows", "lstm"])
def test_each_row_of_a_model_is_pythons(show, name):
    """By clicks, and then by arrows back to the top."""
    torch.manual_seed(0)
    model, *inputs = MODELS[name]()
    made = CopyTracer(audit(model, *inputs, backward=True))
    w, last = show(made), len(made._run["rows"]) - 1
    assert_picture(w, made._run, made.row)
    for row in range(0, last + 1, 1 + last // 12):
        option(w, row).click()
        away(w)
        assert_picture(w, made._run, row)
    press(w.get_by_role("listbox"), "End")
    for row in range(last, max(last - 5, 0), -1):
        assert_picture(w, made._run, row)
        w.page.keyboard.press("ArrowUp")


def test_pointing_shows_a_row_and_chooses_none(show):
    made = CopyTracer(turned())
    w, run = show(made), made._run
    chosen = made.row
    option(w, 1).hover()
    assert_picture(w, run, 1)
    assert each(w.get_by_role("option"), "ariaSelected").index("true") == chosen
    away(w)
    assert_picture(w, run, chosen)


def test_pointing_moves_no_row(show):
    """At the end of a page too, where fewer words below would pull it down."""
    w = show(CopyTracer(turned()))
    w.page.set_viewport_size({"width": 1000, "height": 420})
    w.page.mouse.wheel(0, 5000)
    for row in (3, 0, 5, 1):
        option(w, row).hover()
        before = option(w, 0).bounding_box()
        w.page.wait_for_timeout(100)
        assert option(w, 0).bounding_box() == before
        assert each(w.get_by_role("option"), "className").index("is-here") == row


def test_keys_walk_over_rows_and_findings(show):
    """Arrows, Home and End stay inside; the page keys go from finding to finding; Escape leaves."""
    made = CopyTracer(turned())
    w, rows = show(made), made._run["rows"]
    listbox = w.get_by_role("listbox")
    about = [r for r, row in enumerate(rows) if row["about"]]
    press(listbox, "Home")
    met = []
    for _ in range(len(about) + 1):
        w.page.keyboard.press("PageDown")
        met.append(rows_of(w))
    assert met == [*about, about[-1]]
    press(listbox, "PageUp")
    assert rows_of(w) == about[-2]
    press(listbox, "Home", "PageUp", "ArrowUp")
    assert rows_of(w) == 0
    press(listbox, "End", "ArrowDown")
    assert rows_of(w) == len(rows) - 1
    assert active(listbox).startswith(
        ", ".join(filter(None, [rows[-1]["module"], rows[-1]["line"]]))
    )
    press(listbox, "Escape")
    assert w.evaluate("(node) => !node.contains(document.activeElement)")


def rows_of(w):
    return each(w.get_by_role("option"), "ariaSelected").index("true")


def test_chips_lead_to_findings(show):
    """In the order of their bytes; the one whose row is chosen is pressed."""
    made = CopyTracer(turned())
    w, run = show(made), made._run
    chips = w.get_by_role("group", name="findings").get_by_role("button")
    first = {chain["finding"]: chain for chain in reversed(run["chains"])}
    assert chips.all_inner_texts() == [
        f"{k}: {first[k]['title'].partition(',')[0]}" for k in sorted(first)
    ]
    for k in sorted(first):
        chips.nth(k - 1).click()
        away(w)
        assert rows_of(w) == first[k]["rows"][-1]
        assert_picture(w, run, first[k]["rows"][-1])
        assert chips.nth(k - 1).get_attribute("aria-pressed") == "true"


def test_the_chosen_row_is_seen(show):
    """A list longer than its pane scrolls to the row, and the page does not move."""
    made = CopyTracer(audit(nn.Sequential(*[nn.ReLU() for _ in range(99)]), torch.zeros(3)))
    w = show(made)
    listbox = w.get_by_role("listbox")
    for key, row in (("End", 99), ("Home", 0)):
        press(listbox, key)
        pane, box = listbox.bounding_box(), option(w, row).bounding_box()
        assert (
            pane["y"] - 1 <= box["y"] and box["y"] + box["height"] <= pane["y"] + pane["height"] + 1
        )
    assert w.page.evaluate("scrollY") == 0


def test_what_is_chosen_is_heard(show):
    made = CopyTracer(turned())
    w = show(made)
    stop_the_clock(w.page)
    option(w, 0).click()
    w.page.clock.run_for(400)
    hears(w, "No finding concerns this call or a layout that passes through it.")
    button(w, "undo").click()
    w.page.clock.run_for(400)
    hears(w, f"Finding 1: {made._run['chains'][0]['title']}. made by ")


@pytest.mark.parametrize("width", [800, 390])
def test_where_there_is_little_room(show, width):
    """Layouts stand below their lines; nothing is cut, and a tap chooses."""
    made = CopyTracer(turned())
    w = show(made)
    resize(w.page, width, 800)
    w.page.reload()  # drawn anew, at this width
    w.wait_for()
    painted(w.page)
    assert w.page.evaluate("document.documentElement.scrollWidth") == width
    assert too_small(w) == [] and beyond(w) == []
    pane, chosen = (one.bounding_box() for one in (w.get_by_role("listbox"), option(w, made.row)))
    assert pane["y"] <= chosen["y"] + 1 < pane["y"] + pane["height"]
    source, layout = (
        option(w, 1).locator(css).bounding_box() for css in (".sk-source", ".sk-layout")
    )
    assert source["y"] + source["height"] <= layout["y"] + 1
    option(w, 1).tap()
    assert rows_of(w) == 1
    assert_picture(w, made._run, 1)
