"""A run as JSON: its rows, each a call of one line in one module, and the chains of findings over them.

Calls of one expression that follow one another share a row. A row has texts (`module`, `line`, `source`,
what it `did`, the `layout` that it leaves, its `format`), the bytes that it `copied` for a layout, the
findings `about` it, the `chains` that pass through it, and how many `calls` it stands for. A chain is one
occurrence of a finding: its `rows`, and its `steps`, with what was done to the layout, and where.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Any

from stridekit._arguments import in_bytes, many
from stridekit._table import columns
from stridekit.audit import Audit, Finding
from stridekit.audit.events import Event, Place
from stridekit.audit.findings import IDLE, Occurrence
from stridekit.audit.report import what_of
from stridekit.rules import memory_formats

MOST = 450  # rows, and chains; of more, those of the most bytes, and the rows beside them
MOST_STEPS = 5  # of a chain
MOST_CHAINS = 2  # that are told of a row
_BACKWARD = "backward: "

Step = tuple[str, str, str, str]  # a role, a line, its source, and the layout that it leaves
# The events of a call; or, where it dispatched none, the number of the finding about it, and which time.
Call = list[int] | tuple[int, int]
Row = dict[str, Any]
RowOf = dict[Any, int]  # by the number of an event, or of a finding and the time
Chain = dict[str, Any]


def run_of(audit: Audit, most: int = MOST) -> dict[str, Any]:
    """The title of a run, its rows and its chains, in their order."""
    calls = list(_calls(audit))
    rows = [
        _row(("", _name(audit, name), "")) | _lies(x.shape, x.stride)
        for name, x in audit.inputs.items()
    ]
    row_of: RowOf = {}
    for call in calls:
        row_of |= dict.fromkeys(call if isinstance(call, list) else [call], len(rows))
        rows.append(_of_call(audit, call))
    for copy in audit.of_layouts():
        _count(rows[row_of[copy.op]], copy.bytes)
    chains = list(_chains(audit, row_of))
    for chain in chains:
        about = rows[chain["rows"][-1]]["about"]
        about += [chain["finding"]] * (chain["finding"] not in about)
    shown = fewer(rows, most, chains[0]["rows"][-1] if chains else 0)
    new = {r: k for k, (r, _) in enumerate(shown) if r >= 0}
    chains = [chain for chain in chains if chain["rows"][-1] in new][:most]
    for k, chain in enumerate(chains):
        chain["rows"] = [new[r] for r in chain["rows"] if r in new]
        for row in (shown[r][1] for r in chain["rows"]):
            row["chains"].append(k)
    nothing = [_row(("", "nothing ran", ""))]
    return {"title": audit.title, "rows": [row for _, row in shown] or nothing, "chains": chains}


def fewer(rows: list[Row], most: int, also: int = 0) -> list[tuple[int, Row]]:
    """Rows with their numbers, at most so many; -1 where a row stands for several that are left out.

    Of more, those stay that have findings or copy the most, and those beside them and `also`.
    """
    kept = list(range(len(rows)))
    if len(rows) > most:
        told = [r for r, row in enumerate(rows) if row["about"] or row["copied"] or r == also]
        told.sort(key=lambda r: (r != also, -rows[r]["copied"]))
        near = {r + d for r in told[: max(most // 4, 1)] for d in (-1, 0, 1)}
        kept = sorted(near & {*kept})
    shown: list[tuple[int, Row]] = []
    for before, r in pairwise([-1, *kept, len(rows)]):
        if out := rows[before + 1 : r]:
            shown.append((-1, _left_out(out)))
        shown += [(r, row) for row in rows[r : r + 1]]
    return shown


def _left_out(rows: list[Row]) -> Row:
    calls = sum(row["calls"] for row in rows)
    told = sum(bool(row["about"]) for row in rows)
    row = _row(("", f"… {many(calls, 'more call')}{f', {told} with findings' if told else ''}", ""))
    return row | {"calls": calls, "about": []}


def told_of(run: dict[str, Any], row: Row) -> list[Chain]:
    """The chains that are told of a row: the first of each finding."""
    first: dict[int, Chain] = {}
    for chain in (run["chains"][k] for k in row["chains"]):
        first.setdefault(chain["finding"], chain)
    return list(first.values())[:MOST_CHAINS]


def text_of(row: Row) -> tuple[str, str, str, str]:
    """A row as four texts: module, line, what it did, and the layout that it leaves."""
    about = [f"finding {number}" for number in row["about"]]
    line = "  ".join(filter(None, [row["line"], row["source"]]))
    return row["module"], line, ", ".join(filter(None, [row["did"], *about])), row["layout"]


def text_of_chain(chain: Chain) -> list[str]:
    """A chain as lines."""
    steps = [(role, "  ".join(filter(None, rest))) for role, *rest in chain["steps"]]
    title = f"finding {chain['finding']}: {chain['title']}"
    return [title, *columns([*steps, ("to do", chain["advice"])])]


# Rows -----------------------------------------------------------------------------------------------


def _calls(audit: Audit) -> Iterator[Call]:
    """What was called, in its order: a call, and those in its parentheses, may run several operations."""
    events, call = audit.events, list[int]()
    idle = defaultdict[int, list[Call]](list)
    for number, finding in enumerate(audit.findings, 1):
        for k, each in enumerate(finding.occurrences if finding.kind == IDLE else ()):
            idle[min(each.events[0], len(events))].append((number, k))
    for number in range(len(events) + 1):
        is_over = idle[number] or number == len(events)
        if call and (is_over or not _is_same_call(events[call[-1]], events[number])):
            yield call
            call = []
        yield from idle[number]
        call.append(number)


def _is_same_call(before: Event, event: Event) -> bool:
    """Whether an event belongs to the call around the one before it."""
    one, other = ((each.module, each.backward, _at(each.place)[0]) for each in (before, event))
    if one != other or "" in (_at(before.place)[1], _at(event.place)[1]):
        return one == other and before.call == event.call
    return bool(re.search(rf"(?<![\w.]){re.escape(_source(before))}(?!\w)", _source(event)))


def _source(event: Event) -> str:
    """The expression that ran; where that is not known, what was called."""
    return _at(event.place)[1] or event.call


def _at(place: Place | None) -> tuple[str, str]:
    return (str(place), place.expression) if place else ("", "")


def _row(at: tuple[str, str, str], did: str = "") -> Row:
    texts = dict(zip(("module", "line", "source"), at, strict=True))
    counts: Row = {"copied": 0, "about": [], "chains": [], "calls": 1}
    return texts | {"did": did, "layout": "", "format": ""} | counts


def _lies(shape: tuple[int, ...], stride: tuple[int, ...]) -> dict[str, str]:
    """The layout of a tensor, and its memory format: a name, "both", or "neither"."""
    fits = [name.removesuffix("_format") for name in memory_formats(shape, stride)]
    name = "both" if len(fits) == 2 else "".join(fits) or "neither"
    return {"layout": f"{shape}: {stride}", "format": name}


def _of_call(audit: Audit, call: Call) -> Row:
    """The row of a call: what became of the last tensor that it made."""
    if isinstance(call, tuple):
        seen = audit.findings[call[0] - 1].occurrences[call[1]]
        shape, stride, _ = seen.layouts
        return _row((seen.module, *_at(seen.place)), "does nothing") | _lies(shape, stride)
    events = [audit.events[k] for k in call]
    last = events[-1]
    at = last.module, _at(last.place)[0], _source(last)
    made = [event.outputs[0] for event in events if event.outputs]
    if not made:
        return _row(at)
    read: dict[int, int] = {}  # the versions of storages that were there before
    new: set[int] = set()
    for event in events:
        for one in (one for one in event.inputs if one.storage not in new):
            read.setdefault(one.storage, one.version)
        new |= {one.storage for one in event.outputs} - {*read}
    out = made[-1]
    did = f"new, {in_bytes(prod(out.shape) * out.itemsize)}"
    if out.storage in read:
        did = "view" if read[out.storage] == out.version else "in place"
    return _row(at, f"{_BACKWARD * last.backward}{did}") | _lies(out.shape, out.stride)


def _count(row: Row, size: int) -> None:
    """Add bytes of a layout that a call copied."""
    row["copied"] += size
    backward = _BACKWARD * row["did"].startswith(_BACKWARD)
    row["did"] = f"{backward}copies {in_bytes(row['copied'])}"


# Chains ---------------------------------------------------------------------------------------------


def _chains(audit: Audit, row_of: RowOf) -> Iterator[Chain]:
    """Each occurrence of each finding: the first ones, the second ones, and so on."""
    occurrences = [
        (k, number, finding, one)
        for number, finding in enumerate(audit.findings, 1)
        for k, one in enumerate(finding.occurrences)
    ]
    for k, number, finding, one in sorted(occurrences, key=lambda each: each[:2]):
        given = _input(audit, one)
        keys = one.events if one.kind != IDLE else [(number, k)]
        rows = [[*audit.inputs].index(given)] if given else []
        rows += [row_of[key] for key in keys]
        which = f"; call {k + 1}" if len(finding.occurrences) > 1 else ""
        yield {
            "finding": number,
            "title": f"{what_of(finding)}{which}",
            "advice": finding.advice,
            "rows": [*dict.fromkeys(rows)],
            "steps": _steps(audit, finding, one, given, row_of),
        }


def _name(audit: Audit, name: str) -> str:
    return "the input" if [*audit.inputs] == ["input 0"] else name


def _input(audit: Audit, one: Occurrence) -> str:
    """The name of the input that a chain begins with, if it does."""
    wanted = one.given and (one.given.storage, one.given.layout)
    return next((name for name, x in audit.inputs.items() if (x.storage, x.layout) == wanted), "")


def _steps(
    audit: Audit, finding: Finding, one: Occurrence, given: str, row_of: RowOf
) -> list[Step]:
    """What was done to the layout, and where; of long chains, the beginning and the end."""
    shape, *strides = one.layouts
    layout = f"{shape}: {' to '.join(map(str, dict.fromkeys(strides)))}"
    end = (_spot(one.module, one.place), _at(one.place)[1] or one.op, layout)
    if not finding.made_by:
        return [("here", *end)]
    *before, last = one.events
    ends = {row_of[last]}
    left = {row_of[k]: audit.events[k] for k in before}  # the last event of each row
    if one.given:
        who = ("given as", _name(audit, given)) if given else ("made by", "code before the run")
        first = (*who, "", f"{one.given.shape}: {one.given.stride}")
    else:
        ends.add(row_of[before[0]])
        first = _step("made by", audit.events[before[0]], left[row_of[before[0]]])
    middle = [_step("passed on by", event, event) for row, event in left.items() if row not in ends]
    if len(middle) > MOST_STEPS - 2:
        middle[1:-1] = [("passed on by", many(len(middle) - 2, "more call"), "", "")]
    return [first, *middle, ("copied by" if one.copied else "kept by", *end)]


def _step(role: str, event: Event, last: Event) -> Step:
    lies = [f"{one.shape}: {one.stride}" for one in last.outputs[:1]]
    return role, _spot(event.module, event.place), _source(event), "".join(lies)


def _spot(module: str, place: Place | None) -> str:
    return ", ".join(filter(None, [module, _at(place)[0]]))
