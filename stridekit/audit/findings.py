"""What in a run is worth a look: copies of layouts, formats that disagree, calls that do nothing.

Each copy of a layout belongs to one occurrence. Its kind is the first that fits, in the order of `KINDS`.
Occurrences whose layout was made by one line are one finding.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from stridekit.audit.causes import Cause, History, format_of, is_last
from stridekit.audit.events import Copy, Dims, Event, Kind, Operand, Place
from stridekit.audit.record import Recorder
from stridekit.layout import Layout
from stridekit.rules import dim_order
from stridekit.sdpa import why_no_flash

REPEATED, TRIP, WRITTEN_OUT = "repeated copy", "round trip", "expanded tensor written out"
LOST, TWO, RESHAPE = "channels-last lost", "convolution of two formats", "copy by reshape"
EXPLICIT, GRADIENT, OF_OP = "explicit copy", "copy by autograd", "copy inside an op"
OWN, MIXED, IDLE = "the op's own copy", "formats mixed", "call that does nothing"
SMALL = "small view of a large storage"
# Each kind of finding, and what to do where nothing more is known.
KINDS = {
    REPEATED: "make the copy once and keep it: the tensor does not change in between",
    TRIP: "stay in one order: look at what stands between the two calls",
    WRITTEN_OUT: "keep it expanded where you can: broadcasting reads a stride of 0 as it is",
    LOST: "write it so that channels stay last, or ask for the format again after it",
    TWO: "bring the model and its input to one memory_format, with to()",
    RESHAPE: "look at the line that made the layout: reshape of a contiguous tensor is a view",
    EXPLICIT: "look at what follows: most operations take any strides",
    GRADIENT: "look at the line that made the layout: autograd runs it backward, and copies for it",
    OF_OP: "give it a tensor that lies as the op needs it, made once and outside of the loop",
    OWN: "leave it: the call itself made this layout and copied it",
    MIXED: "bring both to one memory format where they are made",
    IDLE: "leave it out: the tensor is already so",
    SMALL: "clone() what you keep: then the rest can be freed",
}
LEAVE_OUT = "leave it out: nothing that follows in this run needs it"
_METHODS = ("contiguous", "to")  # that can be left out
_ALL_CALLS = (*_METHODS, "clone")
_RESHAPES = ("reshape", "flatten", "unflatten", "reshape_as", "ravel")
_CONVOLUTION = "convolution"
_MOST_OPS = 100  # of a call


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a finding: what copied or was kept, on which line, and the path of its layout.

    `op` at `place`, in `module`, copied `copied` bytes. `bytes` are those that it is about: those copied;
    those kept in memory for a small view; those of the tensor in another format than the rest. `layouts`
    has shape, strides before and strides after, in elements. `events` are numbers of the run's events,
    from the one that made the layout to this one; for a call that does nothing, of the event after it.
    `cause` and `made_by` are as in `Finding`; where the run was given the layout, `given` is that tensor.
    """

    kind: str
    bytes: int
    copied: int
    op: str
    place: Place | None
    module: str
    backward: bool
    layouts: tuple[Dims, ...]
    events: tuple[int, ...]
    given: Operand | None = None
    cause: Place | None = None
    made_by: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about layouts that costs: `kind` says what, `advice` what to do.

    `cause` is the line that made the layout which had to be copied, and `made_by` its op; where the run was
    given the layout, they are None and the name of the tensor. All occurrences of one cause are one
    finding, and its kind is that of the most bytes.
    """

    kind: str
    advice: str
    cause: Place | None
    made_by: str
    occurrences: tuple[Occurrence, ...]

    @property
    def bytes(self) -> int:
        """Sum the bytes that the finding is about."""
        return sum(each.bytes for each in self.occurrences)

    @property
    def copied(self) -> int:
        """Sum the bytes that its occurrences copied."""
        return sum(each.copied for each in self.occurrences)

    @property
    def first(self) -> Occurrence:
        """Return the first occurrence of the finding's kind, with its op and its layouts."""
        return next((x for x in self.occurrences if x.kind == self.kind), self.occurrences[0])


