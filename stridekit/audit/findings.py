"""Findings: copies of layouts, memory formats that disagree, calls that do nothing, small views.

Each copy of a layout belongs to one occurrence. Its kind is the first that fits, in the order of `KINDS`.
Occurrences whose layout was made by one line are one finding.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from stridekit._arguments import in_bytes, many
from stridekit.audit.advice import Advice, Cure
from stridekit.audit.causes import Cause, History, format_of, is_channels_last
from stridekit.audit.consequences import Consequence, Consequences
from stridekit.audit.events import Copy, Dims, Event, Kind, Operand, Place
from stridekit.audit.record import Recorder
from stridekit.layout import Layout
from stridekit.rules import dim_order, memory_formats

REPEATED = "repeated copy"
TRIP = "round trip"
WRITTEN_OUT = "expanded tensor written out"
LOST = "channels-last lost"
TWO = "convolution of two formats"
RESHAPE = "copy by reshape"
EXPLICIT = "explicit copy"
GRADIENT = "copy by autograd"
WRITE_GRADIENT = "gradient of a write to a view"
OF_OP = "copy inside an op"
OWN = "the op's own copy"
MIXED = "formats mixed"
IDLE = "call that does nothing"
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
    WRITE_GRADIENT: "autograd copies the whole gradient for it: build the tensor at once, by an op that is "
    "not in place, or by cat, pad or where",
    OF_OP: "look at the line that made the layout: this op copies what does not lie as it needs it",
    OWN: "leave it: the call itself made this layout and copied it",
    MIXED: "bring both to one memory format where they are made",
    IDLE: "leave it out: the tensor is already so",
    SMALL: "clone() what you keep: then the rest can be freed",
}
LEAVE_OUT = "leave it out: nothing that follows in this run needs it"
NO_SMALLER = "a copy there would be no smaller"
LEAVE_FIRST = "leave out the first of the two calls: what stands between does not need it"
KEEP = "keep it, or change what needs it"
METHODS = ("contiguous", "to")  # that can be left out
_EXPLICIT_CALLS = (*METHODS, "clone")
_RESHAPES = ("reshape", "flatten", "unflatten", "reshape_as", "ravel")
_CONVOLUTION = "convolution"
_NO_CAUSE = Cause(-1)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a finding: what copied or was kept, on which line, and the path of its layout.

    `op` at `place`, in `module`, copied `copied` bytes to change layouts. `bytes` has all bytes that the
    occurrence is about: those that were copied, that are kept in memory for a small view, or that belong to
    a tensor in another format than the rest. `layouts` has shape, strides before and strides after, in
    elements. `events` are numbers of the run's events, from the one that made the layout to this one. For a
    call that does nothing, `events` has the number of the event after it. `cause` and `made_by` are as in
    `Finding`. If the layout came with a tensor that is older than the run, `given` is that tensor. `saves`
    has the bytes of layouts that the run copies less in all with the advice, where audit knows that.
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
    saves: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about layouts that costs: `kind` says what, `advice` what to do.

    `cause` is the line that made the layout which had to be copied, and `made_by` its op. If the layout
    came with a tensor that is older than the run, `cause` is None and `made_by` the tensor's name. All
    occurrences of one cause are one finding, and its kind is the kind with the most bytes.
    """

    kind: str
    advice: str
    cause: Place | None
    made_by: str
    occurrences: tuple[Occurrence, ...]

    def __repr__(self) -> str:
        made_by = f", made by {self.made_by}" if self.made_by else ""
        place = f" at {self.cause}" if self.cause else ""
        count = many(len(self.occurrences), "occurrence", ",")
        return f"Finding({self.kind!r}, {in_bytes(self.bytes)} in {count}{made_by}{place})"

    @property
    def bytes(self) -> int:
        """Sum the bytes that the finding is about."""
        return sum(occurrence.bytes for occurrence in self.occurrences)

    @property
    def copied(self) -> int:
        """Sum the bytes that its occurrences copied."""
        return sum(occurrence.copied for occurrence in self.occurrences)

    @property
    def saves(self) -> int:
        """Sum the bytes of layouts that the run copies less with the advice, where audit knows that."""
        if self.advice.startswith(KEEP):
            return 0
        return sum(occurrence.saves for occurrence in self.occurrences)

    @property
    def first(self) -> Occurrence:
        """Return the first occurrence of the finding's kind, with its op and its layouts."""
        return next((x for x in self.occurrences if x.kind == self.kind), self.occurrences[0])


