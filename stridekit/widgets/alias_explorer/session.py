"""The tensors x, y and z, and the effect of typed lines on them: views, copies, writes in place.

lines.py reads a line and torch runs it: values and refusals are torch's. The reasons in the log come from
Layout. session.js does the same in the browser, and tests/live_lines.py compares the two.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Sequence
from keyword import iskeyword
from typing import NamedTuple

import torch

from stridekit._arguments import ints, texts
from stridekit._defaults import torch_defaults
from stridekit.elementwise import output_layout
from stridekit.layout import Layout, LayoutError
from stridekit.rules import suggested_format
from stridekit.widgets.alias_explorer.lines import Bind, Chain, Compute, Operand, Store, read
from stridekit.widgets.alias_explorer.write import MAX_VALUE, Named, Write, shared_element
from stridekit.widgets.grammar import Step, apply
from stridekit.widgets.notation import counted, why_not_counted

NAMES, LONGEST_NAME = ("x", "y", "z"), 5
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
MAX_CELLS, MAX_DIMS = 96, 4
MAX_TEXT = 10_000  # characters of all lines together, far more than a hand types


class Entry(NamedTuple):
    """A line of the log: its kind ("view", "copy" or "write"), and a sentence on its effect."""

    text: str
    kind: str
    sentence: str
    warning: str = ""  # against a write that torch makes without one


class Session:
    """The tensors after some lines, and the log.

    The values are float64, which is exact for every number in the picture.
    """

    @torch_defaults()
    def __init__(
        self, shape: Sequence[int], steps: Iterable[str] = (), called: Sequence[str] = NAMES
    ) -> None:
        if isinstance(steps, str):
            raise LayoutError(f'steps are a sequence of lines: write ("{steps}",)')
        start = Layout(ints("shape", shape), itemsize=8)
        self.shape, self.called = start.shape, _three_names(called)
        _require_small(self.called[0], start)
        tape = torch.arange(start.numel, dtype=torch.float64)
        self.tensors = {self.called[0]: Named(tape, tape.view(start.shape))}
        self.tapes = [tape]  # the storages that some name holds, the oldest first
        self.log: list[Entry] = []
        length = 0
        for step in texts("steps", steps):
            self.run(step)
            length += len(step)
            if length > MAX_TEXT:
                raise LayoutError(f"the steps have more than {MAX_TEXT:,} characters: run fewer")

    @torch_defaults()
    def run(self, text: str) -> Entry:
        """Run one line. Raises LayoutError, and then changes nothing."""
        line = read(text, *self.called[:2])
        entry = self._write(line) if isinstance(line, Store) else self._bind(line)
        self.log.append(entry)
        return entry

    def _bind(self, line: Bind | Compute) -> Entry:
        self._require_name(line.name)
        if isinstance(line, Compute):
            found, reason = self._compute(line)
        else:
            found, reason = self._follow(line.source)
        self.tensors[line.name] = found
        held = {id(named.tape) for named in self.tensors.values()}
        tapes = {id(tape): tape for tape in (*self.tapes, found.tape)}
        self.tapes = [tape for key, tape in tapes.items() if key in held]
        if reason:
            return Entry(line.text, "copy", f"on a storage of its own: {reason}")
        if isinstance(line, Bind) and not line.source.steps:
            same = f"{line.name} is {line.source.name}: one tensor with two names"
            return Entry(line.text, "view", same)
        return Entry(line.text, "view", "nothing was copied")

    def _compute(self, line: Compute) -> tuple[Named, str]:
        """The new tensor of an operation out of place, and the reason for its storage."""
        one, two = map(self._operand, (line.left, line.right))
        layouts = [
            Layout((), itemsize=8) if isinstance(it, int) else Layout.of(it) for it in (one, two)
        ]
        after, said = output_layout(*layouts), f"{line.left} {line.sign} {line.right}"
        _require_small(said, after)
        tensor = OPERATORS[line.sign](one, two)
        if any(abs(value) > MAX_VALUE for value in tensor.flatten().tolist()):
            raise LayoutError(f"{said} would pass {MAX_VALUE}: the boxes hold five digits")
        tape = tensor.as_strided((after.numel,), (1,), 0).add_(0.0)  # there is no -0
        return Named(tape, tensor), f"{line.sign} out of place makes a new tensor"

    def _operand(self, operand: Operand) -> torch.Tensor | int:
        return operand if isinstance(operand, int) else self._follow(operand)[0].tensor

    def _follow(self, chain: Chain) -> tuple[Named, str]:
        """The tensor at the end of a chain, and the reason for the last copy in it."""
        self._require_name(chain.name)
        if chain.name not in self.tensors:
            example = f"{chain.name} = {self.called[0]}[1:]"
            raise LayoutError(f"{chain.name} is not there yet: make it, as in {example}")
        found, reason, said = self.tensors[chain.name], "", chain.name
        for step in chain.steps:
            before, said = found.layout, said + step.text
            try:
                after = apply(before, step)
            except IndexError as error:
                raise LayoutError(str(error)) from None
            _require_small(said, after)
            if after.numel and not after.copied and after.span.stop > found.tape.numel():
                raise LayoutError(
                    f"{said} would reach element {after.span.stop - 1}, "
                    f"and the storage ends at {found.tape.numel() - 1}"
                )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # .T of other than two dims is deprecated
                tensor = apply(found.tensor, step)
            tape = found.tape
            if after.copied:
                tape = tensor.as_strided((after.numel,), (1,), 0)
                reason = _why_copied(step, before, after)
            found = Named(tape, tensor)
        return found, reason

    def _write(self, line: Store) -> Entry:
        written, copied = self._follow(line.target)
        value = line.source if isinstance(line.source, int) else None
        other = self._follow(line.source)[0] if isinstance(line.source, Chain) else None
        source = str(line.source) if other else ""
        write = Write(str(line.target), source, line.op, written, value, other)
        before = written.tape.clone()
        try:
            write.run()
        except LayoutError:
            written.tape.copy_(before)
            raise
        changed = {int(k) for k in (before != written.tape).nonzero().flatten()}
        sentence = self._changes(line.target.name, written.tape, changed)
        if copied:
            sentence = "the write went to a copy that no name holds: no tensor changed"
        return Entry(line.text, "write", sentence, write.warning())

    def _changes(self, base: str, tape: torch.Tensor, changed: set[int]) -> str:
        """A sentence on the tensors whose values changed, the written one first."""
        parts: list[str] = []
        for name in sorted(self.names(), key=lambda name: name != base):
            own = {*self.tensors[name].elements()} if self.tensors[name].tape is tape else set()
            if count := len(own & changed):
                what = f"{name} changed too: " if parts else f"{name} changed: "
                parts.append(f"{what}{count} of its {len(own)}" + " elements" * (not parts))
        return "; ".join(parts) or "no value changed"

    # The picture ------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names in use, the first one first."""
        return [name for name in self.called if name in self.tensors]

    def _require_name(self, name: str) -> None:
        if name not in self.called:
            one, two, three = self.called
            raise LayoutError(
                f"{name} is not one of {one}, {two} and {three}: the picture has room for these three"
            )

    def relations(self) -> list[str]:
        """Sentences on how each pair of tensors shares memory, and on tensors that overlap themselves."""
        names = self.names()
        pairs = [(b, a) for k, a in enumerate(names) for b in names[k + 1 :]]
        said = [self.relation(y, x) for y, x in pairs]
        return said + [text for name in names if (text := self.overlap(name))]

    def relation(self, y: str, x: str) -> str:
        """A sentence on how y and x share memory.

        >>> Session((4, 6), ["y = x[:, ::2]", "z = x[:, 1::2]"]).relation("z", "y")
        'z and y share no element, though their ranges interleave'
        """
        mine, its = self.tensors[y], self.tensors[x]
        ys, xs = {*mine.elements()}, {*its.elements()}
        for name, own in ((y, ys), (x, xs)):
            if not own:
                return f"{name} is empty: it shares no element"
        if mine.tape is not its.tape:
            return f"{y} and {x} share no element: they have two storages"
        if ys == xs:
            return f"{y} and {x} have the same {counted(len(ys), 'element')}"
        if ys <= xs:
            return f"{y} lies inside {x}: {len(ys)} of {x}'s {len(xs)} elements"
        if xs <= ys:
            return f"{x} lies inside {y}: {len(xs)} of {y}'s {len(ys)} elements"
        if both := len(ys & xs):
            share = f"{y} and {x} share {counted(both, 'element')}"
            return f"{share}, of {y}'s {len(ys)} and {x}'s {len(xs)}"
        if min(ys) < max(xs) and min(xs) < max(ys):
            return f"{y} and {x} share no element, though their ranges interleave"
        return f"{y} and {x} share no element: one ends before the other begins"

    def overlap(self, name: str) -> str:
        """A sentence on two indices that are one element; "" if there are none."""
        own = self.tensors[name]
        shared = shared_element(own, name)
        return shared and f"{name} overlaps itself: {shared}"


