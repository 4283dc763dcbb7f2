"""Wrong answers to the exercises of notebook 05."""

import numpy as np

from stridekit import Layout, traffic
from stridekit.exercises import performance as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, GENERAL, STOPS, refused

refused(ex.cache_lines, {
    GENERAL: [
        "min(prod(shape), 1 + cache_lines(shape, stride, offset, itemsize))",
        "prod(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
        "stride => stride[::-1]",
        "element * itemsize // 64 => -(-element * itemsize // 64)",
    ],
    STOPS: ["lines = set() => n, m = shape; lines = set()"],
})  # fmt: skip


def hull(t):
    """The lines from the first that a tensor touches to the last."""
    places = [t.storage_offset() + np.dot(index, t.stride()) for index in np.ndindex(*t.shape)]
    lines = [place * t.itemsize // 64 for place in places]
    return max(lines) - min(lines) + 1 if lines else 0


# Sectors of 32 bytes: as many as lines of 64 where each element is twice as large.
SECTORS = "cache_lines(t.shape, t.stride(), t.storage_offset(), 2 * t.itemsize)"
# A partly written line may be counted as read, too: all of them or none, and no others.
refused(ex.bytes_moved, {
    "because they have the same number": [
        lambda x, y, out: traffic((Layout.of(x), Layout.of(y)), Layout.of(out)).moved],
    GENERAL: [
        f"32 * sum({SECTORS} for t in (x, y, out))",
        "bytes_moved(x, y, out) + 64 * (out.nbytes % 64 > 0)",
        "bytes_moved(x, y, out) + 64 * len(bytes_by_line(out)) * (not out.is_contiguous())",
        "bytes_moved(x, y, out) + 64",
        lambda x, y, out: 64 * sum(map(hull, (x, y, out))),
    ],
})  # fmt: skip

NEVER, FREE = "break_even(t) == math.inf", "t.is_contiguous()"
refused(ex.break_even, {
    "Right for small n": ["n if (n := break_even(t)) < 90 else math.inf"],
    "that no copy ever pays back": ["0 if t.is_contiguous() else max(math.inf, t.nbytes)"],
    ex.break_even.only[NEVER]: [
        "after >= before => after == before",
        *(f"({answer}) if {NEVER} else break_even(t)" for answer in ("10**6", "-math.inf", "'never'")),
    ],
    ex.break_even.only[FREE]: [
        *(f"({answer}) if {FREE} else break_even(t)" for answer in ("1", "None", "math.inf"))],
    GENERAL: ["return math.ceil( => return before + after + math.ceil("],
})  # fmt: skip


BY_COST = "sorted(cheapest_first(expressions), key=lambda name: (cost(expressions[name]), {}))"
refused(ex.cheapest_first, {
    "Right wherever no two move equally many lines": [
        BY_COST.format("name"),
        BY_COST.format("expressions[name].numel()"),
        "(lambda names: [names[k] for k in sorted(names)])({cost(v): k for k, v in expressions.items()})",
    ],
    "You lose where in its line a tensor starts": ["v.storage_offset() => v.storage_offset() * v.itemsize"],
    GENERAL: ["list(expressions)[::-1]"],
    ANOTHER_KIND: ["sorted(expressions)[:3]", "set(expressions)", "frozenset(expressions)", "'abcd'",
                   "[*expressions.values()]"],
})  # fmt: skip
