"""TraversalExplorer under a hand, on a plain page: itemsizes, alignments, caches, one walk, a warp."""

import re

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import TraversalExplorer
from stridekit.widgets.traversal_explorer.widget import Warp
from tests.browser.pages import (
    button,
    each,
    ints,
    labelled,
    pressed,
    stats,
    stop_the_clock,
    text,
    texts,
)
from tests.live import visit_in_words
from tests.needs import needs_chromium
from tests.walks import PRESETS, costs, counts_of, sectors_of, visits_of

pytestmark = [needs_chromium, pytest.mark.long]


def pane(w, k):
    return w.locator(".sk-panes > .sk-walk").nth(k)


def assert_counts(w, walks, cache_lines, alignment, visit):
    """Both panes have the script's numbers."""
    for k, step in enumerate(walks):
        visits = visits_of(step.layout, step.order, cache_lines, alignment)
        found = counts_of(visits, step.layout.itemsize, visit)
        assert stats(pane(w, k)) == {
            "visits": str(found.visits),
            "lines loaded": f"{found.misses}{'!' * (found.misses > found.lines)}",
            "would do": str(found.lines),
            "bytes used / loaded": f"{found.bytes_used} / {found.bytes_loaded}",
        }, (k, step)


def controls(w):
    """The controls of the alignment and of the itemsize."""
    return labelled(w, "alignment"), labelled(w.locator(".sk-controls").first, "itemsize")


def test_a_preset_is_aligned_anew(show):
    """Its items can have the alignment that other items leave behind, and the counts are right."""
    w = show(TraversalExplorer())
    shift, size = controls(w)
    for itemsize, moved in ((1, 13), (2, 46), (4, 20)):
        size.select_option(index=costs.ITEMSIZES.index(itemsize))
        shift.fill(str(moved))
        button(w, "every 2nd column").click()
        alignment = moved - moved % 8
        assert shift.input_value() == str(alignment) and size.input_value() == "8 bytes"
        assert_counts(w, PRESETS["every 2nd column"], 4, alignment, 48)
        button(w, "stride 5").click()


def test_an_itemsize_keeps_the_alignment_possible(show):
    """Its slider moves by whole items, and ends where the last one begins."""
    w = show(TraversalExplorer(visit=48))
    shift, size = controls(w)
    shift.fill("56")
    for itemsize, alignment in ((16, 48), (8, 48), (1, 48), (4, 48)):
        size.select_option(index=costs.ITEMSIZES.index(itemsize))
        found = [shift.get_attribute(name) for name in ("step", "max", "aria-valuetext")]
        said = f"{alignment} bytes after the start of a line"
        assert shift.input_value() == str(alignment)
        assert found == [str(itemsize), str(64 - itemsize), said]
        layout = Layout((6, 8), itemsize=itemsize)
        walks = [step._replace(layout=layout) for step in PRESETS["rows against columns"]]
        assert_counts(w, walks, 4, alignment, 48)
    assert each(w.locator(".sk-before"), "style.width") == ["75%"] * 2


