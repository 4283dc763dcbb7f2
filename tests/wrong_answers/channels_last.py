"""Wrong answers to the exercises of notebook 04."""

from itertools import combinations, permutations

from stridekit.exercises import channels_last as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, formulas, general, wrong

# Mistakes that the exercises know, made in a way of one's own -----------------------------------


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
    "[4 * s for s in channels_last_stride(shape)]",
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
general(
    ex.first_to_lose,
    instead={"return len(layers)": ["return None"]},
    told="Your function runs to its end and returns None",
)

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
    told="Your rows stand in memory that no operation of torch made",
)
general(ex.flatten_images, f"{ROWS}.tolist()", f"{ROWS}.numpy()", told=ANOTHER_KIND)

general(
    ex.uses_to_pay_back,
    "10",
    "before / after if after else 1",
    "next((n for n in range(100) if convert + n * after <= n * before), math.inf)",
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
