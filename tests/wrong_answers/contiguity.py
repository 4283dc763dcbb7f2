"""Wrong answers to the exercises of notebook 03."""

import math

import torch

from stridekit.exercises import contiguity as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, formulas, general, unnamed, wrong

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
    f"{RIGHT} or len(shape) > 2",
    f"not {RIGHT}",
    "not shape or shape[0] * stride[0] == prod(shape)",
)
general(
    ex.is_contiguous,
    f"'yes' if {RIGHT} else 'no'",
    told=ANOTHER_KIND,
)

general(
    ex.mergeable,
    "mergeable(shape, stride, 0)",
    "mergeable(shape, stride, d) and len(shape) == 2",
    "mergeable(shape, stride, d) and stride[d] > 0",
    "stride[d] == shape[d + 1] + stride[d + 1]",
    instead={
        "0 in shape or shape[d] == 1 or shape[d + 1] == 1": ["0 in shape or 1 in shape"],
        "stride[d] == shape[d + 1] * stride[d + 1]": ["stride[d] > stride[d + 1]"],
    },
)
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


general(ex.view_stride, f"{VIEW} or False", told=ANOTHER_KIND)

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
    f"(-1,) if 0 in stride or {BROKEN} else None",
)
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
        ".contiguous().view(": [
            f"{second}{end}(" for second in ("", ".clone()", COPY) for end in (".view", ".reshape")
        ],
    },
)
