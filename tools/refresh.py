"""Execute the notebooks and store their outputs: `python tools/refresh.py [--check] [notebook ...]`.

The only writer of outputs, and of the cards that `review` asks again. It runs the kernel that the tests
run and writes the form of stridekit/lessons/notebook.py, so a second run changes no byte. A widget gets a
still picture (stills.py).
Until the source of its cell changes, an output that differs from run to run stays as it is stored: a
picture that looks the same, a picture of measured times, and the output of a cell that the tests ignore.

With --record, write what the lessons show as recorded, and no outputs. Run it while the machine does
nothing else: the lessons quote what it writes, so refresh them and read them again afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib.font_manager  # noqa: F401  (the first cell to list the fonts would print that)

from stills import looks_alike, looks_same, take_stills
from stridekit.exercises import lesson as reading
from stridekit.exercises.given import LESSON_ALONE
from stridekit.exercises.marks import WORDS
from stridekit.export.lesson import SECTION, cards
from stridekit.lessons import notebook as form
from stridekit.lessons.records import RECORDED, WRITES, Entry, Record, read

ROOT = Path(__file__).resolve().parent.parent
CARDS = ROOT / "stridekit" / "exercises" / "cards.json"
SECONDS = 600  # for a cell that is recorded: a compilation takes half a minute
# Signs of noise that stay on a machine at rest: some claims are about pages, and caches are shared.
AT_REST = ("new pages", "its best sample")


def shows_the_same(stored: Any, new: Any) -> bool:
    """Return True if the pictures of two outputs mean the same.

    Pictures of measured times differ in each run, and stills of widgets in the fonts of each machine: for
    both the words beside the picture count, and a still has to look alike from afar.
    """
    stored_picture = stored.get("data", {}).get("image/png")
    new_picture = new.get("data", {}).get("image/png")
    if not (stored_picture and new_picture):
        return False
    has_same_words = stored.data.get("text/plain") == new.data.get("text/plain")
    stored_about = stored.metadata.get("image/png", {})
    new_about = new.metadata.get("image/png", {})
    if has_same_words and stored_about.get("measured") and new_about.get("measured"):
        return True
    if "alt" in stored_about and "alt" in new_about:  # stills
        return has_same_words and looks_alike(stored_picture, new_picture)
    return looks_same(stored_picture, new_picture)


def keep_what_cannot_repeat(stored: Any, new: Any) -> None:
    """Put stored outputs back where those of a new run differ but mean the same."""
    unedited = {
        cell.get("id"): cell
        for cell, expected in zip(stored.cells, form.ids(stored), strict=True)
        if cell.cell_type == "code" and cell.get("id") == expected
    }
    for cell in new.cells:
        stored_cell = unedited.get(cell.id)
        if stored_cell is None:
            continue
        if "nbval-ignore-output" in cell.metadata.get("tags", []) and stored_cell.outputs:
            cell.outputs = deepcopy(stored_cell.outputs)
        for stored_output, output in zip(stored_cell.outputs, cell.outputs, strict=False):
            if shows_the_same(stored_output, output):
                output.data["image/png"] = stored_output.data["image/png"]
                output.metadata.update(stored_output.metadata)
            if "execution_count" in output:
                output.execution_count = cell.execution_count


def refreshed(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of the notebook with new outputs, and its cards. Raises NotebookError."""
    stored = form.parse(path.read_text(encoding="utf-8"))
    new = deepcopy(stored)
    client = form.run(new, path.parent)
    offer = reading.lesson_of(((cell.cell_type, cell.source) for cell in new.cells), path.stem)
    asked = [
        [card.section, card.problem]
        for card in cards(new, offer, client.widget_state)
        if not card.problem["question"].startswith(LESSON_ALONE)
    ]
    outputs = chain.from_iterable(cell.get("outputs", []) for cell in new.cells)
    take_stills(outputs, client.widget_state)
    mark_sections(new, offer)
    form.tidy(new)
    keep_what_cannot_repeat(stored, new)
    form.tidy(new)
    return form.write(new), {"title": offer.title, "cards": asked}


def mark_sections(book: Any, offer: reading.Lesson) -> None:
    """Give the cell of each heading a tag, which the extension of JupyterLab shows, in place."""
    shown = iter(offer.shown_marks)
    title_mark = next(shown)
    words = [cell for cell in book.cells if cell.cell_type == "markdown"]
    for number, cell in enumerate(words):
        mark = title_mark if number == 0 else ""
        for _ in SECTION.finditer(cell.source):
            mark = next(shown)
        others = [tag for tag in cell.metadata.get("tags", []) if tag not in WORDS]
        cell.metadata["tags"] = [*others, mark] if mark else others


def keep_cards(name: str, lesson: dict[str, Any]) -> None:
    """Store the cards of a lesson, with their answers, for `review`."""
    stored = json.loads(CARDS.read_text(encoding="utf-8"))
    stored[name] = lesson
    text = json.dumps(stored, ensure_ascii=False, indent=1, sort_keys=True)
    CARDS.write_text(f"{text}\n", encoding="utf-8", newline="\n")


def refresh(path: Path, check: bool = False) -> bool:
    """Refresh a notebook, or only report that it would change; return True if all is well."""
    text, lesson = refreshed(path)
    if not check and path.resolve().parent == ROOT / "notebooks":
        keep_cards(path.stem, lesson)
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
        if not isinstance(entry, Record):
            continue
        for sign in entry.noise:
            if not any(words in sign for words in AT_REST):
                yield f"{name}, noisy: {sign}"


def record(path: Path) -> bool:
    """Run a notebook that has records, and keep the new ones; return True if none of them is noisy."""
    if "record=" not in path.read_text(encoding="utf-8"):
        return True
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "new.json")
        with mock.patch.dict(os.environ, {WRITES: str(written)}):
            form.run(form.parse(path.read_text(encoding="utf-8")), path.parent, SECONDS)
        kept = Path(str(RECORDED), f"{path.stem}.json")
        shutil.copyfile(written, kept)
    _, entries = read(kept)
    print(f"{kept}: {len(entries)} records")
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
    is_well = True
    with tempfile.TemporaryDirectory() as folder:
        form.use_repeatable_kernel(Path(folder))
        for path in options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb")):
            try:
                if options.record:
                    is_well &= record(path)
                else:
                    is_well &= refresh(path, options.check)
            except form.NotebookError as error:
                print(f"{path}, {error}", file=sys.stderr)
                return 1
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
