"""E5: the strides that clone gives."""

from __future__ import annotations

from math import prod

from stridekit.exercises.contiguity.readers import read_packed_stride
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]


@exercise(
    title="the stride that clone gives",
    read=read_packed_stride,
    cases=[
        "shape, stride = (4, 6), (6, 1)  # x = torch.empty(4, 6)",
        "shape, stride = (6, 4), (1, 6)  # x.t()",
        "shape, stride = (4, 3), (6, 1)  # x[:, :3]",
        "shape, stride = (4, 3), (6, 2)  # x[:, ::2]",
        "shape, stride = (3, 4), (1, 6)  # x[:, :3].t()",
        "shape, stride = (3, 4), (2, 6)  # x[:, ::2].t()",
        "shape, stride = (2, 6), (12, 1)  # x[::2]",
        "shape, stride = (6, 2), (1, 12)  # x[::2].t()",
        "shape, stride = (4,), (6,)  # x[:, 2]",
        "shape, stride = (2, 3, 4), (12, 4, 1)  # y = torch.empty(2, 3, 4)",
        "shape, stride = (4, 2, 3), (1, 12, 4)  # y.permute(2, 0, 1)",
        "shape, stride = (3, 4, 2), (4, 1, 12)  # y.permute(1, 2, 0)",
        "shape, stride = (4, 2, 2), (1, 12, 4)  # y[:, :2].permute(2, 0, 1)",
        "shape, stride = (3, 2, 2), (4, 2, 12)  # y[:, :, ::2].permute(1, 2, 0)",
        "shape, stride = (2, 5, 3, 4), (60, 1, 20, 5)  # z: an image in channels-last",
        "shape, stride = (2, 2, 3, 4), (60, 1, 20, 5)  # z[:, :2]",
        "shape, stride = (2, 5, 3, 2), (60, 1, 20, 10)  # z[:, :, :, ::2]",
        "shape, stride = (3, 3), (1, 7)",
        "shape, stride = (2, 3), (8, 1)",
        "shape, stride = (3, 2), (2, 14)",
        "shape, stride = (5, 2), (7, 2)",
        "shape, stride = (2, 5), (3, 9)",
        "shape, stride = (4, 6), (0, 1)  # torch.empty(6).expand(4, 6)",
        "shape, stride = (6, 4), (1, 0)  # the same, turned",
        "shape, stride = (2, 3), (0, 0)  # torch.empty(1).expand(2, 3)",
        "shape, stride = (3, 4, 5), (0, 1, 4)  # torch.empty(5, 4).t().expand(3, 4, 5)",
        "shape, stride = (4, 3, 5), (1, 0, 4)  # the same, permuted",
        "shape, stride = (5, 3, 4), (4, 0, 1)  # the same, permuted",
        "shape, stride = (4, 1, 6), (6, 99, 1)",
        "shape, stride = (4, 1, 3), (6, 99, 1)",
        "shape, stride = (3, 1, 4), (1, 5, 6)",
        "shape, stride = (1, 1, 3), (7, 99, 1)",
        "shape, stride = (1, 3), (5, 2)",
        "shape, stride = (), ()",
        "shape, stride = (0, 3), (3, 1)",
        "shape, stride = (3, 0), (1, 3)",
    ],
    hints=[
        "Make some tensors, clone them and look: `x.t().clone().stride()`, `x[:, ::2].clone()`, "
        "`x[:, ::2].t().clone()`. Which order in memory does the copy have, and has it gaps?",
        "A dense tensor keeps its strides. From any other the gaps go, and the order of the dims in "
        "memory stays: which dim has the smallest stride, which the next?",
        "Go through the dims from the smallest stride to the largest: the first gets 1, each of the "
        "next the product of the sizes already passed. A dim of stride 0 keeps its place among them, "
        "counted from the last dim.",
    ],
    otherwise="Order the dims by their strides, the smallest first. The clone has the same order and no "
    "gaps: 1 for the first, and so on. Which of the dims is not where it should be?",
    takeaway="clone keeps the order in memory and closes the gaps. What has none stays as it is.",
)
def clone_stride(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of `x.clone()`.

    shape, stride   those of x, in elements; no two dims have the same stride, except that some
                    may be expanded: stride 0
    return          the stride of the clone, one int for each dim. The stride of a dim of size
                    1 is free, and so are all where there is no element.
    """
    dims = list(reversed(range(len(shape))))  # the last one first: so they lie if nothing else
    by_stride = iter(sorted((d for d in dims if stride[d] != 0), key=lambda d: stride[d]))
    order = [d if stride[d] == 0 else next(by_stride) for d in dims]  # expanded ones stay
    new_stride = [1] * len(shape)
    step = 1
    for d in order:
        new_stride[d] = step
        step *= max(shape[d], 1)
    return tuple(new_stride)


def packed(shape: Ints, order: list[int]) -> Ints:
    """Strides without gaps, the dims in this order from the innermost."""
    return tuple(prod(shape[k] for k in order[: order.index(d)]) for d in range(len(shape)))


def fresh(shape: Ints) -> Ints:
    """The stride of a new tensor."""
    return packed(shape, list(reversed(range(len(shape)))))


def solve(shape: Ints, stride: Ints) -> Ints:
    """The right answer, for mistakes that start from it."""
    answer: Ints = clone_stride.reference(shape, stride)
    return answer


@clone_stride.mistake(
    "You keep the strides always. Then the clone of `x[:, ::2]` would have the gaps of x, in new "
    "memory: clone copies only the elements of its input. Look at `x[:, ::2].clone().stride()`."
)
def always_keeps(shape: Ints, stride: Ints) -> Ints:
    return stride


@clone_stride.mistake(
    "You make every clone contiguous. That is `contiguous()`; clone keeps the order in memory: look "
    "at `x.t().clone().stride()`."
)
def always_contiguous(shape: Ints, stride: Ints) -> Ints:
    return fresh(shape)


@clone_stride.mistake(
    "Right for dense tensors. The others you lay out in reading order, but clone only closes the "
    "gaps: the dims stay in the order of their strides. Look at `x[:, ::2].t().clone().stride()`."
)
def contiguous_unless_dense(shape: Ints, stride: Ints) -> Ints:
    dense = free(shape, solve(shape, stride)) == free(shape, stride)
    return stride if dense else fresh(shape)


def free(shape: Ints, stride: Ints) -> Ints:
    """The strides of dims with something to step along."""
    return tuple(s for n, s in zip(shape, stride, strict=True) if n > 1)


@clone_stride.mistake(
    "You keep a stride of 0. The clone of an expanded tensor has an element for each index, so "
    "that you can write to it: every dim of more than one element needs a step."
)
def keeps_a_stride_of_zero(shape: Ints, stride: Ints) -> Ints:
    kept = [d for d in sorted(range(len(shape)), key=lambda d: (stride[d], -d)) if stride[d]]
    return tuple(
        prod(shape[k] for k in kept[: kept.index(d)]) if d in kept else 0 for d in range(len(shape))
    )


@clone_stride.mistake(
    "You take 0 for the smallest stride and put expanded dims innermost. A stride of 0 says nothing "
    "about the order: such a dim keeps its place. Look at `torch.empty(6).expand(4, 6).clone()`."
)
def puts_expanded_dims_innermost(shape: Ints, stride: Ints) -> Ints:
    return packed(shape, sorted(range(len(shape)), key=lambda d: (stride[d], -d)))


@clone_stride.mistake(
    "You put expanded dims outermost. A stride of 0 says nothing about the order: such a dim keeps "
    "its place. Look at `torch.empty(6).expand(4, 6).t().clone()`."
)
def puts_expanded_dims_outermost(shape: Ints, stride: Ints) -> Ints:
    return packed(shape, sorted(range(len(shape)), key=lambda d: (stride[d] == 0, stride[d], -d)))


@clone_stride.mistake(
    "Your order is upside down: the dim of the largest stride gets 1. The smallest step in memory "
    "stays the smallest: sort the other way."
)
def sorts_the_wrong_way(shape: Ints, stride: Ints) -> Ints:
    return packed(shape, sorted(range(len(shape)), key=lambda d: (-stride[d], d)))


@clone_stride.mistake(
    "Right numbers in the order of memory, not of the dims: they are sorted, and the stride of dim "
    "d is no longer at place d. Put each back where its dim is."
)
def leaves_them_sorted(shape: Ints, stride: Ints) -> Ints:
    return tuple(sorted(solve(shape, stride), reverse=True))


@clone_stride.mistake(
    "You divide the gaps away by the smallest stride. That closes gaps inside a row; the rows "
    "themselves can be further apart than they are long: look at `x[:, :3].clone().stride()`."
)
def divides_by_the_smallest_stride(shape: Ints, stride: Ints) -> Ints:
    smallest = min((s for s in stride if s), default=1)
    return tuple(s // smallest for s in stride)


@clone_stride.mistake(
    "You lay every clone out by columns. That is right for `x.t()`, which lies so: clone keeps the "
    "order that it finds. Look at `x.clone().stride()`."
)
def always_by_columns(shape: Ints, stride: Ints) -> Ints:
    return packed(shape, list(range(len(shape))))
