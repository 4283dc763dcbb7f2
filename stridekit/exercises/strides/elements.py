"""Exercise 1: from an index to an element, by the strides alone."""

from math import prod  # noqa: F401 (for mistakes)
from typing import Any

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import as_int
from stridekit.exercises.running import Arguments, Outcome


def read_element(answer: Any, args: Arguments) -> Outcome:
    """Read the number of an element."""
    number = as_int(answer)
    return Outcome({"element": number}, f"element {number}")


@exercise(
    title="from an index to an element",
    read=read_element,
    cases=[
        "index = (2, 3); stride = (60, 1)",
        "index = (3, 1); stride = (1, 4)",
        "index = (4,); stride = (2,)",
        "index = (2, 3); stride = (5, 2)",
        "index = (1, 2, 3); stride = (12, 4, 1)",
        "index = (2, 1, 3); stride = (1, 6, 2)",
        "index = (0, 4); stride = (8, 1)",
        "index = (3, 2); stride = (0, 1)",
        "index = (0, 0, 0); stride = (6, 2, 1)",
        "index = (1, 0, 2, 1); stride = (60, 20, 5, 1)",
        "index = (1, 2, 0, 1, 3); stride = (7, 14, 42, 1, 126)",
        "index = (); stride = ()",
    ],
    hints=[
        "An index is a number of steps, and the stride is the length of each step. How far do "
        "`index[0]` steps of length `stride[0]` lead?",
        "Do the same for every dim, and add up how far each of them leads.",
        "`zip(index, stride)` pairs each index with the stride of its dim. Sum the products.",
    ],
    otherwise=(
        "Take the input above to paper: `index[d]` steps of `stride[d]` along each dim d, one dim "
        "after the other. At which element do you arrive?"
    ),
    takeaway="Each index times its stride, added up: that is how torch finds an element.",
)
def element(index: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """The number of the element at `index`, in the storage of a tensor that begins at element 0.

    index   a tuple of ints >= 0; () for a tensor without dims
    stride  a tuple of as many ints >= 0, in elements
    return  an int
    """
    return sum(i * step for i, step in zip(index, stride, strict=True))


element.slots["i * step"] = {
    "i": (
        "You add up the indices. Each of them counts steps, and a step along dim d is `stride[d]` "
        "elements long."
    ),
    "step": ("You add up the strides, as if each index were 1. Take `index[d]` steps along dim d."),
    "i + step": (
        "You add the stride to the index. Two steps of 60 lead 120 elements far: multiply them."
    ),
    "(i - 1) * step": shared.FROM_ZERO.format("index along a dim"),
    "(i + 1) * step": (
        "One step too many along each dim. Index 0 is where the dim begins: it takes 0 steps."
    ),
}
element.slots["index, stride"] = {
    "index, stride[::-1]": (
        "You pair the first index with the last stride. The two tuples have the same order: "
        "`index[d]` steps are each `stride[d]` long."
    ),
}
ROWS = (
    "You add the last index as it is, which is right while its stride is 1. A transpose or a "
    "slice has another one there: multiply each index by its stride."
)
SOME_DIMS = (
    "Right for some numbers of dims only, and an index can have any number. Let a sum run over "
    "all pairs of `zip(index, stride)`."
)
element.wrong |= {
    ("index[0] * stride[0] + index[1]", "index[0] * stride[0] + index[-1]"): ROWS,
    (
        "index[0] * stride[0] + index[1] * stride[1]",
        "index[0] * stride[0] + index[1] * stride[1] + index[2] * stride[2]",
        "element(index[:2], stride[:2])",
        "element(index[:3], stride[:3])",
        "element(index[:4], stride[:4])",
    ): SOME_DIMS,
    "prod(i * step for i, step in zip(index, stride))": (
        "You multiply the ways along the dims. They are walked one after the other: add them."
    ),
    "element(index[-1:], stride[-1:])": (
        "You keep the way along the last dim alone, as if each dim replaced the one before it. Add "
        "the ways of all dims up."
    ),
    ("4 * element(index, stride)", "8 * element(index, stride)"): shared.ELEMENTS,
    "index[0] * stride[1] + index[1] * stride[0]": (
        "You pair the first index with the second stride. The two tuples have the same order: "
        "`index[d]` steps are each `stride[d]` long."
    ),
    "sum(index) * sum(stride)": (
        "You multiply two sums. Each index belongs to one stride: multiply first, and add then."
    ),
}
element.only["not index"] = (
    "Right wherever there is a dim. Without dims there is nothing to step along, and the only "
    "element is element 0."
)
