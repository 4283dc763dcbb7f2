"""Audit: what a run copied and why, to read, to keep, to compare, and to assert in a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from stridekit._arguments import a_kind, many, shown, texts
from stridekit._table import columns, html_table
from stridekit.auditing.copies import EXPANDED, INSIDE, LAYOUT, Copy
from stridekit.auditing.findings import IDLE, KINDS, Finding, Occurrence
from stridekit.auditing.places import Place
from stridekit.auditing.record import Operand

if TYPE_CHECKING:
    from stridekit.auditing.run import Trial

SCHEMA = 2
_OF_LAYOUTS = (LAYOUT, EXPANDED, INSIDE)
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_BY = ("line", "op", "module")
_NOT_SEEN = (
    "not seen: what oneDNN and cuDNN reorder inside of one kernel, and other threads",
    "compiled functions run here as they were written, without being compiled",
)


@dataclass(slots=True, unsafe_hash=True)  # not frozen: a run makes thousands
class Event:
    """An op of the run: `name` was dispatched, `call` was called, in `seconds` from `start` on."""

    name: str
    call: str
    module: str
    place: Place | None
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    backward: bool
    start: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Copied:
    """How often and how much was copied: all calls of copy_, `by_kind` told apart.

    `layouts` are the bytes of those that changed nothing but a layout.
    """

    count: int
    bytes: int
    by_kind: dict[str, tuple[int, int]]

    @property
    def layouts(self) -> int:
        """The bytes that were copied to change a layout."""
        return sum(self.by_kind.get(kind, (0, 0))[1] for kind in _OF_LAYOUTS)

    def __str__(self) -> str:
        rows = [(kind, many(n, "time"), in_bytes(size)) for kind, (n, size) in self.by_kind.items()]
        title = f"{many(self.count, 'copy').replace('copys', 'copies')}, {in_bytes(self.bytes)}"
        return "\n".join([title, *columns(rows, "<>>")])

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts with a title; prints as text, shows as a table."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *columns([self.head, *self.rows], "<>>")])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.title, self.rows, head=self.head, align="<>>")


@dataclass(repr=False)
class Audit:
    """The result of `audit`: what a run copied, and why; prints as text, shows as a table.

    `findings` are worth a look, the most bytes first. `events` are all ops of the run and `copies` all
    calls of copy_, in their order; `name` says what ran, `notes` what could not be seen, and `inputs` the
    layouts of the tensors that the model was given, by name.

    >>> import torch, stridekit
    >>> found = stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4))
    >>> found.copied.layouts, [one.kind for one in found.findings]
    (48, ['copy by reshape'])
    """

    name: str
    events: tuple[Event, ...] = ()
    copies: tuple[Copy, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: dict[str, Operand] = field(default_factory=dict)
    again: Any = field(default=None, compare=False, repr=False)  # runs it once more
    block: Any = field(default=None, compare=False, repr=False)  # watches, from `with` on

    def __enter__(self) -> Audit:
        if self.block is None:
            raise TypeError("this audit has ended: `with audit() as a:` watches a block")
        return self.block.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.block.__exit__(*error)
        self.block = None

    @property
    def copied(self) -> Copied:
        """All copies of the run, by kind."""
        kinds: dict[str, tuple[int, int]] = {}
        for copy in self.copies:
            count, size = kinds.get(copy.kind, (0, 0))
            kinds[copy.kind] = count + 1, size + copy.bytes
        return Copied(len(self.copies), sum(copy.bytes for copy in self.copies), kinds)

    def table(self, by: str = "line") -> Table:
        """The copies of layouts by `line`, by `op` or by `module`, the most bytes first.

        >>> import torch, stridekit
        >>> stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4)).table(by="op")
        copies of layouts by op
          op       copies  bytes
          reshape       1   48 B
        """
        if not isinstance(by, str) or by not in _BY:
            raise ValueError(f"by is {shown(by)}: give one of {', '.join(map(repr, _BY))}")
        sums: dict[str, tuple[int, int]] = {}
        for copy in self.of_layouts():
            event = self.events[copy.op]
            names = {
                "line": str(event.place or "unknown"),
                "op": short(event.call),
                "module": event.module or "outside any module",
            }
            count, size = sums.get(names[by], (0, 0))
            sums[names[by]] = count + 1, size + copy.bytes
        ranked = sorted(sums.items(), key=lambda item: -item[1][1])
        rows = tuple((name, str(count), in_bytes(size)) for name, (count, size) in ranked)
        return Table(f"copies of layouts by {by}", (by, "copies", "bytes"), rows)

    def assert_no_copies(self, *, allow: Iterable[str] = (), max_bytes: int = 0) -> None:
        """Raise AssertionError, naming the lines, if findings copied more than `max_bytes` in all.

        `allow` has patterns with * and ?: a finding is allowed whose kind, op, module, `file:line` or
        expression matches one of them.

        >>> import torch, stridekit
        >>> found = stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4))
        >>> found.assert_no_copies(max_bytes=48)
        >>> found.assert_no_copies(allow=["copy by reshape"])
        """
        patterns = (allow,) if isinstance(allow, str) else texts("allow", allow)
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int):
            raise TypeError(f"max_bytes is {shown(max_bytes)}, {a_kind(max_bytes)}: give an int")
        left = [one for one in self.findings if one.copied and not _is_allowed(one, patterns)]
        size = sum(one.copied for one in left)
        if left and size > max_bytes:
            lines = "\n".join(_in_text(k, one) for k, one in enumerate(left, 1))
            raise AssertionError(
                f"{self.name} copied {in_bytes(size)} to change layouts, and {in_bytes(max_bytes)} are "
                f"allowed:\n{lines}"
            )

    def compare(self, after: Audit) -> Table:
        """What another audit of the same code finds: what is gone, what is new, and the bytes of both."""
        if not isinstance(after, Audit):
            raise TypeError(f"after is {a_kind(after)}: give an audit")
        ours, theirs = _by_what(self), _by_what(after)
        rows: list[tuple[str, ...]] = [
            (" ".join(what), in_bytes(ours.get(what, 0)), _after(theirs.get(what), ours.get(what)))
            for what in dict.fromkeys([*ours, *theirs])
        ]
        rows.append(("copies of layouts", *(in_bytes(one.copied.layouts) for one in (self, after))))
        return Table(f"{self.name}, before and after", ("finding", "before", "after"), tuple(rows))

    def without(self, finding: Finding, *, max_seconds: float = 2.0) -> Trial:
        """Run again without the call of a finding: whether the result is the same, and what is saved.

        For calls of contiguous() and of to(memory_format=...), of a model and inputs that are still
        there. A copy of the model runs, so its state stays, and both are timed side by side. Raises
        ValueError for another finding, and after `with audit()`.
        """
        if self.again is None:
            raise ValueError("only what audit(model, *inputs) ran can run again")
        return self.again.without(finding, max_seconds)

    def to_json(self) -> str:
        """All of it as JSON."""
        fields = asdict(replace(self, again=None, block=None))
        del fields["again"], fields["block"]
        return json.dumps({"schema": SCHEMA, **fields})

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """The audit that `to_json` wrote, here or elsewhere. Raises ValueError for another text."""
        try:
            fields = json.loads(text)
            if fields["schema"] != SCHEMA:
                raise ValueError(f"schema {shown(fields['schema'])}, and {SCHEMA} is read here")
            found = cls(
                str(fields["name"]),
                tuple(map(_event, fields["events"])),
                tuple(Copy(**_tuples(one)) for one in fields["copies"]),
                tuple(map(_finding, fields["findings"])),
                tuple(map(str, fields["notes"])),
                {name: Operand(**_tuples(one)) for name, one in fields["inputs"].items()},
            )
            found._check_numbers()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"this is not an audit that to_json wrote: {error!r}") from None
        return found

    def _check_numbers(self) -> None:
        """Raise ValueError for kinds that are not known, and numbers of events that are not there."""
        last = len(self.events)  # a call that does nothing may stand behind all of them
        known = all(one.kind in KINDS and one.occurrences for one in self.findings)
        numbers = [copy.op + 1 for copy in self.copies]
        for one in self.findings:
            behind = one.kind != IDLE
            numbers += [k + behind for each in one.occurrences for k in each.events]
        if not known or not all(0 <= k <= last for k in numbers):
            raise ValueError("a finding or a copy of something that did not run")

    def to_chrome_trace(self) -> str:
        """The run as JSON for chrome://tracing and Perfetto: each op with its line, layouts and copies."""
        copied: dict[int, int] = {}
        for copy in self.of_layouts():
            copied[copy.op] = copied.get(copy.op, 0) + copy.bytes
        start = min((event.start for event in self.events), default=0.0)
        traced = [
            {
                "name": event.name, "ph": "X", "pid": 0, "tid": 0, "cat": event.module or "op",
                "ts": (event.start - start) * 1e6, "dur": event.seconds * 1e6,
                "args": {
                    "line": str(event.place or ""), "call": event.call,
                    "inputs": [f"{one.shape} {one.stride}" for one in event.inputs],
                    "outputs": [f"{one.shape} {one.stride}" for one in event.outputs],
                    "copied bytes": copied.get(number, 0),
                },
            }
            for number, event in enumerate(self.events)
        ]  # fmt: skip
        return json.dumps({"traceEvents": traced})

    def of_layouts(self) -> Iterator[Copy]:
        """The copies that changed nothing but a layout."""
        return (copy for copy in self.copies if copy.kind in _OF_LAYOUTS)

    @property
    def title(self) -> str:
        """What ran, how many findings there are, and what was copied because of a layout, in one line."""
        count = sum(1 for _ in self.of_layouts())
        return (
            f"audit of {self.name}: {many(len(self.findings), 'finding')}; {count} of {len(self.copies)} "
            f"copies changed a layout, {in_bytes(self.copied.layouts)}"
        )

    def __repr__(self) -> str:
        found = [_in_text(k, one) for k, one in enumerate(self.findings, 1)]
        return "\n".join([self.title, *found, *(f"  {note}" for note in self._notes())])

    def _repr_html_(self) -> str:
        rows = [
            (
                str(k), in_bytes(one.bytes).replace(" ", "\N{NO-BREAK SPACE}"), _what(one),
                _where(one.place), _made_by(one), one.advice,
            )
            for k, one in enumerate(self.findings, 1)
        ]  # fmt: skip
        head = ("no.", "bytes", "finding", "line", "layout made by", "what to do") if rows else ()
        return html_table(self.title, rows, head=head, align="<><", foot="; ".join(self._notes()))

    def _notes(self) -> tuple[str, ...]:
        return (*self.notes, *_NOT_SEEN)


