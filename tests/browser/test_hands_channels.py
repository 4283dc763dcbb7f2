"""ChannelsLastExplorer under a hand, on a plain page: other shapes, sizes of 1, all layers on and off."""

import pytest
import torch

from stridekit.widgets import ChannelsLastExplorer
from stridekit.widgets.channels_last_explorer import network as net
from stridekit.widgets.channels_last_explorer import words
from tests.browser.pages import each, focused, press, prevented, stop_the_clock, text, texts
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]


def explorer(shape=(2, 3, 4, 5), **state):
    made = ChannelsLastExplorer(shape)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def tape(w, name):
    return w.get_by_role("grid", name=f"{name}: the order of memory")


def assert_words(w, shape, index, highlight):
    """Both sentences, and how far apart on each tape."""
    assert text(w, ".sk-idea") == words.spread(shape, index, highlight)
    assert text(w, ".sk-place") == words.place(shape, index)
    for gap, layout in zip(
        w.locator(".sk-apart").all(), words.layouts(shape).values(), strict=True
    ):
        step = words.step(layout, index, highlight)
        assert gap.inner_text() == words.apart(step)
        assert gap.get_attribute("data-near") == str(step == 1).lower()


SHAPES = [((2, 3, 4, 5), (1, 2, 0, 4)), ((1, 4, 3, 2), (0, 3, 2, 1)), ((2, 1, 4, 5), (1, 0, 3, 3)),
          ((2, 3, 1, 1), (1, 1, 0, 0)), ((1, 1, 1, 1), (0, 0, 0, 0))]  # fmt: skip


@pytest.mark.parametrize("highlight", words.HIGHLIGHTS)
@pytest.mark.parametrize(("shape", "index"), SHAPES, ids=str)
def test_all_words_are_pythons(show, shape, index, highlight):
    """Sentences, flags, names of planes and images, the number of each row's first element, every box."""
    w = show(explorer(shape, index=index, highlight=highlight))
    assert_words(w, shape, index, highlight)
    signs = {True: "✓", False: "✗", None: "·"}
    assert texts(w, ".sk-verdicts li") == [
        f"{signs[good]} {sentence}" for good, sentence in words.verdicts(shape)
    ]
    badge = w.locator(".sk-badge")
    assert badge.inner_text() == words.badge(shape)
    ambiguous = words.badge(shape).startswith("ambiguous")
    assert badge.get_attribute("data-ambiguous") == str(ambiguous).lower()
    assert w.locator(".sk-code code").first.inner_text() == words.code(shape)
    n, c, _, width = shape
    planes = [f"c = {k}: {'abcd'[k]}" if width > 1 else f"{'abcd'[k]}: {k}" for k in range(c)]
    images = [f"n = {k}" for k in range(n)]
    assert texts(w, ".sk-planes .sk-marks span") == [*planes, *images]
    x = torch.arange(torch.tensor(shape).prod()).view(shape)
    for name, t in zip(words.FORMATS, (x, x.to(memory_format=torch.channels_last)), strict=True):
        lie = t.as_strided((t.numel(),), (1,)).tolist()  # in the order of memory
        says = each(tape(w, name).locator(".sk-box"), "ariaLabel")
        assert says == [
            f"x{[int(i) for i in torch.unravel_index(torch.tensor(value), shape)]}: element {k}"
            for k, value in enumerate(lie)
        ]
        rows = tape(w, name).locator(".sk-row")
        firsts = rows.evaluate_all(
            "all => all.map((row) => row.firstChild.ariaLabel.split(' ').at(-1))"
        )
        numbers = texts(tape(w, name).locator("xpath=preceding-sibling::*"), "span")
        assert numbers == firsts


def test_pointing_tells_of_what_is_under_the_pointer(show):
    """And then of the selected element again, also where a smaller shape has come meanwhile."""
    shape, index = (2, 3, 4, 5), (0, 1, 2, 2)
    w = show(explorer(index=index))
    box = tape(w, "channels_last").locator(".sk-box")
    box.nth(119).hover()
    assert_words(w, shape, (1, 2, 3, 4), "pixel")
    w.page.mouse.move(2, 2)
    assert_words(w, shape, index, "pixel")
    box.nth(119).click()
    assert_words(w, shape, (1, 2, 3, 4), "pixel")
    for k, size in enumerate((1, 2, 3, 3)):
        w.locator(".sk-size input").nth(k).fill(str(size))
    assert_words(w, (1, 2, 3, 3), (0, 1, 2, 2), "pixel")
    tape(w, "contiguous_format").locator(".sk-box").nth(3).hover()
    w.locator(".sk-size input").nth(0).fill("2")
    assert_words(w, (2, 2, 3, 3), (0, 1, 2, 2), "pixel")
    w.get_by_role("button", name="a channel's pixels").click()
    assert_words(w, (2, 2, 3, 3), (0, 1, 2, 2), "channel")


