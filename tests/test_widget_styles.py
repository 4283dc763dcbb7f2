"""Widgets share pages: the sheet of one must not reach another."""

import re
from colorsys import rgb_to_hls
from itertools import combinations

import pytest

from stridekit import widgets
from stridekit.widgets import assets, palette
from tests.widget_kinds import KINDS

SHEETS = sorted(path for path in assets._HERE.rglob("*.css") if path.name != "base.css")


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_a_sheet_is_one_block_of_its_own_kind(path):
    """Everything but keyframes is nested in a selector with the class of that widget alone.

    It has the id of base.css, and a class more: each sheet of a page brings base.css along again.
    """
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    outside, depth = "", 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if depth == 0:
            outside += char
    heads = [head.strip() for head in outside.split("}") if head.strip()]
    kinds = [head for head in heads if not head.startswith("@keyframes")]
    (kind,) = kinds
    assert re.fullmatch(r"\.stridekit\.sk-[a-z]+:is\(#sk-host, \*\)", kind)


def test_every_widget_has_a_kind_of_its_own():
    """The shells' class names differ, and each is that of the sheet."""
    kinds = {
        name: re.findall(r'kind: "(sk-(?!d|offset)[a-z]+)", traits', getattr(widgets, name)._module)
        for name in KINDS
    }
    assert kinds == {name: [kind.css.removeprefix(".")] for name, kind in KINDS.items()}
    assert len({kind.css for kind in KINDS.values()}) == len(KINDS) == len(SHEETS)


def test_no_class_of_a_page_is_one_of_a_widget():
    """A rule for the page around the lessons would reach the widgets in them."""
    classes = {
        room: {
            name
            for path in assets._HERE.parent.joinpath(room).rglob("*.css")
            for name in re.findall(r"\.([a-z][\w-]*)", path.read_text(encoding="utf-8"))
        }
        for room in ("export", "widgets")
    }
    assert {"sk-done"} < classes["export"] and {"sk-box"} < classes["widgets"]
    shared = classes["export"] & classes["widgets"]
    assert {name for name in shared if name.startswith(("sk-", "is-"))} == set()


LEAST_HUE = 15 / 360  # of a turn: colours that are nearer look alike
THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])


def _channels(colour):
    return [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def _luminance(colour):
    """The relative luminance of WCAG."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(colour)]
    return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def _contrast(a, b):
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _apart(a, b):
    """How far two colours lie from each other on the circle of hues; greys have none."""
    (one, _, grey), (other, _, pale) = (rgb_to_hls(*_channels(colour)) for colour in (a, b))
    return 1 if min(grey, pale) < 0.15 else min(abs(one - other), 1 - abs(one - other))


@THEMES
def test_a_colour_means_one_thing(theme):
    """No row looks like a dim or the offset, and neither do good and bad."""
    dims = [pair[theme] for pair in (*palette.DIMS, palette.OFFSET)]
    others = [pair[theme] for pair in (*palette.ROWS, palette.GOOD, palette.BAD)]
    near = [(a, b) for a in dims for b in others if _apart(a, b) < LEAST_HUE]
    assert near == []
    assert all(_apart(a, b) >= LEAST_HUE for a, b in combinations(dims, 2))
    tints = [pair[theme] for pair in palette.ROWS]
    assert len({round(rgb_to_hls(*_channels(tint))[0] * 24) for tint in tints}) == len(tints)


@THEMES
def test_text_is_legible_on_each_colour(theme):
    """Ink and muted text on every tint, and every colour of text on both papers: 4.5 to 1 at least."""
    ink, muted, paper, pale = (
        pair[theme] for pair in (palette.INK, palette.MUTED, palette.PAPER, palette.PALE)
    )
    tints = [pair[theme] for pair in palette.ROWS]
    hues = [pair[theme] for pair in (*palette.DIMS, palette.OFFSET, palette.GOOD, palette.BAD)]
    pairs = [(text, tint) for text in (ink, muted) for tint in tints]
    pairs += [(text, on) for text in (ink, muted, *hues) for on in (paper, pale)]
    assert [pair for pair in pairs if _contrast(*pair) < 4.5] == []