def in_bytes(size: int) -> str:
    """A number of bytes with three digits.

    >>> in_bytes(48), in_bytes(9216), in_bytes(2_457_600)
    ('48 B', '9.22 kB', '2.46 MB')
    """
    unit, each = next((one for one in _UNITS if size >= one[1]), ("B", 1))
    return f"{size} B" if unit == "B" else f"{size / each:.3g} {unit}"


def short(op: str) -> str:
    """An op without its namespace."""
    return op.removeprefix("aten::")


def _in_text(number: int, one: Finding) -> str:
    shape, *strides = one.layouts
    rows = [
        ("", "line", _where(one.place)),
        *([("", "made by", _made_by(one))] if one.made_by else []),
        ("", "layout", f"{shape}: stride {' to '.join(map(str, dict.fromkeys(strides)))}"),
        ("", "to do", one.advice),
    ]
    head = f"  {number}  {in_bytes(one.bytes)}, {_what(one)}"
    return "\n".join([head, *(f"   {line}" for line in columns(rows))])


def _what(one: Finding) -> str:
    """The kind of a finding, the op, how often, in which modules, and on which way."""
    told = [one.kind, f"in {short(one.op)}"]
    told += [many(one.count, "time")] * (one.count > 1)
    modules = [name for name in one.modules if name]
    if modules:
        more = f" and {len(modules) - 1} more" * (len(modules) > 1)
        told.append(f"{modules[0]}{more}")
    return ", ".join([*told, *["backward"] * one.backward])


