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

FOLDER = "my_answers"
RECORD = "record.jsonl"
VARIABLE = "STRIDEKIT_KEEP_ANSWERS"
MOST_BYTES = 1_000_000  # of a record


class Unreadable(OSError):
    """A file is not the expected one; the message is one line."""


def path() -> Path | None:
    """Return the record's path, in the folder where the kernel starts; None where nothing is kept."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel") or os.environ.get(VARIABLE) == "no":
        return None
    return Path(shell.starting_dir, FOLDER, RECORD)


def record() -> list[dict[str, Any]]:
    """Return all notes, in order; skip a line that is no note. Raises Unreadable for another file."""
    file_path = path()
    return [note for note in _lines(file_path) if note] if file_path else []


def note(**entry: Any) -> None:
    """Add a note to the record, unless it is there. Raises OSError."""
    file_path = path()
    if file_path is None or entry in record():
        return
    file_path.parent.mkdir(exist_ok=True)
    with file_path.open("a") as file:  # at its end, so no other kernel's note is lost
        file.write(f"{json.dumps(entry)}\n")


def remove() -> bool:
    """Remove the record, if every line is a note, and an empty folder; return whether there was one."""
    file_path = path()
    lines = _lines(file_path) if file_path else []
    if file_path is None or not lines:
        return False
    if not all(lines):
        raise Unreadable(f"{file_path.name} has lines that stridekit did not write")
    file_path.unlink()
    with suppress(OSError):
        file_path.parent.rmdir()
    return True


def read(file_path: Path, most: int) -> str:
    """Return the text of a regular file of at most `most` bytes; raise Unreadable for any other."""
    if file_path.parent.is_symlink() or file_path.is_symlink():
        raise Unreadable(f"{file_path.name} is behind a link")
    if file_path.exists() and not file_path.is_file():
        raise Unreadable(f"{file_path.name} is no regular file")
    with file_path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unreadable(f"{file_path.name} is larger than {most:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unreadable(f"{file_path.name} is not text") from None


def _lines(file_path: Path) -> list[dict[str, Any] | None]:
    """Return each line as a note, or None for a line that is no note."""
    try:
        text = read(file_path, MOST_BYTES)
    except FileNotFoundError:
        return []
    lines = [_as_note(line) for line in text.splitlines()]
    if lines and not any(lines):
        raise Unreadable(f"{file_path.name} is not a record of stridekit")
    return lines


def _as_note(line: str) -> dict[str, Any] | None:
    try:
        note = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match note:
        case {"passed": str(), **rest} | {"card": str(), "right": bool() | None, **rest}:
            return None if rest else note
    return None
