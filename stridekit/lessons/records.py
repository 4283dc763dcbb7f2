"""Recorded measurements: what a machine at rest took, to stand beside what yours takes now.

`make record` runs the lessons with STRIDEKIT_RECORD set, and writes a file for each into `recorded/`.
A claim's words and its stored picture show the record alone, so they are the same in every run.
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
from stridekit.timing.comparison import Comparison, Ratio
from stridekit.timing.fingerprint import machine

RECORDED = Path(__file__).with_name("recorded")  # a folder with a file for each lesson
# The file to write while recording; and, if set, pictures leave out what is measured now.
WRITES, ALONE = "STRIDEKIT_RECORD", "STRIDEKIT_RECORD_ALONE"


@dataclass(frozen=True)
class Record:
    """The result of a claim: seconds per call, ratios to the baseline, and signs of noise."""

    seconds: Mapping[str, float]
    ratios: Mapping[str, Ratio]
    noise: tuple[str, ...] = ()

    @classmethod
    def of(cls, *comparisons: Comparison) -> Record:
        """Return what comparisons measured: the lower quartiles, and all ratios and signs of noise."""
        seconds = {n: each.measurement(n).value for each in comparisons for n in each.names}
        ratios = {n: ratio for each in comparisons for n, ratio in each.ratios.items()}
        noise = dict.fromkeys(sign for each in comparisons for sign in each.noise)
        return cls(seconds, ratios, tuple(noise))


Entry = Record | list[float]  # a claim, or single runs in seconds


def recording() -> bool:
    """True while `make record` runs the lessons."""
    return WRITES in os.environ


def alone() -> bool:
    """True where pictures show the record by itself: in stored outputs, and on exported pages."""
    return ALONE in os.environ


def recorded(name: str, here: Entry) -> tuple[Any, str]:
    """Return the entry under a name, and the machine that it is from, in words.

    While recording that is `here`, which is written into the file. Raises TimingError for a name without
    an entry.
    """
    if recording():
        add(Path(os.environ[WRITES]), name, here)
    paths = [Path(os.environ[WRITES])] if recording() else sorted(RECORDED.glob("*.json"))
    known = {key: (entry, of) for of, stored in map(read, paths) for key, entry in stored.items()}
    if name not in known:
        raise TimingError(
            f"nothing is recorded as {shown(name)}, only {', '.join(known)}: name one of these, or run "
            "`make record` on a machine at rest"
        )
    entry, of = known[name]
    where = f"{of['processor']}, {many(of['cores'], 'core')}, torch {of['torch']}, {of['date']}"
    return entry, f"recorded on {where}"


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the machine and the entries of a file; without a file this machine, and none."""
    if not path.exists():
        return machine(), {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    entries = stored["records"]
    for name, fields in entries.items():
        if isinstance(fields, dict):
            ratios = {name: Ratio(**ends) for name, ends in fields["ratios"].items()}
            entries[name] = Record(fields["seconds"], ratios, tuple(fields["noise"]))
    return machine() | stored["machine"], entries


def add(path: Path, name: str, entry: Entry) -> None:
    """Write a file anew, with one entry more, each on its own line, with numbers of five digits."""
    of, entries = read(path)
    entries[name] = entry
    plain = {k: asdict(v) if isinstance(v, Record) else v for k, v in entries.items()}
    short = json.loads(json.dumps(plain), parse_float=lambda number: float(f"{float(number):.5g}"))
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in short.items()]
    text = f'{{"machine": {json.dumps(of)},\n "records": {{\n' + ",\n".join(lines) + "\n}}\n"
    path.write_text(text, encoding="utf-8", newline="\n")
