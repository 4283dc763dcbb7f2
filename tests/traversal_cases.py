"""The cases that pin traversal.js to traversal.py: walks, caches, alignments, warps and their sentences.

`python -m tests.traversal_cases` writes them to tests/fixtures/traversal.json. A Python test holds the
file equal to Python, torch and a slow model of its own; the JavaScript tests hold traversal.js equal to it.
"""

import json
import random
from pathlib import Path

from stridekit import Layout
from stridekit.widgets.traversal_explorer import traversal
from stridekit.widgets.traversal_explorer.traversal import Walk, Warp

FILE = Path(__file__).parent / "fixtures" / "traversal.json"
COUNT = 160


def walks():
    """Walks of every kind: contiguous, permuted, stepped, repeated, overlapping, with an offset."""
    yield from (step for preset in traversal.presets() for step in preset.walks)
    rng = random.Random(0)
    for _ in range(COUNT):
        shape = [rng.choice([1, 2, 3, 4, 5, 8]) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4]))]
        if rng.random() < 0.05 and shape:
            shape[0] = 0
        itemsize = rng.choice(traversal.ITEMSIZES)
        x = Layout(shape, Layout(shape).stride, rng.choice([0, 0, 3]), itemsize)
        if rng.random() < 0.3:
            stride = [rng.choice([0, 1, 1, 2, 5, 8]) for _ in shape]
            x = Layout(shape, stride, rng.choice([0, 3]), itemsize)
        elif x.ndim == 4 and rng.random() < 0.4:
            x = x.contiguous("channels_last")
        x = x.permute(*rng.sample(range(x.ndim), x.ndim)) if x.ndim and rng.random() < 0.6 else x
        order = tuple(rng.sample(range(x.ndim), x.ndim))
        yield Walk("x", x, rng.choice([order, traversal.torch_order(x)]))


def cases():
    """Each walk through a cache: the visits, the counts on the way, and the sentences."""
    rng = random.Random(1)
    for step in walks():
        layout, order = step.layout, step.order
        cache_lines = rng.choice(traversal.CACHE_SIZES[:4])
        alignment = rng.choice([0, 0, *range(0, 64, layout.itemsize)])
        visits = traversal.walk(layout, order, cache_lines, alignment)
        upto = rng.randint(0, len(visits))
        found = traversal.counts(visits, layout.itemsize, upto)
        whole = traversal.counts(visits, layout.itemsize)
        yield {
            "walk": traversal.to_json(step),
            "cache_lines": cache_lines,
            "alignment": alignment,
            "elements": [visit.element for visit in visits],
            "lines": [visit.line for visit in visits],
            "hits": "".join(str(int(visit.hit)) for visit in visits),
            "upto": upto,
            "counts": found._asdict(),
            "whole": whole._asdict(),
            "torch_order": list(traversal.torch_order(layout)),
            "sentences": [
                traversal.order_name(order),
                traversal.counts_sentence(whole),
                traversal.visit_sentence(layout, order, visits, upto, step.name),
                traversal.comparison(found, whole),
            ],
        }


def warps():
    """Every kind of warp: all sizes, small strides and offsets."""
    for itemsize in traversal.ITEMSIZES:
        for stride in (0, 1, 2, 3, 8, 32):
            for offset in (0, 1, 4, 31):
                warp = Warp(itemsize, stride, offset)
                yield {
                    "warp": warp._asdict(),
                    "sectors": list(warp.sectors),
                    "minimum": warp.minimum,
                    "sentence": traversal.warp_sentence(warp),
                }


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    lists = {"walks": cases(), "warps": warps()}
    parts = [
        f'"{name}": [\n' + ",\n".join(map(json.dumps, found)) + "\n]"
        for name, found in lists.items()
    ]
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