class Search:
    """Searches a run for findings, and changes the kinds of its copies to INSIDE and ASKED."""

    def __init__(self, run: Recorder) -> None:
        self.run = run
        self.ops = run.ops
        self.copies = run.copies
        self.history = History(run)
        self.consequences = Consequences(run, self.history)
        self.advice = Advice(run, self.consequences)
        self._cured: set[Place | None] = set()  # lines whose cure has told what it saves
        self.causes: dict[int, Cause] = {}  # by the index of a copy
        for index, copy in enumerate(self.copies):
            if copy.kind in (Kind.LAYOUT, Kind.EXPANDED) and not self._is_of_write(copy):
                cause = self.history.cause(copy)
                is_one_call = cause.op >= 0 and self._is_one_call(copy.op, cause.op)
                if is_one_call and not self.advice.on_repeated_heads(copy):
                    copy.kind = Kind.INSIDE
                else:
                    self.causes[index] = cause
        self.repeated = self._repeated()
        self.undone = self._undone()
        in_findings = {*self.undone, *self.undone.values(), *self.repeated}
        for index in self.causes.keys() - in_findings:
            if self._is_asked_for(index):
                self.copies[index].kind = Kind.ASKED
                del self.causes[index]
        # By an op that copies an operand: what to do about all of its copies.
        of_ops: dict[object, list[Copy]] = defaultdict(list)
        for index, cause in self.causes.items():
            if self._kind(index) == OF_OP:
                maker = self.ops[cause.op].place if cause.op >= 0 else None
                of_ops[maker or self._op(index).place].append(self.copies[index])
        self.on_layouts = self.advice.on_layouts(of_ops.values())

    def _is_one_call(self, copying: int, making: int) -> bool:
        """Whether one call made the layout and copied it: no line of the reader's stands between.

        The gradient of a call belongs to the call.
        """
        copier, maker = self.ops[copying], self.ops[making]
        is_one_line = copier.place == maker.place and copier.module == maker.module
        is_one_call = copier.by_engine or self.run.marks[copying] == self.run.marks[making]
        return is_one_line and is_one_call and copier.place is not None

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings that a line of the reader's can change."""
        occurrences = (
            *self._copies_of_layouts(),
            *self._write_gradients(),
            *self._disagreeing_formats(),
            *self._idle_calls(),
            *self._small_views(),
        )
        return together(occurrences)

    def own(self) -> tuple[Finding, ...]:
        """Return the copies of layouts that calls made themselves."""
        occurrences = []
        for copy in self.copies:
            is_told = self._is_of_write(copy) or copy.op in self.on_layouts
            if copy.kind == Kind.INSIDE and not is_told:
                op = self.ops[copy.op]
                advice = self.advice.why_math(op)
                occurrences.append(
                    self._occurrence(OWN, op, copy.layouts, copied=copy.bytes, advice=advice)
                )
        return together(occurrences)

    def _occurrence(
        self,
        kind: str,
        op: Event,
        layouts: tuple[Dims, ...],
        *,
        copied: int = 0,
        others: int = 0,
        path: tuple[int, ...] = (),
        cause: Cause = _NO_CAUSE,
        advice: str = "",
        saves: int = 0,
    ) -> Occurrence:
        cause_place = None
        made_by = ""
        if cause.op >= 0:
            cause_place = self.ops[cause.op].place
            made_by = self.ops[cause.op].call
        elif cause.given:
            made_by = self.run.names.get(cause.given.storage, "a tensor from before the run")
        return Occurrence(
            kind=kind,
            bytes=copied + others,
            copied=copied,
            op=op.call,
            place=op.place,
            module=op.module,
            backward=op.backward,
            layouts=layouts,
            events=path or (op.number,),
            given=cause.given,
            cause=cause_place,
            made_by=made_by,
            advice=advice,
            saves=saves,
        )

    def _copies_of_layouts(self) -> Iterator[Occurrence]:
        undone = {*self.undone.values()}  # these count where they are undone
        told: set[int] = set()  # ops, all of whose copies are in one occurrence
        for index, cause in self.causes.items():
            copy = self.copies[index]
            op = self._op(index)
            if index in undone or op.number in told:
                continue
            kind = self._kind(index)
            size = copy.bytes
            if op.number in self.on_layouts:
                size = self.consequences.copied[op.number]
                told.add(op.number)
            if kind == TRIP:
                first_copy = self.copies[self.undone[index]]
                cause = Cause(first_copy.op)
                size += first_copy.bytes
            cure = self._cure(copy, op, kind, cause)
            yield self._occurrence(
                kind,
                op,
                copy.layouts,
                copied=size,
                path=self.history.path(op.number, copy.operand, cause.op),
                cause=cause,
                advice=cure.advice,
                saves=cure.saves,
            )

    def _is_of_write(self, copy: Copy) -> bool:
        """Whether autograd copied a gradient because an op had written to a view."""
        return self.run.marks[copy.op] in self.run.write_gradients

    def _write_gradients(self) -> Iterator[Occurrence]:
        """Yield writes to views whose gradients autograd copied, to change the part that was written."""
        groups: dict[object, list[Copy]] = defaultdict(list)
        for copy in self.copies:
            if self._is_of_write(copy):
                groups[self.run.marks[copy.op]].append(copy)
        for mark, copies in groups.items():
            writer = self.ops[self.run.write_gradients[mark]]
            first = copies[0]
            layout_bytes = sum(copy.bytes for copy in copies if copy.is_of_layout)
            yield self._occurrence(
                WRITE_GRADIENT,
                replace(self.ops[first.op], call=writer.call),
                first.layouts,
                copied=layout_bytes,
                others=sum(copy.bytes for copy in copies) - layout_bytes,
                path=(writer.number, first.op),
            )

    def _op(self, index: int) -> Event:
        return self.ops[self.copies[index].op]

    def _kind(self, index: int) -> str:
        """Return the kind of finding that a copy belongs to: the first that fits, as `KINDS` says."""
        copy = self.copies[index]
        op = self._op(index)
        if index in self.repeated:
            return REPEATED
        if index in self.undone:
            return TRIP
        if op.by_engine:
            return GRADIENT
        if copy.kind == Kind.EXPANDED:
            return WRITTEN_OUT
        if op.name == _CONVOLUTION and _odd_operand(op) is not None:
            return TWO
        if not op.backward and self._loses_format(copy, op):
            return LOST
        if op.call in _RESHAPES:
            return RESHAPE
        return EXPLICIT if op.call in _EXPLICIT_CALLS else OF_OP

    def _cure(self, copy: Copy, op: Event, kind: str, cause: Cause) -> Cure:
        """Return what to do about a copy, or "", and the bytes that it saves."""
        if kind in (EXPLICIT, WRITTEN_OUT) and op.call in METHODS:
            return _cure_by_leaving_out(self.consequences.without(copy))
        if kind == TRIP and self.ops[cause.op].call in METHODS:
            return self._on_trip(cause)
        advice = self._special_advice(copy, op, kind, cause)
        if advice:
            return Cure(advice, 0)
        if kind == OF_OP and op.number in self.on_layouts:
            return self.on_layouts[op.number]
        is_forward = cause.op >= 0 and not self.ops[cause.op].backward
        if is_forward and kind in (OF_OP, REPEATED, RESHAPE, GRADIENT, LOST):
            cure = self.advice.on_making(cause.op)
            if cure:
                return self._once(cure, kind, cause)
        return Cure(self._general_advice(copy, op, kind), 0)

    def _on_trip(self, cause: Cause) -> Cure:
        """Return what to do about two copies, of which the later one undoes the earlier one."""
        for copy in self.copies:
            if copy.op == cause.op:
                consequence = self.consequences.without(copy)
                if not consequence.why and consequence.saves > 0:
                    return Cure(LEAVE_FIRST, consequence.saves)
        return Cure("", 0)

    def _once(self, cure: Cure, kind: str, cause: Cause) -> Cure:
        """Return a cure at the line that made layouts: the first of its copies has what it saves."""
        if cure.saves <= 0:
            # Right before its readers, a copy of a repeated one pays all the same.
            is_known = kind in (REPEATED, LOST)
            return Cure("" if is_known else f"{KINDS[kind]}; {NO_SMALLER}", 0)
        is_told = self.ops[cause.op].place in self._cured
        self._cured.add(self.ops[cause.op].place)
        return Cure(cure.advice, 0 if is_told else cure.saves)

    def _special_advice(self, copy: Copy, op: Event, kind: str, cause: Cause) -> str:
        """Return what to do about a copy if that depends on its kind and its op alone; or ""."""
        is_given = cause.op < 0
        if kind == RESHAPE and is_given:
            return "give it a contiguous tensor: reshape of that is a view"
        if kind == TWO and not is_given:
            return "keep the memory format at the line that made the layout"
        if kind == TWO and copy.operand == 0:
            return "hand in the input as x.to(memory_format=torch.channels_last)"
        if kind == GRADIENT and is_given and _is_to_channels_last(copy):
            return KINDS[TWO]
        if kind == WRITTEN_OUT and op.call in ("masked_fill", "masked_fill_"):
            return "torch.where(mask, value, x) reads an expanded x as it is"
        if kind == WRITTEN_OUT:
            return self.advice.on_repeated_heads(copy)
        if kind == REPEATED:
            return self.advice.on_attention(op)
        if kind == OF_OP:
            return self.advice.why_math(op) or self.advice.on_attention(op)
        return ""

    def _general_advice(self, copy: Copy, op: Event, kind: str) -> str:
        """Return what to do about a copy of an op's operand; "" if no more is known."""
        if kind != OF_OP:
            return ""
        advice = self.advice.on_any_layout(copy)
        count = len(self._copying_readers[op.inputs[copy.operand]])
        if not advice and count > 1:
            return f"give it a tensor that lies as the op needs it: {count} ops copy this one"
        return advice

    @cached_property
    def _copying_readers(self) -> dict[Operand, set[int]]:
        """The ops that copy a tensor themselves, by the tensor."""
        readers: dict[Operand, set[int]] = defaultdict(set)
        for index in self.causes:
            copy = self.copies[index]
            readers[self._op(index).inputs[copy.operand]].add(copy.op)
        return readers

    def _is_asked_for(self, index: int) -> bool:
        """Whether the reader asks for a copy: by clone(), or once for an input, to change its format."""
        copy = self.copies[index]
        op = self._op(index)
        if op.call == "clone":
            return True
        is_row_major = Layout(copy.shape, copy.target).is_contiguous()
        is_of_input = op.inputs[copy.operand].storage not in self.run.made
        return op.call in METHODS and not is_row_major and is_of_input

    def _repeated(self) -> set[int]:
        """Return the copies that several ops make of one tensor, unchanged in between, to one layout."""
        groups: dict[Any, list[int]] = defaultdict(list)
        for index in self.causes:
            copy = self.copies[index]
            op = self._op(index)
            groups[op.inputs[copy.operand], copy.target, op.backward].append(index)
        repeated: set[int] = set()
        for group in groups.values():
            if len({self.copies[index].op for index in group}) > 1:
                repeated.update(group)
        return repeated

    def _undone(self) -> dict[int, int]:
        """Map each copy that brings back an order to the earlier copy that changed the order."""
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        calls = (*_EXPLICIT_CALLS, *_RESHAPES)
        candidates = [
            index
            for index in self.causes
            if self._op(index).call in calls and index not in self.repeated
        ]
        copy_of = {self._op(index).outputs[0].storage: index for index in candidates}
        for index in candidates:
            lineage = self.history.lineage(self.copies[index])
            for earlier in dict.fromkeys(copy_of.get(x.storage, index) for x in lineage):
                is_free = taken.isdisjoint((earlier, index))
                if earlier < index and is_free and self._undoes(earlier, index):
                    pairs[index] = earlier
                    taken.update((earlier, index))
        return pairs

    def _undoes(self, earlier: int, later: int) -> bool:
        """Whether the later copy puts the elements back into the order before the earlier copy."""
        if self.copies[earlier].bytes != self.copies[later].bytes:
            return False
        if self._op(earlier).backward != self._op(later).backward:
            return False
        there = _permutation(self.copies[earlier])
        back = _permutation(self.copies[later])
        return back == sorted(range(len(there)), key=there.__getitem__)

    def _loses_format(self, copy: Copy, op: Event) -> bool:
        """Whether a copy wrote an image with its channels last in rows: pixels now lie side by side."""
        following = self.ops[min(op.number + 1, len(self.ops) - 1)]
        is_reshape = following.name == "_unsafe_view" and op.name == "clone"
        outs = following.outputs if is_reshape else op.outputs
        if not outs or format_of(outs[0]) != "contiguous_format":
            return False
        lineage = self.history.lineage(copy)
        whole = [operand for operand in lineage if operand.nbytes == lineage[0].nbytes]
        images = [operand for operand in whole[:4] if is_channels_last(operand)]
        if not images or not self.history.is_image(*images):
            return False
        strides = [
            (after, before) for size, before, after in zip(*copy.layouts, strict=True) if size > 1
        ]
        _, before = min(strides)  # of the dim whose elements are side by side now
        return before >= images[0].shape[1]

    def _disagreeing_formats(self) -> Iterator[Occurrence]:
        """Yield ops with operands in different formats, or with a result in another, that do not copy."""
        copied = {copy.op for copy in self.copies if copy.kind in (Kind.LAYOUT, Kind.EXPANDED)}
        for op in self.ops:
            if op.backward or op.number in copied or op.writes or not op.inputs or not op.outputs:
                continue
            out = op.outputs[0]
            if len(out.shape) not in (4, 5) or not self.history.is_image(*op.inputs, out):
                continue
            is_convolution = op.name == _CONVOLUTION
            is_lost = is_channels_last(op.inputs[0]) and format_of(out) == "contiguous_format"
            odd_index = _odd_operand(op)
            if odd_index is not None:
                odd = op.inputs[odd_index]
                path, cause = self._made_format(op, odd_index)
                yield self._occurrence(
                    TWO if is_convolution else MIXED,
                    op,
                    (odd.shape, odd.stride, out.stride),
                    others=odd.nbytes,
                    path=path,
                    cause=cause,
                )
            elif is_lost and not is_convolution and op.number not in self.run.views:
                yield self._occurrence(LOST, op, _unchanged(out), others=out.nbytes)

    def _made_format(self, op: Event, odd_index: int) -> tuple[tuple[int, ...], Cause]:
        """Return the path and the cause of the odd operand's format, or of another operand's.

        Another operand stands in if no line made the odd operand's format.
        """
        formats = [format_of(operand) for operand in op.inputs]
        indices = [odd_index]
        for index, name in enumerate(formats):
            if name not in ("", formats[odd_index]):
                indices.append(index)
        causes = {index: self.history.format_cause(op.number, index) for index in indices}
        index = next((index for index, cause in causes.items() if cause.op >= 0), odd_index)
        return self.history.path(op.number, index, causes[index].op), causes[index]

    def _idle_calls(self) -> Iterator[Occurrence]:
        """Yield calls that do nothing, at places where no other call did something."""
        busy = {op.place for op in self.ops if op.call in METHODS}
        for call in self.run.idle:
            if call.place not in busy:
                yield self._occurrence(IDLE, call, _unchanged(call.inputs[0]))

    def _small_views(self) -> Iterator[Occurrence]:
        """Yield storages of the run that live on for the sake of a small part."""
        outputs: dict[int, list[tuple[Event, Operand]]] = defaultdict(list)
        for op in self.ops:
            for out in op.outputs:
                outputs[out.storage].append((op, out))
        for storage, kept in self.run.kept.items():
            maker, _ = outputs[storage][0]
            op, out = outputs[storage][-1]
            path = maker.number, op.number
            cause = Cause(maker.number)
            yield self._occurrence(SMALL, op, _unchanged(out), others=kept, path=path, cause=cause)


