"""E1 and E2: contiguous, and the dims that step as one."""

from collections.abc import Iterator
from itertools import pairwise, product
from math import prod  # noqa: F401 (for mistakes)

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major
from stridekit.exercises.readers.answers import read_yes_or_no
from stridekit.exercises.watch import without_a_tensor
from stridekit.rules import contiguous_stride  # noqa: F401 (for mistakes)


def small_layouts() -> list[str]:
    """Return a case for each layout of one or two dims with sizes and strides from 0 to 3.

    Sizes of 1 and 0 come last, because they have rules of their own.
    """
    cases = []
    for ndim in (1, 2):
        grid = list(product(range(4), repeat=ndim))
        for shape in sorted(grid, key=lambda sizes: (0 in sizes, 1 in sizes)):
            cases += [f"shape, stride = {shape}, {stride}" for stride in grid]
    return cases


@exercise(
    title="does it lie in memory in reading order?",
    read=read_yes_or_no,
    means=without_a_tensor("Layout"),
    cases=[
        "shape, stride = (4, 6), (6, 1)  # x = torch.empty(4, 6)",
        "shape, stride = (6, 4), (1, 6)  # x.t()",
        "shape, stride = (4, 3), (6, 1)  # x[:, :3]",
        "shape, stride = (4, 3), (6, 2)  # x[:, ::2]",
        "shape, stride = (2, 6), (6, 1)  # x[1:3]",
        "shape, stride = (4,), (6,)  # x[:, 2]",
        "shape, stride = (4, 6), (0, 1)  # x[0].expand(4, 6)",
        "shape, stride = (2, 3, 4), (12, 4, 1)  # y = torch.empty(2, 3, 4)",
        "shape, stride = (4, 2, 3), (1, 12, 4)  # y.permute(2, 0, 1)",
        "shape, stride = (2, 2, 4), (12, 4, 1)  # y[:, :2]",
        "shape, stride = (3, 2, 4), (4, 12, 1)  # y.transpose(0, 1)",
        "shape, stride = (2, 3, 2), (12, 4, 2)  # y[:, :, ::2]",
        "shape, stride = (2, 4, 3), (12, 1, 4)  # y.transpose(1, 2)",
        "shape, stride = (2, 2, 2), (2, 2, 1)  # steps that never grow",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)  # torch.empty(2, 3, 4, 5)",
        "shape, stride = (2, 5, 3, 4), (60, 1, 20, 5)  # an image in channels-last",
        "shape, stride = (2, 3, 4, 1), (12, 4, 1, 24)  "
        "# torch.empty(1, 2, 3, 4).permute(1, 2, 3, 0)",
        "shape, stride = (3, 1), (1, 7)",
        "shape, stride = (1, 3), (99, 1)",
        "shape, stride = (1, 3), (1, 2)",
        "shape, stride = (4, 1, 6), (6, 99, 1)",
        "shape, stride = (4, 1, 6), (12, 6, 1)",
        "shape, stride = (1, 1, 3), (7, 99, 1)",
        "shape, stride = (1, 4, 6), (24, 1, 4)",
        "shape, stride = (1, 2, 1, 3), (0, 3, 0, 1)",
        "shape, stride = (1, 1), (5, 0)",
        "shape, stride = (), ()  # torch.tensor(7)",
        "shape, stride = (0,), (7,)",
        "shape, stride = (0, 3), (5, 2)",
        "shape, stride = (3, 0), (9, 9)",
        "shape, stride = (2, 0, 3), (1, 2, 3)",
        "shape, stride = (0, 1, 4), (8, 8, 8)",
        *small_layouts(),
    ],
    hints=[
        "Read the elements in order: the last index runs fastest. What does its stride have to "
        "be, and what the stride of the dim before it?",
        "Go from the last dim to the first, and keep the step that is needed: 1 at the start, "
        "then the product of the sizes you have passed. Which dims is there nothing to ask of?",
        "No index steps along a dim of size 1, so its stride does not matter. And if a size is 0, "
        "no element can lie in the wrong place.",
    ],
    otherwise=(
        "Which element is read second, and does it lie one element further on? Ask the same of "
        "the first element of the second row. Only steps that some index takes can be wrong."
    ),
    takeaway=(
        "Contiguous means: reading order is memory order. Steps that nobody takes do not count."
    ),
)
def is_contiguous(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """True if a tensor of this shape and stride is contiguous, found without making a tensor.

    shape   a tuple of ints >= 0; () is a 0-d tensor
    stride  a tuple of as many ints >= 0, in elements
    return  True or False, torch's answer, also for sizes of 1 and 0

    Not allowed: `Layout`, and a question to torch such as `is_contiguous()`.
    """
    if 0 in shape:
        return True
    needed = 1
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and step != needed:
            return False
        needed *= size
    return True


def stepped(shape: Ints, stride: Ints) -> tuple[Ints, Ints]:
    """Return the layout without its dims of size 1, along which no index steps."""
    dims = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1]
    return tuple(n for n, _ in dims), tuple(s for _, s in dims)


