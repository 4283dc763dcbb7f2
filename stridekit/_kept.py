"""What a learner has done, in plain files beside the notebooks: answers that passed, and a record.

The record has a JSON object in each line: an exercise that was passed, or a card that was answered.
Files are whole at any time, also where two kernels write at once. Nothing is kept outside a kernel, nor
where the variable STRIDEKIT_KEEP_ANSWERS is "no", as in tests.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER, RECORD = "my_answers", "record.jsonl"
VARIABLE = "STRIDEKIT_KEEP_ANSWERS"


def running_shell() -> Any:
    """The IPython shell of the kernel that this code runs in; None outside a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if hasattr(shell, "kernel") else None


def folder() -> Path | None:
    """Where things are kept: beside the notebook, as its kernel starts there. None where nothing is."""
    shell = running_shell()
    if shell is None or os.environ.get(VARIABLE) == "no":
        return None
    return Path(shell.starting_dir, FOLDER)


def write(path: Path, data: bytes, place: Callable[[str, Path], None] = os.replace) -> None:
    """Write a file: whoever reads it meanwhile finds all of what was there before, or all that is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, new = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        place(new, path)
    finally:
        Path(new).unlink(missing_ok=True)


# The record -----------------------------------------------------------------------------------------


def record() -> list[dict[str, Any]]:
    """What was noted, in order; a line that cannot be read is left out."""
    where = folder()
    found = []
    with suppress(OSError, UnicodeDecodeError):
        for line in (where / RECORD).read_text("utf-8").splitlines() if where else []:
            with suppress(ValueError, RecursionError):
                found.append(json.loads(line))
    return [one for one in found if isinstance(one, dict)]


def note(**what: Any) -> None:
    """Add a line to the record, unless it is there. Raises OSError."""
    where = folder()
    if where is None or what in record():
        return
    where.mkdir(parents=True, exist_ok=True)
    # The system adds it to the end, so no other kernel's line is lost; and to this file, behind no link.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    file = os.open(where / RECORD, flags, 0o666)
    try:
        os.write(file, f"{json.dumps(what)}\n".encode())
    finally:
        os.close(file)


# Signatures -----------------------------------------------------------------------------------------


def sign(name: str, text: str) -> str:
    """A signature that only this user can make: it says that this text was kept here under this name.

    Raises OSError if the secret can neither be read nor made.
    """
    return hmac.new(_secret(), f"{name}\n{text}".encode(), hashlib.sha256).hexdigest()


def _secret() -> bytes:
    """The user's secret, made at its first use; like Jupyter's own, which signs trusted notebooks."""
    from jupyter_core.paths import jupyter_data_dir

    path = Path(jupyter_data_dir(), "stridekit_secret")
    with suppress(FileNotFoundError):
        if len(known := path.read_bytes()) == 32:
            return known
        path.unlink()  # damaged, and then perhaps easy to guess
    with suppress(FileExistsError):  # another kernel was faster
        write(path, secrets.token_bytes(32), os.link)
    return path.read_bytes()
