"""audit(model, *inputs) and its result: to read, to keep, to compare, to assert, and to try again."""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch

from stridekit._arguments import a_kind, in_bytes, int_, shown, texts
from stridekit._table import Table
from stridekit.audit.baseline import Baseline
from stridekit.audit.events import Copy, Event, Operand
from stridekit.audit.findings import METHODS, OWN, Finding, Occurrence, Search, together
from stridekit.audit.record import Recorder
from stridekit.audit.report import FIRST, html_of, listing, text_of, title_of
from stridekit.audit.stored import read_json, write_json
from stridekit.audit.trials import ModelCall, Trial, copier, leaving_out
from stridekit.timing.speed import Speed

# An attribute by which a table groups copies, of their events or their own; the name of a group without it.
_GROUPS = {
    "line": ("place", "unknown"),
    "op": ("call", ""),
    "module": ("module", "outside of any"),
    "kind": ("kind", ""),
}
_NOT_ENTERED = "the block was not entered: write `with audit() as a:` around it"


def audit(model: Any = ..., *inputs: Any, backward: bool = False, **named: Any) -> Audit:
    """Run `model(*inputs, **named)` and say which lines copy because of a layout, and which made it so.

    `model` is a module or any other callable. With `backward=True` the gradient of its outputs' sum is
    computed as well, as a training step does. Without arguments, `with audit() as a:` watches a block. The
    result is an `Audit`; outputs, gradients, random numbers and strides are as without it. Raises
    TypeError if there is no model to call, ValueError for a gradient of what requires none, RuntimeError
    while another audit runs, and whatever the model raises.

    >>> import torch
    >>> x = torch.zeros(2, 3, 4, 5)
    >>> with audit() as a:
    ...     y = x.permute(0, 2, 3, 1).contiguous()
    >>> a.bytes
    480
    """
    if not isinstance(backward, bool):
        raise TypeError(f"backward is {a_kind(backward)}: give True or False")
    if model is ...:
        names = [*named, "backward"] if backward else [*named]
        if names:
            raise TypeError(f"audit got {', '.join(names)} and no model: name the model first")
        of_block = Audit("the block", unwatched=(_NOT_ENTERED,))
        of_block.block = _watching(of_block, None, {})
        return of_block
    if isinstance(model, type):
        name = model.__name__
        raise TypeError(f"model is the class {name}: give an instance of it, such as {name}(...)")
    if not callable(model):
        raise TypeError(f"model is {a_kind(model)}: give a module, or a function to call")
    watched = Audit(_name_of(model))
    call = ModelCall(model, inputs, named, backward)
    by_name = {f"input {k}": value for k, value in enumerate(inputs)} | named
    with _watching(watched, model, by_name) as run:
        run.ends = call.run()
    watched.again = copier(call, run.written_before())
    run.ends = None  # it lived until here, so that what it keeps in memory is seen
    return watched


def _name_of(model: Any) -> str:
    """Return the name of a function, or the class of a model, whose attributes may raise."""
    try:
        return str(model.__qualname__)
    except Exception:
        return type(model).__name__


@contextmanager
def _watching(watched: Audit, model: Any, inputs: dict[str, Any]) -> Iterator[Recorder]:
    """Watch what runs until the end of the block, and fill in the findings."""
    run = Recorder(model, inputs)
    try:
        with run.watching():
            watched.unwatched = ("the block has not ended",)
            yield run
    finally:
        search = Search(run)
        watched.findings = search.findings()
        watched.own = search.own()
        watched.copies = tuple(run.copies)
        watched.unwatched = tuple(run.gaps)
        watched.notes = tuple(run.notes())
        watched.inputs = run.inputs
        watched.events = tuple(run.ops)


