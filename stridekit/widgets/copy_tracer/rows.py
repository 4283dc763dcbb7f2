"""A run as JSON: its rows, each a call of one line in one module, and the chains of findings over them.

Calls of one expression that follow one another share a row. A row has texts (`module`, `line`, `source`,
what it `did`, the `layout` that it leaves, its `format`), the bytes that it `copied` for a layout, the
findings `about` it, the `chains` that pass through it, and the number of its `calls`. A chain is one
occurrence of a finding: its `rows`, and its `steps`, which say what was done to the layout, and where.
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
from stridekit.audit.events import Event, Operand, Place
from stridekit.audit.findings import IDLE, Occurrence
from stridekit.audit.report import what_of
from stridekit.rules import memory_formats

MOST = 450  # rows, and chains; of more, those of the most bytes stay, and the rows beside them
MOST_STEPS = 5  # of a chain
MOST_CHAINS = 2  # shown for a row
_BACKWARD = "backward: "
_CALL_OF_AUDIT = re.compile(r"(?:\w+\.)*audit\(")

Step = tuple[str, str, str, str]  # a role, a line, its source, and the layout that it leaves
Repeat = tuple[int, int]  # the number of a finding, and the number of its occurrence
# The numbers of a call's events; for a call that dispatched none, the finding about it.
Call = list[int] | Repeat
Row = dict[str, Any]
RowOf = dict[int | Repeat, int]  # by the number of an event, or by a finding
Chain = dict[str, Any]


def run_of(audit: Audit, most: int = MOST) -> dict[str, Any]:
    """Return the title of a run, its rows and its chains, in their order."""
    rows, row_of = _rows(audit)
    chains = list(_chains(audit, row_of))
    for chain in chains:
        about = rows[chain["rows"][-1]]["about"]
        if chain["finding"] not in about:
            about.append(chain["finding"])

    shown = fewer(rows, most, chains[0]["rows"][-1] if chains else 0)
    new_numbers = {r: k for k, (r, _) in enumerate(shown) if r >= 0}
    rows = [row for _, row in shown]
    chains = [chain for chain in chains if chain["rows"][-1] in new_numbers][:most]
    for k, chain in enumerate(chains):
        chain["rows"] = [new_numbers[r] for r in chain["rows"] if r in new_numbers]
        for r in chain["rows"]:
            rows[r]["chains"].append(k)
    nothing = [_row("", "nothing ran", "")]
    return {"title": audit.title, "rows": rows or nothing, "chains": chains}


def fewer(rows: list[Row], most: int, also: int = 0) -> list[tuple[int, Row]]:
    """Return rows with their numbers, at most `most` of 5 or more; one with -1 stands for several others.

    If there are more, those stay that have findings or copy the most, and those beside them and `also`.
    """
    kept = _kept(rows, most, also) if len(rows) > most else [*range(len(rows))]
    shown: list[tuple[int, Row]] = []
    for before, r in pairwise([-1, *kept, len(rows)]):
        left_out = rows[before + 1 : r]
        if left_out:
            shown.append((-1, _in_place_of(left_out)))
        if r < len(rows):
            shown.append((r, rows[r]))
    return shown


def _kept(rows: list[Row], most: int, also: int) -> list[int]:
    """Return the numbers of the rows that stay."""
    important = [r for r, row in enumerate(rows) if row["about"] or row["copied"] or r == also]
    important.sort(key=lambda r: (r != also, -rows[r]["copied"]))
    kept: set[int] = set()
    # Each takes two neighbours along and the row in place of those before; one more row may end it.
    for r in important[: max((most - 1) // 4, 1)]:
        kept |= {r - 1, r, r + 1}
    return sorted(kept & {*range(len(rows))})


def _in_place_of(rows: list[Row]) -> Row:
    """Return a row that counts the calls of others."""
    calls = sum(row["calls"] for row in rows)
    with_findings = sum(bool(row["about"]) for row in rows)
    line = f"… {many(calls, 'more call')}"
    if with_findings:
        line += f", {with_findings} with findings"
    return _row("", line, "") | {"calls": calls}


def shown_chains(run: dict[str, Any], row: Row) -> list[Chain]:
    """Return the chains that are shown for a row: the first of each finding."""
    first: dict[int, Chain] = {}
    for k in row["chains"]:
        chain = run["chains"][k]
        first.setdefault(chain["finding"], chain)
    return list(first.values())[:MOST_CHAINS]


def text_of(row: Row) -> tuple[str, str, str, str]:
    """Return a row as four texts: module, line, what it did, and the layout that it leaves."""
    line = "  ".join(filter(None, [row["line"], row["source"]]))
    findings = [f"finding {number}" for number in row["about"]]
    did = ", ".join(filter(None, [row["did"], *findings]))
    return row["module"], line, did, row["layout"]


def text_of_chain(chain: Chain) -> list[str]:
    """Return a chain as lines."""
    steps = [(role, "  ".join(filter(None, texts))) for role, *texts in chain["steps"]]
    title = f"finding {chain['finding']}: {chain['title']}"
    return [title, *columns([*steps, ("to do", chain["advice"])])]


# Rows -----------------------------------------------------------------------------------------------


def _rows(audit: Audit) -> tuple[list[Row], RowOf]:
    """Return the rows of the inputs and of all calls, and the number of each call's row."""
    rows = [
        _row("", _shown_name(audit, name), "") | _layout_texts(x.shape, x.stride)
        for name, x in audit.inputs.items()
    ]
    row_of: RowOf = {}
    for call in _calls(audit):
        if isinstance(call, tuple):
            row_of[call] = len(rows)
            rows.append(_row_without_effect(audit, call))
        else:
            row_of |= dict.fromkeys(call, len(rows))
            rows.append(_row_of_events([audit.events[k] for k in call]))
    for copy in audit.of_layouts():
        _count(rows[row_of[copy.op]], copy.bytes)
    return rows, row_of


