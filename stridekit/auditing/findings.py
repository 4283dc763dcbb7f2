"""What in a run is worth a look: copies of layouts, formats that disagree, calls that do nothing.

Each copy of a layout belongs to one finding. Its kind is the first that fits, in the order of `KINDS`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from stridekit.auditing.causes import History
from stridekit.auditing.copies import EXPANDED, INSIDE, LAYOUT, Copy
from stridekit.auditing.places import Place, place
from stridekit.auditing.record import PINNED, Op, Operand, Recorder
from stridekit.layout import Layout
from stridekit.rules import dim_order, why_not_contiguous

IDLE = "call that does nothing"
# Each kind of finding, and what to do.
KINDS = {
    "repeated copy": "make the copy once, and keep it: the tensor has not changed in between",
    "round trip": "stay in one order; or leave both calls out, if what stands between takes any strides",
    "expanded tensor written out": "leave it expanded: broadcasting reads a stride of 0 as it is",
    "channels-last lost": "write it so that channels stay last, or ask for the format again after it",
    "convolution of two formats": "bring the model and its input to one memory_format, with to()",
    "copy by reshape": "look at the line that made the layout: without it, reshape is a view",
    "explicit copy": "try without it: most operations take any strides, and the others copy by themselves",
    "copy inside an op": "hand it a tensor that lies as the op needs it, made so once, outside of the loop",
    "formats mixed": "bring both to one memory format where they are made",
    IDLE: "leave it out: the tensor is already so",
    "small view of a large storage": "clone() what is kept: the rest can then be freed",
}
_EXPLICIT = ("aten::contiguous", "aten::clone", "aten::to")
_RESHAPES = ("aten::reshape", "aten::flatten", "aten::unflatten", "aten::reshape_as", "aten::ravel")
_CONVOLUTION = "aten::convolution"
_FORMATS = {4: "channels_last", 5: "channels_last_3d"}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a finding: in which module, on which tensor, and the path of its layout.

    `layouts` has shape, strides before and strides after, in elements. `events` are numbers of the run's
    events, from the one that made the layout to the one that the finding is about; for a call that does
    nothing, of the event before which it stood. Where the run was given the layout, `given` is that tensor.
    """

    module: str
    layouts: tuple[tuple[int, ...], ...]
    events: tuple[int, ...]
    given: Operand | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about layouts that costs, on one line: `kind` says what, `advice` what to do.

    It happened `count` times, told in `occurrences`, and copied `copied` bytes in all. `bytes` are those
    that it is about: those copied; those kept in memory for a small view; those of the tensor in another
    format than the rest. `cause` is the line that made the layout which had to be copied, and `made_by` its
    op; where the run was given it so, they are None and "an input".
    """

    kind: str
    bytes: int
    copied: int
    op: str
    place: Place | None
    backward: bool
    cause: Place | None
    made_by: str
    occurrences: tuple[Occurrence, ...]

    @property
    def advice(self) -> str:
        """What to do."""
        return KINDS[self.kind]

    @property
    def count(self) -> int:
        """How often it happened."""
        return len(self.occurrences)

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules in which it happened."""
        return tuple(dict.fromkeys(one.module for one in self.occurrences))

    @property
    def layouts(self) -> tuple[tuple[int, ...], ...]:
        """Shape, strides before and strides after, the first time."""
        return self.occurrences[0].layouts


@dataclass(frozen=True, slots=True)
class _Seen:
    """One occurrence, before those on one line are put together."""

    kind: str
    bytes: int
    copied: int
    op: str
    spot: Any
    backward: bool
    occurrence: Occurrence
    cause: Place | None = None
    made_by: str = ""


def findings_of(run: Recorder, copies: Sequence[Copy]) -> tuple[list[Copy], tuple[Finding, ...]]:
    """The copies, those marked that a call makes of what it made itself, and the findings, by bytes."""
    history = History(run.ops)
    causes: dict[int, int] = {}
    marked = []
    for k, copy in enumerate(copies):
        if copy.kind in (LAYOUT, EXPANDED):
            causes[k] = history.cause(copy)
            if causes[k] >= 0 and _one_call(run.ops[copy.op], run.ops[causes[k]]):
                copy = Copy(copy.op, INSIDE, *_numbers(copy))
                del causes[k]
        marked.append(copy)
    seen = [
        *_of_copies(run, marked, causes, history),
        *_of_formats(run, marked),
        *_of_idle(run),
        *_of_kept(run),
    ]
    return marked, _together(seen)


def _numbers(copy: Copy) -> tuple[Any, ...]:
    return copy.shape, copy.source, copy.target, copy.bytes, copy.operand


