"""`make record`: measure again what the lessons show as recorded.

Run it while the machine does nothing else: the lessons quote what it writes, so read them again afterwards.
`make record RECORD_ARGS=--compare` writes nothing, and prints which verdicts differ from the record: beside
other work, too, the captions have to hold.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

from stridekit import notebook as form
from stridekit.timing.records import RECORDED, WRITES, Entry, Record, read

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 600  # for a cell: a compilation takes half a minute
# Signs that stay on a machine at rest: some claims are about pages, and a shared cache has its moments.
AT_REST = ("new pages", "its best sample")


def record(path: Path, into: Path) -> None:
    """Run a notebook, and let its claims write into a file. Raises NotebookError."""
    with mock.patch.dict(os.environ, {WRITES: str(into)}):
        try:
            form.run(form.parse(path.read_text(encoding="utf-8")), path.parent, SECONDS)
        except form.NotebookError as error:
            raise form.NotebookError(f"{path}, {error}") from None


def differences(was: Mapping[str, Entry], now: Mapping[str, Entry]) -> Iterator[str]:
    """A line for each ratio whose verdict is not the recorded one."""
    for name, entry in now.items():
        old = was.get(name)
        if isinstance(entry, Record) and isinstance(old, Record):
            for which, ratio in entry.ratios.items():
                before = old.ratios.get(which)
                if before and before.verdict != ratio.verdict:
                    yield f"{name}, {which}: {before} {before.verdict}, now {ratio} {ratio.verdict}"


def noise(entries: Mapping[str, Entry]) -> Iterator[str]:
    """A line for each sign of noise that a machine at rest would not show."""
    for name, entry in entries.items():
        if isinstance(entry, Record):
            lasting = [sign for sign in entry.noise if not any(words in sign for words in AT_REST)]
            yield from (f"{name}, noisy: {sign}" for sign in lasting)


def main() -> int:
    """Read the command line, record, and return the exit status: 1 for a record with signs of noise."""
    parser = argparse.ArgumentParser(description="Record what the lessons measure.")
    parser.add_argument("lessons", nargs="*", help="parts of their names; all that have records")
    parser.add_argument("--compare", action="store_true", help="write nothing")
    asked = parser.parse_args()
    paths = [
        path
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        if "record=" in path.read_text(encoding="utf-8")
        and (not asked.lessons or any(part in path.stem for part in asked.lessons))
    ]
    if not paths:
        print("no such lesson has record=: nothing is recorded")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        form.use_repeatable_kernel(Path(folder))
        form.list_fonts()
        try:
            signs = [
                sign for path in paths for sign in _recorded(path, Path(folder), asked.compare)
            ]
        except form.NotebookError as error:
            print(error, file=sys.stderr)
            return 1
    for sign in signs:
        print(f"{sign}: run it again on a machine at rest", file=sys.stderr)
    return int(bool(signs))


def _recorded(path: Path, folder: Path, compare: bool) -> list[str]:
    """Record a lesson, print what is new, and return the signs of noise; with `compare` only print."""
    new, old = folder / f"{path.stem}.json", RECORDED / f"{path.stem}.json"
    record(path, new)
    _, now = read(new)
    for line in differences(read(old)[1], now):
        print(line)
    if compare:
        return []
    shutil.copyfile(new, old)
    print(f"{old}: {len(now)} records")
    return list(noise(now))


if __name__ == "__main__":
    sys.exit(main())
