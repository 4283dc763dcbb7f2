"""TraversalExplorer under a hand, on a plain page: other items, alignments, caches; one walk, a warp."""

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import TraversalExplorer
from stridekit.widgets.traversal_explorer import traversal
from stridekit.widgets.traversal_explorer.traversal import ITEMSIZES, Warp
from tests.browser.pages import button, each, ints, pressed, stop_the_clock, text, texts
from tests.live import visit_in_words
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]


def pane(w, k):
    return w.locator(".sk-panes > .sk-walk").nth(k)


def stats(node):
    """The numbers by what they count, those that are marked as too many with a !."""
    pairs = node.locator(".sk-stats > div").evaluate_all(
        "all => all.map((one) => [one.children[0].innerText, one.children[1].innerText,"
        " one.dataset.many ? '!' : ''])"
    )
    return {what: number + many for what, number, many in pairs}


def said_by_python(layout, order, cache_lines, alignment, visit):
    """What the numbers of a walk have to be."""
    visits = traversal.walk(layout, order, cache_lines, alignment)
    found = traversal.counts(visits, layout.itemsize, visit)
    many = "!" if found.misses > found.lines else ""
    return {
        "visits": str(found.visits),
        "lines loaded": f"{found.misses}{many}",
        "would do": str(found.lines),
        "bytes used / loaded": f"{found.bytes_used} / {found.bytes_loaded}",
    }


def assert_counts(w, e_walks, cache_lines, alignment, visit):
    for k, step in enumerate(e_walks):
        wanted = said_by_python(step.layout, step.order, cache_lines, alignment, visit)
        assert stats(pane(w, k)) == wanted, (k, step)


def test_a_preset_is_aligned_anew(show):
    """After other items at another place: its items can have the alignment, and the counts are right."""
    w = show(TraversalExplorer())
    shift, size = (
        w.get_by_label("alignment"),
        w.locator(".sk-controls").first.get_by_label("itemsize"),
    )
    for itemsize, moved in ((1, 13), (2, 46), (4, 20)):
        size.select_option(index=ITEMSIZES.index(itemsize))
        shift.fill(str(moved))
        chosen = traversal.presets()[3]
        button(w, chosen.name).click()
        alignment = moved - moved % 8
        assert shift.input_value() == str(alignment) and size.input_value() == "8 bytes"
        assert_counts(w, chosen.walks, 4, alignment, 48)
        button(w, "stride 5").click()


def test_an_itemsize_keeps_the_alignment_possible(show):
    """Its slider moves by whole items, and ends where the last one begins."""
    w = show(TraversalExplorer())
    shift, size = (
        w.get_by_label("alignment"),
        w.locator(".sk-controls").first.get_by_label("itemsize"),
    )
    shift.fill("56")
    for itemsize, alignment in ((16, 48), (8, 48), (1, 48), (4, 48)):
        size.select_option(index=ITEMSIZES.index(itemsize))
        assert shift.input_value() == str(alignment)
        assert (shift.get_attribute("step"), shift.get_attribute("max")) == (
            str(itemsize),
            str(64 - itemsize),
        )
        assert (
            shift.get_attribute("aria-valuetext") == f"{alignment} bytes behind the start of a line"
        )
        walks = [
            step._replace(layout=Layout((6, 8), itemsize=itemsize))
            for step in traversal.presets()[0].walks
        ]
        assert_counts(w, walks, 4, alignment, 48)
    assert each(w.locator(".sk-before"), "style.width") == ["75%"] * 2


