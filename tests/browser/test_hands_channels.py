"""ChannelsLastExplorer under a hand, on a plain page: shapes, sizes of 1, planes and tapes."""

import pytest
import torch
from playwright.sync_api import expect

from stridekit.widgets import ChannelsLastExplorer
from tests.browser.pages import (
    away,
    button,
    code,
    each,
    grid,
    press,
    text,
    texts,
    walk,
)
from tests.needs import needs_chromium
from tests.test_channels_last_explorer import HIGHLIGHTS, words

pytestmark = [needs_chromium, pytest.mark.long]


def explorer(shape=(2, 3, 2, 4), **state):
    made = ChannelsLastExplorer(shape)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def tape(w, name):
    return grid(w, f"{name}: the order of memory")


def assert_words(w, shape, index, highlight):
    """Both sentences are the script's, and so is the distance on each tape."""
    assert text(w, ".sk-idea") == words.spread(shape, index, highlight)
    assert text(w, ".sk-place") == words.place(shape, index)
    gaps = w.locator(".sk-apart")
    steps = [words.step(layout, index, highlight) for layout in words.layouts(shape).values()]
    assert gaps.all_inner_texts() == [words.apart(step) for step in steps]
    assert each(gaps, "dataset.near") == [str(step == 1).lower() for step in steps]


SHAPES = [((2, 3, 2, 4), (1, 2, 0, 3)), ((1, 4, 3, 2), (0, 3, 2, 1)), ((2, 1, 3, 5), (1, 0, 2, 3)),
          ((2, 3, 1, 1), (1, 1, 0, 0)), ((1, 1, 1, 1), (0, 0, 0, 0))]  # fmt: skip


@pytest.mark.parametrize("highlight", HIGHLIGHTS)
@pytest.mark.parametrize(("shape", "index"), SHAPES, ids=str)
def test_all_words_are_the_scripts(show, shape, index, highlight):
    """Sentences, flags, names of planes and images, the number of each row's first element, all boxes."""
    w = show(explorer(shape, index=index, highlight=highlight))
    assert_words(w, shape, index, highlight)
    signs = {True: "✓", False: "✗", None: "·"}
    verdicts = [f"{signs[good]} {sentence}" for good, sentence in words.verdicts(shape)]
    assert texts(w, ".sk-verdicts li") == verdicts
    badge = w.locator(".sk-badge")
    assert badge.inner_text() == words.badge(shape)
    ambiguous = words.badge(shape).startswith("ambiguous")
    assert badge.get_attribute("data-ambiguous") == str(ambiguous).lower()
    assert code(w) == words.code({"shape": shape})
    n, c, _, width = shape
    planes = [f"c = {k}: {'abcd'[k]}" if width > 1 else f"{'abcd'[k]}: {k}" for k in range(c)]
    images = [f"n = {k}" for k in range(n)]
    assert texts(w, ".sk-planes .sk-marks span") == [*planes, *images]
    x = torch.arange(torch.tensor(shape).prod()).view(shape)
    for name, t in zip(words.FORMATS, (x, x.to(memory_format=torch.channels_last)), strict=True):
        memory = t.as_strided((t.numel(),), (1,))
        indices = torch.stack(torch.unravel_index(memory, shape), 1).tolist()
        says = each(tape(w, name).locator(".sk-box"), "ariaLabel")
        assert says == [f"x{index}: element {k}" for k, index in enumerate(indices)]
        firsts = each(tape(w, name).locator(".sk-row"), "firstChild.ariaLabel")
        numbers = texts(tape(w, name).locator("xpath=preceding-sibling::*"), "span")
        assert numbers == [first.split()[-1] for first in firsts]


