"""A baseline: what an audited run copied once, in a small file, for tests and CI that allow no more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stridekit._arguments import in_bytes
from stridekit.audit.findings import Finding, Occurrence

if TYPE_CHECKING:
    from stridekit.audit.result import Audit

_SCHEMA = 1


class Baseline(NamedTuple):
    """The bytes of layouts that a run copied in all, and by each op, its module and its expression."""

    copied: int
    findings: dict[str, int]

    @classmethod
    def of(cls, audit: Audit) -> Baseline:
        """Return what an audit copied."""
        sizes: Counter[str] = Counter()
        for occurrence in _copies(audit):
            sizes[_name_of(occurrence)] += occurrence.copied
        return cls(audit.bytes, dict(sorted(sizes.items())))

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read the file that `write` wrote. Raises ValueError for another one."""
        try:
            values = json.loads(path.read_bytes())
            if values["schema"] != _SCHEMA:
                raise ValueError(f"its schema is not {_SCHEMA}")
            return cls(
                int(values["copied"]), {str(k): int(v) for k, v in values["findings"].items()}
            )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path} is not a baseline of audit ({error!r}): remove it, and run again"
            ) from None

    def write(self, path: Path) -> None:
        """Write it as JSON, one finding a line, so that a change of the file can be read."""
        text = json.dumps({"schema": _SCHEMA} | self._asdict(), indent=1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")

    def new_in(self, audit: Audit) -> list[Finding]:
        """Return what an audit copied more of than this, the most bytes first."""
        from stridekit.audit.findings import together

        now = Baseline.of(audit).findings
        grown = {name for name, size in now.items() if size > self.findings.get(name, 0)}
        return [*together(x for x in _copies(audit) if _name_of(x) in grown)]


def github_lines(findings: list[Finding]) -> Iterator[str]:
    """Yield a line for each finding, which GitHub shows beside the line of source."""
    for finding in findings:
        place = finding.first.place
        where = f" file={_escaped_file(place.file)},line={place.line}" if place else ""
        text = f"{in_bytes(finding.bytes)}, {finding.kind}: {finding.advice}"
        yield f"::warning{where}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_file(name: str) -> str:
    """Escape what would end the name of a file, such as the colon behind a drive."""
    return _escaped(name).replace(":", "%3A").replace(",", "%2C")


def _copies(audit: Audit) -> Iterator[Occurrence]:
    for finding in (*audit.findings, *audit.own):
        yield from (occurrence for occurrence in finding.occurrences if occurrence.copied)


def _name_of(occurrence: Occurrence) -> str:
    """Return a name that holds where lines move: the op, the module and the expression."""
    expression = occurrence.place.expression if occurrence.place else ""
    return f"{occurrence.op} | {occurrence.module} | {expression}".replace("|  |", "| |")
