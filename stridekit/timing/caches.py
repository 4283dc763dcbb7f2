"""hierarchy(): the data caches of this machine, its pages, and which of them are huge.

Linux reports them in /sys, macOS by `sysctl`. Containers and virtual machines may hide any of the
values. A value that neither reports is None, and shown as unknown.
"""

from __future__ import annotations

import mmap
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from stridekit._arguments import many, shown
from stridekit._table import columns, html_table
from stridekit.timing.clocks import TimingError

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_MAC_NAMES = {1: "l1dcachesize", 2: "l2cachesize", 3: "l3cachesize"}
SYSCTL = ["/usr/sbin/sysctl", "hw.cachelinesize"]
for _level, _name in _MAC_NAMES.items():
    SYSCTL += [f"hw.{_name}", f"hw.perflevel0.{_name}", f"hw.perflevel0.cpusperl{_level}"]
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Cache:
    """A data cache: `nbytes` bytes, in lines of `line` bytes, in `sets` sets of `ways` lines each.

    `level` is its name, "L1" next to a core. `shared_by` is the number of cores that use it
    together. A value that the system does not report is None. Nothing is raised.

    >>> Cache("L1", 49152, line=64, ways=12, sets=64, shared_by=1)
    Cache(level='L1', nbytes=49152, line=64, ways=12, sets=64, shared_by=1)
    """

    level: str
    nbytes: int | None = None
    line: int | None = None
    ways: int | None = None
    sets: int | None = None
    shared_by: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Hierarchy:
    """The result of `hierarchy`; prints as text, shows as a table.

    `caches` has each cache that the system reports. `h["L2"]` is one of them, with None in all
    fields if the system does not report it. Other keys raise TimingError. `page` is the size of a
    page in bytes. `huge_pages` is "always", "madvise" or "never": who gets transparent huge pages;
    None if unknown.

    >>> Hierarchy((Cache("L1", 49152, 64, 12, 64, 1), Cache("L2", 2**21)), 4096, "madvise")
    caches of a core, and its pages
              bytes  bytes of a line     ways     sets  shared by
      L1     49,152               64       12       64     1 core
      L2  2,097,152          unknown  unknown  unknown    unknown
      pages of 4,096 bytes; transparent huge pages: madvise
    """

    caches: tuple[Cache, ...]
    page: int
    huge_pages: str | None

    def __getitem__(self, level: str) -> Cache:
        """Return the cache of a level, such as "L2"."""
        if not (isinstance(level, str) and re.fullmatch("L[1-9]", level)):
            raise TimingError(f"level is {shown(level)}: give 'L1', 'L2', 'L3' or 'L4'")
        return next((cache for cache in self.caches if cache.level == level), Cache(level))

    def _rows(self) -> list[tuple[str, ...]]:
        rows = []
        for cache in self.caches:
            numbers = (cache.nbytes, cache.line, cache.ways, cache.sets)
            texts = ["unknown" if number is None else f"{number:,}" for number in numbers]
            shared_by = many(cache.shared_by, "core") if cache.shared_by else "unknown"
            rows.append((cache.level, *texts, shared_by))
        return rows

    def _pages(self) -> str:
        unknown = "" if self.caches else "caches: unknown; "
        huge = f"transparent huge pages: {self.huge_pages or 'unknown'}"
        return f"{unknown}pages of {self.page:,} bytes; {huge}"

    def __repr__(self) -> str:
        rows = columns([("", *_HEAD[1:]), *self._rows()], "<>") if self.caches else []
        return "\n".join([_TITLE, *rows, f"  {self._pages()}"])

    def _repr_html_(self) -> str:
        return html_table(_TITLE, self._rows(), head=_HEAD, foot=self._pages(), align="<>")


_TITLE = "caches of a core, and its pages"
_HEAD = ("cache", "bytes", "bytes of a line", "ways", "sets", "shared by")


def hierarchy() -> Hierarchy:
    """Return the data caches of the first core, the size of pages, and who gets huge ones.

    It reads /sys on Linux and calls `sysctl` on macOS, which reports neither ways nor sets; sizes
    are in bytes. A virtual machine reports the caches of its host. Nothing is raised.

    >>> hierarchy()["L9"]
    Cache(level='L9', nbytes=None, line=None, ways=None, sets=None, shared_by=None)
    """
    by_level = _from_sysfs() or _from_sysctl()
    caches = tuple(by_level[level] for level in sorted(by_level))
    huge = re.search(r"\[(always|madvise|never)\]", text_of(HUGE_PAGES))
    return Hierarchy(caches, mmap.PAGESIZE, huge[1] if huge else None)


def _from_sysfs() -> dict[str, Cache]:
    """Return the caches that Linux reports, by level."""
    caches: dict[str, Cache] = {}
    for folder in sorted(CACHES.glob("index*")):
        level = _number(text_of(folder / "level"))
        if level is None or text_of(folder / "type") not in ("Data", "Unified"):
            continue
        files = ("size", "coherency_line_size", "ways_of_associativity", "number_of_sets")
        size, line, ways, sets = (_number(text_of(folder / name)) for name in files)
        cores = _count(text_of(folder / "shared_cpu_list"))
        caches.setdefault(f"L{level}", Cache(f"L{level}", size, line, ways, sets, cores))
    return caches


def _from_sysctl() -> dict[str, Cache]:
    """Return the caches that macOS reports, by level; of two types of cores, those of the faster cores."""
    if platform.system() != "Darwin":
        return {}
    try:
        result = subprocess.run(SYSCTL, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    values: dict[str, int | None] = {}
    for row in result.stdout.splitlines():
        name, _, value = row.partition(":")
        values[name.strip()] = _number(value.strip())
    line = values.get("hw.cachelinesize")
    caches = {}
    for level, name in _MAC_NAMES.items():
        nbytes = values.get(f"hw.perflevel0.{name}") or values.get(f"hw.{name}")
        if nbytes:
            cores = values.get(f"hw.perflevel0.cpusperl{level}")
            caches[f"L{level}"] = Cache(f"L{level}", nbytes, line, shared_by=cores)
    return caches


def text_of(path: Path) -> str:
    """Return the text of a file of the system; "" if it is missing or cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _number(text: str) -> int | None:
    """Return a number above 0, such as 64 or 48K; None for anything else."""
    match = re.fullmatch(r"([0-9]{1,18})([KMG]?)", text)
    if not match:
        return None
    return int(match[1]) * _UNITS[match[2]] or None


def _count(cores: str) -> int | None:
    """Return how many numbers a list such as 0-3,8 has; None for any other text."""
    if not re.fullmatch(r"[0-9]{1,6}(-[0-9]{1,6})?(,[0-9]{1,6}(-[0-9]{1,6})?)*", cores):
        return None
    count = 0
    for cores_range in cores.split(","):
        ends = cores_range.split("-")
        count += int(ends[-1]) - int(ends[0]) + 1
    return count if count > 0 else None
