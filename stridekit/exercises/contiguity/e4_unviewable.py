"""E4: a shape that a tensor cannot be viewed as."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from stridekit.exercises.answers import as_ints
from stridekit.exercises.contiguity.e1_is_contiguous import fresh, is_contiguous
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable

Ints = tuple[int, ...]

ANOTHER_ERROR = (
    'torch refuses that shape because it has another number of elements: that is the message "shape '
    'is invalid for input of size …", and it says nothing about strides. Keep the number.'
)


def read_refused_shape(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a shape torch refuses to view, or None where it refuses none.

    Which one does not matter: only the facts that make it right are compared, and the shape itself
    where it is wrong.
    """
    if answer is None:
        return Outcome({"answer": "None"}, "None: every shape of as many elements can be viewed")
    shape, numel = as_ints(answer, "a shape or None"), prod(args["shape"])
    if len(shape) > 64 or min(shape, default=0) < -1 or shape.count(-1) > 1:
        raise Unusable(f"{shape}, where a shape of at most 64 sizes and one -1 is asked for")
    if not fits(shape, numel):
        count = f"{prod(shape)} elements, and x has {numel}"
        facts = {"answer": "a shape", "elements": prod(shape)}
        return Outcome(facts, f"shape {shape}: {count}", ANOTHER_ERROR)
    facts = {"answer": "a shape", "elements": numel, "refused": True}
    x = torch.empty_strided(args["shape"], args["stride"], dtype=torch.uint8, device="meta")
    try:
        view = x.view(shape)
    except RuntimeError:
        return Outcome(facts, f"a shape that torch refuses to view, such as {shape}")
    facts |= {"refused": False, "shape": shape}
    return Outcome(facts, f"shape {shape}: torch makes that view, of stride {view.stride()}")


def fits(shape: Ints, numel: int) -> bool:
    """Whether a shape, perhaps with one -1, holds so many elements."""
    if -1 not in shape:
        return prod(shape) == numel
    known = -prod(shape)
    return known != 0 and numel % known == 0


@exercise(
    title="a shape that cannot be viewed",
    read=read_refused_shape,
    cases=[
        "shape, stride = (6, 4), (1, 6)  # torch.empty(4, 6).t()",
        "shape, stride = (4, 6), (6, 1)  # torch.empty(4, 6)",
        "shape, stride = (4, 6), (8, 1)  # torch.empty(4, 8)[:, :6]",
        "shape, stride = (4, 3), (6, 2)  # torch.empty(4, 6)[:, ::2]",
        "shape, stride = (12,), (2,)  # torch.empty(24)[::2]",
        "shape, stride = (4,), (6,)  # torch.empty(4, 6)[:, 2]",
        "shape, stride = (2, 6), (12, 1)  # torch.empty(4, 6)[::2]",
        "shape, stride = (4, 4), (1, 4)  # torch.empty(4, 4).t()",
        "shape, stride = (2, 3, 4), (12, 4, 1)  # y = torch.empty(2, 3, 4)",
        "shape, stride = (4, 2, 3), (1, 12, 4)  # y.permute(2, 0, 1)",
        "shape, stride = (2, 2, 4), (12, 4, 1)  # y[:, :2]",
        "shape, stride = (2, 3, 2), (12, 4, 1)  # y[:, :, :2]",
        "shape, stride = (2, 3, 2), (12, 4, 2)  # y[:, :, ::2]",
        "shape, stride = (1, 3, 4), (12, 4, 1)  # y[1:]",
        "shape, stride = (2, 3), (12, 4)  # y[:, :, 2]",
        "shape, stride = (3, 3, 3), (3, 9, 1)  # torch.empty(3, 3, 3).transpose(0, 1)",
        "shape, stride = (3, 3, 3), (1, 3, 9)  # torch.empty(3, 3, 3).permute(2, 1, 0)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)  # torch.empty(2, 3, 4, 5)",
        "shape, stride = (2, 5, 3, 4), (60, 1, 20, 5)  # an image in channels-last",
        "shape, stride = (4, 6), (0, 1)  # torch.empty(6).expand(4, 6)",
        "shape, stride = (6, 4), (1, 0)  # the same, turned",
        "shape, stride = (4, 6), (0, 0)  # torch.empty(1).expand(4, 6)",
        "shape, stride = (2, 3, 2), (0, 0, 0)",
        "shape, stride = (4, 1, 6), (6, 99, 1)",
        "shape, stride = (4, 1, 6), (7, 6, 1)",
        "shape, stride = (1, 6), (1, 1)",
        "shape, stride = (6, 1), (5, 5)",
        "shape, stride = (2, 1), (9, 1)",
        "shape, stride = (2, 2), (1, 2)",
        "shape, stride = (1, 1), (3, 8)",
        "shape, stride = (), ()",
        "shape, stride = (1,), (5,)",
        "shape, stride = (3, 0), (1, 7)",
        "shape, stride = (2, 0, 3), (1, 1, 1)",
    ],
    hints=[
        "If x is one chunk, no new dim can straddle a boundary: there is none. And if it has two?",
        "Which new dim straddles a boundary for sure, wherever it is? A very large one.",
        "The shape with all elements in one dim straddles every boundary. So find out whether there is "
        "a boundary at all: two neighbours that do not merge, with the sizes of 1 left out.",
    ],
    otherwise="Write down the chunks of this input. Is there a boundary? If so, a shape with a dim that "
    "reaches across it is refused; if not, torch makes every view.",
    takeaway="One chunk: every shape. Two: at least not the flat one. So `view(-1)` is the whole test.",
)
def unviewable(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...] | None:
    """A shape of as many elements that x cannot be viewed as, or None if it can as every shape.

    shape, stride   those of x, in elements
    return          a tuple of ints for which `x.view` raises "view size is not compatible
                    with …"; any one will do. None where there is none.
    """
    if 0 in shape:
        return None
    dims = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1]
    for d in range(len(dims) - 1):
        size, step = dims[d + 1]
        if dims[d][1] != size * step:
            return (torch.Size(shape).numel(),)
    return None