def steps_evenly(shape: Ints, stride: Ints) -> bool:
    """Return whether each dim steps as far as all the steps of the dim after it."""
    neighbours = zip(shape[1:], pairwise(stride), strict=True)
    return all(outer == size * inner for size, (outer, inner) in neighbours)


def is_dense_in_some_order(shape: Ints, stride: Ints) -> bool:
    """Return whether the elements fill their range without a hole, in any order of the dims."""
    dims = sorted(zip(stride, shape, strict=True), reverse=True)
    sizes = [size for _, size in dims]
    return tuple(step for step, _ in dims) == row_major(sizes)


def whatever_the_sizes(rule: str) -> Iterator[str]:
    """Yield the source of a rule in four variants, which treat sizes of 1 and 0 differently."""
    yield rule
    yield f"(lambda shape: {rule})(tuple(max(n, 1) for n in shape))"
    yield f"(lambda shape, stride: {rule})(*stepped(shape, stride))"
    yield f"0 in shape or (lambda shape, stride: {rule})(*stepped(shape, stride))"


is_contiguous.only |= {
    "not shape": (
        "Right except for shape (). It does not have a last dim, so no stride can be wrong. A 0-d "
        "tensor has one element and is contiguous."
    ),
    "0 in shape": (
        "Right wherever there is an element. If a size is 0, no element can lie in the wrong "
        "place, so torch calls the tensor contiguous. Look for a 0 anywhere in shape before you "
        "look at a stride."
    ),
    "1 in shape": (
        "Right wherever no size is 1. No index ever steps along a dim of size 1, so its stride "
        "does not matter; the strides of the other dims still do."
    ),
    "0 in shape or 1 in shape": (
        "Right wherever each size is 2 or more. No index steps along a dim of size 1. A tensor with "
        "a size of 0 does not have elements. Which strides still matter?"
    ),
    "0 in stride": (
        "Right wherever no stride is 0. A dim of stride 0 with two or more elements reads the "
        "same element again, so the tensor is not contiguous."
    ),
    "len(shape) > 2": (
        "Right for one dim and for two. From three on, the stride of a dim has to be the product "
        "of all the sizes after it, not of the next one alone: try shape (2, 3, 4)."
    ),
}

LARGER = (
    "Your test lets a stride be larger than the product of the sizes after it. Then there is a gap "
    "before the next step. Look at `x[:, :3]`. Contiguous asks for exactly that product."
)
OUTERMOST = (
    "You look at the first stride alone. The dims inside it can still lie in another order. "
    "Compare shape (2, 3, 4) of stride (12, 4, 1) with the same shape of stride (12, 1, 3)."
)
RULES = {
    "all(outer >= inner for outer, inner in pairwise(stride))": (
        "Your test only asks that strides do not grow from left to right. That is the right order "
        "of dims, but there can be gaps. Look at `x[:, :3]`. (And sizes of 1 may break the order.)"
    ),
    "not stride or stride[-1] == 1": (
        "You look at the last stride alone. If it is 1, each row lies without gaps. But there can be "
        "a gap between two rows. Look at `x[:, :3]`."
    ),
    "not stride or stride[0] == prod(shape[1:])": OUTERMOST,
    "0 in shape or not stride or stride[0] == prod(shape[1:])": OUTERMOST,
    "all(s > 0 for s in stride)": (
        "You only refuse a stride of 0. A slice or a transpose has positive strides too. Look at "
        "`x.t()`."
    ),
    "stride == row_major(shape[::-1])[::-1]": (
        "That is contiguity by columns, with the product of the sizes before each dim. In torch "
        "the last index runs fastest, so take those after it. Try `x.t()`."
    ),
    "is_dense_in_some_order(shape, stride)": (
        "You accept every tensor without gaps, in any order of the dims. That is dense. "
        "Contiguous also asks for reading order: `x.t()` is dense and not contiguous."
    ),
    "steps_evenly(shape, stride)": (
        "Your test asks that the elements are evenly spaced, not that the space is 1. A column, "
        "`x[:, 2]`, is evenly spaced too: what does the last dim's stride have to be?"
    ),
    "all(n == 1 or s >= m for n, s, m in zip(shape, stride, row_major(shape)))": LARGER,
    "(not stride or stride[-1] == 1) and all(outer >= size * inner "
    "for size, (outer, inner) in zip(shape[1:], pairwise(stride), strict=True))": LARGER,
    "all(n == 1 or s <= m for n, s, m in zip(shape, stride, row_major(shape)))": (
        "Your test lets a stride be smaller than the product of the sizes after it. Then that step "
        "goes back to elements already read. Look at `x[0].expand(4, 6)`. Contiguous asks for "
        "exactly that product."
    ),
}
for rule, hint in RULES.items():
    is_contiguous.wrong[tuple(whatever_the_sizes(rule))] = hint
