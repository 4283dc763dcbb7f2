"""The rule of `view` as a walk: one sentence a step, from the last dim to the verdict.

First neighbouring dims that step evenly are merged into chunks, then each chunk is cut into the new dims.
That is the walk of Layout.why_not_view, told while it happens. steps.js tells it in the same words, and
tests/live.py compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from stridekit.layout import Layout


class Step(NamedTuple):
    """One sentence, and what it is about.

    `part` is start, merge, cut, stuck or end. `dims` and `new_dims` are the dims that it names. `needed`
    is the stride at which dim `dims[0]` would have merged, None where that was not asked. `taken` and
    `stride` belong to the new dim.
    """

    part: str
    says: str
    dims: tuple[int, ...] = ()
    new_dims: tuple[int, ...] = ()
    needed: int | None = None
    taken: str = ""
    stride: int | None = None


@dataclass
class _Chunk:
    first: int
    last: int
    numel: int
    stride: int

    @property
    def dims(self) -> tuple[int, ...]:
        return tuple(range(self.first, self.last + 1))


def steps(layout: Layout, target: tuple[int, ...]) -> list[Step]:
    """Every step of viewing the layout as `target`, which is complete and has as many elements.

    >>> for step in steps(Layout((4, 8))[:, :6], (2, 12)):
    ...     print(f"{step.part:5} {step.says}")
    start Can shape (4, 6), stride (8, 1) be viewed as (2, 12)? First: which neighbouring dims step evenly?
    merge Dim 1 is the last: it starts a chunk, 6 elements in steps of 1.
    merge Dim 0: stride 8 found, 6 · 1 = 6 needed. It does not merge: a new chunk begins, \
4 elements in steps of 8.
    stuck Now the chunks are cut. New dim 1 of size 12: 1 · 12 = 12, but this chunk has 6 elements.
    end   There is no such view: dims 0 and 1 do not merge (stride 8 found, 6 needed), and the new \