@pytest.mark.parametrize("visit", [0, 1, 13, 30])
def test_the_numbers_on_the_way_are_pythons(show, visit):
    """Through another cache: counts, sentences, and of each line its loads and whether it is held."""
    e = TraversalExplorer(Layout((6, 8), itemsize=8), cache_lines=2, alignment=8)
    e.visit = visit
    w = show(e)
    scrub = w.get_by_label("visit", exact=True)
    assert (
        scrub.get_attribute("aria-valuetext") == text(w, ".sk-scrubber output") == f"{visit} of 48"
    )
    assert_counts(w, e.walks, 2, 8, visit)
    for k, step in enumerate(e.walks):
        visits = traversal.walk(step.layout, step.order, 2, 8)
        said = text(pane(w, k), ".sk-sentence")
        assert said == visit_in_words(step.layout, step.order, visits, visit, "x")
        assert pane(w, k).get_attribute("aria-label") == f"x, {traversal.order_name(step.order)}"
        held = [*dict.fromkeys(v.line for v in reversed(visits[:visit]))][:2]
        for row in pane(w, k).locator(".sk-lines li").all():
            line = int(text(row, ".sk-line-name").split()[1])
            loads = sum(v.line == line and not v.hit for v in visits[:visit])
            sign = "●" if line in held else "○" if loads else ""
            assert text(row, ".sk-held") == sign
            assert text(row, ".sk-loads") == f"×{loads}"
            assert row.locator(".sk-loads").get_attribute("data-many") == (
                "true" if loads > 1 else None
            )
            times = f"loaded {loads} time{'s' * (loads != 1)}"
            assert (
                row.get_attribute("aria-label")
                == f"cache line {line}: {times}{', in the cache' * (sign == '●')}"
            )
    found = (e.counts, e.other_counts)
    verdict = traversal.comparison(*found)
    assert text(w, ".sk-verdict") == f"{verdict[0].upper()}{verdict[1:]}."


def test_each_walk_has_its_own_order(show):
    """The other one stays; torch's is named; a box has the colour of its first owner's row."""
    x = torch.arange(12).view(3, 4)
    w = show(TraversalExplorer(x[:, :1].expand(3, 4), other=x.t()))
    options = "all => all.map((one) => one.innerText)"
    assert pane(w, 1).locator("option").evaluate_all(options) == [
        "row by row, dims (0, 1)", "column by column, dims (1, 0) · as torch runs it"]  # fmt: skip
    before = text(pane(w, 0), "option:checked")
    pane(w, 1).locator("select").select_option(index=1)
    assert text(pane(w, 1), "option:checked").startswith("column by column")
    assert text(pane(w, 0), "option:checked") == before
    assert pane(w, 1).get_attribute("aria-label") == "other, column by column, dims (1, 0)"
    tints = "all => all.map((box) => [box.innerText, box.className.match(/sk-r./)[0]])"
    found = dict(pane(w, 0).locator(".sk-byte-box").evaluate_all(tints))
    assert found == {"0": "sk-r0", "4": "sk-r1", "8": "sk-r2"}
    overlapping = show(TraversalExplorer(torch.arange(6).as_strided((4, 3), (1, 1)), (0, 1)))
    found = dict(pane(overlapping, 0).locator(".sk-byte-box").evaluate_all(tints))
    assert found == {
        "0": "sk-r0",
        "1": "sk-r0",
        "2": "sk-r0",
        "3": "sk-r1",
        "4": "sk-r2",
        "5": "sk-r3",
    }


def test_little_and_much_to_walk(show):
    """One dim has no orders to choose from, nothing cannot be played; of many lines the rest is counted."""
    one, none, many, corner = (
        w
        for w in show(
            TraversalExplorer(torch.zeros(9)),
            TraversalExplorer(torch.zeros(0, 3)),
            TraversalExplorer(torch.zeros(41, 16)[:, :2], (0, 1)),
            TraversalExplorer(torch.zeros(60, 50)),
        ).all()
    )
    assert pane(one, 0).locator("select").is_disabled() and not pane(one, 1).is_visible()
    assert pane(many, 0).locator("select").is_enabled()
    assert none.locator(".sk-play").is_disabled() and one.locator(".sk-play").is_enabled()
    assert text(pane(none, 0), ".sk-sentence") == "there is no element to visit: a size is 0"
    assert pane(many, 0).locator(".sk-lines li").count() == 40
    assert text(pane(many, 0), ".sk-note") == "and 1 more line"
    assert text(pane(corner, 0), ".sk-note") == ""
    assert text(corner, ".sk-lesson") == "corner = x[:16, :16] of shape (60, 50)"


def test_each_preset_has_its_lesson(show):
    """Its own words, and its chip alone is pressed; a hand that changes a walk leaves it."""
    w = show(TraversalExplorer())
    lesson, chips = w.locator(".sk-lesson"), w.locator(".sk-presets button")
    for one in traversal.presets():
        button(w, one.name).click()
        assert lesson.inner_text() == one.lesson and pressed(chips) == [one.name]
        assert text(w, ".sk-scrubber output") == "{0} of {0}".format(
            max(step.layout.numel for step in one.walks)
        )
    pane(w, 0).locator("select").select_option(index=5)
    assert lesson.inner_text() == "" and pressed(chips) == []
    button(w, "a GPU's warp").click()
    assert lesson.inner_text().startswith("32 threads") and pressed(chips) == ["a GPU's warp"]


