"""Wrong answers to the exercises of notebook 04."""

import math
from itertools import combinations, permutations

import torch

from stridekit.exercises import channels_last as ex
from stridekit.exercises.mistakes import Formula
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, formulas, general, wrong

# Mistakes that the exercises know, made in a way of one's own -----------------------------------


def told(exercise, words, *expressions):
    """Collect answers in a line, with words of the hint that each should get."""
    for source in expressions:
        wrong(exercise, words)(Formula(exercise.reference).answering(source))


told(
    ex.channels_last_stride,
    "as bytes would be",
    "[torch.empty(shape, memory_format=torch.channels_last).stride(d) * 4 for d in range(4)]",
)
told(
    ex.channels_last_stride,
    "in which the dims lie in memory",
    "[shape[3] * s for s in (shape[2] * shape[1], shape[1])] + [shape[1], 1]",
)
told(
    ex.channels_last_view,
    "Every value is at its index, but in new memory",
    "torch.stack(images.unbind(-1), 1)",
    "torch.from_numpy(np.ascontiguousarray(images.numpy().transpose(0, 3, 1, 2)))",
    "torch.empty(nchw(images), dtype=images.dtype).copy_(images.permute(0, 3, 1, 2))",
)
told(
    ex.channels_last_view,
    "on other memory: that is a copy",
    "torch.tensor(images.tolist(), dtype=images.dtype).movedim(-1, 1)",
    "torch.cat([one[:, None] for one in images.unbind(-1)], 1).clone()"
    ".contiguous(memory_format=torch.channels_last)",
)
told(
    ex.channels_last_view,
    "takes the second dim, H, for the channels",
    "torch.empty_like(images, memory_format=torch.channels_last).copy_(images)",
)
told(
    ex.formats,
    "Where none does, you answer None",
    "formats(shape, stride) if formats(shape, stride) else print(end='')",
)
told(
    ex.uses_to_pay_back,
    "Nothing limits n",
    *(
        f"next((n for n in range({most}) if convert + n * after <= n * before), math.inf)"
        for most in (200, 10_000, 1_000_000)
    ),
)
told(
    ex.uses_to_pay_back,
    "takes no notice of what converting costs",
    "0 if convert == 0 else math.inf if after >= before else math.ceil((before - after) / 1000)",
)


@wrong(ex.formats, "A tensor is empty where any of its sizes is 0")
def empty_by_its_batch(shape, stride):
    found = [] if shape[0] else ["contiguous_format"]
    for name, order in (("contiguous_format", (3, 2, 1, 0)), ("channels_last", (1, 3, 2, 0))):
        needed = {d: math.prod(shape[e] for e in order[:k]) for k, d in enumerate(order)}
        if all(stride[d] == needed[d] or shape[d] == 1 for d in order):
            found.append(name)
    return found


@wrong(ex.first_to_lose, "One too many")
def asked_before_it_runs(layers, x):
    for k, layer in enumerate(layers):
        if not x.is_contiguous(memory_format=torch.channels_last):
            return k
        x = layer(x)
    return len(layers)


@wrong(ex.first_to_lose, "You only look at what comes out at the end")
def asked_at_the_end(layers, x):
    k = 0
    for k, layer in enumerate(layers):  # noqa: B007
        x = layer(x)
    return len(layers) if x.is_contiguous(memory_format=torch.channels_last) else k


@wrong(ex.first_to_lose, "Where none does, answer `len(layers)`")
def nothing_at_the_end(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=torch.channels_last):
            return k
    return print(end="")


@wrong(ex.first_to_lose, "You convert what one layer returns")
def converted_in_between(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=torch.channels_last):
            return k
        x = x.to(memory_format=torch.channels_last)
    return len(layers)


@wrong(ex.flatten_images, "`view` never copies, so it raises")
def rows_by_view(x):
    return x.view(x.size(0), x.size(1) * x.size(2) * x.size(3))


@wrong(ex.flatten_images, "One copy too many")
def rows_with_a_copy_thrown_away(x):
    x.clone()
    return x.flatten(1)


# What the exercises do not know -------------------------------------------------------------------

general(
    ex.channels_last_stride,
    "(60, 1, 15, 3)",
    "channels_last_stride(shape)[1:]",
    instead={"_, c, h, w = shape": ["_, c, h, _ = shape; w = h"]},
)

general(ex.channels_last_view, "images.transpose_(1, 3).transpose_(2, 3)", told=CHANGES)
general(ex.channels_last_view, "images.numpy().transpose(0, 3, 1, 2)", told=ANOTHER_KIND)
VIEW = "channels_last_view(images)"
general(
    ex.channels_last_view,
    f"{VIEW}[:2]",
    f"{VIEW}.flip(2)",
    f"{VIEW}.float()",
    f"images.as_strided({VIEW}.shape, {VIEW}.stride(), 0)",
)