is_contiguous.wrong |= {
    (
        "stride == contiguous_stride(shape)",
        "stride == row_major(shape)",
        "0 in shape or not shape or (stride[-1] == 1 and steps_evenly(shape, stride))",
    ): (
        "Your test asks for a certain stride in a dim of size 1. No index ever steps along it, so "
        "any stride is fine. Compare `torch.empty(4, 1, 6)` with other strides for the dim of "
        "size 1."
    ),
    "0 in shape or 1 in shape or stride == row_major(shape)": (
        "You accept every tensor with a size of 1. Leave out the stride of this dim, and check "
        "the other dims: try shape (1, 3), stride (1, 2)."
    ),
}
is_contiguous.exact["False", "True"] = shared.ALIKE.format("input") + (
    " Ask `is_contiguous()` of `torch.empty(4, 6)` and of `torch.empty(4, 6).t()`."
)


def small_matrices() -> list[str]:
    """Return a case for each pair of some strides, for matrices of four shapes."""
    cases = []
    for shape in ((2, 3), (3, 2), (3, 4), (4, 2)):
        for stride in product((0, 1, 2, 3, 4, 6, 8, 9), repeat=2):
            cases.append(f"shape, stride, d = {shape}, {stride}, 0")
    return cases


@exercise(
    title="do two neighbouring dims step as one?",
    read=read_yes_or_no,
    means=without_a_tensor("Layout"),
    cases=[
        "shape, stride, d = (4, 6), (6, 1), 0  # x = torch.empty(4, 6)",
        "shape, stride, d = (6, 4), (1, 6), 0  # x.t()",
        "shape, stride, d = (4, 3), (6, 1), 0  # x[:, :3]",
        "shape, stride, d = (4, 3), (6, 2), 0  # x[:, ::2]",
        "shape, stride, d = (2, 6), (12, 1), 0  # x[::2]",
        "shape, stride, d = (4, 2), (6, 4), 0  # x[:, ::4]",
        "shape, stride, d = (4, 6), (0, 1), 0  # x[0].expand(4, 6)",
        "shape, stride, d = (4, 6), (0, 0), 0  # x[0, 0].expand(4, 6)",
        "shape, stride, d = (4, 4), (1, 4), 0  # torch.empty(4, 4).t()",
        "shape, stride, d = (2, 3, 4), (12, 4, 1), 0  # y = torch.empty(2, 3, 4)",
        "shape, stride, d = (2, 3, 4), (12, 4, 1), 1  # y",
        "shape, stride, d = (4, 2, 3), (1, 12, 4), 0  # y.permute(2, 0, 1)",
        "shape, stride, d = (4, 2, 3), (1, 12, 4), 1  # y.permute(2, 0, 1)",
        "shape, stride, d = (2, 2, 4), (12, 4, 1), 0  # y[:, :2]",
        "shape, stride, d = (2, 2, 4), (12, 4, 1), 1  # y[:, :2]",
        "shape, stride, d = (2, 3, 2), (12, 4, 1), 0  # y[:, :, :2]",
        "shape, stride, d = (2, 3, 2), (12, 4, 1), 1  # y[:, :, :2]",
        "shape, stride, d = (2, 3, 2), (12, 4, 2), 1  # y[:, :, ::2]",
        "shape, stride, d = (2, 4, 3), (12, 1, 4), 0  # y.transpose(1, 2)",
        "shape, stride, d = (2, 4, 3), (12, 1, 4), 1  # y.transpose(1, 2)",
        "shape, stride, d = (3, 3, 3), (3, 9, 1), 0  # torch.empty(3, 3, 3).transpose(0, 1)",
        "shape, stride, d = (3, 3, 3), (1, 3, 9), 1  # torch.empty(3, 3, 3).permute(2, 1, 0)",
        "shape, stride, d = (2, 3, 4, 5), (60, 20, 5, 1), 1  # torch.empty(2, 3, 4, 5)",
        "shape, stride, d = (2, 5, 3, 4), (60, 1, 20, 5), 1  # an image in channels-last",
        "shape, stride, d = (2, 5, 3, 4), (60, 1, 20, 5), 2  # the same",
        "shape, stride, d = (1, 6), (99, 1), 0",
        "shape, stride, d = (4, 1), (6, 99), 0",
        "shape, stride, d = (4, 1, 6), (6, 99, 1), 0",
        "shape, stride, d = (4, 1, 6), (6, 99, 1), 1",
        "shape, stride, d = (4, 1, 6), (8, 99, 1), 1",
        "shape, stride, d = (4, 3, 1), (6, 1, 1), 0",
        "shape, stride, d = (4, 3, 1), (6, 2, 5), 0",
        "shape, stride, d = (1, 4, 3), (24, 6, 1), 1",
        "shape, stride, d = (1, 4, 3), (0, 3, 1), 1",
        "shape, stride, d = (2, 1, 3, 4), (12, 7, 1, 3), 2",
        "shape, stride, d = (3, 2, 1, 1), (1, 3, 6, 6), 0",
        "shape, stride, d = (1, 5), (1, 1), 0",
        "shape, stride, d = (1, 5), (0, 3), 0",
        "shape, stride, d = (5, 1), (2, 0), 0",
        "shape, stride, d = (1, 1), (4, 2), 0",
        "shape, stride, d = (2, 0), (7, 3), 0",
        "shape, stride, d = (0, 4), (1, 9), 0",
        "shape, stride, d = (3, 2, 0), (1, 5, 1), 0",
        "shape, stride, d = (0, 3, 2), (9, 1, 5), 1",
        *small_matrices(),
    ],
    hints=[
        "Walk to the end of dim d + 1, then one step on: that is where dim d takes you. Does this "
        "step go exactly as far as all the ones before?",
        "All the steps of dim d + 1 go `shape[d + 1] * stride[d + 1]` far. Which stride is to be "
        "compared with that?",
        "Where one of the two sizes is 1, there is nothing to compare. And without elements (a 0 "
        "anywhere in shape) every merge works.",
    ],
    otherwise=(
        "Write down the places of the elements of dims d and d + 1 in reading order, by the "
        "strides. Are all the steps from one to the next equal? Then, and only then, they merge."
    ),
    takeaway="Outer step = inner size * inner step: then the two dims are one run of even steps.",
)
def mergeable(shape: tuple[int, ...], stride: tuple[int, ...], d: int) -> bool:
    """True if `view` can make one dim of dims d and d + 1; found without making a tensor.

    shape, stride   those of a tensor x, in elements
    d               an int from 0 to len(shape) - 2
    return          True if torch makes the view of x that has one dim of size
                    shape[d] * shape[d + 1] in place of the two, and the others as they are

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    if 0 in shape or shape[d] == 1 or shape[d + 1] == 1:
        return True
    return stride[d] == shape[d + 1] * stride[d + 1]


NO_ELEMENT = "Right wherever there is an element. If any size of x is 0, torch makes every view."

mergeable.slots["stride[d] == shape[d + 1] * stride[d + 1]"] = {
    ("stride[d + 1] == shape[d] * stride[d]", "stride[d + 1] == shape[d + 1] * stride[d]"): (
        "You go the other way round, as if dim d were the inner one. In reading order dim d + 1 "
        "runs first: compare x with `x.t()`."
    ),
    "stride[d + 1] == 1": (
        "You look at the inner stride alone. The outer dim has to go on exactly where a row of "
        "the inner dim ends: which stride says how far it goes?"
    ),
    "stride[d] == shape[d + 1] * stride[d + 1] and stride[-1] == 1": (
        "You ask for a last stride of 1 as well. Even steps can be longer than 1. Look at "
        "`x[:, ::2]`, whose dims merge."
    ),
    ("stride[d] >= stride[d + 1]", "stride[d] > stride[d + 1]"): (
        "You ask that the outer stride is the larger one. It has to be exactly as long as the row "
        "of the inner dim: a gap after the row breaks the even steps."
    ),
    "stride[d] * shape[d] == stride[d + 1] * shape[d + 1]": (
        "You compare how far all the steps of each dim go. One step of the outer dim passes over "
        "all of the inner one: its size times its stride."
    ),
    "stride[d] == stride[d + 1]": (
        "You ask for two equal strides. But one step of dim d has to pass a whole row of dim d + "
        "1. How far do all the steps of a row go?"
    ),
    "stride[d] == shape[d] * stride[d + 1]": (
        "You multiply with the size of dim d itself. How often dim d can step does not matter: "
        "compare with the row that one step passes over."
    ),
    "stride[d] == (shape[d + 1] - 1) * stride[d + 1]": (
        "You count the steps inside a row: one fewer than it has elements. One step of dim d has "
        "to arrive after the last of them, and that takes one more."
    ),
    "stride[d] == prod(shape[d + 1 :])": (
        "You compare with the stride of a new tensor. The two dims can also step evenly with "
        "longer steps, or inside a tensor with gaps elsewhere. Look at `x[:, ::2]`."
    ),
    "stride[d] == shape[d + 1]": (
        "You take the inner stride for 1 and compare with the size alone. Elements of a row can "
        "lie further apart. Look at `x[:, ::2]`, whose dims merge."
    ),
    "stride[d + 1] == 1 and stride[d] == shape[d + 1]": (
        "You ask that the inner dim steps by 1. It may step further if the outer dim goes on "
        "evenly. Look at `x[:, ::2]`, whose dims merge."
    ),
    "stride[d] <= shape[d + 1] * stride[d + 1]": (
        "A step that is shorter than the row goes back into it. Look at `x.t()`. Dim d has to go "
        "exactly as far as the row."
    ),
    "stride[d] % max(shape[d + 1] * stride[d + 1], 1) == 0": (
        "A step of two rows passes over one of them. Look at `x[::2]`. Dim d has to go exactly one "
        "row further."
    ),
    "stride[d] >= shape[d + 1] * stride[d + 1]": (
        "A step that is longer than the row leaves a gap after it. Look at `x[:, :3]`. Dim d has "
        "to go exactly as far."
    ),
}
mergeable.slots["0 in shape or shape[d] == 1 or shape[d + 1] == 1"] = {
    ("0 in shape", "False"): (
        "Your rule also compares strides if one of the two sizes is 1. No index steps along that "
        "dim: view shape (4, 1), stride (6, 99) as (4,)."
    ),
    ("0 in shape or shape[d] == 1", "shape[d] == 1"): (
        "You make an exception for an outer dim of size 1, but not for an inner one. No index "
        "steps along either: view shape (4, 1), stride (6, 99) as (4,)."
    ),
    ("0 in shape or shape[d + 1] == 1", "shape[d + 1] == 1"): (
        "You make an exception for an inner dim of size 1, but not for an outer one. No index "
        "steps along either: view shape (1, 6), stride (99, 1) as (6,)."
    ),
    "shape[d] == 1 or shape[d + 1] == 1": NO_ELEMENT,
}
mergeable.wrong |= {
    (
        "0 in shape or all(n == 1 or s == m for n, s, m in zip(shape, stride, row_major(shape)))",
        "stride == row_major(shape)",
    ): (
        "You ask whether all of x is contiguous. The task asks about two dims: a gap elsewhere in "
        "x, or even steps longer than 1, do not matter."
    ),
    "1 in shape or stride[d] == shape[d + 1] * stride[d + 1]": (
        "You look for a size of 1 anywhere. Only the sizes of dims d and d + 1 decide here: a 1 "
        "elsewhere in shape has nothing to do with them."
    ),
    "0 in shape or 1 in (shape[d - 1], shape[d]) or stride[d - 1] == shape[d] * stride[d]": (
        "Those are dims d - 1 and d. The question is about d and the one to its right, d + 1."
    ),
}
mergeable.only |= {
    "0 in shape": NO_ELEMENT,
    "1 in shape[d : d + 2]": (
        "Right where both sizes are 2 or more. Where one of them is 1, no index steps along that "
        "dim, so it cannot break the even steps, whatever its stride."
    ),
    "0 in stride": (
        "Right wherever no stride is 0. Expanded dims follow the same equation. Two of them merge, "
        "because 0 == n * 0. An expanded dim and another dim do not merge."
    ),
    "1 in shape": (
        "Right wherever no size is 1. Only the sizes of dims d and d + 1 decide here: a 1 "
        "elsewhere in shape has nothing to do with them."
    ),
    "len(shape) > 2": (
        "Right if there are only two dims. If there are more, only dims d and d + 1 matter."
    ),
}
mergeable.exact["False", "True"] = shared.ALIKE.format("input") + (
    " `torch.empty(4, 6)` can be viewed as (24,), and `torch.empty(4, 6).t()` cannot."
)
