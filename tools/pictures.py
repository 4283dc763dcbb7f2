"""`make pictures`: take the README's pictures of the widgets, and the picture of links to the site.

To look at any widget while you work on it,

    python tools/pictures.py /tmp/shots "StrideExplorer()" "explore(torch.arange(24).view(4, 6).T)"

writes one PNG for each expression, theme and width. Neither needs a kernel.
"""

from __future__ import annotations

import io
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, Literal

import torch
from PIL import Image
from playwright.sync_api import Browser
from torch import nn

import stridekit
from chromium import running_browser
from stridekit import widgets
from stridekit.widgets.offline import offline_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STATIC = ROOT / "stridekit" / "export" / "static"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SETTLED = 600  # milliseconds, after which a widget has been drawn
# What a link to the site shows: the mark, the name, and an explorer without its controls.
SHARED = {"width": 1200, "height": 630}  # px, as networks cut their cards
COLOURS = 64  # of its palette
SHARED_STYLE = """
body { margin: 0; padding: 40px 64px; background: #fff; }
header { display: flex; align-items: center; gap: 24px; font: 600 40px system-ui, sans-serif; }
header svg { width: 72px; height: 72px; }
.widget { margin-top: 28px; zoom: 1.2; }
.sk-side, .sk-frame, .sk-sliders, .sk-chain, .sk-foot { display: none !important; }
"""


class _Net(nn.Module):
    """A model where one line of source makes a layout that another one copies."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3)
        self.act = nn.ReLU()
        self.head = nn.Conv2d(32, 32, 1)

    def forward(self, x: Any) -> Any:
        x = self.act(self.stem(x))
        x = x.unflatten(1, (2, 16)).transpose(1, 2)
        return self.head(x.flatten(1, 2))


def scenes() -> dict[str, Any]:
    """Return the widget of each picture in the README."""
    gaps = stridekit.Layout((4, 6), (8, 1), itemsize=4)
    explorer = widgets.StrideExplorer()
    explorer.layout = stridekit.Layout((4, 6), (8, 1), storage_offset=2, itemsize=4)
    explorer.index = (2, 3)
    stepper = widgets.ReshapeStepper(gaps, shape=(2, 12))
    stepper.step = -1
    walk = stridekit.Layout((6, 8), itemsize=8)
    net = _Net().requires_grad_(False).to(memory_format=torch.channels_last)
    photos = torch.rand(8, 3, 58, 58).to(memory_format=torch.channels_last)
    return {
        "explorer": explorer,
        "aliases": widgets.AliasExplorer((4, 6), ["y = x[1:, ::2]", "z = x[:, 4:]", "y += 100"]),
        "reshape": stepper,
        "traversal": widgets.TraversalExplorer(walk, order=(0, 1), cache_lines=4, visit=48),
        "copies": widgets.CopyTracer(stridekit.audit(net, photos)),
    }


def shoot(browser: Browser, shown: dict[str, Any], folder: Path, widths: dict[int, str]) -> None:
    """Write a picture of each widget in both themes, at each width.

    `shown` maps the beginnings of file names to widgets, `widths` maps widths in px to their ends.
    """
    page = browser.new_page()
    page.on("pageerror", lambda error: print("error:", error))
    with tempfile.TemporaryDirectory() as pages:
        file = Path(pages) / "page.html"
        for (name, widget), width in product(shown.items(), widths):
            file.write_text(offline_page([widget]), encoding="utf-8")
            page.set_viewport_size({"width": width, "height": 900})
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.goto(file.as_uri())
                page.wait_for_timeout(SETTLED)
                path = folder / f"{name}-{theme}{widths[width]}.png"
                page.locator(".stridekit").first.screenshot(path=path)
                print(path)
    page.close()


def share(browser: Browser, explorer: Any, path: Path) -> None:
    """Write the picture that stands beside a link to the site."""
    mark = (STATIC / "mark.svg").read_text(encoding="utf-8")
    header = f"<header>{mark}<span>stridekit: see how tensors live in memory</span></header>"
    page = browser.new_page()
    page.set_viewport_size({"width": SHARED["width"], "height": SHARED["height"]})
    page.set_content(offline_page([explorer]))
    page.add_style_tag(content=SHARED_STYLE)
    page.evaluate("(header) => document.body.insertAdjacentHTML('afterbegin', header)", header)
    page.wait_for_timeout(SETTLED)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
    picture.save(path, optimize=True)
    print(path)
    page.close()


def named(expressions: list[str]) -> dict[str, Any]:
    """Return the widgets of expressions, by their numbers."""
    names = {"torch": torch, "stridekit": stridekit}
    exec("from stridekit import *; from stridekit.widgets import *", names)
    return {str(k): eval(expression, names) for k, expression in enumerate(expressions)}


def main(arguments: list[str]) -> None:
    """Take the pictures of the README, or those of a folder and the expressions behind it."""
    with running_browser() as browser:
        if len(arguments) < 2:
            shown = scenes()
            shoot(browser, shown, DOCS, {1280: ""})
            share(browser, shown["explorer"], STATIC / "shared.png")
        else:
            folder, *expressions = arguments
            shoot(browser, named(expressions), Path(folder), {1280: "-1280", 800: "-800"})


if __name__ == "__main__":
    main(sys.argv[1:])