@dataclass(repr=False)
class Audit:
    """The result of `audit`: what a run copied, and why; prints as text, shows as a page.

    `findings` are worth a look, the most bytes first; `own` are copies of layouts that single calls made
    themselves. Together they explain each byte in the title. `events` are all ops of the run and `copies`
    all calls of copy_, in their order. `unwatched` says what of the run was not watched: where it is not
    empty, `assert_no_copies` fails. `notes` says what ran otherwise than without an audit. `name` says
    what ran, and `inputs` has the layouts of the tensors that the model was given, by name.

    >>> import torch, stridekit
    >>> found = stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4))
    >>> found.bytes, [finding.kind for finding in found.findings]
    (48, ['copy by reshape'])
    """

    name: str
    events: tuple[Event, ...] = ()
    copies: tuple[Copy, ...] = ()
    findings: tuple[Finding, ...] = ()
    own: tuple[Finding, ...] = ()
    unwatched: tuple[str, ...] = ()
    inputs: dict[str, Operand] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # None of these is a field: they are neither compared nor stored.
        self.again: Callable[[], ModelCall] | None = None  # copies the call that ran
        self.block: AbstractContextManager[Recorder] | None = None  # until the block is entered
        self.entered: AbstractContextManager[Recorder] | None = None  # from then on
        self.thread = 0  # that entered the block

    def __enter__(self) -> Audit:
        if self.block is None:
            raise RuntimeError("this audit has begun: each `with audit() as a:` watches one block")
        self.entered = self.block
        self.block = None
        self.entered.__enter__()
        self.thread = threading.get_ident()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.entered is None:
            return
        if threading.get_ident() != self.thread:
            raise RuntimeError(
                "this audit began on another thread, and torch watches that thread: end it there"
            )
        self.entered.__exit__(*error)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"again": None, "block": None, "entered": None}

    @property
    def copied(self) -> dict[str, tuple[int, int]]:
        """The count and the bytes of all copies of the run, by kind."""
        return _counts_and_sums((copy.kind, copy.bytes) for copy in self.copies)

    @property
    def bytes(self) -> int:
        """The bytes that were copied to change a layout: those in the title."""
        return sum(copy.bytes for copy in self.of_layouts())

    def table(self, by: str = "line") -> Table:
        """The copies of layouts by `line`, by `op` or by `module`, the most bytes first; or all by `kind`.

        >>> import torch, stridekit
        >>> stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4)).table(by="op")
        copies of layouts by op
          op       copies  bytes
          reshape       1   48 B
        """
        if not isinstance(by, str) or by not in _GROUPS:
            raise ValueError(f"by is {shown(by)}: give one of {', '.join(map(repr, _GROUPS))}")
        attribute, missing = _GROUPS[by]
        copies = self.copies if by == "kind" else self.of_layouts()
        sizes = []
        for copy in copies:
            owner = copy if by == "kind" else self.events[copy.op]
            sizes.append((str(getattr(owner, attribute) or missing), copy.bytes))
        groups = [(name, *sums) for name, sums in _counts_and_sums(sizes).items()]
        groups.sort(key=lambda group: -group[2])
        rows = tuple([(name, str(count), in_bytes(size)) for name, count, size in groups])
        title = "copies by kind" if by == "kind" else f"copies of layouts by {by}"
        return Table(title, (by, "copies", "bytes"), rows)

    def assert_no_copies(self, *, allow: Iterable[str] = (), max_bytes: int = 0) -> None:
        """Raise AssertionError if copies of layouts have more than `max_bytes` in all, and name the lines.

        `allow` has patterns with * and ?: a copy is allowed if its kind, op, module, `file:line` or
        expression matches one of them. Raises as well if something of the run was not watched, and if a
        pattern matches nothing.

        >>> import torch, stridekit
        >>> found = stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4))
        >>> found.assert_no_copies(max_bytes=48)
        >>> found.assert_no_copies(allow=["copy by reshape"])
        """
        __tracebackhide__ = True  # pytest shows the line of the test, not this one
        patterns = (allow,) if isinstance(allow, str) else texts("allow", allow)
        if int_("max_bytes", max_bytes) < 0:
            raise ValueError(f"max_bytes is {max_bytes}: give 0 or more")
        self._assert_watched()
        occurrences = [*_occurrences((*self.findings, *self.own))]
        for pattern in patterns:
            if not any(_matches(occurrence, pattern) for occurrence in occurrences):
                raise AssertionError(
                    f"allow has {pattern!r}, which matches nothing that {self.name} did: remove it, "
                    "or write a kind, an op, a module, a file:line or an expression of the report"
                )
        not_allowed = [
            occurrence
            for occurrence in occurrences
            if occurrence.copied and not any(_matches(occurrence, x) for x in patterns)
        ]
        findings = together(not_allowed)
        size = sum(finding.copied for finding in findings)
        to_change = [finding for finding in findings if finding.kind != OWN]
        own = [finding for finding in findings if finding.kind == OWN]
        if size > max_bytes:
            title = (
                f"{self.name} copied {in_bytes(size)} to change layouts, "
                f"and {in_bytes(max_bytes)} are allowed:"
            )
            raise AssertionError("\n".join([title, *listing(to_change, own)]))

    def assert_no_more_than(self, path: str | os.PathLike[str], *, update: bool = False) -> None:
        """Raise AssertionError if the run copied more than the baseline in a file, and name what is new.

        Without a file, and with `update`, the baseline is written. Keep the file with the code: it names
        each copy by its op, its module and its expression, and a change of it can be read. Raises as
        well if something of the run was not watched, and ValueError for another file.

        >>> import os, tempfile, torch, stridekit
        >>> path = os.path.join(tempfile.mkdtemp(), "copies.json")
        >>> stridekit.audit(lambda x: x.t().reshape(-1), torch.zeros(3, 4)).assert_no_more_than(path)
        >>> stridekit.audit(lambda x: x.reshape(-1), torch.zeros(3, 4)).assert_no_more_than(path)
        """
        __tracebackhide__ = True
        self._assert_watched()
        path = Path(path)
        if update or not path.exists():
            Baseline.of(self).write(path)
            return
        baseline = Baseline.read(path)
        if self.bytes > baseline.copied:
            title = (
                f"{self.name} copied {in_bytes(self.bytes)} to change layouts, and {path} has "
                f"{in_bytes(baseline.copied)}. New is:"
            )
            raise AssertionError("\n".join([title, *listing(baseline.new_in(self), ())]))

    def _assert_watched(self) -> None:
        """Raise if something of the run was not watched."""
        __tracebackhide__ = True
        if self.unwatched:
            gaps = "; ".join(self.unwatched)
            raise AssertionError(
                f"{self.name} was not watched as a whole, so nothing follows: {gaps}"
            )

    def compare(self, after: Audit) -> Table:
        """Compare with another audit of the same code: what is gone, what is new, and the bytes of both."""
        if not isinstance(after, Audit):
            raise TypeError(f"after is {a_kind(after)}: give an audit")
        sizes_before = _sizes(self.findings)
        sizes_after = _sizes(after.findings)
        rows = []
        for name in dict.fromkeys([*sizes_before, *sizes_after]):
            size_after = in_bytes(sizes_after[name]) if name in sizes_after else "gone"
            if name not in sizes_before:
                size_after += ", new"
            rows.append((name, in_bytes(sizes_before[name]), size_after))
        rows.append(("copies of layouts", in_bytes(self.bytes), in_bytes(after.bytes)))
        return Table(f"{self.name}, before and after", ("finding", "before", "after"), tuple(rows))

    def without(
        self, finding: Finding, *, rounds: int | None = None, max_seconds: float = 2.0
    ) -> Trial:
        """Run again without the calls of a finding: whether the result is the same, and what it saves.

        For calls of contiguous() and of to(memory_format=...), of a model and inputs that are still
        there. Copies of the model and of the inputs run, and both ways are timed side by side, for
        `rounds` rounds or `max_seconds`. Raises ValueError for another finding, for a function that
        writes to a tensor that cannot be copied, and after `with audit()`.
        """
        from stridekit.timing import TooShort, compare

        if self.again is None:
            raise ValueError("only what audit(model, *inputs) ran can run again")
        if not isinstance(finding, Finding):
            raise TypeError(f"finding is {a_kind(finding)}: give one of the audit's findings")
        calls = []
        for occurrence in finding.occurrences:
            if occurrence.place and occurrence.op in METHODS:
                calls.append((occurrence.op, occurrence.place))
        if not calls:
            raise ValueError(
                f"{shown(finding.kind)} in {finding.first.op} cannot be left out: "
                "only contiguous() and to(memory_format=...) can"
            )
        expression = " and ".join(dict.fromkeys(place.expression for _, place in calls))
        with torch.random.fork_rng():
            with audit() as first:
                before = self.again().outcome()
            call = self.again()  # the first copy may have changed its inputs and its model
            try:
                with leaving_out(calls), audit() as second:
                    after = call.outcome()
                torch.testing.assert_close(after, before, equal_nan=True)
            except Exception as error:  # whatever a model raises that needs the call
                return Trial(expression, False, 0, None, str(error).strip().splitlines()[0])
            fewer = first.bytes - second.bytes
            functions = {
                "as it is": leaving_out(calls, is_active=False)(call.run),
                "without": leaving_out(calls)(call.run),
            }
            try:
                times = compare(functions, rounds=rounds, max_seconds=max_seconds)
            except TooShort as error:
                return Trial(expression, True, fewer, None, str(error))
        return Trial(expression, True, fewer, times)

    def to_json(self) -> str:
        """Write all of it as JSON."""
        return write_json(self)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Read an audit that `to_json` wrote, here or elsewhere. Raises ValueError for another text."""
        return read_json(text, cls)

    def of_layouts(self) -> Iterator[Copy]:
        """The copies that changed nothing but a layout, which nothing asked for."""
        return (copy for copy in self.copies if copy.is_of_layout)

    @property
    def title(self) -> str:
        """One line: what ran, the number of findings, and the bytes copied because of a layout."""
        return title_of(self)

    def report(self, most: int | None = None, *, speed: float | None = None) -> str:
        """Write the audit as text: all findings and copies inside of calls, or the first `most`.

        A time is an estimate: bytes that are read and written, over `speed` in bytes per second. Unless
        you give it, it is that of the copy which `bandwidth()` measured last in this process, or that of
        lesson 08's record. A copy that turns a layout takes longer.
        """
        if speed is None:
            return text_of(self, most)
        if not isinstance(speed, (int, float)) or not speed > 0:
            raise ValueError(
                f"speed is {shown(speed)}: give bytes per second, such as bandwidth().speeds['copy']"
            )
        return text_of(self, most, Speed(speed))

    def __repr__(self) -> str:
        return self.report(FIRST)

    def _repr_html_(self) -> str:
        return html_of(self)


def _occurrences(findings: Iterable[Finding]) -> Iterator[Occurrence]:
    for finding in findings:
        yield from finding.occurrences


def _sizes(findings: Iterable[Finding]) -> Counter[str]:
    """Sum the bytes of occurrences by their kind and their expression."""
    sizes: Counter[str] = Counter()
    for occurrence in _occurrences(findings):
        expression = occurrence.place.expression if occurrence.place else ""
        sizes[f"{occurrence.kind} {expression}"] += occurrence.bytes
    return sizes


def _counts_and_sums(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, int]]:
    """Return how often each name occurs, and the sum of its numbers."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for name, size in pairs:
        sizes[name].append(size)
    return {name: (len(numbers), sum(numbers)) for name, numbers in sizes.items()}


def _matches(occurrence: Occurrence, pattern: str) -> bool:
    path, _, _ = occurrence.module.partition(" ")
    names = [occurrence.kind, occurrence.op, occurrence.module, path]
    if occurrence.place:
        names += [str(occurrence.place), occurrence.place.expression]
    return any(fnmatchcase(name, pattern) for name in names)
