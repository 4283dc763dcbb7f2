"""The cases that pin core.js to scene.py: Python's answers for many layouts, as JSON.

`python -m tests.explorer_cases` writes them to tests/fixtures/explorer.json. A Python test holds the file
equal to what scene.py says and to torch; the JavaScript tests hold core.js equal to the file.
"""

import json
import random
from itertools import product
from pathlib import Path

from stridekit import Layout
from stridekit.widgets import scene

FILE = Path(__file__).parent / "fixtures" / "explorer.json"
COUNT = 120


def layouts():
    """Layouts of 0 to 4 dims within their storage: chosen ones, and many drawn from a fixed seed."""
    chosen = [(preset.layout, 40) for preset in scene.default_presets(itemsize=4)]
    chosen += [(Layout((), (), 3, 8), 4), (Layout((0, 3)), 0), (Layout((2, 0, 4), itemsize=2), 9)]
    chosen += [
        (Layout((250, 2, 2), (0, 2, 1)), 4),
        (Layout((2, 250, 2), (0, 0, 1)), 2),
        (Layout((2, 500), (0, 1)), 900),
    ]
    yield from chosen
    rng = random.Random(0)
    for _ in range(COUNT - len(chosen)):
        shape = [
            rng.choice([0, 1, 2, 3, 4, 5]) if rng.random() < 0.9 else 9
            for _ in range(rng.randint(0, 4))
        ]
        stride = [rng.choice([0, 1, 1, 2, 3, 5, 8, 20]) for _ in shape]
        layout = Layout(shape, stride, rng.choice([0, 0, 1, 7]), rng.choice([1, 2, 4, 8, 16]))
        if layout.numel <= scene.MAX_CELLS:
            yield layout, layout.span.stop + rng.choice([0, 1, 13, 200])


def answers(layout, storage_size):
    """Everything both sides compute about one layout."""
    indices = list(product(*map(range, layout.shape)))
    slider_max = scene.sliders_for(layout, storage_size)
    sliders = [(what, d) for what in ("size", "stride") for d in range(layout.ndim)]
    return {
        "layout": {
            "shape": layout.shape,
            "stride": layout.stride,
            "storage_offset": layout.storage_offset,
            "itemsize": layout.itemsize,
        },
        "storage_size": storage_size,
        "slider_max": slider_max,
        "elements": [layout.offset(index) for index in indices],
        "verdicts": [list(verdict) for verdict in scene.verdicts(layout, storage_size)],
        "code": scene.code("x", layout),
        "last": indices[-1] if indices else None,
        "place": scene.place(layout, indices[-1]) if indices else None,
        "formula": scene.formula(layout, indices[-1]) if indices else None,
        "limits": [
            [what, d, *scene.limit(layout, storage_size, slider_max, what, d)]
            for what, d in [*sliders, ("storage_offset", 0)]
        ],
    }


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    cases = [json.dumps(answers(*case)) for case in layouts()]
    return "[\n" + ",\n".join(cases) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