@pytest.mark.parametrize("visit", [0, 1, 13, 30])
def test_the_numbers_on_the_way_are_the_scripts(show, visit):
    """Counts and sentences, and each line's elements, loads and place in the cache."""
    e = TraversalExplorer(Layout((6, 8), itemsize=8), cache_lines=2, alignment=8)
    e.visit = visit
    w = show(e)
    said = labelled(w, "visit").get_attribute("aria-valuetext")
    assert said == text(w, ".sk-scrubber output") == f"{visit} of 48"
    assert_counts(w, e.walks, 2, 8, visit)
    for k, step in enumerate(e.walks):
        visits = visits_of(step.layout, step.order, 2, 8)
        said = text(pane(w, k), ".sk-sentence")
        assert said == visit_in_words(step.layout, step.order, visits, visit, "x")
        assert pane(w, k).get_attribute("aria-label") == f"x, {costs.orderName(step.order)}"
        held = [*dict.fromkeys(v.line for v in reversed(visits[:visit]))][:2]
        for row in pane(w, k).locator(".sk-lines li").all():
            line = int(text(row, ".sk-line-name").split()[1])
            boxes = ints(row, ".sk-byte-box")
            assert {(8 * element + 8) // 64 for element in boxes} == {line}
            loads = sum(v.line == line and not v.hit for v in visits[:visit])
            sign = "●" if line in held else "○" if loads else ""
            assert texts(row, ".sk-held, .sk-loads") == [f"×{loads}", sign]
            many = row.locator(".sk-loads").get_attribute("data-many")
            assert many == ("true" if loads > 1 else None)
            told = f"loaded {loads} time{'s' * (loads != 1)}{', in the cache' * (sign == '●')}"
            assert row.get_attribute("aria-label") == f"cache line {line}: {told}"
    verdict = costs.comparison(e.counts._asdict(), e.other_counts._asdict())
    assert text(w, ".sk-verdict") == f"{verdict[0].upper()}{verdict[1:]}."


def test_each_walk_has_its_own_order(show):
    """A change leaves the other walk alone; torch's order is named; a box has its first owner's colour."""
    x = torch.arange(12).view(3, 4)
    w = show(TraversalExplorer(x[:, :1].expand(3, 4), other=x.t(), visit=12))
    six = show(TraversalExplorer(torch.zeros(2, 3, 5).permute(2, 0, 1), "torch"))
    assert pane(six, 0).locator("option").count() == 6
    assert text(pane(six, 0), "option:checked") == "dims (1, 2, 0) · torch's order"
    orders = ["row by row, dims (0, 1)", "column by column, dims (1, 0) · torch's order"]
    assert texts(pane(w, 1), "option") == orders
    before = text(pane(w, 0), "option:checked")
    pane(w, 1).locator("select").select_option(index=1)
    assert text(pane(w, 1), "option:checked").startswith("column by column")
    assert text(pane(w, 0), "option:checked") == before
    assert pane(w, 1).get_attribute("aria-label") == "other, column by column, dims (1, 0)"
    overlapping = show(
        TraversalExplorer(torch.arange(6).as_strided((4, 3), (1, 1)), (0, 1), visit=12)
    )
    assert tints(w) == {"0": "sk-r0", "4": "sk-r1", "8": "sk-r2"}
    rows = [0, 0, 0, 1, 2, 3]
    assert tints(overlapping) == {str(k): f"sk-r{row}" for k, row in enumerate(rows)}


def tints(w):
    """The colour of each box in the first pane, by its number."""
    boxes = pane(w, 0).locator(".sk-byte-box")
    names = [re.search(r"sk-r.", name)[0] for name in each(boxes, "className")]
    return dict(zip(boxes.all_inner_texts(), names, strict=True))


def test_little_and_much_to_walk(show):
    """One dim leaves no choice of orders, nothing cannot be played; beyond 40 lines the rest is counted."""
    one, none, many, corner = show(
        TraversalExplorer(torch.zeros(9)),
        TraversalExplorer(torch.zeros(0, 3)),
        TraversalExplorer(torch.zeros(41, 16)[:, :2], (0, 1)),
        TraversalExplorer(torch.zeros(60, 50)),
    ).all()
    assert pane(one, 0).locator("select").is_disabled() and not pane(one, 1).is_visible()
    assert pane(many, 0).locator("select").is_enabled()
    assert none.locator(".sk-play").is_disabled() and one.locator(".sk-play").is_enabled()
    assert text(pane(none, 0), ".sk-sentence") == "there is no element to visit: a size is 0"
    assert pane(many, 0).locator(".sk-lines li").count() == 40
    assert text(pane(many, 0), ".sk-note") == "and 1 more line"
    assert text(pane(corner, 0), ".sk-note") == ""
    assert text(corner, ".sk-lesson") == "corner = x[:16, :16] of shape (60, 50)"


def test_each_preset_has_its_lesson(show):
    """Its own words, and only its chip is pressed, until a hand changes a walk."""
    w = show(TraversalExplorer())
    lesson, chips = w.locator(".sk-lesson"), w.locator(".sk-presets button")
    for preset in costs.PRESETS:
        name = preset["name"]
        button(w, name).click()
        assert lesson.inner_text() == preset["lesson"] and pressed(chips) == [name]
        most = max(step.layout.numel for step in PRESETS[name])
        assert text(w, ".sk-scrubber output") == f"{most} of {most}"
    pane(w, 0).locator("select").select_option(index=5)
    assert lesson.inner_text() == "" and pressed(chips) == []
    button(w, "a GPU's warp").click()
    assert lesson.inner_text().startswith("32 threads") and pressed(chips) == ["a GPU's warp"]


def test_a_hand_stops_the_playing(show):
    """The scrubber, a preset or a warp stops it, and stays."""
    w = show(TraversalExplorer())
    stop_the_clock(w.page)
    play, made = w.locator(".sk-play"), w.locator(".sk-scrubber output")
    button(w, "transpose").click()
    for act, shown in [
        (lambda: labelled(w, "visit").fill("20"), "20 of 48"),
        (lambda: button(w, "broadcast").click(), "48 of 48"),
    ]:
        play.click()
        w.page.clock.run_for(700)
        assert play.inner_text() == "❚❚ pause" and made.inner_text() not in ("0 of 48", shown)
        act()
        assert play.inner_text() == "▶ play"  # at once
        w.page.clock.run_for(2000)
        assert (play.inner_text(), made.inner_text()) == ("▶ play", shown)
    play.click()
    w.page.clock.run_for(200)
    button(w, "a GPU's warp").click()
    button(w, "transpose").click()
    w.page.clock.run_for(2000)
    assert (play.inner_text(), made.inner_text()) == ("▶ play", "48 of 48")


WARPS = [Warp(4, 1, 0), Warp(4, 2, 1), Warp(8, 0, 3), Warp(1, 32, 31), Warp(16, 32, 31)]


@pytest.mark.parametrize("warp", WARPS, ids=lambda warp: str(tuple(warp)))
def test_a_warp_is_the_scripts(show, warp):
    """Numbers, sectors and sentence, marked where fewer would do; the sliders have its limits."""
    w = show(TraversalExplorer(warp=warp)).locator(".sk-warp")
    found = sectors_of(warp)
    touched, minimum = found["touched"], found["minimum"]
    assert stats(w) == {
        "lanes": "32",
        "sectors loaded": f"{touched}{'!' * (touched > minimum)}",
        "would do": str(minimum),
        "bytes used / loaded": f"{found['bytesUsed']} / {found['bytesLoaded']}",
    }
    assert text(w, ".sk-sentence") == costs.warpSentence(warp._asdict())
    assert w.locator(".sk-sector").count() == touched
    slots = texts(w, ".sk-slot-of-lane")
    assert len(slots) == 32 if warp.stride else slots == ["all"]
    for name, most in (("stride", 32), ("offset", 31)):
        slider = w.get_by_label(name)
        assert [slider.get_attribute(end) for end in ("min", "max")] == ["0", str(most)]
        assert slider.input_value() == str(getattr(warp, name))
    size = w.get_by_label("itemsize").input_value()
    assert size == f"{warp.itemsize} byte{'s' * (warp.itemsize != 1)}"


@pytest.mark.parametrize("width", [374, 560, 770, 850])
def test_no_order_is_cut(show, width):
    """Each list is as wide as the longest of its orders, and stays inside the widget."""
    x = torch.zeros(2, 3, 5, 2)
    w = show(TraversalExplorer(), TraversalExplorer(x.permute(2, 0, 1, 3), "torch"))
    w.page.set_viewport_size({"width": width + 48, "height": 900})
    assert w.first.evaluate("(root) => root.clientWidth") == width
    assert w.locator(".sk-walk select").evaluate_all(CUT) == []


# Lists that are narrower than the longest of their texts would like, or reach out of the widget.
CUT = """(all) => all.filter((select) => {
  const free = select.cloneNode(true);
  free.style.cssText = 'position: absolute; width: max-content; max-width: none';
  select.after(free);
  const wanted = free.offsetWidth;
  free.remove();
  const right = (node) => node.getBoundingClientRect().right;
  return right(select) > right(select.closest('.stridekit')) || select.offsetWidth < wanted;
}).map((select) => [select.offsetWidth, select.value])"""


def test_a_warp_is_kept_for_the_next_time(show):
    w = show(TraversalExplorer())
    button(w, "a GPU's warp").click()
    w.locator(".sk-warp").get_by_label("stride").fill("3")
    button(w, "transpose").click()
    assert not w.locator(".sk-warp").is_visible()
    button(w, "a GPU's warp").click()
    assert text(w, ".sk-warp .sk-sentence") == costs.warpSentence(Warp(4, 3, 0)._asdict())
