"""What a run consists of: its places in the reader's code, its operands, its copies and its ops."""

from __future__ import annotations

import linecache
from ast import get_source_segment
from dataclasses import dataclass
from dis import Positions
from functools import cache
from math import prod
from pathlib import Path, PureWindowsPath
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from stridekit.layout import Layout
from stridekit.rules import why_not_dense

Dims = tuple[int, ...]
Extent = tuple[Dims, Dims]

_LONGEST = 100  # characters of an expression
_TORCH = Path(torch.__file__).parent
_STANDARD = Path(linecache.__file__).parent
# Files that run the reader's program step by step: a call of the reader's does not begin there.
_STEPPING = [_TORCH / name for name in (
    "fx", "_functorch", "func", "autograd", "utils/checkpoint.py", "_tensor.py", "overrides.py",
    "nn/modules/module.py", "nn/modules/container.py", Path(__file__).parent,
)]  # fmt: skip

# What a frame can be: the reader's; a library's; a library's that steps; autograd's engine; a module call.
READER, LIBRARY, STEPPING, ENGINE, MODULE = range(1, 6)
_BY_NAME = {"_engine_run_backward": ENGINE, "Recorder._entering.<locals>.entering": MODULE}
# By the id of a code object, which lives on here: its hash takes as long as an op.
_codes: dict[int, CodeType] = {}
_kinds: dict[int, int] = {}


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


class Operand(NamedTuple):
    """A tensor that an op read or made; `storage` numbers the storages of a run, `version` their states."""

    storage: int
    shape: Dims
    stride: Dims
    offset: int
    itemsize: int
    dtype: str
    version: int

    @property
    def layout(self) -> Layout:
        """Its layout, in a storage that bears its number."""
        return Layout(*self[1:5], storage=f"storage {self.storage}")

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return prod(self.shape) * self.itemsize


class Kind:
    """What a copy is for. The first three change a layout; what is asked for is no surprise."""

    LAYOUT = "layout"  # one that the reader's code made, or handed in
    EXPANDED = "expanded"  # of those, one with a stride of 0
    INSIDE = "inside an op"  # one that the same call made
    ASKED = "asked for"  # by clone(), or of an input, at the door
    BROADCAST = "broadcast"
    DTYPE = "dtype"
    DEVICE = "device"
    WRITE = "write"
    CLONE = "clone"


@dataclass(slots=True)
class Copy:
    """One call of copy_: `kind` says why, `shape` and strides count elements, `bytes` were written.

    `op` is the number of the op that copied, and `operand` the place of the copied tensor among those that
    the op was given; -1 where the op copied what it had made itself.
    """

    op: int
    kind: str
    shape: Dims
    source: Dims
    target: Dims
    bytes: int
    operand: int

    @property
    def layouts(self) -> tuple[Dims, Dims, Dims]:
        """Shape, strides before and strides after."""
        return self.shape, self.source, self.target


@dataclass(slots=True, unsafe_hash=True)  # not frozen: a run makes thousands, in twice the time
class Event:
    """An op of the run: `name` was dispatched, and `call` was called: reshape may dispatch clone.

    `by_engine`: autograd's engine ran it, by one of torch's derivative formulas. `writes` are storages.
    """

    name: str
    call: str
    module: str
    place: Place | None
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    backward: bool
    by_engine: bool
    number: int
    writes: tuple[int, ...]


@cache  # layers of a model ask the same again
def kind_of(target: Extent, source: Extent, given: Extent | None, is_write: bool) -> str:
    """Why an op copied a tensor within a dtype and a device; `given` is None if the op made that tensor."""
    (shape, after), (source_shape, before) = target, source
    if len(before) != len(source_shape) or len(after) != len(shape):
        return Kind.CLONE  # a layout without strides
    numel = prod(shape)
    if is_write or (numel and why_not_dense(shape, after)):
        return Kind.WRITE  # into a part of something larger
    if shape != source_shape:
        return Kind.BROADCAST
    steps = [pair for n, *pair in zip(shape, after, before, strict=True) if n > 1]
    if numel < 2 or all(step == was for step, was in steps):
        return Kind.CLONE
    if any(was == 0 for _, was in steps):  # the op broadcast, unless it was given a stride of 0
        is_given = given and any(n > 1 and not step for n, step in zip(*given, strict=True))
        return Kind.EXPANDED if is_given else Kind.BROADCAST
    return Kind.LAYOUT if given else Kind.INSIDE


def where(frame: FrameType | None, around: Any = None) -> tuple[Place | None, bool, object]:
    """The reader's innermost line, whether autograd's engine runs inside of it, and the call.

    The call is a mark of the outermost function of a library that runs there, or in the innermost module.
    `around` is what was found where that module was called: from there on, nothing is new.
    """
    engine, call, kinds = False, None, _kinds
    while frame is not None:
        code = frame.f_code
        kind = kinds.get(id(code)) or _known(code)
        if kind == READER:
            return _place(id(code), frame.f_lasti), engine, call
        if kind == LIBRARY:
            call = id(frame), id(code)
        elif kind == ENGINE:
            engine = True
        elif kind == MODULE and around:
            return around[0], engine or around[1], call
        frame = frame.f_back
    return None, engine, call


def is_readers(code: CodeType) -> bool:
    """Whether the reader wrote it: it is not part of torch, of audit or of the standard library."""
    return _known(code) == READER


def _known(code: CodeType) -> int:
    if id(code) not in _codes:
        _codes[id(code)], _kinds[id(code)] = code, _kind(code)
    return _kinds[id(code)]


def _kind(code: CodeType) -> int:
    if kind := _BY_NAME.get(code.co_qualname):
        return kind
    path = Path(code.co_filename)
    # Of a tensor subclass: the line that used the tensor is the reader's.
    of_subclass = code.co_name in ("__torch_function__", "__torch_dispatch__")
    is_frozen = code.co_filename.startswith("<frozen")
    if of_subclass or is_frozen or any(map(path.is_relative_to, _STEPPING)):
        return STEPPING
    if path.is_relative_to(_TORCH):
        return LIBRARY
    is_installed = {"site-packages", "dist-packages"} & {*path.parts}
    return STEPPING if path.is_relative_to(_STANDARD) and not is_installed else READER


@cache
def _place(known: int, instruction: int) -> Place:
    """Read the line of an instruction, and the source of its expression on one line."""
    code = _codes[known]
    first, last, start, end = list(code.co_positions())[instruction // 2]
    line = first or code.co_firstlineno
    lines = linecache.getlines(code.co_filename)[line - 1 : last or line]
    spot = Positions(1, len(lines), start, end)
    text = (lines and get_source_segment("".join(lines), spot)) or "".join(lines[:1])  # type: ignore[arg-type]
    text = " ".join(text.split())
    # Both ends of a long call stay: its name, and what is called on its result.
    text = text if len(text) <= _LONGEST else f"{text[:60]} … {text[-37:]}"
    return Place(code.co_filename, line, code.co_qualname, text)
