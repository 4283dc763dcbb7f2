"""The record of what a learner passed and predicted: plain data in a file beside the notebooks.

Each line is a JSON object: an exercise that was passed, a card that was answered, an answer in a review or
in a drill, the path that was chosen, or the day of the notes below it. Other lines are skipped and never
removed. Nothing is kept outside a kernel, nor where the variable STRIDEKIT_KEEP_ANSWERS is "no", as in
tests.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

FOLDER = "my_answers"
RECORD = "record.jsonl"
VARIABLE = "STRIDEKIT_KEEP_ANSWERS"
MOST_BYTES = 1_000_000  # of a record
_LOCKED_BYTE = 1 << 30  # behind the end of any record


class Unreadable(OSError):
    """A file is not the expected one; the message is one line."""


class RecordError(OSError):
    """The record cannot be read or written; the message says why, and what to do."""


@dataclass
class _Kernel:
    """The notes that this kernel could not write yet, and the trouble that it told the learner about."""

    unwritten: list[dict[str, Any]] = field(default_factory=list)
    told: str = ""


_kernel = _Kernel()


@contextmanager
def _with_cure() -> Iterator[None]:
    """Raise a RecordError in place of any other OSError."""
    try:
        yield
    except OSError as error:
        raise RecordError(_cure(error)) from error


def _cure(error: OSError) -> str:
    """Return what is in the way of the record, and what to do."""
    file = f"{FOLDER}/{RECORD}"
    if isinstance(error, Unreadable):
        return f"{error}. Rename it, and a new record begins."
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "the disk is full, or you may not use more of it. Make room there."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no right to read or write {file}. Copy the lessons into a folder of your own."
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"{FOLDER} is a file, where a folder of this name is needed. Rename the file."
    if error.errno == errno.ENOENT:
        return "the folder of this notebook was moved or removed. Open the notebook again."
    return f"{file}: {error.strerror}. Mend that, or copy the lessons into another folder."


def path() -> Path | None:
    """Return the record's path, in the folder where the kernel starts; None where nothing is kept."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel") or os.environ.get(VARIABLE) == "no":
        return None
    return Path(shell.starting_dir, FOLDER, RECORD)


def record() -> list[dict[str, Any]]:
    """Return all notes, in order, and those that this kernel could not write. Raises RecordError."""
    return [note for _, note in history()]


@_with_cure()
def history() -> list[tuple[date | None, dict[str, Any]]]:
    """Return the notes of `record`, each with its day. The first notes of old records have no day."""
    file_path = path()
    if file_path is None:
        return []
    notes = _notes(file_path)
    dated = []
    day = None
    for note in notes:
        if "day" in note:
            day = date.fromisoformat(note["day"])
        else:
            dated.append((day, note))
    return dated + [(today(), note) for note in _missing(notes)]


def today() -> date:
    """Return the day that notes get."""
    return date.today()  # where the learner is


def note(**entry: Any) -> str:
    """Add a note to the record; return what is in the way of it, the first time.

    An exercise and a card are noted once. A note that cannot be written is written with the next one
    that can.
    """
    file_path = path()
    if file_path is None:
        return ""
    if _counts_again(entry) or entry not in _kernel.unwritten:
        _kernel.unwritten.append(entry)
    trouble = ""
    try:
        _write(file_path)
    except RecordError as error:
        trouble = (
            f"Your progress is not on record: {error} Until then only this kernel remembers it."
        )
    is_known = trouble == _kernel.told
    _kernel.told = trouble
    return "" if is_known else trouble


def remove() -> str:
    """Forget all notes; return in words what became of the record, "" if there was none.

    A record with lines that are no notes is not removed, but gets another name. Raises RecordError.
    """
    with _with_cure():
        file_path = path()
        _kernel.unwritten.clear()
        _kernel.told = ""
        lines = _lines(file_path) if file_path else []
        if file_path is None or not lines:
            return ""
        if not all(lines):
            aside = _free_name(file_path)
            file_path.rename(aside)
            return (
                f"{FOLDER}/{RECORD} is now {FOLDER}/{aside.name}, because it has lines that are "
                "no notes of stridekit. Delete that file if you do not need it"
            )
        file_path.unlink()
    with suppress(OSError):
        file_path.parent.rmdir()
    return f"{FOLDER}/{RECORD} removed"


