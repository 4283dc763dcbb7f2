"""Lines to type on, in all widgets: what is typed can be read, and what is said about it stays inside."""

from base64 import b64encode

import pytest
import torch

from stridekit import Layout, explore
from stridekit.widgets import AliasExplorer, Predict, StrideExplorer
from stridekit.widgets.offline import offline_page
from tests.browser.pages import button, each, enter, labelled, prevented, text, texts
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

# The widgets with a line, its label, and where it says why a text was refused.
LINES = {
    "then": (StrideExplorer, ".sk-outcome"),
    "run a line": (AliasExplorer, ".sk-why"),
    "your prediction": (lambda: Predict("How many?", 160), ".sk-answer"),
}
# How many pixels of each row differ from the paper, in the first letters and away from the border.
INK = """async (png) => {
  const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const at = (x, y) => context.getImageData(x, y, 1, 1).data;
  const paper = at(6, image.height >> 1);
  const isInk = (x, y) => at(x, y).some((part, k) => Math.abs(part - paper[k]) > 60);
  const range = (count) => Array.from({ length: count }, (_, k) => k);
  return range(image.height - 8).map((y) => range(60).filter((x) => isInk(x + 24, y + 4)).length);
}"""


@pytest.mark.parametrize("font", ["DejaVu Sans Mono", "Liberation Mono"])
@pytest.mark.parametrize("ratio", [1, 1.25, 2])
def test_underscores_are_visible(browser, tmp_path, font, ratio):
    """A line of underscores has one row of ink at each pixel ratio, and nothing else."""
    page = browser.new_page(offline=True, device_scale_factor=ratio)
    (tmp_path / "page.html").write_text(
        offline_page([make() for make, _ in LINES.values()]), "utf-8"
    )
    page.goto((tmp_path / "page.html").as_uri())
    page.add_style_tag(content=f":root {{ --jp-code-font-family: '{font}' }}")
    for label in LINES:
        line = labelled(page, label)
        line.fill("_" * 20)
        rows = page.evaluate(INK, b64encode(line.screenshot(caret="hide")).decode())
        assert max(rows) > 50, (label, font, ratio, rows)
    page.close()


@pytest.mark.parametrize("label", LINES)
def test_what_is_refused_stays_inside(show, label):
    """However long the sentence: it wraps, scrolls, and widens nothing."""
    make, why = LINES[label]
    w = show(make())
    w.page.set_viewport_size({"width": 850, "height": 900})
    line, said = labelled(w, label), w.locator(why)
    width = w.evaluate("node => node.scrollWidth")
    for typed in ["x." + "a" * 900, ".view(" + "1, " * 300 + ")", "1" * 199 + "x", "(" * 300]:
        enter(w, label, typed)
        assert line.get_attribute("aria-invalid") or said.inner_text(), typed
        inside = said.bounding_box()
        assert 10 < inside["height"] < 140 and inside["x"] + inside["width"] <= 850, typed
        assert w.evaluate("node => node.scrollWidth") == width
        assert said.evaluate("node => node.scrollWidth <= node.clientWidth"), typed
        assert line.input_value() == typed


def test_a_chain_is_typed_as_people_write_it(show):
    """In both explorers: all that belongs to one tensor in one line, with its name, pasted or not."""
    stride, alias, mine = show(
        StrideExplorer(), AliasExplorer((4, 6), ()), explore(torch.arange(6).view(2, 3), "w")
    ).all()
    enter(
        stride, "then", "x.transpose(0,1).reshape(-1)", "torch.flip(x, (0,))", "[1:].split(2)[0] ;"
    )
    steps = [".transpose(0,1)", ".reshape(-1)", ".flip((0,))", "[1:]", ".split(2)[0]"]
    assert texts(stride, ".sk-steps code") == ["x", *steps]
    assert texts(stride, ".sk-steps em") == ["", "view", "copy", "copy", "view", "view"]
    enter(alias, "run a line", "y = x.T.narrow(0, 1, 2)", "z = torch.movedim(x, 0, 1)．flip(0)；")
    assert texts(alias, ".sk-log code") == [
        "y = x.T.narrow(0, 1, 2)",
        "z = x.movedim(0, 1).flip(0)",
    ]
    assert texts(alias, ".sk-log .sk-kind") == ["view", "copy"]
    enter(mine, "then", "w.T", "x.T")
    assert texts(mine, ".sk-steps code") == ["w", ".T"]
    assert text(mine, ".sk-outcome") == (
        'cannot read "x.T": the tensor in the picture is w, write w.t() or .t()'
    )


def test_three_steps_take_two_rows(show):
    """Field and stages are at most 64 px high; changed numbers are bold; a stage leads back."""
    w = show(StrideExplorer(Layout((5, 8), itemsize=4)))
    enter(w, "then", ".T", "[1:]", ".contiguous()")
    assert w.locator(".sk-chain").bounding_box()["height"] <= 64
    numbers = [line.split("\n")[-3:] for line in texts(w, ".sk-steps small")]
    assert numbers[0] == ["shape (5, 8)", "stride (8, 1)", "offset 0"]
    assert numbers[1:] == [
        ["(8, 5)", "(1, 8)", "0"], ["(7, 5)", "(1, 8)", "1"], ["(7, 5)", "(5, 1)", "0"],
    ]  # fmt: skip
    assert texts(w, ".sk-steps .is-changed") == ["(8, 5)", "(1, 8)", "(7, 5)", "1", "(5, 1)", "0"]
    stages = w.locator(".sk-steps button")
    assert each(stages, "ariaLabel")[3] == (
        ".contiguous(): shape (7, 5), stride (5, 1), storage_offset 0, copy: new storage of 35 elements"
    )
    stages.nth(1).click()
    assert texts(w, ".sk-steps code") == ["x", ".T"] and each(stages, "ariaCurrent") == [
        None,
        "step",
    ]
    stages.nth(0).click()
    assert not w.locator(".sk-steps").is_visible()


def test_suggestions_make_room_for_what_is_typed(show):
    """They are back when the line is empty; the line grows meanwhile."""
    w = show(StrideExplorer())
    line, picks = labelled(w, "then"), w.locator(".sk-picks")
    width = line.bounding_box()["width"]
    line.fill(".as_strided((2, 3, 4), (12, 4, 1), 0).permute(2, 0, 1)")
    assert not picks.is_visible() and line.bounding_box()["width"] > 2 * width
    assert line.evaluate("node => node.scrollWidth <= node.clientWidth")
    line.fill("")
    button(picks, ".T").click()
    assert texts(w, ".sk-steps code") == ["x", ".T"]


def test_an_empty_line_leaves_undo_to_the_frame(show):
    """Control and the Mac's key undo a step from the line of its typing; a text keeps its own undo."""
    w = show(StrideExplorer(Layout((5, 8), itemsize=4)))
    line, steps = labelled(w, "then"), w.locator(".sk-steps")
    enter(w, "then", ".T", "[1:]", ".contiguous()")
    for back, again in (("Control+z", "Control+Shift+Z"), ("Meta+z", "Meta+Shift+Z")):
        assert prevented(line, back)
        assert texts(steps, "code") == ["x", ".T", "[1:]"]
        assert prevented(line, again)
        assert texts(steps, "code") == ["x", ".T", "[1:]", ".contiguous()"]
    line.fill("abc")
    assert not prevented(line, "Control+z")
    assert texts(steps, "code") == ["x", ".T", "[1:]", ".contiguous()"]
