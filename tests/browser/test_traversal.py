"""TraversalExplorer in a real JupyterLab: scrubbed, played and set, its numbers checked against torch."""

import pytest
import torch
from playwright.sync_api import expect

from tests.browser.pages import hears, in_kernel, rerun, settled
from tests.needs import needs_chromium

pytestmark = needs_chromium

CELLS = [
    "import torch\nfrom stridekit.widgets import TraversalExplorer\nt = TraversalExplorer()\nt",
    "TraversalExplorer(torch.zeros(2, 3, 5).permute(2, 0, 1), 'torch')",
]


@pytest.fixture(scope="module")
def page(notebook):
    """A page with the default explorer, and one on a tensor of three dims."""
    return notebook(*CELLS)


@pytest.fixture
def w(page):
    """The first explorer, as it is at the start."""
    w = page.locator(".sk-traversal").first
    preset(w, "rows against columns")
    w.get_by_label("cache", exact=True).select_option("4 lines")
    w.get_by_label("alignment").fill("0")
    settled(page)
    return w


def preset(w, name):
    w.get_by_role("button", name=name, exact=True).click()


def pane(w, k):
    return w.locator(".sk-walk").nth(k)


def stats(node):
    """The numbers by what they count."""
    terms = node.locator("dt").all_inner_texts()
    return dict(zip(terms, node.locator("dd").all_inner_texts(), strict=True))


def scrub(w, visit):
    w.get_by_label("visit", exact=True).fill(str(visit))


