"""The cases that pin `elementwise` of operations.js to torch: operands, and the stride of their sum.

`python -m tests.elementwise_cases` writes them to tests/fixtures/elementwise.json. A Python test holds the
file equal to `output_layout` and to torch; the JavaScript tests hold operations.js equal to it.
"""

import json
import random
from pathlib import Path

from stridekit import Layout, LayoutError, output_layout

FILE = Path(__file__).parent / "fixtures" / "elementwise.json"
COUNT = 600


def cases():
    """Two operands, or one and a number: dense, cut, repeated; many sizes of 0 and 1; formats of images."""
    r = random.Random("elementwise")
    for _ in range(COUNT):
        full = r.choices((0, 1, 1, 2, 2, 3), k=r.choice((0, 1, 2, 3, 4, 4)))
        one = operand(r, full)
        other = r.choice((operand(r, full), operand(r, broadcast(r, full)), one, [[], []]))
        operands = r.sample([one, other], 2)
        try:
            result = output_layout(*(Layout(*one) for one in operands))
        except LayoutError as error:
            yield {"operands": operands, "error": str(error)}
        else:
            yield {"operands": operands, "shape": list(result.shape), "stride": list(result.stride)}


def broadcast(r, full):
    """A shape that broadcasts to this one, but now and then."""
    shape = [r.choice((1, n, n, 2 * (r.random() < 0.05))) for n in full]
    return shape[r.choice((0, 0, r.randint(0, len(full)))) :]


def operand(r, shape):
    """A shape and a stride: by rows, channels last or in any order, with gaps, repeated, overlapping."""
    order = r.choice([range(len(shape))[::-1], r.sample(range(len(shape)), len(shape))])
    if len(shape) == 4 and r.random() < 0.4:
        order = (1, 3, 2, 0)
    stride, step = [0] * len(shape), 1
    gaps, least = r.choice((0, 0, 0, 1)), r.choice((0, 1))
    for d in order:
        stride[d] = r.choice((step, step, step, step, 0, 1))
        step *= max(shape[d], least) + gaps
    return [shape, stride]


def text():
    """The file's text: one case a line."""
    return "[\n" + ",\n".join(json.dumps(case) for case in cases()) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
