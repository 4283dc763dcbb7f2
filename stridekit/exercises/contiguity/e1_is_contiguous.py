"""E1: the true definition of contiguous, tried on every small layout."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from math import prod

from stridekit.exercises.answers import read_yes_or_no
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]
Rule = Callable[[Ints, Ints], bool]

# By hand, from simple to strange, so that the first one that differs is easy to think about.
NAMED = [
    ((4, 6), (6, 1), "x = torch.empty(4, 6)"),
    ((6, 4), (1, 6), "x.t()"),
    ((4, 3), (6, 1), "x[:, :3]"),
    ((4, 3), (6, 2), "x[:, ::2]"),
    ((2, 6), (6, 1), "x[1:3]"),
    ((4,), (6,), "x[:, 2]"),
    ((4, 6), (0, 1), "x[0].expand(4, 6)"),
    ((2, 3, 4), (12, 4, 1), "y = torch.empty(2, 3, 4)"),
    ((4, 2, 3), (1, 12, 4), "y.permute(2, 0, 1)"),
    ((2, 2, 4), (12, 4, 1), "y[:, :2]"),
    ((3, 2, 4), (4, 12, 1), "y.transpose(0, 1)"),
    ((2, 3, 2), (12, 4, 2), "y[:, :, ::2]"),
    ((2, 4, 3), (12, 1, 4), "y.transpose(1, 2)"),
    ((2, 2, 2), (2, 2, 1), "steps that never grow"),
    ((2, 3, 4, 5), (60, 20, 5, 1), "torch.empty(2, 3, 4, 5)"),
    ((2, 5, 3, 4), (60, 1, 20, 5), "an image in channels-last"),
    ((2, 3, 4, 1), (12, 4, 1, 24), "torch.empty(1, 2, 3, 4).permute(1, 2, 3, 0)"),
    ((3, 1), (1, 7), ""),
    ((1, 3), (99, 1), ""),
    ((1, 3), (1, 2), ""),
    ((4, 1, 6), (6, 99, 1), ""),
    ((4, 1, 6), (12, 6, 1), ""),
    ((1, 1, 3), (7, 99, 1), ""),
    ((1, 4, 6), (24, 1, 4), ""),
    ((1, 2, 1, 3), (0, 3, 0, 1), ""),
    ((1, 1), (5, 0), ""),
    ((), (), "torch.tensor(7)"),
    ((0,), (7,), ""),
    ((0, 3), (5, 2), ""),
    ((3, 0), (9, 9), ""),
    ((2, 0, 3), (1, 2, 3), ""),
    ((0, 1, 4), (8, 8, 8), ""),
]


def cases() -> list[str]:
    """The layouts by hand, then every shape of one and two dims with sizes and strides 0 to 3."""
    found = []
    for shape, stride, how in NAMED:
        found.append(f"shape, stride = {shape}, {stride}" + (f"  # {how}" if how else ""))
    for ndim in (1, 2):
        grid = list(product(range(4), repeat=ndim))
        # Sizes of 1 and 0 last: they are the strange ones.
        for shape in sorted(grid, key=lambda sizes: (0 in sizes, 1 in sizes)):
            found += [f"shape, stride = {shape}, {stride}" for stride in grid]
    return found


@exercise(
    title="does it lie in memory in reading order?",
    read=read_yes_or_no,
    cases=cases(),
    hints=[
        "Read the elements in order: the last index runs fastest. What does its stride have to be, "
        "and what the stride of the dim before it?",
        "Go from the last dim to the first, and keep the step that is needed: 1 at the start, then "
        "the product of the sizes you have passed. Which dims is there nothing to ask of?",
        "A dim of size 1 is never stepped along, so its stride is not asked. And where a size is 0, "
        "there is no element that could lie in the wrong place.",
    ],
    otherwise="Which element is read second, and does it lie one element further on? Then the "
    "first one of the second row, and so on. Only steps that some index takes can be wrong.",
    takeaway="Contiguous means: reading order is memory order. Steps that nobody takes do not count.",
)
def is_contiguous(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape and stride is contiguous, as `x.is_contiguous()` tells.

    shape   a tuple of ints >= 0; () is a 0-d tensor
    stride  a tuple of as many ints >= 0, in elements
    return  True or False, torch's answer, also for sizes of 1 and 0
    """
    if 0 in shape:
        return True
    needed = 1
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and step != needed:
            return False
        needed *= size
    return True


