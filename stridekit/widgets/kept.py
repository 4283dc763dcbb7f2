"""The record of what a learner passed and predicted: plain data in a file beside the notebooks.

Each line is a JSON object, of an exercise that was passed or of a card that was answered. Nothing is kept
outside a kernel, nor where the variable STRIDEKIT_KEEP_ANSWERS is "no", as in tests.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER, RECORD = "my_answers", "record.jsonl"
VARIABLE = "STRIDEKIT_KEEP_ANSWERS"
MOST_BYTES = 1_000_000  # of a record


class Unreadable(OSError):
    """A file is not what it should be; the message says so in one line."""


def path() -> Path | None:
    """Return the record's path, in the folder where the kernel starts; None where nothing is kept."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel") or os.environ.get(VARIABLE) == "no":
        return None
    return Path(shell.starting_dir, FOLDER, RECORD)


def record() -> list[dict[str, Any]]:
    """Return what was noted, in order; skip a line that is no note. Raises Unreadable for another file."""
    where = path()
    return [note for note in _lines(where) if note] if where else []


def note(**what: Any) -> None:
    """Add a line to the record, unless it is there. Raises OSError."""
    where = path()
    if where is None or what in record():
        return
    where.parent.mkdir(exist_ok=True)
    with where.open("a") as file:  # at its end, so no other kernel's line is lost
        file.write(f"{json.dumps(what)}\n")


def remove() -> bool:
    """Remove the record, if every line is a note, and an empty folder; return whether there was one."""
    where = path()
    lines = _lines(where) if where else []
    if where is None or not lines:
        return False
    if not all(lines):
        raise Unreadable(f"{where.name} has lines that stridekit did not write")
    where.unlink()
    with suppress(OSError):
        where.parent.rmdir()
    return True


def read(where: Path, most: int) -> str:
    """Return the text of a regular file of at most so many bytes; raise Unreadable for anything else."""
    if where.parent.is_symlink() or where.is_symlink():
        raise Unreadable(f"{where.name} is behind a link")
    if where.exists() and not where.is_file():
        raise Unreadable(f"{where.name} is no regular file")
    try:
        with where.open("rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise Unreadable(f"{where.name} is larger than {most:,} bytes")
        return data.decode()
    except UnicodeDecodeError:
        raise Unreadable(f"{where.name} is not text") from None


def _lines(where: Path) -> list[dict[str, Any] | None]:
    """Return each line as a note, or None for a line that is none."""
    try:
        lines = [_as_note(line) for line in read(where, MOST_BYTES).splitlines()]
    except FileNotFoundError:
        return []
    if lines and not any(lines):
        raise Unreadable(f"{where.name} is not a record of stridekit")
    return lines


def _as_note(line: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        note = json.loads(line)
        match note:
            case {"passed": str(), **more} | {"card": str(), "right": bool() | None, **more}:
                return None if more else note
    return None