def test_sizes_end_where_pythons_do(show):
    """Each slider has its own end, by key, and its own name."""
    w = show(explorer((1, 1, 1, 1)))
    for k, (name, most) in enumerate(
        zip(("N images", "C channels", "H height", "W width"), words.MOST, strict=True)
    ):
        slider = w.get_by_role("slider", name=name)
        for key, size in (
            ("End", most),
            ("ArrowRight", most),
            ("Home", 1),
            ("ArrowLeft", 1),
            ("End", most),
        ):
            press(slider, key)
            assert (
                slider.input_value()
                == w.locator(".sk-size output").nth(k).inner_text()
                == str(size)
            )
    assert_words(w, words.MOST, (0, 0, 0, 0), "pixel")


def test_planes_and_tapes_are_walked_by_keys(show):
    """Up and left lead back; the page does not scroll; Escape leaves."""
    w = show(explorer(index=(0, 1, 2, 2)))
    planes, nhwc = (
        w.get_by_role("grid", name="the tensor: planes of channels"),
        tape(w, "channels_last"),
    )
    for grid, key, index in [
        (planes, "ArrowUp", [0, 1, 1, 2]), (planes, "ArrowLeft", [0, 1, 1, 1]),
        (planes, "ArrowDown", [0, 1, 2, 1]), (nhwc, "ArrowLeft", [0, 0, 2, 1]),
        (nhwc, "ArrowRight", [0, 1, 2, 1]), (nhwc, "End", [1, 2, 3, 4]), (nhwc, "ArrowRight", [1, 2, 3, 4]),
        (planes, "Home", [0, 0, 0, 0]), (planes, "ArrowUp", [0, 0, 0, 0]),
    ]:  # fmt: skip
        assert prevented(grid, key)
        assert text(w, ".sk-place").startswith(f"x{index} is element"), (key, index)
    press(planes, "Escape")
    assert focused(w) == "body"


def outcomes(w):
    """For each layer what the two inputs become: the texts of its cells, without those that are empty."""
    return dict(w.locator(".sk-network tbody tr").evaluate_all(OUTCOMES)[1:])


OUTCOMES = """(rows) => rows.map(({ children: [layer, ...cells] }) => [
  layer.textContent,
  cells.map((cell) => [...cell.children].map((part) => part.textContent).filter(Boolean)),
])"""


def told(passage):
    """The same as Python says it."""
    text = passage.note if passage.label or passage.note else "nothing comes here"
    stride = [str(passage.stride)] if passage.stride else []
    name, _, taken = passage.label.partition(", ")
    return [part for part in (name, *stride, taken, text) if part]


@pytest.mark.parametrize("which", range(3))
def test_every_layer_is_switched_on_and_off(show, which):
    """What comes out of each is Python's; what is off says nothing and looks so; the end is read aloud."""
    e = explorer(network_shape=net.INPUTS[which], layers=[])
    w = show(e)
    stop_the_clock(w.page)
    w.locator(".sk-network input").first.check()
    w.locator(".sk-network input").first.uncheck()
    on = []
    for layer, box in zip(net.LAYERS, w.locator(".sk-network input").all(), strict=True):
        box.check()
        on.append(layer.name)
        if layer.name == "x + skip":
            box.uncheck()
            on.pop()
        rows = dict(net.trace(which, on))
        wanted = {
            one.code: [*map(told, rows[one.code])] if one.code in rows else [[], []]
            for one in net.LAYERS
        }
        assert outcomes(w) == wanted
    off = w.locator(".sk-network tbody tr.is-off")
    assert [text.strip() for text in off.all_inner_texts()] == ["x + skip"]
    for box in w.locator(".sk-network input:checked").all()[::-1]:
        box.uncheck()
    w.page.clock.run_for(400)
    assert text(w, ".sk-spoken") == "No layer is switched on."
    w.locator(".sk-network input").nth(net.NAMES.index("relu")).check()
    ((_, passages),) = net.trace(which, ["relu"])
    first, second = (", ".join(filter(None, [it.label, it.note])) for it in passages)
    w.page.clock.run_for(400)
    assert (first != second or which) and text(w, ".sk-spoken") == (
        f"At the end, x in contiguous_format is: {first}; x in channels_last is: {second}."
    )
