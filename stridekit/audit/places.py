"""Where something was called: the reader's own line of code, and the expression on it."""

from __future__ import annotations

import linecache
from ast import get_source_segment
from dataclasses import dataclass
from dis import Positions
from functools import cache
from pathlib import Path, PureWindowsPath
from types import CodeType, FrameType

import torch

_LONGEST = 100  # characters of an expression
_TORCH = Path(torch.__file__).parent
_STANDARD = Path(linecache.__file__).parent
_INSTALLED = {"site-packages", "dist-packages"}
# Files that run the reader's program step by step: a call of the reader's does not begin there.
_STEPPING = [_TORCH / name for name in (
    "fx", "_functorch", "func", "autograd", "utils/checkpoint.py", "_tensor.py", "overrides.py",
    "nn/modules/module.py", "nn/modules/container.py", Path(__file__).parent,
)]  # fmt: skip

# What a frame can be: the reader's own; a library's; a library's that steps; autograd's engine.
READER, LIBRARY, STEPPING, ENGINE = range(1, 5)
# By the id of a code object, which lives on here: its hash takes as long as an op.
_codes: dict[int, tuple[CodeType, int]] = {}


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


def where(frame: FrameType | None) -> tuple[Place | None, bool, object]:
    """The reader's innermost line, whether autograd's engine runs inside of it, and the call.

    The call is a mark of the function that the reader called there, if it is one of a library's in Python.
    """
    engine, call = False, None
    while frame is not None:
        code = frame.f_code
        _, kind = _codes.get(id(code)) or _known(code)
        if kind == READER:
            return _place(id(code), frame.f_lasti), engine, call
        if kind == LIBRARY:
            call = id(frame), id(code)
        elif kind == ENGINE:
            engine = True
        frame = frame.f_back
    return None, engine, call


def is_readers(code: CodeType) -> bool:
    """Whether the reader wrote it: it is not part of torch, of audit or of the standard library."""
    return _known(code)[1] == READER


def _known(code: CodeType) -> tuple[CodeType, int]:
    if id(code) not in _codes:
        _codes[id(code)] = code, _kind(code)
    return _codes[id(code)]


def _kind(code: CodeType) -> int:
    if code.co_name == "_engine_run_backward":
        return ENGINE
    if code.co_name in ("__torch_function__", "__torch_dispatch__"):
        return STEPPING  # a tensor subclass: the line that used the tensor is the reader's
    path = Path(code.co_filename)
    if code.co_filename.startswith("<frozen") or any(map(path.is_relative_to, _STEPPING)):
        return STEPPING
    if path.is_relative_to(_TORCH):
        return LIBRARY
    is_standard = path.is_relative_to(_STANDARD) and not _INSTALLED & {*path.parts}
    return STEPPING if is_standard else READER


@cache
def _place(known: int, instruction: int) -> Place:
    """Read the line of an instruction, and the source of its expression on one line."""
    code, _ = _codes[known]
    first, last, start, end = list(code.co_positions())[instruction // 2]
    line = first or code.co_firstlineno
    lines = linecache.getlines(code.co_filename)[line - 1 : last or line]
    spot = Positions(1, len(lines), start, end)
    text = (lines and get_source_segment("".join(lines), spot)) or "".join(lines[:1])  # type: ignore[arg-type]
    text = " ".join(text.split())
    # Both ends of a long call stay: its name, and what is called on its result.
    text = text if len(text) <= _LONGEST else f"{text[:60]} … {text[-37:]}"
    return Place(code.co_filename, line, code.co_qualname, text)
