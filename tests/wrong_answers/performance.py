"""Wrong answers to the exercises of notebook 05."""

from itertools import product

import numpy as np

from stridekit import Layout, traffic
from stridekit.exercises import performance as ex
from stridekit.exercises.mistakes import Formula
from tests.wrong_answers.collecting import ANOTHER_KIND, formulas, general, unnamed, wrong

STOPS = "Your function stops on this input."

# What the exercises do not know -------------------------------------------------------------------

general(
    ex.cache_lines,
    "1 + cache_lines(shape, stride, offset, itemsize)",
    "min(prod(shape), 1 + cache_lines(shape, stride, offset, itemsize))",
    "prod(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
    instead={
        "64": ["16"],
        "stride": ["stride[::-1]"],
        "element * itemsize // 64": ["-(-element * itemsize // 64)"],
    },
)
general(ex.cache_lines, instead={"lines = set()": ["n, m = shape; lines = set()"]}, told=STOPS)

# Sectors of 32 bytes: as many as lines of 64 where each element is twice as large.
SECTORS = "cache_lines(t.shape, t.stride(), t.storage_offset(), 2 * t.itemsize)"
# A partly written line may be counted as read, too: all of them or none, and no others.
general(
    ex.bytes_moved,
    f"32 * sum({SECTORS} for t in (x, y, out))",
    "bytes_moved(x, y, out) + 64 * (out.nbytes % 64 > 0)",
    "bytes_moved(x, y, out) + 64 * len(bytes_by_line(out)) * (not out.is_contiguous())",
    "bytes_moved(x, y, out) + 64",
)


def lines_of(t):
    """The numbers of the lines that a tensor touches."""
    places = [t.storage_offset() + np.dot(index, t.stride()) for index in np.ndindex(*t.shape)]
    return {place * t.itemsize // 64 for place in places}


@wrong(ex.bytes_moved, "because they have the same number")
def traffic_of_layouts_on_one_storage(x, y, out):
    return traffic((Layout.of(x), Layout.of(y)), Layout.of(out)).moved


@unnamed(ex.bytes_moved)
def bytes_of_hulls(x, y, out):
    hulls = [max(found) - min(found) + 1 for found in map(lines_of, (x, y, out)) if found]
    return 64 * sum(hulls)


general(
    ex.break_even,
    "0 if t.is_contiguous() else t.itemsize + 0.5",
    instead={"return math.ceil(": ["return before + after + math.ceil("]},
)


def wrong_about_a_case(condition, *answers):
    """Collect answers to `break_even` that are wrong only where a condition on t holds."""
    formula = Formula(ex.break_even.reference)
    words = ex.break_even.only[condition]
    for answer in answers:
        source = f"({answer}) if {condition} else break_even(t)"
        wrong(ex.break_even, words)(formula.answering(source))


wrong_about_a_case(
    "break_even(t) == math.inf", "10**6", "-math.inf", "'never'", "False", "t.numel()"
)
wrong_about_a_case("t.is_contiguous()", "1", "None", "math.inf", "-1")
wrong(ex.break_even, "Right for small n")(
    Formula(ex.break_even.reference).answering("n if (n := break_even(t)) < 90 else math.inf")
)
wrong(ex.break_even, "that no copy ever pays back")(
    Formula(ex.break_even.reference).answering("with_lines(t, t.nbytes, t.nbytes)")
)
wrong(ex.break_even, "Right wherever the copy pays back")(
    Formula(ex.break_even.reference).with_pieces({"after >= before": "after == before"})
)


general(
    ex.cheapest_first,
    "list(expressions)",
    "list(expressions)[::-1]",
    "sorted(expressions)",
    "sorted(expressions, key=lambda name: (-expressions[name].ndim, name))",
)
general(
    ex.cheapest_first,
    *("sorted(expressions)[:3]", "set(expressions)", "frozenset(expressions)", "7", "'abcd'"),
    *("[*expressions.values()]", "[*expressions.items()]", "sorted(expressions)[0]"),
    told=ANOTHER_KIND,
)

BY_COST = "sorted(cheapest_first(expressions), key=lambda name: (cost(expressions[name]), {}))"
for tie in ("name", "expressions[name].numel()", "-list(expressions).index(name)"):
    wrong(ex.cheapest_first, "Right wherever no two move equally many lines")(
        Formula(ex.cheapest_first.reference).answering(BY_COST.format(tie))
    )


@wrong(ex.cheapest_first, "Right wherever no two move equally many lines")
def names_by_cost_in_a_dict(expressions):
    costs = {traffic((v, v + 1)).moved: name for name, v in expressions.items()}
    return [costs[cost] for cost in sorted(costs)]


@wrong(ex.cheapest_first, "You lose where in its line a tensor starts")
def offsets_in_bytes(expressions):
    def lines(name):
        v = expressions[name]
        start = v.storage_offset() * v.itemsize
        return traffic((Layout(v.shape, v.stride(), start, v.itemsize), v + 1)).moved

    return sorted(expressions, key=lines)


# Formulas of which one combination alone is right --------------------------------------------------


HULL = "(lambda found: max(found) - min(found) + 1 if found else 0)("
formulas(
    ex.cache_lines,
    {
        "stride": ["shape", "stride[::-1]"],
        "itemsize": ["8"],
        "64": ["16", "32", "128"],
        "len(": [HULL, "prod(shape) + 0 * len("],
    },
)


WEIGHTS = product((0, 1, 2), repeat=3)
formulas(
    ex.bytes_moved,
    {
        "(x, y, out)": [
            f"(x,) * {a} + (y,) * {b} + (out,) * {c}"
            for a, b, c in WEIGHTS
            if (a, b, c) != (1, 1, 1)
        ],
        "t.stride()": ["row_major(t.shape)"],
    },
)

COSTS = product((0, 1, 2), repeat=2)
formulas(
    ex.break_even,
    {
        "before + after": [f"{a} * before + {b} * after" for a, b in COSTS if (a, b) != (1, 1)],
        "return math.ceil(": [
            "return round(",
            "return 1 + math.floor(",
        ],
        "math.inf": ["0", "-1"],
    },
)

formulas(
    ex.cheapest_first,
    {
        "cache_lines(v.shape, v.stride(), v.storage_offset(), v.itemsize)": [
            "cache_lines(v.shape, v.stride(), 0, v.itemsize)",
            "cache_lines(v.shape, v.stride(), v.storage_offset(), 4)",
            "v.nbytes / 64",
            "v.numel()",
            "v.untyped_storage().nbytes() / 64",
            "0",
        ],
        "math.ceil(v.numel() * v.itemsize / 64)": [
            "read",
            "v.numel()",
            "v.untyped_storage().nbytes() / 64",
            "0",
        ],
        "key=lines": ["key=lambda name: -lines(name)"],
    },
)
