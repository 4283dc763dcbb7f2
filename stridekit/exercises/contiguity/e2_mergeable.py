"""E2: whether two neighbouring dims step as one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

from stridekit.exercises.answers import read_yes_or_no
from stridekit.exercises.core import exercise

Ints = tuple[int, ...]
Rule = Callable[[Ints, Ints, int], bool]

NAMED = [
    ((4, 6), (6, 1), 0, "x = torch.empty(4, 6)"),
    ((6, 4), (1, 6), 0, "x.t()"),
    ((4, 3), (6, 1), 0, "x[:, :3]"),
    ((4, 3), (6, 2), 0, "x[:, ::2]"),
    ((2, 6), (12, 1), 0, "x[::2]"),
    ((4, 2), (6, 4), 0, "x[:, ::4]"),
    ((4, 6), (0, 1), 0, "x[0].expand(4, 6)"),
    ((4, 6), (0, 0), 0, "x[0, 0].expand(4, 6)"),
    ((4, 4), (1, 4), 0, "torch.empty(4, 4).t()"),
    ((2, 3, 4), (12, 4, 1), 0, "y = torch.empty(2, 3, 4)"),
    ((2, 3, 4), (12, 4, 1), 1, "y"),
    ((4, 2, 3), (1, 12, 4), 0, "y.permute(2, 0, 1)"),
    ((4, 2, 3), (1, 12, 4), 1, "y.permute(2, 0, 1)"),
    ((2, 2, 4), (12, 4, 1), 0, "y[:, :2]"),
    ((2, 2, 4), (12, 4, 1), 1, "y[:, :2]"),
    ((2, 3, 2), (12, 4, 1), 0, "y[:, :, :2]"),
    ((2, 3, 2), (12, 4, 1), 1, "y[:, :, :2]"),
    ((2, 3, 2), (12, 4, 2), 1, "y[:, :, ::2]"),
    ((2, 4, 3), (12, 1, 4), 0, "y.transpose(1, 2)"),
    ((2, 4, 3), (12, 1, 4), 1, "y.transpose(1, 2)"),
    ((3, 3, 3), (3, 9, 1), 0, "torch.empty(3, 3, 3).transpose(0, 1)"),
    ((3, 3, 3), (1, 3, 9), 1, "torch.empty(3, 3, 3).permute(2, 1, 0)"),
    ((2, 3, 4, 5), (60, 20, 5, 1), 1, "torch.empty(2, 3, 4, 5)"),
    ((2, 5, 3, 4), (60, 1, 20, 5), 1, "an image in channels-last"),
    ((2, 5, 3, 4), (60, 1, 20, 5), 2, "the same"),
    ((1, 6), (99, 1), 0, ""),
    ((4, 1), (6, 99), 0, ""),
    ((4, 1, 6), (6, 99, 1), 0, ""),
    ((4, 1, 6), (6, 99, 1), 1, ""),
    ((4, 1, 6), (8, 99, 1), 1, ""),
    ((4, 3, 1), (6, 1, 1), 0, ""),
    ((4, 3, 1), (6, 2, 5), 0, ""),
    ((1, 4, 3), (24, 6, 1), 1, ""),
    ((1, 4, 3), (0, 3, 1), 1, ""),
    ((2, 1, 3, 4), (12, 7, 1, 3), 2, ""),
    ((3, 2, 1, 1), (1, 3, 6, 6), 0, ""),
    ((1, 5), (1, 1), 0, ""),
    ((1, 5), (0, 3), 0, ""),
    ((5, 1), (2, 0), 0, ""),
    ((1, 1), (4, 2), 0, ""),
    ((2, 0), (7, 3), 0, ""),
    ((0, 4), (1, 9), 0, ""),
    ((3, 2, 0), (1, 5, 1), 0, ""),
    ((0, 3, 2), (9, 1, 5), 1, ""),
]


def cases() -> list[str]:
    """The layouts by hand, then matrices of a few sizes, with all strides of a list."""
    found = [
        f"shape, stride, d = {shape}, {stride}, {d}" + (f"  # {how}" if how else "")
        for shape, stride, d, how in NAMED
    ]
    grid = [(2, 3), (3, 2), (3, 4), (4, 2)], product((0, 1, 2, 3, 4, 6, 8, 9), repeat=2)
    for shape, stride in product(*grid):
        found.append(f"shape, stride, d = {shape}, {stride}, 0")
    return found


@exercise(
    title="do two neighbouring dims step as one?",
    read=read_yes_or_no,
    cases=cases(),
    hints=[
        "Walk to the end of dim d + 1, then one step on: that is where dim d takes you. Does this "
        "step go exactly as far as all the ones before?",
        "All the steps of dim d + 1 go `shape[d + 1] * stride[d + 1]` far. Which stride is to be "
        "compared with that?",
        "Where one of the two sizes is 1, there is nothing to compare. And without elements (a 0 "
        "anywhere in shape) every merge works.",
    ],
    otherwise="Write down the places of the elements of dims d and d + 1 in reading order, by the "
    "strides. Are all the steps from one to the next equal? Then, and only then, they merge.",
    takeaway="Outer step = inner size * inner step: then the two dims are one run of even steps.",
)
def mergeable(shape: tuple[int, ...], stride: tuple[int, ...], d: int) -> bool:
    """Whether dims d and d + 1 can become one by `view`, while all the others stay as they are.

    shape, stride   those of a tensor x, in elements
    d               an int from 0 to len(shape) - 2
    return          True or False: whether torch makes the view of x that has, in place of dims
                    d and d + 1, one dim of size shape[d] * shape[d + 1]
    """
    if 0 in shape or shape[d] == 1 or shape[d + 1] == 1:
        return True
    return stride[d] == shape[d + 1] * stride[d + 1]


def easy(shape: Ints, d: int) -> bool:
    """Whether there is nothing to compare: no element, or nothing to step along."""
    return 0 in shape or 1 in shape[d : d + 2]


def named(hint: str) -> Callable[[Rule], Rule]:
    """Register a rule as a mistake twice: alone, and behind the cases with nothing to compare."""

    def register(rule: Rule) -> Rule:
        def behind_the_easy_cases(shape: Ints, stride: Ints, d: int) -> bool:
            return easy(shape, d) or rule(shape, stride, d)

        mergeable.mistake(hint)(rule)
        mergeable.mistake(hint)(behind_the_easy_cases)
        return rule

    return register


SIZE_ONE = (
    "Your rule compares strides also where one of the two sizes is 1. Along that dim nobody ever "
    "steps, so it cannot break the even steps: view shape (4, 1), stride (6, 99) as (4,)."
)


@mergeable.mistake(SIZE_ONE)
def forgets_sizes_of_one(shape: Ints, stride: Ints, d: int) -> bool:
    return 0 in shape or stride[d] == shape[d + 1] * stride[d + 1]


@mergeable.mistake(SIZE_ONE)
def forgets_sizes_of_one_and_zero(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] == shape[d + 1] * stride[d + 1]


@mergeable.mistake(
    "You let the outer dim be of size 1, but not the inner one. Neither is ever stepped along: "
    "view shape (4, 1), stride (6, 99) as (4,)."
)
def forgets_an_inner_size_of_one(shape: Ints, stride: Ints, d: int) -> bool:
    return 0 in shape or shape[d] == 1 or stride[d] == shape[d + 1] * stride[d + 1]


@mergeable.mistake(
    "You let the inner dim be of size 1, but not the outer one. Neither is ever stepped along: "
    "view shape (1, 6), stride (99, 1) as (6,)."
)
def forgets_an_outer_size_of_one(shape: Ints, stride: Ints, d: int) -> bool:
    return 0 in shape or shape[d + 1] == 1 or stride[d] == shape[d + 1] * stride[d + 1]


@named(
    "You go the other way round, as if dim d were the inner one. In reading order dim d + 1 runs "
    "first, to its end, and then dim d takes one step. Compare x with `x.t()`."
)
def takes_the_wrong_neighbour(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d + 1] == shape[d] * stride[d]


@named(
    "You ask for two equal strides. But one step of dim d has to pass over a whole row of dim "
    "d + 1, so it is longer: how far do all the steps of a row go?"
)
def compares_the_strides(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] == stride[d + 1]


@named(
    "You multiply with the size of dim d itself. How often dim d can step does not matter; how "
    "long the row is that one step passes over does. Try a matrix that is not square."
)
def multiplies_with_the_size_of_d(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] == shape[d] * stride[d + 1]


@named(
    "You count the steps inside a row: one fewer than it has elements. One step of dim d has to "
    "arrive behind the last of them, and that takes one more."
)
def stops_at_the_last_element(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] == (shape[d + 1] - 1) * stride[d + 1]


@named(
    "You compare with the stride of a new tensor. The two dims can step evenly with longer steps "
    "too, or inside a tensor with gaps elsewhere: try `x[:, ::2]`."
)
def asks_for_the_stride_of_a_new_tensor(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] == prod(shape[d + 1 :])


@named(
    "You take the inner stride for 1 and compare with the size alone. Elements of a row can lie "
    "further apart: try `x[:, ::2]`, whose dims do merge."
)
def takes_the_inner_stride_for_one(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] == shape[d + 1]


@mergeable.mistake(
    "You ask whether x is contiguous as a whole. This is about two dims alone: a gap elsewhere in x, "
    "or an even step longer than 1, does them no harm."
)
def asks_for_a_contiguous_tensor(shape: Ints, stride: Ints, d: int) -> bool:
    return 0 in shape or all(
        n == 1 or s == prod(shape[k + 1 :])
        for k, (n, s) in enumerate(zip(shape, stride, strict=True))
    )


@named(
    "A step that is longer than the row leaves a gap behind it, and then the steps are not even: "
    "look at `x[:, :3]`. Dim d has to go exactly as far, not at least as far."
)
def lets_a_gap_through(shape: Ints, stride: Ints, d: int) -> bool:
    return stride[d] >= shape[d + 1] * stride[d + 1]


@mergeable.mistake(
    "Right wherever there is an element. Where a size of x is 0, also one of the other dims, there "
    "is nothing to step over, and torch makes every view."
)
def forgets_empty_ones(shape: Ints, stride: Ints, d: int) -> bool:
    return 1 in shape[d : d + 2] or stride[d] == shape[d + 1] * stride[d + 1]


@mergeable.mistake(
    "Those are dims d - 1 and d. The question is about d and the one to its right, d + 1."
)
def looks_to_the_left(shape: Ints, stride: Ints, d: int) -> bool:
    easy = 0 in shape or 1 in (shape[d - 1], shape[d])
    return easy or stride[d - 1] == shape[d] * stride[d]


ALL_THE_SAME = (
    "You answer the same for every input. There are both kinds: `torch.empty(4, 6)` can be viewed "
    "as (24,), and `torch.empty(4, 6).t()` cannot."
)


@mergeable.mistake(ALL_THE_SAME, exact=True)
def says_no_to_all(shape: Ints, stride: Ints, d: int) -> bool:
    return False


@mergeable.mistake(ALL_THE_SAME, exact=True)
def says_yes_to_all(shape: Ints, stride: Ints, d: int) -> bool:
    return True
