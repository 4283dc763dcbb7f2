"""Execute the notebooks and store their outputs: `python tools/refresh.py [--check] [notebook ...]`.

The only writer of outputs. It runs the kernel that the tests run and writes the form of
stridekit/lessons/notebook.py, so a second run changes no byte. A widget gets a still picture (stills.py).
Until the source of its cell changes, an output that differs from run to run stays as it is stored: a
picture that looks the same, a picture of measured times, and the output of a cell that the tests ignore.

With --record, write what the lessons show as recorded, and no outputs. Run it while the machine does
nothing else: the lessons quote what it writes, so refresh them and read them again afterwards.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib.font_manager  # noqa: F401  (a cell that lists the fonts first would say so)

from stills import looks_alike, looks_same, take_stills
from stridekit.lessons import notebook as form
from stridekit.lessons.records import RECORDED, WRITES, Entry, Record, read

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 600  # for a cell that is recorded: a compilation takes half a minute
# Signs that stay on a machine at rest: some claims are about pages, and a shared cache has its moments.
AT_REST = ("new pages", "its best sample")


def shows_the_same(was: Any, now: Any) -> bool:
    """Return True if the pictures of two outputs mean the same.

    Pictures of measured times differ in each run, and stills of widgets in the fonts of each machine: for
    both the words beside the picture count, and a still has to look alike from afar.
    """
    before, after = (output.get("data", {}).get("image/png") for output in (was, now))
    if not (before and after):
        return False
    says_same = was.data.get("text/plain") == now.data.get("text/plain")
    about = [output.metadata.get("image/png", {}) for output in (was, now)]
    if says_same and all(each.get("measured") for each in about):
        return True
    if all("alt" in each for each in about):
        return says_same and looks_alike(before, after)
    return looks_same(before, after)


def keep_what_cannot_repeat(stored: Any, new: Any) -> None:
    """Put stored outputs back where those of a new run differ but mean the same."""
    unedited = {
        cell.get("id"): cell
        for cell, expected in zip(stored.cells, form.ids(stored), strict=True)
        if cell.cell_type == "code" and cell.get("id") == expected
    }
    for cell in new.cells:
        old = unedited.get(cell.id)
        if old is None:
            continue
        if "nbval-ignore-output" in cell.metadata.get("tags", []) and old.outputs:
            cell.outputs = deepcopy(old.outputs)
        for was, now in zip(old.outputs, cell.outputs, strict=False):
            if shows_the_same(was, now):
                now.data["image/png"] = was.data["image/png"]
                now.metadata.update(was.metadata)  # of the stored picture; what is new comes in
            if "execution_count" in now:
                now.execution_count = cell.execution_count


def refreshed(path: Path) -> str:
    """Return the text of the notebook with new outputs. Raises NotebookError."""
    stored = form.parse(path.read_text(encoding="utf-8"))
    new = deepcopy(stored)
    done = form.run(new, path.parent)
    take_stills([out for cell in new.cells for out in cell.get("outputs", [])], done.widget_state)
    form.tidy(new)
    keep_what_cannot_repeat(stored, new)
    form.tidy(new)
    return form.write(new)


def refresh(path: Path, check: bool = False) -> bool:
    """Refresh a notebook, or only say that it would change; return True if all is well."""
    text = refreshed(path)
    if text.encode() == path.read_bytes():
        print(f"{path}: as it was")
    elif check:
        print(f"{path} would change: run make refresh", file=sys.stderr)
        return False
    else:
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path}: new outputs")
    return True


def noise(entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield a line for each sign of noise that a machine at rest would not show."""
    for name, entry in entries.items():
        for sign in entry.noise if isinstance(entry, Record) else ():
            if not any(words in sign for words in AT_REST):
                yield f"{name}, noisy: {sign}"


def record(path: Path) -> bool:
    """Run a notebook that has records, and keep what its claims write; return True if nothing was noisy."""
    if "record=" not in path.read_text(encoding="utf-8"):
        return True
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder, "new.json"), RECORDED / f"{path.stem}.json"
        with mock.patch.dict(os.environ, {WRITES: str(new)}):
            form.run(form.parse(path.read_text(encoding="utf-8")), path.parent, SECONDS)
        shutil.copyfile(new, old)
    entries = read(old)[1]
    print(f"{old}: {len(entries)} records")
    signs = list(noise(entries))
    for sign in signs:
        print(f"{sign}: run it again on a machine at rest", file=sys.stderr)
    return not signs


def main(arguments: list[str] | None = None) -> int:
    """Refresh the notebooks that the command line names, or all; return the exit status."""
    parser = argparse.ArgumentParser(description="Execute notebooks and store their outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of notebooks/ by default")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a change")
    parser.add_argument("--record", action="store_true", help="write what is recorded instead")
    options = parser.parse_args(arguments)
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        form.use_repeatable_kernel(Path(folder))
        for path in options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb")):
            try:
                status |= not (record(path) if options.record else refresh(path, options.check))
            except form.NotebookError as error:
                print(f"{path}, {error}", file=sys.stderr)
                return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