def _calls(audit: Audit) -> Iterator[Call]:
    """Yield the calls in their order; a call, and those in its parentheses, may run several operations."""
    events = audit.events
    idle = _calls_without_effect(audit)
    call: list[int] = []
    for number in range(len(events) + 1):
        is_over = idle[number] or number == len(events)
        if call and (is_over or not _is_same_call(events[call[-1]], events[number])):
            yield call
            call = []
        yield from idle[number]
        call.append(number)


def _calls_without_effect(audit: Audit) -> defaultdict[int, list[Repeat]]:
    """Return the calls that do nothing, by the number of the event after them."""
    calls = defaultdict[int, list[Repeat]](list)
    for number, finding in enumerate(audit.findings, 1):
        if finding.kind == IDLE:
            for k, occurrence in enumerate(finding.occurrences):
                calls[min(occurrence.events[0], len(audit.events))].append((number, k))
    return calls


def _is_same_call(before: Event, event: Event) -> bool:
    """Return whether an event belongs to the call around the event before it."""
    line_before, expression_before = _line_and_expression(before.place)
    line, expression = _line_and_expression(event.place)
    if (before.module, before.backward, line_before) != (event.module, event.backward, line):
        return False
    if not expression_before or not expression:
        return before.call == event.call
    return bool(re.search(rf"(?<![\w.]){re.escape(expression_before)}(?!\w)", expression))


def _source(event: Event) -> str:
    """Return the expression that ran, or the name of the call if the expression is not known."""
    return _line_and_expression(event.place)[1] or event.call


def _line_and_expression(place: Place | None) -> tuple[str, str]:
    """Return the line and the expression of a place; nothing for a call of audit, which runs the model."""
    if place is None or _CALL_OF_AUDIT.match(place.expression):
        return "", ""
    return str(place), place.expression


def _row(module: str, line: str, source: str, did: str = "") -> Row:
    texts = {"module": module, "line": line, "source": source, "did": did}
    return texts | {
        "layout": "",
        "format": "",
        "copied": 0,
        "about": [],
        "chains": [],
        "calls": 1,
    }


def _layout_texts(shape: tuple[int, ...], stride: tuple[int, ...]) -> dict[str, str]:
    """Return the layout of a tensor, and its memory format: a name, "both", or "neither"."""
    formats = [name.removesuffix("_format") for name in memory_formats(shape, stride)]
    name = "both" if len(formats) == 2 else "".join(formats) or "neither"
    return {"layout": f"{shape}: {stride}", "format": name}


def _row_without_effect(audit: Audit, call: Repeat) -> Row:
    """Return the row of a call that does nothing."""
    number, k = call
    occurrence = audit.findings[number - 1].occurrences[k]
    shape, stride, _ = occurrence.layouts
    line, expression = _line_and_expression(occurrence.place)
    return _row(occurrence.module, line, expression, "does nothing") | _layout_texts(shape, stride)


def _row_of_events(events: list[Event]) -> Row:
    """Return the row of a call: what became of the last tensor that it made."""
    last = events[-1]
    row = _row(last.module, _line_and_expression(last.place)[0], _source(last))
    outputs = [event.outputs[0] for event in events if event.outputs]
    if not outputs:
        return row
    did = _effect(events, outputs[-1])
    row["did"] = _BACKWARD + did if last.backward else did
    return row | _layout_texts(outputs[-1].shape, outputs[-1].stride)


