"""Execute the notebooks and store their outputs: `python tools/refresh.py [notebook ...]`.

The only writer of outputs. It runs the kernel that the tests run and writes the form of
stridekit/notebook.py, so a second run changes no byte. A widget gets a still picture (stills.py). Until the
source of its cell changes, an output that differs from run to run stays as it is stored: a picture that
looks the same, a picture of measured times, and the output of a cell that the tests ignore.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
import tempfile
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

from stills import looks_alike, take_stills
from stridekit import notebook as form

ROOT = Path(__file__).resolve().parent.parent

# How much a channel of a pixel (0 to 1) may differ between two pictures that look the same: processors
# round the position of a line differently, which shows in its smoothed edge.
SAME_SHADE = 0.1


def looks_same(a: str, b: str) -> bool:
    """True if two PNG pictures, in base64, look the same to a person."""
    if a == b:
        return True
    from matplotlib.image import imread

    first, second = (imread(io.BytesIO(base64.b64decode(png)), format="png") for png in (a, b))
    return first.shape == second.shape and bool(abs(first - second).max() <= SAME_SHADE)


def shows_the_same(was: Any, now: Any) -> bool:
    """True if the pictures of two outputs mean the same.

    Pictures of measured times differ in each run, and stills of widgets in the fonts of each machine: for
    both the words beside the picture count, and a still has to look alike from afar.
    """
    before, after = (output.get("data", {}).get("image/png") for output in (was, now))
    if not (before and after):
        return False
    says_same = was.data.get("text/plain") == now.data.get("text/plain")
    about = [output.metadata.get("image/png", {}) for output in (was, now)]
    if all(each.get("measured") for each in about) and says_same:
        return True
    if all("alt" in each for each in about):
        return says_same and looks_alike(before, after)
    return looks_same(before, after)


def keep_what_cannot_repeat(stored: Any, new: Any, renew: bool) -> None:
    """Put stored outputs back where those of a new run differ but mean the same."""
    unedited = {
        cell.get("id"): cell
        for cell, expected in zip(stored.cells, form.ids(stored), strict=True)
        if cell.cell_type == "code" and cell.get("id") == expected
    }
    for cell in new.cells:
        old = unedited.get(cell.id)
        if old is None or renew:
            continue
        if form.ignores_output(cell) and old.outputs:
            cell.outputs = deepcopy(old.outputs)
        for was, now in zip(old.outputs, cell.outputs, strict=False):
            if shows_the_same(was, now):
                now.data["image/png"] = was.data["image/png"]
                now.metadata.update(was.metadata)  # of the stored picture; what is new comes in
            if "execution_count" in now:
                now.execution_count = cell.execution_count


def refreshed(path: Path, renew: bool = False) -> str:
    """The text of the notebook with new outputs. Raises NotebookError."""
    stored = form.parse(path.read_text(encoding="utf-8"))
    new = deepcopy(stored)
    done = form.run(new, path.parent)
    take_stills([out for cell in new.cells for out in cell.get("outputs", [])], done.widget_state)
    form.tidy(new)
    keep_what_cannot_repeat(stored, new, renew)
    form.tidy(new)
    return form.write(new)


def refresh(paths: Iterable[Path], check: bool = False, renew: bool = False) -> int:
    """Refresh the notebooks, or only say which would change; return the exit status."""
    status = 0
    for path in paths:
        try:
            text = refreshed(path, renew)
        except form.NotebookError as error:
            print(f"{path}, {error}", file=sys.stderr)
            return 1
        changed = text.encode() != path.read_bytes()
        if changed and check:
            status = 1
            print(f"{path} would change: run make refresh", file=sys.stderr)
        elif changed:
            path.write_text(text, encoding="utf-8", newline="\n")
        if not check:
            print(f"{path}: {'new outputs' if changed else 'as it was'}")
    return status


def main() -> int:
    """Refresh the notebooks that the command line names, or all; return the exit status."""
    parser = argparse.ArgumentParser(description="Execute notebooks and store their outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of notebooks/ by default")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a change")
    parser.add_argument("--renew", action="store_true", help="keep no stored output")
    options = parser.parse_args()
    paths = options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        form.use_repeatable_kernel(Path(folder))
        form.list_fonts()
        return refresh(paths, options.check, options.renew)


if __name__ == "__main__":
    sys.exit(main())
