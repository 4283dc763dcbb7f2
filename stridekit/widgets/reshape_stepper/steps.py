"""The rule of `view` as a walk: one sentence per step, from the last dim to the verdict.

First neighbouring dims that step evenly are merged into chunks, then each chunk is cut into the new dims.
Layout.why_not_view takes the same steps. steps.js has the same words, and tests/live.py compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stridekit.layout import Layout
from stridekit.rules import Chunk, chunks
from stridekit.widgets.notation import counted


class Step(NamedTuple):
    """One sentence, and the dims that it is about.

    `part` is start, merge, cut, stuck or end. `dims` and `new_dims` are the dims that it names. `needed`
    is the stride at which dim `dims[0]` merges, None for steps that need none. `taken` and
    `stride` belong to the new dim.
    """

    part: str
    says: str
    dims: tuple[int, ...] = ()
    new_dims: tuple[int, ...] = ()
    needed: int | None = None
    taken: str = ""
    stride: int | None = None


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
    question = f"Can shape {layout.shape}, stride {layout.stride} be viewed as {target}?"
    if layout.numel == 0:
        end = "Yes: there are no elements, so no step can go wrong."
        return [Step("start", question), Step("end", end)]
    first = (
        "First: which neighbouring dims step evenly?" if layout.ndim else "There is one element."
    )
    if reason := layout.why_not_view(target):
        end = f"There is no such view: {reason}."
    else:
        stride = layout.view(target).stride
        end = f"Every chunk is used up. The view has stride {stride}: nothing moves."
    told = [Step("start", f"{question} {first}"), *_merging(layout)]
    for step in _cutting(layout, target):
        opening = "" if told[-1].new_dims or told[-1].part == "cut" else "Now the chunks are cut. "
        told.append(step._replace(says=opening + step.says))
    return [*told, Step("end", end)]


def _merging(layout: Layout) -> Iterator[Step]:
    """Merge the dims into chunks, from the last one outwards."""
    last, numel, step = layout.ndim - 1, 1, 1  # of the chunk so far
    for d in reversed(range(layout.ndim)):
        size, stride, needed = layout.shape[d], layout.stride[d], None
        if d == last:
            numel, step = size, stride
            says = f"Dim {d} is the last: it starts a chunk, {_run(size, stride)}."
        elif size == 1:
            says = f"Dim {d} has size 1: nothing steps along it, so it joins whatever its stride."
        else:
            needed = numel * step
            says = f"Dim {d}: stride {stride} found, {numel} · {step} = {needed} needed."
            if stride == needed:
                numel *= size
                says += f" It merges: the chunk has {_run(numel, step)}."
            else:
                numel, step = size, stride
                says += f" It does not merge: a new chunk begins, {_run(size, stride)}."
        yield Step("merge", says, (d,), needed=needed)


ONE = Chunk(0, -1, 1, 1)  # of a 0-d tensor: one element, cut into sizes of 1


def _cutting(layout: Layout, target: tuple[int, ...]) -> Iterator[Step]:
    """Cut the chunks into the new dims, from the last one outwards."""
    d = len(target)
    for chunk in chunks(layout.shape, layout.stride)[::-1] or [ONE]:
        filled, started = 1, d
        while d and (filled < chunk.numel or target[d - 1] == 1):
            d -= 1
            yield _taking(chunk, filled, d, target[d])
            filled *= target[d]
            if filled > chunk.numel:
                return
        if started == d and chunk != ONE:
            says = f"The chunk of dim {chunk.last} is 1 element: there is nothing to cut."
            yield Step("cut", says, _dims(chunk))


def _taking(chunk: Chunk, filled: int, d: int, size: int) -> Step:
    """The step in which new dim `d` takes its elements from the rest of the chunk."""
    stride, total = filled * chunk.stride, filled * size
    name, product = f"New dim {d} of size {size}", f"{filled} · {size} = {total}"
    if size == 1:
        says = f"{name} takes nothing: any stride would do, torch gives it {stride}."
        return Step("cut", says, _dims(chunk), (d,), stride=stride)
    taken = f"{product} of {chunk.numel}"
    if total > chunk.numel:
        says = f"{name}: {product}, but this chunk has {_elements(chunk.numel)}."
        return Step("stuck", says, (chunk.first - 1, *_dims(chunk)), (d,), taken=taken)
    gets = f"{filled} · {chunk.stride} = {stride}" if filled > 1 else stride
    end = ": this chunk is used up." if total == chunk.numel else " elements are taken."
    says = f"{name} gets stride {gets}. {taken}{end}"
    return Step("cut", says, _dims(chunk), (d,), taken=taken, stride=stride)


def _dims(chunk: Chunk) -> tuple[int, ...]:
    return tuple(range(chunk.first, chunk.last + 1))


def _run(numel: int, stride: int) -> str:
    return _elements(numel) + (f" in steps of {stride}" if numel > 1 else "")


def _elements(count: int) -> str:
    return counted(count, "element")


# What follows ------------------------------------------------------------------------------------

MESSAGE = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans "
    "across two contiguous subspaces). Use .reshape(...) instead."
)


def consequences(layout: Layout, target: tuple[int, ...]) -> list[tuple[str, str]]:
    """The result of the view, torch's error decoded, and its alternatives: (phrase, sentence) pairs.

    >>> for phrase, sentence in consequences(Layout((4, 8), itemsize=4)[:, :6], (2, 12))[1:]:
    ...     print(f"{phrase}: {sentence}")
    "at least one dimension": new dim 1, of size 12
    "spans across two contiguous subspaces": dim 0 (4 elements in steps of 8) and dim 1 \
(6 elements in steps of 1)
    .reshape(2, 12): copies all 24 elements, 96 bytes, into a storage of its own
    .contiguous().view(2, 12): does the same in two steps: the copy, then a view of it
    """
    sizes = ", ".join(map(str, target))
    copy = f"all {_elements(layout.numel)}, {layout.numel * layout.itemsize} bytes"
    reshape, contiguous = f".reshape({sizes})", f".contiguous().view({sizes})"
    stuck = steps(layout, target)[-2]
    if stuck.part != "stuck":
        needless = f"copies {copy}, which this view does not need"
        free = "the same view: x is contiguous as it is"
        return [
            (f".view({sizes})", "a view: the same elements, 0 bytes are copied"),
            (reshape, "the same view: reshape copies only where there is none"),
            (contiguous, free if layout.is_contiguous() else needless),
        ]
    found = chunks(layout.shape, layout.stride)
    inner = next(k for k, chunk in enumerate(found) if chunk.first == stuck.dims[1])
    subspaces = f"{_describe(found[inner - 1])} and {_describe(found[inner])}"
    (d,) = stuck.new_dims
    return [
        ("torch says", MESSAGE),
        ('"at least one dimension"', f"new dim {d}, of size {target[d]}"),
        ('"spans across two contiguous subspaces"', subspaces),
        (reshape, f"copies {copy}, into a storage of its own"),
        (contiguous, "does the same in two steps: the copy, then a view of it"),
    ]


def _describe(chunk: Chunk) -> str:
    last = f" to {chunk.last}" if chunk.last > chunk.first else ""
    return f"dim{'s' * bool(last)} {chunk.first}{last} ({_run(chunk.numel, chunk.stride)})"