class Search:
    """A search through a run; kinds of its copies change to INSIDE and ASKED where they are."""

    def __init__(self, run: Recorder) -> None:
        self.run, self.ops, self.copies = run, run.ops, run.copies
        self.history = History(run)
        self.causes: dict[int, Cause] = {}  # by the index of a copy
        for k, copy in enumerate(self.copies):
            if copy.kind in (Kind.LAYOUT, Kind.EXPANDED):
                cause = self.history.cause(copy)
                if cause[0] >= 0 and self._is_one_call(copy.op, cause[0]):
                    copy.kind = Kind.INSIDE
                else:
                    self.causes[k] = cause
        self.again = self._made_again()
        self.undone = self._undone()
        for k in self.causes.keys() - {*self.undone, *self.undone.values(), *self.again}:
            if self._is_asked_for(k):
                self.copies[k].kind = Kind.ASKED
                del self.causes[k]

    def _is_one_call(self, *numbers: int) -> bool:
        """Whether one call made the layout and copied it: no line of the reader's stands between."""
        ops = [self.ops[number] for number in numbers]
        calls = {(op.place, op.module, self.run.marks[op.number]) for op in ops}
        return len(calls) == 1 and ops[0].place is not None

    def findings(self) -> tuple[Finding, ...]:
        """What is worth a look."""
        on_layouts = (*self._of_copies(), *self._of_formats())
        return together((*on_layouts, *self._of_idle(), *self._of_kept()))

    def own(self) -> tuple[Finding, ...]:
        """The copies of layouts that calls made themselves."""
        inside = ((copy, self.ops[copy.op]) for copy in self.copies if copy.kind == Kind.INSIDE)
        return together(
            self._seen(OWN, op, copy.layouts, copy.bytes, advice=self._why_math(op))
            for copy, op in inside
        )

    def _seen(
        self, kind: str, op: Event, layouts: tuple[Dims, ...], copied: int, kept: int = 0,
        path: tuple[int, ...] = (), cause: Cause = (-1, None), advice: str = "",
    ) -> Occurrence:  # fmt: skip
        number, given = cause
        made = self.ops[number] if number >= 0 else None
        name = self.run.names.get(given.storage, "a tensor from before the run") if given else ""
        cause_of = (made.place, made.call) if made else (None, name)
        at, events = (op.call, op.place, op.module, op.backward), path or (op.number,)
        size = copied + kept
        return Occurrence(kind, size, copied, *at, layouts, events, given, *cause_of, advice)

    def _of_copies(self) -> Iterator[Occurrence]:
        undone = {*self.undone.values()}  # counted where they are undone
        for k in (k for k in self.causes if k not in undone):
            copy, op, kind, cause = self.copies[k], self._op(k), self._kind(k), self.causes[k]
            size = copy.bytes
            if kind == TRIP:
                before = self.copies[self.undone[k]]
                cause, size = (before.op, None), size + before.bytes
            path = self.history.path(op.number, copy.operand, cause[0])
            advice = self._advice(copy, op, kind, cause[0] < 0)
            yield self._seen(kind, op, copy.layouts, size, 0, path, cause, advice)

    def _op(self, k: int) -> Event:
        return self.ops[self.copies[k].op]

    def _kind(self, k: int) -> str:
        copy, op = self.copies[k], self._op(k)
        kinds = {
            REPEATED: k in self.again,
            TRIP: k in self.undone,
            GRADIENT: op.by_engine,
            WRITTEN_OUT: copy.kind == Kind.EXPANDED,
            TWO: op.name == _CONVOLUTION and _odd_operand(op) is not None,
            LOST: not op.backward and self._loses_format(copy, op),
            RESHAPE: op.call in _RESHAPES,
            EXPLICIT: op.call in _ALL_CALLS,
            OF_OP: True,
        }
        return next(kind for kind, fits in kinds.items() if fits)

    def _advice(self, copy: Copy, op: Event, kind: str, is_given: bool) -> str:
        if kind in (EXPLICIT, WRITTEN_OUT) and op.call in _METHODS:
            why = self.history.why_needed(copy)
            return f"keep it, or change what needs it: {why}" if why else LEAVE_OUT
        if kind == RESHAPE and is_given:
            return "give it a contiguous tensor: reshape of that is a view"
        if kind == TWO and not is_given:
            return "keep the memory format at the line that made the layout"
        if kind == TWO and copy.operand == 0:
            return "hand in the input as x.to(memory_format=torch.channels_last)"
        return self._why_math(op) if kind == OF_OP else ""

    def _why_math(self, op: Event) -> str:
        """Why attention took the path that is written in other ops; "" if it did not, or if unclear."""
        if op.call != "scaled_dot_product_attention":
            return ""
        marks = self.run.marks
        near = self.ops[max(op.number - _MOST_OPS, 0) : op.number + _MOST_OPS]
        made: set[Operand] = set()
        given: dict[Operand, None] = {}
        for each in (each for each in near if marks[each.number] == marks[op.number]):
            given |= dict.fromkeys(x for x in each.inputs if x not in made and len(x.shape) >= 2)
            made |= {*each.outputs}
        try:
            q, k, *masks, v = (Layout(x.shape, x.stride, itemsize=x.itemsize) for x in given)
            why = why_no_flash(q, k, v, attn_mask=masks[0] if masks else None)
        except ValueError:  # too few tensors, or some that do not fit
            return ""
        is_clear = why and len(masks) < 2
        return f"attention took the math path, which copies: {why}" if is_clear else ""

    def _is_asked_for(self, k: int) -> bool:
        """clone() copies by its name; and an input is brought to a memory format once, at the door."""
        copy, op = self.copies[k], self._op(k)
        if op.call == "clone":
            return True
        row_major = Layout(copy.shape, copy.target).is_contiguous()
        at_the_door = op.inputs[copy.operand].storage not in self.run.made
        return op.call in _METHODS and not row_major and at_the_door

    def _made_again(self) -> set[int]:
        """Copies of one tensor, unchanged in between, to one layout; all of them where there are two."""
        groups: dict[Any, list[int]] = defaultdict(list)
        for k in self.causes:
            copy, op = self.copies[k], self._op(k)
            groups[op.inputs[copy.operand], copy.target, op.backward].append(k)
        return {*chain(*(x for x in groups.values() if len({self.copies[k].op for k in x}) > 1))}

    def _undone(self) -> dict[int, int]:
        """For each copy that brings back the order which an earlier one changed: that one."""
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        calls = (*_ALL_CALLS, *_RESHAPES)
        asked = [k for k in self.causes if self._op(k).call in calls and k not in self.again]
        made = {self._op(k).outputs[0].storage: k for k in asked}
        for k in asked:
            read = self.history.lineage(self.copies[k])
            for before in dict.fromkeys(made.get(operand.storage, k) for operand in read):
                if before < k and not {before, k} & taken and self._undoes(before, k):
                    pairs[k] = before
                    taken |= {before, k}
        return pairs

    def _undoes(self, before: int, after: int) -> bool:
        """Whether the second copy puts the elements back into the order in which the first found them."""
        copies = self.copies[before], self.copies[after]
        there, back = map(_moves, copies)
        are_alike = len({(copy.bytes, self.ops[copy.op].backward) for copy in copies}) == 1
        return are_alike and back == sorted(range(len(there)), key=there.__getitem__)

    def _loses_format(self, copy: Copy, op: Event) -> bool:
        """Whether a copy wrote an image with its channels last in rows: pixels now lie side by side."""
        after = self.ops[min(op.number + 1, len(self.ops) - 1)]
        merges = after.name == "_unsafe_view" and op.name == "clone"
        outs = after.outputs if merges else op.outputs
        if not outs or format_of(outs[0]) != "contiguous_format":
            return False
        read = self.history.lineage(copy)
        same = [operand for operand in read if operand.nbytes == read[0].nbytes]
        last = [operand for operand in same[:4] if is_last(operand)]
        steps = [(t, s) for n, s, t in zip(*copy.layouts, strict=True) if n > 1]
        return bool(last) and self.history.is_image(*last) and min(steps)[1] >= last[0].shape[1]

    def _of_formats(self) -> Iterator[Occurrence]:
        """Operands in different formats, where no copy tells."""
        copied = {copy.op for copy in self.copies if copy.kind in (Kind.LAYOUT, Kind.EXPANDED)}
        for op in self.ops:
            if op.backward or op.number in copied or op.writes or not op.inputs or not op.outputs:
                continue
            out, is_convolution = op.outputs[0], op.name == _CONVOLUTION
            if len(out.shape) not in (4, 5) or not self.history.is_image(*op.inputs, out):
                continue
            turns = is_last(op.inputs[0]) and format_of(out) == "contiguous_format"
            if (k := _odd_operand(op)) is not None:
                odd, kind = op.inputs[k], TWO if is_convolution else MIXED
                layouts = odd.shape, odd.stride, out.stride
                yield self._seen(kind, op, layouts, 0, odd.nbytes, *self._turned(op, k))
            elif turns and not is_convolution and op.number not in self.run.views:
                yield self._seen(LOST, op, _as_it_is(out), 0, out.nbytes)

    def _turned(self, op: Event, odd: int) -> tuple[tuple[int, ...], Cause]:
        """What made the format of the odd operand; where no line did, what made that of another one."""
        formats = [format_of(operand) for operand in op.inputs]
        others = [k for k, name in enumerate(formats) if name not in ("", formats[odd])]
        causes = [(k, self.history.turned(op.number, k)) for k in (odd, *others)]
        place, cause = next((each for each in causes if each[1][0] >= 0), causes[0])
        return self.history.path(op.number, place, cause[0]), cause

    def _of_idle(self) -> Iterator[Occurrence]:
        """Calls that do nothing, at places where no other call did something."""
        busy = {op.place for op in self.ops if op.call in _METHODS}
        for call in self.run.idle:
            if call.place not in busy:
                yield self._seen(IDLE, call, _as_it_is(call.inputs[0]), 0)

    def _of_kept(self) -> Iterator[Occurrence]:
        """Storages of the run that live on for the sake of a small part."""
        views: dict[int, list[tuple[Event, Operand]]] = defaultdict(list)
        for op in self.ops:
            for out in op.outputs:
                views[out.storage].append((op, out))
        for number, kept in self.run.kept.items():
            (maker, _), (op, out) = views[number][0], views[number][-1]
            path = maker.number, op.number
            yield self._seen(SMALL, op, _as_it_is(out), 0, kept, path, (path[0], None))


