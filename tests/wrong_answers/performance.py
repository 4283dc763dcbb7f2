"""Wrong answers to the exercises of notebook 05."""

from itertools import product

import numpy as np

from stridekit.exercises import performance as ex
from stridekit.exercises.performance.timer import QUARTILE, SAMPLE
from tests.wrong_answers.collecting import ANOTHER_KIND, formulas, general, unnamed

STOPS = "Your function stops on this input."

# What the exercises do not know -------------------------------------------------------------------

ONE_SAMPLE = f"{SAMPLE}\n        samples.append(queue.clock() - start)"
TWO_AT_ONCE = ONE_SAMPLE.replace("queue.work()", "queue.work(); queue.work()").replace(
    "queue.clock() - start", "(queue.clock() - start) / 2"
)
general(
    ex.time_it,
    "time_it(queue, repeats) - 1",
    instead={
        ONE_SAMPLE: [TWO_AT_ONCE],
        QUARTILE: [
            "max(samples) + 1",
            "sorted(samples)[min(1, repeats - 1)] + (repeats > 4)",
        ],
    },
)
general(ex.time_it, "[time_it(queue, 1) for _ in range(repeats)]", told=ANOTHER_KIND)


@unnamed(ex.time_it, STOPS)
def time_until_it_is_long_enough(queue, repeats):
    start = queue.clock()
    while queue.clock() < start + 1000:
        pass


general(
    ex.cache_lines,
    "64 * cache_lines(shape, stride, offset, itemsize)",
    "1 + cache_lines(shape, stride, offset, itemsize)",
    instead={
        "64": ["128", "32"],
        "stride": ["stride[::-1]"],
        "element * itemsize // 64": ["-(-element * itemsize // 64)"],
    },
)
general(ex.cache_lines, instead={"lines = set()": ["n, m = shape; lines = set()"]}, told=STOPS)

# Sectors of 32 bytes: as many as lines of 64 where each element is twice as large.
SECTORS = "cache_lines(t.shape, t.stride(), t.storage_offset(), 2 * t.itemsize)"
general(
    ex.bytes_moved,
    f"32 * sum({SECTORS} for t in (x, y, out))",
    instead={"(x, y, out)": ["(x, y, out, out)"]},
)


def lines_of(t):
    """The numbers of the lines that a tensor touches."""
    places = [t.storage_offset() + np.dot(index, t.stride()) for index in np.ndindex(*t.shape)]
    return {place * t.itemsize // 64 for place in places}


@unnamed(ex.bytes_moved)
def bytes_as_if_on_one_storage(x, y, out):
    return 64 * len(lines_of(x) | lines_of(y) | lines_of(out))


@unnamed(ex.bytes_moved)
def bytes_of_hulls(x, y, out):
    hulls = [max(found) - min(found) + 1 for found in map(lines_of, (x, y, out)) if found]
    return 64 * sum(hulls)


general(
    ex.break_even,
    "0 if t.is_contiguous() else t.itemsize",
    instead={
        "return math.ceil(": ["return before + after + math.ceil("],
        "before + after": ["2 * before + after"],
    },
)

general(ex.warp_sectors, instead={"range(32)": ["range(33)"], "// 32": ["// 16"]})

general(
    ex.cheapest_first,
    "list(expressions)",
    "list(expressions)[::-1]",
    "sorted(expressions, key=lambda name: (-expressions[name].ndim, name))",
)
general(ex.cheapest_first, "sorted(expressions)[:3]", "set(expressions)", "7", told=ANOTHER_KIND)

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
