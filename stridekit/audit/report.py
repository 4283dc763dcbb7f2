"""The report of an audit, as text and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from stridekit._arguments import in_bytes, many
from stridekit._table import columns
from stridekit.audit.events import Kind, Place
from stridekit.audit.findings import LEAVE_OUT, Finding, first_of

if TYPE_CHECKING:
    from stridekit.audit.result import Audit

FIRST = 5  # findings that are shown
_MOST_LINES = 3  # of one finding
_SMALL_PART = 100  # copies inside of a call that have a smaller part of the bytes share one line
_NOT_SEEN = (
    "not seen: reordering inside one kernel of oneDNN or cuDNN, other threads, worker processes",
    "compiled functions ran as they were written, and a few ops (prod, quantile, ctc_loss, matrix_exp) "
    "took other formulas, as under any dispatch mode",
)
# The copies that change no layout, in words.
_OTHER_KINDS = {
    Kind.WRITE: "written into tensors",
    Kind.BROADCAST: "broadcast",
    Kind.DTYPE: "cast",
    Kind.DEVICE: "moved to a device",
    Kind.CLONE: "cloned as they lie",
}


class Listing(NamedTuple):
    """The texts of the first findings, those of the rest, and a line that counts the rest."""

    first: list[str]
    rest: list[str]
    remainder: str


def listing(findings: Sequence[Finding], own: Sequence[Finding], most: int | None) -> Listing:
    """List the first `most` findings, which have numbers, and copies inside of calls."""
    total = sum(finding.copied for finding in (*findings, *own))
    large = [finding for finding in own if finding.bytes * _SMALL_PART >= total]
    small = [finding for finding in own if finding not in large]
    texts = [_text(str(number), finding) for number, finding in enumerate(findings, 1)]
    texts += [_text("–", finding) for finding in large]
    sizes = [finding.bytes for finding in (*findings, *large)]
    if small:
        texts.append(_text_of_small(small))
        sizes.append(sum(finding.bytes for finding in small))
    if most is None:
        most = len(texts)
    rest = texts[most:]
    remainder = f"  … and {len(rest)} more of {in_bytes(sum(sizes[most:]))}" if rest else ""
    return Listing(texts[:most], rest, remainder)


def title_of(audit: Audit) -> str:
    """Return one line: what ran, the number of findings, and the bytes copied because of a layout."""
    count = len([*audit.of_layouts()])
    return (
        f"audit of {audit.name}: {many(len(audit.findings), 'finding')}; "
        f"{count} of {len(audit.copies)} copies changed a layout, {in_bytes(audit.bytes)}"
    )


def text_of(audit: Audit, most: int | None) -> str:
    """Write an audit as text, with its first `most` findings."""
    first, _, remainder = listing(audit.findings, audit.own, most)
    lines = [title_of(audit), *_gaps(audit), *first]
    if remainder:
        lines.append(f"{remainder}: print(a.report()) shows all")
    return "\n".join([*lines, *_notes(audit)])


def html_of(audit: Audit) -> str:
    """Write an audit as HTML; all but the first findings fold out."""
    first, rest, remainder = listing(audit.findings, audit.own, FIRST)
    title = f"<b>{escape(title_of(audit))}</b>"
    shown = _pre([*_gaps(audit), *first])
    folded = ""
    if remainder:
        folded = f"<details><summary>{remainder}</summary>{_pre(rest)}</details>"
    return f"<div>{title}{shown}{folded}{_pre(_notes(audit))}</div>"


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


def _text(number: str, finding: Finding) -> str:
    """Write a finding as text: its lines, what made the layout, the layout, and what to do."""
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
    if finding.advice.startswith(LEAVE_OUT):
        rows.append(("saves", f"{in_bytes(finding.saves)} in all"))
    indented = [("", *row) for row in rows]
    texts = [f"   {line}" for line in columns(indented)]
    return "\n".join([f"  {number}  {what_of(finding)}", *texts])


def _text_of_small(own: Sequence[Finding]) -> str:
    """Write copies inside of calls on one line."""
    size = in_bytes(sum(finding.bytes for finding in own))
    count = many(sum(len(finding.occurrences) for finding in own), "copy")
    ops = first_of(finding.first.op for finding in own)
    return f"  –  {size} in {count}, the own copies of {ops}: each less than 1 % of the bytes"


def _where(place: Place | None) -> str:
    return f"{place}  {place.expression}" if place else "not known"


def _gaps(audit: Audit) -> list[str]:
    return [f"  not watched: {gap}" for gap in audit.unwatched]


def _notes(audit: Audit) -> list[str]:
    """Return the sums of copies that no finding is about, and what an audit does not see."""
    copied = audit.copied
    sums = []
    for kind, words in _OTHER_KINDS.items():
        if kind in copied:
            count, size = copied[kind]
            sums.append(f"{in_bytes(size)} {words} in {many(count, 'copy')}")
    notes = [f"  no layout changed: {', '.join(sums)}"] if sums else []
    if Kind.ASKED in copied:
        count, size = copied[Kind.ASKED]
        asked_for = "asked for by clone(), or by to() of an input"
        notes.append(f"  {asked_for}: {in_bytes(size)} more, in {many(count, 'copy')}")
    return [*notes, *(f"  {note}" for note in _NOT_SEEN)]


def _pre(texts: Iterable[str]) -> str:
    """Write texts as HTML: a line that is too long goes on below its own text, between words."""
    style = "white-space:pre-wrap;word-break:normal;padding-left:16ch;text-indent:-16ch"
    lines = "\n".join(texts).splitlines()
    if not lines:
        return ""
    rows = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f'<pre style="{style};margin:0.4em 0">{rows}</pre>'
