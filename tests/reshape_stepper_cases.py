"""The cases that pin reshape_stepper/steps.js to steps.py: every step of many views, as JSON.

`python -m tests.reshape_stepper_cases` writes tests/fixtures/reshape_stepper.json. A Python test holds
the file equal to what steps.py says, and that to torch; the JavaScript tests hold their side to it.
"""

import json
import random
from pathlib import Path

from stridekit import Layout
from stridekit.widgets.reshape_stepper.steps import consequences, followed, steps
from stridekit.widgets.reshape_stepper.widget import PRESETS
from tests.operation_cases import merge, numbers, split

FILE = Path(__file__).parent / "fixtures" / "reshape_stepper.json"
COUNT = 140


def cases():
    """A layout and a complete target each: those of the widget, odd ones, and many from a fixed seed."""
    for preset in PRESETS:
        yield from ((preset.layout, target) for target in preset.targets)
    yield from [
        (Layout(()), ()),
        (Layout(()), (1, 1)),
        (Layout((1, 1), (7, 9)), (1,)),
        (Layout((3, 1), (1, 5)), (3,)),
        (Layout((2, 0, 4)), (0, 5)),
        (Layout((4, 6), (0, 0)), (24,)),
    ]
    rng = random.Random(0)
    for _ in range(COUNT):
        shape = [rng.choice([1, 2, 2, 3, 4, 6]) for _ in range(rng.randint(1, 4))]
        grown = Layout([n * rng.choice([1, 2]) for n in shape], itemsize=rng.choice([1, 4]))
        x = grown[tuple(slice(n) for n in shape)]
        if rng.random() < 0.3:
            x = x.permute(rng.sample(range(x.ndim), x.ndim))
        if rng.random() < 0.2:
            x = x.unsqueeze(rng.randint(0, x.ndim)).expand(2, *[-1] * (x.ndim + 1))
        target = [n for n in x.shape for n in split(rng, n)]
        yield x, tuple(merge(rng, merge(rng, target)))


def answers(layout, target):
    """Everything both sides say about one view."""
    return {
        "layout": numbers(layout),
        "target": target,
        "steps": [step._asdict() for step in steps(layout, target)],
        "consequences": consequences(layout, target),
    }


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    names = ("x[1, 2]", "y[3]")
    said = json.dumps([followed(7, names, 5, moved) for moved in (None, True, False)])
    lines = ",\n".join(json.dumps(answers(*case), ensure_ascii=False) for case in cases())
    return f'{{"followed": {said},\n"cases": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