def _cure_by_leaving_out(consequence: Consequence) -> Cure:
    """Return whether to leave a call out, and what that saves."""
    movers = first_of(consequence.movers)
    if consequence.why:
        return Cure(f"{KEEP}: {consequence.why}", 0)
    if consequence.saves <= 0:
        return Cure(f"{KEEP}: the copy moves on to {movers}", 0)
    advice = f"{LEAVE_OUT}; a part of the copy moves on to {movers}" if movers else LEAVE_OUT
    return Cure(advice, consequence.saves)


def together(occurrences: Iterable[Occurrence]) -> tuple[Finding, ...]:
    """Return findings, the most bytes first: copies of one cause are one finding, whatever their kinds."""
    groups: dict[Any, list[Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        key: Any = occurrence.cause
        if occurrence.kind == WRITE_GRADIENT and occurrence.place:
            # The line `y[1:] += 1` writes twice: it adds, and sets the items.
            key = occurrence.kind, occurrence.place.file, occurrence.place.line
        elif not key or not occurrence.copied or occurrence.kind in (REPEATED, TRIP):
            key = (
                occurrence.kind,
                occurrence.place,
                occurrence.op,
                occurrence.cause,
                occurrence.backward,
            )
        groups[key].append(occurrence)
    findings = [_finding(group) for group in groups.values()]
    return tuple(sorted(findings, key=lambda finding: -finding.bytes))


def _finding(occurrences: list[Occurrence]) -> Finding:
    sizes: Counter[str] = Counter()
    for occurrence in occurrences:
        sizes[occurrence.kind] += occurrence.bytes
    kind = sizes.most_common(1)[0][0]
    advice = {x.advice or KINDS[kind] for x in occurrences if x.kind == kind}
    # If the advice for the occurrences differs, the most careful one holds for all of them.
    careful = sorted(advice - {LEAVE_OUT}) or sorted(advice)
    made_by = first_of(occurrence.made_by for occurrence in occurrences)
    return Finding(kind, careful[0], occurrences[0].cause, made_by, tuple(occurrences))


def first_of(names: Iterable[str]) -> str:
    """Return the first name, and how many different names follow."""
    first, *rest = dict.fromkeys(names) or [""]
    return f"{first} and {len(rest)} more" if rest else first


def _is_to_channels_last(copy: Copy) -> bool:
    """Whether a copy moved the channels of an image or a volume to the end."""
    if len(copy.shape) not in (4, 5):
        return False
    names = memory_formats(copy.shape, copy.target)
    return len(names) == 1 and names[0].startswith("channels_last")


def _permutation(copy: Copy) -> list[int]:
    """Return where each dim of the target's order was in the source's, without dims of size 1."""
    dims = [dim for dim in zip(*copy.layouts, strict=True) if dim[0] > 1]
    shape, before, after = zip(*dims, strict=True)
    source = dim_order(shape, before)
    return [source.index(dim) for dim in dim_order(shape, after)]


def _unchanged(operand: Operand) -> tuple[Dims, ...]:
    return operand.shape, operand.stride, operand.stride


def _odd_operand(op: Event) -> int | None:
    """Return the index of the first operand in another format than the result, if two of its shape differ.

    For a convolution, return the index of the input if its format and that of the weight differ.
    """
    out = op.outputs[0]
    is_convolution = op.name == _CONVOLUTION
    operands = op.inputs[:2] if is_convolution else op.inputs
    formats = [format_of(x) if len(x.shape) == len(out.shape) else "" for x in operands]
    if len({*formats, ""}) < 3:  # fewer than two formats
        return None
    for index, name in enumerate(formats):
        if is_convolution or name not in ("", format_of(out)):
            return index
    return None
