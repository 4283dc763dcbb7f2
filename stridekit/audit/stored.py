"""The JSON of an audit: to write it, and to read it back with a check of each value."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from stridekit._arguments import shown
from stridekit.audit.events import Operand
from stridekit.audit.findings import IDLE, KINDS, Finding
from stridekit.layout import Layout

if TYPE_CHECKING:
    from stridekit.audit.result import Audit

SCHEMA = 5
_hints = cache(get_type_hints)


def write_json(audit: Audit) -> str:
    """Write an audit as JSON."""
    return json.dumps({"schema": SCHEMA} | asdict(audit))


def read_json(text: str, cls: type[Audit]) -> Audit:
    """Read an audit that `write_json` wrote; raise ValueError for another text."""
    try:
        values = json.loads(text)
        if values.pop("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}, which is read here")
        audit: Audit = _read(cls, values)
        for finding in (*audit.findings, *audit.own):
            _check(finding, len(audit.events))
        for number, event in enumerate(audit.events):
            if event.number != number:
                raise ValueError(f"event {number} has the number {event.number}")
        for copy in audit.copies:
            if not 0 <= copy.op < len(audit.events):
                raise ValueError(
                    f"a copy is part of event {copy.op}, and there are {len(audit.events)}"
                )
            if not -1 <= copy.operand < len(audit.events[copy.op].inputs):
                raise ValueError(f"event {copy.op} has no input {copy.operand}, which was copied")
        # Both raise if a finding cannot be shown.
        audit.report()
        audit.table()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is not an audit that to_json wrote: {error!r}") from None
    return audit


def _check(finding: Finding, event_count: int) -> None:
    """Raise ValueError if a finding's occurrences do not fit one another, or the events of the run."""
    for occurrence in finding.occurrences:
        shape, before, after = occurrence.layouts
        for stride in (before, after):
            Layout(shape, stride)  # raises if there is no such layout
        if occurrence.kind not in KINDS:
            raise ValueError(f"there is no kind {shown(occurrence.kind)}")
        # A call that does nothing may stand after all events.
        last = event_count if occurrence.kind == IDLE else event_count - 1
        is_in_run = min(occurrence.events) >= 0 and max(occurrence.events) <= last
        if not is_in_run or finding.kind != finding.first.kind:
            raise ValueError(f"no finding: {occurrence}")


def _read(annotation: Any, value: Any) -> Any:
    """Turn a value of JSON into a value of an annotation; raise ValueError if it is none."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is UnionType:  # with None
        return None if value is None else _read(arguments[0], value)
    if origin is tuple and isinstance(value, list):
        return tuple([_read(arguments[0], item) for item in value])
    if origin is dict and isinstance(value, dict):
        return {name: _read(arguments[1], item) for name, item in value.items()}
    if annotation is Operand:
        operand = Operand(*map(_read, _hints(Operand).values(), value))
        Layout(operand.shape, operand.stride, operand.offset)  # raises if there is no such layout
        return operand
    has_fields: bool = is_dataclass(annotation)
    if has_fields and isinstance(value, dict):
        hints = _hints(annotation)
        return annotation(**{name: _read(hints[name], item) for name, item in value.items()})
    if type(value) is not annotation or (annotation is int and abs(value) >= 2**63):
        raise ValueError(f"{shown(value)} is no {annotation}")
    return value
