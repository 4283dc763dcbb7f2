"""When a tensor can be viewed as another shape: the rule, and the reason when it cannot.

Walk the dims from the last. Two neighbouring dims belong to one *chunk* when a step of the outer one
goes exactly as far as all the steps of the inner one: `stride[d] == shape[d + 1] * stride[d + 1]`.
Inside a chunk the elements are evenly spaced, so it can be cut into any sizes. Between two chunks they
are not, so no new dim may straddle that boundary. Dims of size 1 are never stepped along: they never
break a chunk.

The documentation of `torch.Tensor.view` states the rule; the walk is that of `computeStride` in
aten/src/ATen/TensorUtils.cpp. It is complete: where it fails, no strides for the new shape exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple


class Chunk(NamedTuple):
    """Neighbouring dims `first … last` that step evenly: `numel` elements, `stride` apart."""

    first: int
    last: int
    numel: int
    stride: int


def contiguous_stride(shape: Iterable[int]) -> tuple[int, ...]:
    """The row-major stride of a shape: each dim steps over everything to its right.

    A size of 0 counts as 1, as in `torch.empty(shape).stride()`.

    >>> contiguous_stride((2, 3, 4))
    (12, 4, 1)
    """
    stride, step = [], 1
    for size in reversed(tuple(shape)):
        stride.append(step)
        step *= max(size, 1)
    return tuple(reversed(stride))


def chunks(shape: tuple[int, ...], stride: tuple[int, ...]) -> list[Chunk]:
    """The chunks of a layout, outermost first.

    >>> chunks((2, 3, 4), (12, 4, 1))  # contiguous: one chunk of 24 elements
    [Chunk(first=0, last=2, numel=24, stride=1)]
    >>> chunks((3, 4), (8, 1))  # rows of 4 cut out of rows of 8
    [Chunk(first=0, last=0, numel=3, stride=8), Chunk(first=1, last=1, numel=4, stride=1)]
    """
    found: list[Chunk] = []
    for d in reversed(range(len(shape))):
        inner = found[-1] if found else None
        if inner and (shape[d] == 1 or stride[d] == inner.numel * inner.stride):
            found[-1] = Chunk(d, inner.last, shape[d] * inner.numel, inner.stride)
        else:
            found.append(Chunk(d, d, shape[d], stride[d]))
    return found[::-1]


def complete_shape(numel: int, new_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The new shape with its one -1 worked out; raises ValueError where it cannot hold `numel`.

    >>> complete_shape(24, (4, -1))
    (4, 6)
    """
    for size in new_shape:
        if size < -1:
            raise ValueError(f"size {size} is negative: give sizes of 0 or more, or one -1")
    unknown = [d for d, size in enumerate(new_shape) if size == -1]
    if len(unknown) > 1:
        raise ValueError(
            f"dims {unknown[0]} and {unknown[1]} are both -1: only one can be worked out"
        )
    known = prod(size for size in new_shape if size != -1)
    if unknown:
        if known == 0:
            raise ValueError("any size would do for the -1 beside a 0: write the size out")
        if numel % known == 0:
            d = unknown[0]
            return (*new_shape[:d], numel // known, *new_shape[d + 1 :])
        raise ValueError(f"{numel} elements do not divide into {known}: no size fits the -1")
    if known != numel:
        raise ValueError(
            f"{new_shape} has {known} element{'s' * (known != 1)}, the layout has {numel}"
        )
    return new_shape


def view_stride(
    shape: tuple[int, ...], stride: tuple[int, ...], new_shape: tuple[int, ...]
) -> tuple[tuple[int, ...], str]:
    """The stride of the view, and "" — or (), and the reason why there is no such view.

    `new_shape` is complete and has as many elements as `shape`.

    >>> view_stride((3, 8), (8, 1), (3, 2, 4))
    ((8, 4, 1), '')
    >>> print(view_stride((3, 4), (1, 3), (12,))[1])
    dims 0 and 1 do not merge (stride 1 found, 12 needed), and the new dim 0 of size 12 would straddle them
    """
    if prod(shape) == 0:
        return (stride if new_shape == shape else contiguous_stride(new_shape)), ""
    new_stride = [1] * len(new_shape)
    d = len(new_shape) - 1
    for chunk in reversed(chunks(shape, stride)):
        filled = 1
        while d >= 0 and (filled < chunk.numel or new_shape[d] == 1):
            new_stride[d] = filled * chunk.stride
            filled *= new_shape[d]
            d -= 1
        if filled != chunk.numel:
            # Sizes of 1 that were passed meanwhile straddle nothing.
            new_dim = next(k for k in range(d + 1, len(new_shape)) if new_shape[k] != 1)
            return (), _boundary(shape, stride, chunk, new_dim, new_shape[new_dim])
    return tuple(new_stride), ""


def _boundary(
    shape: tuple[int, ...], stride: tuple[int, ...], chunk: Chunk, new_dim: int, new_size: int
) -> str:
    """Name the boundary below which `chunk` ends and that the new dim would straddle."""
    outer = chunk.first - 1
    inner = next(d for d in range(chunk.first, chunk.last + 1) if shape[d] != 1)
    return (
        f"dims {outer} and {inner} do not merge "
        f"(stride {stride[outer]} found, {chunk.numel * chunk.stride} needed), "
        f"and the new dim {new_dim} of size {new_size} would straddle them"
    )