def _three_names(names: Sequence[str]) -> tuple[str, ...]:
    """What x, y and z are called."""
    if isinstance(names, str):
        raise LayoutError(f"names are a sequence: write {tuple(names.split()) or ('a', 'b', 'c')}")
    found = texts("names", names)
    if len(found) != 3 or len({*found}) != 3:
        raise LayoutError(
            f"names are {found}: give three different ones, as ('ten', 'even', 'odd')"
        )
    for name in found:
        is_name = name.isascii() and name.isidentifier() and not iskeyword(name)
        if not is_name or len(name) > LONGEST_NAME or name == "torch":
            raise LayoutError(
                f"{name!r} is no name for a tensor here: it has letters, digits and _, "
                f"{LONGEST_NAME} at most"
            )
    return found


def _require_small(name: str, layout: Layout) -> None:
    if why := why_not_counted(layout):
        raise LayoutError(f"{name}: {why}")
    if layout.numel > MAX_CELLS or layout.ndim > MAX_DIMS:
        raise LayoutError(
            f"{name} would have {layout.numel} elements in {layout.ndim} dims: "
            f"the picture holds {MAX_CELLS} in {MAX_DIMS}"
        )
    if max(layout.shape, default=0) > MAX_CELLS:  # even if another size is 0
        raise LayoutError(
            f"{name} would have a size of {max(layout.shape)}: the picture holds {MAX_CELLS}"
        )


def _why_copied(step: Step, before: Layout, after: Layout) -> str:
    if step.name in ("clone", "flip", "repeat", "tile"):
        return f"{step.name} always copies"
    if step.name in ("reshape", "flatten"):
        return before.why_not_view(after.shape)
    if step.name == "to":
        return f"torch takes it to be in {suggested_format(before.shape, before.stride)}"
    return before.why_not_contiguous(**step.named)
