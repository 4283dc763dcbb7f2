"""Recorded measurements: the times of a machine at rest, to stand beside the times of yours.

`make record` runs the lessons with STRIDEKIT_RECORD set, and writes a file for each into `recorded/`.
A claim's words and its stored picture show the record alone, so they are the same in every run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from stridekit._arguments import many, shown
from stridekit.timing.clocks import TimingError
from stridekit.timing.comparison import Comparison, Ratio
from stridekit.timing.fingerprint import machine

# A folder with a file for each lesson: a Path, unless the package lies in a zip.
RECORDED = files("stridekit.lessons") / "recorded"
WRITES = "STRIDEKIT_RECORD"  # a variable that names the file to write while recording
ALONE = "STRIDEKIT_RECORD_ALONE"  # if this variable is set, pictures leave out the times of this machine


@dataclass(frozen=True)
class Record:
    """The result of a claim: seconds per call, ratios to the baseline, and signs of noise."""

    seconds: Mapping[str, float]
    ratios: Mapping[str, Ratio]
    noise: tuple[str, ...] = ()

    @classmethod
    def of(cls, *comparisons: Comparison) -> Record:
        """Return the lower quartiles of all comparisons, with their ratios and signs of noise."""
        seconds: dict[str, float] = {}
        ratios: dict[str, Ratio] = {}
        noise: list[str] = []
        for comparison in comparisons:
            seconds |= {name: comparison.measurement(name).value for name in comparison.names}
            ratios |= comparison.ratios
            noise += [sign for sign in comparison.noise if sign not in noise]
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
        paths: list[Traversable] = [Path(os.environ[WRITES])]
    else:
        paths = sorted(RECORDED.iterdir(), key=lambda path: path.name)
    names: list[str] = []
    for path in paths:
        fingerprint, entries = read(path)
        if name in entries:
            return entries[name], f"recorded on {_in_words(fingerprint)}"
        names += entries
    raise TimingError(
        f"nothing is recorded as {shown(name)}, only {', '.join(names)}: name one of these, or run "
        "`make record` on a machine at rest"
    )


def _in_words(fingerprint: Mapping[str, Any]) -> str:
    cores = many(fingerprint["cores"], "core")
    versions = f"torch {fingerprint['torch']}, {fingerprint['date']}"
    return f"{fingerprint['processor']}, {cores}, {versions}"


def read(path: Traversable) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the machine and the entries of a file; without a file this machine, and none."""
    if not path.is_file():
        return machine(), {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    entries = stored["records"]
    for name, fields in entries.items():
        if isinstance(fields, dict):
            ratios = {name: Ratio(**ends) for name, ends in fields["ratios"].items()}
            entries[name] = Record(fields["seconds"], ratios, tuple(fields["noise"]))
    return machine() | stored["machine"], entries


def add(path: Path, name: str, entry: Entry) -> None:
    """Add an entry to a file, where each has a line of its own, with numbers of five digits."""
    fingerprint, entries = read(path)
    entries[name] = entry
    lines = []
    for key, value in entries.items():
        plain = asdict(value) if isinstance(value, Record) else value
        rounded = json.loads(json.dumps(plain), parse_float=_five_digits)
        lines.append(f"  {json.dumps(key)}: {json.dumps(rounded)}")
    head = f'{{"machine": {json.dumps(fingerprint)},\n "records": {{\n'
    path.write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8", newline="\n")


def _five_digits(number: str) -> float:
    return float(f"{float(number):.5g}")
