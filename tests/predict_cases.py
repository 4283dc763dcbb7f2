"""The cases that pin predict/words.js to predict/widget.py: verdicts in words, and what can be typed.

`python -m tests.predict_cases` writes them to tests/fixtures/predict.json. A Python test holds the file
equal to widget.py; the JavaScript tests hold words.js equal to the file.
"""

import json
from pathlib import Path

from stridekit.widgets.predict.widget import Predict, remark, verdict

FILE = Path(__file__).parent / "fixtures" / "predict.json"

# A question's answer and choices, remarks, and what may be said to it.
QUESTIONS = [
    ((1, 6), [(6, 1), (1, 6), (1, 4)], {(6, 1): "That is x's own."}, [(6, 1), (1, 6), (1, 4)]),
    ("a view", ["a copy", "a view"], {"a copy": "Nothing moved."}, ["a copy", "a view"]),
    (True, None, {}, [True, False]),
    (96, None, {24: "That counts elements."}, [96, 24, 96.0, 95.5, 0, -3]),
    (0.5, None, {}, [0.5, 0.00001, 0.0001, 123456.789, 1e-7, -2.5e-5]),
    ((4, 3), None, {(3, 4): "The other way round."}, [(4, 3), (3, 4), (4,), ()]),
    ((), None, {}, [(), (1,)]),
]

# What is typed, and what it is taken for; None where it cannot be read.
TUPLES = {
    "(1, 6)": [1, 6], "1, 6": [1, 6], "[1,6]": [1, 6], "1 6": [1, 6], " ( 1 ,6, ) ": [1, 6],
    "torch.Size([4, 6])": [4, 6], "6": [6], "(6,)": [6], "()": [], "[]": [], "(-1, +2)": [-1, 2],
    "(0, -0)": [0, 0], "": None, "  ": None, "(1, x)": None, "1,,6": None, "(1, 6": None,
    "1.5, 2": None, ",": None, "(1)(2)": None, "9007199254740993": None, "(1; 6)": None,
}  # fmt: skip
NUMBERS = {
    "24": 24, " 24 ": 24, "-3": -3, "2.5": 2.5, ".5": 0.5, "2.": 2, "1e3": 1000, "1_024": 1024,
    "-0": 0, "": None, "1,024": None, "24 bytes": None, "0x18": None, "1e400": None, "(24)": None,
    "Infinity": None, "9007199254740993": None,
}  # fmt: skip


def verdicts():
    """Each question with each thing said to it, and what there is to say then."""
    for answer, choices, remarks, sayings in QUESTIONS:
        predict = Predict("?", answer, choices=choices, remarks=remarks)
        for saying in [*sayings, None]:
            predict.committed = saying
            problem, said = predict._problem, predict._scene["said"]
            yield {
                "problem": problem,
                "said": said,
                "verdict": verdict(problem, said),
                "remark": remark(problem, said),
            }


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    reads = [{"kind": "tuple", "text": t, "value": v} for t, v in TUPLES.items()]
    reads += [{"kind": "number", "text": t, "value": v} for t, v in NUMBERS.items()]
    parts = {"verdicts": verdicts(), "reads": reads}
    blocks = [
        f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]"
        for name, cases in parts.items()
    ]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
