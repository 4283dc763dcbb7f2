"""The parts of a run: places in the reader's code, operands, copies and events."""

from __future__ import annotations

import linecache
from ast import expr, get_source_segment, parse, stmt, walk
from dataclasses import dataclass
from dis import Positions
from functools import cache
from math import prod
from pathlib import Path, PureWindowsPath
from types import CodeType, FrameType
from typing import NamedTuple

import torch

from stridekit.layout import Layout
from stridekit.rules import why_not_dense

Dims = tuple[int, ...]
Extent = tuple[Dims, Dims]  # a shape and its strides

_LONGEST = 100  # characters of an expression
_MARIMO = 4  # columns by which a cell is indented in the file of a notebook of marimo
_TORCH = Path(torch.__file__).parent
_STANDARD = Path(linecache.__file__).parent
# Files that run the reader's program step by step: a call of the reader's does not begin there.
_STEPPING = [
    _TORCH / "fx",
    _TORCH / "_functorch",
    _TORCH / "func",
    _TORCH / "autograd",
    _TORCH / "utils/checkpoint.py",
    _TORCH / "_tensor.py",
    _TORCH / "overrides.py",
    _TORCH / "nn/modules/module.py",
    _TORCH / "nn/modules/container.py",
    Path(__file__).parent,
]

# Packages that write views of torch in other words: the line that calls them says what is meant.
_HELPERS = ("einops", "einx")

# The owners of a frame: the reader; a library; a library that steps; autograd's engine; a module call.
READER, LIBRARY, STEPPING, ENGINE, MODULE = range(1, 6)
_OWNER_BY_NAME = {
    "_engine_run_backward": ENGINE,
    "Recorder._entering.<locals>.entering": MODULE,
}
# By the id of a code object, which lives on here: its hash takes as long as an op.
_codes: dict[int, CodeType] = {}
_owners: dict[int, int] = {}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source: its file and number, the function around it, and the expression that ran.

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
        name = self.function.strip("<>") if is_cell else path.name
        return f"{name}:{self.line}"


# The reader's innermost place, whether autograd's engine runs inside of it, and a mark of the call.
Spot = tuple[Place | None, bool, object]


class Operand(NamedTuple):
    """A tensor that an op read or made.

    `storage` is the number of its storage in the run, and `version` counts the writes to that storage.
    """

    storage: int
    shape: Dims
    stride: Dims
    offset: int
    itemsize: int
    dtype: str
    version: int

    @property
    def layout(self) -> Layout:
        """The layout, in a storage that bears the number."""
        return Layout(*self[1:5], storage=f"storage {self.storage}")

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return prod(self.shape) * self.itemsize


class Kind:
    """The kinds of copies, by their purpose. Only the first three count as copies of layouts."""

    LAYOUT = "layout"  # the reader's code made the layout, or handed it in
    EXPANDED = "expanded"  # so it did, with a stride of 0
    INSIDE = "inside an op"  # the call that copies made the layout
    ASKED = "asked for"  # by clone(), or by to() of an input: this is no surprise
    BROADCAST = "broadcast"
    DTYPE = "dtype"
    DEVICE = "device"
    WRITE = "write"
    CLONE = "clone"


@dataclass(slots=True)
class Copy:
    """One call of copy_: `kind` says why, `shape` and strides count elements, `bytes` were written.

    `op` is the number of the op that copied, and `operand` the index of the copied tensor in the op's
    inputs. It is -1 if the op copied a tensor that it had made itself.
    """

    op: int
    kind: str
    shape: Dims
    source: Dims
    target: Dims
    bytes: int
    operand: int

    @property
    def is_of_layout(self) -> bool:
        """Whether the copy changed nothing but a layout, which nothing asked for."""
        return self.kind in (Kind.LAYOUT, Kind.EXPANDED, Kind.INSIDE)

    @property
    def layouts(self) -> tuple[Dims, Dims, Dims]:
        """Shape, strides before and strides after."""
        return self.shape, self.source, self.target