def _effect(events: list[Event], output: Operand) -> str:
    """Return what a call made of its output: a new tensor, a view, or a write in place."""
    older_versions: dict[int, int] = {}  # of the storages that were there before the call
    new_storages: set[int] = set()
    for event in events:
        for operand in event.inputs:
            if operand.storage not in new_storages:
                older_versions.setdefault(operand.storage, operand.version)
        new_storages |= {x.storage for x in event.outputs} - {*older_versions}
    if output.storage not in older_versions:
        return f"new, {in_bytes(prod(output.shape) * output.itemsize)}"
    return "view" if older_versions[output.storage] == output.version else "in place"


def _count(row: Row, size: int) -> None:
    """Add bytes of a layout that a call copied."""
    row["copied"] += size
    did = f"copies {in_bytes(row['copied'])}"
    row["did"] = _BACKWARD + did if row["did"].startswith(_BACKWARD) else did


# Chains ---------------------------------------------------------------------------------------------


def _chains(audit: Audit, row_of: RowOf) -> Iterator[Chain]:
    """Yield each occurrence of each finding: the first ones, the second ones, and so on."""
    occurrences = []
    for number, finding in enumerate(audit.findings, 1):
        for k, occurrence in enumerate(finding.occurrences):
            occurrences.append((k, number, finding, occurrence))
    occurrences.sort(key=lambda entry: entry[:2])
    for k, number, finding, occurrence in occurrences:
        input_name = _input_name(audit, occurrence)
        rows = [[*audit.inputs].index(input_name)] if input_name else []
        if occurrence.kind == IDLE:
            rows.append(row_of[number, k])
        else:
            rows += [row_of[event] for event in occurrence.events]
        title = what_of(finding)
        if len(finding.occurrences) > 1:
            title += f"; call {k + 1}"
        yield {
            "finding": number,
            "title": title,
            "advice": finding.advice,
            "rows": [*dict.fromkeys(rows)],
            "steps": _steps(audit, finding, occurrence, input_name, row_of),
        }


def _shown_name(audit: Audit, name: str) -> str:
    return "the input" if [*audit.inputs] == ["input 0"] else name


def _input_name(audit: Audit, occurrence: Occurrence) -> str:
    """Return the name of the input that a chain begins with; "" if it begins elsewhere."""
    given = occurrence.given
    if given:
        for name, x in audit.inputs.items():
            if (x.storage, x.layout) == (given.storage, given.layout):
                return name
    return ""


def _steps(
    audit: Audit, finding: Finding, occurrence: Occurrence, input_name: str, row_of: RowOf
) -> list[Step]:
    """Return what was done to the layout, and where; a long chain has its beginning and its end."""
    shape, *strides = occurrence.layouts
    layout = f"{shape}: {' to '.join(map(str, dict.fromkeys(strides)))}"
    source = _line_and_expression(occurrence.place)[1] or occurrence.op
    end = (_spot(occurrence.module, occurrence.place), source, layout)
    if not finding.made_by:
        return [("here", *end)]

    *before, copying = occurrence.events
    last_events = {row_of[k]: audit.events[k] for k in before}  # of each row
    end_rows = {row_of[copying]}
    first: Step
    if occurrence.given:
        layout = f"{occurrence.given.shape}: {occurrence.given.stride}"
        first = ("made by", "code before the run", "", layout)
        if input_name:
            first = ("given as", _shown_name(audit, input_name), "", layout)
    else:
        first_row = row_of[before[0]]
        end_rows.add(first_row)
        first = _step("made by", audit.events[before[0]], last_events[first_row])
    middle = [
        _step("passed on by", event, event)
        for row, event in last_events.items()
        if row not in end_rows
    ]
    if len(middle) > MOST_STEPS - 2:
        left_out = many(len(middle) - 2, "more call")
        middle[1:-1] = [("passed on by", left_out, "", "")]
    return [first, *middle, ("copied by" if occurrence.copied else "kept by", *end)]


def _step(role: str, event: Event, last: Event) -> Step:
    """Return a step at one event, with the layout that the last event of its row leaves."""
    layout = f"{last.outputs[0].shape}: {last.outputs[0].stride}" if last.outputs else ""
    return role, _spot(event.module, event.place), _source(event), layout


def _spot(module: str, place: Place | None) -> str:
    return ", ".join(filter(None, [module, _line_and_expression(place)[0]]))
