"""Wrong answers to the exercises of notebook 05."""

from math import prod

from stridekit import Layout, traffic
from stridekit.exercises import performance as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, GENERAL, STOPS, refused

refused(
    ex.cache_lines,
    {
        "You multiply the lines of one row by the number of rows": [
            lambda shape, stride, offset, itemsize: (
                prod(shape[:-1])
                * ex.cache_lines.reference(shape[-1:], stride[-1:], offset, itemsize)
            )
        ],
        "You count the lines of one row": [
            "element = offset + sum(i * s for i, s in zip(index, stride, strict=True)) => "
            "element = offset + sum(i * s for i, s in [*zip(index, stride, strict=True)][-1:])"
        ],
        "You count lines for each dim by itself": [
            "prod(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
            "sum(cache_lines((n,), (s,), offset, itemsize) for n, s in zip(shape, stride))",
        ],
        "the first byte after an element": [
            "lines.add(element * itemsize // 64) => "
            "lines |= {byte // 64 for byte in (element * itemsize, (element + 1) * itemsize)}"
        ],
        "You round the number of the line": [
            "element * itemsize // 64 => ceil(element * itemsize / 64)"
        ],
        "You leave out the last index": [
            "np.ndindex(*shape) => np.ndindex(*[max(n - 1, 0) for n in shape])"
        ],
        "You count every line from the start of the storage": [
            "return len(lines) => return max(lines) + 1 if lines else 1"
        ],
        "You count bytes": [
            "lines.add(element * itemsize // 64) => "
            "start = element * itemsize; lines |= {*range(start, start + itemsize)}"
        ],
        "You go along the first dim alone": [
            "np.ndindex(*shape) => [(i,) for i in range(shape[0])] && stride, strict=True => stride"
        ],
        "the stride of another dim": [
            "zip(index, stride, strict=True) => zip(index[::-1], stride, strict=True)"
        ],
        "You work with the last stride alone": [
            "-(-prod(shape) * min(64, stride[-1] * itemsize) // 64) if stride else 1"
        ],
        "You divide the bytes of all elements": ["prod(shape) * itemsize / 64"],
        "You count the lines of elements that lie close together": [
            "-(-prod(shape) * itemsize // 64)"
        ],
        "every line from the first element to the last": [
            "-(-sum(n * s for n, s in zip(shape, stride)) * itemsize // 64)"
        ],
        GENERAL: ["cache_lines(shape, stride, offset, itemsize) + len(shape)"],
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
        "You multiply lines by the bytes of an element": ["64 * lines => lines * x.itemsize"],
        "You count 4 bytes for each element": ["sum(4 * t.numel() for t in (x, y, out))"],
        "You count the bytes of the elements": [
            "-(-(x.nbytes + y.nbytes + out.nbytes) // 64) * 64",
        ],
        "only the bytes of the elements of out": [
            "bytes_moved(x, y, out[:0]) + out.numel() * out.itemsize"
        ],
        "That is the number of elements": ["3 * out.numel()"],
        "That is twice the right number": ["64 * lines => 128 * lines"],
        "You count 64 bytes for each byte": ["sum(t.nbytes for t in (x, y, out)) * 64"],
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
        "the number of lines that one use saves": [
            "math.ceil((before + after) / (before - after)) => math.floor(before - after)"
        ],
        "You answer 0 for a tensor with one dim": ["t.is_contiguous() => len(t.shape) <= 1"],
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
        "You sort by the stride": [
            lambda expressions: sorted(expressions, key=lambda name: expressions[name].stride())
        ],
        "You sort by the number of dims": [
            lambda expressions: sorted(expressions, key=lambda name: len(expressions[name].shape))
        ],
        "You round down the lines of the result": [
            "math.ceil(v.numel() * v.itemsize / 64) => v.numel() * v.itemsize // 64 + 1"
        ],
        "You count a part of a line": [
            "read + math.ceil(v.numel() * v.itemsize / 64) => 64 * read + v.nbytes"
        ],
        "You add elements to lines": [
            "read + math.ceil(v.numel() * v.itemsize / 64) => v.numel() + read"
        ],
        "Your order does not depend on the views": ["[*expressions]", "sorted(expressions.keys())"],
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
