"""Where something was called: the reader's own line of code, and the expression on it."""

from __future__ import annotations

import linecache
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PureWindowsPath
from types import CodeType, FrameType
from typing import Any

import torch

_LONGEST = 100  # signs of an expression
# Whose lines nobody wrote who reads a report: they are called by those who did.
_LIBRARIES = [str(Path(file).parent) for file in (torch.__file__, __file__)]
_STANDARD = sysconfig.get_path("stdlib")

Spot = tuple[CodeType, int]  # a code object, and the instruction that was running in it


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source: its file, its number, the function it stands in, and the expression that ran.

    In a notebook, or where there is no file, the function takes its place, or "module" outside of one.

    >>> print(Place("/home/you/model.py", 31, "forward", "x.reshape(n, -1)"))
    model.py:31
    """

    file: str
    line: int
    function: str = ""
    expression: str = ""

    def __str__(self) -> str:
        path = PureWindowsPath(self.file)  # which reads both kinds of slashes
        is_cell = path.parent.name.startswith("ipykernel_") or self.file[:1] == "<"
        return f"{self.function.strip('<>') if is_cell else path.name}:{self.line}"


def spot(frame: FrameType | None) -> tuple[Spot | None, bool]:
    """The innermost of the reader's frames, and whether autograd's engine runs between it and here."""
    engine = False
    while frame is not None:
        code = frame.f_code
        if not _is_library(code.co_filename):
            return (code, frame.f_lasti), engine
        if code.co_name == "_engine_run_backward":
            engine = True
        frame = frame.f_back
    return None, engine


@cache
def place(code: CodeType, instruction: int) -> Place:
    """The line and the expression of a spot."""
    positions = list(code.co_positions())
    line, last, start, end = positions[instruction // 2]
    line = line or code.co_firstlineno
    return Place(
        code.co_filename, line, code.co_qualname, _expression(code, line, last, start, end)
    )


@cache
def _is_library(file: str) -> bool:
    if any(file.startswith(folder) for folder in _LIBRARIES) or file.startswith("<frozen"):
        return True
    return file.startswith(_STANDARD) and "site-packages" not in file


def _expression(code: CodeType, line: int, last: Any, start: Any, end: Any) -> str:
    """The source of an instruction, on one line; columns count bytes of UTF-8."""
    lines = [
        linecache.getline(code.co_filename, n).encode() for n in range(line, (last or line) + 1)
    ]
    if start is None or end is None or not all(lines):
        return lines[0].decode().strip() if lines else ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = " ".join(" ".join(b"".join(lines).decode(errors="replace").split()).split())
    return text if len(text) <= _LONGEST else f"… {text[-_LONGEST:]}"