def test_a_hand_stops_the_playing(show):
    """The scrubber, a preset and a warp: what a hand has chosen stays."""
    w = show(TraversalExplorer())
    stop_the_clock(w.page)
    play, made = w.locator(".sk-play"), w.locator(".sk-scrubber output")
    button(w, "transpose").click()
    for act, shown in [
        (lambda: w.get_by_label("visit", exact=True).fill("20"), "20 of 48"),
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
def test_a_warp_is_pythons(show, warp):
    """Numbers, sectors and sentence, marked where fewer would do; sliders end where Python's values do."""
    w = show(TraversalExplorer(warp=warp)).locator(".sk-warp")
    touched = len(set(warp.sectors))
    assert stats(w) == {
        "lanes": "32",
        "sectors loaded": f"{touched}{'!' if touched > warp.minimum else ''}",
        "would do": str(warp.minimum),
        "bytes used / loaded": f"{warp.bytes_used} / {warp.bytes_loaded}",
    }
    assert text(w, ".sk-sentence") == traversal.warp_sentence(warp)
    assert w.locator(".sk-sector").count() == touched
    slots = texts(w, ".sk-slot-of-lane")
    assert slots == (["all"] if warp.stride == 0 else slots) and len(slots) == (
        32 if warp.stride else 1
    )
    for name, most in (("stride", 32), ("offset", 31)):
        slider = w.get_by_label(name)
        assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("0", str(most))
        assert slider.input_value() == str(getattr(warp, name))
    assert (
        w.get_by_label("itemsize").input_value()
        == f"{warp.itemsize} byte{'s' * (warp.itemsize != 1)}"
    )


def test_a_warp_is_kept_for_the_next_time(show):
    w = show(TraversalExplorer())
    button(w, "a GPU's warp").click()
    w.locator(".sk-warp").get_by_label("stride").fill("3")
    button(w, "transpose").click()
    assert not w.locator(".sk-warp").is_visible()
    button(w, "a GPU's warp").click()
    assert text(w, ".sk-warp .sk-sentence") == traversal.warp_sentence(Warp(4, 3, 0))


def boxes(node):
    return sorted(ints(node, ".sk-byte-box"))


def test_the_boxes_are_torchs_elements(show):
    """Each on the cache line of its bytes; of three dims there are six orders, and torch's is named."""
    w, own = show(
        TraversalExplorer(), TraversalExplorer(torch.zeros(2, 3, 5).permute(2, 0, 1), "torch")
    ).all()
    for name, x in [
        ("every second column", torch.arange(96).view(6, 16)[:, ::2]),
        ("stride 5", torch.arange(120)[::5]),
    ]:
        button(w, name).click()
        assert boxes(pane(w, 1)) == sorted(x.flatten().tolist())
        for line in pane(w, 1).locator(".sk-lines li").all():
            number = int(text(line, ".sk-line-name").split()[1])
            assert {e * x.element_size() // 64 for e in boxes(line)} == {number}
    assert boxes(pane(own, 0)) == [*range(30)]
    orders = pane(own, 0).locator("option")
    chosen = text(pane(own, 0), "option:checked")
    assert orders.count() == 6 and chosen == "dims (1, 2, 0) · as torch runs it"


def test_it_plays_to_the_end_and_can_be_paused(show):
    """From the start again where it stood at the end."""
    w = show(TraversalExplorer())
    stop_the_clock(w.page)
    play, visit = w.locator(".sk-play"), w.get_by_label("visit", exact=True)
    visit.fill("48")
    play.click()
    w.page.clock.run_for(400)
    play.click()
    paused = int(visit.input_value())
    assert 1 <= paused < 20 and play.inner_text() == "▶ play"
    w.page.clock.run_for(2000)
    assert int(visit.input_value()) == paused
    visit.fill("46")
    play.click()
    w.page.clock.run_for(2000)
    assert (visit.input_value(), play.inner_text()) == ("48", "▶ play")