def test_pointing_tells_of_what_is_under_the_pointer(show):
    """And then of the selected element again, even if the shape has shrunk in between."""
    shape, index = (2, 3, 3, 5), (0, 1, 1, 2)
    w = show(explorer(shape, index=index))
    box = tape(w, "channels_last").locator(".sk-box")
    box.nth(89).hover()
    assert_words(w, shape, (1, 2, 2, 4), "pixel")
    away(w)
    assert_words(w, shape, index, "pixel")
    box.nth(89).click()
    assert_words(w, shape, (1, 2, 2, 4), "pixel")
    sizes = w.locator(".sk-slider input")
    for k, size in enumerate((1, 2, 2, 3)):
        sizes.nth(k).fill(str(size))
    assert_words(w, (1, 2, 2, 3), (0, 1, 1, 2), "pixel")
    tape(w, "contiguous_format").locator(".sk-box").nth(3).hover()
    sizes.nth(0).fill("2")
    assert_words(w, (2, 2, 2, 3), (0, 1, 1, 2), "pixel")
    button(w, "a channel's pixels").click()
    assert_words(w, (2, 2, 2, 3), (0, 1, 1, 2), "channel")


def test_sizes_end_at_the_largest_shape(show):
    """Each slider has its own name and its own limit."""
    w = show(explorer((1, 1, 1, 1)))
    names = ("N images", "C channels", "H height", "W width")
    for k, (name, most) in enumerate(zip(names, words.MAX_SIZES, strict=True)):
        slider, shown = w.get_by_role("slider", name=name), w.locator(".sk-slider output").nth(k)
        keys = {"End": most, "ArrowRight": most, "Home": 1, "ArrowLeft": 1}
        for key, size in [*keys.items(), ("End", most)]:
            press(slider, key)
            assert slider.input_value() == shown.inner_text() == str(size)
    assert_words(w, words.MAX_SIZES, (0, 0, 0, 0), "pixel")


def test_planes_and_tapes_are_walked_by_keys(show):
    """Up and left lead back."""
    w = show(explorer((2, 3, 3, 5), index=(0, 1, 2, 2)))
    planes, nhwc = grid(w, "the tensor: planes of channels"), tape(w, "channels_last")

    def place():
        return text(w, ".sk-place")

    for where, steps in [
        (planes, [("ArrowUp", [0, 1, 1, 2]), ("ArrowLeft", [0, 1, 1, 1]), ("ArrowDown", [0, 1, 2, 1])]),
        (nhwc, [("ArrowLeft", [0, 0, 2, 1]), ("ArrowRight", [0, 1, 2, 1]), ("End", [1, 2, 2, 4]),
                ("ArrowRight", [1, 2, 2, 4])]),
        (planes, [("Home", [0, 0, 0, 0]), ("ArrowUp", [0, 0, 0, 0])]),
    ]:  # fmt: skip
        walk(where, place, [(key, f"x{index} is element") for key, index in steps])


@pytest.mark.parametrize(("width", "across"), [(374, 2), (620, 4), (900, 4)])
def test_planes_stand_side_by_side_where_there_is_room(show, width, across):
    """Each line of boxes goes across as many planes as fit; each row of planes has its names above it."""
    shape = (2, 4, 3, 5)
    w = show(explorer(shape))
    w.page.set_viewport_size({"width": width + 48, "height": 900})
    planes = grid(w, "the tensor: planes of channels")
    expect(planes.locator(".sk-row").first.locator(".sk-box")).to_have_count(across * 5)
    names = planes.locator("xpath=preceding-sibling::*").locator("span")
    rows = {round(box.bounding_box()["y"]) for box in names.all()[: -shape[0]]}
    assert len(rows) == (1 if across == 4 else shape[0] * 4 // across)
    right = w.bounding_box()["x"] + w.bounding_box()["width"]
    ends = [box.bounding_box() for box in planes.locator(".sk-row").first.locator(".sk-box").all()]
    assert max(end["x"] + end["width"] for end in ends) <= right
    press(planes, "Home", "ArrowDown")
    assert text(w, ".sk-place").startswith("x[0, 0, 1, 0] is")
