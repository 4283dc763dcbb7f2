"""Stills: screenshots of widgets, which stand for them on pages where nothing runs."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

from chromium import find_chromium, running_browser
from stridekit.lessons.notebook import WIDGET_VIEW, NotebookError
from stridekit.lessons.plots import ON_WHITE
from stridekit.widgets.offline import Offline, page_of
from stridekit.widgets.palette import LINE, MUTED

WIDTH = 900  # px
COLOURS = 64  # of the palette of a still
# The most shades of 255 by which pictures may differ: by rounding, and seen from afar.
ROUNDED = 25
AFAR = 48
# A ribbon and paler colours show that a still is not the widget itself.
STYLE = f"""
body {{ margin: 0; background: #fff; }}
[data-widget] {{ width: {WIDTH}px; box-sizing: border-box; padding: 0 9px; border: 1px dashed {MUTED[0]}; }}
[data-widget] > p {{ margin: 0 -9px 6px; padding: 4px 12px; background: {LINE[0]}; font: bold 13px Arial; }}
.stridekit {{ opacity: .8 !important; }}
.sk-frame {{ display: none !important; }}
"""
DRAWN = "[...document.querySelectorAll('[data-widget]')].every((node) => node.querySelector('.stridekit'))"
ADD_RIBBON = """([k, text]) => document.querySelector(`[data-widget="${k}"]`)
  .prepend(Object.assign(document.createElement("p"), { textContent: text }))"""


def ribbon(widget: Offline) -> str:
    """Return the words that tell a reader how to bring a widget to life."""
    is_card = "_problem" in widget.state
    return "▶ Shift+Enter to answer" if is_card else "▶ Shift+Enter to play"


def take_stills(outputs: Iterable[Any], states: Mapping[str, Any]) -> None:
    """Add a still to each output that shows a widget; `states` are those of all models of the run."""
    shown: list[tuple[Any, Offline]] = []
    for output in outputs:
        key = output.get("data", {}).get(WIDGET_VIEW, {}).get("model_id")
        has_report = "text/html" in output.get("data", {})  # an exercise needs no picture as well
        if "_code" in states.get(key, {}) and not has_report:
            shown.append((output, Offline.of(key, states)))
    if not shown:
        return
    if not find_chromium():
        raise NotebookError(
            "still pictures of widgets need Chromium, which was not found: install it"
        )
    # The thread of a test may already run a browser, and a thread can have one at a time.
    with ThreadPoolExecutor(1) as thread:
        pictures = thread.submit(_pictures, [widget for _, widget in shown]).result()
    for (output, _), picture in zip(shown, pictures, strict=True):
        first = output.data["text/plain"].partition("\n")[0]
        output.data["image/png"] = picture
        about = {"width": WIDTH, "alt": f"Still picture of {first}"}
        output.metadata.update({"image/png": about, **ON_WHITE})


def looks_same(a: str, b: str) -> bool:
    """Return True if two pictures in base64 differ only by how processors round the edges of lines."""
    return _difference(_image(a), _image(b)) <= ROUNDED


def looks_alike(a: str, b: str) -> bool:
    """Return True if two pictures in base64 show the same, perhaps in the fonts of two machines."""
    first = _image(a).convert("L")
    second = _image(b).convert("L")
    if 10 * abs(first.height - second.height) > second.height:
        return False
    coarse = (48, max(1, first.height // 24))  # in such blocks a letter more or less does not count
    first = first.resize(coarse, Image.Resampling.BOX)
    second = second.resize(coarse, Image.Resampling.BOX)
    return _difference(first, second) <= AFAR


def _image(png: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")


def _difference(a: Image.Image, b: Image.Image) -> int:
    """Return the largest difference in a channel of a pixel; 255, the most, for pictures of two sizes."""
    if a.size != b.size:
        return 255
    return max(ImageChops.difference(a, b).tobytes())


def _pictures(widgets: list[Offline]) -> list[str]:
    with running_browser() as browser, tempfile.TemporaryDirectory() as folder:
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        page.emulate_media(reduced_motion="reduce")
        file = Path(folder, "stills.html")
        file.write_text(page_of(widgets, style=STYLE), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_function(DRAWN)
        for k, widget in enumerate(widgets):
            page.evaluate(ADD_RIBBON, [k, ribbon(widget)])
        page.wait_for_timeout(300)  # sizes are reported, and drawn
        shots = [page.locator(f"[data-widget='{k}']").screenshot() for k in range(len(widgets))]
    return [_small(shot) for shot in shots]


def _small(shot: bytes) -> str:
    """Return a screenshot with few colours, in base64."""
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS)
    small = io.BytesIO()
    picture.save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()
