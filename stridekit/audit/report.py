"""audit(model, *inputs) and its result: to read, keep and compare, to assert, and to try without a call."""

from __future__ import annotations

import copy
import json
import sys
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache, partial, wraps
from html import escape
from types import UnionType
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin, get_type_hints
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from stridekit._arguments import a_kind, in_bytes, int_, many, shown, texts
from stridekit._table import Table, columns
from stridekit.audit.events import Copy, Event, Kind, Operand, Place, where
from stridekit.audit.findings import IDLE, KINDS, Finding, Occurrence, Search, first_of, together
from stridekit.audit.kernels import MISSING
from stridekit.audit.record import Recorder, tensors_of
from stridekit.layout import Layout

if TYPE_CHECKING:
    from stridekit.timing import Comparison

SCHEMA = 4
# What a table groups copies by: an attribute of their event, and its name where there is none.
_BY = {"line": ("place", "unknown"), "op": ("call", ""), "module": ("module", "outside of any")}
_hints = cache(lambda kind: get_type_hints(kind, {**globals(), "Dims": tuple[int, ...]}))
_FIRST, _LINES = 5, 3  # findings that a report shows, and lines of one of them
_NOT_SEEN = (
    "not seen: reordering inside one kernel of oneDNN or cuDNN, other threads, worker processes",
    "compiled functions ran as they were written, and a few ops (prod, quantile, ctc_loss, matrix_exp) "
    "took other formulas, as under any dispatch mode",
)
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
    if MISSING:
        raise RuntimeError(f"audit does not run on torch {torch.__version__}: {MISSING}")
    if not isinstance(backward, bool):
        raise TypeError(f"backward is {a_kind(backward)}: give True or False")
    if model is ...:
        if extra := [*named, *(["backward"] if backward else [])]:
            raise TypeError(f"audit got {', '.join(extra)} and no model: name the model first")
        block = Audit("the block", unwatched=(_NOT_ENTERED,))
        block.block = _watching(block, None, {})
        return block
    if isinstance(model, type):
        name = model.__name__
        raise TypeError(f"model is the class {name}: give an instance of it, such as {name}(...)")
    if not callable(model):
        raise TypeError(f"model is {a_kind(model)}: give a module, or a function to call")
    watched = Audit(getattr(model, "__qualname__", type(model).__name__))
    call = model, inputs, named, backward
    with _watching(watched, model, {f"input {k}": x for k, x in enumerate(inputs)} | named) as run:
        run.ends = _run(*call)
    watched.again = _copier(call, run.written_before())
    run.ends = None  # until here, so that what it keeps in memory is seen
    return watched


def _run(model: Any, inputs: Any, named: Any, backward: bool) -> Any:
    out = model(*inputs, **named)
    if backward:
        ends = [x for x in tree_leaves(out) if isinstance(x, torch.Tensor) and x.requires_grad]
        if not ends:
            raise ValueError("backward=True: no output requires grad: a parameter or input has to")
        torch.autograd.backward(ends, [torch.ones_like(end) for end in ends])
    return out


@contextmanager
def _watching(watched: Audit, model: Any, given: dict[str, Any]) -> Iterator[Recorder]:
    """Watch what runs until the end of the block, and fill in the findings."""
    run = Recorder(model, given)
    try:
        with run.watching():
            watched.unwatched = ("the block has not ended",)
            yield run
    finally:
        search = Search(run)
        watched.findings, watched.own = search.findings(), search.own()
        watched.copies, watched.unwatched = tuple(run.copies), tuple(run.gaps)
        watched.inputs, watched.events = run.inputs, tuple(run.ops)