dim 1 of size 12 would straddle them.
    """
    return list(_Walk(layout, target).tell())


@dataclass
class _Walk:
    layout: Layout
    target: tuple[int, ...]
    chunks: list[_Chunk] = field(default_factory=list)  # from the innermost
    d: int = 0  # the new dims from here on have a stride
    stuck: bool = False

    def tell(self) -> Iterator[Step]:
        x = self.layout
        question = f"Can shape {x.shape}, stride {x.stride} be viewed as {self.target}?"
        if x.numel == 0:
            yield Step("start", question)
            yield Step("end", "Yes: there are no elements, so no step can go wrong.")
            return
        first = "First: which neighbouring dims step evenly?" if x.ndim else "There is one element."
        yield Step("start", f"{question} {first}")
        yield from self._merge()
        yield from self._cut()
        if self.stuck:
            yield Step("end", f"There is no such view: {x.why_not_view(self.target)}.")
        else:
            stride = x.view(self.target).stride
            yield Step(
                "end", f"Every chunk is used up. The view has stride {stride}: nothing moves."
            )

    # Merging: from the last dim outwards ----------------------------------------------------------

    def _merge(self) -> Iterator[Step]:
        for d in reversed(range(self.layout.ndim)):
            size, stride = self.layout.shape[d], self.layout.stride[d]
            if not self.chunks:
                self.chunks.append(_Chunk(d, d, size, stride))
                says = f"Dim {d} is the last: it starts a chunk, {_run(size, stride)}."
                yield Step("merge", says, (d,))
            elif size == 1:
                self.chunks[-1].first = d
                says = (
                    f"Dim {d} has size 1: nobody steps along it, so it joins whatever its stride."
                )
                yield Step("merge", says, (d,))
            else:
                yield self._ask(d, size, stride)

    def _ask(self, d: int, size: int, stride: int) -> Step:
        """The step that asks if dim `d` goes on where the chunk to its right ends."""
        chunk = self.chunks[-1]
        needed = chunk.numel * chunk.stride
        says = f"Dim {d}: stride {stride} found, {chunk.numel} · {chunk.stride} = {needed} needed."
        if stride == needed:
            chunk.first, chunk.numel = d, chunk.numel * size
            says += f" It merges: the chunk has {_run(chunk.numel, chunk.stride)}."
        else:
            self.chunks.append(_Chunk(d, d, size, stride))
            says += f" It does not merge: a new chunk begins, {_run(size, stride)}."
        return Step("merge", says, (d,), needed=needed)

    # Cutting: from the last new dim outwards ------------------------------------------------------

    def _cut(self) -> Iterator[Step]:
        self.d = len(self.target)
        said = False
        for chunk in self.chunks or [_Chunk(0, -1, 1, 1)]:  # no dims: one element, cut into ones
            for step in self._cut_chunk(chunk):
                opening = "" if said else "Now the chunks are cut. "
                yield step._replace(says=opening + step.says)
                said = True
            if self.stuck:
                return

    def _cut_chunk(self, chunk: _Chunk) -> Iterator[Step]:
        filled, started = 1, self.d
        while self.d and (filled < chunk.numel or self.target[self.d - 1] == 1):
            self.d -= 1
            size = self.target[self.d]
            step = self._take(chunk, filled, size)
            yield step
            filled *= size
            if step.part == "stuck":
                self.stuck = True
                return
        if started == self.d and chunk.dims:
            says = f"The chunk of dim {chunk.last} is 1 element: there is nothing to cut."
            yield Step("cut", says, chunk.dims)

    def _take(self, chunk: _Chunk, filled: int, size: int) -> Step:
        """New dim `self.d` takes its elements from what is left of the chunk."""
        stride, total = filled * chunk.stride, filled * size
        says = f"New dim {self.d} of size {size}"
        if size == 1:
            says += f" takes nothing: any stride would do, torch gives it {stride}."
            return Step("cut", says, chunk.dims, (self.d,), stride=stride)
        taken = f"{filled} · {size} = {total} of {chunk.numel}"
        if total > chunk.numel:
            says += f": {filled} · {size} = {total}, but this chunk has {_elements(chunk.numel)}."
            at = (chunk.first - 1, *chunk.dims)
            return Step("stuck", says, at, (self.d,), taken=taken)
        product = f"{filled} · {chunk.stride} = " if filled > 1 else ""
        says += f" gets stride {product}{stride}. {filled} · {size} = {total} of {chunk.numel}"
        says += ": this chunk is used up." if total == chunk.numel else " elements are taken."
        return Step("cut", says, chunk.dims, (self.d,), taken=taken, stride=stride)


def _run(numel: int, stride: int) -> str:
    return _elements(numel) + (f" in steps of {stride}" if numel > 1 else "")


def _elements(count: int) -> str:
    return f"{count} element{'s' * (count != 1)}"


# What follows ------------------------------------------------------------------------------------

MESSAGE = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans "
    "across two contiguous subspaces). Use .reshape(...) instead."
)


def consequences(layout: Layout, target: tuple[int, ...]) -> list[tuple[str, str]]:
    """Torch's answer to the view, decoded, and what its siblings do: (phrase, sentence) pairs.

    >>> for phrase, sentence in consequences(Layout((4, 8), itemsize=4)[:, :6], (2, 12))[1:]:
    ...     print(f"{phrase}: {sentence}")
    "at least one dimension": new dim 1, of size 12
    "spans across two contiguous subspaces": dim 0 (4 elements in steps of 8) and dim 1 \
(6 elements in steps of 1)
    .reshape(2, 12): copies all 24 elements, 96 bytes, into a storage of its own
    .contiguous().view(2, 12): does the same in two steps: the copy, then a view of it
    """
    walk = _Walk(layout, target)
    told = list(walk.tell())
    sizes = ", ".join(map(str, target))
    copy = f"all {_elements(layout.numel)}, {layout.numel * layout.itemsize} bytes"
    reshape, contiguous = f".reshape({sizes})", f".contiguous().view({sizes})"
    if not walk.stuck:
        free = layout.is_contiguous()
        return [
            (f".view({sizes})", "a view: the same elements, 0 bytes are copied"),
            (reshape, "the same view: reshape copies only where there is none"),
            (
                contiguous,
                "the same view: x is contiguous as it is"
                if free
                else f"copies {copy}, which this view does not need",
            ),
        ]
    stuck = told[-2]
    k = next(k for k, chunk in enumerate(walk.chunks) if chunk.first == stuck.dims[1])
    inner, outer = walk.chunks[k], walk.chunks[k + 1]
    return [
        ("torch says", MESSAGE),
        ('"at least one dimension"', f"new dim {walk.d}, of size {target[walk.d]}"),
        (
            '"spans across two contiguous subspaces"',
            f"{_describe(outer)} and {_describe(inner)}",
        ),
        (reshape, f"copies {copy}, into a storage of its own"),
        (contiguous, "does the same in two steps: the copy, then a view of it"),
    ]


def _describe(chunk: _Chunk) -> str:
    last = f" to {chunk.last}" if chunk.last > chunk.first else ""
    return f"dim{'s' * bool(last)} {chunk.first}{last} ({_run(chunk.numel, chunk.stride)})"
