"""The cases that pin operations.js to Layout: chains of operations, and what Python says to each step.

`python -m tests.operation_cases` writes them to tests/fixtures/operations.json. A Python test holds the
file equal to Layout and to torch; the JavaScript tests hold operations.js equal to the file.
"""

import json
import random
from pathlib import Path

from stridekit import Layout, LayoutError

FILE = Path(__file__).parent / "fixtures" / "operations.json"
COUNT = 900


def steps():
    """Each case: a layout, the step as Python source, and the result or the refusal."""
    rng = random.Random(0)
    layout = Layout((4, 6), itemsize=4)
    for _ in range(COUNT):
        if rng.random() < 0.2 or not 1 < layout.numel < 2000 or layout.ndim > 5:
            shape = [rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 6, 6]) for _ in range(rng.randint(0, 4))]
            layout = Layout(shape, Layout(shape).stride, rng.choice([0, 5]), 4)
        source = operation(rng, layout)
        result, error = after(layout, source)
        yield {"layout": numbers(layout), "step": source, "result": result, "error": error}
        if result:
            copied = result.pop("copied")
            layout = Layout(**result)
            result["copied"] = copied


def after(layout, source):
    """The result's numbers and "", or None and the sentence."""
    try:
        result = eval(f"x{source}", {"x": layout})
    except (LayoutError, IndexError) as error:
        return None, str(error)
    return numbers(result) | {"copied": result.copied}, ""


def numbers(layout):
    return {
        "shape": list(layout.shape),
        "stride": list(layout.stride),
        "storage_offset": layout.storage_offset,
        "itemsize": layout.itemsize,
    }


def operation(rng, x):
    """A step that usually exists for this layout."""
    ndim = x.ndim
    dims = list(range(ndim))

    def dim():
        return rng.randint(-ndim - (rng.random() < 0.1), max(ndim - 1, 0))

    def shape():
        sizes = [n for n in rng.sample(x.shape, ndim) for n in split(rng, n)]
        sizes = merge(rng, sizes)
        if sizes and rng.random() < 0.2:
            sizes[rng.randrange(len(sizes))] = rng.choice([-1, -1, -1, 5, -2])
        return ", ".join(map(str, sizes)) if sizes and rng.random() < 0.7 else f"{tuple(sizes)}"

    def index():
        items = [
            rng.choice(
                [
                    ":",
                    f"{rng.randint(-n, n)}",
                    "::2",
                    "1:",
                    f":{rng.randint(-1, 3)}",
                    "1:4:3",
                    "None",
                ]
            )
            for n in x.shape
        ]
        if rng.random() < 0.3:
            items.insert(rng.randint(0, len(items)), "...")
        items = items[: rng.randint(1, 5)] or ["..."]
        return f"[{', '.join(items)}]"

    rng.shuffle(dims)
    order = str(tuple(dims)) if rng.random() < 0.5 or len(dims) < 2 else ", ".join(map(str, dims))
    grown = tuple(rng.choice([n, -1, 3 if n == 1 else n]) for n in x.shape)
    return rng.choice(
        [
            index,
            index,
            lambda: f".permute({order})",
            lambda: f".transpose({dim()}, {dim()})",
            lambda: rng.choice([".t()", ".T", ".mT"]),
            lambda: f".select({dim()}, {rng.randint(-2, 3)})",
            lambda: f".unsqueeze({dim()})",
            lambda: rng.choice([".squeeze()", f".squeeze({dim()})"]),
            lambda: f".expand({(*[2] * rng.randint(0, 1), *grown)})",
            lambda: f".diagonal({rng.randint(-2, 2)}, {dim()}, {dim()})",
            lambda: f".unfold({dim()}, {rng.randint(0, 3)}, {rng.randint(1, 2)})",
            lambda: f".view({shape()})",
            lambda: f".view({shape()})",
            lambda: f".reshape({shape()})",
            lambda: f".reshape({shape()})",
            lambda: rng.choice([".flatten()", f".flatten({dim()}, {dim()})", ".ravel()"]),
            lambda: rng.choice([".contiguous()", '.contiguous("channels_last")']),
            lambda: (
                f".as_strided({tuple(x.shape)}, {tuple(reversed(x.stride))}, {rng.randint(-1, 4)})"
            ),
        ]
    )()


def split(rng, n):
    """A size as it is, or as two factors, or with a 1 beside it."""
    factors = [k for k in range(2, n) if n % k == 0]
    if factors and rng.random() < 0.5:
        k = rng.choice(factors)
        return [k, n // k]
    return [n, 1] if rng.random() < 0.1 else [n]


def merge(rng, sizes):
    """Two neighbours multiplied, sometimes."""
    if len(sizes) > 1 and rng.random() < 0.6:
        k = rng.randrange(len(sizes) - 1)
        return [*sizes[:k], sizes[k] * sizes[k + 1], *sizes[k + 2 :]]
    return sizes


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    return "[\n" + ",\n".join(json.dumps(step) for step in steps()) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