@dataclass(repr=False)
class Audit:
    """The result of `audit`: what a run copied, and why; prints as text, shows as a page.

    `findings` are worth a look, the most bytes first; `own` are copies of layouts that single calls made
    themselves. Together they explain each byte in the title. `events` are all ops of the run and `copies`
    all calls of copy_, in their order. `unwatched` says what of the run was not watched: where it is not
    empty, `assert_no_copies` fails. `name` says what ran, and `inputs` has the layouts of the
    tensors that the model was given, by name.

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
    # Copies what ran, to run it once more; watches from `with` on; and is that block from then on.
    again = block = entered = cast("Any", None)

    def __enter__(self) -> Audit:
        if self.block is None:
            raise RuntimeError("this audit has begun: each `with audit() as a:` watches one block")
        self.entered, self.block = self.block, None
        self.entered.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.entered.__exit__(*error)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | dict.fromkeys(("again", "block", "entered"))

    @property
    def copied(self) -> dict[str, tuple[int, int]]:
        """The count and the bytes of all copies of the run, by kind."""
        return _sums((copy.kind, copy.bytes) for copy in self.copies)

    @property
    def bytes(self) -> int:
        """The bytes that were copied to change a layout: those in the title."""
        return sum(copy.bytes for copy in self.of_layouts())

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
        attribute, missing = _BY[by]
        ops = ((getattr(self.events[copy.op], attribute), copy) for copy in self.of_layouts())
        pairs = ((str(name or missing), copy.bytes) for name, copy in ops)
        sums = sorted(_sums(pairs).items(), key=lambda item: -item[1][1])
        rows = ((name, str(count), in_bytes(size)) for name, (count, size) in sums)
        return Table(f"copies of layouts by {by}", (by, "copies", "bytes"), tuple(rows))

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
        patterns = (allow,) if isinstance(allow, str) else texts("allow", allow)
        if int_("max_bytes", max_bytes) < 0:
            raise ValueError(f"max_bytes is {max_bytes}: give 0 or more")
        if self.unwatched:
            gaps = f"was not watched as a whole, so nothing follows: {'; '.join(self.unwatched)}"
            raise AssertionError(f"{self.name} {gaps}")
        seen = [each for finding in self._all() for each in finding.occurrences]
        for pattern in patterns:
            if not any(_matches(each, pattern) for each in seen):
                what = f"{pattern!r}, which matches nothing that {self.name} did: remove it"
                names = "a kind, an op, a module, a file:line or an expression of the report"
                raise AssertionError(f"allow has {what}, or write {names}")
        copied = (each for each in seen if each.copied)
        left = together(x for x in copied if not any(_matches(x, each) for each in patterns))
        size = sum(finding.copied for finding in left)
        if size > max_bytes:
            limit = f"and {in_bytes(max_bytes)} are allowed:"
            title = f"{self.name} copied {in_bytes(size)} to change layouts, {limit}"
            first, _, more = replace(self, findings=left, own=())._texts(_FIRST)
            raise AssertionError("\n".join([title, *first, more]).rstrip())

    def compare(self, after: Audit) -> Table:
        """What another audit of the same code finds: what is gone, what is new, and the bytes of both."""
        if not isinstance(after, Audit):
            raise TypeError(f"after is {a_kind(after)}: give an audit")
        ours, theirs, rows = Counter[str](), Counter[str](), []
        for audit, sizes in ((self, ours), (after, theirs)):
            for each in (x for finding in audit.findings for x in finding.occurrences):
                sizes[f"{each.kind} {each.place.expression if each.place else ''}"] += each.bytes
        for what in dict.fromkeys([*ours, *theirs]):
            now = in_bytes(theirs[what]) if what in theirs else "gone"
            now += "" if what in ours else ", new"
            rows.append((what, in_bytes(ours[what]), now))
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
        seen = ((each.op, each.place) for each in finding.occurrences)
        calls = [(name, at) for name, at in seen if at and name in ("contiguous", "to")]
        if not calls:
            what = f"{shown(finding.kind)} in {finding.first.op} cannot be left out"
            raise ValueError(f"{what}: only contiguous() and to(memory_format=...) can")
        expression = " and ".join(dict.fromkeys(at.expression for _, at in calls))
        with torch.random.fork_rng():
            with audit() as first:
                before = _outcome(self.again())
            run = self.again()  # the first one may have changed its inputs and its model
            try:
                with _without(calls), audit() as second:
                    after = _outcome(run)
                torch.testing.assert_close(after, before, equal_nan=True)
            except Exception as error:  # whatever a model raises that needs the call
                return Trial(expression, False, 0, None, str(error).strip().splitlines()[0])
            fewer = first.bytes - second.bytes
            # Both ways look for the calls, so that both pay for the search.
            ways = {"as it is": _without(calls, False)(run), "without": _without(calls)(run)}
            try:
                times = compare(ways, rounds=rounds, max_seconds=max_seconds)
            except TooShort as error:
                return Trial(expression, True, fewer, None, str(error))
        return Trial(expression, True, fewer, times)

    def to_json(self) -> str:
        """Write all of it as JSON."""
        return json.dumps({"schema": SCHEMA} | asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """The audit that `to_json` wrote, here or elsewhere. Raises ValueError for another text."""
        try:
            values = json.loads(text)
            if values.pop("schema") != SCHEMA:
                raise ValueError(f"its schema is not {SCHEMA}, which is read here")
            audit: Audit = _read(cls, values)
            for finding, each in ((x, each) for x in audit._all() for each in x.occurrences):
                shape, before, after = each.layouts
                Layout(shape, before), Layout(shape, after), KINDS[each.kind]
                last = len(audit.events) - (each.kind != IDLE)  # it may stand after all of them
                is_first = finding.kind == finding.first.kind
                if min(each.events) < 0 or max(each.events) > last or not is_first:
                    raise ValueError(f"no finding: {each}")
            audit.report(), audit.table()
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"this is not an audit that to_json wrote: {error!r}") from None
        return audit

    def _all(self) -> tuple[Finding, ...]:
        return (*self.findings, *self.own)

    def of_layouts(self) -> Iterator[Copy]:
        """The copies that changed nothing but a layout, which nothing asked for."""
        kinds = (Kind.LAYOUT, Kind.EXPANDED, Kind.INSIDE)
        return (copy for copy in self.copies if copy.kind in kinds)

    @property
    def title(self) -> str:
        """What ran, how many findings there are, and what was copied because of a layout, in one line."""
        count = sum(1 for _ in self.of_layouts())
        copies = f"{count} of {len(self.copies)} copies changed a layout, {in_bytes(self.bytes)}"
        return f"audit of {self.name}: {many(len(self.findings), 'finding')}; {copies}"

    def report(self, most: int | None = None) -> str:
        """Write the audit as text: all findings and copies inside of calls, or the first `most`."""
        texts, _, more = self._texts(most)
        more = f"{more}: print(a.report()) shows all" if more else ""
        return "\n".join([self.title, *texts, *filter(None, [more]), *self._notes()])

    def __repr__(self) -> str:
        return self.report(_FIRST)

    def _repr_html_(self) -> str:
        texts, rest, more = self._texts(_FIRST)
        inner = f"<details><summary>{more}</summary>{_pre(rest)}</details>" if more else ""
        return f"<div><b>{escape(self.title)}</b>{_pre(texts)}{inner}{_pre(self._notes())}</div>"

    def _texts(self, most: int | None) -> tuple[list[str], list[str], str]:
        """The gaps and the first `most` findings, the other findings, and how many those are."""
        numbers = [*map(str, range(1, len(self.findings) + 1)), *["–"] * len(self.own)]
        texts = [*map(_in_text, numbers, self._all())]
        most = len(texts) if most is None else most
        left = [finding.bytes for finding in self._all()[most:]]
        more = f"  … and {len(left)} more of {in_bytes(sum(left))}" if left else ""
        gaps = [f"  not watched: {gap}" for gap in self.unwatched]
        return gaps + texts[:most], texts[most:], more

    def _notes(self) -> list[str]:
        count, size = self.copied.get(Kind.ASKED, (0, 0))
        what = f"{in_bytes(size)} more, in {many(count, 'copy')}"
        asked = [f"asked for by clone(), or by to() of an input: {what}"] if count else []
        return [f"  {note}" for note in (*asked, *_NOT_SEEN)]


def what_of(finding: Finding) -> str:
    """The bytes of a finding, how many copies, its kind, op and modules, and on which way."""
    copies = sum(1 for each in finding.occurrences if each.copied)
    count, noun = (copies, "copy") if copies else (len(finding.occurrences), "call")
    often = f" in {many(count, noun)}" if count > 1 else ""
    module = first_of([each.module for each in finding.occurrences if each.module] or [""])
    backward = "backward" if all(each.backward for each in finding.occurrences) else ""
    parts = (finding.kind, f"in {finding.first.op}", module, backward)
    return ", ".join([in_bytes(finding.bytes) + often, *filter(None, parts)])


def _in_text(number: str, finding: Finding) -> str:
    """What a report says of a finding: its lines, what made the layout, the layout, and what to do."""
    (shape, *strides), occurrences = finding.first.layouts, finding.occurrences
    ways = ["", "" if all(each.backward for each in occurrences) else ", backward"]
    ordered = sorted(occurrences, key=lambda each: each.kind != finding.kind)
    lines = dict.fromkeys(f"{_where(each.place)}{ways[each.backward]}" for each in ordered)
    rows = [("line", line) for line in list(lines)[:_LINES]]
    if len(lines) > _LINES:
        rows.append(("", f"and {many(len(lines) - _LINES, 'more line')}"))
    if finding.made_by:
        rows.append(("made by", _where(finding.cause) if finding.cause else finding.made_by))
    rows.append(("layout", f"{shape}: stride {' to '.join(map(str, dict.fromkeys(strides)))}"))
    texts = columns([("", *row) for row in (*rows, ("to do", finding.advice))])
    return "\n".join([f"  {number}  {what_of(finding)}", *(f"   {line}" for line in texts)])


def _pre(texts: Iterable[str]) -> str:
    """Texts as HTML: a line that is too long goes on below its own text, between words."""
    style = "white-space:pre-wrap;word-break:normal;padding-left:16ch;text-indent:-16ch"
    rows = "".join(f"<div>{escape(x)}</div>" for text in texts for x in text.splitlines())
    return f'<pre style="{style};margin:0.4em 0">{rows}</pre>' if rows else ""


def _sums(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, int]]:
    """How often each name occurs, and the sum of its numbers."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for name, size in pairs:
        sizes[name].append(size)
    return {name: (len(each), sum(each)) for name, each in sizes.items()}