def _one_call(op: Op, cause: Op) -> bool:
    """Whether one call of the reader did both: a library made the layout, and copied it."""
    return op.spot is not None and (op.spot, op.module) == (cause.spot, cause.module)


def _together(seen: list[_Seen]) -> tuple[Finding, ...]:
    groups: dict[tuple[Any, ...], list[_Seen]] = defaultdict(list)
    for one in seen:
        groups[one.kind, one.spot, one.op, one.backward, one.cause].append(one)
    found = []
    for (kind, spot, op, backward, cause), group in groups.items():
        at = place(*spot) if spot else None
        found.append(
            Finding(
                kind, sum(one.bytes for one in group), sum(one.copied for one in group), op, at,
                backward, cause, group[0].made_by, tuple(one.occurrence for one in group),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: -one.bytes))


# Copies ------------------------------------------------------------------------------------------


def _of_copies(
    run: Recorder, copies: list[Copy], causes: dict[int, int], history: History
) -> Iterator[_Seen]:
    again = _made_again(run, copies, causes)
    back = _undone(run, copies, causes, history)
    for k, cause in causes.items():
        copy, op = copies[k], run.ops[copies[k].op]
        if _is_asked_for(run, op, copy) and k not in back and k not in again:
            continue
        if k in back.values():
            continue  # counted where it is undone
        size, kind = copy.bytes, _kind(run, copy, op, history)
        if k in again:
            kind = "repeated copy"
        elif k in back:
            kind, cause, size = "round trip", copies[back[k]].op, size + copies[back[k]].bytes
        made = run.ops[cause] if cause >= 0 else None
        layouts = (copy.shape, copy.source, copy.target)
        seen = Occurrence(op.module, layouts, *history.chain(copy, cause))
        yield _Seen(
            kind, size, size, op.call, op.spot, op.backward, seen,
            made.place if made else None, made.call if made else "an input",
        )  # fmt: skip


def _kind(run: Recorder, copy: Copy, op: Op, history: History) -> str:
    if copy.kind == EXPANDED:
        return "expanded tensor written out"
    if op.name == _CONVOLUTION and _disagree(op):
        return "convolution of two formats"
    if not op.backward and _loses_format(run, copy, op, history):
        return "channels-last lost"
    if op.call in _RESHAPES:
        return "copy by reshape"
    return "explicit copy" if op.call in _EXPLICIT else "copy inside an op"


def _is_asked_for(run: Recorder, op: Op, copy: Copy) -> bool:
    """clone() copies by its name; and an input is brought to a memory format once, at the door."""
    row_major = Layout(copy.shape, copy.target).is_contiguous()
    at_the_door = op.inputs[copy.operand].storage not in run.made
    return op.call == "aten::clone" or (op.call in _EXPLICIT and not row_major and at_the_door)


