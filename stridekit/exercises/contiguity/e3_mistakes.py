"""E3: the mistakes that `view_stride` knows by name."""

from __future__ import annotations

from math import prod

from stridekit.exercises.contiguity.e1_is_contiguous import (
    fresh,
    is_contiguous,
    stepped,
    steps_evenly,
)
from stridekit.exercises.contiguity.e3_view_stride import Ints, view_stride

__all__ = ["view_stride"]  # with all of these


def solve(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    """The right answer, for mistakes that start from it."""
    answer: Ints | None = view_stride.reference(shape, stride, new_shape)
    return answer


CONTIGUOUS = (
    "You ask for a contiguous tensor. A view needs less: only that no new dim straddles two chunks. "
    "`torch.empty(4, 8)[:, :6]` is not contiguous, and `.view(2, 2, 6)` works."
)


@view_stride.mistake(CONTIGUOUS)
def demands_the_stride_of_a_new_tensor(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    return fresh(new_shape) if stride == fresh(shape) else None


@view_stride.mistake(CONTIGUOUS)
def demands_a_contiguous_tensor(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    return fresh(new_shape) if is_contiguous.reference(shape, stride) else None


@view_stride.mistake(
    "You ask for a contiguous tensor, or for no change of shape. A view needs less: only that no "
    "new dim straddles two chunks. `torch.empty(4, 8)[:, :6].view(2, 2, 6)` works."
)
def demands_a_contiguous_tensor_or_the_same_shape(
    shape: Ints, stride: Ints, new_shape: Ints
) -> Ints | None:
    return stride if shape == new_shape else demands_a_contiguous_tensor(shape, stride, new_shape)


@view_stride.mistake(
    "You answer the stride of a new tensor, whatever the old stride is. A view walks the memory "
    "that is there: where x has gaps or another order, its new strides have to follow."
)
def answers_that_of_a_new_tensor(shape: Ints, stride: Ints, new_shape: Ints) -> Ints:
    return fresh(new_shape)


@view_stride.mistake(
    "You know when there is a view. Its strides are not those of a new tensor: inside a chunk the "
    "first step is the chunk's own, and only then come the sizes."
)
def knows_when_and_answers_that_of_a_new_tensor(
    shape: Ints, stride: Ints, new_shape: Ints
) -> Ints | None:
    return None if solve(shape, stride, new_shape) is None else fresh(new_shape)


@view_stride.mistake(
    "Your strides go on from one chunk into the next as if x had no gap there. Where a new chunk "
    "begins, begin again with its own step."
)
def goes_on_across_the_chunks(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    if solve(shape, stride, new_shape) is None:
        return None
    step = (stepped(shape, stride)[1] or (1,))[-1]
    return tuple(step * s for s in fresh(new_shape))


@view_stride.mistake(
    "A dim of size 1 in x breaks one of your chunks. Nobody steps along it, so its stride fits or "
    "does not, and it is all the same: leave sizes of 1 out before you look for chunks."
)
def lets_old_sizes_of_one_break_a_chunk(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    if 0 in shape:
        return fresh(new_shape)
    chunks: list[list[int]] = []
    for n, s in zip(reversed(shape), reversed(stride), strict=True):
        if chunks and s == chunks[-1][0] * chunks[-1][1]:
            chunks[-1][0] *= n
        else:
            chunks.append([n, s])
    return cut(chunks, new_shape)


def cut(chunks: list[list[int]], new_shape: Ints) -> Ints | None:
    """Cut chunks of (elements, step), the innermost first, one after the other."""
    rest = iter(chunks)
    left, step = next(rest, [1, 1])
    new_stride: list[int] = []
    for size in reversed(new_shape):
        if left == 1 and size != 1:
            left, step = next(rest, [1, 1])
        if left % size:
            return None
        new_stride.insert(0, step)
        left, step = left // size, step * size
    return tuple(new_stride)


@view_stride.mistake(
    "You refuse a new shape for its sizes of 1. They straddle nothing: put any stride there, and go "
    "on with the same chunk."
)
def refuses_new_sizes_of_one(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    return None if 1 in new_shape else solve(shape, stride, new_shape)


EMPTY = (
    "Right wherever there is an element. Without one there is nothing to straddle: torch makes "
    "every view, so answer a stride, any will do."
)


@view_stride.mistake(EMPTY)
def refuses_empty_ones(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    return None if 0 in shape else solve(shape, stride, new_shape)


@view_stride.mistake(EMPTY)
def divides_by_zero(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    fits = prod(new_shape) // prod(shape) == 1
    return solve(shape, stride, new_shape) if fits else None


@view_stride.mistake(
    "You answer None for every input, as a function does that ends without answering. Is a `return` "
    "missing? Where the view exists, its stride is asked for.",
    exact=True,
)
def ends_without_answering(shape: Ints, stride: Ints, new_shape: Ints) -> None:
    solve(shape, stride, new_shape)


@view_stride.mistake(
    "You keep the stride as it is. It has one number for each *old* dim, and says how far an old "
    "index steps; the new dims need steps of their own."
)
def keeps_the_stride(shape: Ints, stride: Ints, new_shape: Ints) -> Ints:
    return stride


@view_stride.mistake(
    "You cut the old dims, but never merge two. Where `stride[d] == shape[d + 1] * stride[d + 1]` "
    "the two are one chunk, and a new dim may run through both: view (4, 6), (6, 1) as (24,)."
)
def never_merges(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    if 0 in shape:
        return fresh(new_shape)
    sizes, steps = stepped(shape, stride)
    return cut([[n, s] for n, s in zip(sizes[::-1], steps[::-1], strict=True)], new_shape)


@view_stride.mistake(
    "You merge, but never cut: a new dim of yours is a whole chunk or an old dim. A chunk of 6 can "
    "be cut into (2, 3) just as well: only boundaries between chunks are closed."
)
def never_cuts(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    answer = solve(shape, stride, new_shape)
    steps = [s for n, s in zip(new_shape, answer or (), strict=False) if n > 1]
    return answer if set(steps) <= set(stride) else None


@view_stride.mistake(
    "You merge from the wrong side, as if the first index ran fastest. In reading order the last "
    "one does: compare `stride[d]` with `shape[d + 1] * stride[d + 1]`, and not the reverse."
)
def merges_from_the_wrong_side(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    answer = solve(shape[::-1], stride[::-1], new_shape[::-1])
    return None if answer is None else answer[::-1]


@view_stride.mistake(
    "The right numbers from back to front: you collected them from the last dim to the first and "
    "left them so. Turn them round."
)
def leaves_them_reversed(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    answer = solve(shape, stride, new_shape)
    return None if answer is None else answer[::-1]


@view_stride.mistake(
    "You ask that new dims fit inside old ones or gather whole ones, dim by dim. But inside a chunk "
    "the old boundaries are gone: (4, 6) with stride (6, 1) is one run of 24, and (3, 8) a view."
)
def keeps_to_old_boundaries(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    answer = solve(shape, stride, new_shape)
    ends = {prod(new_shape[d:]) for d in range(len(new_shape))}
    old = {prod(shape[d:]) for d in range(len(shape))}
    return answer if old <= ends or ends <= old else None


@view_stride.mistake(
    "One boundary makes you refuse every other shape. It closes only the way across it: cut on "
    "both sides as you like, as `torch.empty(4, 8)[:, :6].view(2, 2, 6)` does."
)
def refuses_wherever_a_boundary_is(shape: Ints, stride: Ints, new_shape: Ints) -> Ints | None:
    whole = 0 in shape or steps_evenly(*stepped(shape, stride))
    return solve(shape, stride, new_shape) if whole or shape == new_shape else None
