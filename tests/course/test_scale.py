"""One scale of sizes and spaces, one accent, and the palette's colours, in all style sheets of widgets."""

import re
from pathlib import Path

import pytest
from PIL import ImageColor

import stridekit

WIDGETS = Path(stridekit.__file__).parent / "widgets"
BASE = WIDGETS / "page" / "base.css"
SHEETS = [BASE, *sorted(WIDGETS.glob("*/widget.css"))]
SCALE = {"text": [16, 14, 12, 10], "gap": [2, 4, 8, 12, 16, 24]}
# Texts in boxes shrink until the longest fits: dom.js measures with these sizes.
FITTED = {"font-size: 11px", "font-size: 9px", "font-size: 7px"}
COLOUR = re.compile(
    rf"#[0-9a-fA-F]+\b|\b(?:rgb|hsl|oklch)a?\(|(?<![-\w])(?:{'|'.join(ImageColor.colormap)})(?![-\w(])"
)
HUE = re.compile(r"var\(--sk-(?:dim\d|offset)\)")


def declarations(path):
    """Return the declarations of a sheet, without its comments."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"(?<=[{;\s])(--?[\w-]+|[\w-]+):\s+([^;{}]+);", text)
    assert len(found) > 20
    return [(name, " ".join(value.split())) for name, value in found]


def those(path, names):
    return [(name, value) for name, value in declarations(path) if re.fullmatch(names, name)]


def test_the_scale_has_few_steps():
    for kind, steps in SCALE.items():
        sizes = [int(value.removesuffix("px")) for _, value in those(BASE, rf"--{kind}(-\w+)?")]
        assert sorted(sizes) == sorted(steps)


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_each_text_has_a_size_of_the_scale(path):
    wrong = []
    for name, value in those(path, "font(-size)?"):
        size = value if name == "font-size" else value.split("/")[0].split(" var(--mono)")[0]
        declaration = f"{name}: {value}"
        is_fitted = path == BASE and declaration in FITTED
        is_on_scale = re.search(r"var\(--text(-\w+)?\)", size) or size in ("inherit", "0")
        if not is_fitted and not is_on_scale:
            wrong.append(declaration)
    assert wrong == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_each_space_is_on_the_scale(path):
    """What is larger is a place, what is negative undoes a space, and less than 1 px is a hairline."""
    most = max(SCALE["gap"])
    wrong = [
        f"{name}: {value}"
        for name, value in those(path, r"((row|column)-)?gap|(margin|padding)(-\w+)*")
        if any(1 <= float(px) <= most for px in re.findall(r"(?<![-\d.])([\d.]+)px", value))
    ]
    assert wrong == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_each_colour_is_of_the_palette(path):
    """A dim's hue and the offset's come only by a class; everything else that stands out has the accent."""
    own = [
        (name, value) for name, value in declarations(path) if name not in ("--shadow", "--accent")
    ]
    literal = [f"{name}: {value}" for name, value in own if COLOUR.search(value)]
    assert literal == []
    hues = [f"{name}: {value}" for name, value in own if name != "--hue" and HUE.search(value)]
    assert hues == []
