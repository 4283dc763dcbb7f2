"""Chains of view operations in torch's notation: `.permute(1, 0)`, `[1:, ::2]`.

A chain is a tensor to start from and steps, which widgets/grammar.py reads and `Layout` applies.
chain.js does the same in the browser, and tests/live_lines.py compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

from stridekit._arguments import texts
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.grammar import Step, apply, read_steps
from stridekit.widgets.notation import code, counted
from stridekit.widgets.stride_explorer.words import why_not_drawn

MOST_STEPS = 100


class Stage(NamedTuple):
    """The result of a step: a layout on a storage whose elements have labels (None: their numbers)."""

    text: str
    layout: Layout
    copied: bool
    storage_size: int
    labels: Sequence[str] | None

    def memory(self, before: Stage) -> str:
        """A note that says whether the step was a view or made a storage of its own."""
        if self.copied:
            return f"copy: new storage of {counted(self.storage_size, 'element')}"
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
        """The start, then the result of each step. Raises LayoutError or IndexError, as Layout does.

        >>> chain = Chain("x", Layout((2, 3)), (".permute(1, 0)", ".contiguous()"))
        >>> before, after = chain.stages(6)[1:]
        >>> after.memory(before), after.labels
        ('copy: new storage of 6 elements', ['0', '3', '1', '4', '2', '5'])
        """
        found = [Stage(self.source, self.start, False, storage_size, labels)]
        for text in self.steps:
            for step in read_steps(text):
                found.append(_after(found[-1], step))
        return found

    def closed(self, storage_size: int, layout: Layout) -> Chain | None:
        """The chain after a change by hand: it is kept up to its last copy, if there was one."""
        copies = [k for k, stage in enumerate(self.stages(storage_size)) if stage.copied]
        if not copies:
            return None
        return self._replace(steps=(*self.steps[: copies[-1]], code("", layout)))


def steps_of(steps: Iterable[str], tensor: str = "x") -> tuple[str, ...]:
    """The steps in one text or several on a tensor of this name, each in the form that torch takes.

    >>> steps_of("permute(1, 0)[1:]"), steps_of(["contiguous('channels_last')"])
    (('.permute(1, 0)', '[1:]'), ('.contiguous(memory_format=torch.channels_last)',))
    """
    found: list[str] = []
    for text in texts("chain", [steps] if isinstance(steps, str) else steps):
        found += [step.text for step in read_steps(text, tensor)]
        if len(found) > MOST_STEPS:
            raise LayoutError(f"a chain has at most {MOST_STEPS} steps: begin another one")
    return tuple(found)


def _after(before: Stage, step: Step) -> Stage:
    """The stage after one more step; `.copied` says whether that step had to copy."""
    layout = Layout.of(apply(_strip_storage(before.layout), step))
    size = layout.numel if layout.copied else before.storage_size
    if why := why_not_drawn(layout, size):
        raise LayoutError(f"{step.text}: {why}")
    labels = _moved(before, step, layout) if layout.copied else before.labels
    return Stage(step.text, _strip_storage(layout), layout.copied, size, labels)


def _moved(before: Stage, step: Step, after: Layout) -> list[str]:
    """The labels on the storage of a copy: torch copies the numbers of the elements."""
    x = before.layout
    numbers = torch.arange(before.storage_size, device="cpu")
    copy = apply(numbers.as_strided(x.shape, x.stride, x.storage_offset), step)
    old = copy.as_strided((after.numel,), (1,), 0).tolist()
    return [before.labels[k] if before.labels else str(k) for k in old]


def _strip_storage(x: Layout) -> Layout:
    """The layout without the name of its storage, which would mark later steps as copies."""
    return Layout(x.shape, x.stride, x.storage_offset, x.itemsize)
