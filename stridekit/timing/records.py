"""Recorded measurements: what a machine at rest took, beside what yours takes now.

`make record` runs the lessons with STRIDEKIT_RECORD set, and stores what their claims measure in
`recorded.json`, with the machine's fingerprint and each sign of noise. A claim's words and its stored
picture show the record, so they are the same in every run; one that you draw shows your run beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stridekit._arguments import shown
from stridekit.timing.clocks import TimingError
from stridekit.timing.comparison import Comparison, Ratio
from stridekit.timing.fingerprint import machine

RECORDED = Path(__file__).with_name("recorded.json")
# The file to write while recording; and whether pictures leave out what is measured now.
WRITES, ALONE = "STRIDEKIT_RECORD", "STRIDEKIT_RECORD_ALONE"


@dataclass(frozen=True)
class Record:
    """What a claim measured: seconds per call, ratios to the baseline, and signs of noise.

    >>> Record({"rows": 2e-6, "columns": 8e-6}, {"columns": Ratio(4.0, 3.9, 4.1)}).ratios["columns"].verdict
    'slower'
    """

    seconds: Mapping[str, float]
    ratios: Mapping[str, Ratio]
    noise: tuple[str, ...] = ()

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Record:
        """The record of comparisons that share at most the name of their baseline."""
        seconds: dict[str, float] = {}
        ratios: dict[str, Ratio] = {}
        noise: tuple[str, ...] = ()
        for one in comparisons:
            seconds |= {name: one.measurement(name).quartiles[0] for name in one.names}
            ratios |= one.ratios
            noise += one.noise
        return cls(seconds, ratios, noise)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Record:
        """The record that `asdict` made a dict of."""
        ratios = {name: Ratio(**ends) for name, ends in fields["ratios"].items()}
        return cls(fields["seconds"], ratios, tuple(fields["noise"]))


def recording() -> bool:
    """True while `make record` runs the lessons."""
    return WRITES in os.environ


def alone() -> bool:
    """True where pictures show the record by itself: in stored outputs, and on exported pages."""
    return ALONE in os.environ


def recorded(name: str, here: Any) -> Any:
    """What is recorded under a name. While recording that is `here`, which goes into the file.

    `here` is a Record or a list of numbers, and so is what comes back.
    Raises TimingError for a name without a record.
    """
    if recording():
        _write(name, asdict(here) if isinstance(here, Record) else here)
        return here
    found = _read(RECORDED)["records"]
    if name not in found:
        raise TimingError(
            f"nothing is recorded as {shown(name)}, only {', '.join(found)}: name one of these, or run "
            "`make record` on a machine that does nothing else"
        )
    return Record.read(found[name]) if isinstance(found[name], dict) else found[name]


def recorded_on() -> str:
    """The machine of the records, and their date.

    >>> recorded_on().startswith("recorded on ")
    True
    """
    of = machine() if recording() else _read(RECORDED)["machine"]
    return f"recorded on {of['processor']}, {of['cores']} cores, torch {of['torch']}, {of['date']}"


def _write(name: str, entry: Any) -> None:
    path = Path(os.environ[WRITES])
    found = _read(path) if path.exists() else {"machine": machine(), "records": {}}
    if name in found["records"]:
        raise TimingError(f"{shown(name)} is recorded already: give each record a name of its own")
    found["records"][name] = _rounded(entry)
    lines = [f"  {json.dumps(name)}: {json.dumps(of)}" for name, of in found["records"].items()]
    text = f'{{"machine": {json.dumps(found["machine"])},\n "records": {{\n'
    path.write_text(text + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


def _rounded(entry: Any) -> Any:
    """Five digits: the rest is noise, and makes the file long."""
    if isinstance(entry, dict):
        return {key: _rounded(value) for key, value in entry.items()}
    if isinstance(entry, list | tuple):
        return [_rounded(value) for value in entry]
    return float(f"{entry:.5g}") if isinstance(entry, float) else entry


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