def read(file_path: Path, most: int) -> str:
    """Return the text of a regular file of at most `most` bytes; raise Unreadable for any other."""
    for link in (file_path.parent, file_path):
        if link.is_symlink():
            raise Unreadable(f"{link.name} is a link")
    if file_path.exists() and not file_path.is_file():
        raise Unreadable(f"{file_path.name} is no regular file")
    with file_path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unreadable(f"{file_path.name} is larger than {most:,} bytes")
    try:
        return data.decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError:
        raise Unreadable(f"{file_path.name} is not text in UTF-8") from None


@_with_cure()
def _write(file_path: Path) -> None:
    """Append the unwritten notes that are not in the file. Raises RecordError."""
    notes = _notes(file_path)
    missing = _missing(notes)
    if missing:
        day = {"day": today().isoformat()}
        if day != next((note for note in reversed(notes) if "day" in note), None):
            missing.insert(0, day)
        file_path.parent.mkdir(exist_ok=True)
        _append(file_path, "".join(f"{json.dumps(note)}\n" for note in missing).encode())
    _kernel.unwritten.clear()


def _missing(notes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the notes of this kernel that are not among those in the file."""
    return [note for note in _kernel.unwritten if _counts_again(note) or note not in notes]


def _counts_again(note: dict[str, Any]) -> bool:
    """Return True for a note that says something new each time: the last one of its kind counts."""
    return "review" in note or "path" in note or "drill" in note


def _append(file_path: Path, data: bytes) -> None:
    """Append lines in one write, so no other kernel's note is lost or torn."""
    with file_path.open("ab+", buffering=0) as file, _alone(file):
        end = file.seek(0, os.SEEK_END)
        if end + len(data) > MOST_BYTES:
            raise Unreadable(f"{file_path.name} has reached {MOST_BYTES:,} bytes")
        file.seek(max(end - 1, 0))
        if file.read(1) not in (b"", b"\n"):
            data = b"\n" + data  # the last line is torn, or an editor left it without its end
        while data:  # a full disk takes a part, and refuses the rest
            data = data[file.write(data) :]


@contextmanager
def _alone(file: BinaryIO) -> Iterator[None]:
    """Let no other kernel write meanwhile."""
    _lock(file, "LK_LOCK")
    try:
        yield
    finally:
        _lock(file, "LK_UNLCK")


def _lock(file: BinaryIO, mode: str) -> None:
    """Lock or unlock on Windows, where to append is to seek and then to write."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), getattr(msvcrt, mode), 1)


def _notes(file_path: Path) -> list[dict[str, Any]]:
    return [note for note in _lines(file_path) if note]


def _lines(file_path: Path) -> list[dict[str, Any] | None]:
    """Return each line that is not blank: as a note, or as None if it is no note."""
    try:
        text = read(file_path, MOST_BYTES)
    except FileNotFoundError:
        return []
    # A note may stand behind a torn one. Inside of a note no other begins: JSON writes `"` as `\"`.
    lines = text.replace('{"', '\n{"').splitlines()
    return [_as_note(line) for line in lines if line.strip()]


def _as_note(line: str) -> dict[str, Any] | None:
    try:
        note = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match note:
        case {"passed": str(), **rest} | {"card": str(), "right": bool() | None, **rest}:
            return None if rest else note
        case {"review": str(), "right": bool(), **rest} | {"path": str(), **rest}:
            return None if rest else note
        case {"drill": str(), "asked": str(), "mistake": str(), **rest}:
            return None if rest else note
        case {"day": str(day), **rest}:
            return None if rest or not _is_day(day) else note
    return None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _free_name(file_path: Path) -> Path:
    """Return a path beside the record that is free: record-1.jsonl, or a later number."""
    names = (file_path.with_stem(f"{file_path.stem}-{number}") for number in count(1))
    return next(name for name in names if not name.exists())
