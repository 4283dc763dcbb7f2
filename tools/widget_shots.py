"""Pictures of widgets, light and dark, wide and narrow, without Jupyter.

    python tools/widget_shots.py /tmp/shots "StrideExplorer()" "explore(torch.arange(24).view(4, 6).T)"

writes one PNG for each expression, theme and width, after `--do "page.keyboard.press('Tab')"` or the like.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path
from typing import Literal

import torch

import stridekit
from browser_lab import running_browser
from stridekit import widgets
from stridekit.widgets.offline import offline_page

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS = tuple(product(THEMES, (1280, 800)))


def main() -> int:
    """Take the pictures; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("expressions", nargs="+")
    parser.add_argument("--do", default="", help="Python that acts on `page` before each picture")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    names = {"torch": torch, "stridekit": stridekit, **vars(stridekit), **vars(widgets)}
    made = [eval(expression, names) for expression in given.expressions]
    with running_browser() as browser:
        for number, widget in enumerate(made):
            file = given.folder / f"{number}.html"
            file.write_text(offline_page([widget]), encoding="utf-8")
            for theme, width in LOOKS:
                page = browser.new_page(viewport={"width": width, "height": 900})
                page.emulate_media(color_scheme=theme)
                page.on("pageerror", lambda error: print("error:", error))
                page.on("console", lambda message: print("console:", message.text))
                page.goto(file.as_uri())
                page.wait_for_timeout(400)
                exec(given.do, {"page": page})
                page.wait_for_timeout(200)
                shot = given.folder / f"{number}-{theme}-{width}.png"
                page.screenshot(path=shot, full_page=True)
                print(shot)
                page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
