"""Wrong answers to the exercises of notebook 03."""

import math

import torch

from stridekit.exercises import contiguity as ex
from tests.wrong_answers.collecting import (
    ANOTHER_KIND,
    CHANGES,
    WRONG,
    formulas,
    general,
    unnamed,
    wrong,
)

# Mistakes that the exercises know, made in a way of one's own -----------------------------------


@wrong(ex.mergeable, "also one of the other dims")
def merges_unless_one_of_the_two_is_empty(shape, stride, d):
    if shape[d] <= 1 or shape[d + 1] <= 1:
        return True
    return stride[d] == stride[d + 1] * shape[d + 1]


def torch_view(shape, stride, new_shape):
    """The answer of torch."""
    x = torch.empty_strided(shape, stride, device="meta")
    try:
        return x.view(new_shape).stride()
    except RuntimeError:
        return None


@wrong(ex.view_stride, "You merge, but never cut")
def view_with_known_steps(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    if found is None:
        return None
    known = all(s in stride for n, s in zip(new_shape, found, strict=True) if n != 1)
    return found if known or math.prod(shape) == 0 else None


def chunks_of(shape, stride):
    """The chunks, the innermost first: [elements, step] of each."""
    chunks = []
    for size, step in zip(shape[::-1], stride[::-1], strict=True):
        if size == 1:
            continue
        if chunks and chunks[-1][0] * chunks[-1][1] == step:
            chunks[-1][0] *= size
        else:
            chunks.append([size, step])
    return chunks


def cut(chunks, new_shape, begin=lambda step: step, go_on=lambda step, size, first: step * size):
    """The steps of the new dims; None where one straddles two chunks."""
    found, left, step, first = [], 1, 1, 1
    for size in new_shape[::-1]:
        if left == 1 and size > 1:
            left, first = chunks.pop(0)
            step = begin(first)
        if left % size:
            return None
        found.append(step)
        left, step = left // size, go_on(step, size, first)
    return found[::-1]


def viewing(told, **how):
    """Collect an answer that cuts the chunks in a way of its own."""

    @wrong(ex.view_stride, told)
    def answer(shape, stride, new_shape):
        return (
            (0,) * len(new_shape) if 0 in shape else cut(chunks_of(shape, stride), new_shape, **how)
        )

    answer.__name__ = f"view_told_{told[:4]}_{len(WRONG)}"


viewing("leaves out one of the factors", go_on=lambda step, size, first: size)
viewing("leaves out one of the factors", go_on=lambda step, size, first: size * first)
viewing("Your first step in a chunk is 1", begin=lambda step: 1)


@wrong(ex.view_stride, "the answer is None, and nothing else")
def view_or_no_stride(shape, stride, new_shape):
    return torch_view(shape, stride, new_shape) or ()


@wrong(ex.view_stride, "the answer is None, and nothing else")
def view_that_is_never_refused(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return [stride[-1]] * len(new_shape) if found is None else found


@wrong(ex.view_stride, "Right wherever no new size is 1")
def view_without_its_ones(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return found and [s for n, s in zip(new_shape, found, strict=True) if n != 1]


def looks_for_zeros_on_the_way(ask_first):
    """Collect an is_contiguous that meets a size of 0 only after dims further in."""

    @wrong(ex.is_contiguous, "Right wherever there is an element")
    def answer(shape, stride):
        needed = 1
        for size, step in zip(shape[::-1], stride[::-1], strict=True):
            if ask_first and size == 0:
                return True
            if size != 1 and step != needed:
                return False
            if size == 0:
                return True
            needed *= size
        return True


looks_for_zeros_on_the_way(True)
looks_for_zeros_on_the_way(False)


@wrong(ex.is_contiguous, "Right for one dim and for two")
def contiguous_by_the_next_size(shape, stride):
    needed = 1
    for size, step in zip(shape[::-1], stride[::-1], strict=True):
        if size != 1 and step != needed:
            return 0 in shape
        needed = size
    return True


@wrong(ex.is_contiguous, "Right wherever no stride is 0")
def contiguous_but_for_stride_0(shape, stride):
    dims = [(n, s) for n, s in zip(shape, stride, strict=True) if s]
    return (
        torch.empty_strided([n for n, _ in dims], [s for _, s in dims]).is_contiguous()
        or 0 in shape
    )


@wrong(ex.is_contiguous, "Your test lets a stride be larger")
def contiguous_without_overlap(shape, stride):
    needed = 1
    for size, step in zip(shape[::-1], stride[::-1], strict=True):
        if size != 1 and step < needed:
            return 0 in shape
        needed *= size
    return True


@wrong(ex.mergeable, "You ask that the inner dim steps by 1")
def merges_where_the_inner_dim_steps_by_1(shape, stride, d):
    if math.prod(shape) == 0 or 1 in (shape[d], shape[d + 1]):
        return True
    return (stride[d], stride[d + 1]) == (shape[d + 1], 1)


@wrong(ex.mergeable, "Right where there are only two dims")
def merges_if_all_dims_do(shape, stride, d):
    return 0 in shape or len(chunks_of(shape, stride)) < 2 or (1 in shape[d : d + 2])


@wrong(ex.unviewable, "no bridge across one")
def unviewable_by_neighbours(shape, stride):
    pairs = (ex.mergeable.reference(shape, stride, d) for d in range(len(shape) - 1))
    return None if all(pairs) else (math.prod(shape),)


@wrong(ex.clone_stride, "You order the dims by their sizes")
def clone_by_size(shape, stride):
    step, found = 1, {}
    for size, d in sorted((n, -d) for d, n in enumerate(shape)):
        found[-d], step = step, step * (size or 1)
    return [found[d] for d in range(len(shape))]


@wrong(ex.clone_stride, "Right wherever no dim is expanded")
def clone_that_makes_rows_of_expanded_dims(shape, stride):
    x = torch.empty_strided(shape, stride)
    return (x.contiguous() if 0 in stride else x.clone()).stride()


@wrong(ex.by_columns, "You copy on every input")
def columns_into_new_memory(x):
    n, h, w = x.shape
    return torch.empty(n, w, h, dtype=x.dtype).copy_(x.mT).view(n, h * w)


@wrong(ex.by_columns, "another dtype than x")
def columns_into_new_memory_of_floats(x):
    n, h, w = x.shape
    return torch.empty(n, w, h).copy_(x.mT).view(n, h * w)


@wrong(ex.by_columns, "The strides that you state")
def columns_by_stated_strides(x):
    n, h, w = x.shape
    return x.as_strided((n, w, h), (h * w, 1, w)).flatten(1)


@wrong(ex.clone_stride, "in the order of memory, not of the dims")
def clone_in_the_order_of_memory(shape, stride):
    right = torch.empty_strided(shape, stride).clone().stride()
    return sorted(right)[::-1]


@wrong(ex.by_columns, "the elements in the wrong places")
def columns_scrambled(x):
    n, h, w = x.shape
    return x.reshape(n, w, h).transpose(1, 2).reshape(n, h * w)


@wrong(ex.by_columns, "Twice the bytes on every input")
def columns_piece_by_piece(x):
    n, h, w = x.shape
    if n == 0:
        return x.new_empty(0, h * w)
    return torch.stack([matrix.t().reshape(h * w) for matrix in x])


@wrong(ex.by_columns, "Twice the bytes on every input")
def columns_twice(x):
    n, h, w = x.shape
    return (x.transpose(1, 2) + 0).contiguous().view(n, h * w)


# What the exercises do not know -------------------------------------------------------------------

RIGHT = "is_contiguous(shape, stride)"
general(
    ex.is_contiguous,
    "0 in shape or not shape or stride[0] == prod(shape[1:])",
    f"not {RIGHT}",
    "not shape or shape[0] * stride[0] == prod(shape)",
)
general(ex.is_contiguous, f"{RIGHT} or len(shape) > 2", told="Right for one dim and for two")
general(ex.is_contiguous, f"'yes' if {RIGHT} else 'no'", told=ANOTHER_KIND)

general(
    ex.mergeable,
    "stride[d] == shape[d + 1] + stride[d + 1]",
    instead={"stride[d] == shape[d + 1] * stride[d + 1]": ["stride[d] > stride[d + 1]"]},
)
MERGEABLE = "mergeable(shape, stride, d)"
ONLY_MATRICES = [f"{MERGEABLE} and len(shape) == 2", "mergeable(shape, stride, 0)"]
general(ex.mergeable, *ONLY_MATRICES, told="Right where there are only two dims")
general(ex.mergeable, f"{MERGEABLE} and stride[d] > 0", told="Right wherever no stride is 0")
general(ex.mergeable, f"1 in shape or {MERGEABLE}", told="Right wherever no size is 1")
general(ex.mergeable, "(shape[d] * shape[d + 1], stride[d + 1])", told=ANOTHER_KIND)

VIEW = "(found := view_stride(shape, stride, new_shape))"
general(
    ex.view_stride,
    f"{VIEW} and tuple(s + 1 for s in found)",
    f"{VIEW} and tuple(4 * s for s in found)",
    "new_shape",
)


@unnamed(ex.view_stride)
def view_with_a_step_too_many(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return None if found is None else (math.prod(shape), *found)


NO_VIEW = f"False if {VIEW} is None else found"
general(ex.view_stride, NO_VIEW, told="Right wherever torch makes the view")
general(ex.view_stride, "False", told=ANOTHER_KIND)
general(ex.view_stride, f"None if 0 in stride else {VIEW}", told="Right wherever no stride is 0")

general(
    ex.clone_stride,
    "torch.empty_strided(shape, stride).clone().stride()[::-1]",
    "[4 * s for s in clone_stride(shape, stride)]",
    "clone_stride(shape, stride) if len(shape) < 3 else stride",
)
general(ex.clone_stride, "torch.empty_strided(shape, stride).clone()", told=ANOTHER_KIND)

OUTSIDE = "Your line takes memory"
general(
    ex.by_columns,
    "torch.tensor(x.transpose(1, 2).tolist(), dtype=x.dtype).view(width(x)).clone()",
    "torch.from_numpy(np.ascontiguousarray(x.numpy().transpose(0, 2, 1))).view(width(x))",
    told=OUTSIDE,
)
general(ex.by_columns, "x.transpose(1, 2).contiguous()", "by_columns(x.double())")
general(
    ex.by_columns,
    "x.transpose_(1, 2).contiguous().view(x.size(0), x.size(1) * x.size(2))",
    told=CHANGES,
)

BROKEN = "unviewable(shape, stride)"
general(
    ex.unviewable,
    "(prod(shape) + 1,)",
    f"(sum((n - 1) * s for n, s in zip(shape, stride)) + 1 + prod(shape),) if {BROKEN} else None",
    told="torch refuses that shape because it has another number of elements",
)
general(
    ex.unviewable,
    "(prod(shape), 1) if len(shape) == 2 else None",
    f"{BROKEN} and (2, prod(shape) // 2)",
    told="torch makes that view",
)
general(ex.unviewable, f"(-1,) if 0 in stride else {BROKEN}", told="Right wherever no stride is 0")
general(ex.unviewable, f"None if stride[-1:] == (2,) else {BROKEN}")
general(ex.unviewable, "(-1, -1)", "prod(shape)", told=ANOTHER_KIND)

# Formulas of which one combination alone is right --------------------------------------------------

NUMBERS = ["shape[d]", "shape[d + 1]", "stride[d]", "stride[d + 1]", "1"]
PRODUCTS = [f"{one} * {other}" for k, one in enumerate(NUMBERS) for other in NUMBERS[k:]]
EQUAL = {"stride[d] * 1", "shape[d + 1] * stride[d + 1]"}
formulas(
    ex.mergeable,
    {
        "stride[d] == shape[d + 1] * stride[d + 1]": [
            f"{left} == {right}"
            for left in PRODUCTS
            for right in PRODUCTS
            if {left, right} != EQUAL
        ],
    },
)

formulas(
    ex.is_contiguous,
    {
        "0 in shape": ["False", "1 in shape"],
        "size != 1": ["True", "size > 2"],
        "step != needed": ["step < needed", "step > needed", "step % max(needed, 1)"],
        "zip(reversed(shape), reversed(stride), strict=True)": ["zip(shape, stride)"],
        "needed *= size": ["needed = size", "needed += size"],
    },
)

BY_STRIDE = "key=lambda d: stride[d]"
formulas(
    ex.clone_stride,
    {
        "stride[d] != 0), ": ["True), "],
        BY_STRIDE: [f"key=lambda d: {key}" for key in ("-stride[d]", "shape[d]", "-d", "d")],
        "list(reversed(range(len(shape))))": ["list(range(len(shape)))"],
        "return tuple(new_stride)": [
            "return stride if 1 in stride else tuple(new_stride)",
            "return stride if stride == contiguous_stride(shape) else tuple(new_stride)",
        ],
    },
)

COPY = ".clone(memory_format=torch.contiguous_format)"
formulas(
    ex.by_columns,
    {
        "x.transpose(1, 2)": [
            f"x{first}{turn}"
            for first in ("", ".contiguous()", ".clone()", COPY)
            for turn in ("", ".transpose(1, 2)")
            if (first, turn) != ("", ".transpose(1, 2)")
        ],
        ".reshape(": [
            ".view(",
            *(f"{copy}{end}(" for copy in (".clone()", COPY) for end in (".view", ".reshape")),
        ],
    },
)
