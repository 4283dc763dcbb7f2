"""What happens to tensors x, y and z when a line is typed: a view, a copy, or a write in place.

A line is read by Python's own parser (lines.py) and run by torch: the values and the refusals are
torch's. What Layout knows beside it, the reasons, goes into the log. story.js mirrors this module;
tests/fixtures/aliases.json pins it to the answers from here.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch

from stridekit._arguments import ints, texts
from stridekit._defaults import torch_defaults
from stridekit.elementwise import output_layout
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.alias_explorer.lines import Bind, Compute, Store, int_of, read
from stridekit.widgets.alias_explorer.write import MAX_VALUE, Named, Write, shared_element

NAMES = ("x", "y", "z")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
MAX_CELLS, MAX_DIMS = 96, 4


class Entry(NamedTuple):
    """A line of the log: "view", "copy" or "write", and what happened in words."""

    text: str
    kind: str
    sentence: str
    warning: str = ""  # what speaks against the write, which torch makes all the same


class Story:
    """The tensors after some lines, and the log.

    The values are held as float64, in which each number that the picture holds is exact.
    """

    @torch_defaults()
    def __init__(self, shape: Sequence[int], steps: Iterable[str] = ()) -> None:
        if isinstance(steps, str):
            raise LayoutError(f'steps are a sequence of lines: write ("{steps}",)')
        start = Layout(ints("shape", shape), itemsize=8)
        self.shape = start.shape
        _require_small("x", start)
        tape = torch.arange(start.numel, dtype=torch.float64)
        self.tensors = {"x": Named(tape, tape.view(start.shape))}
        self.tapes = [tape]  # the storages that some name holds, the oldest first
        self.log: list[Entry] = []
        self._text = ""
        for step in texts("steps", steps):
            self.run(step)

    @torch_defaults()
    def run(self, text: str) -> Entry:
        """Run one line. Raises LayoutError, and then all is as it was before."""
        line, self._text = read(text), text.strip()
        entry = self._write(line) if isinstance(line, Store) else self._bind(line)
        self.log.append(entry)
        return entry

    def _bind(self, line: Bind | Compute) -> Entry:
        _require_name(line.name)
        if isinstance(line, Compute):
            found, reason = self._compute(line)
        else:
            found, reason = self._follow(line.source)
        self.tensors[line.name] = found
        held = {id(named.tape) for named in self.tensors.values()}
        tapes = {id(tape): tape for tape in (*self.tapes, found.tape)}
        self.tapes = [tape for key, tape in tapes.items() if key in held]
        if reason:
            return Entry(self._text, "copy", f"on a storage of its own: {reason}")
        if isinstance(line, Bind) and isinstance(line.source, ast.Name):
            return Entry(
                self._text, "view", f"{line.name} is {line.source.id}: one tensor with two names"
            )
        return Entry(self._text, "view", "nothing was copied")

    def _compute(self, line: Compute) -> tuple[Named, str]:
        """The new tensor of an operation out of place, and why it has a storage of its own."""
        one, two = map(self._operand, (line.left, line.right))
        layouts = [
            Layout((), itemsize=8) if isinstance(it, int) else Layout.of(it) for it in (one, two)
        ]
        after = output_layout(*layouts)
        _require_small(line.said, after)
        tensor = OPERATORS[line.sign](one, two)
        if any(abs(value) > MAX_VALUE for value in tensor.flatten().tolist()):
            raise LayoutError(f"{line.said} would pass {MAX_VALUE}: the boxes hold five digits")
        tape = tensor.as_strided((after.numel,), (1,), 0).add_(0.0)  # there is no -0
        return Named(tape, tensor), f"{line.sign} out of place makes a new tensor"

    def _operand(self, node: ast.expr) -> Any:
        value = int_of(node)
        return self._follow(node)[0].tensor if value is None else value

    def _follow(self, node: ast.expr) -> tuple[Named, str]:
        """The tensor of a chain of operations, and why the last copy in it was made."""
        if isinstance(node, ast.Name):
            _require_name(node.id)
            if node.id not in self.tensors:
                raise LayoutError(f"{node.id} is not there yet: make it, as in {node.id} = x[1:]")
            return self.tensors[node.id], ""
        owner = node.func if isinstance(node, ast.Call) else node
        assert isinstance(owner, ast.Attribute | ast.Subscript)  # read() has seen to that
        before, reason = self._follow(owner.value)
        layout = before.layout
        after = _evaluate(node, owner, layout)
        _require_small(self._said(node), after)
        if after.numel and not after.copied and after.span.stop > before.tape.numel():
            raise LayoutError(
                f"{self._said(node)} would reach element {after.span.stop - 1}, "
                f"and the storage ends at {before.tape.numel() - 1}"
            )
        tensor = _evaluate(node, owner, before.tensor)
        if not after.copied:
            return Named(before.tape, tensor), reason
        name = owner.attr if isinstance(owner, ast.Attribute) else "[]"
        tape = tensor.as_strided((after.numel,), (1,), 0)
        return Named(tape, tensor), _why_copied(name, layout, after)

    def _write(self, line: Store) -> Entry:
        target, op, source = line
        written, copied = self._follow(target)
        other, value = None, int_of(source)
        if source is not None and value is None:
            other, _ = self._follow(source)
        names = self._said(target), self._said(source)
        write = Write(*names, op, written, value, other)
        before = written.tape.clone()
        try:
            write.run()
        except LayoutError:
            written.tape.copy_(before)
            raise
        changed = {int(k) for k in (before != written.tape).nonzero().flatten()}
        base = next(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        sentence = self._changes(base, written.tape, changed)
        if copied:
            sentence = "the write went to a copy that no name holds: no tensor changed"
        return Entry(self._text, "write", sentence, write.warning())

    def _said(self, node: ast.expr | None) -> str:
        """A part of the line, as it was typed."""
        return (node and ast.get_source_segment(self._text, node)) or ""

    def _changes(self, base: str, tape: torch.Tensor, changed: set[int]) -> str:
        """Who holds other values than before, the written tensor first."""
        parts: list[str] = []
        for name in sorted(self.tensors, key=lambda name: (name != base, name)):
            own = {*self.tensors[name].elements()} if self.tensors[name].tape is tape else set()
            if count := len(own & changed):
                what = f"{name} changed too: " if parts else f"{name} changed: "
                parts.append(f"{what}{count} of its {len(own)}" + " elements" * (not parts))
        return "; ".join(parts) or "no value changed"

    # What the picture shows -----------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names that there are, x first."""
        return sorted(self.tensors)

    def relations(self) -> list[str]:
        """How each two tensors share memory, and who overlaps itself, in words."""
        names = self.names()
        pairs = [(b, a) for k, a in enumerate(names) for b in names[k + 1 :]]
        said = [self.relation(y, x) for y, x in pairs]
        return said + [text for name in names if (text := self.overlap(name))]

    def relation(self, y: str, x: str) -> str:
        """How y and x share memory, in words.

        >>> Story((4, 6), ["y = x[:, ::2]", "z = x[:, 1::2]"]).relation("z", "y")
        'z and y share no element, though their ranges interleave'
        """
        mine, its = self.tensors[y], self.tensors[x]
        ys, xs = {*mine.elements()}, {*its.elements()}
        for name, own in ((y, ys), (x, xs)):
            if not own:
                return f"{name} is empty: it shares no element with anyone"
        if mine.tape is not its.tape:
            return f"{y} and {x} share no element: they have two storages"
        if ys == xs:
            return f"{y} and {x} have the same {len(ys)} element{'s' * (len(ys) != 1)}"
        if ys <= xs:
            return f"{y} lies inside {x}: {len(ys)} of {x}'s {len(xs)} elements"
        if xs <= ys:
            return f"{x} lies inside {y}: {len(xs)} of {y}'s {len(ys)} elements"
        if both := len(ys & xs):
            share = f"{y} and {x} share {both} element{'s' * (both != 1)}"
            return f"{share}, of {y}'s {len(ys)} and {x}'s {len(xs)}"
        if min(ys) < max(xs) and min(xs) < max(ys):
            return f"{y} and {x} share no element, though their ranges interleave"
        return f"{y} and {x} share no element: one ends before the other begins"

    def overlap(self, name: str) -> str:
        """Which two indices of a tensor are one element; "" where none are."""
        own = self.tensors[name]
        shared = shared_element(own, name)
        return shared and f"{name} overlaps itself: {shared}"


def _require_name(name: str) -> None:
    if name not in NAMES:
        raise LayoutError(f"{name} is not one of x, y and z: the picture has room for these three")


def _require_small(name: str, layout: Layout) -> None:
    if layout.numel > MAX_CELLS or layout.ndim > MAX_DIMS:
        raise LayoutError(
            f"{name} would have {layout.numel} elements in {layout.ndim} dims: "
            f"the picture holds {MAX_CELLS} in {MAX_DIMS}"
        )


def _evaluate(node: ast.expr, owner: Any, it: Any) -> Any:
    """One link of a chain, applied to a Layout or to a tensor."""
    inner = owner.value
    owner.value = ast.Name("it", ast.Load())
    try:
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "line", "eval")
    finally:
        owner.value = inner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # .T of other than two dims is deprecated, and still a view
        try:
            return eval(code, {"it": it, "__builtins__": {}})
        except (IndexError, TypeError) as error:
            raise LayoutError(str(error)) from None


def _why_copied(name: str, before: Layout, after: Layout) -> str:
    if name == "clone":
        return "clone always copies"
    if name in ("reshape", "flatten"):
        return before.why_not_view(after.shape)
    return before.why_not_contiguous() or "it is not in this memory format"
