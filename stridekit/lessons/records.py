"""Recorded measurements: what a machine at rest took, to stand beside what yours takes now.

`make record` runs the lessons with STRIDEKIT_RECORD set. The measurements of a lesson's claims go into its
file in `recorded/`, with the machine. A claim's words and its stored picture show the record, so they are
the same in every run; a picture that you draw has your own run beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stridekit._arguments import many, shown
from stridekit.timing.clocks import TimingError
from stridekit.timing.comparison import Ratio
from stridekit.timing.fingerprint import machine

RECORDED = Path(__file__).with_name("recorded")  # a folder with a file for each lesson
# The file to write while recording; and, if set, pictures leave out what is measured now.
WRITES, ALONE = "STRIDEKIT_RECORD", "STRIDEKIT_RECORD_ALONE"


@dataclass(frozen=True)
class Record:
    """The result of a claim: seconds per call, ratios to the baseline, and signs of noise.

    >>> Record({"rows": 2e-6, "columns": 8e-6}, {"columns": Ratio(4.0, 3.9, 4.1)}).ratios["columns"].verdict
    'slower'
    """

    seconds: Mapping[str, float]
    ratios: Mapping[str, Ratio]
    noise: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Record:
        """Return the record that `asdict` made a dict of."""
        ratios = {name: Ratio(**ends) for name, ends in fields["ratios"].items()}
        return cls(dict(fields["seconds"]), ratios, tuple(fields["noise"]))


Entry = Record | list[float]  # a claim, or single runs in seconds


def recording() -> bool:
    """True while `make record` runs the lessons."""
    return WRITES in os.environ


def alone() -> bool:
    """True where pictures show the record by itself: in stored outputs, and on exported pages."""
    return ALONE in os.environ


def recorded(name: str, here: Entry) -> tuple[Any, str]:
    """Return the entry under a name, of the same kind as `here`, and the machine that it is from, in words.

    While recording that is `here`, which is written into the file. Raises TimingError for a name without
    such an entry.
    """
    if recording():
        _add(Path(os.environ[WRITES]), name, here)
    known: list[str] = []
    for path in [Path(os.environ[WRITES])] if recording() else sorted(RECORDED.glob("*.json")):
        of, entries = read(path)
        alike = {other: entry for other, entry in entries.items() if type(entry) is type(here)}
        if name in alike:
            cores = many(of["cores"], "core")
            where = f"recorded on {of['processor']}, {cores}, torch {of['torch']}, {of['date']}"
            return alike[name], where
        known += alike
    kind = "a claim" if isinstance(here, Record) else "runs"
    raise TimingError(
        f"nothing is recorded as {shown(name)} for {kind}, only {', '.join(known) or 'nothing'}: "
        "name one of these, or run `make record` on a machine at rest"
    )


def read(path: Path) -> tuple[dict[str, Any], dict[str, Entry]]:
    """Return the machine and the entries of a file; without a file this machine, and none.

    Raises TimingError for a file of another form.
    """
    if not path.exists():
        return machine(), {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        of = machine() | stored["machine"]
        entries = {
            name: Record.read(entry) if isinstance(entry, dict) else [*map(float, entry)]
            for name, entry in stored["records"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TimingError(
            f"{path.name} is not what `make record` writes ({error!r}): restore it, or run that again"
        ) from None
    return of, entries


def _add(path: Path, name: str, entry: Entry) -> None:
    """Write a file anew, with one entry more, each on its own line."""
    of, entries = read(path)
    if name in entries:
        raise TimingError(f"{shown(name)} is recorded already: give each record a name of its own")
    lines = []
    for key, value in (entries | {name: entry}).items():
        numbers = _rounded(asdict(value) if isinstance(value, Record) else value)
        lines.append(f"  {json.dumps(key)}: {json.dumps(numbers)}")
    text = f'{{"machine": {json.dumps(of)},\n "records": {{\n' + ",\n".join(lines) + "\n}}\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def _rounded(entry: Any) -> Any:
    """Five digits: the rest is noise, and makes the file long."""
    if isinstance(entry, dict):
        return {key: _rounded(value) for key, value in entry.items()}
    if isinstance(entry, list | tuple):
        return [_rounded(value) for value in entry]
    return float(f"{entry:.5g}") if isinstance(entry, float) else entry
