"""Chains of view operations, written as torch writes them: `.permute(1, 0)`, `[1:, ::2]`.

A chain has a tensor to start from and steps. Each step is applied by `Layout`, never by eval: what a front
end sends is text, and text is read as literals. chain.js mirrors this; tests/fixtures/chains.json pins it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from stridekit._arguments import texts
from stridekit.layout import Layout, LayoutError
from stridekit.widgets import scene

# In the order in which the sentence of a refusal lists them.
OPERATIONS = ("permute", "transpose", "select", "unsqueeze", "squeeze", "expand", "diagonal", "unfold",
              "view", "reshape", "flatten", "contiguous", "clone", "t", "T", "mT", "ravel",
              "as_strided")  # fmt: skip
PROPERTIES = ("T", "mT")
_FORMAT = re.compile(
    r"^\.(contiguous|clone)\(\s*(?:memory_format\s*=\s*)?(?:torch\.|[\"'])(\w+)[\"']?\s*\)$"
)


class Stage(NamedTuple):
    """What a step has come to: a layout on a storage, whose elements carry labels (None: numbers)."""

    text: str
    layout: Layout
    copied: bool
    storage_size: int
    labels: Sequence[str] | None

    def memory(self, before: Stage) -> str:
        """Whether the step was a view, or made a storage of its own."""
        if self.copied:
            return (
                f"copy: new storage of {self.storage_size} element{'s' * (self.storage_size != 1)}"
            )
        return "view" if self.layout != before.layout else "the same layout"

    def __str__(self) -> str:
        x = self.layout
        return f"shape {x.shape}, stride {x.stride}, storage_offset {x.storage_offset}"


class Chain(NamedTuple):
    """The torch expression and the layout that a chain starts from, and its steps as text."""

    source: str
    start: Layout
    steps: tuple[str, ...]

    @property
    def code(self) -> str:
        """The torch expression of the whole chain."""
        return self.source + "".join(self.steps)

    def stages(self, storage_size: int, labels: Sequence[str] | None = None) -> list[Stage]:
        """The start and what each step makes of it. Raises LayoutError or IndexError, as Layout does.

        >>> chain = Chain("x", Layout((2, 3)), (".permute(1, 0)", ".contiguous()"))
        >>> before, after = chain.stages(6)[1:]
        >>> after.memory(before), after.labels
        ('copy: new storage of 6 elements', ['0', '3', '1', '4', '2', '5'])
        """
        found = [Stage(self.source, self.start, False, storage_size, labels)]
        for text in self.steps:
            before = found[-1]
            layout = apply(before.layout, text)
            why = scene.why_not_drawn(
                layout, layout.numel if layout.copied else before.storage_size
            )
            if why:
                raise LayoutError(f"{text}: {why}")
            if layout.copied:
                labels = _moved(before, layout)
                found.append(Stage(text, _plain(layout), True, layout.numel, labels))
            else:
                found.append(before._replace(text=text, layout=layout, copied=False))
        return found

    def closed(self, storage_size: int, layout: Layout) -> Chain | None:
        """The chain when a hand has set another layout: what made the storage stays, if a copy did."""
        copies = [k for k, stage in enumerate(self.stages(storage_size)) if stage.copied]
        if not copies:
            return None
        return self._replace(steps=(*self.steps[: copies[-1]], scene.code("", layout)))


def apply(layout: Layout, text: str) -> Layout:
    """The layout after one step; `.copied` tells whether this step had to copy.

    >>> apply(Layout((4, 6)), "[1:, ::2]")
    Layout(shape=(3, 3), stride=(6, 2), storage_offset=6, itemsize=1)
    >>> apply(Layout((4, 6)), ".permute")
    Traceback (most recent call last):
    stridekit.LayoutError: write .permute(), with its arguments
    """
    x = _plain(layout)
    match _parse(text):
        case ast.Subscript(value=ast.Name(id="x"), slice=index):
            return x[_literal(text, index)]
        case ast.Attribute(value=ast.Name(id="x"), attr=name):
            _refuse_unknown(name, called=False)
            return Layout.of(getattr(x, name))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="x"), attr=name)) as call:
            _refuse_unknown(name, called=True)
            args = [_literal(text, argument) for argument in call.args]
            named = {str(k.arg): _literal(text, k.value) for k in call.keywords}
            try:
                return Layout.of(getattr(x, name)(*args, **named))
            except TypeError as error:
                raise LayoutError(f"cannot apply {text}: {error}") from None
    raise _unreadable(text)


def written(text: str) -> str:
    """A step as torch takes it: a dot in front, and memory_format by its name.

    >>> written("permute(1, 0)"), written("contiguous('channels_last')")
    ('.permute(1, 0)', '.contiguous(memory_format=torch.channels_last)')
    """
    text = text.strip()
    if not text.startswith((".", "[")):
        text = f".{text}"
    return _FORMAT.sub(r".\1(memory_format=torch.\2)", text)


def steps_of(steps: Iterable[str]) -> tuple[str, ...]:
    """Several steps, or one alone, each as torch takes it."""
    several = [steps] if isinstance(steps, str) else steps
    return tuple(written(text) for text in texts("chain", several))


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(f"x{text}", mode="eval").body
    except SyntaxError:
        raise _unreadable(text) from None


def _refuse_unknown(name: str, *, called: bool) -> None:
    if name not in OPERATIONS:
        raise LayoutError(f"{name} is not known here: {', '.join(OPERATIONS)} are")
    if called and name in PROPERTIES:
        raise LayoutError(f"{name} takes no call: write .{name}")
    if not called and name not in PROPERTIES:
        raise LayoutError(f"write .{name}(), with its arguments")


def _literal(text: str, node: ast.expr) -> Any:
    """A value of ints, None, `...`, slices, names in quotes or of torch, and sequences of them."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            parts = [
                None if part is None else _literal(text, part) for part in (lower, upper, step)
            ]
            return slice(*parts)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(_literal(text, item) for item in items)
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return f"torch.{name}"
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _unreadable(text) from None


def _unreadable(text: str) -> LayoutError:
    return LayoutError(f'cannot read "{text}": write one operation, as .permute(1, 0) or [1:, ::2]')


def _moved(before: Stage, after: Layout) -> list[str]:
    """The labels in a copy's own order: the k-th index carries its value along."""
    old, labels = before.layout, [""] * after.numel
    for i, j in zip(_indices(old), _indices(after), strict=True):
        element = old.offset(i)
        labels[after.offset(j)] = before.labels[element] if before.labels else str(element)
    return labels


def _indices(layout: Layout) -> Iterable[tuple[int, ...]]:
    return product(*map(range, layout.shape))


def _plain(x: Layout) -> Layout:
    """The same numbers, with no copy on the way here."""
    return Layout(x.shape, x.stride, x.storage_offset, x.itemsize)
