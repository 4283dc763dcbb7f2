"""A run as JSON: its rows, each a call of one line in one module, and the chains of findings over them.

Calls of one expression that follow one another, as in a loop, share a row.

A row has texts (`module`, `line`, `source`, what it `did`, the `layout` that it leaves, its `format`), the
bytes that it `copied` for a layout, the findings `about` it, and the `chains` that pass through it. A chain
is one time of a finding: its `rows`, and its `steps`, with what was done to the layout, where, and how it
lies then.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Any

from stridekit._arguments import many
from stridekit._table import columns
from stridekit.auditing import Audit, Finding
from stridekit.auditing.findings import IDLE, Time
from stridekit.auditing.places import Place
from stridekit.auditing.report import Event, in_bytes, short
from stridekit.rules import memory_formats

MOST = 300  # rows, and times of findings; of more rows, those far from any finding are left out
MOST_STEPS = 5  # of a chain

Step = tuple[str, str, str, str]  # a role, a line, its source, and the layout that it leaves
# The events of a call; or, where it dispatched none, the number of the finding about it, and which time.
Call = list[int] | tuple[int, int]
Row = dict[str, Any]


def run_of(audit: Audit, most: int = MOST) -> dict[str, Any]:
    """The title of a run, its rows and its chains, in their order."""
    calls = list(_calls(audit))
    given = [
        _row(("", _given(audit, k), "")) | _lies(one.shape, one.stride)
        for k, one in enumerate(audit.inputs)
    ]
    rows = given + [_of_call(audit, call) for call in calls]
    keys = [call if isinstance(call, list) else [call] for call in calls]
    row_of = {key: r for r, all_of in enumerate(keys, len(given)) for key in all_of}
    chains = list(_chains(audit, row_of))
    for k, chain in enumerate(chains):
        for row in (rows[r] for r in chain["rows"]):
            row["chains"].append(k)
        about = rows[chain["rows"][-1]]["about"]
        about += [chain["finding"]] * (chain["finding"] not in about)
    for copy in audit.of_layouts():
        row = rows[row_of[copy.op]]
        row["copied"] += copy.bytes
        row["did"] = f"copies {in_bytes(row['copied'])}"
    shown: list[Row] = []
    new: dict[int, int] = {}
    for out, r in gaps(rows, most):
        shown += [_row(("", left_out(out), ""))] * bool(out)
        if r < len(rows):
            new[r] = len(shown)
            shown.append(rows[r])
    for chain in chains:
        chain["rows"] = [new[r] for r in chain["rows"] if r in new]
    nothing = [_row(("", "nothing ran", ""))]
    return {"title": audit.title, "rows": shown or nothing, "chains": chains}


def gaps(rows: list[Row], most: int, also: int = 0) -> Iterator[tuple[int, int]]:
    """How many rows are left out, and the row behind them; in the end the number of rows.

    Of more rows than `most`, those stay that copy or have a finding, and those beside them and `also`.
    """
    kept = [*range(len(rows))]
    if len(rows) > most:
        told = [r for r, row in enumerate(rows) if row["about"] or row["copied"] or r == also]
        kept = sorted({r + d for r in told for d in (-1, 0, 1)} & {*kept})[:most]
    for before, r in pairwise([-1, *kept, len(rows)]):
        yield r - before - 1, r


def left_out(count: int) -> str:
    """What stands in the place of rows."""
    return f"… {many(count, 'more call')}"


def text_of(row: Row) -> tuple[str, str, str, str]:
    """A row as four texts: module, line, what it did, and the layout that it leaves."""
    about = [f"finding {number}" for number in row["about"]]
    line = "  ".join(filter(None, [row["line"], row["source"]]))
    return row["module"], line, ", ".join([row["did"], *about]).strip(", "), row["layout"]


def text_of_chain(chain: dict[str, Any]) -> list[str]:
    """A chain as lines."""
    steps = [(role, "  ".join(filter(None, rest))) for role, *rest in chain["steps"]]
    return [
        f"finding {chain['finding']}: {chain['title']}",
        *columns([*steps, ("to do", chain["advice"])]),
    ]


# Rows -----------------------------------------------------------------------------------------------


def _calls(audit: Audit) -> Iterator[Call]:
    """What was called, in its order: a call, and those in its parentheses, may run several operations."""
    idle = [
        (time.events[0], (number, k))
        for number, one in enumerate(audit.findings, 1)
        for k, time in enumerate(one.times if one.kind == IDLE else ())
    ]
    idle.sort(reverse=True)
    call: list[int] = []
    for number, event in enumerate(audit.events):
        stood = []
        while idle and idle[-1][0] <= number:
            stood.append(idle.pop()[1])
        if call and (stood or not _is_same_call(audit.events[call[-1]], event)):
            yield call
            call = []
        yield from stood
        call.append(number)
    if call:
        yield call
    yield from (one for _, one in reversed(idle))


def _is_same_call(before: Event, event: Event) -> bool:
    """Whether an event belongs to the call around the one before it."""
    one, other = ((each.module, each.backward, _at(each.place)[0]) for each in (before, event))
    return one == other and _source(before) in _source(event)


def _source(event: Event) -> str:
    """The expression that ran; where that is not known, what was called."""
    return _at(event.place)[1] or short(event.call)


def _at(place: Place | None) -> tuple[str, str]:
    return (str(place), place.expression) if place else ("", "")


def _row(at: tuple[str, str, str], did: str = "") -> Row:
    texts = dict(zip(("module", "line", "source"), at, strict=True))
    counts: Row = {"copied": 0, "about": [], "chains": []}
    return texts | {"did": did, "layout": "", "format": ""} | counts


def _lies(shape: tuple[int, ...], stride: tuple[int, ...]) -> dict[str, str]:
    """The layout of a tensor, and its memory format: a name, "both", or "neither"."""
    fits = [name.removesuffix("_format") for name in memory_formats(shape, stride)]
    name = "both" if len(fits) == 2 else "".join(fits) or "neither"
    return {"layout": f"{shape}: {stride}", "format": name}


def _of_call(audit: Audit, call: Call) -> Row:
    """The row of a call: what became of the last tensor that it made."""
    if isinstance(call, tuple):
        finding = audit.findings[call[0] - 1]
        time = finding.times[call[1]]
        shape, stride, _ = time.layouts
        return _row((time.module, *_at(finding.place)), "does nothing") | _lies(shape, stride)
    events = [audit.events[k] for k in call]
    last = events[-1]
    at = last.module, _at(last.place)[0], _source(last)
    made = [event.outputs[0] for event in events if event.outputs]
    if not made:
        return _row(at)
    read: dict[int, int] = {}
    for one in (one for event in events for one in event.inputs):
        read.setdefault(one.storage, one.version)
    out = made[-1]
    did = f"new, {in_bytes(prod(out.shape) * out.itemsize)}"
    if out.storage in read:
        did = "view" if read[out.storage] == out.version else "in place"
    return _row(at, f"{'backward: ' * last.backward}{did}") | _lies(out.shape, out.stride)


# Chains ---------------------------------------------------------------------------------------------


def _chains(audit: Audit, row_of: dict[Any, int]) -> Iterator[dict[str, Any]]:
    """Each time of each finding; of one that happened very often, the first times."""
    findings = audit.findings[:MOST]
    for number, finding in enumerate(findings, 1):
        for k, time in enumerate(finding.times[: MOST // len(findings)]):
            given = _input(audit, finding, time)
            rows = [row_of[key] for key in (time.events if finding.kind != IDLE else [(number, k)])]
            which = f", call {k + 1} of {finding.count}" * (finding.count > 1)
            yield {
                "finding": number,
                "title": f"{in_bytes(finding.bytes)}, {finding.kind}, in {short(finding.op)}{which}",
                "advice": finding.advice,
                "rows": [*dict.fromkeys([*given, *rows])],
                "steps": _steps(audit, finding, time, given, row_of),
            }


def _given(audit: Audit, k: int) -> str:
    return f"input {k}" if len(audit.inputs) > 1 else "the input"


def _input(audit: Audit, finding: Finding, time: Time) -> list[int]:
    """The number of the input that a chain begins with, if one is known."""
    if finding.made_by != "an input":
        return []
    read = {one.storage for one in audit.events[time.events[0]].inputs}
    return [k for k, one in enumerate(audit.inputs) if one.storage in read][:1]


def _steps(
    audit: Audit, finding: Finding, time: Time, given: list[int], row_of: dict[Any, int]
) -> list[Step]:
    """What was done to the layout, and where; of long ways, the beginning and the end."""
    shape, *strides = time.layouts
    layout = f"{shape}: {' to '.join(map(str, dict.fromkeys(strides)))}"
    end = (_spot(time.module, finding.place), _at(finding.place)[1] or short(finding.op), layout)
    if not finding.made_by:
        return [("here", *end)]
    *before, last = time.events
    ends = {row_of[last]}
    left = {row_of[k]: audit.events[k] for k in before}  # the last event of each row
    first: Step = ("made by", "what was there before", "", "")
    if finding.made_by != "an input":
        ends.add(row_of[before[0]])
        first = _step("made by", audit.events[before[0]], left[row_of[before[0]]])
    for k in given:
        one = audit.inputs[k]
        first = ("given as", _given(audit, k), "", f"{one.shape}: {one.stride}")
    middle = [_step("passed on by", one, one) for row, one in left.items() if row not in ends]
    if len(middle) > MOST_STEPS - 2:
        middle[1:-1] = [("passed on by", many(len(middle) - 2, "more call"), "", "")]
    return [first, *middle, ("copied by" if finding.copied else "kept by", *end)]


def _step(role: str, event: Event, last: Event) -> Step:
    lies = [f"{one.shape}: {one.stride}" for one in last.outputs[:1]]
    return role, _spot(event.module, event.place), _source(event), "".join(lies)


def _spot(module: str, place: Place | None) -> str:
    return ", ".join(filter(None, [module, _at(place)[0]]))
