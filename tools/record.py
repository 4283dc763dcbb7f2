"""`make record`: measure again what the lessons show as recorded.

Run it while the machine does nothing else: the lessons quote what it writes, so read them again afterwards.
`make record RECORD_ARGS=--busy` keeps every processor busy meanwhile, writes nothing, and prints which
verdicts differ from the record: what a caption says has to hold there too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import Process
from pathlib import Path
from typing import Any

from stridekit import notebook as form
from stridekit.timing.records import RECORDED, WRITES, Record

ROOT = Path(__file__).resolve().parent.parent


def record(paths: Iterable[Path], into: Path) -> None:
    """Run the notebooks, and let their claims write into a file. Raises NotebookError."""
    os.environ[WRITES] = str(into)
    for path in paths:
        form.run(form.parse(path.read_text(encoding="utf-8")), path.parent, seconds=600)


def differences(was: Any, now: Any) -> list[str]:
    """A line for each ratio whose verdict is not the recorded one."""
    lines = []
    for name, entry in now["records"].items():
        if not isinstance(entry, dict) or name not in was["records"]:
            continue
        before, after = (Record.read(one["records"][name]).ratios for one in (was, now))
        lines += [
            f"{name}, {which}: {before[which]} {before[which].verdict}, now {ratio} {ratio.verdict}"
            for which, ratio in after.items()
            if which not in before or before[which].verdict != ratio.verdict
        ]
    return lines


@contextmanager
def busy_processors() -> Iterator[None]:
    """Give each processor something else to do."""
    others = [Process(target=_spin, daemon=True) for _ in range(os.cpu_count() or 1)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.terminate()
            other.join()


def _spin() -> None:
    while True:
        sum(range(10_000))


def main() -> int:
    """Read the command line, record, and return the exit status."""
    parser = argparse.ArgumentParser(description="Record what the lessons measure.")
    parser.add_argument("--busy", action="store_true", help="beside other work; write nothing")
    options = parser.parse_args()
    paths = [
        p for p in sorted((ROOT / "notebooks").glob("*.ipynb")) if "record=" in p.read_text("utf-8")
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        busy_processors() if options.busy else nullcontext(),
    ):
        form.use_repeatable_kernel(Path(folder))
        form.list_fonts()
        found = Path(folder) / "recorded.json"
        try:
            record(paths, found)
        except form.NotebookError as error:
            print(error, file=sys.stderr)
            return 1
        text = found.read_text(encoding="utf-8")
        if RECORDED.exists():
            print(*differences(json.loads(RECORDED.read_text("utf-8")), json.loads(text)), sep="\n")
        if not options.busy:
            RECORDED.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
