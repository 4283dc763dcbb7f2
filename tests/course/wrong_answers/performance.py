"""Wrong answers to the exercises of notebook 05."""

from stridekit import Layout, traffic
from stridekit.exercises import performance as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, GENERAL, STOPS, refused

refused(
    ex.cache_lines,
    {
        GENERAL: [
            "prod(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
            "element * itemsize // 64 => -(-element * itemsize // 64)",
        ],
        STOPS: ["lines = set() => n, m = shape; lines = set()"],
    },
)


# A partly written line may be counted as read, too: all of them or none, and no others.
refused(
    ex.bytes_moved,
    {
        "because they have the same number": [
            lambda x, y, out: traffic((Layout.of(x), Layout.of(y)), Layout.of(out)).moved
        ],
        GENERAL: [
            "bytes_moved(x, y, out) + 64 * (out.nbytes % 64 > 0)",
            "bytes_moved(x, y, out) + 64 * len(bytes_by_line(out)) * (not out.is_contiguous())",
        ],
    },
)

NEVER = "break_even(t) == math.inf"
FREE = "t.is_contiguous()"
refused(
    ex.break_even,
    {
        "Right for small n": ["n if (n := break_even(t)) < 90 else math.inf"],
        "that no copy ever pays back": ["0 if t.is_contiguous() else max(math.inf, t.nbytes)"],
        ex.break_even.only[NEVER]: [
            "after >= before => after == before",
            *(
                f"({answer}) if {NEVER} else break_even(t)"
                for answer in ("10**6", "-math.inf", "'never'")
            ),
        ],
        ex.break_even.only[FREE]: [
            *(f"({answer}) if {FREE} else break_even(t)" for answer in ("1", "None", "math.inf"))
        ],
        GENERAL: ["return math.ceil( => return before + after + math.ceil("],
    },
)


BY_COST = "sorted(cheapest_first(expressions), key=lambda name: (cost(expressions[name]), {}))"
refused(
    ex.cheapest_first,
    {
        "Right wherever no two move equally many lines": [
            BY_COST.format("name"),
            BY_COST.format("expressions[name].numel()"),
            "(lambda names: [names[k] for k in sorted(names)])"
            "({cost(v): k for k, v in expressions.items()})",
        ],
        "You lose where in its line a tensor starts": [
            "v.storage_offset() => v.storage_offset() * v.itemsize"
        ],
        GENERAL: ["list(expressions)[::-1]"],
        ANOTHER_KIND: [
            "sorted(expressions)[:3]",
            "set(expressions)",
            "frozenset(expressions)",
            "'abcd'",
            "[*expressions.values()]",
        ],
    },
)