def _made_again(run: Recorder, copies: list[Copy], causes: dict[int, int]) -> set[int]:
    """Copies of one tensor, unchanged in between, to one layout; all of them where there are two."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for k in causes:
        copy, op = copies[k], run.ops[copies[k].op]
        groups[op.inputs[copy.operand], copy.target, op.backward].append(k)
    twice = (group for group in groups.values() if len({copies[k].op for k in group}) > 1)
    return {k for group in twice for k in group}


def _undone(
    run: Recorder, copies: list[Copy], causes: dict[int, int], history: History
) -> dict[int, int]:
    """For each copy that brings back the order which an earlier one changed: that one."""
    found: dict[int, int] = {}
    asked = [k for k in causes if run.ops[copies[k].op].call in (*_EXPLICIT, *_RESHAPES)]
    made = {run.ops[copies[k].op].outputs[0].storage: k for k in asked}
    for k in asked:
        op = run.ops[copies[k].op]
        for step in history.steps(op.inputs[copies[k].operand], op.number):
            before = made.get(step.out.storage, k)
            taken = before in found or before in found.values()
            if before < k and not taken and _undoes(run, copies[before], copies[k]):
                found[k] = before
                break
    return found


def _undoes(run: Recorder, first: Copy, second: Copy) -> bool:
    """Whether the second copy puts the elements back into the order in which the first found them."""
    one_way = run.ops[first.op].backward == run.ops[second.op].backward
    there, back = _moves(first), _moves(second)
    return (
        one_way
        and first.bytes == second.bytes
        and back == tuple(map(there.index, range(len(there))))
    )


def _moves(copy: Copy) -> tuple[int, ...]:
    """Where in memory each dim of the target's order was in the source's, without dims of size 1."""
    kept = [d for d, n in enumerate(copy.shape) if n > 1]
    shape = tuple(copy.shape[d] for d in kept)
    source, target = (
        dim_order(shape, tuple(s[d] for d in kept)) for s in (copy.source, copy.target)
    )
    return tuple(source.index(d) for d in target)


# Memory formats ------------------------------------------------------------------------------------


def _of_formats(run: Recorder, copies: list[Copy]) -> Iterator[_Seen]:
    """Operands in different formats, where no copy tells."""
    copied = {copy.op for copy in copies if copy.kind in (LAYOUT, EXPANDED)}
    for op in run.ops:
        if op.backward or op.number in copied or op.writes or not op.inputs or not op.outputs:
            continue
        if len(op.outputs[0].shape) not in _FORMATS:
            continue
        kind, odd = _format_of(op)
        if odd is not None:
            size = prod(odd.shape) * odd.itemsize
            layouts = (odd.shape, odd.stride, op.outputs[0].stride)
            seen = Occurrence(op.module, layouts, (op.number,))
            yield _Seen(kind, size, 0, op.call, op.spot, False, seen)


def _format_of(op: Op) -> tuple[str, Operand | None]:
    """What is odd about the formats of an op, and which tensor it is about."""
    if op.name == _CONVOLUTION:
        return "convolution of two formats", op.inputs[0] if _disagree(op) else None
    if odd := _odd_one(op):
        return "formats mixed", odd
    lost = (
        _format(op.inputs[0]) in _FORMATS.values() and _format(op.outputs[0]) == "contiguous_format"
    )
    return "channels-last lost", op.outputs[0] if lost and op.again is None else None


def _disagree(op: Op) -> bool:
    formats = [_format(one) for one in op.inputs[:2]]
    return len(formats) == 2 and "" not in formats and formats[0] != formats[1]


def _odd_one(op: Op) -> Operand | None:
    """The first operand in another format than the result, where two of its shape differ."""
    of_shape = [one for one in op.inputs if len(one.shape) == len(op.outputs[0].shape)]
    formats = [_format(one) for one in of_shape]
    if len({name for name in formats if name}) < 2:
        return None
    mine = _format(op.outputs[0])
    return next(
        (one for one, name in zip(of_shape, formats, strict=True) if name and name != mine), None
    )


def _format(one: Operand) -> str:
    """The memory format of an operand; "" where it is in none, or in both."""
    return _format_of_strides(one.shape, one.stride) if len(one.shape) in _FORMATS else ""


@cache
def _format_of_strides(shape: tuple[int, ...], stride: tuple[int, ...]) -> str:
    found = [
        name
        for name in ("contiguous_format", _FORMATS[len(shape)])
        if not why_not_contiguous(shape, stride, name)
    ]
    return found[0] if len(found) == 1 else ""


def _loses_format(run: Recorder, copy: Copy, op: Op, history: History) -> bool:
    """Whether a copy wrote a tensor with its channels last in rows: pixels now lie side by side."""
    behind = run.ops[min(op.number + 1, len(run.ops) - 1)]
    merges = behind.name == "aten::_unsafe_view" and op.name == "aten::clone"
    out = behind.outputs if merges else op.outputs
    if not out or _format(out[0]) != "contiguous_format":
        return False
    given = op.inputs[copy.operand]
    made = [given, *(step.of for step in history.steps(given, op.number) if step.of is not None)]
    same = [one for one in made if prod(one.shape) == prod(given.shape)]
    last = [one for one in same[:4] if _format(one) in _FORMATS.values()]
    steps = [(t, s) for n, s, t in zip(copy.shape, copy.source, copy.target, strict=True) if n > 1]
    return bool(last) and min(steps)[1] >= last[0].shape[1]


# Calls and storages --------------------------------------------------------------------------------


def _of_idle(run: Recorder) -> Iterator[_Seen]:
    for one in run.idle:
        layouts = (one.operand.shape, one.operand.stride, one.operand.stride)
        seen = Occurrence(one.module, layouts, (one.number,))
        yield _Seen(IDLE, 0, 0, f"aten::{one.name}", one.spot, False, seen)


def _of_kept(run: Recorder) -> Iterator[_Seen]:
    """Storages of the run that live on for the sake of a small part."""
    for number, (reached, size) in run.kept.items():
        if not 0 < reached * PINNED <= size:
            continue
        views = [op for op in run.ops for one in op.outputs if one.storage == number]
        op = views[-1]
        one = next(one for one in op.outputs if one.storage == number)
        seen = Occurrence(
            op.module, (one.shape, one.stride, one.stride), (views[0].number, op.number)
        )
        yield _Seen(
            "small view of a large storage", size - reached, 0, op.call, op.spot, op.backward, seen,
            views[0].place, views[0].call,
        )  # fmt: skip
