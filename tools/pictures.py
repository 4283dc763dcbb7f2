"""`make pictures`: take the README's pictures of the widgets in a real JupyterLab, in both themes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from browser_lab import ROOT, find_chromium, running_lab, write_notebook

# The source of each picture, and its place on the page.
START = """import torch
from torch import nn
from stridekit import (AliasExplorer, CopyTracer, Layout, ReshapeStepper, StrideExplorer,
                       TraversalExplorer, audit)"""
SCENES = {
    "explorer": (
        """explorer = StrideExplorer()
explorer.layout = Layout((4, 6), (8, 1), storage_offset=2, itemsize=4)
explorer.index = (2, 3)
explorer""",
        ".sk-explorer",
    ),
    "aliases": (
        'AliasExplorer((4, 6), ["y = x[1:, ::2]", "z = x[:, 4:]", "y += 100"])',
        ".sk-aliases",
    ),
    "reshape": (
        """stepper = ReshapeStepper(Layout((4, 6), (8, 1), itemsize=4), shape=(2, 12))
stepper.step = -1
stepper""",
        ".sk-reshape",
    ),
    "traversal": (
        "TraversalExplorer(Layout((6, 8), itemsize=8), order=(0, 1), cache_lines=4, visit=48)",
        ".sk-traversal",
    ),
}
SCENES["copies"] = (
    """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.act, self.head = nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 1)

    def forward(self, x):
        x = self.act(self.stem(x))
        x = x.unflatten(1, (2, 16)).transpose(1, 2)
        return self.head(x.flatten(1, 2))

net = Net().requires_grad_(False).to(memory_format=torch.channels_last)
CopyTracer(audit(net, torch.rand(8, 3, 58, 58).to(memory_format=torch.channels_last)))""",
    ".sk-copies",
)
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def main() -> int:
    """Write docs/<scene>-light.png and docs/<scene>-dark.png for every scene."""
    if find_chromium() is None:
        print("Pictures: Chromium was not found: install it", file=sys.stderr)
        return 1
    (ROOT / "docs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stridekit-") as name:
        folder = Path(name)
        (folder / "root").mkdir()
        sources = [START, *(source for source, _ in SCENES.values())]
        write_notebook(folder / "root" / "scene.ipynb", sources)
        with running_lab(folder / "root", folder / "scratch") as lab:
            page = lab.open("scene.ipynb", height=4000)
            lab.run_all(page)
            for short, theme in THEMES.items():
                lab.set_theme(page, theme)
                page.wait_for_timeout(1000)
                for scene, (_, css) in SCENES.items():
                    target = ROOT / "docs" / f"{scene}-{short}.png"
                    page.locator(css).screenshot(path=target)
                    print(target.relative_to(ROOT))
            lab.close(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
