"""Traffic: the cost of moving the operands of an operation, as numbers and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from stridekit._arguments import shown
from stridekit._table import columns, html_table


class Operand(NamedTuple):
    """One operand's part: useful bytes, each counted once, and the lines and sectors that they lie in."""

    name: str
    useful: int
    lines: int
    partial: int  # lines of which only some bytes are useful
    sectors: int
    fetched: int | None  # with cache=: lines fetched, those that are fetched again included


@dataclass(frozen=True, slots=True, repr=False)
class Traffic:
    """The result of `traffic`; prints as text, shows as a table.

    `operands` has one row for each operand. `useful` counts the bytes that are read and written. The
    totals `lines_read`, `lines_written` and `lines_kept` (read only because a part of them is written)
    count lines of `line` bytes; a line that several reads, or several writes, touch counts once.
    `minimum` is the bytes that as many useful ones, packed densely, would move. `cache` is the size
    that was asked about, in bytes.

    >>> from stridekit import Layout, traffic
    >>> column = traffic(reads=Layout((1000,), stride=(16,), itemsize=4))
    >>> column.useful, column.lines_read, column.moved, column.efficiency
    (4000, 1000, 64000, 0.063)
    """

    operands: tuple[Operand, ...]
    line: int
    cache: int | None
    useful: int
    lines_read: int
    lines_written: int
    lines_kept: int
    minimum: int

    @property
    def moved(self) -> int:
        """The bytes between memory and cache: all lines read, written and kept, in full."""
        return self.line * (self.lines_read + self.lines_written + self.lines_kept)

    @property
    def efficiency(self) -> float:
        """The part of the moved bytes that dense operands would move too; 1 where nothing moves."""
        return self.minimum / self.moved if self.moved else 1.0

    def fraction(self, seconds: float, bandwidth: Any) -> float:
        """The part of a bandwidth that the operation reached if it took so many seconds.

        `bandwidth` is in bytes per second, or what `bandwidth()` returned. Above 1 the cache served what
        memory was asked for; far below, the operation waited for something else. Raises ValueError for
        what is not above 0.

        >>> from stridekit import Layout, traffic
        >>> traffic(reads=Layout((10**6,), itemsize=4)).fraction(seconds=0.001, bandwidth=8e9)
        0.5
        """
        ceiling = getattr(bandwidth, "ceiling", bandwidth)
        for name, value in (("seconds", seconds), ("bandwidth", ceiling)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < float("inf"):
                raise ValueError(f"{name} is {shown(value)}: give a number above 0")
        return float(self.moved / seconds / ceiling)

    def __str__(self) -> str:
        return "\n".join([self._title(), *columns(self._rows(), "<>"), f"  {self._sum()}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        (_, *names), *rows = self._rows()
        head = ["operand", *names]  # of a column without a name, a screen reader could say nothing
        return html_table(self._title(), rows, head=head, foot=self._sum(), align="<>")

    def _title(self) -> str:
        where = "" if self.cache is None else f", a cache of {self.cache:,} bytes"
        return f"traffic in lines of {self.line} bytes{where}"

    def _rows(self) -> list[tuple[str, ...]]:
        names = ("", "useful bytes", "lines", "partial", "sectors", "fetched")
        rows = [names] + [
            (operand.name, *(f"{n:,}" for n in operand[1:] if n is not None))
            for operand in self.operands
        ]
        return [row[: 5 if self.cache is None else 6] for row in rows]

    def _sum(self) -> str:
        kept = f", {self.lines_kept:,} read only to keep their rest" if self.lines_kept else ""
        lines = f"{self.lines_read:,} lines read, {self.lines_written:,} written{kept}"
        return (
            f"moved: {self.moved:,} bytes ({lines}); dense: {self.minimum:,}, "
            f"{100 * self.efficiency:.0f} % of that"
        )