def row_major(shape: Ints) -> Ints:
    """The product of the sizes after each dim."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def fresh(shape: Ints) -> Ints:
    """The stride of a new tensor of this shape: as `row_major`, with sizes of 0 counted as 1."""
    return row_major(tuple(max(n, 1) for n in shape))


def stepped(shape: Ints, stride: Ints) -> tuple[Ints, Ints]:
    """The dims that have something to step along."""
    kept = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1]
    return tuple(n for n, _ in kept), tuple(s for _, s in kept)


SIZE_ONE = (
    "Your test asks for a certain stride in a dim of size 1. No index ever steps along it, so any "
    "stride will do: move a size of 1 about with `permute` and ask `is_contiguous()`."
)


@is_contiguous.mistake(SIZE_ONE)
def asks_for_the_stride_of_a_new_tensor(shape: Ints, stride: Ints) -> bool:
    return stride == fresh(shape)


@is_contiguous.mistake(SIZE_ONE)
def multiplies_from_the_last(shape: Ints, stride: Ints) -> bool:
    return stride == row_major(shape)


@is_contiguous.mistake(SIZE_ONE)
def compares_neighbours(shape: Ints, stride: Ints) -> bool:
    return 0 in shape or compares_neighbours_and_forgets_empty_ones(shape, stride)


@is_contiguous.mistake(SIZE_ONE)
def compares_neighbours_and_forgets_empty_ones(shape: Ints, stride: Ints) -> bool:
    return not shape or (stride[-1] == 1 and steps_evenly(shape, stride))


def steps_evenly(shape: Ints, stride: Ints) -> bool:
    """Whether each dim steps as far as all the steps of the one behind it."""
    steps = zip(shape[1:], pairwise(stride), strict=True)
    return all(outer == n * inner for n, (outer, inner) in steps)


EMPTY = (
    "Right wherever there is an element. Where a size is 0 there is none, so nothing can lie in the "
    "wrong place: torch calls every such tensor contiguous."
)


@is_contiguous.mistake(EMPTY)
def forgets_empty_ones(shape: Ints, stride: Ints) -> bool:
    sizes, steps = stepped(shape, stride)
    return steps == row_major(sizes)


@is_contiguous.mistake(EMPTY)
def forgets_empty_ones_with_sizes_of_0_counted_as_1(shape: Ints, stride: Ints) -> bool:
    sizes, steps = stepped(shape, stride)
    return steps == fresh(sizes)


def named(hint: str) -> Callable[[Rule], Rule]:
    """Register a rule as a mistake in the ways of treating sizes of 1 and 0."""

    def register(rule: Rule) -> Rule:
        def without_sizes_of_one(shape: Ints, stride: Ints) -> bool:
            return rule(*stepped(shape, stride))

        def without_sizes_of_one_and_zero(shape: Ints, stride: Ints) -> bool:
            return 0 in shape or rule(*stepped(shape, stride))

        def with_zero_as_one(shape: Ints, stride: Ints) -> bool:
            return rule(tuple(max(n, 1) for n in shape), stride)

        for answer in (rule, with_zero_as_one, without_sizes_of_one, without_sizes_of_one_and_zero):
            is_contiguous.mistake(hint)(answer)
        return rule

    return register


@named(
    "Your test only asks that strides do not grow from left to right. That is the right order of "
    "dims, but says nothing of gaps: look at `x[:, :3]`. (And sizes of 1 may break the order.)"
)
def asks_for_strides_that_never_grow(shape: Ints, stride: Ints) -> bool:
    return all(outer >= inner for outer, inner in pairwise(stride))


@named(
    "A last stride of 1 says that each row has no gap inside. Whether the next row follows without "
    "one is up to the other strides: look at `x[:, :3]`."
)
def looks_at_the_last_stride(shape: Ints, stride: Ints) -> bool:
    return not stride or stride[-1] == 1


@named(
    "That is contiguity by columns: you multiply the sizes before each dim. In torch's reading "
    "order the last index runs fastest, so it takes the sizes after it. Try `x.t()`."
)
def multiplies_the_wrong_way(shape: Ints, stride: Ints) -> bool:
    return stride == tuple(prod(shape[:d]) for d in range(len(shape)))


@named(
    "You accept whatever fills its range without a hole, in any order of the dims. That is *dense*. "
    "Contiguous also asks for reading order: `x.t()` is dense and not contiguous."
)
def takes_dense_for_contiguous(shape: Ints, stride: Ints) -> bool:
    dims = sorted(zip(stride, shape, strict=True), reverse=True)
    return tuple(s for s, _ in dims) == row_major(tuple(n for _, n in dims))


@named(
    "Your test asks that the elements are evenly spaced, not that the space is 1. A column, "
    "`x[:, 2]`, is evenly spaced too: what does the last dim's stride have to be?"
)
def asks_for_even_steps_only(shape: Ints, stride: Ints) -> bool:
    return steps_evenly(shape, stride)


@is_contiguous.mistake(
    "A size of 1 somewhere does not excuse the other dims. Leave out that one stride, and go on "
    "asking the rest of them: try shape (1, 3), stride (1, 2)."
)
def lets_a_size_of_one_excuse_the_rest(shape: Ints, stride: Ints) -> bool:
    return 0 in shape or 1 in shape or stride == row_major(shape)


@is_contiguous.mistake(
    "Shape () has no dims, so there is no last one to look at, and no stride that could be wrong. "
    "A 0-d tensor has one element: contiguous."
)
def stumbles_over_no_dims(shape: Ints, stride: Ints) -> bool:
    return solve(shape, stride) if len(shape) else stride[-1] == 1


ALL_THE_SAME = (
    "You answer the same for every input. There are both kinds: ask `is_contiguous()` of "
    "`torch.empty(4, 6)` and of `torch.empty(4, 6).t()`."
)


@is_contiguous.mistake(ALL_THE_SAME, exact=True)
def says_no_to_all(shape: Ints, stride: Ints) -> bool:
    return False


@is_contiguous.mistake(ALL_THE_SAME, exact=True)
def says_yes_to_all(shape: Ints, stride: Ints) -> bool:
    return True


def solve(shape: Ints, stride: Ints) -> bool:
    """The right answer, for mistakes that start from it."""
    return bool(is_contiguous.reference(shape, stride))
