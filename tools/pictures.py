"""`make pictures`: the README's pictures of the explorer, taken in a real JupyterLab in both themes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat

from browser_lab import ROOT, find_chromium, running_lab

SCENE = """from stridekit import Layout, StrideExplorer
explorer = StrideExplorer()
explorer.layout = Layout((4, 6), (8, 1), storage_offset=2, itemsize=4)
explorer.index = (2, 3)
explorer"""
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def main() -> int:
    """Write docs/explorer-light.png and docs/explorer-dark.png."""
    if find_chromium() is None:
        print("The pictures are taken in Chromium, and there is none: install it.", file=sys.stderr)
        return 1
    (ROOT / "docs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stridekit-") as name:
        folder = Path(name)
        (folder / "root").mkdir()
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(SCENE)], metadata={"kernelspec": kernel}
        )
        nbformat.write(book, folder / "root" / "scene.ipynb")
        with running_lab(folder / "root", folder / "scratch") as lab:
            page = lab.open("scene.ipynb", height=1200)
            lab.run_all(page)
            for short, theme in THEMES.items():
                lab.set_theme(page, theme)
                page.wait_for_timeout(1000)
                target = ROOT / "docs" / f"explorer-{short}.png"
                page.locator(".sk-explorer").screenshot(path=target)
                print(target.relative_to(ROOT))
            lab.close(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
