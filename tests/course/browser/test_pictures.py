"""Pictures in outputs stand on white paper, and are turned over where JupyterLab or a page is dark."""

import io

import nbformat
import numpy as np
import pytest
from nbformat import v4
from PIL import Image

from tests.course.browser.conftest import exported
from tests.course.browser.lab import write_notebook
from tests.course.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

PLOT = """from stridekit.lessons.plots import MeasuredPicture, draw_runs
MeasuredPicture(draw_runs({"here": [1.0, 2.0, 3.0] * 9}), "the same three times")"""
OWN = """import matplotlib.pyplot as plt
plt.figure(figsize=(2, 2), facecolor="white").add_subplot();"""


def shades(image):
    """The lightness, from 0 to 255, of the paper and of what differs most from it."""
    picture = Image.open(io.BytesIO(image.screenshot())).convert("L")
    pixels = np.asarray(picture).astype(int)
    paper = int(np.bincount(pixels.ravel()).argmax())
    ink = int(pixels.flat[np.abs(pixels - paper).argmax()])
    return paper, ink


def assert_legible(page, is_dark):
    """The first picture has dark ink on white, or light ink on dark; a reader's own stays as it is."""
    measured, own = page.locator(".jp-OutputArea-output img, .cell_output img").all()
    paper, ink = shades(measured)
    if is_dark:
        assert paper <= 24
        assert ink >= 200
    else:
        assert paper == 255
        assert ink <= 40
    paper, _ = shades(own)
    assert paper >= 200  # not turned over, though the site's theme dims it in the dark


def test_in_jupyterlab(lab):
    """By a style sheet of the environment: no widget has to run."""
    write_notebook(lab.root / "plots.ipynb", [PLOT, OWN])
    page = lab.open("plots.ipynb")
    lab.run_all(page)
    assert page.locator(".jp-OutputArea-output img").first.get_attribute("alt")
    for theme in ("Light", "Dark", "Light"):
        lab.set_theme(page, f"JupyterLab {theme}")
        page.locator("#jupyterlab-splash").wait_for(state="detached")  # which fades away
        assert_legible(page, theme == "Dark")
    lab.close(page)


def test_on_an_exported_page(plain, tmp_path):
    """By the reader's system; no widget is needed. A phone gets the narrow picture, whole."""
    (tmp_path / "notebooks").mkdir()
    cells = [
        v4.new_markdown_cell("# A plot"),
        v4.new_code_cell(PLOT),
        v4.new_code_cell(OWN),
    ]
    nbformat.write(v4.new_notebook(cells=cells), tmp_path / "notebooks" / "plot.ipynb")
    site = exported(tmp_path / "notebooks")
    page = plain.page()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((site / "plot.html").as_uri())
        assert_legible(page, scheme == "dark")
    source = "document.querySelector('picture img').currentSrc"
    wide = page.evaluate(source)
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function(f"(wide) => {source} !== wide", arg=wide)
    assert_legible(page, True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
