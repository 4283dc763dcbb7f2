"""ChannelsLastExplorer in a real JupyterLab: what hand, keyboard and kernel see, checked against torch."""

import pytest
import torch

from stridekit.widgets.channels_last_explorer import network as net
from tests.browser.pages import hears, in_kernel, rerun, settled
from tests.needs import needs_chromium

pytestmark = needs_chromium

TAPES = ("contiguous_format", "channels_last")
CELLS = ["from stridekit.widgets import ChannelsLastExplorer\ne = ChannelsLastExplorer()\ne"]
AS_AT_FIRST = (
    "e.shape = (2, 3, 4, 5); e.index = (0, 1, 2, 2); e.highlight = 'pixel'\n"
    f"e.layers = {net.DEFAULT_LAYERS}; e.network_shape = (2, 3, 4, 4)"
)


@pytest.fixture(scope="module")
def page(notebook):
    return notebook(*CELLS)


@pytest.fixture
def w(lab, page):
    """The explorer as it is at the start."""
    w = page.locator(".sk-channels").first
    settled(page)
    lab.run_code(page, AS_AT_FIRST)
    page.mouse.move(5, 5)
    return w


def tape(w, name):
    return w.get_by_role("grid", name=f"{name}: the order of memory")


def boxes(w, name, kind=""):
    """What is in the boxes of a tape, or which numbers those of a kind have."""
    texts = tape(w, name).locator(".sk-box").all_inner_texts()
    if not kind:
        return texts
    classes = tape(w, name).locator(".sk-box").evaluate_all("all => all.map(box => box.className)")
    return [k for k, names in enumerate(classes) if kind in names.split()]


def in_memory(t):
    """The labels of a tensor's elements in the order of its memory."""
    labels = {
        int(t[n, c, h, v].storage_offset()): f"{'abcd'[c]}{h}{v}"
        for n, c, h, v in torch.cartesian_prod(*map(torch.arange, t.shape)).tolist()
    }
    return [labels[k] for k in range(t.numel())]


def shown(w):
    """The tensors that the picture's code makes."""
    names = {"torch": torch}
    exec(w.locator(".sk-code code").first.inner_text(), names)
    return dict(zip(TAPES, (names["x"], names["y"]), strict=True))


def slide(w, label, size):
    slider = w.get_by_role("slider", name=label)
    slider.focus()
    slider.press("Home")
    for _ in range(size - 1):
        slider.press("ArrowRight")


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 4, 3, 2), (2, 1, 4, 5), (2, 3, 1, 1)], ids=str)
def test_the_tapes_are_torchs_memory(lab, w, shape):
    """Sliders by keyboard: labels in the order of memory, strides, flags and the kernel's shape."""
    for label, size in zip(("N images", "C channels", "H height", "W width"), shape, strict=True):
        slide(w, label, size)
    tensors = shown(w)
    for number, name in enumerate(TAPES):
        t = tensors[name]
        assert t.shape == shape and boxes(w, name) == in_memory(t)
        steps = w.locator(".sk-steps").nth(number).locator("b").all_inner_texts()
        assert tuple(map(int, steps)) == t.stride()
    x = tensors["contiguous_format"]
    said = w.locator(".sk-verdicts li").all_inner_texts()
    flag = x.is_contiguous(memory_format=torch.channels_last)
    assert said[1].endswith(f"is_contiguous(memory_format=torch.channels_last) is {flag}")
    assert said[2].endswith(
        f"stride {tuple(x.contiguous(memory_format=torch.channels_last).stride())}"
    )
    assert said[3].endswith(f"stride {tuple(x.to(memory_format=torch.channels_last).stride())}")
    assert w.locator(".sk-badge").inner_text().startswith("ambiguous") == flag
    assert in_kernel(lab, w.page, "e.shape") == str(shape)


def test_hover_lights_a_run_and_strided_boxes(w):
    """A pixel's channels and a channel's pixels, on both tapes, where torch has them."""
    tape(w, "contiguous_format").locator(".sk-box").nth(27).hover()
    x, y = shown(w).values()
    assert [x[0, 1, 1, 2].storage_offset(), y[0, 1, 1, 2].storage_offset()] == [27, 22]
    assert [boxes(w, name, "is-here") for name in TAPES] == [[27], [22]]
    assert [boxes(w, name, "is-lit") for name in TAPES] == [[7, 47], [21, 23]]
    idea = w.locator(".sk-idea")
    assert idea.inner_text() == (
        "The 3 channels of pixel (0, 1, 2) lie side by side in channels_last, "
        "20 elements apart in contiguous_format."
    )
    w.get_by_role("button", name="a channel's pixels").click()
    tape(w, "channels_last").locator(".sk-box").nth(22).hover()
    assert boxes(w, "contiguous_format", "is-lit") == [k for k in range(20, 40) if k != 27]
    assert boxes(w, "channels_last", "is-lit") == [k for k in range(1, 60, 3) if k != 22]
    assert idea.inner_text().startswith("The 20 pixels of channel 1 of image 0 lie side by side in")
    w.page.mouse.move(5, 5)
    assert boxes(w, "contiguous_format", "is-here") == [32]  # the selected one again