def _made_by(one: Finding) -> str:
    return _where(one.cause) if one.cause else short(one.made_by)


def _where(place: Place | None) -> str:
    return f"{place}  {place.expression}" if place else "not known"


def _is_allowed(one: Finding, patterns: tuple[str, ...]) -> bool:
    place = [str(one.place), one.place.expression] if one.place else []
    names = [one.kind, one.op, short(one.op), *one.modules, *place]
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _by_what(one: Audit) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for finding in one.findings:
        what = (finding.kind, finding.place.expression if finding.place else "")
        found[what] = found.get(what, 0) + finding.bytes
    return found


def _after(after: int | None, before: int | None) -> str:
    if after is None:
        return "gone"
    return in_bytes(after) if before is not None else f"{in_bytes(after)}, new"


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """Lists of numbers of JSON as the tuples that they were."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


def _place(fields: dict[str, Any] | None) -> Place | None:
    return Place(**fields) if fields else None


def _event(fields: dict[str, Any]) -> Event:
    operands = {
        side: tuple(Operand(**_tuples(one)) for one in fields[side])
        for side in ("inputs", "outputs")
    }
    return Event(**fields | operands | {"place": _place(fields["place"])})


def _finding(fields: dict[str, Any]) -> Finding:
    places = {side: _place(fields[side]) for side in ("place", "cause")}
    occurrences = tuple(map(_occurrence, fields["occurrences"]))
    return Finding(**fields | places | {"occurrences": occurrences})


def _occurrence(fields: dict[str, Any]) -> Occurrence:
    given = fields["given"] and Operand(**_tuples(fields["given"]))
    layouts = tuple(map(tuple, fields["layouts"]))
    return Occurrence(fields["module"], layouts, tuple(fields["events"]), given)