def test_the_boxes_are_torchs_elements(w):
    """Each preset's boxes hold the elements of the tensor that torch makes, on the lines of its bytes."""
    x = torch.arange(96).view(6, 16)[:, ::2]
    preset(w, "every second column")
    assert shown(pane(w, 1)) == sorted(x.flatten().tolist())
    for line in pane(w, 1).locator(".sk-lines li").all():
        number = int(line.locator(".sk-line-name").inner_text().split()[1])
        elements = [int(text) for text in line.locator(".sk-byte-box").all_inner_texts()]
        assert {e * x.element_size() // 64 for e in elements} == {number}
    preset(w, "stride 5")
    assert shown(pane(w, 1)) == torch.arange(120)[::5].tolist()


def shown(node):
    return sorted(int(text) for text in node.locator(".sk-byte-box").all_inner_texts())


def test_rows_load_six_lines_and_columns_forty_eight(lab, w):
    """Both panes at once; a cache that holds a column makes them equal, and the kernel agrees."""
    assert stats(pane(w, 0)) == {
        "visits": "48", "lines loaded": "6", "would do": "6", "bytes used / loaded": "384 / 384",
    }  # fmt: skip
    assert stats(pane(w, 1))["bytes used / loaded"] == "384 / 3072"
    assert pane(w, 1).locator(".sk-loads").all_inner_texts() == ["×8"] * 6
    verdict = w.locator(".sk-verdict")
    assert (
        verdict.inner_text() == "The right one loads 8 times as many cache lines as the left one."
    )
    assert in_kernel(lab, w.page, "t.counts.misses, t.other_counts.misses") == "6 48"
    w.get_by_label("cache", exact=True).select_option("8 lines")
    assert verdict.inner_text() == "Both load 6 cache lines."
    assert in_kernel(lab, w.page, "t.cache_lines, t.other_counts.misses") == "8 6"


def test_the_scrubber_moves_both_walks(lab, w):
    """By keyboard: one visit a key; each pane says where it is, and torch has that element there."""
    scrub(w, 13)
    w.get_by_label("visit", exact=True).focus()
    w.page.keyboard.press("ArrowRight")
    x = torch.arange(48).view(6, 8)
    here = [pane(w, k).locator(".is-here").inner_text() for k in (0, 1)]
    assert here == [str(int(order.flatten()[13])) for order in (x, x.t())]
    left, right = (pane(w, k).locator(".sk-sentence").inner_text() for k in (0, 1))
    assert left == "visit 14 of 48: x[1, 5], element 13, cache line 1: a hit"
    assert right == "visit 14 of 48: x[1, 2], element 10, cache line 1: a miss, now loaded 3 times"
    assert in_kernel(lab, w.page, "t.visit") == "14"
    w.page.keyboard.press("Home")
    assert pane(w, 0).locator(".sk-byte-box[class*=sk-r]").count() == 0
    assert pane(w, 0).locator(".sk-sentence").inner_text() == "no visit yet, 48 to come"
    hears(w, "left no visit yet")
    assert w.page.locator(".jp-Cell").count() == len(CELLS)  # JupyterLab took no key for itself


def test_it_plays_to_the_end_and_can_be_paused(w):
    """From the start again where it stood at the end."""
    play = w.locator(".sk-play")
    play.click()
    assert play.inner_text() == "❚❚ pause"
    visit = w.get_by_label("visit", exact=True)
    expect(visit).to_have_value("2")
    play.click()
    paused = int(visit.input_value())
    assert 2 <= paused < 48 and play.inner_text() == "▶ play"
    w.page.wait_for_timeout(400)
    assert int(visit.input_value()) == paused
    scrub(w, 46)
    play.click()
    expect(play).to_have_text("▶ play")
    assert visit.input_value() == "48"


def test_order_itemsize_and_alignment_are_chosen(lab, w):
    """torch's order is named; smaller items share lines; a shifted storage needs one more."""
    preset(w, "transpose")
    options = pane(w, 0).locator("option").all_inner_texts()
    assert options == [
        "row by row, dims (0, 1)",
        "column by column, dims (1, 0) · as torch runs it",
    ]
    pane(w, 0).locator("select").select_option(options[1])
    assert stats(pane(w, 0))["lines loaded"] == "6"
    assert in_kernel(lab, w.page, "t.order") == "(1, 0)"
    w.locator(".sk-controls").first.get_by_label("itemsize").select_option("4 bytes")
    assert stats(pane(w, 0))["would do"] == "3"
    w.get_by_label("alignment").fill("32")
    assert stats(pane(w, 0))["would do"] == "4"
    assert in_kernel(lab, w.page, "t.layout.itemsize, t.alignment, t.counts.minimum") == "4 32 4"


def test_a_warp_on_its_sectors(lab, w):
    """Stride, offset and itemsize; the kernel has the same warp."""
    preset(w, "a GPU's warp")
    warp = w.locator(".sk-warp")
    assert not w.get_by_label("visit", exact=True).is_visible()
    warp.get_by_label("stride").fill("2")
    said = warp.locator(".sk-sentence")
    words = "32 lanes, 4 bytes each, stride 2: 8 sectors, 4 would do; half of each is thrown away"
    assert said.inner_text() == words
    assert warp.locator(".sk-sector").count() == 8
    warp.get_by_label("stride").fill("1")
    warp.get_by_label("offset").fill("1")
    assert stats(warp)["sectors loaded"] == "5"
    warp.get_by_label("itemsize").select_option("8 bytes")
    assert in_kernel(lab, w.page, "t.warp") == "Warp(itemsize=8, stride=1, offset=1)"
    assert stats(warp)["bytes used / loaded"] == "256 / 288"


def test_python_moves_the_picture(lab, w):
    """A layout and an order set there are drawn; what cannot be is refused there."""
    lab.run_code(w.page, "t.layout = torch.zeros(4, 4).t(); t.order = 'torch'; t.visit = 5")
    w.page.wait_for_function(
        "document.querySelector('.sk-scrubber output').textContent == '5 of 16'"
    )
    assert pane(w, 0).locator(".is-here").inner_text() == "4"
    assert "give a permutation" in lab.run_code(w.page, "t.order = (0, 0)")


def test_ones_own_tensor(page):
    """Three dims: six orders, the first walk in torch's."""
    own = page.locator(".sk-traversal").nth(1)
    assert shown(pane(own, 0)) == list(range(30))
    chosen = pane(own, 0).locator("option:checked").inner_text()
    assert chosen == "dims (1, 2, 0) · as torch runs it"
    assert pane(own, 0).locator("option").count() == 6


def test_a_rerun_cell_leaves_nothing_behind(lab, w):
    """Also while it plays: views that are gone listen no more, and the new ones live."""
    w.locator(".sk-play").click()
    assert w.page.locator(".sk-traversal").count() == len(CELLS)
    rerun(lab, w.page, ".sk-traversal")
    preset(w, "transpose")
    assert stats(pane(w, 1))["lines loaded"] == "6"
