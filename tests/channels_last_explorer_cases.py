"""The cases that pin channels_last_explorer/words.js to Python: places, sentences, flags, and the layers.

`python -m tests.channels_last_explorer_cases` writes them to tests/fixtures/channels_last_explorer.json.
A Python test holds the file equal to words.py and to torch; the JavaScript tests hold words.js
equal to the file.
"""

import json
import random
from itertools import product
from pathlib import Path

from stridekit.widgets.channels_last_explorer import network as net
from stridekit.widgets.channels_last_explorer import words

FILE = Path(__file__).parent / "fixtures" / "channels_last_explorer.json"
SHAPES = [*product(*(range(1, most + 1) for most in words.MOST))]


def shapes():
    """What follows from the shape alone, for each shape that the sliders reach."""
    for shape in SHAPES:
        yield {
            "shape": list(shape),
            "strides": {name: list(x.stride) for name, x in words.layouts(shape).items()},
            "badge": words.badge(shape),
            "verdicts": words.verdicts(shape),
            "code": words.code(shape),
        }


def elements():
    """An element or two of every third shape, with each highlight."""
    rng = random.Random(0)
    for shape, highlight in product(SHAPES[::3] + SHAPES[-1:], words.HIGHLIGHTS):
        index = tuple(rng.randrange(n) for n in shape)
        both = words.layouts(shape)
        yield {
            "shape": list(shape),
            "index": list(index),
            "highlight": highlight,
            "label": words.label(index),
            "group": [list(i) for i in words.group(shape, index, highlight)],
            "steps": {name: words.step(x, index, highlight) for name, x in both.items()},
            "spread": words.spread(shape, index, highlight),
            "place": words.place(shape, index),
        }


def chains():
    """Which layers are on: those of the default, each alone, and some at random."""
    rng = random.Random(0)
    some = [[name for name in net.NAMES if rng.random() < 0.5] for _ in range(12)]
    for which, on in product(
        range(len(net.INPUTS)), [net.DEFAULT_LAYERS, *([n] for n in net.NAMES), *some]
    ):
        rows = [
            [{"label": p.label, "stride": list(p.stride), "note": p.note} for p in both]
            for _, both in net.trace(which, on)
        ]
        yield {"input": which, "on": list(on), "rows": rows}


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    parts = {"shapes": shapes(), "elements": elements(), "chains": chains()}
    named = {
        name: "[\n" + ",\n".join(map(json.dumps, cases)) + "\n]" for name, cases in parts.items()
    }
    named["network"] = json.dumps(net.network())
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in named.items()) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
