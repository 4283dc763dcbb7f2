"""The box of Diagnose: what Python and the browser say of a message, and of other numbers in it."""

import re
from collections.abc import Callable
from random import Random

from stridekit.widgets import Diagnose
from stridekit.widgets.diagnose.widget import known
from tests.pipe import as_json, ask_all
from tests.test_diagnose import MESSAGES, UNKNOWN

BUCKET = """UserWarning: Grad strides do not match bucket view strides. It may be slow.
grad.sizes() = [8, 4, 1, 1], strides() = [4, 1, 4, 4]
bucket_view.sizes() = [8, 4, 1, 1], strides() = [4, 1, 1, 1]"""
SHAPES = ["[1, 0, -1]", "[-2, -3]", "[]", "[-0, 07]", "[1-2]", "[٣]", f"[{2**53 + 1}]"]
TEXTS = [
    *(*MESSAGES, BUCKET, *(text[-20_000:] for text in UNKNOWN if isinstance(text, str))),
    *(f"shape '{shape}' is invalid for input of size 6" for shape in SHAPES),
    *(
        "x" * 200,
        "x" * 201,
        "😀" * 201,
        "\ufeff",
        "\x1c \x85\u2003",
        "step must\x1fbe\x85greater than zero",
    ),
    "modified by an inplace operation: [T [3]], which is output 0 of ExpBackward0, is at version 2; "
    "expected version 0 instead.",
    f"modified by an inplace operation: [{'é' * 9} [3]] is at version 2; expected version 7",
    f"Some tensors share memory, this will lead to duplicate memory on disk{'😀' * 9}[{{'a', '{{b}}'}}]",
    *(f"Grad strides do not match bucket view strides{'😀' * n}" + BUCKET[59:] for n in (350, 400)),
]
BETWEEN = ["\n", " ", "", "\u2028", "\ufeff", "\x1c", "😀", "; ", "{a}", "\n\nDuring handling:\n"]


def compare(text: str) -> None:
    """The diagnosis, and the source of the widget, which makes the same one."""
    w = Diagnose(text)
    found = w.found and [w.found.title, w.found.lines]
    asked = [("diagnose/diagnose/diagnose", known(), w.text), ("diagnose/diagnose/code", w.text)]
    assert ask_all(asked) == as_json([found, w.code]), text
    assert eval(w.code, {"Diagnose": Diagnose}).text == w.text


def messages(r: Random) -> None:
    """Messages one behind the other, with other numbers in them, few and small or long ones."""
    parts = [
        part for _ in range(r.choice((1, 1, 2, 3))) for part in (message(r), r.choice(BETWEEN))
    ]
    compare("".join(parts))


def message(r: Random) -> str:
    small = r.random() < 0.5

    def other(number: re.Match[str]) -> str:
        if r.random() < 0.5:
            return number[0]
        few = (str(r.randrange(3)), str(r.randrange(9)), number[0])
        long = (str(r.randrange(2**64)), str(10 ** r.randrange(25)), "1, 2", "-3", "", "x")
        return r.choice(few if small else few + long)

    return re.sub(r"\d+", other, r.choice((*MESSAGES, BUCKET)))


CASES: dict[str, Callable[[Random], None]] = {"messages": messages}