TENSOR = "torch.empty_strided(shape, stride)"
general(
    ex.formats,
    "{'contiguous_format', 'channels_last'}",
    "set()",
    f"{{NAMES[(t := {TENSOR}).to(memory_format=torch.channels_last) is t]}}",
)
general(
    ex.formats,
    f"[(t := {TENSOR}).is_contiguous(), t.is_contiguous(memory_format=torch.channels_last)]",
    "'both'",
    told=ANOTHER_KIND,
)

LOST = "not x.is_contiguous(memory_format=torch.channels_last)"
general(
    ex.first_to_lose,
    "0",
    "len(layers)",
    instead={LOST: ["x.dim_order(ambiguity_check=True) != (0, 2, 3, 1)"]},
)
general(ex.first_to_lose, instead={"return k": ["return layer"]}, told=ANOTHER_KIND)

ROWS = "flatten_images(x)"
general(
    ex.flatten_images,
    "x.flatten(2)",
    f"{ROWS}.double()",
    f"{ROWS}.flip(0)",
    f"(x.clone().clone(), {ROWS})[1]",
)
general(
    ex.flatten_images,
    "torch.from_numpy(x.numpy().reshape(len(x), math.prod(x.shape[1:])).copy())",
    told="Your line takes memory that no operation of torch made",
)
general(ex.flatten_images, f"{ROWS}.tolist()", f"{ROWS}.numpy()", told=ANOTHER_KIND)

general(
    ex.uses_to_pay_back,
    "10",
    "before / after if after else 1",
    "math.ceil(convert * (before - after))",
    "uses_to_pay_back(round(convert), before, after)",
)
general(ex.uses_to_pay_back, "'never'", "before > after", told=ANOTHER_KIND)

# Formulas of which one combination alone is right --------------------------------------------------


def product_of(sizes):
    """The product of some sizes, as source."""
    return " * ".join(sizes) or "1"


def stride_of(inside):
    """The stride whose steps skip these sizes, as source."""
    return "(" + ", ".join(map(product_of, inside)) + ")"


SIZES = ("shape[0]", "c", "h", "w")
STEPS = [("h", "w", "c"), (), ("w", "c"), ("c",)]
SKIPPED = [sizes for k in range(4) for sizes in combinations(SIZES, k)]
ANOTHER_STEP = [
    [*STEPS[:d], sizes, *STEPS[d + 1 :]]
    for d, right in enumerate(STEPS)
    for sizes in SKIPPED
    if {*sizes} != {*right}
]
ANOTHER_WALK = [
    [order[: order.index(size)] for size in SIZES]
    for order in permutations(SIZES)
    if order != ("c", "w", "h", "shape[0]")
]
formulas(
    ex.channels_last_stride,
    {"(h * w * c, 1, w * c, c)": [stride_of(inside) for inside in ANOTHER_STEP + ANOTHER_WALK]},
)


def other_orders(*right):
    """The four dims in every order but this one."""
    return [str(order) for order in permutations(range(4)) if order != right]


formulas(ex.channels_last_view, {"(0, 3, 1, 2)": other_orders(0, 3, 1, 2)})
formulas(ex.formats, {"(3, 2, 1, 0)": other_orders(3, 2, 1, 0)})
formulas(ex.formats, {"(1, 3, 2, 0)": other_orders(1, 3, 2, 0)})
formulas(
    ex.formats,
    {
        "stride[d] == needed": [
            f"(stride[d] == needed or (name, d) == ({name!r}, {unasked}))"
            for name in ("contiguous_format", "channels_last")
            for unasked in range(4)
        ],
    },
)

FLAG = "x.is_contiguous(memory_format=torch.channels_last)"
formulas(
    ex.first_to_lose,
    {
        FLAG: [
            "(x.ndim == 4)",
            "(x.ndim == 4 and x.stride(1) == min(x.stride()))",
            "(x.ndim == 4 and x.stride() == torch.empty_like(x).stride())",
            f"(x.ndim == 4 and ({FLAG} or x.to(memory_format=torch.channels_last) is x))",
            f"({FLAG} and not x.is_contiguous())",
        ],
    },
)
formulas(
    ex.uses_to_pay_back,
    {
        "math.ceil(": ["(lambda q: q // 1 + 1)("],
        "(before - after)": ["after", "(before + after)"],
        "return 0": ["return 1"],
    },
)
