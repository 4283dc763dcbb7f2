"""Wrong answers to the exercises of notebook 05."""

from itertools import product

import numpy as np

from stridekit import Layout, traffic
from stridekit.exercises import performance as ex
from stridekit.exercises.mistakes import Formula
from stridekit.exercises.performance.timer import QUARTILE, SAMPLE
from tests.wrong_answers.collecting import ANOTHER_KIND, formulas, general, unnamed, wrong

STOPS = "Your function stops on this input."

# What the exercises do not know -------------------------------------------------------------------

ONE_SAMPLE = f"{SAMPLE}\n        samples.append(queue.clock() - start)"
general(
    ex.time_it,
    "time_it(queue, repeats) + 1",
    instead={
        QUARTILE: [
            "max(samples) + 1",
            "sorted(samples)[min(1, repeats - 1)] + (repeats > 4)",
        ],
    },
)


def timing(warm_ups=1, pieces=1, parts=1, clock=None):
    """The answer that warms up and takes samples in this way, without another mistake."""

    def time_it(queue, repeats):
        read = clock or queue.clock
        for _ in range(warm_ups):
            queue.work()
        queue.synchronize()
        samples = []
        for _ in range(repeats):
            start = read()
            for _ in range(pieces):
                queue.work()
            queue.synchronize()
            samples.append((read() - start) / parts)
        return sorted(samples)[repeats // 4]

    return time_it


SEVERAL = "always ask for more than one piece"
for asked, parts in ((2, 1), (2, 2), (10, 10)):
    wrong(ex.time_it, SEVERAL)(timing(3, asked, parts))


@wrong(ex.time_it, "still in the queue: `work()` only asks")
def waits_at_the_wrong_end(queue, repeats):
    for _ in range(3):
        queue.work()
    samples = []
    for _ in range(repeats):
        queue.synchronize()
        start = queue.clock()
        queue.work()
        samples.append(queue.clock() - start)
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "At your first reading of the clock there is still work")
def warms_up_three_times_and_does_not_wait(queue, repeats):
    for _ in range(3):
        queue.work()
    samples = []
    for _ in range(repeats):
        start = queue.clock()
        queue.work()
        queue.synchronize()
        samples.append(queue.clock() - start)
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "with the warm-up among them")
def drops_the_largest(queue, repeats):
    """Often that is the first piece, but not always."""
    samples = []
    for _ in range(repeats + 1):
        start = queue.clock()
        queue.work()
        queue.synchronize()
        samples.append(queue.clock() - start)
    samples.remove(max(samples))
    return sorted(samples)[repeats // 4]


general(ex.time_it, "[time_it(queue, 1) for _ in range(repeats)]", told=ANOTHER_KIND)


@unnamed(ex.time_it, STOPS)
def time_until_it_is_long_enough(queue, repeats):
    start = queue.clock()
    while queue.clock() < start + 1000:
        pass


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
    ex.warp_sectors,
    "max(1, warp_sectors(stride, offset, itemsize) - 1)",
    "stride * itemsize",
    instead={"range(32)": ["range(30)"], "// 32": ["// 16"]},
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

formulas(
    ex.time_it,
    {
        ONE_SAMPLE: [
            "queue.work(); samples.append(queue.clock() - start)",
            "queue.work(); samples.append(queue.clock() - start); queue.synchronize()",
            "queue.synchronize(); queue.work(); samples.append(queue.clock() - start)",
        ],
        QUARTILE: [
            "max(samples)",
            "samples[0]",
            "samples[-1]",
            "sorted(samples)[min(repeats // 4 + 1, repeats - 1)]",
            "sorted(samples)[max(repeats // 4 - 1, 0)]",
        ],
    },
)

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

STARTS = ["0", "offset", "offset * itemsize"]
STEPS = ["stride", "4 * stride", "itemsize * stride"]
BYTES = [f"({start} + lane * {step})" for start, step in product(STARTS, STEPS)]
formulas(
    ex.warp_sectors,
    {
        "(offset + lane * stride) * itemsize": [
            *BYTES[:-1],
            *(f"({byte} + itemsize)" for byte in BYTES),
        ],
        "// 32": ["// 16"],
        "range(32)": [f"range({lanes})" for lanes in (16, 31, 33, 64)],
        "len(": [HULL],
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