def test_keyboard(lab, w):
    """One tab stop a grid; arrows walk memory on a tape and lines in the planes; Escape leaves."""
    grid = tape(w, "channels_last")
    grid.focus()
    w.page.keyboard.press("Home")
    w.page.keyboard.press("ArrowRight")
    assert in_kernel(lab, w.page, "e.index") == "(0, 1, 0, 0)"
    grid.focus()
    active = w.locator(f"#{grid.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-label") == "x[0, 1, 0, 0]: element 1"
    for key in ("a", "d", "d", "x"):
        w.page.keyboard.press(key)
    assert w.page.locator(".jp-Cell").count() == len(CELLS)
    hears(w, "x[0, 1, 0, 0] is element 20 in contiguous_format, element 1 in channels_last.")
    w.page.keyboard.press("Escape")
    assert not grid.evaluate("node => node === document.activeElement")
    planes = w.get_by_role("grid", name="the tensor: planes of channels")
    planes.focus()
    for key in ("Home", "ArrowDown", *["ArrowRight"] * 5):
        w.page.keyboard.press(key)
    assert in_kernel(lab, w.page, "e.index") == "(0, 1, 1, 0)"


def cells(w, row):
    """The two outcomes of a layer."""
    line = w.locator(".sk-network tbody tr").filter(has_text=row)
    return line.locator("td").all_inner_texts()


def test_layers_keep_or_lose_the_format(lab, w):
    """Switched by hand, the outcomes are those of torch, run here."""
    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    before = cells(w, "F.relu(x)")[1]
    assert before.split("\n")[0].startswith("channels_last")
    w.get_by_role("checkbox", name="x[0].unsqueeze(0)").check()
    one = x[0].unsqueeze(0)
    lost = cells(w, "x[0].unsqueeze(0)")[1]
    assert str(tuple(one.stride())) in lost and "channels_last is lost" in lost
    y = torch.conv2d(one, torch.ones(4, 3, 3, 3), padding=1)
    assert str(tuple(y.stride())) in cells(w, "F.conv2d")[1] and y.is_contiguous()
    hears(w, "At the end, x in contiguous_format is")
    w.get_by_role("checkbox", name="x[0].unsqueeze(0)").uncheck()
    w.get_by_role("checkbox", name="x.flatten(1)").uncheck()
    w.get_by_role("checkbox", name="x.view(len(x), -1)").check()
    free, refused = cells(w, "x.view(len(x), -1)")
    assert "a view" in free and "torch refuses: C is innermost" in refused
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.view(2, -1)
    w.get_by_role("button", name="x of shape (2, 1, 4, 4)").click()
    said = in_kernel(lab, w.page, "e.network_shape, e.layers")
    assert said == "(2, 1, 4, 4) ('conv2d', 'batch_norm', 'relu', 'max_pool2d', 'view')"


def test_python_moves_the_picture(lab, w):
    """What is set from Python is drawn; a wrong value is refused there, and the picture stays."""
    lab.run_code(w.page, "e.shape = (1, 2, 3, 4); e.highlight = 'channel'; e.layers = ['relu']")
    w.page.wait_for_function(
        "document.querySelector('.sk-channels .sk-code').innerText.includes('(1, 2, 3, 4)')"
    )
    assert boxes(w, "channels_last") == in_memory(shown(w)["channels_last"])
    assert w.get_by_role("checkbox", checked=True).count() == 1
    said = lab.run_code(w.page, "e.shape = (1, 2, 3, 9)")
    assert "shape (1, 2, 3, 9) does not fit the picture" in said
    assert len(boxes(w, "channels_last")) == 24


def test_a_rerun_cell_leaves_nothing_behind(lab, w):
    """The new view lives, and nothing has gone wrong or left the machine."""
    rerun(lab, w.page, ".sk-channels")
    w.get_by_role("button", name="a channel's pixels").click()
    assert w.locator(".sk-idea").inner_text().startswith("The 20 pixels of channel 1 of image 0")