def solve(shape: Ints, stride: Ints) -> Ints | None:
    """The right answer, for mistakes that start from it."""
    answer: Ints | None = unviewable.reference(shape, stride)
    return answer


def stepped(shape: Ints, stride: Ints) -> list[tuple[int, int]]:
    """The dims that have something to step along."""
    return [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1]


CONTIGUOUS = (
    "You offer the flat shape wherever x is not contiguous. A tensor that is not can still be one "
    "chunk: `torch.empty(24)[::2]` steps evenly, and every shape of 12 elements is a view."
)


@unviewable.mistake(CONTIGUOUS)
def flat_unless_new(shape: Ints, stride: Ints) -> Ints | None:
    return None if stride == fresh(shape) else (prod(shape),)


@unviewable.mistake(CONTIGUOUS)
def flat_unless_contiguous(shape: Ints, stride: Ints) -> Ints | None:
    return None if is_contiguous.reference(shape, stride) else (prod(shape),)


@unviewable.mistake(
    "You answer None for every input, as a function does that ends without answering. Is a `return` "
    "missing? Some tensors have shapes that torch refuses: try `torch.empty(4, 6).t().view(24)`.",
    exact=True,
)
def ends_without_answering(shape: Ints, stride: Ints) -> None:
    solve(shape, stride)


@unviewable.mistake(
    "You always find a shape. Where x is one chunk there is none: torch views it as anything of as "
    "many elements. Then answer None.",
    exact=True,
)
def always_flat(shape: Ints, stride: Ints) -> Ints:
    return (prod(shape),)


@unviewable.mistake(
    "You turn the shape round. For a transposed matrix that is often refused, but not for every x: "
    "find the boundary between two chunks, and a dim that straddles it."
)
def turns_the_shape_round(shape: Ints, stride: Ints) -> Ints:
    return shape[::-1]


@unviewable.mistake(
    "You turn the shape round where there is a boundary. Whether that straddles it depends on the "
    "sizes: a square one turned round is itself. Which shape has a dim across every boundary?"
)
def turns_the_shape_round_where_there_is_a_boundary(shape: Ints, stride: Ints) -> Ints | None:
    return None if solve(shape, stride) is None else shape[::-1]


@unviewable.mistake(
    "A dim of size 1 is no boundary: nobody steps along it. Shape (4, 1, 6) with stride (6, 99, 1) "
    "is one chunk. Leave sizes of 1 out before you compare neighbours."
)
def takes_sizes_of_one_for_boundaries(shape: Ints, stride: Ints) -> Ints | None:
    merge = [stride[d] == shape[d + 1] * stride[d + 1] for d in range(len(shape) - 1)]
    return None if 0 in shape or all(merge) else (prod(shape),)


@unviewable.mistake(
    "You give up too early: None where the last two dims merge. A boundary can stand further out: "
    "look at `torch.empty(2, 3, 4)[:, :2]`."
)
def looks_at_the_last_two_dims(shape: Ints, stride: Ints) -> Ints | None:
    return flat_if_these_break(shape, stepped(shape, stride)[-2:])


@unviewable.mistake(
    "You give up too early: None where the first two dims merge. A boundary can stand further in: "
    "look at `torch.empty(2, 3, 4)[:, :, :2]`."
)
def looks_at_the_first_two_dims(shape: Ints, stride: Ints) -> Ints | None:
    return flat_if_these_break(shape, stepped(shape, stride)[:2])


def flat_if_these_break(shape: Ints, dims: list[tuple[int, int]]) -> Ints | None:
    """The flat shape where two of these dims do not merge."""
    broken = solve(tuple(n for n, _ in dims), tuple(s for _, s in dims))
    return None if broken is None or 0 in shape else (prod(shape),)


@unviewable.mistake(
    "That is x's own shape, and x is a view of itself. A refused shape has a dim that reaches across "
    "a boundary."
)
def its_own_shape(shape: Ints, stride: Ints) -> Ints:
    return shape


@unviewable.mistake(
    "Right wherever there is an element. Where a size is 0, nothing can straddle anything, and torch "
    "makes every view of no elements."
)
def forgets_empty_ones(shape: Ints, stride: Ints) -> Ints | None:
    dims = stepped(shape, stride)
    merge = [dims[d][1] == dims[d + 1][0] * dims[d + 1][1] for d in range(len(dims) - 1)]
    return None if all(merge) else (prod(shape),)