@dataclass(slots=True, unsafe_hash=True)  # not frozen: a run makes thousands, in twice the time
class Event:
    """An op of the run: `name` was dispatched, and `call` was called, such as clone inside of reshape.

    `by_engine` is True if autograd's engine ran the op, by one of torch's derivative formulas. `writes`
    has the numbers of the storages that the op wrote to.
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


@cache  # the layers of a model repeat the same layouts
def kind_of(target: Extent, source: Extent, operand: Extent | None, is_write: bool) -> str:
    """Return the kind of a copy within a dtype and a device.

    `operand` is the copied tensor as the op received it; None if the op made that tensor.
    """
    shape, after = target
    source_shape, before = source
    if len(before) != len(source_shape) or len(after) != len(shape):
        return Kind.CLONE  # a layout without strides
    numel = prod(shape)
    if is_write or (numel and why_not_dense(shape, after)):
        return Kind.WRITE  # into a part of something larger
    if shape != source_shape:
        return Kind.BROADCAST
    strides = [pair for size, *pair in zip(shape, before, after, strict=True) if size > 1]
    if numel < 2 or all(before == after for before, after in strides):
        return Kind.CLONE
    if any(before == 0 for before, _ in strides):
        # The op broadcast the tensor, unless its operand had a stride of 0 already.
        return Kind.EXPANDED if operand and _is_expanded(*operand) else Kind.BROADCAST
    return Kind.LAYOUT if operand else Kind.INSIDE


def _is_expanded(shape: Dims, stride: Dims) -> bool:
    return any(size > 1 and not step for size, step in zip(shape, stride, strict=True))


def where(frame: FrameType | None, called_at: Spot | None = None) -> Spot:
    """Return the spot at which a frame runs.

    The mark of the call stands for the outermost function of a library that runs at the reader's place, or
    in the innermost module. `called_at` is the spot where that module was called: the search ends there.
    """
    in_engine = False
    call = None
    owners = _owners
    while frame is not None:
        code = frame.f_code
        owner = owners.get(id(code)) or _owner(code)
        if owner == READER:
            return _place(id(code), frame.f_lasti), in_engine, call
        if owner == LIBRARY:
            call = id(frame), id(code)
        elif owner == ENGINE:
            in_engine = True
        elif owner == MODULE and called_at:
            return called_at[0], in_engine or called_at[1], call
        frame = frame.f_back
    return None, in_engine, call


def is_readers(code: CodeType) -> bool:
    """Whether the reader wrote it: it is not part of torch, of audit or of the standard library."""
    return _owner(code) == READER


def _owner(code: CodeType) -> int:
    if id(code) not in _codes:
        _codes[id(code)] = code
        _owners[id(code)] = _find_owner(code)
    return _owners[id(code)]


def _find_owner(code: CodeType) -> int:
    if code.co_qualname in _OWNER_BY_NAME:
        return _OWNER_BY_NAME[code.co_qualname]
    # A method of a tensor subclass: the line that used the tensor is the reader's.
    of_subclass = code.co_name in ("__torch_function__", "__torch_dispatch__")
    is_frozen = code.co_filename.startswith("<frozen")
    path = Path(code.co_filename)
    if of_subclass or is_frozen or any(map(path.is_relative_to, _STEPPING)):
        return STEPPING
    if path.is_relative_to(_TORCH):
        return LIBRARY
    if path.parent.name in _HELPERS or path.parent.parent.name in _HELPERS:
        return LIBRARY
    is_installed = "site-packages" in path.parts or "dist-packages" in path.parts
    return STEPPING if path.is_relative_to(_STANDARD) and not is_installed else READER


@cache
def _place(code_id: int, instruction: int) -> Place:
    """Read the line of an instruction, and the source of its expression on one line."""
    code = _codes[code_id]
    first, last, start, end = list(code.co_positions())[instruction // 2]
    number = first or code.co_firstlineno
    lines = linecache.getlines(code.co_filename)[number - 1 : last or number]
    shift = _shift(code.co_filename, Positions(first, last, start, end))
    if start is not None and end is not None:
        start, end = start + shift, end + shift
    position = Positions(1, len(lines), start, end)
    segment = lines and get_source_segment("".join(lines), position)  # type: ignore[arg-type]
    text = " ".join((segment or "".join(lines[:1])).split())
    if (
        len(text) > _LONGEST
    ):  # its ends stay: the name of a long call, and what is called on its result
        text = f"{text[:60]} … {text[-37:]}"
    return Place(code.co_filename, number, code.co_qualname, text)


def _shift(filename: str, position: Positions) -> int:
    """Return by how many columns an expression stands further right in its file than its code says.

    marimo compiles a cell without the indentation that the cell has in the file of the notebook.
    """
    known = _positions_in_marimo(filename)
    first, last, start, end = position
    if position in known or start is None or end is None:
        return 0
    indented = Positions(first, last, start + _MARIMO, end + _MARIMO)
    return _MARIMO if indented in known else 0


@cache
def _positions_in_marimo(filename: str) -> frozenset[Positions]:
    """Return the positions of all statements and expressions of a notebook of marimo."""
    text = "".join(linecache.getlines(filename))
    if "marimo.App(" not in text:
        return frozenset()
    try:
        nodes = [node for node in walk(parse(text)) if isinstance(node, (expr, stmt))]
    except SyntaxError:  # it was edited meanwhile
        return frozenset()
    return frozenset(
        Positions(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        for node in nodes
    )