def _where(place: Place | None) -> str:
    return f"{place}  {place.expression}" if place else "not known"


def _matches(each: Occurrence, pattern: str) -> bool:
    place = [str(each.place), each.place.expression] if each.place else []
    names = [each.kind, each.op, each.module, each.module.partition(" ")[0], *place]
    return any(fnmatchcase(name, pattern) for name in names)


def _read(kind: Any, value: Any) -> Any:
    """A value of JSON as a value of a type; raises ValueError for what is none."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else _read(arguments[0], value)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], each) for each in value)
    if origin is dict and isinstance(value, dict):
        return {name: _read(arguments[1], each) for name, each in value.items()}
    hints = _hints(kind)
    if kind is Operand:
        value = Operand(*map(_read, hints.values(), value))
        Layout(value.shape, value.stride, value.offset)  # which raises for what is none
        return value
    if hints and isinstance(value, dict):
        return kind(**{name: _read(hints[name], each) for name, each in value.items()})
    if type(value) is not kind or (kind is int and abs(value) >= 2**63):
        raise ValueError(f"{shown(value)} is no {kind}")
    return value


# Without a call ---------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Trial:
    """A run without some of its calls: whether the results are the `same`, and what it saves.

    `fewer` is in bytes of layouts copied. `comparison` has the times with and without the calls; it is None
    where the results differ or the time was too short. `why` says why the results differ, or why there are
    no times, and is "" otherwise.
    """

    expression: str
    same: bool
    fewer: int
    comparison: Comparison | None
    why: str = ""

    def __repr__(self) -> str:
        ratio = self.comparison and self.comparison.ratios["without"]
        time = f"{ratio}, {ratio.verdict}" if ratio else f"not measured: {self.why}"
        less = f"{in_bytes(abs(self.fewer))} {'fewer' if self.fewer >= 0 else 'more'}"
        same = [("result", "the same"), ("copied", less), ("time", time)]
        rows = same if self.same else [("result", f"another: {self.why}")]
        return "\n".join([f"without {self.expression}", *columns(rows)])


def _copier(call: tuple[Any, ...], write: list[Any]) -> Callable[[], partial[Any]]:
    """Return a function that copies a model and its inputs, so that a run of the copy leaves both alone.

    Its references to modules, tensors and written storages are weak: it keeps none of them alive.
    """
    flat, spec = tree_flatten(call)
    weakly = (torch.Tensor, torch.nn.Module)
    given = [(weakref.ref(x), None) if isinstance(x, weakly) else (None, x) for x in flat]

    def copied() -> partial[Any]:
        leaves = [known() if known else value for known, value in given]
        what = "the model or an input"
        if any(x is None and known for x, (known, _) in zip(leaves, given, strict=True)):
            raise ValueError(f"{what} is no longer there: keep it in a variable, and audit again")
        memo: dict[int, Any] = {}
        try:
            copies = copy.deepcopy(leaves, memo)
        except Exception as error:  # whatever a class of the reader's raises
            raise ValueError(f"{what} cannot be copied, and may change in a run: {error}") from None
        storages = {x.untyped_storage()._cdata for x in tensors_of(memo.get(id(memo), []))}
        written = {storage._cdata for known in write if (storage := known()) is not None}
        model, inputs, named, backward = tree_unflatten(copies, spec)
        is_function = backward and not isinstance(model, torch.nn.Module)
        if is_function or written - storages:
            what = "a tensor that it was not given, such as one of a model it calls"
            advice = "audit that model itself, or hand the tensor in"
            raise ValueError(f"the function may change {what}: {advice}")
        return partial(_run, model, inputs, named, backward)

    return copied


def _outcome(run: partial[Any]) -> list[torch.Tensor]:
    """What a run returns, and the state in which it leaves its inputs and its model."""
    torch.manual_seed(0)
    model, inputs, named, _ = run.args
    state = model.state_dict() if isinstance(model, torch.nn.Module) else {}
    leaves = tree_leaves((run(), inputs, named, state))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


@contextmanager
def _without(calls: Collection[tuple[str, Place | None]], leave_out: bool = True) -> Iterator[None]:
    """Let these calls of methods of tensors return what they were given, if they are to be left out."""

    def replacing(method: str) -> Any:
        original = getattr(torch.Tensor, method)

        @wraps(original)
        def replacement(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            is_left_out = (method, where(sys._getframe(1))[0]) in calls and leave_out
            return tensor if is_left_out else original(tensor, *args, **kwargs)

        return replacement

    with patch.multiple(torch.Tensor, **{method: replacing(method) for method, _ in calls}):
        yield