def together(seen: Iterable[Occurrence]) -> tuple[Finding, ...]:
    """The findings, the most bytes first: what one line made is one, of whatever kind."""
    groups: dict[Any, list[Occurrence]] = defaultdict(list)
    for each in seen:
        by_cause = each.cause is not None and each.copied and each.kind not in (REPEATED, TRIP)
        key = (each.kind, each.place, each.op, each.cause, each.backward)
        groups[each.cause if by_cause else key].append(each)
    findings = []
    for group in groups.values():
        sizes: Counter[str] = Counter()
        for each in group:
            sizes[each.kind] += each.bytes
        kind = sizes.most_common(1)[0][0]
        advice = {each.advice or KINDS[kind] for each in group if each.kind == kind}
        # Where calls of one finding differ, the most careful advice holds for all of them.
        careful = sorted(advice - {LEAVE_OUT}) or sorted(advice)
        made_by = first_of(each.made_by for each in group)
        findings.append(Finding(kind, careful[0], group[0].cause, made_by, tuple(group)))
    return tuple(sorted(findings, key=lambda finding: -finding.bytes))


def first_of(names: Iterable[str]) -> str:
    """The first name, and how many others there are."""
    first, *more = dict.fromkeys(names)
    return f"{first} and {len(more)} more" if more else first


def _moves(copy: Copy) -> list[int]:
    """Where in memory each dim of the target's order was in the source's, without dims of size 1."""
    dims = [dim for dim in zip(*copy.layouts, strict=True) if dim[0] > 1]
    shape, *strides = zip(*dims, strict=True)
    source, target = (dim_order(shape, stride) for stride in strides)
    return [source.index(d) for d in target]


def _as_it_is(operand: Operand) -> tuple[Dims, ...]:
    return operand.shape, operand.stride, operand.stride


def _odd_operand(op: Event) -> int | None:
    """The first operand in another format than the result, where two of its shape differ.

    Of a convolution, the input, where its format and that of the weight differ.
    """
    out, is_convolution = op.outputs[0], op.name == _CONVOLUTION
    operands = op.inputs[:2] if is_convolution else op.inputs
    formats = [format_of(x) if len(x.shape) == len(out.shape) else "" for x in operands]
    if len({*formats, ""}) < 3:
        return None
    fitting = ("", format_of(out))
    odd = (k for k, name in enumerate(formats) if is_convolution or name not in fitting)
    return next(odd, None)
