"""The report of an audit, as text and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from stridekit._arguments import in_bytes, many
from stridekit._table import columns
from stridekit.audit.events import Kind, Place
from stridekit.audit.findings import WRITE_GRADIENT, Finding, first_of
from stridekit.timing.speed import Speed, speed_of_copies

if TYPE_CHECKING:
    from stridekit.audit.result import Audit

FIRST = 5  # findings that are shown
_MOST_LINES = 3  # of one finding
_LEAST_SECONDS = 1e-5  # of copies whose time is worth a row
# The rows of a finding that are code, and the styles of its title, its rows, their names and their cells.
# JupyterLab has styles of its own for such lists, where a name takes a fifth of the width.
_ROWS_OF_CODE = ("line", "made by")
_TITLE = "margin:0.8em 0 0.2em;font-weight:600"
_ROWS = "display:grid;grid-template-columns:max-content 1fr;gap:0.1em 1em;margin:0 0 0 1.5em"
_NAME = "width:auto;white-space:nowrap;font-weight:400"
_CELL = "width:auto;margin:0;overflow-wrap:anywhere"
_SMALL_PART = 100  # copies inside of a call that have a smaller part of the bytes share one line
# The copies that change no layout, in words.
_OTHER_KINDS = {
    Kind.WRITE: "written into tensors",
    Kind.BROADCAST: "broadcast",
    Kind.DTYPE: "cast",
    Kind.DEVICE: "moved to a device",
    Kind.CLONE: "cloned as they lie",
}


class Item(NamedTuple):
    """A part of a report: its number or a dash, its title, rows of a name and a text, and its bytes."""

    number: str
    title: str
    rows: tuple[tuple[str, str], ...]
    bytes: int


def items_of(
    findings: Sequence[Finding], own: Sequence[Finding], speed: Speed | None = None
) -> list[Item]:
    """Return the parts of a report: findings have numbers, and copies inside of calls follow.

    `speed` is that of a copy, for estimates of times; by default what was measured or recorded.
    """
    if speed is None:
        speed = speed_of_copies()
    total = sum(finding.copied for finding in (*findings, *own))
    large = [finding for finding in own if finding.bytes * _SMALL_PART >= total]
    small = [finding for finding in own if finding not in large]
    items = [_item(str(number), finding, speed) for number, finding in enumerate(findings, 1)]
    items += [_item("–", finding, speed) for finding in large]
    if small:
        items.append(_item_of_small(small))
    return items


def listing(findings: Sequence[Finding], own: Sequence[Finding]) -> list[str]:
    """Return the texts of the first findings and own copies, and a line that counts the rest."""
    items = items_of(findings, own)
    texts = [_text(item) for item in items[:FIRST]]
    return [*texts, f"  {_remainder(items[FIRST:])}"] if items[FIRST:] else texts


def _remainder(items: Sequence[Item]) -> str:
    return f"… and {len(items)} more of {in_bytes(sum(item.bytes for item in items))}"


def title_of(audit: Audit) -> str:
    """Return one line: what ran, the number of findings, and the bytes copied because of a layout."""
    count = len([*audit.of_layouts()])
    return (
        f"audit of {audit.name}: {many(len(audit.findings), 'finding')}; "
        f"{count} of {len(audit.copies)} copies changed a layout, {in_bytes(audit.bytes)}"
    )


def text_of(audit: Audit, most: int | None, speed: Speed | None = None) -> str:
    """Write an audit as text, with its first `most` findings."""
    items = items_of(audit.findings, audit.own, speed)
    most = len(items) if most is None else most
    lines = [title_of(audit), *[f"  {gap}" for gap in _gaps(audit)]]
    lines += [_text(item) for item in items[:most]]
    if items[most:]:
        lines.append(f"  {_remainder(items[most:])}: print(a.report()) shows all")
    return "\n".join([*lines, *[f"  {note}" for note in _notes(audit)]])


def html_of(audit: Audit) -> str:
    """Write an audit as HTML; all but the first findings fold out."""
    items = items_of(audit.findings, audit.own)
    parts = [f"<p><b>{escape(title_of(audit))}</b></p>"]
    parts += [f"<p>{escape(gap)}</p>" for gap in _gaps(audit)]
    if not items:
        parts.append("<p>No line copies because of a layout: there is nothing to change.</p>")
    parts += [_html(item) for item in items[:FIRST]]
    if items[FIRST:]:
        rest = "".join(map(_html, items[FIRST:]))
        parts.append(
            f"<details><summary>{escape(_remainder(items[FIRST:]))}</summary>{rest}</details>"
        )
    parts += [f"<p><small>{escape(note)}</small></p>" for note in _notes(audit)]
    return f"<div>{''.join(parts)}</div>"


def what_of(finding: Finding) -> str:
    """Return the bytes of a finding, the number of copies or calls, its kind, its op and its modules."""
    occurrences = finding.occurrences
    copies = [occurrence for occurrence in occurrences if occurrence.copied]
    noun = "copy" if copies else "call"
    count = len(copies or occurrences)
    size = in_bytes(finding.bytes)
    if count > 1:
        size += f" in {many(count, noun)}"
    parts = [size, finding.kind, f"in {finding.first.op}"]
    modules = [occurrence.module for occurrence in occurrences if occurrence.module]
    if modules:
        parts.append(first_of(modules))
    if _is_backward(finding):
        parts.append("backward")
    return ", ".join(parts)


def _is_backward(finding: Finding) -> bool:
    return all(occurrence.backward for occurrence in finding.occurrences)


def _item(number: str, finding: Finding, speed: Speed) -> Item:
    """Return a finding's part of a report: its lines, what made the layout, the layout, and what to do."""
    own_kind_first = sorted(finding.occurrences, key=lambda x: x.kind != finding.kind)
    lines: dict[str, None] = {}  # an ordered set
    for occurrence in own_kind_first:
        line = _where(occurrence.place)
        if occurrence.backward and not _is_backward(finding):
            line += ", backward"
        lines[line] = None
    rows = [("line", line) for line in [*lines][:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        rows.append(("", f"and {many(len(lines) - _MOST_LINES, 'more line')}"))
    if finding.made_by:
        rows.append(("made by", _where(finding.cause) if finding.cause else finding.made_by))
    shape, *strides = finding.first.layouts
    changes = " to ".join(map(str, dict.fromkeys(strides)))
    rows.append(("layout", f"{shape}: stride {changes}"))
    rows.append(("to do", finding.advice))
    if finding.saves > 0:
        rows.append(("saves", f"{in_bytes(finding.saves)} in all"))
    size = finding.bytes if finding.kind == WRITE_GRADIENT else finding.copied
    seconds = 2 * size / speed.value
    if seconds >= _LEAST_SECONDS:
        at = f"{speed.value / 1e9:.3g} GB/s {speed.source}".rstrip()
        rows.append(("time", f"an estimate: {1e3 * seconds:.2g} ms, at {at}"))
    return Item(number, what_of(finding), tuple(rows), finding.bytes)


def _item_of_small(own: Sequence[Finding]) -> Item:
    """Return one part for the copies inside of calls that are a small part of the bytes."""
    size = sum(finding.bytes for finding in own)
    count = many(sum(len(finding.occurrences) for finding in own), "copy")
    ops = first_of(finding.first.op for finding in own)
    title = f"{in_bytes(size)} in {count}, the own copies of {ops}: each less than 1 % of the bytes"
    return Item("–", title, (), size)


def _text(item: Item) -> str:
    indented = [("", *row) for row in item.rows]
    lines = [f"   {line}" for line in columns(indented)]
    return "\n".join([f"  {item.number}  {item.title}", *lines])


def _html(item: Item) -> str:
    """Write a part of a report as a title and a list of names with their texts."""
    rows = []
    for name, text in item.rows:
        cell = escape(text)
        if name in _ROWS_OF_CODE:
            cell = f"<code>{cell}</code>"
        rows.append(f"<dt style='{_NAME}'>{escape(name)}</dt><dd style='{_CELL}'>{cell}</dd>")
    number = f"<span style='margin-right:1em'>{item.number}</span>"
    title = f"<p style='{_TITLE}'>{number}{escape(item.title)}</p>"
    return f"{title}<dl style='{_ROWS}'>{''.join(rows)}</dl>"


def _where(place: Place | None) -> str:
    return f"{place}  {place.expression}" if place else "not known"


def _gaps(audit: Audit) -> list[str]:
    return [f"not watched: {gap}" for gap in audit.unwatched]


def _notes(audit: Audit) -> list[str]:
    """Return the sums of copies that no finding is about, and what an audit does not see."""
    copied = audit.copied
    sums = []
    for kind, words in _OTHER_KINDS.items():
        # A number, which an op makes a tensor of, is not worth a line.
        sizes = [copy.bytes for copy in audit.copies if copy.kind == kind and copy.shape]
        if sizes:
            sums.append(f"{in_bytes(sum(sizes))} {words} in {many(len(sizes), 'copy')}")
    notes = [f"no layout changed: {', '.join(sums)}"] if sums else []
    if Kind.ASKED in copied:
        count, size = copied[Kind.ASKED]
        asked_for = "asked for by clone(), or by to() of an input"
        notes.append(f"{asked_for}: {in_bytes(size)} more, in {many(count, 'copy')}")
    return [*notes, *audit.notes]
